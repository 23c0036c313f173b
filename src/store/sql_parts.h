/* sql_parts.h - pieces of SQL that several rows of sql.def share. */
#ifndef PAWL_STORE_SQL_PARTS_H
#define PAWL_STORE_SQL_PARTS_H

#include "define/kind.h" /* PROCESS_KINDS */

/* What a commit is held against. */
#define STATE_COLUMNS "row, status, row_version, wake_at"

/* How an execution ended; whether its parent has been told so and has not applied it yet. */
#define END_COLUMNS                                                                                \
    "row, status, completed_at, (SELECT count(*) FROM execution_events v "                         \
    "WHERE v.execution = (SELECT p.row FROM execution p WHERE p.id = e.parent_id) "                \
    "AND v.key = 'child:' || e.id), deleted_at"

/* ?1 row, ?2 row_version read; then the context, where it is written, as ?18 and ?19. */
#define ADVANCE_SET                                                                                \
    "status = ?3, row_version = ?4, seq = ?5, started_at = ?6, completed_at = ?7, "                \
    "updated_at = ?8, stop_requested = ?9, crash_count = ?10, current_step = ?11, cursor = ?12, "  \
    "waiting_for = ?13, error = ?14, result = ?15, waiting_kind = ?16, format = ?17"
#define ADVANCE_WHERE " WHERE row = ?1 AND row_version = ?2"
#define SET_CONTEXT ", context = ?18, checkpoint_seq = ?19"

/* A stored execution without the two columns that may be large. */
#define EXECUTION_COLUMNS                                                                          \
    "row, id, scenario_code, scenario_version, status, row_version, seq, checkpoint_seq, "         \
    "wake_at, deadline_at, created_at, started_at, completed_at, updated_at, stop_requested, "     \
    "crash_count, format, org_id, business_key, created_by, cursor, waiting_for, error, result, "  \
    "parent_id, current_step, waiting_kind"

/* A new execution. */
#define NEW_COLUMNS                                                                                \
    "row, id, scenario_code, scenario_version, status, row_version, seq, checkpoint_seq, "         \
    "wake_at, deadline_at, created_at, started_at, completed_at, updated_at, stop_requested, "     \
    "crash_count, format, org_id, business_key, live_key, current_step, created_by, cursor, "      \
    "waiting_for, error, result, input, context, parent_id, snapshot, waiting_kind, kind"

/* PostgreSQL: an UPDATE that fails, by dividing by zero, unless it finds every row it is given. */
#define ALL_OR_FAIL(update)                                                                        \
    "WITH written AS (" update " RETURNING e.row) "                                                \
    "SELECT 1 / CAST(count(*) = cardinality($1::bigint[]) AS int) FROM written"

#define RECORD_KEY "org_id = ?1 AND object = ?2 AND id = ?3"

#define DEFINITION_COLUMNS                                                                         \
    "kind, code, version, revision, status, name, change_summary, created_by, created_at, "        \
    "coalesce(previous_version, version - 1)"

#define USER_COLUMNS                                                                               \
    "id, org_id, name, email, role, groups, skill_level, specializations, active, created_at, "    \
    "updated_at"
#define TOKEN_COLUMNS "id, user_id, name, hash, created_at, last_used_at, expires_at"
#define SESSION_COLUMNS "hash, user_id, token_id, token_hash, created_at, last_used_at"

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

/* Drafts and published versions, by the bytes of their codes: ?1 limit, ?2 above this code. */
#define DEFINITIONS_PAGE(code, condition)                                                          \
    "SELECT " DEFINITION_COLUMNS " FROM definition WHERE " condition " AND " code " > ?2 "         \
    "AND (version = 0 OR status = 'published') ORDER BY " code ", kind, version LIMIT ?1"

#define ALL_PUBLISHED                                                                              \
    "SELECT " DEFINITION_COLUMNS ", definition FROM definition "                                   \
    "WHERE kind = ?1 AND status = 'published' ORDER BY "

/*
 * Lists walk one index from the newest row down. ?1 limit, ?2 below this row,
 * ?3 from this row; ?12 what is looked for in the index. The statuses in ?7
 * stand between spaces.
 */
#define LIST_FILTER                                                                                \
    "row < ?2 AND row >= ?3 AND created_at >= ?4 AND created_at <= ?5 "                            \
    "AND (CAST(?6 AS text) IS NULL OR scenario_code = ?6) "                                        \
    "AND (CAST(?7 AS text) IS NULL OR ?7 LIKE '% ' || status || ' %') "                            \
    "AND (CAST(?8 AS text) IS NULL OR business_key = ?8) "                                         \
    "AND (CAST(?9 AS text) IS NULL OR kind = ?9) "                                                 \
    "AND (CAST(?10 AS text) IS NULL OR current_step = ?10) "                                       \
    "AND (CAST(?11 AS text) IS NULL OR org_id = ?11) AND deleted_at IS NULL"
