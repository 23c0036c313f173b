/*
 * change_signal.h - signals that look for their wait by a correlation.
 *
 * One that finds no wait is kept; a wait that begins looks at what is kept. The
 * two must never pass each other: each is a member of a batch that has the lock of
 * the correlation, and looks at what the other has written. Whoever meets
 * something newer than it has considered is refused and looks again:
 *
 *     signal_keep    a wait behind `waits_up_to`          MEMBER_STALE
 *     a commit       a kept signal behind `buffered_up_to`    MEMBER_BUFFERED_STALE
 *
 * What has been delivered stays known by its id until it expires, without its
 * content, so that it can be sent again and is not delivered twice.
 */
#ifndef PAWL_STORE_CHANGE_SIGNAL_H
#define PAWL_STORE_CHANGE_SIGNAL_H

#include "store/change.h"

enum {
    BUFFERED_SIGNALS_MAX = 1000, /* for one correlation ... */
    KEPT_BYTES_MAX = 4 << 20     /* ... and as large are all of them */
};

/* A signal that is to find its wait by a correlation. */
struct correlated_signal {
    struct str org_id, id, type, correlation;
    bool has_own_id;   /* the client's: it may be sent again */
    struct str digest; /* of what it says */
    struct str payload_json, by_json;
    struct str sender_json; /* {role, groups}: whose signals a wait may take is looked at later */
    int64_t received_at_us, expires_at_us;
};

/* So long a signal that was delivered is known by its id, however short its own time is. */
#define DELIVERED_KNOWN_US (INT64_C(24) * 3600 * 1000000)

/*
 * Keep a signal, which is the member's `correlated`, until its wait begins.
 * MEMBER_SIGNAL_KNOWN and _DIFFERS: one of its id is there; MEMBER_STALE: a later wait is open; refused with ERR_CONFLICT
 * when too many are kept.
 */
struct signal_keep {
    struct change change; /* .apply = signal_keep_apply */
    int64_t waits_up_to;  /* these do not take it, as far as they are open */
};

change_apply_fn signal_keep_apply;

/* Forget what has expired by `change.now_us`, at most `limit` of each kind. Never refused. */
struct signal_purge {
    struct change change; /* .apply = signal_purge_apply */
    int64_t limit;
    int64_t purged; /* out */
};

change_apply_fn signal_purge_apply;

#endif
