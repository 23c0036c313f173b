/*
 * flow.c - from one step to the next: blocks, branches, loops, parallel steps
 * and jumps; see step.h.
 *
 *     a step is done --> its goto, else the next in its block
 *     a block is done --> branch: it is done
 *                         loop: collect, then the next iteration or it is done
 *                         parallel: enough branches have ended and it is done, or the strand ends
 *
 * A step that has steps in it has a frame while it runs, and a row
 * when it is over, whatever way it is left. Moving on evaluates and records,
 * but never stops in between: the cursor is only ever stored at a step. What fails
 * there is noted in cursor.behind, and a retry goes on with it.
 */
#include "define/define.h"
#include "engine/command/command.h"
#include "engine/command/machine.h"
#include "engine/flow/repair.h"
#include "engine/flow/step.h"
#include "engine/flow/strand.h"

/* --- branches --- */

/* The branch is done: {branch: which of them was taken, or null}. */
static enum step_result complete_branch(struct turn *t, struct value which)
{
    return step_complete(t, value_map_of(t->mem, VALUE_ENTRIES({value_key(STR("branch")), which})),
                         0);
}

static enum step_result enter_branch(struct turn *t, const struct step *step)
{
    const struct program *p = t->x->program;

    for (uint32_t i = 0; i < step->block_count; i++) {
        const struct block *block = &p->blocks[step->first_block + i];
        bool is_true = false;

        if (command_condition_at(t, block->when, step->pointer, "branch", i, "when", &is_true) ==
            STEP_FAILED)
            return STEP_FAILED;
        if (!is_true)
            continue;
        if (block->first == NO_STEP)
            return complete_branch(t, value_int(i));
        frame_push(t, (struct frame){.step = step->index,
                                     .block = step->first_block + i,
                                     .visit = t->x->cursor.visit,
                                     .started_at_us = t->x->cursor.started_at_us});
        frame_move_to(t, block->first);
        return STEP_MOVED;
    }
    return complete_branch(t, value_null());
}

/* The step of the innermost frame is over. STEP_DONE or STEP_FAILED. */
static enum step_result leave_frame(struct turn *t)
{
    struct frame frame = *frame_top(t);
    const struct step *step = frame_pop(t);
    const struct loop_data *data = state_loop(t->x, frame.step, frame.visit);

    if (step->kind == STEP_PARALLEL)
        return parallel_complete(t);
    if (step->kind == STEP_LOOP)
        return loop_complete(t, frame_runs_at_once(step) ? data->ended + 1 : frame.index + 1);
    return complete_branch(t, value_int(frame.block - step->first_block));
}

/* The block of the innermost frame is done. STEP_MOVED, STEP_DONE or STEP_FAILED. */
static enum step_result end_of_block(struct turn *t)
{
    const struct program *p = t->x->program;
    const struct frame *frame = frame_top(t);
    const struct step *owner = &p->steps[frame->step];
    enum step_result end;

    if (owner->kind == STEP_PARALLEL)
        return parallel_end_branch(t);
    if (owner->kind == STEP_LOOP) {
        end = loop_collect(t);
        return end == STEP_DONE ? loop_next(t) : failure_of_loop(t, BEHIND_BLOCK);
    }
    return leave_frame(t);
}

enum step_result flow_enter(struct turn *t, const struct step *step)
{
    /* The numbers of such visits are given out in the order of rows. */
    if (step->rounds > 0)
        (void)step_row(t, HISTORY_EVENT, STR("entered"));
    switch (step->kind) {
    case STEP_BRANCH:
        return enter_branch(t, step);
    case STEP_LOOP:
        return loop_enter(t, step);
    case STEP_PARALLEL:
        return parallel_enter(t, step);
    case STEP_PROCEDURE:
    case STEP_KIND_COUNT:
        break;
    }
    PANIC("this step has no steps in it");
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
        if (owner == frame_top(t)->step)
            return true;
        block = t->x->program->steps[owner].block;
    }
}

static enum step_result jump_to(struct turn *t, uint32_t step)
{
    const struct step *target = &t->x->program->steps[step];

    /* Every circle has a jump back; those forward come to an end by themselves. */
    if (t->x->program->kind != KIND_MACHINE && step <= turn_step(t)->index &&
        state_visits(t->x, step) > 0 && ++t->x->jumps > JUMPS_MAX) {
        t->x->jumps = JUMPS_MAX;
        (void)turn_fail(t, STR("limit_goto"), ERR_CLASS_BUSINESS,
                        "the execution has jumped back %d times, which is the limit", JUMPS_MAX);
        return failure_of_jump(t);
    }
    while (t->x->frame_count > 0 && !frame_is_around(t, target)) {
        enum step_result end = leave_frame(t);
        if (end != STEP_DONE)
            return end;
    }
    frame_move_to(t, step);
    return STEP_MOVED;
}

/* Leave the frames around the current step up to the innermost loop, which stays. */
static enum step_result leave_to_loop(struct turn *t)
{
    while (t->x->program->steps[frame_top(t)->step].kind != STEP_LOOP) {
        enum step_result end = leave_frame(t);
        if (end != STEP_DONE)
            return end;
    }
    return STEP_DONE;
}

/* The loop of the innermost frame is left in the middle. */
static enum step_result flow_break(struct turn *t)
{
    struct execution before = *t->x;
    enum step_result end;

