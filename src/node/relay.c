/* relay.c - see relay.h. */
#include "node/relay_parts.h"

#include <stdlib.h>

enum {
    LANE_MAX = 64, /* messages that are under way to one destination */
    RELAY_MAX = EFFECT_MESSAGES_MAX,
};

#define LANE_BYTES_MAX ((size_t)4 << 20)   /* of the messages of one page */
#define RELAY_BYTES_MAX ((size_t)64 << 20) /* of all that are under way */
#define LOOK_ALONE_US INT64_C(60000000)
#define LOOK_SHARED_US INT64_C(1000000)
#define LEASE_US INT64_C(15000000)
#define RENEW_US INT64_C(5000000)      /* before a lease ends */
#define DRAIN_WAIT_US INT64_C(2000000) /* for what is under way */

void relay_wake(struct relay *r)
{
    r->next_us = 0;
}

int64_t relay_mono_us(const struct relay *r)
{
    return clock_mono_us(r->node->clock);
}

/* --- lanes --- */

static struct lane *lane_get(struct relay *r, struct str name)
{
    struct lane *l = map_get(&r->lanes, name);

    if (l != NULL)
        return l;
    l = calloc(1, sizeof(*l));
    if (l == NULL)
        PANIC("out of memory");
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
    return !l->is_due && !l->is_reading && !l->is_claiming && l->under_way == 0 &&
           l->next_at_us == 0;
}

/* Whether a page may be read for it now. */
static bool lane_is_ready(const struct relay *r, const struct lane *l)
{
    int64_t now_us = relay_mono_us(r);

    return !l->is_reading && l->under_way <= LANE_MAX / 2 && l->pause_until_us <= now_us &&
           (l->is_due || (l->next_at_us > 0 && l->next_at_us <= clock_wall_us(r->node->clock))) &&
           relay_can_send(r->node, l->name);
}

/* --- messages --- */

static struct str row_key(const struct relayed *m)
{
    return str_from((const char *)&m->row, sizeof(m->row));
}

static struct relayed *message_new(struct relay *r, struct lane *l, const struct due_message *due)
{
    struct relayed *m = calloc(1, sizeof(*m));

    if (m == NULL)
        PANIC("out of memory");
    *m = (struct relayed){.row = due->row,
                          .execution = due->execution,
                          .id = due->id,
                          .kind = due->kind,
                          .attempts = due->attempts,
                          .is_late = due->is_late,
                          .lane = l,
                          .node = r->node};
    arena_init(&m->mem);
    m->name = str_copy(&m->mem, due->name);
    m->body_json = str_copy(&m->mem, due->body_json);
    m->org_id = str_copy(&m->mem, due->org_id);
    m->lane_name = str_copy(&m->mem, l->name);
    m->nobody = str_copy(&m->mem, due->nobody);
    map_put(&r->known, row_key(m), m);
    l->under_way++;
    r->under_way++;
    r->bytes += m->body_json.len;
    return m;
}

