/* relay.c - see relay.h. */
#include "node/outside/relay.h"

#include "base/alloc.h"
#include "engine/commit/commit.h"
#include "node/cache/load.h"
#include "node/chore/chore.h"
#include "node/cluster/config.h"
#include "node/node.h"
#include "node/outside/broker_link.h"
#include "node/outside/calls.h"
#include "node/outside/relay_parts.h"
#include "node/outside/triggers.h"
#include "node/request.h"
#include "store/event_routes.h"
#include "store/read_definition.h"

enum {
    LANE_MAX = 64, /* messages that are in flight to one destination */
    RELAY_MAX = EFFECT_MESSAGES_MAX,
};

#define LANE_BYTES_MAX ((size_t)4 << 20)   /* of the messages of one page */
#define RELAY_BYTES_MAX ((size_t)64 << 20) /* of all that are in flight */
#define LOOK_ALONE_US INT64_C(60000000)
#define LOOK_SHARED_US INT64_C(1000000)
#define LEASE_US INT64_C(15000000)
#define RENEW_US INT64_C(5000000)      /* before a lease ends */
#define DRAIN_WAIT_US INT64_C(2000000) /* for what is in flight */

void relay_wake(struct relay *r)
{
    r->chore.next_us = 0;
}

struct relay *relay_of(const struct node *n)
{
    return (struct relay *)n->chores[CHORE_RELAY];
}

int64_t relay_mono_us(const struct relay *r)
{
    return clock_mono_us(r->chore.node->clock);
}

/* --- lanes --- */

static struct lane *lane_get(struct relay *r, struct str name)
{
    struct lane *l = map_get(&r->lanes, name);

    if (l != NULL)
        return l;
    l = alloc_zeroed(sizeof(*l));
    arena_init(&l->mem);
    l->name = str_copy(&l->mem, name);
    map_put(&r->lanes, l->name, l);
    return l;
}

static void lane_free(struct relay *r, struct lane *l)
{
    (void)map_remove(&r->lanes, l->name);
    arena_fini(&l->mem);
    free(l);
}

static void lane_note(struct relay *r, struct str name)
{
    lane_get(r, name)->is_due = true;
    relay_wake(r);
}

static void message_free(struct relay *r, struct relayed *m);

static void lane_forget_settled(struct relay *r, struct lane *l)
{
    while (l->leaving != NULL) {
        struct relayed *m = l->leaving;

        l->leaving = m->next;
        message_free(r, m);
    }
}

static bool lane_is_idle(const struct lane *l)
{
    return !l->is_due && !l->is_reading && !l->is_claiming && l->in_flight == 0 &&
           l->next_at_us == 0;
}

/* Whether a page may be read for it now. */
static bool lane_is_ready(const struct relay *r, const struct lane *l)
{
    int64_t now_us = relay_mono_us(r);

    return !l->is_reading && l->in_flight <= LANE_MAX / 2 && l->pause_until_us <= now_us &&
           (l->is_due ||
            (l->next_at_us > 0 && l->next_at_us <= clock_wall_us(r->chore.node->clock))) &&
           relay_can_send(r->chore.node, l->name);
}

/* Whether this node may send what it has read of the lane. */
static bool lane_has_lease(const struct relay *r, const struct lane *l)
{
    return !node_is_shared(r->chore.node) || l->lease_until_us > relay_mono_us(r);
}

/* --- messages --- */

static struct str row_key(const struct relayed *m)
{
    return str_from((const char *)&m->row, sizeof(m->row));
}

static struct relayed *message_new(struct relay *r, struct lane *l, const struct due_message *due)
{
    struct relayed *m = ALLOC_NEW(struct relayed);

    *m = (struct relayed){.row = due->row,
                          .execution = due->execution,
                          .id = due->id,
                          .kind = due->kind,
                          .attempts = due->attempts,
                          .is_late = due->is_late,
                          .lane = l,
                          .node = r->chore.node};
    arena_init(&m->mem);
    m->name = str_copy(&m->mem, due->name);
    m->body_json = str_copy(&m->mem, due->body_json);
    m->org_id = str_copy(&m->mem, due->org_id);
    m->lane_name = str_copy(&m->mem, l->name);
    m->nobody = str_copy(&m->mem, due->nobody);
    map_put(&r->known, row_key(m), m);
    l->in_flight++;
    r->in_flight++;
    r->bytes += m->body_json.len;
    return m;
}

