/*
 * flow.c - from one step to the next: blocks, branches, loops, parallel steps
 * and jumps; see step.h.
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
#include "engine/command.h"
#include "engine/step.h"
#include "engine/strand.h"

static struct value one_field(struct turn *t, const char *name, struct value v)
{
    struct value_entry *entries = ARENA_ARRAY(t->mem, 1, struct value_entry);
    size_t duplicate;

    entries[0] = (struct value_entry){.key = value_key(str_of(name)), .value = v};
    return value_map_make(t->mem, entries, 1, &duplicate);
}

/* --- branches --- */

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
            return step_complete(t, one_field(t, "branch", value_int(i)), 0);
        frame_push(t, (struct frame){.step = step->index,
                                     .block = step->first_block + i,
                                     .visit = t->x->cursor.visit,
                                     .started_at_us = t->x->cursor.started_at_us});
        frame_move_to(t, block->first);
        return STEP_MOVED;
    }
    return step_complete(t, one_field(t, "branch", value_null()), 0);
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
    return step_complete(t, one_field(t, "branch", value_int(frame.block - step->first_block)), 0);
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
        if (end == STEP_DONE)
            return loop_next(t);
        (void)frame_pop(t);
        return end;
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

    if (t->x->jumps >= JUMPS_MAX)
        return turn_fail(t, STR("limit_goto"), STR("business"),
                         "the execution has jumped %d times, which is the limit", JUMPS_MAX);
    t->x->jumps++;
    while (t->x->frame_count > 0 && !frame_is_around(t, target)) {
        enum step_result end = leave_frame(t);
        if (end != STEP_DONE)
            return end;
    }
    frame_move_to(t, step);
    return STEP_MOVED;
}

/* Leave the frames around the step under way up to the innermost loop, which stays. */
static enum step_result leave_to_loop(struct turn *t)
{
    while (t->x->program->steps[frame_top(t)->step].kind != STEP_LOOP) {
        enum step_result end = leave_frame(t);
        if (end != STEP_DONE)
            return end;
    }
    return STEP_DONE;
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
        frame_move_to(t, t->x->program->step_count);
        return end == STEP_DONE ? STEP_MOVED : end;
    /* An iteration that is left before its end collects nothing. */
    case JUMP_NEXT:
        end = leave_to_loop(t);
        return end == STEP_DONE ? loop_next(t) : end;
    case JUMP_BREAK:
        end = leave_to_loop(t);
        return end == STEP_DONE ? leave_frame(t) : end;
    }
    PANIC("unknown kind of jump");
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
        bool is_true = false;

        if (command_condition_at(t, step->jumps.items[i].when, step->pointer, "goto", i, "when",
                                 &is_true) == STEP_FAILED)
            return failure_of_jump(t);
        if (is_true) {
            const struct jump *jump = &step->jumps.items[i];
            enum step_result end = flow_jump(t, jump->kind, jump->step);

            return end == STEP_FAILED && str_eq(t->failure.code, STR("limit_goto"))
                       ? failure_of_jump(t)
                       : end;
        }
    }
    return STEP_SKIPPED;
}

/* The step under way is over. STEP_MOVED, STEP_DONE: one around it is, or a failure of one. */
static enum step_result go_on(struct turn *t, bool takes_jumps)
{
    const struct step *step = turn_step(t);
    enum step_result end = takes_jumps ? take_goto(t) : STEP_SKIPPED;

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
