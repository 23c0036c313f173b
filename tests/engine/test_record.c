/* test_record.c - claims about commands on the record store. */
#include "engine/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static void start(const char *steps)
{
    rig_define(&rig,
               str_printf(&rig.mem, "{'code':'a','onError':'fail_fast','steps':[%s]}", steps).ptr);
    rig_start(&rig, "{}");
}

static const char *result(void)
{
    return rig_text(&rig, rig.x->result_json);
}

static bool failed_with(const char *code)
{
    return rig.x->status == STATUS_FAILED &&
           strstr(rig_text(&rig, rig.x->error_json), code) != NULL;
}

static void assert_record(const char *id, int64_t version, const char *data)
{
    int64_t found;

    assert_string_equal(rig_find_record(&rig, "order", id, &found), data);
    assert_int_equal(found, version);
}

static void test_record__a_create_without_an_id_needs_no_read(void **state)
{
    int64_t version;

    (void)state;
    start("{'code': 'a',"
          "  'procedure': {'type': 'record.create', 'object': 'order', 'data': {'n': 1}}}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig.needs, 0);
    assert_int_equal(rig.last.records.count, 1);
    assert_int_equal(rig.last.records.items[0].id.len, UUID_TEXT_LEN);
    assert_string_equal(
        rig_find_record(&rig, "order", rig_text(&rig, rig.last.records.items[0].id), &version),
        "{'n':1}");
    assert_int_equal(version, 1);
}

static void test_record__a_record_that_was_just_made_is_seen_by_later_steps(void **state)
{
    (void)state;
    start("{'code': 'a',"
          "  'procedure': {'type': 'record.create', 'object': 'order', 'data': {'n': 1}}},"
          "{'code': 'b', 'procedure': {'type': 'record.update', 'object': 'order',"
          "  'id': '=steps.a.id', 'data': {'m': 2}}},"
          "{'code': 'c',"
          "  'procedure': {'type': 'record.get', 'object': 'order', 'id': '=steps.a.id'}}");
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_int_equal(rig.last.records.count, 1);
    assert_int_equal(rig.last.records.items[0].version, 2);
    assert_non_null(strstr(result(), "'version':2,'n':1,'m':2"));
}

static void test_record__reads_are_asked_for_and_come_back_with_versions(void **state)
{
    (void)state;
    rig_record(&rig, "order", "o1", 7, "{'n':5}");
    start("{'code': 'a', 'procedure': {'type': 'record.get', 'object': 'order', 'id': 'o1'}},"
          "{'code': 'b', 'procedure': {'type': 'record.update', 'object': 'order', 'id': 'o1',"
          "  'data': {'n': '=steps.a.n + 1'}}}");
    assert_int_equal(rig.needs, 1);
    assert_string_equal(result(), "{'id':'o1','version':8,'n':6}");
    assert_int_equal(rig.last.records.items[0].read_version, 7);
    assert_record("o1", 8, "{'n':6}");
}

static void test_record__what_is_missing_is_a_business_error(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedure': {'type': 'record.get', 'object': 'order', 'id': 'o1'}}");
    assert_true(failed_with("not_found_record"));
    start("{'code': 'a',"
          "  'procedure': {'type': 'record.update', 'object': 'order', 'id': 'o1', 'data': {}}}");
    assert_true(failed_with("not_found_record"));
    start("{'code': 'a', 'procedure': {'type': 'record.delete', 'object': 'order', 'id': 'o1'}}");
    assert_string_equal(result(), "{'deleted':false}");
}

static void test_record__if_exists_says_what_a_second_create_does(void **state)
{
    static const struct {
        const char *word, *data;
        int64_t version;
    } cases[] = {{"fail", NULL, 3},
                 {"keep", "{'a':1,'b':2}", 3},
                 {"merge", "{'a':1,'b':20,'c':30}", 4},
                 {"replace", "{'b':20,'c':30}", 4}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        rig_record(&rig, "order", "o1", 3, "{'a':1,'b':2}");
        start(str_printf(&rig.mem,
                         "{'code': 'a', 'procedure': {'type': 'record.create', 'object': 'order',"
                         "  'id': 'o1', 'data': {'b': 20, 'c': 30}, 'ifExists': '%s'}}",
                         cases[i].word)
                  .ptr);
        if (cases[i].data == NULL)
            assert_true(failed_with("conflict_exists"));
        assert_record("o1", cases[i].version,
                      cases[i].data == NULL ? "{'a':1,'b':2}" : cases[i].data);
    }
}

static void test_record__an_expected_version_that_is_another_is_an_error_at_once(void **state)
{
    (void)state;
    rig_record(&rig, "order", "o1", 3, "{'a':1}");
    start("{'code': 'a', 'procedure': {'type': 'record.update', 'object': 'order', 'id': 'o1',"
          "  'data': {}, 'expectedVersion': 2}}");
    assert_true(failed_with("conflict_version"));
    assert_true(failed_with("'class':'business'"));
    start("{'code': 'a', 'procedure': {'type': 'record.delete', 'object': 'order', 'id': 'o1',"
          "  'expectedVersion': 2}}");
    assert_true(failed_with("conflict_version"));
    start("{'code': 'a', 'procedure': {'type': 'record.update', 'object': 'order', 'id': 'o1',"
          "  'data': {'b': 1}, 'expectedVersion': 3}}");
    assert_record("o1", 4, "{'a':1,'b':1}");
    start("{'code': 'a', 'procedure': {'type': 'record.delete', 'object': 'order', 'id': 'o1',"
          "  'expectedVersion': 4}}");
    assert_record("o1", 0, "none");
}

static void test_record__many_writes_of_one_record_are_one_write_of_the_commit(void **state)
{
    (void)state;
    rig_record(&rig, "order", "o1", 3, "{'a':1}");
    start("{'code': 'x', 'procedure': ["
          "  {'type': 'record.update', 'object': 'order', 'id': 'o1', 'data': {'b': 1}},"
          "  {'type': 'record.update', 'object': 'order', 'id': 'o1', 'data': {'c': 1}}]},"
          "{'code': 'y', 'procedure': {'type': 'record.update', 'object': 'order', 'id': 'o1',"
          "  'data': {'d': 1}}}");
    assert_int_equal(rig.last.records.count, 1);
    assert_int_equal(rig.last.records.items[0].read_version, 3);
    assert_record("o1", 6, "{'a':1,'b':1,'c':1,'d':1}");
}

static void test_record__made_and_deleted_in_one_turn_never_was(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedure': {'type': 'record.create', 'object': 'order', 'id': 'o1',"
          "  'data': {'a': 1}}},"
          "{'code': 'b', 'procedure': {'type': 'record.delete', 'object': 'order', 'id': 'o1'}}");
    assert_string_equal(result(), "{'deleted':true}");
    assert_int_equal(rig.last.records.count, 0);
}

