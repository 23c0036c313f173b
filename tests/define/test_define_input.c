/* test_define_input.c - claims about the input of a start, held against the parameters. */
#include "define/definition.h"
#include "define/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const char params[] =
    "{'code': 'a', 'steps': [], 'input': ["
    " {'name': 'id', 'type': 'uuid', 'required': true},"
    " {'name': 'amount', 'type': 'number'},"
    " {'name': 'count', 'type': 'integer', 'default': 1},"
    " {'name': 'express', 'type': 'boolean'},"
    " {'name': 'day', 'type': 'date'},"
    " {'name': 'at', 'type': 'datetime'},"
    " {'name': 'customer', 'type': 'object'},"
    " {'name': 'items', 'type': 'array'},"
    " {'name': 'note', 'type': 'string'},"
    " {'name': 'colour', 'type': 'string', 'enum': ['red', 'blue']},"
    " {'name': 'extra', 'type': 'any'},"
    " {'name': 'free', 'label': 'Anything', 'description': 'x', 'sensitive': true}]}";

#define ID "'id': '0190b5a2-7c3e-7d11-8f60-2b1f5c9e4a77'"
#define ID_JSON "\"id\":\"0190b5a2-7c3e-7d11-8f60-2b1f5c9e4a77\""

/* "pointer code: message" of the only finding, or the input as the execution sees it. */
static const char *check(const struct program *p, const char *input)
{
    struct findings findings = {0};
    struct value out = value_absent();

    define_check_input(&definition_mem, p, definition_value(input), &out, &findings);
    if (findings.count == 0)
        return definition_json(out);
    assert_int_equal(findings.count, 1);
    assert_int_equal(out.kind, VALUE_MAP);
    return str_printf(&definition_mem, "%.*s %.*s: %.*s", STR_ARG(findings.items[0].pointer),
                      STR_ARG(findings.items[0].code), STR_ARG(findings.items[0].message.text))
        .ptr;
}

static void test_input__each_type_takes_what_it_says(void **state)
{
    static const char *const rows[][2] = {
        {"{" ID "}", "{" ID_JSON ",\"count\":1}"},
        {"{" ID ", 'count': 5}", "{" ID_JSON ",\"count\":5}"},
        {"{'count': 5, " ID "}", "{\"count\":5," ID_JSON "}"},
        {"{" ID ", 'count': 5.0}", "{" ID_JSON ",\"count\":5}"},
        {"{" ID ", 'count': null}", "{" ID_JSON ",\"count\":1}"},
        {"{" ID ", 'count': 2, 'amount': 1.5}", "{" ID_JSON ",\"count\":2,\"amount\":1.5}"},
        {"{" ID ", 'count': 2, 'amount': 7}", "{" ID_JSON ",\"count\":2,\"amount\":7}"},
        {"{" ID ", 'count': 2, 'note': null}", "{" ID_JSON ",\"count\":2,\"note\":null}"},
        {"{" ID ", 'count': 2, 'day': '2026-02-28', 'at': '2026-02-28T10:00:00+02:00'}",
         "{" ID_JSON ",\"count\":2,\"day\":\"2026-02-28\",\"at\":\"2026-02-28T10:00:00+02:00\"}"},
        {"{" ID ", 'count': 2, 'customer': {}, 'items': [], 'express': false}",
         "{" ID_JSON ",\"count\":2,\"customer\":{},\"items\":[],\"express\":false}"},
        {"{" ID ", 'count': 2, 'colour': 'blue', 'extra': null, 'free': [1]}",
         "{" ID_JSON ",\"count\":2,\"colour\":\"blue\",\"extra\":null,\"free\":[1]}"},
    };
    const struct program *p = definition_program(params);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_string_equal(check(p, rows[i][0]), rows[i][1]);
}

