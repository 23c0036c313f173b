/* sound.c - see sound.h. */
#include "engine/sound.h"

#include "define/program.h"
#include "engine/command/procedure.h"
#include "engine/command/wait.h"
#include "engine/commit/message.h"
#include "engine/flow/step.h"
#include "engine/flow/strand.h"
#include "engine/stored.h"

/* --- texts that hold JSON --- */

/* An empty text is one of any kind. */
static bool sound_text(struct arena *mem, struct str json, enum value_kind kind)
{
    struct value v;
    struct err err;

    return json.len == 0 || (json_read(mem, json, &v, &err) && v.kind == kind);
}

static bool sound_id(struct value v, const char *name)
{
    struct uuid id;

    return uuid_read(value_map_text(v, str_of(name)), &id);
}

static bool sound_record(struct value r)
{
    struct value data = value_map_member(r, STR("data"));

    return value_map_text(r, STR("object")).len > 0 && value_map_text(r, STR("id")).len > 0 &&
           (data.kind == VALUE_MAP || data.kind == VALUE_ABSENT);
}

static bool sound_message(struct value m)
{
    enum message_kind kind;

    return sound_id(m, "id") && message_kind_read(value_map_text(m, STR("kind")), &kind) &&
           value_map_member(m, STR("body")).kind == VALUE_MAP;
}

/* [object, id] of a record that was read. */
static bool sound_looked(struct value l)
{
    return l.kind == VALUE_LIST && l.len == 2 && l.items[0].kind == VALUE_STRING &&
           l.items[1].kind == VALUE_STRING;
}

static bool sound_log(struct value l)
{
    return l.kind == VALUE_MAP;
}

/* Absent, or a list whose items all are sound. */
static bool sound_list(struct value list, bool (*is_sound)(struct value))
{
    for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len; i++)
        if (!is_sound(list.items[i]))
            return false;
    return list.kind == VALUE_LIST || list.kind == VALUE_ABSENT;
}

static bool is_kind_or_absent(struct value v, enum value_kind kind)
{
    return v.kind == kind || v.kind == VALUE_ABSENT;
}

/* What suspend.c has written. */
static bool sound_suspended(struct arena *mem, struct str json)
{
    struct value v;
    struct err err;

    if (json.len == 0)
        return true;
    return json_read(mem, json, &v, &err) && v.kind == VALUE_MAP &&
           is_kind_or_absent(value_map_member(v, STR("results")), VALUE_MAP) &&
           is_kind_or_absent(value_map_member(v, STR("assigned")), VALUE_MAP) &&
           is_kind_or_absent(value_map_member(v, STR("warnings")), VALUE_LIST) &&
           sound_list(value_map_member(v, STR("records")), sound_record) &&
           sound_list(value_map_member(v, STR("looked")), sound_looked) &&
           sound_list(value_map_member(v, STR("logs")), sound_log) &&
           sound_list(value_map_member(v, STR("messages")), sound_message);
}

/* --- where it stands --- */

/* The steps around the current one lie in one another, and it in the innermost; rolling back, anywhere. */
static bool sound_place(const struct program *p, const struct cursor *c, const struct frame *frames,
                        uint32_t count)
{
    uint32_t block = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct step *s = &p->steps[frames[i].step];

        if (s->block != block || s->kind == STEP_PROCEDURE || frames[i].block < s->first_block ||
            frames[i].block - s->first_block >= s->block_count)
            return false;
        block = frames[i].block;
    }
    if (c->phase == PHASE_ROLLBACK)
        return true;
    return c->step == p->step_count ? count == 0 : p->steps[c->step].block == block;
}

/* A loop over a list has it, and the iteration that runs has an item. */
static bool sound_loops(const struct execution *x, const struct frame *frames, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct step *s = &x->program->steps[frames[i].step];
        const struct loop_data *data = state_loop(x, frames[i].step, frames[i].visit);

        if (s->kind == STEP_LOOP && s->loop->list != NULL &&
            (data == NULL || data->list.kind != VALUE_LIST || frames[i].index > data->list.len))
            return false;
    }
    return true;
}

/* [number, value] of an iteration or branch that ran beside others. */
static bool sound_numbered(struct value v)
{
    return v.kind == VALUE_LIST && v.len == 2 && v.items[0].kind == VALUE_INT && v.items[0].i >= 0;
}

/* {index, item, error} of an iteration that failed. */
static bool sound_loop_error(struct value v)
{
    return value_map_member(v, STR("index")).kind == VALUE_INT;
}

