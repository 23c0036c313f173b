/* contract_claims.c - the claims of contract.h: what is written, and what is refused. */
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "engine/signals.h"
#include "engine/status.h"
#include "engine/stored_execution.h"
#include "store/contract.h"
#include "store/idempotency.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct contract_backend *backend;

int contract_setup(void **state)
{
    static struct contract contract;

    contract_open(&contract, backend->fresh_url());
    *state = &contract;
    return 0;
}

int contract_teardown(void **state)
{
    contract_close(*state);
    return 0;
}

static struct uuid id_of(const struct commit *commit)
{
    return commit->after->id;
}

/* --- executions --- */

static void test_store__start_is_read_back_as_it_was_written(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 2);
    struct stored_execution *e;

    start->after->key = STR("K-1");
    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    e = contract_load(c, id_of(start));
    assert_non_null(e);
    assert_int_equal(uuid_cmp(e->id, id_of(start)), 0);
    assert_str(e->code, "order");
    assert_int_equal(e->version, 3);
    assert_int_equal(e->status, STATUS_WAITING);
    assert_str(e->key, "K-1");
    assert_str(e->org_id, "org-1");
    assert_str(e->user_json, "{\"id\":\"ann\"}");
    assert_str(e->input_json, "{\"amount\":12.5,\"name\":\"J\u00f6rg\"}");
    assert_str(e->context_json, "{\"steps\":{}}");
    assert_str(e->cursor_json, "{\"step\":\"reserve\"}");
    assert_str(e->waiting_for_json, "{\"kind\":\"signal\"}");
    assert_int_equal(e->error_json.len, 0);
    assert_int_equal(e->result_json.len, 0);
    assert_int_equal(e->row_version, 1);
    assert_int_equal(e->seq, 2);
    assert_int_equal(e->checkpoint_seq, 2);
    assert_int_equal(e->history.count, 0);
    assert_int_equal(e->wake_at_us, start->after->wake_at_us);
    assert_int_equal(e->deadline_at_us, start->after->deadline_at_us);
    assert_int_equal(e->created_at_us, start->after->created_at_us);
    assert_int_equal(e->started_at_us, start->after->started_at_us);
    assert_int_equal(e->completed_at_us, 0);
    assert_int_equal(e->updated_at_us, start->after->updated_at_us);
    assert_int_equal(e->format, EXECUTION_FORMAT);
    assert_int_equal(e->crash_count, 0);
    assert_false(e->stop_requested);
    assert_true(e->row > 0);
}

static void test_store__execution_that_does_not_exist_is_not_found(void **state)
{
    struct contract *c = *state;

    assert_null(contract_load(c, contract_id(c, 1)));
}

static void test_store__everything_is_there_after_reopening(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 2);

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    contract_reopen(c);
    assert_non_null(contract_load(c, id_of(start)));
    assert_int_equal(contract_commit(c, contract_advance(c, start, STATUS_COMPLETED, 1)),
                     MEMBER_APPLIED);
    contract_reopen(c);
    assert_int_equal(contract_load(c, id_of(start))->status, STATUS_COMPLETED);
}

static void test_store__advance_changes_the_state_and_adds_history(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct commit *next = contract_advance(c, start, STATUS_COMPLETED, 2);
    struct stored_execution *e;

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, next), MEMBER_APPLIED);
    e = contract_load(c, id_of(start));
    assert_int_equal(e->status, STATUS_COMPLETED);
    assert_int_equal(e->row_version, 2);
    assert_int_equal(e->seq, 3);
    assert_int_equal(e->wake_at_us, 0);
    assert_int_equal(e->completed_at_us, next->after->completed_at_us);
    assert_int_equal(e->cursor_json.len, 0);
    assert_int_equal(e->waiting_for_json.len, 0);
    assert_str(e->result_json, "{\"ok\":true}");
    /* The checkpoint did not move, so the rows after it come along. */
    assert_int_equal(e->checkpoint_seq, 1);
    assert_int_equal(e->history.count, 2);
    assert_int_equal(e->history.items[0].seq, 2);
    assert_int_equal(e->history.items[1].seq, 3);
    assert_str(e->history.items[1].step, "reserve");
    assert_str(e->history.items[1].status, "completed");
    assert_str(e->history.items[1].key, "key-3");
    assert_str(e->history.items[1].output_json, "{\"n\":3}");
    assert_str(e->history.items[1].delta_json, "{\"a\":1}");
    assert_int_equal(e->history.items[1].input_json.len, 0);
    assert_int_equal(e->history.items[1].visit, 1);
    assert_int_equal(e->history.items[1].completed_at_us, next->after->updated_at_us + 1);
}