static void test_input__what_is_wrong_is_said_for_people(void **state)
{
    static const char *const rows[][2] = {
        {"{}", "/input/id missing_input: 'id' is required"},
        {"{'id': null}", "/input/id missing_input: 'id' is required"},
        {"{'id': 'x'}", "/input/id wrong_type: id must be a UUID such as "
                        "\"0190b5a2-7c3e-7d11-8f60-2b1f5c9e4a77\""},
        {"{'id': 5}", "/input/id wrong_type: id must be a UUID such as "
                      "\"0190b5a2-7c3e-7d11-8f60-2b1f5c9e4a77\", not a number"},
        {"{" ID ", 'amount': '5'}",
         "/input/amount wrong_type: amount must be a number, not a text"},
        {"{" ID ", 'count': 1.5}",
         "/input/count wrong_type: count must be a whole number, not a number with a fraction"},
        {"{" ID ", 'count': 1e300}",
         "/input/count wrong_type: count must be a whole number, not a number that large"},
        {"{" ID ", 'express': 'yes'}",
         "/input/express wrong_type: express must be true or false, not a text"},
        {"{" ID ", 'day': '2026-02-30'}",
         "/input/day wrong_type: day must be a date such as \"2026-01-31\""},
        {"{" ID ", 'at': '2026-02-28'}",
         "/input/at wrong_type: at must be a time such as \"2026-01-31T12:00:00Z\""},
        {"{" ID ", 'customer': []}",
         "/input/customer wrong_type: customer must be an object, not a list"},
        {"{" ID ", 'items': {}}", "/input/items wrong_type: items must be a list, not an object"},
        {"{" ID ", 'note': true}", "/input/note wrong_type: note must be a text, not true"},
        {"{" ID ", 'colour': 'green'}",
         "/input/colour bad_value: 'colour' must be one of [\"red\",\"blue\"]"},
        {"{" ID ", 'color': 'red'}",
         "/input/color undeclared_input: there is no parameter 'color'"},
        {"[]", "/input wrong_type: input must be an object, not a list"},
        {"'x'", "/input wrong_type: input must be an object, not a text"},
    };
    const struct program *p = definition_program(params);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_string_equal(check(p, rows[i][0]), rows[i][1]);
}

static const char nested[] =
    "{'code': 'a', 'steps': [], 'input': ["
    " {'name': 'order', 'type': 'object', 'required': true, 'fields': ["
    "  {'name': 'number', 'type': 'string', 'pattern': '^O-[0-9]*$', 'minLength': 3,"
    "   'maxLength': 6},"
    "  {'name': 'rush', 'type': 'boolean', 'default': false},"
    "  {'name': 'lines', 'type': 'array', 'required': true, 'minLength': 1, 'maxLength': 2,"
    "   'items': {'type': 'object', 'name': 'ignored', 'fields': ["
    "    {'name': 'sku', 'type': 'string', 'required': true},"
    "    {'name': 'qty', 'type': 'integer', 'min': 1, 'max': 9.5, 'default': 1},"
    "    {'name': 'why', 'type': 'string', 'requiredWhen': 'input.order.rush'}]}}]},"
    " {'name': 'tags', 'type': 'array', 'items': {'type': 'string', 'enum': ['a', 'b']}},"
    " {'name': 'share', 'type': 'number', 'min': 0, 'max': 1}]}";

#define LINES(lines) "{'order': {'lines': [" lines "]}}"
#define LINE "{'sku': 'x', 'qty': 2}"
#define TAKEN(lines) "{\"order\":{\"lines\":[" lines "],\"rush\":false}}"

static void test_input__what_is_within_others_is_held_against_its_parameters(void **state)
{
    static const char *const rows[][2] = {
        {LINES(LINE), TAKEN("{\"sku\":\"x\",\"qty\":2}")},
        {LINES("{'sku': 'x'}"), TAKEN("{\"sku\":\"x\",\"qty\":1}")},
        {LINES("{'sku': 'x', 'qty': 2.0}"), TAKEN("{\"sku\":\"x\",\"qty\":2}")},
        {"{'order': {}}", "/input/order/lines missing_input: 'lines' is required"},
        {LINES(""), "/input/order/lines bad_value: 'lines' must have at least 1 items"},
        {LINES(LINE "," LINE "," LINE),
         "/input/order/lines bad_value: 'lines' must have at most 2 items"},
        {LINES(LINE ", 5"), "/input/order/lines/1 wrong_type: each item must be an object, not a "
                            "number"},
        {LINES("{'sku': 5}"),
         "/input/order/lines/0/sku wrong_type: sku must be a text, not a number"},
        {LINES("{'sku': 'x', 'qty': 0}"),
         "/input/order/lines/0/qty bad_value: 'qty' must be at least 1"},
        {LINES("{'sku': 'x', 'qty': 10}"),
         "/input/order/lines/0/qty bad_value: 'qty' must be at most 9.5"},
        {LINES("{'sku': 'x', 'other': 1}"),
         "/input/order/lines/0/other undeclared_input: there is no parameter 'other'"},
        {"{'order': {'rush': true, 'lines': [" LINE "]}}",
         "/input/order/lines/0/why missing_input: 'why' is required when input.order.rush"},
        {"{'order': {'number': 'O-', 'lines': [" LINE "]}}",
         "/input/order/number bad_value: 'number' must have at least 3 characters"},
        {"{'order': {'number': 'O-77777', 'lines': [" LINE "]}}",
         "/input/order/number bad_value: 'number' must have at most 6 characters"},
        {"{'order': {'number': 'P-1', 'lines': [" LINE "]}}",
         "/input/order/number bad_value: 'number' must match the pattern ^O-[0-9]*$"},
        {"{'tags': ['a', 'c'], 'order': {'lines': [" LINE "]}}",
         "/input/tags/1 bad_value: 'tags[]' must be one of [\"a\",\"b\"]"},
        {"{'share': -0.5, 'order': {'lines': [" LINE "]}}",
         "/input/share bad_value: 'share' must be at least 0"},
        {"{'share': 2, 'order': {'lines': [" LINE "]}}",
         "/input/share bad_value: 'share' must be at most 1"},
    };
    const struct program *p = definition_program(nested);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_string_equal(check(p, rows[i][0]), rows[i][1]);
}

