/* state_copy.c - executions that share nothing with the one they were made from; see state.h. */
#include "define/program.h"
#include "engine/state.h"
#include "engine/stored.h"

static struct str copy_text(struct arena *mem, struct str s)
{
    return s.len == 0 ? STR_NONE : str_copy(mem, s);
}

static void copy_signals(struct arena *mem, struct execution *x, const struct signals *from)
{
    struct shared_iter iter = {0};
    const struct signal *s;

    x->signals = (struct signals){0};
    while ((s = signals_next(from, &iter)) != NULL) {
        struct signal *copy = arena_alloc(mem, sizeof(*copy));
        *copy = *s;
        copy->id = copy_text(mem, s->id);
        copy->type = copy_text(mem, s->type);
        copy->json = copy_text(mem, s->json);
        copy->answers = copy_text(mem, s->answers);
        copy->view = value_copy(mem, s->view);
        (void)signals_add(mem, &x->signals, x, copy);
    }
}

/* A part of `size` bytes, with its own texts; or NULL. */
static void *copy_part(struct arena *mem, struct stored_fields fields, const void *from,
                       size_t size)
{
    void *part;

    if (from == NULL)
        return NULL;
    part = arena_alloc(mem, size);
    memcpy(part, from, size);
    stored_copy_texts(mem, fields, part);
    return part;
}

static struct cursor copy_cursor(struct arena *mem, struct cursor c)
{
    stored_copy_texts(mem, stored_cursor, &c);
    c.reconciling = copy_part(mem, stored_reconciling, c.reconciling, sizeof(*c.reconciling));
    return c;
}

static const struct frame *copy_frames(struct arena *mem, const struct frame *from, uint32_t count)
{
    struct frame *frames;

    if (count == 0)
        return NULL;
    frames = ARENA_ARRAY(mem, count, struct frame);
    memcpy(frames, from, count * sizeof(*frames));
    return frames;
}

static const struct strand *copy_strand(struct arena *mem, const struct strand *from)
{
    struct strand *s = arena_alloc(mem, sizeof(*s));

    *s = *from;
    s->cursor = copy_cursor(mem, from->cursor);
    s->frames = copy_frames(mem, from->frames, from->frame_count);
    s->waiting_for_json = copy_text(mem, from->waiting_for_json);
    return s;
}

static const struct strand *const *copy_others(struct arena *mem, const struct strand *const *from,
                                               uint32_t count)
{
    const struct strand **others;

    if (count == 0)
        return NULL;
    others = ARENA_ARRAY(mem, count, const struct strand *);
    for (uint32_t i = 0; i < count; i++)
        others[i] = copy_strand(mem, from[i]);
    return others;
}

static void copy_strands(struct arena *mem, struct execution *x, const struct execution *from)
{
    x->cursor = copy_cursor(mem, from->cursor);
    x->frames = copy_frames(mem, from->frames, from->frame_count);
    x->strand_waiting_json = copy_text(mem, from->strand_waiting_json);
    x->others = copy_others(mem, from->others, from->other_count);
    x->reminding = copy_others(mem, from->reminding, from->reminding_count);
}

static const struct rollback *copy_rollback(struct arena *mem, const struct rollback *from)
{
    struct rollback *rollback;

    if (from == NULL)
        return NULL;
    rollback = arena_alloc(mem, sizeof(*rollback));
    *rollback = *from;
    stored_copy_texts(mem, stored_rollback, rollback);
    rollback->from = copy_part(mem, stored_from, from->from, sizeof(*from->from));
    rollback->others = copy_others(mem, from->others, from->other_count);
    rollback->again = state_copy_visits(mem, from->again);
    return rollback;
}

