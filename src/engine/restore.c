/*
 * restore.c - executions from their stored form; see state.h.
 *
 * What a row of history adds to the checkpoint:
 *
 *   forward completed   steps[step] = output       delta.variables, delta.took
 *   forward failed      steps[step] = error
 *   forward skipped     steps[step] = skipped
 *   event signal        signals += delta.signal
 *   any                 delta.log: what the step has logged; no part of the state
 *   event loop          the loop `step` goes over delta.list
 *   rollback            compensated or failed += step, by delta.undone
 *   event               failed += delta.unrolled: what others could not undo
 *   any                 delta.returned: compensated and failed are empty again
 *   any                 delta."collect:CODE", delta."failed:CODE": what a loop holds
 *                       delta."branch:CODE:VISIT:NUMBER": a branch has ended with that
 *                       delta."done:CODE:VISIT:INDEX": so has an iteration beside others
 *                       delta.round = "CODE:VISIT:INDEX": the iteration that the visit was in
 *
 * What a loop holds has the visit behind its code where there are several
 * strands, and the number of the iteration where these run at once.
 *
 * A failed row whose delta has `retry` was not the last attempt and changes no
 * step. A row of a loop itself ends what it holds.
 *
 * A delta says beside these how the execution came to stand where it stands,
 * for whoever reads the history: wait (what it waits for), cancel, result, end.
 * The cursor, the status and the other columns are stored as they are.
 */
#include "define/program.h"
#include "engine/actions.h"
#include "engine/sound.h"
#include "engine/state.h"
#include "engine/stored.h"
#include "value/timefmt.h"

static struct step_state completed(int64_t visit, struct value output, struct str json)
{
    return (struct step_state){
        .outcome = OUTCOME_COMPLETED, .visit = visit, .output = output, .output_json = json};
}

static struct step_state restore_failed(int64_t visit, struct value error, struct str json)
{
    return (struct step_state){
        .outcome = OUTCOME_FAILED, .visit = visit, .error = error, .error_json = json};
}

static struct step_state skipped(int64_t visit)
{
    return (struct step_state){.outcome = OUTCOME_SKIPPED, .visit = visit};
}

struct step_state state_read_step(struct arena *mem, struct value stored)
{
    struct value output = value_map_member(stored, STR("output")),
                 error = value_map_member(stored, STR("error"));
    int64_t visit = stored_int(stored, STR("visit"));

    if (output.kind != VALUE_ABSENT)
        return completed(visit, output, json_must_text(mem, output));
    if (error.kind != VALUE_ABSENT)
        return restore_failed(visit, error, json_must_text(mem, error));
    return value_is_true(value_map_member(stored, STR("skipped")))
               ? skipped(visit)
               : (struct step_state){.visit = visit};
}

/* `about` is the object that has the signal, and beside it whom it answers. */
static struct signal *restore_signal(struct arena *mem, struct value view, struct value about,
                                     int64_t seq, int64_t at_us)
{
    struct signal *signal = arena_alloc(mem, sizeof(*signal));

    *signal = (struct signal){
        .id = value_map_text(view, STR("id")),
        .type = value_map_text(view, STR("type")),
        .received_at_us = at_us,
        .seq = seq,
        .answers = value_text_or(value_map_member(about, STR("answers")), STR_NONE),
        .view = view,
        .json = json_must_text(mem, view),
    };
    return signal;
}

static size_t json_len(struct arena *mem, struct value v)
{
    return json_must_text(mem, v).len;
}

/* "CODE", "CODE:VISIT" or "CODE:VISIT:NUMBER" of a step that holds something. */
struct holder {
    const struct step *step; /* or NULL: it is not in the program */
    int64_t visit;           /* or 0 */
    int64_t number;          /* or -1 */
};

static struct holder read_holder(const struct program *p, struct str text)
{
    struct holder h = {.number = -1};
    int64_t first = str_find(text, STR(":"), 0), second;
    struct str code = first < 0 ? text : str_slice(text, 0, (size_t)first);

    h.step = program_step(p, code);
    if (first < 0)
        return h;
    second = str_find(text, STR(":"), (size_t)first + 1);
    if (!str_to_int64(str_slice(text, (size_t)first + 1, second < 0 ? text.len : (size_t)second),
                      &h.visit) ||
        (second >= 0 && !str_to_int64(str_slice(text, (size_t)second + 1, text.len), &h.number)))
        h.step = NULL;
    return h;
}