static void test_record__deleted_and_made_again_keeps_counting(void **state)
{
    (void)state;
    rig_record(&rig, "order", "o1", 3, "{'a':1}");
    start("{'code': 'a', 'procedure': {'type': 'record.delete', 'object': 'order', 'id': 'o1'}},"
          "{'code': 'b', 'procedure': {'type': 'record.create', 'object': 'order', 'id': 'o1',"
          "  'data': {'b': 1}}}");
    assert_int_equal(rig.last.records.count, 1);
    assert_record("o1", 5, "{'b':1}");
}

static void test_record__a_step_that_fails_leaves_no_trace(void **state)
{
    (void)state;
    rig_record(&rig, "order", "o1", 3, "{'a':1}");
    start("{'code': 'x', 'onError': 'continue', 'procedure': ["
          "  {'type': 'record.update', 'object': 'order', 'id': 'o1', 'data': {'b': 1}},"
          "  {'type': 'compute.fail', 'code': 'no', 'message': 'no'}]},"
          "{'code': 'y', 'procedure': {'type': 'record.get', 'object': 'order', 'id': 'o1'}}");
    assert_int_equal(rig.last.records.count, 0);
    assert_string_equal(result(), "{'id':'o1','version':3,'a':1}");
}

static void test_record__contested_records_end_in_a_transient_conflict(void **state)
{
    (void)state;
    rig.gives_up_on_records = true;
    rig_record(&rig, "order", "o1", 3, "{'a':1}");
    start("{'code': 'a', 'procedure': {'type': 'record.get', 'object': 'order', 'id': 'o1'}},"
          "{'code': 'b', 'procedure': {'type': 'record.update', 'object': 'order', 'id': 'o1',"
          "  'data': {'b': 1}}}");
    assert_true(failed_with("conflict_version"));
    assert_true(failed_with("'class':'transient','retryable':true"));
}