static bool sound_items(const struct items *list, bool (*is_sound)(struct value))
{
    struct shared_iter iter = {0};
    const struct value *v;

    while ((v = items_next(list, &iter)) != NULL)
        if (!is_sound(*v))
            return false;
    return true;
}

/*
 * Where iterations or branches run at once, what has ended is put in order by its number. Rows are
 * not held to it one by one: they may be of a version in which the same loop ran one at a time.
 */
static bool sound_collected(const struct execution *x)
{
    for (const struct loop_data *l = x->loops; l != NULL; l = l->outer)
        if (frame_runs_at_once(&x->program->steps[l->step]) &&
            (!sound_items(&l->collected, sound_numbered) ||
             !sound_items(&l->errors, sound_loop_error)))
            return false;
    return true;
}

/* Whether the step can be in that phase. */
static bool sound_phase(const struct execution *x, const struct cursor *c)
{
    const struct program *p = x->program;
    const struct procedure *does =
        c->step < p->step_count && p->steps[c->step].kind == STEP_PROCEDURE
            ? p->steps[c->step].procedure
            : NULL;

    switch (c->phase) {
    case PHASE_ENTER:
    case PHASE_HELD:
        return true;
    case PHASE_RETRY:
        return does != NULL;
    case PHASE_WAIT:
        return does != NULL && does->kind == PROCEDURE_INLINE && wait_is(&does->commands[0]) &&
               (c->remind_at_us == 0 || (does->commands[0].wait != NULL &&
                                         does->commands[0].wait->reminder.procedure != NULL));
    case PHASE_JOB:
        return does != NULL && c->awaited.len > 0;
    case PHASE_RECONCILE:
        return does != NULL && c->reconciling != NULL;
    case PHASE_ROLLBACK: /* one that has failed keeps the place where its rollback has ended */
        return x->rollback != NULL || status_is_terminal(x->status);
    case PHASE_COUNT:
        break;
    }
    return false;
}

/*
 * What is awaited is a child by its id, or somebody is asked, by a step of the program or, rolling
 * back, by one that only an earlier program has.
 */
static bool sound_awaited(const struct program *p, const struct cursor *c)
{
    struct uuid id;

    if (c->awaited.len == 0)
        return c->ask == ASK_NONE;
    if (c->step == p->step_count && c->past.len == 0)
        return false;
    return c->ask != ASK_NONE || (child_is_awaited(c) && child_awaited(c, &id));
}

/* A wait that ends with a signal once the execution goes on: the signal is there. */
static bool sound_deferred(const struct execution *x, const struct cursor *c)
{
    struct shared_iter iter = {0};
    const struct signal *s;

    if (c->deferred_seq == 0 || c->deferred_answer_json.len > 0)
        return true;
    while ((s = signals_next(&x->signals, &iter)) != NULL)
        if (s->seq == c->deferred_seq)
            return true;
    return false;
}

/* What is wrong with it; NULL: nothing. */
static const char *cursor_damage(struct arena *mem, const struct execution *x,
                                 const struct cursor *c)
{
    const struct reconciling *r = c->reconciling;

    if (!sound_phase(x, c))
        return "the current step cannot be in its phase";
    if (!sound_awaited(x->program, c))
        return "nobody knows what it waits for";
    if (r != NULL && c->step == x->program->step_count && c->past.len == 0)
        return "an attempt is in doubt of no step";
    if (!sound_suspended(mem, c->suspended_json) ||
        (r != NULL && !sound_suspended(mem, r->suspended_json)))
        return "what its commands have done is none";
    if (!(sound_text(mem, c->types_json, VALUE_LIST) ||
          sound_text(mem, c->types_json, VALUE_STRING)) ||
        !sound_text(mem, c->assignees_json, VALUE_LIST) ||
        !sound_text(mem, c->remind_times_json, VALUE_LIST))
        return "its wait is none";
    if (!sound_text(mem, c->deferred_answer_json, VALUE_MAP) ||
        (r != NULL && !sound_text(mem, r->error_json, VALUE_MAP)))
        return "the outcome of an attempt is no object";
    return sound_deferred(x, c) ? NULL : "the signal that it goes on with is not there";
}

static const char *strand_damage(struct arena *mem, const struct execution *x, uint32_t i)
{
    const struct frame *frames = i == 0 ? x->frames : x->others[i - 1]->frames;
    uint32_t count = i == 0 ? x->frame_count : x->others[i - 1]->frame_count;
    const struct cursor *c = execution_cursor(x, i);

    if (!sound_place(x->program, c, frames, count))
        return "its place is not in its program";
    if (!sound_loops(x, frames, count))
        return "a loop has no list";
    if (!sound_text(mem, execution_waits(x, i), VALUE_MAP))
        return "what it waits for is no object";
    return cursor_damage(mem, x, c);
}

