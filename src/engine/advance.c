/*
 * advance.c - events in, commits out; see advance.h.
 *
 *     START, WAKE (left in the middle) --> run steps
 *     WAKE (time has come)             --> the wait ends or fails --> run steps
 *     SIGNAL                           --> recorded; a wait that takes it ends --> run steps
 *     CANCEL                           --> cancelled
 *
 * Running steps stops when one waits, when all are done, when one fails for
 * good, or after TURN_STEPS_MAX of them: then the execution stays `running`
 * with wake_at = now and goes to the back of the queue.
 */
#include "engine/advance.h"

#include "define/define.h"
#include "engine/ident.h"
#include "engine/turn.h"
#include "value/json.h"
#include "value/timefmt.h"

/* Contexts up to this size are checkpointed with every commit. */
enum { CHECKPOINT_SMALL = 4096 };

struct uuid engine_row_id(struct uuid execution, int64_t seq, int64_t completed_at_us)
{
    return ident_make(execution, seq, UINT32_MAX, completed_at_us);
}

static const struct step *current_step(const struct turn *t)
{
    return &t->x->program->steps[t->x->cursor.step];
}

/* --- texts --- */

static struct str time_json(struct turn *t, int64_t us)
{
    char text[TIMESTAMP_TEXT_MAX];
    int64_t seconds = us / 1000000;
    struct value v = value_timestamp(seconds, (uint32_t)(us - seconds * 1000000) * 1000);

    return str_printf(t->mem, "\"%.*s\"", (int)timestamp_write(text, v), text);
}

static void json_pair(struct buf *out, const char *name, struct str json)
{
    buf_char(out, out->len == 0 ? '{' : ',');
    json_write_string(out, str_of(name));
    buf_char(out, ':');
    buf_str(out, json);
}

static void json_text_pair(struct buf *out, const char *name, struct str text)
{
    buf_char(out, out->len == 0 ? '{' : ',');
    json_write_string(out, str_of(name));
    buf_char(out, ':');
    json_write_string(out, text);
}

/* --- the end of a step --- */

static void next_step(struct turn *t)
{
    struct execution *x = t->x;

    x->cursor = (struct cursor){.step = x->cursor.step + 1};
}

/* What a completed step changed beside its result: {variables, took}. */
static bool step_delta(struct turn *t, int64_t took, struct str *out)
{
    struct buf delta;
    struct str json;

    buf_init_arena(&delta, t->mem);
    if (t->variables.map != t->x->variables.map) {
        if (!turn_json(t, t->variables, &json))
            return false;
        json_pair(&delta, "variables", json);
    }
    if (took > 0)
        json_pair(&delta, "took", str_printf(t->mem, "%lld", (long long)took));
    if (delta.len > 0)
        buf_char(&delta, '}');
    *out = buf_view(&delta);
    return true;
}

static enum step_end fail_context_size(struct turn *t)
{
    return turn_fail(t, STR("limit_context_size"), STR("business"),
                     "the context would be larger than %d bytes", CONTEXT_BYTES_MAX);
}

/* Record the step as completed and apply what it staged. */
static enum step_end complete_step(struct turn *t, struct value output, int64_t took)
{
    const struct step *step = current_step(t);
    struct execution *x = t->x;
    struct step_state *state = &x->steps[step->index];
    struct history_row *row;
    struct str output_json, delta_json;

    if (!turn_json(t, output, &output_json) || !step_delta(t, took, &delta_json))
        return STEP_FAILED;
    x->context_bytes = x->context_bytes - state->output_json.len + output_json.len;
    if (delta_json.len > 0)
        x->context_bytes += delta_json.len;
    if (x->context_bytes > CONTEXT_BYTES_MAX)
        return fail_context_size(t);
    row = turn_row(t, HISTORY_FORWARD, step->code, STR("completed"));
    row->visit = x->cursor.visit;
    row->attempt = x->cursor.attempt;
    row->input_json = x->cursor.input_json;
    row->output_json = output_json;
    row->delta_json = delta_json;
    row->started_at_us = x->cursor.started_at_us;
    *state = (struct step_state){.outcome = OUTCOME_COMPLETED,
                                 .visit = x->cursor.visit,
                                 .output = output,
                                 .output_json = output_json};
    x->variables = t->variables;
    for (size_t i = 0; i < t->records.count; i++)
        *VEC_ADD(t->mem, &t->out->records) = t->records.items[i];
    for (size_t i = 0; i < t->logs.count; i++)
        *VEC_ADD(t->mem, &t->out->logs) = t->logs.items[i];
    next_step(t);
    return STEP_DONE;
}

