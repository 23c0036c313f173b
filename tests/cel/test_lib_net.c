/* Tests of lib_net.c: addresses and networks. The public suite has many more cases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cel/expr.h"

static void test_net__addresses_and_networks(void **state)
{
    static const struct expr_case cases[] = {
        {"ip('192.168.0.1')", "net.IP(192.168.0.1)"},
        {"ip('2001:DB8::1') == ip('2001:db8:0::1')", "true"},
        {"ip('::ffff:c0a8:1') == ip('192.168.0.1')", "true"},
        {"ip(ip('::1'))", "net.IP(::1)"},
        {"[ip('10.0.0.1'), ip('10.0.0.2'), ip('10.0.0.1')].distinct().size()", "2"},
        {"type(ip('::1')) == net.IP && type(cidr('::/0')) == net.CIDR", "true"},
        {"string(cidr('2001:DB8::/32'))", "\"2001:db8::/32\""},
        {"cidr('192.168.0.7/24').masked()", "net.CIDR(192.168.0.0/24)"},
        {"cidr('192.168.0.7/24').ip()", "net.IP(192.168.0.7)"},
        {"cidr('fe80::/128').prefixLength()", "128"},
        {"cidr('10.0.0.0/8').containsIP('10.9.8.7')", "true"},
        {"cidr('10.0.0.0/8').containsIP(ip('::1'))", "false"},
        {"cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", "true"},
        {"cidr('10.0.0.0/16').containsCIDR('10.0.0.0/8')", "false"},
        {"isIP('::1') && !isIP('1.2.3') && isCIDR('::/0') && !isCIDR('::/129')", "true"},
        {"isCIDR('10.0.0.0/08') || isCIDR('10.0.0.0/') || isCIDR('10.0.0.0/+8')", "false"},
        {"ip('10.0.0.1').isGlobalUnicast() && !ip('127.0.0.1').isGlobalUnicast()", "true"},
        {"'%s in %s'.format([ip('::1'), cidr('::/8')])", "\"::1 in ::/8\""},
        {"isIP(cidr('::/8'))", "?1:1 no such overload: isIP(net.CIDR); it takes (string)"},
        {"ip('1.2.3')", "!1:1 IP Address '1.2.3' parse error during conversion from string"},
        {"ip('fe80::1%en0')", "!1:1 IP Address with zone value is not allowed"},
        {"cidr('10.0.0.0/33')", "!1:1 network address parse error during conversion from string: "
                                "a network is written like 10.0.0.0/8"},
        {"dyn(1).family()", "!1:8 no such overload: family(int)"},
        {"ip('::1') < ip('::2')", "?1:11 no such overload: '<' does not work on net.IP and net.IP"},
    };
    struct expr x;

    (void)state;
    expr_init(&x, CEL_DEFINITION);
    EXPR_RUN(&x, AS_EXPRESSION, cases);
    expr_fini(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_net__addresses_and_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
