/* read_executions.h - lists and sums of executions; see read.h. */
#ifndef PAWL_STORE_READ_EXECUTIONS_H
#define PAWL_STORE_READ_EXECUTIONS_H

#include "engine/stored_execution.h"
#include "store/read.h"

#define STATUS_BIT(status) (UINT32_C(1) << (unsigned)(status))

/* At most so many processes that `q` may mean. */
enum { SEARCH_CODES_MAX = 64 };

struct execution_filter {
    struct str kind, code, key, q; /* empty = any; q: id, key, code, error code */
    struct {
        VEC_OF(struct str);
    } q_codes;              /* with q: or one of these codes */
    struct str step;        /* at which it stands, in any branch */
    struct str parent;      /* the id of the execution that started it */
    struct str record;      /* "object/id": from whose card it was started */
    struct str error;       /* the code of what it failed with, or is held with */
    struct str waiting;     /* waitingFor.kind */
    uint32_t statuses;      /* STATUS_BIT() of each that may be; 0 = any */
    int64_t from_us, to_us; /* by createdAt; 0 = open */
    int64_t deadline_us;    /* live, with a deadline before this; 0 = any */
    struct str org_id;
    struct str cursor; /* opaque, of the page before */
    int64_t limit;
    bool is_oldest_first;
};

struct stored_executions {
    VEC_OF(struct stored_execution);
};

/*
 * A page of executions, newest or oldest first, without their context; *next is the
 * cursor or empty. A page also ends at READ_BYTES_MAX. What a filter leaves over of very many may be a page that is
 * not full and has a cursor all the same. ERR_BAD_REQUEST: the cursor is none.
 */
bool read_executions(struct reader *r, struct arena *mem, const struct execution_filter *filter,
                     struct stored_executions *out, struct str *next, struct err *err) MUST_USE;

/* So many executions of a version of a definition are in a status, at a step or with an error. */
struct execution_group {
    struct str code, org_id;
    int64_t version;
    enum execution_status status;
    struct str value; /* the step or the error; empty: none */
    struct str
        service; /* of an error: the code that the service gave, its first 100 characters; or empty */
    int64_t count;
};

struct execution_groups {
    VEC_OF(struct execution_group);
    int64_t since_us; /* those that began before it are left out; 0: none are */
};

/* All that live, by the step at which they stand. */
bool read_live_groups(struct reader *r, struct arena *mem, struct execution_groups *out,
                      struct err *err) MUST_USE;

/* Those that are held, by their error; the newest SUMMARY_ROWS_MAX of them. */
bool read_held_groups(struct reader *r, struct arena *mem, struct execution_groups *out,
                      struct err *err) MUST_USE;

/*
 * Those that began since then and have ended, by their error; or only those
 * that failed. Of the newest SUMMARY_ROWS_MAX executions: out->since_us is raised
 * to where these begin.
 */
enum { SUMMARY_ROWS_MAX = 50000 };
bool read_ended_groups(struct reader *r, struct arena *mem, int64_t since_us, bool only_failed,
                       struct execution_groups *out, struct err *err) MUST_USE;

/* Whether there are executions of other organisations than the default one. */
bool read_has_other_orgs(struct reader *r, bool *out, struct err *err) MUST_USE;

/* How many executions there are by status, from counters: never a scan. */
bool read_counts(struct reader *r, int64_t out[STATUS_COUNT], struct err *err) MUST_USE;

/* How many executions wait for what; of all organisations when `org_id` is empty. */
bool read_waiting_counts(struct reader *r, struct str org_id, int64_t out[WAITING_COUNT],
                         struct err *err) MUST_USE;

/* At most so many executions are counted of each kind of wait. */
enum { WAITING_COUNTED_MAX = 100000 };

#endif
