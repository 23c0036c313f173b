/*
 * test_hostile_source.c - sources that are too deep, too long or too wide.
 *
 * Each is refused with a clear code or gives the right result, and the
 * compiler holds a bounded amount of memory.
 */
#include "cel/hostile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* Refused for its shape, before anything was evaluated. */
static bool is_refused(const struct outcome *o)
{
    return !o->compiled &&
           (o->code == ERR_EXPRESSION_SYNTAX || o->code == ERR_LIMIT_EXPRESSION_SIZE);
}

static void expect_int_or_refused(struct hostile *h, struct str source, int64_t want)
{
    struct outcome o = hostile_run(h, source, value_null());
    EXPECT(outcome_is_int(&o, want) || is_refused(&o), o, source);
}

/* --- deep and wide sources --- */

static void test_hostile__nesting_beyond_the_limit_is_refused(void **state)
{
    struct hostile *h = *state;
    static const struct {
        const char *open, *core, *close;
    } shapes[] = {
        {"(", "1", ")"},
        {"[", "1", "]"},
        {"{1:", "1", "}"},
        {"size(", "''", ")"},
        {"[1].map(x,", "1", ")"},
        {"[1].all(x,", "true", ")"},
        {"cel.bind(x,1,", "x", ")"},
        {"{", "", "}"},
        {"1+(", "1", ")"},
        {"s[", "0", "]"},
        {"(true?", "1", ":2)"},
        {"-(", "1", ")"},
        {"!(", "true", ")"},
        {"{?", "", "}"},
        {"optional.of(", "1", ")"},
    };

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        size_t width = strlen(shapes[i].open) + strlen(shapes[i].close);
        size_t most = (CEL_SOURCE_MAX - strlen(shapes[i].core)) / width;
        struct str source =
            hostile_nested(h, shapes[i].open, shapes[i].core, shapes[i].close, most);
        struct outcome o = hostile_run(h, source, value_null());

        EXPECT(is_refused(&o), o, source);
        source = hostile_nested(h, shapes[i].open, shapes[i].core, shapes[i].close, 100000);
        o = hostile_run(h, source, value_null());
        EXPECT(!o.compiled && o.code == ERR_LIMIT_EXPRESSION_SIZE, o, source);
    }
}

static void test_hostile__nesting_that_is_never_closed_is_refused(void **state)
{
    struct hostile *h = *state;
    static const char *const opens[] = {"(",    "[",          "{",     "{1:", "f(", "s[",
                                        "s.f(", "[1].map(x,", "true?", "`",   "'",  "\"\"\"",
                                        "b'",   "//",         "s.",    "-(",  "!["};

    for (size_t i = 0; i < sizeof opens / sizeof opens[0]; i++) {
        size_t count = CEL_SOURCE_MAX / strlen(opens[i]);
        struct str source = hostile_nested(h, opens[i], "", "", count);
        struct outcome o = hostile_run(h, source, value_null());

        EXPECT(!o.compiled && o.code != ERR_NONE, o, source);
    }
}

static void test_hostile__chains_give_their_result_or_are_refused(void **state)
{
    struct hostile *h = *state;
    static const struct {
        const char *first, *more;
        int64_t first_int, more_int;
    } sums[] = {
        {"1", "+1", 1, 1},
        {"1", "-1", 1, -1},
        {"1", "*1", 1, 0},
        {"1", "/1", 1, 0},
    };

    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        struct str source = hostile_chain(h, sums[i].first, sums[i].more);
        int64_t count = (int64_t)((source.len - strlen(sums[i].first)) / strlen(sums[i].more));

        expect_int_or_refused(h, source, sums[i].first_int + sums[i].more_int * count);
    }
    expect_int_or_refused(h, hostile_nested(h, "-", "1", "", 99998), 1);
    expect_int_or_refused(h, hostile_nested(h, "true?1:", "1", "", 14000), 1);
    expect_int_or_refused(h, hostile_nested(h, "false?1:", "1", "", 12000), 1);
}

static void test_hostile__chains_of_conditions_are_true_or_refused(void **state)
{
    struct hostile *h = *state;
    const struct str sources[] = {
        hostile_chain(h, "true", "&&true"),        hostile_chain(h, "true", "||false"),
        hostile_nested(h, "!", "true", "", 99990), hostile_chain(h, "true", "==true"),
        hostile_chain(h, "true", "&&true||false"),
    };

    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        struct outcome o = hostile_run(h, sources[i], value_null());

        EXPECT(outcome_is_true(&o) || is_refused(&o), o, sources[i]);
    }
}