static void test_store__checkpoint_moves_with_its_context(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct commit *next = contract_advance(c, start, STATUS_WAITING, 2);
    struct stored_execution *e;

    next->writes_context = true;
    next->context_json = STR("{\"steps\":{\"pay\":{}}}");
    next->after->checkpoint_seq = 3;
    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, next), MEMBER_APPLIED);
    e = contract_load(c, id_of(start));
    assert_str(e->context_json, "{\"steps\":{\"pay\":{}}}");
    assert_int_equal(e->checkpoint_seq, 3);
    assert_int_equal(e->history.count, 0);
}

static void test_store__large_context_is_kept_whole(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    size_t len = CONTEXT_BYTES_MAX;
    char *text = arena_alloc(&c->mem, len);
    struct stored_execution *e;

    memset(text, 'x', len);
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + len - 2, "\"}", 2);
    start->context_json = str_from(text, len);
    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    e = contract_load(c, id_of(start));
    assert_int_equal(e->context_json.len, len);
    assert_memory_equal(e->context_json.ptr, text, len);
}

/* --- members --- */

static void test_store__stale_member_is_refused_and_others_are_applied(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct commit *other = contract_start(c, STATUS_WAITING, 1);
    struct commit *stale = contract_advance(c, start, STATUS_COMPLETED, 1);
    struct member *members[3];
    struct batch *b;

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, contract_advance(c, start, STATUS_WAITING, 1)),
                     MEMBER_APPLIED);
    members[0] = contract_member(c, other);
    members[1] = contract_member(c, stale);
    members[2] = contract_member(c, contract_start(c, STATUS_RUNNING, 1));
    b = contract_batch(c, members[0], members[1], members[2], NULL);
    contract_write(c, b);
    assert_int_equal(b->end, BATCH_COMMITTED);
    assert_int_equal(members[0]->result, MEMBER_APPLIED);
    assert_int_equal(members[1]->result, MEMBER_STALE);
    assert_int_equal(members[2]->result, MEMBER_APPLIED);
    assert_int_equal(contract_load(c, id_of(start))->status, STATUS_WAITING);
    assert_non_null(contract_load(c, id_of(other)));
    assert_non_null(contract_load(c, id_of(members[2]->commit)));
}

static void test_store__one_batch_holds_several_commits_of_one_execution(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct commit *second = contract_advance(c, start, STATUS_RUNNING, 1);
    struct commit *third = contract_advance(c, second, STATUS_COMPLETED, 1);
    struct member *m = contract_member(c, third);
    struct batch *b =
        contract_batch(c, contract_member(c, start), contract_member(c, second), m, NULL);

    contract_write(c, b);
    assert_int_equal(m->result, MEMBER_APPLIED);
    assert_int_equal(contract_load(c, id_of(start))->row, m->row);
    assert_int_equal(contract_load(c, id_of(start))->row_version, 3);
    assert_int_equal(contract_load(c, id_of(start))->seq, 3);
}

static void test_store__advance_by_row_finds_the_same_execution(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct commit *next = contract_advance(c, start, STATUS_COMPLETED, 1);
    struct member *m = contract_member(c, start);

    contract_write(c, contract_batch(c, m, NULL));
    next->after->row = m->row;
    assert_int_equal(contract_commit(c, next), MEMBER_APPLIED);
    assert_int_equal(contract_load(c, id_of(start))->status, STATUS_COMPLETED);
}

/* As engine_advance() makes them: the row is known, and so is what it says. */
static struct commit *advance_known(struct contract *c, const struct commit *before, int64_t row)
{
    struct commit *next = contract_advance(c, before, before->after->status, 1);

    next->after->row = row;
    next->after->cursor.step = before->after->cursor.step;
    next->before = (struct commit_before){.is_known = true,
                                          .status = before->after->status,
                                          .keeps_wake = true,
                                          .keeps_step = true,
                                          .keeps_rest = true};
    return next;
}

