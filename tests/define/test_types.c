/*
 * test_types.c - claims about what the checker knows of inputs, of results of
 * commands and of steps: what cannot work is an error, what hardly can a warning.
 */
#include "base/buf.h"
#include "define/definition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* What is found, with messages: "pointer code: message" on each line. */
static const char *messages(const char *definition)
{
    struct buf text;

    (void)definition_found(definition);
    buf_init_arena(&text, &definition_mem);
    for (size_t i = 0; i < definition_findings.count; i++) {
        const struct finding *f = &definition_findings.items[i];
        buf_printf(&text, "%s%s%.*s: %.*s%s%.*s", i == 0 ? "" : "\n", f->is_warning ? "?" : "",
                   STR_ARG(f->code), STR_ARG(f->message.text), f->hint.text.len > 0 ? "; " : "",
                   STR_ARG(f->hint.text));
    }
    return str_copy(&definition_mem, buf_view(&text)).ptr;
}

static void check_messages(const char *shape, const struct definition_row *rows, size_t count)
{
    int64_t at = str_find(str_of(shape), STR("%s"), 0);

    for (size_t i = 0; i < count; i++) {
        const char *text =
            str_printf(&definition_mem, "%.*s%s%s", (int)at, shape, rows[i].part, shape + at + 2)
                .ptr;
        const char *actual = messages(text);
        if (strcmp(actual, rows[i].expected) != 0)
            fail_msg("%s\nfound:\n%s\nexpected:\n%s", rows[i].part, actual, rows[i].expected);
    }
}

#define MESSAGES(shape, rows) check_messages((shape), (rows), ARRAY_SIZE(rows))

#define INPUT                                                                                      \
    "'input': [{'name': 'who', 'type': 'string', 'required': true},"                               \
    " {'name': 'days', 'type': 'integer', 'required': true},"                                      \
    " {'name': 'price', 'type': 'number', 'default': 1},"                                          \
    " {'name': 'from', 'type': 'date', 'required': true},"                                         \
    " {'name': 'items', 'type': 'array', 'required': true},"                                       \
    " {'name': 'extra', 'type': 'object', 'required': true},"                                      \
    " {'name': 'free', 'required': true},"                                                         \
    " {'name': 'coupon', 'type': 'string'}]"

/* A step that evaluates the expression. */
#define WITH_INPUT                                                                                 \
    "{'code': 'a', " INPUT ", 'steps': [{'code': 'a', 'procedure': {'type': 'compute.transform',"  \
    " 'data': '=%s'}}]}"

static void test_types__operands_of_required_inputs_that_never_fit_are_errors(void **state)
{
    static const struct definition_row rows[] = {
        {"$.input.who + $.input.days", "expression_type: no such overload: '+' does not work on "
                                       "string and int; write string(input.days)"},
        {"input.price + input.who", "expression_type: no such overload: '+' does not work on "
                                    "number and string; write string(input.price)"},
        {"`x` + (input.price + 1)", "expression_type: no such overload: '+' does not work on "
                                    "string and number; string(x) makes text of a value"},
        {"input.who - 1", "expression_type: no such overload: '-' does not work on string and "
                          "int; write int(input.who)"},
        {"input.who * input.price", "expression_type: no such overload: '*' does not work on "
                                    "string and number; write double(input.who)"},
        {"input.who < input.days", "expression_type: no such overload: '<' does not work on "
                                   "string and int; write int(input.who)"},
        {"input.who == input.days", "expression_type: no such overload: '==' does not work on "
                                    "string and int; write int(input.who)"},
        {"input.from < now", "expression_type: no such overload: '<' does not work on string and "
                             "timestamp; write timestamp(input.from)"},
        {"now - input.from", "expression_type: no such overload: '-' does not work on timestamp "
                             "and string; write timestamp(input.from)"},
        {"input.who.length", "expression_type: string has no field 'length': write size(x)"},
        {"input.days.value", "expression_type: int has no fields, so it has no 'value'"},
        {"size(input.days)", "expression_type: no such overload: size(int); it takes (string), "
                             "(bytes), (list(dyn)) or (map(dyn, dyn))"},
        {"input.who && true",
         "expression_type: no such overload: a bool is needed here, not string"},
        {"input.items + 1", "expression_type: no such overload: '+' does not work on list(dyn) "
                            "and int"},
        {"input.days.map(d, d)", "expression_type: no such overload: int is neither a list nor a "
                                 "map"},
    };

    (void)state;
    MESSAGES(WITH_INPUT, rows);
}

