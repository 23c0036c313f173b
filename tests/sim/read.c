/* read.c - store/read.h over the disk of the simulator; see sim.h. */
#include "engine/commit/search.h"
#include "engine/execution.h"
#include "sim/sim.h"
#include "store/read_definition.h"
#include "store/read_execution.h"
#include "store/read_executions.h"
#include "store/read_find.h"
#include "store/read_record.h"
#include "value/json.h"

#include <stdio.h>
#include <stdlib.h>

struct sim *sim_of(struct reader *r)
{
    return ((struct sim_node *)(void *)r)->sim;
}

bool sim_read_fails(struct reader *r, struct err *err)
{
    struct sim *sim = sim_of(r);

    if (sim->no_faults || !dice_hits(&sim->dice, sim->config.faults.read_error))
        return false;
    if (dice_roll(&sim->dice, 2) == 0)
        (void)err_set(err, ERR_IO, "the simulated disk could not be read");
    else
        (void)err_set(err, ERR_OVERLOADED, "the simulated disk is too slow");
    return true;
}

/* The first row above that seq which is there. */
static size_t first_row(const struct disk_execution *x, int64_t after)
{
    return (size_t)after < x->rows_deleted ? x->rows_deleted : (size_t)after;
}

static void add_notice(const struct disk *d, const struct disk_execution *x, struct arena *mem,
                       struct notice_rows *out)
{
    for (size_t i = 0; i < d->events.count; i++)
        if (d->events.items[i].of == x)
            *VEC_ADD(mem, out) = d->events.items[i].notice;
}

bool read_execution(struct reader *r, struct arena *mem, struct uuid id,
                    struct stored_execution *out, bool *found, struct err *err)
{
    struct disk_execution *x = disk_find(&sim_of(r)->disk, id);

    if (sim_read_fails(r, err))
        return false;
    *found = x != NULL;
    if (x == NULL)
        return true;
    *out = x->s;
    out->history = (struct history){0};
    for (size_t i = first_row(x, x->s.checkpoint_seq); i < x->history.count; i++)
        *VEC_ADD(mem, &out->history) = x->history.items[i];
    out->notices = (struct notice_rows){0};
    add_notice(&sim_of(r)->disk, x, mem, &out->notices);
    return true;
}

bool read_ends(struct reader *r, struct arena *mem, struct str ids_json, struct execution_ends *out,
               struct err *err)
{
    struct sim *sim = sim_of(r);
    struct value ids;

    *out = (struct execution_ends){0};
    if (sim_read_fails(r, err) || !json_read(mem, ids_json, &ids, err))
        return false;
    sim->disk.looks++;
    for (uint32_t i = 0; i < ids.len; i++) {
        const struct disk_execution *x;
        struct uuid id;

        x = uuid_read(value_text(ids.items[i]), &id) ? disk_find(&sim->disk, id) : NULL;
        if (x != NULL)
            *VEC_ADD(mem, out) = (struct execution_end){.id = id,
                                                        .status = x->s.status,
                                                        .result_json = x->s.result_json,
                                                        .error_json = x->s.error_json,
                                                        .crash_count = x->s.crash_count,
                                                        .has_parent = x->s.has_parent,
                                                        .parent_id = x->s.parent_id,
                                                        .waiting_kind = x->s.waiting_kind};
    }
    return true;
}

bool read_counts(struct reader *r, int64_t out[STATUS_COUNT], struct err *err)
{
    const struct disk *d = &sim_of(r)->disk;

    memset(out, 0, sizeof(*out) * STATUS_COUNT);
    for (size_t i = 0; i < d->executions.count; i++)
        out[d->executions.items[i]->s.status] += !d->executions.items[i]->is_deleted;
    return !sim_read_fails(r, err);
}

bool read_several(struct reader *r, struct arena *mem, struct execution_reads *all, struct err *err)
{
    (void)mem;
    for (size_t i = 0; i < all->count; i++) {
        struct execution_read *read = &all->items[i];

        all->begins(all->context, read->id);
        if (!read_execution(r, read->mem, read->id, &read->stored, &read->found, err))
            return false;
    }
    return true;
}

bool read_definition(struct reader *r, struct arena *mem, struct str kind, struct str code,
                     int64_t version, struct stored_definition *out, bool *found, struct err *err)
{
    const struct disk *d = &sim_of(r)->disk;

    (void)kind;
    if (sim_read_fails(r, err))
        return false;
    *found = false;
    for (size_t i = d->definitions.count; i-- > 0 && !*found;) {
        const struct disk_definition *def = &d->definitions.items[i];
        if (!str_eq(def->code, code) || (version > 0 && def->version != version))
            continue;
        *found = true;
        *out = (struct stored_definition){.kind = STR("scenario"),
                                          .code = def->code,
                                          .version = def->version,
                                          .text = str_copy(mem, def->text)};
    }
    return true;
}

