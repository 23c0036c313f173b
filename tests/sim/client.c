/* client.c - requests that are made up; see sim.h. What is answered to them: answer.c. */
#include "sim/sim.h"

#include "store/change_definition.h"
#include "store/change_retention.h"
#include "value/json.h"
#include "value/number.h"

/* --- requests --- */

struct uuid client_asks_about(const struct sim_request *q)
{
    return q->deletion != NULL ? q->deletion->id : q->r.execution;
}

static void forget_pending(struct clients *c, struct sim_request *q)
{
    for (size_t i = 0; i < c->pending.count; i++)
        if (c->pending.items[i] == q) {
            c->pending.items[i] = c->pending.items[--c->pending.count];
            return;
        }
    PANIC("an answer to a request that is not under way");
}

static bool goes_on_deleting(struct sim *sim, struct sim_request *q);

static void answered(struct node_request *r)
{
    struct sim_request *q = r->owner;
    struct sim *sim = sim_running;

    SIM_CHECK(sim, !q->is_answered, "a request was answered twice");
    q->is_answered = true;
    sim->clients.answered++;
    sim_note(sim, (uint64_t)q->number);
    sim_note(sim, r->ok ? 1 : 1000 + (uint64_t)r->err.code);
    if (q->check == NULL)
        answer_check(sim, q);
    else
        q->check(sim, q);
    if (q->asked != NULL)
        *q->asked = (struct asked){.is_answered = true,
                                   .ok = r->ok,
                                   .ended = r->ended,
                                   .joined = r->joined,
                                   .code = r->ok ? ERR_NONE : r->err.code,
                                   .id = r->id,
                                   .json = str_copy(&sim->mem, r->execution_json)};
    forget_pending(&sim->clients, q);
    if (q->deletion == NULL || !goes_on_deleting(sim, q))
        client_free(sim, q);
}

struct sim_request *client_new(struct sim *sim, enum node_request_kind kind)
{
    struct clients *c = &sim->clients;
    struct sim_request *q = c->free;

    if (q != NULL) {
        c->free = q->next_free;
        arena_reset(&q->mem);
    } else {
        q = ARENA_NEW(&sim->mem, struct sim_request);
        arena_init(&q->mem);
    }
    *q = (struct sim_request){.mem = q->mem, .number = ++c->requests, .at = sim_some_node(sim)};
    q->r = (struct node_request){
        .kind = kind,
        .user = {.id = STR("u1"), .name = STR("Ann"), .email = STR("a@b"), .role = STR("admin")},
        .done = answered,
        .owner = q,
        .mem = &q->mem,
    };
    return q;
}

struct sim_request *client_new_event(struct sim *sim, enum event_kind kind)
{
    struct sim_request *q = client_new(sim, NODE_EVENT);

    q->r.event.kind = kind;
    return q;
}

void client_free(struct sim *sim, struct sim_request *q)
{
    q->next_free = sim->clients.free;
    sim->clients.free = q;
}

bool client_submit(struct sim *sim, struct sim_request *q)
{
    const struct disk_execution *x = disk_find(&sim->disk, client_asks_about(q));
    struct err err;

    q->sent_us = sim_mono_us(sim);
    q->was_gone = x == NULL;
    q->first_version = x != NULL && q->r.kind != NODE_START ? x->s.row_version : 0;
    q->was_conflict = x != NULL && answer_is_conflict(sim, q, x);
    q->deadline_us = q->r.wait_us > 0 ? sim_mono_us(sim) + q->r.wait_us : 0;
    *VEC_ADD(&sim->mem, &sim->clients.pending) = q;
    if (node_submit(q->at->node, &q->r, &err))
        return true;
    forget_pending(&sim->clients, q);
    client_free(sim, q);
    return false;
}

void client_saw(struct sim *sim, const struct disk_execution *x)
{
    for (size_t i = 0; i < sim->clients.pending.count; i++) {
        struct sim_request *q = sim->clients.pending.items[i];

        if (!q->was_conflict && uuid_cmp(client_asks_about(q), x->s.id) == 0)
            q->was_conflict = answer_is_conflict(sim, q, x);
    }
}

