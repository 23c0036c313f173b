/* change_schedule.c - ticks and pauses of schedules; see change_schedule.h. */
#include "store/change_schedule.h"

#include "base/cron.h"
#include "define/schedule.h"
#include "value/object.h"

#define SECOND_US INT64_C(1000000)

static const char *const catch_up_names[] = {
    [CATCH_UP_ONE] = "one", [CATCH_UP_NONE] = "none", [CATCH_UP_ALL] = "all"};

const char *catch_up_name(enum catch_up catch_up)
{
    return catch_up_names[catch_up];
}

static bool catch_up_find(struct str name, enum catch_up *out)
{
    for (unsigned i = 0; i < ARRAY_SIZE(catch_up_names); i++)
        if (str_eq(name, str_of(catch_up_names[i]))) {
            *out = (enum catch_up)i;
            return true;
        }
    return false;
}

/* What is wrong with it: that this machine has no such zone, or why its last tick started nothing. */
static void show_error(struct buf *out, const struct stored_schedule *s)
{
    struct tz tz;

    if (s->is_retired || tz_find(s->timezone, &tz)) {
        object_json(out, "lastError",
                    s->last_error_json.len > 0 ? s->last_error_json : STR("null"));
        return;
    }
    object_name(out, "lastError");
    buf_char(out, '{');
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

static struct str column_copy(struct db *db, enum sql sql, unsigned column, struct arena *mem)
{
    return str_copy(mem, db_column_text(db, sql, column));
}

bool schedule_of_row(struct db *db, enum sql sql, struct arena *mem, struct stored_schedule *out)
{
    *out = (struct stored_schedule){
        .code = column_copy(db, sql, 1, mem),
        .kind = column_copy(db, sql, 2, mem),
        .version = db_column_int(db, sql, 3),
        .position = (uint32_t)db_column_int(db, sql, 4),
        .cron = column_copy(db, sql, 5, mem),
        .timezone = column_copy(db, sql, 6, mem),
        .org_id = column_copy(db, sql, 8, mem),
        .is_retired = db_column_int(db, sql, 9) != 0,
        .next_at_us = db_column_int(db, sql, 10),
        .paused_at_us = db_column_int(db, sql, 11),
        .paused_by = column_copy(db, sql, 12, mem),
        .last_at_us = db_column_int(db, sql, 13),
        .last_execution = column_copy(db, sql, 14, mem),
        .last_error_json = column_copy(db, sql, 15, mem),
        .created_at_us = db_column_int(db, sql, 16),
    };
    return uuid_read(db_column_text(db, sql, 0), &out->id) &&
           catch_up_find(db_column_text(db, sql, 7), &out->catch_up);
}

/* --- ticks --- */

/* Whether the schedule is as the tick says; on PostgreSQL its row is locked then. */
static bool tick_is_next(struct apply *a, const struct schedule_tick *t, bool *is,
                         enum db_status *status)
{
    const enum sql sql = SQL_SCHEDULE_IS_NEXT;
    char id[UUID_TEXT_LEN + 1];

    uuid_write(t->id, id);
    *status = db_run(a->db, sql,
                     DB_PARAMS(db_text(str_from(id, UUID_TEXT_LEN)), db_int(t->version),
                               db_int(t->rests_on_us)));
    *is = *status == DB_ROW;
    db_end(a->db, sql);
    return *status <= DB_DONE;
}

static bool tick_write(struct apply *a, const struct schedule_tick *t, struct str execution,
                       struct str error_json, enum db_status *status)
{
    char id[UUID_TEXT_LEN + 1];

    uuid_write(t->id, id);
    return apply_write(a, SQL_SCHEDULE_TICKED,
                       DB_PARAMS(db_text(str_from(id, UUID_TEXT_LEN)), db_some_int(t->next_at_us),
                                 db_int(t->at_us), db_text_or_null(execution),
                                 db_text_or_null(error_json)),
                       status);
}

enum apply_result apply_check_tick(struct apply *a, struct member *m, enum db_status *status)
{
    bool is_next;

    if (m->tick == NULL)
        return APPLY_DONE;
    if (!tick_is_next(a, m->tick, &is_next, status))
        return APPLY_FAILED;
    return is_next ? APPLY_DONE : apply_refuse(a, m, MEMBER_TICK_GONE);
}

bool apply_tick(struct apply *a, const struct member *m, enum db_status *status)
{
    char id[UUID_TEXT_LEN + 1];

    if (m->tick == NULL)
        return true;
    uuid_write(m->commit->after->id, id);
    return tick_write(a, m->tick, str_from(id, UUID_TEXT_LEN), STR_NONE, status);
}

enum apply_result schedule_skip_apply(struct apply *a, struct member *m, enum db_status *status)
{
    const struct schedule_skip *s = (const struct schedule_skip *)m->change;
    bool is_next;

    if (!tick_is_next(a, &s->tick, &is_next, status))
        return APPLY_FAILED;
    if (!is_next)
        return apply_refuse(a, m, MEMBER_TICK_GONE);
    return tick_write(a, &s->tick, STR_NONE, s->error_json, status) ? APPLY_DONE : APPLY_FAILED;
}

/* --- pausing --- */

static enum db_status load_schedule(struct apply *a, struct uuid id, struct stored_schedule *out)
{
    const enum sql sql = SQL_SCHEDULE_FIND;
    char text[UUID_TEXT_LEN + 1];
    enum db_status status;

    uuid_write(id, text);
    status = db_run(a->db, sql, DB_PARAMS(db_text(str_from(text, UUID_TEXT_LEN))));
    if (status == DB_ROW && !schedule_of_row(a->db, sql, a->mem, out))
        status = DB_CORRUPT;
    db_end(a->db, sql);
    return status;
}

int64_t schedule_next_us(struct str cron_text, struct str zone, int64_t after_us)
{
    struct cron_mistake mistake;
    struct cron cron;
    struct tz tz;
    int64_t next;

    if (!cron_read(cron_text, &cron, &mistake) || !tz_find(zone, &tz) ||
        !cron_next(&cron, tz, after_us / SECOND_US, &next))
        return 0;
    return next * SECOND_US;
}

static bool pause_write(struct apply *a, const struct schedule_pause *p,
                        const struct stored_schedule *s, enum db_status *status)
{
    char id[UUID_TEXT_LEN + 1];

    uuid_write(s->id, id);
    return apply_write(a, SQL_SCHEDULE_PAUSE,
                       DB_PARAMS(db_text(str_from(id, UUID_TEXT_LEN)), db_some_int(s->next_at_us),
                                 db_some_int(p->pauses ? 0 : s->next_at_us),
                                 db_some_int(s->paused_at_us), db_text_or_null(s->paused_by)),
                       status);
}

enum apply_result schedule_pause_apply(struct apply *a, struct member *m, enum db_status *status)
{
    struct schedule_pause *p = (struct schedule_pause *)m->change;
    struct stored_schedule s;
    struct buf answer;

    *status = load_schedule(a, p->id, &s);
    if (*status != DB_ROW && *status != DB_DONE)
        return APPLY_FAILED;
    if (*status == DB_DONE || (p->org_id.len > 0 && !str_eq(p->org_id, s.org_id)))
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
        if (!pause_write(a, p, &s, status))
            return APPLY_FAILED;
    }
    buf_init_arena(&answer, a->mem);
    buf_char(&answer, '{');
    schedule_show(&answer, &s);
    buf_char(&answer, '}');
    p->change.answer_json = buf_view(&answer);
    p->change.answer_status = 200;
    return APPLY_DONE;
}
