/*
 * test_hostile_text.c - long texts, patterns and JSON that are written to hurt.
 *
 * Each is refused with a clear code or gives the right result, within the
 * memory that the limits allow.
 */
#include "cel/hostile.h"

#include "base/text/utf8.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* --- long texts --- */

static void test_hostile__patterns_run_in_linear_time(void **state)
{
    struct hostile *h = *state;
    static const char *const sources[] = {
        "s.matches('^(a+)+$')",        "s.matches('^(a|a)*$')",
        "s.matches('^(a|aa)+$')",      "s.matches('(.*)(.*)(.*)(.*)(.*)[^a]') || true",
        "s.matches('(a?){50}a{50}$')", "s.matches('^' + '(a*)*' + '$')",
    };
    struct value text = hostile_text(h, 'a');

    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        struct outcome o = hostile_run(h, str_of(sources[i]), text);
        EXPECT(outcome_is_true(&o) || outcome_is_over_limit(&o), o, str_of(sources[i]));
    }
}

/* Not a pattern, or one that would compile to something too large. */
static bool is_refused_pattern(const struct outcome *o)
{
    return o->code == ERR_EXPRESSION_SYNTAX || o->code == ERR_EXPRESSION_TYPE ||
           o->code == ERR_EXPRESSION_ERROR || o->code == ERR_LIMIT_EXPRESSION_SIZE ||
           outcome_is_over_limit(o);
}

static void test_hostile__patterns_of_any_size_are_refused_or_run(void **state)
{
    struct hostile *h = *state;
    static const char *const patterns[] = {
        "((((((((((a{100}){100}){100}){100}){100}){100}){100}){100}){100}){100})",
        "a{1000}{1000}{1000}",
        "(a{0,1000}){0,1000}",
        "[[:^alpha:]",
        "(?P<n",
        "\\\\pN{1000}{1000}",
    };

    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        struct str constant = str_printf(&h->source, "'aaa'.matches('%s')", patterns[i]);
        struct str dynamic = str_printf(&h->source, "'aaa'.matches(s + '%s')", patterns[i]);
        struct outcome o = hostile_run(h, constant, value_null());

        EXPECT(o.code == ERR_NONE || is_refused_pattern(&o), o, constant);
        o = hostile_run(h, dynamic, value_string(STR("")));
        EXPECT(o.compiled && (o.code == ERR_NONE || is_refused_pattern(&o)), o, dynamic);
    }

    struct outcome o = hostile_run(h, STR("'a'.matches(s)"), hostile_text(h, '('));

    EXPECT(o.compiled && is_refused_pattern(&o), o, STR("'a'.matches(s)"));
}

static void test_hostile__long_texts_stay_within_the_limits(void **state)
{
    struct hostile *h = *state;
    static const char *const sources[] = {
        "size(s.replace('a', 'bb'))",
        "size(s.replace('', 'bbbbbbbb'))",
        "size(s.split(''))",
        "size(s.split('a'))",
        "size('%s%s%s%s%s%s%s%s'.format([s, s, s, s, s, s, s, s]))",
        "size(s.format([]))",
        "size(s.lowerAscii() + s.upperAscii() + s.reverse() + s.trim())",
        "size(strings.quote(s))",
        "size(base64.encode(bytes(s)))",
        "lists.range(1000).map(i, s.indexOf('b')).size()",
        "lists.range(1000).map(i, s.lastIndexOf('aaab')).size()",
        "lists.range(1000).map(i, s.contains('aaab')).size()",
        "lists.range(1000).map(i, size(s)).size()",
        "lists.range(1000).map(i, s == s + 'a').size()",
        "lists.range(1000).map(i, s < s + 'a').size()",
        "lists.range(1000).map(i, s.charAt(10000000)).size()",
        "lists.range(1000).map(i, s.substring(i)).size()",
        "lists.range(1000).map(i, {s: i}[s]).size()",
        "lists.range(1000).map(i, s in {'k': 1}).size()",
        "lists.range(1000).map(i, s.matches('b')).size()",
        "lists.range(1000).map(i, bytes(s)).size()",
    };
    struct value text = hostile_text(h, 'a');

    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        struct outcome o = hostile_run(h, str_of(sources[i]), text);
        EXPECT(o.code == ERR_NONE || outcome_is_over_limit(&o), o, str_of(sources[i]));
    }
}