static void message_free(struct relay *r, struct relayed *m)
{
    (void)map_remove(&r->known, row_key(m));
    m->lane->in_flight--;
    r->in_flight--;
    r->bytes -= m->body_json.len;
    arena_fini(&m->mem);
    free(m);
}

static void message_answered(struct relay *r, struct relayed *m)
{
    m->next = NULL;
    *(r->last_answered != NULL ? &r->last_answered->next : &r->answered) = m;
    r->last_answered = m;
    relay_wake(r);
}

void relay_leave(struct relay *r, struct relayed *m)
{
    /* The next one of its execution, or itself later. */
    m->lane->is_due = true;
    if (m->lane->is_reading) {
        m->next = m->lane->leaving;
        m->lane->leaving = m;
    } else {
        message_free(r, m);
    }
    relay_wake(r);
}

static void message_send(struct relay *r, struct relayed *m)
{
    struct node *n = r->chore.node;
    struct effect_call *call;

    if (m->kind == MESSAGE_TRIGGER) {
        r->sent++;
        triggers_start(n, m);
        return;
    }
    if (m->kind == MESSAGE_BROKER) {
        r->sent++;
        broker_link_publish(n, m);
        return;
    }
    call = relay_make_call(n, m->lane->name, m);
    if (call == NULL) {
        message_answered(r, m);
        return;
    }
    call->message = m;
    r->sent++;
    if (n->options.caller.send != NULL)
        n->options.caller.send(n->options.caller.context, call);
    else
        effect_send(call->server_url.len > 0 && n->calls->mails != NULL ? n->calls->mails
                                                                        : n->calls->effect,
                    call);
}

void relay_fired(struct node *n, struct relayed *m, bool is_taken)
{
    relay_of(n)->sent--;
    if (is_taken)
        relay_leave(relay_of(n), m);
    else
        message_answered(relay_of(n), m);
}

void relay_answered(struct node *n, struct effect_call *call)
{
    struct relayed *m = call->message;

    relay_of(n)->sent--;
    relay_judge(m, call);
    message_answered(relay_of(n), m);
    effect_call_free(call);
}

void relay_published(struct node *n, struct relayed *m, const struct broker_message *sent)
{
    struct relay *r = relay_of(n);

    r->sent--;
    m->is_delivered = sent->outcome == BROKER_CONFIRMED;
    if (sent->outcome == BROKER_UNSENT) {
        /* It was no attempt: its row is as it was, and is read again when the broker is back. */
        relay_leave(r, m);
        return;
    }
    if (!m->is_delivered)
        relay_refuse(m, sent->outcome == BROKER_UNROUTABLE,
                     sent->outcome == BROKER_UNROUTABLE ? "external_unroutable"
                                                        : "external_refused",
                     str_copy(&m->mem, sent->reason).ptr);
    message_answered(r, m);
}

/* --- pages --- */

/* Messages of one lane that are due. */
struct page_load {
    struct load load; /* first: see load.h */
    struct str destination;
    struct str node; /* whose lane it must be; STR_NONE: nobody else is there */
    int64_t now_us, next_at_us;
    bool is_of_trigger;
    int64_t
        stamp; /* of the definitions, not before the messages: a trigger goes by what is published */
    struct due_messages due;
};

static void run_page(struct load *load, struct reader *reader)
{
    struct page_load *l = (struct page_load *)load;

    load->ok = read_outbox_due(reader, &load->mem, l->destination, l->node, l->now_us, LANE_MAX * 2,
                               LANE_BYTES_MAX, &l->due, &l->next_at_us, &load->err);
    if (load->ok && l->is_of_trigger && l->due.count > 0)
        load->ok = read_definition_stamp(reader, &l->stamp, &load->err);
    for (size_t i = 0; load->ok && i < l->due.count; i++)
        load->ok = addressees_resolve(reader, &load->mem, &l->due.items[i], &load->err);
}

static void done_page(struct load *load)
{
    struct page_load *page = (struct page_load *)load;
    struct relay *r = relay_of(load->node);
    struct lane *l = lane_get(r, page->destination);
    const struct due_messages *due = &page->due;

    l->is_reading = false;
    relay_wake(r);
    if (!load->ok) {
        l->is_due = true;
        l->pause_until_us = relay_mono_us(r) + RELAY_TROUBLE_US;
        lane_forget_settled(r, l);
        load_free(load);
        return;
    }
    config_expect(load->node, page->stamp);
    l->next_at_us = page->next_at_us;
    /* More than there is capacity for: the rest is read when some of these are settled. */
    if (due->is_cut)
        l->is_due = true;
    for (size_t i = 0; i < due->count; i++) {
        const struct due_message *m = &due->items[i];

        if (map_get(&r->known, str_from((const char *)&m->row, sizeof(m->row))) != NULL)
            continue;
        if (l->in_flight >= LANE_MAX || r->in_flight >= RELAY_MAX || load->node->is_draining ||
            !lane_has_lease(r, l)) {
            l->is_due = true;
            break;
        }
        message_send(r, message_new(r, l, m));
    }
    lane_forget_settled(r, l);
    load_free(load);
}

