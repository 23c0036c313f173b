/*
 * lib_net.c - addresses and networks of the internet: ip(), cidr() and their methods.
 *
 * Both are kept as their canonical text, so that they are compared, copied and
 * written as texts are; the methods read that text again.
 */
#include "base/inet.h"
#include "cel/lib/lib.h"

#include <string.h>

enum { CIDR_TEXT_MAX = INET_TEXT_MAX + 4 };

struct cidr {
    struct inet address;
    unsigned prefix;
};

static struct value make_text(struct cel_eval *ev, enum value_kind kind, struct str text)
{
    struct value v = cel_string_copy(ev, text);

    if (v.kind == VALUE_STRING)
        v.kind = (uint8_t)kind;
    return v;
}

static struct value make_ip(struct cel_eval *ev, const struct inet *a)
{
    char text[INET_TEXT_MAX];

    return make_text(ev, VALUE_IP, str_from(text, inet_write(text, a)));
}

static struct value make_cidr(struct cel_eval *ev, const struct cidr *c)
{
    char text[CIDR_TEXT_MAX];
    size_t len = inet_write(text, &c->address);

    text[len++] = '/';
    if (c->prefix >= 100)
        text[len++] = (char)('0' + c->prefix / 100);
    if (c->prefix >= 10)
        text[len++] = (char)('0' + c->prefix / 10 % 10);
    text[len++] = (char)('0' + c->prefix % 10);
    return make_text(ev, VALUE_CIDR, str_from(text, len));
}

/* --- reading --- */

/* "/24" behind an address: digits without a leading zero, at most `bits`. */
static bool read_prefix(struct str text, unsigned bits, unsigned *out)
{
    *out = 0;
    if (text.len == 0 || text.len > 3 || (text.len > 1 && text.ptr[0] == '0'))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        *out = *out * 10 + (unsigned)(text.ptr[i] - '0');
    }
    return *out <= bits;
}

static enum inet_result read_cidr(struct str text, struct cidr *out)
{
    int64_t slash = str_find(text, STR("/"), 0);
    enum inet_result result;

    if (slash < 0)
        return INET_INVALID;
    result = inet_read(str_slice(text, 0, (size_t)slash), &out->address);
    if (result != INET_OK)
        return result;
    return read_prefix(str_slice(text, (size_t)slash + 1, text.len), inet_bits(&out->address),
                       &out->prefix)
               ? INET_OK
               : INET_INVALID;
}

static struct value refuse_ip(struct cel_eval *ev, enum inet_result result, struct str text)
{
    if (result == INET_ZONE)
        return cel_fail(ev, "IP Address with zone value is not allowed");
    if (result == INET_MAPPED)
        return cel_fail(ev, "IPv4-mapped IPv6 address is not allowed");
    return cel_fail(ev, "IP Address '%.*s' parse error during conversion from string",
                    STR_ARG(str_slice(text, 0, text.len < 64 ? text.len : 64)));
}

static struct value refuse_cidr(struct cel_eval *ev, enum inet_result result)
{
    if (result == INET_ZONE)
        return cel_fail(ev, "CIDR with zone value is not allowed");
    if (result == INET_MAPPED)
        return cel_fail(ev, "IPv4-mapped IPv6 address is not allowed");
    return cel_fail(ev, "network address parse error during conversion from string: a network is "
                        "written like 10.0.0.0/8");
}

/* The address of a value that was made here. */
static struct inet ip_of(struct value v)
{
    struct inet a;

    if (inet_read(value_text(v), &a) != INET_OK)
        PANIC("an address is kept that cannot be read");
    return a;
}

static struct cidr cidr_of(struct value v)
{
    struct cidr c;

    if (read_cidr(value_text(v), &c) != INET_OK)
        PANIC("a network is kept that cannot be read");
    return c;
}

/* --- addresses --- */

struct value cel_fn_ip(struct cel_eval *ev, const struct value *args)
{
    enum inet_result result;
    struct inet a;

    if (args[0].kind == VALUE_IP)
        return args[0];
    result = inet_read(value_text(args[0]), &a);
    return result == INET_OK ? make_ip(ev, &a) : refuse_ip(ev, result, value_text(args[0]));
}

struct value cel_fn_is_ip(struct cel_eval *ev, const struct value *args)
{
    struct inet a;

    (void)ev;
    return value_bool(inet_read(value_text(args[0]), &a) == INET_OK);
}

