/* test_hex.c - claims about hex.h. */
#include "base/text/hex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const uint8_t bytes[] = {0x00, 0x09, 0x9a, 0xAF, 0xff};

static void test_hex__knows_22_digits_and_no_others(void **state)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    int count = 0;

    (void)state;
    for (int c = 0; c < 256; c++)
        count += hex_digit((char)c) >= 0;
    assert_int_equal(count, sizeof(digits) - 1);
    for (int i = 0; i < 22; i++) {
        assert_int_equal(hex_digit(digits[i]), i < 16 ? i : i - 6);
        assert_int_equal(hex_digit_lower(digits[i]), i < 16 ? i : -1);
    }
}

static void test_hex__writes_two_digits_a_byte(void **state)
{
    char out[sizeof(bytes) * 2];

    (void)state;
    assert_ptr_equal(hex_write(out, bytes, sizeof(bytes)), out + sizeof(out));
    assert_memory_equal(out, "00099aafff", sizeof(out));
    assert_ptr_equal(hex_write_upper(out, bytes, sizeof(bytes)), out + sizeof(out));
    assert_memory_equal(out, "00099AAFFF", sizeof(out));
}

static void test_hex__reads_what_it_writes_and_capitals_where_they_are_allowed(void **state)
{
    uint8_t out[sizeof(bytes)] = {0};

    (void)state;
    assert_true(hex_read_lower(STR("00099aafff"), out, sizeof(out)));
    assert_memory_equal(out, bytes, sizeof(out));
    memset(out, 0, sizeof(out));
    assert_true(hex_read(STR("00099AaFfF"), out, sizeof(out)));
    assert_memory_equal(out, bytes, sizeof(out));
    assert_false(hex_read_lower(STR("00099Aafff"), out, sizeof(out)));
    assert_true(hex_read(STR_NONE, out, 0));
}

static void test_hex__refuses_other_lengths_and_other_characters(void **state)
{
    uint8_t out[2];

    (void)state;
    assert_false(hex_read(STR("012"), out, 2));
    assert_false(hex_read(STR("01234"), out, 2));
    assert_false(hex_read(STR("01g3"), out, 2));
    assert_false(hex_read(STR("012-"), out, 2));
    assert_false(hex_read(STR("0x12"), out, 2));
}

static void test_hex__reads_numbers_of_up_to_16_digits(void **state)
{
    uint64_t n;

    (void)state;
    assert_true(hex_read_uint64(STR("0"), &n) && n == 0);
    assert_true(hex_read_uint64(STR("1f"), &n) && n == 31);
    assert_true(hex_read_uint64(STR("ffffffffffffffff"), &n) && n == UINT64_MAX);
    assert_false(hex_read_uint64(STR("00000000000000001"), &n));
    assert_false(hex_read_uint64(STR("1F"), &n));
    assert_false(hex_read_uint64(STR(""), &n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hex__knows_22_digits_and_no_others),
        cmocka_unit_test(test_hex__writes_two_digits_a_byte),
        cmocka_unit_test(test_hex__reads_what_it_writes_and_capitals_where_they_are_allowed),
        cmocka_unit_test(test_hex__refuses_other_lengths_and_other_characters),
        cmocka_unit_test(test_hex__reads_numbers_of_up_to_16_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
