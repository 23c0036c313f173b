/*
 * test_fixes.c - claims about what mends a finding: put where it says, it is the end of that
 * finding. Every code of findings.def that may have a fix has a row here.
 */
#include "define/define.h"
#include "define/definition.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define LOG "'procedure': {'type': 'log', 'message': 'x'}"
#define STEP(fields) "{'code': 'a', 'steps': [{'code': 'pay', " fields "}]}"
#define INPUT(fields, step)                                                                        \
    "{'code': 'a', 'input': [{'name': 'amount', 'type': 'integer', " fields "}], 'steps': "        \
    "[{'code': 'pay', " step "}]}"

/* A definition, the code of what is found, and what its fix is: "pointer value". */
static const struct {
    const char *definition, *code, *fix;
} rows[] = {
    {STEP("'procedure': {'type': 'log', 'mesage': 'x'}"), "unknown_field",
     "/steps/0/procedure {'type':'log','message':'x'}"},
    {"{'code': 'a', 'title': 'x', 'steps': [{'code': 'pay', " LOG "}]}", "unknown_field",
     " {'code':'a','name':'x','steps':[{'code':'pay','procedure':{'type':'log','message':'x'}}]}"},
    {STEP("'onError': 'ignore', " LOG), "bad_value", "/steps/0/onError 'continue'"},
    {INPUT("'required': 'yes'", LOG), "wrong_type", "/input/0/required true"},
    {STEP("'name': 7, " LOG), "wrong_type", "/steps/0/name '7'"},
    {"{'code': 'a', 'steps': [{'code': 'Pay-Now', " LOG "}]}", "bad_code",
     "/steps/0/code 'pay_now'"},
    {STEP("'procedure': {'type': 'wait.timer', 'duration': '2 weeks'}"), "bad_duration",
     "/steps/0/procedure/duration '14d'"},
    {STEP("'timeout': '30', 'procedure': 'bank.pay'"), "bad_duration", "/steps/0/timeout '30s'"},
    {STEP("'procedure': {'type': 'wait.singal', 'signalType': 'x'}"), "unknown_command",
     "/steps/0/procedure/type 'wait.signal'"},
    {"{'code': 'a', 'steps': [{'code': 'pay', " LOG ", 'goto': 'shpi'}, {'code': 'ship', " LOG
     "}]}",
     "unknown_step", "/steps/0/goto 'ship'"},
    {"{'code': 'a', 'procedures': {'price': [{'type': 'log', 'message': 'x'}]}, 'steps': "
     "[{'code': 'pay', 'procedure': 'prise'}]}",
     "unknown_procedure", "/steps/0/procedure 'price'"},
    {INPUT("'required': true", "'procedure': {'type': 'log', 'message': 'Pay ${ input.amount }!'}"),
     "plain_text", "/steps/0/procedure/message 'Pay {{ input.amount }}!'"},
    {INPUT("'required': true", "'procedure': {'type': 'log', 'message': 'input.amount'}"),
     "plain_text", "/steps/0/procedure/message '=input.amount'"},
    {INPUT("'required': true", "'when': '=input.amount > 1', " LOG), "expression_syntax",
     "/steps/0/when 'input.amount > 1'"},
    {INPUT("'required': true", "'when': 'inptu.amount > 1', " LOG), "expression_type",
     "/steps/0/when 'input.amount > 1'"},
    {INPUT("'required': true", "'when': '1 < 2 && $.steps.pya == null', " LOG), "expression_type",
     "/steps/0/when '1 < 2 && $.steps.pay == null'"},
    {INPUT("'required': true", "'when': 'sizee([1]) > 1', " LOG), "expression_type",
     "/steps/0/when 'size([1]) > 1'"},
    {INPUT("'required': true", "'when': 'input.amuont > 1 && input.amount > 2', " LOG),
     "undeclared_input", "/steps/0/when 'input.amount > 1 && input.amount > 2'"},
};

/* What is found in a definition with this code, or NULL. */
static const struct finding *find_code(const struct findings *findings, struct str code)
{
    for (size_t i = 0; i < findings->count; i++)
        if (str_eq(findings->items[i].code, code))
            return &findings->items[i];
    return NULL;
}

static struct findings findings_in(struct value definition)
{
    struct findings findings = {0};
    const struct program *program = NULL;

    define_compile_scenario(&definition_mem, define_env(&definition_mem), definition, 0, &findings,
                            &program);
    if (program != NULL)
        program_release(program);
    return findings;
}

