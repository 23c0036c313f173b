/* Tests of inet.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/inet.h"

static void test_inet__addresses_have_one_canonical_text(void **state)
{
    static const struct {
        const char *text, *canonical;
    } cases[] = {
        {"192.168.0.1", "192.168.0.1"},
        {"0.0.0.0", "0.0.0.0"},
        {"::", "::"},
        {"::1", "::1"},
        {"1::", "1::"},
        {"2001:DB8::68", "2001:db8::68"},
        {"2001:0db8:0:0:0:0:0:0001", "2001:db8::1"},
        {"1:0:0:2:0:0:0:3", "1:0:0:2::3"},
        {"1:0:0:2:3:0:0:4", "1::2:3:0:0:4"},
        {"1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"},
        {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
        {"::102:304", "::102:304"},
        {"::1.2.3.4", "::102:304"},
        {"::ffff:c0a8:1", "192.168.0.1"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char text[INET_TEXT_MAX + 1];
        struct inet a;

        assert_int_equal(inet_read(str_of(cases[i].text), &a), INET_OK);
        text[inet_write(text, &a)] = '\0';
        assert_string_equal(text, cases[i].canonical);
    }
}

static void test_inet__what_is_no_address_is_refused(void **state)
{
    static const struct {
        const char *text;
        enum inet_result result;
    } cases[] = {
        {"", INET_INVALID},
        {"1.2.3", INET_INVALID},
        {"1.2.3.4.5", INET_INVALID},
        {"256.1.1.1", INET_INVALID},
        {"01.2.3.4", INET_INVALID},
        {" 1.2.3.4", INET_INVALID},
        {":::", INET_INVALID},
        {"1::2::3", INET_INVALID},
        {"g::", INET_INVALID},
        {"fe80::1%eth0", INET_ZONE},
        {"::ffff:192.168.0.1", INET_MAPPED},
    };
    struct inet a;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_int_equal(inet_read(str_of(cases[i].text), &a), cases[i].result);
    assert_int_equal(inet_read(STR("1.2.3.4\0"), &a), INET_INVALID);
}

static void test_inet__a_network_holds_what_begins_like_it(void **state)
{
    static const struct {
        const char *net;
        unsigned prefix;
        const char *address;
        bool holds;
    } cases[] = {
        {"10.0.0.0", 8, "10.255.0.1", true},
        {"10.0.0.0", 8, "11.0.0.0", false},
        {"10.1.2.3", 32, "10.1.2.3", true},
        {"10.1.2.3", 31, "10.1.2.2", true},
        {"10.1.2.3", 32, "10.1.2.2", false},
        {"0.0.0.0", 0, "255.255.255.255", true},
        {"0.0.0.0", 0, "::1", false},
        {"::", 0, "1.2.3.4", false},
        {"2001:db8::", 33, "2001:db8:7fff::", true},
        {"2001:db8::", 33, "2001:db8:8000::", false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct inet net, a;

        assert_int_equal(inet_read(str_of(cases[i].net), &net), INET_OK);
        assert_int_equal(inet_read(str_of(cases[i].address), &a), INET_OK);
        assert_int_equal(inet_holds(&net, cases[i].prefix, &a), cases[i].holds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inet__addresses_have_one_canonical_text),
        cmocka_unit_test(test_inet__what_is_no_address_is_refused),
        cmocka_unit_test(test_inet__a_network_holds_what_begins_like_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
