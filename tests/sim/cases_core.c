/* cases_core.c - named cases about the core and time: rules 6 to 16; see cases.h. */
#include "sim/cases.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WAIT(code) "{'code':'" code "','procedure':{'type':'wait.signal','signalType':'go'}}"
#define DONE "{'code':'d','procedure':{'type':'compute.transform','data':1}}"
#define NAP(duration) "{'code':'n','procedure':{'type':'wait.timer','duration':'" duration "'}}"
#define INCREMENT                                                                                  \
    "{'code':'inc','procedure':[{'type':'record.get','object':'acc','id':'c0','as':'r'},"          \
    "{'type':'record.update','object':'acc','id':'c0','data':{'n':'=r.n + 1'}}]}"

/* --- rule 6 --- */

void case_update_meets_another(void)
{
    struct asked *a[5];

    case_begin();
    case_define("p", INCREMENT, "");
    for (unsigned i = 0; i < 5; i++)
        a[i] = case_start("p", "{}", 0);
    case_settle();
    for (unsigned i = 0; i < 5; i++)
        CLAIM(a[i]->ok && a[i]->ended && case_status(a[i]->id) == STATUS_COMPLETED);
    CLAIM(disk_find_record(&sim.disk, STR("acc"), STR("c0"))->version == 6);
    case_end();
}

void case_contested_record(void)
{
    struct asked *a, *b;
    struct uuid id;

    case_begin();
    case_define("p", INCREMENT, ",'onError':'fail_fast'");
    case_define("q", NAP("5s") "," INCREMENT, ",'onError':'fail_fast'");
    only->store.member_script = "dddddddd";
    a = case_start("p", "{}", 0);
    case_settle();
    CLAIM(a->ok && a->ended);
    CLAIM(str_find(case_disk(a->id)->s.error_json, STR("conflict_version"), 0) > 0);
    CLAIM(str_find(case_disk(a->id)->s.error_json, STR("transient"), 0) > 0);
    CLAIM(*only->store.member_script == 'd'); /* six times, not for ever */
    only->store.member_script = NULL;
    b = case_start("q", "{}", 0);
    id = case_started(b);
    only->store.member_script = "dddddddd";
    case_let_pass(5 * SECOND);
    case_settle();
    CLAIM(case_status(id) == STATUS_FAILED);
    only->store.member_script = NULL;
    case_end();
}

void case_read_sees_own_commits(void)
{
    struct asked *signal;
    struct uuid id;

    case_begin();
    case_define(
        "p",
        "{'code':'m','procedure':{'type':'record.create','object':'things','id':'x',"
        "'data':{'n':1}}}," WAIT(
            "w") ","
                 "{'code':'g','procedure':{'type':'record.get','object':'things','id':'x'}}",
        "");
    only->store.script = "";
    (void)case_start("p", "{}", 0);
    case_pass();
    case_read();
    case_read();
    case_read();
    CLAIM(only->store.batch_count == 1);
    case_write();
    id = sim.disk.executions.items[0]->s.id;
    /* Its own commit is under way: the step that reads waits for that. */
    signal = case_signal(id, "s1", "1");
    case_pass();
    CLAIM(only->store.reads.count == 0);
    case_deliver();
    CLAIM(only->store.reads.count > 0);
    case_settle();
    CLAIM(signal->ok && case_status(id) == STATUS_COMPLETED);
    CLAIM(str_eq(case_disk(id)->s.result_json, STR("{\"id\":\"x\",\"version\":1,\"n\":1}")));
    case_end();
}

/* --- rule 7 --- */

static uint64_t digest_of(uint64_t seed)
{
    struct sim_config config = sim_config_of(seed, mix_default());
    uint64_t digest;

    sim_init(&sim, &config);
    sim_run(&sim);
    digest = sim.digest;
    sim_fini(&sim);
    return digest;
}

void case_same_seed_same_run(void)
{
    uint64_t seven = digest_of(7), eight = digest_of(8);

    case_begin();
    CLAIM(seven != eight);
    case_end();
    CLAIM(digest_of(7) == seven);
    CLAIM(digest_of(8) == eight);
}

void case_now_stays_while_reading(void)
{
    struct asked *a;

    case_begin();
    /* With another time each time round it would ask for another record for ever. */
    case_define("p",
                "{'code':'m','procedure':{'type':'record.create','object':'things','data':{}}},"
                "{'code':'g','procedure':{'type':'record.create','object':'things','id':"
                "'at {{ now }}','ifExists':'keep','data':{}}}",
                "");
    a = case_start("p", "{}", 0);
    for (unsigned i = 0; i < 20 && !a->is_answered; i++) {
        case_pass();
        case_let_pass(1234);
        (void)store_write_one(only);
        (void)store_deliver_one(only);
        case_read();
    }
    CLAIM(a->ok && a->ended);
    case_end();
}

