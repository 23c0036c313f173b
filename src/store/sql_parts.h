/* sql_parts.h - pieces of SQL that several rows of sql.def share. */
#ifndef PAWL_STORE_SQL_PARTS_H
#define PAWL_STORE_SQL_PARTS_H

/* What a commit is held against. */
#define STATE_COLUMNS "row, status, row_version, wake_at"

/* ?1 row, ?2 row_version read; then the context, where it is written, as ?16 and ?17. */
#define ADVANCE_SET                                                                                \
    "status = ?3, row_version = ?4, seq = ?5, started_at = ?6, completed_at = ?7, "                \
    "updated_at = ?8, stop_requested = ?9, crash_count = ?10, current_step = ?11, cursor = ?12, "  \
    "waiting_for = ?13, error = ?14, result = ?15"
#define ADVANCE_WHERE " WHERE row = ?1 AND row_version = ?2"
#define SET_CONTEXT ", context = ?16, checkpoint_seq = ?17"

/* A stored execution without the two columns that may be large. */
#define EXECUTION_COLUMNS                                                                          \
    "row, id, scenario_code, scenario_version, status, row_version, seq, checkpoint_seq, "         \
    "wake_at, deadline_at, created_at, started_at, completed_at, updated_at, stop_requested, "     \
    "crash_count, format, org_id, business_key, created_by, cursor, waiting_for, error, result"

#define DEFINITION_COLUMNS                                                                         \
    "kind, code, version, revision, status, name, change_summary, created_by, created_at"

#define USER_COLUMNS                                                                               \
    "id, org_id, name, email, role, groups, skill_level, specializations, active, created_at, "    \
    "updated_at"
#define TOKEN_COLUMNS "id, user_id, name, hash, created_at, last_used_at"

/* The organisation that most belong to: its executions are in no index of organisations. */
#define OF_OTHER_ORG "org_id <> '00000000-0000-7000-8000-000000000001'"

/* ?1 limit; older than ?2 (then row ?3), not older than ?4. */
#define AUDIT_LIST                                                                                 \
    "SELECT row, at, user_id, user_name, action, target, details FROM audit_log "                  \
    "WHERE (at, row) < (?2, ?3) AND at <= ?2 AND at >= ?4 "                                        \
    "AND (CAST(?5 AS text) IS NULL OR user_id = ?5) "                                              \
    "AND (CAST(?6 AS text) IS NULL OR action = ?6) "                                               \
    "AND (CAST(?7 AS text) IS NULL OR target = ?7) "                                               \
    "AND (CAST(?8 AS text) IS NULL OR org_id = ?8)"
#define AUDIT_ORDER " ORDER BY at DESC, row DESC LIMIT ?1"

/* ?1 limit, ?2 below this row, ?3 from this row. */
#define LIST_FILTER                                                                                \
    "row < ?2 AND row >= ?3 AND created_at >= ?4 AND created_at <= ?5 "                            \
    "AND (CAST(?6 AS text) IS NULL OR scenario_code = ?6) "                                        \
    "AND (CAST(?7 AS text) IS NULL OR status = ?7) "                                               \
    "AND (CAST(?8 AS text) IS NULL OR business_key = ?8) "                                         \
    "AND (CAST(?9 AS text) IS NULL OR kind = ?9) "                                                 \
    "AND (CAST(?10 AS text) IS NULL OR current_step = ?10) "                                       \
    "AND (CAST(?11 AS text) IS NULL OR org_id = ?11)"
#define LIST_ORDER " ORDER BY row DESC LIMIT ?1"

/* An id that half a million executions are newer than: what is looked through has an end. */
#define OLD_ID                                                                                     \
    "SELECT id FROM execution WHERE row < (SELECT max(row) FROM execution) - 500000 "              \
    "ORDER BY row DESC LIMIT 1"

/* Rows that a text finds in one of three ways; each by an index, newest first. */
#define FOUND_BY(condition)                                                                        \
    "SELECT row FROM (SELECT row FROM execution WHERE " condition " AND " LIST_FILTER LIST_ORDER   \
    ") AS found"
#define LIST_FOUND(error_code_is)                                                                  \
    "SELECT " EXECUTION_COLUMNS                                                                    \
    " FROM execution WHERE row IN (" FOUND_BY("scenario_code = ?12") " UNION " FOUND_BY(           \
        "business_key = ?12 AND business_key IS NOT "                                              \
        "NULL") " UNION " FOUND_BY(error_code_is) ")" LIST_ORDER

#endif
