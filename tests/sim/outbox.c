/*
 * outbox.c - messages of executions, on the disk of the simulator, and who gets
 * them; see sim.h.
 *
 * Two subscribers: one wants everything, one only some. Both fail as the dice
 * say.
 */
#include "sim/automatic.h"
#include "sim/disk.h"

#include "effect/effect.h"
#include "engine/commit/commit.h"
#include "store/change_outbox.h"
#include "store/read_definition.h"
#include "store/read_outbox.h"

static const struct {
    const char *code, *text;
} subscribers[] = {
    {"all", "{\"url\":\"http://all.example/\",\"events\":[\"*\"],\"secret\":\"s\"}"},
    {"some", "{\"url\":\"http://some.example/\",\"events\":[\"E1\",\"execution.failed\"]}"},
};

void disk_subscriptions(const struct sim *sim, struct arena *mem, struct stored_definitions *out)
{
    for (size_t i = 0; (sim->config.mix & MIX_OF(MESSAGES)) != 0 && i < ARRAY_SIZE(subscribers);
         i++)
        *VEC_ADD(mem, out) = (struct stored_definition){.kind = STR("subscription"),
                                                        .code = str_of(subscribers[i].code),
                                                        .text = str_of(subscribers[i].text)};
}

static bool is_pending(const struct disk_message *m)
{
    return m->state == MESSAGE_PENDING;
}

/* Of the same execution, to the same destination. */
static bool is_beside(const struct disk_message *a, const struct disk_message *b)
{
    return a->of == b->of && str_eq(a->row.destination, b->row.destination);
}

void disk_write_outbox(struct sim *sim, struct disk_execution *x, const struct commit *c)
{
    struct disk *d = &sim->disk;

    for (size_t i = 0; i < c->outbox.count; i++) {
        struct disk_message *m = VEC_ADD(&d->mem, &d->outbox);

        *m = (struct disk_message){.of = x, .row = c->outbox.items[i]};
        m->row.destination = str_copy(&d->mem, m->row.destination);
        m->row.name = str_copy(&d->mem, m->row.name);
        m->row.body_json = str_copy(&d->mem, m->row.body_json);
        m->sent_version = events_version(d, m);
        for (size_t k = 0; k + 1 < d->outbox.count; k++)
            SIM_CHECK(sim, uuid_cmp(d->outbox.items[k].row.id, m->row.id) != 0,
                      "I5: two messages have the id %.*s", STR_ARG(sim_id(sim, m->row.id)));
        sim_note_str(sim, m->row.body_json);
    }
}

bool disk_sends(const struct disk *d, const struct disk_execution *x)
{
    for (size_t i = 0; i < d->outbox.count; i++)
        if (d->outbox.items[i].of == x && is_pending(&d->outbox.items[i]))
            return true;
    return false;
}

/* --- settling --- */

static void hold_behind(struct disk *d, const struct disk_message *m, bool holds)
{
    for (size_t i = 0; i < d->outbox.count; i++) {
        struct disk_message *o = &d->outbox.items[i];

        if (!is_beside(o, m) || !is_pending(o))
            continue;
        if (holds && o > m)
            o->is_held = true;
        if (!holds && o->is_held) {
            o->is_held = false;
            o->next_at_us = 0;
        }
    }
}

static void settle_one(struct sim *sim, const struct delivery *of)
{
    struct disk *d = &sim->disk;
    struct disk_message *m = &d->outbox.items[of->row - 1];

    if (of->result == DELIVERY_DONE && is_pending(m)) {
        if (m->row.kind == MESSAGE_TRIGGER)
            events_check_quiet(sim, m);
        SIM_CHECK(sim, m->is_received || m->row.kind == MESSAGE_TRIGGER,
                  "a message is confirmed that nobody has received");
        m->state = MESSAGE_GONE;
    }
    if (of->result == DELIVERY_DONE) {
        hold_behind(d, m, false);
        return;
    }
    if (!is_pending(m))
        return;
    m->attempts = of->attempts;
    m->next_at_us = of->next_at_us;
    if (of->result == DELIVERY_PARKED) {
        SIM_CHECK(sim, of->attempts >= 20, "a message was parked after %lld attempts",
                  (long long)of->attempts);
        m->state = MESSAGE_PARKED;
    }
    hold_behind(d, m, of->result == DELIVERY_LATER);
}

