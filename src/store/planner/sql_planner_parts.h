/* sql_planner_parts.h - what several statements of sql_planner.def share. */
#ifndef PAWL_STORE_PLANNER_SQL_PLANNER_PARTS_H
#define PAWL_STORE_PLANNER_SQL_PLANNER_PARTS_H

/* All of a task; `now` is the time, by which holds have ended or not. */
#define TASK_OWN_COLUMNS_AT(now)                                                                   \
    "t.row, t.id, t.org_id, t.project_id, t.title, t.description, t.required_trade, t.min_skill, " \
    "t.priority, t.deliverable_id, t.due_at, t.status, t.row_version, t.assigned_to, "             \
    "t.assigned_by, t.assigned_at, t.started_at, t.submitted_at, t.reviewed_by, t.reviewed_at, "   \
    "t.reject_reason, t.recall_reason, t.cancel_reason, t.handover_note, t.self_checked, "         \
    "t.had_owner, t.needs_attention, t.fix_of_task_id, t.parent_task_id, t.execution_id, "         \
    "t.created_by, t.created_at, t.updated_at, "                                                   \
    "(SELECT count(*) FROM task_dependencies d JOIN tasks p ON p.id = d.depends_on "               \
    "WHERE d.task_id = t.id AND p.status <> 'done'), "                                             \
    "(SELECT count(*) FROM task_holds h WHERE h.task_id = t.id AND h.released_at IS NULL AND "     \
    "(h.until IS NULL OR h.until > " now ")), "                                                    \
    "(SELECT count(*) FROM defects f WHERE f.fix_task_id = t.id), "
#define TASK_COLUMNS_SQLITE                                                                        \
    TASK_OWN_COLUMNS "(SELECT json_group_array(depends_on) FROM (SELECT depends_on FROM "          \
                     "task_dependencies d WHERE d.task_id = t.id ORDER BY depends_on)), "          \
                     "(SELECT json_group_array(user_id) FROM (SELECT user_id FROM "                \
                     "task_contributors c WHERE c.task_id = t.id ORDER BY user_id)), "             \
                     "t.form, t.result, t.is_awaited"
#define TASK_OWN_COLUMNS TASK_OWN_COLUMNS_AT("CAST(?1 AS bigint)")
#define TASK_COLUMNS_POSTGRES TASK_COLUMNS_POSTGRES_AT("CAST(?1 AS bigint)")
#define TASK_COLUMNS_POSTGRES_AT(now)                                                              \
    TASK_OWN_COLUMNS_AT(now)                                                                       \
    "(SELECT coalesce(json_agg(depends_on ORDER BY depends_on), '[]') FROM "                       \
    "task_dependencies d WHERE d.task_id = t.id), "                                                \
    "(SELECT coalesce(json_agg(user_id ORDER BY user_id), '[]') FROM "                             \
    "task_contributors c WHERE c.task_id = t.id), t.form, t.result, t.is_awaited"

/* Of a new task. */
#define TASK_NEW_COLUMNS                                                                           \
    "id, org_id, project_id, title, description, required_trade, min_skill, priority, "            \
    "deliverable_id, due_at, status, row_version, fix_of_task_id, parent_task_id, execution_id, "  \
    "created_by, created_at, form, is_awaited, updated_at, self_checked, had_owner, "              \
    "needs_attention"

/* Tasks that fill the hands of their owner, in the words of the index tasks_one_of_an_owner. */
#define TASK_IS_OWNED(t)                                                                           \
    "(" t "status = 'assigned' OR " t "status = 'in_progress' OR " t "status = 'submitted')"

/* What guards ask of a person, and of an organisation. */
#define PERSON_COLUMNS                                                                             \
    "u.role, u.skill_level, u.specializations, u.active, "                                         \
    "(SELECT count(*) FROM tasks w WHERE w.assigned_to = u.id AND " TASK_IS_OWNED("w.") ")"
#define POLICY_COLUMNS                                                                             \
    "min_skill_to_take, self_check_min_skill, min_skill_to_invite, allow_trade_override"

