/*
 * loop.c - steps that are repeated; see strand.h.
 *
 * Iterations run one after the other in the strand that entered the loop. With
 * `concurrency` as many run at once as that says, each in a strand; one that
 * ends takes up the next of the list, and the last one that ends completes the
 * loop.
 */
#include "engine/command/command.h"
#include "engine/flow/step.h"
#include "engine/flow/strand.h"

/* Of [number, value] or {index, ...}. */
static int64_t number_of(struct value v)
{
    return v.kind == VALUE_LIST ? v.items[0].i : value_map_get_str(v, STR("index")).i;
}

/* In order of their numbers, each of which comes once. The number of a pair is left out. */
static struct value in_order(struct turn *t, struct value list)
{
    struct value *items = ARENA_ARRAY(t->mem, list.len + 1u, struct value);

    for (uint32_t i = 0; i < list.len; i++) {
        uint32_t at = i;
        for (; at > 0 && number_of(items[at - 1]) > number_of(list.items[i]); at--)
            items[at] = items[at - 1];
        items[at] = list.items[i];
    }
    for (uint32_t i = 0; i < list.len; i++)
        if (items[i].kind == VALUE_LIST)
            items[i] = items[i].items[1];
    return value_list(items, list.len);
}

/* {count, items, errors} */
enum step_result loop_complete(struct turn *t, int64_t count)
{
    const struct cursor *cursor = &t->x->cursor;
    const struct loop_data *data = state_loop(t->x, cursor->step, cursor->visit);
    struct items none = {0};
    struct value items = items_value(t->mem, data != NULL ? &data->collected : &none);
    struct value errors = items_value(t->mem, data != NULL ? &data->errors : &none);

    if (frame_runs_at_once(turn_step(t))) {
        items = in_order(t, items);
        errors = in_order(t, errors);
    }
    return step_complete(
        t,
        value_map_of(t->mem, VALUE_ENTRIES({value_key(STR("count")), value_int(count)},
                                           {value_key(STR("items")), items},
                                           {value_key(STR("errors")), errors})),
        0);
}

/* Its last round is over; no other strand is in it. What has ended stays so if this fails. */
static enum step_result end_loop(struct turn *t, int64_t count)
{
    struct execution before = *t->x;
    enum step_result end;

    (void)frame_pop(t);
    end = loop_complete(t, count);
    if (end != STEP_FAILED)
        return end;
    *t->x = before;
    return failure_of_loop(t, BEHIND_ROUND);
}

/*
 * The loop is the innermost frame: begin the iteration of its
 * index, or complete it. STEP_MOVED, STEP_DONE or STEP_FAILED.
 */
static enum step_result iterate(struct turn *t)
{
    const struct frame *frame = frame_top(t);
    const struct step *step = &t->x->program->steps[frame->step];
    const struct loop *loop = step->loop;
    const struct loop_data *data = state_loop(t->x, frame->step, frame->visit);
    int64_t index = frame->index;
    bool goes_on = false;

    t->steps++;
    turn_begin_step(t);
    if (loop->list != NULL) {
        ASSERT(data != NULL);
        goes_on = index < (int64_t)data->list.len;
    } else if (command_condition(t, loop->condition, "loop/while", step->pointer, &goes_on) ==
               STEP_FAILED) {
        return failure_of_loop(t, BEHIND_ROUND);
    }
    if (goes_on && index >= loop->max) {
        (void)turn_fail(t, STR("limit_loop"), ERR_CLASS_BUSINESS,
                        "the loop '%.*s' has run %u times, which is its limit", STR_ARG(step->code),
                        loop->max);
        return failure_of_loop(t, BEHIND_ROUND);
    }
    if (goes_on && t->x->program->blocks[frame->block].first != NO_STEP) {
        frame_move_to(t, t->x->program->blocks[frame->block].first);
        return STEP_MOVED;
    }
    return end_loop(t, index);
}

/* As many iterations begin as may run at once. */
static enum step_result begin_rounds(struct turn *t)
{
    struct frame frame = *frame_top(t);
    uint32_t first = t->x->program->blocks[frame.block].first;
    int64_t started = state_loop(t->x, frame.step, frame.visit)->started;

    for (frame.index = 1; frame.index < started; frame.index++)
        strand_add(t, (uint32_t)frame.index - 1, first, frame);
    frame_move_to(t, first);
    return STEP_MOVED;
}

/* An iteration that runs beside others is over: the strand takes the next one, or ends. */
static enum step_result end_round(struct turn *t)
{
    struct frame frame = *frame_top(t);
    const struct loop_data *data = state_loop(t->x, frame.step, frame.visit);
    int64_t next = data->started;
    bool has_next = next < (int64_t)data->list.len;

