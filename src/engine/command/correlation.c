/*
 * correlation.c - waits that are found from outside, by a correlation or by the
 * people who may answer: which of them a commit opens and closes, and the
 * signals that were kept for a correlation. See wait.h.
 *
 * A signal that finds no wait is kept by the store, and a wait that begins
 * looks at what is kept. Neither may miss the other: a commit says up to which
 * kept signal it has looked, and the store refuses it when there are later ones.
 */
#include "engine/command/wait.h"
#include "engine/commit/link.h"
#include "engine/commit/reads.h"
#include "value/object.h"

/* --- what is kept --- */

static const struct kept_read *kept_read_find(const struct event *ev, struct str correlation)
{
    const struct kept_reads *reads = &event_reads(ev)->kept;

    for (size_t i = 0; i < reads->count; i++)
        if (str_eq(reads->items[i].correlation, correlation))
            return &reads->items[i];
    return NULL;
}

bool correlation_look(struct turn *t, struct str correlation, const struct kept_read **out)
{
    *out = kept_read_find(t->ev, correlation);
    if (*out != NULL || !t->ev->buffers_signals)
        return true;
    *VEC_ADD(t->mem, &t->out->needs_buffered) = correlation;
    return false;
}

bool correlation_has(const struct turn *t, const struct buffered_signal *kept)
{
    for (size_t i = 0; i < t->out->buffered_taken.count; i++)
        if (t->out->buffered_taken.items[i].row == kept->row)
            return true;
    return signals_find(&t->x->signals, kept->signal.id) != NULL;
}

void correlation_take(struct turn *t, const struct buffered_signal *kept,
                      const struct signal *signal)
{
    receive(t, signal);
    *VEC_ADD(t->mem, &t->out->buffered_taken) =
        (struct buffered_take){.row = kept->row, .signal = signal};
}

/* --- what opens and closes --- */

static const struct wait *wait_at(const struct execution *x, const struct cursor *c)
{
    return x->program->steps[c->step].procedure->commands[0].wait;
}

static bool is_found_from_outside(const struct execution *x, const struct cursor *c)
{
    return c->phase == PHASE_WAIT && c->deferred_seq == 0 &&
           (c->correlation.len > 0 || c->assignees_json.len > 0 ||
            (c->types_json.len > 0 && wait_at(x, c)->is_public));
}

/* The waits that are open in a state. */
static void list_waits(struct arena *mem, const struct execution *x, struct listed_waits *out)
{
    for (uint32_t i = 0; !status_is_terminal(x->status) && i < execution_strands(x); i++) {
        const struct cursor *c = execution_cursor(x, i);

        if (is_found_from_outside(x, c))
            *VEC_ADD(mem, out) = (struct listed_wait){
                .step = x->program->steps[c->step].code,
                .visit = c->visit,
                .types_json = c->types_json,
                .correlation = c->correlation,
                .assignees_json = c->assignees_json,
                .title = c->title,
                .show_json = c->show_json,
                .then_json = c->then_json,
                .is_public = wait_at(x, c)->is_public,
                .since_us = c->started_at_us,
                .until_us = c->timeout_at_us,
            };
    }
}

static bool is_among(const struct listed_waits *waits, const struct listed_wait *w)
{
    for (size_t i = 0; i < waits->count; i++) {
        const struct listed_wait *other = &waits->items[i];

        if (w->visit == other->visit && str_eq(w->step, other->step) &&
            str_eq(w->correlation, other->correlation) &&
            str_eq(w->types_json, other->types_json) &&
            str_eq(w->assignees_json, other->assignees_json) && w->is_public == other->is_public &&
            w->until_us == other->until_us)
            return true;
    }
    return false;
}

static struct str correlation_form(struct turn *t, struct str step)
{
    struct value form =
        program_step(t->x->program, step)->procedure->commands[0].wait->form_written;
    struct str json = STR_NONE;

    if (form.kind == VALUE_LIST && !turn_json(t, form, &json))
        PANIC("a form was read from JSON");
    return json;
}

