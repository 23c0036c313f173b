/*
 * strand.c - several lines of work in one execution; see strand.h.
 *
 * A parallel step has a strand for each branch that runs, a loop whose
 * iterations run at once one for each of these. A strand is a cursor with the
 * frames around it, and the frames of all strands in a step agree up to that
 * step: so there is no strand that waits for others. The one that ends last, or
 * makes the join complete, goes on behind the step.
 *
 * The turn has one of them in its hands, as cursor and frames of the execution;
 * the others keep their order, which is that of branches and iterations. It is
 * taken up again at the end of a turn which one comes first: one that is held,
 * else the first in that order.
 *
 *     an event  -->  the strand it is for runs until it waits
 *               -->  those that are ready, the one that has stood longest first
 */
#include "engine/flow/strand.h"
#include "engine/command/procedure.h"
#include "engine/commit/ask.h"
#include "engine/flow/debug.h"
#include "engine/flow/reconcile.h"
#include "engine/flow/step.h"
#include "value/json_text.h"
#include "value/object.h"

/* --- the one in hand and the others --- */

struct strand strand_in_hand(const struct execution *x)
{
    return (struct strand){.cursor = x->cursor,
                           .frames = x->frames,
                           .frame_count = x->frame_count,
                           .waiting_kind = x->waiting_kind,
                           .waiting_for_json = x->waiting_for_json};
}

void strand_put_in_hand(struct execution *x, const struct strand *s)
{
    x->cursor = s->cursor;
    x->frames = s->frames;
    x->frame_count = s->frame_count;
    execution_set_waiting(x, s->waiting_kind, s->waiting_for_json);
}

/* The other strand of that index, which is not that of the one in hand. */
static const struct strand *other_at(const struct execution *x, uint32_t index)
{
    return x->others[index < x->strand_index ? index : index - 1];
}

/* The others in an array of this turn, with room for `count`: copied once, however often it changes. */
static const struct strand **own_others(struct turn *t, uint32_t count)
{
    struct execution *x = t->x;

    if (t->others == NULL || t->others != x->others || t->others_capacity < count) {
        t->others_capacity = count + count / 2 + 8;
        t->others = ARENA_ARRAY(t->mem, t->others_capacity, const struct strand *);
        if (x->other_count > 0)
            memcpy(t->others, x->others, x->other_count * sizeof(const struct strand *));
        x->others = t->others;
    }
    return t->others;
}

static const struct strand *new_strand(struct arena *mem, struct strand from)
{
    struct strand *s = arena_alloc(mem, sizeof(*s));

    *s = from;
    return s;
}

static const struct cursor *cursor_at(const struct execution *x, uint32_t index)
{
    return index == x->strand_index ? &x->cursor : &other_at(x, index)->cursor;
}

struct strand strand_at(const struct execution *x, uint32_t index)
{
    return index == x->strand_index ? strand_in_hand(x) : *other_at(x, index);
}

void strand_take(struct turn *t, uint32_t index)
{
    struct execution *x = t->x;
    const struct strand **others, *taken;

    if (index == x->strand_index)
        return;
    taken = other_at(x, index);
    others = own_others(t, x->other_count);
    /* Those between the two places move up or down by one. */
    if (index < x->strand_index) {
        memmove(others + index, others + index + 1,
                (x->strand_index - index - 1) * sizeof(*others));
        others[x->strand_index - 1] = new_strand(t->mem, strand_in_hand(x));
    } else {
        memmove(others + x->strand_index + 1, others + x->strand_index,
                (index - x->strand_index - 1) * sizeof(*others));
        others[x->strand_index] = new_strand(t->mem, strand_in_hand(x));
    }
    x->strand_index = index;
    strand_put_in_hand(x, taken);
}

uint32_t strand_find(const struct turn *t, bool (*is)(const struct turn *, const struct cursor *))
{
    uint32_t best = NO_STRAND;

    for (uint32_t i = 0; i <= t->x->other_count; i++)
        if (is(t, cursor_at(t->x, i)) &&
            (best == NO_STRAND || cursor_at(t->x, i)->seq < cursor_at(t->x, best)->seq))
            best = i;
    return best;
}

bool strand_take_visit(struct turn *t, const struct cursor *cursor)
{
    for (uint32_t i = 0; i <= t->x->other_count; i++) {
        const struct cursor *c = cursor_at(t->x, i);

        if (c->step == cursor->step && c->visit == cursor->visit) {
            strand_take(t, i);
            return true;
        }
    }
    return false;
}