static void test_store__commit_that_knows_its_row_is_held_against_it(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1), *next;
    struct member *m = contract_member(c, start);
    struct stored_execution *e;

    contract_write(c, contract_batch(c, m, NULL));
    next = advance_known(c, start, m->row);
    assert_int_equal(contract_commit(c, next), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, advance_known(c, start, m->row)), MEMBER_STALE);
    assert_int_equal(contract_commit(c, advance_known(c, start, m->row + 1000)), MEMBER_GONE);
    e = contract_load(c, id_of(start));
    assert_int_equal(e->status, STATUS_WAITING);
    assert_int_equal(e->row_version, 2);
    assert_int_equal(e->seq, 2);
    assert_int_equal(e->wake_at_us, next->after->wake_at_us);
}

static void test_store__start_of_a_known_id_is_stale(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, start), MEMBER_STALE);
}

static void test_store__advance_of_nothing_is_gone(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);

    assert_int_equal(contract_commit(c, contract_advance(c, start, STATUS_WAITING, 1)),
                     MEMBER_GONE);
}

static void test_store__member_that_the_database_refuses_harms_no_other(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 2);
    struct commit *broken = contract_advance(c, start, STATUS_COMPLETED, 1);
    struct commit *before = contract_start(c, STATUS_WAITING, 1);
    struct commit *after = contract_start(c, STATUS_WAITING, 1);
    struct member *m = contract_member(c, broken);
    struct batch *b;

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    broken->history.items[0].seq = 2; /* exists already */
    b = contract_batch(c, contract_member(c, before), m, contract_member(c, after), NULL);
    contract_write(c, b);
    assert_int_equal(b->end, BATCH_COMMITTED);
    assert_int_equal(m->result, MEMBER_FAILED);
    assert_int_equal(m->err.code, ERR_IO);
    assert_int_equal(b->members.items[0]->result, MEMBER_APPLIED);
    assert_int_equal(b->members.items[2]->result, MEMBER_APPLIED);
    assert_int_equal(contract_load(c, id_of(start))->row_version, 1);
    assert_non_null(contract_load(c, id_of(before)));
    assert_non_null(contract_load(c, id_of(after)));
}

/* --- business keys --- */

static void test_store__live_business_key_is_given_once(void **state)
{
    struct contract *c = *state;
    struct commit *first = contract_start(c, STATUS_WAITING, 1);
    struct commit *second = contract_start(c, STATUS_WAITING, 1);
    struct member *m = contract_member(c, second);

    first->after->key = second->after->key = STR("K");
    assert_int_equal(contract_commit(c, first), MEMBER_APPLIED);
    contract_write(c, contract_batch(c, m, NULL));
    assert_int_equal(m->result, MEMBER_KEY_BUSY);
    assert_int_equal(uuid_cmp(m->holder, id_of(first)), 0);
    assert_null(contract_load(c, id_of(second)));
}

static void test_store__two_starts_with_one_key_in_a_batch_leave_the_first(void **state)
{
    struct contract *c = *state;
    struct commit *first = contract_start(c, STATUS_WAITING, 1);
    struct commit *second = contract_start(c, STATUS_WAITING, 1);
    struct member *a = contract_member(c, first), *b = contract_member(c, second);

    first->after->key = second->after->key = STR("K");
    contract_write(c, contract_batch(c, a, b, NULL));
    assert_int_equal(a->result, MEMBER_APPLIED);
    assert_int_equal(b->result, MEMBER_KEY_BUSY);
    assert_int_equal(uuid_cmp(b->holder, id_of(first)), 0);
}

static void test_store__business_key_is_free_after_the_end(void **state)
{
    struct contract *c = *state;
    struct commit *first = contract_start(c, STATUS_WAITING, 1);
    struct commit *second = contract_start(c, STATUS_WAITING, 1);
    struct commit *ended = contract_start(c, STATUS_COMPLETED, 1);

    first->after->key = second->after->key = ended->after->key = STR("K");
    assert_int_equal(contract_commit(c, ended), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, first), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, contract_advance(c, first, STATUS_FAILED, 1)),
                     MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, second), MEMBER_APPLIED);
}

