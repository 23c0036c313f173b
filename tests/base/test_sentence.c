/* test_sentence.c - claims about sentence.h. */
#include "base/text/sentence.h"

#include "base/text/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static struct arena mem;

static int setup(void **state)
{
    (void)state;
    arena_init(&mem);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_fini(&mem);
    return 0;
}

static void assert_text(struct str text, const char *wanted)
{
    assert_int_equal(text.len, strlen(wanted));
    assert_memory_equal(text.ptr, wanted, text.len);
}

static void test_sentence__its_text_is_what_printf_makes(void **state)
{
    char wanted[SENTENCE_MAX];

    (void)state;
#define ASSERT_SAME(...)                                                                           \
    do {                                                                                           \
        snprintf(wanted, sizeof(wanted), __VA_ARGS__);                                             \
        assert_string_equal(sentence_make(&mem, __VA_ARGS__).text.ptr, wanted);                    \
    } while (0)
    ASSERT_SAME("nothing to fill in");
    ASSERT_SAME("%s and %.*s and %.3s|", "a", 2, "bcd", "efgh");
    ASSERT_SAME("%d %u %zu %lld %llu %ld", -1, 2u, (size_t)3, -4LL, 5ULL, 6L);
    ASSERT_SAME("%c U+%04X %x %03lld", 'x', 10, 255, 7LL);
    ASSERT_SAME("%g %.3f", 1.5, 2.0 / 3);
    ASSERT_SAME("100%% of %s%%", "it");
    ASSERT_SAME("%.*s|", 5, "ab");
    ASSERT_SAME("%.*s|", 0, "ab");
#undef ASSERT_SAME
}

static void test_sentence__it_knows_its_format_and_arguments(void **state)
{
    static const char format[] = "'%.*s' has %d of %s";
    struct sentence s = sentence_make(&mem, format, 3, "total", 12, "them");

    (void)state;
    assert_text(s.text, "'tot' has 12 of them");
    assert_int_equal(s.part_count, 4);
    assert_ptr_equal(s.parts[0].format, format);
    assert_int_equal(s.parts[0].count, 3);
    assert_int_equal(s.parts[0].len, s.text.len);
    assert_text(sentence_at(s, 1).text, "tot");
    assert_text(sentence_at(s, 2).text, "12");
    assert_text(sentence_at(s, 3).text, "them");
    assert_null(s.parts[1].format);
}

static void test_sentence__a_sentence_in_another_keeps_its_own(void **state)
{
    static const char inner_format[] = "%s is no %s";
    struct sentence inner = sentence_make(&mem, inner_format, "x", "number");
    struct sentence outer =
        sentence_make(&mem, "%s: %pS; %s", "where", SENTENCE_ARG(inner), "write 1");
    struct sentence again;

    (void)state;
    assert_text(outer.text, "where: x is no number; write 1");
    assert_int_equal(outer.parts[0].count, 3);
    assert_int_equal(outer.part_count, 6);
    again = sentence_at(outer, 2);
    assert_text(again.text, "x is no number");
    assert_ptr_equal(again.parts[0].format, inner_format);
    assert_int_equal(again.part_count, 3);
    assert_text(sentence_at(again, 2).text, "number");
    assert_text(sentence_at(outer, 2 + sentence_extent(outer.parts, 2)).text, "write 1");
}

static void test_sentence__a_text_of_which_nothing_is_known_is_an_argument_too(void **state)
{
    struct sentence s =
        sentence_make(&mem, "why: %pS", SENTENCE_ARG(sentence_of(STR("the disk is full"))));

    (void)state;
    assert_text(s.text, "why: the disk is full");
    assert_int_equal(s.part_count, 2);
    assert_text(sentence_at(s, 1).text, "the disk is full");
    assert_int_equal(sentence_make(&mem, "%pS", SENTENCE_ARG(SENTENCE_NONE)).text.len, 0);
}

static void test_sentence__what_is_too_long_is_cut_and_becomes_a_text_as_it_is(void **state)
{
    static char text[100000];
    struct sentence s, outer;

    (void)state;
    for (size_t i = 0; i + 2 < sizeof(text); i += 2)
        memcpy(text + i, "\xD0\x96", 2);
    s = sentence_make(&mem, "%s is %s and %s", "x", text, "y");
    assert_true(s.text.len > SENTENCE_MAX - 3 && s.text.len < SENTENCE_MAX);
    assert_true(utf8_is_valid(s.text));
    assert_null(s.parts[0].format);
    assert_text(sentence_at(s, 1).text, "x");
    assert_int_equal(sentence_at(s, 2).text.len, s.text.len - 5);
    assert_int_equal(sentence_at(s, 3).text.len, 0);
    outer = sentence_make(&mem, "%pS", SENTENCE_ARG(sentence_of(str_of(text))));
    assert_true(outer.text.len < SENTENCE_MAX);
    assert_null(outer.parts[0].format);
}

static void test_sentence__parts_that_find_no_room_are_texts_as_they_are(void **state)
{
    struct sentence s = sentence_make(&mem, "%s %s", "a", "b");

    (void)state;
    for (unsigned i = 0; i < 40; i++)
        s = sentence_make(&mem, "%pS %s", SENTENCE_ARG(s), "c");
    assert_true(s.part_count <= SENTENCE_PARTS_MAX);
    assert_int_equal(s.text.len, 3 + 2 * 40);
    assert_text(sentence_at(s, 1 + sentence_extent(s.parts, 1)).text, "c");
}

static void test_sentence__one_that_is_all_of_another_is_that_one(void **state)
{
    static const char format[] = "%s is no %s";
    struct sentence s = sentence_make(&mem, format, "x", "number");
    struct sentence same = sentence_make(&mem, "%pS", SENTENCE_ARG(s));

    (void)state;
    assert_int_equal(same.part_count, s.part_count);
    assert_ptr_equal(same.parts[0].format, format);
    assert_text(same.text, "x is no number");
}

static void test_sentence__a_copy_needs_nothing_of_the_first(void **state)
{
    struct arena other;
    struct sentence s;

    (void)state;
    arena_init(&other);
    s = sentence_copy(&mem, sentence_make(&other, "%s is %pS", "x",
                                          SENTENCE_ARG(sentence_make(&other, "no %s", "y"))));
    arena_fini(&other);
    assert_text(s.text, "x is no y");
    assert_text(sentence_at(sentence_at(s, 2), 1).text, "y");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sentence__its_text_is_what_printf_makes),
        cmocka_unit_test(test_sentence__it_knows_its_format_and_arguments),
        cmocka_unit_test(test_sentence__a_sentence_in_another_keeps_its_own),
        cmocka_unit_test(test_sentence__a_text_of_which_nothing_is_known_is_an_argument_too),
        cmocka_unit_test(test_sentence__what_is_too_long_is_cut_and_becomes_a_text_as_it_is),
        cmocka_unit_test(test_sentence__parts_that_find_no_room_are_texts_as_they_are),
        cmocka_unit_test(test_sentence__one_that_is_all_of_another_is_that_one),
        cmocka_unit_test(test_sentence__a_copy_needs_nothing_of_the_first),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
