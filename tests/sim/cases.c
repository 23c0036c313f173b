/* cases.c - what the named cases are made of, and the list of them; see cases.h. */
#include "sim/cases.h"

#include "engine/state.h"
#include "value/json.h"

#include <stdio.h>

struct sim sim;

const struct sim_case sim_cases[] = {
#define CASE(symbol, text) {.name = #symbol, .claim = (text), .run = case_##symbol},
#include "sim/cases.def"
#undef CASE
};
const size_t sim_case_count = ARRAY_SIZE(sim_cases);

static struct sim_node *asked_node;

void case_begin(void)
{
    case_begin_nodes(1);
}

void case_begin_nodes(unsigned count)
{
    struct sim_config config = {.scenarios = 1, .nodes = count};

    asked_node = only;
    sim_init(&sim, &config);
    sim.no_faults = true;
    /* A case that injects a fault does it by script: refusals are to be expected. */
    sim.config.faults.crash = 1;
    case_settle();
}

void case_end(void)
{
    sim_come_to_rest(&sim);
    sim_fini(&sim);
}

static struct str quotes(const char *text)
{
    struct str s = str_copy(&sim.mem, str_of(text));
    char *p = (char *)(uintptr_t)s.ptr;

    for (size_t i = 0; i < s.len; i++)
        if (p[i] == '\'')
            p[i] = '"';
    return s;
}

void case_define(const char *code, const char *steps, const char *rest)
{
    struct str text =
        quotes(str_printf(&sim.mem, "{'code':'%s','steps':[%s]%s}", code, steps, rest).ptr);
    int64_t version;

    disk_publish(&sim, str_of(code), text, &version);
}

static struct value read_value(const char *text)
{
    struct value v = value_null();
    struct err err;

    if (!json_read(&sim.mem, quotes(text), &v, &err))
        sim_fail(&sim, "%s: %s", text, err.message);
    return v;
}

void case_ask(unsigned node)
{
    asked_node = &sim.nodes[node];
}

static struct asked *submit(struct sim_request *q)
{
    struct asked *a = ARENA_NEW(&sim.mem, struct asked);

    q->at = asked_node;
    q->asked = a;
    if (!client_submit(&sim, q))
        *a = (struct asked){.is_answered = true, .code = ERR_OVERLOADED};
    return a;
}

struct asked *case_start(const char *code, const char *input, int64_t wait_us)
{
    struct sim_request *q = client_new(&sim, NODE_START);
    struct value number = value_int(q->number);
    struct value_entry *entry = ARENA_NEW(&sim.mem, struct value_entry);
    size_t duplicate;

    *entry = (struct value_entry){.key = value_key(STR("request")), .value = number};
    q->r.code = str_of(code);
    q->r.event.input =
        state_merge(&sim.mem, read_value(input), value_map_make(&sim.mem, entry, 1, &duplicate));
    q->r.wait_us = wait_us;
    return submit(q);
}

struct asked *case_start_key(const char *code, const char *key, int64_t wait_us)
{
    struct sim_request *q = client_new(&sim, NODE_START);

    q->r.code = str_of(code);
    q->r.key = str_of(key);
    q->r.event.input =
        read_value(str_printf(&sim.mem, "{'request':%lld}", (long long)q->number).ptr);
    q->r.wait_us = wait_us;
    return submit(q);
}

struct asked *case_signal(struct uuid id, const char *signal_id, const char *payload)
{
    struct sim_request *q = client_new_event(&sim, EVENT_SIGNAL);

    q->r.execution = id;
    q->r.event.signal_id = str_of(signal_id);
    q->r.event.signal_type = STR("go");
    q->payload_json = quotes(payload);
    q->r.event.signal_payload = read_value(payload);
    q->r.event.by = value_map_empty();
    return submit(q);
}

struct asked *case_cancel(struct uuid id)
{
    struct sim_request *q = client_new_event(&sim, EVENT_CANCEL);

    q->r.execution = id;
    return submit(q);
}

struct asked *case_pause(struct uuid id)
{
    struct sim_request *q = client_new_event(&sim, EVENT_PAUSE);

    q->r.execution = id;
    q->r.event.by = value_map_empty();
    return submit(q);
}

struct asked *case_resume(struct uuid id)
{
    struct sim_request *q = client_new_event(&sim, EVENT_RESUME);

    q->r.execution = id;
    q->r.event.by = value_map_empty();
    return submit(q);
}

struct asked *case_retry(struct uuid id, const char *input)
{
    struct sim_request *q = client_new_event(&sim, EVENT_RETRY);

    q->r.execution = id;
    q->r.event.input = read_value(input);
    return submit(q);
}

struct asked *case_wait(struct uuid id, int64_t wait_us)
{
    struct sim_request *q = client_new(&sim, NODE_WAIT);

    q->r.execution = id;
    q->r.wait_us = wait_us;
    return submit(q);
}

struct uuid case_started(struct asked *a)
{
    case_settle();
    CLAIM(a->is_answered);
    CLAIM(a->ok);
    return a->id;
}

void case_pass(void)
{
    for (unsigned i = 0; i < 5; i++)
        (void)node_pass(only->node);
}

void case_write(void)
{
    CLAIM(store_write_one(only));
}

void case_deliver(void)
{
    CLAIM(store_deliver_one(only));
    case_pass();
}

void case_read(void)
{
    while (store_read_one(only)) {
    }
    case_pass();
}

void case_settle(void)
{
    sim_settle(&sim);
}

void case_let_pass(int64_t us)
{
    sim_let_pass(&sim, us);
}

const struct disk_execution *case_disk(struct uuid id)
{
    const struct disk_execution *x = disk_find(&sim.disk, id);

    CLAIM(x != NULL);
    return x;
}

enum execution_status case_status(struct uuid id)
{
    return case_disk(id)->s.status;
}