    /* Rounds beside this one are stopped for good: a failure is the loop's. */
    if (frame_runs_at_once(&t->x->program->steps[frame_top(t)->step]))
        return leave_frame(t);
    end = leave_frame(t);
    if (end != STEP_FAILED)
        return end;
    *t->x = before;
    return failure_of_loop(t, BEHIND_BREAK);
}

enum step_result flow_jump(struct turn *t, enum jump_kind kind, uint32_t step)
{
    enum step_result end = STEP_DONE;

    switch (kind) {
    case JUMP_STEP:
        return jump_to(t, step);
    case JUMP_END:
        while (end == STEP_DONE && t->x->frame_count > 0)
            end = leave_frame(t);
        /* A loop that could not be completed has failed where it stands. */
        if (end != STEP_DONE)
            return end;
        frame_move_to(t, t->x->program->step_count);
        return STEP_MOVED;
    /* An iteration that is left before its end collects nothing. */
    case JUMP_NEXT:
        end = leave_to_loop(t);
        return end == STEP_DONE ? loop_next(t) : end;
    case JUMP_BREAK:
        end = leave_to_loop(t);
        return end == STEP_DONE ? flow_break(t) : end;
    }
    PANIC("unknown kind of jump");
}

/* Whether an edge is one of those that a node is left by as it has ended. */
static bool edge_is_open(const struct step_state *state, const struct jump *edge)
{
    if (edge->after == AFTER_FAILURE)
        return state->outcome == OUTCOME_FAILED;
    return edge->branch.len == 0 ||
           (state->outcome == OUTCOME_COMPLETED &&
            str_eq(value_map_text(state->output, STR("branch")), edge->branch));
}

/* The edge by which a node is left, whatever became of it. */
static enum step_result take_edge(struct turn *t, const struct step *step)
{
    const struct step_state *state = state_step(t->x, step->index);

    if (step->state != NULL || step->transition != NULL)
        return machine_go_on(t, step);
    for (uint32_t i = 0; i < step->jumps.count; i++)
        if (edge_is_open(state, &step->jumps.items[i]))
            return flow_jump(t, step->jumps.items[i].kind, step->jumps.items[i].step);
    /* The output of a condition that an operator has skipped may be anything. */
    (void)turn_fail(t, STR("expression_branch"), ERR_CLASS_BUSINESS,
                    "the output of '%.*s' names no branch that an edge leaves by",
                    STR_ARG(step->code));
    return failure_of_jump(t);
}

/* The goto of the step that is over. STEP_SKIPPED: it leads nowhere. */
static enum step_result take_goto(struct turn *t)
{
    const struct step *step = turn_step(t);

    if (step->jumps.count == 0)
        return STEP_SKIPPED;
    /* They see the result of the step. */
    turn_begin_step(t);
    for (uint32_t i = 0; i < step->jumps.count; i++) {
        const struct jump *jump = &step->jumps.items[i];
        bool is_true = false;

        if (command_condition_at(t, jump->when, step->pointer, "goto", i, "when", &is_true) ==
            STEP_FAILED)
            return failure_of_jump(t);
        if (is_true)
            return flow_jump(t, jump->kind, jump->step);
    }
    return STEP_SKIPPED;
}

/* The current step has ended. STEP_MOVED, STEP_DONE: so has one around it, or one has failed. */
static enum step_result flow_go_on(struct turn *t, bool takes_jumps)
{
    const struct step *step = turn_step(t);
    enum step_result end = step->leaves_by_jumps ? take_edge(t, step)
                           : takes_jumps         ? take_goto(t)
                                                 : STEP_SKIPPED;

    if (end != STEP_SKIPPED)
        return end;
    if (step->next != NO_STEP) {
        frame_move_to(t, step->next);
        return STEP_MOVED;
    }
    if (t->x->frame_count > 0)
        return end_of_block(t);
    frame_move_to(t, t->x->program->step_count);
    return STEP_MOVED;
}

enum step_result flow_resume(struct turn *t)
{
    struct cursor *cursor = &t->x->cursor;
    enum cursor_behind behind = (enum cursor_behind)cursor->behind;

    cursor->behind = BEHIND_NOTHING;
    cursor->phase = PHASE_ENTER;
    turn_begin_step(t);
    switch (behind) {
    case BEHIND_ROUND:
        return loop_resume(t);
    case BEHIND_BREAK:
        return flow_break(t);
    case BEHIND_FAILURE:
        return loop_fail(t, state_step(t->x, cursor->step)->error);
    case BEHIND_BLOCK:
        return flow_go_on(t, false);
    case BEHIND_LEDGER:
        return repair_take_up(t);
    case BEHIND_STEP:
    case BEHIND_NOTHING:
        break;
    }
    return flow_go_on(t, true);
}

bool flow_catch(struct turn *t, struct value error, struct str error_json, enum step_result *end)
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
        (void)frame_pop(t);
        failure_record(t, error, error_json);
    }
    if (step->kind == STEP_LOOP && step->loop->continues) {
        *end = loop_fail(t, error);
    } else {
        (void)frame_pop(t);
        failure_record(t, error, error_json);
        *end = STEP_DONE;
    }
    return true;
}

bool flow_settle(struct turn *t, enum step_result end)
{
    while (true)
        switch (end) {
        case STEP_DONE:
            end = flow_go_on(t, true);
            break;
        case STEP_SKIPPED:
            end = flow_go_on(t, false);
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
