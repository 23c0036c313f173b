/*
 * stopped.c - what an execution has asked for and waits for no more: executions that it has
 * started, and calls that have left; see procedure.h.
 *
 *     a strand leaves the child that it waits for --> the child is cancelled, and is `stopped`
 *     rolling back begins                         --> so are those that are still waited for
 *     a stopped child has ended                   --> it is struck off; what it could not undo
 *                                                     stands in the row, for rolling back
 *     all have ended                              --> the parent undoes what came before
 *
 *     a strand is stopped whose call has left     --> the attempt is `stopped`
 *     it is answered, or its time is up           --> it is struck off
 *
 * A call that is stopped is undone as what its answer says (stopped_call.c), or without one as what
 * may have happened; but not before that is there: a refund that overtakes its charge undoes nothing.
 *
 * Whatever lets a strand leave its child, child_compare() sees it: nothing else cancels one. A
 * child says that it has ended; should that get lost, the parent looks for itself once an hour
 * while it rolls back. One that is parked does not end: after a day it is a dead letter of the
 * parent, too.
 */
#include "base/map.h"
#include "engine/command/command.h"
#include "engine/command/procedure.h"
#include "engine/commit/ask.h"
#include "engine/commit/reads.h"
#include "engine/flow/rollback.h"
#include "engine/flow/step.h"
#include "engine/flow/strand.h"
#include "value/json.h"

static const int64_t LOOK_STOPPED_US = INT64_C(3600) * 1000000;
static const int64_t LOOK_CALL_US = INT64_C(30) * 1000000;
static const int64_t GIVE_UP_AFTER_US = INT64_C(86400) * 1000000;

enum { NAMES_MAX = 20 }; /* of what one child could not undo */

static struct str bytes_of(const struct uuid *id)
{
    return str_from((const char *)id->bytes, sizeof(id->bytes));
}

/* --- leaving a child --- */

static const char *const rollback_names[] = {[CANCEL_BY_STRATEGY] = "by_strategy",
                                             [CANCEL_ROLLS_BACK] = "rolls_back",
                                             [CANCEL_LEAVES] = "leaves"};

/*
 * Nobody takes up again what is cancelled: so a child undoes what it has done, whatever its own
 * onError says of failures, unless an operator leaves what was done, or has cancelled a parent
 * whose onError undoes nothing.
 */
static enum cancel_rollback stopped_how(const struct turn *t)
{
    if (t->ev->kind != EVENT_CANCEL)
        return CANCEL_ROLLS_BACK;
    if (t->ev->cancel_rollback != CANCEL_BY_STRATEGY)
        return t->ev->cancel_rollback;
    return t->x->program->on_error == ON_ERROR_COMPENSATE ? CANCEL_ROLLS_BACK : CANCEL_BY_STRATEGY;
}

static void stopped_notify(struct turn *t, struct uuid id)
{
    bool is_cancelled = t->ev->kind == EVENT_CANCEL;
    enum cancel_rollback rollback = stopped_how(t);
    struct str reason = is_cancelled ? t->ev->reason : STR_NONE;
    struct buf how;

    buf_init_arena(&how, t->mem);
    field_text(&how, "rollback", str_of(rollback_names[rollback]));
    field_text(&how, "reason",
               reason.len > 0 ? reason : STR("the execution that waited for it was stopped"));
    *VEC_ADD(t->mem, &t->out->notices) = (struct notice){
        .execution = id,
        .kind = NOTICE_CANCEL,
        .key = str_printf(t->mem, CHILD_PARENT_KEY "%s", UUID_STR(t->x->id).ptr),
        .payload_json = field_end(&how),
    };
}

enum cancel_rollback child_read_rollback(struct str name)
{
    for (unsigned i = 0; i <= CANCEL_LEAVES; i++)
        if (str_eq(name, str_of(rollback_names[i])))
            return (enum cancel_rollback)i;
    return CANCEL_BY_STRATEGY;
}

