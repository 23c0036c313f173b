/*
 * sql_parts.h - pieces of SQL that several rows of sql.def share.
 *
 * why: decision 0342
 */
#ifndef PAWL_STORE_DB_SQL_PARTS_H
#define PAWL_STORE_DB_SQL_PARTS_H

#include "base/text/fold.h" /* its lists of letters */
#include "define/kind.h"    /* PROCESS_KINDS */
#include "store/planner/sql_planner_parts.h"

/* A row that is read before it is changed: PostgreSQL locks it, and does not wait for it. */
#define SQL_LOCKING(symbol, text)                                                                  \
    SQL_SQLITE(symbol, text)                                                                       \
    SQL_POSTGRES(symbol, text " FOR UPDATE NOWAIT")

/*
 * Rows that a batch is going to write, locked in the order of their keys and without waiting; see
 * write/row_locks.h. `names`: of the columns that are put, which are not those of the table;
 * `found`: the rows t that belong to a row u of them; `key`: of the table. Answers the rows that
 * were put for which there is a row that another session has.
 */
#define SQL_LOCK_ROWS(symbol, types, names, found, key)                                            \
    SQL_ROWS(symbol, false, types, NULL,                                                           \
             "WITH got AS (SELECT t." key " FROM (SELECT ?*) AS u(" names ") JOIN " found          \
             " ORDER BY t." key " FOR UPDATE OF t SKIP LOCKED) SELECT " names                      \
             " FROM (SELECT ?*) AS u(" names ") JOIN " found " WHERE t." key                       \
             " NOT IN (SELECT " key " FROM got)")

/*
 * Locks by a number that is made from names, in the order of the numbers; what another session has
 * is answered. A connection that waits (DB_WAIT) asks by the function that waits: what
 * that answers is the empty text.
 */
#define SQL_LOCK_NAMES(symbol, types, names, number)                                               \
    SQL_ROWS(symbol, false, types, NULL,                                                           \
             "SELECT " names " FROM (SELECT " names ", " number " AS number FROM (SELECT ?*) AS "  \
             "u(" names ") ORDER BY number OFFSET 0) AS l "                                        \
             "WHERE CAST(pg_try_advisory_xact_lock(number) AS text) = 'false'")

/* Rows of which a column is in ?1, a JSON list of values that PostgreSQL takes for `type`. */
#define SQL_OF_LIST(symbol, type, select, rest)                                                    \
    SQL_SQLITE(symbol, select " IN (SELECT value FROM json_each(?1))" rest)                        \
    SQL_POSTGRES(symbol, select " = ANY(ARRAY(SELECT CAST(v.item AS " type ") FROM "               \
                                "json_array_elements_text(CAST(?1 AS json)) AS v(item)))" rest)

/* SQL_ROWS that are inserted as they are put, and not exact. */
#define SQL_ROWS_INSERT(symbol, types, into, values, on_conflict)                                  \
    SQL_ROWS(symbol, false, types, "INSERT INTO " into " VALUES (" values ")" on_conflict,         \
             "INSERT INTO " into " SELECT ?*" on_conflict)

/* What a commit is held against. */
#define STATE_COLUMNS "row, status, row_version, wake_at"

/* Live executions, in the words of the index execution_lives: SQLite uses it for no others. */
#define IS_LIVE(e)                                                                                 \
    "(" e "status = 'pending' OR " e "status = 'running' OR " e "status = 'waiting' OR " e         \
    "status = 'waiting_debug' OR " e "status = 'compensating')"

/*
 * How an execution ended; how many wait for it and have not been notified of it, or have not applied
 * that yet; its messages that are not delivered, its dead letters that are open, and whether the
 * execution that has started it lives.
 */