/* A copy of `v` with `in` at the pointer. */
static struct value put_at(struct value v, struct str pointer, struct value in)
{
    struct str rest, word;

    if (pointer.len == 0)
        return in;
    rest = str_slice(pointer, 1, pointer.len);
    word = str_cut(&rest, '/');
    rest = str_slice(pointer, 1 + word.len, pointer.len);
    if (v.kind == VALUE_LIST) {
        struct value *items = ARENA_ARRAY(&definition_mem, v.len, struct value);
        int64_t index;

        assert_true(str_to_int64(word, &index) && index < v.len);
        for (uint32_t i = 0; i < v.len; i++)
            items[i] = i == (uint32_t)index ? put_at(v.items[i], rest, in) : v.items[i];
        return value_list(items, v.len);
    }
    assert_int_equal(v.kind, VALUE_MAP);
    struct value_entry *entries = ARENA_ARRAY(&definition_mem, v.len, struct value_entry);
    for (uint32_t i = 0; i < v.len; i++) {
        entries[i] = v.map->entries[i];
        if (str_eq(value_text(entries[i].key), word))
            entries[i].value = put_at(entries[i].value, rest, in);
    }
    return value_map_take(&definition_mem, entries, v.len);
}

static struct value fix_shown(const struct finding *f)
{
    struct findings one = {.items = (struct finding *)f, .count = 1, .capacity = 1};

    return value_map_get_str(findings_value(&definition_mem, &one).items[0], STR("fix"));
}

static void test_fixes__end_what_they_are_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct value definition = definition_value(rows[i].definition), fix;
        struct findings before = findings_in(definition), after;
        const struct finding *f = find_code(&before, str_of(rows[i].code));
        struct str pointer;
        const char *said;

        if (f == NULL)
            fail_msg("%s: nothing of %s", rows[i].definition, rows[i].code);
        fix = fix_shown(f);
        if (fix.kind != VALUE_MAP)
            fail_msg("%s: %s has no fix", rows[i].definition, rows[i].code);
        pointer = value_map_text(fix, STR("pointer"));
        said = str_printf(&definition_mem, "%.*s %s", STR_ARG(pointer),
                          definition_json(value_map_get_str(fix, STR("value"))))
                   .ptr;
        assert_string_equal(said, definition_quote(rows[i].fix));
        assert_true(value_map_text(fix, STR("label")).len > 0);
        after = findings_in(put_at(definition, pointer, value_map_get_str(fix, STR("value"))));
        if (find_code(&after, str_of(rows[i].code)) != NULL)
            fail_msg("%s: %s is still there", rows[i].definition, rows[i].code);
    }
}

static void test_fixes__every_code_that_may_have_one_has_a_row(void **state)
{
    static const struct {
        const char *code, *fix;
    } all[] = {
#define FINDING(symbol, code, fix) {code, #fix},
#include "define/catalog/findings.def"
#undef FINDING
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        bool has_row = false;

        for (size_t k = 0; k < ARRAY_SIZE(rows); k++)
            has_row = has_row || strcmp(rows[k].code, all[i].code) == 0;
        if (has_row != (strcmp(all[i].fix, "NONE") != 0))
            fail_msg("%s: the table says %s", all[i].code, all[i].fix);
    }
}

static void test_fixes__a_name_that_is_taken_or_in_a_large_object_is_a_hint_only(void **state)
{
    char large[FIX_MAX_BYTES + 1] = "";
    struct findings found =
        findings_in(definition_value(STEP("'procedure': {'type': 'log', 'message': 'x', 'mesage': "
                                          "'y'}")));
    const struct finding *f = find_code(&found, STR("unknown_field"));

    (void)state;
    memset(large, 'x', FIX_MAX_BYTES);
    assert_non_null(f);
    assert_int_equal(f->fix.value.kind, VALUE_ABSENT);
    assert_true(f->hint.text.len > 0);
    found = findings_in(definition_value(
        str_printf(&definition_mem, STEP("'procedure': {'type': 'log', 'mesage': '%s'}"), large)
            .ptr));
    f = find_code(&found, STR("unknown_field"));
    assert_non_null(f);
    assert_int_equal(f->fix.value.kind, VALUE_ABSENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(test_fixes__end_what_they_are_for),
        DEFINITION_TEST(test_fixes__every_code_that_may_have_one_has_a_row),
        DEFINITION_TEST(test_fixes__a_name_that_is_taken_or_in_a_large_object_is_a_hint_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
