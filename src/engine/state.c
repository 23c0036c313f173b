/*
 * state.c - executions to and from their stored form; see state.h.
 *
 * What a row of history adds to the checkpoint:
 *
 *   forward completed   steps[step] = output       delta.variables, delta.took
 *   forward failed      steps[step] = error
 *   forward skipped     steps[step] = skipped
 *   event signal        signals += delta.signal
 */
#include "engine/state.h"

#include "base/buf.h"
#include "engine/turn.h"
#include "value/json.h"

/* --- writing --- */

static void comma(struct buf *out, bool *first)
{
    if (!*first)
        buf_char(out, ',');
    *first = false;
}

static void write_step(struct buf *out, const struct step_state *s)
{
    buf_printf(out, "{\"visit\":%lld", (long long)s->visit);
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

static void write_variables(struct buf *out, struct value variables)
{
    struct err err;

    if (variables.kind != VALUE_MAP || variables.len == 0)
        return;
    buf_text(out, ",\"variables\":");
    if (!json_write(out, variables, &err))
        PANIC("variables were checked when they were set");
}

static void write_signals(struct buf *out, const struct signals *signals)
{
    bool first = true;

    if (signals->count == 0)
        return;
    buf_text(out, ",\"signals\":[");
    for (size_t i = 0; i < signals->count; i++) {
        const struct signal *s = &signals->items[i];
        comma(out, &first);
        buf_printf(out, "{\"seq\":%lld,\"taken\":%s,\"at\":%lld,\"signal\":", (long long)s->seq,
                   s->is_taken ? "true" : "false", (long long)s->received_at_us);
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
    write_variables(&out, exec->variables);
    write_signals(&out, &exec->signals);
    buf_char(&out, '}');
    return buf_view(&out);
}

static const char *const phase_names[] = {"enter", "wait", "held"};

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
    buf_printf(&out, ",\"phase\":\"%s\",\"visit\":%lld,\"attempt\":%lld,\"startedAt\":%lld",
               phase_names[c->phase], (long long)c->visit, (long long)c->attempt,
               (long long)c->started_at_us);
    if (c->wake_at_us > 0)
        buf_printf(&out, ",\"wakeAt\":%lld", (long long)c->wake_at_us);
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

/* --- reading --- */

static struct value member(struct value map, struct str key)
{
    return map.kind == VALUE_MAP ? value_map_get_str(map, key) : value_absent();
}

static int64_t int_member(struct value map, struct str key)
{
    struct value v = member(map, key);

    return v.kind == VALUE_INT ? v.i : 0;
}

static struct str text_member(struct value map, struct str key)
{
    struct value v = member(map, key);

    return v.kind == VALUE_STRING ? value_text(v) : STR_NONE;
}

static struct str to_json(struct arena *mem, struct value v)
{
    struct buf out;
    struct err err;

    buf_init_arena(&out, mem);
    if (!json_write(&out, v, &err))
        PANIC("what was read as JSON can be written as JSON");
    return buf_view(&out);
}

static bool broken(struct err *err, const char *what)
{
    return err_set(err, ERR_INTERNAL, "the stored execution is damaged: %s", what);
}

static bool read_json(struct arena *mem, struct str text, struct value *out, struct err *err)
{
    if (text.len == 0) {
        *out = value_map_empty();
        return true;
    }
    return json_read(mem, text, out, err) || broken(err, err->message);
}

static void set_output(struct step_state *s, int64_t visit, struct value output, struct str json)
{
    *s = (struct step_state){
        .outcome = OUTCOME_COMPLETED, .visit = visit, .output = output, .output_json = json};
}

static void set_error(struct step_state *s, int64_t visit, struct value error, struct str json)
{
    *s = (struct step_state){
        .outcome = OUTCOME_FAILED, .visit = visit, .error = error, .error_json = json};
}

static void restore_step(struct arena *mem, struct step_state *s, struct value stored)
{
    struct value output = member(stored, STR("output")), error = member(stored, STR("error"));
    int64_t visit = int_member(stored, STR("visit"));

    if (output.kind != VALUE_ABSENT)
        set_output(s, visit, output, to_json(mem, output));
    else if (error.kind != VALUE_ABSENT)
        set_error(s, visit, error, to_json(mem, error));
    else
        *s = (struct step_state){.outcome = OUTCOME_SKIPPED, .visit = visit};
}

static void add_signal(struct arena *mem, struct execution *x, struct value view, int64_t seq,
                       int64_t at_us, bool taken)
{
    *VEC_ADD(mem, &x->signals) = (struct signal){
        .id = text_member(view, STR("id")),
        .type = text_member(view, STR("type")),
        .received_at_us = at_us,
        .seq = seq,
        .is_taken = taken,
        .view = view,
        .json = to_json(mem, view),
    };
}

static bool restore_context(struct arena *mem, struct execution *x, struct str text,
                            struct err *err)
{
    struct value context, steps, signals;

    if (!read_json(mem, text, &context, err))
        return false;
    steps = member(context, STR("steps"));
    for (uint32_t i = 0; steps.kind == VALUE_MAP && i < steps.len; i++) {
        const struct value_entry *e = &steps.map->entries[i];
        const struct step *step = program_step(x->program, value_text(e->key));
        if (step == NULL)
            return broken(err, "a step is not in its program");
        restore_step(mem, &x->steps[step->index], e->value);
    }
    x->variables = member(context, STR("variables"));
    if (x->variables.kind != VALUE_MAP)
        x->variables = value_map_empty();
    signals = member(context, STR("signals"));
    for (uint32_t i = 0; signals.kind == VALUE_LIST && i < signals.len; i++) {
        struct value s = signals.items[i];
        add_signal(mem, x, member(s, STR("signal")), int_member(s, STR("seq")),
                   int_member(s, STR("at")), value_is_true(member(s, STR("taken"))));
    }
    return true;
}

static bool fold_row(struct arena *mem, struct execution *x, const struct history_row *row,
                     struct err *err)
{
    const struct step *step = program_step(x->program, row->step);
    struct value delta, v;

    if (!read_json(mem, row->delta_json, &delta, err))
        return false;
    if (row->kind == HISTORY_FORWARD) {
        if (step == NULL)
            return broken(err, "a step is not in its program");
        if (str_eq(row->status, STR("completed"))) {
            if (!read_json(mem, row->output_json, &v, err))
                return false;
            set_output(&x->steps[step->index], row->visit, v, row->output_json);
        } else if (str_eq(row->status, STR("failed"))) {
            if (!read_json(mem, row->error_json, &v, err))
                return false;
            set_error(&x->steps[step->index], row->visit, v, row->error_json);
        } else {
            x->steps[step->index] =
                (struct step_state){.outcome = OUTCOME_SKIPPED, .visit = row->visit};
        }
    }
    v = member(delta, STR("variables"));
    if (v.kind == VALUE_MAP)
        x->variables = v;
    v = member(delta, STR("signal"));
    if (v.kind == VALUE_MAP)
        add_signal(mem, x, v, row->seq, row->completed_at_us, false);
    v = member(delta, STR("took"));
    for (size_t i = 0; v.kind == VALUE_INT && i < x->signals.count; i++)
        if (x->signals.items[i].seq == v.i)
            x->signals.items[i].is_taken = true;
    return true;
}

static bool restore_cursor(struct arena *mem, struct execution *x, struct str text,
                           struct err *err)
{
    struct value stored, v;
    const struct step *step;
    struct str phase;

    if (text.len == 0)
        return true;
    if (!read_json(mem, text, &stored, err))
        return false;
    v = member(stored, STR("step"));
    x->cursor.step = x->program->step_count;
    if (v.kind == VALUE_STRING) {
        step = program_step(x->program, value_text(v));
        if (step == NULL)
            return broken(err, "the current step is not in its program");
        x->cursor.step = step->index;
    }
    phase = text_member(stored, STR("phase"));
    for (unsigned i = 0; i < sizeof(phase_names) / sizeof(phase_names[0]); i++)
        if (str_eq(phase, str_of(phase_names[i])))
            x->cursor.phase = (enum cursor_phase)i;
    x->cursor.visit = int_member(stored, STR("visit"));
    x->cursor.attempt = int_member(stored, STR("attempt"));
    x->cursor.started_at_us = int_member(stored, STR("startedAt"));
    x->cursor.wake_at_us = int_member(stored, STR("wakeAt"));
    v = member(stored, STR("input"));
    if (v.kind != VALUE_ABSENT)
        x->cursor.input_json = to_json(mem, v);
    v = member(stored, STR("types"));
    if (v.kind != VALUE_ABSENT)
        x->cursor.types_json = to_json(mem, v);
    return true;
}

/* What the limit of the context counts. */
static size_t context_bytes(const struct execution *x)
{
    size_t bytes = x->input_json.len;

    for (uint32_t i = 0; i < x->program->step_count; i++)
        bytes += x->steps[i].output_json.len + x->steps[i].error_json.len;
    for (size_t i = 0; i < x->signals.count; i++)
        bytes += x->signals.items[i].json.len;
    return bytes;
}

bool state_restore(struct arena *mem, const struct program *program,
                   const struct stored_execution *stored, struct execution **out, struct err *err)
{
    struct execution *x = ARENA_NEW(mem, struct execution);

    if (stored->format > EXECUTION_FORMAT)
        return err_set(err, ERR_INTERNAL, "the execution was stored by a newer version (format %d)",
                       stored->format);
    *x = (struct execution){
        .id = stored->id,
        .row = stored->row,
        .program = program,
        .key = stored->key,
        .org_id = stored->org_id,
        .user_json = stored->user_json,
        .created_at_us = stored->created_at_us,
        .deadline_at_us = stored->deadline_at_us,
        .input_json = stored->input_json,
        .status = stored->status,
        .row_version = stored->row_version,
        .seq = stored->seq,
        .checkpoint_seq = stored->checkpoint_seq,
        .started_at_us = stored->started_at_us,
        .completed_at_us = stored->completed_at_us,
        .updated_at_us = stored->updated_at_us,
        .wake_at_us = stored->wake_at_us,
        .stop_requested = stored->stop_requested,
        .crash_count = stored->crash_count,
        .error_json = stored->error_json,
        .result_json = stored->result_json,
        .waiting_for_json = stored->waiting_for_json,
    };
    x->steps = arena_zalloc(mem, (program->step_count + 1u) * sizeof(*x->steps));
    if (!read_json(mem, stored->input_json, &x->input, err) ||
        !restore_context(mem, x, stored->context_json, err) ||
        !restore_cursor(mem, x, stored->cursor_json, err))
        return false;
    for (size_t i = 0; i < stored->history.count; i++) {
        const struct history_row *row = &stored->history.items[i];
        if (!fold_row(mem, x, row, err))
            return false;
        x->log_bytes += (int64_t)(row->input_json.len + row->output_json.len +
                                  row->error_json.len + row->delta_json.len + 64);
    }
    x->context_bytes = context_bytes(x);
    *out = x;
    return true;
}

/* --- views and copies --- */

struct value state_context_view(struct arena *mem, const struct execution *exec)
{
    const struct program *p = exec->program;
    struct value_entry *steps = ARENA_ARRAY(mem, p->step_count + 1u, struct value_entry);
    struct value_entry *roots = ARENA_ARRAY(mem, 4, struct value_entry);
    struct value *signals = ARENA_ARRAY(mem, exec->signals.count + 1, struct value);
    size_t count = 0, duplicate;

    for (uint32_t i = 0; i < p->step_count; i++)
        if (exec->steps[i].outcome != OUTCOME_NONE)
            steps[count++] = (struct value_entry){
                .key = value_key(p->steps[i].code),
                .value = context_step_view(mem, &p->steps[i], &exec->steps[i])};
    for (size_t i = 0; i < exec->signals.count; i++)
        signals[i] = exec->signals.items[i].view;
    roots[0] = (struct value_entry){value_key(STR("input")), exec->input};
    roots[1] = (struct value_entry){value_key(STR("steps")),
                                    value_map_make(mem, steps, count, &duplicate)};
    roots[2] = (struct value_entry){value_key(STR("variables")), exec->variables};
    roots[3] = (struct value_entry){value_key(STR("signals")),
                                    value_list(signals, exec->signals.count)};
    return value_map_make(mem, roots, 4, &duplicate);
}

static struct str copy_text(struct arena *mem, struct str s)
{
    return s.len == 0 ? STR_NONE : str_copy(mem, s);
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
    x->steps = ARENA_ARRAY(mem, steps + 1u, struct step_state);
    for (uint32_t i = 0; i < steps; i++) {
        const struct step_state *s = &exec->steps[i];
        x->steps[i] = *s;
        x->steps[i].output = value_copy(mem, s->output);
        x->steps[i].output_json = copy_text(mem, s->output_json);
        x->steps[i].error = value_copy(mem, s->error);
        x->steps[i].error_json = copy_text(mem, s->error_json);
    }
    x->signals = (struct signals){0};
    for (size_t i = 0; i < exec->signals.count; i++) {
        struct signal *s = VEC_ADD(mem, &x->signals);
        *s = exec->signals.items[i];
        s->id = copy_text(mem, s->id);
        s->type = copy_text(mem, s->type);
        s->json = copy_text(mem, s->json);
        s->view = value_copy(mem, s->view);
    }
    return x;
}
