/* stored_execution.h - an execution as the store keeps it; state.h makes a state of it. */
#ifndef PAWL_ENGINE_STORED_EXECUTION_H
#define PAWL_ENGINE_STORED_EXECUTION_H

#include "base/uuid.h"
#include "engine/commit/history.h"
#include "engine/commit/notice.h"
#include "engine/status.h"
#include "value/value.h"

/* What the store keeps of an execution, as it was read. */
struct stored_execution {
    int64_t row;
    struct uuid id;
    struct str kind, code;
    int64_t version;
    struct str snapshot; /* of the versions that it has pinned; or empty */
    enum execution_status status;
    bool has_parent;
    struct uuid parent_id;
    bool is_debugged; /* it was started to be debugged */
    bool has_again_of, has_again_as;
    struct uuid again_of,
        again_as; /* the one it was started again for; the newest that was for it */
    struct str key, org_id, user_json, trace, chain;
    struct str webhook_json, record;
    struct str input_json, context_json, cursor_json;
    struct str error_json, result_json, waiting_for_json;
    enum waiting_kind waiting_kind; /* of waiting_for_json */
    struct str current_step;        /* the code of the step that it stands at, or empty */
    bool is_rolled_back;            /* steps of it were rolled back, or could not be */
    int64_t row_version, seq, checkpoint_seq;
    int64_t wake_at_us, deadline_at_us;
    int64_t created_at_us, started_at_us, completed_at_us, updated_at_us;
    bool stop_requested;
    int32_t crash_count;
    int32_t format;
    struct history history;     /* the rows after checkpoint_seq */
    struct notice_rows notices; /* that no commit has applied, oldest first */
    struct value step_meta;     /* by code, of steps that have a `meta`; for showing it alone */
};

#endif
