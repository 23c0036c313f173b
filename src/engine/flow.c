/*
 * flow.c - from one step to the next: blocks, branches, loops, parallel steps
 * and jumps; see turn.h.
 *
 *     a step is done --> its goto, else the next in its block
 *     a block is done --> branch: it is done
 *                         loop: collect, then the next iteration or it is done
 *                         parallel: enough branches have ended and it is done, or the strand ends
 *
 * A step that has steps in it has a frame while it is under way, and a row
 * when it is over, whatever way it is left. Moving on evaluates and records,
 * but never stops in between: the cursor is only ever stored at a step.
 */
#include "define/define.h"
#include "engine/turn.h"

/* --- the cursor --- */

static void move_to(struct turn *t, uint32_t step)
{
    t->x->cursor = (struct cursor){.step = step};
}

static void push_frame(struct turn *t, struct frame frame)
{
    struct execution *x = t->x;
    struct frame *frames = ARENA_ARRAY(t->mem, x->frame_count + 1u, struct frame);

    if (x->frame_count > 0)
        memcpy(frames, x->frames, x->frame_count * sizeof(*frames));
    frames[x->frame_count] = frame;
    x->frames = frames;
    x->frame_count++;
}

static const struct frame *top_frame(const struct turn *t)
{
    ASSERT(t->x->frame_count > 0);
    return &t->x->frames[t->x->frame_count - 1];
}

static bool runs_at_once(const struct step *step)
{
    return step->kind == STEP_PARALLEL || (step->kind == STEP_LOOP && step->loop->concurrency > 1);
}

/* The innermost frame is over, for all that are in it: its step is the one under way again. */
static const struct step *pop_frame(struct turn *t)
{
    struct frame frame = *top_frame(t);

    if (runs_at_once(&t->x->program->steps[frame.step])) {
        strand_stop_others(t, &frame);
        t->has_stopped = true;
    }
    t->x->frame_count--;
    t->x->cursor = (struct cursor){.step = frame.step,
                                   .visit = frame.visit,
                                   .attempt = 1,
                                   .started_at_us = frame.started_at_us};
    turn_begin_step(t);
    return turn_step(t);
}

static void replace_frame(struct turn *t, struct frame frame)
{
    t->x->frame_count--;
    push_frame(t, frame);
}

/* What the last row adds to what the step of a frame holds; `number`: of whom, or -1. */
static void note_of_frame(struct turn *t, const char *name, const struct frame *frame,
                          int64_t number, struct str json)
{
    struct str code = t->x->program->steps[frame->step].code;

    if (number >= 0)
        code = str_printf(t->mem, "%.*s:%lld:%lld", STR_ARG(code), (long long)frame->visit,
                          (long long)number);
    else if (t->x->other_count > 0)
        code = str_printf(t->mem, "%.*s:%lld", STR_ARG(code), (long long)frame->visit);
    turn_note_of(t, name, code, json);
}

/* [number, value], as a step holds it whose branches or iterations run at once. */
static struct value numbered(struct turn *t, int64_t number, struct value v)
{
    struct value *pair = ARENA_ARRAY(t->mem, 2, struct value);

    pair[0] = value_int(number);
    pair[1] = v;
    return value_list(pair, 2);
}

static struct value one_member(struct turn *t, const char *name, struct value v)
{
    struct value_entry *entries = ARENA_ARRAY(t->mem, 1, struct value_entry);
    size_t duplicate;

    entries[0] = (struct value_entry){.key = value_key(str_of(name)), .value = v};
    return value_map_make(t->mem, entries, 1, &duplicate);
}

/* --- branches --- */

static enum step_end enter_branch(struct turn *t, const struct step *step)
{
    const struct program *p = t->x->program;