void disk_take_message(struct sim *sim, struct disk_message *m)
{
    m->state = MESSAGE_GONE;
    hold_behind(&sim->disk, m, false);
}

/* --- which node delivers where --- */

static struct disk_lane *lane_of(struct disk *d, struct str destination)
{
    struct disk_lane *l;

    for (size_t i = 0; i < d->lanes.count; i++)
        if (str_eq(d->lanes.items[i].destination, destination))
            return &d->lanes.items[i];
    l = VEC_ADD(&d->mem, &d->lanes);
    *l = (struct disk_lane){.destination = str_copy(&d->mem, destination)};
    return l;
}

/* One that has crashed is in the table of nodes for a while; one that has drained is not. */
static void claim_lanes(struct sim *sim, struct outbox_claim *c)
{
    int64_t now_us = sim_mono_us(sim);

    for (size_t i = 0; i < c->count; i++) {
        struct disk_lane *l = lane_of(&sim->disk, c->lanes[i].destination);

        c->lanes[i].is_granted = str_eq(l->node, c->node) || l->until_us < now_us;
        if (!c->lanes[i].is_granted)
            continue;
        l->node = str_copy(&sim->disk.mem, c->node);
        l->until_us = now_us + c->lease_us;
        sim_note_str(sim, l->node);
    }
}

void outbox_leave_lanes(const struct sim_node *at)
{
    struct disk *d = &at->sim->disk;

    for (size_t i = 0; i < d->lanes.count; i++)
        if (str_eq(d->lanes.items[i].node, str_of(at->name)))
            d->lanes.items[i].until_us = 0;
}

/* Nobody sends where another may send. */
static void check_lane(const struct sim_node *at, const struct disk_message *m)
{
    struct sim *sim = at->sim;
    const struct disk_lane *l = lane_of(&sim->disk, m->row.destination);

    SIM_CHECK(sim,
              !sim_is_shared(sim) ||
                  (str_eq(l->node, str_of(at->name)) && l->until_us > sim_mono_us(sim)),
              "a node sends to %.*s and has no lease on it", STR_ARG(m->row.destination));
}

bool disk_settle(struct sim *sim, struct member *m)
{
    const struct outbox_settle *s = (const struct outbox_settle *)(const void *)m->change;

    m->result = MEMBER_APPLIED;
    if (m->change->apply == outbox_claim_apply) {
        claim_lanes(sim, (struct outbox_claim *)(void *)m->change);
        return true;
    }
    if (m->change->apply != outbox_settle_apply)
        return false;
    for (size_t i = 0; i < s->count; i++)
        settle_one(sim, &s->deliveries[i]);
    sim->disk.settled += (int64_t)s->count;
    return true;
}

void disk_check_outbox(struct sim *sim)
{
    const struct disk *d = &sim->disk;

    for (size_t i = 0; i < d->outbox.count; i++)
        SIM_CHECK(sim, d->outbox.items[i].state != MESSAGE_PENDING,
                  "message %zu of %.*s to %.*s was never delivered: %lld attempts, %s", i + 1,
                  STR_ARG(sim_id(sim, d->outbox.items[i].of->s.id)),
                  STR_ARG(d->outbox.items[i].row.destination),
                  (long long)d->outbox.items[i].attempts,
                  d->outbox.items[i].is_held ? "held" : "not held");
}

/* --- reading --- */

bool read_outbox_lanes(struct reader *r, struct arena *mem, struct lane_names *out, struct err *err)
{
    const struct disk *d = &sim_of(r)->disk;

    *out = (struct lane_names){0};
    for (size_t i = 0; i < d->outbox.count; i++) {
        bool is_known = !is_pending(&d->outbox.items[i]);

        for (size_t k = 0; k < out->count && !is_known; k++)
            is_known = str_eq(out->items[k], d->outbox.items[i].row.destination);
        if (!is_known)
            *VEC_ADD(mem, out) = d->outbox.items[i].row.destination;
    }
    return !sim_read_fails(r, err);
}

static bool is_first(const struct disk *d, const struct disk_message *m)
{
    for (const struct disk_message *o = d->outbox.items; o < m; o++)
        if (is_beside(o, m) && is_pending(o))
            return false;
    return true;
}