static struct round round_of(struct holder h)
{
    return (struct round){.loop = h.step->index + 1, .visit = h.visit, .index = h.number};
}

static struct round read_round(const struct program *p, struct value text)
{
    struct holder h = {0};

    if (text.kind == VALUE_STRING)
        h = read_holder(p, value_text(text));
    return h.step != NULL ? round_of(h) : (struct round){0};
}

/* [number, value] counts as its value. */
static size_t held_len(struct arena *mem, const struct step *step, struct value v)
{
    bool has_number =
        step->kind == STEP_PARALLEL || (step->loop != NULL && step->loop->concurrency > 1);

    return json_len(mem, has_number && v.kind == VALUE_LIST && v.len == 2 ? v.items[1] : v);
}

static bool restore_loops(struct arena *mem, struct execution *x, struct value loops,
                          struct err *err)
{
    for (uint32_t i = 0; loops.kind == VALUE_MAP && i < loops.len; i++) {
        struct value stored = loops.map->entries[i].value;
        struct holder h = read_holder(x->program, value_text(loops.map->entries[i].key));
        struct value items = value_map_member(stored, STR("items")),
                     errors = value_map_member(stored, STR("errors")),
                     list = value_map_member(stored, STR("list"));

        if (h.step == NULL)
            return stored_broken(err, "a loop is not in its program");
        state_resume_loop(
            mem, x, h.step->index, h.visit,
            (struct loop_data){.list = list,
                               .list_bytes = list.kind == VALUE_LIST ? json_len(mem, list) : 0,
                               .base = stored_int(stored, STR("base")),
                               .started = stored_int(stored, STR("started")),
                               .ended = stored_int(stored, STR("ended"))});
        for (uint32_t k = 0; items.kind == VALUE_LIST && k < items.len; k++)
            state_add_collected(mem, x, h.step->index, h.visit, items.items[k],
                                held_len(mem, h.step, items.items[k]));
        for (uint32_t k = 0; errors.kind == VALUE_LIST && k < errors.len; k++)
            state_add_loop_error(mem, x, h.step->index, h.visit, errors.items[k],
                                 json_len(mem, errors.items[k]));
    }
    return true;
}

static bool restore_rounds(struct arena *mem, struct execution *x, struct value rounds,
                           struct err *err)
{
    for (uint32_t i = 0; rounds.kind == VALUE_LIST && i < rounds.len; i++) {
        struct value r = rounds.items[i];
        const struct step *loop = program_step(x->program, value_map_text(r, STR("loop")));
        const struct step *step = program_step(x->program, value_map_text(r, STR("step")));

        if (loop == NULL || step == NULL)
            return stored_broken(err, "a step of an iteration is not in its program");
        state_set_round_step(mem, x,
                             (struct round){.loop = loop->index + 1,
                                            .visit = stored_int(r, STR("visit")),
                                            .index = stored_int(r, STR("index"))},
                             step->index, state_read_step(mem, value_map_member(r, STR("state"))));
    }
    return true;
}

static void restore_compensation(struct arena *mem, struct execution *x, struct value codes,
                                 bool ok)
{
    for (uint32_t i = 0; codes.kind == VALUE_LIST && i < codes.len; i++)
        state_add_compensated(mem, x, value_text_or(codes.items[i], STR_NONE), ok);
}