    for (uint32_t i = 0; i < step->block_count; i++) {
        const struct block *block = &p->blocks[step->first_block + i];
        bool is_true = false;

        if (command_condition(t, block->when, "when", step->pointer, &is_true) == STEP_FAILED)
            return STEP_FAILED;
        if (!is_true)
            continue;
        if (block->first == NO_STEP)
            return step_complete(t, one_member(t, "branch", value_int(i)), 0);
        push_frame(t, (struct frame){.step = step->index,
                                     .block = step->first_block + i,
                                     .visit = t->x->cursor.visit,
                                     .started_at_us = t->x->cursor.started_at_us});
        move_to(t, block->first);
        return STEP_MOVED;
    }
    return step_complete(t, one_member(t, "branch", value_null()), 0);
}

/* --- loops --- */

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
static enum step_end complete_loop(struct turn *t, int64_t count)
{
    const struct cursor *cursor = &t->x->cursor;
    const struct loop_data *data = state_loop(t->x, cursor->step, cursor->visit);
    struct value_entry *entries = ARENA_ARRAY(t->mem, 3, struct value_entry);
    struct items none = {0};
    struct value items = items_value(t->mem, data != NULL ? &data->collected : &none);
    struct value errors = items_value(t->mem, data != NULL ? &data->errors : &none);
    size_t duplicate;

    if (runs_at_once(turn_step(t))) {
        items = in_order(t, items);
        errors = in_order(t, errors);
    }
    entries[0] = (struct value_entry){value_key(STR("count")), value_int(count)};
    entries[1] = (struct value_entry){value_key(STR("items")), items};
    entries[2] = (struct value_entry){value_key(STR("errors")), errors};
    return step_complete(t, value_map_make(t->mem, entries, 3, &duplicate), 0);
}

/*
 * The loop is under way as the innermost frame: begin the iteration of its
 * index, or complete it. STEP_MOVED, STEP_DONE or STEP_FAILED.
 */
static enum step_end iterate(struct turn *t)
{
    const struct frame *frame = top_frame(t);
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
    } else if (command_condition(t, loop->condition, "while", step->pointer, &goes_on) ==
               STEP_FAILED) {
        (void)pop_frame(t);
        return STEP_FAILED;
    }
    if (goes_on && index >= loop->max) {
        (void)pop_frame(t);
        return turn_fail(t, STR("limit_loop"), STR("business"),
                         "the loop '%.*s' has run %u times, which is its limit",
                         STR_ARG(step->code), loop->max);
    }
    if (goes_on && t->x->program->blocks[frame->block].first != NO_STEP) {
        move_to(t, t->x->program->blocks[frame->block].first);
        return STEP_MOVED;
    }
    (void)pop_frame(t);
    return complete_loop(t, index);
}

/* As many iterations begin as may run at once. */
static enum step_end begin_rounds(struct turn *t)
{
    struct frame frame = *top_frame(t);
    uint32_t first = t->x->program->blocks[frame.block].first;
    int64_t started = state_loop(t->x, frame.step, frame.visit)->started;

    for (frame.index = 1; frame.index < started; frame.index++)
        strand_add(t, (uint32_t)frame.index - 1, first, frame);
    move_to(t, first);
    return STEP_MOVED;
}

/* An iteration that runs beside others is over: the strand takes the next one, or ends. */
static enum step_end end_round(struct turn *t)
{
    struct frame frame = *top_frame(t);
    const struct loop_data *data = state_loop(t->x, frame.step, frame.visit);
    int64_t next = data->started;
    bool has_next = next < (int64_t)data->list.len;

    t->steps++;
    note_of_frame(t, "done", &frame, frame.index, STR("true"));
    state_end_round(
        t->mem, t->x,
        (struct round){.loop = frame.step + 1, .visit = frame.visit, .index = frame.index});
    if (has_next) {
        frame.index = next;
        replace_frame(t, frame);
        move_to(t, t->x->program->blocks[frame.block].first);
        return STEP_MOVED;
    }
    if (strand_has_others(t, &frame)) {
        strand_drop(t);
        return STEP_WAITS;
    }
    data = state_loop(t->x, frame.step, frame.visit);
    (void)pop_frame(t);
    return complete_loop(t, data->ended);
}