#define END_COLUMNS                                                                                \
    "row, status, completed_at, (SELECT count(*) FROM execution_events v "                         \
    "WHERE v.key = 'child:' || e.id) + (SELECT count(*) FROM execution_events v "                  \
    "WHERE v.execution = e.row AND v.kind = 'join'), deleted_at, (SELECT count(*) FROM outbox o "  \
    "WHERE o.execution = e.row AND o.status = 'pending'), (SELECT count(*) FROM dead_letters d "   \
    "WHERE d.execution = e.row AND d.status = 'open'), (SELECT count(*) FROM execution p "         \
    "WHERE p.id = e.parent_id AND " IS_LIVE("p.") ")"

/*
 * The state of an execution after a commit: ?1 row, ?2 row_version read. SQLite writes every index
 * that holds a column which is named, so those in indexes are named only where they change.
 */
#define ADVANCE_SET                                                                                \
    "UPDATE execution SET row_version = ?3, seq = ?4, started_at = ?5, completed_at = ?6, "        \
    "updated_at = ?7, stop_requested = ?8, crash_count = ?9, cursor = ?10, waiting_for = ?11, "    \
    "result = ?12, format = ?13"
#define SET_CONTEXT(json, seq) ", context = ?" #json ", checkpoint_seq = ?" #seq
#define SET_STEP(code) ", current_step = ?" #code
#define SET_WAKE(at) ", wake_at = ?" #at
#define SET_STATUS(status, error, kind, branches)                                                  \
    ", status = ?" #status ", error = ?" #error ", waiting_kind = ?" #kind                         \
    ", has_branches = ?" #branches
#define ADVANCE_WHERE " WHERE row = ?1 AND row_version = ?2 AND deleted_at IS NULL"

/* A stored execution without the two columns that may be large. */
#define EXECUTION_COLUMNS                                                                          \
    "row, id, scenario_code, scenario_version, status, row_version, seq, checkpoint_seq, "         \
    "wake_at, deadline_at, created_at, started_at, completed_at, updated_at, stop_requested, "     \
    "crash_count, format, org_id, business_key, created_by, cursor, waiting_for, error, result, "  \
    "parent_id, current_step, waiting_kind, again_of, kind, trace, record, trigger_chain, "        \
    "debug"

/* A new execution. */
#define NEW_COLUMNS                                                                                \
    "row, id, scenario_code, scenario_version, status, row_version, seq, checkpoint_seq, "         \
    "wake_at, deadline_at, created_at, started_at, completed_at, updated_at, stop_requested, "     \
    "crash_count, format, org_id, business_key, live_key, current_step, created_by, cursor, "      \
    "waiting_for, error, result, input, context, parent_id, snapshot, waiting_kind, kind, "        \
    "again_of, trace, webhook, record, trigger_chain, has_branches, debug"

/* PostgreSQL: an UPDATE that fails, by dividing by zero, unless it finds every row it is given. */
#define ALL_OR_FAIL(update)                                                                        \
    "WITH written AS (" update " RETURNING e.row) "                                                \
    "SELECT 1 / CAST(count(*) = cardinality($1::bigint[]) AS int) FROM written"

/* The same of any statement whose first column is a text. */
#define ALL_TEXTS_OR_FAIL(change)                                                                  \
    "WITH written AS (" change " RETURNING 1) "                                                    \
    "SELECT 1 / CAST(count(*) = cardinality($1::text[]) AS int) FROM written"

/* PostgreSQL: the shard of an execution e, as the index by shard has it: see store/peers.h. */
#define SHARD_OF_E "get_byte(uuid_send(e.id), 15)"

/* Executions by their wake_at, behind (?1, ?2) and up to ?3, that `where` ("... AND ") lets pass. */
#define READ_DUE_OF_SQLITE(where)                                                                  \
    "SELECT id, wake_at, CASE WHEN waiting_kind = 'call' THEN 1 ELSE 0 END, row "                  \
    "FROM execution WHERE wake_at IS NOT NULL AND wake_at <= ?3 AND ?5 IS NOT NULL AND "           \
    "crash_count < 5 AND " where                                                                   \
    "(wake_at, row) > (?1, coalesce((SELECT row FROM execution WHERE id = ?2), 0)) "               \
    "ORDER BY wake_at, row LIMIT ?4"
