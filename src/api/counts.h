/*
 * counts.h - what was counted lately, of each organisation, for GET /counts.
 *
 * A page of the UI asks every few seconds, and many pages are open: an
 * organisation is counted once in COUNTS_FRESH_US, whoever asks. Used on the loop alone.
 *
 * why: decision 0439
 */
#ifndef PAWL_API_COUNTS_H
#define PAWL_API_COUNTS_H

#include "store/read_stats.h"

#define COUNTS_FRESH_US INT64_C(1000000)

enum { COUNTS_ORGS_MAX = 16, COUNTS_ORG_LEN_MAX = 64 };

struct counts_known {
    struct counts_of {
        char org[COUNTS_ORG_LEN_MAX];
        size_t org_len;
        int64_t at_us; /* monotonic; 0 = unused */
        struct org_counts counts;
    } orgs[COUNTS_ORGS_MAX];
    size_t next; /* which is overwritten next */
};

#endif