static void message_free(struct relay *r, struct relayed *m)
{
    (void)map_remove(&r->known, row_key(m));
    m->lane->under_way--;
    r->under_way--;
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
    struct node *n = r->node;
    struct effect_call *call;

    if (m->kind == MESSAGE_TRIGGER) {
        r->sent++;
        triggers_start(n, m);
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
        effect_send(n->calls.effect, call);
}

void relay_fired(struct node *n, struct relayed *m, bool is_taken)
{
    n->relay->sent--;
    if (is_taken)
        relay_leave(n->relay, m);
    else
        message_answered(n->relay, m);
}

void relay_answered(struct node *n, struct effect_call *call)
{
    struct relayed *m = call->message;

    n->relay->sent--;
    relay_judge(m, call);
    message_answered(n->relay, m);
    effect_call_free(call);
}

/* --- pages --- */

static void run_page(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;

    l->ok = read_outbox_due(reader, &l->mem, l->page.destination, l->page.now_us, LANE_MAX * 2,
                            LANE_BYTES_MAX, &l->page.due, &l->page.next_at_us, &l->err);
    for (size_t i = 0; l->ok && i < l->page.due.count; i++)
        l->ok = addressees_resolve(reader, &l->mem, &l->page.due.items[i], &l->err);
}

static void done_page(struct node_read *read)
{
    struct load *load = read->owner;
    struct relay *r = load->node->relay;
    struct lane *l = lane_get(r, load->page.destination);
    const struct due_messages *due = &load->page.due;

    l->is_reading = false;
    relay_wake(r);
    if (!load->ok) {
        l->is_due = true;
        l->pause_until_us = relay_mono_us(r) + TROUBLE_US;
        lane_forget_settled(r, l);
        load_free(load);
        return;
    }
    l->next_at_us = load->page.next_at_us;
    /* More than there is room for: the rest is read when some of these are settled. */
    if (due->is_cut)
        l->is_due = true;
    for (size_t i = 0; i < due->count; i++) {
        const struct due_message *m = &due->items[i];

        if (map_get(&r->known, str_from((const char *)&m->row, sizeof(m->row))) != NULL)
            continue;
        if (l->under_way >= LANE_MAX || r->under_way >= RELAY_MAX || load->node->is_draining) {
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
    struct load *load = load_new(r->node, run_page, done_page);

    l->is_due = false;
    l->is_reading = true;
    load->page.destination = str_copy(&load->mem, l->name);
    load->page.now_us = clock_wall_us(r->node->clock);
    load_send(load);
}

/* --- which lanes there are --- */

static void run_lanes(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;

    l->ok = read_outbox_lanes(reader, &l->mem, &l->lanes, &l->err);
}

static void done_lanes(struct node_read *read)
{
    struct load *l = read->owner;
    struct relay *r = l->node->relay;

    r->is_looking = false;
    r->next_look_us = relay_mono_us(r) + (!l->ok                    ? TROUBLE_US
                                          : node_is_shared(l->node) ? LOOK_SHARED_US
                                                                    : LOOK_ALONE_US);
    for (size_t i = 0; l->ok && i < l->lanes.count; i++)
        lane_note(r, l->lanes.items[i]);
    relay_wake(r);
    load_free(l);
}

static void lanes_look(struct relay *r)
{
    if (r->is_looking || r->next_look_us > relay_mono_us(r))
        return;
    r->is_looking = true;
    load_send(load_new(r->node, run_lanes, done_lanes));
}

/* --- leases --- */

static bool lane_has_lease(const struct relay *r, const struct lane *l)
{
    return !node_is_shared(r->node) || l->lease_until_us > relay_mono_us(r);
}

static void claimed(struct node_request *request)
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
            l->pause_until_us = now_us + TROUBLE_US;
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

    if (r->is_claiming || !node_is_shared(r->node))
        return;
    r->claim = (struct outbox_claim){
        .change = {.apply = outbox_claim_apply, .now_us = now_us},
        .node = node_own_name(r->node),
        .lease_us = LEASE_US,
        .lanes = ARENA_ARRAY(&r->claim_mem, r->lanes.count + 1, struct lane_claim),
    };
    for (struct map_entry *e = NULL; (e = map_next(&r->lanes, e)) != NULL;) {
        struct lane *l = e->ptr;

        if ((l->under_way > 0 || lane_is_ready(r, l)) && l->pause_until_us <= now_us &&
            l->lease_until_us < now_us + RENEW_US)
            r->claim.lanes[count++] =
                (struct lane_claim){.destination = str_copy(&r->claim_mem, l->name)};
    }
    r->claim.count = count;
    if (count == 0) {
        arena_reset(&r->claim_mem);
        return;
    }
    r->claim_request = (struct node_request){.kind = NODE_CHANGE,
                                             .change = &r->claim.change,
                                             .mem = &r->claim_mem,
                                             .done = claimed,
                                             .owner = r};
    if (!node_submit(r->node, &r->claim_request, &err)) {
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
        if (lane_is_ready(r, l) && lane_has_lease(r, l) && r->under_way < RELAY_MAX / 2 &&
            r->bytes < RELAY_BYTES_MAX)
            page_read(r, l);
        if (l->pause_until_us > now_us)
            next_us = earlier(next_us, l->pause_until_us);
        else if (l->next_at_us > 0 && !l->is_reading && l->under_way <= LANE_MAX / 2)
            next_us = earlier(next_us, now_us + l->next_at_us - clock_wall_us(r->node->clock));
        if (node_is_shared(r->node) && l->under_way > 0 && !l->is_claiming)
            next_us = earlier(next_us, l->lease_until_us - RENEW_US);
    }
    return next_us;
}

void relay_run(struct node *n)
{
    struct relay *r = n->relay;
    int64_t next_us;

    if (n->is_draining && r->draining_since_us == 0)
        r->draining_since_us = relay_mono_us(r);
    if (!n->is_recovered || !n->has_config || r->next_us > relay_mono_us(r))
        return;
    /* Set to 0 again by whatever comes back from what is begun here. */
    r->next_us = INT64_MAX;
    relay_settle(r);
    if (n->is_draining)
        return;
    lanes_look(r);
    lanes_claim(r);
    next_us = lanes_run(r);
    if (!r->is_looking)
        next_us = earlier(next_us, r->next_look_us);
    if (r->answered != NULL && !r->is_settling)
        next_us = earlier(next_us, r->settle_pause_us);
    /* Not at every pass, should something that is due have to wait for room. */
    next_us = next_us <= relay_mono_us(r) ? relay_mono_us(r) + 10000 : next_us;
    r->next_us = earlier(r->next_us, next_us);
}

int64_t relay_in_us(const struct node *n)
{
    const struct relay *r = n->relay;
    int64_t us;

    if (!n->is_recovered || !n->has_config || r->next_us == INT64_MAX ||
        (n->is_draining && r->answered == NULL))
        return INT64_MAX;
    us = r->next_us - relay_mono_us(r);
    return us > 0 ? us : 0;
}

bool relay_is_idle(const struct node *n)
{
    const struct relay *r = n->relay;

    if (r->answered != NULL || r->is_settling)
        return false;
    return r->sent == 0 ||
           (r->draining_since_us > 0 && relay_mono_us(r) - r->draining_since_us > DRAIN_WAIT_US);
}

void relay_note(struct node *n, const struct commit *commit)
{
    for (size_t i = 0; i < commit->outbox.count; i++)
        lane_note(n->relay, commit->outbox.items[i].destination);
}

void relay_note_told(struct node *n, const struct event_routes *events)
{
    for (size_t i = 0; i < events->lanes.count; i++)
        lane_note(n->relay, events->lanes.items[i]);
}

void relay_look(struct node *n)
{
    n->relay->next_look_us = 0;
    relay_wake(n->relay);
}

void relay_open(struct node *n)
{
    struct relay *r = ARENA_NEW(&n->mem, struct relay);

    *r = (struct relay){.node = n};
    map_init(&r->lanes, &n->mem);
    map_init(&r->known, &n->mem);
    arena_init(&r->settle_mem);
    arena_init(&r->claim_mem);
    n->relay = r;
}

void relay_close(struct node *n)
{
    struct relay *r = n->relay;
    struct map_entry *e;

    while ((e = map_next(&r->known, NULL)) != NULL)
        message_free(r, e->ptr);
    while ((e = map_next(&r->lanes, NULL)) != NULL)
        lane_free(r, e->ptr);
    arena_fini(&r->settle_mem);
    arena_fini(&r->claim_mem);
}
