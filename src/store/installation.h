/*
 * installation.h - what an installation has once, however many nodes share its database: the token
 * of its administrator, known by its SHA-256, and the key that its secrets are sealed with, known
 * by its id. The first node to start claims both; a later one finds them and makes neither.
 *
 * An SQLite file has one node: there the files of its data folder say it, and nothing is claimed.
 *
 * why: decision 0378
 */
#ifndef PAWL_STORE_INSTALLATION_H
#define PAWL_STORE_INSTALLATION_H

#include "base/err.h"
#include "store/read.h"

#define INSTALLATION_ADMIN_TOKEN STR("admin_token") /* SHA-256 in hexadecimal */
#define INSTALLATION_MASTER_KEY STR("master_key")   /* its id */

enum installation_claim {
    CLAIM_UNLESS_CLAIMED,
    CLAIM_ANEW, /* in place of what is claimed; other nodes see it within two seconds */
};

/*
 * Let the installation in the database of `url`, whose tables are there, have `value` under `name`.
 * *out is what it has then: the value of another, when that one was first.
 */
bool installation_claim(struct str url, struct arena *mem, struct str name, struct str value,
                        enum installation_claim how, struct str *out, struct err *err) MUST_USE;

/* What it has under `name`; STR_NONE: nothing is claimed. */
bool read_installation(struct reader *r, struct arena *mem, struct str name, struct str *out,
                       struct err *err) MUST_USE;

/* The same without a store: a look at the database of `url`. */
bool installation_look(struct str url, struct arena *mem, struct str name, struct str *out,
                       struct err *err) MUST_USE;

#endif