static void test_store__failed_execution_takes_its_key_back_unless_it_is_busy(void **state)
{
    struct contract *c = *state;
    struct commit *first = contract_start(c, STATUS_FAILED, 1);
    struct commit *second = contract_start(c, STATUS_WAITING, 1);
    struct member *m = contract_member(c, contract_advance(c, first, STATUS_RUNNING, 1));

    first->after->key = second->after->key = STR("K");
    m->commit->after->key = STR("K");
    assert_int_equal(contract_commit(c, first), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, second), MEMBER_APPLIED);
    contract_write(c, contract_batch(c, m, NULL));
    assert_int_equal(m->result, MEMBER_KEY_BUSY);
    assert_int_equal(uuid_cmp(m->holder, id_of(second)), 0);
    assert_int_equal(contract_commit(c, contract_advance(c, second, STATUS_COMPLETED, 1)),
                     MEMBER_APPLIED);
    contract_write(c, contract_batch(c, m, NULL));
    assert_int_equal(m->result, MEMBER_APPLIED);
    second = contract_start(c, STATUS_WAITING, 1);
    second->after->key = STR("K");
    assert_int_equal(contract_commit(c, second), MEMBER_KEY_BUSY);
}

/* --- signals --- */

static struct signal *make_signal(struct contract *c, const char *json)
{
    struct signal *s = ARENA_NEW(&c->mem, struct signal);
    struct err err;

    *s = (struct signal){.id = STR("s-1"), .type = STR("paid"), .received_at_us = 5, .seq = 2};
    assert_true(json_read(&c->mem, str_of(json), &s->view, &err));
    return s;
}

static void test_store__signal_id_is_taken_once(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct commit *signal = contract_advance(c, start, STATUS_WAITING, 1);
    struct commit *again = contract_advance(c, signal, STATUS_WAITING, 1);

    signal->received = make_signal(c, "{\"payload\":{\"n\":1},\"receivedAt\":\"a\"}");
    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, signal), MEMBER_APPLIED);
    again->received = make_signal(c, "{\"payload\":{\"n\":1},\"receivedAt\":\"b\"}");
    assert_int_equal(contract_commit(c, again), MEMBER_SIGNAL_KNOWN);
    again->received = make_signal(c, "{\"payload\":{\"n\":2}}");
    assert_int_equal(contract_commit(c, again), MEMBER_SIGNAL_DIFFERS);
    assert_int_equal(contract_load(c, id_of(start))->row_version, 2);
    /* Known, even when the commit rests on an old state. */
    signal->received = make_signal(c, "{\"payload\":{\"n\":1}}");
    assert_int_equal(contract_commit(c, signal), MEMBER_SIGNAL_KNOWN);
}

static void test_store__same_signal_id_may_go_to_two_executions(void **state)
{
    struct contract *c = *state;

    for (int i = 0; i < 2; i++) {
        struct commit *start = contract_start(c, STATUS_WAITING, 1);
        struct commit *signal = contract_advance(c, start, STATUS_WAITING, 1);

        signal->received = make_signal(c, "{\"payload\":null}");
        assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
        assert_int_equal(contract_commit(c, signal), MEMBER_APPLIED);
    }
}

/* --- repeated requests --- */

static struct member *idempotent(struct contract *c, const char *hash)
{
    struct idempotency *i = ARENA_NEW(&c->mem, struct idempotency);
    struct member *m = contract_member(c, contract_start(c, STATUS_WAITING, 1));

    *i = (struct idempotency){.user = STR("ann"),
                              .method = STR("POST"),
                              .path = STR("/executions"),
                              .key = STR("once"),
                              .body_hash = str_of(hash),
                              .status = 201,
                              .answer = STR("{\"id\":\"x\"}")};
    m->idempotency = i;
    return m;
}

static void test_store__repeated_request_gets_the_stored_answer(void **state)
{
    struct contract *c = *state;
    struct member *first = idempotent(c, "aa"), *again = idempotent(c, "aa");
    struct member *other = idempotent(c, "bb");

    contract_write(c, contract_batch(c, first, again, NULL));
    assert_int_equal(first->result, MEMBER_APPLIED);
    assert_int_equal(again->result, MEMBER_REPEATED);
    assert_int_equal(again->answer_status, 201);
    assert_str(again->answer, "{\"id\":\"x\"}");
    assert_null(contract_load(c, id_of(again->commit)));
    contract_write(c, contract_batch(c, other, NULL));
    assert_int_equal(other->result, MEMBER_KEY_CONFLICT);
}

