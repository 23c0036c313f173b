/*
 * state.c - changing the state of executions and writing their checkpoint; see
 * state.h. Where they stand is cursor.c, copies are state_copy.c, and reading
 * them back is restore.c.
 */
#include "engine/state.h"

#include "base/buf.h"
#include "engine/context.h"
#include "value/json.h"
#include "value/object.h"

/* --- writing --- */

static void write_items(struct arena *mem, struct buf *out, const char *name,
                        const struct items *items)
{
    object_name(out, name);
    json_must_write(out, items_value(mem, items));
}

static void write_step(struct buf *out, const struct step_state *s)
{
    buf_char(out, '{');
    object_int(out, "visit", s->visit);
    switch (s->outcome) {
    case OUTCOME_COMPLETED:
        object_json(out, "output", s->output_json);
        break;
    case OUTCOME_FAILED:
        object_json(out, "error", s->error_json);
        break;
    case OUTCOME_SKIPPED:
        object_bool(out, "skipped", true);
        break;
    case OUTCOME_NONE:
        break;
    }
    buf_char(out, '}');
}

static void write_signals(struct buf *out, const struct signals *signals)
{
    struct shared_iter iter = {0};
    const struct signal *s;

    if (signals->list.count == 0)
        return;
    object_list(out, "signals");
    while ((s = signals_next(signals, &iter)) != NULL) {
        object_item(out);
        object_int(out, "seq", s->seq);
        object_bool(out, "taken", s->is_taken);
        object_int(out, "at", s->received_at_us);
        if (s->answers.len > 0)
            object_text(out, "answers", s->answers);
        object_json(out, "signal", s->json);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

/* Outermost first, in which order they began. */
static void write_loops(struct arena *mem, struct buf *out, const struct execution *x,
                        const struct loop_data *l)
{
    if (l->outer != NULL)
        write_loops(mem, out, x, l->outer);
    object_next(out);
    buf_char(out, '"');
    buf_str(out, x->program->steps[l->step].code);
    /* Only strands, also those that are stopped, can be in one loop several times. */
    if (x->other_count > 0 || (x->rollback != NULL && x->rollback->other_count > 0))
        buf_printf(out, ":%lld", (long long)l->visit);
    buf_text(out, "\":{");
    write_items(mem, out, "items", &l->collected);
    write_items(mem, out, "errors", &l->errors);
    if (l->list.kind == VALUE_LIST) {
        object_name(out, "list");
        json_must_write(out, l->list);
    }
    if (l->started > 0) {
        object_int(out, "base", l->base);
        object_int(out, "started", l->started);
        object_int(out, "ended", l->ended);
    }
    buf_char(out, '}');
}

/* Oldest first. */
static void write_rounds(struct buf *out, const struct execution *x, const struct round_step *r)
{
    const struct program *p = x->program;

    if (r->next != NULL)
        write_rounds(out, x, r->next);
    object_item(out);
    object_text(out, "loop", p->steps[r->round.loop - 1].code);
    object_int(out, "visit", r->round.visit);
    object_int(out, "index", r->round.index);
    object_text(out, "step", p->steps[r->step].code);
    object_name(out, "state");
    write_step(out, &r->state);
    buf_char(out, '}');
}

struct str state_context_json(struct arena *mem, const struct execution *exec)
{
    struct buf out;

    buf_init_arena(&out, mem);
    (void)buf_reserve(&out, exec->context_bytes + 64 * (exec->program->step_count + 1u));
    buf_text(&out, "{\"steps\":{");
    for (uint32_t i = 0; i < exec->program->step_count; i++) {
        const struct step_state *s = &exec->steps[i];
        if (s->outcome == OUTCOME_NONE)
            continue;
        object_next(&out);
        json_write_string(&out, exec->program->steps[i].code);
        buf_char(&out, ':');
        write_step(&out, s);
    }
    buf_char(&out, '}');
    if (exec->variables_json.len > 0)
        object_json(&out, "variables", exec->variables_json);
    write_signals(&out, &exec->signals);
    if (exec->loops != NULL) {
        object_nested(&out, "loops");
        write_loops(mem, &out, exec, exec->loops);
        buf_char(&out, '}');
    }
    if (exec->rounds != NULL) {
        object_list(&out, "rounds");
        write_rounds(&out, exec, exec->rounds);
        buf_char(&out, ']');
    }
    if (exec->compensated.list.count + exec->failed.list.count > 0) {
        write_items(mem, &out, "compensated", &exec->compensated);
        write_items(mem, &out, "failed", &exec->failed);
    }
    if (exec->given_up.list.count > 0)
        write_items(mem, &out, "givenUp", &exec->given_up);
    if (exec->secrets.list.count > 0)
        write_items(mem, &out, "secrets", &exec->secrets);
    if (exec->past_steps.list.count > 0)
        write_items(mem, &out, "past", &exec->past_steps);
    if (exec->has_new_input)
        object_json(&out, "input", exec->input_json);
    if (exec->last_done > 0)
        object_text(&out, "last", exec->program->steps[exec->last_done - 1].code);
    state_write_visits(&out, exec);
    return object_end(&out);
}

/* --- changing --- */

size_t state_step_bytes(const struct step_state *s)
{
    return s->output_json.len + s->error_json.len;
}

size_t state_context_bytes(const struct execution *x)
{
    size_t bytes = x->input_json.len + x->webhook_json.len + x->variables_json.len;
    struct shared_iter iter = {0};
    const struct signal *s;

    for (uint32_t i = 0; i < x->program->step_count; i++)
        bytes += state_step_bytes(&x->steps[i]);
    for (const struct loop_data *l = x->loops; l != NULL; l = l->outer)
        bytes += l->collected.bytes + l->errors.bytes;
    for (const struct round_step *r = x->rounds; r != NULL; r = r->next)
        bytes += state_step_bytes(&r->state);
    while ((s = signals_next(&x->signals, &iter)) != NULL)
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
        x->context_bytes =
            x->context_bytes - state_step_bytes(&x->steps[index]) + state_step_bytes(&step);
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

    x->context_bytes -= state_step_bytes(s);
    *s = (struct step_state){.visit = s->visit, .given = s->given};
    if (x->last_done == index + 1)
        x->last_done = 0;
}

void state_forget_compensation(struct execution *x)
{
    x->compensated = x->failed = x->given_up = (struct items){0};
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

static void signal_left(struct arena *mem, struct execution *x, const struct signal *left)
{
    if (left == NULL)
        return;
    x->context_bytes -= left->json.len;
    state_keep_secrets(mem, x, left);
}

void state_add_signal(struct arena *mem, struct execution *x, const struct signal *signal)
{
    x->context_bytes += signal->json.len;
    signal_left(mem, x, signals_add(mem, &x->signals, x, signal));
}

void state_take_signal(struct arena *mem, struct execution *x, int64_t seq)
{
    signal_left(mem, x, signals_take(mem, &x->signals, x, seq));
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

struct value state_with(struct arena *mem, struct value base, struct str name, struct value v)
{
    return state_merge(mem, base, value_map_of(mem, VALUE_ENTRIES({value_key(name), v})));
}

int64_t state_row_bytes(const struct history_row *row)
{
    enum { ROW_BYTES = 64 }; /* of its other columns, about */

    return (int64_t)(row->input_json.len + row->output_json.len + row->error_json.len +
                     row->delta_json.len + ROW_BYTES);
}

struct str execution_code(const struct execution *x, const struct cursor *cursor)
{
    return cursor->step < x->program->step_count ? x->program->steps[cursor->step].code
                                                 : cursor->past;
}

struct str execution_current_step(const struct execution *x)
{
    const struct step *step =
        x->cursor.step < x->program->step_count ? &x->program->steps[x->cursor.step] : NULL;

    if (status_is_terminal(x->status))
        return STR_NONE;
    if (step != NULL && step->transition != NULL)
        return x->program->steps[step->transition->from].code;
    return execution_code(x, &x->cursor);
}
