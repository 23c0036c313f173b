/*
 * schedules.c - ticks of schedules become starts; see chore.h.
 *
 *     resting --due--> reading what is due --> starting, all at once --> reading
 *        ^                    |
 *        +----- nothing ------+
 *
 * The column wake_at is the truth, as it is for executions: a node knows when
 * the next tick is due and sleeps until then. It looks again when definitions
 * have changed, when a schedule goes on, and once a minute, for the clock may
 * have been set. What a tick comes to is planned on the reader's thread; its
 * start and the move to the next tick are one commit (store/change_schedule.h),
 * so nothing here has to be remembered.
 */
#include "node/chore/schedules.h"

#include "base/log.h"
#include "define/program.h"
#include "define/schedule.h"
#include "engine/context.h"
#include "node/chore/chore.h"
#include "node/cluster/config.h"
#include "node/inner.h"
#include "node/meter.h"
#include "node/node.h"
#include "node/request.h"
#include "node/work_request.h"
#include "store/read_schedule.h"
#include "value/json.h"
#include "value/object.h"

enum { ROUND_MAX = 200 };

#define SECOND_US INT64_C(1000000)
#define LOOK_EVERY_US INT64_C(60000000)
#define AGAIN_US INT64_C(1000000) /* after something failed that is no fault of the schedule */

/* A schedule that is due, tick after tick. */
struct schedule_run {
    struct schedules *owner;
    struct stored_schedule schedule;
    struct schedule_plan plan;
    size_t at; /* which tick of the plan */
    char id[UUID_TEXT_LEN + 1];
    struct schedule_tick tick;
    struct node_schedule start;
    struct schedule_skip skip;
    struct node_request request;
};

struct schedules {
    struct chore chore;  /* first: see chore.h; its memory is that of one round */
    int64_t next_due_us; /* wall; when the next tick is due, 0 = not known, or none */
    bool is_changed;     /* meanwhile something was changed */
    bool has_failed;     /* something is to be tried again, a little later */
    int64_t logged_us;   /* monotonic; when the log last named a zone that is missing */
    struct schedule_run *runs;
    size_t count, running;
    int64_t now_us; /* of the round */
    int64_t found_due_us;
    bool ok;
    struct err err;
    struct node_read read;
};

void node_schedules_changed(struct node *n)
{
    struct schedules *s = (struct schedules *)n->chores[CHORE_SCHEDULES];

    if (s == NULL)
        return;
    s->is_changed = true;
    chore_hurry(&s->chore, 0);
}

static void schedules_rest(struct schedules *s, int64_t us)
{
    chore_rest(&s->chore, s->is_changed ? 0 : us);
    s->is_changed = false;
    arena_reset(&s->chore.mem);
}

static void tick_count(const struct schedule_run *run, const char *outcome, int64_t count)
{
    struct meters *meters = run->owner->chore.node->options.meters;

    if (meters != NULL && count > 0)
        meter_add(meters, METER_SCHEDULE_TICKS, run->schedule.code, str_of(outcome), STR_NONE,
                  count);
}

/* --- what a tick comes to --- */

static void tick_next(struct schedule_run *run);

static void schedule_run_ended(struct schedule_run *run)
{
    struct schedules *s = run->owner;

    if (--s->running > 0)
        return;
    schedules_rest(s, s->has_failed ? AGAIN_US : 0);
}

static void tick_skipped(struct node_request *r)
{
    struct schedule_run *run = r->owner;

    if (r->ok) {
        run->at++;
        tick_next(run);
        return;
    }
    run->owner->has_failed |= r->err.code != ERR_PRECONDITION_FAILED;
    schedule_run_ended(run);
}

static void tick_submit(struct schedule_run *run)
{
    struct err err;

    if (node_submit(run->owner->chore.node, &run->request, &err))
        return;
    run->owner->has_failed = true;
    schedule_run_ended(run);
}

/* The tick starts nothing; `error_json` says why, or is empty when that is as it should be. */
static void tick_skip(struct schedule_run *run, struct str error_json, const struct audit *audit)
{
    struct schedules *s = run->owner;

    run->skip = (struct schedule_skip){
        .change = {.apply = schedule_skip_apply,
                   .now_us = clock_wall_us(s->chore.node->clock),
                   .leaves_executions = true},
        .tick = run->tick,
        .error_json = error_json,
    };
    run->request = node_change_request(&run->skip.change, &s->chore.mem, tick_skipped, run);
    if (audit != NULL)
        run->request.audit = *audit;
    tick_submit(run);
}

