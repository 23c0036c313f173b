/* cases_batch.c - named cases about batches and answers: rules 1 to 5; see cases.h. */
#include "sim/cases.h"

#define WAIT "{'code':'w','procedure':{'type':'wait.signal','signalType':'go'}}"
#define DONE "{'code':'d','procedure':{'type':'compute.transform','data':1}}"
#define NAP(duration) "{'code':'n','procedure':{'type':'wait.timer','duration':'" duration "'}}"

/* --- rule 1 --- */

void case_answer_waits_for_its_commit(void)
{
    struct asked *a;

    case_begin();
    case_define("p", DONE, "");
    a = case_start("p", "{}", 0);
    case_pass();
    case_read(); /* which version, and its program */
    case_read();
    CLAIM(only->store.batch_count == 1 && !a->is_answered);
    case_write();
    case_pass();
    CLAIM(!a->is_answered);
    case_deliver();
    CLAIM(a->is_answered && a->ok && a->ended);
    case_end();
}

void case_refusal_waits_for_what_it_rests_on(void)
{
    struct asked *cancel, *signal, *wait;
    struct uuid id;

    case_begin();
    case_define("p", WAIT, "");
    id = case_started(case_start("p", "{}", 0));
    cancel = case_cancel(id);
    case_pass();
    signal = case_signal(id, "s1", "1");
    wait = case_wait(id, 10 * SECOND);
    case_pass();
    CLAIM(!cancel->is_answered && !signal->is_answered && !wait->is_answered);
    case_write();
    case_pass();
    CLAIM(!signal->is_answered);
    case_deliver();
    CLAIM(cancel->ok && !signal->is_answered);
    case_settle(); /* theirs only asserts what it has met */
    CLAIM(signal->is_answered && signal->code == ERR_CONFLICT);
    CLAIM(wait->is_answered && wait->ended);
    case_end();

    /* The commit that it would rest on is refused: it is decided anew. */
    case_begin();
    case_define("p", WAIT, "");
    id = case_started(case_start("p", "{}", 0));
    only->store.member_script = "ffffffffff";
    cancel = case_cancel(id);
    case_pass();
    signal = case_signal(id, "s1", "1");
    case_pass();
    case_write();
    only->store.member_script = NULL;
    case_settle();
    CLAIM(cancel->is_answered && !cancel->ok);
    CLAIM(signal->is_answered && signal->ok);
    CLAIM(case_status(id) == STATUS_COMPLETED);
    case_end();
}

void case_repeated_signal_waits_for_the_first(void)
{
    struct asked *first, *second, *other;
    struct uuid id;

    case_begin();
    case_define("p", WAIT "," NAP("1h"), "");
    id = case_started(case_start("p", "{}", 0));
    first = case_signal(id, "same", "{'n':1}");
    case_pass();
    second = case_signal(id, "same", "{'n':1}");
    other = case_signal(id, "same", "{'n':2}");
    case_pass();
    case_write();
    case_pass();
    CLAIM(!first->is_answered && !second->is_answered && !other->is_answered);
    case_deliver();
    CLAIM(first->ok && !second->is_answered && !other->is_answered);
    case_settle(); /* theirs only assert what they have met */
    CLAIM(second->ok);
    CLAIM(other->is_answered && other->code == ERR_CONFLICT);
    CLAIM(case_disk(id)->count == 1);
    case_end();
}

void case_repeated_signal_after_the_end(void)
{
    struct asked *again, *other;
    struct uuid id;

    case_begin();
    case_define("p", WAIT, "");
    id = case_started(case_start("p", "{}", 0));
    (void)case_signal(id, "same", "1");
    case_settle();
    CLAIM(case_status(id) == STATUS_COMPLETED);
    sim_crash(only);
    again = case_signal(id, "same", "1");
    other = case_signal(id, "new", "1");
    case_settle();
    CLAIM(again->is_answered && again->ok);
    CLAIM(other->is_answered && other->code == ERR_CONFLICT);
    case_end();
}