/* What comes of a step that fails: the rounds around it may go on all the same. */
static const char *failure_means(const struct program *p, const struct step *step)
{
    static const char *const means[] = {
        [ON_ERROR_COMPENSATE] = "compensate",
        [ON_ERROR_RETRY] = "fail",
        [ON_ERROR_FAIL_FAST] = "fail",
        [ON_ERROR_HOLD] = "hold",
    };
    const struct step *s = step;

    while (!s->continues && !(s->loop != NULL && s->loop->continues)) {
        uint32_t owner = p->blocks[s->block].owner;

        if (owner == NO_STEP)
            return means[step->on_error];
        s = &p->steps[owner];
    }
    return "continue";
}

/* Where a jump leads that names no step. */
static struct str jump_word(enum jump_kind kind)
{
    static const char *const words[] = {
        [JUMP_STEP] = "",
#define JUMP_WORD(symbol, word) [JUMP_##symbol] = word,
#include "define/catalog/jump_words.def"
#undef JUMP_WORD
    };

    return str_of(words[kind]);
}

/* What happens when its time is up: {action, to?, name?}, as those are told who may answer. */
static struct str time_up(struct turn *t, const struct listed_wait *w)
{
    const struct program *p = t->x->program;
    const struct step *step = program_step(p, w->step), *to;
    const struct wait *wait = step->procedure->commands[0].wait;
    struct buf told;

    if (w->until_us == 0)
        return STR_NONE;
    object_begin(&told, t->mem);
    if (wait->on_timeout == ON_TIMEOUT_JUMP) {
        to = wait->timeout_kind == JUMP_STEP ? &p->steps[wait->timeout_step] : NULL;
        object_text(&told, "action", STR("goto"));
        object_text(&told, "to", to != NULL ? to->code : jump_word(wait->timeout_kind));
        if (to != NULL && to->name.len > 0)
            object_text(&told, "name", to->name);
    } else {
        object_text(&told, "action",
                    wait->on_timeout == ON_TIMEOUT_CONTINUE ? STR("continue")
                                                            : str_of(failure_means(p, step)));
    }
    buf_char(&told, '}');
    return buf_view(&told);
}

/* Which links answer it. */
static void add_links(struct turn *t, struct listed_wait *w)
{
    const struct execution *x = t->x;

    for (uint32_t i = 0; i < execution_strands(x); i++) {
        const struct cursor *c = execution_cursor(x, i);
        const struct frame *frames = i == 0 ? x->frames : x->others[i - 1]->frames;
        uint32_t count = i == 0 ? x->frame_count : x->others[i - 1]->frame_count;

        if (c->visit != w->visit || !str_eq(x->program->steps[c->step].code, w->step))
            continue;
        w->links_from = link_floor(x, frames, count);
        if (!turn_json(t, link_scopes(t->mem, x->program, frames, count), &w->scopes_json))
            PANIC("scopes are texts");
        return;
    }
}

static void open_wait(struct turn *t, struct listed_wait w)
{
    const struct kept_read *kept = kept_read_find(t->ev, w.correlation);

    w.buffered_up_to = kept == NULL ? INT64_MAX : kept->last_row;
    w.form_json = correlation_form(t, w.step);
    w.time_up_json = time_up(t, &w);
    if (w.is_public)
        add_links(t, &w);
    *VEC_ADD(t->mem, &t->out->opened) = w;
}

void correlation_compare(struct turn *t, const struct execution *before)
{
    /* Another version may ask for something else. */
    bool has_moved = t->x->program != before->program;
    struct listed_waits was = {0}, is = {0};

    list_waits(t->mem, before, &was);
    list_waits(t->mem, t->x, &is);
    for (size_t i = 0; i < was.count; i++)
        if (has_moved || !is_among(&is, &was.items[i]))
            *VEC_ADD(t->mem, &t->out->closed) = was.items[i];
    for (size_t i = 0; i < is.count; i++)
        if (has_moved || !is_among(&was, &is.items[i]))
            open_wait(t, is.items[i]);
}
