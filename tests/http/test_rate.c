/* test_rate.c - claims about how often strangers may call, with a clock that is moved. */
#include "http/rate.h"

#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const int64_t SECOND_US = 1000000;

static struct ip address_of(const char *text)
{
    struct ip ip;

    assert_true(ip_read(str_of(text), &ip));
    return ip;
}

/* How many of `count` calls at that moment are let through. */
static int allowed(struct rate *r, const char *address, const char *path, int64_t now_us, int count)
{
    int64_t retry_after_s = 0;
    int passed = 0;

    for (int i = 0; i < count; i++) {
        if (rate_allows(r, address_of(address), str_of(path), now_us, &retry_after_s))
            passed++;
        else
            assert_true(retry_after_s >= 1);
    }
    return passed;
}

static void test_rate__a_burst_passes_then_so_many_a_second(void **state)
{
    struct rate *r = rate_new(100);

    (void)state;
    assert_int_equal(allowed(r, "192.0.2.1", "orders", 0, 1000), 500);
    assert_int_equal(allowed(r, "192.0.2.1", "orders", SECOND_US / 2, 1000), 50);
    assert_int_equal(allowed(r, "192.0.2.1", "orders", SECOND_US * 3 / 2, 1000), 100);
    assert_int_equal(allowed(r, "192.0.2.1", "orders", SECOND_US * 3600, 1000), 500);
    assert_int_equal(allowed(r, "192.0.2.1", "orders", INT64_MAX / 2, 1000), 500);
    rate_free(r);
}

static void test_rate__slow_callers_are_never_refused(void **state)
{
    struct rate *r = rate_new(10);

    (void)state;
    for (int i = 0; i < 10000; i++)
        assert_int_equal(allowed(r, "192.0.2.1", "a", (int64_t)i * SECOND_US / 10, 1), 1);
    rate_free(r);
}

static void test_rate__each_address_and_each_path_has_its_own(void **state)
{
    struct rate *r = rate_new(1);

    (void)state;
    assert_int_equal(allowed(r, "192.0.2.1", "a", 0, 10), 5);
    assert_int_equal(allowed(r, "192.0.2.2", "a", 0, 10), 5);
    assert_int_equal(allowed(r, "192.0.2.1", "b", 0, 10), 5);
    assert_int_equal(allowed(r, "192.0.2.1", "a", 0, 10), 0);
    rate_free(r);
}

static void test_rate__a_network_of_ipv6_is_one_caller(void **state)
{
    struct rate *r = rate_new(1);

    (void)state;
    assert_int_equal(allowed(r, "2001:db8::1", "a", 0, 3), 3);
    assert_int_equal(allowed(r, "2001:db8::2", "a", 0, 3), 2);
    assert_int_equal(allowed(r, "2001:db8:0:1::1", "a", 0, 9), 5);
    rate_free(r);
}

static void test_rate__a_clock_that_stands_or_goes_back_fills_nothing(void **state)
{
    struct rate *r = rate_new(1);

    (void)state;
    assert_int_equal(allowed(r, "192.0.2.1", "a", 10 * SECOND_US, 9), 5);
    assert_int_equal(allowed(r, "192.0.2.1", "a", 10 * SECOND_US, 9), 0);
    assert_int_equal(allowed(r, "192.0.2.1", "a", 0, 9), 0);
    rate_free(r);
}

/* Memory has a bound: a million callers take the places of those who called longest ago. */
static void test_rate__many_callers_leave_the_busy_one_limited(void **state)
{
    struct rate *r = rate_new(100);
    int64_t retry_after_s;
    int passed = 0;

    (void)state;
    for (uint32_t i = 0; i < 1000000; i++) {
        struct ip other = address_of("10.0.0.0");

        other.bytes[13] = (uint8_t)(i >> 16);
        other.bytes[14] = (uint8_t)(i >> 8);
        other.bytes[15] = (uint8_t)i;
        assert_true(rate_allows(r, other, STR("a"), i, &retry_after_s));
        passed += allowed(r, "192.0.2.1", "a", i, 1);
    }
    /* One second: the burst, and what a second fills. */
    assert_int_equal(passed, 599);
    rate_free(r);
}

static void test_rate__none_is_no_limit(void **state)
{
    struct rate *r = rate_new(0);

    (void)state;
    assert_int_equal(allowed(r, "192.0.2.1", "a", 0, 100000), 100000);
    rate_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate__a_burst_passes_then_so_many_a_second),
        cmocka_unit_test(test_rate__slow_callers_are_never_refused),
        cmocka_unit_test(test_rate__each_address_and_each_path_has_its_own),
        cmocka_unit_test(test_rate__a_network_of_ipv6_is_one_caller),
        cmocka_unit_test(test_rate__a_clock_that_stands_or_goes_back_fills_nothing),
        cmocka_unit_test(test_rate__many_callers_leave_the_busy_one_limited),
        cmocka_unit_test(test_rate__none_is_no_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