    t->steps++;
    frame_note(t, "done", &frame, frame.index, STR("true"));
    state_end_round(
        t->mem, t->x,
        (struct round){.loop = frame.step + 1, .visit = frame.visit, .index = frame.index});
    if (has_next) {
        frame.index = next;
        frame_replace(t, frame);
        frame_move_to(t, t->x->program->blocks[frame.block].first);
        return STEP_MOVED;
    }
    if (strand_has_others(t, &frame)) {
        strand_drop(t);
        return STEP_WAITS;
    }
    data = state_loop(t->x, frame.step, frame.visit);
    return end_loop(t, data->ended);
}

enum step_result loop_resume(struct turn *t)
{
    const struct frame *frame = frame_top(t);

    if (!frame_runs_at_once(&t->x->program->steps[frame->step]))
        return iterate(t);
    return end_loop(t, state_loop(t->x, frame->step, frame->visit)->ended);
}

enum step_result loop_next(struct turn *t)
{
    struct frame frame = *frame_top(t);

    if (frame_runs_at_once(&t->x->program->steps[frame.step]))
        return end_round(t);
    frame.index++;
    frame_replace(t, frame);
    return iterate(t);
}

enum step_result loop_enter(struct turn *t, const struct step *step)
{
    const struct loop *loop = step->loop;
    struct value list = value_absent();
    struct str list_json;
    int64_t started = 0;

    if (loop->list != NULL) {
        if (turn_evaluate(t, loop->list, &list) != STEP_DONE)
            return STEP_FAILED;
        if (list.kind != VALUE_LIST)
            return turn_fail(t, STR("validation_type"), ERR_CLASS_BUSINESS,
                             "'for' must be a list, not %s",
                             value_kind_name((enum value_kind)list.kind));
        if (list.len > loop->max)
            return turn_fail(t, STR("limit_loop"), ERR_CLASS_BUSINESS,
                             "the list has %u items and the loop '%.*s' may run %u times", list.len,
                             STR_ARG(step->code), loop->max);
        if (frame_runs_at_once(step))
            started = list.len < loop->concurrency ? list.len : loop->concurrency;
        if (!turn_freeze(t, &list, &list_json) || (started > 1 && !strand_may_add(t, started - 1)))
            return STEP_FAILED;
        /* What it goes over stays what it is, whatever its steps change. */
        (void)step_row(t, HISTORY_EVENT, STR("loop"));
        turn_note(t, "list", list_json);
        if (frame_runs_at_once(step))
            turn_note(t, "started", str_printf(t->mem, "%lld", (long long)started));
        state_begin_loop(t->mem, t->x, step->index, t->x->cursor.visit, list, list_json.len,
                         started);
    }
    frame_push(t, (struct frame){.step = step->index,
                                 .block = step->first_block,
                                 .visit = t->x->cursor.visit,
                                 .started_at_us = t->x->cursor.started_at_us});
    if (frame_runs_at_once(step) && list.len > 0 &&
        t->x->program->blocks[step->first_block].first != NO_STEP)
        return begin_rounds(t);
    return iterate(t);
}

enum step_result loop_collect(struct turn *t)
{
    const struct frame *frame = frame_top(t);
    const struct step *step = &t->x->program->steps[frame->step];
    bool has_number = frame_runs_at_once(step);
    struct value item;
    struct str json;

    if (step->loop->collect == NULL)
        return STEP_DONE;
    turn_begin_step(t);
    if (turn_evaluate(t, step->loop->collect, &item) != STEP_DONE || !turn_freeze(t, &item, &json))
        return STEP_FAILED;
    if (t->x->context_bytes + json.len > CONTEXT_BYTES_MAX)
        return turn_fail_size(t);
    frame_note(t, "collect", frame, has_number ? frame->index : -1, json);
    t->row_bytes += json.len;
    state_add_collected(t->mem, t->x, frame->step, frame->visit,
                        has_number ? state_numbered(t->mem, frame->index, item) : item, json.len);
    return STEP_DONE;
}

/* An iteration has failed, and the loop goes on: {index, item, error}. */
enum step_result loop_fail(struct turn *t, struct value error)
{
    const struct frame *frame = frame_top(t);
    const struct loop_data *data = state_loop(t->x, frame->step, frame->visit);
    bool has_number = frame_runs_at_once(&t->x->program->steps[frame->step]);
    struct value entry, item = value_null();
    struct str json;

    if (data != NULL && data->list.kind == VALUE_LIST && frame->index < (int64_t)data->list.len)
        item = data->list.items[frame->index];
    entry = value_map_of(t->mem, VALUE_ENTRIES({value_key(STR("index")), value_int(frame->index)},
                                               {value_key(STR("item")), item},
                                               {value_key(STR("error")), error}));
    if (!turn_freeze(t, &entry, &json) || t->x->context_bytes + json.len > CONTEXT_BYTES_MAX) {
        (void)turn_fail_size(t);
        return failure_of_loop(t, BEHIND_FAILURE);
    }
    frame_note(t, "failed", frame, has_number ? frame->index : -1, json);
    state_add_loop_error(t->mem, t->x, frame->step, frame->visit, entry, json.len);
    return loop_next(t);
}
