/* jobs.c - jobs in the simulator's store; see sim.h. */
#include "sim/sim.h"

bool read_leases_over(struct reader *r, struct arena *mem, int64_t now_us, int64_t limit,
                      struct leases_over *out, int64_t *next_in_us, struct err *err)
{
    (void)r;
    (void)mem;
    (void)now_us;
    (void)limit;
    (void)err;
    *out = (struct leases_over){0};
    *next_in_us = -1;
    return true;
}

bool read_types_ready(struct reader *r, struct arena *mem, struct str types_json,
                      struct job_types *out, struct err *err)
{
    (void)r;
    (void)mem;
    (void)types_json;
    (void)err;
    *out = (struct job_types){0};
    return true;
}

bool read_workers(struct reader *r, struct arena *mem, struct stored_workers *out, struct err *err)
{
    (void)r;
    (void)mem;
    (void)err;
    *out = (struct stored_workers){0};
    return true;
}

bool read_types_of(struct reader *r, struct arena *mem, struct str name, struct job_types *out,
                   struct err *err)
{
    (void)r;
    (void)mem;
    (void)name;
    (void)out;
    (void)err;
    return true;
}

bool read_leases_of(struct reader *r, struct arena *mem, int64_t row, struct job_leases *out,
                    struct err *err)
{
    (void)r;
    (void)mem;
    (void)row;
    (void)err;
    *out = (struct job_leases){0};
    return true;
}
