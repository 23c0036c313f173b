/* read_letter.h - dead letters; see read.h. */
#ifndef PAWL_STORE_READ_LETTER_H
#define PAWL_STORE_READ_LETTER_H

#include "engine/commit/letter.h"
#include "store/read.h"

/* What the engine has given up on, as it is stored. */
struct stored_letter {
    int64_t row;
    struct uuid id;
    bool has_execution; /* or it is about a message that none has sent */
    struct uuid execution;
    struct str kind, code, org_id, step;
    struct str key;  /* of the execution, or empty */
    int64_t version; /* of the definition, as the execution has it now */
    enum letter_status status;
    int64_t attempts;
    struct str cause_json, payload_json; /* or empty */
    /* The row of history that has what the attempt sent: `call` or `job`, its key, and, where the
     * letter has no payload of its own, what it sent; or empty. */
    struct str sent_as, sent_key, sent_json;
    struct str note, resolved_by;          /* or empty */
    int64_t created_at_us, resolved_at_us; /* 0 while it is open */
};

struct stored_letters {
    VEC_OF(struct stored_letter);
};

struct letter_filter {
    struct str kind, code, org_id; /* empty = any */
    bool has_status, has_execution;
    enum letter_status status;
    struct uuid execution;
    int64_t from_us, to_us; /* by createdAt; 0 = open */
    struct str cursor;      /* opaque, of the page before */
    int64_t limit;
};

/* A page of dead letters, newest first; the same as read_executions() otherwise. */
bool read_letters(struct reader *r, struct arena *mem, const struct letter_filter *filter,
                  struct stored_letters *out, struct str *next, struct err *err) MUST_USE;

bool read_letter(struct reader *r, struct arena *mem, struct uuid id, struct stored_letter *out,
                 bool *found, struct err *err) MUST_USE;

/*
 * Which of the executions, in the order of their rows, have an open dead letter:
 * (*has)[i], in `mem`.
 */
bool read_letter_owners(struct reader *r, struct arena *mem, const int64_t *rows, size_t count,
                        bool **has, struct err *err) MUST_USE;

/* How many dead letters are open, from a counter. */
bool read_open_letters(struct reader *r, int64_t *out, struct err *err) MUST_USE;

#endif
