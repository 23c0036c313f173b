/* world.c - what happens next in the simulator; see sim.h. */
#include "sim/sim.h"

#include "base/log.h"

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
    x = disk_find(&sim_running->disk, id);
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

static void open_node(struct sim *sim)
{
    struct node_options options = {
        .data_path = sim->config.data_path,
        .clock = &sim->clock.clock,
        .cache_bytes = sim->config.cache_bytes,
        .env = sim->disk.env,
        .store = &sim->store.base,
        .done = &sim->store.done,
        .random = random_bytes,
        .random_context = sim,
    };
    struct err err;

    sim->node = node_open(&options, &err);
    if (sim->node == NULL)
        sim_fail(sim, "the node does not open: %s", err.message);
}

void sim_init(struct sim *sim, const struct sim_config *config)
{
    struct err err;

    *sim = (struct sim){.config = *config, .dice = {.state = config->seed * 2654435761u + 1}};
    sim_running = sim;
    arena_init(&sim->mem);
    clock_manual_init(&sim->clock, INT64_C(1767225600) * SECOND);
    disk_init(&sim->disk, shared_env());
    for (unsigned i = 0; i < 3; i++) {
        char id[3] = {'c', (char)('0' + i), 0};
        disk_put_record(&sim->disk, STR("acc"), str_of(id), STR("{\"n\":0}"));
    }
    if (!store_init(sim, &err))
        sim_fail(sim, "%s", err.message);
    open_node(sim);
}

void sim_fini(struct sim *sim)
{
    node_close(sim->node);
    client_fini(sim);
    store_fini(sim);
    disk_fini(&sim->disk);
    arena_fini(&sim->mem);
    sim_running = NULL;
}

void sim_crash(struct sim *sim)
{
    sim->crashes++;
    node_close(sim->node);
    store_crash(sim);
    client_crash(sim);
    open_node(sim);
}

/* --- time --- */

static void let_pass(struct sim *sim, int64_t us)
{
    clock_manual_advance(&sim->clock, us);
    if (clock_wall_us(&sim->clock.clock) > sim->latest_wall_us)
        sim->latest_wall_us = clock_wall_us(&sim->clock.clock);
}

static void move_clock(struct sim *sim)
{
    int64_t now_us = clock_wall_us(&sim->clock.clock), next_us = node_next_wake_us(sim->node);
    struct dice *d = &sim->dice;

    if (!sim->no_faults && dice_hits(d, sim->config.faults.clock_back)) {
        int64_t back_us = (int64_t)(dice_next(d) % (uint64_t)DAY);
        sim->jumps_back++;
        clock_manual_set_wall(&sim->clock, now_us - back_us);
        return;
    }
    if (dice_roll(d, 3) == 0 && next_us > now_us && next_us < now_us + 60 * SECOND)
        let_pass(sim, next_us - now_us);
    else if (dice_roll(d, 20) == 0)
        let_pass(sim, (int64_t)dice_roll(d, 7200) * SECOND);
    else
        let_pass(sim, (int64_t)dice_roll(d, 20000));
}

/* --- events --- */

/* The machine dies: of what was under way, the oldest may have become durable. */
static void crash(struct sim *sim)
{
    unsigned kept = dice_roll(&sim->dice, 3);

    while (kept-- > 0) {
        if (sim->store.is_written) {
            sim->store.batches[0] = sim->store.batches[1];
            sim->store.batch_count--;
            sim->store.is_written = false;
            mailbox_unreserve(&sim->store.done);
        }
        (void)store_write_one(sim);
    }
    sim_crash(sim);
}

static void happen(struct sim *sim)
{
    unsigned which = dice_roll(&sim->dice, 100);

    sim->events++;
    if (which < 30) {
        for (unsigned i = dice_roll(&sim->dice, 4); i-- > 0;)
            client_ask(sim);
    } else if (which < 55) {
        (void)node_pass(sim->node);
    } else if (which < 70) {
        (void)store_write_one(sim);
    } else if (which < 84) {
        (void)store_deliver_one(sim);
    } else if (which < 95) {
        for (unsigned i = 1 + dice_roll(&sim->dice, 6); i-- > 0;)
            (void)store_read_one(sim);
    } else if (which < 99) {
        move_clock(sim);
    } else if (dice_hits(&sim->dice, sim->config.faults.crash)) {
        crash(sim);
    }
}

