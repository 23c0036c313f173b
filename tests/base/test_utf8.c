/* test_utf8.c - claims about utf8.h. */
#include "base/text/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_utf8__valid_prefix_ends_at_the_first_bad_byte(void **state)
{
    static const struct {
        struct str text;
        size_t valid;
    } cases[] = {
        {{"", 0}, 0},
        {{"plain ascii, long enough for words", 34}, 34},
        {{"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 9}, 9},
        {{"ab\xC0\x80", 4}, 2},       /* overlong zero */
        {{"\xC1\xBF", 2}, 0},         /* overlong */
        {{"\xE0\x9F\xBF", 3}, 0},     /* overlong */
        {{"\xE0\xA0\x80", 3}, 3},     /* U+0800 */
        {{"\xED\x9F\xBF", 3}, 3},     /* U+D7FF */
        {{"\xED\xA0\x80", 3}, 0},     /* surrogate */
        {{"\xEE\x80\x80", 3}, 3},     /* U+E000 */
        {{"\xF0\x8F\xBF\xBF", 4}, 0}, /* overlong */
        {{"\xF0\x90\x80\x80", 4}, 4}, /* U+10000 */
        {{"\xF4\x8F\xBF\xBF", 4}, 4}, /* U+10FFFF */
        {{"\xF4\x90\x80\x80", 4}, 0}, /* above it */
        {{"\xF5\x80\x80\x80", 4}, 0}, /* no such lead byte */
        {{"\xFF", 1}, 0},
        {{"a\x80", 2}, 1},             /* a stray continuation */
        {{"12345678\xE2\x82", 10}, 8}, /* cut off */
        {{"1234567\xE2\x82\xACx\xE2", 12}, 11},
        {{"\xE2\x82\x41", 3}, 0}, /* continuation missing */
        {{"\xF0\x9F\x98\x41", 4}, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(utf8_valid_prefix(cases[i].text), cases[i].valid);
        assert_int_equal(utf8_is_valid(cases[i].text), cases[i].valid == cases[i].text.len);
    }
}

static void test_utf8__every_code_point_survives_the_round_trip(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        char out[4];
        size_t len, pos = 0;

        if (c == 0xD800)
            c = 0xE000;
        len = utf8_encode(out, c);
        assert_true(utf8_is_valid(str_from(out, len)));
        assert_int_equal(utf8_next(str_from(out, len), &pos), c);
        assert_int_equal(pos, len);
    }
}

static void test_utf8__counts_and_finds_code_points(void **state)
{
    struct str s = STR("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z");
    static const size_t offsets[] = {0, 1, 3, 6, 10, 11};

    (void)state;
    assert_int_equal(utf8_count(s), 5);
    assert_int_equal(utf8_count(STR_NONE), 0);
    assert_int_equal(utf8_offset(STR_NONE, 0), 0);
    for (size_t n = 0; n < COUNT(offsets); n++)
        assert_int_equal(utf8_offset(s, n), offsets[n]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utf8__valid_prefix_ends_at_the_first_bad_byte),
        cmocka_unit_test(test_utf8__every_code_point_survives_the_round_trip),
        cmocka_unit_test(test_utf8__counts_and_finds_code_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
