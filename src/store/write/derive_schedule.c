/* derive_schedule.c - schedules as the triggers of a published version say; see change_schedule.h. */
#include "store/change_schedule.h"

#include "base/digest.h"
#include "store/db/db.h"
#include "store/org.h"
#include "store/write/apply.h"
#include "store/write/change_apply.h"
#include "value/json.h"

/* A trigger, and the row that it had before. */
struct derived {
    struct stored_schedule now;
    const struct stored_schedule *before; /* or NULL */
    bool is_same;                         /* expression and zone are as before */
};

struct deriveds {
    VEC_OF(struct derived);
};

static enum catch_up spec_catch_up(struct value spec)
{
    struct str word = value_map_text(spec, STR("catchUp"));

    return str_eq(word, STR("none"))  ? CATCH_UP_NONE
           : str_eq(word, STR("all")) ? CATCH_UP_ALL
                                      : CATCH_UP_ONE;
}

/* What the triggers say. */
static enum db_status load_specs(struct apply *a, struct str kind, struct str code, int64_t now_us,
                                 struct deriveds *out)
{
    const enum sql sql = SQL_SCHEDULE_SPECS;
    enum db_status status = db_run(a->db, sql, DB_PARAMS(db_text(code), db_text(kind)));

    for (; status == DB_ROW; status = db_next(a->db, sql)) {
        struct str org = db_column_text(a->db, sql, 3);
        struct value spec;
        struct err err;

        if (!json_read(a->mem, db_column_copy(a->db, a->mem, sql, 4), &spec, &err) ||
            spec.kind != VALUE_MAP)
            continue;
        *VEC_ADD(a->mem, out) = (struct derived){
            .now = {.code = code,
                    .kind = kind,
                    .position = (uint32_t)db_column_int(a->db, sql, 0),
                    .version = db_column_int(a->db, sql, 1),
                    .is_retired = db_column_int(a->db, sql, 2) != 0,
                    .org_id = org.len > 0 ? str_copy(a->mem, org) : ORG_DEFAULT,
                    .cron = value_map_text(spec, STR("cron")),
                    .timezone = value_map_text(spec, STR("timezone")).len > 0
                                    ? value_map_text(spec, STR("timezone"))
                                    : STR("UTC"),
                    .catch_up = spec_catch_up(spec),
                    .created_at_us = now_us},
        };
    }
    db_end(a->db, sql);
    return status;
}

static enum db_status schedules_before(struct apply *a, struct str kind, struct str code,
                                       struct stored_schedules *out)
{
    const enum sql sql = SQL_SCHEDULES_OF;
    enum db_status status = db_run(a->db, sql, DB_PARAMS(db_text(code), db_text(kind)));

    while (status == DB_ROW)
        status = schedule_of_row(a->db, sql, a->mem, VEC_ADD(a->mem, out)) ? db_next(a->db, sql)
                                                                           : DB_CORRUPT;
    db_end(a->db, sql);
    return status;
}

/* --- which row each had --- */

static bool is_same(const struct stored_schedule *a, const struct stored_schedule *b)
{
    return str_eq(a->cron, b->cron) && str_eq(a->timezone, b->timezone);
}

static bool is_taken(const struct deriveds *all, const struct stored_schedule *before)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].before == before)
            return true;
    return false;
}

/* First what says the same, at its place or another one; then what stands at the same place. */
static void match(struct deriveds *all, const struct stored_schedules *before)
{
    enum { SAME_PLACE_AND_TEXT, SAME_TEXT, SAME_PLACE, PASSES };

    for (int pass = 0; pass < PASSES; pass++)
        for (size_t i = 0; i < all->count; i++)
            for (size_t k = 0; k < before->count && all->items[i].before == NULL; k++) {
                struct derived *d = &all->items[i];
                const struct stored_schedule *b = &before->items[k];
                bool has_text = is_same(&d->now, b);

                if (is_taken(all, b) || (pass != SAME_PLACE && !has_text) ||
                    (pass != SAME_TEXT && d->now.position != b->position))
                    continue;
                d->before = b;
                d->is_same = has_text;
            }
}

/* --- writing --- */

/* An id that is the same when the batch is repeated. */
static struct uuid new_id(struct apply *a, const struct stored_schedule *s)
{
    struct str text = str_printf(a->mem, "%.*s/%.*s/%u/%lld", STR_ARG(s->kind), STR_ARG(s->code),
                                 s->position, (long long)s->created_at_us);
    uint8_t digest[DIGEST_LEN];

    digest_sha256(text, digest);
    return uuid_v7(s->created_at_us / 1000, digest);
}

static bool schedule_put(struct apply *a, const struct stored_schedule *s)
{
    bool is_awake = !s->is_retired && s->paused_at_us == 0;

    return apply_write(
        a, SQL_SCHEDULE_PUT,
        DB_PARAMS(db_text(UUID_STR(s->id)), db_text(s->code), db_text(s->kind), db_int(s->version),
                  db_int(s->position), db_text(s->cron), db_text(s->timezone),
                  db_text(str_of(catch_up_name(s->catch_up))), db_text(s->org_id),
                  db_int(s->is_retired), db_some_int(s->next_at_us),
                  db_some_int(is_awake ? s->next_at_us : 0), db_int(s->created_at_us)));
}

static bool schedule_drop(struct apply *a, const struct stored_schedule *s)
{
    return apply_write(a, SQL_SCHEDULE_DELETE, DB_PARAMS(db_text(UUID_STR(s->id))));
}

static bool derived_write(struct apply *a, struct derived *d, int64_t now_us)
{
    const struct stored_schedule *before = d->before;
    bool keeps_next = d->is_same && !before->is_retired && !d->now.is_retired;

    if (before != NULL) {
        d->now.id = before->id;
        d->now.paused_at_us = before->paused_at_us;
    } else {
        d->now.id = new_id(a, &d->now);
    }
    d->now.next_at_us =
        keeps_next ? before->next_at_us : schedule_next_us(d->now.cron, d->now.timezone, now_us);
    return schedule_put(a, &d->now);
}

bool schedules_derive(struct apply *a, struct str kind, struct str code, int64_t now_us)
{
    struct stored_schedules before = {0};
    struct deriveds all = {0};

    a->status = load_specs(a, kind, code, now_us, &all);
    if (a->status == DB_DONE)
        a->status = schedules_before(a, kind, code, &before);
    if (a->status != DB_DONE)
        return false;
    match(&all, &before);
    for (size_t i = 0; i < before.count; i++)
        if (!is_taken(&all, &before.items[i]) && !schedule_drop(a, &before.items[i]))
            return false;
    for (size_t i = 0; i < all.count; i++)
        if (!derived_write(a, &all.items[i], now_us))
            return false;
    return true;
}