static void skip_step(struct turn *t)
{
    const struct step *step = current_step(t);
    struct history_row *row = turn_row(t, HISTORY_FORWARD, step->code, STR("skipped"));

    row->visit = t->x->cursor.visit;
    row->attempt = 1;
    t->x->steps[step->index] =
        (struct step_state){.outcome = OUTCOME_SKIPPED, .visit = t->x->cursor.visit};
    next_step(t);
}

static void record_failure(struct turn *t, struct value error, struct str error_json)
{
    const struct step *step = current_step(t);
    struct execution *x = t->x;
    struct history_row *row = turn_row(t, HISTORY_FORWARD, step->code, STR("failed"));

    row->visit = x->cursor.visit;
    row->attempt = x->cursor.attempt;
    row->input_json = x->cursor.input_json;
    row->error_json = error_json;
    row->started_at_us = x->cursor.started_at_us;
    x->steps[step->index] = (struct step_state){.outcome = OUTCOME_FAILED,
                                                .visit = x->cursor.visit,
                                                .error = error,
                                                .error_json = error_json};
    x->context_bytes += error_json.len;
}

/* --- the end of an execution --- */

/* The last row of an execution says how it ended. */
static void mark_end(struct turn *t, enum execution_status status)
{
    struct execution *x = t->x;
    struct history_row *last;
    struct buf delta;

    if (t->out->history.count == 0)
        (void)turn_row(t, HISTORY_EVENT, STR_NONE, str_of(status_name(status)));
    last = &t->out->history.items[t->out->history.count - 1];
    buf_init_arena(&delta, t->mem);
    if (last->delta_json.len > 0)
        buf_add(&delta, last->delta_json.ptr, last->delta_json.len - 1);
    json_text_pair(&delta, "end", str_of(status_name(status)));
    buf_char(&delta, '}');
    last->delta_json = buf_view(&delta);
    x->status = status;
    x->completed_at_us = t->now_us;
    x->wake_at_us = 0;
    x->waiting_for_json = STR_NONE;
}

static void fail_execution(struct turn *t, struct str error_json)
{
    struct buf text;

    buf_init_arena(&text, t->mem);
    buf_add(&text, error_json.ptr, error_json.len - 1);
    if (t->x->program->on_error == ON_ERROR_COMPENSATE)
        buf_text(&text, ",\"compensation\":{\"compensated\":[],\"failed\":[]}");
    buf_char(&text, '}');
    t->x->error_json = buf_view(&text);
    mark_end(t, STATUS_FAILED);
}

static void hold(struct turn *t, struct str error_json)
{
    struct buf why;

    buf_init_arena(&why, t->mem);
    json_text_pair(&why, "kind", STR("incident"));
    if (t->x->cursor.step < t->x->program->step_count)
        json_text_pair(&why, "step", current_step(t)->code);
    json_pair(&why, "error", error_json);
    json_pair(&why, "since", time_json(t, t->now_us));
    buf_char(&why, '}');
    t->x->waiting_for_json = buf_view(&why);
    t->x->cursor.phase = PHASE_HELD;
    t->x->cursor.wake_at_us = 0;
    t->x->status = STATUS_WAITING;
}

/* Errors of our own making hold: a typo must not roll back a paid order. */
static bool is_own_error(struct str code)
{
    return str_starts_with(code, STR("expression_")) || str_starts_with(code, STR("limit_"));
}

/* A step has failed for good. Answers whether the execution goes on. */
static bool handle_failure(struct turn *t)
{
    enum on_error on_error = t->x->program->on_error;
    const struct step *step = current_step(t);
    struct value error = turn_failure_value(t);
    struct str code = t->failure.code, error_json;

    if (!turn_json(t, error, &error_json)) {
        /* Details that have no JSON form: say so in place of them. */
        error = turn_failure_value(t);
        if (!turn_json(t, error, &error_json))
            PANIC("a failure without details has a JSON form");
    }
    record_failure(t, error, error_json);
    if (step->continues) {
        next_step(t);
        return true;
    }
    if (step->holds || on_error == ON_ERROR_HOLD ||
        (is_own_error(code) && on_error != ON_ERROR_FAIL_FAST))
        hold(t, error_json);
    else
        fail_execution(t, error_json);
    return false;
}