static void test_store__answer_is_forgotten_after_a_day(void **state)
{
    struct contract *c = *state;
    struct member *first = idempotent(c, "aa"), *late = idempotent(c, "bb");
    struct member *later = idempotent(c, "bb");

    contract_write(c, contract_batch(c, first, NULL));
    late->commit->after->updated_at_us =
        first->commit->after->updated_at_us + INT64_C(24) * 3600 * 1000000;
    later->commit->after->updated_at_us = late->commit->after->updated_at_us + 1;
    contract_write(c, contract_batch(c, late, NULL));
    assert_int_equal(late->result, MEMBER_APPLIED);
    contract_write(c, contract_batch(c, later, NULL));
    assert_int_equal(later->result, MEMBER_REPEATED);
}

/* Its id and its body, for seven days: a queue may deliver it again after a request has gone. */
static struct member *received(struct contract *c, const char *body_hash, int64_t later_us)
{
    struct member *m = idempotent(c, body_hash);
    struct idempotency *i = (struct idempotency *)(uintptr_t)m->idempotency;

    i->method = STR(RECEIVED_METHOD);
    i->path = STR("pawl.signals");
    m->commit->after->updated_at_us += later_us;
    return m;
}

static void test_store__what_a_queue_delivered_is_known_for_seven_days(void **state)
{
    const int64_t day_us = INT64_C(24) * 3600 * 1000000;
    struct contract *c = *state;
    struct member *first = received(c, "aa", 0), *again = received(c, "aa", 7 * day_us - 60000000);
    struct member *other = received(c, "bb", 7 * day_us - 60000000);
    struct member *late = received(c, "bb", 7 * day_us + 60000000);
    struct member *request = idempotent(c, "cc");

    contract_write(c, contract_batch(c, first, request, NULL));
    assert_int_equal(first->result, MEMBER_APPLIED);
    assert_int_equal(request->result, MEMBER_APPLIED);
    contract_write(c, contract_batch(c, again, other, NULL));
    assert_int_equal(again->result, MEMBER_REPEATED);
    assert_int_equal(other->result, MEMBER_KEY_CONFLICT);
    contract_write(c, contract_batch(c, late, NULL));
    assert_int_equal(late->result, MEMBER_APPLIED);
}

static void test_store__refused_member_keeps_no_answer(void **state)
{
    struct contract *c = *state;
    struct member *busy = idempotent(c, "aa"), *free = idempotent(c, "aa");
    struct commit *holder = contract_start(c, STATUS_WAITING, 1);

    holder->after->key = busy->commit->after->key = STR("K");
    assert_int_equal(contract_commit(c, holder), MEMBER_APPLIED);
    contract_write(c, contract_batch(c, busy, NULL));
    assert_int_equal(busy->result, MEMBER_KEY_BUSY);
    contract_write(c, contract_batch(c, free, NULL));
    assert_int_equal(free->result, MEMBER_APPLIED);
}

/* --- crashes --- */

static void test_store__crash_is_counted(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_RUNNING, 1);
    struct member crash = {.kind = MEMBER_CRASH, .crashed = id_of(start)};

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    for (int i = 0; i < 2; i++) {
        contract_write(c, contract_batch(c, &crash, NULL));
        assert_int_equal(crash.result, MEMBER_APPLIED);
    }
    assert_int_equal(contract_load(c, id_of(start))->crash_count, 2);
    assert_int_equal(contract_commit(c, contract_advance(c, start, STATUS_WAITING, 1)),
                     MEMBER_APPLIED);
    assert_int_equal(contract_load(c, id_of(start))->crash_count, 0);
    crash.crashed = contract_id(c, 1);
    contract_write(c, contract_batch(c, &crash, NULL));
    assert_int_equal(crash.result, MEMBER_GONE);
}

/* --- the threads --- */

static void test_store__two_batches_are_taken_and_come_back_in_order(void **state)
{
    struct contract *c = *state;
    struct batch *batches[20];
    size_t submitted = 0, back = 0;
    bool was_refused = false;

    for (size_t i = 0; i < 20; i++)
        batches[i] =
            contract_batch(c, contract_member(c, contract_start(c, STATUS_WAITING, 3)), NULL);
    while (back < 20) {
        if (submitted < 20 && submitted - back < 2) {
            assert_true(store_submit(c->store, batches[submitted++]));
            continue;
        }
        /* At most the writer has given one back by now, and never both. */
        was_refused |= submitted < 20 && !store_submit(c->store, batches[submitted]);
        if (submitted < 20 && !was_refused)
            submitted++;
        assert_ptr_equal(contract_take(c), batches[back]);
        assert_int_equal(batches[back]->end, BATCH_COMMITTED);
        arena_fini(&batches[back++]->mem);
        was_refused = false;
    }
}

