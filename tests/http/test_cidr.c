/* test_cidr.c - ranges of addresses. */
#include "http/cidr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_cidr__has_what_is_inside(void **state)
{
    static const struct {
        const char *ranges, *ip;
        bool is_inside;
    } cases[] = {
        {"10.0.0.0/8", "10.255.0.1", true},
        {"10.0.0.0/8", "11.0.0.1", false},
        {"10.1.2.3/8", "10.9.9.9", true},
        {"192.0.2.7", "192.0.2.7", true},
        {"192.0.2.7", "192.0.2.8", false},
        {"192.0.2.0/25", "192.0.2.127", true},
        {"192.0.2.0/25", "192.0.2.128", false},
        {"0.0.0.0/0", "203.0.113.9", true},
        {"0.0.0.0/0", "2001:db8::1", false},
        {"::/0", "2001:db8::1", true},
        {"::/0", "203.0.113.9", true},
        {"2001:db8::/33", "2001:db8:7fff::1", true},
        {"2001:db8::/33", "2001:db8:8000::1", false},
        {"::1", "::1", true},
        {"127.0.0.1", "::ffff:127.0.0.1", true},
        {"::ffff:127.0.0.0/104", "127.8.8.8", true},
        {"10.0.0.0/8, 192.0.2.7 ,::1", "192.0.2.7", true},
        {"10.0.0.0/8,::1", "192.0.2.7", false},
        {"", "127.0.0.1", false},
    };
    struct arena mem;

    (void)state;
    arena_init(&mem);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct cidrs ranges;
        struct ip ip;
        struct err err;

        assert_true(cidrs_read(&mem, str_of(cases[i].ranges), &ranges, &err));
        assert_true(ip_read(str_of(cases[i].ip), &ip));
        if (cidrs_have(&ranges, ip) != cases[i].is_inside)
            fail_msg("%s in %s", cases[i].ip, cases[i].ranges);
    }
    arena_fini(&mem);
}

static void test_cidr__nonsense_is_named(void **state)
{
    static const char *const cases[] = {"10.0.0.0/33", "10.0.0/8",        "::/129",
                                        "proxy.local", "10.0.0.0/-1",     "10.0.0.0/8x",
                                        "/8",          "10.0.0.0/8,,::1", "10.0.0.0/"};
    struct arena mem;

    (void)state;
    arena_init(&mem);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct cidrs ranges;
        struct err err;

        if (cidrs_read(&mem, str_of(cases[i]), &ranges, &err))
            fail_msg("%s was taken", cases[i]);
        assert_int_equal(err.code, ERR_INVALID);
    }
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cidr__has_what_is_inside),
        cmocka_unit_test(test_cidr__nonsense_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