#define LIST_ORDER " ORDER BY row DESC LIMIT ?1"
#define LIST_WHERE(condition)                                                                      \
    "SELECT " EXECUTION_COLUMNS " FROM execution WHERE " condition LIST_FILTER LIST_ORDER

/* The row that ?3 rows of an index stand above, below ?1 and from ?2; ?4 is looked for in it. */
#define WINDOW_WHERE(condition)                                                                    \
    "SELECT row FROM execution WHERE " condition                                                   \
    "row < ?1 AND row >= ?2 ORDER BY row DESC LIMIT 1 OFFSET ?3"

/* The same for dead letters: ?10 is looked for in the index. */
#define LETTER_COLUMNS                                                                             \
    "row, id, (SELECT id FROM execution WHERE row = d.execution), kind, scenario_code, org_id, "   \
    "step_code, status, attempts, cause, payload, note, resolved_by, created_at, resolved_at, "    \
    "(SELECT scenario_version FROM execution WHERE row = d.execution)"
#define LETTERS_WHERE(condition)                                                                   \
    "SELECT " LETTER_COLUMNS " FROM dead_letters AS d WHERE " condition                            \
    "row < ?2 AND row >= ?3 AND created_at >= ?4 AND created_at <= ?5 "                            \
    "AND (CAST(?6 AS text) IS NULL OR kind = ?6) "                                                 \
    "AND (CAST(?7 AS text) IS NULL OR status = ?7) "                                               \
    "AND (CAST(?8 AS text) IS NULL OR scenario_code = ?8) "                                        \
    "AND (CAST(?9 AS text) IS NULL OR org_id = ?9)" LIST_ORDER
#define LETTERS_WINDOW_WHERE(condition)                                                            \
    "SELECT row FROM dead_letters WHERE " condition                                                \
    "row < ?1 AND row >= ?2 ORDER BY row DESC LIMIT 1 OFFSET ?3"
#define LETTERS_DELETE_WHERE(condition)                                                            \
    "DELETE FROM dead_letters WHERE row IN (SELECT row FROM dead_letters "                         \
    "WHERE " condition "execution = ?1 LIMIT ?2)"

/* ?1 org, ?2 correlation, ?3 behind this row, ?4 a type as it stands in a list of them. */
#define WAIT_FIND_WHERE(place)                                                                     \
    "SELECT row, (SELECT id FROM execution WHERE row = w.execution) FROM waits AS w "              \
    "WHERE org_id = ?1 AND correlation = ?2 AND correlation IS NOT NULL AND row > ?3 "             \
    "AND " place " > 0 ORDER BY row LIMIT 1"
#define CORRELATED_FIND_BY_ID                                                                      \
    "SELECT row, digest, execution_id, expires_at, correlation FROM correlated_signals "           \
    "WHERE org_id = ?1 AND signal_id = ?2"
/* ?1 what has expired by now, ?2 at most. */
#define CORRELATED_PURGE(condition)                                                                \
    "DELETE FROM correlated_signals WHERE row IN (SELECT row FROM correlated_signals "             \
    "WHERE " condition "expires_at <= ?1 ORDER BY expires_at LIMIT ?2)"

#define ERROR_CODE_SQLITE "json_extract(error, '$.code')"
#define ERROR_CODE_POSTGRES "error ->> 'code'"

/* An id that half a million executions are newer than: what is looked through has an end. */
#define OLD_ID                                                                                     \
    "SELECT id FROM execution WHERE row < (SELECT max(row) FROM execution) - 500000 "              \
    "ORDER BY row DESC LIMIT 1"

#define SURVEY_CHILD_ENDED "c.status IN ('completed', 'failed', 'cancelled') AND c.updated_at < ?1"
#define SURVEY_ASLEEP_OF(child, branches, branch_child)                                            \
    "SELECT count(*), max(CAST(e.id AS text)) FROM execution e "                                   \
    "WHERE e.status IN ('pending', 'running', 'waiting', 'compensating') AND e.updated_at < ?1 "   \
    "AND e.crash_count < 5 "                                                                       \
    "AND NOT EXISTS (SELECT 1 FROM execution_events v WHERE v.execution = e.row) "                 \
    "AND ((e.wake_at IS NULL AND (e.status <> 'waiting' "                                          \
    "OR e.waiting_for->>'kind' IN ('timer', 'retry'))) "                                           \
    "OR (e.status = 'waiting' AND e.waiting_for->>'kind' = 'child' "                               \
    "AND EXISTS (SELECT 1 FROM execution c WHERE c.id = " child " AND " SURVEY_CHILD_ENDED "))"    \
    "OR (e.status = 'waiting' AND EXISTS (SELECT 1 FROM " branches " AS b, execution c "           \
    "WHERE b.value->>'kind' = 'child' AND c.id = " branch_child " AND " SURVEY_CHILD_ENDED ")))"

#endif
