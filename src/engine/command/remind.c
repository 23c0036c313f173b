/*
 * remind.c - reminders of a wait for a signal: `every` so often, or `at` times
 * that are decided when the wait begins; see wait.h.
 */
#include "define/define.h"
#include "engine/command/command.h"
#include "engine/command/procedure.h"
#include "engine/command/wait.h"
#include "engine/flow/step.h"

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
    row->started_at_us = t->now_us;
    row->part = row->seq;
    row->key = turn_key(t, STR_NONE);
    row->output_json = output_json;
    row->error_json = error_json;
    if (end == STEP_DONE)
        step_apply_staged(t);
}

void remind_move(struct cursor *cursor, const struct wait *wait)
{
    if (cursor->remind_at_us == 0 || (wait != NULL && wait->reminder.procedure != NULL))
        return;
    cursor->remind_at_us = cursor->remind_every_us = 0;
    cursor->remind_times_json = STR_NONE;
    wait_set_timer(cursor);
}

bool remind_send(struct turn *t, const struct step *step)
{
    const struct wait *wait = step->procedure->commands[0].wait;
    struct cursor *cursor = &t->x->cursor;
    struct value input, output = value_null();
    enum step_result end;

    if (wait == NULL || wait->reminder.procedure == NULL) {
        turn_damaged(t, "a wait without reminders is to send one");
        return true;
    }
    t->reminder = cursor->reminders + 1;
    t->key_suffix = str_printf(t->mem, "-reminder-%lld", (long long)t->reminder);
    end = turn_evaluate(t, wait->reminder.input, &input);
    if (end == STEP_DONE)
        end = procedure_run(t, wait->reminder.procedure, STR_NONE, input, &output);
    if (end == STEP_NEEDS)
        return false;
    cursor->reminders++;
    record_reminder(t, end, output);
    /* Those that were missed while nothing ran are not made up for. */
    if (cursor->remind_times_json.len > 0)
        cursor->remind_at_us = next_time(t);
    else if (wait->reminder_max > 0 && cursor->reminders >= wait->reminder_max)
        cursor->remind_at_us = 0;
    else
        cursor->remind_at_us = t->wall_us + cursor->remind_every_us;
    wait_set_timer(cursor);
    t->reminder = 0;
    t->key_suffix = STR_NONE;
    return true;
}
