/* disk_child.c - executions that others start, on the disk of the simulator; see sim.h. */
#include "sim/disk.h"

#include "engine/dump.h"
#include "engine/state.h"
#include "value/json.h"

#define MINUTE_US INT64_C(60000000)

/* --- a commit that starts some --- */

bool disk_refuses_children(struct disk *d, struct arena *mem, struct member *m)
{
    const struct commit *c = m->commit;

    for (size_t i = 0; i < c->starts.count; i++) {
        const struct execution *child = c->starts.items[i];

        if (child->key.len == 0)
            continue;
        if (map_get(&d->live_keys, disk_live_key(mem, child)) != NULL)
            m->result = MEMBER_START_STALE;
        for (size_t k = 0; k < i; k++)
            if (str_eq(c->starts.items[k]->key, child->key) &&
                str_eq(c->starts.items[k]->program->code, child->program->code))
                m->result = MEMBER_START_STALE;
    }
    return m->result != MEMBER_APPLIED;
}

/* Whether a strand that the commit leaves waits for that execution. */
static bool waits_for(const struct commit *c, struct uuid child)
{
    for (uint32_t i = 0; i < execution_strands(c->after); i++)
        if (!execution_cursor(c->after, i)->is_joined &&
            str_ends_with(execution_cursor(c->after, i)->awaited, str_of(UUID_STR(child).ptr)))
            return true;
    return false;
}

/* Whom a strand waits for exists, or has been there. */
static void check_awaited_exist(struct sim *sim, const struct commit *c)
{
    struct str prefix = STR("child:");

    for (uint32_t i = 0; i < execution_strands(c->after); i++) {
        struct str awaited = execution_cursor(c->after, i)->awaited;
        struct uuid child;

        SIM_CHECK(sim,
                  !str_starts_with(awaited, prefix) ||
                      (uuid_read(str_slice(awaited, prefix.len, awaited.len), &child) &&
                       disk_find_ever(&sim->disk, child) != NULL),
                  "%.*s waits for %.*s, which was never started",
                  STR_ARG(sim_id(sim, c->after->id)), STR_ARG(awaited));
    }
}

void disk_start_children(struct sim *sim, const struct commit *c)
{
    struct disk *d = &sim->disk;

    for (size_t i = 0; i < c->starts.count; i++) {
        struct commit start = {.after = c->starts.items[i],
                               .writes_context = true,
                               .context_json = STR("{}"),
                               .cursor_json =
                                   state_cursor_json(&sim->disk.scratch, c->starts.items[i])};
        const struct execution *child = start.after;
        struct disk_execution *x;

        SIM_CHECK(sim, disk_find_ever(d, child->id) == NULL, "a child is started twice");
        SIM_CHECK(sim, uuid_cmp(child->parent_id, c->after->id) == 0,
                  "a child has another parent than who starts it");
        SIM_CHECK(sim, child->status == STATUS_PENDING && child->wake_at_us == WAKE_AT_ONCE,
                  "a child is not due");
        x = disk_add_execution(sim, child);
        disk_keep_state(sim, x, &start);
        if (child->key.len > 0)
            map_put(&d->live_keys, disk_live_key(&d->mem, child), x);
        d->children++;
        if (waits_for(c, child->id))
            *VEC_ADD(&d->mem, &disk_find(d, c->after->id)->awaited) = x;
        sim_note_str(sim, child->program->code);
    }
    check_awaited_exist(sim, c);
}

/* --- the order of rolling back, across executions --- */

static bool rolls_back(const struct commit *c)
{
    for (size_t i = 0; i < c->history.count; i++)
        if (c->history.items[i].kind == HISTORY_ROLLBACK)
            return true;
    return false;
}

/* An operator said that what was done stays done: nobody is undone, and nobody waited for. */
static bool is_left(const struct commit *c)
{
    for (size_t i = 0; i < c->notices.count; i++)
        if (c->notices.items[i].kind == NOTICE_CANCEL &&
            str_find(c->notices.items[i].payload_json, STR("\"leaves\""), 0) >= 0)
            return true;
    return false;
}

