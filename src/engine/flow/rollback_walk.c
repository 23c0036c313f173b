/*
 * rollback_walk.c - which visit is rolled back next; see rollback.h.
 *
 * Going from the last row to the first. The rows of the turn itself are at hand,
 * earlier ones are asked for a page at a time, one page a turn.
 */
#include "engine/actions.h"
#include "engine/commit/reads.h"
#include "engine/flow/rollback.h"
#include "engine/flow/step.h"

const struct history_row *rollback_row_at(const struct turn *t, int64_t seq)
{
    int64_t stored = t->x->seq - (int64_t)t->out->history.count;
    const struct history *page = &event_reads(t->ev)->history;
    const struct history_row *page_row;

    if (seq > stored)
        return seq <= t->x->seq ? &t->out->history.items[seq - stored - 1] : NULL;
    if (page->count == 0 || seq < page->items[0].seq ||
        (uint64_t)(seq - page->items[0].seq) >= page->count)
        return NULL;
    page_row = &page->items[seq - page->items[0].seq];
    return page_row->seq == seq ? page_row : NULL; /* a row between them is gone */
}

enum step_result rollback_need_history(struct turn *t, int64_t seq)
{
    t->out->needs_history = (struct history_need){
        .is_needed = true, .after = seq > ROLLBACK_PAGE ? seq - ROLLBACK_PAGE : 0};
    return STEP_NEEDS;
}

/* A member of what the row has changed, or absent. */
static struct value delta_member(struct turn *t, const struct history_row *row, struct str name)
{
    return value_map_get_str(turn_read(t, row->delta_json, value_map_empty()), name);
}

/* What a visit has come to whose call was answered when it had been stopped. */
static bool is_late_end(const struct history_row *row)
{
    return row->kind == HISTORY_EVENT && row->visit > 0 &&
           str_eq(row->status, STR(STOPPED_CALL_ROW));
}

static bool is_failed_end(const struct history_row *row)
{
    return str_eq(row->status, STR("failed")) || is_late_end(row);
}

/* How a visit is undone: not at all, by the step's own rollback, or by those of its commands. */
enum rollback_way { ROLLBACK_NONE, ROLLBACK_STEP, ROLLBACK_COMMANDS };

static enum rollback_way way_of(struct turn *t, const struct program *p,
                                const struct history_row *row, struct value *delta)
{
    const struct step *step = program_step(p, row->step);
    bool completed = str_eq(row->status, STR("completed"));

    if (step == NULL || (step->rollback.procedure == NULL &&
                         (step->kind != STEP_PROCEDURE || !step->procedure->has_rollbacks)))
        return ROLLBACK_NONE;
    *delta = turn_read(t, row->delta_json, value_map_empty());
    if (value_map_get_str(*delta, STR("retry")).kind != VALUE_ABSENT)
        return ROLLBACK_NONE;
    /* One that failed with an output has done its work; one that may have is like it. */
    if (step->rollback.procedure != NULL &&
        (completed || row->output_json.len > 0 ||
         value_is_true(value_map_get_str(*delta, STR("maybe")))))
        return ROLLBACK_STEP;
    return rollback_command_count(value_map_get_str(*delta, STR("undo"))) > 0 ? ROLLBACK_COMMANDS
                                                                              : ROLLBACK_NONE;
}

/* Nobody knows whether it has happened, and it says nothing about how it is undone. */
static bool is_lost(struct turn *t, const struct program *p, const struct history_row *row)
{
    const struct step *step = program_step(p, row->step);

    return step != NULL && is_failed_end(row) && step->rollback.procedure == NULL &&
           value_is_true(delta_member(t, row, STR("maybe"))) &&
           !rollback_command_is_in_doubt(delta_member(t, row, STR("undo")));
}

/* Older rows of that visit are passed over. */
static void pass_over(struct turn *t, struct rollback *rollback, struct str code, int64_t visit)
{
    struct past_visit *made = ARENA_NEW(t->mem, struct past_visit);

    *made = (struct past_visit){.code = code, .visit = visit, .next = rollback->again};
    rollback->again = made;
}

/* An operator's retry has gone on with a visit that had failed: {code: visit}. */
static void rollback_read_again(struct turn *t, struct rollback *rollback,
                                const struct history_row *row)
{
    struct value again = value_absent();

    if (row->kind == HISTORY_EVENT && str_eq(row->status, action_row(ACTION_RETRY)))
        again = delta_member(t, row, STR("again"));
    if (again.kind != VALUE_MAP || again.len == 0)
        return;
    pass_over(t, rollback, value_text(again.map->entries[0].key), again.map->entries[0].value.i);
}

static bool was_tried_again(const struct rollback *rollback, const struct history_row *row)
{
    for (const struct past_visit *v = rollback->again; v != NULL; v = v->next)
        if ((row->kind == HISTORY_FORWARD || is_late_end(row)) && row->visit == v->visit &&
            str_eq(row->step, v->code))
            return true;
    return false;
}

/*
 * What a child could not undo is what this one could not: ["STEP/CODE", ...]. A row says so, since
 * it is part of the state from then on.
 */
static void take_unrolled(struct turn *t, const struct history_row *about)
{
    struct value names = delta_member(t, about, STR("childFailed"));
    struct str step = about->step, json;

    if (names.kind != VALUE_LIST || !turn_json(t, names, &json))
        return;
    (void)turn_row(t, HISTORY_EVENT, step, STR("compensating"));
    turn_note(t, "unrolled", json);
    for (uint32_t i = 0; i < names.len; i++)
        state_add_compensated(t->mem, t->x, value_text_or(names.items[i], STR_NONE), false);
}