static bool sound_rollback(struct arena *mem, const struct execution *x)
{
    const struct rollback *r = x->rollback;

    if (r == NULL)
        return x->status != STATUS_COMPENSATING;
    for (uint32_t i = 0; i < r->other_count; i++)
        if (!sound_place(x->program, &r->others[i]->cursor, r->others[i]->frames,
                         r->others[i]->frame_count) ||
            !sound_suspended(mem, r->others[i]->cursor.suspended_json))
            return false;
    return status_is_terminal(r->end) && r->before <= x->seq + 1 && r->row <= x->seq &&
           r->strand_index <= r->other_count &&
           (r->from == NULL || sound_suspended(mem, r->from->suspended_json));
}

static bool sound_letter(struct value v)
{
    return sound_id(v, "letter");
}

static bool sound_given_up(const struct execution *x)
{
    return sound_items(&x->given_up, sound_letter);
}

/* A reminder stands at a wait that has reminders, and waits for an answer or its next attempt. */
static const char *reminding_damage(struct arena *mem, const struct execution *x,
                                    const struct strand *s)
{
    const struct cursor *c = &s->cursor;
    const struct step *step = c->step < x->program->step_count ? &x->program->steps[c->step] : NULL;
    const struct wait *wait =
        step != NULL && step_is_wait(step) ? step->procedure->commands[0].wait : NULL;

    if (wait == NULL || wait->reminder.procedure == NULL || c->reconciling != NULL)
        return "a reminder is none of its step";
    if (c->phase != PHASE_RETRY && (c->phase != PHASE_JOB || c->ask == ASK_NONE))
        return "a reminder waits for nothing";
    if (!sound_text(mem, s->waiting_for_json, VALUE_MAP))
        return "what a reminder waits for is no object";
    return cursor_damage(mem, x, c);
}

/* One that is stopped waits for its debugger, or is held. */
static bool sound_debug(struct arena *mem, const struct execution *x)
{
    if (x->debug == NULL)
        return x->status != STATUS_WAITING_DEBUG;
    if (x->debug->until > DEBUG_END || !sound_text(mem, x->debug->breakpoints_json, VALUE_LIST))
        return false;
    return execution_is_stopped(x) ? x->status == STATUS_WAITING_DEBUG || execution_is_held(x)
                                   : x->status != STATUS_WAITING_DEBUG;
}

/* A call that was stopped stands at the step that has made it. */
static const char *stopped_damage(struct arena *mem, const struct execution *x,
                                  const struct stopped_child *c)
{
    if (c->strand == NULL)
        return NULL;
    if (c->call_seq == 0 || c->strand->cursor.ask != ASK_CALL ||
        c->strand->cursor.phase != PHASE_JOB || c->strand->cursor.reconciling != NULL ||
        !sound_place(x->program, &c->strand->cursor, c->strand->frames, c->strand->frame_count))
        return "a call that was stopped is none of its step";
    return cursor_damage(mem, x, &c->strand->cursor);
}

bool sound_check(struct arena *mem, const struct execution *x, struct err *err)
{
    const char *damage = NULL;

    if (!sound_text(mem, x->error_json, VALUE_MAP) ||
        !sound_text(mem, x->waiting_for_json, VALUE_MAP) ||
        !sound_text(mem, x->user_json, VALUE_MAP))
        return stored_broken(err, "a column holds no object");
    if (!sound_given_up(x))
        return stored_broken(err, "a rollback that was given up has no dead letter");
    /* One that has ended stands nowhere, but for one that failed and may be tried again. */
    if (status_is_terminal(x->status) && x->status != STATUS_FAILED)
        return true;
    if (!sound_debug(mem, x))
        return stored_broken(err, "it is debugged in no way that there is");
    if (!sound_collected(x))
        return stored_broken(err, "what has ended in a loop or a parallel has no number");
    if (x->strand_index > x->other_count)
        return stored_broken(err, "its strands are counted wrong");
    for (uint32_t i = 0; i < execution_strands(x) && damage == NULL; i++)
        damage = strand_damage(mem, x, i);
    for (uint32_t i = 0; i < x->reminding_count && damage == NULL; i++)
        damage = reminding_damage(mem, x, x->reminding[i]);
    for (uint32_t i = 0; i < x->stopped_count && damage == NULL; i++)
        damage = stopped_damage(mem, x, &x->stopped[i]);
    if (damage != NULL)
        return stored_broken(err, damage);
    if (!sound_rollback(mem, x))
        return stored_broken(err, "it rolls back what it cannot");
    return true;
}
