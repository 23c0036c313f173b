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
    struct err cause;

    if (text.len == 0) {
        *out = value_map_empty();
        return true;
    }
    return json_read(mem, text, out, &cause) || broken(err, cause.message);
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
    return value_is_true(member(stored, STR("skipped"))) ? skipped(visit)
                                                         : (struct step_state){.visit = visit};
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

static struct round read_round(const struct program *p, struct value text)
{
    struct holder h;

    if (text.kind != VALUE_STRING)
        return (struct round){0};
    h = read_holder(p, value_text(text));
    if (h.step == NULL)
        return (struct round){0};
    return (struct round){.loop = h.step->index + 1, .visit = h.visit, .index = h.number};
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
        struct value items = member(stored, STR("items")), errors = member(stored, STR("errors"));

        if (h.step == NULL)
            return broken(err, "a loop is not in its program");
        state_resume_loop(mem, x, h.step->index, h.visit,
                          (struct loop_data){.list = member(stored, STR("list")),
                                             .base = int_member(stored, STR("base")),
                                             .started = int_member(stored, STR("started")),
                                             .ended = int_member(stored, STR("ended"))});
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
        const struct step *loop = program_step(x->program, text_member(r, STR("loop")));
        const struct step *step = program_step(x->program, text_member(r, STR("step")));

        if (loop == NULL || step == NULL)
            return broken(err, "a step of an iteration is not in its program");
        state_set_round_step(mem, x,
                             (struct round){.loop = loop->index + 1,
                                            .visit = int_member(r, STR("visit")),
                                            .index = int_member(r, STR("index"))},
                             step->index, restore_step(mem, member(r, STR("state"))));
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
        state_set_step(mem, x, (struct round){0}, step->index, restore_step(mem, e->value));
    }
    state_count_visits(mem, x, (struct round){0}, member(context, STR("visits")));
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
    return restore_loops(mem, x, member(context, STR("loops")), err) &&
           restore_rounds(mem, x, member(context, STR("rounds")), err);
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
    state_set_step(mem, x, read_round(x->program, round), step->index, state);
    return true;
}

static struct str after_colon(struct str name)
{
    int64_t colon = str_find(name, STR(":"), 0);

    return colon < 0 ? STR_NONE : str_slice(name, (size_t)colon + 1, name.len);
}

/* [number, value] */
static struct value numbered(struct arena *mem, int64_t number, struct value v)
{
    struct value *pair = ARENA_ARRAY(mem, 2, struct value);

    pair[0] = value_int(number);
    pair[1] = v;
    return value_list(pair, 2);
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
            return broken(err, "a loop is not in its program");
        if (is_done)
            state_end_round(
                mem, x,
                (struct round){.loop = h.step->index + 1, .visit = h.visit, .index = h.number});
        else if (is_error)
            state_add_loop_error(mem, x, h.step->index, h.visit, v, json_len(mem, v));
        else
            state_add_collected(mem, x, h.step->index, h.visit,
                                h.number < 0 ? v : numbered(mem, h.number, v), json_len(mem, v));
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
    state_count_visits(mem, x, read_round(x->program, member(delta, STR("visitsIn"))),
                       member(delta, STR("visits")));
    v = member(delta, STR("dropped"));
    for (uint32_t i = 0; v.kind == VALUE_LIST && i < v.len; i++)
        if (step_index(x->program, value_text(v.items[i])) != NO_STEP)
            state_drop_step(x, step_index(x->program, value_text(v.items[i])));
    v = member(delta, STR("list"));
    if (v.kind == VALUE_LIST && step_index(x->program, row->step) != NO_STEP)
        state_begin_loop(mem, x, step_index(x->program, row->step), row->visit, v,
                         int_member(delta, STR("started")));
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
    if (row->visit > 0 && step_index(x->program, row->step) != NO_STEP)
        state_give_visit(x, step_index(x->program, row->step), row->visit);
    is_last = member(delta, STR("retry")).kind == VALUE_ABSENT;
    if (row->kind == HISTORY_FORWARD && is_last &&
        !fold_step(mem, x, row, member(delta, STR("round")), has_moved, err))
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

static bool restore_frames(struct arena *mem, const struct program *p, struct value stored,
                           struct strand *out, struct err *err)
{
    struct frame *frames;

    if (stored.kind != VALUE_LIST || stored.len == 0)
        return true;
    frames = ARENA_ARRAY(mem, stored.len, struct frame);
    for (uint32_t i = 0; i < stored.len; i++) {
        struct value f = stored.items[i];
        const struct step *step = program_step(p, text_member(f, STR("step")));

        if (step == NULL)
            return broken(err, "a step around the current one is not in its program");
        frames[i] =
            (struct frame){.step = step->index,
                           .block = step->first_block + (uint32_t)int_member(f, STR("block")),
                           .visit = int_member(f, STR("visit")),
                           .started_at_us = int_member(f, STR("startedAt")),
                           .index = int_member(f, STR("index"))};
    }
    out->frames = frames;
    out->frame_count = stored.len;
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

static bool restore_strand(struct arena *mem, const struct program *p, struct value stored,
                           struct strand *out, struct err *err)
{
    struct value v = member(stored, STR("step"));
    struct cursor *c = &out->cursor;
    const struct step *step;