static void page_read(struct relay *r, struct lane *l)
{
    struct page_load *page = LOAD_NEW(r->chore.node, struct page_load, run_page, done_page);

    l->is_due = false;
    l->is_reading = true;
    page->destination = str_copy(&page->load.mem, l->name);
    page->is_of_trigger = str_starts_with(l->name, STR(MESSAGE_TRIGGER_LANE));
    if (node_is_shared(r->chore.node))
        page->node = node_own_name(r->chore.node);
    page->now_us = clock_wall_us(r->chore.node->clock);
    load_send(&page->load);
}

/* --- which lanes there are --- */

struct lanes_load {
    struct load load; /* first: see load.h */
    struct lane_names lanes;
};

static void run_lanes(struct load *load, struct reader *reader)
{
    struct lanes_load *l = (struct lanes_load *)load;

    load->ok = read_outbox_lanes(reader, &load->mem, &l->lanes, &load->err);
}

static void done_lanes(struct load *load)
{
    struct lanes_load *l = (struct lanes_load *)load;
    struct relay *r = relay_of(load->node);

    r->is_looking = false;
    r->next_look_us = relay_mono_us(r) + (!load->ok                    ? RELAY_TROUBLE_US
                                          : node_is_shared(load->node) ? LOOK_SHARED_US
                                                                       : LOOK_ALONE_US);
    for (size_t i = 0; load->ok && i < l->lanes.count; i++)
        lane_note(r, l->lanes.items[i]);
    relay_wake(r);
    load_free(load);
}

static void lanes_look(struct relay *r)
{
    if (r->is_looking || r->next_look_us > relay_mono_us(r))
        return;
    r->is_looking = true;
    load_send(&LOAD_NEW(r->chore.node, struct lanes_load, run_lanes, done_lanes)->load);
}

/* --- leases --- */

static void lanes_claimed(struct node_request *request)
{
    struct relay *r = request->owner;
    int64_t now_us = relay_mono_us(r);

    r->is_claiming = false;
    for (size_t i = 0; i < r->claim.count; i++) {
        struct lane *l = lane_get(r, r->claim.lanes[i].destination);

        l->is_claiming = false;
        if (request->ok && r->claim.lanes[i].is_granted)
            /* From before it was asked for: this node's ends first. */
            l->lease_until_us = r->claim.change.now_us + LEASE_US;
        else
            l->pause_until_us = now_us + RELAY_TROUBLE_US;
        if (request->ok && !r->claim.lanes[i].is_granted)
            l->lease_until_us = 0; /* another node has taken it */
    }
    arena_reset(&r->claim_mem);
    relay_wake(r);
}

/* Take or renew the leases of all lanes that have something to do. */
static void lanes_claim(struct relay *r)
{
    int64_t now_us = relay_mono_us(r);
    size_t count = 0;
    struct err err;

    if (r->is_claiming || !node_is_shared(r->chore.node))
        return;
    r->claim = (struct outbox_claim){
        .change = {.apply = outbox_claim_apply, .now_us = now_us},
        .node = node_own_name(r->chore.node),
        .lease_us = LEASE_US,
        .lanes = ARENA_ARRAY(&r->claim_mem, r->lanes.count + 1, struct lane_claim),
    };
    for (struct map_entry *e = NULL; (e = map_next(&r->lanes, e)) != NULL;) {
        struct lane *l = e->ptr;

        if ((l->in_flight > 0 || lane_is_ready(r, l)) && l->pause_until_us <= now_us &&
            l->lease_until_us < now_us + RENEW_US)
            r->claim.lanes[count++] =
                (struct lane_claim){.destination = str_copy(&r->claim_mem, l->name)};
    }
    r->claim.count = count;
    if (count == 0) {
        arena_reset(&r->claim_mem);
        return;
    }
    r->claim_request = node_change_request(&r->claim.change, &r->claim_mem, lanes_claimed, r);
    if (!node_submit(r->chore.node, &r->claim_request, &err)) {
        arena_reset(&r->claim_mem);
        return;
    }
    r->is_claiming = true;
    for (size_t i = 0; i < count; i++)
        lane_get(r, r->claim.lanes[i].destination)->is_claiming = true;
}