/* What it could not undo is known to who waited for it. */
static void check_is_known(struct sim *sim, const struct disk_execution *x, const struct commit *c,
                           const struct disk_execution *child)
{
    struct str name = str_printf(&sim->disk.scratch, "/%.*s\"", STR_ARG(child->first_failed));

    SIM_CHECK(sim, child->first_failed.len == 0 || str_find(c->after->error_json, name, 0) >= 0,
              "I11: %.*s is over and does not say that %.*s could not undo %.*s: %.*s",
              STR_ARG(sim_id(sim, x->s.id)), STR_ARG(sim_id(sim, child->s.id)),
              STR_ARG(child->first_failed), STR_ARG(c->after->error_json));
}

void disk_check_boundary(struct sim *sim, const struct disk_execution *x, const struct commit *c)
{
    struct str compensation = STR("\"compensation\":");
    enum execution_status status = c->after->status;
    bool is_undone =
        status_is_terminal(status) && str_find(c->after->error_json, compensation, 0) >= 0;
    bool is_over = is_undone || (status == STATUS_CANCELLED && !is_left(c));

    for (size_t i = 0; (is_over || rolls_back(c)) && i < x->awaited.count; i++) {
        const struct disk_execution *child = x->awaited.items[i];

        SIM_CHECK(sim, child->has_ended || child->s.crash_count >= CRASHES_MAX,
                  "I11: %.*s %s while %.*s, which it has started and waited for, is %s",
                  STR_ARG(sim_id(sim, x->s.id)), is_over ? "is over" : "rolls back",
                  STR_ARG(sim_id(sim, child->s.id)), status_name(child->s.status));
        if (is_undone)
            check_is_known(sim, x, c, child);
    }
}

void disk_note_end(struct sim *sim, struct disk_execution *x)
{
    struct disk *d = &sim->disk;
    struct value error, failed;
    struct err err;

    if (x->has_ended || !status_is_terminal(x->s.status))
        return;
    x->has_ended = true;
    if (x->s.error_json.len == 0 || !json_read(&d->mem, x->s.error_json, &error, &err))
        return;
    failed = value_map_member(value_map_member(error, STR("compensation")), STR("failed"));
    if (failed.kind == VALUE_LIST && failed.len > 0)
        x->first_failed = value_text(failed.items[0]);
}

/* --- what executions are told --- */

void disk_notify(struct sim *sim, const struct notices *notices)
{
    struct disk *d = &sim->disk;

    for (size_t i = 0; i < notices->count; i++) {
        const struct notice *t = &notices->items[i];
        struct disk_execution *of = disk_find(d, t->execution);

        if (of == NULL || (status_is_terminal(of->s.status) && t->kind != NOTICE_JOIN))
            continue;
        *VEC_ADD(&d->mem, &d->events) = (struct disk_event){
            .of = of,
            .notice = {.n = ++d->event_rows,
                       .kind = t->kind,
                       .key = str_copy(&d->mem, t->key),
                       .payload_json = str_copy(&d->mem, t->payload_json)},
        };
        sim_note_str(sim, t->payload_json);
    }
}

void disk_consume(struct sim *sim, struct disk_execution *x, const struct notice_numbers *numbers)
{
    struct disk *d = &sim->disk;
    size_t kept = 0;

    for (size_t i = 0; numbers->count > 0 && i < d->events.count; i++) {
        bool goes = false;

        for (size_t k = 0; k < numbers->count && d->events.items[i].of == x; k++)
            goes |= numbers->items[k] == d->events.items[i].notice.n;
        if (!goes)
            d->events.items[kept++] = d->events.items[i];
    }
    if (numbers->count > 0)
        d->events.count = kept;
}

void disk_drop_notices(struct sim *sim, const struct disk_execution *x)
{
    struct disk *d = &sim->disk;
    size_t kept = 0;

    /* Now and then another transaction has added one beside this, which sees none of it. */
    if (!status_is_terminal(x->s.status) || (sim->config.nodes > 1 && dice_hits(&sim->dice, 200)))
        return;
    for (size_t i = 0; i < d->events.count; i++)
        if (d->events.items[i].of != x || d->events.items[i].notice.kind == NOTICE_JOIN)
            d->events.items[kept++] = d->events.items[i];
    d->events.count = kept;
}

/* --- who waits for whom --- */