/* One more; beyond STRANDS_MAX the oldest is forgotten, which nothing but its end will tell of. */
static void stopped_add(struct turn *t, struct stopped_child one)
{
    struct execution *x = t->x;
    struct stopped_child *all = ARENA_ARRAY(t->mem, x->stopped_count + 1u, struct stopped_child);
    uint32_t from = x->stopped_count < STRANDS_MAX ? 0 : 1;
    uint32_t kept = x->stopped_count - from;

    if (kept > 0)
        memcpy(all, x->stopped + from, kept * sizeof(*all));
    all[kept] = one;
    x->stopped = all;
    x->stopped_count = kept + 1;
}

void stopped_add_call(struct turn *t)
{
    const struct cursor *cursor = &t->x->cursor;
    struct stopped_child one;

    /* What was asked for in this very turn does not leave: ask_compare(). */
    if (!ask_is_waited_for(cursor) || cursor->asked_seq > t->before->seq ||
        cursor->deferred_seq > 0 || cursor->reconciling != NULL)
        return;
    one = (struct stopped_child){.call_seq = cursor->asked_seq,
                                 .call_epoch = cursor->asked_epoch,
                                 .step = turn_code(t),
                                 .since_us = t->wall_us,
                                 .look_at_us = cursor->wake_at_us};
    one.strand = stopped_keep(t, &one.loop_json);
    stopped_add(t, one);
}

static bool keeps_strands(const struct execution *x)
{
    return !status_is_terminal(x->status) || x->status == STATUS_FAILED;
}

/* The children that strands wait for, but for those of others: keys are the bytes of ids. */
static void collect_awaited(struct turn *t, struct map *out)
{
    struct uuid *ids = ARENA_ARRAY(t->mem, execution_strands(t->x), struct uuid);

    map_init(out, t->mem);
    if (!keeps_strands(t->x))
        return;
    for (uint32_t i = 0; i < execution_strands(t->x); i++)
        if (child_is_own(execution_cursor(t->x, i), &ids[i]))
            map_put(out, bytes_of(&ids[i]), &ids[i]);
}

static bool holds_id(const struct uuid *ids, size_t count, struct uuid id)
{
    for (size_t i = 0; i < count; i++)
        if (uuid_cmp(ids[i], id) == 0)
            return true;
    return false;
}

/* Whether a strand was to wait for it, and no step has said its id. */
static bool is_for_strands(const struct turn *t, struct uuid id)
{
    return holds_id(t->awaited_starts.items, t->awaited_starts.count, id) &&
           !holds_id(t->named.items, t->named.count, id);
}

/* A strand that waits for it, rather its own than one that has joined it; or NO_STRAND. */
static uint32_t find_waiting(const struct execution *x, struct uuid id)
{
    uint32_t found = NO_STRAND;
    struct uuid awaited;

    for (uint32_t i = 0; i < execution_strands(x); i++) {
        const struct cursor *cursor = execution_cursor(x, i);

        if (!child_awaited(cursor, &awaited) || uuid_cmp(awaited, id) != 0)
            continue;
        if (!cursor->is_joined)
            return i;
        found = found == NO_STRAND ? i : found;
    }
    return found;
}

bool child_is_wanted(const struct turn *t, struct uuid id)
{
    return !is_for_strands(t, id) || find_waiting(t->x, id) != NO_STRAND;
}

/* One that a strand has joined, and whose own strand has left it in this turn, is its own. */
static void inherit_starts(struct turn *t)
{
    for (size_t i = 0; keeps_strands(t->x) && i < t->awaited_starts.count; i++) {
        uint32_t strand = find_waiting(t->x, t->awaited_starts.items[i]);

        if (strand == NO_STRAND || !execution_cursor(t->x, strand)->is_joined)
            continue;
        strand_take(t, strand);
        t->x->cursor.is_joined = false;
        t->x->cursor.is_started = true;
    }
}

/* One that this very turn was to start, for a strand that has been stopped since, never begins. */
static void drop_unwanted_starts(struct turn *t, const struct map *awaited)
{
    size_t kept = 0;

    for (size_t i = 0; i < t->out->starts.count; i++) {
        struct execution *start = t->out->starts.items[i];

        if (!is_for_strands(t, start->id) || map_find(awaited, bytes_of(&start->id)) != NULL)
            t->out->starts.items[kept++] = start;
    }
    t->out->starts.count = kept;
}

