/* contract_changes.c - the claims of contract.h: records that are edited, executions that go. */
#include "engine/commit/commit.h"
#include "engine/commit/search.h"
#include "store/change_record.h"
#include "store/change_retention.h"
#include "store/contract.h"
#include "store/read_execution.h"
#include "store/read_executions.h"
#include "store/read_node.h"
#include "store/read_record.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct member *apply(struct contract *c, struct change *change)
{
    struct member *m = ARENA_NEW(&c->mem, struct member);
    struct batch *b;

    *m = (struct member){.kind = MEMBER_CHANGE, .change = change};
    change->now_us = 1700000000000000;
    b = contract_batch(c, m, NULL);
    assert_true(store_submit(c->store, b));
    assert_ptr_equal(contract_take(c), b);
    assert_int_equal(b->end, BATCH_COMMITTED);
    if (m->result == MEMBER_APPLIED)
        change->answer_json = str_copy(&c->mem, change->answer_json);
    arena_fini(&b->mem);
    return m;
}

/* --- records --- */

static struct value read_value(struct contract *c, const char *json)
{
    struct value v;
    struct err err;

    assert_true(json_read(&c->mem, str_of(json), &v, &err));
    return v;
}

static struct record_change *change_record(struct contract *c, enum record_action action,
                                           const char *json, int64_t expected)
{
    struct record_change *r = ARENA_NEW(&c->mem, struct record_change);

    *r = (struct record_change){.change = {.apply = record_change_apply},
                                .org_id = STR("org-1"),
                                .action = action,
                                .object = STR("invoice"),
                                .id = STR("I-1"),
                                .data = read_value(c, json),
                                .expected = expected};
    return r;
}

static void assert_written(struct contract *c, enum record_action action, const char *json,
                           int64_t expected, int status, const char *answer)
{
    struct record_change *r = change_record(c, action, json, expected);
    struct member *m = apply(c, &r->change);

    if (m->result != MEMBER_APPLIED)
        fail_msg("%s: %s", json, m->err.message);
    assert_int_equal(r->change.answer_status, status);
    assert_int_equal(r->change.answer_json.len, strlen(answer));
    assert_memory_equal(r->change.answer_json.ptr, answer, strlen(answer));
}

static void assert_refused(struct contract *c, enum record_action action, const char *json,
                           int64_t expected, enum err_code code)
{
    struct record_change *r = change_record(c, action, json, expected);
    struct member *m = apply(c, &r->change);

    assert_int_equal(m->result, MEMBER_FAILED);
    assert_int_equal(m->err.code, code);
}

static void test_store__record_is_put_and_replaced(void **state)
{
    struct contract *c = *state;

    assert_written(c, RECORD_PUT, "{\"a\":1,\"b\":{\"c\":2}}", RECORD_WHATEVER, 201,
                   "{\"id\":\"I-1\",\"version\":1,\"a\":1,\"b\":{\"c\":2}}");
    assert_written(c, RECORD_PUT, "{\"z\":[null]}", RECORD_WHATEVER, 200,
                   "{\"id\":\"I-1\",\"version\":2,\"z\":[null]}");
}

static void test_store__record_is_written_only_as_it_is_expected(void **state)
{
    struct contract *c = *state;

    assert_refused(c, RECORD_PUT, "{}", 1, ERR_PRECONDITION_FAILED);
    assert_refused(c, RECORD_PUT, "{}", RECORD_ANY_VERSION, ERR_PRECONDITION_FAILED);
    assert_refused(c, RECORD_PATCH, "{}", RECORD_WHATEVER, ERR_NOT_FOUND);
    assert_refused(c, RECORD_DELETE, "{}", RECORD_WHATEVER, ERR_NOT_FOUND);
    assert_written(c, RECORD_PUT, "{}", RECORD_NO_VERSION, 201, "{\"id\":\"I-1\",\"version\":1}");
    assert_refused(c, RECORD_PUT, "{}", RECORD_NO_VERSION, ERR_PRECONDITION_FAILED);
    assert_refused(c, RECORD_PUT, "{}", 2, ERR_PRECONDITION_FAILED);
    assert_refused(c, RECORD_DELETE, "{}", 2, ERR_PRECONDITION_FAILED);
    assert_written(c, RECORD_PUT, "{}", 1, 200, "{\"id\":\"I-1\",\"version\":2}");
    assert_written(c, RECORD_DELETE, "{}", 2, 204, "");
    assert_refused(c, RECORD_DELETE, "{}", RECORD_WHATEVER, ERR_NOT_FOUND);
    /* No version comes twice. */
    assert_written(c, RECORD_PUT, "{}", RECORD_WHATEVER, 201, "{\"id\":\"I-1\",\"version\":4}");
}

