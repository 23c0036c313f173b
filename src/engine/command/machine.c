/*
 * machine.c - machines: which transition an event or a time takes; see machine.h.
 *
 * A state is a step that waits. The result of its visit names the transition by which it was left
 * (`transition`); flow goes on with the step of that, and from there with the next state. So a
 * transition is one visit of one step: what it has done is one ledger, and when that visit has
 * completed the state that it leads to begins, in the same commit if nothing waits outside.
 *
 *     event, a guard holds --> the state completes --> exit, do, entry --> the next state waits
 *     event, none holds    --> refused; one that was kept: a row `transition_not_allowed`
 */
#include "engine/command/machine.h"
#include "engine/command/procedure.h"
#include "engine/command/wait.h"
#include "engine/flow/rollback.h"
#include "engine/flow/step.h"

#define NOT_ALLOWED STR("transition_not_allowed")

/* --- where it stands --- */

static const struct step *step_in_hand(const struct execution *x)
{
    return x->cursor.step < x->program->step_count ? &x->program->steps[x->cursor.step] : NULL;
}

bool machine_stands(const struct execution *x)
{
    const struct step *step = step_in_hand(x);

    return step != NULL && step->state != NULL;
}

bool machine_is_at_rest(const struct execution *x)
{
    return machine_stands(x) && x->rollback == NULL && x->cursor.phase == PHASE_WAIT &&
           x->status == STATUS_WAITING;
}

struct value machine_event(struct turn *t)
{
    const struct step *step = t->about != NULL ? t->about->step : step_in_hand(t->x);
    const struct step_state *left;
    struct value out;

    if (step == NULL || step->transition == NULL)
        return value_absent();
    left = &t->x->steps[step->transition->from];
    if (left->outcome != OUTCOME_COMPLETED || step->transition->event.len == 0)
        return value_null();
    out = left->output;
    return value_map_of(
        t->mem,
        VALUE_ENTRIES({value_key(STR("type")), value_map_get_str(out, STR("type"))},
                      {value_key(STR("payload")), value_map_get_str(out, STR("payload"))},
                      {value_key(STR("by")), value_map_get_str(out, STR("by"))},
                      {value_key(STR("receivedAt")), value_map_get_str(out, STR("receivedAt"))}));
}

/* --- which transition is open --- */

/* A guard that cannot be evaluated does not hold. */
static bool guard_holds(struct turn *t, const struct state_way *transition, struct value event)
{
    if (transition->when == NULL)
        return true;
    t->slots[ROOT_SIGNAL] = event;
    return value_is_true(cel_evaluate(t->mem, transition->when, &t->activation, NULL));
}

static const struct state_way *open_for_event(struct turn *t, const struct state *state,
                                              const struct signal *signal)
{
    for (uint32_t i = 0; i < state->event_count; i++)
        if (str_eq(state->transitions[i].event, signal->type) &&
            guard_holds(t, &state->transitions[i], signal->view))
            return &state->transitions[i];
    return NULL;
}

static const struct state_way *open_after(struct turn *t, const struct state *state,
                                          const struct after *after)
{
    for (uint32_t i = after->first; i < after->first + after->count; i++)
        if (guard_holds(t, &state->transitions[i], value_null()))
            return &state->transitions[i];
    return NULL;
}

static bool has_event(const struct state *state, struct str type)
{
    for (uint32_t i = 0; i < state->event_count; i++)
        if (str_eq(state->transitions[i].event, type))
            return true;
    return false;
}

/* What the state gives when it is left by this transition. */
static struct value leaving(struct turn *t, struct value answer, const struct state_way *by)
{
    return state_with(t->mem, answer, STR("transition"), value_string(by->code));
}

/* --- times --- */

static bool after_due(struct turn *t, const struct after *after, int64_t *out_us)
{
    return wait_span_from(t, t->x->machine.entered_at_us, after->span, STR("after"), out_us);
}

/* The earliest of `after` that was not judged: its number, or after_count. False: as wait_end(). */
static bool next_after(struct turn *t, const struct state *state, uint32_t *next, int64_t *at_us)
{
    *next = state->after_count;
    *at_us = 0;
    for (uint32_t i = 0; i < state->after_count; i++) {
        int64_t due_us;

        if ((t->x->machine.passed & INT64_C(1) << i) != 0)
            continue;
        if (!after_due(t, &state->afters[i], &due_us))
            return false;
        if (*next < state->after_count && due_us >= *at_us)
            continue;
        *next = i;
        *at_us = due_us > 0 ? due_us : 1;
    }
    return true;
}

static void note_not_allowed(struct turn *t, const char *name, struct str text)
{
    (void)turn_row(t, HISTORY_EVENT, turn_code(t), NOT_ALLOWED);
    turn_note(t, name, str_printf(t->mem, "\"%.*s\"", STR_ARG(text)));
    t->out->not_allowed++;
}

/*
 * The transition of what is due, or NULL; then cursor.timeout_at_us is the next time that may be.
 * False: the step has failed.
 */