/* ... ?4 of each shard, through the index by shard. */
#define READ_DUE_OF_POSTGRES(where)                                                                \
    "SELECT d.id, d.wake_at, d.is_call, d.row FROM unnest($5::int[]) AS s(shard) "                 \
    "CROSS JOIN LATERAL (SELECT e.id, e.wake_at, CASE WHEN e.waiting_kind = 'call' THEN 1 "        \
    "ELSE 0 END AS is_call, e.row FROM execution e WHERE " SHARD_OF_E " = s.shard "                \
    "AND e.wake_at IS NOT NULL AND e.wake_at <= $3 AND e.crash_count < 5 AND " where               \
    "(e.wake_at, e.row) > ($1, coalesce((SELECT row FROM execution WHERE id = $2::uuid), "         \
    "0)) ORDER BY e.wake_at, e.row LIMIT $4) AS d ORDER BY d.wake_at, d.row"

/* PostgreSQL: leases go by the clock of the database, which all nodes share. */
#define DATABASE_NOW "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

/* A job with the attempt that it is: j, its row of history h and its execution e. */
#define JOB_COLUMNS                                                                                \
    "j.key, j.id, j.type, j.org_id, j.status, e.id, h.step_code, h.attempt, h.idempotency_key, "   \
    "h.input, j.created_at, j.worker, j.lease_token, j.lease_us, j.lease_until, j.ended_at, "      \
    "j.answer_hash, coalesce(j.progress, (SELECT p.progress FROM jobs p JOIN history q ON q.key "  \
    "= "                                                                                           \
    "p.key WHERE p.key >= (j.key >> 24) << 24 AND p.key < j.key AND p.progress IS NOT NULL AND "   \
    "q.idempotency_key = h.idempotency_key ORDER BY p.key DESC LIMIT 1))"
#define JOB_TABLES "jobs j JOIN history h ON h.key = j.key JOIN execution e ON e.row = j.key >> 24 "

#define RECORD_KEY "org_id = ?1 AND object = ?2 AND id = ?3"

/* A schedule s; SCHEDULE_COLUMN_COUNT of them, in the order of schedule_of_row(). */
#define SCHEDULE_COLUMNS                                                                           \
    "s.id, s.code, s.kind, s.version, s.position, s.cron, s.timezone, s.catch_up, s.org_id, "      \
    "s.is_retired, s.next_at, s.paused_at, s.paused_by, s.last_at, s.last_execution, "             \
    "s.last_error, s.created_at"
/* The same with the name and the facts of the version that it is of. */
#define SCHEDULE_LISTED                                                                            \
    SCHEDULE_COLUMNS ", d.name, d.facts FROM schedules s LEFT JOIN definition d "                  \
                     "ON d.kind = s.kind AND d.code = s.code AND d.version = s.version "
#define TRIGGER_COLUMNS "code, position, kind, version, type, topic, org_id, is_retired, spec"

#define DEFINITION_COLUMNS                                                                         \
    "kind, code, version, revision, status, name, change_summary, created_by, created_at, "        \
    "coalesce(previous_version, version - 1), facts"

#define USER_COLUMNS                                                                               \
    "id, org_id, name, email, role, groups, skill_level, specializations, active, created_at, "    \
    "updated_at, namespaces"
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
    "AND (version = 0 OR status IN ('published', 'retired')) ORDER BY " code                       \
    ", kind, version LIMIT ?1"

#define ALL_PUBLISHED                                                                              \
    "SELECT " DEFINITION_COLUMNS ", definition FROM definition "                                   \
    "WHERE kind = ?1 AND status IN ('published', 'retired') AND status = 'published' ORDER BY "

/* The same behind a code; `code` is the column in the order of its bytes. */
#define SOME_PUBLISHED(code)                                                                       \
    "SELECT " DEFINITION_COLUMNS ", definition FROM definition "                                   \
    "WHERE kind = ?1 AND status IN ('published', 'retired') AND status = 'published' AND " code    \
    " > ?2 ORDER BY " code " LIMIT ?3"

