/* test_world.c - claims about functions, templates and what definitions may name. */
#include "base/buf.h"
#include "cel/cel.h"
#include "define/definition.h"
#include "define/program.h"
#include "define/template.h"
#include "define/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct world world;

static int set_up(void **state)
{
    definition_set_up(state);
    world = (struct world){.mem = &definition_mem};
    return 0;
}

static int tear_down(void **state)
{
    world_close(&world);
    return definition_tear_down(state);
}

static void add(const char *name, const char *definition)
{
    world_add_function(&world, str_of(name), definition_value(definition));
}

/* "/body: message; hint" of each finding of a function, joined by " | "; "" without one. */
static const char *findings_of(const struct findings *all)
{
    struct buf text;

    buf_init_arena(&text, &definition_mem);
    for (size_t i = 0; i < all->count; i++) {
        const struct finding *f = &all->items[i];
        buf_printf(&text, "%s%.*s: %.*s", i > 0 ? " | " : "", STR_ARG(f->pointer),
                   STR_ARG(f->message.text));
        if (f->hint.text.len > 0)
            buf_printf(&text, "; %.*s", STR_ARG(f->hint.text));
    }
    return str_copy(&definition_mem, buf_view(&text)).ptr;
}

static const char *wrong_with(const char *name)
{
    return findings_of(&world_function(&world, str_of(name))->findings);
}

/* The value of an expression in the world, as JSON, or "!message". */
static const char *evaluate(const char *source)
{
    const struct cel_program *program;
    struct value slots[ROOT_COUNT] = {{0}};
    struct cel_activation activation = {.slots = slots};
    struct value v;
    struct err err;

    if (!cel_compile(&definition_mem, world.definitions, str_of(source), NULL, &program, &err))
        return str_printf(&definition_mem, "?%s", err.message).ptr;
    v = cel_evaluate(&definition_mem, program, &activation, NULL);
    cel_program_release(program);
    return v.kind == VALUE_ERROR ? str_printf(&definition_mem, "!%s", v.error->message).ptr
                                 : definition_json(v);
}

/* --- functions --- */

static void test_function__calls_others_in_any_order(void **state)
{
    (void)state;
    add("quarter", "{'params': [{'name': 'x', 'type': 'number'}], 'body': 'fn.half(fn.half(x))'}");
    add("half", "{'params': [{'name': 'x', 'type': 'number'}], 'body': 'x * 0.5'}");
    add("answer", "{'params': [], 'body': '42'}");
    world_open(&world);
    assert_string_equal(wrong_with("quarter"), "");
    assert_string_equal(evaluate("fn.quarter(8)"), "2.0");
    assert_string_equal(evaluate("fn.quarter(8.0) + fn.answer()"), "44.0");
}

static void test_function__arguments_have_their_types(void **state)
{
    (void)state;
    add("f", "{'params': [{'name': 'n', 'type': 'integer'}, {'name': 's', 'type': 'string'}],"
             " 'body': 's + string(n)'}");
    add("when", "{'params': [{'name': 'd', 'type': 'date'}], 'body': 'string(timestamp(d))'}");
    world_open(&world);
    assert_string_equal(evaluate("fn.f(1, \"a\")"), "\"a1\"");
    assert_string_equal(evaluate("fn.f(\"a\", 1)"),
                        "?no such overload: fn.f(string, int); it takes (int, string)");
    assert_string_equal(evaluate("fn.f(dyn(\"a\"), \"b\")"), "!fn.f(): n must be a whole number");
    assert_string_equal(evaluate("fn.f(1)"),
                        "?no such overload: fn.f(int); it takes (int, string)");
    assert_string_equal(evaluate("fn.when(\"2026-01-31\")"), "\"2026-01-31T00:00:00Z\"");
    assert_string_equal(evaluate("fn.when(timestamp(\"2026-01-31\"))"), "\"2026-01-31T00:00:00Z\"");
    assert_string_equal(evaluate("fn.when(\"soon\")"),
                        "!fn.when(): d must be a date such as \"2026-01-31\"");
    assert_string_equal(evaluate("fn.fn(1)"), "?undeclared function 'fn.fn'; did you mean 'fn.f'?");
}