static enum step_end next_iteration(struct turn *t)
{
    struct frame frame = *top_frame(t);

    if (runs_at_once(&t->x->program->steps[frame.step]))
        return end_round(t);
    frame.index++;
    replace_frame(t, frame);
    return iterate(t);
}

static enum step_end enter_loop(struct turn *t, const struct step *step)
{
    const struct loop *loop = step->loop;
    struct value list = value_absent();
    const struct mapping *failed;
    struct str list_json;
    int64_t started = 0;

    if (loop->list != NULL) {
        list = mapping_evaluate_at(t->mem, loop->list, &t->activation, &failed);
        if (list.kind == VALUE_ERROR)
            return turn_fail_value(t, list, failed->pointer);
        if (list.kind != VALUE_LIST)
            return turn_fail(t, STR("validation_type"), STR("business"),
                             "'for' must be a list, not %s",
                             value_kind_name((enum value_kind)list.kind));
        if (list.len > loop->max)
            return turn_fail(t, STR("limit_loop"), STR("business"),
                             "the list has %u items and the loop '%.*s' may run %u times", list.len,
                             STR_ARG(step->code), loop->max);
        if (!turn_freeze(t, &list, &list_json))
            return STEP_FAILED;
        /* What it goes over stays what it is, whatever its steps change. */
        (void)step_row(t, HISTORY_EVENT, STR("loop"));
        turn_note(t, "list", list_json);
        if (runs_at_once(step)) {
            started = list.len < loop->concurrency ? list.len : loop->concurrency;
            turn_note(t, "started", str_printf(t->mem, "%lld", (long long)started));
        }
        state_begin_loop(t->mem, t->x, step->index, t->x->cursor.visit, list, started);
    }
    push_frame(t, (struct frame){.step = step->index,
                                 .block = step->first_block,
                                 .visit = t->x->cursor.visit,
                                 .started_at_us = t->x->cursor.started_at_us});
    if (runs_at_once(step) && list.len > 0 &&
        t->x->program->blocks[step->first_block].first != NO_STEP)
        return begin_rounds(t);
    return iterate(t);
}

/* What the iteration that is over adds to the loop's result. STEP_DONE or STEP_FAILED. */
static enum step_end collect(struct turn *t)
{
    const struct frame *frame = top_frame(t);
    const struct step *step = &t->x->program->steps[frame->step];
    bool has_number = runs_at_once(step);
    const struct mapping *failed;
    struct value item;
    struct str json;

    if (step->loop->collect == NULL)
        return STEP_DONE;
    turn_begin_step(t);
    item = mapping_evaluate_at(t->mem, step->loop->collect, &t->activation, &failed);
    if (item.kind == VALUE_ERROR)
        return turn_fail_value(t, item, failed->pointer);
    if (!turn_freeze(t, &item, &json))
        return STEP_FAILED;
    if (t->x->context_bytes + json.len > CONTEXT_BYTES_MAX)
        return turn_fail_size(t);
    note_of_frame(t, "collect", frame, has_number ? frame->index : -1, json);
    t->row_bytes += json.len;
    state_add_collected(t->mem, t->x, frame->step, frame->visit,
                        has_number ? numbered(t, frame->index, item) : item, json.len);
    return STEP_DONE;
}

/* --- parallel --- */

/* {branches, count, ended} */
static enum step_end complete_parallel(struct turn *t)
{
    const struct step *step = turn_step(t);
    const struct loop_data *data = state_loop(t->x, step->index, t->x->cursor.visit);
    struct items none = {0};
    struct value list = items_value(t->mem, data != NULL ? &data->collected : &none);
    struct value *branches = ARENA_ARRAY(t->mem, step->block_count, struct value);
    struct value *ended = ARENA_ARRAY(t->mem, list.len + 1u, struct value);
    struct value_entry *entries = ARENA_ARRAY(t->mem, 3, struct value_entry);
    size_t duplicate;