static void test_store__patch_merges_and_takes_away(void **state)
{
    struct contract *c = *state;

    assert_written(c, RECORD_PUT, "{\"a\":1,\"b\":{\"c\":2,\"d\":3},\"e\":[1]}", RECORD_WHATEVER,
                   201, "{\"id\":\"I-1\",\"version\":1,\"a\":1,\"b\":{\"c\":2,\"d\":3},\"e\":[1]}");
    assert_written(c, RECORD_PATCH,
                   "{\"a\":null,\"b\":{\"c\":null,\"f\":{\"g\":null,\"h\":1}},\"e\":{\"x\":1}}",
                   RECORD_ANY_VERSION, 200,
                   "{\"id\":\"I-1\",\"version\":2,\"b\":{\"d\":3,\"f\":{\"h\":1}},"
                   "\"e\":{\"x\":1}}");
}

static void test_store__record_that_was_edited_refuses_the_commit_that_read_it(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);

    assert_written(c, RECORD_PUT, "{}", RECORD_WHATEVER, 201, "{\"id\":\"I-1\",\"version\":1}");
    assert_written(c, RECORD_PATCH, "{\"a\":1}", 1, 200, "{\"id\":\"I-1\",\"version\":2,\"a\":1}");
    *VEC_ADD(&c->mem, &start->records) = (struct record_write){.object = STR("invoice"),
                                                               .id = STR("I-1"),
                                                               .read_version = 1,
                                                               .version = 2,
                                                               .data_json = STR("{}")};
    assert_int_equal(contract_commit(c, start), MEMBER_RECORD_STALE);
    start->records.items[0].read_version = 2;
    start->records.items[0].version = 3;
    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
}

struct record_page {
    struct search search;
    struct search_found found;
};

static void load_records(struct contract *c, struct reader *r, void *context)
{
    struct record_page *page = context;
    struct err err;

    assert_true(read_found(r, &c->mem, &page->search, &page->found, &err));
    assert_int_equal(page->found.err.code, ERR_NONE);
}

static void test_store__records_are_read_in_pages(void **state)
{
    struct contract *c = *state;
    struct record_page page = {
        .search = {.org_id = STR("org-1"), .object = STR("invoice"), .limit = 3}};
    unsigned seen = 0;

    for (unsigned i = 0; i < 7; i++) {
        struct record_change *r = change_record(c, RECORD_PUT, "{\"n\":1}", RECORD_WHATEVER);

        r->id = str_printf(&c->mem, "I-%u", i);
        r->object = i == 3 ? STR("order") : STR("invoice");
        assert_int_equal(apply(c, &r->change)->result, MEMBER_APPLIED);
    }
    do {
        contract_read(c, load_records, &page);
        seen += (unsigned)page.found.count;
        assert_true(page.found.count > 0);
        page.search.after =
            search_cursor(&c->mem, &page.search, &page.found.items[page.found.count - 1].rank);
    } while (page.found.more);
    assert_int_equal(seen, 6);
}

/* --- executions --- */

static struct member *delete_one(struct contract *c, struct uuid id, bool goes_on, bool *has_more)
{
    struct execution_delete *d = ARENA_NEW(&c->mem, struct execution_delete);
    struct member *m;

    *d = (struct execution_delete){
        .change = {.apply = execution_delete_apply}, .id = id, .goes_on = goes_on};
    m = apply(c, &d->change);
    *has_more = d->has_more;
    return m;
}

struct rest {
    struct uuid id;
    struct history rows;
    int64_t counts[STATUS_COUNT];
    bool found;
};

static void load_rest(struct contract *c, struct reader *r, void *context)
{
    struct rest *rest = context;
    struct err err;

    assert_true(read_history(r, &c->mem, rest->id, 0, 1000000, &rest->rows, &rest->found, &err));
    assert_true(read_counts(r, rest->counts, &err));
}