static void test_types__what_can_work_is_left_alone(void **state)
{
    static const struct definition_row rows[] = {
        {"input.who + string(input.days) + ` ` + string(input.price)", ""},
        {"input.price % 2 + input.days * input.price - 1.5 + double(input.price)", ""},
        {"[input.price, 1, 2.5].sum() + math.greatest(input.price, input.days)", ""},
        {"input.who == null || input.days != null || input.items == []", ""},
        {"input.who in [`a`, null] && input.price in [1, 2.5]", ""},
        {"input.items[input.days].x + input.items[input.price] + input.extra.any.thing", ""},
        {"timestamp(input.from) < now && size(input.who) + size(input.items) > 1.5", ""},
        {"input.free + 1 == input.free + `x`", ""},
        {"true ? input.who : input.days", ""},
        {"input.who + `x` == input.nobody",
         "?undeclared_input: undeclared reference to 'input.nobody'"},
        {"[{`who`: 1}].map(input, input.who + 1)", ""},
        {"date.add(timestamp(input.from), input.days, `day`)", ""},
    };

    (void)state;
    MESSAGES(WITH_INPUT, rows);
}

static void test_types__an_optional_input_without_a_default_is_a_warning(void **state)
{
#define MISSING                                                                                    \
    "?input_may_be_missing: 'input.coupon' may be missing, which would fail: ask "                 \
    "has(input.coupon) first, or write input.?coupon.orValue(...)"
    static const struct definition_row rows[] = {
        {"input.coupon", MISSING},
        {"input[`coupon`]", MISSING},
        {"input.coupon == null", MISSING},
        {"input.coupon == `X` && input.coupon != `Y`", MISSING},
        {"has(input.coupon) || input.coupon == `X`", MISSING},
        {"has(input.coupon) ? 1 : input.coupon", MISSING},
        {"has(input.coupon) && input.coupon == `X`", ""},
        {"input.coupon == `X` && (input.days > 1 && has($.input.coupon))", ""},
        {"!has(input.coupon) || input.coupon == `X`", ""},
        {"has(input.coupon) && size(input.coupon) > 1 ? input.coupon : `none`", ""},
        {"!(has(input.coupon) && true) ? `none` : input.coupon", ""},
        {"`coupon` in input && input.coupon == `X`", ""},
        {"input.?coupon.orValue(`none`)", ""},
    };

    (void)state;
    MESSAGES(WITH_INPUT, rows);
}

/* A doubt about a result does not make an error of an input that nobody declared. */
static void test_types__several_doubts_about_one_expression_are_warnings(void **state)
{
    (void)state;
    assert_string_equal(
        messages("{'code': 'a', 'input': [], 'steps': [{'code': 'a', 'procedure': {'type': 'log',"
                 " 'message': 'x'}}, {'code': 'b', 'when': 'steps.a.message - 1 == input.nobody',"
                 " 'procedure': {'type': 'log', 'message': 'x'}}]}"),
        "?undeclared_input: undeclared reference to 'input.nobody'\n"
        "?expression_type: no such overload: '-' does not work on string and int; write "
        "int(steps.a.message)");
}