/* --- coming to rest --- */

void sim_settle(struct sim *sim)
{
    bool before = sim->no_faults;
    unsigned idle = 0;

    sim->no_faults = true;
    for (unsigned i = 0; idle < 2; i++) {
        bool any = node_pass(sim->node);
        int64_t now_us, next_us;

        SIM_CHECK(sim, i < 1000000, "the node does not come to rest");
        any |= store_write_one(sim);
        any |= store_deliver_one(sim);
        while (store_read_one(sim))
            any = true;
        now_us = clock_wall_us(&sim->clock.clock);
        next_us = node_next_wake_us(sim->node);
        if (!any && next_us > now_us && next_us <= now_us + SECOND) {
            let_pass(sim, next_us - now_us);
            any = true;
        }
        any |= next_us <= now_us;
        idle = any || !store_is_idle(sim) ? 0 : idle + 1;
    }
    sim->no_faults = before;
}

static void check_nothing_is_due(struct sim *sim)
{
    int64_t now_us = clock_wall_us(&sim->clock.clock);

    for (size_t i = 0; i < sim->disk.executions.count; i++) {
        const struct stored_execution *s = &sim->disk.executions.items[i]->s;
        char id[UUID_TEXT_LEN + 1];

        if (s->wake_at_us == 0 || s->wake_at_us > now_us || s->crash_count >= 5)
            continue;
        uuid_write(s->id, id);
        sim_fail(sim, "execution %s is stuck: %s, due since %lld us, waits for %.*s", id,
                 status_name(s->status), (long long)(now_us - s->wake_at_us),
                 STR_ARG(s->waiting_for_json));
    }
}

void sim_come_to_rest(struct sim *sim)
{
    static const int64_t leaps[] = {61 * SECOND,       SECOND, 600 * SECOND,
                                    4 * 3600 * SECOND, DAY,    32 * DAY};
    int64_t behind_us;

    sim->no_faults = true;
    sim_settle(sim);
    /* What failed is tried again within a minute; from then on nothing may be late. */
    for (size_t i = 0; i < sizeof(leaps) / sizeof(leaps[0]); i++) {
        let_pass(sim, leaps[i]);
        sim_settle(sim);
        check_nothing_is_due(sim);
    }
    /* As far as the clock was set back, there may still be timers. */
    behind_us = sim->latest_wall_us - clock_wall_us(&sim->clock.clock);
    if (behind_us > 0)
        let_pass(sim, behind_us);
    let_pass(sim, 32 * DAY);
    sim_settle(sim);
    /* Those whose time was up then are rolled back, each rollback with five attempts. */
    for (unsigned i = 0; i < 100; i++) {
        let_pass(sim, 2 * 3600 * SECOND);
        sim_settle(sim);
    }
    check_nothing_is_due(sim);
    SIM_CHECK(sim, sim->clients.pending.count == 0, "%zu requests were never answered",
              sim->clients.pending.count);
    for (size_t i = 0; i < sim->disk.executions.count; i++) {
        const struct stored_execution *s = &sim->disk.executions.items[i]->s;
        SIM_CHECK(sim,
                  status_is_terminal(s->status) || s->crash_count >= 5 ||
                      str_find(s->waiting_for_json, STR("\"incident\""), 0) >= 0 ||
                      str_find(s->waiting_for_json, STR("\"parked\":true"), 0) >= 0,
                  "an execution is alive after its deadline: %.*s", STR_ARG(s->waiting_for_json));
    }
    disk_check_all(sim);
}

/* --- a whole run --- */

struct sim_config sim_config_of(uint64_t seed)
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
        };
    return config;
}

void sim_run(struct sim *sim)
{
    int64_t version;

    for (unsigned i = 0; i < sim->config.scenarios; i++) {
        struct str code = str_printf(&sim->mem, "p%u", i);
        disk_publish(sim, code, generate_scenario(&sim->mem, &sim->dice, code), &version);
    }
    while (sim->clients.starts < sim->config.starts)
        happen(sim);
    sim_come_to_rest(sim);
}