static void test_store__nothing_is_taken_when_answers_would_not_fit(void **state)
{
    struct contract *c = *state;
    struct batch *b =
        contract_batch(c, contract_member(c, contract_start(c, STATUS_WAITING, 1)), NULL);
    struct store_read task = {0};

    for (size_t i = 0; i < c->done.capacity; i++)
        assert_true(mailbox_reserve(&c->done));
    assert_false(store_submit(c->store, b));
    assert_false(store_read(c->store, &task));
    mailbox_unreserve(&c->done);
    contract_write(c, b);
    assert_int_equal(b->end, BATCH_COMMITTED);
}

static void test_store__closing_finishes_what_was_submitted(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct batch *b = contract_batch(c, contract_member(c, start), NULL);

    assert_true(store_submit(c->store, b));
    contract_reopen(c);
    assert_ptr_equal(contract_take(c), b);
    assert_int_equal(b->end, BATCH_COMMITTED);
    arena_fini(&b->mem);
    assert_non_null(contract_load(c, id_of(start)));
}

static void test_store__empty_batch_is_committed(void **state)
{
    struct contract *c = *state;
    struct batch *b = contract_batch(c, NULL);

    contract_write(c, b);
    assert_int_equal(b->end, BATCH_COMMITTED);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, contract_setup, contract_teardown)

static const struct CMUnitTest claims[] = {
    CLAIM(test_store__start_is_read_back_as_it_was_written),
    CLAIM(test_store__execution_that_does_not_exist_is_not_found),
    CLAIM(test_store__everything_is_there_after_reopening),
    CLAIM(test_store__advance_changes_the_state_and_adds_history),
    CLAIM(test_store__checkpoint_moves_with_its_context),
    CLAIM(test_store__large_context_is_kept_whole),
    CLAIM(test_store__stale_member_is_refused_and_others_are_applied),
    CLAIM(test_store__one_batch_holds_several_commits_of_one_execution),
    CLAIM(test_store__advance_by_row_finds_the_same_execution),
    CLAIM(test_store__commit_that_knows_its_row_is_held_against_it),
    CLAIM(test_store__start_of_a_known_id_is_stale),
    CLAIM(test_store__advance_of_nothing_is_gone),
    CLAIM(test_store__member_that_the_database_refuses_harms_no_other),
    CLAIM(test_store__live_business_key_is_given_once),
    CLAIM(test_store__two_starts_with_one_key_in_a_batch_leave_the_first),
    CLAIM(test_store__business_key_is_free_after_the_end),
    CLAIM(test_store__failed_execution_takes_its_key_back_unless_it_is_busy),
    CLAIM(test_store__signal_id_is_taken_once),
    CLAIM(test_store__same_signal_id_may_go_to_two_executions),
    CLAIM(test_store__repeated_request_gets_the_stored_answer),
    CLAIM(test_store__answer_is_forgotten_after_a_day),
    CLAIM(test_store__what_a_queue_delivered_is_known_for_seven_days),
    CLAIM(test_store__refused_member_keeps_no_answer),
    CLAIM(test_store__crash_is_counted),
    CLAIM(test_store__two_batches_are_taken_and_come_back_in_order),
    CLAIM(test_store__nothing_is_taken_when_answers_would_not_fit),
    CLAIM(test_store__closing_finishes_what_was_submitted),
    CLAIM(test_store__empty_batch_is_committed),
};

void contract_run_sql(struct contract *c, const char *sql)
{
    backend->run_sql(c, sql);
}

int contract_run(const struct contract_backend *b, const char *name)
{
    int failed;

    backend = b;
    failed = _cmocka_run_group_tests(name, claims, ARRAY_SIZE(claims), NULL, NULL);
    return failed + contract_run_records(name) + contract_run_reads(name) +
           contract_run_drafts(name) + contract_run_changes(name) + contract_run_letters(name) +
           contract_run_jobs(name) + contract_run_signals(name) + contract_run_events(name) +
           contract_run_definitions(name) + contract_run_snapshots(name) + contract_run_users(name);
}
