/* change_schedule.c - ticks and pauses of schedules; see change_schedule.h. */
#include "store/change_schedule.h"
#include "base/names.h"
#include "engine/execution.h"

#include "base/time/cron.h"
#include "engine/commit/commit.h"
#include "store/db/db.h"
#include "store/store.h"
#include "store/write/apply.h"
#include "store/write/apply_commit.h"
#include "store/write/change_apply.h"
#include "value/object.h"

#define SECOND_US INT64_C(1000000)

static const char *const catch_up_names[] = {
    [CATCH_UP_ONE] = "one", [CATCH_UP_NONE] = "none", [CATCH_UP_ALL] = "all"};

NAMES_NAME(catch_up_name, enum catch_up, catch_up_names)

static NAMES_READ(catch_up_find, enum catch_up, catch_up_names)

    /* What is wrong with it: that this machine has no such zone, or why its last tick started nothing. */
    static void show_error(struct buf *out, const struct stored_schedule *s)
{
    struct tz tz;

    if (s->is_retired || tz_find(s->timezone, &tz)) {
        object_json(out, "lastError",
                    s->last_error_json.len > 0 ? s->last_error_json : STR("null"));
        return;
    }
    object_nested(out, "lastError");
    object_text(out, "code", STR("not_found_timezone"));
    object_name(out, "message");
    buf_printf(out,
               "\"it does not tick here: this machine has no time zone %.*s; update its tzdata\"}",
               STR_ARG(s->timezone));
}

void schedule_show(struct buf *out, const struct stored_schedule *s)
{
    object_id(out, "id", s->id);
    object_text(out, "code", s->code);
    object_text(out, "kind", s->kind);
    object_int(out, "version", s->version);
    object_int(out, "trigger", s->position);
    object_text(out, "cron", s->cron);
    object_text(out, "timezone", s->timezone);
    object_text(out, "catchUp", str_of(catch_up_name(s->catch_up)));
    object_text(out, "status",
                s->is_retired          ? STR("retired")
                : s->paused_at_us != 0 ? STR("paused")
                                       : STR("active"));
    object_time(out, "nextAt", s->is_retired || s->paused_at_us != 0 ? 0 : s->next_at_us);
    object_time(out, "lastAt", s->last_at_us);
    object_text(out, "lastExecutionId", s->last_execution);
    show_error(out, s);
    object_time(out, "pausedAt", s->paused_at_us);
    object_text(out, "pausedBy", s->paused_by);
    object_text(out, "orgId", s->org_id);
    object_time(out, "createdAt", s->created_at_us);
}

bool schedule_of_row(struct db *db, enum sql sql, struct arena *mem, struct stored_schedule *out)
{
    *out = (struct stored_schedule){
        .code = db_column_copy(db, mem, sql, 1),
        .kind = db_column_copy(db, mem, sql, 2),
        .version = db_column_int(db, sql, 3),
        .position = (uint32_t)db_column_int(db, sql, 4),
        .cron = db_column_copy(db, mem, sql, 5),
        .timezone = db_column_copy(db, mem, sql, 6),
        .org_id = db_column_copy(db, mem, sql, 8),
        .is_retired = db_column_int(db, sql, 9) != 0,
        .next_at_us = db_column_int(db, sql, 10),
        .paused_at_us = db_column_int(db, sql, 11),
        .paused_by = db_column_copy(db, mem, sql, 12),
        .last_at_us = db_column_int(db, sql, 13),
        .last_execution = db_column_copy(db, mem, sql, 14),
        .last_error_json = db_column_copy(db, mem, sql, 15),
        .created_at_us = db_column_int(db, sql, 16),
    };
    return uuid_read(db_column_text(db, sql, 0), &out->id) &&
           catch_up_find(db_column_text(db, sql, 7), &out->catch_up);
}

/* --- ticks --- */

/* Whether the schedule is as the tick says; on PostgreSQL its row is locked then. */
static bool tick_is_next(struct apply *a, const struct schedule_tick *t, bool *is)
{
    return apply_finds(
        a, SQL_SCHEDULE_IS_NEXT,
        DB_PARAMS(db_text(UUID_STR(t->id)), db_int(t->version), db_int(t->rests_on_us)), is);
}

