/*
 * task.c - task.create: a task of the planner; see task.h.
 *
 *     begin --CREATE--> waiting --notified that it has ended--> completed
 *                          |    --notified that it is refused-> failed
 *                          |
 *                    the time is up --EXPIRE--> told how it stands --> completed or failed
 *
 * The planner decides in the transaction of the commit, so this file never
 * reads a task: it knows what notices say. Who stops waiting in any other way,
 * by being cancelled, rolled back or stopped by another branch, is found by
 * comparing the state before with the one after (task_compare).
 */
#include "engine/command/task.h"

#include "define/catalog/catalog.h"
#include "define/define.h"
#include "engine/command/command.h"
#include "engine/command/wait.h"
#include "engine/flow/step.h"
#include "engine/flow/strand.h"
#include "engine/ident.h"
#include "value/json.h"
#include "value/timefmt.h"

#include <stdio.h>

#define TASK_KEY "task:"

/* --- what the task is to be --- */

enum task_field_kind {
    TASK_FIELD_TEXT,
    TASK_FIELD_INT,
    TASK_FIELD_SIGNED,
    TASK_FIELD_TIME,
    TASK_FIELD_IDS
};

struct task_field {
    enum command_field field;
    const char *name;
    enum task_field_kind kind;
    bool is_required;
    int64_t max;
};

