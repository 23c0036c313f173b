/* cases_calls.c - calls whose answers, times and commits meet a store that fails; see cases.h. */
#include "engine/commit/history.h"
#include "sim/cases.h"

#define CALL_STEP                                                                                  \
    "{'code':'pay','retry':{'maxAttempts':3,'delay':'1s'},'procedure':{'type':'integration.http'," \
    "'method':'POST','url':'http://s0.example/x','timeout':'2s'}}"

/* Rows of one kind in the history. */
static unsigned rows_of(struct uuid id, const char *status)
{
    const struct disk_execution *x = case_disk(id);
    unsigned count = 0;

    for (size_t i = 0; i < x->history.count; i++)
        count += str_eq(x->history.items[i].status, str_of(status));
    return count;
}

/* What the store has in hand happens, if anything. */
static void store_acts(void)
{
    case_pass();
    (void)store_write_one(only);
    (void)store_deliver_one(only);
    case_pass();
    case_read();
}

/* An execution whose call has left and is not answered. */
static struct uuid case_called(const char *steps)
{
    struct asked *a;

    case_begin();
    case_define("p", steps, "");
    a = case_start("p", "{}", 0);
    while (sim.outside.under_way.count == 0)
        store_acts();
    CLAIM(a->is_answered && a->ok);
    return a->id;
}

void case_answer_outlives_failed_reads(void)
{
    struct uuid id = case_called(
        CALL_STEP ",{'code':'look','procedure':{'type':'record.get','object':'acc','id':'c0'}}");

    CLAIM(outside_answer_one(only));
    sim.no_faults = false;
    sim.config.faults.read_error = 1000;
    for (unsigned i = 0; i < 3; i++) {
        store_acts();
        case_let_pass(8 * SECOND);
    }
    sim.no_faults = true;
    case_let_pass(20 * SECOND);
    case_settle();
    CLAIM(sim.outside.calls == 1);
    CLAIM(case_status(id) == STATUS_COMPLETED);
    case_end();
}

void case_answer_outlives_refusals(void)
{
    struct uuid id = case_called(CALL_STEP);

    only->store.member_script = "ssssssssssssssss";
    CLAIM(outside_answer_one(only));
    for (unsigned i = 0; i < 12; i++)
        store_acts();
    only->store.member_script = NULL;
    case_let_pass(20 * SECOND);
    case_settle();
    CLAIM(sim.outside.calls == 1);
    CLAIM(case_status(id) == STATUS_COMPLETED);
    case_end();
}

void case_call_in_flight_outlives_its_time(void)
{
    struct uuid id = case_called(CALL_STEP);

    /* Its time is up, by this clock and by the other: it is in flight all the same. */
    case_let_pass(60 * SECOND);
    clock_manual_set_wall(&only->clock, clock_wall_us(&only->clock.clock) + DAY);
    for (unsigned i = 0; i < 5; i++) {
        store_acts();
        case_let_pass(SECOND);
    }
    CLAIM(sim.outside.calls == 1);
    CLAIM(outside_answer_one(only));
    case_settle();
    CLAIM(rows_of(id, "call") == 1);
    CLAIM(case_status(id) == STATUS_COMPLETED);
    case_end();
}

void case_late_commit_is_not_sent(void)
{
    struct asked *a;

    case_begin();
    case_define("p", CALL_STEP, "");
    a = case_start("p", "{}", 0);
    while (only->store.batch_count == 0) {
        case_pass();
        case_read();
    }
    /* The store stands still for longer than the call may take. */
    case_let_pass(3 * SECOND);
    case_write();
    case_deliver();
    case_pass();
    CLAIM(a->is_answered && a->ok);
    CLAIM(sim.outside.calls == 0);
    case_settle();
    CLAIM(sim.outside.calls == 1);
    CLAIM(rows_of(a->id, "call") == 2);
    CLAIM(case_status(a->id) == STATUS_COMPLETED);
    for (size_t i = 0; i < case_disk(a->id)->history.count; i++)
        CLAIM(case_disk(a->id)->history.items[i].attempt <= 1);
    case_end();
}

/* --- parked --- */

/* Somebody else has changed its row: nobody goes on with what is in memory. */
static void set_crash_count(struct uuid id, int32_t count)
{
    struct disk_execution *x = disk_find(&sim.disk, id);

    x->s.crash_count = count;
    x->s.row_version++;
    *VEC_ADD(&sim.disk.mem, &x->versions) = (struct disk_version){.status = x->s.status};
}

void case_answer_of_a_parked_one_is_kept(void)
{
    struct uuid id = case_called(CALL_STEP);

    set_crash_count(id, CRASHES_MAX);
    CLAIM(outside_answer_one(only));
    case_settle();
    CLAIM(case_disk(id)->s.crash_count == CRASHES_MAX);
    CLAIM(case_status(id) == STATUS_WAITING && rows_of(id, "answer") == 1);
    /* It is let go on, and the node does not know of it. */
    set_crash_count(id, 0);
    sim_crash(only);
    case_settle();
    CLAIM(case_status(id) == STATUS_COMPLETED);
    CLAIM(sim.outside.calls == 1);
    case_end();
}

void case_lost_attempt_is_no_progress(void)
{
    struct uuid id = case_called(CALL_STEP);

    /* The answer ends the process: the next one records that nobody knows what became of it. */
    sim_crash(only);
    set_crash_count(id, 1);
    case_let_pass(10 * SECOND);
    while (sim.outside.under_way.count == 0) {
        store_acts();
        case_let_pass(SECOND);
    }
    CLAIM(case_disk(id)->s.crash_count == 1);
    CLAIM(rows_of(id, "call") == 2);
    case_settle();
    CLAIM(case_status(id) == STATUS_COMPLETED);
    CLAIM(case_disk(id)->s.crash_count == 0);
    case_end();
}