static void test_types__a_condition_around_an_expression_asks_for_it(void **state)
{
    static const struct definition_row rows[] = {
        {"{'code': 'a', 'when': 'has(input.c)', 'procedure': {'type': 'log', 'message':"
         " '{{ input.c }}'}}",
         ""},
        {"{'code': 'a', 'procedure': {'type': 'log', 'when': 'has(input.c)', 'message':"
         " '{{ input.c }}'}}, {'code': 'b', 'procedure': {'type': 'log', 'message':"
         " '{{ input.c }}'}}",
         "/steps/1/procedure/message input_may_be_missing:10?"},
        {"{'code': 'a', 'procedure': {'type': 'flow.if', 'condition': 'has(input.c)', 'then': ["
         "  {'type': 'log', 'message': '{{ input.c }}'}], 'else': ["
         "  {'type': 'log', 'message': '{{ input.c }}'}]}}",
         "/steps/0/procedure/else/0/message input_may_be_missing:10?"},
        {"{'code': 'a', 'branch': [{'when': '!has(input.c)', 'steps': [{'code': 'b', 'procedure':"
         "  {'type': 'log', 'message': '{{ input.c }}'}}]}, {'steps': [{'code': 'c', 'procedure':"
         "  {'type': 'log', 'message': '{{ input.c }}'}}]}]}",
         "/steps/0/branch/0/steps/0/procedure/message input_may_be_missing:10?"},
        {"{'code': 'a', 'loop': {'while': 'has(input.c)', 'steps': [{'code': 'b', 'when':"
         " 'input.c > 1', 'procedure': {'type': 'log', 'message': 'x'}}]}}",
         ""},
        /* What a step lays over the input is there. */
        {"{'code': 'a', 'input': {'c': 1}, 'procedure': {'type': 'log', 'message':"
         " '{{ input.c }}'}}",
         ""},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'input': [{'name': 'c', 'type': 'integer'}], 'steps': [%s]}",
                    rows);
    /* A procedure has an input of its own. */
    assert_string_equal(
        definition_found("{'code': 'p', 'input': [{'name': 'c', 'type': 'integer'}],"
                         " 'commands': [{'type': 'log', 'message': '{{ input.c }}'}]}"),
        "/commands/0/message input_may_be_missing:10?");
}