static const struct task_field task_fields[] = {
#define TASK_FIELD(symbol, name, kind, required, max)                                              \
    {FIELD_##symbol, name, TASK_FIELD_##kind, required, max},
#include "define/catalog/task_fields.def"
#undef TASK_FIELD
    {FIELD_ASSIGN_TO, "assign_to", TASK_FIELD_TEXT, false, 200},
};

enum { IDS_LEN_MAX = 200 };

static bool task_fail(struct turn *t, const struct task_field *f, const char *wanted)
{
    return turn_fail(t, STR("validation_task"), ERR_CLASS_BUSINESS, "'%s' must be %s", f->name,
                     wanted) == STEP_DONE;
}

static bool task_check_text(struct turn *t, const struct task_field *f, struct value v)
{
    char wanted[60];

    if (v.kind == VALUE_STRING && (int64_t)v.len <= f->max &&
        (!f->is_required || str_trim(value_text(v)).len > 0))
        return true;
    (void)snprintf(wanted, sizeof(wanted), "a text of at most %lld bytes", (long long)f->max);
    return task_fail(t, f, wanted);
}

static bool task_check_int(struct turn *t, const struct task_field *f, struct value *v)
{
    int64_t min = f->kind == TASK_FIELD_SIGNED ? -f->max : 0;
    char wanted[60];

    if (v->kind == VALUE_DOUBLE && v->d >= (double)min && v->d <= (double)f->max &&
        v->d == (double)(int64_t)v->d)
        *v = value_int((int64_t)v->d);
    if (v->kind == VALUE_INT && v->i >= min && v->i <= f->max)
        return true;
    (void)snprintf(wanted, sizeof(wanted), "an integer from %lld to %lld", (long long)min,
                   (long long)f->max);
    return task_fail(t, f, wanted);
}

static bool task_check_time(struct turn *t, const struct task_field *f, struct value *v)
{
    struct value at = *v;

    if (v->kind == VALUE_STRING && !timestamp_read(value_text(*v), &at) &&
        !timestamp_read_date(value_text(*v), &at))
        at = value_null();
    if (at.kind != VALUE_TIMESTAMP || at.seconds <= 0)
        return task_fail(t, f, "a time such as \"2026-01-31T09:00:00Z\"");
    *v = value_int(at.seconds * 1000000 + at.nanos / 1000);
    return true;
}

static bool task_check_ids(struct turn *t, const struct task_field *f, struct value v)
{
    bool ok = v.kind == VALUE_LIST && (int64_t)v.len <= f->max;
    char wanted[60];

    for (uint32_t i = 0; ok && i < v.len; i++)
        ok = v.items[i].kind == VALUE_STRING && v.items[i].len > 0 && v.items[i].len <= IDS_LEN_MAX;
    if (ok)
        return true;
    (void)snprintf(wanted, sizeof(wanted), "a list of at most %lld ids", (long long)f->max);
    return task_fail(t, f, wanted);
}

/* One field as the planner takes it. False: the step has failed. */
static bool task_check(struct turn *t, const struct task_field *f, struct value *v)
{
    switch (f->kind) {
    case TASK_FIELD_TEXT:
        return task_check_text(t, f, *v);
    case TASK_FIELD_INT:
    case TASK_FIELD_SIGNED:
        return task_check_int(t, f, v);
    case TASK_FIELD_TIME:
        return task_check_time(t, f, v);
    case TASK_FIELD_IDS:
        return task_check_ids(t, f, *v);
    }
    PANIC("unknown kind of a task's field");
}

/* The fields of the command, evaluated. False: the step has failed. */
static bool task_body(struct turn *t, const struct command *c, struct value *out)
{
    struct value_entry *entries = ARENA_ARRAY(t->mem, ARRAY_SIZE(task_fields), struct value_entry);
    size_t count = 0, duplicate;
    struct str json;

    for (size_t i = 0; i < ARRAY_SIZE(task_fields); i++) {
        const struct task_field *f = &task_fields[i];
        struct str name = str_of(f->name);
        struct value v;

        if (!command_field(t, c, f->field, &v))
            return false;
        if (!f->is_required && (v.kind == VALUE_ABSENT || v.kind == VALUE_NULL))
            continue;
        if (!task_check(t, f, &v))
            return false;
        if (f->kind == TASK_FIELD_TIME)
            name = str_printf(t->mem, "%s_us", f->name);
        entries[count++] = (struct value_entry){value_key(name), v};
    }
    *out = value_map_make(t->mem, entries, count, &duplicate);
    /* No text that the store could not write. */
    return turn_freeze(t, out, &json);
}

/* --- asking for it --- */

static bool task_flag(struct turn *t, const struct command *c, enum command_field field, bool *out)
{
    struct value v;

    *out = false;
    if (!command_field(t, c, field, &v))
        return false;
    if (v.kind == VALUE_BOOL)
        *out = v.b;
    if (v.kind == VALUE_BOOL || v.kind == VALUE_ABSENT || v.kind == VALUE_NULL)
        return true;
    return turn_fail(t, STR("validation_task"), ERR_CLASS_BUSINESS, "'%.*s' must be true or false",
                     STR_ARG(catalog_field_name(field))) == STEP_DONE;
}

/* When the wait for it ends by itself, and reminders before that. False: the step has failed. */
static bool task_set_timers(struct turn *t, const struct command *c)
{
    struct cursor *cursor = &t->x->cursor;
    struct value timeout;

    if (!task_flag(t, c, FIELD_KEEP, &cursor->keeps_task) ||
        !command_field(t, c, FIELD_TIMEOUT, &timeout))
        return false;
    if (timeout.kind != VALUE_ABSENT &&
        !wait_span_end(t, timeout, catalog_field_name(FIELD_TIMEOUT), &cursor->timeout_at_us))
        return false;
    return remind_begin(t, c->wait);
}

static struct str task_describe(struct turn *t, const struct step *step, const struct task_act *act)
{
    const struct cursor *cursor = &t->x->cursor;
    struct buf why;

    buf_init_arena(&why, t->mem);
    field_kind(&why, WAITING_TASK);
    field_text(&why, "step", step->code);
    field_text(&why, "taskId", act->id);
    field_text(&why, "title", value_text(value_map_get_str(act->body, STR("title"))));
    if (act->form_json.len > 0)
        field_json(&why, "form", act->form_json);
    field_time(&why, "since", t->now_us);
    if (cursor->timeout_at_us > 0)
        field_time(&why, "until", cursor->timeout_at_us);
    return field_end(&why);
}

static struct str task_new_id(struct turn *t)
{
    struct uuid id = ident_make(t->x->id, t->x->seq + 1, t->ids++, t->now_us);
    return uuid_text(t->mem, id);
}

enum step_result task_begin(struct turn *t, const struct step *step)
{
    const struct command *c = &step->procedure->commands[0];
    struct task_act act = {.kind = TASK_ACT_CREATE};
    struct cursor *cursor = &t->x->cursor;

    cursor->timeout_at_us = cursor->remind_at_us = cursor->reminders = 0;
    cursor->keeps_task = cursor->is_overdue = false;
    if (!task_body(t, c, &act.body) || !task_flag(t, c, FIELD_WAIT, &act.waits))
        return STEP_FAILED;
    if (act.waits && !task_set_timers(t, c))
        return STEP_FAILED;
    if (c->wait->form_written.kind == VALUE_LIST &&
        !turn_json(t, c->wait->form_written, &act.form_json))
        return STEP_FAILED;
    act.id = task_new_id(t);
    cursor->task = act.id;
    wait_set_timer(cursor);
    step_wait(t, PHASE_WAIT, WAITING_TASK, STR("waiting"), task_describe(t, step, &act));
    t->out->history.items[t->out->history.count - 1].key = turn_key(t, STR_NONE);
    *VEC_ADD(t->mem, &t->out->tasks) = act;
    return STEP_WAITS;
}

/* --- what became of it --- */

bool engine_notice_task(struct arena *mem, const struct notice_row *notice, struct task_answer *out)
{
    struct value how;
    struct err err;

    *out = (struct task_answer){0};
    if (notice->kind != NOTICE_TASK || !str_starts_with(notice->key, STR(TASK_KEY)) ||
        !json_read(mem, notice->payload_json, &how, &err) || how.kind != VALUE_MAP)
        return false;
    out->id = str_copy(mem, str_slice(notice->key, sizeof(TASK_KEY) - 1, notice->key.len));
    out->output = value_map_get_str(how, STR("output"));
    out->error = value_map_get_str(how, STR("error"));
    out->has_expired = value_is_true(value_map_get_str(how, STR("expired")));
    return true;
}

/* What the event says about the task, or NULL. */
static const struct task_answer *task_noticed(const struct turn *t, struct str id)
{
    const struct task_answers *answers = t->ev->kind == EVENT_WAKE ? t->ev->tasks : NULL;

    for (size_t i = 0; answers != NULL && i < answers->count; i++)
        if (str_eq(answers->items[i].id, id))
            return &answers->items[i];
    return NULL;
}

static const struct task_answer *task_news(const struct turn *t, const struct cursor *cursor)
{
    return task_is_awaited(cursor) ? task_noticed(t, cursor->task) : NULL;
}

bool task_has_news(const struct turn *t, const struct cursor *cursor)
{
    return task_news(t, cursor) != NULL;
}

/* The planner is asked how the task stands, and cancels it unless it is kept. */
static enum step_result task_expire(struct turn *t)
{
    struct cursor *cursor = &t->x->cursor;

    *VEC_ADD(t->mem, &t->out->tasks) = (struct task_act){
        .kind = TASK_ACT_EXPIRE,
        .id = cursor->task,
        .keeps = cursor->keeps_task,
        .reason = STR("the time of the step that waits for it is up"),
    };
    cursor->is_overdue = true;
    cursor->timeout_at_us = cursor->remind_at_us = cursor->wake_at_us = 0;
    (void)step_row(t, HISTORY_EVENT, STR("overdue"));
    return STEP_WAITS;
}

enum step_result task_wake(struct turn *t, const struct step *step, struct value *out,
                           bool *has_expired)
{
    const struct task_answer *news = task_news(t, &t->x->cursor);

    *has_expired = news != NULL && news->has_expired;
    if (news == NULL)
        return task_expire(t);
    if (news->output.kind == VALUE_ABSENT)
        return turn_fail_answer(t, news->error);
    if (*has_expired && step->procedure->commands[0].wait->on_timeout == ON_TIMEOUT_FAIL)
        return turn_fail(t, STR("timeout_task"), ERR_CLASS_BUSINESS,
                         "the task had not ended before the time was up");
    *out = state_with(t->mem, news->output, STR("timedOut"), value_bool(*has_expired));
    return STEP_DONE;
}

/* --- who stops waiting --- */

/* Whether a strand of the state stands at a wait for the task, live or not. */
static bool task_has_strand(const struct execution *x, struct str id)
{
    for (uint32_t i = 0; i < execution_strands(x); i++)
        if (task_is_awaited(execution_cursor(x, i)) && str_eq(execution_cursor(x, i)->task, id))
            return true;
    return false;
}

static bool task_is_awaited_by(const struct execution *x, struct str id)
{
    return !status_is_terminal(x->status) && task_has_strand(x, id);
}

void task_begin_anew(struct turn *t, const struct execution *before)
{
    uint32_t first = t->x->strand_index;

    for (uint32_t i = 0; i < execution_strands(t->x); i++) {
        struct execution *x = t->x;

        strand_take(t, i);
        if (!task_is_awaited(&x->cursor) || !task_has_strand(before, x->cursor.task))
            continue;
        (void)step_row(t, HISTORY_EVENT, STR("stopped"));
        turn_leave_visit(t);
        x->cursor = (struct cursor){.step = x->cursor.step, .seq = x->cursor.seq};
        execution_set_waiting(x, WAITING_NONE, STR_NONE);
    }
    strand_take(t, first);
}

void task_look_at_all(struct turn *t, const struct execution *before)
{
    for (uint32_t i = 0; i < execution_strands(t->x); i++) {
        const struct cursor *c = execution_cursor(t->x, i);

        if (task_is_awaited(c) && task_is_awaited_by(before, c->task))
            *VEC_ADD(t->mem, &t->out->tasks) =
                (struct task_act){.kind = TASK_ACT_LOOK, .id = c->task};
    }
}

void task_compare(struct turn *t, const struct execution *before)
{
    struct task_acts *acts = &t->out->tasks;
    size_t kept = 0;

    /* A branch that asked for a task in this very turn may have been stopped by another. */
    for (size_t i = 0; i < acts->count; i++)
        if (task_is_awaited_by(t->x, acts->items[i].id))
            acts->items[kept++] = acts->items[i];
    acts->count = kept;
    for (uint32_t i = 0; !status_is_terminal(before->status) && i < execution_strands(before);
         i++) {
        const struct cursor *c = execution_cursor(before, i);

        /* Of one that has ended, as the event says, there is nothing left to cancel. */
        if (!task_is_awaited(c) || task_is_awaited_by(t->x, c->task) ||
            task_noticed(t, c->task) != NULL)
            continue;
        *VEC_ADD(t->mem, acts) = (struct task_act){
            .kind = TASK_ACT_CANCEL,
            .id = str_copy(t->mem, c->task),
            .reason = STR("the step that waited for it was stopped"),
        };
    }
}