/* All processes are scenarios here; below 0 is the published version, the newest. */
bool read_process(struct reader *r, struct arena *mem, struct str code, int64_t version,
                  struct stored_definition *out, bool *found, struct err *err)
{
    return read_definition(r, mem, STR("scenario"), code, version, out, found, err);
}

/* The installation has no config and no functions. */
/* Only names for "did you mean". */
bool read_definitions(struct reader *r, struct arena *mem, struct str kind, struct str after,
                      int64_t limit, struct stored_definitions *out, struct err *err)
{
    (void)after;
    (void)limit;
    return read_published(r, mem, kind, out, err);
}

bool read_published(struct reader *r, struct arena *mem, struct str kind,
                    struct stored_definitions *out, struct err *err)
{
    *out = (struct stored_definitions){0};
    if (str_eq(kind, STR("subscription")))
        disk_subscriptions(sim_of(r), mem, out);
    return !sim_read_fails(r, err);
}

bool read_newest(struct reader *r, struct arena *mem, struct str kind,
                 struct stored_definitions *out, struct err *err)
{
    return read_published(r, mem, kind, out, err);
}

bool read_reachable(struct reader *r, struct arena *mem, struct stored_definitions *out,
                    struct err *err)
{
    (void)mem;
    *out = (struct stored_definitions){0};
    return !sim_read_fails(r, err);
}

/* There is nothing to pin where there are no procedures and functions. */
bool read_snapshot(struct reader *r, struct arena *mem, struct str hash, struct str *pins_json,
                   bool *found, struct err *err)
{
    (void)mem;
    (void)hash;
    (void)pins_json;
    *found = false;
    return !sim_read_fails(r, err);
}

bool read_definition_stamp(struct reader *r, int64_t *out, struct err *err)
{
    *out = sim_of(r)->disk.stamp;
    return !sim_read_fails(r, err);
}

bool read_record(struct reader *r, struct arena *mem, struct str org_id, struct str object,
                 struct str id, struct record_read *out, struct err *err)
{
    const struct disk_record *record = disk_find_record(&sim_of(r)->disk, object, id);

    (void)mem;
    (void)org_id; /* all of one */
    *out = (struct record_read){.object = object, .id = id};
    if (sim_read_fails(r, err))
        return false;
    if (record != NULL && record->version > 0) {
        out->version = record->version;
        out->data = record->data;
    }
    return true;
}

static bool is_hidden(const struct search *s, struct str id)
{
    for (size_t i = 0; i < s->hidden.count; i++)
        if (str_eq(s->hidden.items[i], id))
            return true;
    return false;
}

bool read_found(struct reader *r, struct arena *mem, const struct search *s,
                struct search_found *out, struct err *err)
{
    struct disk *d = &sim_of(r)->disk;
    struct collector c;
    bool ok = true, is_full = false;

    *out = (struct search_found){.err = {.code = ERR_NONE}};
    if (sim_read_fails(r, err) || !search_begin(&c, mem, s, SEARCH_BYTES_MAX, false, err))
        return false;
    out->hidden = ARENA_ARRAY(mem, s->hidden.count + 1, struct search_hidden);
    for (size_t i = 0; ok && !is_full && i < d->record_list.count; i++) {
        const struct disk_record *record = d->record_list.items[i];
        struct buf json;

        if (record->version == 0 || !str_eq(record->object, s->object))
            continue;
        if (is_hidden(s, record->id)) {
            out->hidden[out->hidden_count++] =
                (struct search_hidden){.id = record->id, .row = (int64_t)i + 1};
            continue;
        }
        buf_init_arena(&json, mem);
        ok = json_write(&json, record->data, &out->err) &&
             search_offer(&c, (int64_t)i + 1, record->id, record->version, buf_view(&json),
                          &is_full, &out->err);
    }
    search_end(&c);
    if (ok)
        search_take(mem, &c, out);
    search_fini(&c);
    return true;
}

bool read_record_last(struct reader *r, struct str org_id, struct str object, struct str id,
                      int64_t *version, struct err *err)
{
    const struct disk_record *record = disk_find_record(&sim_of(r)->disk, object, id);

    (void)org_id;
    if (sim_read_fails(r, err))
        return false;
    *version = record == NULL ? 0 : record->last_version;
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct due *x = a, *y = b;

    if (x->wake_at_us != y->wake_at_us)
        return x->wake_at_us < y->wake_at_us ? -1 : 1;
    return uuid_cmp(x->id, y->id);
}

bool read_due(struct reader *r, struct arena *mem, const struct shard_set *shards, int64_t after_us,
              struct uuid after_id, int64_t until_us, int64_t limit, struct dues *out,
              struct err *err)
{
    const struct disk *d = &sim_of(r)->disk;
    struct due after = {.id = after_id, .wake_at_us = after_us};