#define ERROR_CODE_SQLITE "json_extract(error, '$.code')"
#define ERROR_CODE_POSTGRES "error ->> 'code'"
/* What the service that was called says of its failure; its beginning, for it may be anything. */
#define SERVICE_CODE_SQLITE "substr(json_extract(error, '$.details.body.error.code'), 1, 100)"
#define SERVICE_CODE_POSTGRES "substr(error #>> '{details,body,error,code}', 1, 100)"

/* What other strands stand at a step: ?10. The first stands at current_step. */
#define HAS_BRANCHES_SQLITE "has_branches = 1"
#define HAS_BRANCHES_POSTGRES "(cursor -> 'beside') IS NOT NULL"
#define IS_BRANCHED(has_branches) "status = 'waiting' AND " has_branches " AND "
#define BRANCH_STANDS_SQLITE                                                                       \
    HAS_BRANCHES_SQLITE " AND EXISTS (SELECT 1 FROM json_each(cursor, '$.beside') AS b "           \
                        "WHERE b.value ->> '$.step' = ?10)"
#define BRANCH_STANDS_POSTGRES                                                                     \
    HAS_BRANCHES_POSTGRES " AND EXISTS (SELECT 1 FROM json_array_elements(cursor -> 'beside') "    \
                          "AS b (value) WHERE b.value ->> 'step' = ?10)"

/* The error of one that is held, which it has not failed with. */
#define HELD_CODE_SQLITE "json_extract(waiting_for, '$.error.code')"
#define HELD_CODE_POSTGRES "waiting_for -> 'error' ->> 'code'"
#define HELD_SERVICE_SQLITE                                                                        \
    "substr(json_extract(waiting_for, '$.error.details.body.error.code'), 1, 100)"
#define HELD_SERVICE_POSTGRES "substr(waiting_for #>> '{error,details,body,error,code}', 1, 100)"

/*
 * Lists walk one index by row, from the newest down or from the oldest up. ?1
 * limit, ?2 beyond this row, ?3 up to this row; ?17 what is looked for in the
 * index. The statuses in ?7 and the kinds of waits in ?13 stand between spaces.
 */
#define LIST_FILTER(branch, error_code, held_code)                                                 \
    "created_at >= ?4 AND created_at <= ?5 "                                                       \
    "AND (CAST(?6 AS text) IS NULL OR scenario_code = ?6) "                                        \
    "AND (CAST(?7 AS text) IS NULL OR ?7 LIKE '% ' || status || ' %') "                            \
    "AND (CAST(?8 AS text) IS NULL OR business_key = ?8) "                                         \
    "AND (CAST(?9 AS text) IS NULL OR kind = ?9) "                                                 \
    "AND (CAST(?10 AS text) IS NULL OR current_step = ?10 OR (" branch ")) "                       \
    "AND (CAST(?11 AS text) IS NULL OR org_id = ?11) "                                             \
    "AND (CAST(?12 AS text) IS NULL OR CAST(parent_id AS text) = ?12) "                            \
    "AND (CAST(?13 AS text) IS NULL OR ?13 LIKE '% ' || waiting_kind || ' %') "                    \
    "AND (CAST(?14 AS text) IS NULL OR " error_code " = ?14 "                                      \
    "OR (waiting_kind = 'incident' AND " held_code " = ?14)) "                                     \
    "AND (CAST(?15 AS bigint) = 0 OR (deadline_at < ?15 AND completed_at IS NULL)) "               \
    "AND (CAST(?16 AS text) IS NULL OR record = ?16) "                                             \
    "AND deleted_at IS NULL"
#define LIST_FILTER_SQLITE LIST_FILTER(BRANCH_STANDS_SQLITE, ERROR_CODE_SQLITE, HELD_CODE_SQLITE)
#define LIST_FILTER_POSTGRES                                                                       \
    LIST_FILTER(BRANCH_STANDS_POSTGRES, ERROR_CODE_POSTGRES, HELD_CODE_POSTGRES)