/* SQL_ROWS of tasks as transitions leave them; see facts.h. */
#define TASKS_MOVED(symbol)                                                                        \
    SQL_ROWS(symbol, true, "ititttiiitittttiiiiti", NULL,                                          \
             ALL_OR_FAIL("UPDATE tasks e SET row_version = u.row_version, status = u.status, "     \
                         "assigned_to = u.assigned_to, assigned_by = u.assigned_by, "              \
                         "assigned_at = u.assigned_at, started_at = u.started_at, "                \
                         "submitted_at = u.submitted_at, reviewed_by = u.reviewed_by, "            \
                         "reviewed_at = u.reviewed_at, reject_reason = u.reject_reason, "          \
                         "recall_reason = u.recall_reason, cancel_reason = u.cancel_reason, "      \
                         "handover_note = u.handover_note, self_checked = u.self_checked, "        \
                         "had_owner = u.had_owner, needs_attention = u.needs_attention, "          \
                         "updated_at = u.updated_at, result = u.result, "                          \
                         "is_awaited = u.is_awaited FROM (SELECT ?*) AS u(before, id, "            \
                         "row_version, status, assigned_to, assigned_by, assigned_at, "            \
                         "started_at, submitted_at, reviewed_by, reviewed_at, reject_reason, "     \
                         "recall_reason, cancel_reason, handover_note, self_checked, had_owner, "  \
                         "needs_attention, updated_at, result, is_awaited) "                       \
                         "WHERE e.id = u.id AND e.row_version = u.before"))

/*
 * A list of tasks, the newest first, along one index; ?11 is what that index is asked for.
 * ?8 is -1 for all of them, 0 or 1; ?9 is 0 for all, the time for those that are overdue, and
 * the negative time for those that are not.
 */
#define TASKS_LIST_REST                                                                            \
    " AND t.row < ?3 AND (CAST(?4 AS text) IS NULL OR t.status = ?4) "                             \
    "AND (CAST(?5 AS text) IS NULL OR t.project_id = ?5) "                                         \
    "AND (CAST(?6 AS text) IS NULL OR t.assigned_to = ?6) "                                        \
    "AND (CAST(?7 AS text) IS NULL OR t.required_trade = ?7) "                                     \
    "AND (CAST(?8 AS bigint) < 0 OR t.needs_attention = ?8) "                                      \
    "AND CASE WHEN t.due_at < abs(CAST(?9 AS bigint)) AND t.status NOT IN ('done', 'canceled') "   \
    "THEN ?9 >= 0 ELSE ?9 <= 0 END "                                                               \
    "AND (CAST(?10 AS text) IS NULL OR t.id LIKE ?13 OR "
/* Letters of both cases are the same, in every script that fold.h knows, whatever the locale. */
#define TASKS_FOLDED_SQLITE "fold(t.title) LIKE ?10) "
#define TASKS_FOLDED_POSTGRES "translate(t.title, '" FOLD_CAPITALS "', '" FOLD_SMALL "') LIKE ?10) "
#define TASKS_LIST(symbol, where)                                                                  \
    SQL_SQLITE(symbol, "SELECT " TASK_COLUMNS_SQLITE                                               \
                       " FROM tasks t WHERE " where TASKS_LIST_REST TASKS_FOLDED_SQLITE            \
                       "AND CAST(?11 AS text) IS NOT NULL ORDER BY t.row DESC LIMIT ?12")          \
    SQL_POSTGRES(symbol, "SELECT " TASK_COLUMNS_POSTGRES                                           \
                         " FROM tasks t WHERE " where TASKS_LIST_REST TASKS_FOLDED_POSTGRES        \
                         "AND CAST(?11 AS text) IS NOT NULL ORDER BY t.row DESC LIMIT ?12")

/* Rows that belong to something, the newest first, and one of them. */
#define PLANNER_ROWS(symbol, columns, table, owner)                                                \
    SQL(symbol##_ROWS, "SELECT row, id, " columns " FROM " table " WHERE " owner                   \
                       " = ?1 AND row < ?2 ORDER BY row DESC LIMIT ?3")                            \
    SQL(symbol##_ONE, "SELECT row, id, " columns " FROM " table " WHERE " owner " = ?1 AND id = "  \
                      "?2")

/* Shifts of an organisation with their members. */
#define SHIFT_COLUMNS                                                                              \
    "SELECT s.row, s.id, s.org_id, s.name, s.starts_at, s.ends_at, s.ended_at, s.ended_by, "       \
    "s.created_by, s.created_at, "
#define SHIFTS_LIST(symbol, where)                                                                 \
    SQL_SQLITE(symbol,                                                                             \
               SHIFT_COLUMNS "(SELECT json_group_array(user_id) FROM (SELECT user_id "             \
                             "FROM shift_members m WHERE m.shift_id = s.id ORDER BY user_id)) "    \
                             "FROM shifts s WHERE s.org_id = ?1 AND " where)                       \
    SQL_POSTGRES(symbol, SHIFT_COLUMNS "(SELECT coalesce(json_agg(user_id ORDER BY user_id), "     \
                                       "'[]') FROM shift_members m WHERE m.shift_id = s.id) "      \
                                       "FROM shifts s WHERE s.org_id = ?1 AND " where)

#endif