    for (uint32_t i = 0; i < step->block_count; i++)
        branches[i] = value_null();
    for (uint32_t i = 0; i < list.len; i++) {
        ended[i] = list.items[i].items[0];
        if (ended[i].i < (int64_t)step->block_count)
            branches[ended[i].i] = list.items[i].items[1];
    }
    entries[0] =
        (struct value_entry){value_key(STR("branches")), value_list(branches, step->block_count)};
    entries[1] = (struct value_entry){value_key(STR("count")), value_int(list.len)};
    entries[2] = (struct value_entry){value_key(STR("ended")), value_list(ended, list.len)};
    return step_complete(t, value_map_make(t->mem, entries, 3, &duplicate), 0);
}

/* Whether enough branches have ended. */
static bool is_joined(const struct turn *t, const struct frame *frame)
{
    const struct loop_data *data = state_loop(t->x, frame->step, frame->visit);

    return data != NULL && data->collected.count >= t->x->program->steps[frame->step].join;
}

static void add_branch(struct turn *t, const struct frame *frame, struct value result,
                       struct str json)
{
    int64_t number = frame->block - t->x->program->steps[frame->step].first_block;

    note_of_frame(t, "branch", frame, number, json);
    state_add_collected(t->mem, t->x, frame->step, frame->visit, numbered(t, number, result),
                        json.len);
}

static enum step_end enter_parallel(struct turn *t, const struct step *step)
{
    struct frame frame = {.step = step->index,
                          .visit = t->x->cursor.visit,
                          .started_at_us = t->x->cursor.started_at_us};
    uint32_t count = 0;

    (void)step_row(t, HISTORY_EVENT, STR("parallel"));
    for (uint32_t i = 0; i < step->block_count; i++) {
        frame.block = step->first_block + i;
        if (t->x->program->blocks[frame.block].first == NO_STEP)
            add_branch(t, &frame, value_null(), STR("null"));
    }
    push_frame(t, frame);
    if (is_joined(t, &frame)) {
        (void)pop_frame(t);
        return complete_parallel(t);
    }
    for (uint32_t i = 0; i < step->block_count; i++) {
        uint32_t first = t->x->program->blocks[step->first_block + i].first;

        frame.block = step->first_block + i;
        if (first == NO_STEP)
            continue;
        if (count == 0) {
            replace_frame(t, frame);
            move_to(t, first);
        } else {
            strand_add(t, count - 1, first, frame);
        }
        count++;
    }
    return STEP_MOVED;
}

/* The step under way was the last of its branch. */
static enum step_end end_branch(struct turn *t)
{
    struct frame frame = *top_frame(t);
    const struct step_state *last = state_step(t->x, t->x->cursor.step);
    bool has_result = last->outcome == OUTCOME_COMPLETED;
    struct str json = has_result ? last->output_json : STR("null");

    if (t->x->context_bytes + json.len > CONTEXT_BYTES_MAX) {
        (void)turn_fail_size(t);
        (void)pop_frame(t);
        return STEP_FAILED;
    }
    add_branch(t, &frame, has_result ? last->output : value_null(), json);
    if (is_joined(t, &frame) || !strand_has_others(t, &frame)) {
        (void)pop_frame(t);
        return complete_parallel(t);
    }
    strand_drop(t);
    return STEP_WAITS;
}

/* --- frames --- */

/* The step of the innermost frame is over. STEP_DONE or STEP_FAILED. */
static enum step_end leave_frame(struct turn *t)
{
    struct frame frame = *top_frame(t);
    const struct step *step = pop_frame(t);
    const struct loop_data *data = state_loop(t->x, frame.step, frame.visit);

