/*
 * remind.c - reminders of a wait for a signal: `every` so often, or `at` times
 * that are decided when the wait begins; see wait.h.
 *
 *     due --> runs --> its row
 *              |
 *              +--> asks somebody --answer--> runs on
 *              +--> has failed --policy--> another attempt, later
 *
 * A reminder that waits is a cursor of its own (x->reminding) beside the strand of
 * its wait, which takes signals and times out meanwhile. A wait has one at a time:
 * times that pass meanwhile are left out. When the wait is over first, the attempt
 * that has left is brought to its end: its answer has a row, and nothing else comes
 * of it.
 *
 * While the turn has a reminder in hand, t->reminded says what was put aside.
 */
#include "define/define.h"
#include "engine/command/command.h"
#include "engine/command/procedure.h"
#include "engine/command/wait.h"
#include "engine/commit/ask.h"
#include "engine/flow/debug.h"
#include "engine/flow/repair.h"
#include "engine/flow/step.h"
#include "engine/flow/strand.h"

#include <stdlib.h>

/* The first of the times that is later than now, or 0. */
static int64_t next_time(struct turn *t)
{
    struct value times = turn_read(t, t->x->cursor.remind_times_json, value_null());

    for (uint32_t i = 0; i < times.len; i++)
        if (times.items[i].i > t->wall_us)
            return times.items[i].i;
    return 0;
}

static int compare_times(const void *a, const void *b)
{
    int64_t one = ((const struct value *)a)->i, other = ((const struct value *)b)->i;

    return one < other ? -1 : one > other;
}

/* Reminders `at`: when each comes is decided now. */
static bool begin_times(struct turn *t, const struct wait *wait)
{
    struct value *times = ARENA_ARRAY(t->mem, wait->reminder_at_count, struct value);

    for (uint32_t i = 0; i < wait->reminder_at_count; i++) {
        struct value v;
        int64_t at_us;

        if (turn_evaluate(t, wait->reminder_at[i], &v) != STEP_DONE ||
            !wait_span_end(t, v, STR("at"), &at_us))
            return false;
        times[i] = value_int(at_us);
    }
    qsort(times, wait->reminder_at_count, sizeof(*times), compare_times);
    if (!turn_json(t, value_list(times, wait->reminder_at_count), &t->x->cursor.remind_times_json))
        return false;
    t->x->cursor.remind_at_us = next_time(t);
    return true;
}

bool remind_begin(struct turn *t, const struct wait *wait)
{
    struct cursor *cursor = &t->x->cursor;
    struct value every;

    cursor->remind_times_json = STR_NONE;
    if (wait->reminder.procedure == NULL)
        return true;
    if (wait->reminder_at_count > 0)
        return begin_times(t, wait);
    if (turn_evaluate(t, wait->reminder_every, &every) != STEP_DONE)
        return false;
    if (!define_duration_us(every, &cursor->remind_every_us) || cursor->remind_every_us <= 0)
        return turn_fail(t, STR("validation_duration"), ERR_CLASS_BUSINESS,
                         "'every' must be a duration such as \"24h\"") == STEP_DONE;
    if (__builtin_add_overflow(t->wall_us, cursor->remind_every_us, &cursor->remind_at_us))
        cursor->remind_at_us = 0;
    return true;
}

/* --- the list --- */

static void reminding_add(struct turn *t, struct strand side)
{
    struct execution *x = t->x;
    const struct strand **all = ARENA_ARRAY(t->mem, x->reminding_count + 1u, const struct strand *);
    struct strand *added = arena_alloc(t->mem, sizeof(*added));

    side.frames = NULL;
    side.frame_count = 0;
    *added = side;
    for (uint32_t i = 0; i < x->reminding_count; i++)
        all[i] = x->reminding[i];
    all[x->reminding_count] = added;
    x->reminding = all;
    x->reminding_count++;
}

/* It is in the list no more. */
static struct strand reminding_take(struct turn *t, uint32_t index)
{
    struct execution *x = t->x;
    const struct strand **all = ARENA_ARRAY(t->mem, x->reminding_count, const struct strand *);
    struct strand taken = *x->reminding[index];

    for (uint32_t i = 0, kept = 0; i < x->reminding_count; i++)
        if (i != index)
            all[kept++] = x->reminding[i];
    x->reminding = all;
    x->reminding_count--;
    return taken;
}

