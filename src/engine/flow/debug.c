/*
 * debug.c - stopping before steps, and going on; see debug.h.
 *
 * The gate is debug_may_begin(), before a strand begins a step. Whether an
 * execution is stopped is one fact, debug.since_us; which strands are stopped
 * follows from where they stand: those that are about to begin a step.
 */
#include "engine/flow/debug.h"
#include "engine/actions.h"
#include "engine/context.h"
#include "engine/flow/repair.h"
#include "engine/flow/step.h"
#include "engine/flow/strand.h"
#include "value/object.h"
#include "value/timefmt.h"

/* The one of the turn, to be changed. */
static struct debug *own(struct turn *t)
{
    struct debug *d = ARENA_NEW(t->mem, struct debug);

    *d = *t->x->debug;
    t->x->debug = d;
    return d;
}

static struct value breakpoints(struct turn *t)
{
    return turn_read(t, t->x->debug->breakpoints_json, value_null());
}

/* --- the gate --- */

static bool is_breakpoint(struct turn *t, struct str code)
{
    struct value list = t->x->debug->breakpoints_json.len > 0 ? breakpoints(t) : value_null();

    for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len; i++)
        if (str_eq(value_text_or(list.items[i], STR_NONE), code))
            return true;
    return false;
}

/* A start in debug runs the first step. */
static bool is_first_step(const struct turn *t)
{
    return t->before->started_at_us == 0 && t->steps == 0;
}

static void stop(struct turn *t)
{
    struct buf why;

    own(t)->since_us = t->wall_us;
    (void)turn_row(t, HISTORY_EVENT, turn_code(t), str_of(status_name(STATUS_WAITING_DEBUG)));
    buf_init_arena(&why, t->mem);
    field_kind(&why, WAITING_DEBUG);
    field_text(&why, "next", turn_code(t));
    turn_note(t, "wait", field_end(&why));
}

bool debug_may_begin(struct turn *t)
{
    const struct debug *d = t->x->debug;

    /* What failed behind a step that has ended begins none. */
    if (d == NULL || t->x->cursor.behind != BEHIND_NOTHING)
        return true;
    if (t->may_begin_step) {
        t->may_begin_step = false;
        return true;
    }
    if (execution_is_stopped(t->x))
        return false;
    if (d->until == DEBUG_STEP ? is_first_step(t) : !is_breakpoint(t, turn_code(t)))
        return true;
    stop(t);
    return false;
}

void debug_step_ended(struct turn *t)
{
    struct debug *d;

    if (t->x->debug == NULL || t->x->rollback != NULL)
        return;
    d = own(t);
    d->after = turn_code(t);
    if (d->until == DEBUG_TO && str_eq(d->to, d->after)) {
        d->until = DEBUG_STEP;
        d->to = STR_NONE;
    }
}

bool debug_stops(const struct execution *x, const struct cursor *cursor)
{
    return execution_is_stopped(x) && x->rollback == NULL && cursor->phase == PHASE_ENTER &&
           cursor->behind == BEHIND_NOTHING;
}

bool debug_holds_timer(const struct execution *x, const struct cursor *cursor)
{
    return execution_is_stopped(x) && x->rollback == NULL &&
           (cursor->phase == PHASE_WAIT || cursor->phase == PHASE_RETRY);
}

static uint32_t find_stopped(const struct execution *x)
{
    for (uint32_t i = 0; i < execution_strands(x); i++) {
        struct strand s = strand_at(x, i);

        if (debug_stops(x, &s.cursor))
            return i;
    }
    return NO_STRAND;
}

uint32_t debug_first(const struct execution *x)
{
    uint32_t index = find_stopped(x);

    return index != NO_STRAND ? index : 0;
}

/* --- breakpoints --- */

static bool check_code(struct arena *mem, const struct program *p, struct value code,
                       struct str pointer, struct findings *out)
{
    struct str text = value_text_or(code, STR_NONE);

    if (program_step(p, text) != NULL)
        return true;
    *VEC_ADD(mem, out) = (struct finding){
        .pointer = pointer,
        .code = STR("unknown_step"),
        .message = sentence_make(mem, "there is no step '%.*s'", STR_ARG(text)),
        .hint = repair_nearest_step(mem, p, text),
    };
    return false;
}

