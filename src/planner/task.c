/* task.c - see task.h. */
#include "planner/task.h"

#include "value/json.h"
#include "value/object.h"

#include <stdlib.h>

bool task_has_contributor(const struct task *t, struct str user_id)
{
    return value_list_has_text(t->contributors, user_id);
}

/* --- transitions --- */

static void clear_owner(struct task *t)
{
    t->assigned_to = t->assigned_by = STR_NONE;
    t->assigned_at_us = t->started_at_us = t->submitted_at_us = 0;
    t->contributors = value_list(NULL, 0);
}

static void set_owner(struct task *t, const struct task_transition *row, struct str assigned_by)
{
    t->assigned_to = row->action == TASK_ACTION_ASSIGN
                         ? value_map_text(row->payload, STR("assign_to"))
                         : row->actor_id;
    t->assigned_by = assigned_by;
    t->assigned_at_us = row->created_at_us;
    t->had_owner = true;
    t->recall_reason = STR_NONE;
}

void task_move(struct task *t, const struct task_transition *row)
{
    struct task_step step = {.to = row->to};
    int64_t now_us = row->created_at_us;

    /* The effects are those of the action; where it leads stands in the row. */
    if (!task_fsm(row->from, row->action, row->to == TASK_AVAILABLE, &step))
        step.effects = 0;
    t->status = row->to;
    t->row_version = row->result_row_version;
    t->updated_at_us = now_us;
    if (step.effects & EFFECT_CLEAR)
        clear_owner(t);
    if (step.effects & EFFECT_OWNER)
        set_owner(t, row, step.effects & EFFECT_ASSIGNER ? row->actor_id : STR_NONE);
    if (step.effects & EFFECT_STARTED)
        t->started_at_us = now_us;
    if (step.effects & EFFECT_SUBMITTED) {
        t->submitted_at_us = now_us;
        t->result = row->payload;
    }
    if (step.effects & EFFECT_REVIEWED) {
        t->self_checked = str_eq(row->actor_id, t->assigned_to);
        t->reviewed_by = t->self_checked ? STR_NONE : row->actor_id;
        t->reviewed_at_us = now_us;
    }
    if (step.effects & EFFECT_REJECTED)
        t->reject_reason = value_map_text(row->payload, STR("reason"));
    if (step.effects & EFFECT_RECALLED)
        t->recall_reason = value_map_text(row->payload, STR("reason"));
    if (step.effects & EFFECT_CANCELED)
        t->cancel_reason = value_map_text(row->payload, STR("reason"));
    if (step.effects & EFFECT_CLEAR)
        t->handover_note = value_map_text(row->payload, STR("handover_note"));
    if (step.effects & EFFECT_ESCALATION)
        t->needs_attention = true;
}

/* --- as JSON --- */

/* A value of one kind; `none` stands for any other. */
static void show_value(struct buf *out, const char *name, struct value v, enum value_kind kind,
                       const char *none)
{
    struct err err;

    object_name(out, name);
    if (v.kind != kind || !json_write(out, v, &err))
        buf_text(out, none);
}

void task_show(struct buf *out, const struct task *t)
{
    object_text(out, "id", t->id);
    object_text(out, "org_id", t->org_id);
    object_text(out, "project_id", t->project_id);
    object_text(out, "title", t->title);
    object_text(out, "description", t->description);
    object_text(out, "required_trade", t->required_trade);
    object_int(out, "min_skill", t->min_skill);
    object_int(out, "priority", t->priority);
    object_text(out, "deliverable_id", t->deliverable_id);
    object_time(out, "due_at", t->due_at_us);
    object_text(out, "status", str_of(task_status_name(t->status)));
    object_int(out, "row_version", t->row_version);
    object_text(out, "assigned_to", t->assigned_to);
    object_text(out, "assigned_by", t->assigned_by);
    object_time(out, "assigned_at", t->assigned_at_us);
    object_time(out, "started_at", t->started_at_us);
    object_time(out, "submitted_at", t->submitted_at_us);
    object_text(out, "reviewed_by", t->reviewed_by);
    object_time(out, "reviewed_at", t->reviewed_at_us);
    object_bool(out, "self_checked", t->self_checked);
    object_text(out, "reject_reason", t->reject_reason);
    object_text(out, "recall_reason", t->recall_reason);
    object_text(out, "cancel_reason", t->cancel_reason);
    object_text(out, "handover_note", t->handover_note);
    object_bool(out, "needs_attention", t->needs_attention);
    object_text(out, "fix_of_task_id", t->fix_of_task_id);
    object_text(out, "parent_task_id", t->parent_task_id);
    object_text(out, "execution_id", t->execution_id);
    object_json(out, "form", t->form_json);
    show_value(out, "result", t->result, VALUE_MAP, "null");
    show_value(out, "depends_on", t->depends_on, VALUE_LIST, "[]");
    show_value(out, "contributors", t->contributors, VALUE_LIST, "[]");
    object_int(out, "unmet_dependencies", t->unmet_dependencies);
    object_int(out, "open_holds", t->open_holds);
    object_text(out, "created_by", t->created_by);
    object_time(out, "created_at", t->created_at_us);
    object_time(out, "updated_at", t->updated_at_us);
}

bool task_transition_show(struct buf *out, const struct task_transition *t, struct err *err)
{
    object_text(out, "id", t->id);
    object_text(out, "task_id", t->task_id);
    object_text(out, "action", str_of(task_action_name(t->action)));
    object_text(out, "from_status", str_of(task_status_name(t->from)));
    object_text(out, "to_status", str_of(task_status_name(t->to)));
    object_text(out, "actor_id", t->actor_id);
    object_text(out, "actor_role", t->actor_role);
    object_name(out, "payload");
    if (!json_write(out, t->payload, err))
        return false;
    object_text(out, "client_event_id", t->client_event_id);
    if (t->client_event_id.len > 0)
        object_int(out, "expected_row_version", t->expected_row_version);
    else
        object_json(out, "expected_row_version", STR_NONE);
    object_int(out, "result_row_version", t->result_row_version);
    object_time(out, "created_at", t->created_at_us);
    return true;
}

/* --- payloads that are compared --- */

static int compare_keys(const void *a, const void *b)
{
    const struct value_entry *x = a, *y = b;

    return str_cmp(value_text(x->key), value_text(y->key));
}

static bool is_of_the_server(struct str name)
{
    return str_eq(name, STR("fix_task_id")) || str_eq(name, STR("defect_id")) ||
           str_eq(name, STR("escalation_id"));
}

struct value payload_normalise(struct arena *mem, struct value payload)
{
    struct value_entry *entries;
    size_t count = 0, duplicate;

    if (payload.kind == VALUE_LIST && payload.len > 0) {
        struct value *items = ARENA_ARRAY(mem, payload.len, struct value);
        for (uint32_t i = 0; i < payload.len; i++)
            items[i] = payload_normalise(mem, payload.items[i]);
        return value_list(items, payload.len);
    }
    if (payload.kind != VALUE_MAP)
        return payload;
    entries = ARENA_ARRAY(mem, payload.len + 1u, struct value_entry);
    for (uint32_t i = 0; i < payload.len; i++) {
        struct value_entry e = payload.map->entries[i];
        if (e.value.kind == VALUE_NULL || is_of_the_server(value_text(e.key)))
            continue;
        e.value = payload_normalise(mem, e.value);
        entries[count++] = e;
    }
    qsort(entries, count, sizeof(*entries), compare_keys);
    return value_map_make(mem, entries, count, &duplicate);
}
