/* world.c - what happens next in the simulator; see sim.h. */
#include "sim/automatic.h"
#include "sim/inbox.h"
#include "sim/planner.h"

#include "base/log.h"
#include "define/define.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000)
#define DAY (INT64_C(86400) * SECOND)

struct sim *sim_running;

void sim_note(struct sim *sim, uint64_t n)
{
    uint64_t h = sim->digest ^ n;

    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    sim->digest = (h ^ h >> 29) + 0x9e3779b97f4a7c15u;
}

void sim_note_str(struct sim *sim, struct str s)
{
    uint64_t word;

    sim_note(sim, s.len);
    for (size_t i = 0; i < s.len; i += 8) {
        size_t left = s.len - i;
        word = 0;
        memcpy(&word, s.ptr + i, left < 8 ? left : 8);
        sim_note(sim, word);
    }
}

struct str sim_id(struct sim *sim, struct uuid id)
{
    char text[UUID_TEXT_LEN + 1];

    uuid_write(id, text);
    return str_copy(&sim->mem, str_of(text));
}

_Noreturn void sim_fail(const struct sim *sim, const char *format, ...)
{
    va_list args;

    printf("seed %llu, event %lld: ", (unsigned long long)sim->config.seed, (long long)sim->events);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    abort();
}

/* --- the log, in place of base/log.c --- */

void log_to(int fd, enum log_level least, const struct clock *clock)
{
    (void)fd;
    (void)least;
    (void)clock;
}

/* I1: what a process says is heard when its commit is durable, not before. */
void log_write(enum log_level level, const char *message, const struct log_field *fields)
{
    struct disk_execution *x;
    struct uuid id;

    (void)level;
    if (sim_running == NULL || strcmp(message, "process log") != 0)
        return;
    if (!uuid_read(fields[0].text, &id))
        sim_fail(sim_running, "a log line names no execution");
    x = disk_find_ever(&sim_running->disk, id);
    SIM_CHECK(sim_running, x != NULL, "I1: a log line of an execution that is not durable");
    x->log_lines_seen++;
    SIM_CHECK(sim_running, x->log_lines_seen <= x->log_lines, "I1: a log line before its commit");
}

/* --- opening and closing --- */

static void random_bytes(void *context, uint8_t *out, size_t len)
{
    struct sim *sim = context;

    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)(dice_next(&sim->dice) >> 40);
}

/* What expressions may use is the same in every world and never changes: it is made once. */
static const struct cel_env *shared_env(void)
{
    static const struct cel_env *env;
    static struct arena mem;

    if (env == NULL) {
        arena_init(&mem);
        env = define_env(&mem);
    }
    return env;
}

bool sim_is_shared(const struct sim *sim)
{
    return sim->config.nodes > 1 || sim->config.faults.unknown > 0;
}

void sim_open_node(struct sim_node *at)
{
    struct sim *sim = at->sim;
    struct node_options options = {
        .data_path = sim->config.data_path,
        .clock = &at->clock.clock,
        .cache_bytes = sim->config.cache_bytes,
        .env = sim->disk.env,
        .store = &at->store.base,
        .store_url = sim_is_shared(sim) ? STR("postgres:") : STR_NONE,
        .done = &at->store.done,
        .random = random_bytes,
        .random_context = sim,
        .calls_per_host = sim->config.calls_per_host,
        .caller = outside_caller(at),
        .has_schedules = (sim->config.mix & MIX_OF(SCHEDULES)) != 0,
    };
    struct err err;

    snprintf(at->name, sizeof(at->name), "n%d.%u", (int)(at - sim->nodes), ++at->opened);
    at->store.base.name = at->name;
    at->node = node_open(&options, &err);
    if (at->node == NULL)
        sim_fail(sim, "the node does not open: %s", err.message);
}

/* Clocks of several machines are not the same. */
static int64_t some_skew_us(struct sim *sim)
{
    return sim->config.nodes == 1 ? 0 : (int64_t)dice_roll(&sim->dice, 4000) * 1000;
}