bool state_check_breakpoints(struct arena *mem, const struct program *p, struct value list,
                             const char *pointer, struct findings *out, struct err *err)
{
    bool ok = true;

    if (list.kind == VALUE_LIST && list.len > BREAKPOINTS_MAX) {
        *VEC_ADD(mem, out) = (struct finding){
            .pointer = str_of(pointer),
            .code = STR("bad_value"),
            .message = sentence_make(mem, "there are at most %d breakpoints", BREAKPOINTS_MAX)};
        ok = false;
    }
    for (uint32_t i = 0; ok && list.kind == VALUE_LIST && i < list.len && out->count < 50; i++)
        (void)check_code(mem, p, list.items[i], str_printf(mem, "%s/%u", pointer, i), out);
    if (out->count > 0)
        return err_set(err, ERR_INVALID, "%pS", SENTENCE_ARG(out->items[0].message));
    return true;
}

bool debug_set_breakpoints(struct turn *t, struct err *err)
{
    struct execution *x = t->x;
    struct str json = STR_NONE, by;
    struct buf row;

    if (x->debug == NULL)
        return err_set(err, ERR_CONFLICT, "the execution was not started to be debugged");
    if (!state_check_breakpoints(t->mem, x->program, t->ev->nodes, "/nodes", &t->out->findings,
                                 err))
        return false;
    if (t->ev->nodes.len > 0 && !turn_json(t, t->ev->nodes, &json))
        return err_set(err, ERR_INVALID, "%pS", SENTENCE_ARG(t->failure.message));
    own(t)->breakpoints_json = json;
    buf_init_arena(&row, t->mem);
    field_json(&row, "nodes", json.len > 0 ? json : STR("[]"));
    turn_row(t, HISTORY_EVENT, STR_NONE, action_row(ACTION_BREAKPOINTS))->input_json =
        field_end(&row);
    by = pause_who(t);
    if (by.len > 0) {
        buf_init_arena(&row, t->mem);
        field_json(&row, "by", by);
        turn_note(t, "breakpoints", field_end(&row));
    }
    return true;
}

/* Those that the program has, as JSON; or empty. */
static struct str keep_breakpoints(struct turn *t, struct value list)
{
    struct value *kept = ARENA_ARRAY(t->mem, list.len + 1u, struct value);
    struct str json = STR_NONE;
    uint32_t count = 0;

    for (uint32_t i = 0; i < list.len; i++)
        if (program_step(t->x->program, value_text_or(list.items[i], STR_NONE)) != NULL)
            kept[count++] = list.items[i];
    if (count > 0 && !turn_json(t, value_list(kept, count), &json))
        PANIC("a list of codes was read from JSON");
    return json;
}

void debug_move(struct turn *t)
{
    struct value list;
    struct debug *d;

    if (t->x->debug == NULL || t->x->program == t->before->program)
        return;
    d = own(t);
    list = breakpoints(t);
    if (list.kind == VALUE_LIST)
        d->breakpoints_json = keep_breakpoints(t, list);
    if (d->until == DEBUG_TO && program_step(t->x->program, d->to) == NULL) {
        d->until = DEBUG_STEP;
        d->to = STR_NONE;
    }
}

/* --- timers --- */

static int64_t later(int64_t at_us, int64_t by_us)
{
    int64_t out;

    return at_us == 0 || __builtin_add_overflow(at_us, by_us, &out) ? at_us : out;
}

/* waitingFor with another `until`. */
static struct str with_until(struct turn *t, struct str json, int64_t until_us)
{
    struct value why = turn_read(t, json, value_null());
    struct str out;

    if (until_us == 0 || value_map_member(why, STR("until")).kind == VALUE_ABSENT)
        return json;
    why = state_with(t->mem, why, STR("until"), time_text(t->mem, until_us));
    return turn_json(t, why, &out) ? out : json;
}

