/*
 * route.c - where the messages of a commit go: see relay.h.
 *
 * Subscriptions are in memory, like the config, and are read and changed with
 * it. An event becomes a row for each subscription that wants it when its
 * commit is made; whoever subscribes later does not get it.
 */
#include "base/buf.h"
#include "base/log.h"
#include "define/program.h"
#include "effect/secret/subscription_secret.h"
#include "engine/chain.h"
#include "engine/commit/commit.h"
#include "engine/commit/letter.h"
#include "engine/execution.h"
#include "engine/ident.h"
#include "engine/show.h"
#include "node/inner.h"
#include "node/outside/broker_link.h"
#include "node/outside/relay.h"
#include "node/outside/triggers.h"
#include "store/event_routes.h"
#include "store/org.h"
#include "store/read_definition.h"
#include "value/object.h"

/* --- the subscriptions --- */

static struct subscription copy_subscription(struct arena *mem, const struct subscription *s)
{
    struct str *events = ARENA_ARRAY(mem, s->event_count + 1, struct str);
    struct subscription copy = {.code = str_copy(mem, s->code),
                                .url = str_copy(mem, s->url),
                                .secret = str_copy(mem, s->secret),
                                .is_locked = s->is_locked,
                                .org_id = str_copy(mem, s->org_id),
                                .events = events,
                                .event_count = s->event_count};

    for (uint32_t i = 0; i < s->event_count; i++)
        events[i] = str_copy(mem, s->events[i]);
    return copy;
}

/* Its secret cannot be opened: as it was before, or locked. */
static void add_unopened(const struct node *n, struct arena *mem, struct str code, struct str text,
                         const struct err *why, struct subscriptions *out)
{
    const struct subscription *old = route_subscription(n, code);
    struct subscription *s;
    struct value shown;
    bool is_sealed;

    log_write(LOG_ERROR, "the secret of a subscription cannot be opened",
              LOG_FIELDS(log_str("subscription", code), log_str("reason", str_of(why->message))));
    if (old != NULL) {
        *VEC_ADD(mem, out) = copy_subscription(mem, old);
    } else if (vault_shown(mem, text, &shown, &is_sealed)) {
        s = VEC_ADD(mem, out);
        subscription_read(mem, str_copy(mem, code), shown, s);
        s->is_locked = true;
    }
}

/* Add one as it is stored. */
static void add_stored(const struct node *n, struct arena *mem, struct str code, struct str text,
                       struct subscriptions *out)
{
    struct subscription_parts parts;
    struct subscription *s;
    struct err err;

    text = str_copy(mem, text);
    if (!subscription_open(n->options.vault, mem, code, text, &parts, &err)) {
        add_unopened(n, mem, code, text, &err, out);
        return;
    }
    s = VEC_ADD(mem, out);
    subscription_read(mem, str_copy(mem, code), parts.shown, s);
    if (parts.secret.kind == VALUE_STRING)
        s->secret = value_text(parts.secret);
}

static void install(struct node *n, struct arena *mem, struct subscriptions all)
{
    arena_fini(&n->routes->mem);
    n->routes->mem = *mem;
    n->routes->subscriptions = all;
}

void route_install(struct node *n, const struct stored_definitions *all)
{
    struct subscriptions opened = {0};
    struct arena mem;

    arena_init(&mem);
    for (size_t i = 0; i < all->count; i++)
        add_stored(n, &mem, all->items[i].code, all->items[i].text, &opened);
    install(n, &mem, opened);
}

void route_changed(struct node *n, struct str code, struct str text)
{
    struct subscriptions all = {0};
    struct arena mem;

    arena_init(&mem);
    for (size_t i = 0; i < n->routes->subscriptions.count; i++)
        if (!str_eq(n->routes->subscriptions.items[i].code, code))
            *VEC_ADD(&mem, &all) = copy_subscription(&mem, &n->routes->subscriptions.items[i]);
    if (text.len > 0)
        add_stored(n, &mem, code, text, &all);
    install(n, &mem, all);
}

const struct subscription *route_subscription(const struct node *n, struct str code)
{
    for (size_t i = 0; i < n->routes->subscriptions.count; i++)
        if (str_eq(n->routes->subscriptions.items[i].code, code))
            return &n->routes->subscriptions.items[i];
    return NULL;
}

/* --- messages --- */

static bool is_for(const struct subscription *s, const struct execution *x, struct str event)
{
    struct str wanted = s->org_id.len > 0 ? s->org_id : ORG_DEFAULT;
    struct str org_id = x->org_id.len > 0 ? x->org_id : ORG_DEFAULT;

    return str_eq(wanted, org_id) && subscription_wants(s, event);
}