void sim_init(struct sim *sim, const struct sim_config *config)
{
    struct err err;

    *sim = (struct sim){.config = *config, .dice = {.state = config->seed * 2654435761u + 1}};
    sim_running = sim;
    arena_init(&sim->mem);
    disk_init(&sim->disk, shared_env());
    map_init(&sim->outside.asked, &sim->mem);
    map_init(&sim->outside.effects, &sim->mem);
    for (unsigned i = 0; i < 3; i++) {
        char id[3] = {'c', (char)('0' + i), 0};
        disk_put_record(&sim->disk, STR("acc"), str_of(id), STR("{\"n\":0}"));
    }
    disk_put_record(&sim->disk, STR("hot"), STR("h0"), STR("{}"));
    disk_put_record(&sim->disk, STR("hot"), STR("h1"), STR("{}"));
    for (unsigned i = 0; i < config->nodes; i++) {
        struct sim_node *at = &sim->nodes[i];

        at->sim = sim;
        clock_manual_init(&at->clock, INT64_C(1767225600) * SECOND + some_skew_us(sim));
        if (!store_init(at, &err))
            sim_fail(sim, "%s", err.message);
        sim_open_node(at);
    }
}

void sim_fini(struct sim *sim)
{
    for (unsigned i = 0; i < sim->config.nodes; i++)
        if (sim->nodes[i].node != NULL)
            node_close(sim->nodes[i].node);
    for (unsigned i = 0; i < sim->config.nodes; i++)
        outside_forget(&sim->nodes[i]);
    client_fini(sim);
    worker_fini(sim);
    for (unsigned i = 0; i < sim->config.nodes; i++)
        store_fini(&sim->nodes[i]);
    disk_fini(&sim->disk);
    arena_fini(&sim->mem);
    sim_running = NULL;
}

void sim_forget_node(struct sim_node *at)
{
    node_close(at->node);
    at->node = NULL;
    at->is_draining = false;
    outside_forget(at);
    worker_crash(at);
    store_crash(at);
    client_crash(at);
}

void sim_kill_node(struct sim_node *at)
{
    at->sim->crashes++;
    sim_forget_node(at);
}

void sim_crash(struct sim_node *at)
{
    sim_kill_node(at);
    sim_open_node(at);
}

struct sim_node *sim_some_node(struct sim *sim)
{
    unsigned up = 0, which;

    if (sim->config.nodes == 1)
        return &sim->nodes[0];
    for (unsigned i = 0; i < sim->config.nodes; i++)
        up += sim->nodes[i].node != NULL;
    which = dice_roll(&sim->dice, up);
    for (unsigned i = 0;; i++)
        if (sim->nodes[i].node != NULL && which-- == 0)
            return &sim->nodes[i];
}

/* --- time --- */

int64_t sim_wall_us(const struct sim *sim)
{
    int64_t us = INT64_MAX;

    for (unsigned i = 0; i < sim->config.nodes; i++)
        if (sim->nodes[i].node != NULL && clock_wall_us(&sim->nodes[i].clock.clock) < us)
            us = clock_wall_us(&sim->nodes[i].clock.clock);
    return us;
}

int64_t sim_mono_us(const struct sim *sim)
{
    return clock_mono_us(&sim->nodes[0].clock.clock);
}

static void note_latest(const struct sim_node *at)
{
    if (clock_wall_us(&at->clock.clock) > at->sim->latest_wall_us)
        at->sim->latest_wall_us = clock_wall_us(&at->clock.clock);
}

void sim_let_pass(struct sim *sim, int64_t us)
{
    for (unsigned i = 0; i < sim->config.nodes; i++) {
        struct sim_node *at = &sim->nodes[i];

        clock_manual_advance(&at->clock, us);
        note_latest(at);
    }
}

static void move_clock(struct sim_node *at)
{
    struct sim *sim = at->sim;
    int64_t now_us = clock_wall_us(&at->clock.clock), next_us = node_next_wake_us(at->node);
    struct dice *d = &sim->dice;

    if (!sim->no_faults && dice_hits(d, sim->config.faults.clock_back)) {
        int64_t back_us = (int64_t)(dice_next(d) % (uint64_t)DAY);
        sim->jumps_back++;
        clock_manual_set_wall(&at->clock, now_us - back_us);
        return;
    }
    if (!sim->no_faults && dice_hits(d, sim->config.faults.clock_forward)) {
        sim->jumps_forward++;
        clock_manual_set_wall(&at->clock, now_us + (int64_t)dice_roll(d, 7200) * SECOND);
        note_latest(at);
        return;
    }
    if (dice_roll(d, 3) == 0 && next_us > now_us && next_us < now_us + 60 * SECOND)
        sim_let_pass(sim, next_us - now_us);
    else if (dice_roll(d, 20) == 0)
        sim_let_pass(sim, (int64_t)dice_roll(d, 7200) * SECOND);
    else
        sim_let_pass(sim, (int64_t)dice_roll(d, 20000));
}