struct value cel_fn_ip_is_canonical(struct cel_eval *ev, const struct value *args)
{
    char text[INET_TEXT_MAX];
    enum inet_result result;
    struct inet a;

    result = inet_read(value_text(args[0]), &a);
    if (result != INET_OK)
        return refuse_ip(ev, result, value_text(args[0]));
    return value_bool(str_eq(value_text(args[0]), str_from(text, inet_write(text, &a))));
}

struct value cel_fn_ip_family(struct cel_eval *ev, const struct value *args)
{
    (void)ev;
    return value_int(ip_of(args[0]).is_v4 ? 4 : 6);
}

/* Whether an address lies in one of two networks, that of its family. */
static bool lies_in(struct value ip, const char *v4, const char *v6)
{
    struct inet a = ip_of(ip);
    struct cidr net;

    if (read_cidr(str_of(a.is_v4 ? v4 : v6), &net) != INET_OK)
        PANIC("a network of the library cannot be read");
    return inet_holds(&net.address, net.prefix, &a);
}

#define NETWORK_FUNCTION(function, v4, v6)                                                         \
    struct value function(struct cel_eval *ev, const struct value *args)                           \
    {                                                                                              \
        (void)ev;                                                                                  \
        return value_bool(lies_in(args[0], v4, v6));                                               \
    }

NETWORK_FUNCTION(cel_fn_ip_is_unspecified, "0.0.0.0/32", "::/128")
NETWORK_FUNCTION(cel_fn_ip_is_loopback, "127.0.0.0/8", "::1/128")
NETWORK_FUNCTION(cel_fn_ip_is_link_local_multicast, "224.0.0.0/24", "ff02::/16")
NETWORK_FUNCTION(cel_fn_ip_is_link_local_unicast, "169.254.0.0/16", "fe80::/10")

/* Neither unspecified, loopback, multicast, link-local nor broadcast; private ones are global. */
struct value cel_fn_ip_is_global_unicast(struct cel_eval *ev, const struct value *args)
{
    static const char *const others[][2] = {
        {"0.0.0.0/32", "::/128"},         {"127.0.0.0/8", "::1/128"},
        {"224.0.0.0/4", "ff00::/8"},      {"169.254.0.0/16", "fe80::/10"},
        {"255.255.255.255/32", "::/128"},
    };

    (void)ev;
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (lies_in(args[0], others[i][0], others[i][1]))
            return value_bool(false);
    return value_bool(true);
}

/* --- networks --- */

struct value cel_fn_cidr(struct cel_eval *ev, const struct value *args)
{
    enum inet_result result;
    struct cidr c;

    if (args[0].kind == VALUE_CIDR)
        return args[0];
    result = read_cidr(value_text(args[0]), &c);
    return result == INET_OK ? make_cidr(ev, &c) : refuse_cidr(ev, result);
}

struct value cel_fn_is_cidr(struct cel_eval *ev, const struct value *args)
{
    struct cidr c;

    (void)ev;
    return value_bool(read_cidr(value_text(args[0]), &c) == INET_OK);
}

struct value cel_fn_cidr_contains_ip(struct cel_eval *ev, const struct value *args)
{
    struct cidr net = cidr_of(args[0]);
    enum inet_result result;
    struct inet a;

    result = inet_read(value_text(args[1]), &a);
    if (result != INET_OK)
        return refuse_ip(ev, result, value_text(args[1]));
    return value_bool(inet_holds(&net.address, net.prefix, &a));
}

struct value cel_fn_cidr_contains_cidr(struct cel_eval *ev, const struct value *args)
{
    struct cidr net = cidr_of(args[0]), inner;
    enum inet_result result;

    result = read_cidr(value_text(args[1]), &inner);
    if (result != INET_OK)
        return refuse_cidr(ev, result);
    return value_bool(inner.prefix >= net.prefix &&
                      inet_holds(&net.address, net.prefix, &inner.address));
}

struct value cel_fn_cidr_ip(struct cel_eval *ev, const struct value *args)
{
    struct cidr c = cidr_of(args[0]);

    return make_ip(ev, &c.address);
}

struct value cel_fn_cidr_masked(struct cel_eval *ev, const struct value *args)
{
    struct cidr c = cidr_of(args[0]);

    c.address = inet_masked(&c.address, c.prefix);
    return make_cidr(ev, &c);
}

struct value cel_fn_cidr_prefix_length(struct cel_eval *ev, const struct value *args)
{
    (void)ev;
    return value_int((int64_t)cidr_of(args[0]).prefix);
}
