/* read_addresses.h - the e-mail addresses of people, for mails to users and groups. */
#ifndef PAWL_STORE_READ_ADDRESSES_H
#define PAWL_STORE_READ_ADDRESSES_H

#include "store/read.h"

enum { ADDRESSES_READ_MAX = 500 };

struct address_list {
    VEC_OF(struct str);
};

/*
 * Add the addresses that `key` stands for, in the organisation of the message
 * of that row of the outbox: of the active user of that id, or of the active
 * members of "group:name". At most ADDRESSES_READ_MAX in all, each once.
 */
bool read_addresses(struct reader *r, struct arena *mem, int64_t message, struct str key,
                    struct address_list *out, struct err *err) MUST_USE;

#endif