static bool tick_write(struct apply *a, const struct schedule_tick *t, struct str execution,
                       struct str error_json)
{
    return apply_write(a, SQL_SCHEDULE_TICKED,
                       DB_PARAMS(db_text(UUID_STR(t->id)), db_some_int(t->next_at_us),
                                 db_int(t->at_us), db_text_or_null(execution),
                                 db_text_or_null(error_json)));
}

enum apply_result apply_check_tick(struct apply *a, struct member *m)
{
    bool is_next;

    if (m->tick == NULL)
        return APPLY_DONE;
    if (!tick_is_next(a, m->tick, &is_next))
        return APPLY_FAILED;
    return is_next ? APPLY_DONE : apply_refuse(a, m, MEMBER_TICK_GONE);
}

bool apply_tick(struct apply *a, const struct member *m)
{
    if (m->tick == NULL)
        return true;
    return tick_write(a, m->tick, UUID_STR(m->commit->after->id), STR_NONE);
}

enum apply_result schedule_skip_apply(struct apply *a, struct member *m)
{
    const struct schedule_skip *s = (const struct schedule_skip *)m->change;
    bool is_next;

    if (!tick_is_next(a, &s->tick, &is_next))
        return APPLY_FAILED;
    if (!is_next)
        return apply_refuse(a, m, MEMBER_TICK_GONE);
    return apply_done_if(tick_write(a, &s->tick, STR_NONE, s->error_json));
}

/* --- pausing --- */

static enum db_status load_schedule(struct apply *a, struct uuid id, struct stored_schedule *out)
{
    const enum sql sql = SQL_SCHEDULE_FIND;
    enum db_status status = db_run(a->db, sql, DB_PARAMS(db_text(UUID_STR(id))));

    if (status == DB_ROW && !schedule_of_row(a->db, sql, a->mem, out))
        status = DB_CORRUPT;
    db_end(a->db, sql);
    return status;
}

int64_t schedule_next_us(struct str cron_text, struct str zone, int64_t after_us)
{
    struct err mistake;
    struct cron cron;
    struct tz tz;
    int64_t next;

    if (!cron_read(cron_text, &cron, &mistake) || !tz_find(zone, &tz) ||
        !cron_next(&cron, tz, after_us / SECOND_US, &next))
        return 0;
    return next * SECOND_US;
}

static bool pause_write(struct apply *a, const struct schedule_pause *p,
                        const struct stored_schedule *s)
{
    return apply_write(a, SQL_SCHEDULE_PAUSE,
                       DB_PARAMS(db_text(UUID_STR(s->id)), db_some_int(s->next_at_us),
                                 db_some_int(p->pauses ? 0 : s->next_at_us),
                                 db_some_int(s->paused_at_us), db_text_or_null(s->paused_by)));
}

enum apply_result schedule_pause_apply(struct apply *a, struct member *m)
{
    struct schedule_pause *p = (struct schedule_pause *)m->change;
    struct stored_schedule s;
    struct buf answer;

    a->status = load_schedule(a, p->id, &s);
    if (a->status != DB_ROW && a->status != DB_DONE)
        return APPLY_FAILED;
    if (a->status == DB_DONE || (p->org_id.len > 0 && !str_eq(p->org_id, s.org_id)))
        return apply_refuse_with(a, m, ERR_NOT_FOUND, "there is no schedule with this id");
    if (s.is_retired)
        return apply_refuse_with(a, m, ERR_CONFLICT,
                                 "the process '%.*s' is retired: its schedules do not tick",
                                 STR_ARG(s.code));
    p->changed = p->pauses == (s.paused_at_us == 0);
    if (p->changed) {
        s.paused_at_us = p->pauses ? p->change.now_us : 0;
        s.paused_by = p->pauses ? p->user_id : STR_NONE;
        if (!p->pauses && (s.catch_up == CATCH_UP_NONE || s.last_at_us > p->change.now_us))
            s.next_at_us = schedule_next_us(s.cron, s.timezone, p->change.now_us);
        if (!pause_write(a, p, &s))
            return APPLY_FAILED;
    }
    object_begin(&answer, a->mem);
    schedule_show(&answer, &s);
    p->change.answer_json = object_end(&answer);
    p->change.answer_status = 200;
    return APPLY_DONE;
}