void client_crash(struct sim_node *at)
{
    struct clients *c = &at->sim->clients;
    size_t kept = 0;

    for (size_t i = 0; i < c->pending.count; i++) {
        struct sim_request *q = c->pending.items[i];

        if (q->at == at)
            client_free(at->sim, q);
        else
            c->pending.items[kept++] = q;
    }
    c->pending.count = kept;
}

void client_fini(struct sim *sim)
{
    for (unsigned i = 0; i < sim->config.nodes; i++)
        client_crash(&sim->nodes[i]);
    for (struct sim_request *q = sim->clients.free; q != NULL; q = q->next_free)
        arena_fini(&q->mem);
}

void client_remember(struct sim *sim, struct uuid id)
{
    struct clients *c = &sim->clients;
    unsigned capacity = sizeof(c->recent) / sizeof(c->recent[0]);

    c->recent[c->recent_count++ % capacity] = id;
}

static struct uuid some_execution(struct sim *sim)
{
    struct clients *c = &sim->clients;
    unsigned capacity = sizeof(c->recent) / sizeof(c->recent[0]);
    unsigned count = c->recent_count < capacity ? c->recent_count : capacity;

    if (count == 0 || dice_hits(&sim->dice, 10))
        return (struct uuid){.bytes = {9, (uint8_t)dice_roll(&sim->dice, 256)}};
    /* Those whose client was never told its id are found by whoever lists executions. */
    if (sim->disk.executions.count > 0 && dice_hits(&sim->dice, 100))
        return sim->disk.executions
            .items[dice_roll(&sim->dice, (unsigned)sim->disk.executions.count)]
            ->s.id;
    return c->recent[dice_roll(&sim->dice, count)];
}

static struct value read_value(struct arena *mem, struct str json)
{
    struct value v = value_null();
    struct err err;

    if (!json_read(mem, json, &v, &err))
        PANIC(err.message);
    return v;
}

static struct str numbered(struct arena *mem, struct str name, int64_t n)
{
    char *text = arena_alloc(mem, name.len + NUMBER_TEXT_MAX);

    memcpy(text, name.ptr, name.len);
    return str_from(text, name.len + number_write_int(text + name.len, n));
}

/* A request that may be sent more than once under the same Idempotency-Key. */
static void set_idempotency(struct sim *sim, struct sim_request *q, struct str body)
{
    unsigned which = dice_roll(&sim->dice, 1000);

    q->r.idempotency = (struct idempotency){
        .user = STR("u1"),
        .method = STR("POST"),
        .path = STR("/api/v1/executions"),
        .key = numbered(&q->mem, STR("i"), q->number),
        .body_hash = str_printf(&q->mem, "%.*s%s", STR_ARG(body), which < 50 ? "other" : ""),
    };
}

/* Everything about a request that can be sent again follows from its number. */
static void make_repeatable(struct sim *sim, struct sim_request *q)
{
    enum { FIRST = 1000000, AGAIN_MAX = 10 };
    struct clients *c = &sim->clients;
    struct str input;

    if (c->repeatable > AGAIN_MAX && dice_hits(&sim->dice, 300))
        q->number = FIRST + c->repeatable - dice_roll(&sim->dice, AGAIN_MAX);
    else
        q->number = FIRST + ++c->repeatable;
    q->r.code = numbered(&q->mem, STR("p"), q->number % sim->config.scenarios);
    input = str_printf(&q->mem, "{\"n\":%lld,\"request\":%lld}", (long long)(q->number % 20),
                       (long long)q->number);
    q->r.event.input = read_value(&q->mem, input);
    set_idempotency(sim, q, input);
}

/* Some are large: too large for a checkpoint with every commit, or for one turn. */
static struct str some_input(struct sim *sim, struct sim_request *q)
{
    unsigned size = dice_roll(&sim->dice, 1000);
    struct buf out;

    buf_init_arena(&out, &q->mem);
    buf_printf(&out, "{\"n\":%u,\"request\":%lld,\"pad\":\"", dice_roll(&sim->dice, 20),
               (long long)q->number);
    size = size < 1 ? 200000 : size < 20 ? 6000 : 0;
    for (unsigned i = 0; i < size; i += 10)
        buf_text(&out, "0123456789");
    buf_text(&out, "\"}");
    return buf_view(&out);
}