/* A start that was refused for good: the audit log says so, and the schedule goes on. */
static void tick_refused(struct schedule_run *run, const struct err *err)
{
    struct schedules *s = run->owner;
    struct buf error, details;
    struct audit audit;

    object_begin(&error, &s->chore.mem);
    object_text(&error, "code", str_of(err_code_name(err->code)));
    object_text(&error, "message", str_of(err->message));
    buf_char(&error, '}');
    object_begin(&details, &s->chore.mem);
    object_text(&details, "schedule", str_from(run->id, UUID_TEXT_LEN));
    object_time(&details, "at", run->tick.at_us);
    object_json(&details, "error", buf_view(&error));
    buf_char(&details, '}');
    audit = (struct audit){.user_id = STR("system"),
                           .user_name = STR("system"),
                           .org_id = run->schedule.org_id,
                           .action = STR("schedule.refused"),
                           .target = run->schedule.code,
                           .details_json = buf_view(&details),
                           .now_us = clock_wall_us(s->chore.node->clock)};
    log_write(LOG_WARN, "a tick of a schedule could not start its process",
              LOG_FIELDS(log_str("code", run->schedule.code),
                         log_str("schedule", str_from(run->id, UUID_TEXT_LEN)),
                         log_str("reason", str_of(err->message))));
    tick_count(run, "refused", 1);
    tick_skip(run, buf_view(&error), &audit);
}

/* Whether the refusal has nothing to do with the schedule: the same tick is tried again. */
static bool is_passing(enum err_code code)
{
    return code == ERR_OVERLOADED || code == ERR_STORE_AWAY || code == ERR_OUTCOME_UNKNOWN ||
           code == ERR_IO;
}

static void tick_started(struct node_request *r)
{
    struct schedule_run *run = r->owner;
    struct schedules *s = run->owner;
    struct meters *meters = s->chore.node->options.meters;

    if (!r->ok && r->err.code == ERR_PRECONDITION_FAILED) {
        schedule_run_ended(run); /* another node was faster, or the schedule is another by now */
    } else if (!r->ok && is_passing(r->err.code)) {
        s->has_failed = true;
        schedule_run_ended(run);
    } else if (!r->ok) {
        tick_refused(run, &r->err);
    } else if (r->joined) {
        tick_count(run, "joined", 1);
        tick_skip(run, STR_NONE, NULL);
    } else {
        tick_count(run, "started", 1);
        if (meters != NULL)
            meter_take(meters, METER_SCHEDULE_LATENESS, STR_NONE, STR_NONE, STR_NONE,
                       clock_wall_us(s->chore.node->clock) - run->tick.at_us);
        run->at++;
        tick_next(run);
    }
}

static void tick_start(struct schedule_run *run)
{
    struct schedules *s = run->owner;

    run->start = (struct node_schedule){.id = str_from(run->id, UUID_TEXT_LEN),
                                        .position = run->schedule.position,
                                        .cron = run->schedule.cron,
                                        .timezone = run->schedule.timezone,
                                        .at_us = run->tick.at_us,
                                        .tick = &run->tick};
    run->request = (struct node_request){.kind = NODE_START,
                                         .user = node_system_user(run->schedule.org_id),
                                         .code = run->schedule.code,
                                         .version = run->schedule.version,
                                         .schedule = &run->start,
                                         .mem = &s->chore.mem,
                                         .done = tick_started,
                                         .owner = run};
    tick_submit(run);
}

static void tick_next(struct schedule_run *run)
{
    const struct schedule_tick_plan *t = &run->plan.ticks[run->at];

    if (run->at >= run->plan.count || run->owner->chore.node->is_draining) {
        schedule_run_ended(run);
        return;
    }
    run->tick = (struct schedule_tick){
        .id = run->schedule.id,
        .version = run->schedule.version,
        .rests_on_us = run->at == 0 ? run->schedule.next_at_us : run->tick.next_at_us,
        .at_us = t->at * SECOND_US,
        .next_at_us = t->after * SECOND_US,
    };
    if (t->starts)
        tick_start(run);
    else
        tick_skip(run, STR_NONE, NULL);
}

/* --- what is due --- */

/* A schedule that is due cannot tick here: say so, once a minute for all of them. */
static void log_missing_zone(struct schedules *s, const struct schedule_run *run)
{
    int64_t now_us = clock_mono_us(s->chore.node->clock);

    if (s->logged_us != 0 && now_us - s->logged_us < LOOK_EVERY_US)
        return;
    s->logged_us = now_us;
    log_write(LOG_WARN, "a schedule does not tick: this machine has no such time zone",
              LOG_FIELDS(log_str("code", run->schedule.code),
                         log_str("schedule", str_from(run->id, UUID_TEXT_LEN)),
                         log_str("timezone", run->schedule.timezone)));
}

