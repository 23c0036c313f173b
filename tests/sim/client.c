/*
 * client.c - requests, and what may be answered to them; see sim.h.
 *
 * An answer is held against the disk at the moment it comes: what it says must
 * be durable by then (I1, I9), and what it refuses must not have happened.
 */
#include "engine/show.h"
#include "sim/sim.h"
#include "value/json.h"
#include "value/number.h"

#include <stdlib.h>

/* --- answers --- */

/* The number after `name` in a JSON text that we wrote ourselves. */
static int64_t number_after(struct str json, struct str name)
{
    int64_t at = str_find(json, name, 0);

    return at < 0 ? -1 : strtoll(json.ptr + at + name.len, NULL, 10);
}

/* Whether this text and a quote stand at a place of a JSON text. */
static bool text_follows(struct str json, size_t at, struct str text)
{
    return at + text.len < json.len && str_eq(str_slice(json, at, at + text.len), text) &&
           json.ptr[at + text.len] == '"';
}

/* An execution that was shown: that version of it is durable and looked so. */
static void check_shown(struct sim *sim, const struct node_request *r)
{
    const struct disk_execution *x = disk_find(&sim->disk, r->id);
    int64_t version = number_after(r->execution_json, STR("\"rowVersion\":"));
    struct str name = STR("\"status\":\""), status;
    int64_t at;

    SIM_CHECK(sim, x != NULL, "I9: an answer names an execution that is not durable");
    SIM_CHECK(sim, version >= 1 && version <= x->s.row_version,
              "I1: an answer shows version %lld, and %lld is durable", (long long)version,
              (long long)x->s.row_version);
    at = str_find(r->execution_json, name, 0);
    status = str_of(status_name(x->versions.items[version - 1].status));
    SIM_CHECK(sim, at > 0 && text_follows(r->execution_json, (size_t)at + name.len, status),
              "I1: an answer shows another status");
    SIM_CHECK(sim, r->ended == status_is_terminal(x->versions.items[version - 1].status),
              "I1: an answer is wrong about the end");
}

static void check_repeated(struct sim *sim, const struct sim_request *q)
{
    const struct node_request *r = &q->r;
    struct disk_execution *x;
    struct uuid id;
    struct str prefix = STR("{\"id\":\"");

    SIM_CHECK(sim, str_starts_with(r->stored_answer, prefix), "a stored answer is broken");
    if (r->kind != NODE_START)
        return;
    SIM_CHECK(sim,
              uuid_read(str_slice(r->stored_answer, prefix.len, prefix.len + UUID_TEXT_LEN), &id),
              "a stored answer has no id");
    x = disk_find(&sim->disk, id);
    SIM_CHECK(sim, x != NULL, "I9: a stored answer names an execution that is not durable");
    SIM_CHECK(sim, x->request == q->number, "a stored answer is of another request");
}

static void check_start(struct sim *sim, const struct sim_request *q)
{
    const struct node_request *r = &q->r;
    const struct disk_execution *x = disk_find(&sim->disk, r->id);

    if (r->stored_answer.len > 0) {
        check_repeated(sim, q);
        return;
    }
    check_shown(sim, r);
    if (r->joined)
        SIM_CHECK(sim, str_eq(x->s.code, r->code) && x->s.key.len > 0,
                  "a start joined an execution without its key");
    else
        SIM_CHECK(sim, x->request == q->number, "a start was answered with another execution");
    client_remember(sim, r->id);
}

/* The step that is said to have taken the signal is durable, and took this one. */
static void check_taken(struct sim *sim, const struct node_request *r,
                        const struct disk_execution *x)
{
    int64_t seq = number_after(r->taken_json, STR("\"seq\":"));

    SIM_CHECK(sim, seq > r->signal_seq && seq <= (int64_t)x->history.count,
              "I1: the step that took a signal is not durable");
    SIM_CHECK(sim, node_row_took(r->mem, &x->history.items[seq - 1], r->signal_seq),
              "a signal was taken by another step than was said");
}

/* One by correlation is kept, or delivered to whom it is said to be. */
static void check_correlated(struct sim *sim, const struct node_request *r)
{
    const struct disk_correlated *s = correlation_find(&sim->disk, r->signal_id);
    const struct disk_execution *x = r->is_kept ? NULL : disk_find(&sim->disk, r->execution);

    SIM_CHECK(sim, !r->is_kept || s != NULL, "I9: a signal was acknowledged and is not kept");
    SIM_CHECK(sim, r->is_kept || (x != NULL && disk_find_signal(x, r->signal_id) != NULL),
              "I9: a signal was acknowledged and is not durable");
}

