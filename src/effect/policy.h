/*
 * policy.h - where calls may go.
 *
 * Addresses of the link and those that clouds serve credentials at are denied
 * unless a range that is allowed holds them: a name may come to mean any
 * address. With a list of what is allowed nothing else may be called. An entry is an address, a range of addresses or the name of a
 * host; a name also stands for the names below it when it begins with a dot.
 */
#ifndef PAWL_EFFECT_POLICY_H
#define PAWL_EFFECT_POLICY_H

#include "base/err.h"
#include "base/inet.h"
#include "base/vec.h"

struct policy_rule {
    struct str name; /* in lower case; or empty: */
    struct inet net;
    unsigned prefix;
};

struct policy_rules {
    VEC_OF(struct policy_rule);
};

struct policy {
    struct policy_rules allow, deny;
};

/* Read a list: "10.0.0.0/8, erp.example, .internal". ERR_INVALID names what is wrong. */
bool policy_read(struct arena *mem, struct str text, struct policy_rules *out,
                 struct err *err) MUST_USE;

/* Whether a call to this host, which has this address, may be made. */
bool policy_permits(const struct policy *p, struct str host, const struct inet *address);

#endif