/* --- one in hand --- */

/* The cursor of the wait that a reminder is of; NULL: that is over. */
static const struct cursor *find_wait(const struct execution *x, const struct cursor *side)
{
    for (uint32_t i = 0; i < execution_strands(x); i++) {
        const struct cursor *c = execution_cursor(x, i);

        if (c->phase == PHASE_WAIT && c->step == side->step && c->visit == side->visit)
            return c;
    }
    return NULL;
}

/* Take up its strand. False: it is over. */
static bool take_wait(struct turn *t, const struct cursor *side)
{
    const struct cursor *wait = find_wait(t->x, side);

    return wait != NULL && strand_take_visit(t, wait);
}

/* Its expressions see what those of the wait see. */
static void reminder_enter(struct turn *t, const struct strand *side, bool is_over,
                           struct reminded *aside)
{
    struct execution *x = t->x;

    *aside = (struct reminded){.wait = strand_in_hand(x), .status = x->status, .is_over = is_over};
    x->cursor = side->cursor;
    execution_set_waiting(x, side->waiting_kind, side->waiting_for_json);
    t->reminded = aside;
    t->reminder = side->cursor.reminders;
    t->key_suffix = str_printf(t->mem, "-reminder-%lld", (long long)t->reminder);
}

/* Answers the reminder as it stands now. */
static struct strand reminder_leave(struct turn *t)
{
    struct strand side = strand_in_hand(t->x);

    strand_put_in_hand(t->x, &t->reminded->wait);
    t->x->status = t->reminded->status;
    t->reminded = NULL;
    t->reminder = t->sent = 0;
    t->key_suffix = t->refused_at = STR_NONE;
    turn_begin_step(t);
    return side;
}

/* The reminder is recorded, whatever became of it. */
static void record_reminder(struct turn *t, enum step_result end, struct value output)
{
    struct str output_json = STR_NONE, error_json = STR_NONE;
    struct history_row *row;

    if (end == STEP_DONE && !turn_json(t, output, &output_json))
        end = STEP_FAILED;
    if (end == STEP_FAILED)
        (void)turn_failure(t, &error_json);
    row = step_row(t, HISTORY_REMINDER, end == STEP_DONE ? STR("completed") : STR("failed"));
    row->part = row->seq;
    row->key = turn_key(t, STR_NONE);
    row->output_json = output_json;
    row->error_json = error_json;
    if (end == STEP_DONE)
        step_apply_staged(t);
}

/* Another attempt comes later: the reminder in hand waits for it. */
static bool tries_later(struct turn *t)
{
    const struct retry *policy = failure_policy(t, turn_step(t));
    struct cursor *cursor = &t->x->cursor;
    struct str error_json;

    if (policy == NULL || !failure_tries_again(t, policy, &cursor->wake_at_us))
        return false;
    cursor->phase = PHASE_RETRY;
    (void)turn_failure(t, &error_json);
    execution_set_waiting(t->x, WAITING_RETRY,
                          failure_describe_retry(t, error_json, cursor->wake_at_us));
    return true;
}

/* The wait in hand has no reminder any more: when the next one comes. Those that were missed do not. */
static void plan_next(struct turn *t, int64_t due_us)
{
    struct cursor *cursor = &t->x->cursor;

    if (due_us > t->wall_us || due_us == 0)
        cursor->remind_at_us = due_us;
    else if (cursor->remind_times_json.len > 0)
        cursor->remind_at_us = next_time(t);
    else
        cursor->remind_at_us = t->wall_us + cursor->remind_every_us;
    wait_set_timer(cursor);
}

/* The attempt in hand has ended like this, or waits. */
static void reminder_settle(struct turn *t, enum step_result end, struct value output)
{
    bool is_over = t->reminded->is_over, waits = end == STEP_WAITS;
    struct strand side;

    if (!waits)
        record_reminder(t, end, output);
    if (end == STEP_FAILED && !is_over)
        waits = tries_later(t);
    side = reminder_leave(t);
    if (waits)
        reminding_add(t, side);
    else if (!is_over)
        plan_next(t, side.cursor.remind_at_us);
}