bool disk_has_live_parent(struct disk *d, const struct disk_execution *x)
{
    const struct disk_execution *parent = x->s.has_parent ? disk_find(d, x->s.parent_id) : NULL;

    return parent != NULL && !status_is_terminal(parent->s.status);
}

bool disk_is_awaited(struct disk *d, const struct disk_execution *x)
{
    char id[UUID_TEXT_LEN + 1];

    uuid_write(x->s.id, id);
    for (size_t i = 0; i < d->events.count; i++) {
        const struct disk_event *e = &d->events.items[i];

        if ((e->notice.kind == NOTICE_JOIN && e->of == x) ||
            (e->notice.kind == NOTICE_CHILD && str_ends_with(e->notice.key, str_of(id))))
            return true;
    }
    return false;
}

/*
 * Another node may have ended an execution without knowing who has joined it: they are told within
 * a minute, from the row that they have left with it.
 */
bool disk_may_tell_joiners_yet(const struct sim *sim, const struct disk_execution *x)
{
    return sim_is_shared(sim) && !x->is_deleted && x->versions.count > 0 &&
           sim_mono_us(sim) - x->versions.items[x->versions.count - 1].mono_us < MINUTE_US;
}

/* The execution that a strand waits for, if it does and nothing else holds it up. */
static bool awaited_by(struct value strand, struct uuid *out)
{
    struct str prefix = STR("child:");
    struct value awaited = value_map_get_str(strand, STR("awaited"));
    struct value phase = value_map_get_str(strand, STR("phase"));

    return awaited.kind == VALUE_STRING && str_starts_with(value_text(awaited), prefix) &&
           phase.kind == VALUE_STRING && str_eq(value_text(phase), STR("job")) &&
           uuid_read(str_slice(value_text(awaited), prefix.len, prefix.len + UUID_TEXT_LEN), out);
}

/* Whether the strand waits for an execution that has ended, and should know that by now. */
static bool has_missed(struct sim *sim, struct value strand, struct uuid *child)
{
    const struct disk_execution *of;

    if (!awaited_by(strand, child))
        return false;
    of = disk_find_ever(&sim->disk, *child);
    if (of == NULL || of->is_deleted)
        return true;
    return status_is_terminal(of->s.status) &&
           !(value_map_get_str(strand, STR("joined")).kind != VALUE_ABSENT &&
             disk_may_tell_joiners_yet(sim, of));
}

bool disk_missed_child(struct sim *sim, const struct disk_execution *x, struct uuid *child)
{
    struct disk *d = &sim->disk;
    struct value cursor, beside;
    struct err err;

    if (x->s.status != STATUS_WAITING || x->s.crash_count > 0 || x->s.stop_requested ||
        str_starts_with(x->s.waiting_for_json, STR("{\"kind\":\"paused\"")) ||
        str_find(x->s.cursor_json, STR("\"awaited\":\"child:"), 0) < 0)
        return false;
    arena_reset(&d->scratch);
    if (!json_read(&d->scratch, x->s.cursor_json, &cursor, &err))
        PANIC("a cursor is no JSON");
    if (has_missed(sim, cursor, child))
        return true;
    beside = value_map_get_str(cursor, STR("beside"));
    for (uint32_t i = 0; beside.kind == VALUE_LIST && i < beside.len; i++)
        if (has_missed(sim, beside.items[i], child))
            return true;
    return false;
}

/* Every execution that a row says was started exists, or has been there. */
static void check_started(struct sim *sim, const struct history_row *row)
{
    struct str name = STR("\"executionId\":\"");
    struct uuid id;
    int64_t at = 0;

    while ((at = str_find(row->output_json, name, (size_t)at)) >= 0) {
        at += (int64_t)name.len;
        SIM_CHECK(
            sim,
            uuid_read(str_slice(row->output_json, (size_t)at, (size_t)at + UUID_TEXT_LEN), &id) &&
                disk_find_ever(&sim->disk, id) != NULL,
            "a step says that it started an execution which does not exist");
    }
}

void disk_check_family(struct sim *sim, const struct disk_execution *x)
{
    for (size_t i = 0; i < x->history.count; i++)
        check_started(sim, &x->history.items[i]);
    SIM_CHECK(sim, !x->is_child || disk_find_ever(&sim->disk, x->s.parent_id) != NULL,
              "a child has no parent");
}