static void test_store__execution_goes_with_all_that_belongs_to_it(void **state)
{
    struct contract *c = *state;
    struct commit *ended = contract_start(c, STATUS_COMPLETED, 5);
    struct commit *other = contract_start(c, STATUS_COMPLETED, 2);
    struct rest rest = {.id = ended->after->id};
    bool has_more;

    assert_int_equal(contract_commit(c, ended), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, other), MEMBER_APPLIED);
    assert_int_equal(delete_one(c, ended->after->id, false, &has_more)->result, MEMBER_APPLIED);
    contract_read(c, load_rest, &rest);
    assert_false(rest.found);
    assert_int_equal(rest.counts[STATUS_COMPLETED], 1);
    assert_null(contract_load(c, ended->after->id));
    assert_int_equal(delete_one(c, ended->after->id, false, &has_more)->result, MEMBER_GONE);
    rest.id = other->after->id;
    contract_read(c, load_rest, &rest);
    assert_int_equal(rest.rows.count, 2);
}

static void test_store__live_execution_is_not_deleted(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 2);
    struct rest rest = {.id = start->after->id};
    struct member *m;
    bool has_more;

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    m = delete_one(c, start->after->id, false, &has_more);
    assert_int_equal(m->result, MEMBER_FAILED);
    assert_int_equal(m->err.code, ERR_CONFLICT);
    assert_int_equal(delete_one(c, start->after->id, true, &has_more)->result, MEMBER_FAILED);
    contract_read(c, load_rest, &rest);
    assert_int_equal(rest.rows.count, 2);
    assert_int_equal(rest.counts[STATUS_WAITING], 1);
}

static void test_store__long_history_is_deleted_in_parts_and_gone_with_the_first(void **state)
{
    struct contract *c = *state;
    struct commit *ended = contract_start(c, STATUS_FAILED, DELETE_ROWS_MAX + 10);
    struct commit *retry = contract_advance(c, ended, STATUS_RUNNING, 1);
    struct member *start = contract_member(c, ended);
    struct rest rest = {.id = ended->after->id};
    struct assertion s = {.id = ended->after->id, .row_version = 1};
    struct member asserts = {.kind = MEMBER_ASSERT, .assertion = &s};
    bool has_more;

    contract_write(c, contract_batch(c, start, NULL));
    assert_int_equal(delete_one(c, ended->after->id, false, &has_more)->result, MEMBER_APPLIED);
    assert_true(has_more);
    assert_null(contract_load(c, ended->after->id));
    contract_read(c, load_rest, &rest);
    assert_false(rest.found);
    assert_int_equal(rest.counts[STATUS_FAILED], 0);
    /* An operator's retry that was on its way finds nothing. */
    assert_int_equal(contract_commit(c, contract_advance(c, ended, STATUS_RUNNING, 1)),
                     MEMBER_GONE);
    retry->after->row = start->row;
    retry->before = (struct commit_before){.is_known = true, .status = STATUS_FAILED};
    assert_int_equal(contract_commit(c, retry), MEMBER_GONE);
    contract_write(c, contract_batch(c, &asserts, NULL));
    assert_int_equal(asserts.result, MEMBER_GONE);
    /* It is gone for everybody else; who has begun goes on. */
    assert_int_equal(delete_one(c, ended->after->id, false, &has_more)->result, MEMBER_GONE);
    assert_int_equal(delete_one(c, ended->after->id, true, &has_more)->result, MEMBER_APPLIED);
    assert_false(has_more);
    assert_int_equal(delete_one(c, ended->after->id, true, &has_more)->result, MEMBER_GONE);
    contract_read(c, load_rest, &rest);
    assert_int_equal(rest.counts[STATUS_FAILED], 0);
}

static void test_store__deletion_that_was_interrupted_is_finished_by_a_purge(void **state)
{
    struct contract *c = *state;
    struct commit *ended = contract_start(c, STATUS_COMPLETED, DELETE_ROWS_MAX + 10);
    struct execution_purge purge = {.change = {.apply = execution_purge_apply},
                                    .ids = &ended->after->id,
                                    .count = 1,
                                    .before_us = 1};
    bool has_more;

    assert_int_equal(contract_commit(c, ended), MEMBER_APPLIED);
    assert_int_equal(delete_one(c, ended->after->id, false, &has_more)->result, MEMBER_APPLIED);
    assert_true(has_more);
    contract_reopen(c);
    assert_int_equal(apply(c, &purge.change)->result, MEMBER_APPLIED);
    assert_int_equal(purge.deleted, 1);
    assert_int_equal(delete_one(c, ended->after->id, true, &has_more)->result, MEMBER_GONE);
}

