/* planner_make.c - a new task, held against the store and written; see planner_rows.h. */
#include "store/db/db.h"
#include "store/planner/planner_rows.h"
#include "store/store.h"
#include "store/write/apply.h"

void task_lay_over(struct task *t, struct value body)
{
    static const struct {
        const char *name;
        size_t at;
    } texts[] =
        {
            {"project_id", offsetof(struct task, project_id)},
            {"title", offsetof(struct task, title)},
            {"description", offsetof(struct task, description)},
            {"required_trade", offsetof(struct task, required_trade)},
            {"deliverable_id", offsetof(struct task, deliverable_id)},
        },
      numbers[] = {
          {"min_skill", offsetof(struct task, min_skill)},
          {"priority", offsetof(struct task, priority)},
          {"due_at_us", offsetof(struct task, due_at_us)},
      };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct value v = value_map_get_str(body, str_of(texts[i].name));
        if (v.kind != VALUE_ABSENT)
            *(struct str *)((char *)t + texts[i].at) = value_text_or(v, STR_NONE);
    }
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        struct value v = value_map_get_str(body, str_of(numbers[i].name));
        if (v.kind != VALUE_ABSENT)
            *(int64_t *)((char *)t + numbers[i].at) = v.kind == VALUE_INT ? v.i : 0;
    }
}

bool task_has_deliverable(struct planner_work *w, struct str id, bool *found)
{
    *found = true;
    if (id.len == 0)
        return true;
    return apply_finds(w->a, SQL_DELIVERABLE_FIND,
                       DB_PARAMS(db_text(id), db_text(w->change->org_id)), found);
}

/*
 * Count the dependencies that are not done. *unknown is set when one of them
 * is no task of the organisation.
 */
static bool count_unmet(struct planner_work *w, struct value depends_on, struct task *t,
                        struct str *unknown)
{
    *unknown = STR_NONE;
    for (uint32_t i = 0; depends_on.kind == VALUE_LIST && i < depends_on.len; i++) {
        struct task other;
        bool found;

        if (!task_load(w, t->org_id, value_text(depends_on.items[i]), &other, &found))
            return false;
        if (!found) {
            *unknown = value_text(depends_on.items[i]);
            return true;
        }
        if (other.status != TASK_DONE)
            t->unmet_dependencies++;
    }
    return true;
}

static bool write_dependencies(struct planner_work *w, struct str id, struct value depends_on)
{
    for (uint32_t i = 0; depends_on.kind == VALUE_LIST && i < depends_on.len; i++)
        if (!apply_write(w->a, SQL_DEPENDENCY_PUT,
                         DB_PARAMS(db_text(id), db_text(value_text(depends_on.items[i])),
                                   db_text_or_null(w->change->actor.id),
                                   db_int(w->change->change.now_us))))
            return false;
    return true;
}

enum apply_result task_prepare(struct planner_work *w, struct value body, struct task *t)
{
    struct planner_change *c = w->change;
    struct str unknown;
    bool found;

    t->org_id = c->org_id;
    t->created_by = c->actor.id;
    task_lay_over(t, body);
    t->depends_on = value_map_get_str(body, STR("depends_on"));
    if (!task_has_deliverable(w, t->deliverable_id, &found) ||
        !count_unmet(w, value_map_get_str(body, STR("depends_on")), t, &unknown))
        return APPLY_FAILED;
    if (!found) {
        c->field = "deliverable_id";
        return planner_refuse_with(w, ERR_VALIDATION_ERROR, "there is no such deliverable");
    }
    if (unknown.len > 0) {
        c->field = "depends_on";
        return planner_refuse_with(w, ERR_VALIDATION_ERROR, "there is no task %.*s to depend on",
                                   (int)(unknown.len < 60 ? unknown.len : 60), unknown.ptr);
    }
    return APPLY_DONE;
}

bool task_write(struct planner_work *w, struct value body, struct task *t)
{
    return task_insert(w, t) &&
           write_dependencies(w, t->id, value_map_get_str(body, STR("depends_on")));
}

enum apply_result task_make(struct planner_work *w, struct value body, struct task *t)
{
    enum apply_result end;

    t->id = planner_new_id(w);
    end = task_prepare(w, body, t);
    if (end != APPLY_DONE || w->m->result != MEMBER_APPLIED)
        return end;
    return apply_done_if(task_write(w, body, t));
}
