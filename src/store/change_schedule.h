/*
 * change_schedule.h - schedules: when triggers of type schedule tick next.
 *
 *     publish --> active --pause--> paused --resume--> active
 *                   |  ^
 *            retire |  | unretire
 *                   v  |
 *                 retired             any --delete, a version without it--> gone
 *
 * Rows are derived from the table `triggers` in the transaction that changes
 * that (triggers.h). `next_at` is the tick that is next; `wake_at` is the same
 * while somebody is to act on it, and NULL of a schedule that is paused or
 * retired. A tick is started by a commit that names the `next_at` it rests on
 * and moves it: whoever comes second is refused, so no tick is lost or doubled,
 * whatever is killed and however many nodes there are.
 *
 * why: decision 0290
 */
#ifndef PAWL_STORE_CHANGE_SCHEDULE_H
#define PAWL_STORE_CHANGE_SCHEDULE_H

#include "base/buf.h"
#include "define/trigger.h"
#include "store/change.h"

struct stored_schedule {
    struct uuid id;
    struct str code, kind; /* of the process */
    int64_t version;
    uint32_t position; /* program->triggers[position] of that version */
    struct str cron, timezone;
    enum catch_up catch_up;
    struct str org_id; /* never empty */
    bool is_retired;
    int64_t next_at_us;   /* 0: it never ticks again */
    int64_t paused_at_us; /* 0: it is not paused */
    struct str paused_by;
    int64_t last_at_us;         /* the tick that was last acted upon; 0: none */
    struct str last_execution;  /* what it has started, or empty */
    struct str last_error_json; /* why it started nothing, or empty */
    int64_t created_at_us;
};

struct stored_schedules {
    VEC_OF(struct stored_schedule);
};

/* The words of "catchUp". */
const char *catch_up_name(enum catch_up catch_up);

/* Append it as the API shows it. */
void schedule_show(struct buf *out, const struct stored_schedule *s);

/* What a start, or a tick that starts nothing, rests on, and what it leaves. */
struct schedule_tick {
    struct uuid id;
    int64_t version;
    int64_t rests_on_us; /* next_at as it was read */
    int64_t at_us;       /* the tick that is acted upon */
    int64_t next_at_us;  /* the one after it; 0: none */
};

/* A tick starts nothing: it is left out, or its start was refused. Refused with MEMBER_TICK_GONE. */
struct schedule_skip {
    struct change change; /* .apply = schedule_skip_apply */
    struct schedule_tick tick;
    struct str error_json; /* empty: nothing is wrong */
};

change_apply_fn schedule_skip_apply;

/*
 * Pause a schedule or let it go on; the answer is the schedule. Refused with
 * ERR_NOT_FOUND, or ERR_CONFLICT when it is retired. One that goes on catches
 * up; with "catchUp": "none", or when its last tick lies in the future because
 * the clock was set back, it goes on from now.
 */
struct schedule_pause {
    struct change change; /* .apply = schedule_pause_apply */
    struct uuid id;
    struct str org_id; /* empty: any */
    bool pauses;
    struct str user_id;
    bool changed; /* out: it was not so before */
};

change_apply_fn schedule_pause_apply;

#endif
