/*
 * restore.c - executions from their stored form; see state.h.
 *
 * What a row of history adds to the checkpoint:
 *
 *   forward completed   steps[step] = output       delta.variables, delta.took
 *   forward failed      steps[step] = error
 *   forward skipped     steps[step] = skipped
 *   event signal        signals += delta.signal
 *
 * A delta says beside these how the execution came to stand where it stands,
 * for whoever reads the history: wait (what it waits for), cancel, result, end.
 * The cursor, the status and the other columns are stored as they are.
 */
#include "base/buf.h"
#include "engine/state.h"
#include "value/json.h"

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

static struct step_state completed(int64_t visit, struct value output, struct str json)
{
    return (struct step_state){
        .outcome = OUTCOME_COMPLETED, .visit = visit, .output = output, .output_json = json};
}

static struct step_state failed(int64_t visit, struct value error, struct str json)
{
    return (struct step_state){
        .outcome = OUTCOME_FAILED, .visit = visit, .error = error, .error_json = json};
}

static struct step_state skipped(int64_t visit)
{
    return (struct step_state){.outcome = OUTCOME_SKIPPED, .visit = visit};
}

static struct step_state restore_step(struct arena *mem, struct value stored)
{
    struct value output = member(stored, STR("output")), error = member(stored, STR("error"));
    int64_t visit = int_member(stored, STR("visit"));

    if (output.kind != VALUE_ABSENT)
        return completed(visit, output, to_json(mem, output));
    if (error.kind != VALUE_ABSENT)
        return failed(visit, error, to_json(mem, error));
    return skipped(visit);
}

static struct signal *restore_signal(struct arena *mem, struct value view, int64_t seq,
                                     int64_t at_us)
{
    struct signal *signal = arena_alloc(mem, sizeof(*signal));

    *signal = (struct signal){
        .id = text_member(view, STR("id")),
        .type = text_member(view, STR("type")),
        .received_at_us = at_us,
        .seq = seq,
        .view = view,
        .json = to_json(mem, view),
    };
    return signal;
}

static bool restore_context(struct arena *mem, struct execution *x, struct str text,
                            struct err *err)
{
    struct value context, steps, signals, variables;

    if (!read_json(mem, text, &context, err))
        return false;
    steps = member(context, STR("steps"));
    for (uint32_t i = 0; steps.kind == VALUE_MAP && i < steps.len; i++) {
        const struct value_entry *e = &steps.map->entries[i];
        const struct step *step = program_step(x->program, value_text(e->key));
        if (step == NULL)
            return broken(err, "a step is not in its program");
        state_set_step(x, step->index, restore_step(mem, e->value));
    }
    variables = member(context, STR("variables"));
    if (variables.kind == VALUE_MAP)
        state_set_variables(x, variables, to_json(mem, variables));
    signals = member(context, STR("signals"));
    for (uint32_t i = 0; signals.kind == VALUE_LIST && i < signals.len; i++) {
        struct value s = signals.items[i];
        struct signal *signal = restore_signal(mem, member(s, STR("signal")),
                                               int_member(s, STR("seq")), int_member(s, STR("at")));
        signal->is_taken = value_is_true(member(s, STR("taken")));
        state_add_signal(mem, x, signal);
    }
    return true;
}

static bool fold_step(struct arena *mem, struct execution *x, const struct history_row *row,
                      struct err *err)
{
    const struct step *step = program_step(x->program, row->step);
    struct step_state state = skipped(row->visit);
    struct value v;

    if (step == NULL)
        return broken(err, "a step is not in its program");
    if (str_eq(row->status, STR("completed"))) {
        if (!read_json(mem, row->output_json, &v, err))
            return false;
        state = completed(row->visit, v, row->output_json);
    } else if (str_eq(row->status, STR("failed"))) {
        if (!read_json(mem, row->error_json, &v, err))
            return false;
        state = failed(row->visit, v, row->error_json);
    }
    state_set_step(x, step->index, state);
    return true;
}

static bool fold_row(struct arena *mem, struct execution *x, const struct history_row *row,
                     struct err *err)
{
    struct value delta, v;

    if (row->kind == HISTORY_FORWARD && !fold_step(mem, x, row, err))
        return false;
    if (row->delta_json.len == 0)
        return true;
    if (!read_json(mem, row->delta_json, &delta, err))
        return false;
    v = member(delta, STR("variables"));
    if (v.kind == VALUE_MAP) {
        v = state_merge(mem, x->variables, v);
        state_set_variables(x, v, to_json(mem, v));
    }
    v = member(delta, STR("signal"));
    if (v.kind == VALUE_MAP)
        state_add_signal(mem, x, restore_signal(mem, v, row->seq, row->completed_at_us));
    v = member(delta, STR("took"));
    if (v.kind == VALUE_INT)
        state_take_signal(mem, x, v.i);
    return true;
}

static bool restore_cursor(struct arena *mem, struct execution *x, struct str text, struct err *err)
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
    if (!phase_read(phase, &x->cursor.phase))
        return broken(err, "the cursor has an unknown phase");
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
    x->variables = value_map_empty();
    x->context_bytes = x->input_json.len;
    if (!read_json(mem, stored->input_json, &x->input, err) ||
        !restore_context(mem, x, stored->context_json, err) ||
        !restore_cursor(mem, x, stored->cursor_json, err))
        return false;
    for (size_t i = 0; i < stored->history.count; i++) {
        const struct history_row *row = &stored->history.items[i];
        if (!fold_row(mem, x, row, err))
            return false;
        x->log_bytes += state_row_bytes(row);
    }
    *out = x;
    return true;
}
