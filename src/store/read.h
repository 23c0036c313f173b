/*
 * read.h - what can be asked of the store; each function runs on a reader
 * thread, sees one committed snapshot and answers in the caller's arena.
 *
 * A function answers false and fills *err when the database failed (ERR_IO,
 * ERR_OVERLOADED when it took longer than a reader may). What does not exist is
 * not a failure: *found says it.
 */
#ifndef PAWL_STORE_READ_H
#define PAWL_STORE_READ_H

#include "store/store.h"
#include "value/mask.h"

/* One execution with the history rows after its checkpoint and what it has been told. */
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

/* The history row that recorded a signal. */
bool read_signal(struct reader *r, struct uuid execution, struct str signal_id, int64_t *seq,
                 bool *found, struct err *err) MUST_USE;

/* The `meta` of the steps of its definition: a map by code, in `mem`. */
bool read_step_meta(struct reader *r, struct arena *mem, struct uuid id, struct value *out,
                    struct err *err) MUST_USE;

/* What of an execution's input and of the answers of people is sensitive; an empty mask when nothing is. */
bool read_mask(struct reader *r, struct arena *mem, struct uuid id, struct mask *out,
               struct err *err) MUST_USE;

enum { READ_BYTES_MAX = 4 << 20 }; /* of the rows of one page of a list, and one row beyond */

#define STATUS_BIT(status) (UINT32_C(1) << (unsigned)(status))

