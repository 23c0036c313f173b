/*
 * state.c - changing the state of executions and writing their checkpoint; see
 * state.h. Where they stand is cursor.c, copies are state_copy.c, and reading
 * them back is restore.c.
 */
#include "engine/state.h"

#include "base/buf.h"
#include "engine/context.h"
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
    struct shared_iter iter = {0};
    const struct signal *s;
    bool first = true;

    if (signals->list.count == 0)
        return;
    buf_text(out, ",\"signals\":[");
    while ((s = signals_next(signals, &iter)) != NULL) {
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
    if (x->other_count > 0 || (x->rollback != NULL && x->rollback->other_count > 0))
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
    if (exec->compensated.list.count + exec->failed.list.count > 0) {
        buf_text(&out, ",\"compensated\":");
        write_value(&out, items_value(mem, &exec->compensated));
        buf_text(&out, ",\"failed\":");
        write_value(&out, items_value(mem, &exec->failed));
    }
    if (exec->given_up.list.count > 0) {
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

/* --- changing --- */

static size_t step_bytes(const struct step_state *s)
{
    return s->output_json.len + s->error_json.len;
}

size_t state_context_bytes(const struct execution *x)
{
    size_t bytes = x->input_json.len + x->webhook_json.len + x->variables_json.len;
    struct shared_iter iter = {0};
    const struct signal *s;

    for (uint32_t i = 0; i < x->program->step_count; i++)
        bytes += step_bytes(&x->steps[i]);
    for (const struct loop_data *l = x->loops; l != NULL; l = l->outer)
        bytes += l->collected.bytes + l->errors.bytes;
    for (const struct round_step *r = x->rounds; r != NULL; r = r->next)
        bytes += step_bytes(&r->state);
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

/* --- views --- */

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
