/*
 * change_record.h - writing a record by hand.
 *
 * The records are those of the record.* commands: a process that has read one
 * finds that its version has changed, and reads it again.
 *
 * why: decision 0043
 */
#ifndef PAWL_STORE_CHANGE_RECORD_H
#define PAWL_STORE_CHANGE_RECORD_H

#include "base/buf.h"
#include "store/change.h"
#include "value/value.h"

enum record_action {
    RECORD_PUT,   /* make it, or replace all of it */
    RECORD_PATCH, /* lay `data` over it as a JSON merge patch (RFC 7396): null takes away */
    RECORD_DELETE,
};

enum { RECORD_BYTES_MAX = 1 << 20 };

/* What RECORD_* expects to find. */
#define RECORD_ANY_VERSION INT64_C(-1) /* it must be there */
#define RECORD_NO_VERSION INT64_C(0)   /* it must not be there */
#define RECORD_WHATEVER INT64_C(-2)

/*
 * Refused with ERR_NOT_FOUND when it is not there, with ERR_PRECONDITION_FAILED when
 * it is not as `expected`, with ERR_TOO_LARGE above RECORD_BYTES_MAX. The
 * answer is the record, {id, version, ...}, with 201 when it is new.
 */
struct record_change {
    struct change change; /* .apply = record_change_apply */
    enum record_action action;
    struct str org_id; /* or empty: the default one */
    struct str object, id;
    struct value data;   /* a map; without id and version */
    int64_t expected;    /* a version, or one of the above */
    int64_t now_version; /* out: what it has become; 0 when it is gone */
    bool is_new;         /* out */
};

change_apply_fn record_change_apply;

/* Append {id, version, ...data} as JSON. */
bool record_write_json(struct buf *out, struct str id, int64_t version, struct value data,
                       struct err *err) MUST_USE;

#endif
