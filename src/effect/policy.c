/* policy.c - see policy.h. */
#include "effect/policy.h"

#include "base/text/ascii.h"

/*
 * What is denied unless it is allowed: networks of the link, what clouds serve
 * metadata at, and addresses without a meaning, which lead to this machine.
 */
#define RANGE_V4(a, b, c, d, bits)                                                                 \
    {                                                                                              \
        .net = {.bytes = {(a), (b), (c), (d)}, .is_v4 = true}, .prefix = (bits)                    \
    }
static const struct policy_rule denied_by_default[] = {
    RANGE_V4(169, 254, 0, 0, 16),
    {.net = {.bytes = {0xFE, 0x80}}, .prefix = 10},
    {.net = {.bytes = {0xFD, 0x00, 0x0E, 0xC2, [14] = 0x02, [15] = 0x54}}, .prefix = 128},
    RANGE_V4(100, 100, 100, 200, 32),
    RANGE_V4(224, 0, 0, 0, 4),
    {.net = {.bytes = {0xFF}}, .prefix = 8},
    RANGE_V4(255, 255, 255, 255, 32),
    RANGE_V4(0, 0, 0, 0, 8),
    {.prefix = 128}, /* :: */
};

static bool read_range(struct str text, struct policy_rule *out)
{
    int64_t slash = str_find(text, STR("/"), 0), prefix;
    struct str address = slash >= 0 ? str_slice(text, 0, (size_t)slash) : text;

    if (inet_read(address, &out->net) != INET_OK)
        return false;
    out->prefix = inet_bits(&out->net);
    if (slash < 0)
        return true;
    if (!str_to_int64(str_slice(text, (size_t)slash + 1, text.len), &prefix) || prefix < 0 ||
        prefix > (int64_t)inet_bits(&out->net))
        return false;
    out->prefix = (unsigned)prefix;
    return true;
}

static bool is_name(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (!(ascii_is_lower(c) || ascii_is_digit(c) || c == '-' || c == '.'))
            return false;
    }
    /* Digits and dots alone are a mistyped address. */
    for (size_t i = 0; i < text.len; i++)
        if (ascii_is_lower(text.ptr[i]))
            return true;
    return false;
}

bool policy_read(struct arena *mem, struct str text, struct policy_rules *out, struct err *err)
{
    size_t at = 0;

    *out = (struct policy_rules){0};
    while (at <= text.len) {
        int64_t comma = str_find(text, STR(","), at);
        size_t end = comma >= 0 ? (size_t)comma : text.len;
        struct str item = str_trim(str_slice(text, at, end));
        struct policy_rule rule = {0};

        at = end + 1;
        if (item.len == 0)
            continue;
        item = ascii_lower_copy(mem, item);
        if (!read_range(item, &rule)) {
            if (!is_name(item))
                return err_set(err, ERR_INVALID,
                               "'%.*s' is no address, no range such as 10.0.0.0/8 and no name of "
                               "a host",
                               STR_ARG(item));
            rule.name = item;
        }
        *VEC_ADD(mem, out) = rule;
    }
    return true;
}

static bool matches(const struct policy_rule *rule, struct str host, const struct inet *address)
{
    if (rule->name.len == 0)
        return inet_holds(&rule->net, rule->prefix, address);
    return str_eq(rule->name, host) ||
           (rule->name.ptr[0] == '.' && str_ends_with(host, rule->name));
}

static bool any_matches(const struct policy_rules *rules, struct str host,
                        const struct inet *address)
{
    for (size_t i = 0; i < rules->count; i++)
        if (matches(&rules->items[i], host, address))
            return true;
    return false;
}

static bool is_denied_by_default(const struct inet *address)
{
    for (size_t i = 0; i < ARRAY_SIZE(denied_by_default); i++)
        if (inet_holds(&denied_by_default[i].net, denied_by_default[i].prefix, address))
            return true;
    return false;
}

static bool permits_address(const struct policy *p, struct str host, const struct inet *address)
{
    for (size_t i = 0; i < p->allow.count; i++)
        if (p->allow.items[i].name.len == 0 && matches(&p->allow.items[i], host, address))
            return true;
    return (p->allow.count == 0 || any_matches(&p->allow, host, address)) &&
           !is_denied_by_default(address);
}

/* The IPv4 address that a translator (64:ff9b::/96, RFC 6052) leads to. False: there is none. */
static bool is_translated(const struct inet *address, struct inet *out)
{
    static const uint8_t prefix[12] = {0x00, 0x64, 0xFF, 0x9B};

    *out = (struct inet){.is_v4 = true};
    if (address->is_v4 || memcmp(address->bytes, prefix, sizeof(prefix)) != 0)
        return false;
    memcpy(out->bytes, address->bytes + sizeof(prefix), 4);
    return true;
}

bool policy_permits(const struct policy *p, struct str host, const struct inet *address)
{
    struct inet behind;

    if (any_matches(&p->deny, host, address))
        return false;
    if (!is_translated(address, &behind))
        return permits_address(p, host, address);
    return !any_matches(&p->deny, host, &behind) && permits_address(p, host, &behind);
}