bool strand_may_add(struct turn *t, int64_t count)
{
    if (execution_strands(t->x) + count <= STRANDS_MAX)
        return true;
    return turn_fail(t, STR("limit_strands"), ERR_CLASS_BUSINESS,
                     "%lld more branches or iterations would run at once beside %u; the limit is "
                     "%d: use a lower 'concurrency', or start other processes with flow.start",
                     (long long)count, execution_strands(t->x), STRANDS_MAX) == STEP_DONE;
}

void strand_add(struct turn *t, uint32_t before, uint32_t step, struct frame frame)
{
    struct execution *x = t->x;
    const struct strand **others = own_others(t, x->other_count + 1u);
    struct frame *frames = ARENA_ARRAY(t->mem, x->frame_count, struct frame);
    uint32_t at = x->strand_index + before;

    /* It stands in the same step as the one in hand, in another branch or iteration. */
    memcpy(frames, x->frames, x->frame_count * sizeof(*frames));
    frames[x->frame_count - 1] = frame;
    memmove(others + at + 1, others + at, (x->other_count - at) * sizeof(*others));
    others[at] = new_strand(t->mem, (struct strand){.cursor = {.step = step, .seq = x->seq},
                                                    .frames = frames,
                                                    .frame_count = x->frame_count});
    x->other_count++;
    t->has_strands = true;
}

void strand_drop(struct turn *t)
{
    struct execution *x = t->x;
    uint32_t next = x->strand_index < x->other_count ? x->strand_index : x->strand_index - 1;
    const struct strand **others = own_others(t, x->other_count), *taken;

    ASSERT(x->other_count > 0);
    taken = others[next];
    memmove(others + next, others + next + 1, (x->other_count - next - 1) * sizeof(*others));
    x->other_count--;
    x->strand_index = next;
    strand_put_in_hand(x, taken);
    turn_begin_step(t);
}

/* --- stopping --- */

static bool is_in(const struct strand *s, const struct frame *frame)
{
    for (uint32_t i = 0; frame != NULL && i < s->frame_count; i++)
        if (s->frames[i].step == frame->step && s->frames[i].visit == frame->visit)
            return true;
    return frame == NULL;
}

bool strand_has_others(const struct turn *t, const struct frame *frame)
{
    for (uint32_t i = 0; i < t->x->other_count; i++)
        if (is_in(t->x->others[i], frame))
            return true;
    return false;
}

void strand_fail_stopped(struct turn *t, enum err_class class, const char *why)
{
    struct cursor *cursor = &t->x->cursor;
    struct failure stopped;
    struct str error_json;
    struct value error;

    /*
     * It is the next attempt that will not be; the deadline may have held it before
     * that. A wait that was open then still has what it awaits.
     */
    if (cursor->phase == PHASE_RETRY || (cursor->phase == PHASE_HELD && cursor->awaited.len == 0))
        cursor->attempt++;
    (void)turn_fail(t, STR("stopped"), class, "%s", why);
    t->failure.is_tried_again = true; /* nothing in the step may handle it */
    t->failure.is_own = true;         /* it says nothing of earlier attempts */
    stopped = t->failure;
    step_recall(t);
    t->failure = stopped;
    error = turn_failure(t, &error_json);
    failure_record(t, error, error_json);
}

/* An incident of this very turn that nobody will see. */
static void forget_incident(struct turn *t, int64_t seq)
{
    struct dead_letters *letters = &t->out->dead_letters;
    size_t kept = 0;

    for (size_t i = 0; i < letters->count; i++)
        if (letters->items[i].seq != seq ||
            str_eq(letters->items[i].kind, str_of(letter_kind_name(LETTER_COMPENSATION))))
            letters->items[kept++] = letters->items[i];
    letters->count = kept;
}

static void stop_in_hand(struct turn *t, const struct frame *frame)
{
    struct execution *x = t->x;
    const struct cursor *cursor = &x->cursor;

    if (cursor->phase == PHASE_HELD)
        forget_incident(t, cursor->seq);
    stopped_add_call(t);
    /* What may have happened is undone as if it had: nobody asks, or goes on with the answer. */
    if (cursor->reconciling != NULL) {
        reconcile_give_up(t);
    } else if (cursor->phase == PHASE_JOB || turn_is_in_doubt(x)) {
        /* A child that is cancelled with its parent has a known outcome; a queued call has not left. */
        bool is_known = child_is_awaited(cursor) || call_is_queued(cursor);

        strand_fail_stopped(
            t, is_known && !turn_is_in_doubt(x) ? ERR_CLASS_BUSINESS : ERR_CLASS_INDETERMINATE,
            STRAND_STOPPED);
    } else if (turn_is_in_visit(x) && cursor->suspended_json.len > 0) {
        strand_fail_stopped(t, ERR_CLASS_BUSINESS, STRAND_STOPPED);
    } else if (turn_is_in_visit(x)) {
        (void)step_row(t, HISTORY_EVENT, STR("stopped"));
        turn_leave_visit(t);
    }
    /* What it was in within that step has been entered and will not be left. */
    while (x->frame_count > 0 && frame != NULL) {
        const struct frame *inner = &x->frames[x->frame_count - 1];
        if (inner->step == frame->step && inner->visit == frame->visit)
            break;
        x->cursor = (struct cursor){.step = inner->step,
                                    .visit = inner->visit,
                                    .attempt = 1,
                                    .started_at_us = inner->started_at_us};
        x->frame_count--;
        if (!turn_is_in_visit(x))
            continue; /* another strand in it was stopped before */
        (void)step_row(t, HISTORY_EVENT, STR("stopped"));
        turn_leave_visit(t);
    }
}