bool read_outbox_due(struct reader *r, struct arena *mem, struct str destination, struct str node,
                     int64_t now_us, int64_t limit, size_t bytes_max, struct due_messages *out,
                     int64_t *next_at_us, struct err *err)
{
    struct disk *d = &sim_of(r)->disk;
    bool is_mine = node.len == 0 || str_eq(lane_of(d, destination)->node, node);

    (void)bytes_max;
    *out = (struct due_messages){0};
    *next_at_us = 0;
    for (size_t i = 0; is_mine && i < d->outbox.count; i++) {
        const struct disk_message *m = &d->outbox.items[i];

        if (!is_pending(m) || m->is_held || !str_eq(m->row.destination, destination))
            continue;
        if (m->next_at_us > now_us) {
            if (*next_at_us == 0 || m->next_at_us < *next_at_us)
                *next_at_us = m->next_at_us;
            continue;
        }
        if (!is_first(d, m))
            continue;
        if ((int64_t)out->count == limit) {
            out->is_cut = true;
            break;
        }
        *VEC_ADD(mem, out) = (struct due_message){.row = (int64_t)i + 1,
                                                  .execution = m->of->s.row,
                                                  .id = m->row.id,
                                                  .kind = m->row.kind,
                                                  .name = m->row.name,
                                                  .body_json = m->row.body_json,
                                                  .attempts = m->attempts};
    }
    return !sim_read_fails(r, err);
}

/* For figures alone: the simulator keeps no time of creation, so it is that of the next attempt. */
bool read_outbox_oldest(struct reader *r, struct str org_id, int64_t *at_us, struct err *err)
{
    const struct disk *d = &sim_of(r)->disk;

    (void)org_id;
    *at_us = 0;
    for (size_t i = 0; i < d->outbox.count && *at_us == 0; i++)
        if (is_pending(&d->outbox.items[i]))
            *at_us = d->outbox.items[i].next_at_us;
    return !sim_read_fails(r, err);
}

/* --- who gets them --- */

static struct disk_message *message_of(struct sim *sim, const struct effect_call *call)
{
    struct disk *d = &sim->disk;
    struct uuid id;

    for (size_t i = 0; uuid_read(call->key, &id) && i < d->outbox.count; i++)
        if (uuid_cmp(d->outbox.items[i].row.id, id) == 0)
            return &d->outbox.items[i];
    sim_fail(sim, "I1: message %.*s leaves before its commit is durable", STR_ARG(call->key));
}

void outbox_sent(struct sim_node *at, const struct effect_call *call)
{
    struct sim *sim = at->sim;
    struct disk_message *m = message_of(sim, call);

    SIM_CHECK(sim, !at->is_draining, "message %.*s leaves a node that stops", STR_ARG(call->key));

    /* One that another node has confirmed meanwhile comes twice. */
    SIM_CHECK(sim, !is_pending(m) || is_first(&sim->disk, m),
              "message %.*s overtakes an earlier one of its execution", STR_ARG(call->key));
    check_lane(at, m);
    m->sends++;
    if (m->request_json.len == 0)
        m->request_json = str_copy(&sim->disk.mem, call->request_json);
    SIM_CHECK(sim, str_eq(m->request_json, call->request_json),
              "I5: two attempts of message %.*s say different things", STR_ARG(call->key));
}

void outbox_answer(struct sim_node *at, struct effect_call *call)
{
    struct sim *sim = at->sim;
    unsigned which = sim->no_faults ? 0 : dice_roll(&sim->dice, 10);

    if (sim->outside.is_away)
        which = 9;
    /* Received and not answered; or not received. */
    if (which < 8)
        message_of(sim, call)->is_received = true;
    if (which >= 6)
        call->error_json = STR("{\"code\":\"external_made_up\",\"class\":\"transient\","
                               "\"message\":\"m\"}");
    else {
        call->status = 200;
        message_of(sim, call)->confirmed_to = at;
    }
}

void outbox_check_drained(const struct sim_node *at)
{
    const struct disk *d = &at->sim->disk;

    for (size_t i = 0; i < d->outbox.count; i++)
        SIM_CHECK(at->sim,
                  d->outbox.items[i].confirmed_to != at || !is_pending(&d->outbox.items[i]),
                  "a node has drained and forgets that message %zu was delivered", i + 1);
}

void outbox_forget_confirmed(const struct sim_node *at)
{
    struct disk *d = &at->sim->disk;

    for (size_t i = 0; i < d->outbox.count; i++)
        if (d->outbox.items[i].confirmed_to == at)
            d->outbox.items[i].confirmed_to = NULL;
}