    *out = (struct strand){0};
    c->step = p->step_count;
    if (v.kind == VALUE_STRING) {
        step = program_step(p, value_text(v));
        if (step == NULL)
            return broken(err, "the current step is not in its program");
        c->step = step->index;
    }
    if (!phase_read(text_member(stored, STR("phase")), &c->phase))
        return broken(err, "the cursor has an unknown phase");
    c->visit = int_member(stored, STR("visit"));
    c->attempt = int_member(stored, STR("attempt"));
    c->started_at_us = int_member(stored, STR("startedAt"));
    c->wake_at_us = int_member(stored, STR("wakeAt"));
    c->input_json = json_member(mem, stored, STR("input"));
    c->types_json = json_member(mem, stored, STR("types"));
    c->correlation = text_member(stored, STR("correlation"));
    c->timeout_at_us = int_member(stored, STR("timeoutAt"));
    c->remind_at_us = int_member(stored, STR("remindAt"));
    c->remind_every_us = int_member(stored, STR("remindEvery"));
    c->reminders = int_member(stored, STR("reminders"));
    c->unmatched = int_member(stored, STR("unmatched"));
    c->frozen_json = json_member(mem, stored, STR("frozen"));
    c->awaited = text_member(stored, STR("awaited"));
    c->failed_at = text_member(stored, STR("failedAt"));
    c->tries = int_member(stored, STR("tries"));
    c->is_unsure = int_member(stored, STR("unsure")) != 0;
    c->asked = int_member(stored, STR("asked"));
    restore_asking(mem, c, member(stored, STR("asking")));
    c->seq = int_member(stored, STR("seq"));
    c->kept_seq = int_member(stored, STR("keptSeq"));
    c->kept_answer_json = json_member(mem, stored, STR("keptAnswer"));
    out->waiting_for_json = json_member(mem, stored, STR("why"));
    return restore_frames(mem, p, member(stored, STR("in")), out, err);
}

static bool restore_strands(struct arena *mem, const struct program *p, struct value stored,
                            const struct strand **out, uint32_t *count, struct err *err)
{
    struct strand *strands;

    if (stored.kind != VALUE_LIST || stored.len == 0)
        return true;
    strands = ARENA_ARRAY(mem, stored.len, struct strand);
    for (uint32_t i = 0; i < stored.len; i++)
        if (!restore_strand(mem, p, stored.items[i], &strands[i], err))
            return false;
    *out = strands;
    *count = stored.len;
    return true;
}

/* [[code, visit], ...] */
static const struct past_visit *restore_again(struct arena *mem, struct value stored)
{
    const struct past_visit *out = NULL, **link = &out;

    for (uint32_t i = 0; stored.kind == VALUE_LIST && i < stored.len; i++) {
        struct value pair = stored.items[i];
        struct past_visit *made;

        if (pair.kind != VALUE_LIST || pair.len != 2 || pair.items[0].kind != VALUE_STRING ||
            pair.items[1].kind != VALUE_INT)
            continue;
        made = ARENA_NEW(mem, struct past_visit);
        *made = (struct past_visit){.code = value_text(pair.items[0]), .visit = pair.items[1].i};
        *link = made;
        link = &made->next;
    }
    return out;
}

static bool restore_undo(struct arena *mem, struct execution *x, struct value stored,
                         struct err *err)
{
    struct undo *undo;

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
    undo->is_known = int_member(stored, STR("known")) != 0;
    undo->is_again = int_member(stored, STR("alone")) != 0;
    undo->tried_before = int_member(stored, STR("triedBefore"));
    undo->from = restore_from(mem, x, member(stored, STR("from")));
    undo->again = restore_again(mem, member(stored, STR("again")));
    undo->place = (uint32_t)int_member(stored, STR("place"));
    x->undo = undo;
    return restore_strands(mem, x->program, member(stored, STR("beside")), &undo->others,
                           &undo->other_count, err);
}

static void restore_pause(struct arena *mem, struct execution *x, struct value stored)
{
    struct pause *pause;

    if (stored.kind != VALUE_MAP)
        return;
    pause = ARENA_NEW(mem, struct pause);
    pause->since_us = int_member(stored, STR("since"));
    pause->reason = text_member(stored, STR("reason"));
    pause->by_json = json_member(mem, stored, STR("by"));
    x->pause = pause;
}

static bool restore_cursor(struct arena *mem, struct execution *x, struct str text, struct err *err)
{
    struct strand first;
    struct value stored;

    if (text.len == 0)
        return true;
    if (!read_json(mem, text, &stored, err) ||
        !restore_strand(mem, x->program, stored, &first, err))
        return false;
    x->cursor = first.cursor;
    x->frames = first.frames;
    x->frame_count = first.frame_count;
    x->strand_waiting_json = first.waiting_for_json;
    x->jumps = (uint32_t)int_member(stored, STR("jumps"));
    x->place = (uint32_t)int_member(stored, STR("place"));
    restore_pause(mem, x, member(stored, STR("pause")));
    return restore_correlation(mem, x, err) &&
           restore_strands(mem, x->program, member(stored, STR("beside")), &x->others,
                           &x->other_count, err) &&
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
    state_prune(mem, x);
    *out = x;
    return true;
}