static void check_signal(struct sim *sim, const struct sim_request *q)
{
    const struct node_request *r = &q->r;
    const struct disk_execution *x = disk_find(&sim->disk, r->execution);
    const struct disk_signal *s = x == NULL ? NULL : disk_find_signal(x, r->signal_id);

    if (r->stored_answer.len > 0)
        return;
    if (r->correlation.len > 0) {
        check_correlated(sim, r);
        return;
    }
    SIM_CHECK(sim, s != NULL, "I9: a signal was acknowledged and is not durable");
    SIM_CHECK(sim, str_eq(s->type, r->signal_type) && str_eq(s->payload_json, q->payload_json),
              "a signal was acknowledged that has other content");
    if (r->taken_json.len > 0)
        check_taken(sim, r, x);
}

static void check_ok(struct sim *sim, const struct sim_request *q)
{
    const struct node_request *r = &q->r;
    struct disk_execution *x;

    switch (r->kind) {
    case NODE_START:
        check_start(sim, q);
        return;
    case NODE_SIGNAL:
        check_signal(sim, q);
        return;
    case NODE_CANCEL:
        x = disk_find(&sim->disk, r->execution);
        SIM_CHECK(sim,
                  x != NULL &&
                      (x->s.status == STATUS_CANCELLED || x->s.status == STATUS_COMPENSATING),
                  "I9: a cancel was acknowledged and is not durable");
        return;
    case NODE_RETRY:
    case NODE_SKIP:
    case NODE_MIGRATE:
    case NODE_RESOLVE:
    case NODE_UNDO:
    case NODE_PAUSE:
    case NODE_RESUME:
        x = disk_find(&sim->disk, r->execution);
        SIM_CHECK(sim, x != NULL, "I9: a repair was acknowledged of what is not durable");
        x->repairs++;
        return;
    case NODE_WAIT:
        check_shown(sim, r);
        return;
    case NODE_DEFINITION:
        SIM_CHECK(sim, r->definition.version > 0, "a version was published without a number");
        return;
    case NODE_UNPARK:
    case NODE_CHANGE:
        PANIC("simulated clients do not ask for this");
    }
}

/* --- refusals --- */

static bool has_faults(const struct sim *sim)
{
    const struct faults *f = &sim->config.faults;

    return f->refuse_batch + f->refuse_member + f->unknown + f->read_error + f->crash > 0;
}

static bool is_repair(const struct node_request *r)
{
    return r->kind == NODE_RETRY || r->kind == NODE_SKIP || r->kind == NODE_MIGRATE ||
           r->kind == NODE_PAUSE || r->kind == NODE_RESUME;
}

/* What is said to be possible is not refused, but for a version that does not fit. */
static void check_repair_conflict(struct sim *sim, const struct node_request *r,
                                  const struct disk_execution *x)
{
    enum action action = r->kind == NODE_RETRY    ? ACTION_RETRY
                         : r->kind == NODE_SKIP   ? ACTION_SKIP
                         : r->kind == NODE_PAUSE  ? ACTION_PAUSE
                         : r->kind == NODE_RESUME ? ACTION_RESUME
                                                  : ACTION_MIGRATE;

    SIM_CHECK(sim, r->version > 0 || !show_allows(&x->s, action),
              "an action that is offered is refused: %s", r->err.message);
}

static struct str letter_text(struct arena *mem, const struct disk_letter *l)
{
    char text[UUID_TEXT_LEN + 1];

    uuid_write(l->id, text);
    return str_copy(mem, str_of(text));
}

/* An open letter: of that id, or any of them; or NULL. */
static const struct disk_letter *open_letter(struct arena *mem, const struct disk_execution *x,
                                             struct str id)
{
    for (size_t i = 0; i < x->letters.count; i++)
        if (x->letters.items[i].is_open &&
            (id.len == 0 || str_eq(id, letter_text(mem, &x->letters.items[i]))))
            return &x->letters.items[i];
    return NULL;
}