static void test_hostile__chains_of_access_end(void **state)
{
    struct hostile *h = *state;
    const struct str sources[] = {
        hostile_chain(h, "s", ".a"),         hostile_chain(h, "s", "[0]"),
        hostile_chain(h, "s", ".?a"),        hostile_chain(h, "s", "[?0]"),
        hostile_chain(h, "s", ".f()"),       hostile_chain(h, "''", ".trim()"),
        hostile_chain(h, "[]", "+[]"),       hostile_chain(h, "''", "+''"),
        hostile_chain(h, "s", ".map(x,x)"),  hostile_chain(h, "a", ".a"),
        hostile_chain(h, "[0]", ".first()"), hostile_chain(h, "1", " in [1]"),
    };

    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        struct outcome o = hostile_run(h, sources[i], value_null());
        /* What it is does not matter; that it ended, and what it held, does. */
        EXPECT(o.code != ERR_INTERNAL, o, sources[i]);
    }
}

static void test_hostile__source_may_have_so_many_code_points_and_no_more(void **state)
{
    struct hostile *h = *state;
    struct str fits = hostile_nested(h, "", "1", " ", CEL_SOURCE_MAX - 1);
    struct outcome o = hostile_run(h, fits, value_null());

    EXPECT(outcome_is_int(&o, 1), o, fits);
    /* Four bytes each: it is code points that count. */
    struct str smileys = hostile_nested(h, "\xf0\x9f\x98\x80", "", "", CEL_SOURCE_MAX - 8);

    fits = str_printf(&h->source, "size('%.*s')", STR_ARG(smileys));
    o = hostile_run(h, fits, value_null());
    EXPECT(outcome_is_int(&o, CEL_SOURCE_MAX - 8), o, fits);

    struct str too_long = hostile_nested(h, "", "1", " ", CEL_SOURCE_MAX);

    o = hostile_run(h, too_long, value_null());
    EXPECT(o.code == ERR_LIMIT_EXPRESSION_SIZE, o, too_long);
    too_long = str_printf(&h->source, "%.*s ", STR_ARG(fits));
    o = hostile_run(h, too_long, value_null());
    EXPECT(o.code == ERR_LIMIT_EXPRESSION_SIZE, o, too_long);
    o = hostile_run(h, value_text(hostile_text(h, ' ')), value_null());
    EXPECT(o.code == ERR_LIMIT_EXPRESSION_SIZE, o, STR("(spaces)"));
}

static void test_hostile__giant_literals_are_right_or_refused(void **state)
{
    struct hostile *h = *state;
    struct str ones = hostile_nested(h, ",1", "", "", 49990);
    struct str list = str_printf(&h->source, "size([0%.*s])", STR_ARG(ones));
    struct str call = str_printf(&h->source, "math.greatest(0%.*s)", STR_ARG(ones));
    struct buf map;

    expect_int_or_refused(h, list, 49991);
    expect_int_or_refused(h, call, 1);
    buf_init_arena(&map, &h->source);
    buf_text(&map, "size({0:0");
    for (int i = 1; i < 12000; i++)
        buf_printf(&map, ",%d:1", i);
    buf_text(&map, "})");
    expect_int_or_refused(h, buf_view(&map), 12000);
}

static void test_hostile__thousands_of_patterns_run_or_are_refused(void **state)
{
    struct hostile *h = *state;
    struct buf b;

    buf_init_arena(&b, &h->source);
    buf_text(&b, "'x'.matches('a')");
    for (int i = 0; i < 3000; i++)
        buf_printf(&b, "||'x'.matches('a{%d}')", i % 1000);
    struct outcome o = hostile_run(h, buf_view(&b), value_null());

    EXPECT(outcome_is_true(&o) || o.code == ERR_LIMIT_EXPRESSION_SIZE || outcome_is_over_limit(&o),
           o, buf_view(&b));
}

static void test_hostile__names_as_long_as_the_source_are_undeclared(void **state)
{
    struct hostile *h = *state;
    struct str name = hostile_nested(h, "n", "", "", CEL_SOURCE_MAX);
    struct outcome o = hostile_run(h, name, value_null());

    EXPECT(!o.compiled && o.code == ERR_EXPRESSION_TYPE, o, name);
    o = hostile_run(h, hostile_nested(h, "n", "()", "", CEL_SOURCE_MAX - 2), value_null());
    EXPECT(!o.compiled && o.code == ERR_EXPRESSION_TYPE, o, name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_HOSTILE(test_hostile__nesting_beyond_the_limit_is_refused),
        TEST_HOSTILE(test_hostile__nesting_that_is_never_closed_is_refused),
        TEST_HOSTILE(test_hostile__chains_give_their_result_or_are_refused),
        TEST_HOSTILE(test_hostile__chains_of_conditions_are_true_or_refused),
        TEST_HOSTILE(test_hostile__chains_of_access_end),
        TEST_HOSTILE(test_hostile__source_may_have_so_many_code_points_and_no_more),
        TEST_HOSTILE(test_hostile__giant_literals_are_right_or_refused),
        TEST_HOSTILE(test_hostile__thousands_of_patterns_run_or_are_refused),
        TEST_HOSTILE(test_hostile__names_as_long_as_the_source_are_undeclared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