static void restore_secrets(struct arena *mem, struct execution *x, struct value secrets)
{
    for (uint32_t i = 0; secrets.kind == VALUE_LIST && i < secrets.len; i++)
        state_keep_secret(mem, x, secrets.items[i]);
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

    if (!stored_read_map(mem, text, &context, err))
        return false;
    steps = value_map_member(context, STR("steps"));
    for (uint32_t i = 0; steps.kind == VALUE_MAP && i < steps.len; i++) {
        const struct value_entry *e = &steps.map->entries[i];
        const struct step *step = program_step(x->program, value_text(e->key));
        if (step == NULL)
            return stored_broken(err, "a step is not in its program");
        state_set_step(mem, x, (struct round){0}, step->index, state_read_step(mem, e->value));
    }
    state_restore_visits(mem, x, value_map_member(context, STR("visits")));
    input = value_map_member(context, STR("input"));
    if (input.kind == VALUE_MAP)
        state_set_input(x, input, json_must_text(mem, input));
    variables = value_map_member(context, STR("variables"));
    if (variables.kind == VALUE_MAP)
        state_set_variables(x, variables, json_must_text(mem, variables));
    restore_secrets(mem, x, value_map_member(context, STR("secrets")));
    signals = value_map_member(context, STR("signals"));
    for (uint32_t i = 0; signals.kind == VALUE_LIST && i < signals.len; i++) {
        struct value s = signals.items[i], view = value_map_member(s, STR("signal"));
        struct signal *signal;

        if (view.kind != VALUE_MAP)
            return stored_broken(err, "a signal is no object");
        signal = restore_signal(mem, view, s, stored_int(s, STR("seq")), stored_int(s, STR("at")));
        signal->is_taken = value_is_true(value_map_member(s, STR("taken")));
        state_add_signal(mem, x, signal);
    }
    restore_compensation(mem, x, value_map_member(context, STR("compensated")), true);
    restore_compensation(mem, x, value_map_member(context, STR("failed")), false);
    given_up = value_map_member(context, STR("givenUp"));
    for (uint32_t i = 0; given_up.kind == VALUE_LIST && i < given_up.len; i++)
        state_add_given_up(mem, x, given_up.items[i]);
    state_restore_past_steps(mem, x, value_map_member(context, STR("past")));
    last = step_index(x->program, value_map_text(context, STR("last")));
    x->last_done = last != NO_STEP ? last + 1 : 0;
    return restore_loops(mem, x, value_map_member(context, STR("loops")), err) &&
           restore_rounds(mem, x, value_map_member(context, STR("rounds")), err);
}

static bool fold_step(struct arena *mem, struct execution *x, const struct history_row *row,
                      struct value round, bool has_moved, struct err *err)
{
    const struct step *step = program_step(x->program, row->step);
    struct step_state state = skipped(row->visit);
    struct value v;

    if (step == NULL && has_moved) {
        state_count_visit(mem, x, (struct round){0}, row->step, row->visit);
        if (str_eq(row->status, STR("completed")))
            x->last_done = 0;
    }
    if (step == NULL)
        return has_moved || stored_broken(err, "a step is not in its program");
    if (str_eq(row->status, STR("completed"))) {
        if (!stored_read(mem, row->output_json, &v, err))
            return false;
        state = completed(row->visit, v, row->output_json);
    } else if (str_eq(row->status, STR("failed"))) {
        if (!stored_read_map(mem, row->error_json, &v, err))
            return false;
        state = restore_failed(row->visit, v, row->error_json);
    }
    state_set_step(mem, x, read_round(x->program, round), step->index, state);
    return true;
}

static struct str after_colon(struct str name)
{
    int64_t colon = str_find(name, STR(":"), 0);

    return colon < 0 ? STR_NONE : str_slice(name, (size_t)colon + 1, name.len);
}

/* What a row adds to the loops and parallel steps around its step. */
static bool fold_loops(struct arena *mem, struct execution *x, struct value delta, bool has_moved,
                       struct err *err)
{
    for (uint32_t i = 0; i < delta.len; i++) {
        struct str name = value_text(delta.map->entries[i].key);
        struct value v = delta.map->entries[i].value;
        bool is_error = str_starts_with(name, STR("failed:"));
        bool is_done = str_starts_with(name, STR("done:"));
        struct holder h;

        if (!is_error && !is_done && !str_starts_with(name, STR("collect:")) &&
            !str_starts_with(name, STR("branch:")))
            continue;
        h = read_holder(x->program, after_colon(name));
        if (h.step == NULL && has_moved)
            continue;
        if (h.step == NULL)
            return stored_broken(err, "a loop is not in its program");
        if (is_done)
            state_end_round(mem, x, round_of(h));
        else if (is_error)
            state_add_loop_error(mem, x, h.step->index, h.visit, v, json_len(mem, v));
        else
            state_add_collected(mem, x, h.step->index, h.visit,
                                h.number < 0 ? v : state_numbered(mem, h.number, v),
                                json_len(mem, v));
    }
    return true;
}