static void test_types__a_field_that_a_result_lacks_is_a_warning(void **state)
{
    static const struct definition_row rows[] = {
        {"steps.sum.total + steps.sum.tax == 1.5 && steps.sum.success && steps.sum.output != null",
         ""},
        {"steps.sum.totl == 1", "?unknown_result_field: 'steps.sum' has no field 'totl'; did you "
                                "mean 'total'?"},
        {"$.steps.sum[`price`] == 1",
         "?unknown_result_field: 'steps.sum' has no field 'price'; it has total, tax, note, "
         "success, output, error and meta"},
        {"has(steps.sum.price) && steps.sum.price == 1", ""},
        {"steps.sum.?price.orValue(1) == 1", ""},
        {"steps.sum.note + 1 == 2", "?expression_type: no such overload: '+' does not work on "
                                    "string and int; string(x) makes text of a value"},
        {"steps.sum.note - steps.sum.total == 2",
         "?expression_type: no such overload: '-' does not work on string and number; write "
         "double(steps.sum.note)"},
        {"steps.sum.note",
         "?expression_type: this must be true or false, and it is of type string"},
        {"steps.find.items.size() == steps.find.count && steps.find.more", ""},
        {"steps.find.item == null",
         "?unknown_result_field: 'steps.find' has no field 'item'; did you mean 'items'?"},
        {"steps.find.count + `x` == ``", "?expression_type: no such overload: '+' does not work on "
                                         "int and string; write string(steps.find.count)"},
        {"steps.read.anything == steps.read.id", ""},
        {"steps.new.amount == 1 && steps.new.id != ``", ""},
        {"steps.new.amuont == 1", "?unknown_result_field: 'steps.new' has no field 'amuont'; did "
                                  "you mean 'amount'?"},
        {"steps.kept.anything == 1", ""},
        {"steps.child.executionId != ``", ""},
        {"steps.child.result == 1",
         "?unknown_result_field: 'steps.child' has no field 'result'; it has executionId, "
         "success, output, error and meta"},
        {"steps.child_waited.anything == 1", ""},
        {"steps.made.a == 1 && steps.made.b == 1",
         "?unknown_result_field: 'steps.made' has no field 'b'; it has a, success, output, error "
         "and meta"},
        {"steps.groups.groups.size() == 1 && steps.groups.n == 1",
         "?unknown_result_field: 'steps.groups' has no field 'n'; it has groups, success, output, "
         "error and meta"},
        {"steps.count.n == 1", ""},
        {"steps.each.items.size() == steps.each.count && steps.each.results == []",
         "?unknown_result_field: 'steps.each' has no field 'results'; it has count, items, errors, "
         "success, output, error and meta"},
        {"steps.shaped.x == 1", ""},
        {"steps.shaped.status == 1",
         "?unknown_result_field: 'steps.shaped' has no field 'status'; it has x, success, output, "
         "error and meta"},
        {"steps.worker.anything == 1 && steps.either.anything == 1", ""},
    };

    (void)state;
    MESSAGES(
        "{'code': 'a', 'procedures': {'make': {'commands': [{'type': 'log', 'message': 'x'}],"
        "  'result': {'a': '=1 + 1'}}}, 'steps': ["
        " {'code': 'sum', 'procedure': {'type': 'compute.transform', 'data': {"
        "   'total': '=1.5 * 2', 'tax': 1, 'note': 'x'}}},"
        " {'code': 'find', 'procedure': {'type': 'record.query', 'object': 'o'}},"
        " {'code': 'read', 'procedure': {'type': 'record.get', 'object': 'o', 'id': '1'}},"
        " {'code': 'new', 'procedure': {'type': 'record.create', 'object': 'o', 'data': {"
        "   'amount': 1}}},"
        " {'code': 'kept', 'procedure': {'type': 'record.create', 'object': 'o', 'id': '1', 'data':"
        "   {'amount': 1}, 'ifExists': 'keep'}},"
        " {'code': 'child', 'procedure': {'type': 'flow.start', 'code': 'c'}},"
        " {'code': 'child_waited', 'procedure': {'type': 'flow.start', 'code': 'c', 'wait': true}},"
        " {'code': 'made', 'procedure': 'make'},"
        " {'code': 'groups', 'procedure': {'type': 'compute.aggregate', 'items': [], 'by': "
        "'item.x',"
        "   'fields': {'n': {'op': 'count'}}}},"
        " {'code': 'count', 'procedure': {'type': 'compute.aggregate', 'items': [],"
        "   'fields': {'n': {'op': 'count'}}}},"
        " {'code': 'each', 'loop': {'for': [1], 'steps': [{'code': 'in_it', 'procedure': {"
        "   'type': 'log', 'message': 'x'}}]}},"
        " {'code': 'shaped', 'procedure': {'type': 'log', 'message': 'x', 'result': {'x': 1}}},"
        " {'code': 'worker', 'procedure': 'bank.charge'},"
        " {'code': 'either', 'procedure': {'type': 'flow.if', 'condition': 'true', 'then': ["
        "   {'type': 'log', 'message': 'x'}]}},"
        " {'code': 'last', 'when': '%s', 'procedure': {'type': 'log', 'message': 'x'}}]}",
        rows);
}

static void test_types__results_that_as_names_have_shapes_too(void **state)
{
    static const struct definition_row rows[] = {
        {"{{ sum.total }} {{ net + 1 }}", ""},
        {"{{ sum.totl }}",
         "/steps/0/procedure/2/message unknown_result_field:8? did you mean 'total'?"},
        {"{{ net + `x` }}", "/steps/0/procedure/2/message expression_type:8?"},
        {"{{ net.x }}", "/steps/0/procedure/2/message expression_type:8?"},
    };

    (void)state;
    DEFINITION_ROWS("{'code': 'a', 'steps': [{'code': 'a', 'procedure': ["
                    " {'type': 'compute.transform', 'data': {'total': 1}, 'as': 'sum'},"
                    " {'type': 'compute.transform', 'data': '=1 + 1', 'as': 'net'},"
                    " {'type': 'log', 'message': '%s'}]}]}",
                    rows);
}

