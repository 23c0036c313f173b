/* triggers.c - see triggers.h. */
#include "node/outside/triggers.h"

#include "base/log.h"
#include "define/program.h"
#include "engine/chain.h"
#include "node/cache/load.h"
#include "node/cluster/config.h"
#include "node/inner.h"
#include "node/outside/relay.h"
#include "node/request.h"
#include "node/work_request.h"
#include "store/change_definition.h"
#include "store/event_routes.h"
#include "value/json.h"

enum { READ_TRIES_MAX = 5 };

/* --- which there are --- */

void triggers_open(struct node *n)
{
    arena_init(&n->triggers->mem);
    map_init(&n->triggers->by_event, &n->triggers->mem);
}

void triggers_close(struct node *n)
{
    arena_fini(&n->triggers->mem);
}

void triggers_install(struct node *n, const struct stored_triggers *all)
{
    triggers_close(n);
    triggers_open(n);
    /* From the last on, so that each list is in the order of the codes. */
    for (size_t i = all->count; i-- > 0;) {
        const struct stored_trigger *t = &all->items[i];
        struct event_trigger *kept;

        if (t->is_retired)
            continue;
        kept = ARENA_NEW(&n->triggers->mem, struct event_trigger);
        *kept = (struct event_trigger){
            .name = str_printf(&n->triggers->mem, "%.*s/%u", STR_ARG(t->code), t->position),
            .next = map_get(&n->triggers->by_event, t->topic),
        };
        map_put(&n->triggers->by_event, str_copy(&n->triggers->mem, t->topic), kept);
    }
}

const struct event_trigger *triggers_of(const struct node *n, struct str event)
{
    return n->triggers->by_event.count > 0 ? map_get(&n->triggers->by_event, event) : NULL;
}

void triggers_add_routes(const struct node *n, struct arena *mem, struct str begin,
                         struct event_routes *out)
{
    const struct map_entry *e = NULL;

    while ((e = map_next(&n->triggers->by_event, (struct map_entry *)(uintptr_t)e)) != NULL) {
        struct str name;

        if (!str_starts_with(e->key, begin))
            continue;
        name = str_copy(mem, e->key);
        for (const struct event_trigger *t = e->ptr; t != NULL; t = t->next)
            *VEC_ADD(mem, out) = (struct event_route){
                .name = name,
                .kind = MESSAGE_TRIGGER,
                .destination = str_printf(mem, MESSAGE_TRIGGER_LANE "%.*s", STR_ARG(t->name)),
            };
    }
}

bool triggers_have_changed(const struct definition_change *first)
{
    for (const struct definition_change *d = first; d != NULL; d = d->next)
        if (d->is_process && d->action != DEFINITION_SAVE_DRAFT &&
            d->action != DEFINITION_DELETE_DRAFT && d->action != DEFINITION_KEEP)
            return true;
    return false;
}

/* All triggers of type event. */
struct triggers_load {
    struct load load;             /* first: see load.h */
    struct node_request *request; /* is answered when they are known */
    struct stored_triggers all;
    int64_t stamp; /* of the definitions that the node knew when it was sent */
    unsigned tries;
};

static void run_triggers(struct load *load, struct reader *reader)
{
    struct triggers_load *l = (struct triggers_load *)load;

    load->ok = read_triggers(reader, &load->mem, TRIGGER_EVENT, &l->all, &load->err);
}

static void done_triggers(struct load *load)
{
    struct triggers_load *l = (struct triggers_load *)load;
    struct node *n = load->node;
    struct node_request *r = l->request;

    /* What another node has changed meanwhile was read behind this. */
    if ((!load->ok || l->stamp != n->config->stamp) && ++l->tries < READ_TRIES_MAX) {
        arena_reset(&load->mem);
        l->stamp = n->config->stamp;
        load_send(load);
        return;
    }
    if (load->ok)
        triggers_install(n, &l->all);
    else
        log_write(LOG_ERROR, "the triggers of processes cannot be read",
                  LOG_FIELDS(log_str("reason", str_of(load->err.message))));
    load_free(load);
    request_done(n, r);
}

void triggers_read_again(struct node *n, struct node_request *r)
{
    struct triggers_load *l = LOAD_NEW(n, struct triggers_load, run_triggers, done_triggers);

    l->request = r;
    l->stamp = n->config->stamp;
    load_send(&l->load);
}

/* --- firing --- */