#define LIST_FROM "SELECT " EXECUTION_COLUMNS " FROM execution WHERE "
#define LIST_ORDER " ORDER BY row DESC LIMIT ?1"
#define LIST_ORDER_OLDEST " ORDER BY row LIMIT ?1"

/* The row that ?3 rows of an index stand before, beyond ?1 and up to ?2; ?4 is looked for in it. */
#define WINDOW_FROM "SELECT row FROM execution WHERE "
#define WINDOW_NEWEST "row < ?1 AND row >= ?2 ORDER BY row DESC LIMIT 1 OFFSET ?3"
#define WINDOW_OLDEST "row > ?1 AND row <= ?2 ORDER BY row LIMIT 1 OFFSET ?3"

/*
 * The four statements of one index, LIST_name, LIST_name_OLDEST, WINDOW_name and
 * WINDOW_name_OLDEST: what is looked for stands between `before` and `after`.
 */
#define LIST_STATEMENTS(name, sqlite_list, postgres_list, sqlite_window, postgres_window)          \
    SQL_SQLITE(LIST_##name,                                                                        \
               LIST_FROM sqlite_list "row < ?2 AND row >= ?3 AND " LIST_FILTER_SQLITE LIST_ORDER)  \
    SQL_POSTGRES(LIST_##name, LIST_FROM postgres_list                                              \
                 "row < ?2 AND row >= ?3 AND " LIST_FILTER_POSTGRES LIST_ORDER)                    \
    SQL_SQLITE(LIST_##name##_OLDEST, LIST_FROM sqlite_list                                         \
               "row > ?2 AND row <= ?3 AND " LIST_FILTER_SQLITE LIST_ORDER_OLDEST)                 \
    SQL_POSTGRES(LIST_##name##_OLDEST, LIST_FROM postgres_list                                     \
                 "row > ?2 AND row <= ?3 AND " LIST_FILTER_POSTGRES LIST_ORDER_OLDEST)             \
    SQL_SQLITE(WINDOW_##name, WINDOW_FROM sqlite_window WINDOW_NEWEST)                             \
    SQL_POSTGRES(WINDOW_##name, WINDOW_FROM postgres_window WINDOW_NEWEST)                         \
    SQL_SQLITE(WINDOW_##name##_OLDEST, WINDOW_FROM sqlite_window WINDOW_OLDEST)                    \
    SQL_POSTGRES(WINDOW_##name##_OLDEST, WINDOW_FROM postgres_window WINDOW_OLDEST)
#define LIST_INDEX_OF(name, sqlite_column, postgres_column, after)                                 \
    LIST_STATEMENTS(name, sqlite_column " = ?17" after, postgres_column " = ?17" after,            \
                    sqlite_column " = ?4" after, postgres_column " = ?4" after)
#define LIST_INDEX(name, column, after) LIST_INDEX_OF(name, column, column, after)

/* Of the newest executions that meet the condition, those that are to be counted, by `value`. */
#define SUMMARY_OF(value, service, condition, counted)                                             \
    "SELECT scenario_code, scenario_version, org_id, status, value, count(*), service FROM "       \
    "(SELECT scenario_code, scenario_version, org_id, status, " value " AS value, " service        \
    " AS service FROM execution WHERE " condition ") AS found WHERE " counted                      \
    " GROUP BY scenario_code, scenario_version, org_id, status, value, service"
#define SUMMARY(name, sqlite_value, sqlite_service, postgres_value, postgres_service, condition,   \
                counted)                                                                           \
    SQL_SQLITE(SUMMARY_##name, SUMMARY_OF(sqlite_value, sqlite_service, condition, counted))       \
    SQL_POSTGRES(SUMMARY_##name, SUMMARY_OF(postgres_value, postgres_service, condition, counted))
#define NO_SERVICE "CAST(NULL AS text)"

/* The same for dead letters: ?10 is looked for in the index. */
#define LETTER_COLUMNS                                                                             \
    "row, id, (SELECT id FROM execution WHERE row = d.execution), kind, scenario_code, org_id, "   \
    "step_code, status, attempts, cause, payload, note, resolved_by, created_at, resolved_at, "    \
    "(SELECT scenario_version FROM execution WHERE row = d.execution), "                           \
    "(SELECT business_key FROM execution WHERE row = d.execution), "                               \
    "(SELECT status FROM history WHERE key = d.sent), "                                            \
    "(SELECT idempotency_key FROM history WHERE key = d.sent), "                                   \
    "CASE WHEN payload IS NULL THEN (SELECT input FROM history WHERE key = d.sent) END"
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

/* Messages, newest first: ?1 limit, below row ?2; then filters; ?8 is looked for in the index. */
#define OUTBOX_COLUMNS                                                                             \
    "row, id, (SELECT id FROM execution WHERE row = o.execution), kind, destination, name, "       \
    "status, attempts, next_at, error, org_id, created_at, is_late, letter, "                      \
    "(SELECT scenario_code FROM execution WHERE row = o.execution), "                              \
    "(SELECT scenario_version FROM execution WHERE row = o.execution), "                           \
    "CASE WHEN next_at IS NULL THEN 1 ELSE 0 END"
#define OUTBOX_WHERE(condition)                                                                    \
    "SELECT " OUTBOX_COLUMNS " FROM outbox AS o WHERE " condition                                  \
    "row < ?2 AND (CAST(?3 AS text) IS NULL OR kind = ?3) "                                        \
    "AND (CAST(?4 AS text) IS NULL OR destination = ?4) "                                          \
    "AND (CAST(?5 AS text) IS NULL OR status = ?5) "                                               \
    "AND (CAST(?6 AS text) IS NULL OR org_id = ?6) AND row >= ?7" LIST_ORDER

/* What people call the process of the execution e. */
#define PROCESS_NAME                                                                               \
    "(SELECT name FROM definition WHERE kind = e.kind AND code = e.scenario_code AND "             \
    "version = e.scenario_version)"

/* A wait that people answer, with its execution. */
#define WAIT_COLUMNS                                                                               \
    "w.row, e.id, e.scenario_code, e.scenario_version, e.org_id, w.step_code, w.visit, w.title, "  \
    "w.form, w.types, w.assignee, w.is_public, w.opened_at, w.until_at, e.business_key, "          \
    "w.link_scopes, w.links_from, w.facts, w.consequences, w.time_up, w.execution, "               \
    "e.created_by, " PROCESS_NAME

/*
 * Executions with notices, in the order of their rows, from ?1 on, ?2 at most; with 2, rows of
 * executions that are not there. SQLite takes d in the order in which it is made, and LEFT JOIN
 * leaves it outermost: it needs no sorting.
 */
#define NOTICED_EXECUTIONS                                                                         \
    "WITH RECURSIVE d(x, i) AS (SELECT min(execution), 1 FROM execution_events "                   \
    "WHERE execution > ?1 UNION ALL SELECT (SELECT min(execution) FROM execution_events "          \
    "WHERE execution > d.x), d.i + 1 "                                                             \
    "FROM d WHERE d.x IS NOT NULL AND d.i < ?2) "                                                  \
    "SELECT coalesce(CAST(e.id AS text), '00000000-0000-0000-0000-000000000000'), d.x, "           \
    "CASE WHEN e.row IS NULL THEN 2 WHEN e.deleted_at IS NULL AND e.crash_count < 5 "              \
    "AND coalesce(e.waiting_kind, '-') <> 'paused' AND EXISTS (SELECT 1 FROM execution_events v "  \
    "WHERE v.execution = d.x AND (v.kind <> 'join' OR "                                            \
    "e.status IN ('completed', 'failed', 'cancelled'))) THEN 1 ELSE 0 END "
/* Whether a type of signals is among those of a wait: a JSON text, or a list of such texts. */
#define SQLITE_TYPE_IS_ONE_OF(types, type)                                                         \
    "EXISTS (SELECT 1 FROM json_each(" types ") AS known WHERE known.value = " type ")"
#define POSTGRES_TYPE_IS_ONE_OF(types, type)                                                       \
    "CAST(" types " AS jsonb) @> to_jsonb(CAST(" type " AS text))"
/* ?1 org, ?2 correlation, ?3 behind this row, ?4 a type of signals. */
#define WAIT_FIND_WHERE(type_is_one_of)                                                            \
    "SELECT row, (SELECT id FROM execution WHERE row = w.execution) FROM waits AS w "              \
    "WHERE org_id = ?1 AND correlation = ?2 AND correlation IS NOT NULL AND row > ?3 "             \
    "AND " type_is_one_of("w.types", "?4") " ORDER BY row LIMIT 1"
/* ?1 org, ?2 correlation, ?3 behind this row, ?4 the time, ?5 the types of a wait. */
#define KEPT_AFTER_WHERE(type_is_one_of)                                                           \
    "SELECT row FROM correlated_signals WHERE org_id = ?1 AND correlation = ?2 "                   \
    "AND correlation IS NOT NULL AND row > ?3 AND expires_at > ?4 "                                \
    "AND " type_is_one_of("?5", "correlated_signals.type") " LIMIT 1"
#define CORRELATED_FIND_BY_ID                                                                      \
    "SELECT row, digest, execution_id, expires_at, correlation FROM correlated_signals "           \
    "WHERE org_id = ?1 AND signal_id = ?2"
/* ?1 what has expired by now, ?2 at most. */
#define CORRELATED_PURGE(condition)                                                                \
    "DELETE FROM correlated_signals WHERE row IN (SELECT row FROM correlated_signals "             \
    "WHERE " condition "expires_at <= ?1 ORDER BY expires_at LIMIT ?2)"

/* An id that half a million executions are newer than: what is looked through has an end. */
#define OLD_ID                                                                                     \
    "SELECT id FROM execution WHERE row < (SELECT max(row) FROM execution) - 500000 "              \
    "ORDER BY row DESC LIMIT 1"

#define SURVEY_SEALED_OF(sealed)                                                                   \
    "SELECT " sealed " FROM definition WHERE kind IN ('credential', 'subscription') "              \
    "AND status IN ('published', 'retired') AND " sealed " IS NOT NULL LIMIT 1"
#define SURVEY_CHILD_ENDED "c.status IN ('completed', 'failed', 'cancelled') AND c.updated_at < ?1"
#define SURVEY_ASLEEP_OF(child, branches, branch_child)                                            \
    "SELECT count(*), max(CAST(e.id AS text)) FROM execution e "                                   \
    "WHERE " IS_LIVE(                                                                              \
        "e.") " AND e.updated_at < ?1 "                                                            \
              "AND e.crash_count < 5 "                                                             \
              "AND NOT EXISTS (SELECT 1 FROM execution_events v WHERE v.execution = e.row "        \
              "AND v.kind <> 'join') "                                                             \
              "AND ((e.wake_at IS NULL AND (e.status NOT IN ('waiting', 'waiting_debug') "         \
              "OR e.waiting_for->>'kind' IN ('timer', 'retry'))) "                                 \
              "OR (e.status = 'waiting' AND e.waiting_for->>'kind' = 'child' "                     \
              "AND EXISTS (SELECT 1 FROM execution c WHERE c.id = " child                          \
              " AND " SURVEY_CHILD_ENDED "))"                                                      \
              "OR (e.status = 'waiting' AND EXISTS (SELECT 1 FROM " branches " AS b, execution c " \
              "WHERE b.value->>'kind' = 'child' AND c.id = " branch_child                          \
              " AND " SURVEY_CHILD_ENDED ")))"

#endif
