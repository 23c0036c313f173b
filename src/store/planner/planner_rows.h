/* planner_rows.h - rows of the planner, read and written by its changes. Internal to src/store. */
#ifndef PAWL_STORE_PLANNER_PLANNER_ROWS_H
#define PAWL_STORE_PLANNER_PLANNER_ROWS_H

#include "store/read_planner.h"
#include "store/write/change_apply.h"

/* What the functions of one change share. False from any of them: a->status says why. */
struct planner_work {
    struct apply *a;
    struct member *m;
    struct planner_change *change;
    unsigned ids;                   /* how many were made */
    struct task_transition rows[2]; /* that were logged and not announced yet: task_save() does */
    size_t row_count;
};

static inline struct planner_work planner_begin(struct apply *a, struct member *m)
{
    m->change->notified = (struct executions_notified){0};
    return (struct planner_work){.a = a, .m = m, .change = (struct planner_change *)m->change};
}

/* The next id of this change, the same whenever its batch is repeated. */
struct str planner_new_id(struct planner_work *w);

/* Refuse the change with what a decision says. */
enum apply_result planner_refuse(struct planner_work *w, const struct task_decision *d);

/* The same with a code and a sentence. */
#define planner_refuse_with(w, code, ...) apply_refuse_with((w)->a, (w)->m, code, __VA_ARGS__)

/* Refuse: the actor's role may not do that. */
enum apply_result planner_forbid(struct planner_work *w, const char *what);

/* The current row of a statement that reads TASK_COLUMNS. False: the row is damaged. */
bool task_row(struct db *db, struct arena *mem, enum sql sql, struct task *out) MUST_USE;

/* Lock a task and read it. */
bool task_load(struct planner_work *w, struct str org_id, struct str id, struct task *out,
               bool *found) MUST_USE;

/*
 * The task of the path, locked and read. False: *end is what the change answers,
 * which is ERR_NOT_FOUND where the organisation has no such task. The second is
 * for who manages tasks; others are refused as may not do `what`.
 */
bool planner_take_task(struct planner_work *w, struct task *out, enum apply_result *end) MUST_USE;
bool planner_take_managed(struct planner_work *w, const char *what, struct task *out,
                          enum apply_result *end) MUST_USE;

/* Lock a person and read what guards ask of it. `person->id` says who. */
bool person_load(struct planner_work *w, struct str org_id, struct planner_person *person) MUST_USE;

bool policy_load(struct db *db, struct str org_id, struct planner_policy *out,
                 enum db_status *status) MUST_USE;

/* The same, if it was not gathered: facts.h. */
bool policy_find(struct planner_work *w, struct str org_id, struct planner_policy *out) MUST_USE;

/* The columns PERSON_COLUMNS of a row, from `first` on, and POLICY_COLUMNS. is_known: active. */
struct planner_person person_of_row(struct db *db, struct arena *mem, enum sql sql, unsigned first);
struct planner_policy policy_of_row(struct db *db, enum sql sql);

/* The payload of a submission as it is stored, or empty. */
struct str task_result_json(struct arena *mem, struct value result);

/* Nobody contributes to a task any more. */
bool contributors_drop(struct planner_work *w, struct str task_id) MUST_USE;

/* The rows of a statement: ids, with their organisation where there are two columns. */
bool planner_names(struct planner_work *w, enum sql sql, const struct db_value *params,
                   unsigned count, bool has_org, struct task_names *out) MUST_USE;

/* What the row of a person says; `status` is what the statement answered. */
void person_row(struct db *db, struct arena *mem, struct str org_id, enum db_status status,
                struct planner_person *person);

/* Make a task; it is available when nothing blocks it. */
bool task_insert(struct planner_work *w, struct task *t) MUST_USE;

/* --- planner_make.c --- */

/* Fields of a body laid over a task. Their kinds were checked. */
void task_lay_over(struct task *t, struct value body);