static void test_types__a_text_that_was_meant_as_an_expression_is_a_warning(void **state)
{
    static const struct definition_row rows[] = {
        {"Order ${input.id}", "?plain_text: ${input.id} in a text is nothing but that text: write "
                              "{{ input.id }}"},
        {"{{ input.id }} and ${x}",
         "?plain_text: ${x} in a text is nothing but that text: write {{ x }}"},
        {"=`Order ${x}`", "?plain_text: ${x} in a text is nothing but that text: write \"...\" + "
                          "string(x)"},
        {"input.id", "?plain_text: this is the text \"input.id\"; an expression begins with '=' or "
                     "'$.'; did you mean '=input.id'?"},
        {"input.id + `x`", "?plain_text: this is the text \"input.id + 'x'\"; an expression begins "
                           "with '=' or '$.'; did you mean '=input.id + 'x''?"},
        {"input.id is missing", ""},
        {"user.created", ""},
        {"a price of $100, ${} or $", ""},
        {"{{ input.id }}", ""},
    };

    (void)state;
    MESSAGES(
        "{'code': 'a', 'steps': [{'code': 'a', 'procedure': {'type': 'log', 'message': '%s'}}]}",
        rows);
    assert_string_equal(
        messages("{'code': 'a', 'steps': [{'code': 'a', 'when': '=$.input.x > 3', 'procedure': {"
                 "'type': 'log', 'message': 'x'}}]}"),
        "expression_syntax: the whole text is an expression here: write it without the '=' in "
        "front");
}

#define LOG_OF(expression) "'procedure': {'type': 'log', 'message': '{{ " expression " }}'}"

static void test_types__a_later_or_own_result_is_a_warning(void **state)
{
    static const struct definition_row rows[] = {
        {"{'code': 'a', " LOG_OF("steps.b.message") "}, {'code': 'b', " LOG_OF("`x`") "}",
         "?result_not_there: $.steps.b is null here: that step comes later"},
        {"{'code': 'a', " LOG_OF("steps.a.message") "}",
         "?result_not_there: $.steps.a is null until this step has ended"},
        {"{'code': 'a', 'when': 'steps.a.success', " LOG_OF("`x`") "}",
         "?result_not_there: $.steps.a is null until this step has ended"},
        {"{'code': 'a', 'branch': [{'steps': [{'code': 'b', " LOG_OF("steps.a.success") "}]}]}",
         "?result_not_there: $.steps.a is null here: that step ends when the steps in it have "
         "ended"},
        /* Who asks first knows. */
        {"{'code': 'a', 'when': 'steps.b != null && steps.b.success', " LOG_OF(
             "`x`") "}, {'code': 'b', " LOG_OF("`x`") "}",
         ""},
        {"{'code': 'a', 'when': 'steps.b == null || steps.b.?success.orValue(false)', " LOG_OF(
             "`x`") "}, {'code': 'b', " LOG_OF("`x`") "}",
         ""},
        /* Its rollback and its goto come after it. */
        {"{'code': 'a', " LOG_OF(
             "`x`") ", 'rollback': {'type': 'log', 'message':"
                    " '{{ steps.a.message }} {{ steps.b.message }}'}, 'goto': [{'when':"
                    " 'steps.a.message == `x`', 'to': 'end'}]}, {'code': 'b', " LOG_OF("`x`") "}",
         ""},
        /* A round before, or a jump back, may have left it. */
        {"{'code': 'a', 'loop': {'while': 'loop.index < 2', 'steps': [{'code': 'b', " LOG_OF(
             "steps.c.message") "}, {'code': 'c', " LOG_OF("`x`") "}]}}",
         ""},
        {"{'code': 'a', " LOG_OF("steps.b.message") "}, {'code': 'b', " LOG_OF(
             "`x`") ", 'goto': [{'when': 'steps.a == null', 'to': 'a'}]}",
         ""},
        {"{'code': 'a', 'loop': {'while': 'steps.b.success', 'collect': '$.steps.b.message',"
         " 'steps': [{'code': 'b', " LOG_OF("`x`") "}]}}",
         ""},
        /* The branches of a parallel step run at once. */
        {"{'code': 'a', 'parallel': {'branches': [[{'code': 'b', " LOG_OF(
             "steps.c.message") "}], [{'code': 'c', " LOG_OF("`x`") "}]]}}",
         ""},
    };

    (void)state;
    MESSAGES("{'code': 'a', 'steps': [%s], 'result': '$.steps.a.success'}", rows);
}