/* A few codes of steps, of which a process has some. */
static struct value some_steps(struct sim *sim, struct arena *mem)
{
    struct value *codes = ARENA_ARRAY(mem, 3, struct value);
    uint32_t count = dice_roll(&sim->dice, 3);

    for (uint32_t i = 0; i < count; i++)
        codes[i] = value_string(numbered(mem, STR("s"), dice_roll(&sim->dice, 6)));
    return value_list(codes, count);
}

static void make_debugged(struct sim *sim, struct sim_request *q)
{
    q->r.is_debugged = dice_hits(&sim->dice, 600);
    if (!q->r.is_debugged || dice_hits(&sim->dice, 300))
        q->r.breakpoints = some_steps(sim, &q->mem);
}

static bool is_in_debug(const struct disk_execution *x)
{
    return x->s.status == STATUS_WAITING_DEBUG;
}

/* Mostly one that is stopped. */
static struct uuid some_debugged(struct sim *sim)
{
    unsigned count = (unsigned)sim->disk.executions.count;

    for (unsigned i = 0; i < 20 && count > 0; i++) {
        const struct disk_execution *x = sim->disk.executions.items[dice_roll(&sim->dice, count)];

        if (is_in_debug(x))
            return x->s.id;
    }
    return some_execution(sim);
}

/* Let one go on that a debugger has stopped, or change where it stops. */
static void ask_debug(struct sim *sim)
{
    static const char *const branches[] = {"s0.0", "s0.1", "s1.0", "s1.1", "s2.1"};
    struct dice *d = &sim->dice;
    bool continues = dice_hits(d, 850);
    struct sim_request *q = client_new_event(sim, continues ? EVENT_CONTINUE : EVENT_BREAKPOINTS);

    q->r.execution = some_debugged(sim);
    if (!continues)
        q->r.event.nodes = some_steps(sim, &q->mem);
    else if (dice_hits(d, 150))
        q->r.event.to = STR("end");
    else if (dice_hits(d, 200))
        q->r.event.to = numbered(&q->mem, STR("s"), dice_roll(d, 6));
    else if (dice_hits(d, 150))
        q->r.event.branch = str_of(branches[dice_roll(d, ARRAY_SIZE(branches))]);
    if (continues && dice_hits(d, 200))
        q->r.event.set = read_value(&q->mem, STR("{\"variables\":{\"v\":1}}"));
    (void)client_submit(sim, q);
}

static void ask_start(struct sim *sim)
{
    struct sim_request *q = client_new(sim, NODE_START);
    struct dice *d = &sim->dice;

    sim->clients.starts++;
    if (dice_hits(d, 200)) {
        make_repeatable(sim, q);
    } else {
        q->r.code = numbered(&q->mem, STR("p"), dice_roll(d, sim->config.scenarios));
        q->r.event.input = read_value(&q->mem, some_input(sim, q));
        if (dice_hits(d, 150))
            q->r.key = numbered(&q->mem, STR("key"), dice_roll(d, 10));
        if ((sim->config.mix & MIX_OF(DEBUG)) != 0 && dice_hits(d, 300))
            make_debugged(sim, q);
    }
    q->r.wait_us = dice_hits(d, 300) ? dice_roll(d, 20) * INT64_C(500000) : 0;
    (void)client_submit(sim, q);
}

static void ask_signal(struct sim *sim)
{
    struct sim_request *q = client_new_event(sim, EVENT_SIGNAL);
    struct dice *d = &sim->dice;

    q->r.execution = some_execution(sim);
    q->r.event.signal_type = dice_roll(d, 2) == 0 ? STR("a") : STR("b");
    q->payload_json = str_printf(&q->mem, "{\"n\":%u}", dice_roll(d, 4) * 5);
    if (dice_hits(d, 300)) {
        /* One of a few ids, so that it is sent again, mostly with the same content. */
        unsigned which = dice_roll(d, 3);
        q->r.event.signal_id = numbered(&q->mem, STR("again"), which);
        q->r.event.signal_type = which == 0 ? STR("a") : STR("b");
        if (!dice_hits(d, 100))
            q->payload_json = STR("{\"n\":10}");
    } else if (dice_hits(d, 500)) {
        q->r.event.signal_id = numbered(&q->mem, STR("s"), q->number);
        q->has_unique_signal = true;
    } else {
        q->has_unique_signal = true; /* the node makes an id */
    }
    q->r.event.signal_payload = read_value(&q->mem, q->payload_json);
    q->r.event.by = value_map_empty();
    q->r.wait_us = dice_hits(d, 100) ? INT64_C(3000000) : 0;
    (void)client_submit(sim, q);
}

