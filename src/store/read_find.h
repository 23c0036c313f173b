/*
 * read_find.h - executions that are found by their time, by what they have been
 * told, by their business key or by the end of their id. See read.h.
 */
#ifndef PAWL_STORE_READ_FIND_H
#define PAWL_STORE_READ_FIND_H

#include "store/peers.h"
#include "store/read.h"

/* An execution that is due. */
struct due {
    struct uuid id;
    int64_t wake_at_us;
    bool waits_for_call; /* for its answer, or for room; read_due() only */
};

struct dues {
    VEC_OF(struct due);
    bool is_cut; /* there are more behind the last one; read_due() only */
};

/*
 * Executions of these shards whose wake_at lies above (`after_us`, `after_id`) up to `until_us`, in
 * order; of a store that is one node's alone, those of all shards. At most `limit`, perhaps fewer.
 */
bool read_due(struct reader *r, struct arena *mem, const struct shard_set *shards, int64_t after_us,
              struct uuid after_id, int64_t until_us, int64_t limit, struct dues *out,
              struct err *err) MUST_USE;

/* The same of those that wait for the answer of a call, or may: they have strands. */
bool read_calls_due(struct reader *r, struct arena *mem, const struct shard_set *shards,
                    int64_t after_us, struct uuid after_id, int64_t until_us, int64_t limit,
                    struct dues *out, struct err *err) MUST_USE;

/* Of which version the executions of these ids are, a list of JSON; those that are gone are left out. */
struct execution_version {
    struct uuid id;
    int64_t row_version;
};

struct execution_versions {
    VEC_OF(struct execution_version);
};

bool read_row_versions(struct reader *r, struct arena *mem, struct str ids_json,
                       struct execution_versions *out, struct err *err) MUST_USE;

/* An execution that has rows in execution_events. */
struct noticed_execution {
    struct uuid id;
    int64_t row;
    bool is_due;  /* it is to hear of them now: it is not paused, for example */
    bool is_gone; /* there is no execution of this row: see struct notice_purge */
};

struct noticed_executions {
    VEC_OF(struct noticed_execution);
};

/*
 * Executions with rows in execution_events, by their row, those above `after`, at
 * most `limit`: each once, however many rows there are for it.
 */
bool read_noticed_executions(struct reader *r, struct arena *mem, int64_t after, int64_t limit,
                             struct noticed_executions *out, struct err *err) MUST_USE;

/* The live execution of an organisation with this business key and code. */
bool read_by_key(struct reader *r, struct str org_id, struct str code, struct str key,
                 struct uuid *out, bool *found, struct err *err) MUST_USE;

/*
 * Live executions with this business key, of that code unless it is empty, in
 * the organisation unless that is empty; at most two, for two are too many.
 */
bool read_live_by_key(struct reader *r, struct arena *mem, struct str key, struct str code,
                      struct str org_id, struct dues *out, struct err *err) MUST_USE;

/* The newest execution with this business key that has received the signal; the same otherwise. */
bool read_receiver(struct reader *r, struct str key, struct str code, struct str org_id,
                   struct str signal_id, struct uuid *out, bool *found, struct err *err) MUST_USE;

/*
 * Ids that end with `suffix` (at most `limit`, newest first), for the command
 * line: of the newest half a million executions.
 */
bool read_by_suffix(struct reader *r, struct arena *mem, struct str suffix, int64_t limit,
                    struct dues *out, struct err *err) MUST_USE;

#endif