static void debug_move_reminders(struct turn *t, struct cursor *cursor, int64_t by_us)
{
    struct value times = turn_read(t, cursor->remind_times_json, value_null()), *moved;

    cursor->remind_at_us = later(cursor->remind_at_us, by_us);
    if (times.kind != VALUE_LIST || times.len == 0)
        return;
    moved = ARENA_ARRAY(t->mem, times.len, struct value);
    for (uint32_t i = 0; i < times.len; i++)
        moved[i] = times.items[i].kind == VALUE_INT ? value_int(later(times.items[i].i, by_us))
                                                    : times.items[i];
    if (!turn_json(t, value_list(moved, times.len), &cursor->remind_times_json))
        PANIC("a list of times was read from JSON");
}

/* A timer that was set while the execution was stopped has stood for that long only. */
static int64_t stood(const struct turn *t, const struct cursor *cursor)
{
    int64_t since_us = t->x->debug->since_us;

    if (cursor->stood_us > since_us)
        since_us = cursor->stood_us;
    return t->wall_us > since_us ? t->wall_us - since_us : 0;
}

static void debug_move_strand(struct turn *t, struct strand *s)
{
    struct cursor *cursor = &s->cursor;
    int64_t by_us = stood(t, cursor);

    if (!debug_holds_timer(t->x, cursor))
        return;
    cursor->wake_at_us = later(cursor->wake_at_us, by_us);
    cursor->timeout_at_us = later(cursor->timeout_at_us, by_us);
    debug_move_reminders(t, cursor, by_us);
    s->waiting_for_json =
        with_until(t, s->waiting_for_json,
                   cursor->phase == PHASE_RETRY ? cursor->wake_at_us : cursor->timeout_at_us);
}

/* Those of reminders: of the next attempt, and of the one behind that. */
static void move_reminding(struct turn *t)
{
    struct execution *x = t->x;
    const struct strand **moved;

    if (x->reminding_count == 0)
        return;
    moved = ARENA_ARRAY(t->mem, x->reminding_count, const struct strand *);
    for (uint32_t i = 0; i < x->reminding_count; i++) {
        struct strand *s = ARENA_NEW(t->mem, struct strand);

        *s = *x->reminding[i];
        if (debug_holds_timer(x, &s->cursor))
            s->cursor.wake_at_us = later(s->cursor.wake_at_us, stood(t, &s->cursor));
        s->cursor.remind_at_us = later(s->cursor.remind_at_us, stood(t, &s->cursor));
        moved[i] = s;
    }
    x->reminding = moved;
}

static void move_timers(struct turn *t)
{
    struct execution *x = t->x;
    uint32_t first = x->strand_index;

    x->deadline_at_us = later(x->deadline_at_us, stood(t, &(struct cursor){0}));
    for (uint32_t i = 0; i < execution_strands(x); i++) {
        struct strand s;

        strand_take(t, i);
        s = strand_in_hand(x);
        debug_move_strand(t, &s);
        strand_put_in_hand(x, &s);
    }
    strand_take(t, first);
    move_reminding(t);
}

int64_t debug_wake_at(const struct execution *x)
{
    int64_t at_us = 0;

    for (uint32_t i = 0; i < execution_strands(x); i++) {
        const struct cursor *c = execution_cursor(x, i);

        if (c->wake_at_us > 0 && !debug_holds_timer(x, c) && (at_us == 0 || c->wake_at_us < at_us))
            at_us = c->wake_at_us;
    }
    return at_us;
}

/* --- going on --- */

/* "CODE.NUMBER/...": the branches and iterations that the strand is in; empty outside all. */
static struct str branch_path(struct turn *t, const struct strand *s)
{
    struct buf out;

    buf_init_arena(&out, t->mem);
    for (uint32_t i = 0; i < s->frame_count; i++) {
        const struct frame *f = &s->frames[i];
        const struct step *step = &t->x->program->steps[f->step];

        if (!frame_runs_at_once(step))
            continue;
        if (out.len > 0)
            buf_char(&out, '/');
        buf_str(&out, step->code);
        buf_printf(
            &out, ".%lld",
            (long long)(step->kind == STEP_PARALLEL ? f->block - step->first_block : f->index));
    }
    return buf_view(&out);
}

/* The strand that is to go on; NO_STRAND: there is none in that branch. */
static uint32_t find_branch(struct turn *t, struct str branch)
{
    for (uint32_t i = 0; i < execution_strands(t->x); i++) {
        struct strand s = strand_at(t->x, i);

        if (debug_stops(t->x, &s.cursor) && (branch.len == 0 || str_eq(branch_path(t, &s), branch)))
            return i;
    }
    return NO_STRAND;
}