/* All steps are done: the result, and the end. */
static void complete_execution(struct turn *t)
{
    struct execution *x = t->x;
    const struct program *p = x->program;
    const struct mapping *failed;
    struct value result;

    if (p->result != NULL) {
        turn_begin_step(t, &p->steps[p->step_count - 1]);
        result = mapping_evaluate_at(t->mem, p->result, &t->activation, &failed);
        if (result.kind == VALUE_ERROR)
            (void)turn_fail_value(t, result, failed->pointer);
        if (result.kind == VALUE_ERROR || !turn_json(t, result, &x->result_json)) {
            struct str error_json;
            if (!turn_json(t, turn_failure_value(t), &error_json))
                PANIC("a failure without details has a JSON form");
            hold(t, error_json);
            return;
        }
    } else {
        x->result_json = STR("null");
        for (size_t i = p->step_count; i-- > 0;)
            if (x->steps[i].outcome == OUTCOME_COMPLETED) {
                x->result_json = x->steps[i].output_json;
                break;
            }
    }
    mark_end(t, STATUS_COMPLETED);
}

/* --- running --- */

static void describe_wait(struct turn *t, const struct step *step)
{
    const struct cursor *cursor = &t->x->cursor;
    bool is_signal = step->commands[0].type == COMMAND_WAIT_SIGNAL;
    struct buf why;

    buf_init_arena(&why, t->mem);
    json_text_pair(&why, "kind", is_signal ? STR("signal") : STR("timer"));
    json_text_pair(&why, "step", step->code);
    if (is_signal)
        json_pair(&why, "signalType", cursor->types_json);
    json_pair(&why, "since", time_json(t, t->now_us));
    if (cursor->wake_at_us > 0)
        json_pair(&why, "until", time_json(t, cursor->wake_at_us));
    buf_char(&why, '}');
    t->x->waiting_for_json = buf_view(&why);
}

/* The wait is recorded, so that history alone says where the execution stands. */
static void begin_waiting(struct turn *t, const struct step *step)
{
    struct execution *x = t->x;
    struct history_row *row;
    struct buf delta;

    x->cursor.phase = PHASE_WAIT;
    x->status = STATUS_WAITING;
    describe_wait(t, step);
    row = turn_row(t, HISTORY_EVENT, step->code, STR("waiting"));
    row->visit = x->cursor.visit;
    row->attempt = x->cursor.attempt;
    buf_init_arena(&delta, t->mem);
    json_pair(&delta, "wait", x->waiting_for_json);
    buf_char(&delta, '}');
    row->delta_json = buf_view(&delta);
}

/* $.input of the commands is the execution's, with the step's own laid over it. */
static enum step_end evaluate_input(struct turn *t, const struct step *step)
{
    const struct mapping *failed;
    struct value input;

    if (step->input == NULL)
        return STEP_DONE;
    input = mapping_evaluate_at(t->mem, step->input, &t->activation, &failed);
    if (input.kind == VALUE_ERROR)
        return turn_fail_value(t, input, failed->pointer);
    if (!turn_json(t, input, &t->x->cursor.input_json))
        return STEP_FAILED;
    if (input.kind == VALUE_MAP)
        t->slots[ROOT_INPUT] = command_merge(t->mem, t->x->input, input);
    return STEP_DONE;
}

static enum step_end evaluate_when(struct turn *t, const struct cel_program *when, bool *is_true)
{
    struct value v = value_bool(true);

    if (when != NULL)
        v = cel_evaluate(t->mem, when, &t->activation, NULL);
    if (v.kind == VALUE_ERROR)
        return turn_fail_value(t, v, STR_NONE);
    if (v.kind != VALUE_BOOL)
        return turn_fail(t, STR("expression_error"), STR("business"),
                         "'when' must be true or false, not %s",
                         value_kind_name((enum value_kind)v.kind));
    *is_true = v.b;
    return STEP_DONE;
}

static enum step_end run_commands(struct turn *t, const struct step *step)
{
    struct value result = value_null();

    for (uint32_t i = 0; i < step->command_count; i++) {
        const struct command *c = &step->commands[i];
        enum step_end end;
        bool wanted;

        end = evaluate_when(t, c->when, &wanted);
        if (end == STEP_DONE && wanted)
            end = command_run(t, c, &result);
        if (end != STEP_DONE)
            return end;
    }
    return complete_step(t, result, 0);
}

static enum step_end run_step(struct turn *t)
{
    const struct step *step = current_step(t);
    struct execution *x = t->x;
    enum step_end end;
    struct value output;
    int64_t took;
    bool wanted;

