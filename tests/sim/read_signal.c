/* read_signal.c - store/read.h for correlations: simulated clients send none. */
#include "sim/sim.h"

bool read_wait(struct reader *r, struct arena *mem, struct str org_id, struct str correlation,
               struct str type, int64_t after, struct open_wait *out, bool *found, struct err *err)
{
    (void)r;
    (void)mem;
    (void)org_id;
    (void)correlation;
    (void)type;
    (void)after;
    (void)out;
    (void)err;
    *found = false;
    return true;
}

bool read_correlated(struct reader *r, struct arena *mem, struct str org_id, struct str id,
                     int64_t now_us, struct known_signal *out, bool *found, struct err *err)
{
    (void)r;
    (void)mem;
    (void)org_id;
    (void)id;
    (void)now_us;
    (void)out;
    (void)err;
    *found = false;
    return true;
}

bool read_kept(struct reader *r, struct arena *mem, struct str org_id, struct str correlation,
               int64_t execution, int64_t now_us, struct stored_kepts *out, int64_t *last_row,
               struct err *err)
{
    (void)r;
    (void)mem;
    (void)org_id;
    (void)correlation;
    (void)execution;
    (void)now_us;
    (void)err;
    *out = (struct stored_kepts){0};
    *last_row = 0;
    return true;
}

bool read_expired(struct reader *r, int64_t now_us, bool *found, struct err *err)
{
    (void)r;
    (void)now_us;
    (void)err;
    *found = false;
    return true;
}
