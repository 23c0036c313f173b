/* test_scenario.c - claims about what compiles, and what it compiles to. */
#include "define/define.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct arena mem;
static const struct cel_env *env;
static struct findings findings;

static int set_up(void **state)
{
    (void)state;
    arena_init(&mem);
    env = define_env(&mem);
    findings = (struct findings){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_fini(&mem);
    return 0;
}

static struct value read_json(const char *text)
{
    struct value v = value_absent();
    struct err err;

    if (!json_read(&mem, str_of(text), &v, &err))
        fail_msg("%s: %s", text, err.message);
    return v;
}

static void print_findings(void)
{
    struct buf text;
    struct err err;

    buf_init_arena(&text, &mem);
    assert_true(json_write_pretty(&text, findings_value(&mem, &findings), &err));
    print_message("%.*s\n", STR_ARG(buf_view(&text)));
}

static const struct program *compile(const char *text)
{
    const struct program *p = NULL;

    define_compile_scenario(&mem, env, read_json(text), 3, &findings, &p);
    if (p == NULL || findings_have_errors(&findings)) {
        print_findings();
        fail_msg("does not compile: %s", text);
    }
    return p;
}

static void test_scenario__the_structure_of_the_manual_compiles(void **state)
{
    const struct program *p;

    (void)state;
    p = compile("{\n"
                "  \"code\": \"order_fulfillment\",\n"
                "  \"name\": \"Order Fulfillment\",\n"
                "  \"version\": 1,\n"
                "  \"description\": \"Full cycle: reservation -> payment -> shipping\",\n"
                "  \"input\": [\n"
                "    { \"name\": \"orderId\", \"type\": \"uuid\", \"required\": true },\n"
                "    { \"name\": \"amount\", \"type\": \"number\", \"required\": true }\n"
                "  ],\n"
                "  \"steps\": [],\n"
                "  \"procedures\": {},\n"
                "  \"onError\": \"compensate\",\n"
                "  \"settings\": {\n"
                "    \"timeout\": \"30d\",\n"
                "    \"retryPolicy\": { \"maxAttempts\": 3, \"delay\": \"5s\", \"backoff\": 2 }\n"
                "  },\n"
                "  \"meta\": {}\n"
                "}\n");
    assert_int_equal(p->version, 3);
    assert_int_equal(p->step_count, 0);
    assert_int_equal(p->param_count, 2);
    assert_true(p->timeout_us == INT64_C(30) * 86400 * 1000000);
    assert_int_equal(findings.count, 1);
    assert_true(findings.items[0].is_warning);
    program_release(p);
}

static void test_scenario__the_wait_of_the_manual_compiles(void **state)
{
    const struct program *p;

    (void)state;
    p = compile("{\"code\": \"a\", \"steps\": [{\n"
                "  \"code\": \"wait_approval\",\n"
                "  \"procedure\": { \"type\": \"wait.signal\", \"signalType\": "
                "\"approval_decision\", \"timeout\": \"24h\" },\n"
                "  \"input\": {}\n"
                "}]}");
    assert_int_equal(p->steps[0].commands[0].type, COMMAND_WAIT_SIGNAL);
    program_release(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_scenario__the_structure_of_the_manual_compiles, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_scenario__the_wait_of_the_manual_compiles, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