/* The commands of the reminder in hand, from the first on, or behind what they have done. */
static enum step_result run_reminder(struct turn *t, struct value *out)
{
    const struct procedure_call *r = &turn_step(t)->procedure->commands[0].wait->reminder;
    struct cursor *cursor = &t->x->cursor;
    struct value input = value_absent();
    enum step_result end;

    *out = value_null();
    if (cursor->suspended_json.len > 0 || cursor->attempt > 1) {
        input = turn_read(t, cursor->input_json, value_absent());
    } else if (turn_evaluate(t, r->input, &input) != STEP_DONE ||
               (input.kind != VALUE_ABSENT && !turn_freeze(t, &input, &cursor->input_json))) {
        return STEP_FAILED;
    }
    if (cursor->suspended_json.len > 0) {
        end = suspend_resume(t, r->procedure);
        if (end != STEP_DONE)
            return end;
    }
    return procedure_run(t, r->procedure, STR_NONE, input, out);
}

static bool run_attempt(struct turn *t)
{
    struct value output;
    enum step_result end = run_reminder(t, &output);

    if (end == STEP_NEEDS)
        return false;
    reminder_settle(t, end, output);
    return true;
}

/* What was answered last, and no command has gone on with. */
static struct value last_answer(struct turn *t)
{
    struct value suspended = turn_read(t, t->x->cursor.suspended_json, value_map_empty());
    struct str asks = value_map_text(suspended, STR("asks"));

    return value_map_member(value_map_member(suspended, STR("results")),
                            STR_JOIN(t->mem, asks, STR("!")));
}

/* Nobody is reminded any more: the row says what was answered. */
static void end_late(struct turn *t)
{
    struct value answer = last_answer(t);

    if (t->refused_at.len > 0)
        t->failure = t->refusal;
    else if (answer.kind == VALUE_ABSENT)
        (void)turn_fail(t, STR("stopped"), ERR_CLASS_BUSINESS,
                        "the wait was over before the reminder had left");
    reminder_settle(
        t, t->refused_at.len > 0 || answer.kind == VALUE_ABSENT ? STEP_FAILED : STEP_DONE, answer);
}

bool remind_go_on(struct turn *t)
{
    if (!t->reminded->is_over) {
        t->x->cursor.phase = PHASE_ENTER;
        return run_attempt(t);
    }
    end_late(t);
    return true;
}

/* --- it begins --- */

void remind_move(struct cursor *cursor, const struct wait *wait)
{
    if (cursor->remind_at_us == 0 || (wait != NULL && wait->reminder.procedure != NULL))
        return;
    cursor->remind_at_us = cursor->remind_every_us = 0;
    cursor->remind_times_json = STR_NONE;
    wait_set_timer(cursor);
}

/* The time of the reminder behind the one that begins now, or 0. */
static int64_t time_after(struct turn *t, const struct wait *wait)
{
    const struct cursor *cursor = &t->x->cursor;
    int64_t at_us;

    if (cursor->remind_times_json.len > 0)
        return next_time(t);
    if (wait->reminder_max > 0 && cursor->reminders >= wait->reminder_max)
        return 0;
    return __builtin_add_overflow(t->wall_us, cursor->remind_every_us, &at_us) ? 0 : at_us;
}

bool remind_send(struct turn *t, const struct step *step)
{
    const struct wait *wait = step->procedure->commands[0].wait;
    struct cursor *cursor = &t->x->cursor;
    struct reminded aside;
    struct strand side = {.cursor = {.step = cursor->step,
                                     .visit = cursor->visit,
                                     .attempt = 1,
                                     .started_at_us = t->now_us}};

    if (wait == NULL || wait->reminder.procedure == NULL) {
        turn_damaged(t, "a wait without reminders is to send one");
        return true;
    }
    side.cursor.reminders = ++cursor->reminders;
    side.cursor.remind_at_us = time_after(t, wait);
    cursor->remind_at_us = 0;
    wait_set_timer(cursor);
    reminder_enter(t, &side, false, &aside);
    turn_begin_step(t);
    if (t->x->reminding_count < REMINDING_MAX)
        return run_attempt(t);
    (void)turn_fail(t, STR("limit_reminders"), ERR_CLASS_BUSINESS,
                    "%d reminders of the execution wait for an answer already", REMINDING_MAX);
    reminder_settle(t, STEP_FAILED, value_null());
    return true;
}

