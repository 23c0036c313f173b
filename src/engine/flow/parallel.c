/*
 * parallel.c - branches that run beside each other; see strand.h.
 *
 *     entered --> a strand for each branch; an empty one has ended at once
 *     a branch has ended --> enough have: the others are stopped, the step is done
 *                            else its strand ends
 */
#include "engine/flow/step.h"
#include "engine/flow/strand.h"

/* {branches, count, ended} */
enum step_result parallel_complete(struct turn *t)
{
    const struct step *step = turn_step(t);
    const struct loop_data *data = state_loop(t->x, step->index, t->x->cursor.visit);
    struct items none = {0};
    struct value list = items_value(t->mem, data != NULL ? &data->collected : &none);
    struct value *branches = ARENA_ARRAY(t->mem, step->block_count, struct value);
    struct value *ended = ARENA_ARRAY(t->mem, list.len + 1u, struct value);
    struct value result;

    for (uint32_t i = 0; i < step->block_count; i++)
        branches[i] = value_null();
    for (uint32_t i = 0; i < list.len; i++) {
        ended[i] = list.items[i].items[0];
        if (ended[i].i < (int64_t)step->block_count)
            branches[ended[i].i] = list.items[i].items[1];
    }
    result = value_map_of(
        t->mem, VALUE_ENTRIES({value_key(STR("branches")), value_list(branches, step->block_count)},
                              {value_key(STR("count")), value_int(list.len)},
                              {value_key(STR("ended")), value_list(ended, list.len)}));
    return step_complete(t, result, 0);
}

/* Whether enough branches have ended. */
static bool is_joined(const struct turn *t, const struct frame *frame)
{
    const struct loop_data *data = state_loop(t->x, frame->step, frame->visit);

    const struct step *step = &t->x->program->steps[frame->step];
    struct value ended;
    uint32_t count = 0;

    if (data == NULL || data->collected.list.count < step->join)
        return false;
    /* A branch that another version had has ended, and does not count in this one. */
    ended = items_value(t->mem, &data->collected);
    for (uint32_t i = 0; i < ended.len; i++)
        count += ended.items[i].items[0].i < (int64_t)step->block_count;
    return count >= step->join;
}

static void add_branch(struct turn *t, const struct frame *frame, struct value result,
                       struct str json)
{
    int64_t number = frame->block - t->x->program->steps[frame->step].first_block;

    frame_note(t, "branch", frame, number, json);
    state_add_collected(t->mem, t->x, frame->step, frame->visit,
                        state_numbered(t->mem, number, result), json.len);
}

enum step_result parallel_enter(struct turn *t, const struct step *step)
{
    struct frame frame = {.step = step->index,
                          .visit = t->x->cursor.visit,
                          .started_at_us = t->x->cursor.started_at_us};
    uint32_t count = 0;

    for (uint32_t i = 0; i < step->block_count; i++)
        count += t->x->program->blocks[step->first_block + i].first != NO_STEP;
    if (count > 1 && !strand_may_add(t, count - 1))
        return STEP_FAILED;
    count = 0;
    (void)step_row(t, HISTORY_EVENT, STR("parallel"));
    for (uint32_t i = 0; i < step->block_count; i++) {
        frame.block = step->first_block + i;
        if (t->x->program->blocks[frame.block].first == NO_STEP)
            add_branch(t, &frame, value_null(), STR("null"));
    }
    frame_push(t, frame);
    if (is_joined(t, &frame)) {
        (void)frame_pop(t);
        return parallel_complete(t);
    }
    for (uint32_t i = 0; i < step->block_count; i++) {
        uint32_t first = t->x->program->blocks[step->first_block + i].first;

        frame.block = step->first_block + i;
        if (first == NO_STEP)
            continue;
        if (count == 0) {
            frame_replace(t, frame);
            frame_move_to(t, first);
        } else {
            strand_add(t, count - 1, first, frame);
        }
        count++;
    }
    return STEP_MOVED;
}

bool parallel_begin_gained(struct turn *t, uint32_t depth, uint32_t had)
{
    struct execution *x = t->x;
    struct frame frame = x->frames[depth];
    const struct step *step = &x->program->steps[frame.step];
    uint32_t frame_count = x->frame_count, begun = 0;

    if (had < step->block_count && !strand_may_add(t, step->block_count - had))
        return false;
    /* The new strands stand in the frames up to this one. */
    x->frame_count = depth + 1;
    for (uint32_t i = had; i < step->block_count; i++) {
        uint32_t first = x->program->blocks[step->first_block + i].first;

        frame.block = step->first_block + i;
        if (first == NO_STEP)
            add_branch(t, &frame, value_null(), STR("null"));
        else
            strand_add(t, begun++, first, frame);
    }
    x->frame_count = frame_count;
    if (begun > 0 && x->cursor.seq == 0)
        x->cursor.seq = x->seq;
    return true;
}

enum step_result parallel_end_branch(struct turn *t)
{
    struct frame frame = *frame_top(t);
    const struct step_state *last = state_step(t->x, t->x->cursor.step);
    bool has_result = last->outcome == OUTCOME_COMPLETED;
    struct str json = has_result ? last->output_json : STR("null");

    if (t->x->context_bytes + json.len > CONTEXT_BYTES_MAX) {
        (void)turn_fail_size(t);
        return failure_of_loop(t, BEHIND_BLOCK);
    }
    add_branch(t, &frame, has_result ? last->output : value_null(), json);
    if (is_joined(t, &frame) || !strand_has_others(t, &frame)) {
        (void)frame_pop(t);
        return parallel_complete(t);
    }
    strand_drop(t);
    return STEP_WAITS;
}
