/* cases_outbox.c - named cases about messages: rule 18; see cases.h. */
#include "sim/cases.h"

#define TWO_EVENTS                                                                                 \
    "{'code':'s','procedure':[{'type':'event.publish','event':'E0','payload':1},"                  \
    "{'type':'event.publish','event':'E0','payload':2}]}"

/* The world has subscribers from now on. */
static void subscribe(void)
{
    sim.config.mix |= MIX_OF(MESSAGES);
    sim_crash(only);
    case_settle();
}

void case_message_is_parked_after_its_attempts(void)
{
    const struct disk_message *m;
    int64_t began_us;
    struct asked *a;

    case_begin();
    subscribe();
    case_define("p", TWO_EVENTS, "");
    sim.outside.is_away = true;
    a = case_start("p", "{}", 0);
    case_settle();
    began_us = sim_wall_us(&sim);
    CLAIM(case_status(case_started(a)) == STATUS_COMPLETED);
    /* Two that were published, and the end of the execution. */
    CLAIM(sim.disk.outbox.count == 3);
    m = sim.disk.outbox.items;
    while (m[0].state == MESSAGE_PENDING && sim_wall_us(&sim) - began_us < 86400 * SECOND) {
        CLAIM(m[1].sends == 0);
        case_let_pass(60 * SECOND);
        case_settle();
    }
    CLAIM(m[0].state == MESSAGE_PARKED && m[0].attempts == 20 && m[0].sends == 20);
    /* 1 s, 2 s ... 2048 s, then an hour each. */
    CLAIM(sim_wall_us(&sim) - began_us > (4095 + 7 * 3600 - 60) * SECOND);
    CLAIM(sim_wall_us(&sim) - began_us < (4095 + 7 * 3600 + 1200) * SECOND);
    CLAIM(m[1].sends > 0 && m[1].state == MESSAGE_PENDING);
    sim.outside.is_away = false;
    case_end();
    /* The simulator has checked that nothing is left pending. */
}

void case_message_outlives_crashes(void)
{
    case_begin();
    subscribe();
    case_define("p", TWO_EVENTS, "");
    for (unsigned i = 0; i < 8; i++) {
        (void)case_start("p", "{}", 0);
        for (unsigned k = 0; k < 1 + i; k++) {
            (void)node_pass(only->node);
            (void)store_write_one(only);
            (void)store_deliver_one(only);
            (void)store_read_one(only);
        }
        sim_crash(only);
    }
    case_settle();
    CLAIM(sim.disk.outbox.count > 0);
    case_end();
}