static void ask_correlated(struct sim *sim)
{
    struct sim_request *q = client_new_event(sim, EVENT_SIGNAL);
    struct dice *d = &sim->dice;

    q->r.event.signal_correlation = numbered(&q->mem, STR("c"), dice_roll(d, 4));
    q->r.ttl_us = INT64_C(30) * 86400 * 1000000;
    q->r.event.signal_type = dice_roll(d, 2) == 0 ? STR("a") : STR("b");
    q->payload_json = str_printf(&q->mem, "{\"n\":%u}", dice_roll(d, 2) * 5);
    /* Some are sent again, some of these with other content. */
    if (dice_hits(d, 700))
        q->r.event.signal_id =
            numbered(&q->mem, STR("by"), q->number - (dice_hits(d, 500) ? 10 : 0));
    q->r.event.signal_payload = read_value(&q->mem, q->payload_json);
    q->r.event.by = value_map_empty();
    (void)client_submit(sim, q);
}

static void ask_wait(struct sim *sim)
{
    struct sim_request *q = client_new(sim, NODE_WAIT);

    q->r.execution = some_execution(sim);
    q->r.wait_us = dice_roll(&sim->dice, 8) * INT64_C(1000000);
    (void)client_submit(sim, q);
}

static void ask_other(struct sim *sim, enum event_kind kind)
{
    struct sim_request *q = client_new_event(sim, kind);

    q->r.execution = some_execution(sim);
    q->r.event.reason = STR("because");
    (void)client_submit(sim, q);
}

static void ask_repair(struct sim *sim)
{
    struct dice *d = &sim->dice;
    /* Where steps can be undone, more executions are moved to another version in the middle. */
    unsigned which = dice_roll(d, 10 + ((sim->config.mix & MIX_OF(SAGAS)) != 0 ? 10 : 0));
    struct sim_request *q = client_new_event(sim, which < 5   ? EVENT_RETRY
                                                  : which < 8 ? EVENT_SKIP
                                                              : EVENT_MIGRATE);

    q->r.execution = some_execution(sim);
    if (node_request_is(&q->r, EVENT_MIGRATE) ||
        (node_request_is(&q->r, EVENT_RETRY) && dice_hits(d, 200)))
        q->r.version = 1 + dice_roll(d, 3);
    if (node_request_is(&q->r, EVENT_RETRY) && dice_hits(d, 300))
        q->r.event.from = numbered(&q->mem, STR("s"), dice_roll(d, 4));
    if (node_request_is(&q->r, EVENT_RETRY) && dice_hits(d, 500))
        q->r.event.input = read_value(&q->mem, some_input(sim, q));
    if (node_request_is(&q->r, EVENT_SKIP) && dice_hits(d, 500))
        q->r.event.output = read_value(&q->mem, STR("{\"n\":7}"));
    (void)client_submit(sim, q);
}

/* Say what became of a step in doubt, or try a rollback again that was given up. */
static void ask_about_letter(struct sim *sim)
{
    struct uuid id = some_execution(sim);
    const struct disk_execution *x = disk_find(&sim->disk, id);
    const struct disk_letter *l = x != NULL ? letter_open(&sim->mem, x, STR_NONE) : NULL;
    bool is_parked = x != NULL && str_find(x->s.waiting_for_json, STR("\"parked\":true"), 0) >= 0;
    struct sim_request *q;

    if (l == NULL || (l->is_incident && !is_parked))
        return;
    q = client_new_event(sim, l->is_incident ? EVENT_RESOLVE : EVENT_ROLLBACK);
    q->r.execution = id;
    q->r.event.letter = letter_text(&q->mem, l);
    q->r.event.verdict = (enum verdict)dice_roll(&sim->dice, VERDICT_COUNT);
    if (l->is_incident)
        q->r.event.note = STR("looked it up");
    (void)client_submit(sim, q);
}