void case_start_that_happened_is_not_refused(void)
{
    struct asked *start;
    struct uuid id;

    case_begin();
    case_define("p", NAP("2s") "," WAIT, "");
    start = case_start("p", "{}", 30 * SECOND);
    case_settle();
    CLAIM(!start->is_answered);
    id = sim.disk.executions.items[0]->s.id;
    /* Its state in memory did not become true, and the true one cannot be read. */
    only->store.member_script = "s";
    case_let_pass(2 * SECOND);
    case_pass();
    case_write();
    sim.config.faults.read_error = 1000;
    sim.no_faults = false;
    case_deliver();
    case_read();
    CLAIM(start->is_answered && start->ok && !start->ended);
    CLAIM(uuid_cmp(start->id, id) == 0);
    sim.no_faults = true;
    case_end();
}

/* --- rule 2 --- */

void case_refused_batch_is_applied_again(void)
{
    struct asked *start, *signal;
    struct uuid id;

    case_begin();
    case_define("p", WAIT, "");
    only->store.script = "rrr";
    start = case_start("p", "{}", 0);
    id = case_started(start);
    CLAIM(sim.refused_batches == 3 && sim.disk.executions.count == 1);
    only->store.script = "rr";
    signal = case_signal(id, "s1", "1");
    case_settle();
    CLAIM(signal->ok && case_status(id) == STATUS_COMPLETED);
    CLAIM(case_disk(id)->count == 1);
    case_end();
}

void case_batch_after_a_refused_one(void)
{
    struct asked *one, *two, *three;
    struct uuid id;

    case_begin();
    case_define("p",
                WAIT ","
                     "{'code':'v','procedure':{'type':'wait.signal','signalType':'go'}}",
                "");
    id = case_started(case_start("p", "{}", 0));
    one = case_signal(id, "1", "1");
    case_pass();
    two = case_signal(id, "2", "2");
    case_pass();
    three = case_signal(id, "3", "3");
    case_pass();
    CLAIM(only->store.batch_count == 2);
    only->store.script = "rc"; /* the second rests on the first */
    case_settle();
    CLAIM(one->ok && two->ok);
    CLAIM(case_status(id) == STATUS_COMPLETED);
    CLAIM(three->is_answered && three->code == ERR_CONFLICT);
    CLAIM(str_eq(case_disk(id)->items[0].id, STR("1")));
    CLAIM(str_eq(case_disk(id)->items[1].id, STR("2")));
    case_end();
}

void case_store_that_goes_on_refusing(void)
{
    struct asked *start, *signal;
    struct uuid id;

    case_begin();
    case_define("p", WAIT, "");
    id = case_started(case_start("p", "{}", 0));
    only->store.script = "rrrrrrrrrrrrrrrrrrrr";
    start = case_start("p", "{}", 0);
    signal = case_signal(id, "s1", "1");
    case_settle();
    CLAIM(start->is_answered && start->code == ERR_OVERLOADED);
    CLAIM(signal->is_answered && signal->code == ERR_OVERLOADED);
    CLAIM(sim.disk.executions.count == 1 && case_disk(id)->count == 0);
    only->store.script = NULL;
    signal = case_signal(id, "s1", "1");
    case_settle();
    CLAIM(signal->ok && case_status(id) == STATUS_COMPLETED);
    case_end();
}

void case_unknown_batch(void)
{
    struct asked *start, *signal, *cancel;
    struct uuid id;

    case_begin();
    case_define("p", WAIT, "");
    id = case_started(case_start("p", "{}", 0));
    only->store.script = "k";
    start = case_start("p", "{}", 0);
    signal = case_signal(id, "s1", "1");
    case_settle();
    CLAIM(start->is_answered && start->code == ERR_OUTCOME_UNKNOWN);
    CLAIM(signal->is_answered && signal->code == ERR_OUTCOME_UNKNOWN);
    /* It has happened: the same again is safe. */
    signal = case_signal(id, "s1", "1");
    cancel = case_cancel(id);
    case_settle();
    CLAIM(signal->ok);
    CLAIM(cancel->code == ERR_CONFLICT);
    case_end();
}

