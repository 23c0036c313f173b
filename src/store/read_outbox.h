/* read_outbox.h - messages that wait for their delivery; see read.h. */
#ifndef PAWL_STORE_READ_OUTBOX_H
#define PAWL_STORE_READ_OUTBOX_H

#include "engine/commit/message.h"
#include "store/read.h"

struct lane_names {
    VEC_OF(struct str);
};

/* The destinations that messages wait for. */
bool read_outbox_lanes(struct reader *r, struct arena *mem, struct lane_names *out,
                       struct err *err) MUST_USE;

/* A message that is to be delivered now. */
struct due_message {
    int64_t row, execution; /* the store's keys */
    struct uuid id;
    enum message_kind kind;
    struct str name, body_json, org_id;
    int64_t attempts; /* so far */
    bool is_late;     /* it was parked once, and goes out of order */
    struct str
        nobody; /* filled by the node: who it is for, none of whom has an address; or empty */
};

struct due_messages {
    VEC_OF(struct due_message);
    bool is_cut; /* there may be more */
};

/*
 * The messages to this destination that are due: of each execution the first
 * one, unless it is late. At most `limit`, and until their bodies exceed
 * bytes_max; none unless the lane is leased to `node`, if that is not empty.
 * *next_at_us: when the next one after `now_us` is due; 0 = none.
 */
bool read_outbox_due(struct reader *r, struct arena *mem, struct str destination, struct str node,
                     int64_t now_us, int64_t limit, size_t bytes_max, struct due_messages *out,
                     int64_t *next_at_us, struct err *err) MUST_USE;

struct stored_message {
    int64_t row;
    struct uuid id;
    bool has_execution; /* or it tells of something that none has done */
    struct uuid execution;
    enum message_kind kind;
    struct str destination, name;
    bool is_parked, is_late;
    bool is_behind; /* it waits for an earlier one of its execution */
    int64_t attempts;
    int64_t next_at_us;    /* 0: at once, or behind an earlier one */
    struct str error_json; /* of the last attempt, or empty */
    struct str letter;     /* the id of its dead letter, or empty */
    struct str body_json;  /* what it says: of read_message() only */
    struct str org_id, code;
    int64_t version, created_at_us;
};

struct stored_messages {
    VEC_OF(struct stored_message);
};

struct message_filter {
    struct str kind, destination, org_id; /* empty = any */
    bool has_status, is_parked;
    bool has_execution;
    struct uuid execution;
    struct str cursor;
    int64_t limit;
};

/* A page of messages, newest first. */
bool read_messages(struct reader *r, struct arena *mem, const struct message_filter *filter,
                   struct stored_messages *out, struct str *next, struct err *err) MUST_USE;

bool read_message(struct reader *r, struct arena *mem, struct uuid id, struct stored_message *out,
                  bool *found, struct err *err) MUST_USE;

/* How many messages wait, from a counter, and since when the oldest does; 0 = none. */
bool read_outbox_figures(struct reader *r, int64_t *pending, int64_t *oldest_at_us,
                         struct err *err) MUST_USE;

/* Since when the oldest message of the organisation, or of all, waits; 0 = none does. */
bool read_outbox_oldest(struct reader *r, struct str org_id, int64_t *at_us,
                        struct err *err) MUST_USE;

#endif