    x->cursor.visit = x->steps[step->index].visit + 1;
    x->cursor.attempt = 1;
    x->cursor.started_at_us = t->now_us;
    x->cursor.input_json = STR_NONE;
    turn_begin_step(t, step);
    end = evaluate_when(t, step->when, &wanted);
    if (end != STEP_DONE)
        return end;
    if (!wanted) {
        skip_step(t);
        return STEP_DONE;
    }
    end = evaluate_input(t, step);
    if (end != STEP_DONE)
        return end;
    if (!wait_is(&step->commands[0]))
        return run_commands(t, step);
    end = wait_begin(t, step, &output, &took);
    if (end == STEP_WAITS)
        begin_waiting(t, step);
    return end == STEP_DONE ? complete_step(t, output, took) : end;
}

/* Run until everything waits or ends. False: reads are needed first. */
static bool run(struct turn *t)
{
    struct execution *x = t->x;

    x->status = STATUS_RUNNING;
    x->waiting_for_json = STR_NONE;
    for (unsigned steps = 0; x->cursor.step < x->program->step_count; steps++) {
        if (steps == TURN_STEPS_MAX) {
            x->wake_at_us = t->now_us;
            return true;
        }
        switch (run_step(t)) {
        case STEP_DONE:
            break;
        case STEP_WAITS:
            return true;
        case STEP_NEEDS:
            return false;
        case STEP_FAILED:
            if (!handle_failure(t))
                return true;
            break;
        }
    }
    complete_execution(t);
    return true;
}

/* --- events --- */

static bool apply_start(struct turn *t)
{
    t->x->started_at_us = t->now_us;
    t->out->is_start = true;
    return run(t);
}

/* The deadline of the whole execution has passed. */
static bool apply_deadline(struct turn *t)
{
    (void)turn_fail(t, STR("timeout_execution"), STR("business"),
                    "the execution did not end before its deadline");
    t->x->cursor.started_at_us = t->x->cursor.started_at_us > 0 ? t->x->cursor.started_at_us
                                                                : t->now_us;
    return handle_failure(t) ? run(t) : true;
}

static bool apply_wake(struct turn *t, bool *applies)
{
    struct execution *x = t->x;
    struct value output;
    enum step_end end;

    *applies = true;
    if (x->cursor.phase == PHASE_HELD) {
        *applies = false;
        return true;
    }
    if (x->deadline_at_us > 0 && t->now_us >= x->deadline_at_us)
        return apply_deadline(t);
    if (x->cursor.phase != PHASE_WAIT)
        return run(t);
    if (x->cursor.wake_at_us == 0 || x->cursor.wake_at_us > t->now_us) {
        *applies = false;
        return true;
    }
    turn_begin_step(t, current_step(t));
    end = wait_expired(t, current_step(t), &output);
    if (end == STEP_DONE)
        end = complete_step(t, output, 0);
    if (end == STEP_FAILED && !handle_failure(t))
        return true;
    return run(t);
}

/* {id, type, payload, by, receivedAt} */
static struct value signal_view(struct turn *t)
{
    const struct event *ev = t->ev;
    struct value_entry *entries = ARENA_ARRAY(t->mem, 5, struct value_entry);
    struct str received = time_json(t, t->now_us);
    size_t duplicate;

    entries[0] = (struct value_entry){value_key(STR("id")), value_string(ev->signal_id)};
    entries[1] = (struct value_entry){value_key(STR("type")), value_string(ev->signal_type)};
    entries[2] = (struct value_entry){value_key(STR("payload")), ev->signal_payload};
    entries[3] = (struct value_entry){value_key(STR("by")), ev->signal_by};
    entries[4] = (struct value_entry){value_key(STR("receivedAt")),
                                      value_string(str_slice(received, 1, received.len - 1))};
    return value_map_make(t->mem, entries, 5, &duplicate);
}

/* Only what is pending or shown stays in the state; the store keeps all of them. */
static void drop_old_signals(struct signals *signals)
{
    size_t kept = 0, excess = signals->count > SIGNALS_SHOWN ? signals->count - SIGNALS_SHOWN : 0;

    for (size_t i = 0; i < signals->count; i++)
        if (i >= excess || !signals->items[i].is_taken)
            signals->items[kept++] = signals->items[i];
    signals->count = kept;
}