void case_unknown_batch_that_was_kept(void)
{
    struct asked *wait;
    struct uuid id;

    case_begin();
    case_define("p",
                NAP("5s") ","
                          "{'code':'m','procedure':{'type':'wait.timer','duration':'7s'}}",
                "");
    /* Nobody asks for it: the node alone must find its timers. */
    only->store.script = "k";
    (void)case_start("p", "{}", 0);
    case_settle();
    id = sim.disk.executions.items[0]->s.id;
    case_let_pass(5 * SECOND);
    only->store.script = "k";
    case_settle();
    CLAIM(case_disk(id)->s.row_version == 2);
    wait = case_wait(id, 60 * SECOND);
    case_let_pass(7 * SECOND);
    only->store.script = "k";
    case_settle();
    CLAIM(case_status(id) == STATUS_COMPLETED);
    CLAIM(wait->is_answered && wait->ended);
    case_end();
}

void case_unknown_batch_that_was_lost(void)
{
    struct asked *signal;
    struct uuid id;

    case_begin();
    case_define("p", WAIT, "");
    id = case_started(case_start("p", "{}", 0));
    only->store.script = "u";
    signal = case_signal(id, "s1", "1");
    case_settle();
    CLAIM(signal->is_answered && signal->code == ERR_OUTCOME_UNKNOWN);
    CLAIM(case_status(id) == STATUS_WAITING && case_disk(id)->count == 0);
    signal = case_signal(id, "s1", "1");
    case_settle();
    CLAIM(signal->ok && case_status(id) == STATUS_COMPLETED);
    case_end();
}

void case_follower_is_not_counted(void)
{
    struct asked *signal;
    struct uuid id;

    case_begin();
    case_define("p", NAP("5s") "," WAIT, "");
    id = case_started(case_start("p", "{}", 0));
    only->store.member_script = "s.s.s.s.s.s.";
    case_let_pass(5 * SECOND);
    case_pass(); /* the wake is under way */
    signal = case_signal(id, "s1", "1");
    case_settle();
    CLAIM(signal->ok);
    case_let_pass(2 * SECOND);
    case_settle();
    CLAIM(case_status(id) == STATUS_COMPLETED);
    case_end();
}

/* The rule that an answer shows at least what was durable when it was asked for is of answer.c. */
void case_waiter_is_not_answered_by_an_older_look(void)
{
    struct asked *first, *late;
    struct uuid id;

    case_begin();
    case_define("p",
                "{'code':'a','procedure':{'type':'wait.signal','signalType':'go'}},"
                "{'code':'b','procedure':{'type':'wait.signal','signalType':'go'}}",
                "");
    id = case_started(case_start("p", "{}", 0));
    first = case_wait(id, SECOND);
    case_pass();
    case_let_pass(SECOND);
    /* One batch says that version 1 is true, for the first, and makes version 2. */
    (void)case_signal(id, "s1", "1");
    case_pass();
    case_write();
    CLAIM(!first->is_answered && case_disk(id)->s.row_version == 2);
    late = case_wait(id, 2 * SECOND);
    case_pass();
    case_let_pass(2 * SECOND);
    case_deliver();
    CLAIM(first->ok && !late->is_answered);
    case_settle();
    CLAIM(late->ok && str_find(late->json, STR("\"rowVersion\":2"), 0) > 0);
    case_end();
}