/* Rows for the triggers that it fires, but for those that have fired in its chain. */
static void route_triggers(struct node *n, struct arena *mem, struct commit *c,
                           const struct message *m)
{
    const struct event_trigger *t = triggers_of(n, m->name);
    struct str body = STR_NONE;

    for (; t != NULL; t = t->next) {
        if (chain_has(c->after->chain, t->name))
            continue;
        if (body.len == 0)
            body = message_trigger_write(mem, m->body_json, c->after->chain);
        *VEC_ADD(mem, &c->outbox) = (struct outbox_row){
            .id = ident_make(m->id, (int64_t)c->outbox.count, 1, c->after->updated_at_us),
            .kind = MESSAGE_TRIGGER,
            .destination = str_printf(mem, MESSAGE_TRIGGER_LANE "%.*s", STR_ARG(t->name)),
            .name = m->name,
            .body_json = body,
        };
    }
}

static void route_event(struct node *n, struct arena *mem, struct commit *c,
                        const struct message *m)
{
    route_triggers(n, mem, c, m);
    for (size_t i = 0; i < n->routes->subscriptions.count; i++) {
        const struct subscription *s = &n->routes->subscriptions.items[i];

        if (!is_for(s, c->after, m->name))
            continue;
        *VEC_ADD(mem, &c->outbox) = (struct outbox_row){
            .id = ident_make(m->id, (int64_t)c->outbox.count, 0, c->after->updated_at_us),
            .kind = MESSAGE_EVENT,
            .destination = str_printf(mem, RELAY_SUBSCRIPTION "%.*s", STR_ARG(s->code)),
            .name = m->name,
            .body_json = m->body_json,
        };
    }
}

/* To the broker, as "PROCESS.EVENT": what processes publish, not what the engine tells of itself. */
static void route_to_broker(struct node *n, struct arena *mem, struct commit *c,
                            const struct message *m)
{
    struct str key = STR_JOIN(mem, c->after->program->code, STR("."), m->name);
    struct buf spec;

    if (n->options.servers.broker_url.len == 0)
        return;
    object_begin(&spec, mem);
    object_text(&spec, "exchange", STR(BROKER_EVENTS_EXCHANGE));
    object_text(&spec, "routing_key", key);
    object_text(&spec, "type", m->name);
    object_json(&spec, "body", m->body_json);
    *VEC_ADD(mem, &c->outbox) = (struct outbox_row){
        .id = ident_make(m->id, (int64_t)c->outbox.count, 2, c->after->updated_at_us),
        .kind = MESSAGE_BROKER,
        .destination = STR(BROKER_EVENTS_LANE),
        .name = key,
        .body_json = object_end(&spec),
    };
}

/* Whether anybody wants an event of this name. */
static bool is_wanted(const struct node *n, const struct commit *c, const char *event)
{
    for (size_t i = 0; i < n->routes->subscriptions.count; i++)
        if (is_for(&n->routes->subscriptions.items[i], c->after, str_of(event)))
            return true;
    return triggers_of(n, str_of(event)) != NULL;
}

/*
 * An event of the engine's own: what it says of the execution is masked. The
 * data of a record is what a process has put there, as it is for who reads it.
 */
static void route_own(struct node *n, struct arena *mem, struct commit *c, const char *name,
                      uint32_t number, struct str payload_json, bool is_record)
{
    const struct execution *x = c->after;
    struct message m = {.kind = MESSAGE_EVENT, .name = str_of(name)};
    struct mask mask;

    /* Ids of steps count up from 0: these are apart. */
    m.id = ident_make(x->id, x->seq, UINT32_MAX - number, x->updated_at_us);
    show_mask(mem, x, &mask);
    m.body_json = message_event_json(
        mem, x, m.id, m.name, mask_text(mem, &mask, x->key),
        is_record ? payload_json : mask_view_text(mem, &mask, payload_json), x->updated_at_us);
    route_event(n, mem, c, &m);
}

static void route_records(struct node *n, struct arena *mem, struct commit *c, uint32_t *number)
{
    for (size_t i = 0; i < c->records.count; i++) {
        const struct record_write *w = &c->records.items[i];
        const char *event = w->is_delete           ? "record.deleted"
                            : w->read_version == 0 ? "record.created"
                                                   : "record.updated";

        if (is_wanted(n, c, event))
            route_own(n, mem, c, event, ++*number,
                      event_record_json(mem, w->object, w->id, w->version,
                                        w->is_delete ? STR_NONE : w->data_json),
                      true);
    }
}