/* Whether the visit of the strand in hand has failed for good. */
static bool has_failed(const struct execution *x)
{
    const struct step_state *s;

    if (x->cursor.step >= x->program->step_count || turn_is_in_visit(x))
        return false;
    s = state_step(x, x->cursor.step);
    return s->outcome == OUTCOME_FAILED && s->visit == x->cursor.visit;
}

/*
 * Where the strand in hand stands for an operator's retry, when its execution fails: behind what
 * has ended, with the ledger of the visit that failed; else at the beginning of its step.
 */
static struct cursor cursor_to_retry(const struct execution *x)
{
    const struct cursor *c = &x->cursor;

    if (c->behind == BEHIND_NOTHING && !has_failed(x))
        return (struct cursor){.step = c->step, .seq = c->seq};
    return (struct cursor){.step = c->step,
                           .visit = c->visit,
                           .attempt = c->attempt,
                           .started_at_us = c->started_at_us,
                           .input_json = c->input_json,
                           .suspended_json = c->suspended_json,
                           .is_unsure = c->is_unsure,
                           .asked = c->asked,
                           .behind = c->behind != BEHIND_NOTHING ? c->behind : BEHIND_LEDGER,
                           .seq = c->seq};
}

/* `left`: one for each that is stopped, as a retry goes on with it; or NULL. */
static void stop_others(struct turn *t, const struct frame *frame, const struct strand **left)
{
    struct execution *x = t->x;
    struct failure failure = t->failure;
    struct strand mine = strand_in_hand(x);
    const struct strand **kept;
    uint32_t count = 0, index = 0;

    if (x->other_count == 0)
        return;
    kept = ARENA_ARRAY(t->mem, x->other_count, const struct strand *);
    for (uint32_t i = 0; i < x->other_count; i++) {
        if (!is_in(x->others[i], frame)) {
            kept[count++] = x->others[i];
            index += i < x->strand_index;
            continue;
        }
        strand_put_in_hand(x, x->others[i]);
        stop_in_hand(t, frame);
        if (left != NULL)
            left[i] = new_strand(t->mem, (struct strand){.cursor = cursor_to_retry(x),
                                                         .frames = x->others[i]->frames,
                                                         .frame_count = x->others[i]->frame_count});
    }
    x->others = kept;
    x->other_count = count;
    x->strand_index = index;
    strand_put_in_hand(x, &mine);
    t->failure = failure;
    t->has_stopped = true;
    turn_begin_step(t);
}

void strand_stop_others(struct turn *t, const struct frame *frame)
{
    stop_others(t, frame, NULL);
}

void strand_leave_others(struct turn *t, struct rollback *rollback)
{
    struct execution *x = t->x;
    const struct strand **left;

    if (x->other_count == 0)
        return;
    left = ARENA_ARRAY(t->mem, x->other_count, const struct strand *);
    rollback->others = left;
    rollback->other_count = x->other_count;
    rollback->strand_index = x->strand_index;
    stop_others(t, NULL, left);
}

void strand_resume_others(struct turn *t, const struct rollback *rollback)
{
    t->x->others = rollback->others;
    t->x->other_count = rollback->other_count;
    t->x->strand_index = rollback->strand_index;
    t->has_strands = t->has_strands || rollback->other_count > 0;
}

/* --- running --- */

static bool is_ready(const struct turn *t, const struct cursor *cursor)
{
    return cursor->phase == PHASE_ENTER && !debug_stops(t->x, cursor);
}

bool strand_is_held(const struct turn *t, const struct cursor *cursor)
{
    (void)t;
    return cursor->phase == PHASE_HELD;
}

bool strand_run_rest(struct turn *t)
{
    struct execution *x = t->x;

    while (x->rollback == NULL && !status_is_terminal(x->status)) {
        uint32_t index = strand_find(t, is_ready);

        if (index == NO_STRAND || step_turn_is_long(t))
            return true;
        strand_take(t, index);
        if (!step_run_all(t))
            return false;
    }
    return true;
}