static const struct stopped_child *copy_stopped(struct arena *mem, const struct execution *from)
{
    struct stopped_child *all;

    if (from->stopped_count == 0)
        return NULL;
    all = ARENA_ARRAY(mem, from->stopped_count, struct stopped_child);
    for (uint32_t i = 0; i < from->stopped_count; i++) {
        all[i] = from->stopped[i];
        all[i].step = copy_text(mem, from->stopped[i].step);
        all[i].loop_json = copy_text(mem, from->stopped[i].loop_json);
        if (from->stopped[i].strand != NULL)
            all[i].strand = copy_strand(mem, from->stopped[i].strand);
    }
    return all;
}

static struct step_state copy_step(struct arena *mem, const struct step_state *from)
{
    struct step_state s = *from;

    s.output = value_copy(mem, from->output);
    s.output_json = copy_text(mem, from->output_json);
    s.error = value_copy(mem, from->error);
    s.error_json = copy_text(mem, from->error_json);
    return s;
}

static const struct round_step *copy_rounds(struct arena *mem, const struct round_step *from)
{
    const struct round_step *out = NULL, **link = &out;

    for (; from != NULL; from = from->next) {
        struct round_step *copy = arena_alloc(mem, sizeof(*copy));
        *copy = *from;
        copy->state = copy_step(mem, &from->state);
        *link = copy;
        link = &copy->next;
    }
    *link = NULL;
    return out;
}

static const struct loop_data *copy_loops(struct arena *mem, const struct execution *x,
                                          const struct loop_data *from)
{
    struct loop_data *l;

    if (from == NULL)
        return NULL;
    l = arena_alloc(mem, sizeof(*l));
    *l = *from;
    l->outer = copy_loops(mem, x, from->outer);
    l->list = value_copy(mem, from->list);
    l->collected = items_copy(mem, &from->collected, x);
    l->errors = items_copy(mem, &from->errors, x);
    return l;
}

struct execution *state_copy(struct arena *mem, const struct execution *exec)
{
    struct execution *x = arena_alloc(mem, sizeof(*x));
    uint32_t steps = exec->program->step_count;

    *x = *exec;
    x->key = copy_text(mem, exec->key);
    x->org_id = copy_text(mem, exec->org_id);
    x->user_json = copy_text(mem, exec->user_json);
    x->trace = copy_text(mem, exec->trace);
    x->webhook_json = copy_text(mem, exec->webhook_json);
    x->webhook = value_copy(mem, exec->webhook);
    x->record = copy_text(mem, exec->record);
    x->chain = copy_text(mem, exec->chain);
    x->input_json = copy_text(mem, exec->input_json);
    x->input = value_copy(mem, exec->input);
    x->first_input = value_copy(mem, exec->first_input);
    x->error_json = copy_text(mem, exec->error_json);
    x->result_json = copy_text(mem, exec->result_json);
    x->waiting_for_json = copy_text(mem, exec->waiting_for_json);
    copy_strands(mem, x, exec);
    x->rollback = copy_rollback(mem, exec->rollback);
    x->stopped = copy_stopped(mem, exec);
    x->debug = copy_part(mem, stored_debug, exec->debug, sizeof(*exec->debug));
    x->pause = copy_part(mem, stored_pause, exec->pause, sizeof(*exec->pause));
    x->variables = value_copy(mem, exec->variables);
    x->variables_json = copy_text(mem, exec->variables_json);
    x->steps = ARENA_ARRAY(mem, steps + 1u, struct step_state);
    for (uint32_t i = 0; i < steps; i++)
        x->steps[i] = copy_step(mem, &exec->steps[i]);
    x->rounds = copy_rounds(mem, exec->rounds);
    x->past_visits = state_copy_visits(mem, exec->past_visits);
    x->past_steps = items_copy(mem, &exec->past_steps, x);
    copy_signals(mem, x, &exec->signals);
    x->loops = copy_loops(mem, x, exec->loops);
    x->secrets = items_copy(mem, &exec->secrets, x);
    x->compensated = items_copy(mem, &exec->compensated, x);
    x->failed = items_copy(mem, &exec->failed, x);
    x->given_up = items_copy(mem, &exec->given_up, x);
    return x;
}