static void route_letters(struct node *n, struct arena *mem, struct commit *c, uint32_t *number)
{
    for (size_t i = 0; i < c->dead_letters.count; i++) {
        const struct dead_letter *l = &c->dead_letters.items[i];
        bool is_held = str_eq(l->kind, str_of(letter_kind_name(LETTER_INCIDENT)));
        struct str payload;

        if (!is_wanted(n, c, "dead_letter.created") &&
            !(is_held && is_wanted(n, c, "execution.held")))
            continue;
        payload = event_letter_json(mem, &(struct announced_letter){.id = l->id,
                                                                    .kind = l->kind,
                                                                    .step = l->step,
                                                                    .attempts = l->attempts,
                                                                    .cause_json = l->cause_json,
                                                                    .code = c->after->program->code,
                                                                    .key = c->after->key});
        if (is_held)
            route_own(n, mem, c, "execution.held", ++*number, payload, false);
        route_own(n, mem, c, "dead_letter.created", ++*number, payload, false);
    }
}

static void route_end(struct node *n, struct arena *mem, struct commit *c, uint32_t *number)
{
    const struct execution *x = c->after;
    bool is_failed = x->status == STATUS_FAILED;
    const char *event = is_failed ? "execution.failed" : "execution.completed";
    struct buf payload;

    if ((!is_failed && x->status != STATUS_COMPLETED) || !is_wanted(n, c, event))
        return;
    object_begin(&payload, mem);
    object_text(&payload, "code", x->program->code);
    object_int(&payload, "version", x->program->version);
    object_text(&payload, "key", x->key);
    object_text(&payload, "status", str_of(status_name(x->status)));
    object_json(&payload, is_failed ? "error" : "result",
                is_failed ? x->error_json : x->result_json);
    route_own(n, mem, c, event, ++*number, object_end(&payload), false);
}

/* --- events that the store tells --- */

/* Whether some name begins with `begin` and is one that is wanted. */
static bool may_want(struct str wanted, bool is_prefix, struct str begin)
{
    return str_starts_with(wanted, begin) || (is_prefix && str_starts_with(begin, wanted));
}

static void add_subscription_routes(struct arena *mem, const struct subscription *s,
                                    struct str begin, struct event_routes *out)
{
    struct str destination = STR_NONE;

    for (uint32_t i = 0; i < s->event_count; i++) {
        struct str name = s->events[i];
        bool is_prefix = str_ends_with(name, STR("*"));

        if (is_prefix)
            name.len--;
        if (!may_want(name, is_prefix, begin))
            continue;
        if (destination.len == 0)
            destination = str_printf(mem, RELAY_SUBSCRIPTION "%.*s", STR_ARG(s->code));
        *VEC_ADD(mem, out) = (struct event_route){
            .name = str_copy(mem, name),
            .is_prefix = is_prefix,
            .org_id = s->org_id.len > 0 ? str_copy(mem, s->org_id) : ORG_DEFAULT,
            .kind = MESSAGE_EVENT,
            .destination = destination};
    }
}

struct event_routes *route_events(struct node *n, struct arena *mem, const char *begin)
{
    struct event_routes *out;

    if (n->routes->subscriptions.count == 0 && n->triggers->by_event.count == 0)
        return NULL;
    out = ARENA_NEW(mem, struct event_routes);
    *out = (struct event_routes){0};
    for (size_t i = 0; i < n->routes->subscriptions.count; i++)
        add_subscription_routes(mem, &n->routes->subscriptions.items[i], str_of(begin), out);
    triggers_add_routes(n, mem, str_of(begin), out);
    if (out->count == 0)
        return NULL;
    out->seed = uuid_gen_next(&n->ids, clock_wall_us(n->clock) / 1000);
    return out;
}

/* --- commits --- */

void route_commit(struct node *n, struct arena *mem, struct commit *c)
{
    uint32_t number = 0;

    c->outbox = (struct outbox_rows){0};
    for (size_t i = 0; i < c->messages.count; i++) {
        const struct message *m = &c->messages.items[i];

        if (m->kind == MESSAGE_EVENT) {
            route_event(n, mem, c, m);
            route_to_broker(n, mem, c, m);
        } else {
            *VEC_ADD(mem, &c->outbox) =
                (struct outbox_row){.id = m->id,
                                    .kind = m->kind,
                                    .destination = str_of(message_kind_name(m->kind)),
                                    .name = m->name,
                                    .body_json = m->body_json};
        }
    }
    if (n->routes->subscriptions.count == 0 && n->triggers->by_event.count == 0)
        return;
    route_records(n, mem, c, &number);
    route_letters(n, mem, c, &number);
    route_end(n, mem, c, &number);
}