static bool apply_signal(struct turn *t, struct err *err)
{
    struct execution *x = t->x;
    struct history_row *row;
    struct signal *signal, *received;
    struct value output;
    struct buf delta;

    signal = VEC_ADD(t->mem, &x->signals);
    *signal = (struct signal){.id = str_copy(t->mem, t->ev->signal_id),
                              .type = str_copy(t->mem, t->ev->signal_type),
                              .received_at_us = t->now_us,
                              .seq = x->seq + 1,
                              .view = signal_view(t)};
    if (!turn_json(t, signal->view, &signal->json))
        return err_set(err, ERR_INVALID, "%.*s", STR_ARG(t->failure.message));
    x->context_bytes += signal->json.len;
    if (x->context_bytes > CONTEXT_BYTES_MAX)
        return err_set(err, ERR_TOO_LARGE, "the context would be larger than %d bytes",
                       CONTEXT_BYTES_MAX);
    row = turn_row(t, HISTORY_EVENT, STR_NONE, STR("signal"));
    buf_init_arena(&delta, t->mem);
    json_pair(&delta, "signal", signal->json);
    buf_char(&delta, '}');
    row->delta_json = buf_view(&delta);
    received = arena_alloc(t->mem, sizeof(*received));
    *received = *signal;
    t->out->received = received;

    if (x->cursor.phase == PHASE_WAIT) {
        turn_begin_step(t, current_step(t));
        if (wait_takes(t, current_step(t), signal, &output)) {
            enum step_end end;
            signal->is_taken = true;
            end = complete_step(t, output, signal->seq);
            drop_old_signals(&x->signals);
            if (end == STEP_FAILED && !handle_failure(t))
                return true;
            t->out->result = run(t) ? ADVANCE_COMMIT : ADVANCE_NEED;
            return true;
        }
    }
    drop_old_signals(&x->signals);
    return true;
}

static void apply_cancel(struct turn *t)
{
    struct history_row *row = turn_row(t, HISTORY_EVENT, STR_NONE, STR("cancelled"));
    struct buf delta;

    buf_init_arena(&delta, t->mem);
    if (t->ev->reason.len > 0) {
        json_text_pair(&delta, "reason", t->ev->reason);
        buf_char(&delta, '}');
    }
    row->delta_json = buf_view(&delta);
    mark_end(t, STATUS_CANCELLED);
}

/* --- the commit --- */

static int64_t earlier(int64_t a, int64_t b)
{
    return a == 0 ? b : b == 0 || a < b ? a : b;
}

static int64_t history_bytes(const struct history *history)
{
    size_t bytes = 0;

    for (size_t i = 0; i < history->count; i++) {
        const struct history_row *r = &history->items[i];
        bytes += r->input_json.len + r->output_json.len + r->error_json.len + r->delta_json.len + 64;
    }
    return (int64_t)bytes;
}

static void finish(struct turn *t)
{
    struct execution *x = t->x;
    struct commit *out = t->out;

    x->row_version++;
    x->updated_at_us = t->now_us;
    if (x->status == STATUS_WAITING)
        x->wake_at_us = earlier(x->cursor.wake_at_us, x->deadline_at_us);
    if (x->cursor.phase == PHASE_HELD && x->status == STATUS_WAITING)
        x->wake_at_us = 0;
    x->log_bytes += history_bytes(&out->history);
    if (x->context_bytes <= CHECKPOINT_SMALL || x->log_bytes >= (int64_t)x->context_bytes) {
        out->writes_context = true;
        out->context_json = state_context_json(t->mem, x);
        x->checkpoint_seq = x->seq;
        x->log_bytes = 0;
    }
    if (!status_is_terminal(x->status))
        out->cursor_json = state_cursor_json(t->mem, x);
}

bool engine_advance(struct arena *mem, const struct execution *exec, const struct event *ev,
                    int64_t now_us, struct commit *out, struct err *err)
{
    struct turn t;
    bool complete = true, applies = true;

    if (status_is_terminal(exec->status))
        return err_set(err, ERR_CONFLICT, "the execution is %s", status_name(exec->status));
    turn_init(&t, mem, exec, ev, now_us, out);
    switch (ev->kind) {
    case EVENT_START:
        complete = apply_start(&t);
        break;
    case EVENT_WAKE:
        complete = apply_wake(&t, &applies);
        break;
    case EVENT_SIGNAL:
        if (!apply_signal(&t, err))
            return false;
        complete = out->result == ADVANCE_COMMIT;
        break;
    case EVENT_CANCEL:
        apply_cancel(&t);
        break;
    }
    if (!applies)
        return err_set(err, ERR_CONFLICT, "there is nothing to wake");
    out->result = complete ? ADVANCE_COMMIT : ADVANCE_NEED;
    if (complete)
        finish(&t);
    return true;
}
