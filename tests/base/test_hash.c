/* test_hash.c - claims about hash.h. */
#include "base/attr.h"
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static void test_hash__depends_on_every_byte(void **state)
{
    unsigned char text[40] = {0};

    (void)state;
    for (size_t len = 1; len <= sizeof(text); len++)
        for (size_t i = 0; i < len; i++) {
            uint64_t before = hash_bytes(text, len);
            text[i] ^= 0x80;
            assert_true(hash_bytes(text, len) != before);
            text[i] ^= 0x80;
            assert_true(hash_bytes(text, len) == before);
        }
}

static void test_hash__depends_on_the_length(void **state)
{
    static const unsigned char zeros[64];

    (void)state;
    for (size_t a = 0; a <= sizeof(zeros); a++)
        for (size_t b = 0; b < a; b++)
            assert_true(hash_bytes(zeros, a) != hash_bytes(zeros, b));
}

/* A seed that is only added to the length cancels out between these two, whatever it is. */
static void test_hash__keys_of_two_lengths_cannot_be_made_to_collide(void **state)
{
    static const unsigned char seven[7] = {'a', 'b', 'c', 'd', 'e', 'f', 'g'};
    const uint64_t factor = 0xa0761d6478bd642fu;
    uint64_t word;

    (void)state;
    memcpy(&word, seven, 4);
    memcpy((unsigned char *)&word + 4, seven + 3, 4);
    word ^= 7 * factor ^ 8 * factor;
    assert_true(hash_bytes(seven, sizeof(seven)) != hash_bytes(&word, sizeof(word)));
}

static void test_hash__does_not_read_past_the_end(void **state)
{
    unsigned char text[16];

    (void)state;
    memset(text, 'a', sizeof(text));
    for (size_t len = 0; len < sizeof(text); len++) {
        uint64_t before = hash_bytes(text, len);
        memset(text + len, 'b', sizeof(text) - len);
        assert_true(hash_bytes(text, len) == before);
        memset(text + len, 'a', sizeof(text) - len);
    }
}

enum key_kind { KEY_LOW_BITS, KEY_HIGH_BITS, KEY_DIGITS, KEY_ORDERS };

static uint64_t hash_key(enum key_kind kind, unsigned i)
{
    char text[32];
    int len;

    switch (kind) {
    case KEY_LOW_BITS:
        return hash_int(i);
    case KEY_HIGH_BITS:
        return hash_int((uint64_t)i << 32);
    case KEY_DIGITS:
        len = snprintf(text, sizeof(text), "%u", i);
        return hash_bytes(text, (size_t)len);
    case KEY_ORDERS:
        len = snprintf(text, sizeof(text), "order-%u", i);
        return hash_bytes(text, (size_t)len);
    }
    return 0;
}

/* How full the fullest of 4,096 slots is when every slot gets eight keys on average. */
static unsigned fullest(enum key_kind kind, unsigned shift)
{
    static unsigned counts[4096];
    unsigned most = 0;

    memset(counts, 0, sizeof(counts));
    for (unsigned i = 0; i < 4096 * 8; i++) {
        unsigned n = ++counts[hash_key(kind, i) >> shift & 4095];
        most = n > most ? n : most;
    }
    return most;
}

/* With a single product each of the seeds below, but the first, filled a slot with 40 to 138 keys. */
static void test_hash__spreads_similar_keys_over_low_and_high_bits_with_any_seed(void **state)
{
    const uint64_t drawn = hash_seed;
    const uint64_t seeds[] = {
        drawn,
        0xdc11148e497a3d3f,
        0x58926ec225038aff,
        0xa9094367fc14e60b,
        0x6dc2c6e7fd5b7fc7,
        0xff74896704102601,
        0x4880cf3dca82afa7,
        0x1340ec844fd273b3,
        0xe0d5b37e2f64cabd,
        0x87c1f0efa2005aa7,
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(seeds); i++) {
        hash_seed = seeds[i];
        for (enum key_kind kind = KEY_LOW_BITS; kind <= KEY_ORDERS; kind++) {
            /* By chance alone a slot with 40 occurs once in 10^14. */
            assert_in_range(fullest(kind, 0), 8, 39);
            assert_in_range(fullest(kind, 52), 8, 39);
        }
    }
    hash_seed = drawn;
}

static void test_hash__seed_is_odd_and_was_drawn(void **state)
{
    (void)state;
    assert_true(hash_seed & 1);
    assert_true(hash_seed != 0x2545f4914f6cdd1du);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash__depends_on_every_byte),
        cmocka_unit_test(test_hash__depends_on_the_length),
        cmocka_unit_test(test_hash__keys_of_two_lengths_cannot_be_made_to_collide),
        cmocka_unit_test(test_hash__does_not_read_past_the_end),
        cmocka_unit_test(test_hash__spreads_similar_keys_over_low_and_high_bits_with_any_seed),
        cmocka_unit_test(test_hash__seed_is_odd_and_was_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