static void test_function__never_calls_itself(void **state)
{
    (void)state;
    add("a", "{'params': [], 'body': 'fn.b()'}");
    add("b", "{'params': [], 'body': 'fn.c()'}");
    add("c", "{'params': [], 'body': 'fn.a()'}");
    add("self", "{'params': [], 'body': 'fn.self()'}");
    add("outside", "{'params': [], 'body': 'fn.a()'}");
    add("fine", "{'params': [], 'body': '1'}");
    world_open(&world);
    assert_string_equal(wrong_with("a"), "/body: the function calls itself through fn.b");
    assert_string_equal(wrong_with("c"), "/body: the function calls itself through fn.a");
    assert_string_equal(wrong_with("self"), "/body: the function calls itself through fn.self");
    assert_string_equal(wrong_with("outside"), "/body: fn.a, which it calls, has mistakes");
    assert_string_equal(evaluate("fn.fine()"), "1");
}

static void test_function__calls_go_three_deep(void **state)
{
    (void)state;
    add("d4", "{'params': [], 'body': 'fn.d3() + 1'}");
    add("d5", "{'params': [], 'body': 'fn.d4() + 1'}");
    add("d1", "{'params': [], 'body': '1'}");
    add("d2", "{'params': [], 'body': 'fn.d1() + 1'}");
    add("d3", "{'params': [], 'body': 'fn.d2() + 1'}");
    world_open(&world);
    assert_string_equal(wrong_with("d3"), "");
    assert_string_equal(evaluate("fn.d3()"), "3");
    assert_string_equal(wrong_with("d4"), "/body: functions call each other more than 3 deep");
    assert_string_equal(wrong_with("d5"), "/body: functions call each other more than 3 deep");
    assert_string_equal(evaluate("fn.d4()"), "?undeclared function 'fn.d4'; did you mean 'fn.d1'?");
}

