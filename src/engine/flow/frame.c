/*
 * frame.c - the steps around the current one; see strand.h.
 *
 * A step that has steps in it has a frame while it runs. What it holds
 * beside that (items of a loop, results of branches) is in the state, and rows
 * say what is added.
 */
#include "engine/commit/link.h"
#include "engine/flow/strand.h"

void frame_move_to(struct turn *t, uint32_t step)
{
    t->x->cursor = (struct cursor){.step = step};
}

void frame_push(struct turn *t, struct frame frame)
{
    struct execution *x = t->x;
    struct frame *frames = ARENA_ARRAY(t->mem, x->frame_count + 1u, struct frame);

    if (x->frame_count > 0)
        memcpy(frames, x->frames, x->frame_count * sizeof(*frames));
    frames[x->frame_count] = frame;
    x->frames = frames;
    x->frame_count++;
}

const struct frame *frame_top(const struct turn *t)
{
    ASSERT(t->x->frame_count > 0);
    return &t->x->frames[t->x->frame_count - 1];
}

bool frame_runs_at_once(const struct step *step)
{
    return step->kind == STEP_PARALLEL || (step->kind == STEP_LOOP && step->loop->concurrency > 1);
}

const struct step *frame_pop(struct turn *t)
{
    struct frame frame = *frame_top(t);

    if (frame_runs_at_once(&t->x->program->steps[frame.step])) {
        strand_stop_others(t, &frame);
        t->has_stopped = true;
    }
    t->x->frame_count--;
    if (frame_runs_at_once(&t->x->program->steps[frame.step]))
        link_leave(t->mem, t->x, &frame);
    t->x->cursor = (struct cursor){.step = frame.step,
                                   .visit = frame.visit,
                                   .attempt = 1,
                                   .started_at_us = frame.started_at_us};
    turn_begin_step(t);
    return turn_step(t);
}

void frame_replace(struct turn *t, struct frame frame)
{
    t->x->frame_count--;
    frame_push(t, frame);
}

void frame_note(struct turn *t, const char *name, const struct frame *frame, int64_t number,
                struct str json)
{
    struct str code = t->x->program->steps[frame->step].code;

    if (number >= 0)
        code = str_printf(t->mem, "%.*s:%lld:%lld", STR_ARG(code), (long long)frame->visit,
                          (long long)number);
    else if (t->x->other_count > 0)
        code = str_printf(t->mem, "%.*s:%lld", STR_ARG(code), (long long)frame->visit);
    turn_note(t, str_printf(t->mem, "%s:%.*s", name, STR_ARG(code)).ptr, json);
}