/* $.event: {name, payload, executionId, at} of what subscribers get. */
static struct value event_of(struct arena *mem, struct value sent)
{
    static const char *const names[] = {"name", "payload", "executionId", "at"};
    struct value_entry *entries = ARENA_ARRAY(mem, ARRAY_SIZE(names), struct value_entry);
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct value v = value_map_get_str(sent, str_of(names[i]));

        entries[count++] = (struct value_entry){.key = value_key(str_of(names[i])),
                                                .value = v.kind == VALUE_ABSENT ? value_null() : v};
    }
    return value_map_take(mem, entries, count);
}

bool triggers_fire(struct node *n, struct node_request *r, const struct program *p)
{
    struct event_start *s = r->by_event;
    struct trigger_context context = {.webhook = value_absent(),
                                      .event = s->event,
                                      .record = value_absent(),
                                      .config = n->config->map,
                                      .now_us = clock_wall_us(n->clock)};
    struct trigger_outcome outcome;
    const struct trigger *t;

    /* Another version is published meanwhile: it says what is wanted now. */
    t = s->position < p->trigger_count ? &p->triggers[s->position] : NULL;
    s->is_quiet = t == NULL || t->type != TRIGGER_EVENT || !str_eq(t->event, s->name);
    if (s->is_quiet)
        return false;
    if (!json_read(r->mem, request_user_json(r), &context.user, &r->err) ||
        !trigger_evaluate(r->mem, p, t, &context, &outcome, &r->err))
        return false;
    s->is_quiet = !outcome.fires;
    if (s->is_quiet)
        return false;
    r->event.input = outcome.input.kind == VALUE_ABSENT ? value_map_empty() : outcome.input;
    r->key = outcome.key;
    return true;
}

/* Not started: is that the end of it, or may another attempt help? */
static void fire_refused(struct relayed *m, const struct node_request *r)
{
    enum err_code code = r->err.code;

    /*
     * The execution that has the key stands for it; there is no such process any
     * more; or there is no such message, because another node was faster.
     */
    m->is_delivered = code == ERR_KEY_BUSY || code == ERR_NOT_FOUND || code == ERR_RETIRED;
    if (!m->is_delivered)
        relay_refuse(m, !err_is_retryable(code), err_code_name(code), r->err.message);
}

static void fired(struct node_request *r)
{
    struct relayed *m = r->owner;

    /* One that joined another execution by its key was not started: the message is still there. */
    bool is_taken = r->ok && !r->joined;

    m->is_delivered = r->ok || r->by_event->is_quiet;
    if (!m->is_delivered)
        fire_refused(m, r);
    relay_fired(m->node, m, is_taken);
}

static bool fire_prepare(struct relayed *m, struct str trigger, struct event_start *s,
                         struct err *err)
{
    int64_t slash = str_find(trigger, STR("/"), 0), position = 0;
    struct value sent;
    struct str chain;

    if (slash < 0 || !str_to_int64(str_slice(trigger, (size_t)slash + 1, trigger.len), &position))
        return err_set(err, ERR_INTERNAL, "there is no trigger of this name");
    if (!message_trigger_read(&m->mem, m->body_json, &sent, &chain, err))
        return false;
    if (chain_length(chain) >= CHAIN_MAX)
        return err_set(err, ERR_INVALID, "%d triggers have fired each other already", CHAIN_MAX);
    *s = (struct event_start){
        .name = m->name,
        .position = (uint32_t)position,
        .event = event_of(&m->mem, sent),
        .chain = chain_add(&m->mem, chain, trigger),
        .message = {.row = m->row, .execution = m->execution, .destination = m->lane_name}};
    m->start = (struct node_request){.kind = NODE_START,
                                     .code = str_slice(trigger, 0, (size_t)slash),
                                     .event.input = value_map_empty(),
                                     .user = node_system_user(m->org_id),
                                     .by_event = s,
                                     .mem = &m->mem,
                                     .owner = m,
                                     .done = fired};
    return true;
}

void triggers_start(struct node *n, struct relayed *m)
{
    const struct str lane = STR(MESSAGE_TRIGGER_LANE);
    struct event_start *s = ARENA_NEW(&m->mem, struct event_start);
    struct err err;

    if (fire_prepare(m, str_slice(m->lane_name, lane.len, m->lane_name.len), s, &err) &&
        node_submit(n, &m->start, &err))
        return;
    relay_refuse(m, !err_is_retryable(err.code), err_code_name(err.code), err.message);
    relay_fired(n, m, false);
}