/* Whether its end is part of this turn already. */
static bool was_heard(const struct turn *t, struct uuid id)
{
    return holds_id(t->heard.items, t->heard.count, id);
}

/* Whether the child will say that it has ended: else it may have done so while the strand was held. */
static bool may_tell(const struct cursor *cursor)
{
    return cursor->is_started && cursor->phase == PHASE_JOB && cursor->deferred_seq == 0;
}

/* The strand does not wait for that any more, or only until it has been undone. */
static void stopped_leave(struct turn *t, const struct execution *of, const struct cursor *cursor,
                          struct uuid id)
{
    const struct child_read *told = child_told(t, id);

    if (was_heard(t, id))
        return;
    if (told == NULL || told->is_unseen)
        stopped_notify(t, id);
    if (keeps_strands(t->x))
        stopped_add(t, (struct stopped_child){.id = id,
                                              .step = of->program->steps[cursor->step].code,
                                              .since_us = t->wall_us,
                                              .look_at_us = may_tell(cursor)
                                                                ? t->wall_us + LOOK_STOPPED_US
                                                                : WAKE_AT_ONCE});
}

static bool waits_for_own(const struct execution *x)
{
    struct uuid id;

    for (uint32_t i = 0; i < execution_strands(x); i++)
        if (child_is_own(execution_cursor(x, i), &id))
            return true;
    return false;
}

static bool has_stopped_child(const struct execution *x)
{
    for (uint32_t i = 0; i < x->stopped_count; i++)
        if (x->stopped[i].call_seq == 0)
            return true;
    return false;
}

bool child_is_left(const struct turn *t)
{
    struct uuid id;

    for (uint32_t i = 0; i < execution_strands(t->before); i++)
        if (child_is_own(execution_cursor(t->before, i), &id) && !was_heard(t, id))
            return true;
    return has_stopped_child(t->x) || waits_for_own(t->x);
}

void child_compare(struct turn *t)
{
    const struct execution *before = t->before;
    bool begins_rollback = before->rollback == NULL && t->x->rollback != NULL;
    struct map awaited;
    struct uuid id;

    if (!waits_for_own(before) && t->awaited_starts.count == 0)
        return;
    inherit_starts(t);
    collect_awaited(t, &awaited);
    drop_unwanted_starts(t, &awaited);
    /* Those of one that rolls back were cancelled when that began. */
    for (uint32_t i = 0; before->rollback == NULL && i < execution_strands(before); i++) {
        const struct cursor *cursor = execution_cursor(before, i);

        if (child_is_own(cursor, &id) && map_find(&awaited, bytes_of(&id)) == NULL)
            stopped_leave(t, before, cursor, id);
    }
    for (uint32_t i = 0; begins_rollback && i < execution_strands(t->x); i++)
        if (child_is_own(execution_cursor(t->x, i), &id))
            stopped_leave(t, t->x, execution_cursor(t->x, i), id);
}

/* --- what they could not undo --- */

/* ["STEP/CODE", ...]; the last is the step alone when there are more. Empty: nothing is left. */
static struct str unrolled_names(struct turn *t, struct str step, struct value error)
{
    struct value failed =
        value_map_member(value_map_member(error, STR("compensation")), STR("failed"));
    struct buf out;

    if (failed.kind != VALUE_LIST || failed.len == 0)
        return STR_NONE;
    buf_init_arena(&out, t->mem);
    for (uint32_t i = 0; i < failed.len && i <= NAMES_MAX; i++) {
        buf_char(&out, i == 0 ? '[' : ',');
        json_write_string(
            &out, i == NAMES_MAX ? step
                                 : str_printf(t->mem, "%.*s/%.*s", STR_ARG(step),
                                              STR_ARG(value_text_or(failed.items[i], STR_NONE))));
    }
    buf_char(&out, ']');
    return buf_view(&out);
}

void child_note_unrolled(struct turn *t, struct str step, struct value error)
{
    struct str names = unrolled_names(t, step, error);

    if (names.len == 0)
        return;
    turn_note(t, "childFailed", names);
    t->x->has_unrolled = true;
}

