/*
 * parallel.c - branches that run beside each other; see strand.h.
 *
 *     entered --> a strand for each branch; an empty one has ended at once
 *     a branch has ended --> enough have: the others are stopped, the step is done
 *                            else its strand ends
 */
#include "engine/step.h"
#include "engine/strand.h"

/* {branches, count, ended} */
enum step_result parallel_complete(struct turn *t)
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

    return data != NULL && data->collected.list.count >= t->x->program->steps[frame->step].join;
}

static void add_branch(struct turn *t, const struct frame *frame, struct value result,
                       struct str json)
{
    int64_t number = frame->block - t->x->program->steps[frame->step].first_block;

    frame_note(t, "branch", frame, number, json);
    state_add_collected(t->mem, t->x, frame->step, frame->visit, frame_numbered(t, number, result),
                        json.len);
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

enum step_result parallel_end_branch(struct turn *t)
{
    struct frame frame = *frame_top(t);
    const struct step_state *last = state_step(t->x, t->x->cursor.step);
    bool has_result = last->outcome == OUTCOME_COMPLETED;
    struct str json = has_result ? last->output_json : STR("null");

    if (t->x->context_bytes + json.len > CONTEXT_BYTES_MAX) {
        (void)turn_fail_size(t);
        (void)frame_pop(t);
        return STEP_FAILED;
    }
    add_branch(t, &frame, has_result ? last->output : value_null(), json);
    if (is_joined(t, &frame) || !strand_has_others(t, &frame)) {
        (void)frame_pop(t);
        return parallel_complete(t);
    }
    strand_drop(t);
    return STEP_WAITS;
}
