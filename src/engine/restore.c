/*
 * restore.c - executions from their stored form; see state.h.
 *
 * What a row of history adds to the checkpoint:
 *
 *   forward completed   steps[step] = output       delta.variables, delta.took
 *   forward failed      steps[step] = error
 *   forward skipped     steps[step] = skipped
 *   event signal        signals += delta.signal
 *   event loop          the loop `step` goes over delta.list
 *   rollback            compensated or failed += step, by delta.undone
 *   any                 delta."collect:CODE", delta."failed:CODE": what a loop holds
 *
 * A failed row whose delta has `retry` was not the last attempt and changes no
 * step. A row of a loop itself ends what it holds.
 *
 * A delta says beside these how the execution came to stand where it stands,
 * for whoever reads the history: wait (what it waits for), cancel, result, end.
 * The cursor, the status and the other columns are stored as they are.
 */
#include "base/buf.h"
#include "engine/state.h"
#include "value/json.h"

static inline struct value member(struct value map, struct str key)
{
    return map.kind == VALUE_MAP ? value_map_get_str(map, key) : value_absent();
}

static inline int64_t int_member(struct value map, struct str key)
{
    struct value v = member(map, key);

    return v.kind == VALUE_INT ? v.i : 0;
}

static inline struct str text_member(struct value map, struct str key)
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

static size_t json_len(struct arena *mem, struct value v)
{
    return to_json(mem, v).len;
}

static bool restore_loops(struct arena *mem, struct execution *x, struct value loops,
                          struct err *err)
{
    for (uint32_t i = 0; loops.kind == VALUE_MAP && i < loops.len; i++) {
        struct value stored = loops.map->entries[i].value;
        const struct step *step = program_step(x->program, value_text(loops.map->entries[i].key));
        struct value items = member(stored, STR("items")), errors = member(stored, STR("errors"));

        if (step == NULL)
            return broken(err, "a loop is not in its program");
        state_begin_loop(mem, x, step->index, member(stored, STR("list")));
        for (uint32_t k = 0; items.kind == VALUE_LIST && k < items.len; k++)
            state_add_collected(mem, x, step->index, items.items[k], json_len(mem, items.items[k]));
        for (uint32_t k = 0; errors.kind == VALUE_LIST && k < errors.len; k++)
            state_add_loop_error(mem, x, step->index, errors.items[k],
                                 json_len(mem, errors.items[k]));
    }
    return true;
}

static void restore_compensation(struct arena *mem, struct execution *x, struct value codes,
                                 bool ok)
{
    for (uint32_t i = 0; codes.kind == VALUE_LIST && i < codes.len; i++)
        state_add_compensated(mem, x, value_text(codes.items[i]), ok);
}

static uint32_t step_index(const struct program *p, struct str code)
{
    const struct step *step = code.len > 0 ? program_step(p, code) : NULL;

    return step != NULL ? step->index : NO_STEP;
}

static bool restore_context(struct arena *mem, struct execution *x, struct str text,
                            struct err *err)
{
    struct value context, steps, signals, variables, input, given_up;
    uint32_t last;

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
    state_count_visits(mem, x, member(context, STR("visits")));
    input = member(context, STR("input"));
    if (input.kind == VALUE_MAP)
        state_set_input(x, input, to_json(mem, input));
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
    restore_compensation(mem, x, member(context, STR("compensated")), true);
    restore_compensation(mem, x, member(context, STR("failed")), false);
    given_up = member(context, STR("givenUp"));
    for (uint32_t i = 0; given_up.kind == VALUE_LIST && i < given_up.len; i++)
        state_add_given_up(mem, x, given_up.items[i]);
    last = step_index(x->program, text_member(context, STR("last")));
    x->last_done = last != NO_STEP ? last + 1 : 0;
    return restore_loops(mem, x, member(context, STR("loops")), err);
}

