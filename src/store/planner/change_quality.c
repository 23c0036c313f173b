/*
 * change_quality.c - defects, the tasks that fix them, deliverables and their
 * inspections; see planner.h. None of it moves a task.
 */
#include "store/planner/planner_rows.h"

#include "store/db/db.h"
#include "store/store.h"
#include "store/write/apply.h"
#include "value/json.h"
#include "value/object.h"

/* --- fixes --- */

static bool insert_fix_task(struct planner_work *w, struct fix_new *fix)
{
    struct task t = {.id = planner_new_id(w),
                     .org_id = w->change->org_id,
                     .created_by = w->change->actor.id,
                     .project_id = fix->project_id,
                     .required_trade = fix->required_trade,
                     .deliverable_id = fix->deliverable_id,
                     .title = fix->title,
                     .description = fix->what_to_fix.len > 0 ? fix->what_to_fix : fix->description};

    if (fix->of != NULL) {
        t.project_id = fix->of->project_id;
        t.required_trade = fix->of->required_trade;
        t.min_skill = fix->of->min_skill;
        t.priority = fix->of->priority;
        t.deliverable_id = fix->of->deliverable_id;
        t.fix_of_task_id = fix->of->id;
        if (t.title.len == 0)
            t.title = str_printf(w->a->mem, "Fix: %.*s", STR_ARG(fix->of->title));
    }
    if (t.title.len == 0)
        t.title = str_printf(w->a->mem, "Fix: %.*s", STR_ARG(fix->description));
    fix->task_id = t.id;
    return task_insert(w, &t);
}

bool planner_make_fix(struct planner_work *w, struct fix_new *fix)
{
    if (fix->makes_task && !insert_fix_task(w, fix))
        return false;
    fix->defect_id = planner_new_id(w);
    return apply_write(
        w->a, SQL_DEFECT_PUT,
        DB_PARAMS(db_text(fix->defect_id), db_text(w->change->org_id),
                  fix->of != NULL ? db_text(fix->of->id) : db_null(),
                  db_text_or_null(fix->of != NULL ? fix->of->deliverable_id : fix->deliverable_id),
                  db_text_or_null(fix->inspection_id), db_text_or_null(fix->task_id),
                  db_text(fix->description), db_text_or_null(fix->what_to_fix),
                  db_text(w->change->actor.id), db_int(w->change->change.now_us)));
}

/* What the body says of a defect. */
static struct fix_new fix_of_body(const struct planner_change *c)
{
    return (struct fix_new){.description = body_str(c, "description"),
                            .what_to_fix = body_str(c, "what_to_fix"),
                            .title = body_str(c, "title")};
}

enum apply_result planner_defect_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct fix_new fix = fix_of_body(w.change);
    struct task t;
    enum apply_result end;

    if (!planner_take_task(&w, &t, &end))
        return end;
    fix.of = &t;
    return apply_done_if(
        planner_make_fix(&w, &fix) &&
        planner_answer_row(&w, 201, PLANNER_DEFECTS, w.change->org_id, fix.defect_id));
}

/* {task, defect} */
enum apply_result planner_fix_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    struct fix_new fix = fix_of_body(c);
    struct task t;
    struct buf json;
    enum apply_result end;

    if (!planner_take_managed(&w, "create fixes", &t, &end))
        return end;
    if (t.status != TASK_SUBMITTED && t.status != TASK_DONE)
        return planner_refuse_with(&w, ERR_TRANSITION_NOT_ALLOWED,
                                   "a fix is made of a task that is submitted or done; this one "
                                   "is %s",
                                   task_status_name(t.status));
    fix.of = &t;
    fix.makes_task = true;
    buf_init_arena(&json, a->mem);
    buf_text(&json, "{\"task\":");
    if (!planner_make_fix(&w, &fix) || !planner_show_task(&w, &json, c->org_id, fix.task_id) ||
        !planner_answer_row(&w, 201, PLANNER_DEFECTS, c->org_id, fix.defect_id))
        return APPLY_FAILED;
    object_json(&json, "defect", c->change.answer_json);
    buf_char(&json, '}');
    c->change.answer_json = buf_view(&json);
    return APPLY_DONE;
}

/* --- deliverables and inspections --- */

enum apply_result planner_deliverable_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    struct str id = planner_new_id(&w);

    if (!actor_manages(c->actor.role))
        return planner_forbid(&w, "create deliverables");
    return apply_done_if(apply_write(a, SQL_DELIVERABLE_PUT,
                                     DB_PARAMS(db_text(id), db_text(c->org_id),
                                               db_text_or_null(body_str(c, "project_id")),
                                               db_text(body_str(c, "title")),
                                               db_text_or_null(body_str(c, "description")),
                                               db_text(c->actor.id), db_int(c->change.now_us))) &&
                         planner_answer_row(&w, 201, PLANNER_DELIVERABLES, c->org_id, id));
}

/* A defect, and a task that fixes it, where the inspection asks for them. */
static bool make_inspection_fix(struct planner_work *w, struct fix_new *fix)
{
    struct value defect = body_value(w->change, "defect");

    fix->makes_task = value_is_true(body_value(w->change, "create_fix"));
    if (defect.kind != VALUE_MAP && !fix->makes_task)
        return true;
    fix->description = value_map_text(defect, STR("description"));
    fix->what_to_fix = value_map_text(defect, STR("what_to_fix"));
    if (fix->description.len == 0)
        fix->description = body_str(w->change, "notes");
    if (fix->description.len == 0)
        fix->description = STR("found by an inspection");
    return planner_make_fix(w, fix);
}

enum apply_result planner_inspect_apply(struct apply *a, struct member *m)
{
    struct planner_work w = planner_begin(a, m);
    struct planner_change *c = w.change;
    struct fix_new fix = {.deliverable_id = c->id, .inspection_id = planner_new_id(&w)};
    struct buf measurements;
    struct err err;
    bool found;

    a->status = db_run(a->db, SQL_DELIVERABLE_FIND, DB_PARAMS(db_text(c->id), db_text(c->org_id)));
    found = a->status == DB_ROW;
    if (found)
        fix.project_id = db_column_copy(a->db, a->mem, SQL_DELIVERABLE_FIND, 0);
    db_end(a->db, SQL_DELIVERABLE_FIND);
    if (a->status > DB_DONE)
        return APPLY_FAILED;
    if (!found)
        return planner_refuse_with(&w, ERR_NOT_FOUND, "there is no such deliverable");
    if (!actor_manages(c->actor.role))
        return planner_forbid(&w, "inspect deliverables");
    buf_init_arena(&measurements, a->mem);
    if (body_value(c, "measurements").kind != VALUE_ABSENT &&
        !json_write(&measurements, body_value(c, "measurements"), &err))
        return planner_refuse_with(&w, ERR_VALIDATION_ERROR, "%pS", ERR_ARG(&err));
    return apply_done_if(
        make_inspection_fix(&w, &fix) &&
        apply_write(a, SQL_INSPECTION_PUT,
                    DB_PARAMS(db_text(fix.inspection_id), db_text(c->org_id), db_text(c->id),
                              db_text(body_str(c, "result")),
                              db_text_or_null(buf_view(&measurements)),
                              db_text_or_null(body_str(c, "notes")), db_text_or_null(fix.defect_id),
                              db_text_or_null(fix.task_id), db_text(c->actor.id),
                              db_int(c->change.now_us))) &&
        planner_answer_row(&w, 201, PLANNER_INSPECTIONS, c->id, fix.inspection_id));
}
