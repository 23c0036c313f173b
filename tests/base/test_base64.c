/* test_base64.c - claims about base64.h. */
#include "base/text/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    struct str bytes;
    struct str text;
} pairs[] = {
    {{"", 0}, {"", 0}},
    {{"f", 1}, {"Zg==", 4}},
    {{"fo", 2}, {"Zm8=", 4}},
    {{"foo", 3}, {"Zm9v", 4}},
    {{"foob", 4}, {"Zm9vYg==", 8}},
    {{"fooba", 5}, {"Zm9vYmE=", 8}},
    {{"foobar", 6}, {"Zm9vYmFy", 8}},
    {{"\xFB\xFF\xFE", 3}, {"+//+", 4}},
    {{"\0\0", 2}, {"AAA=", 4}},
};

static void test_base64__encodes_with_padding(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        char out[16];
        size_t len = base64_encode(pairs[i].bytes, out);
        assert_int_equal(len, base64_encoded_len(pairs[i].bytes.len));
        assert_true(str_eq(str_from(out, len), pairs[i].text));
    }
}

static void test_base64__decodes_with_and_without_padding(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct str bare = pairs[i].text;
        char out[16];
        size_t len = 99;

        assert_true(base64_decode(pairs[i].text, out, &len));
        assert_true(str_eq(str_from(out, len), pairs[i].bytes));
        while (str_ends_with(bare, STR("=")))
            bare.len--;
        assert_true(base64_decode(bare, out, &len));
        assert_true(str_eq(str_from(out, len), pairs[i].bytes));
        assert_true(len <= base64_decoded_max(bare.len));
    }
}

static void test_base64__refuses_anything_else_and_says_where(void **state)
{
    static const struct {
        const char *text;
        size_t place;
    } cases[] = {
        {"A", 0},                                        /* six bits are no byte */
        {"Zm9vY", 4},                                    /* the same after a group */
        {"Zg=", 2},                                      /* half of the padding */
        {"Zg===", 2},                                    /* too much of it */
        {"=", 0},        {"====", 0},       {"Zm=v", 2}, /* in the middle */
        {"Zg==Zg==", 2}, {"Zm9v====", 4},   {"Zm 9v", 2},
        {"Zm9v\n", 4},   {"Zm-v", 2}, /* the alphabet for URLs */
        {"Zm_v", 2},     {"Zh==", 1}, /* bits beyond the last byte */
        {"Zm9=", 2},     {"Zm\xC3\xA9", 2},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char out[16];
        size_t len = 99;
        assert_false(base64_decode(str_of(cases[i].text), out, &len));
        assert_int_equal(len, cases[i].place);
    }
}

static void test_base64__every_pair_of_bytes_survives_the_round_trip(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 1 << 16; n++) {
        char bytes[3] = {(char)(n >> 8), (char)(n & 255), (char)(n * 7 & 255)};
        char text[4], back[5];
        size_t len;

        for (size_t size = 2; size <= 3; size++) {
            assert_int_equal(base64_encode(str_from(bytes, size), text), 4);
            assert_true(base64_decode(str_from(text, 4), back, &len));
            assert_true(str_eq(str_from(back, len), str_from(bytes, size)));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base64__encodes_with_padding),
        cmocka_unit_test(test_base64__decodes_with_and_without_padding),
        cmocka_unit_test(test_base64__refuses_anything_else_and_says_where),
        cmocka_unit_test(test_base64__every_pair_of_bytes_survives_the_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