static bool may_continue(struct turn *t, struct err *err)
{
    const struct execution *x = t->x;
    struct str to = t->ev->to;

    if (x->debug == NULL)
        return err_set(err, ERR_CONFLICT, "the execution was not started to be debugged");
    if (x->status != STATUS_WAITING_DEBUG)
        return err_set(err, ERR_CONFLICT, "the execution is not stopped: it is %s",
                       status_name(x->status));
    if (to.len > 0 && !str_eq(to, STR("end")) &&
        !check_code(t->mem, x->program, value_string(to), STR("/to"), &t->out->findings))
        return err_set(err, ERR_INVALID, "%pS", SENTENCE_ARG(t->out->findings.items[0].message));
    if (find_branch(t, STR_NONE) == NO_STRAND)
        return err_set(err, ERR_CONFLICT, "no step is stopped");
    if (find_branch(t, t->ev->branch) == NO_STRAND)
        return repair_refuse(t, "/branch", "unknown_branch", SENTENCE_NONE,
                             sentence_make(t->mem, "no step is stopped in the branch '%.*s'",
                                           STR_ARG(t->ev->branch)),
                             err);
    return true;
}

static bool refuse_set(struct turn *t, const char *pointer, const char *code,
                       struct sentence message, struct err *err)
{
    return repair_refuse(t, pointer, code, SENTENCE_NONE, message, err);
}

/* {variables: {...}}, laid over those that there are. The last row says which. */
static bool set_variables(struct turn *t, struct err *err)
{
    struct value set = t->ev->set, given, all;
    struct str given_json, all_json;

    if (set.kind == VALUE_ABSENT)
        return true;
    for (uint32_t i = 0; set.kind == VALUE_MAP && i < set.len; i++)
        if (!str_eq(value_text(set.map->entries[i].key), STR("variables")))
            return refuse_set(t, "/set", "unknown_field",
                              SENTENCE("nothing but variables can be set"), err);
    given = value_map_member(set, STR("variables"));
    if (given.kind != VALUE_MAP)
        return refuse_set(t, "/set/variables", "wrong_type",
                          SENTENCE("the variables must be an object"), err);
    if (!turn_freeze(t, &given, &given_json))
        return refuse_set(t, "/set/variables", "bad_value", t->failure.message, err);
    all = state_merge(t->mem, t->x->variables, value_copy(t->mem, given));
    if (!turn_freeze(t, &all, &all_json))
        return refuse_set(t, "/set/variables", "bad_value", t->failure.message, err);
    if (t->x->context_bytes - t->x->variables_json.len + all_json.len > CONTEXT_BYTES_MAX)
        return err_set(err, ERR_TOO_LARGE, "the context would be larger than %d bytes",
                       CONTEXT_BYTES_MAX);
    turn_note(t, "variables", given_json);
    state_set_variables(t->x, all, all_json);
    return true;
}

/* Who lets it go on, how far, and with what. */
static void note_continue(struct turn *t)
{
    const struct event *ev = t->ev;
    struct history_row *row = turn_row(t, HISTORY_EVENT, STR_NONE, action_row(ACTION_CONTINUE));
    struct str by = pause_who(t), set;
    struct buf out;

    buf_init_arena(&out, t->mem);
    if (ev->to.len > 0)
        field_text(&out, "to", ev->to);
    if (ev->branch.len > 0)
        field_text(&out, "branch", ev->branch);
    if (ev->set.kind == VALUE_MAP && turn_json(t, ev->set, &set))
        field_json(&out, "set", set);
    if (out.len > 0)
        row->input_json = field_end(&out);
    if (by.len == 0)
        return;
    buf_init_arena(&out, t->mem);
    field_json(&out, "by", by);
    turn_note(t, "continue", field_end(&out));
}

