/*
 * ticks.c - schedules on the disk of the simulator, and what their ticks may come to; see
 * automatic.h.
 *
 * A tick starts one execution or none, as its "catchUp" says: "all" leaves none out, "one"
 * starts the last that was due when it was planned, "none" that one if it is not late. What is
 * next after it is the tick that follows. Each tick comes once, unless the clock was set back and
 * an operator has let the schedule go on from there.
 */
#include "sim/automatic.h"

#include "define/program.h"
#include "define/schedule.h"
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "store/change_schedule.h"
#include "store/read_schedule.h"

#define SECOND INT64_C(1000000)
#define DAY (INT64_C(86400) * SECOND)

static bool is_awake(const struct disk_schedule *s)
{
    return !s->is_gone && s->s.paused_at_us == 0 && s->s.next_at_us > 0;
}

static int64_t tick_after_us(const struct disk_schedule *s, int64_t at_us)
{
    struct cron cron;
    struct err err;
    struct tz tz;
    int64_t next;

    if (!cron_read(s->s.cron, &cron, &err) || !tz_find(STR("UTC"), &tz))
        PANIC("a schedule of the simulator is none");
    return cron_next(&cron, tz, at_us / SECOND, &next) ? next * SECOND : 0;
}

/* --- publishing --- */

static const struct trigger *schedule_of(const struct program *p)
{
    for (uint32_t i = 0; i < p->trigger_count; i++)
        if (p->triggers[i].type == TRIGGER_SCHEDULE)
            return &p->triggers[i];
    return NULL;
}

static struct disk_schedule *schedule_get(struct sim *sim, struct str code)
{
    struct disk *d = &sim->disk;
    struct disk_schedule *s;

    for (size_t i = 0; i < d->schedules.count; i++)
        if (str_eq(d->schedules.items[i].s.code, code) && !d->schedules.items[i].is_gone)
            return &d->schedules.items[i];
    s = VEC_ADD(&d->mem, &d->schedules);
    *s = (struct disk_schedule){
        .s = {.code = str_copy(&d->mem, code), .kind = STR("scenario"), .timezone = STR("UTC")},
        .is_gone = true};
    s->s.id.bytes[0] = 7;
    s->s.id.bytes[15] = (uint8_t)d->schedules.count;
    return s;
}

void ticks_derive(struct sim *sim, const struct disk_definition *def)
{
    const struct trigger *t = schedule_of(def->program);
    struct disk_schedule *s;

    if (!automatic_is(sim, def->code) || (sim->config.mix & MIX_OF(SCHEDULES)) == 0)
        return;
    s = schedule_get(sim, def->code);
    s->s.version = def->version;
    if (t == NULL) {
        s->is_gone = true;
        return;
    }
    s->s.position = t->position;
    s->s.catch_up = t->catch_up;
    if (s->is_gone || !str_eq(s->s.cron, t->cron)) {
        s->s.cron = t->cron;
        s->s.next_at_us = tick_after_us(s, sim_wall_us(sim));
        s->generation++;
    }
    s->is_gone = false;
}

/* --- reading --- */

bool read_schedules_due(struct reader *r, struct arena *mem, int64_t now_us, int64_t limit,
                        struct stored_schedules *out, struct err *err)
{
    struct sim_node *at = (struct sim_node *)(void *)r;
    const struct disk *d = &at->sim->disk;

    *out = (struct stored_schedules){0};
    at->planned_us = now_us;
    for (size_t i = 0; !d->ticks_are_over && i < d->schedules.count; i++)
        if (is_awake(&d->schedules.items[i]) && d->schedules.items[i].s.next_at_us <= now_us &&
            (int64_t)out->count < limit)
            *VEC_ADD(mem, out) = d->schedules.items[i].s;
    return !sim_read_fails(r, err);
}

bool read_schedule_next(struct reader *r, int64_t *at_us, struct err *err)
{
    const struct disk *d = &sim_of(r)->disk;

    *at_us = 0;
    for (size_t i = 0; !d->ticks_are_over && i < d->schedules.count; i++) {
        const struct disk_schedule *s = &d->schedules.items[i];

        if (is_awake(s) && (*at_us == 0 || s->s.next_at_us < *at_us))
            *at_us = s->s.next_at_us;
    }
    return !sim_read_fails(r, err);
}

/* --- ticks --- */

static struct disk_schedule *schedule_find(struct sim *sim, struct uuid id)
{
    struct disk *d = &sim->disk;

    for (size_t i = 0; i < d->schedules.count; i++)
        if (uuid_cmp(d->schedules.items[i].s.id, id) == 0)
            return &d->schedules.items[i];
    sim_fail(sim, "a tick is of no schedule");
}

static bool tick_is_next(struct sim *sim, const struct schedule_tick *t)
{
    const struct disk_schedule *s = schedule_find(sim, t->id);

    return is_awake(s) && s->s.version == t->version && s->s.next_at_us == t->rests_on_us;
}

bool ticks_refuse(struct sim *sim, struct member *m)
{
    if (m->tick != NULL && !tick_is_next(sim, m->tick))
        m->result = MEMBER_TICK_GONE;
    return m->result != MEMBER_APPLIED;
}

static unsigned ticks_between(const struct disk_schedule *s, int64_t from_us, int64_t until_us)
{
    unsigned count = 0;

    for (int64_t at_us = from_us; at_us > 0 && at_us <= until_us && count <= SCHEDULE_ALL_MAX;
         at_us = tick_after_us(s, at_us))
        count++;
    return count;
}