/* A deliverable that is named must be of the organisation. */
bool task_has_deliverable(struct planner_work *w, struct str id, bool *found) MUST_USE;

/*
 * What a body makes of a new task, held against the store: APPLY_DONE, unless w->m is refused.
 * Nothing is written.
 */
enum apply_result task_prepare(struct planner_work *w, struct value body, struct task *t);

/* Write a task that was prepared, and what it depends on. */
bool task_write(struct planner_work *w, struct value body, struct task *t) MUST_USE;

/* Both; an id is made for it. */
enum apply_result task_make(struct planner_work *w, struct value body, struct task *t);

/* --- apply_task.c --- */

/* A payload of one text. */
struct value payload_of_text(struct arena *mem, const char *name, struct str text);

/* Tell the execution that waits for the task how it stands. */
bool task_notify(struct planner_work *w, const struct task *t, bool has_expired) MUST_USE;

/* Hold the payload of a submission against the form of the task: facts and findings say more. */
void task_check_form(struct planner_work *w, struct task_facts *f);

/* --- tell_task.c --- */

/* Tell whoever wants it the event task.`what`; `row` may be NULL. */
bool task_announce(struct planner_work *w, const char *what, const struct task *t,
                   const struct task_transition *row) MUST_USE;

/* The same for the rows that were logged since the task was saved last. */
bool task_announce_rows(struct planner_work *w, const struct task *t) MUST_USE;

/* --- planner_rows.c --- */

/* Write a row of the log, whose id is given here. */
bool task_log(struct planner_work *w, struct str org_id, struct task_transition *row) MUST_USE;

/*
 * Write what transitions change; `before` is the version that is stored. The execution that waits
 * for a task which has ended is notified.
 */
bool task_save(struct planner_work *w, const struct task *t, int64_t before) MUST_USE;

/* Look at a task again: block or open it. *moved, if not NULL, tells whether that was so. */
bool task_reexamine(struct planner_work *w, struct str org_id, struct str id, bool *moved) MUST_USE;

/* Look at all tasks that depend on this one. */
bool task_reexamine_successors(struct planner_work *w, const struct task *t) MUST_USE;

/* Answer with a task as the actor sees it. */
bool planner_answer_task(struct planner_work *w, int32_t http_status, struct str org_id,
                         struct str id) MUST_USE;

/* The same with one that was just made; nothing of it is read again, unless it depends on others. */
bool planner_answer_made(struct planner_work *w, int32_t http_status,
                         const struct task *t) MUST_USE;

/* Append a task as a JSON object, as the actor sees it; its row is read again. */
bool planner_show_task(struct planner_work *w, struct buf *out, struct str org_id,
                       struct str id) MUST_USE;

/* Answer with a row of a list (read_planner.c); if there is none, *found is false. */
bool planner_answer_found(struct planner_work *w, int32_t http_status, enum planner_list list,
                          struct str owner, struct str id, bool *found) MUST_USE;

/* The same for a row that is there. */
bool planner_answer_row(struct planner_work *w, int32_t http_status, enum planner_list list,
                        struct str owner, struct str id) MUST_USE;

/* The current row of a list as a JSON object, which shows the columns from the second one on. */
void planner_row_show(struct db *db, enum planner_list list, enum sql sql, struct buf *out);
enum sql planner_list_one(enum planner_list list);

/* A fix task with its defect, made of a rejected or finished task, or of an inspection. */
struct fix_new {
    const struct task *of; /* or NULL: of an inspection */
    struct str deliverable_id, inspection_id, project_id;
    struct str title, description, what_to_fix;
    struct str required_trade;     /* of an inspection */
    bool makes_task;               /* a fix task as well */
    struct str task_id, defect_id; /* out */
};
bool planner_make_fix(struct planner_work *w, struct fix_new *fix) MUST_USE;

/* Fields of the body. */
struct str body_str(const struct planner_change *c, const char *name);
struct value body_value(const struct planner_change *c, const char *name);

#endif
