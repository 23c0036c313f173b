/* automatic.c - see automatic.h. */
#include "sim/automatic.h"

#include "sim/generate.h"
#include "store/change_definition.h"
#include "store/change_schedule.h"

bool automatic_is(const struct sim *sim, struct str code)
{
    return (sim->config.mix & (MIX_OF(SCHEDULES) | MIX_OF(TRIGGERS))) != 0 &&
           str_starts_with(code, STR("t"));
}

/* --- what they look like --- */

/* Few ticks where each of them is caught up, for time passes in leaps. */
static void schedule_trigger(struct buf *out, struct dice *d)
{
    unsigned catch_up = dice_roll(d, 3);

    generate_put(out,
                 "{'type':'schedule','cron':'%s','catchUp':'%s','input':{'tick':"
                 "'=string(schedule.at)'}}",
                 catch_up == 2 ? PICK(d, "30 3 * * *", "0 */8 * * *")
                               : PICK(d, "* * * * *", "*/7 * * * *", "5 * * * *"),
                 catch_up == 0   ? "one"
                 : catch_up == 1 ? "none"
                                 : "all");
}

/* At odd places a condition stands, which events.c knows. */
static void event_trigger(struct buf *out, struct dice *d, unsigned position)
{
    generate_put(out, "{'type':'event','event':'E%u',%s'input':{'cause':'=event.executionId'}}",
                 dice_roll(d, 3), position % 2 == 1 ? "'when':'event.payload.n % 2 == 0'," : "");
}

static struct str automatic_text(struct arena *mem, struct sim *sim, struct str code)
{
    struct dice *d = &sim->dice;
    bool ticks = (sim->config.mix & MIX_OF(SCHEDULES)) != 0 && dice_roll(d, 4) > 0;
    unsigned events = (sim->config.mix & MIX_OF(TRIGGERS)) != 0 ? dice_roll(d, 3) : 0;
    unsigned where = dice_roll(d, events + 1), position = 0;
    struct buf out;

    buf_init_arena(&out, mem);
    generate_put(&out, "{'code':'%.*s','triggers':[", STR_ARG(code));
    for (unsigned i = 0; i <= events; i++) {
        bool is_tick = i == where;

        if (is_tick && !ticks)
            continue;
        if (position > 0)
            buf_char(&out, ',');
        if (is_tick)
            schedule_trigger(&out, d);
        else
            event_trigger(&out, d, position);
        position++;
    }
    generate_put(&out, "],'steps':[{'code':'s','procedure':%s}]}",
                 PICK(d, "{'type':'log','message':'m'}", "{'type':'wait.timer','duration':'2s'}",
                      "{'type':'compute.transform','data':'=1'}"));
    return buf_view(&out);
}

/* --- who publishes and pauses --- */

static struct str automatic_code(struct sim *sim, unsigned which)
{
    return str_printf(&sim->mem, "t%u", which);
}

void automatic_begin(struct sim *sim)
{
    for (unsigned i = 0; automatic_is(sim, STR("t")) && i < AUTOMATIC_COUNT; i++) {
        struct str code = automatic_code(sim, i);
        int64_t version;

        disk_publish(sim, code, automatic_text(&sim->mem, sim, code), &version);
    }
}

static void publish_anew(struct sim *sim)
{
    struct sim_request *q = client_new(sim, NODE_DEFINITION);
    struct str code = automatic_code(sim, dice_roll(&sim->dice, AUTOMATIC_COUNT));

    q->r.definitions = ARENA_NEW(&q->mem, struct definition_change);
    *q->r.definitions = (struct definition_change){
        .action = DEFINITION_PUBLISH,
        .kind = STR("scenario"),
        .is_process = true,
        .code = code,
        .name = code,
        .text = automatic_text(&q->mem, sim, code),
        .if_match = -1,
        .now_us = clock_wall_us(&q->at->clock.clock),
    };
    (void)client_submit(sim, q);
}

static void pause_answered(struct sim *sim, const struct sim_request *q)
{
    SIM_CHECK(sim, q->r.ok || q->r.err.code != ERR_CONFLICT, "a schedule cannot be paused: %s",
              q->r.err.message);
    if (q->r.ok)
        node_schedules_changed(q->at->node);
}

static void pause_some(struct sim *sim)
{
    struct sim_request *q;
    struct schedule_pause *p;

    if (sim->disk.schedules.count == 0)
        return;
    q = client_new(sim, NODE_CHANGE);
    p = ARENA_NEW(&q->mem, struct schedule_pause);
    *p = (struct schedule_pause){
        .change = {.apply = schedule_pause_apply,
                   .now_us = clock_wall_us(&q->at->clock.clock),
                   .leaves_executions = true},
        .id = sim->disk.schedules.items[dice_roll(&sim->dice, (unsigned)sim->disk.schedules.count)]
                  .s.id,
        .pauses = dice_roll(&sim->dice, 3) == 0,
    };
    q->r.change = &p->change;
    q->check = pause_answered;
    (void)client_submit(sim, q);
}

void automatic_act(struct sim *sim)
{
    if (!automatic_is(sim, STR("t")))
        return;
    if (dice_roll(&sim->dice, 4) == 0)
        publish_anew(sim);
    else
        pause_some(sim);
}
