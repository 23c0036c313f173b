/*
 * receive.c - signals come in: one that an event brings, or one that was kept
 * for a wait which begins now. See turn.h.
 */
#include "engine/command/wait.h"
#include "engine/context.h"

/* {id, type, payload, by, receivedAt}, still in the memory of the event. */
static struct value view_of(struct turn *t, const struct arrival *a)
{
    return value_map_of(t->mem, VALUE_ENTRIES({value_key(STR("id")), value_string(a->id)},
                                              {value_key(STR("type")), value_string(a->type)},
                                              {value_key(STR("payload")), turn_or_null(a->payload)},
                                              {value_key(STR("by")), turn_or_null(a->by)},
                                              {value_key(STR("receivedAt")),
                                               time_text(t->mem, a->received_at_us)}));
}

bool receive_make(struct turn *t, const struct arrival *a, struct signal *out, struct err *err)
{
    struct value view = view_of(t, a);

    *out = (struct signal){.received_at_us = t->now_us, .seq = t->x->seq + 1};
    if (!turn_freeze(t, &view, &out->json))
        return err_set(
            err, str_eq(t->failure.code, STR("limit_context_size")) ? ERR_TOO_LARGE : ERR_INVALID,
            "%pS", SENTENCE_ARG(t->failure.message));
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
    if (signal->answers.len > 0)
        turn_note(t, "answers", str_printf(t->mem, "\"%.*s\"", STR_ARG(signal->answers)));
}