/* --- rule 8 --- */

void case_large_context_survives(void)
{
    struct buf input;
    struct uuid id;

    case_begin();
    buf_init_arena(&input, &sim.mem);
    buf_text(&input, "{'pad':'");
    for (unsigned i = 0; i < 2000; i++)
        buf_text(&input, "0123456789");
    buf_text(&input, "'}");
    buf_char(&input, 0);
    case_define("p",
                "{'code':'s','procedure':{'type':'compute.set','values':{'at':'=now','n':1}}}"
                "," WAIT("w") "," WAIT(
                    "x") ","
                         "{'code':'r','procedure':{'type':'compute.transform','data':{'n':'="
                         "variables.n',"
                         "'w':'=steps.w.payload','x':'=steps.x.payload','s':'=size(signals)'}}}",
                "");
    id = case_started(case_start("p", input.ptr, 0));
    CLAIM(case_disk(id)->s.checkpoint_seq == 0); /* nothing but history */
    (void)case_signal(id, "1", "'one'");
    sim_crash(only);
    (void)case_signal(id, "1", "'one'");
    case_settle();
    sim_crash(only);
    (void)case_signal(id, "2", "'two'");
    case_settle();
    CLAIM(
        str_eq(case_disk(id)->s.result_json, STR("{\"n\":1,\"w\":\"one\",\"x\":\"two\",\"s\":2}")));
    case_end();
}

/* --- rule 10 --- */

void case_signals_keep_their_order(void)
{
    struct uuid id;

    case_begin();
    case_define("p",
                NAP("1m") "," WAIT("a") "," WAIT("b") "," WAIT(
                    "c") ","
                         "{'code':'r','procedure':{'type':'compute.transform','data':"
                         "'=[steps.a.payload, steps.b.payload, steps.c.payload]'}}",
                "");
    id = case_started(case_start("p", "{}", 0));
    (void)case_signal(id, "1", "1");
    case_settle();
    clock_manual_set_wall(&only->clock, clock_wall_us(&only->clock.clock) - DAY);
    (void)case_signal(id, "2", "2");
    (void)case_signal(id, "3", "3");
    case_settle();
    clock_manual_set_wall(&only->clock, clock_wall_us(&only->clock.clock) + 2 * DAY);
    case_settle();
    CLAIM(str_eq(case_disk(id)->s.result_json, STR("[1,2,3]")));
    case_end();
}

void case_clock_set_back(void)
{
    struct uuid before, after, soon, waiting;
    int64_t wall_us;

    case_begin();
    case_define("p", NAP("90s"), "");
    case_define("soon", NAP("10s"), "");
    case_define("then", WAIT("w") "," NAP("10s"), "");
    before = case_started(case_start("p", "{}", 0));
    waiting = case_started(case_start("then", "{}", 0));
    clock_manual_set_wall(&only->clock, clock_wall_us(&only->clock.clock) - DAY);
    after = case_started(case_start("p", "{}", 0));
    soon = case_started(case_start("soon", "{}", 0));
    (void)case_signal(waiting, "s1", "1");
    for (unsigned i = 0; i < 100; i++) {
        case_let_pass(SECOND);
        case_settle();
        if (i == 15)
            CLAIM(case_status(soon) == STATUS_COMPLETED &&
                  case_status(waiting) == STATUS_COMPLETED);
    }
    CLAIM(case_status(after) == STATUS_COMPLETED);
    CLAIM(case_status(before) == STATUS_WAITING); /* its time is a day away now */
    wall_us = case_disk(before)->s.wake_at_us;
    case_let_pass(wall_us - clock_wall_us(&only->clock.clock));
    case_settle();
    CLAIM(case_status(before) == STATUS_COMPLETED);

    /* The same when the node starts after the clock was set. */
    before = case_started(case_start("p", "{}", 0));
    clock_manual_set_wall(&only->clock, clock_wall_us(&only->clock.clock) - DAY);
    sim_crash(only);
    case_settle();
    CLAIM(case_status(before) == STATUS_WAITING);
    clock_manual_set_wall(&only->clock, clock_wall_us(&only->clock.clock) + DAY + 91 * SECOND);
    case_settle();
    CLAIM(case_status(before) == STATUS_COMPLETED);
    case_end();
}