static bool fold_step(struct arena *mem, struct execution *x, const struct history_row *row,
                      bool has_moved, struct err *err)
{
    const struct step *step = program_step(x->program, row->step);
    struct step_state state = skipped(row->visit);
    struct value v;

    if (step == NULL && has_moved) {
        state_count_visit(mem, x, row->step, row->visit);
        if (str_eq(row->status, STR("completed")))
            x->last_done = 0;
    }
    if (step == NULL)
        return has_moved || broken(err, "a step is not in its program");
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

static struct str after_colon(struct str name)
{
    int64_t colon = str_find(name, STR(":"), 0);

    return colon < 0 ? STR_NONE : str_slice(name, (size_t)colon + 1, name.len);
}

/* What a row adds to the loops around its step. */
static bool fold_loops(struct arena *mem, struct execution *x, struct value delta, bool has_moved,
                       struct err *err)
{
    for (uint32_t i = 0; i < delta.len; i++) {
        struct str name = value_text(delta.map->entries[i].key);
        struct value v = delta.map->entries[i].value;
        bool is_error = str_starts_with(name, STR("failed:"));
        uint32_t step;

        if (!is_error && !str_starts_with(name, STR("collect:")))
            continue;
        step = step_index(x->program, after_colon(name));
        if (step == NO_STEP && has_moved)
            continue;
        if (step == NO_STEP)
            return broken(err, "a loop is not in its program");
        if (is_error)
            state_add_loop_error(mem, x, step, v, json_len(mem, v));
        else
            state_add_collected(mem, x, step, v, json_len(mem, v));
    }
    return true;
}

static void fold_delta(struct arena *mem, struct execution *x, const struct history_row *row,
                       struct value delta)
{
    struct value v = member(delta, STR("variables"));

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
    v = member(delta, STR("input"));
    if (v.kind == VALUE_MAP)
        state_set_input(x, v, to_json(mem, v));
    state_count_visits(mem, x, member(delta, STR("visits")));
    v = member(delta, STR("dropped"));
    for (uint32_t i = 0; v.kind == VALUE_LIST && i < v.len; i++)
        if (step_index(x->program, value_text(v.items[i])) != NO_STEP)
            state_drop_step(x, step_index(x->program, value_text(v.items[i])));
    v = member(delta, STR("list"));
    if (v.kind == VALUE_LIST && step_index(x->program, row->step) != NO_STEP)
        state_begin_loop(mem, x, step_index(x->program, row->step), v);
}

static void fold_given_up(struct arena *mem, struct execution *x, const struct history_row *row,
                          struct value delta)
{
    struct value v = member(delta, STR("givenUp"));

    if (v.kind == VALUE_MAP)
        state_add_given_up(mem, x, v);
    v = member(delta, STR("undoes"));
    if (v.kind == VALUE_STRING)
        state_drop_given_up(mem, x, value_text(v));
    if (value_is_true(member(delta, STR("redone"))))
        state_move_compensated(mem, x, row->step);
}

static bool fold_row(struct arena *mem, struct execution *x, const struct history_row *row,
                     bool has_moved, struct err *err)
{
    struct value delta = value_map_empty(), undone;
    bool is_last;

    if (row->delta_json.len > 0 && !read_json(mem, row->delta_json, &delta, err))
        return false;
    is_last = member(delta, STR("retry")).kind == VALUE_ABSENT;
    if (row->kind == HISTORY_FORWARD && is_last && !fold_step(mem, x, row, has_moved, err))
        return false;
    undone = member(delta, STR("undone"));
    if (undone.kind == VALUE_BOOL)
        state_add_compensated(mem, x, row->step, undone.b);
    fold_given_up(mem, x, row, delta);
    fold_delta(mem, x, row, delta);
    return fold_loops(mem, x, delta, has_moved, err);
}

/*
 * Whether the rows say that the execution went on with another version: then
 * earlier ones may be of steps that it no longer has, which left the state.
 */
static bool moves_to_version(const struct history *history)
{
    for (size_t i = 0; i < history->count; i++)
        if (history->items[i].kind == HISTORY_EVENT &&
            str_find(history->items[i].delta_json, STR("\"version\":"), 0) >= 0)
            return true;
    return false;
}

static bool restore_frames(struct arena *mem, struct execution *x, struct value stored,
                           struct err *err)
{
    struct frame *frames;

    if (stored.kind != VALUE_LIST || stored.len == 0)
        return true;
    frames = ARENA_ARRAY(mem, stored.len, struct frame);
    for (uint32_t i = 0; i < stored.len; i++) {
        struct value f = stored.items[i];
        const struct step *step = program_step(x->program, text_member(f, STR("step")));

        if (step == NULL)
            return broken(err, "a step around the current one is not in its program");
        frames[i] =
            (struct frame){.step = step->index,
                           .block = step->first_block + (uint32_t)int_member(f, STR("block")),
                           .visit = int_member(f, STR("visit")),
                           .started_at_us = int_member(f, STR("startedAt")),
                           .index = int_member(f, STR("index"))};
    }
    x->frames = frames;
    x->frame_count = stored.len;
    return true;
}

static struct str json_member(struct arena *mem, struct value stored, struct str name)
{
    struct value v = member(stored, name);

    return v.kind == VALUE_ABSENT ? STR_NONE : to_json(mem, v);
}

static const struct cursor *restore_from(struct arena *mem, const struct execution *x,
                                         struct value stored)
{
    struct cursor *c;

    if (stored.kind != VALUE_MAP)
        return NULL;
    c = ARENA_NEW(mem, struct cursor);
    /* While nothing is undone the cursor stays at the step. */
    c->step = x->cursor.step;
    c->visit = int_member(stored, STR("visit"));
    c->attempt = int_member(stored, STR("attempt"));
    c->started_at_us = int_member(stored, STR("startedAt"));
    c->input_json = json_member(mem, stored, STR("input"));
    c->frozen_json = json_member(mem, stored, STR("frozen"));
    c->is_unsure = int_member(stored, STR("unsure")) != 0;
    c->asked = int_member(stored, STR("asked"));
    return c;
}

static bool restore_undo(struct arena *mem, struct execution *x, struct value stored,
                         struct err *err)
{
    struct undo *undo;
    uint32_t again;

    if (stored.kind != VALUE_MAP)
        return true;
    undo = ARENA_NEW(mem, struct undo);
    if (!status_read(text_member(stored, STR("end")), &undo->end))
        return broken(err, "it rolls back to an unknown end");
    undo->before = int_member(stored, STR("before"));
    undo->row = int_member(stored, STR("row"));
    undo->commands_left = int_member(stored, STR("commands"));
    undo->has_failed = int_member(stored, STR("failed")) != 0;
    undo->deadline_at_us = int_member(stored, STR("deadlineAt"));
    undo->begun = int_member(stored, STR("begun"));
    undo->has_begun_before = int_member(stored, STR("begunBefore")) != 0;
    undo->is_again = int_member(stored, STR("alone")) != 0;
    undo->tried_before = int_member(stored, STR("triedBefore"));
    undo->from = restore_from(mem, x, member(stored, STR("from")));
    undo->again_visit = int_member(stored, STR("againVisit"));
    again = step_index(x->program, text_member(stored, STR("again")));
    undo->again_step = again != NO_STEP ? again + 1 : 0;
    x->undo = undo;
    return true;
}

static void restore_asking(struct arena *mem, struct cursor *cursor, struct value stored)
{
    struct asking *a;

    if (stored.kind != VALUE_MAP)
        return;
    a = ARENA_NEW(mem, struct asking);
    a->since_us = int_member(stored, STR("since"));
    a->asked_at_us = int_member(stored, STR("askedAt"));
    a->before = int_member(stored, STR("before"));
    a->retry_at_us = int_member(stored, STR("retryAt"));
    a->error_json = json_member(mem, stored, STR("error"));
    a->input_json = json_member(mem, stored, STR("input"));
    a->frozen_json = json_member(mem, stored, STR("frozen"));
    a->letter = text_member(stored, STR("letter"));
    cursor->asking = a;
}

/* A wait that an earlier version began says it to people alone. */
static bool restore_correlation(struct arena *mem, struct execution *x, struct err *err)
{
    struct value why, v;

    if (x->cursor.phase != PHASE_WAIT || x->cursor.correlation.len > 0 ||
        str_find(x->waiting_for_json, STR("\"correlation\""), 0) < 0)
        return true;
    if (!read_json(mem, x->waiting_for_json, &why, err))
        return false;
    v = member(why, STR("correlation"));
    if (v.kind != VALUE_ABSENT && !define_correlation(mem, v, &x->cursor.correlation))
        x->cursor.correlation = STR_NONE;
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
    x->cursor.input_json = json_member(mem, stored, STR("input"));
    x->cursor.types_json = json_member(mem, stored, STR("types"));
    x->cursor.correlation = text_member(stored, STR("correlation"));
    x->cursor.timeout_at_us = int_member(stored, STR("timeoutAt"));
    x->cursor.remind_at_us = int_member(stored, STR("remindAt"));
    x->cursor.remind_every_us = int_member(stored, STR("remindEvery"));
    x->cursor.reminders = int_member(stored, STR("reminders"));
    x->cursor.unmatched = int_member(stored, STR("unmatched"));
    x->cursor.frozen_json = json_member(mem, stored, STR("frozen"));
    x->cursor.awaited = text_member(stored, STR("awaited"));
    x->cursor.failed_at = text_member(stored, STR("failedAt"));
    x->cursor.tries = int_member(stored, STR("tries"));
    x->cursor.is_unsure = int_member(stored, STR("unsure")) != 0;
    x->cursor.asked = int_member(stored, STR("asked"));
    restore_asking(mem, &x->cursor, member(stored, STR("asking")));
    x->jumps = (uint32_t)int_member(stored, STR("jumps"));
    return restore_correlation(mem, x, err) &&
           restore_frames(mem, x, member(stored, STR("in")), err) &&
           restore_undo(mem, x, member(stored, STR("undo")), err);
}

bool state_restore(struct arena *mem, const struct program *program,
                   const struct stored_execution *stored, struct execution **out, struct err *err)
{
    struct execution *x = ARENA_NEW(mem, struct execution);
    bool has_moved;

    if (stored->format > EXECUTION_FORMAT)
        return err_set(err, ERR_INTERNAL, "the execution was stored by a newer version (format %d)",
                       stored->format);
    *x = (struct execution){
        .id = stored->id,
        .row = stored->row,
        .program = program,
        .has_parent = stored->has_parent,
        .parent_id = stored->parent_id,
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
    has_moved = moves_to_version(&stored->history);
    for (size_t i = 0; i < stored->history.count; i++) {
        const struct history_row *row = &stored->history.items[i];
        if (!fold_row(mem, x, row, has_moved, err))
            return false;
        x->log_bytes += state_row_bytes(row);
    }
    *out = x;
    return true;
}