static void test_store__row_of_a_deleted_execution_is_not_given_again(void **state)
{
    struct contract *c = *state;
    struct commit *ended = contract_start(c, STATUS_COMPLETED, 1);
    struct commit *next = contract_start(c, STATUS_WAITING, 1);
    int64_t row;
    bool has_more;

    assert_int_equal(contract_commit(c, ended), MEMBER_APPLIED);
    row = contract_load(c, ended->after->id)->row;
    assert_int_equal(delete_one(c, ended->after->id, false, &has_more)->result, MEMBER_APPLIED);
    contract_reopen(c);
    assert_int_equal(contract_commit(c, next), MEMBER_APPLIED);
    assert_true(contract_load(c, next->after->id)->row > row);
}

struct answer_load {
    struct idempotency asked;
    struct stored_answer kept;
};

static void load_answer(struct contract *c, struct reader *r, void *context)
{
    struct answer_load *l = context;
    struct err err;

    assert_true(read_answer(r, &c->mem, &l->asked, 1700000000000000, &l->kept, &err));
}

static void test_store__answer_about_a_deleted_execution_keeps_only_its_id(void **state)
{
    struct contract *c = *state;
    struct commit *ended = contract_start(c, STATUS_COMPLETED, 1);
    struct answer_load l = {.asked = {.user = STR("ann"),
                                      .method = STR("POST"),
                                      .path = STR("/x"),
                                      .key = STR("k"),
                                      .body_hash = STR("h"),
                                      .status = 201,
                                      .answer = STR("{\"input\":\"secret\"}")}};
    struct member *m = contract_member(c, ended);
    char id[UUID_TEXT_LEN + 1];
    bool has_more;

    m->idempotency = &l.asked;
    contract_write(c, contract_batch(c, m, NULL));
    assert_int_equal(m->result, MEMBER_APPLIED);
    contract_read(c, load_answer, &l);
    assert_str(l.kept.text, "{\"input\":\"secret\"}");
    assert_int_equal(delete_one(c, ended->after->id, false, &has_more)->result, MEMBER_APPLIED);
    contract_read(c, load_answer, &l);
    assert_true(l.kept.is_kept);
    uuid_write(ended->after->id, id);
    assert_true(str_eq(l.kept.text, str_printf(&c->mem, "{\"id\":\"%s\"}", id)));
}

/* Purge until all are dealt with, since one change has some milliseconds only. How many are gone? */
static size_t purge_all(struct contract *c, struct execution_purge *purge)
{
    size_t deleted = 0;

    while (purge->count > 0) {
        assert_int_equal(apply(c, &purge->change)->result, MEMBER_APPLIED);
        assert_in_range(purge->looked_at, 0, purge->count);
        deleted += purge->deleted;
        purge->ids += purge->looked_at;
        purge->count -= purge->looked_at;
    }
    return deleted;
}

static void test_store__purge_deletes_what_ended_before(void **state)
{
    struct contract *c = *state;
    struct commit *old = contract_start(c, STATUS_COMPLETED, 3);
    struct commit *newer = contract_start(c, STATUS_CANCELLED, 3);
    struct commit *live = contract_start(c, STATUS_WAITING, 3);
    struct uuid ids[] = {old->after->id, newer->after->id, live->after->id, contract_id(c, 1)};
    struct execution_purge purge = {.change = {.apply = execution_purge_apply},
                                    .ids = ids,
                                    .count = 4,
                                    .before_us = old->after->completed_at_us + 1};

    newer->after->completed_at_us = purge.before_us;
    assert_int_equal(contract_commit(c, old), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, newer), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, live), MEMBER_APPLIED);
    assert_int_equal(purge_all(c, &purge), 1);
    assert_null(contract_load(c, ids[0]));
    assert_non_null(contract_load(c, ids[1]));
    assert_non_null(contract_load(c, ids[2]));
}