/* {'xs': [ITEM, ITEM, ...]} */
static struct value list_of(uint32_t count, struct value item)
{
    struct value *items = arena_alloc(&definition_mem, (count + 1u) * sizeof(*items));

    for (uint32_t i = 0; i < count; i++)
        items[i] = item;
    return value_map_of(&definition_mem,
                        VALUE_ENTRIES({value_key(STR("xs")), value_list(items, count)}));
}

static struct findings check_list(const struct program *p, uint32_t count, const char *item)
{
    struct findings findings = {0};
    struct value out;

    define_check_input(&definition_mem, p, list_of(count, definition_value(item)), &out, &findings);
    return findings;
}

static const char words_of_many[] = "['w0', 'w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7', 'w8', 'w9']";

/* Whoever gives a list chooses how often each item is checked, on the loop of the server. */
static void test_input__lists_multiply_work_only_so_far(void **state)
{
    static const struct {
        const char *items, *item;
        uint32_t some, many;
    } rows[] = {
        /* the condition of each item looks at all of them */
        {"{'type': 'object', 'fields': [{'name': 'a',"
         " 'requiredWhen': 'input.xs.exists(x, size(x) > 0)'}]}",
         "{}", 300, 4000},
        {"{'type': 'string', 'pattern': '^(a?){50}b?$'}", "'aaaaaaaaaaaaaaaa'", 1000, 250000},
        {"{'type': 'string', 'enum': %s}", "'w9'", 50000, 1000000},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct str items = str_printf(&definition_mem, rows[i].items, words_of_many);
        const struct program *p = definition_program(
            str_printf(&definition_mem,
                       "{'code': 'a', 'steps': [], 'input': [{'name': 'xs', 'type': 'array',"
                       " 'items': %s}]}",
                       items.ptr)
                .ptr);
        struct findings many;

        assert_int_equal(check_list(p, rows[i].some, rows[i].item).count, 0);
        many = check_list(p, rows[i].many, rows[i].item);
        assert_int_equal(many.count, 1);
        assert_true(str_eq(many.items[0].code, STR("limit_size")));
        assert_true(str_starts_with(many.items[0].pointer, STR("/input/xs/")));
    }
}

/* Beyond the mistakes that are told nothing is looked at. */
static void test_input__many_mistakes_end_the_search(void **state)
{
    const struct program *p =
        definition_program("{'code': 'a', 'steps': [], 'input': [{'name': 'xs', 'type': 'array',"
                           " 'items': {'type': 'integer'}}]}");
    struct findings found = check_list(p, 100000, "'no'");

    (void)state;
    assert_true(found.count > 1);
    assert_true(str_eq(found.items[found.count - 1].pointer, STR("/input/xs/200")));
}

static void test_input__an_undeclared_name_is_answered_with_the_nearest(void **state)
{
    struct findings findings = {0};
    struct value out;

    (void)state;
    define_check_input(&definition_mem, definition_program(params),
                       definition_value("{" ID ", 'color': 'red'}"), &out, &findings);
    assert_true(str_eq(findings.items[0].hint.text, STR("did you mean 'colour'?")));
}