static bool judge_times(struct turn *t, const struct state *state, const struct state_way **out)
{
    uint32_t next;

    *out = NULL;
    while (true) {
        if (!next_after(t, state, &next, &t->x->cursor.timeout_at_us))
            return false;
        if (next == state->after_count || t->x->cursor.timeout_at_us > t->wall_us)
            return true;
        t->x->machine.passed |= INT64_C(1) << next;
        *out = open_after(t, state, &state->afters[next]);
        if (*out != NULL)
            return true;
        note_not_allowed(t, "after", value_text(state->afters[next].span));
    }
}

/* --- events that were kept --- */

static const struct signal *first_kept(const struct turn *t)
{
    struct shared_iter iter = {0};
    const struct signal *s;

    while ((s = signals_next(&t->x->signals, &iter)) != NULL)
        if (!s->is_taken)
            return s;
    return NULL;
}

/* They are judged in order, each once. NULL: none of them leaves the state. */
static const struct signal *judge_signals(struct turn *t, const struct step *step,
                                          struct value *out)
{
    const struct command *c = &step->procedure->commands[0];
    const struct state_way *by;
    const struct signal *signal;
    struct value payload;

    while ((signal = first_kept(t)) != NULL) {
        by = wait_fits_form(t, c, signal, &payload) ? open_for_event(t, step->state, signal) : NULL;
        if (by != NULL) {
            *out = leaving(t, wait_answer(t, signal, payload), by);
            return signal;
        }
        note_not_allowed(t, "event", signal->type);
        turn_note(t, "took", str_printf(t->mem, "%lld", (long long)signal->seq));
        t->out->history.items[t->out->history.count - 1].took = signal->seq;
        state_take_signal(t->mem, t->x, signal->seq);
    }
    return NULL;
}

/* --- a state waits --- */

enum step_result machine_wait(struct turn *t, const struct step *step, struct value *out,
                              int64_t *took)
{
    const struct command *c = &step->procedure->commands[0];
    struct machine_place *place = &t->x->machine;
    const struct state_way *by;
    const struct signal *signal;

    if (place->entered_at_us == 0)
        *place = (struct machine_place){.entered_at_us = t->wall_us};
    place->final_seq = t->x->seq;
    *took = 0;
    if (!people_begin(t, c))
        return STEP_FAILED;
    signal = judge_signals(t, step, out);
    if (signal != NULL) {
        *took = signal->seq;
        return STEP_DONE;
    }
    if (!judge_times(t, step->state, &by))
        return STEP_FAILED;
    if (by != NULL) {
        *out = leaving(t, wait_answer(t, NULL, value_null()), by);
        return STEP_DONE;
    }
    if (!remind_begin(t, c->wait) || !turn_json(t, step->state->events, &t->x->cursor.types_json))
        return STEP_FAILED;
    return wait_stand(t, step);
}

bool machine_judge_kept(struct turn *t)
{
    const struct step *step = step_in_hand(t->x);
    const struct signal *signal;
    struct value output;

    if (!machine_stands(t->x) || t->x->cursor.phase != PHASE_WAIT || !turn_goes_forward(t))
        return true;
    turn_begin_step(t);
    signal = judge_signals(t, step, &output);
    return signal == NULL || wake_leave_wait(t, STEP_DONE, output, signal->seq);
}

bool machine_wake(struct turn *t, const struct step *step)
{
    const struct state_way *by;

    if (!judge_times(t, step->state, &by))
        return wake_leave_wait(t, STEP_FAILED, value_null(), 0);
    if (by != NULL)
        return wake_leave_wait(t, STEP_DONE, leaving(t, wait_answer(t, NULL, value_null()), by), 0);
    (void)wait_stand(t, step);
    return true;
}

/* --- an event comes --- */

static bool refuse_event(struct turn *t, struct err *err)
{
    return err_set(err, ERR_EVENT_NOT_ALLOWED,
                   "in the state '%.*s' no transition is open for the event '%.*s'",
                   STR_ARG(turn_code(t)), STR_ARG(t->ev->signal_type));
}

/* It becomes part of the state. */
static void take_in(struct turn *t, struct signal *signal)
{
    const struct answer_to *to = t->ev->answer_to;

    if (to != NULL)
        signal->answers = str_printf(t->mem, "%.*s:%lld", STR_ARG(to->step), (long long)to->visit);
    receive(t, signal);
    t->out->received = signal;
}

static bool judge_event(struct turn *t, struct signal *signal, bool *complete, struct err *err)
{
    const struct step *step = turn_step(t);
    const struct state_way *by;
    struct value payload;

    turn_begin_step(t);
    by = open_for_event(t, step->state, signal);
    if (by == NULL)
        return refuse_event(t, err);
    if (!wait_fits_form(t, &step->procedure->commands[0], signal, &payload))
        return refuse_event(t, err);
    take_in(t, signal);
    *complete =
        wake_leave_wait(t, STEP_DONE, leaving(t, wait_answer(t, signal, payload), by), signal->seq);
    return true;
}