/* Whether history was gone through before, up to this row: nothing was undone, and it went on. */
static bool ends_rollback(struct turn *t, const struct history_row *row)
{
    return row->delta_json.len > 0 && value_is_true(delta_member(t, row, STR("looked")));
}

enum step_result rollback_lose_history(struct turn *t)
{
    struct rollback *rollback = rollback_own(t);
    struct str error_json;

    (void)turn_fail(t, STR("internal_history_gone"), ERR_CLASS_BUSINESS,
                    "the history up to row %lld is gone: what was done there cannot be rolled back",
                    (long long)(rollback->row != 0 ? rollback->row : rollback->before - 1));
    (void)turn_failure(t, &error_json);
    turn_row(t, HISTORY_EVENT, STR_NONE, STR("lost"))->error_json = error_json;
    outcome_dead_letter(t, LETTER_COMPENSATION, STR_NONE, 1, error_json, STR_NONE);
    rollback->row = 0;
    rollback->before = 1;
    return STEP_DONE;
}

static bool ends_visit(const struct history_row *row)
{
    return is_late_end(row) ||
           (row->kind == HISTORY_FORWARD &&
            (str_eq(row->status, STR("completed")) || str_eq(row->status, STR("failed"))));
}

/* It becomes the one that is rolled back, by this many commands; 0: by the step's own rollback. */
static enum step_result choose_row(struct rollback *rollback, const struct history_row *row,
                                   int64_t commands)
{
    rollback->row = row->seq;
    rollback->commands_left = commands;
    return STEP_MOVED;
}

/*
 * The same of a visit whose program is not there any more. Its ledger says which of its commands
 * have a rollback, and under which program each was done: every one is tried by itself. Whether the
 * step has a rollback nobody knows: a person must see that, once for all visits of the program.
 */
static enum step_result choose_unreadable(struct turn *t, struct rollback *rollback,
                                          const struct history_row *row)
{
    struct value delta = turn_read(t, row->delta_json, value_map_empty());
    int64_t commands = rollback_command_count(value_map_get_str(delta, STR("undo")));
    struct str error_json;

    if (value_map_get_str(delta, STR("retry")).kind != VALUE_ABSENT)
        return STEP_DONE;
    if (commands > 0)
        return choose_row(rollback, row, commands);
    if (rollback->is_unreadable || (is_failed_end(row) && row->output_json.len == 0 &&
                                    !value_is_true(value_map_get_str(delta, STR("maybe")))))
        return STEP_DONE;
    rollback_fail_program(t, rollback->under);
    (void)turn_failure(t, &error_json);
    turn_row(t, HISTORY_EVENT, STR_NONE, STR("lost"))->error_json = error_json;
    outcome_dead_letter(t, LETTER_COMPENSATION, STR_NONE, 1, error_json, STR_NONE);
    rollback->is_unreadable = true;
    return STEP_DONE;
}

/*
 * Whether a visit that has ended is to be rolled back, by the program that it
 * has run with. STEP_MOVED: it is, and it is rollback.row; STEP_DONE, STEP_NEEDS.
 */
static enum step_result choose_visit(struct turn *t, struct rollback *rollback,
                                     const struct history_row *row)
{
    const struct program *p;
    enum step_result end = rollback_program(t, rollback->under, &p);
    enum rollback_way way;
    struct value delta;

    if (end != STEP_DONE)
        return end == STEP_NEEDS ? end : choose_unreadable(t, rollback, row);
    if (!rollback->is_known && is_lost(t, p, row))
        outcome_lost(t, row);
    way = way_of(t, p, row, &delta);
    if (way == ROLLBACK_NONE)
        return STEP_DONE;
    return choose_row(rollback, row,
                      way == ROLLBACK_COMMANDS
                          ? rollback_command_count(value_map_get_str(delta, STR("undo")))
                          : 0);
}

enum step_result rollback_walk_on(struct turn *t)
{
    struct rollback *rollback = rollback_own(t);
    bool has_looked = false;

    /* What a machine did before the transition under way is final. */
    while (rollback->before > t->x->machine.final_seq + 1) {
        const struct history_row *row = rollback_row_at(t, rollback->before - 1);
        struct history_row copy;
        enum step_result end;

        if (row == NULL && !event_reads(t->ev)->has_history)
            return rollback_need_history(t, rollback->before - 1);
        if (row == NULL && !has_looked && t->out->history.count == 0)
            return rollback_lose_history(t);
        if (row == NULL) {
            /* The page is done: what was looked at must not be looked at again. */
            if (has_looked && t->out->history.count == 0)
                (void)turn_row(t, HISTORY_EVENT, STR_NONE, STR("compensating"));
            return STEP_WAITS;
        }
        /* Rows are added while it is in use, and the array may move. */
        copy = *row;
        row = &copy;
        has_looked = true;
        rollback->before--;
        take_unrolled(t, row);
        if (rollback->keeps_done)
            continue;
        rollback_read_again(t, rollback, row);
        rollback->is_known = rollback->is_known || ends_rollback(t, row);
        rollback_pass_move(t, rollback, row);
        if (was_tried_again(rollback, row) || !ends_visit(row))
            continue;
        if (is_late_end(row))
            pass_over(t, rollback, row->step, row->visit);
        end = choose_visit(t, rollback, row);
        if (end != STEP_DONE)
            return end;
    }
    return STEP_DONE;
}