bool debug_continue(struct turn *t, struct str *branch, struct err *err)
{
    struct strand chosen;
    struct debug *d;

    if (!may_continue(t, err))
        return false;
    chosen = strand_at(t->x, find_branch(t, t->ev->branch));
    *branch = branch_path(t, &chosen);
    note_continue(t);
    if (!set_variables(t, err))
        return false;
    d = own(t);
    d->to = STR_NONE;
    if (t->ev->to.len == 0) {
        d->until = DEBUG_STEP;
    } else if (str_eq(t->ev->to, STR("end"))) {
        d->until = DEBUG_END;
    } else {
        d->until = DEBUG_TO;
        d->to = str_copy(t->mem, t->ev->to);
    }
    move_timers(t);
    t->is_continued = true;
    return true;
}

bool debug_run(struct turn *t, struct str branch)
{
    uint32_t index = find_branch(t, branch);

    /* The branch may be over with what came meanwhile. */
    if (index == NO_STRAND)
        index = find_branch(t, STR_NONE);
    if (!execution_is_stopped(t->x))
        return true;
    own(t)->since_us = 0;
    if (index == NO_STRAND)
        return true;
    strand_take(t, index);
    t->may_begin_step = true;
    return step_run_all(t);
}

bool debug_is_idle(const struct turn *t)
{
    return execution_is_stopped(t->x) && turn_goes_forward(t) && t->x->pause == NULL &&
           find_stopped(t->x) == NO_STRAND;
}

void debug_release(struct turn *t)
{
    move_timers(t);
    own(t)->since_us = 0;
}

/* --- what it shows --- */

/* {kind: debug, next, branch?}: of one strand that is stopped. */
static void write_strand(struct turn *t, const struct strand *s, struct buf *out)
{
    struct str branch = branch_path(t, s);
    struct buf why;

    buf_init_arena(&why, t->mem);
    field_kind(&why, WAITING_DEBUG);
    field_text(&why, "next", t->x->program->steps[s->cursor.step].code);
    if (branch.len > 0)
        field_text(&why, "branch", branch);
    buf_str(out, field_end(&why));
}

/* All strands, stopped or waiting, in their order; the one in hand waits for `first`. */
static void write_branches(struct turn *t, struct buf *why)
{
    const struct execution *x = t->x;
    uint32_t count = 0;
    struct buf list;

    buf_init_arena(&list, t->mem);
    for (uint32_t i = 0; i < execution_strands(x); i++) {
        struct strand s = strand_at(x, i);
        struct str waits = i == x->strand_index ? x->strand_waiting_json : s.waiting_for_json;
        bool stops = debug_stops(x, &s.cursor);

        if ((!stops && waits.len == 0) || count++ >= BRANCHES_SHOWN)
            continue;
        buf_char(&list, count == 1 ? '[' : ',');
        if (stops)
            write_strand(t, &s, &list);
        else
            buf_str(&list, waits);
    }
    buf_char(&list, ']');
    field_json(why, "branches", buf_view(&list));
    if (count > BRANCHES_SHOWN)
        field_json(why, "branchCount", str_printf(t->mem, "%u", count));
}

/* {kind: debug, step?, next, branch?, since, branches?} */
static struct str debug_describe(struct turn *t)
{
    const struct execution *x = t->x;
    struct strand mine = strand_in_hand(x);
    struct str branch = branch_path(t, &mine);
    struct buf why;

    buf_init_arena(&why, t->mem);
    field_kind(&why, WAITING_DEBUG);
    if (x->debug->after.len > 0)
        field_text(&why, "step", x->debug->after);
    field_text(&why, "next", turn_code(t));
    if (branch.len > 0)
        field_text(&why, "branch", branch);
    field_time(&why, "since", x->debug->since_us);
    if (x->other_count > 0)
        write_branches(t, &why);
    return field_end(&why);
}

void debug_settle(struct turn *t)
{
    struct execution *x = t->x;

    if (!execution_is_stopped(x))
        return;
    if (!turn_goes_forward(t)) {
        own(t)->since_us = 0;
        return;
    }
    if (x->other_count == 0) {
        x->strand_waiting_json = STR_NONE;
        x->strand_waiting_kind = WAITING_NONE;
    }
    /* An incident is shown first. */
    if (x->cursor.phase == PHASE_HELD)
        return;
    x->status = STATUS_WAITING_DEBUG;
    execution_set_waiting(x, WAITING_DEBUG, debug_describe(t));
}