/* --- the loop's part --- */

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Read what can be read, forget what is idle. Answers when the next lane has something to do. */
static int64_t lanes_run(struct relay *r)
{
    int64_t now_us = relay_mono_us(r), next_us = INT64_MAX;
    struct map_entry *e = map_next(&r->lanes, NULL), *after;

    for (; e != NULL; e = after) {
        struct lane *l = e->ptr;

        after = map_next(&r->lanes, e);
        if (lane_is_idle(l)) {
            lane_free(r, l);
            continue;
        }
        if (lane_is_ready(r, l) && lane_has_lease(r, l) && r->in_flight < RELAY_MAX / 2 &&
            r->bytes < RELAY_BYTES_MAX)
            page_read(r, l);
        if (l->pause_until_us > now_us)
            next_us = earlier(next_us, l->pause_until_us);
        else if (l->next_at_us > 0 && !l->is_reading && l->in_flight <= LANE_MAX / 2 &&
                 relay_can_send(r->chore.node, l->name))
            next_us =
                earlier(next_us, now_us + l->next_at_us - clock_wall_us(r->chore.node->clock));
        if (node_is_shared(r->chore.node) && l->in_flight > 0 && !l->is_claiming)
            next_us = earlier(next_us, l->lease_until_us - RENEW_US);
    }
    return next_us;
}

static void relay_run(struct chore *c)
{
    struct relay *r = (struct relay *)c;
    int64_t next_us;

    /* Set to 0 again by whatever comes back from what is begun here. */
    c->next_us = INT64_MAX;
    relay_settle(r);
    if (c->node->is_draining) {
        /* Recording it has failed, and is tried again after a pause. */
        if (r->answered != NULL && !r->is_settling)
            c->next_us = r->settle_pause_us;
        return;
    }
    lanes_look(r);
    lanes_claim(r);
    next_us = lanes_run(r);
    if (!r->is_looking)
        next_us = earlier(next_us, r->next_look_us);
    if (r->answered != NULL && !r->is_settling)
        next_us = earlier(next_us, r->settle_pause_us);
    /* Not at every pass, should something that is due have to wait for capacity. */
    next_us = next_us <= relay_mono_us(r) ? relay_mono_us(r) + 10000 : next_us;
    c->next_us = earlier(c->next_us, next_us);
}

static int64_t relay_in_us(const struct chore *c)
{
    const struct relay *r = (const struct relay *)c;

    if (c->next_us == INT64_MAX || (c->node->is_draining && r->answered == NULL))
        return INT64_MAX;
    return chore_left_us(c);
}

bool relay_is_idle(const struct node *n)
{
    const struct relay *r = relay_of(n);

    if (r->answered != NULL || r->is_settling)
        return false;
    return r->sent == 0 ||
           (n->is_draining && relay_mono_us(r) - n->draining_since_us > DRAIN_WAIT_US);
}

void relay_note(struct node *n, const struct commit *commit)
{
    for (size_t i = 0; i < commit->outbox.count; i++)
        lane_note(relay_of(n), commit->outbox.items[i].destination);
}

void relay_note_events(struct node *n, const struct event_routes *events)
{
    for (size_t i = 0; i < events->lanes.count; i++)
        lane_note(relay_of(n), events->lanes.items[i]);
}

void relay_look(struct node *n)
{
    relay_of(n)->next_look_us = 0;
    relay_wake(relay_of(n));
}

static bool relay_open(struct chore *c, struct err *err)
{
    struct relay *r = (struct relay *)c;

    (void)err;
    map_init(&r->lanes, &c->node->mem);
    map_init(&r->known, &c->node->mem);
    arena_init(&r->settle_mem);
    arena_init(&r->claim_mem);
    return true;
}

static void relay_close(struct chore *c)
{
    struct relay *r = (struct relay *)c;
    struct map_entry *e;

    while ((e = map_next(&r->known, NULL)) != NULL)
        message_free(r, e->ptr);
    while ((e = map_next(&r->lanes, NULL)) != NULL)
        lane_free(r, e->ptr);
    arena_fini(&r->settle_mem);
    arena_fini(&r->claim_mem);
}

const struct chore_kind chore_relay = {
    .needs = CHORE_NEEDS_RECOVERY | CHORE_NEEDS_CONFIG,
    .size = sizeof(struct relay),
    .open = relay_open,
    .run = relay_run,
    .in_us = relay_in_us,
    .close = relay_close,
};
