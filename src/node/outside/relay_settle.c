/*
 * relay_settle.c - what became of messages is recorded: delivered, later, or parked; see relay.h.
 *
 * One change is in flight at a time, with all messages that were answered.
 */
#include "base/log.h"
#include "node/outside/relay.h"
#include "node/outside/relay_parts.h"
#include "node/request.h"
#include "node/work_request.h"
#include "value/object.h"

enum {
    ATTEMPTS_MAX = 20,
    SETTLE_MAX = 1000, /* messages in one change */
};

#define FIRST_DELAY_US INT64_C(1000000)
#define DELAY_MAX_US INT64_C(3600000000)

static int64_t delay_us(int64_t attempts)
{
    int64_t us = FIRST_DELAY_US;

    for (int64_t i = 1; i < attempts && us < DELAY_MAX_US; i++)
        us *= 2;
    return us < DELAY_MAX_US ? us : DELAY_MAX_US;
}

/* {messageId, kind, destination, name, body} */
static struct str letter_payload(struct arena *mem, const struct relayed *m)
{
    struct buf out;

    object_begin(&out, mem);
    object_id(&out, "messageId", m->id);
    object_text(&out, "kind", str_of(message_kind_name(m->kind)));
    object_text(&out, "destination", m->lane->name);
    object_text(&out, "name", m->name);
    object_json(&out, "body", m->body_json);
    return object_end(&out);
}

static struct delivery delivery_of(struct relay *r, struct relayed *m, int64_t now_us)
{
    struct delivery d = {.row = m->row,
                         .execution = m->execution,
                         .destination = m->lane->name,
                         .name = m->name,
                         .is_late = m->is_late,
                         .attempts = m->attempts + 1,
                         .error_json = m->error_json};

    if (m->is_delivered)
        return d;
    if (!m->is_final && d.attempts < ATTEMPTS_MAX) {
        d.result = DELIVERY_LATER;
        d.next_at_us = now_us + delay_us(d.attempts);
        return d;
    }
    d.result = DELIVERY_PARKED;
    d.letter = uuid_gen_next(&r->chore.node->ids, now_us / 1000);
    d.payload_json = letter_payload(&r->settle_mem, m);
    log_write(LOG_WARN, "a message was given up: see the dead letters",
              LOG_FIELDS(log_str("destination", m->lane->name),
                         log_str("kind", str_of(message_kind_name(m->kind))),
                         log_int("attempts", d.attempts)));
    return d;
}

static void settled(struct node_request *request)
{
    struct relay *r = request->owner;
    struct relayed *m, *next;

    r->is_settling = false;
    if (!request->ok) {
        /* Nobody knows which of it is durable: recording it again changes nothing more. */
        r->settle_pause_us = relay_mono_us(r) + RELAY_TROUBLE_US;
        for (m = r->settled; m != NULL && m->next != NULL; m = m->next)
            ;
        if (m != NULL) {
            m->next = r->answered;
            if (r->last_answered == NULL)
                r->last_answered = m;
            r->answered = r->settled;
        }
    }
    for (m = request->ok ? r->settled : NULL; m != NULL; m = next) {
        next = m->next;
        relay_leave(r, m);
    }
    r->settled = NULL;
    arena_reset(&r->settle_mem);
    relay_wake(r);
}

void relay_settle(struct relay *r)
{
    int64_t now_us = clock_wall_us(r->chore.node->clock);
    struct delivery *all;
    struct relayed *last = NULL;
    size_t count = 0;

    if (r->is_settling || r->answered == NULL || r->settle_pause_us > relay_mono_us(r))
        return;
    all = ARENA_ARRAY(&r->settle_mem, SETTLE_MAX, struct delivery);
    for (struct relayed *m = r->answered; m != NULL && count < SETTLE_MAX; m = m->next) {
        all[count++] = delivery_of(r, m, now_us);
        last = m;
    }
    r->settle = (struct outbox_settle){
        .change = {.apply = outbox_settle_apply, .announces = "dead_letter.", .now_us = now_us},
        .deliveries = all,
        .count = count,
    };
    r->settle_request = node_change_request(&r->settle.change, &r->settle_mem, settled, r);
    r->is_settling = true;
    r->settled = r->answered;
    r->answered = last->next;
    if (r->answered == NULL)
        r->last_answered = NULL;
    last->next = NULL;
    node_record(r->chore.node, &r->settle_request);
}