void case_clock_set_forward(void)
{
    struct uuid ids[20];

    case_begin();
    case_define("p", NAP("3h"), "");
    for (unsigned i = 0; i < 20; i++)
        ids[i] = case_started(case_start("p", "{}", 0));
    clock_manual_set_wall(&only->clock, clock_wall_us(&only->clock.clock) + DAY);
    case_settle();
    for (unsigned i = 0; i < 20; i++)
        CLAIM(case_status(ids[i]) == STATUS_COMPLETED);
    case_end();
}

void case_wait_follows_the_monotonic_clock(void)
{
    struct asked *wait, *other;
    struct uuid id;

    case_begin();
    case_define("p", WAIT("w"), "");
    id = case_started(case_start("p", "{}", 0));
    wait = case_wait(id, 10 * SECOND);
    case_settle();
    clock_manual_set_wall(&only->clock, clock_wall_us(&only->clock.clock) - DAY);
    case_settle();
    other = case_wait(id, 10 * SECOND);
    clock_manual_set_wall(&only->clock, clock_wall_us(&only->clock.clock) + 2 * DAY);
    case_settle();
    CLAIM(!wait->is_answered && !other->is_answered);
    case_let_pass(10 * SECOND + 20000);
    case_settle();
    CLAIM(wait->is_answered && wait->ok && !wait->ended);
    CLAIM(other->is_answered && !other->ended);
    case_end();
}

/* --- rule 14 --- */

static char folder[64];

static void begin_with_folder(void)
{
    const char *base = getenv("TMPDIR");
    case_begin();
    (void)snprintf(folder, sizeof(folder), "%s/pawl-sim-XXXXXX", base != NULL ? base : "/tmp");
    CLAIM(mkdtemp(folder) != NULL);
    sim.config.data_path = str_of(folder);
    sim_crash(only);
    case_settle();
}

static void end_with_folder(void)
{
    char path[128];

    case_end();
    (void)snprintf(path, sizeof(path), "%s/poison", folder);
    (void)unlink(path);
    (void)rmdir(folder);
}

/* The process dies while it advances this execution. */
static void die_while_advancing(struct uuid id)
{
    char path[128];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/poison", folder);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    CLAIM(fd >= 0);
    CLAIM(pwrite(fd, id.bytes, sizeof(id.bytes), 0) == (ssize_t)sizeof(id.bytes));
    close(fd);
    sim_crash(only);
}

void case_crash_is_counted(void)
{
    struct asked *signal;
    struct uuid id, other;

    begin_with_folder();
    case_define("p", WAIT("w") "," WAIT("x"), "");
    id = case_started(case_start("p", "{}", 0));
    other = case_started(case_start("p", "{}", 0));
    die_while_advancing(id);
    /* Nothing is advanced before the count is durable, and it survives a refusal. */
    signal = case_signal(other, "s1", "1");
    only->store.script = "r";
    case_pass();
    case_read();
    case_read();
    case_read();
    CLAIM(only->store.batch_count == 1 && only->store.batches[0]->members.count == 1);
    case_settle();
    CLAIM(signal->ok);
    CLAIM(case_disk(id)->s.crash_count == 1);
    sim_crash(only);
    case_settle();
    CLAIM(case_disk(id)->s.crash_count == 1);
    CLAIM(case_disk(other)->s.crash_count == 0);
    /* Progress forgives. */
    signal = case_signal(id, "s1", "1");
    case_settle();
    CLAIM(signal->ok && case_disk(id)->s.crash_count == 0);
    end_with_folder();
}

void case_fifth_crash_parks(void)
{
    struct asked *signal, *cancel;
    struct uuid id;

    begin_with_folder();
    case_define("p", NAP("1h") "," WAIT("w"), "");
    id = case_started(case_start("p", "{}", 0));
    for (unsigned i = 0; i < 5; i++) {
        die_while_advancing(id);
        case_settle();
    }
    CLAIM(case_disk(id)->s.crash_count == 5);
    case_let_pass(7200 * SECOND);
    signal = case_signal(id, "s1", "1");
    case_settle();
    CLAIM(signal->is_answered && signal->code == ERR_CONFLICT);
    CLAIM(case_disk(id)->s.row_version == 1);
    cancel = case_cancel(id);
    case_settle();
    CLAIM(cancel->ok && case_status(id) == STATUS_CANCELLED);
    end_with_folder();
}

/* --- rule 16 --- */

