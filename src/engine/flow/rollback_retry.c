/*
 * rollback_retry.c - rollbacks that were given up, and are tried again; see rollback.h.
 *
 * The state remembers each of them with the id of its dead letter, so that an
 * operator's retry of the letter finds it, once:
 *
 *     {letter, row, commands, attempts, under}    all but attempts as in struct rollback
 *
 * The execution has ended. It is compensating again for this one rollback, and
 * ends as it had ended; only error.compensation may be another then.
 */
#include "engine/flow/rollback.h"
#include "value/json.h"

static bool is_of(struct value given_up, struct str letter)
{
    struct value id = value_map_get_str(given_up, STR("letter"));

    return id.kind == VALUE_STRING && str_eq(value_text(id), letter);
}

/* --- the state --- */

void state_add_given_up(struct arena *mem, struct execution *x, struct value given_up)
{
    items_add(mem, &x->given_up, x, given_up, 0);
}

void state_drop_given_up(struct arena *mem, struct execution *x, struct str letter)
{
    struct value all = items_value(mem, &x->given_up);

    x->given_up = (struct items){0};
    for (uint32_t i = 0; i < all.len; i++)
        if (!is_of(all.items[i], letter))
            state_add_given_up(mem, x, all.items[i]);
}

void state_move_compensated(struct arena *mem, struct execution *x, struct str code)
{
    struct value failed = items_value(mem, &x->failed);
    bool is_found = false;

    x->failed = (struct items){0};
    for (uint32_t i = 0; i < failed.len; i++) {
        bool is_it = !is_found && str_eq(value_text(failed.items[i]), code);

        is_found = is_found || is_it;
        if (!is_it)
            items_add(mem, &x->failed, x, failed.items[i], 0);
    }
    state_add_compensated(mem, x, code, true);
}

/* --- giving up --- */

void rollback_retry_note(struct turn *t)
{
    const struct dead_letter *l = &t->out->dead_letters.items[t->out->dead_letters.count - 1];
    struct value given_up;
    struct str json;
    struct err err;

    json = str_printf(t->mem,
                      "{\"letter\":\"%s\",\"row\":%lld,\"commands\":%lld,\"attempts\":%lld,"
                      "\"under\":\"%.*s\"}",
                      UUID_STR(l->id).ptr, (long long)t->x->rollback->row,
                      (long long)t->x->rollback->commands_left, (long long)t->x->cursor.attempt,
                      STR_ARG(t->x->rollback->under));
    if (!json_read(t->mem, json, &given_up, &err))
        PANIC("what was written does not read back");
    turn_note(t, "givenUp", json);
    state_add_given_up(t->mem, t->x, given_up);
}

/* --- trying again --- */

/* The error as it was before it said what was undone: rollback_finish() in rollback.c says that anew. */
static struct str error_before_rollback(struct turn *t)
{
    struct value error;
    struct value_entry *entries;
    size_t count = 0, duplicate;
    struct str json;
    struct err err;

    if (!json_read(t->mem, t->x->error_json, &error, &err) || error.kind != VALUE_MAP)
        PANIC("the error of an execution does not read back");
    entries = ARENA_ARRAY(t->mem, error.len + 1u, struct value_entry);
    for (uint32_t i = 0; i < error.len; i++)
        if (!str_eq(value_text(error.map->entries[i].key), STR("compensation")))
            entries[count++] = error.map->entries[i];
    if (!turn_json(t, value_map_make(t->mem, entries, count, &duplicate), &json))
        PANIC("what was read from JSON has no JSON form");
    return json;
}

static struct value given_up_find(struct turn *t, struct str letter)
{
    struct value all = items_value(t->mem, &t->x->given_up);

    for (uint32_t i = 0; i < all.len; i++)
        if (is_of(all.items[i], letter))
            return all.items[i];
    return value_absent();
}

bool rollback_retry_begin(struct turn *t, struct err *err)
{
    struct execution *x = t->x;
    struct value given_up = given_up_find(t, t->ev->letter);
    struct rollback *rollback = ARENA_NEW(t->mem, struct rollback);
    struct str id;

    if (x->status != STATUS_FAILED && x->status != STATUS_CANCELLED)
        return err_set(err, ERR_CONFLICT, "the execution is %s", status_name(x->status));
    if (given_up.kind != VALUE_MAP)
        return err_set(err, ERR_CONFLICT,
                       "there is no rollback of it that can be tried again: undo by hand what it "
                       "did, then resolve its letter with a note");
    id = value_text(value_map_get_str(given_up, STR("letter")));
    *rollback = (struct rollback){.end = x->status,
                                  .before = 1, /* no other row is looked at */
                                  .row = value_map_int(given_up, STR("row")),
                                  .commands_left = value_map_int(given_up, STR("commands")),
                                  .under = value_map_text(given_up, STR("under")),
                                  .is_retry = true,
                                  .tried_before = value_map_int(given_up, STR("attempts"))};
    (void)turn_row(t, HISTORY_EVENT, STR_NONE, STR("undo"));
    turn_note(t, "undoes", str_printf(t->mem, "\"%.*s\"", STR_ARG(id)));
    state_drop_given_up(t->mem, x, id);
    if (!uuid_read(id, &t->out->retried_letter))
        PANIC("the id of a letter is none");
    t->out->retries_letter = true;
    x->error_json = error_before_rollback(t);
    x->rollback = rollback;
    x->status = STATUS_COMPENSATING;
    x->completed_at_us = 0;
    x->reopened_at_us = t->now_us;
    x->cursor = (struct cursor){
        .phase = PHASE_ROLLBACK, .attempt = rollback->tried_before, .started_at_us = t->now_us};
    return true;
}

/* Whether another rollback of the same visit was given up. */
static bool has_other(struct turn *t, int64_t row)
{
    struct value all = items_value(t->mem, &t->x->given_up);

    for (uint32_t i = 0; i < all.len; i++)
        if (value_map_int(all.items[i], STR("row")) == row)
            return true;
    return false;
}

void rollback_retry_end(struct turn *t, struct str code, int64_t row, bool ok)
{
    if (!ok || has_other(t, row))
        return;
    turn_note(t, "redone", STR("true"));
    state_move_compensated(t->mem, t->x, code);
}
