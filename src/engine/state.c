/*
 * state.c - changing the state of executions, writing and copying it; see state.h.
 * Reading it back is restore.c.
 */
#include "engine/state.h"

#include "base/buf.h"
#include "engine/turn.h"
#include "value/json.h"
#include "value/number.h"

/* --- writing --- */

static void comma(struct buf *out, bool *first)
{
    if (!*first)
        buf_char(out, ',');
    *first = false;
}

static void write_int(struct buf *out, const char *before, int64_t n)
{
    char text[NUMBER_TEXT_MAX];

    buf_text(out, before);
    buf_add(out, text, number_write_int(text, n));
}

static void write_step(struct buf *out, const struct step_state *s)
{
    write_int(out, "{\"visit\":", s->visit);
    switch (s->outcome) {
    case OUTCOME_COMPLETED:
        buf_text(out, ",\"output\":");
        buf_str(out, s->output_json);
        break;
    case OUTCOME_FAILED:
        buf_text(out, ",\"error\":");
        buf_str(out, s->error_json);
        break;
    case OUTCOME_SKIPPED:
        buf_text(out, ",\"skipped\":true");
        break;
    case OUTCOME_NONE:
        break;
    }
    buf_char(out, '}');
}

static void write_signals(struct buf *out, const struct signals *signals)
{
    struct signal_place place = {0};
    const struct signal *s;
    bool first = true;

    if (signals->count == 0)
        return;
    buf_text(out, ",\"signals\":[");
    while ((s = signals_next(signals, &place)) != NULL) {
        comma(out, &first);
        write_int(out, "{\"seq\":", s->seq);
        buf_text(out, s->is_taken ? ",\"taken\":true" : ",\"taken\":false");
        write_int(out, ",\"at\":", s->received_at_us);
        buf_text(out, ",\"signal\":");
        buf_str(out, s->json);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

static void write_value(struct buf *out, struct value v)
{
    struct err err;

    if (!json_write(out, v, &err))
        PANIC("a value of the state has no JSON form");
}

/* Outermost first, in which order they began. */
static void write_loops(struct arena *mem, struct buf *out, const struct execution *x,
                        const struct loop_data *l, bool *first)
{
    if (l->outer != NULL)
        write_loops(mem, out, x, l->outer, first);
    comma(out, first);
    buf_char(out, '"');
    buf_str(out, x->program->steps[l->step].code);
    /* Only strands, also those that are stopped, can be in one loop several times. */
    if (x->other_count > 0 || (x->undo != NULL && x->undo->other_count > 0))
        write_int(out, ":", l->visit);
    buf_text(out, "\":{\"items\":");
    write_value(out, items_value(mem, &l->collected));
    buf_text(out, ",\"errors\":");
    write_value(out, items_value(mem, &l->errors));
    if (l->list.kind == VALUE_LIST) {
        buf_text(out, ",\"list\":");
        write_value(out, l->list);
    }
    if (l->started > 0) {
        write_int(out, ",\"base\":", l->base);
        write_int(out, ",\"started\":", l->started);
        write_int(out, ",\"ended\":", l->ended);
    }
    buf_char(out, '}');
}

/* Oldest first. */
static void write_rounds(struct buf *out, const struct execution *x, const struct round_step *r,
                         bool *first)
{
    const struct program *p = x->program;

    if (r->next != NULL)
        write_rounds(out, x, r->next, first);
    comma(out, first);
    buf_text(out, "{\"loop\":");
    json_write_string(out, p->steps[r->round.loop - 1].code);
    write_int(out, ",\"visit\":", r->round.visit);
    write_int(out, ",\"index\":", r->round.index);
    buf_text(out, ",\"step\":");
    json_write_string(out, p->steps[r->step].code);
    buf_text(out, ",\"state\":");
    write_step(out, &r->state);
    buf_char(out, '}');
}

struct str state_context_json(struct arena *mem, const struct execution *exec)
{
    struct buf out;
    bool first = true;

    buf_init_arena(&out, mem);
    (void)buf_reserve(&out, exec->context_bytes + 64 * (exec->program->step_count + 1u));
    buf_text(&out, "{\"steps\":{");
    for (uint32_t i = 0; i < exec->program->step_count; i++) {
        const struct step_state *s = &exec->steps[i];
        if (s->outcome == OUTCOME_NONE)
            continue;
        comma(&out, &first);
        json_write_string(&out, exec->program->steps[i].code);
        buf_char(&out, ':');
        write_step(&out, s);
    }
    buf_char(&out, '}');
    if (exec->variables_json.len > 0) {
        buf_text(&out, ",\"variables\":");
        buf_str(&out, exec->variables_json);
    }
    write_signals(&out, &exec->signals);
    if (exec->loops != NULL) {
        first = true;
        buf_text(&out, ",\"loops\":{");
        write_loops(mem, &out, exec, exec->loops, &first);
        buf_char(&out, '}');
    }
    if (exec->rounds != NULL) {
        first = true;
        buf_text(&out, ",\"rounds\":[");
        write_rounds(&out, exec, exec->rounds, &first);
        buf_char(&out, ']');
    }
    if (exec->compensated.count + exec->failed.count > 0) {
        buf_text(&out, ",\"compensated\":");
        write_value(&out, items_value(mem, &exec->compensated));
        buf_text(&out, ",\"failed\":");
        write_value(&out, items_value(mem, &exec->failed));
    }
    if (exec->given_up.count > 0) {
        buf_text(&out, ",\"givenUp\":");
        write_value(&out, items_value(mem, &exec->given_up));
    }
    if (exec->has_new_input) {
        buf_text(&out, ",\"input\":");
        buf_str(&out, exec->input_json);
    }
    if (exec->last_done > 0) {
        buf_text(&out, ",\"last\":");
        json_write_string(&out, exec->program->steps[exec->last_done - 1].code);
    }
    state_write_visits(&out, exec);
    buf_char(&out, '}');
    return buf_view(&out);
}

static void object_name_plain(struct buf *out, const char *name)
{
    buf_char(out, '"');
    buf_text(out, name);
    buf_text(out, "\":");
}

static void write_number(struct buf *out, const char *name, int64_t n)
{
    if (n == 0)
        return;
    buf_char(out, ',');
    object_name_plain(out, name);
    write_int(out, "", n);
}

static void write_json(struct buf *out, const char *name, struct str json)
{
    if (json.len == 0)
        return;
    buf_char(out, ',');
    object_name_plain(out, name);
    buf_str(out, json);
}

static void write_text(struct buf *out, const char *name, struct str text)
{
    if (text.len == 0)
        return;
    buf_char(out, ',');
    object_name_plain(out, name);
    json_write_string(out, text);
}

static void write_frames(struct buf *out, const struct program *p, const struct frame *frames,
                         uint32_t count)
{
    if (count == 0)
        return;
    buf_text(out, ",\"in\":[");
    for (uint32_t i = 0; i < count; i++) {
        const struct frame *f = &frames[i];
        const struct step *step = &p->steps[f->step];
        buf_text(out, i > 0 ? ",{\"step\":" : "{\"step\":");
        json_write_string(out, step->code);
        write_int(out, ",\"block\":", f->block - step->first_block);
        write_int(out, ",\"visit\":", f->visit);
        write_int(out, ",\"startedAt\":", f->started_at_us);
        if (step->kind == STEP_LOOP)
            write_int(out, ",\"index\":", f->index);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

/* What a retry of the visit needs. */
static void write_from(struct buf *out, const struct cursor *c)
{
    if (c == NULL)
        return;
    write_int(out, ",\"from\":{\"visit\":", c->visit);
    write_number(out, "attempt", c->attempt);
    write_number(out, "startedAt", c->started_at_us);
    write_json(out, "input", c->input_json);
    write_json(out, "frozen", c->frozen_json);
    write_number(out, "unsure", c->is_unsure);
    write_number(out, "asked", c->asked);
    buf_char(out, '}');
}

static void write_asking(struct buf *out, const struct asking *a)
{
    if (a == NULL)
        return;
    buf_text(out, ",\"asking\":{\"error\":");
    buf_str(out, a->error_json);
    write_number(out, "since", a->since_us);
    write_number(out, "askedAt", a->asked_at_us);
    write_number(out, "before", a->before);
    write_number(out, "retryAt", a->retry_at_us);
    write_json(out, "input", a->input_json);
    write_json(out, "frozen", a->frozen_json);
    write_text(out, "letter", a->letter);
    buf_char(out, '}');
}

/* Opens an object and leaves it open. */
static void write_cursor(struct buf *out, const struct program *p, const struct cursor *c)
{
    buf_text(out, "{\"step\":");
    if (c->step < p->step_count)
        json_write_string(out, p->steps[c->step].code);
    else
        buf_text(out, "null");
    buf_text(out, ",\"phase\":\"");
    buf_text(out, phase_name(c->phase));
    write_int(out, "\",\"visit\":", c->visit);
    write_int(out, ",\"attempt\":", c->attempt);
    write_int(out, ",\"startedAt\":", c->started_at_us);
    write_number(out, "wakeAt", c->wake_at_us);
    write_json(out, "input", c->input_json);
    write_json(out, "types", c->types_json);
    write_text(out, "correlation", c->correlation);
    write_number(out, "timeoutAt", c->timeout_at_us);
    write_number(out, "remindAt", c->remind_at_us);
    write_number(out, "remindEvery", c->remind_every_us);
    write_number(out, "reminders", c->reminders);
    write_number(out, "unmatched", c->unmatched);
    write_json(out, "frozen", c->frozen_json);
    write_text(out, "awaited", c->awaited);
    write_text(out, "failedAt", c->failed_at);
    write_number(out, "tries", c->tries);
    write_number(out, "unsure", c->is_unsure);
    write_number(out, "asked", c->asked);
    write_asking(out, c->asking);
    write_number(out, "seq", c->seq);
    write_number(out, "keptSeq", c->kept_seq);
    write_json(out, "keptAnswer", c->kept_answer_json);
}

static void write_strands(struct buf *out, const struct program *p, const struct strand *strands,
                          uint32_t count)
{
    if (count == 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        buf_text(out, i == 0 ? ",\"beside\":[" : ",");
        write_cursor(out, p, &strands[i].cursor);
        write_json(out, "why", strands[i].waiting_for_json);
        write_frames(out, p, strands[i].frames, strands[i].frame_count);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

/* The strands beside the first one, each with what it waits for. */
static void write_others(struct buf *out, const struct execution *x)
{
    write_json(out, "why", x->strand_waiting_json);
    if (x->other_count == 0)
        return;
    write_number(out, "place", x->place);
    write_strands(out, x->program, x->others, x->other_count);
}

static void write_undo(struct buf *out, const struct program *p, const struct undo *u)
{
    if (u == NULL)
        return;
    buf_text(out, ",\"undo\":{\"end\":\"");
    buf_text(out, status_name(u->end));
    write_int(out, "\",\"before\":", u->before);
    write_number(out, "row", u->row);
    write_number(out, "commands", u->commands_left);
    write_number(out, "failed", u->has_failed);
    write_number(out, "deadlineAt", u->deadline_at_us);
    write_number(out, "known", u->is_known);
    write_number(out, "alone", u->is_again);
    write_number(out, "triedBefore", u->tried_before);
    for (const struct past_visit *v = u->again; v != NULL; v = v->next) {
        buf_text(out, v == u->again ? ",\"again\":[[" : "],[");
        json_write_string(out, v->code);
        write_int(out, ",", v->visit);
    }
    buf_text(out, u->again != NULL ? "]]" : "");
    write_from(out, u->from);
    write_number(out, "place", u->place);
    write_strands(out, p, u->others, u->other_count);
    buf_char(out, '}');
}

static void write_pause(struct buf *out, const struct pause *p)
{
    if (p == NULL)
        return;
    write_int(out, ",\"pause\":{\"since\":", p->since_us);
    write_text(out, "reason", p->reason);
    write_json(out, "by", p->by_json);
    buf_char(out, '}');
}

struct str state_cursor_json(struct arena *mem, const struct execution *exec)
{
    struct buf out;

    buf_init_arena(&out, mem);
    write_cursor(&out, exec->program, &exec->cursor);
    write_number(&out, "jumps", exec->jumps);
    write_frames(&out, exec->program, exec->frames, exec->frame_count);
    write_others(&out, exec);
    write_undo(&out, exec->program, exec->undo);
    write_pause(&out, exec->pause);
    buf_char(&out, '}');
    return buf_view(&out);
}

/* --- changing --- */

static size_t step_bytes(const struct step_state *s)
{
    return s->output_json.len + s->error_json.len;
}

size_t state_context_bytes(const struct execution *x)
{
    size_t bytes = x->input_json.len + x->variables_json.len;
    struct signal_place place = {0};
    const struct signal *s;

    for (uint32_t i = 0; i < x->program->step_count; i++)
        bytes += step_bytes(&x->steps[i]);
    for (const struct loop_data *l = x->loops; l != NULL; l = l->outer)
        bytes += l->collected.bytes + l->errors.bytes;
    for (const struct round_step *r = x->rounds; r != NULL; r = r->next)
        bytes += step_bytes(&r->state);
    while ((s = signals_next(&x->signals, &place)) != NULL)
        bytes += s->json.len;
    return bytes;
}

void state_set_step(struct arena *mem, struct execution *x, struct round round, uint32_t index,
                    struct step_state step)
{
    if (round.loop > 0) {
        state_set_round_step(mem, x, round, index, step);
        state_give_visit(x, index, step.visit);
    }
    if (step.visit >= x->steps[index].visit) {
        x->context_bytes = x->context_bytes - step_bytes(&x->steps[index]) + step_bytes(&step);
        step.given = x->steps[index].given;
        x->steps[index] = step;
    }
    if (step.outcome == OUTCOME_COMPLETED && x->program->steps[index].kind != STEP_BRANCH)
        x->last_done = index + 1;
    /* A loop is over, and what it held is in its result. */
    if (x->loops != NULL)
        state_end_loop(mem, x, index, step.visit);
}

void state_drop_step(struct execution *x, uint32_t index)
{
    struct step_state *s = &x->steps[index];

    x->context_bytes -= step_bytes(s);
    *s = (struct step_state){.visit = s->visit, .given = s->given};
    if (x->last_done == index + 1)
        x->last_done = 0;
}

void state_add_compensated(struct arena *mem, struct execution *x, struct str code, bool ok)
{
    items_add(mem, ok ? &x->compensated : &x->failed, x, value_string(code), 0);
}

void state_set_input(struct execution *x, struct value input, struct str json)
{
    if (!x->has_new_input)
        x->first_input = x->input;
    x->context_bytes = x->context_bytes - x->input_json.len + json.len;
    x->input = input;
    x->input_json = json;
    x->has_new_input = true;
}

void state_set_variables(struct execution *x, struct value variables, struct str json)
{
    x->context_bytes = x->context_bytes - x->variables_json.len + json.len;
    x->variables = variables;
    x->variables_json = json;
}

static void signal_left(struct execution *x, const struct signal *left)
{
    if (left != NULL)
        x->context_bytes -= left->json.len;
}

void state_add_signal(struct arena *mem, struct execution *x, const struct signal *signal)
{
    x->context_bytes += signal->json.len;
    signal_left(x, signals_add(mem, &x->signals, x, signal));
}

void state_take_signal(struct arena *mem, struct execution *x, int64_t seq)
{
    signal_left(x, signals_take(mem, &x->signals, x, seq));
}

struct value state_merge(struct arena *mem, struct value base, struct value over)
{
    struct value_entry *entries;
    size_t count = 0, duplicate;

    if (base.kind != VALUE_MAP || base.len == 0)
        return over;
    if (over.len == 0)
        return base;
    entries = ARENA_ARRAY(mem, base.len + over.len, struct value_entry);
    for (uint32_t i = 0; i < base.len; i++) {
        struct value replaced = value_map_get(over, base.map->entries[i].key);
        entries[count] = base.map->entries[i];
        if (replaced.kind != VALUE_ABSENT)
            entries[count].value = replaced;
        count++;
    }
    for (uint32_t i = 0; i < over.len; i++)
        if (value_map_get(base, over.map->entries[i].key).kind == VALUE_ABSENT)
            entries[count++] = over.map->entries[i];
    return value_map_make(mem, entries, count, &duplicate);
}

int64_t state_row_bytes(const struct history_row *row)
{
    enum { ROW_BYTES = 64 }; /* of its other columns, about */

    return (int64_t)(row->input_json.len + row->output_json.len + row->error_json.len +
                     row->delta_json.len + ROW_BYTES);
}

/* --- views and copies --- */

struct value state_context_view(struct arena *mem, const struct execution *exec)
{
    const struct program *p = exec->program;
    struct value_entry *steps = ARENA_ARRAY(mem, p->step_count + 1u, struct value_entry);
    struct value_entry *roots = ARENA_ARRAY(mem, 4, struct value_entry);
    size_t count = 0, duplicate;

    for (uint32_t i = 0; i < p->step_count; i++)
        if (exec->steps[i].outcome != OUTCOME_NONE)
            steps[count++] = (struct value_entry){
                .key = value_key(p->steps[i].code),
                .value = context_step_view(mem, &p->steps[i], &exec->steps[i])};
    roots[0] = (struct value_entry){value_key(STR("input")), exec->input};
    roots[1] = (struct value_entry){value_key(STR("steps")),
                                    value_map_make(mem, steps, count, &duplicate)};
    roots[2] = (struct value_entry){value_key(STR("variables")), exec->variables};
    roots[3] =
        (struct value_entry){value_key(STR("signals")), context_signals(mem, &exec->signals)};
    return value_map_make(mem, roots, 4, &duplicate);
}

static struct str copy_text(struct arena *mem, struct str s)
{
    return s.len == 0 ? STR_NONE : str_copy(mem, s);
}

static void copy_signals(struct arena *mem, struct execution *x, const struct signals *from)
{
    struct signal_place place = {0};
    const struct signal *s;

    x->signals = (struct signals){0};
    while ((s = signals_next(from, &place)) != NULL) {
        struct signal *copy = arena_alloc(mem, sizeof(*copy));
        *copy = *s;
        copy->id = copy_text(mem, s->id);
        copy->type = copy_text(mem, s->type);
        copy->json = copy_text(mem, s->json);
        copy->view = value_copy(mem, s->view);
        (void)signals_add(mem, &x->signals, x, copy);
    }
}

static const struct asking *copy_asking(struct arena *mem, const struct asking *from)
{
    struct asking *a;

    if (from == NULL)
        return NULL;
    a = arena_alloc(mem, sizeof(*a));
    *a = *from;
    a->error_json = copy_text(mem, from->error_json);
    a->input_json = copy_text(mem, from->input_json);
    a->frozen_json = copy_text(mem, from->frozen_json);
    a->letter = copy_text(mem, from->letter);
    return a;
}

static const struct cursor *copy_from(struct arena *mem, const struct cursor *from)
{
    struct cursor *c;

    if (from == NULL)
        return NULL;
    c = arena_alloc(mem, sizeof(*c));
    *c = *from;
    c->input_json = copy_text(mem, from->input_json);
    c->frozen_json = copy_text(mem, from->frozen_json);
    return c;
}

static struct cursor copy_cursor(struct arena *mem, struct cursor c)
{
    c.input_json = copy_text(mem, c.input_json);
    c.types_json = copy_text(mem, c.types_json);
    c.correlation = copy_text(mem, c.correlation);
    c.frozen_json = copy_text(mem, c.frozen_json);
    c.awaited = copy_text(mem, c.awaited);
    c.failed_at = copy_text(mem, c.failed_at);
    c.kept_answer_json = copy_text(mem, c.kept_answer_json);
    c.asking = copy_asking(mem, c.asking);
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

static const struct strand *copy_others(struct arena *mem, const struct strand *from,
                                        uint32_t count)
{
    struct strand *others;

    if (count == 0)
        return NULL;
    others = ARENA_ARRAY(mem, count, struct strand);
    for (uint32_t i = 0; i < count; i++)
        others[i] = (struct strand){.cursor = copy_cursor(mem, from[i].cursor),
                                    .frames = copy_frames(mem, from[i].frames, from[i].frame_count),
                                    .frame_count = from[i].frame_count,
                                    .waiting_for_json = copy_text(mem, from[i].waiting_for_json)};
    return others;
}

static void copy_strands(struct arena *mem, struct execution *x, const struct execution *from)
{
    x->cursor = copy_cursor(mem, from->cursor);
    x->frames = copy_frames(mem, from->frames, from->frame_count);
    x->strand_waiting_json = copy_text(mem, from->strand_waiting_json);
    x->others = copy_others(mem, from->others, from->other_count);
}

static const struct undo *copy_undo(struct arena *mem, const struct undo *from)
{
    struct undo *undo;

    if (from == NULL)
        return NULL;
    undo = arena_alloc(mem, sizeof(*undo));
    *undo = *from;
    undo->from = copy_from(mem, from->from);
    undo->others = copy_others(mem, from->others, from->other_count);
    undo->again = state_copy_visits(mem, from->again);
    return undo;
}

static const struct pause *copy_pause(struct arena *mem, const struct pause *from)
{
    struct pause *pause;

    if (from == NULL)
        return NULL;
    pause = arena_alloc(mem, sizeof(*pause));
    *pause = *from;
    pause->reason = copy_text(mem, from->reason);
    pause->by_json = copy_text(mem, from->by_json);
    return pause;
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
    x->input_json = copy_text(mem, exec->input_json);
    x->input = value_copy(mem, exec->input);
    x->first_input = value_copy(mem, exec->first_input);
    x->error_json = copy_text(mem, exec->error_json);
    x->result_json = copy_text(mem, exec->result_json);
    x->waiting_for_json = copy_text(mem, exec->waiting_for_json);
    copy_strands(mem, x, exec);
    x->undo = copy_undo(mem, exec->undo);
    x->pause = copy_pause(mem, exec->pause);
    x->variables = value_copy(mem, exec->variables);
    x->variables_json = copy_text(mem, exec->variables_json);
    x->steps = ARENA_ARRAY(mem, steps + 1u, struct step_state);
    for (uint32_t i = 0; i < steps; i++)
        x->steps[i] = copy_step(mem, &exec->steps[i]);
    x->rounds = copy_rounds(mem, exec->rounds);
    x->past_visits = state_copy_visits(mem, exec->past_visits);
    copy_signals(mem, x, &exec->signals);
    x->loops = copy_loops(mem, x, exec->loops);
    x->compensated = items_copy(mem, &exec->compensated, x);
    x->failed = items_copy(mem, &exec->failed, x);
    x->given_up = items_copy(mem, &exec->given_up, x);
    return x;
}