static void test_types__a_stored_version_compiles_as_before(void **state)
{
    static const char text[] =
        "{'code': 'a', " INPUT ", 'steps': [{'code': 'a', 'procedure': {'type': 'log', 'message':"
        " '{{ input.who + input.days }} {{ input.coupon }} {{ steps.b.x }}'}},"
        " {'code': 'b', 'procedure': {'type': 'flow.start', 'code': 'nobody'}}]}";
    const struct registry registry = {.is_stored = true};
    const struct program *p = NULL;
    struct findings findings = {0};

    (void)state;
    define_compile(&definition_mem, define_env(&definition_mem), &registry, KIND_SCENARIO,
                   definition_value(text), 1, &findings, &p);
    assert_non_null(p);
    assert_int_equal(findings.count, 0);
    program_release(p);
}

#define WITH_PROCEDURE                                                                             \
    "{'code': 'a', " INPUT ", 'procedures': {'price': {'input': [{'name': 'n', 'type': 'integer'," \
    " 'required': true}, {'name': 'on', 'type': 'datetime'}, {'name': 'list', 'type': 'array'}],"  \
    " 'commands': [{'type': 'compute.transform', 'data': '=input.n * 2'}]}}, 'steps': [{'code':"   \
    " 's', 'procedure': {'type': 'compute.transform', 'data': {'text': 'x'}}}, %s]}"
#define GIVEN(input) "{'code': 'a', 'procedure': 'price', 'input': " input "}"

static void test_types__what_a_procedure_is_given_fits_its_parameters(void **state)
{
    static const struct definition_row rows[] = {
        {GIVEN("{'n': '$.input.days', 'on': '$.now', 'list': '$.input.items'}"), ""},
        {GIVEN("{'n': '=input.price + 1', 'list': [1]}"), ""},
        {GIVEN("{'n': '$.input.free', 'list': '=input.?coupon'}"), ""},
        {GIVEN("{'n': '$.input.who'}"),
         "expression_type: this must be a whole number, and it is of type string"},
        {GIVEN("{'n': '=input.days > 1'}"),
         "expression_type: this must be a whole number, and it is of type bool"},
        {GIVEN("{'n': 1, 'list': '$.input.extra'}"),
         "expression_type: this must be a list, and it is of type map(string, dyn)"},
        /* What a step gives is only likely: an operator may have skipped it. */
        {GIVEN("{'n': '$.steps.s.text'}"),
         "?expression_type: this must be a whole number, and it is of type string"},
        {"{'code': 'a', 'procedure': {'type': 'flow.call', 'procedure': 'price', 'input': {'n':"
         " '$.input.who'}}}",
         "expression_type: this must be a whole number, and it is of type string"},
        /* It is written where nothing is laid over $.input yet. */
        {GIVEN("{'n': '$.input.days', 'list': ['$.input.days']}"), ""},
    };

    (void)state;
    MESSAGES(WITH_PROCEDURE, rows);
}

