/* contract_claims.c - the claims of contract.h. */
#include "store/contract.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define assert_str(actual, expected)                                                               \
    do {                                                                                           \
        struct str actual_ = (actual);                                                             \
        assert_int_equal(actual_.len, sizeof(expected) - 1);                                       \
        assert_memory_equal(actual_.ptr, expected, sizeof(expected) - 1);                          \
    } while (0)

static const struct contract_backend *backend;

static int open_fresh(void **state)
{
    static struct contract contract;

    contract_open(&contract, backend->fresh_url());
    *state = &contract;
    return 0;
}

static int close_fresh(void **state)
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

const struct CMUnitTest contract_tests[] = {
    cmocka_unit_test_setup_teardown(test_store__start_is_read_back_as_it_was_written, open_fresh,
                                    close_fresh),
};

int contract_run(const struct contract_backend *b, const char *name)
{
    backend = b;
    return _cmocka_run_group_tests(name, contract_tests,
                                   sizeof(contract_tests) / sizeof(*contract_tests), NULL, NULL);
}