static void check_conflict(struct sim *sim, const struct sim_request *q)
{
    const struct node_request *r = &q->r;
    const struct disk_execution *x = disk_find(&sim->disk, r->execution);
    const struct disk_signal *s;

    if (r->correlation.len > 0) {
        SIM_CHECK(sim, correlation_find(&sim->disk, r->signal_id) != NULL,
                  "I1: a refusal rests on what is not durable: %s", r->err.message);
        return;
    }
    SIM_CHECK(sim, x != NULL, "a conflict with an execution that is not durable");
    if (is_repair(r)) {
        check_repair_conflict(sim, r, x);
        return;
    }
    if (r->kind == NODE_RESOLVE) {
        /* Beside a step that is asked about, another one may be held as it is. */
        SIM_CHECK(sim,
                  open_letter(r->mem, x, r->letter) == NULL ||
                      str_find(x->s.cursor_json, r->letter, 0) < 0,
                  "an outcome is refused: %s", r->err.message);
        return;
    }
    if (r->kind == NODE_UNDO)
        return; /* it may be about what has no rollback */
    if (status_is_terminal(x->s.status) || x->s.crash_count > 0)
        return;
    if (r->kind == NODE_CANCEL && x->s.status == STATUS_COMPENSATING)
        return;
    s = r->kind == NODE_SIGNAL ? disk_find_signal(x, r->signal_id) : NULL;
    SIM_CHECK(sim,
              s != NULL &&
                  (!str_eq(s->type, r->signal_type) || !str_eq(s->payload_json, q->payload_json)),
              "I1: a refusal rests on what is not durable: %s", r->err.message);
}

static bool was_started(const struct sim *sim, int64_t number)
{
    for (size_t i = sim->disk.executions.count; i-- > 0;)
        if (sim->disk.executions.items[i]->request == number)
            return true;
    return false;
}

/* What was refused for certain has not happened. */
static void check_did_not_happen(struct sim *sim, const struct sim_request *q)
{
    const struct node_request *r = &q->r;
    const struct disk_execution *x;

    if (r->idempotency.key.len > 0)
        return; /* the same may have been asked for twice */
    if (r->kind == NODE_START)
        SIM_CHECK(sim, !was_started(sim, q->number), "a start was refused and has happened");
    if (r->kind == NODE_SIGNAL && q->has_unique_signal) {
        x = disk_find(&sim->disk, r->execution);
        SIM_CHECK(sim, x == NULL || disk_find_signal(x, r->signal_id) == NULL,
                  "a signal was refused and has happened: %s", r->err.message);
    }
}

static void check_refused(struct sim *sim, const struct sim_request *q)
{
    const struct node_request *r = &q->r;
    const struct disk_execution *x;

    sim->clients.refused++;
    if (r->err.code == ERR_OUTCOME_UNKNOWN) {
        SIM_CHECK(sim, has_faults(sim), "an outcome is unknown though nothing went wrong");
        return;
    }
    check_did_not_happen(sim, q);
    if (r->err.code == ERR_KEY_BUSY) {
        x = disk_find(&sim->disk, r->id);
        SIM_CHECK(sim,
                  x != NULL && x->s.key.len > 0 &&
                      (r->kind != NODE_START || str_eq(x->s.code, r->code)),
                  "a key is busy without a holder");
    } else if (r->err.code == ERR_CONFLICT) {
        check_conflict(sim, q);
    } else if (r->err.code == ERR_NOT_FOUND) {
        SIM_CHECK(sim, r->kind != NODE_START && disk_find(&sim->disk, r->execution) == NULL,
                  "something durable was not found");
    } else if (r->err.code == ERR_INVALID && is_repair(r)) {
        SIM_CHECK(sim, r->findings.count > 0, "a repair is wrong and nothing is said of why");
    } else if (r->err.code != ERR_IDEMPOTENCY_CONFLICT) {
        SIM_CHECK(sim, has_faults(sim), "refused though nothing went wrong: %s", r->err.message);
    }
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

static void answered(struct node_request *r)
{
    struct sim_request *q = r->owner;
    struct sim *sim = sim_running;

    SIM_CHECK(sim, !q->is_answered, "a request was answered twice");
    q->is_answered = true;
    sim->clients.answered++;
    sim_note(sim, (uint64_t)q->number);
    sim_note(sim, r->ok ? 1 : 1000 + (uint64_t)r->err.code);
    if (r->ok)
        check_ok(sim, q);
    else
        check_refused(sim, q);
    if (q->asked != NULL)
        *q->asked = (struct asked){.is_answered = true,
                                   .ok = r->ok,
                                   .ended = r->ended,
                                   .joined = r->joined,
                                   .code = r->ok ? ERR_NONE : r->err.code,
                                   .id = r->id,
                                   .json = str_copy(&sim->mem, r->execution_json)};
    forget_pending(&sim->clients, q);
    client_free(sim, q);
}

/* --- requests --- */

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
    *q = (struct sim_request){.mem = q->mem, .number = ++c->requests};
    q->r = (struct node_request){
        .kind = kind,
        .user = {.id = STR("u1"), .name = STR("Ann"), .email = STR("a@b"), .role = STR("admin")},
        .done = answered,
        .owner = q,
        .mem = &q->mem,
    };
    return q;
}