/* --- waiting for their ends --- */

/* How it stands, as it has said or as was read; or NULL. */
static const struct child_read *stopped_stands(const struct turn *t, struct uuid id)
{
    const struct child_read *told = child_told(t, id), *read = child_was_read(t, id);

    return told != NULL && !told->is_unseen ? told : read;
}

static bool stopped_is_due(const struct turn *t, const struct stopped_child *c)
{
    const struct child_read *told = c->call_seq > 0 ? NULL : child_told(t, c->id);

    return (told != NULL && told->is_unseen) ||
           (t->x->rollback != NULL && c->look_at_us <= t->wall_us);
}

bool stopped_is_old(const struct turn *t, struct uuid id)
{
    for (uint32_t i = 0; i < t->x->stopped_count; i++)
        if (uuid_cmp(t->x->stopped[i].id, id) == 0)
            return t->wall_us - t->x->stopped[i].since_us >= GIVE_UP_AFTER_US;
    return false;
}

bool stopped_has_news(const struct turn *t)
{
    const struct execution *x = t->x;

    for (uint32_t i = 0; x->pause == NULL && i < x->stopped_count; i++)
        if ((x->stopped[i].call_seq == 0 && child_told(t, x->stopped[i].id) != NULL) ||
            stopped_is_due(t, &x->stopped[i]))
            return true;
    return false;
}

/* False: some must be read first. */
static bool has_read_stopped(struct turn *t)
{
    bool ok = true;

    for (uint32_t i = 0; i < t->x->stopped_count; i++) {
        const struct stopped_child *c = &t->x->stopped[i];

        if (c->call_seq > 0 || !stopped_is_due(t, c) || stopped_stands(t, c->id) != NULL)
            continue;
        *VEC_ADD(t->mem, &t->out->needs_children) = c->id;
        ok = false;
    }
    return ok;
}

/* A row about that child; rolling back looks at it. */
static void stopped_row(struct turn *t, const struct stopped_child *c, const char *status)
{
    struct history_row *row = turn_row(t, HISTORY_EVENT, c->step, str_of(status));

    if (c->call_seq == 0)
        row->key = str_printf(t->mem, CHILD_KEY "%s", UUID_STR(c->id).ptr);
}

/* It has stood in the dead letters for a day: a person must see that this waits for it no longer. */
static void stopped_give_up(struct turn *t, const struct stopped_child *c)
{
    struct str error_json, name;

    (void)turn_fail(t, STR("timeout_compensation"), ERR_CLASS_BUSINESS,
                    "the execution %s has not been undone for 24 hours, and does not go on by "
                    "itself",
                    UUID_STR(c->id).ptr);
    (void)turn_failure(t, &error_json);
    stopped_row(t, c, "child_lost");
    t->out->history.items[t->out->history.count - 1].error_json = error_json;
    t->x->has_unrolled = true;
    if (turn_json(t, value_string(c->step), &name))
        turn_note(t, "childFailed", str_printf(t->mem, "[%.*s]", STR_ARG(name)));
    outcome_dead_letter(t, LETTER_COMPENSATION, c->step, 1, error_json, STR_NONE);
}

/* Whether it is struck off: it has been answered, or its time is up and this node does not await it. */
static bool stopped_call_ends(struct turn *t, struct stopped_child *c, bool *has_looked)
{
    bool is_answered = t->ev->kind == EVENT_ANSWER && t->ev->answer_seq == c->call_seq;
    struct cursor about = {.ask = ASK_CALL, .asked_seq = c->call_seq, .asked_epoch = c->call_epoch};

    if (!is_answered && !stopped_is_due(t, c))
        return false;
    if (!is_answered && call_is_in_flight(t, &about)) {
        *has_looked = true;
        c->look_at_us = t->wall_us + LOOK_CALL_US;
        return false;
    }
    if (is_answered && c->strand != NULL)
        stopped_answered(t, c);
    /* Nothing is evaluated in one that is parked: it may have happened. */
    if (is_answered && c->strand != NULL && !t->ev->is_only_kept)
        stopped_judge(t, c);
    else
        stopped_row(t, c, STOPPED_CALL_ROW);
    return true;
}

