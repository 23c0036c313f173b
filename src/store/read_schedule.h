/* read_schedule.h - what can be asked about schedules; run on a reader thread, as all of read.h. */
#ifndef PAWL_STORE_READ_SCHEDULE_H
#define PAWL_STORE_READ_SCHEDULE_H

#include "store/change_schedule.h"
#include "store/read.h"

/* Those that are due, at most `limit`, the earliest first. */
bool read_schedules_due(struct reader *r, struct arena *mem, int64_t now_us, int64_t limit,
                        struct stored_schedules *out, struct err *err) MUST_USE;

/* When the next one is due; 0: none ever. */
bool read_schedule_next(struct reader *r, int64_t *at_us, struct err *err) MUST_USE;

/* One with the facts of its version, for who may see it. */
struct listed_schedule {
    struct stored_schedule schedule;
    struct str name;       /* of the process, or empty */
    struct str facts_json; /* or empty */
};

struct listed_schedules {
    VEC_OF(struct listed_schedule);
};

struct schedule_filter {
    struct str org_id;     /* empty: all */
    struct str code;       /* empty: all */
    struct str after_code; /* behind this one; empty: from the beginning */
    int64_t after_position;
    int64_t limit;
};

/* By code and position. */
bool read_schedules(struct reader *r, struct arena *mem, const struct schedule_filter *filter,
                    struct listed_schedules *out, struct err *err) MUST_USE;

bool read_schedule(struct reader *r, struct arena *mem, struct uuid id, struct listed_schedule *out,
                   bool *found, struct err *err) MUST_USE;

#endif