/* The policy: `starts` says what became of the tick. */
static void check_policy(struct sim_node *at, const struct disk_schedule *s,
                         const struct schedule_tick *t, bool starts)
{
    struct sim *sim = at->sim;
    bool is_last = t->next_at_us == 0 || t->next_at_us > at->planned_us;
    bool is_late = at->planned_us - t->at_us > SCHEDULE_ON_TIME_SECONDS * SECOND + SECOND;

    SIM_CHECK(sim, t->at_us >= t->rests_on_us && t->at_us <= at->planned_us,
              "a tick is acted upon before its time, or after another one");
    SIM_CHECK(sim, t->next_at_us == tick_after_us(s, t->at_us),
              "a tick is followed by another one than the next");
    if (s->s.catch_up == CATCH_UP_ALL)
        SIM_CHECK(sim,
                  starts && (t->at_us == t->rests_on_us ||
                             ticks_between(s, t->rests_on_us, at->planned_us) > SCHEDULE_ALL_MAX),
                  "a schedule that catches up with all has left a tick out");
    else
        SIM_CHECK(sim, is_last, "a tick was acted upon that is not the last one");
    if (s->s.catch_up == CATCH_UP_ONE)
        SIM_CHECK(sim, starts, "a tick has started nothing");
    if (s->s.catch_up == CATCH_UP_NONE)
        SIM_CHECK(sim, starts ? !is_late : is_late || is_last,
                  "a tick that is late has started something, or one in time nothing");
}

static void tick_write(struct sim *sim, const struct schedule_tick *t)
{
    struct disk_schedule *s = schedule_find(sim, t->id);

    s->s.last_at_us = t->at_us;
    s->s.next_at_us = t->next_at_us;
    sim_note(sim, (uint64_t)t->at_us);
}

/* Each tick once, whatever the fence of the store says. */
static void check_once(struct sim *sim, struct disk_schedule *s, int64_t at_us)
{
    for (size_t i = 0; i < s->ticks.count; i++)
        SIM_CHECK(sim,
                  s->ticks.items[i].at_us != at_us || s->ticks.items[i].generation != s->generation,
                  "I2: a tick has started two executions");
    *VEC_ADD(&sim->disk.mem, &s->ticks) =
        (struct disk_tick){.at_us = at_us, .generation = s->generation};
}

static bool is_by_tick(const struct disk_execution *x, struct str input_json)
{
    (void)x;
    return str_find(input_json, STR("\"tick\":"), 0) >= 0;
}

void ticks_started(struct sim_node *at, const struct member *m, const struct disk_execution *x)
{
    const struct execution *e = m->commit->after;
    struct sim *sim = at->sim;

    if (!m->commit->is_start || !automatic_is(sim, e->program->code))
        return;
    if (m->tick == NULL) {
        SIM_CHECK(sim, !is_by_tick(x, e->input_json), "a tick starts an execution and stays");
        return;
    }
    SIM_CHECK(sim, is_by_tick(x, e->input_json), "a tick goes, and something else has started");
    check_policy(at, schedule_find(sim, m->tick->id), m->tick, true);
    check_once(sim, schedule_find(sim, m->tick->id), m->tick->at_us);
    tick_write(sim, m->tick);
    sim->disk.ticks_started++;
}

static void skip_tick(struct sim_node *at, struct member *m)
{
    const struct schedule_skip *skip = (const struct schedule_skip *)(const void *)m->change;

    if (!tick_is_next(at->sim, &skip->tick)) {
        m->result = MEMBER_TICK_GONE;
        return;
    }
    SIM_CHECK(at->sim, skip->error_json.len == 0, "a tick was refused: %.*s",
              STR_ARG(skip->error_json));
    check_policy(at, schedule_find(at->sim, skip->tick.id), &skip->tick, false);
    tick_write(at->sim, &skip->tick);
}

/* One that goes on where the clock says ticks again what it has ticked before. */
static void pause_schedule(struct sim *sim, const struct schedule_pause *p)
{
    struct disk_schedule *s = schedule_find(sim, p->id);

    if (p->pauses == (s->s.paused_at_us != 0))
        return;
    s->s.paused_at_us = p->pauses ? p->change.now_us : 0;
    if (p->pauses || (s->s.catch_up != CATCH_UP_NONE && s->s.last_at_us <= p->change.now_us))
        return;
    s->s.next_at_us = tick_after_us(s, p->change.now_us);
    s->generation++;
}

bool ticks_change(struct sim_node *at, struct member *m)
{
    if (m->change->apply != schedule_skip_apply && m->change->apply != schedule_pause_apply)
        return false;
    m->result = MEMBER_APPLIED;
    if (m->change->apply == schedule_skip_apply)
        skip_tick(at, m);
    else
        pause_schedule(at->sim, (const struct schedule_pause *)(const void *)m->change);
    sim_note(at->sim, m->result);
    return true;
}

/* --- at the end --- */

void ticks_come_to_rest(struct sim *sim)
{
    struct disk *d = &sim->disk;

    if ((sim->config.mix & MIX_OF(SCHEDULES)) == 0)
        return;
    sim_let_pass(sim, DAY);
    sim_settle(sim);
    sim_let_pass(sim, 61 * SECOND);
    sim_settle(sim);
    for (size_t i = 0; i < d->schedules.count; i++)
        SIM_CHECK(sim,
                  !is_awake(&d->schedules.items[i]) ||
                      d->schedules.items[i].s.next_at_us > sim_wall_us(sim) - 61 * SECOND,
                  "a schedule does not tick: %.*s is late by %lld s",
                  STR_ARG(d->schedules.items[i].s.code),
                  (long long)((sim_wall_us(sim) - d->schedules.items[i].s.next_at_us) / SECOND));
    d->ticks_are_over = true;
}
