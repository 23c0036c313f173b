/* outcome.c - how an execution ends, or comes to a halt; see turn.h. */
#include "define/define.h"
#include "engine/turn.h"

/* The last row of an execution says how it ended. */
static void end_execution(struct turn *t, enum execution_status status)
{
    struct execution *x = t->x;
    struct buf name;

    buf_init_arena(&name, t->mem);
    buf_printf(&name, "\"%s\"", status_name(status));
    turn_note(t, "end", buf_view(&name));
    x->status = status;
    x->completed_at_us = t->now_us;
    x->wake_at_us = 0;
    x->waiting_for_json = STR_NONE;
}

void outcome_cancel(struct turn *t)
{
    end_execution(t, STATUS_CANCELLED);
}

/* An incident: an operator decides. */
static void hold(struct turn *t, struct str error_json)
{
    struct execution *x = t->x;
    struct buf why;

    buf_init_arena(&why, t->mem);
    member_text(&why, "kind", STR("incident"));
    if (x->cursor.step < x->program->step_count)
        member_text(&why, "step", turn_step(t)->code);
    member_json(&why, "error", error_json);
    member_time(&why, "since", t->now_us);
    x->waiting_for_json = member_end(&why);
    turn_note(t, "wait", x->waiting_for_json);
    x->cursor.phase = PHASE_HELD;
    x->cursor.wake_at_us = 0;
    x->status = STATUS_WAITING;
}

void outcome_fail(struct turn *t, enum on_error on_error, struct str error_json)
{
    struct buf text;

    /* A typo must not roll back a paid order. */
    if (on_error == ON_ERROR_HOLD || (t->failure.is_own && on_error != ON_ERROR_FAIL_FAST)) {
        hold(t, error_json);
        return;
    }
    buf_init_arena(&text, t->mem);
    buf_add(&text, error_json.ptr, error_json.len - 1);
    if (on_error == ON_ERROR_COMPENSATE)
        buf_text(&text, ",\"compensation\":{\"compensated\":[],\"failed\":[]}");
    buf_char(&text, '}');
    t->x->error_json = buf_view(&text);
    end_execution(t, STATUS_FAILED);
}

/* Without a mapping: the result of the last step that completed. */
static struct str last_output(const struct execution *x)
{
    for (size_t i = x->program->step_count; i-- > 0;)
        if (x->steps[i].outcome == OUTCOME_COMPLETED)
            return x->steps[i].output_json;
    return STR("null");
}

/* The mapping `result`. False: t->failure says why there is none. */
static bool evaluate_result(struct turn *t, struct str *out)
{
    const struct mapping *failed;
    struct value result;

    turn_begin_step(t);
    result = mapping_evaluate_at(t->mem, t->x->program->result, &t->activation, &failed);
    if (result.kind == VALUE_ERROR)
        return turn_fail_value(t, result, failed->pointer) == STEP_DONE;
    return turn_freeze(t, &result, out);
}

void outcome_complete(struct turn *t)
{
    struct execution *x = t->x;
    struct str error_json = STR_NONE, result_json = STR_NONE;

    if (x->program->result == NULL) {
        x->result_json = last_output(x);
        if (t->out->history.count == 0)
            (void)turn_row(t, HISTORY_EVENT, STR_NONE, STR("completed"));
    } else if (evaluate_result(t, &result_json)) {
        x->result_json = result_json;
        if (t->out->history.count == 0)
            (void)turn_row(t, HISTORY_EVENT, STR_NONE, STR("completed"));
        turn_note(t, "result", result_json);
    } else {
        (void)turn_failure(t, &error_json);
        turn_row(t, HISTORY_EVENT, STR_NONE, STR("failed"))->error_json = error_json;
        hold(t, error_json);
        return;
    }
    end_execution(t, STATUS_COMPLETED);
}