static void test_function__mistakes_are_told_where_they_are(void **state)
{
    static const char *const rows[][2] = {
        {"{'params': []}", "/body: 'body' is missing; write \"body\": \"amount * 0.9\""},
        {"{'params': [], 'body': 7}", "/body: body must be a text, not a number; write \"7\""},
        {"{'params': {}, 'body': '1'}",
         "/params: params must be a list of parameters, not an object"},
        {"{'params': [{'type': 'string'}], 'body': '1'}",
         "/params/0/name: 'name' is missing; write \"name\": \"amount\""},
        {"{'params': [{'name': 'a', 'type': 'strin'}], 'body': '1'}",
         "/params/0/type: type must be \"string\", \"number\", \"integer\", \"boolean\", \"uuid\", "
         "\"date\", \"datetime\", \"object\", \"array\" or \"any\"; did you mean 'string'?"},
        {"{'params': [{'name': 'a'}, {'name': 'a'}], 'body': '1'}",
         "/params/1/name: there are two parameters 'a'"},
        {"{'params': [], 'bdy': '1', 'body': '1'}",
         "/bdy: there is no field 'bdy' here; did you mean 'body'?"},
        {"{'params': [], 'body': '1 +'}",
         "/body: expected a value, but found the end of the expression"},
        {"{'params': [], 'body': 'input.x'}",
         "/body: undeclared reference to 'input'; did you mean 'int'?"},
        {"{'params': [{'name': 'amount'}], 'body': 'amuont'}",
         "/body: undeclared reference to 'amuont'; did you mean 'amount'?"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct function f = {.name = STR("f"), .definition = definition_value(rows[i][0])};

        (void)functions_compile(&definition_mem, define_env(&definition_mem), &f, 1, NULL);
        assert_string_equal(findings_of(&f.findings), rows[i][1]);
        functions_release(&f, 1);
    }
}

/* Every program that calls functions has them compiled for itself. */
static void test_function__takes_little_memory_beside_the_environment(void **state)
{
    const struct cel_env *env = define_env(&definition_mem);
    struct function f = {.name = STR("f"),
                         .definition = definition_value("{'params': [], 'body': '1 + 1'}")};
    struct arena mem;

    (void)state;
    arena_init(&mem);
    (void)functions_compile(&mem, env, &f, 1, NULL);
    assert_non_null(f.body);
    assert_true(mem.held_bytes < (size_t)16 << 10);
    functions_release(&f, 1);
    arena_fini(&mem);
}

static void test_function__has_limits(void **state)
{
    struct buf body, params;

    (void)state;
    buf_init_arena(&body, &definition_mem);
    buf_init_arena(&params, &definition_mem);
    for (int i = 0; i < 2049; i++)
        buf_text(&body, "1+");
    for (int i = 0; i < 11; i++)
        buf_printf(&params, "%s{'name': 'p%d'}", i > 0 ? ", " : "", i);
    add("long",
        str_printf(&definition_mem, "{'params': [], 'body': '%.*s1'}", STR_ARG(buf_view(&body)))
            .ptr);
    add("many",
        str_printf(&definition_mem, "{'params': [%.*s], 'body': '1'}", STR_ARG(buf_view(&params)))
            .ptr);
    world_open(&world);
    assert_string_equal(wrong_with("long"),
                        "/body: the body has 4099 bytes; at most 4096 are allowed");
    assert_string_equal(wrong_with("many"),
                        "/params: there are 11 parameters; at most 10 are allowed");
}

/* --- what definitions may name --- */

static const char *check(const char *expression)
{
    struct findings findings = {0};

    world_check(&world, KIND_SCENARIO, STR("s"),
                definition_value(str_printf(&definition_mem,
                                            "{'code': 's', 'steps': [{'code': 'a', 'procedure': "
                                            "{'type': 'compute.transform', 'data': '=%s'}}]}",
                                            expression)
                                     .ptr),
                &findings);
    return findings_of(&findings);
}

static void test_world__config_that_exists_can_be_named(void **state)
{
    const char *at = "/steps/0/procedure/data: ";

    (void)state;
    world_add_config(&world, STR("rate"));
    world_open(&world);
    assert_string_equal(check("$.config.rate"), "");
    assert_string_equal(check("config.rate.deep"), "");
    assert_string_equal(check("$.config.rat"),
                        str_printf(&definition_mem,
                                   "%sundeclared reference to 'config.rat'; did you mean "
                                   "'config.rate'?",
                                   at)
                            .ptr);
    assert_string_equal(check("has($.config.unknown) || $.config.?unknown.orValue(1) == 1"), "");
    assert_string_equal(check("fn.unknown()"),
                        str_printf(&definition_mem, "%sundeclared function 'fn.unknown'", at).ptr);
}

static void test_world__assumed_functions_take_anything(void **state)
{
    (void)state;
    *VEC_ADD(&definition_mem, &world.assumed) = STR("elsewhere");
    add("here", "{'params': [], 'body': 'fn.elsewhere(1, 2)'}");
    world_open(&world);
    assert_string_equal(check("fn.elsewhere() + fn.elsewhere(1, `a`) + fn.here()"), "");
}

/* --- templates --- */

static const char *render(const char *definition, const char *data)
{
    struct value roots[TEMPLATE_ROOT_COUNT] = {[TEMPLATE_DATA] = definition_value(data),
                                               [TEMPLATE_USER] =
                                                   definition_value("{'name': 'Ada'}"),
                                               [TEMPLATE_EXECUTION] = value_map_empty(),
                                               [TEMPLATE_CONFIG] = definition_value("{'rate': 2}")};
    struct str out[TEMPLATE_PART_COUNT];
    struct findings findings = {0};
    struct template t;

    template_compile(&definition_mem, world.templates, definition_value(definition), &findings, &t);
    if (findings.count == 0 && template_render(&definition_mem, &t, roots, 0, out, &findings)) {
        template_release(&t);
        return str_printf(&definition_mem, "%.*s|%.*s|%.*s", STR_ARG(out[0]), STR_ARG(out[1]),
                          STR_ARG(out[2]))
            .ptr;
    }
    template_release(&t);
    return str_printf(&definition_mem, "%s (column %u)", findings_of(&findings),
                      findings.items[0].column)
        .ptr;
}

static void test_template__parts_are_rendered_and_html_is_escaped(void **state)
{
    (void)state;
    world_add_config(&world, STR("rate"));
    add("twice", "{'params': [{'name': 'x', 'type': 'number'}], 'body': 'x * 2'}");
    world_open(&world);
    assert_string_equal(
        render("{'subject': 'Hi {{ data.n }}', 'body': '{{ user.name }}'}", "{'n': 1}"),
        "Hi 1|Ada|");
    assert_string_equal(
        render("{'subject': 's', 'body': '{{ data.n }}', 'html': '<p>{{ data.n }}'}",
               "{'n': '<b>'}"),
        "s|<b>|<p>&lt;b&gt;");
    assert_string_equal(render("{'subject': '{{ data.n }}', 'body': '{{ fn.twice(config.rate) }}'}",
                               "{'n': 'a\\nb'}"),
                        "a b|4|");
}

static void test_template__mistakes_have_a_pointer_and_a_column(void **state)
{
    (void)state;
    world_open(&world);
    assert_string_equal(render("{'subject': 'x {{ dta.n }}', 'body': ''}", "{}"),
                        "/subject: undeclared reference to 'dta'; did you mean 'data'? (column 6)");
    assert_string_equal(render("{'subject': 's', 'body': 'a {{ data.n'}", "{}"),
                        "/body: expected '}}', but found the end of the expression: a '{{' is not "
                        "closed (column 12)");
    assert_string_equal(render("{'subject': 's'}", "{}"),
                        "/body: 'body' is missing; write \"body\": \"Dear {{ data.name }}, your "
                        "order is on its way.\" "
                        "(column 0)");
    assert_string_equal(render("{'subject': 's', 'body': '', 'htm': ''}", "{}"),
                        "/htm: there is no field 'htm' here; did you mean 'html'? (column 0)");
    assert_string_equal(
        render("{'subject': 's', 'body': '{{ data.n }}'}", "{}"),
        "/body: no such key: 'n'; has(a.b) and a.?b ask whether there is one (column 9)");
    assert_string_equal(render("{'subject': 's', 'body': '{{ config.x }}'}", "{}"),
                        "/body: undeclared reference to 'config.x' (column 11)");
}

/* --- kinds --- */

static void test_kind__is_seen_from_the_shape_or_said(void **state)
{
    static const char *const rows[][2] = {
        {"{'steps': []}", "scenario"},     {"{'kind': 'function', 'body': '1'}", "function"},
        {"{'commands': []}", "procedure"}, {"{'kind': 'config'}", "config"},
        {"{'nodes': []}", "schema"},       {"{'states': {}}", "machine"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_string_equal(kind_of(definition_value(rows[i][0]))->name, rows[i][1]);
    assert_null(kind_of(definition_value("{}")));
    assert_null(kind_of(definition_value("{'kind': 'thing', 'steps': []}")));
    assert_null(kind_of(definition_value("7")));
    assert_true(str_eq(kind_nearest(STR("functoin")), STR("function")));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

static void test_kinds__sql_lists_the_processes_of_the_table(void **state)
{
    struct buf listed;

    (void)state;
    buf_init_arena(&listed, &definition_mem);
    for (unsigned i = 0; i < KIND_COUNT; i++) {
        const struct kind_spec *spec = kind_spec((enum kind)i);
        assert_int_equal(kind_is_process(str_of(spec->name)), spec->use == KIND_PROCESS);
        if (spec->use == KIND_PROCESS)
            buf_printf(&listed, "%s'%s'", buf_view(&listed).len > 0 ? ", " : "", spec->name);
    }
    assert_true(str_eq(buf_view(&listed), STR(PROCESS_KINDS)));
    assert_false(kind_is_process(STR("process")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(test_kinds__sql_lists_the_processes_of_the_table),
        TEST(test_function__calls_others_in_any_order),
        TEST(test_function__arguments_have_their_types),
        TEST(test_function__never_calls_itself),
        TEST(test_function__calls_go_three_deep),
        TEST(test_function__mistakes_are_told_where_they_are),
        TEST(test_function__takes_little_memory_beside_the_environment),
        TEST(test_function__has_limits),
        TEST(test_world__config_that_exists_can_be_named),
        TEST(test_world__assumed_functions_take_anything),
        TEST(test_template__parts_are_rendered_and_html_is_escaped),
        TEST(test_template__mistakes_have_a_pointer_and_a_column),
        TEST(test_kind__is_seen_from_the_shape_or_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