/* A number that stands beside a stored row, or 0. */
static int64_t row_noted(struct arena *mem, const struct history_row *row, struct str name)
{
    struct value delta, noted;
    struct err err;

    if (row->delta_json.len == 0 || !json_read(mem, row->delta_json, &delta, &err) ||
        delta.kind != VALUE_MAP)
        return 0;
    noted = value_map_member(delta, name);
    return noted.kind == VALUE_INT ? noted.i : 0;
}

int64_t state_row_took(struct arena *mem, const struct history_row *row)
{
    if (row->kind == HISTORY_EVENT && !str_eq(row->status, STR("transition_not_allowed")))
        return 0;
    return row_noted(mem, row, STR("took"));
}

int64_t state_row_sent(struct arena *mem, const struct history_row *row)
{
    return row->input_json.len > 0 || row->kind == HISTORY_EVENT ? 0
                                                                 : row_noted(mem, row, STR("sent"));
}

static void fold_delta(struct arena *mem, struct execution *x, const struct history_row *row,
                       struct value delta)
{
    struct value v = value_map_member(delta, STR("variables"));

    if (v.kind == VALUE_MAP) {
        v = state_merge(mem, x->variables, v);
        state_set_variables(x, v, json_must_text(mem, v));
    }
    v = value_map_member(delta, STR("signal"));
    if (v.kind == VALUE_MAP)
        state_add_signal(mem, x, restore_signal(mem, v, delta, row->seq, row->completed_at_us));
    v = value_map_member(delta, STR("took"));
    if (v.kind == VALUE_INT)
        state_take_signal(mem, x, v.i);
    v = value_map_member(delta, STR("input"));
    if (v.kind == VALUE_MAP)
        state_set_input(x, v, json_must_text(mem, v));
    state_count_visits(mem, x, read_round(x->program, value_map_member(delta, STR("visitsIn"))),
                       value_map_member(delta, STR("visits")));
    v = value_map_member(delta, STR("dropped"));
    for (uint32_t i = 0; v.kind == VALUE_LIST && i < v.len; i++) {
        uint32_t dropped = step_index(x->program, value_text_or(v.items[i], STR_NONE));

        if (dropped != NO_STEP)
            state_drop_step(x, dropped);
    }
    v = value_map_member(delta, STR("list"));
    if (v.kind == VALUE_LIST && step_index(x->program, row->step) != NO_STEP)
        state_begin_loop(mem, x, step_index(x->program, row->step), row->visit, v, json_len(mem, v),
                         stored_int(delta, STR("started")));
}

static void fold_given_up(struct arena *mem, struct execution *x, const struct history_row *row,
                          struct value delta)
{
    struct value v = value_map_member(delta, STR("givenUp"));

    if (v.kind == VALUE_MAP)
        state_add_given_up(mem, x, v);
    v = value_map_member(delta, STR("undoes"));
    if (v.kind == VALUE_STRING)
        state_drop_given_up(mem, x, value_text(v));
    if (value_is_true(value_map_member(delta, STR("redone"))))
        state_move_compensated(mem, x, row->step);
}

static bool fold_row(struct arena *mem, struct execution *x, const struct history_row *row,
                     bool has_moved, struct err *err)
{
    struct value delta = value_map_empty(), about;
    bool is_last;

    if (!stored_counts(row->visit) || !stored_counts(row->attempt) || !stored_counts(row->seq))
        return stored_broken(err, "a number of a row cannot be one");
    if (row->delta_json.len > 0 && !stored_read_map(mem, row->delta_json, &delta, err))
        return false;
    if (row->visit > 0 && step_index(x->program, row->step) != NO_STEP)
        state_give_visit(x, step_index(x->program, row->step), row->visit);
    is_last = value_map_member(delta, STR("retry")).kind == VALUE_ABSENT;
    if (row->kind == HISTORY_FORWARD && is_last &&
        !fold_step(mem, x, row, value_map_member(delta, STR("round")), has_moved, err))
        return false;
    about = value_map_member(delta, STR("undone"));
    if (about.kind == VALUE_BOOL)
        state_add_compensated(mem, x, row->step, about.b);
    restore_compensation(mem, x, value_map_member(delta, STR("unrolled")), false);
    fold_given_up(mem, x, row, delta);
    fold_delta(mem, x, row, delta);
    if (value_is_true(value_map_member(delta, STR("returned"))))
        state_forget_compensation(x);
    return fold_loops(mem, x, delta, has_moved, err);
}