void client_free(struct sim *sim, struct sim_request *q)
{
    q->next_free = sim->clients.free;
    sim->clients.free = q;
}

bool client_submit(struct sim *sim, struct sim_request *q)
{
    struct err err;

    *VEC_ADD(&sim->mem, &sim->clients.pending) = q;
    if (node_submit(sim->node, &q->r, &err))
        return true;
    forget_pending(&sim->clients, q);
    client_free(sim, q);
    return false;
}

void client_crash(struct sim *sim)
{
    struct clients *c = &sim->clients;

    for (size_t i = 0; i < c->pending.count; i++)
        client_free(sim, c->pending.items[i]);
    c->pending.count = 0;
}

void client_fini(struct sim *sim)
{
    client_crash(sim);
    for (struct sim_request *q = sim->clients.free; q != NULL; q = q->next_free)
        arena_fini(&q->mem);
}

void client_remember(struct sim *sim, struct uuid id)
{
    struct clients *c = &sim->clients;
    unsigned room = sizeof(c->recent) / sizeof(c->recent[0]);

    c->recent[c->recent_count++ % room] = id;
}

static struct uuid some_execution(struct sim *sim)
{
    struct clients *c = &sim->clients;
    unsigned room = sizeof(c->recent) / sizeof(c->recent[0]);
    unsigned count = c->recent_count < room ? c->recent_count : room;

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
    q->r.input = read_value(&q->mem, input);
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

static void ask_start(struct sim *sim)
{
    struct sim_request *q = client_new(sim, NODE_START);
    struct dice *d = &sim->dice;

    sim->clients.starts++;
    if (dice_hits(d, 200)) {
        make_repeatable(sim, q);
    } else {
        q->r.code = numbered(&q->mem, STR("p"), dice_roll(d, sim->config.scenarios));
        q->r.input = read_value(&q->mem, some_input(sim, q));
        if (dice_hits(d, 150))
            q->r.key = numbered(&q->mem, STR("key"), dice_roll(d, 10));
    }
    q->r.wait_us = dice_hits(d, 300) ? dice_roll(d, 20) * INT64_C(500000) : 0;
    (void)client_submit(sim, q);
}

static void ask_signal(struct sim *sim)
{
    struct sim_request *q = client_new(sim, NODE_SIGNAL);
    struct dice *d = &sim->dice;

    q->r.execution = some_execution(sim);
    q->r.signal_type = dice_roll(d, 2) == 0 ? STR("a") : STR("b");
    q->payload_json = str_printf(&q->mem, "{\"n\":%u}", dice_roll(d, 4) * 5);
    if (dice_hits(d, 300)) {
        /* One of a few ids, so that it is sent again, mostly with the same content. */
        unsigned which = dice_roll(d, 3);
        q->r.signal_id = numbered(&q->mem, STR("again"), which);
        q->r.signal_type = which == 0 ? STR("a") : STR("b");
        if (!dice_hits(d, 100))
            q->payload_json = STR("{\"n\":10}");
    } else if (dice_hits(d, 500)) {
        q->r.signal_id = numbered(&q->mem, STR("s"), q->number);
        q->has_unique_signal = true;
    } else {
        q->has_unique_signal = true; /* the node makes an id */
    }
    q->r.payload = read_value(&q->mem, q->payload_json);
    q->r.signal_by = value_map_empty();
    q->r.wait_us = dice_hits(d, 100) ? INT64_C(3000000) : 0;
    (void)client_submit(sim, q);
}

static void ask_correlated(struct sim *sim)
{
    struct sim_request *q = client_new(sim, NODE_SIGNAL);
    struct dice *d = &sim->dice;

    q->r.correlation = numbered(&q->mem, STR("c"), dice_roll(d, 4));
    q->r.ttl_us = INT64_C(30) * 86400 * 1000000;
    q->r.signal_type = dice_roll(d, 2) == 0 ? STR("a") : STR("b");
    q->payload_json = str_printf(&q->mem, "{\"n\":%u}", dice_roll(d, 2) * 5);
    /* Some are sent again, some of these with other content. */
    if (dice_hits(d, 700))
        q->r.signal_id = numbered(&q->mem, STR("by"), q->number - (dice_hits(d, 500) ? 10 : 0));
    q->r.payload = read_value(&q->mem, q->payload_json);
    q->r.signal_by = value_map_empty();
    (void)client_submit(sim, q);
}

static void ask_other(struct sim *sim, enum node_request_kind kind)
{
    struct sim_request *q = client_new(sim, kind);

    q->r.execution = some_execution(sim);
    q->r.reason = STR("because");
    q->r.wait_us = kind == NODE_WAIT ? dice_roll(&sim->dice, 8) * INT64_C(1000000) : 0;
    (void)client_submit(sim, q);
}

static void ask_repair(struct sim *sim)
{
    struct dice *d = &sim->dice;
    unsigned which = dice_roll(d, 10);
    struct sim_request *q = client_new(sim, which < 5   ? NODE_RETRY
                                            : which < 8 ? NODE_SKIP
                                                        : NODE_MIGRATE);

    q->r.execution = some_execution(sim);
    if (q->r.kind == NODE_MIGRATE || (q->r.kind == NODE_RETRY && dice_hits(d, 200)))
        q->r.version = 1 + dice_roll(d, 3);
    if (q->r.kind == NODE_RETRY && dice_hits(d, 300))
        q->r.from = numbered(&q->mem, STR("s"), dice_roll(d, 4));
    if (q->r.kind == NODE_RETRY && dice_hits(d, 500))
        q->r.input = read_value(&q->mem, some_input(sim, q));
    if (q->r.kind == NODE_SKIP && dice_hits(d, 500))
        q->r.output = read_value(&q->mem, STR("{\"n\":7}"));
    (void)client_submit(sim, q);
}

/* Say what became of a step in doubt, or try a rollback again that was given up. */
static void ask_about_letter(struct sim *sim)
{
    struct uuid id = some_execution(sim);
    const struct disk_execution *x = disk_find(&sim->disk, id);
    const struct disk_letter *l = x != NULL ? open_letter(&sim->mem, x, STR_NONE) : NULL;
    bool is_parked = x != NULL && str_find(x->s.waiting_for_json, STR("\"parked\":true"), 0) >= 0;
    struct sim_request *q;

    if (l == NULL || (l->is_incident && !is_parked))
        return;
    q = client_new(sim, l->is_incident ? NODE_RESOLVE : NODE_UNDO);
    q->r.execution = id;
    q->r.letter = letter_text(&q->mem, l);
    q->r.said = (enum outcome_said)dice_roll(&sim->dice, SAID_COUNT);
    q->r.note = STR("looked it up");
    (void)client_submit(sim, q);
}

static void ask_publish(struct sim *sim)
{
    struct sim_request *q = client_new(sim, NODE_DEFINITION);
    struct str code = numbered(&q->mem, STR("p"), dice_roll(&sim->dice, sim->config.scenarios));

    q->r.definition = (struct definition_change){
        .action = DEFINITION_PUBLISH,
        .kind = STR("scenario"),
        .is_process = true,
        .code = code,
        .name = code,
        .text = generate_scenario(&q->mem, &sim->dice, code),
        .if_match = -1,
        .now_us = clock_wall_us(&sim->clock.clock),
    };
    (void)client_submit(sim, q);
}

void client_ask(struct sim *sim)
{
    unsigned which = dice_roll(&sim->dice, 1000);

    if (which < 450)
        ask_start(sim);
    else if (which < 750)
        ask_signal(sim);
    else if (which < 850)
        ask_correlated(sim);
    else if (which < 870)
        ask_other(sim, NODE_PAUSE);
    else if (which < 900)
        ask_other(sim, NODE_RESUME);
    else if (which < 930)
        ask_other(sim, NODE_CANCEL);
    else if (which < 965)
        ask_repair(sim);
    else if (which < 980)
        ask_about_letter(sim);
    else if (which < 998)
        ask_other(sim, NODE_WAIT);
    else
        ask_publish(sim);
}
