/* executions_acts.c - see executions_acts.h. */
#include "api/executions_acts.h"

#include "value/json.h"
#include "value/object.h"

static const char *const acts[] = {"cancelled", "paused",   "resumed",  "retry",
                                   "skip",      "migrated", "resolved", "assigned"};

static bool is_act(const struct history_row *row)
{
    for (size_t i = 0; row->kind == HISTORY_EVENT && i < ARRAY_SIZE(acts); i++)
        if (str_eq(row->status, str_of(acts[i])))
            return true;
    return false;
}

static void object_assignee(struct arena *mem, struct buf *out, struct value assignee)
{
    struct buf json;
    struct err err;

    buf_init_arena(&json, mem);
    if (json_write(&json, assignee, &err))
        object_json(out, "assignee", buf_view(&json));
}

/* What the engine noted with the row; see turn_note(). */
static struct str act_details(struct arena *mem, struct value noted)
{
    struct value version = value_map_get_str(noted, STR("version"));
    struct value outcome = value_map_get_str(noted, STR("outcome"));
    struct value assign = value_map_get_str(noted, STR("assign"));
    struct value reason = value_absent();
    struct buf out;

    for (size_t i = 0; i < 2 && reason.kind != VALUE_STRING; i++) {
        struct value of = value_map_get_str(noted, i == 0 ? STR("cancel") : STR("pause"));

        reason = of.kind == VALUE_MAP ? value_map_get_str(of, STR("reason")) : value_absent();
    }
    buf_init_arena(&out, mem);
    buf_char(&out, '{');
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
    buf_char(&out, '}');
    return buf_view(&out);
}

bool executions_act_row(struct arena *mem, const struct history_row *row, struct history_row *out)
{
    struct value noted;
    struct err err;

    if (!is_act(row))
        return false;
    *out = *row;
    if (row->delta_json.len > 0 && json_read(mem, row->delta_json, &noted, &err) &&
        noted.kind == VALUE_MAP)
        out->output_json = act_details(mem, noted);
    return true;
}