#define OVERLAID(input, expression)                                                                \
    "{'code': 'a', 'input': " input                                                                \
    ", 'procedure': {'type': 'compute.transform', 'data': '=" expression "'}}"

static void test_types__what_a_step_lays_over_the_input_has_its_own_types(void **state)
{
    static const struct definition_row rows[] = {
        {OVERLAID("{'who': 5}", "input.who + 1"), ""},
        {OVERLAID("{'days': '$.input.who'}", "input.days + `x`"), ""},
        {OVERLAID("{'at': '$.now'}", "input.at + `x`"), ""},
        {OVERLAID("{'t': '$.steps.s.text'}", "input.t + 1"), ""},
        {OVERLAID("{'t': '$.input.free'}", "input.t + 1"), ""},
        {OVERLAID("{'who': 5}", "input.who + `x`"),
         "expression_type: no such overload: '+' does not work on int and string; write "
         "string(input.who)"},
        {OVERLAID("{'k': '=input.days > 1'}", "input.k + 1"),
         "expression_type: no such overload: '+' does not work on bool and int"},
        {OVERLAID("{'list': []}", "input.list + 1"),
         "expression_type: no such overload: '+' does not work on list(dyn) and int"},
    };

    (void)state;
    MESSAGES(WITH_PROCEDURE, rows);
}

static bool is_known(void *context, struct str code)
{
    (void)context;
    return str_eq(code, STR("known"));
}

static void test_types__flow_start_of_an_unpublished_code_is_a_warning(void **state)
{
    static const struct {
        const char *code, *expected;
    } rows[] = {
        {"known", ""},
        {"a", ""},
        {"$.input.code", ""},
        {"unknown", "no process 'unknown' is published: until one is, this step fails"},
    };
    const struct registry registry = {.process = is_known};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const char *text =
            str_printf(&definition_mem,
                       "{'code': 'a', 'steps': [{'code': 'a', 'procedure': {'type': 'flow.start',"
                       " 'code': '%s'}}]}",
                       rows[i].code)
                .ptr;
        const struct program *p = NULL;
        struct findings findings = {0};

        define_compile(&definition_mem, define_env(&definition_mem), &registry, KIND_SCENARIO,
                       definition_value(text), 0, &findings, &p);
        assert_non_null(p);
        program_release(p);
        assert_int_equal(findings.count, rows[i].expected[0] != '\0');
        if (findings.count > 0) {
            assert_string_equal(findings.items[0].message.text.ptr, rows[i].expected);
            assert_string_equal(findings.items[0].code.ptr, "unknown_process");
            assert_string_equal(findings.items[0].pointer.ptr, "/steps/0/procedure/code");
            assert_true(findings.items[0].is_warning);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(test_types__operands_of_required_inputs_that_never_fit_are_errors),
        DEFINITION_TEST(test_types__what_can_work_is_left_alone),
        DEFINITION_TEST(test_types__an_optional_input_without_a_default_is_a_warning),
        DEFINITION_TEST(test_types__several_doubts_about_one_expression_are_warnings),
        DEFINITION_TEST(test_types__a_condition_around_an_expression_asks_for_it),
        DEFINITION_TEST(test_types__a_field_that_a_result_lacks_is_a_warning),
        DEFINITION_TEST(test_types__results_that_as_names_have_shapes_too),
        DEFINITION_TEST(test_types__a_text_that_was_meant_as_an_expression_is_a_warning),
        DEFINITION_TEST(test_types__a_later_or_own_result_is_a_warning),
        DEFINITION_TEST(test_types__a_stored_version_compiles_as_before),
        DEFINITION_TEST(test_types__what_a_procedure_is_given_fits_its_parameters),
        DEFINITION_TEST(test_types__what_a_step_lays_over_the_input_has_its_own_types),
        DEFINITION_TEST(test_types__flow_start_of_an_unpublished_code_is_a_warning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