void case_waiter_of_a_refused_commit(void)
{
    struct asked *wait, *cancel, *late;
    struct uuid id;

    case_begin();
    case_define("p", NAP("20s"), "");
    id = case_started(case_start("p", "{}", 0));
    wait = case_wait(id, 60 * SECOND);
    late = case_wait(id, 10 * SECOND);
    case_settle();
    only->store.member_script = "f";
    cancel = case_cancel(id);
    case_settle();
    CLAIM(cancel->is_answered && !cancel->ok);
    CLAIM(!wait->is_answered && !late->is_answered);
    case_let_pass(11 * SECOND);
    case_settle();
    CLAIM(late->is_answered && late->ok && !late->ended);
    case_let_pass(10 * SECOND);
    case_settle();
    CLAIM(wait->is_answered && wait->ended);
    case_end();
}

/* --- rule 3 --- */

void case_locked_member_comes_again(void)
{
    struct asked *signal, *late;
    struct uuid id;

    case_begin();
    case_define("p", WAIT ",{'code':'v','procedure':{'type':'wait.signal','signalType':'go'}}", "");
    id = case_started(case_start("p", "{}", 0));
    only->store.member_script = "llllllll"; /* more often than a conflict may be met */
    signal = case_signal(id, "s1", "1");
    for (int i = 0; i < 10; i++) {
        case_settle();
        case_let_pass(SECOND / 2);
    }
    case_settle();
    CLAIM(*only->store.member_script == 0);
    CLAIM(signal->is_answered && signal->ok);
    /* One that is locked for ever is refused in the end, and nothing of it happened. */
    only->store.member_script = "llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll";
    late = case_signal(id, "s2", "1");
    for (int i = 0; i < 30 && !late->is_answered; i++) {
        case_settle();
        case_let_pass(SECOND / 2);
    }
    CLAIM(late->is_answered && !late->ok);
    only->store.member_script = NULL;
    CLAIM(case_status(id) == STATUS_WAITING);
    CLAIM(case_signal(id, "s2", "1") != NULL);
    case_settle();
    CLAIM(case_status(id) == STATUS_COMPLETED);
    case_end();
}

void case_refused_member_alone(void)
{
    static const char *const inputs[] = {"{'id':'a'}", "{'id':'b'}", "{'id':'c'}"};
    struct asked *a[3];
    unsigned refused = 0;

    case_begin();
    case_define("p",
                "{'code':'r','procedure':{'type':'record.create','object':'things','id':"
                "'{{ input.id }}','data':{}}}",
                "");
    (void)case_started(case_start("p", "{'id':'warm'}", 0));
    only->store.member_script = ".f."; /* the second of the batch, whichever that is */
    for (unsigned i = 0; i < 3; i++)
        a[i] = case_start("p", inputs[i], 0);
    case_settle();
    for (unsigned i = 0; i < 3; i++) {
        char id[2] = {(char)('a' + i), 0};
        bool is_there = disk_find_record(&sim.disk, STR("things"), str_of(id)) != NULL;

        CLAIM(a[i]->is_answered && a[i]->ok == is_there);
        refused += !a[i]->ok;
    }
    CLAIM(refused == 1 && sim.disk.executions.count == 3);
    case_end();
}

void case_key_is_taken_once(void)
{
    struct asked *a, *b, *c, *d;

    case_begin();
    case_define("rejects", WAIT, "");
    case_define("joins", WAIT, ",'settings':{'onKeyConflict':'join'}");
    a = case_start_key("rejects", "k", 0);
    b = case_start_key("rejects", "k", 0);
    c = case_start_key("joins", "k", 0);
    d = case_start_key("joins", "k", 60 * SECOND);
    case_settle();
    CLAIM(a->ok && b->is_answered && b->code == ERR_KEY_BUSY);
    CLAIM(uuid_cmp(a->id, b->id) == 0);
    CLAIM(c->ok && !c->joined && !d->is_answered);
    (void)case_signal(c->id, "s1", "1");
    case_settle();
    CLAIM(d->is_answered && d->ok && d->joined && d->ended && uuid_cmp(c->id, d->id) == 0);
    /* The key is free again. */
    a = case_start_key("joins", "k", 0);
    case_settle();
    CLAIM(a->ok && !a->joined);
    case_end();
}