/* --- events --- */

/* The machine dies: of what was under way, the oldest may have become durable. */
static void crash(struct sim_node *at)
{
    struct sim *sim = at->sim;
    unsigned kept = dice_roll(&sim->dice, 3), up = 0;

    while (kept-- > 0) {
        if (at->store.is_written) {
            at->store.batches[0] = at->store.batches[1];
            at->store.batch_count--;
            at->store.is_written = false;
            mailbox_unreserve(&at->store.done);
        }
        (void)store_write_one(at);
    }
    sim_kill_node(at);
    /* It comes back at once, or others do without it for a while. */
    for (unsigned i = 0; i < sim->config.nodes; i++)
        up += sim->nodes[i].node != NULL;
    if (up == 0 || dice_hits(&sim->dice, 500))
        sim_open_node(at);
}

/* A node that was down comes back. */
static void bring_back(struct sim *sim)
{
    for (unsigned i = 0; i < sim->config.nodes; i++)
        if (sim->nodes[i].node == NULL) {
            sim_open_node(&sim->nodes[i]);
            return;
        }
}

/* The store writes nothing for longer than most calls may take; all else goes on. */
static void stall(struct sim_node *at)
{
    sim_let_pass(at->sim, (1 + (int64_t)dice_roll(&at->sim->dice, 40)) * SECOND);
    (void)store_write_one(at);
    (void)store_deliver_one(at);
    (void)node_pass(at->node);
}

/* One that has stopped comes back when others do without it for a while, or at once. */
static void end_drain(struct sim_node *at)
{
    unsigned up = 0;

    if (!drain_has_ended(at))
        return;
    for (unsigned i = 0; i < at->sim->config.nodes; i++)
        up += at->sim->nodes[i].node != NULL;
    if (up == 0 || dice_hits(&at->sim->dice, 500))
        sim_open_node(at);
}

/* One node alone: what it has in flight stays so, and others do its work meanwhile. */
static void cut_off(struct sim_node *at)
{
    at->sim->cuts++;
    at->cut_until_us = sim_mono_us(at->sim) + (1 + (int64_t)dice_roll(&at->sim->dice, 60)) * SECOND;
}

static bool is_cut_off(const struct sim_node *at)
{
    return at->cut_until_us > sim_mono_us(at->sim);
}

static void happen_at(struct sim *sim, struct sim_node *at)
{
    unsigned which = dice_roll(&sim->dice, 100);

    if ((sim->config.mix & MIX_OF(JOBS)) != 0 && dice_roll(&sim->dice, 6) == 0)
        worker_act(sim);
    if ((sim->config.mix & MIX_OF(TASKS)) != 0 && dice_roll(&sim->dice, 20) == 0)
        people_act(sim);
    if (dice_roll(&sim->dice, 200) == 0)
        automatic_act(sim);
    if ((sim->config.mix & MIX_OF(PEOPLE)) != 0 && dice_roll(&sim->dice, 5) == 0)
        inbox_act(sim);
    if (sim->disk.plan != NULL && dice_roll(&sim->dice, 2) == 0)
        plan_act(sim);
    if (which < 30) {
        for (unsigned i = dice_roll(&sim->dice, 4); i-- > 0;)
            client_ask(sim);
    } else if (which < 55) {
        (void)node_pass(at->node);
    } else if (which < 70) {
        if (is_cut_off(at))
            sim_let_pass(sim, (int64_t)dice_roll(&sim->dice, 500) * 1000);
        else if (at->store.batch_count > 0 && !sim->no_faults &&
                 dice_hits(&sim->dice, sim->config.faults.stall))
            stall(at);
        else
            (void)store_write_one(at);
    } else if (which < 84) {
        if (!is_cut_off(at))
            (void)store_deliver_one(at);
        if (sim->outside.under_way.count > 0 && dice_roll(&sim->dice, 2) == 0)
            (void)outside_answer_one(at);
    } else if (which < 95) {
        for (unsigned i = 1 + dice_roll(&sim->dice, 6); i-- > 0 && !is_cut_off(at);)
            (void)store_read_one(at);
    } else if (which < 99) {
        move_clock(at);
    } else if (dice_hits(&sim->dice, sim->config.faults.crash)) {
        crash(at);
    } else if ((sim->config.mix & MIX_OF(DRAINS)) != 0 && dice_hits(&sim->dice, 150)) {
        drain_begin(at);
    } else if (sim->config.nodes > 1 && dice_hits(&sim->dice, sim->config.faults.cut)) {
        cut_off(at);
    } else if (dice_hits(&sim->dice, 200)) {
        bring_back(sim);
    }
}

