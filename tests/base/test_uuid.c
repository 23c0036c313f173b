/* test_uuid.c - claims about uuid.h. */
#include "base/uuid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *text_of(struct uuid id)
{
    static char text[UUID_TEXT_LEN + 1];

    uuid_write(id, text);
    return text;
}

static void test_uuid__v7_is_a_function_of_time_and_random_bytes(void **state)
{
    static const uint8_t ones[10] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    static const uint8_t zeros[10];
    /* The example of RFC 9562, appendix A.6. */
    static const uint8_t example[10] = {0x0C, 0xC3, 0x18, 0xC4, 0xDC, 0x0C, 0x0C, 0x07, 0x39, 0x8F};

    (void)state;
    assert_string_equal(text_of(uuid_v7(0x017F22E279B0, example)),
                        "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    assert_string_equal(text_of(uuid_v7(0, zeros)), "00000000-0000-7000-8000-000000000000");
    assert_string_equal(text_of(uuid_v7(0xFFFFFFFFFFFF, ones)),
                        "ffffffff-ffff-7fff-bfff-ffffffffffff");
    assert_int_equal(uuid_ms(uuid_v7(0x017F22E279B0, ones)), 0x017F22E279B0);
}

static void test_uuid__text_survives_the_round_trip(void **state)
{
    struct uuid id;

    (void)state;
    assert_true(uuid_read(STR("017F22E2-79b0-7CC3-98c4-dc0c0c07398F"), &id));
    assert_string_equal(text_of(id), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

static void test_uuid__read_refuses_malformed_text(void **state)
{
    static const char *const cases[] = {
        "",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398f0",
        "017f22e279b07cc398c4dc0c0c07398f",
        "{17f22e2-79b0-7cc3-98c4-dc0c0c07398}",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398g",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398 ",
        " 17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
        "017f22e-279b0-7cc3-98c4-dc0c0c07398f",
        "017f22e2_79b0-7cc3-98c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-98c4+dc0c0c07398f",
        "017f22e2-79b0-7cc3--8c4-dc0c0c07398f",
        "0x7f22e2-79b0-7cc3-98c4-dc0c0c07398f",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct uuid id = {{0xEE}};
        assert_false(uuid_read(str_of(cases[i]), &id));
        assert_int_equal(id.bytes[0], 0xEE);
    }
}

/* A source of random bytes that are all the same. */
static void constant(void *context, uint8_t *out, size_t len)
{
    memset(out, *(const uint8_t *)context, len);
}

static void test_uuid__grows_within_one_millisecond(void **state)
{
    struct uuid_gen gen;
    struct uuid last;

    (void)state;
    uuid_gen_init(&gen, NULL, NULL);
    last = uuid_gen_next(&gen, 1000);
    for (int i = 0; i < 100000; i++) {
        struct uuid next = uuid_gen_next(&gen, 1000);
        assert_int_equal(uuid_cmp(last, next), -1);
        assert_int_equal(next.bytes[6] >> 4, 7);
        assert_int_equal(next.bytes[8] >> 6, 2);
        last = next;
    }
    assert_int_equal(uuid_ms(last), 1000);
}

static void test_uuid__grows_when_the_clock_is_set_back(void **state)
{
    struct uuid_gen gen;
    struct uuid a, b, c;

    (void)state;
    uuid_gen_init(&gen, NULL, NULL);
    a = uuid_gen_next(&gen, 5000);
    b = uuid_gen_next(&gen, 10);
    c = uuid_gen_next(&gen, 5001);
    assert_int_equal(uuid_cmp(a, b), -1);
    assert_int_equal(uuid_cmp(b, c), -1);
    assert_int_equal(uuid_ms(b), 5000);
    assert_int_equal(uuid_ms(c), 5001);
}

static void test_uuid__borrows_a_millisecond_when_the_random_part_is_used_up(void **state)
{
    struct uuid_gen gen;
    struct uuid a, b;
    uint8_t ones = 0xFF;

    (void)state;
    uuid_gen_init(&gen, constant, &ones);
    a = uuid_gen_next(&gen, 7);
    b = uuid_gen_next(&gen, 7);
    assert_int_equal(uuid_cmp(a, b), -1);
    assert_int_equal(uuid_ms(b), 8);
}

static void test_uuid__carries_across_the_version_and_variant_bits(void **state)
{
    struct uuid_gen gen;
    struct uuid id;
    uint8_t zero = 0;

    (void)state;
    uuid_gen_init(&gen, constant, &zero);
    (void)uuid_gen_next(&gen, 7);
    /* All 62 bits below the variant are set: the next step carries into rand_a. */
    memset(gen.last + 2, 0xFF, 8);
    id = uuid_gen_next(&gen, 7);
    assert_string_equal(text_of(id), "00000000-0007-7001-8000-000000000000");
}

static void test_uuid__a_clock_before_1970_counts_as_1970(void **state)
{
    struct uuid_gen gen;

    (void)state;
    uuid_gen_init(&gen, NULL, NULL);
    assert_int_equal(uuid_ms(uuid_gen_next(&gen, -5)), 0);
}

static void test_uuid__two_generators_differ(void **state)
{
    struct uuid_gen a, b;

    (void)state;
    uuid_gen_init(&a, NULL, NULL);
    uuid_gen_init(&b, NULL, NULL);
    assert_int_not_equal(uuid_cmp(uuid_gen_next(&a, 1), uuid_gen_next(&b, 1)), 0);
}

static void test_uuid__is_a_text_in_an_arena_or_in_a_block(void **state)
{
    struct uuid id = {{0x01, 0x8f, 0, 1, 2, 3, 0x74, 5, 0x86, 7, 8, 9, 10, 11, 12, 0xff}};
    struct str wanted = STR("018f0001-0203-7405-8607-08090a0b0cff"), text;
    struct arena mem;

    (void)state;
    arena_init(&mem);
    text = uuid_text(&mem, id);
    assert_true(str_eq(text, wanted));
    assert_int_equal(text.ptr[text.len], '\0');
    assert_true(str_eq(UUID_STR(id), wanted));
    assert_string_equal(UUID_STR(id).ptr, text.ptr);
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uuid__v7_is_a_function_of_time_and_random_bytes),
        cmocka_unit_test(test_uuid__is_a_text_in_an_arena_or_in_a_block),
        cmocka_unit_test(test_uuid__text_survives_the_round_trip),
        cmocka_unit_test(test_uuid__read_refuses_malformed_text),
        cmocka_unit_test(test_uuid__grows_within_one_millisecond),
        cmocka_unit_test(test_uuid__grows_when_the_clock_is_set_back),
        cmocka_unit_test(test_uuid__borrows_a_millisecond_when_the_random_part_is_used_up),
        cmocka_unit_test(test_uuid__carries_across_the_version_and_variant_bits),
        cmocka_unit_test(test_uuid__a_clock_before_1970_counts_as_1970),
        cmocka_unit_test(test_uuid__two_generators_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
