/*
 * receive.c - signals come in: one that an event brings, or one that was kept
 * for a wait which begins now. See turn.h.
 */
#include "engine/context.h"
#include "engine/wait.h"

/* {id, type, payload, by, receivedAt}, still in the memory of the event. */
static struct value view_of(struct turn *t, const struct arrival *a)
{
    struct value_entry *entries = ARENA_ARRAY(t->mem, 5, struct value_entry);
    size_t duplicate;

    entries[0] = (struct value_entry){value_key(STR("id")), value_string(a->id)};
    entries[1] = (struct value_entry){value_key(STR("type")), value_string(a->type)};
    entries[2] = (struct value_entry){value_key(STR("payload")), turn_or_null(a->payload)};
    entries[3] = (struct value_entry){value_key(STR("by")), turn_or_null(a->by)};
    entries[4] =
        (struct value_entry){value_key(STR("receivedAt")), time_text(t->mem, a->received_at_us)};
    return value_map_make(t->mem, entries, 5, &duplicate);
}

bool receive_make(struct turn *t, const struct arrival *a, struct signal *out, struct err *err)
{
    struct value view = view_of(t, a);

    *out = (struct signal){.received_at_us = t->now_us, .seq = t->x->seq + 1};
    if (!turn_freeze(t, &view, &out->json))
        return err_set(
            err, str_eq(t->failure.code, STR("limit_context_size")) ? ERR_TOO_LARGE : ERR_INVALID,
            "%.*s", STR_ARG(t->failure.message));
    if (t->x->context_bytes + out->json.len > CONTEXT_BYTES_MAX)
        return err_set(err, ERR_TOO_LARGE, "the context would be larger than %d bytes",
                       CONTEXT_BYTES_MAX);
    out->view = value_copy(t->mem, view);
    out->id = value_text(value_map_get_str(out->view, STR("id")));
    out->type = value_text(value_map_get_str(out->view, STR("type")));
    return true;
}

void receive(struct turn *t, const struct signal *signal)
{
    state_add_signal(t->mem, t->x, signal);
    (void)turn_row(t, HISTORY_EVENT, STR_NONE, STR("signal"));
    ASSERT(t->x->seq == signal->seq);
    turn_note(t, "signal", signal->json);
}
