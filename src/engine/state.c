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
    buf_char(&out, '}');
    return buf_view(&out);
}

struct str state_cursor_json(struct arena *mem, const struct execution *exec)
{
    const struct cursor *c = &exec->cursor;
    struct buf out;

    buf_init_arena(&out, mem);
    buf_text(&out, "{\"step\":");
    if (c->step < exec->program->step_count)
        json_write_string(&out, exec->program->steps[c->step].code);
    else
        buf_text(&out, "null");
    buf_text(&out, ",\"phase\":\"");
    buf_text(&out, phase_name(c->phase));
    write_int(&out, "\",\"visit\":", c->visit);
    write_int(&out, ",\"attempt\":", c->attempt);
    write_int(&out, ",\"startedAt\":", c->started_at_us);
    if (c->wake_at_us > 0)
        write_int(&out, ",\"wakeAt\":", c->wake_at_us);
    if (c->input_json.len > 0) {
        buf_text(&out, ",\"input\":");
        buf_str(&out, c->input_json);
    }
    if (c->types_json.len > 0) {
        buf_text(&out, ",\"types\":");
        buf_str(&out, c->types_json);
    }
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
    while ((s = signals_next(&x->signals, &place)) != NULL)
        bytes += s->json.len;
    return bytes;
}

void state_set_step(struct execution *x, uint32_t index, struct step_state step)
{
    x->context_bytes = x->context_bytes - step_bytes(&x->steps[index]) + step_bytes(&step);
    x->steps[index] = step;
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
    x->error_json = copy_text(mem, exec->error_json);
    x->result_json = copy_text(mem, exec->result_json);
    x->waiting_for_json = copy_text(mem, exec->waiting_for_json);
    x->cursor.input_json = copy_text(mem, exec->cursor.input_json);
    x->cursor.types_json = copy_text(mem, exec->cursor.types_json);
    x->variables = value_copy(mem, exec->variables);
    x->variables_json = copy_text(mem, exec->variables_json);
    x->steps = ARENA_ARRAY(mem, steps + 1u, struct step_state);
    for (uint32_t i = 0; i < steps; i++) {
        const struct step_state *s = &exec->steps[i];
        x->steps[i] = *s;
        x->steps[i].output = value_copy(mem, s->output);
        x->steps[i].output_json = copy_text(mem, s->output_json);
        x->steps[i].error = value_copy(mem, s->error);
        x->steps[i].error_json = copy_text(mem, s->error_json);
    }
    copy_signals(mem, x, &exec->signals);
    return x;
}