    if (step->kind == STEP_PARALLEL)
        return complete_parallel(t);
    if (step->kind == STEP_LOOP)
        return complete_loop(t, runs_at_once(step) ? data->ended + 1 : frame.index + 1);
    return step_complete(t, one_member(t, "branch", value_int(frame.block - step->first_block)), 0);
}

/* The block of the innermost frame is done. STEP_MOVED, STEP_DONE or STEP_FAILED. */
static enum step_end end_of_block(struct turn *t)
{
    const struct program *p = t->x->program;
    const struct frame *frame = top_frame(t);
    const struct step *owner = &p->steps[frame->step];
    enum step_end end;

    if (owner->kind == STEP_PARALLEL)
        return end_branch(t);
    if (owner->kind == STEP_LOOP) {
        end = collect(t);
        if (end == STEP_DONE)
            return next_iteration(t);
        (void)pop_frame(t);
        return end;
    }
    return leave_frame(t);
}

enum step_end flow_enter(struct turn *t, const struct step *step)
{
    /* The numbers of such visits are given out in the order of rows. */
    if (step->rounds > 0)
        (void)step_row(t, HISTORY_EVENT, STR("entered"));
    switch (step->kind) {
    case STEP_BRANCH:
        return enter_branch(t, step);
    case STEP_LOOP:
        return enter_loop(t, step);
    case STEP_PARALLEL:
        return enter_parallel(t, step);
    case STEP_PROCEDURE:
    case STEP_KIND_COUNT:
        break;
    }
    PANIC("this step has no steps in it");
}

/* An iteration has failed, and the loop goes on: {index, item, error}. */
static enum step_end fail_iteration(struct turn *t, struct value error)
{
    const struct frame *frame = top_frame(t);
    const struct loop_data *data = state_loop(t->x, frame->step, frame->visit);
    bool has_number = runs_at_once(&t->x->program->steps[frame->step]);
    struct value_entry *entries = ARENA_ARRAY(t->mem, 3, struct value_entry);
    struct value entry, item = value_null();
    size_t duplicate;
    struct str json;

    if (data != NULL && data->list.kind == VALUE_LIST)
        item = data->list.items[frame->index];
    entries[0] = (struct value_entry){value_key(STR("index")), value_int(frame->index)};
    entries[1] = (struct value_entry){value_key(STR("item")), item};
    entries[2] = (struct value_entry){value_key(STR("error")), error};
    entry = value_map_make(t->mem, entries, 3, &duplicate);
    if (!turn_freeze(t, &entry, &json) || t->x->context_bytes + json.len > CONTEXT_BYTES_MAX) {
        (void)turn_fail_size(t);
        (void)pop_frame(t);
        return STEP_FAILED;
    }
    note_of_frame(t, "failed", frame, has_number ? frame->index : -1, json);
    state_add_loop_error(t->mem, t->x, frame->step, frame->visit, entry, json.len);
    return next_iteration(t);
}

/* --- jumps --- */

/* Whether the innermost frame is around a step. */
static bool frame_is_around(const struct turn *t, const struct step *step)
{
    uint32_t block = step->block;

    while (true) {
        uint32_t owner = t->x->program->blocks[block].owner;
        if (owner == NO_STEP)
            return false;
        if (owner == top_frame(t)->step)
            return true;
        block = t->x->program->steps[owner].block;
    }
}

static enum step_end jump_to(struct turn *t, uint32_t step)
{
    const struct step *target = &t->x->program->steps[step];

    if (t->x->jumps >= JUMPS_MAX)
        return turn_fail(t, STR("limit_goto"), STR("business"),
                         "the execution has jumped %d times, which is the limit", JUMPS_MAX);
    t->x->jumps++;
    while (t->x->frame_count > 0 && !frame_is_around(t, target)) {
        enum step_end end = leave_frame(t);
        if (end != STEP_DONE)
            return end;
    }
    move_to(t, step);
    return STEP_MOVED;
}

