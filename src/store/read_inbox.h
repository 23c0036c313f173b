/*
 * read_inbox.h - waits that people answer, as they are read. Written with the commit
 * that opens the wait and removed with the one that ends it (change_signal.c).
 */
#ifndef PAWL_STORE_READ_INBOX_H
#define PAWL_STORE_READ_INBOX_H

#include "store/read.h"

struct stored_wait {
    int64_t row, execution_row;
    struct uuid execution;
    struct str code, org_id;
    struct str name;            /* of the process, or empty */
    struct str started_by_json; /* or empty */
    int64_t version;
    struct str key; /* of the execution, or empty */
    struct str step;
    int64_t visit;
    struct str title;          /* or empty */
    struct str form_json;      /* or empty */
    struct str show_json;      /* facts beside the question, a list; or empty */
    struct str then_json;      /* what follows each answer, a list; or empty */
    struct str time_up_json;   /* what happens when its time is up; or empty */
    struct str types_json;     /* a text, or a list of texts */
    struct str assignees_json; /* a list of keys (define/assignee.h), or empty */
    bool is_public;
    int64_t since_us, until_us; /* until: 0 = it does not end by itself */
    /* which links answer it, of one that is public: engine/commit/link.h */
    struct str link_scopes_json; /* a list of texts */
    int64_t links_from;
};

struct stored_waits {
    VEC_OF(struct stored_wait);
};

/*
 * The waits of an organisation that are assigned to one of `keys`, a list of
 * texts, the newest first, each once. *next is where the next page begins, or
 * empty. ERR_BAD_REQUEST: `cursor` is none.
 */
bool read_inbox(struct reader *r, struct arena *mem, struct str org_id, struct value keys,
                struct str cursor, int64_t limit, struct stored_waits *out, struct str *next,
                struct err *err) MUST_USE;

/* An answer of a person, and the execution that it was for. */
struct wait_answered {
    int64_t row;
    struct uuid execution;
    struct str code, name; /* name: or empty */
    int64_t version;
    struct str step;
    int64_t visit;
    struct str title; /* or empty */
    struct str
        output_json; /* {type, payload, by, receivedAt, timedOut}, as the step shapes it; or empty */
    struct str by_json;
    int64_t at_us;
};

struct waits_answered {
    VEC_OF(struct wait_answered);
};

/* What a user of an organisation has answered, the newest first; as read_inbox(). No `by_json`. */
bool read_answered(struct reader *r, struct arena *mem, struct str org_id, struct str user_id,
                   struct str cursor, int64_t limit, struct waits_answered *out, struct str *next,
                   struct err *err) MUST_USE;

/* Who has answered an execution so far, the first ones first: by_json, step and at_us alone. */
enum { ANSWERED_BEFORE_MAX = 20 };
bool read_answered_before(struct reader *r, struct arena *mem, int64_t execution_row,
                          struct waits_answered *out, struct err *err) MUST_USE;

/* How many these are; INBOX_COUNTED_MAX: so many or more. */
enum { INBOX_COUNTED_MAX = 1000 };
bool read_inbox_count(struct reader *r, struct arena *mem, struct str org_id, struct value keys,
                      int64_t *out, struct err *err) MUST_USE;

/* The open wait of that visit of a step, whoever may answer it. */
bool read_inbox_item(struct reader *r, struct arena *mem, struct uuid execution, struct str step,
                     int64_t visit, struct stored_wait *out, bool *found, struct err *err) MUST_USE;

enum { LINKED_WAITS_MAX = 1000 }; /* no execution has more strands */

/* The open waits of an execution that are public. */
bool read_linked_waits(struct reader *r, struct arena *mem, struct uuid execution,
                       struct stored_waits *out, struct err *err) MUST_USE;

#endif
