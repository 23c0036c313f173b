/* test_policy.c - claims about where calls may go. */
#include "effect/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct arena mem;

static bool permits(const char *allow, const char *deny, const char *host, const char *address)
{
    struct policy p = {0};
    struct inet a;
    struct err err;

    assert_true(policy_read(&mem, str_of(allow), &p.allow, &err));
    assert_true(policy_read(&mem, str_of(deny), &p.deny, &err));
    assert_int_equal(inet_read(str_of(address), &a), INET_OK);
    return policy_permits(&p, str_of(host), &a);
}

static void test_policy__denies_link_local_and_metadata_addresses_by_default(void **state)
{
    static const char *const denied[] = {"169.254.169.254",   "169.254.0.1",     "fe80::1",
                                         "fd00:ec2::254",     "0.0.0.0",         "224.0.0.1",
                                         "ff02::1",           "100.100.100.200", "::",
                                         "64:ff9b::a9fe:a9fe"};
    static const char *const permitted[] = {"127.0.0.1", "::1",         "10.0.0.1",
                                            "192.0.2.7", "2001:db8::1", "64:ff9b::c000:207"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(denied); i++)
        assert_false(permits("", "", "x.example", denied[i]));
    for (size_t i = 0; i < ARRAY_SIZE(permitted); i++)
        assert_true(permits("", "", "x.example", permitted[i]));
}

static void test_policy__what_is_allowed_is_all_that_is(void **state)
{
    (void)state;
    assert_true(permits("10.0.0.0/8", "", "x", "10.1.2.3"));
    assert_false(permits("10.0.0.0/8", "", "x", "192.0.2.7"));
    assert_true(permits("erp.example", "", "erp.example", "192.0.2.7"));
    assert_false(permits("erp.example", "", "www.erp.example", "192.0.2.7"));
    assert_true(permits(".example", "", "www.erp.example", "192.0.2.7"));
    assert_false(permits(".example", "", "example", "192.0.2.7"));
}

static void test_policy__deny_wins_over_allow(void **state)
{
    (void)state;
    assert_false(permits("10.0.0.0/8", "10.9.0.0/16", "x", "10.9.1.1"));
    assert_false(permits("", "127.0.0.0/8, ::1", "localhost", "127.0.0.1"));
    assert_false(permits("", "ERP.example", "erp.example", "192.0.2.7"));
    /* Both forms of an address that a translator leads to IPv4. */
    assert_false(permits("", "192.0.2.0/24", "x", "64:ff9b::c000:207"));
    assert_false(permits("", "64:ff9b::/96", "x", "64:ff9b::c000:207"));
    assert_true(permits("192.0.2.0/24", "", "x", "64:ff9b::c000:207"));
}

/* A name comes to mean what its owner wants. */
static void test_policy__a_name_that_is_allowed_does_not_open_link_local_addresses(void **state)
{
    (void)state;
    assert_false(permits("erp.example", "", "erp.example", "169.254.169.254"));
    assert_true(permits("169.254.10.0/24", "", "erp.example", "169.254.10.7"));
}

static void test_policy__mistakes_are_named(void **state)
{
    static const char *const wrong[] = {"10.0.0.0/33", "1.2.3", "a_b", "10.0.0.0/x",
                                        "fe80::1%eth0"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct policy_rules rules;
        struct err err;

        assert_false(policy_read(&mem, str_of(wrong[i]), &rules, &err));
        assert_non_null(strstr(err.message, wrong[i]));
    }
}

static int open_memory(void **state)
{
    (void)state;
    arena_init(&mem);
    return 0;
}

static int close_memory(void **state)
{
    (void)state;
    arena_fini(&mem);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policy__denies_link_local_and_metadata_addresses_by_default),
        cmocka_unit_test(test_policy__what_is_allowed_is_all_that_is),
        cmocka_unit_test(test_policy__deny_wins_over_allow),
        cmocka_unit_test(test_policy__a_name_that_is_allowed_does_not_open_link_local_addresses),
        cmocka_unit_test(test_policy__mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