/* Leave the frames around the step under way up to the innermost loop, which stays. */
static enum step_end leave_to_loop(struct turn *t)
{
    while (t->x->program->steps[top_frame(t)->step].kind != STEP_LOOP) {
        enum step_end end = leave_frame(t);
        if (end != STEP_DONE)
            return end;
    }
    return STEP_DONE;
}

enum step_end flow_jump(struct turn *t, enum jump_kind kind, uint32_t step)
{
    enum step_end end = STEP_DONE;

    switch (kind) {
    case JUMP_STEP:
        return jump_to(t, step);
    case JUMP_END:
        while (end == STEP_DONE && t->x->frame_count > 0)
            end = leave_frame(t);
        move_to(t, t->x->program->step_count);
        return end == STEP_DONE ? STEP_MOVED : end;
    /* An iteration that is left before its end collects nothing. */
    case JUMP_NEXT:
        end = leave_to_loop(t);
        return end == STEP_DONE ? next_iteration(t) : end;
    case JUMP_BREAK:
        end = leave_to_loop(t);
        return end == STEP_DONE ? leave_frame(t) : end;
    }
    PANIC("unknown kind of jump");
}

/* The goto of the step that has completed. STEP_SKIPPED: it leads nowhere. */
static enum step_end take_goto(struct turn *t)
{
    const struct step *step = turn_step(t);

    if (step->jumps.count == 0)
        return STEP_SKIPPED;
    /* They see the result of the step. */
    turn_begin_step(t);
    for (uint32_t i = 0; i < step->jumps.count; i++) {
        bool is_true = false;

        if (command_condition(t, step->jumps.items[i].when, "when", step->pointer, &is_true) ==
            STEP_FAILED)
            return failure_of_jump(t);
        if (is_true) {
            const struct jump *jump = &step->jumps.items[i];
            enum step_end end = flow_jump(t, jump->kind, jump->step);

            return end == STEP_FAILED && str_eq(t->failure.code, STR("limit_goto"))
                       ? failure_of_jump(t)
                       : end;
        }
    }
    return STEP_SKIPPED;
}

/* The step under way is over. STEP_MOVED, STEP_DONE: one around it is, or a failure of one. */
static enum step_end go_on(struct turn *t, bool takes_jumps)
{
    const struct step *step = turn_step(t);
    enum step_end end = takes_jumps ? take_goto(t) : STEP_SKIPPED;

    if (end != STEP_SKIPPED)
        return end;
    if (step->next != NO_STEP) {
        move_to(t, step->next);
        return STEP_MOVED;
    }
    if (t->x->frame_count > 0)
        return end_of_block(t);
    move_to(t, t->x->program->step_count);
    return STEP_MOVED;
}

bool flow_catch(struct turn *t, struct value error, struct str error_json, enum step_end *end)
{
    uint32_t catcher = t->x->frame_count;
    const struct step *step = NULL;

    while (catcher-- > 0) {
        step = &t->x->program->steps[t->x->frames[catcher].step];
        if (step->continues || (step->kind == STEP_LOOP && step->loop->continues))
            break;
    }
    if (catcher == UINT32_MAX)
        return false;
    /* What stands between the failure and who handles it has failed too. */
    while (t->x->frame_count > catcher + 1) {
        (void)pop_frame(t);
        failure_record(t, error, error_json);
    }
    if (step->kind == STEP_LOOP && step->loop->continues) {
        *end = fail_iteration(t, error);
    } else {
        (void)pop_frame(t);
        failure_record(t, error, error_json);
        *end = STEP_SKIPPED;
    }
    return true;
}

bool flow_settle(struct turn *t, enum step_end end)
{
    while (true)
        switch (end) {
        case STEP_DONE:
            end = go_on(t, true);
            break;
        case STEP_SKIPPED:
            end = go_on(t, false);
            break;
        case STEP_FAILED:
            end = failure_of_step(t);
            break;
        case STEP_MOVED:
            return true;
        case STEP_WAITS:
        case STEP_NEEDS:
            return false;
        }
}
