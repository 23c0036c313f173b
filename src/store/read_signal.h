/* read_signal.h - waits and signals that find each other by a correlation; see read.h. */
#ifndef PAWL_STORE_READ_SIGNAL_H
#define PAWL_STORE_READ_SIGNAL_H

#include "engine/commit/reads.h"
#include "store/read.h"

/*
 * The oldest wait behind row `after` that is open in the organisation, has this
 * correlation and may be for this type of signal.
 */
struct open_wait {
    int64_t row;
    struct uuid execution;
};
bool read_wait(struct reader *r, struct arena *mem, struct str org_id, struct str correlation,
               struct str type, int64_t after, struct open_wait *out, bool *found,
               struct err *err) MUST_USE;

/* What has become of a signal that came by correlation. */
struct known_signal {
    struct str digest;
    bool is_delivered; /* else it is kept */
    struct uuid execution;
};

/* Found by its id, unless it has expired. */
bool read_correlated(struct reader *r, struct arena *mem, struct str org_id, struct str id,
                     int64_t now_us, struct known_signal *out, bool *found,
                     struct err *err) MUST_USE;

/* A signal that is kept for a wait, and who sent it: {role, groups}. */
struct stored_buffered_signal {
    struct buffered_signal buffered;
    struct value sender;
};

struct stored_buffered_signals {
    VEC_OF(struct stored_buffered_signal);
};

/*
 * What is kept for a correlation, oldest first, without what has expired and
 * what the execution of this row has received. *last_row is of all; 0: there is none.
 */
bool read_buffered_signals(struct reader *r, struct arena *mem, struct str org_id,
                           struct str correlation, int64_t execution, int64_t now_us,
                           struct stored_buffered_signals *out, int64_t *last_row,
                           struct err *err) MUST_USE;

/* Whether any has expired and is still there; and how many are kept, from a counter. */
bool read_expired(struct reader *r, int64_t now_us, bool *found, struct err *err) MUST_USE;
bool read_buffered_count(struct reader *r, int64_t *out, struct err *err) MUST_USE;

#endif