/* A new process, or, where steps can be undone, the newest version with a step or a rollback less. */
static struct str text_to_publish(struct sim *sim, struct arena *mem, struct str code)
{
    const struct disk *d = &sim->disk;

    if ((sim->config.mix & MIX_OF(SAGAS)) != 0 && dice_roll(&sim->dice, 4) > 0)
        for (size_t i = d->definitions.count; i-- > 0;)
            if (str_eq(d->definitions.items[i].code, code))
                return generate_variant(mem, &sim->dice, d->definitions.items[i].text);
    return generate_scenario(mem, &sim->dice, code, sim->config.mix, sim->config.kids);
}

static void ask_publish(struct sim *sim)
{
    struct sim_request *q = client_new(sim, NODE_DEFINITION);
    struct str code = numbered(&q->mem, STR("p"), dice_roll(&sim->dice, sim->config.scenarios));

    q->r.definitions = ARENA_NEW(&q->mem, struct definition_change);
    *q->r.definitions = (struct definition_change){
        .action = DEFINITION_PUBLISH,
        .kind = STR("scenario"),
        .is_process = true,
        .code = code,
        .name = code,
        .text = text_to_publish(sim, &q->mem, code),
        .if_match = -1,
        .now_us = clock_wall_us(&q->at->clock.clock),
    };
    (void)client_submit(sim, q);
}

/* --- deleting --- */

static bool ask_part(struct sim *sim, struct sim_request *q, bool goes_on)
{
    struct execution_delete *d = q->deletion;

    *d = (struct execution_delete){
        .change = {.apply = execution_delete_apply, .now_us = clock_wall_us(&q->at->clock.clock)},
        .id = d->id,
        .goes_on = goes_on};
    q->r.change = &d->change;
    q->is_answered = false;
    return client_submit(sim, q);
}

/* As the API does: part by part. Whoever asked may be gone before the end. */
static bool goes_on_deleting(struct sim *sim, struct sim_request *q)
{
    if (!q->r.ok || !q->deletion->has_more || dice_hits(&sim->dice, 100))
        return false;
    /* Somebody else wants to go on with it. */
    if (dice_hits(&sim->dice, 300)) {
        struct sim_request *other = client_new_event(sim, EVENT_RETRY);

        other->r.execution = q->deletion->id;
        (void)client_submit(sim, other);
    }
    (void)ask_part(sim, q, true);
    return true;
}

static void ask_delete(struct sim *sim)
{
    struct sim_request *q = client_new(sim, NODE_CHANGE);

    if (!dice_hits(&sim->dice, 500))
        sim->clients.deleting = some_execution(sim);
    q->deletion = ARENA_NEW(&q->mem, struct execution_delete);
    q->deletion->id = sim->clients.deleting;
    (void)ask_part(sim, q, false);
}

void client_ask(struct sim *sim)
{
    unsigned which = dice_roll(&sim->dice, 1000);

    if ((sim->config.mix & MIX_OF(DELETION)) != 0 && dice_hits(&sim->dice, 30))
        ask_delete(sim);
    else if ((sim->config.mix & MIX_OF(DEBUG)) != 0 && dice_hits(&sim->dice, 150))
        ask_debug(sim);
    else if (which < 450)
        ask_start(sim);
    else if (which < 750)
        ask_signal(sim);
    else if (which < 850)
        ask_correlated(sim);
    else if (which < 870)
        ask_other(sim, EVENT_PAUSE);
    else if (which < 900)
        ask_other(sim, EVENT_RESUME);
    else if (which < 930)
        ask_other(sim, EVENT_CANCEL);
    else if (which < 965)
        ask_repair(sim);
    else if (which < 980)
        ask_about_letter(sim);
    else if (which < 998)
        ask_wait(sim);
    else
        ask_publish(sim);
}