/* Whether it is struck off. One that another has started was joined, by a state that did not say so. */
static bool stopped_ends(struct turn *t, struct stopped_child *c, bool *has_looked)
{
    const struct child_read *is = NULL;

    if (c->call_seq > 0)
        return stopped_call_ends(t, c, has_looked);
    is = stopped_stands(t, c->id);
    if (is == NULL)
        return false;
    if (!is->is_found || status_is_terminal(is->status)) {
        stopped_row(t, c, "child_ended");
        if (is->is_found && is->status != STATUS_COMPLETED)
            child_note_unrolled(t, c->step, is->error);
        return true;
    }
    *has_looked = true;
    if (is->is_others)
        return true;
    if (is->is_parked && t->wall_us - c->since_us >= GIVE_UP_AFTER_US) {
        stopped_give_up(t, c);
        return true;
    }
    c->look_at_us = t->wall_us + LOOK_STOPPED_US;
    return false;
}

/* {kind: child or call, rollback: true, step, executionId, since} of the oldest. */
static void wait_for_stopped(struct turn *t)
{
    const struct stopped_child *c = &t->x->stopped[0];
    enum waiting_kind kind = c->call_seq > 0 ? WAITING_CALL : WAITING_CHILD;
    struct buf why;

    buf_init_arena(&why, t->mem);
    field_kind(&why, kind);
    field_text(&why, "step", c->step);
    field_json(&why, "rollback", STR("true"));
    if (c->call_seq == 0)
        field_text(&why, "executionId", str_of(UUID_STR(c->id).ptr));
    if (t->x->stopped_count > 1)
        field_json(&why, "count", str_printf(t->mem, "%u", t->x->stopped_count));
    field_time(&why, "since", c->since_us);
    execution_set_waiting(t->x, kind, field_end(&why));
}

static void hear_stopped(struct turn *t)
{
    struct execution *x = t->x;
    struct stopped_child *all = ARENA_ARRAY(t->mem, x->stopped_count, struct stopped_child);
    uint32_t kept = 0;
    bool has_looked = false;

    for (uint32_t i = 0; i < x->stopped_count; i++) {
        all[kept] = x->stopped[i];
        kept += !stopped_ends(t, &all[kept], &has_looked);
    }
    x->stopped = kept > 0 ? all : NULL;
    x->stopped_count = kept;
    if (has_looked && t->out->history.count == 0)
        (void)turn_row(t, HISTORY_EVENT, STR_NONE, STR("child"));
}

bool stopped_hear_call(struct turn *t)
{
    for (uint32_t i = 0; t->ev->answer_seq > 0 && i < t->x->stopped_count; i++)
        if (t->x->stopped[i].call_seq == t->ev->answer_seq) {
            hear_stopped(t);
            if (t->x->rollback != NULL && t->x->cursor.phase == PHASE_ROLLBACK)
                rollback_look_from_end(t);
            return true;
        }
    return false;
}

bool stopped_settle(struct turn *t)
{
    struct execution *x = t->x;

    if (x->stopped_count == 0)
        return true;
    if (status_is_terminal(x->status) && x->status != STATUS_FAILED) {
        x->stopped = NULL;
        x->stopped_count = 0;
        return true;
    }
    if (stopped_has_news(t)) {
        if (!has_read_stopped(t))
            return false;
        hear_stopped(t);
    }
    if (x->rollback == NULL || x->cursor.phase != PHASE_ROLLBACK)
        return true;
    if (x->stopped_count > 0)
        wait_for_stopped(t);
    rollback_look_from_end(t);
    return true;
}

void stopped_look_at_all(struct turn *t)
{
    struct execution *x = t->x;
    struct stopped_child *all;

    if (x->stopped_count == 0)
        return;
    all = ARENA_ARRAY(t->mem, x->stopped_count, struct stopped_child);
    memcpy(all, x->stopped, x->stopped_count * sizeof(*all));
    for (uint32_t i = 0; i < x->stopped_count; i++)
        if (all[i].call_seq == 0)
            all[i].look_at_us = WAKE_AT_ONCE;
    x->stopped = all;
}