uint32_t strand_write_waits(const struct execution *x, struct str first, struct buf *out)
{
    uint32_t waiting = 0;

    for (uint32_t i = 0; i <= x->other_count; i++) {
        struct str why = i == x->strand_index ? first : other_at(x, i)->waiting_for_json;

        if (why.len == 0 || waiting++ >= BRANCHES_SHOWN)
            continue;
        if (waiting > 1)
            buf_char(out, ',');
        buf_str(out, why);
    }
    return waiting;
}

/*
 * {..., branches: [...]}. A stored row that was damaged may have members of these names where one
 * strand's own wait should be: they are left out, so that no name stands twice.
 */
static struct str waits_of_all(struct turn *t)
{
    const struct execution *x = t->x;
    struct str own = json_text_without(t->mem, x->waiting_for_json, STR("branches"));
    struct buf out;
    uint32_t waiting;

    object_begin_with(&out, t->mem, json_text_without(t->mem, own, STR("branchCount")));
    object_list(&out, "branches");
    waiting = strand_write_waits(x, x->waiting_for_json, &out);
    buf_char(&out, ']');
    if (waiting > BRANCHES_SHOWN)
        object_int(&out, "branchCount", waiting);
    (void)object_end(&out);
    return waiting > 1 ? buf_view(&out) : x->waiting_for_json;
}

/* It stands where it has asked somebody. Of a job nothing is shown: wake_unheard() goes on with it. */
static void release_asked(struct turn *t)
{
    t->x->cursor.phase = PHASE_JOB;
    execution_set_waiting(t->x, WAITING_NONE, STR_NONE);
    if (child_is_awaited(&t->x->cursor))
        child_release(t);
    else if (t->x->cursor.ask == ASK_CALL)
        call_release(t);
}

/*
 * The deadline may hold a strand in the middle of a visit. What that has asked for has keys, and
 * these have their inputs until it is known what became of it: the visit is not begun once more. It
 * stands as it would if another strand had been held. False: it is in no such visit.
 */
static bool release_in_visit(struct turn *t)
{
    const struct cursor *cursor = &t->x->cursor;

    if (cursor->behind != BEHIND_NOTHING)
        return false;
    if (cursor->reconciling != NULL)
        reconcile_release(t);
    else if (cursor->awaited.len > 0)
        release_asked(t);
    else if (turn_is_in_visit(t->x) && (cursor->tries > 0 || cursor->waits > 0) &&
             !step_is_wait(turn_step(t)))
        failure_release(t);
    else
        return false;
    return true;
}

/* The execution has failed: an operator's retry tries those again that are held. */
static void release_held(struct turn *t)
{
    struct execution *x = t->x;
    uint32_t first = x->strand_index;

    for (uint32_t i = 0; i <= x->other_count; i++) {
        struct cursor *cursor = &x->cursor;

        if (i == first || cursor_at(x, i)->phase != PHASE_HELD)
            continue;
        strand_take(t, i);
        forget_incident(t, cursor->seq);
        if (release_in_visit(t))
            continue;
        *cursor = cursor_to_retry(x);
        execution_set_waiting(x, WAITING_NONE, STR_NONE);
    }
    strand_take(t, first);
}

void strand_settle(struct turn *t)
{
    struct execution *x = t->x;
    uint32_t held;

    if (!t->has_strands)
        return;
    if (status_is_terminal(x->status) && x->status != STATUS_FAILED) {
        x->others = NULL;
        x->other_count = x->strand_index = 0;
    }
    /* A failed one is where its failure was. */
    if (!status_is_terminal(x->status) && x->rollback == NULL) {
        held = strand_find(t, strand_is_held);
        strand_take(t, held != NO_STRAND ? held : debug_first(x));
        x->status = strand_find(t, is_ready) != NO_STRAND ? STATUS_RUNNING : STATUS_WAITING;
    }
    if (x->status == STATUS_RUNNING)
        x->wake_at_us = WAKE_AT_ONCE;
    x->strand_waiting_json = STR_NONE;
    x->strand_waiting_kind = WAITING_NONE;
    if (x->other_count == 0) {
        x->cursor.seq = 0;
        return;
    }
    if (x->status == STATUS_FAILED)
        release_held(t);
    x->strand_waiting_json = x->waiting_for_json;
    x->strand_waiting_kind = x->waiting_kind;
    if (x->status == STATUS_WAITING && x->waiting_for_json.len > 0)
        x->waiting_for_json = waits_of_all(t);
    else
        execution_set_waiting(x, WAITING_NONE, STR_NONE);
}