/* --- it goes on --- */

bool remind_answered(struct turn *t, uint32_t index, struct value output, struct value error,
                     bool is_only_kept)
{
    struct strand side = reminding_take(t, index);
    bool is_over = !take_wait(t, &side.cursor), complete = true;
    struct reminded aside;

    reminder_enter(t, &side, is_over, &aside);
    if (t->x->pause != NULL || is_only_kept) {
        pause_defer_answer(t, output, error);
        reminding_add(t, reminder_leave(t));
        return true;
    }
    turn_answered(t);
    complete = wake_with_answer(t, output, error);
    turn_record_answer(t);
    return complete;
}

static uint32_t kept_index(const struct execution *x)
{
    for (uint32_t i = 0; i < x->reminding_count; i++)
        if (x->reminding[i]->cursor.deferred_answer_json.len > 0)
            return i;
    return NO_STRAND;
}

bool remind_has_kept(const struct execution *x)
{
    return kept_index(x) != NO_STRAND;
}

bool remind_take_kept(struct turn *t)
{
    uint32_t index;

    while ((index = kept_index(t->x)) != NO_STRAND) {
        struct strand side = reminding_take(t, index);
        struct value answer = turn_read(t, side.cursor.deferred_answer_json, value_null());
        bool is_over = !take_wait(t, &side.cursor);
        struct reminded aside;

        side.cursor.deferred_answer_json = STR_NONE;
        side.cursor.deferred_seq = 0;
        reminder_enter(t, &side, is_over, &aside);
        if (!wake_with_answer(t, value_map_get_str(answer, STR("output")),
                              value_map_get_str(answer, STR("error"))))
            return false;
    }
    return true;
}

/* Whoever was asked has not answered in time, or there is capacity for the call. */
static bool wake_asked(struct turn *t, const struct strand *side)
{
    enum step_result end = ask_of(&t->x->cursor)->wake(t);

    if (end == STEP_NEEDS)
        return false;
    if (end == STEP_SKIPPED) {
        (void)reminder_leave(t);
        reminding_add(t, *side);
        return true;
    }
    if (end == STEP_WAITS) {
        reminder_settle(t, end, value_null());
        return true;
    }
    if (end == STEP_FAILED)
        suspend_refuse(t);
    return wake_go_on_behind(t);
}

static bool has_left(const struct cursor *c)
{
    return c->phase == PHASE_JOB && c->asked_seq > 0;
}

static bool wake_reminder(struct turn *t, uint32_t index)
{
    struct strand side = reminding_take(t, index);
    bool is_over = !take_wait(t, &side.cursor);
    struct reminded aside;

    /* Its wait has ended in this turn, before anything of it had left: nobody is reminded. */
    if (is_over && !has_left(&side.cursor))
        return true;
    if (side.cursor.phase == PHASE_RETRY) {
        side.cursor.phase = PHASE_ENTER;
        side.cursor.attempt++;
        side.cursor.started_at_us = t->now_us;
        side.cursor.wake_at_us = 0;
    }
    reminder_enter(t, &side, is_over, &aside);
    turn_begin_step(t);
    return side.cursor.phase == PHASE_ENTER ? run_attempt(t) : wake_asked(t, &side);
}

static bool is_due(const struct turn *t, const struct cursor *c)
{
    return (c->wake_at_us > 0 && c->wake_at_us <= t->wall_us && !debug_holds_timer(t->x, c)) ||
           ask_has_news(t, c);
}

bool remind_wake(struct turn *t)
{
    const struct strand *const *all = t->x->reminding;
    uint32_t count = t->x->reminding_count;

    /* What is woken goes to the end of the list, or is gone: the others keep their order. */
    for (uint32_t i = 0, kept = 0; i < count; i++) {
        if (!is_due(t, &all[i]->cursor))
            kept++;
        else if (!wake_reminder(t, kept))
            return false;
    }
    return true;
}

void remind_settle(struct turn *t)
{
    struct execution *x = t->x;

    if (status_is_terminal(x->status))
        x->reminding_count = 0;
    for (uint32_t i = x->reminding_count; i-- > 0;)
        if (!has_left(&x->reminding[i]->cursor) && find_wait(x, &x->reminding[i]->cursor) == NULL)
            (void)reminding_take(t, i);
}