    if (sim_read_fails(r, err))
        return false;
    for (size_t i = 0; i < d->executions.count; i++) {
        const struct stored_execution *s = &d->executions.items[i]->s;
        struct due due = {.id = s->id, .wake_at_us = s->wake_at_us};
        if (!d->executions.items[i]->is_deleted && shard_set_has(shards, shard_of(s->id)) &&
            s->wake_at_us > 0 && s->wake_at_us <= until_us && s->crash_count < CRASHES_MAX &&
            by_time(&due, &after) > 0)
            *VEC_ADD(mem, out) = due;
    }
    if (out->count > 0)
        qsort(out->items, out->count, sizeof(*out->items), by_time);
    out->is_cut = (int64_t)out->count >= limit;
    if (out->is_cut)
        out->count = (size_t)limit;
    return true;
}

/* More than is asked for: a wake that finds no news changes nothing. */
bool read_calls_due(struct reader *r, struct arena *mem, const struct shard_set *shards,
                    int64_t after_us, struct uuid after_id, int64_t until_us, int64_t limit,
                    struct dues *out, struct err *err)
{
    return read_due(r, mem, shards, after_us, after_id, until_us, limit, out, err);
}

bool read_row_versions(struct reader *r, struct arena *mem, struct str ids_json,
                       struct execution_versions *out, struct err *err)
{
    struct disk *d = &sim_of(r)->disk;
    struct value ids;

    *out = (struct execution_versions){0};
    if (!json_read(mem, ids_json, &ids, err))
        PANIC("ids are no JSON");
    for (uint32_t i = 0; i < ids.len; i++) {
        struct uuid id;
        const struct disk_execution *x =
            uuid_read(value_text(ids.items[i]), &id) ? disk_find(d, id) : NULL;

        if (x != NULL)
            *VEC_ADD(mem, out) =
                (struct execution_version){.id = id, .row_version = x->s.row_version};
    }
    return !sim_read_fails(r, err);
}

bool read_notices(struct reader *r, struct arena *mem, struct uuid id, struct notice_rows *out,
                  struct err *err)
{
    struct disk *d = &sim_of(r)->disk;

    *out = (struct notice_rows){0};
    add_notice(d, disk_find(d, id), mem, out);
    return !sim_read_fails(r, err);
}

/* Whether there is a row for it in execution_events; `is_due`: one that it is to hear of now. */
static bool has_notice(const struct disk *d, const struct disk_execution *x, bool is_due)
{
    bool hears =
        !x->is_deleted && x->s.crash_count < CRASHES_MAX && x->s.waiting_kind != WAITING_PAUSED;

    for (size_t i = 0; i < d->events.count; i++) {
        const struct disk_event *e = &d->events.items[i];

        if (e->of == x && (!is_due || (hears && (e->notice.kind != NOTICE_JOIN ||
                                                 status_is_terminal(x->s.status)))))
            return true;
    }
    return false;
}

bool read_noticed_executions(struct reader *r, struct arena *mem, int64_t after, int64_t limit,
                             struct noticed_executions *out, struct err *err)
{
    const struct disk *d = &sim_of(r)->disk;

    *out = (struct noticed_executions){0};
    for (size_t i = (size_t)after; i < d->executions.count && (int64_t)out->count < limit; i++)
        if (has_notice(d, d->executions.items[i], false))
            *VEC_ADD(mem, out) =
                (struct noticed_execution){.id = d->executions.items[i]->s.id,
                                           .row = d->executions.items[i]->s.row,
                                           .is_due = has_notice(d, d->executions.items[i], true)};
    return !sim_read_fails(r, err);
}

bool read_history(struct reader *r, struct arena *mem, struct uuid id, int64_t after, int64_t limit,
                  struct history *out, bool *found, struct err *err)
{
    struct disk_execution *x = disk_find(&sim_of(r)->disk, id);

    if (sim_read_fails(r, err))
        return false;
    *found = x != NULL;
    for (size_t i = x == NULL ? 0 : first_row(x, after);
         x != NULL && i < x->history.count && limit-- > 0; i++)
        *VEC_ADD(mem, out) = x->history.items[i];
    return true;
}

bool read_by_key(struct reader *r, struct str org_id, struct str code, struct str key,
                 struct uuid *out, bool *found, struct err *err)
{
    char name[400];
    const struct disk_execution *holder;
    int len = snprintf(name, sizeof(name), "%.*s/%.*s", STR_ARG(code), STR_ARG(key));

    (void)org_id; /* all of one */
    if (sim_read_fails(r, err))
        return false;
    holder = map_get(&sim_of(r)->disk.live_keys, str_from(name, (size_t)len));
    *found = holder != NULL;
    if (holder != NULL)
        *out = holder->s.id;
    return true;
}
