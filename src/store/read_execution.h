/*
 * read_execution.h - what can be asked about one execution: its state, its
 * history, how far it has come, what of it is sensitive. See read.h.
 */
#ifndef PAWL_STORE_READ_EXECUTION_H
#define PAWL_STORE_READ_EXECUTION_H

#include "engine/stored_execution.h"
#include "store/read.h"
#include "value/mask.h"

/* One execution with the history rows after its checkpoint and its notices. */
bool read_execution(struct reader *r, struct arena *mem, struct uuid id,
                    struct stored_execution *out, bool *found, struct err *err) MUST_USE;

/* One of several executions that are read together, each into memory of its own. */
struct execution_read {
    struct uuid id;
    struct arena *mem;
    struct stored_execution stored;
    bool found;
};

struct execution_reads {
    struct execution_read *items; /* of different ids */
    size_t count;
    /* Called before anything of an execution is looked at; or NULL. */
    void (*begins)(void *context, struct uuid id);
    void *context;
};

/* The same for several, in a few statements for all of them. `mem` is for what is asked. */
bool read_several(struct reader *r, struct arena *mem, struct execution_reads *all,
                  struct err *err) MUST_USE;

/* How several executions stand, and how they ended: in one statement. Those that are gone are left out. */
struct execution_end {
    struct uuid id;
    enum execution_status status;
    struct str result_json, error_json; /* or empty */
    int64_t crash_count;
    bool has_parent;
    struct uuid parent_id; /* the execution that started it */
    enum waiting_kind waiting_kind;
};

struct execution_ends {
    VEC_OF(struct execution_end);
};

bool read_ends(struct reader *r, struct arena *mem, struct str ids_json, struct execution_ends *out,
               struct err *err) MUST_USE;

/* All history rows of an execution with seq above `after`, at most `limit`, in order. */
bool read_history(struct reader *r, struct arena *mem, struct uuid id, int64_t after, int64_t limit,
                  struct history *out, bool *found, struct err *err) MUST_USE;

/* The same, until the texts of the rows exceed `bytes_max`: then *is_cut. One row at least. */
bool read_history_page(struct reader *r, struct arena *mem, struct uuid id, int64_t after,
                       int64_t limit, size_t bytes_max, struct history *out, bool *is_cut,
                       bool *found, struct err *err) MUST_USE;

/* What an execution was started with. */
struct start_source {
    struct str code, org_id, key, input_json, webhook_json, record;
    int64_t version;
    enum execution_status status;
};
bool read_start(struct reader *r, struct arena *mem, struct uuid id, struct start_source *out,
                bool *found, struct err *err) MUST_USE;

/* The newest execution that was started again for this one. */
bool read_again_as(struct reader *r, struct uuid id, struct uuid *out, bool *found,
                   struct err *err) MUST_USE;

/* What decides who may see an execution. */
struct execution_owner {
    struct str org_id, code;
    int64_t version;
};

bool read_owner(struct reader *r, struct arena *mem, struct uuid id, struct execution_owner *out,
                bool *found, struct err *err) MUST_USE;

/* How far an execution has come. */
struct progress {
    struct str code, org_id;
    enum execution_status status;
    struct str current_step, waiting_for_json; /* or empty */
    int64_t row_version, seq, updated_at_us;
    struct history history; /* rows with seq above `after`, at most `limit`, in order */
    bool is_cut;            /* their texts exceeded READ_BYTES_MAX: there are more */
};

/* The same with the state that the rows led to, all of one moment. */
bool read_progress(struct reader *r, struct arena *mem, struct uuid id, int64_t after,
                   int64_t limit, struct progress *out, bool *found, struct err *err) MUST_USE;

/* The notices of an execution that no commit has applied, oldest first. */
bool read_notices(struct reader *r, struct arena *mem, struct uuid id, struct notice_rows *out,
                  struct err *err) MUST_USE;

/* The history row that recorded a signal. */
bool read_signal(struct reader *r, struct uuid execution, struct str signal_id, int64_t *seq,
                 bool *found, struct err *err) MUST_USE;

/* The `meta` of the steps of its definition: a map by code, in `mem`. */
bool read_step_meta(struct reader *r, struct arena *mem, struct uuid id, struct value *out,
                    struct err *err) MUST_USE;

/* What of an execution's input and of the answers of people is sensitive; an empty mask when nothing is. */
bool read_mask(struct reader *r, struct arena *mem, struct uuid id, struct mask *out,
               struct err *err) MUST_USE;

#endif