static void test_store__purge_stops_at_its_budget_and_goes_on_there(void **state)
{
    struct contract *c = *state;
    struct commit *first = contract_start(c, STATUS_COMPLETED, DELETE_ROWS_MAX - 1);
    struct commit *second = contract_start(c, STATUS_COMPLETED, 10);
    struct uuid ids[] = {first->after->id, second->after->id};
    struct execution_purge purge = {
        .change = {.apply = execution_purge_apply}, .ids = ids, .count = 2, .before_us = INT64_MAX};

    assert_int_equal(contract_commit(c, first), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, second), MEMBER_APPLIED);
    assert_int_equal(apply(c, &purge.change)->result, MEMBER_APPLIED);
    assert_int_equal(purge.deleted, 1);
    assert_int_equal(purge.looked_at, 1);
    assert_int_equal(purge_all(c, &purge), 1);
    assert_null(contract_load(c, ids[1]));
}

static void test_store__child_stays_while_its_parent_lives(void **state)
{
    struct contract *c = *state;
    struct commit *parent = contract_start(c, STATUS_WAITING, 1);
    struct commit *child = contract_start(c, STATUS_COMPLETED, 1), *next;
    struct execution_purge purge = {.change = {.apply = execution_purge_apply},
                                    .ids = &child->after->id,
                                    .count = 1,
                                    .before_us = INT64_MAX};
    char id[UUID_TEXT_LEN + 1];
    struct member *m;
    bool has_more;

    uuid_write(child->after->id, id);
    child->after->has_parent = true;
    child->after->parent_id = parent->after->id;
    *VEC_ADD(&c->mem, &child->notices) =
        (struct notice){.execution = parent->after->id,
                        .kind = NOTICE_CHILD,
                        .key = str_printf(&c->mem, "child:%s", id)};
    assert_int_equal(contract_commit(c, parent), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, child), MEMBER_APPLIED);
    m = delete_one(c, child->after->id, false, &has_more);
    assert_int_equal(m->result, MEMBER_FAILED);
    assert_int_equal(m->err.code, ERR_PARENT_LIVE);
    assert_int_equal(apply(c, &purge.change)->result, MEMBER_APPLIED);
    assert_int_equal(purge.deleted, 0);
    next = contract_advance(c, parent, STATUS_WAITING, 1);
    *VEC_ADD(&c->mem, &next->consumed) = contract_load(c, parent->after->id)->notices.items[0].n;
    assert_int_equal(contract_commit(c, next), MEMBER_APPLIED);
    m = delete_one(c, child->after->id, false, &has_more);
    assert_int_equal(m->result, MEMBER_FAILED);
    assert_int_equal(m->err.code, ERR_PARENT_LIVE);
    assert_int_equal(apply(c, &purge.change)->result, MEMBER_APPLIED);
    assert_int_equal(purge.deleted, 0);
    next = contract_advance(c, next, STATUS_COMPLETED, 1);
    assert_int_equal(contract_commit(c, next), MEMBER_APPLIED);
    assert_int_equal(delete_one(c, child->after->id, false, &has_more)->result, MEMBER_APPLIED);
    assert_null(contract_load(c, child->after->id));
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, contract_setup, contract_teardown)

static const struct CMUnitTest claims[] = {
    CLAIM(test_store__record_is_put_and_replaced),
    CLAIM(test_store__record_is_written_only_as_it_is_expected),
    CLAIM(test_store__patch_merges_and_takes_away),
    CLAIM(test_store__record_that_was_edited_refuses_the_commit_that_read_it),
    CLAIM(test_store__records_are_read_in_pages),
    CLAIM(test_store__execution_goes_with_all_that_belongs_to_it),
    CLAIM(test_store__live_execution_is_not_deleted),
    CLAIM(test_store__child_stays_while_its_parent_lives),
    CLAIM(test_store__long_history_is_deleted_in_parts_and_gone_with_the_first),
    CLAIM(test_store__deletion_that_was_interrupted_is_finished_by_a_purge),
    CLAIM(test_store__row_of_a_deleted_execution_is_not_given_again),
    CLAIM(test_store__answer_about_a_deleted_execution_keeps_only_its_id),
    CLAIM(test_store__purge_deletes_what_ended_before),
    CLAIM(test_store__purge_stops_at_its_budget_and_goes_on_there),
};

int contract_run_changes(const char *name)
{
    return _cmocka_run_group_tests(name, claims, ARRAY_SIZE(claims), NULL, NULL);
}