/* {compensation: {compensated: [...], failed: [...]}}: whether one of them names a step. */
static bool says_rolled_back(struct value error)
{
    struct value said = value_map_member(error, STR("compensation"));
    struct value done = value_map_member(said, STR("compensated"));
    struct value restore_failed = value_map_member(said, STR("failed"));

    return (done.kind == VALUE_LIST && done.len > 0) ||
           (restore_failed.kind == VALUE_LIST && restore_failed.len > 0);
}

bool state_restore_facts(struct arena *mem, struct stored_execution *stored, struct err *err)
{
    struct value waiting_for, error;

    if (!stored_read_map(mem, stored->waiting_for_json, &waiting_for, err) ||
        !stored_read_map(mem, stored->error_json, &error, err))
        return false;
    stored->waiting_kind = state_waiting_kind(waiting_for);
    stored->is_rolled_back = says_rolled_back(error);
    return true;
}

/*
 * Whether the rows say that the execution went on with another version: then
 * earlier ones may be of steps that it no longer has, which left the state.
 */
static bool moves_to_version(struct arena *mem, const struct history *history, bool *moves,
                             struct err *err)
{
    *moves = false;
    for (size_t i = 0; i < history->count && !*moves; i++) {
        const struct history_row *row = &history->items[i];
        struct value delta;

        if (row->kind != HISTORY_EVENT || (!str_eq(row->status, action_row(ACTION_MIGRATE)) &&
                                           !str_eq(row->status, action_row(ACTION_RETRY))))
            continue;
        if (!stored_read_map(mem, row->delta_json, &delta, err))
            return false;
        *moves = value_map_member(delta, STR("version")).kind == VALUE_INT;
    }
    return true;
}

bool state_restore_shown(struct arena *mem, const struct program *program,
                         const struct stored_execution *stored, struct execution **out,
                         struct err *err)
{
    struct execution *x = ARENA_NEW(mem, struct execution);
    bool has_moved;

    if (!stored_counts(stored->seq) || !stored_counts(stored->checkpoint_seq) ||
        !stored_counts(stored->row_version) ||
        stored->updated_at_us / 1000000 > TIMESTAMP_SECONDS_MAX) /* its clock goes on from there */
        return stored_broken(err, "a number of its row cannot be one");
    if (stored->format > EXECUTION_FORMAT)
        return err_set(err, ERR_INTERNAL, "the execution was stored by a newer version (format %d)",
                       stored->format);
    *x = (struct execution){
        .id = stored->id,
        .row = stored->row,
        .program = program,
        .has_parent = stored->has_parent,
        .parent_id = stored->parent_id,
        .has_again_of = stored->has_again_of,
        .again_of = stored->again_of,
        .key = stored->key,
        .org_id = stored->org_id,
        .user_json = stored->user_json,
        .trace = stored->trace,
        .webhook_json = stored->webhook_json,
        .webhook = value_absent(),
        .record = stored->record,
        .chain = stored->chain,
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
        .waiting_kind = stored->waiting_kind,
        .waiting_for_json = stored->waiting_for_json,
    };
    x->steps = arena_zalloc(mem, (program->step_count + 1u) * sizeof(*x->steps));
    x->variables = value_map_empty();
    x->context_bytes = x->input_json.len + x->webhook_json.len;
    if ((x->webhook_json.len > 0 && !stored_read_map(mem, x->webhook_json, &x->webhook, err)) ||
        !stored_read_map(mem, stored->input_json, &x->input, err) ||
        !restore_context(mem, x, stored->context_json, err) ||
        !state_restore_cursor(mem, x, stored->cursor_json, err) ||
        !moves_to_version(mem, &stored->history, &has_moved, err))
        return false;
    for (size_t i = 0; i < stored->history.count; i++) {
        const struct history_row *row = &stored->history.items[i];
        if (!fold_row(mem, x, row, has_moved, err))
            return false;
        x->log_bytes += state_row_bytes(row);
    }
    state_prune(mem, x);
    *out = x;
    return true;
}

bool state_restore(struct arena *mem, const struct program *program,
                   const struct stored_execution *stored, struct execution **out, struct err *err)
{
    return state_restore_shown(mem, program, stored, out, err) && sound_check(mem, *out, err);
}