static void test_hostile__long_texts_are_no_numbers_or_times(void **state)
{
    struct hostile *h = *state;
    static const char *const sources[] = {
        "int(s)",
        "uint(s)",
        "bool(s)",
        "timestamp(s)",
        "duration(s)",
        "base64.decode(s + '?')",
        "timestamp('2026-01-01').getHours(s)",
        "date.add(timestamp('2026-01-01'), 1, s)",
        "date.startOf(timestamp('2026-01-01'), 'day', s)",
    };
    struct value digits = hostile_text(h, '9');

    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        struct str source = str_of(sources[i]);
        struct outcome o = hostile_run(h, source, digits);

        EXPECT(o.code == ERR_EXPRESSION_ERROR || outcome_is_over_limit(&o), o, source);
    }
}

static void test_hostile__messages_are_whole_characters(void **state)
{
    struct hostile *h = *state;

    /* hostile_run() holds each against UTF-8, wherever it is cut. */
    for (unsigned pad = 0; pad < 4; pad++) {
        struct str smileys = hostile_nested(h, "\xf0\x9f\x98\x80", "", "", 500);
        struct str source =
            str_printf(&h->source, "int('%.*s%.*s')", (int)pad, "xxxx", STR_ARG(smileys));
        struct outcome o = hostile_run(h, source, value_null());

        EXPECT(o.code == ERR_EXPRESSION_ERROR, o, source);
    }
}

static void test_hostile__bytes_that_are_not_utf8_do_not_compile(void **state)
{
    struct hostile *h = *state;
    static const char *const sources[] = {"'\xff'",           "'\xc0\x80'", "'\xed\xa0\x80'",
                                          "\xf4\x90\x80\x80", "1 // \xfe",  "`\x80`",
                                          "b'\xff'"};

    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        struct outcome o = hostile_run(h, str_of(sources[i]), value_null());
        EXPECT(o.code == ERR_EXPRESSION_SYNTAX && !o.compiled, o, STR("(not UTF-8)"));
    }
}

/* --- JSON --- */

static void expect_bad_json(struct str text)
{
    struct arena mem;
    struct value out = value_absent();
    struct err err;

    arena_init(&mem);
    assert_false(json_read(&mem, text, &out, &err));
    assert_int_equal(err.code, ERR_BAD_JSON);
    assert_true(utf8_is_valid(str_of(err.message)));
    assert_true(mem.held_bytes < 16 * MIB);
    arena_fini(&mem);
}

static void test_hostile__deep_json_is_refused(void **state)
{
    struct hostile *h = *state;

    expect_bad_json(hostile_nested(h, "[", "", "]", 100000));
    expect_bad_json(hostile_nested(h, "[", "", "", 100000));
    expect_bad_json(hostile_nested(h, "{\"a\":", "1", "}", 100000));
    expect_bad_json(hostile_nested(h, "{\"a\":", "", "", 100000));
    expect_bad_json(hostile_nested(h, "[{\"a\":", "1", "}]", 100000));
    expect_bad_json(hostile_nested(h, "[[],", "1", "]", 100000));
}

static void test_hostile__broken_json_is_refused(void **state)
{
    struct hostile *h = *state;

    expect_bad_json(value_text(hostile_text(h, '[')));
    expect_bad_json(value_text(hostile_text(h, '"')));
    expect_bad_json(value_text(hostile_text(h, '-')));
    expect_bad_json(value_text(hostile_text(h, ' ')));
    expect_bad_json(hostile_nested(h, "{\"k\":1,", "\"k\":2", "}", 1));
}

static void test_hostile__numbers_of_any_length_are_read_or_refused(void **state)
{
    struct hostile *h = *state;
    struct value out = value_absent();
    struct err err;
    struct str digits = value_text(hostile_text(h, '9'));

    /* Ten million digits are more than a double holds. */
    assert_false(json_read(&h->source, digits, &out, &err));
    assert_int_equal(err.code, ERR_BAD_JSON);
    struct str fraction = hostile_nested(h, "", "0.", "3", 1000000);

    assert_true(json_read(&h->source, fraction, &out, &err));
    assert_int_equal(out.kind, VALUE_DOUBLE);
    assert_true(out.d > 0.3333333333333333 - 1e-16 && out.d < 0.3333333333333333 + 1e-16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_HOSTILE(test_hostile__patterns_run_in_linear_time),
        TEST_HOSTILE(test_hostile__patterns_of_any_size_are_refused_or_run),
        TEST_HOSTILE(test_hostile__long_texts_stay_within_the_limits),
        TEST_HOSTILE(test_hostile__long_texts_are_no_numbers_or_times),
        TEST_HOSTILE(test_hostile__messages_are_whole_characters),
        TEST_HOSTILE(test_hostile__bytes_that_are_not_utf8_do_not_compile),
        TEST_HOSTILE(test_hostile__deep_json_is_refused),
        TEST_HOSTILE(test_hostile__broken_json_is_refused),
        TEST_HOSTILE(test_hostile__numbers_of_any_length_are_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