static void test_record__reads_survive_a_wait_that_took_a_buffered_signal(void **state)
{
    (void)state;
    rig_record(&rig, "order", "o1", 3, "{'a':1}");
    start("{'code': 'g', 'procedure': {'type': 'wait.signal', 'signalType': 'go'}},"
          "{'code': 'w', 'procedure': {'type': 'wait.signal', 'signalType': 'x'}},"
          "{'code': 'b',"
          "  'procedure': {'type': 'record.get', 'object': 'order', 'id': '=steps.w.payload'}}");
    assert_true(rig_signal(&rig, "1", "x", "'o1'"));
    assert_true(rig_signal(&rig, "2", "go", "1"));
    assert_int_equal(rig.needs, 1);
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(result(), "{'id':'o1','version':3,'a':1}");
}

static void test_record__a_number_is_an_id_too(void **state)
{
    (void)state;
    rig_record(&rig, "order", "1", 1, "{'a':1}");
    start("{'code': 'a',"
          "  'procedure': {'type': 'record.get', 'object': 'order', 'id': '=execution.version'}}");
    assert_string_equal(result(), "{'id':'1','version':1,'a':1}");
}

static void test_record__data_may_not_pass_for_id_and_version(void **state)
{
    (void)state;
    start("{'code': 'a', 'procedure': {'type': 'record.create', 'object': 'order', 'id': 'o1',"
          "  'data': {'id': 'other', 'version': 99, 'n': 1}}}");
    assert_string_equal(result(), "{'id':'o1','version':1,'n':1}");
}

/* --- query --- */

static void fill(void)
{
    rig_record(&rig, "order", "a", 1, "{'n':3,'who':'x'}");
    rig_record(&rig, "order", "b", 1, "{'n':1,'who':'y'}");
    rig_record(&rig, "order", "c", 1, "{'n':2,'who':'x'}");
    rig_record(&rig, "other", "d", 1, "{'n':9,'who':'x'}");
}