static void schedules_plan(struct schedules *s, const struct stored_schedules *due)
{
    s->runs = ARENA_ARRAY(&s->chore.mem, due->count + 1, struct schedule_run);
    s->count = 0;
    for (size_t i = 0; i < due->count; i++) {
        const struct stored_schedule *schedule = &due->items[i];
        struct schedule_run *run = &s->runs[s->count];
        struct err mistake;
        struct cron cron;
        struct tz tz;

        *run = (struct schedule_run){.owner = s, .schedule = *schedule};
        uuid_write(schedule->id, run->id);
        /* Zones of a newer tzdata may be missing on this machine: another node may know them. */
        if (!cron_read(schedule->cron, &cron, &mistake) || !tz_find(schedule->timezone, &tz)) {
            s->has_failed = true;
            log_missing_zone(s, run);
            continue;
        }
        schedule_plan(&cron, tz, schedule->catch_up, schedule->next_at_us / SECOND_US,
                      s->now_us / SECOND_US, &run->plan);
        s->count++;
    }
}

static void schedules_run_read(struct node_read *read, struct reader *reader)
{
    struct schedules *s = read->owner;
    struct stored_schedules due;

    s->ok = read_schedules_due(reader, &s->chore.mem, s->now_us, ROUND_MAX, &due, &s->err) &&
            read_schedule_next(reader, &s->found_due_us, &s->err);
    if (s->ok)
        schedules_plan(s, &due);
}

static void schedules_were_read(struct node_read *read)
{
    struct schedules *s = read->owner;

    if (!s->ok || s->chore.node->is_draining) {
        schedules_rest(s, AGAIN_US);
        return;
    }
    if (s->count == 0) {
        s->next_due_us = s->has_failed ? 0 : s->found_due_us;
        schedules_rest(s, LOOK_EVERY_US);
        return;
    }
    s->next_due_us = 0;
    /* One more than there are: the round ends when all of them were begun and have ended. */
    s->running = s->count + 1;
    for (size_t i = 0; i < s->count; i++) {
        struct schedule_run *run = &s->runs[i];

        tick_count(run, "left_out", run->plan.left_out);
        tick_next(run);
    }
    if (--s->running == 0)
        schedules_rest(s, s->has_failed ? AGAIN_US : 0);
}

static int64_t schedules_in_us(const struct chore *c)
{
    const struct schedules *s = (const struct schedules *)c;
    int64_t us = chore_left_us(c), due_us = INT64_MAX;

    if (s->next_due_us > 0)
        due_us = s->next_due_us - clock_wall_us(c->node->clock);
    return due_us < us ? due_us : us;
}

static void schedules_run(struct chore *c)
{
    struct schedules *s = (struct schedules *)c;
    struct err err;

    c->is_busy = true;
    s->is_changed = false;
    s->has_failed = false;
    s->count = 0;
    s->now_us = clock_wall_us(c->node->clock);
    s->read = (struct node_read){
        .run = schedules_run_read, .done = schedules_were_read, .lane = LANE_ENGINE, .owner = s};
    if (!node_read(c->node, &s->read, &err))
        schedules_rest(s, AGAIN_US);
}

const struct chore_kind chore_schedules = {
    .needs = CHORE_NEEDS_RUNNING | CHORE_NEEDS_RECOVERY | CHORE_NEEDS_CONFIG,
    .size = sizeof(struct schedules),
    .run = schedules_run,
    .in_us = schedules_in_us,
};

/* --- the start as the trigger says --- */

struct node_user node_system_user(struct str org_id)
{
    return (struct node_user){
        .id = STR("system"), .name = STR("system"), .role = STR("system"), .org_id = org_id};
}

bool schedules_input(struct node *n, struct node_request *r, const struct program *p,
                     struct value *out, struct err *err)
{
    const struct node_schedule *s = r->schedule;
    struct trigger_context context = {
        .webhook = value_absent(),
        .event = value_absent(),
        .record = value_absent(),
        .schedule = value_map_of(
            r->mem, VALUE_ENTRIES({value_key(STR("id")), value_string(s->id)},
                                  {value_key(STR("at")), time_value(s->at_us)},
                                  {value_key(STR("cron")), value_string(s->cron)},
                                  {value_key(STR("timezone")), value_string(s->timezone)})),
        .config = n->config->map,
        .user = value_absent(),
        .now_us = clock_wall_us(n->clock),
    };
    struct trigger_outcome outcome;

    if (s->position >= p->trigger_count || p->triggers[s->position].type != TRIGGER_SCHEDULE)
        return err_set(err, ERR_PRECONDITION_FAILED, "the schedule is not one of this version");
    if (!json_read(r->mem, request_user_json(r), &context.user, err) ||
        !trigger_evaluate(r->mem, p, &p->triggers[s->position], &context, &outcome, err))
        return false;
    *out = outcome.input.kind == VALUE_ABSENT ? value_map_empty() : outcome.input;
    return true;
}