/* One run with a crash after `crash_at` things have happened; answers whether there were as many. */
static bool run_with_crash(unsigned crash_at, bool keeps)
{
    unsigned happened = 0, things = 0;
    struct uuid id;

    case_begin();
    case_define("p",
                "{'code':'a','procedure':{'type':'compute.set','values':{'n':1}}}," NAP(
                    "2s") "," WAIT("w") "," INCREMENT ","
                                        "{'code':'l','procedure':{'type':'log','message':'done'}}",
                "");
    /* The start is acknowledged; from here on it must come to its end. */
    id = case_started(case_start("p", "{}", 0));
    for (unsigned i = 0; i < 200; i++) {
        bool any = node_pass(only->node);

        any |= ++things && store_write_one(only);
        if (things == crash_at && keeps)
            sim_crash(only);
        any |= store_deliver_one(only);
        any |= store_read_one(only);
        if (things == crash_at && !keeps)
            sim_crash(only);
        if (!any)
            case_let_pass(SECOND / 2);
        if (case_status(id) == STATUS_WAITING && case_disk(id)->count == 0 && i > 20)
            (void)case_signal(id, "s1", "1");
        happened += any;
    }
    case_settle();
    CLAIM(case_status(id) == STATUS_COMPLETED);
    CLAIM(case_disk(id)->count == 1);
    CLAIM(str_eq(disk_find_record(&sim.disk, STR("acc"), STR("c0"))->data_json, STR("{\"n\":1}")));
    case_end();
    return happened > 0 && crash_at < things;
}

void case_crash_at_every_point(void)
{
    for (unsigned i = 1; i <= 60; i++) {
        (void)run_with_crash(i, true);
        (void)run_with_crash(i, false);
    }
}

void case_stale_timer(void)
{
    struct uuid id;

    case_begin();
    case_define("p",
                "{'code':'w','procedure':{'type':'wait.signal','signalType':'go','timeout':"
                "'5s'}}," NAP("30s"),
                "");
    id = case_started(case_start("p", "{}", 0));
    /* It is due, and before the wake is advanced a signal has ended the wait. */
    (void)case_signal(id, "s1", "1");
    case_let_pass(5 * SECOND);
    case_settle();
    CLAIM(case_status(id) == STATUS_WAITING && case_disk(id)->count == 1);
    case_let_pass(24 * SECOND);
    case_settle();
    CLAIM(case_status(id) == STATUS_WAITING);
    case_let_pass(7 * SECOND);
    case_settle();
    CLAIM(case_status(id) == STATUS_COMPLETED);
    case_end();
}

void case_wake_that_cannot_be_committed(void)
{
    struct uuid id;

    case_begin();
    case_define("p", NAP("5s"), "");
    id = case_started(case_start("p", "{}", 0));
    only->store.member_script = "fssssssss";
    case_let_pass(5 * SECOND);
    case_settle();
    for (unsigned i = 0; i < 5; i++) {
        case_let_pass(SECOND);
        case_settle();
    }
    CLAIM(*only->store.member_script == 0);
    CLAIM(case_status(id) == STATUS_COMPLETED);
    case_end();
}

void case_retry_outlives_the_clock(void)
{
    struct uuid id;

    case_begin();
    case_define("p", NAP("5s"), "");
    id = case_started(case_start("p", "{}", 0));
    only->store.member_script = "f";
    clock_manual_set_wall(&only->clock, clock_wall_us(&only->clock.clock) + 7200 * SECOND);
    case_pass();
    case_read();
    case_pass();
    case_write();
    case_deliver();
    case_pass();
    CLAIM(*only->store.member_script == 0);
    CLAIM(case_status(id) == STATUS_WAITING);
    clock_manual_set_wall(&only->clock, clock_wall_us(&only->clock.clock) - 7100 * SECOND);
    for (unsigned i = 0; i < 10; i++) {
        case_let_pass(SECOND);
        case_settle();
    }
    CLAIM(case_status(id) == STATUS_COMPLETED);
    case_end();
}

void case_wake_that_cannot_be_loaded(void)
{
    struct uuid id;

    case_begin();
    case_define("p", NAP("5s"), "");
    id = case_started(case_start("p", "{}", 0));
    sim_crash(only);
    case_settle();
    sim.no_faults = false;
    sim.config.faults.read_error = 1000;
    case_let_pass(5 * SECOND);
    for (unsigned i = 0; i < 10; i++) {
        case_pass();
        case_read();
        case_let_pass(SECOND);
    }
    CLAIM(case_status(id) == STATUS_WAITING);
    sim.no_faults = true;
    /* The time between two attempts grows. */
    case_let_pass(10 * SECOND);
    case_settle();
    CLAIM(case_status(id) == STATUS_COMPLETED);
    case_end();
}