/* --- rule 4 --- */

void case_two_batches_are_outstanding(void)
{
    struct asked *a[4];

    case_begin();
    case_define("p", DONE, "");
    (void)case_started(case_start("p", "{}", 0));
    for (unsigned i = 0; i < 4; i++) {
        a[i] = case_start("p", "{}", 0);
        case_pass();
    }
    CLAIM(only->store.batch_count == 2); /* a third one would break a rule of the store */
    CLAIM(only->store.batches[1]->members.count == 1);
    case_write();
    case_deliver();
    CLAIM(a[0]->ok && !a[1]->is_answered);
    CLAIM(only->store.batch_count == 2 && only->store.batches[1]->members.count == 2);
    case_settle();
    CLAIM(a[3]->ok);
    case_end();
}

void case_reads_that_do_not_fit(void)
{
    struct asked *signal;
    struct uuid id;

    case_begin();
    case_define("p", WAIT, "");
    id = case_started(case_start("p", "{}", 0));
    sim_crash(only);
    sim.no_faults = false;
    sim.config.faults.read_full = 1000;
    signal = case_signal(id, "s1", "1");
    case_pass();
    CLAIM(only->store.reads.count == 0 && !signal->is_answered);
    sim.no_faults = true;
    case_settle();
    CLAIM(signal->ok && case_status(id) == STATUS_COMPLETED);
    case_end();
}

void case_too_many_requests(void)
{
    enum { PENDING_MAX = 16384 };
    struct asked *a = NULL;

    case_begin();
    case_define("p", DONE, "");
    for (unsigned i = 0; i < PENDING_MAX; i++)
        a = case_start("p", "{}", 0);
    CLAIM(!a->is_answered);
    a = case_start("p", "{}", 0);
    CLAIM(a->is_answered && a->code == ERR_OVERLOADED);
    case_settle();
    CLAIM(sim.disk.executions.count == PENDING_MAX);
    a = case_start("p", "{}", 0);
    case_settle();
    CLAIM(a->ok);
    case_end();
}

/* --- rule 5 --- */

void case_long_work_lets_others_pass(void)
{
    struct asked *slow, *quick;
    struct buf steps, input;

    case_begin();
    buf_init_arena(&steps, &sim.mem);
    buf_init_arena(&input, &sim.mem);
    for (unsigned i = 0; i < 30; i++)
        buf_printf(&steps,
                   "%s{'code':'s%u','input':{'copy':'=input.pad'},'procedure':{'type':"
                   "'compute.transform','data':1}}",
                   i == 0 ? "" : ",", i);
    buf_char(&steps, 0);
    buf_text(&input, "{'pad':'");
    for (unsigned i = 0; i < 20000; i++)
        buf_text(&input, "0123456789");
    buf_text(&input, "'}");
    buf_char(&input, 0);
    case_define("slow", steps.ptr, "");
    case_define("quick", DONE, "");
    (void)case_started(case_start("quick", "{}", 0));
    slow = case_start("slow", input.ptr, 60 * SECOND);
    case_pass();
    case_read();
    case_read();
    case_write();
    quick = case_start("quick", "{}", 0);
    case_deliver();
    CLAIM(!slow->is_answered);
    CLAIM(sim.disk.executions.items[1]->s.status == STATUS_RUNNING);
    case_write();
    case_deliver();
    CLAIM(quick->ok && !slow->is_answered);
    sim_crash(only); /* and it goes on from where it was */
    case_settle();
    CLAIM(sim.disk.executions.items[1]->s.status == STATUS_COMPLETED);
    CLAIM(sim.disk.executions.items[1]->s.seq == 30);
    CLAIM(sim.disk.executions.items[1]->s.row_version > 4);
    case_end();
}