struct execution_filter {
    struct str kind, code, key, q; /* empty = any; q: id, key, code, error code */
    struct str step;               /* at which it stands, in any branch */
    struct str parent;             /* the id of the execution that started it */
    struct str record;             /* "object/id": from whose card it was started */
    struct str error;              /* the code of what it failed with, or is held with */
    struct str waiting;            /* waitingFor.kind */
    uint32_t statuses;             /* STATUS_BIT() of each that may be; 0 = any */
    int64_t from_us, to_us;        /* by createdAt; 0 = open */
    int64_t deadline_us;           /* live, with a deadline before this; 0 = any */
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

/* An execution that is due. */
struct due {
    struct uuid id;
    int64_t wake_at_us;
    bool waits_for_call; /* for its answer, or for room; read_due() only */
};

struct dues {
    VEC_OF(struct due);
};

/* Executions whose wake_at lies above (`after_us`, `after_id`) up to `until_us`, in order. */
bool read_due(struct reader *r, struct arena *mem, int64_t after_us, struct uuid after_id,
              int64_t until_us, int64_t limit, struct dues *out, struct err *err) MUST_USE;

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

/* What an execution has been told and no commit has applied, oldest first. */
bool read_told(struct reader *r, struct arena *mem, struct uuid id, struct tolds *out,
               struct err *err) MUST_USE;

/* An execution that is due because it has been told something; n is of that row. */
struct told_execution {
    struct uuid id;
    int64_t n;
};

struct told_executions {
    VEC_OF(struct told_execution);
};

/*
 * Executions with rows in execution_events above `after`, in their order, at
 * most `limit`; one may come several times. Not those that have ended or are
 * paused.
 */
bool read_told_executions(struct reader *r, struct arena *mem, int64_t after, int64_t limit,
                          struct told_executions *out, struct err *err) MUST_USE;

/* The live execution of an organisation with this business key and code. */
bool read_by_key(struct reader *r, struct str org_id, struct str code, struct str key,
                 struct uuid *out, bool *found, struct err *err) MUST_USE;

/*
 * Ids that end with `suffix` (at most `limit`, newest first), for the command
 * line: of the newest half a million executions.
 */
bool read_by_suffix(struct reader *r, struct arena *mem, struct str suffix, int64_t limit,
                    struct dues *out, struct err *err) MUST_USE;

struct stored_definition {
    struct str kind, code, name;
    int64_t version;   /* 0 = draft */
    int64_t revision;  /* of the draft: its ETag */
    int64_t previous;  /* the version that was published before this one first was; 0: none */
    struct str status; /* draft, published, retired, superseded */
    struct str facts;  /* as facts.h of src/define wrote them; or empty */
    struct str text;
    struct str summary, created_by;
    int64_t created_at_us;
};

struct stored_definitions {
    VEC_OF(struct stored_definition);
};

/* Version `version` of a definition; 0: the draft; -1: the published one, which may be retired. */
bool read_definition(struct reader *r, struct arena *mem, struct str kind, struct str code,
                     int64_t version, struct stored_definition *out, bool *found,
                     struct err *err) MUST_USE;

/* `access` of a version of a process, as JSON; empty when it has none, or does not exist. */
bool read_access(struct reader *r, struct arena *mem, struct str code, int64_t version,
                 struct str *out, struct err *err) MUST_USE;

/*
 * Versions of one definition below `before`, newest first, the draft before all;
 * without their texts; at most `limit`.
 */
bool read_versions(struct reader *r, struct arena *mem, struct str kind, struct str code,
                   int64_t before, int64_t limit, struct stored_definitions *out,
                   struct err *err) MUST_USE;

/* The same for the process of that code, of whatever kind. */
bool read_process(struct reader *r, struct arena *mem, struct str code, int64_t version,
                  struct stored_definition *out, bool *found, struct err *err) MUST_USE;

/*
 * The drafts and published versions of definitions of a kind, or of processes
 * of every kind when that is empty: at most `limit` rows with codes above
 * `after`, by code; without texts. One definition has up to two rows.
 */
bool read_definitions(struct reader *r, struct arena *mem, struct str kind, struct str after,
                      int64_t limit, struct stored_definitions *out, struct err *err) MUST_USE;

/* Everything of a kind that is published, by code, with its texts. */
bool read_published(struct reader *r, struct arena *mem, struct str kind,
                    struct stored_definitions *out, struct err *err) MUST_USE;

/* The same in any order, and the newest version of what has been removed. */
bool read_newest(struct reader *r, struct arena *mem, struct str kind,
                 struct stored_definitions *out, struct err *err) MUST_USE;

/* The procedures and functions that programs which begin now may reach, without their texts. */
bool read_reachable(struct reader *r, struct arena *mem, struct stored_definitions *out,
                    struct err *err) MUST_USE;

/* What a snapshot pins, as pins_write() of src/define wrote it. */
bool read_snapshot(struct reader *r, struct arena *mem, struct str hash, struct str *pins_json,
                   bool *found, struct err *err) MUST_USE;

/* A number that grows with every change of a definition, whichever node makes it. */
bool read_definition_stamp(struct reader *r, int64_t *out, struct err *err) MUST_USE;

/* One record of an organisation (empty: the default one); out->version is 0 when there is none. */
bool read_record(struct reader *r, struct arena *mem, struct str org_id, struct str object,
                 struct str id, struct record_read *out, struct err *err) MUST_USE;

/* How far a search goes beside its budget of SEARCH_ALLOWED_US. */
struct search_bounds {
    int64_t rows_max; /* without an order: so many records are looked at for one page; 0 = all */
    bool may_be_part; /* without an order: at the end of its budget it gives what it has */
    bool (*is_gone)(void *context); /* whether nobody waits for it any more; or NULL */
    void *context;
};

/*
 * Look through the records of an object for a page of a search, in one
 * snapshot; `c` has begun, and ends with it. ERR_LIMIT_QUERY: the budget was
 * not enough.
 */
bool read_search(struct reader *r, struct collector *c, const struct search_bounds *bounds,
                 struct err *err) MUST_USE;

/* The same for the engine: *out says what became of it. False: the store failed. */
bool read_found(struct reader *r, struct arena *mem, const struct search *s,
                struct search_found *out, struct err *err) MUST_USE;

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
 * The oldest wait behind row `after` that is open in the organisation, has this
 * correlation and may be for this type of signal.
 */
struct open_wait {
    int64_t row;
    struct uuid execution;
};
bool read_wait(struct reader *r, struct arena *mem, struct str org_id, struct str correlation,
               struct str type, int64_t after, struct open_wait *out, bool *found,
               struct err *err) MUST_USE;

/* What has become of a signal that came by correlation. */
struct known_signal {
    struct str digest;
    bool is_delivered; /* else it is kept */
    struct uuid execution;
};

/* Found by its id, unless it has expired. */
bool read_correlated(struct reader *r, struct arena *mem, struct str org_id, struct str id,
                     int64_t now_us, struct known_signal *out, bool *found,
                     struct err *err) MUST_USE;

/* A signal that is kept for a wait, and who sent it: {role, groups}. */
struct stored_kept {
    struct kept_signal kept;
    struct value sender;
};

struct stored_kepts {
    VEC_OF(struct stored_kept);
};

/*
 * What is kept for a correlation, oldest first, without what has expired and
 * what the execution of this row has received. *last_row is of all; 0: there is none.
 */
bool read_kept(struct reader *r, struct arena *mem, struct str org_id, struct str correlation,
               int64_t execution, int64_t now_us, struct stored_kepts *out, int64_t *last_row,
               struct err *err) MUST_USE;

/* Whether any has expired and is still there; and how many are kept, from a counter. */
bool read_expired(struct reader *r, int64_t now_us, bool *found, struct err *err) MUST_USE;
bool read_kept_count(struct reader *r, int64_t *out, struct err *err) MUST_USE;

/*
 * Snapshots that were kept before `before_us`, those behind `after_hash`, by
 * hash; no execution has to have them.
 */
struct snapshot_hashes {
    VEC_OF(struct str);
};
bool read_old_snapshots(struct reader *r, struct arena *mem, int64_t before_us,
                        struct str after_hash, int64_t limit, struct snapshot_hashes *out,
                        struct err *err) MUST_USE;

/* The snapshots of the first `limit` executions behind a row, each once. */
struct pinned_snapshots {
    struct snapshot_hashes hashes;
    int64_t last_row; /* of the executions */
    int64_t seen;     /* how many executions: less than the limit at the end */
};
bool read_pinned(struct reader *r, struct arena *mem, int64_t after_row, int64_t limit,
                 struct pinned_snapshots *out, struct err *err) MUST_USE;

struct ended_execution {
    int64_t row;
    struct uuid id;
    int64_t created_at_us, completed_at_us; /* 0 while it lives */
};

struct ended_executions {
    VEC_OF(struct ended_execution);
};

/* All executions behind a row, the oldest first, at most `limit`: when each began and ended. */
bool read_ended(struct reader *r, struct arena *mem, int64_t after_row, int64_t limit,
                struct ended_executions *out, struct err *err) MUST_USE;

struct stored_node {
    struct str name;
    int64_t started_at_us;
    int64_t batches;
    bool is_connected;
};

struct stored_nodes {
    VEC_OF(struct stored_node);
};

/* The nodes that share this store. */
bool read_nodes(struct reader *r, struct arena *mem, struct stored_nodes *out,
                struct err *err) MUST_USE;
/* The last version of a record that is gone; 0 when there never was one. */
bool read_record_last(struct reader *r, struct str org_id, struct str object, struct str id,
                      int64_t *version, struct err *err) MUST_USE;

/* The answer that was kept for an Idempotency-Key. */
struct stored_answer {
    bool is_kept;
    bool is_same; /* it was for the same body */
    int32_t status;
    struct str text;
};

/*
 * What a request was answered when it was made before: for one that is refused
 * before the store could have said so itself.
 */
bool read_answer(struct reader *r, struct arena *mem, const struct idempotency *asked,
                 int64_t now_us, struct stored_answer *out, struct err *err) MUST_USE;

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
    struct str cause_json, payload_json;   /* or empty */
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

/* How many dead letters are open, from a counter. */
bool read_open_letters(struct reader *r, int64_t *out, struct err *err) MUST_USE;

/* --- the outbox --- */

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
 * bytes_max. *next_at_us: when the next one after `now_us` is due; 0 = none.
 */
bool read_outbox_due(struct reader *r, struct arena *mem, struct str destination, int64_t now_us,
                     int64_t limit, size_t bytes_max, struct due_messages *out, int64_t *next_at_us,
                     struct err *err) MUST_USE;

struct stored_message {
    int64_t row;
    struct uuid id;
    bool has_execution; /* or it tells of something that none has done */
    struct uuid execution;
    enum message_kind kind;
    struct str destination, name;
    bool is_parked, is_late;
    int64_t attempts;
    int64_t next_at_us;    /* 0: at once, or behind an earlier one */
    struct str error_json; /* of the last attempt, or empty */
    struct str letter;     /* the id of its dead letter, or empty */
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

/* How many executions there are by status, from counters: never a scan. */
bool read_counts(struct reader *r, int64_t out[STATUS_COUNT], struct err *err) MUST_USE;

/* --- figures --- */

/* At most so many executions are counted of each kind of wait. */
enum { WAITING_COUNTED_MAX = 100000 };

/* One row of `stats`: of one organisation, or of all. False: it is damaged. */
typedef bool stats_take_fn(void *context, struct arena *mem, int64_t at_us, bool is_of_all,
                           struct str data_json);

/* The rows of the organisation, and those of all, from `from_us` until before `to_us`, in order. */
bool read_stats(struct reader *r, struct arena *mem, int64_t from_us, int64_t to_us,
                struct str org_id, stats_take_fn *take, void *context, struct err *err) MUST_USE;

/* How many executions wait for what; of all organisations when `org_id` is empty. */
bool read_waiting_counts(struct reader *r, struct str org_id, int64_t out[WAITING_COUNT],
                         struct err *err) MUST_USE;

#endif