static void test_input__all_problems_are_found(void **state)
{
    struct findings findings = {0};
    struct value out;

    (void)state;
    define_check_input(&definition_mem, definition_program(params),
                       definition_value("{'amount': 'x', 'count': 'y', 'z/~': 1}"), &out,
                       &findings);
    assert_int_equal(findings.count, 4);
    assert_true(str_eq(findings.items[2].pointer, STR("/input/z~1~0")));
    assert_true(str_eq(findings.items[3].pointer, STR("/input/id")));
}

static void test_input__without_parameters_anything_goes(void **state)
{
    const struct program *p = definition_steps("[]");

    (void)state;
    assert_string_equal(check(p, "{'a': {'b': 1}}"), "{\"a\":{\"b\":1}}");
    assert_string_equal(check(p, "{}"), "{}");
    assert_string_equal(check(p, "null"), "{}");
    assert_string_equal(check(p, "[1]"), "/input wrong_type: input must be an object, not a list");
}

static void test_input__an_empty_list_of_parameters_allows_none(void **state)
{
    const struct program *p = definition_program("{'code': 'a', 'steps': [], 'input': []}");

    (void)state;
    assert_string_equal(check(p, "{}"), "{}");
    assert_string_equal(check(p, "{'a': 1}"),
                        "/input/a undeclared_input: there is no parameter 'a'");
}

static void test_input__a_default_makes_a_required_one_optional(void **state)
{
    const struct program *p =
        definition_program("{'code': 'a', 'steps': [], 'input': [{'name': 'x', 'type': 'integer',"
                           " 'required': true, 'default': 2.0, 'enum': [1, 2]}]}");

    (void)state;
    assert_string_equal(check(p, "{}"), "{\"x\":2}");
    assert_string_equal(check(p, "{'x': 1.0}"), "{\"x\":1}");
}

static void test_input__the_payload_of_a_form_is_held_against_it(void **state)
{
    const struct program *p = definition_steps(
        "[{'code': 'ask', 'procedure': {'type': 'wait.signal', 'signalType': 'x', 'form': ["
        " {'name': 'ok', 'type': 'boolean', 'required': true},"
        " {'name': 'days', 'type': 'integer', 'default': 3}]}}]");
    const struct wait *w = p->steps[0].procedure->commands[0].wait;
    struct findings findings = {0};
    struct value out;

    (void)state;
    define_check_params(&definition_mem, w->form, w->form_count, STR("/payload"),
                        definition_value("{'ok': true}"), &out, &findings);
    assert_int_equal(findings.count, 0);
    assert_string_equal(definition_json(out), "{\"ok\":true,\"days\":3}");
    define_check_params(&definition_mem, w->form, w->form_count, STR("/payload"),
                        definition_value("{'okay': true, 'days': 'two'}"), &out, &findings);
    assert_int_equal(findings.count, 3);
    assert_true(str_eq(findings.items[0].pointer, STR("/payload/okay")));
    assert_true(str_eq(findings.items[1].pointer, STR("/payload/days")));
    assert_true(str_eq(findings.items[2].pointer, STR("/payload/ok")));
    define_check_params(&definition_mem, NULL, 0, STR("/payload"), value_string(STR("x")), &out,
                        &findings);
    assert_int_equal(findings.count, 4);
    assert_true(
        str_eq(findings.items[3].message.text, STR("payload must be an object, not a text")));
}