static void test_query__filters_orders_and_limits(void **state)
{
    static const struct {
        const char *fields, *ids;
    } cases[] = {
        {"'limit':100", "['a','b','c']"},
        {"'where':'record.who == \\'x\\''", "['a','c']"},
        {"'orderBy':'n'", "['b','c','a']"},
        {"'orderBy':'n desc','limit':2", "['a','c']"},
        {"'orderBy':['who','n desc']", "['a','c','b']"},
        {"'orderBy':['who desc','n asc']", "['b','c','a']"},
        {"'orderBy':'missing'", "['a','b','c']"},
        {"'limit':0", "[]"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        fill();
        start(str_printf(&rig.mem,

                         "{'code': 'q',"
                         "  'procedure': {'type': 'record.query', 'object': 'order', %s}},"
                         "{'code': 'r', 'procedure': {'type': 'compute.transform',"
                         "  'data': '=steps.q.items.map(i, i.id)'}}",
                         cases[i].fields)
                  .ptr);
        assert_string_equal(result(), cases[i].ids);
    }
}

static void test_query__sees_the_writes_of_its_own_turn(void **state)
{
    (void)state;
    fill();
    start("{'code': 'm', 'procedure': {'type': 'record.create', 'object': 'order', 'id': 'z',"
          "  'data': {'n': 0}}},"
          "{'code': 'u', 'procedure': {'type': 'record.update', 'object': 'order', 'id': 'b',"
          "  'data': {'n': 10}}},"
          "{'code': 'd', 'procedure': {'type': 'record.delete', 'object': 'order', 'id': 'c'}},"
          "{'code': 'q', 'procedure': ["
          "  {'type': 'record.create', 'object': 'order', 'id': 'y', 'data': {'n': 5}},"
          "  {'type': 'record.query', 'object': 'order', 'orderBy': 'n',"
          "    'result': {'ids': '=response.items.map(i, i.id)', 'count': '=response.count'}}]}");
    assert_string_equal(result(), "{'ids':['z','a','y','b'],'count':4}");
}

static void test_query__a_where_that_fails_fails_the_step(void **state)
{
    (void)state;
    fill();
    start("{'code': 'q', 'procedure': {'type': 'record.query', 'object': 'order',"
          "  'where': 'record.missing == 1'}}");
    assert_true(failed_with("expression_error"));
}

/* `count` records of which each second has 'even'. */
static void fill_many(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        rig_record(
            &rig, "order", str_printf(&rig.mem, "o%04u", i).ptr, 1,
            str_printf(&rig.mem, "{'n':%u,'even':%s}", i, i % 2 == 0 ? "true" : "false").ptr);
}

static void test_query__without_a_limit_all_are_found_or_it_fails(void **state)
{
    (void)state;
    fill_many(1001);
    start("{'code': 'q', 'procedure': {'type': 'record.query', 'object': 'order',"
          "  'where': 'record.n > 0',"
          "  'result': {'n': '=response.count', 'more': '=response.more'}}}");
    assert_string_equal(result(), "{'n':1000,'more':false}");
    start("{'code': 'q', 'procedure': {'type': 'record.query', 'object': 'order',"
          "  'result': {'n': '=response.count'}}}");
    assert_true(failed_with("limit_query"));
}

static void test_query__a_page_says_that_there_are_others_and_reads_on(void **state)
{
    (void)state;
    fill_many(5);
    start("{'code': 'a', 'procedure': {'type': 'record.query', 'object': 'order', 'limit': 2,"
          "  'result': '=response'}},"
          "{'code': 'b', 'procedure': {'type': 'record.query', 'object': 'order', 'limit': 2,"
          "  'after': '$.steps.a.next', 'result': '=response'}},"
          "{'code': 'c', 'procedure': {'type': 'record.query', 'object': 'order', 'limit': 2,"
          "  'after': '$.steps.b.next', 'result': '=response'}},"
          "{'code': 'r', 'procedure': {'type': 'compute.transform',"
          "  'data': '=[steps.a, steps.b, steps.c].map(p, {\\'ids\\': p.items.map(i, i.id), "
          "\\'more\\': p.more, \\'count\\': p.count, \\'end\\': p.next == null})'}}");
    assert_string_equal(result(), "[{'ids':['o0000','o0001'],'more':true,'count':2,'end':false},"
                                  "{'ids':['o0002','o0003'],'more':true,'count':2,'end':false},"
                                  "{'ids':['o0004'],'more':false,'count':1,'end':true}]");
}

/* Pages of an order, over writes of the same step and of earlier ones that are not stored yet. */
static void test_query__pages_go_on_over_the_writes_of_the_turn(void **state)
{
    (void)state;
    fill_many(6);
    start("{'code': 'u', 'procedure': {'type': 'record.update', 'object': 'order', 'id': 'o0003',"
          "  'data': {'n': -1}}},"
          "{'code': 'd', 'procedure': {'type': 'record.delete', 'object': 'order', 'id': 'o0002'}},"
          "{'code': 'x', 'procedure': {'type': 'record.create', 'object': 'order', 'id': 'x',"
          "  'data': {'n': 4}}},"
          "{'code': 'y', 'procedure': {'type': 'record.create', 'object': 'order', 'id': 'y',"
          "  'data': {'n': 4}}},"
          "{'code': 'a', 'procedure': {'type': 'record.query', 'object': 'order', 'orderBy': 'n',"
          "  'limit': 3, 'result': '=response'}},"
          "{'code': 'b', 'procedure': {'type': 'record.query', 'object': 'order', 'orderBy': 'n',"
          "  'limit': 2, 'after': '$.steps.a.next', 'result': '=response'}},"
          "{'code': 'c', 'procedure': {'type': 'record.query', 'object': 'order', 'orderBy': 'n',"
          "  'limit': 9, 'after': '$.steps.b.next', 'result': '=response'}},"
          "{'code': 'r', 'procedure': {'type': 'compute.transform',"
          "  'data': '=[steps.a, steps.b, steps.c].map(p, p.items.map(i, i.id))'}}");
    assert_string_equal(result(), "[['o0003','o0000','o0001'],['o0004','x'],['y','o0005']]");
}

/* A record that was a cursor before it was stored is found again when it is. */
static void test_query__a_cursor_survives_that_its_record_is_stored(void **state)
{
    (void)state;
    fill_many(1);
    start("{'code': 'x', 'procedure': {'type': 'record.create', 'object': 'order', 'id': 'x',"
          "  'data': {'n': 4}}},"
          "{'code': 'y', 'procedure': {'type': 'record.create', 'object': 'order', 'id': 'y',"
          "  'data': {'n': 4}}},"
          "{'code': 'a', 'procedure': {'type': 'record.query', 'object': 'order', 'limit': 2,"
          "  'result': '=response'}},"
          "{'code': 'w', 'procedure': {'type': 'wait.timer', 'duration': '1s'}},"
          "{'code': 'b', 'procedure': {'type': 'record.query', 'object': 'order', 'limit': 2,"
          "  'after': '$.steps.a.next', 'result': '=response.items.map(i, i.id)'}}");
    rig.now_us += 2000000;
    assert_true(rig_wake(&rig));
    assert_int_equal(rig.x->status, STATUS_COMPLETED);
    assert_string_equal(result(), "['y']");
}

static void test_query__a_limit_above_a_page_and_a_foreign_cursor_are_refused(void **state)
{
    (void)state;
    fill();
    start("{'code': 'q', 'procedure': {'type': 'record.query', 'object': 'order',"
          "  'limit': '=size(input) + 1001'}}");
    assert_true(failed_with("validation_limit"));
    start("{'code': 'q',"
          "  'procedure': {'type': 'record.query', 'object': 'order', 'after': 'nonsense'}}");
    assert_true(failed_with("validation_after"));
}

static void test_query__where_sees_the_values_of_its_turn(void **state)
{
    (void)state;
    fill_many(9);
    start("{'code': 'v', 'procedure': {'type': 'compute.set', 'values': {'least': 7}}},"
          "{'code': 'q', 'procedure': {'type': 'record.query', 'object': 'order',"
          "  'where': 'record.n >= variables.least && $.execution.code == \\'a\\'',"
          "  'result': '=response.items.map(i, i.n)'}}");
    assert_string_equal(result(), "[7,8]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_record__a_create_without_an_id_needs_no_read),
        CLAIM(test_record__a_record_that_was_just_made_is_seen_by_later_steps),
        CLAIM(test_record__reads_are_asked_for_and_come_back_with_versions),
        CLAIM(test_record__what_is_missing_is_a_business_error),
        CLAIM(test_record__if_exists_says_what_a_second_create_does),
        CLAIM(test_record__an_expected_version_that_is_another_is_an_error_at_once),
        CLAIM(test_record__many_writes_of_one_record_are_one_write_of_the_commit),
        CLAIM(test_record__made_and_deleted_in_one_turn_never_was),
        CLAIM(test_record__deleted_and_made_again_keeps_counting),
        CLAIM(test_record__a_step_that_fails_leaves_no_trace),
        CLAIM(test_record__contested_records_end_in_a_transient_conflict),
        CLAIM(test_record__reads_survive_a_wait_that_took_a_buffered_signal),
        CLAIM(test_record__a_number_is_an_id_too),
        CLAIM(test_record__data_may_not_pass_for_id_and_version),
        CLAIM(test_query__filters_orders_and_limits),
        CLAIM(test_query__sees_the_writes_of_its_own_turn),
        CLAIM(test_query__a_where_that_fails_fails_the_step),
        CLAIM(test_query__without_a_limit_all_are_found_or_it_fails),
        CLAIM(test_query__a_page_says_that_there_are_others_and_reads_on),
        CLAIM(test_query__pages_go_on_over_the_writes_of_the_turn),
        CLAIM(test_query__a_cursor_survives_that_its_record_is_stored),
        CLAIM(test_query__a_limit_above_a_page_and_a_foreign_cursor_are_refused),
        CLAIM(test_query__where_sees_the_values_of_its_turn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