static void happen(struct sim *sim)
{
    struct sim_node *at = sim_some_node(sim);

    sim->events++;
    happen_at(sim, at);
    if (at->node != NULL)
        end_drain(at);
}

/* --- a whole run --- */

unsigned mix_default(void)
{
    return 0
#define MIX(symbol, name, on, what) | ((on) ? MIX_OF(symbol) : 0)
#include "sim/mix.def"
#undef MIX
        ;
}

struct sim_config sim_config_of(uint64_t seed, unsigned mix)
{
    struct dice d = {.state = seed};
    struct sim_config config = {
        .seed = seed,
        .starts = 200 + dice_roll(&d, 800),
        .scenarios = 1 + dice_roll(&d, 12),
        .cache_bytes = dice_roll(&d, 3) == 0 ? 1 : 0,
    };
    unsigned badness = dice_roll(&d, 4);

    /* A quarter of the runs sees no fault at all, so that nothing hides behind one. */
    if (badness > 0)
        config.faults = (struct faults){
            .refuse_batch = dice_roll(&d, 30 * badness),
            .refuse_member = dice_roll(&d, 10 * badness),
            .unknown = dice_roll(&d, 10 * badness),
            .read_error = dice_roll(&d, 20 * badness),
            .read_full = dice_roll(&d, 50 * badness),
            .crash = dice_roll(&d, 150 * badness),
            .clock_back = dice_roll(&d, 20 * badness),
            .clock_forward = dice_roll(&d, 20 * badness),
            .stall = dice_roll(&d, 20 * badness),
            .cut = dice_roll(&d, 100 * badness),
        };
    config.mix = mix & (unsigned)dice_next(&d);
    config.nodes = (config.mix & MIX_OF(NODES)) != 0 ? 2 + dice_roll(&d, NODES_MAX - 1) : 1;
    if ((config.mix & MIX_OF(CALLS)) != 0)
        config.calls_per_host = 1 + dice_roll(&d, 6);
    config.kids = (config.mix & MIX_OF(CHILDREN)) != 0 ? 1 + dice_roll(&d, 4) : 0;
    if ((config.mix & MIX_OF(CONTENTION)) != 0)
        config.faults.contend = 300 + dice_roll(&d, 600);
    config.faults.no_workers = dice_roll(&d, 4) == 0;
    return config;
}

static void publish(struct sim *sim, const char *prefix, unsigned number, unsigned kids)
{
    struct str code = str_printf(&sim->mem, "%s%u", prefix, number);
    int64_t version;

    disk_publish(sim, code, generate_scenario(&sim->mem, &sim->dice, code, sim->config.mix, kids),
                 &version);
}

void sim_run(struct sim *sim)
{
    /* A kid may start those before it. */
    for (unsigned i = 0; i < sim->config.kids; i++)
        publish(sim, "k", i, i);
    for (unsigned i = 0; i < sim->config.scenarios; i++)
        publish(sim, "p", i, sim->config.kids);
    automatic_begin(sim);
    plan_begin(sim);
    while (sim->clients.starts < sim->config.starts) {
        happen(sim);
        if (dice_roll(&sim->dice, 1500) == 0)
            sim_calm(sim);
    }
    sim_come_to_rest(sim);
}