static void test_input__required_when_a_condition_over_the_others_holds(void **state)
{
    static const char *const rows[][2] = {
        {"{'kind': 'person'}", "{\"kind\":\"person\"}"},
        {"{'kind': 'company', 'vat': 'DE1'}", "{\"kind\":\"company\",\"vat\":\"DE1\"}"},
        {"{'kind': 'company'}",
         "/input/vat missing_input: 'vat' is required when input.kind == 'company'"},
        {"{'kind': 'company', 'vat': null}",
         "/input/vat missing_input: 'vat' is required when input.kind == 'company'"},
        {"{'kind': 'person', 'amount': 5000}",
         "/input/reason missing_input: 'reason' is required when has($.input.amount) && "
         "input.amount > 1000"},
        {"{'kind': 'person', 'amount': 5000, 'reason': 'x'}",
         "{\"kind\":\"person\",\"amount\":5000,\"reason\":\"x\"}"},
        /* What is wrong by itself is said first. */
        {"{'kind': 'person', 'amount': 'x'}", "/input/amount wrong_type: amount must be a number, "
                                              "not a text"},
        /* A condition that cannot be evaluated is no reason to let it through. */
        {"{'kind': 'person', 'trap': 1}",
         "/input/last missing_input: whether 'last' is required cannot be told: divide by zero "
         "(requiredWhen: has(input.trap) && 1 / (input.trap - 1) > 0)"},
    };
    const struct program *p = definition_program(
        "{'code': 'a', 'steps': [], 'input': ["
        " {'name': 'kind', 'type': 'string', 'required': true},"
        " {'name': 'vat', 'type': 'string', 'requiredWhen': 'input.kind == `company`'},"
        " {'name': 'reason', 'requiredWhen': 'has($.input.amount) && input.amount > 1000'},"
        " {'name': 'amount', 'type': 'number'}, {'name': 'trap', 'type': 'integer'},"
        " {'name': 'last', 'requiredWhen': 'has(input.trap) && 1 / (input.trap - 1) > 0'}]}");

    (void)state;
    assert_int_equal(definition_findings.count, 1); /* no steps */
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_string_equal(check(p, rows[i][0]), rows[i][1]);
}

static void test_input__conditions_are_checked_when_they_are_saved(void **state)
{
    static const struct definition_row rows[] = {
        {"'requiredWhen': 'input.a == 1'", ""},
        {"'requiredWhen': 'input.a'", "/input/1/requiredWhen expression_type:1"},
        {"'requiredWhen': 'input.a == `x`'", "/input/1/requiredWhen expression_type:12"},
        {"'requiredWhen': true", "/input/1/requiredWhen wrong_type"},
        {"'requiredWhen': 'a == 1'",
         "/input/1/requiredWhen expression_type:1 did you mean 'input.a'?"},
        {"'requiredWhen': 'steps.x == null'", "/input/1/requiredWhen expression_type:1 this "
                                              "condition sees `input` and nothing else"},
        {"'requiredWhen': 'input.a > 1 || now > timestamp(`2026-01-01`)'",
         "/input/1/requiredWhen expression_type:16 this condition sees `input` and nothing else"},
        {"'requiredWhen': 'input.c == 1'",
         "/input/1/requiredWhen expression_type:7 did you mean 'input.a'?"},
        {"'requiredWhen': 'input.a == 1', 'required': true", "/input/1/requiredWhen misplaced?"},
        {"'requiredWhen': 'input.a == 1', 'default': 'x'", "/input/1/requiredWhen misplaced?"},
        {"'requiredIf': 'input.a == 1'",
         "/input/1/requiredIf unknown_field did you mean 'required'?"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'input': [{'name': 'a', 'type': 'integer', 'required': true},"
                    " {'name': 'b', %s}], 'steps': [{'code': 'a', 'procedure': {'type': 'log',"
                    " 'message': 'x'}}]}",
                    rows);
    assert_string_equal(
        definition_found("{'code': 'a', 'steps': [{'code': 'a', 'procedure': {'type':"
                         " 'wait.signal', 'signalType': 's', 'form': ["
                         " {'name': 'ok', 'type': 'boolean', 'required': true},"
                         " {'name': 'why', 'requiredWhen': '!payload.ok'},"
                         " {'name': 'how', 'requiredWhen': '!input.ok'}]}}]}"),
        "/steps/0/procedure/form/2/requiredWhen expression_type:2 this condition sees `payload` "
        "and nothing else");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(test_input__each_type_takes_what_it_says),
        DEFINITION_TEST(test_input__what_is_wrong_is_said_for_people),
        DEFINITION_TEST(test_input__what_is_within_others_is_held_against_its_parameters),
        DEFINITION_TEST(test_input__lists_multiply_work_only_so_far),
        DEFINITION_TEST(test_input__many_mistakes_end_the_search),
        DEFINITION_TEST(test_input__an_undeclared_name_is_answered_with_the_nearest),
        DEFINITION_TEST(test_input__all_problems_are_found),
        DEFINITION_TEST(test_input__without_parameters_anything_goes),
        DEFINITION_TEST(test_input__an_empty_list_of_parameters_allows_none),
        DEFINITION_TEST(test_input__a_default_makes_a_required_one_optional),
        DEFINITION_TEST(test_input__the_payload_of_a_form_is_held_against_it),
        DEFINITION_TEST(test_input__required_when_a_condition_over_the_others_holds),
        DEFINITION_TEST(test_input__conditions_are_checked_when_they_are_saved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
