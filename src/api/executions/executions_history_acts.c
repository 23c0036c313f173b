/* executions_history_acts.c - see executions_history_acts.h. */
#include "api/executions/executions_history_acts.h"

#include "engine/actions.h"
#include "value/json.h"
#include "value/object.h"

static void object_assignee(struct arena *mem, struct buf *out, struct value assignee)
{
    struct buf json;
    struct err err;

    buf_init_arena(&json, mem);
    if (json_write(&json, assignee, &err))
        object_json(out, "assignee", buf_view(&json));
}

/* What the engine noted with the row; see turn_note(). */
static struct str history_act_details(struct arena *mem, struct value noted)
{
    struct value version = value_map_get_str(noted, STR("version"));
    struct value outcome = value_map_get_str(noted, STR("outcome"));
    struct value assign = value_map_get_str(noted, STR("assign"));
    struct value reason = value_absent();
    struct buf out;

    for (size_t i = 0; i < 2 && reason.kind != VALUE_STRING; i++) {
        struct value of = value_map_get_str(noted, i == 0 ? STR("cancel") : STR("pause"));

        reason = value_map_member(of, STR("reason"));
    }
    object_begin(&out, mem);
    if (reason.kind == VALUE_STRING)
        object_text(&out, "reason", value_text(reason));
    if (version.kind == VALUE_INT)
        object_int(&out, "version", version.i);
    if (value_map_get_str(noted, STR("input")).kind != VALUE_ABSENT)
        object_bool(&out, "input", true);
    if (outcome.kind == VALUE_STRING)
        object_text(&out, "outcome", value_text(outcome));
    if (assign.kind == VALUE_MAP)
        object_assignee(mem, &out, value_map_get_str(assign, STR("assignee")));
    if (out.len == 1)
        return STR_NONE;
    return object_end(&out);
}

/* {event} or {after}: what a machine has judged, and no transition was open for it. */
static struct str not_allowed_details(struct arena *mem, struct value noted)
{
    static const char *const names[] = {"event", "after"};
    struct buf out;

    object_begin(&out, mem);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (value_map_text(noted, str_of(names[i])).len > 0)
            object_text(&out, names[i], value_map_text(noted, str_of(names[i])));
    return object_end(&out);
}

bool executions_act_row(struct arena *mem, const struct history_row *row, struct history_row *out)
{
    bool is_judged = str_eq(row->status, STR("transition_not_allowed"));
    struct value noted;
    struct err err;

    if (row->kind != HISTORY_EVENT || !(is_judged || action_is_row(row->status)))
        return false;
    *out = *row;
    if (row->delta_json.len > 0 && json_read(mem, row->delta_json, &noted, &err) &&
        noted.kind == VALUE_MAP)
        out->output_json =
            is_judged ? not_allowed_details(mem, noted) : history_act_details(mem, noted);
    return true;
}