bool machine_signal(struct turn *t, bool *complete, struct err *err)
{
    const struct event *ev = t->ev;
    struct arrival arrival = {ev->signal_id, ev->signal_type, ev->signal_payload, ev->by,
                              t->now_us};
    bool is_judged = machine_is_at_rest(t->x) && t->x->pause == NULL && !ev->is_only_kept;
    struct signal *signal = ARENA_NEW(t->mem, struct signal);

    if (execution_is_held(t->x))
        return err_set(err, ERR_HELD,
                       "the execution is held: no event is taken until an operator lets it go on");
    if (is_judged && !has_event(turn_step(t)->state, ev->signal_type))
        return refuse_event(t, err);
    if (is_judged && !wait_checks_form(t, turn_step(t), err))
        return false;
    if (!receive_make(t, &arrival, signal, err))
        return false;
    if (is_judged)
        return judge_event(t, signal, complete, err);
    take_in(t, signal);
    t->out->is_kept = true;
    return true;
}

/* --- on the way --- */

static const struct state_way *find_transition(const struct state *state, struct str code)
{
    for (uint32_t i = 0; i < state->count; i++)
        if (str_eq(state->transitions[i].code, code))
            return &state->transitions[i];
    return NULL;
}

/* Entered anew: its times count from then on. */
static enum step_result enter(struct turn *t, const struct state_way *by)
{
    if (!by->stays)
        t->x->machine.entered_at_us = 0;
    return flow_jump(t, JUMP_STEP, by->to);
}

enum step_result machine_go_on(struct turn *t, const struct step *step)
{
    const struct state_way *by = step->transition;

    if (by != NULL)
        return enter(t, by);
    if (step->state->is_final)
        return flow_jump(t, JUMP_END, 0);
    by = find_transition(step->state,
                         value_map_text(state_step(t->x, step->index)->output, STR("transition")));
    if (by == NULL) {
        (void)turn_fail(t, STR("expression_transition"), ERR_CLASS_BUSINESS,
                        "the result of the state '%.*s' names no transition", STR_ARG(step->code));
        return failure_of_jump(t);
    }
    t->x->machine.final_seq = t->x->seq;
    return by->step == by->to ? enter(t, by) : flow_jump(t, JUMP_STEP, by->step);
}

/* --- a transition that is undone --- */

bool machine_may_return(const struct execution *x)
{
    const struct step *step = step_in_hand(x);

    /* What is done on the way into the initial state has none to go back to. */
    return step != NULL && step->transition != NULL && step->index != 0 && !x->stop_requested;
}

void machine_undo(struct turn *t)
{
    (void)turn_failure(t, &t->x->error_json);
    rollback_begin(t, STATUS_FAILED);
    rollback_own(t)->returns = true;
}

void machine_return(struct turn *t)
{
    struct execution *x = t->x;
    const struct cursor *from = x->rollback->from;
    const struct step *step =
        from != NULL && from->step < x->program->step_count ? &x->program->steps[from->step] : NULL;

    x->rollback = NULL;
    if (step == NULL || step->transition == NULL) {
        turn_damaged(t, "it returns from no transition");
        return;
    }
    if (t->out->history.count == 0)
        (void)turn_row(t, HISTORY_EVENT, STR_NONE, STR("compensated"));
    turn_note(t, "returned", STR("true"));
    state_forget_compensation(x);
    x->error_json = STR_NONE;
    x->status = STATUS_RUNNING;
    x->wake_at_us = WAKE_AT_ONCE;
    execution_set_waiting(x, WAITING_NONE, STR_NONE);
    x->cursor = (struct cursor){.step = step->transition->from};
}

/* --- another version --- */

/* Of `after`, those were judged there whose times were judged here. */
static int64_t passed_there(const struct turn *t, const struct state *from, const struct state *to)
{
    int64_t passed = 0;

    for (uint32_t i = 0; i < to->after_count; i++)
        for (uint32_t k = 0; k < from->after_count; k++)
            if ((t->x->machine.passed & INT64_C(1) << k) != 0 &&
                str_eq(value_text(to->afters[i].span), value_text(from->afters[k].span)))
                passed |= INT64_C(1) << i;
    return passed;
}

bool machine_moved(struct turn *t, struct err *err)
{
    struct execution *x = t->x;
    const struct step *to = step_in_hand(x), *from;
    uint32_t next;

    if (x->program->kind != KIND_MACHINE || to == NULL)
        return true;
    if (to->transition != NULL)
        to = &x->program->steps[to->transition->from];
    from = program_step(t->before->program, to->code);
    if (from == NULL || from->state == NULL || to->state == NULL)
        return true;
    x->machine.passed = passed_there(t, from->state, to->state);
    if (!machine_stands(x) || x->cursor.phase != PHASE_WAIT)
        return true;
    turn_begin_step(t);
    if (!next_after(t, to->state, &next, &x->cursor.timeout_at_us) ||
        !turn_json(t, to->state->events, &x->cursor.types_json) || wait_stand(t, to) != STEP_WAITS)
        return err_set(err, ERR_CONFLICT, "%pS", SENTENCE_ARG(t->failure.message));
    return true;
}
