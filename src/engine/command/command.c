/* command.c - commands that need nothing from outside; see command.h. */
#include "engine/command/command.h"
#include "define/catalog/catalog.h"
#include "engine/command/procedure.h"
#include "engine/commit/ask.h"

bool command_field(struct turn *t, const struct command *c, enum command_field field,
                   struct value *out)
{
    return turn_evaluate(t, c->fields[field], out) == STEP_DONE;
}

bool command_text(struct turn *t, const struct command *c, enum command_field field,
                  struct str fallback, struct str *out)
{
    struct value v;

    *out = fallback;
    if (!command_field(t, c, field, &v))
        return false;
    if (v.kind == VALUE_ABSENT)
        return true;
    if (v.kind == VALUE_STRING) {
        *out = value_text(v);
        return true;
    }
    (void)turn_fail(t, STR("validation_type"), ERR_CLASS_BUSINESS,
                    "'%.*s' must be a string, not %s", STR_ARG(catalog_field_name(field)),
                    value_kind_name((enum value_kind)v.kind));
    return false;
}

enum step_result command_set_variables(struct turn *t, struct value values)
{
    if (values.kind != VALUE_MAP)
        return turn_fail(t, STR("validation_type"), ERR_CLASS_BUSINESS,
                         "'values' must be an object");
    t->variables = state_merge(t->mem, t->variables, values);
    t->assigned = state_merge(t->mem, t->assigned, values);
    if (t->scope == NULL)
        t->slots[ROOT_VARIABLES] = t->variables;
    return STEP_DONE;
}

static enum step_result run_set(struct turn *t, const struct command *c, struct value *out)
{
    return command_field(t, c, FIELD_VALUES, out) ? command_set_variables(t, *out) : STEP_FAILED;
}

static enum step_result run_fail(struct turn *t, const struct command *c)
{
    struct str code, message, class;
    struct value details;

    if (!command_text(t, c, FIELD_CODE, STR("failed"), &code) ||
        !command_text(t, c, FIELD_MESSAGE, STR("the process failed itself"), &message) ||
        !command_text(t, c, FIELD_CLASS, str_of(err_class_name(ERR_CLASS_BUSINESS)), &class) ||
        !command_field(t, c, FIELD_DETAILS, &details))
        return STEP_FAILED;
    t->failure = (struct failure){.code = code,
                                  .class = err_class_find(class),
                                  .message = sentence_of(message),
                                  .details = details};
    return STEP_FAILED;
}

static enum step_result run_log(struct turn *t, const struct command *c, struct value *out)
{
    struct log_line line = {0};
    struct value data, message;

    if (!command_text(t, c, FIELD_LEVEL, STR("info"), &line.level) ||
        !command_field(t, c, FIELD_MESSAGE, &message) || !command_field(t, c, FIELD_DATA, &data))
        return STEP_FAILED;
    if (message.kind == VALUE_STRING)
        line.message = value_text(message);
    else if (!turn_json(t, message, &line.message))
        return STEP_FAILED;
    if (data.kind != VALUE_ABSENT && !turn_json(t, data, &line.data_json))
        return STEP_FAILED;
    *VEC_ADD(t->mem, &t->logs) = line;
    *out = value_map_of(t->mem,
                        VALUE_ENTRIES({value_key(STR("message")), value_string(line.message)}));
    return STEP_DONE;
}

enum step_result command_shape(struct turn *t, const struct command *c, struct value *out)
{
    if (c->fields[FIELD_RESULT] == NULL)
        return STEP_DONE;
    t->slots[ROOT_RESPONSE] = *out;
    return command_field(t, c, FIELD_RESULT, out) ? STEP_DONE : STEP_FAILED;
}

enum step_result command_condition(struct turn *t, const struct cel_program *when, const char *name,
                                   struct str pointer, bool *is_true)
{
    struct value v = value_bool(true);

    if (when != NULL)
        v = cel_evaluate(t->mem, when, &t->activation, NULL);
    if (v.kind == VALUE_BOOL) {
        *is_true = v.b;
        return STEP_DONE;
    }
    if (v.kind == VALUE_ERROR)
        (void)turn_fail_value(t, v, STR_NONE);
    else
        (void)turn_fail(t, STR("expression_type"), ERR_CLASS_BUSINESS,
                        "'%s' must be true or false, not %s", name,
                        value_kind_name((enum value_kind)v.kind));
    t->failure.source = str_printf(t->mem, "%.*s/%s", STR_ARG(pointer), name);
    return STEP_FAILED;
}

enum step_result command_condition_at(struct turn *t, const struct cel_program *when,
                                      struct str pointer, const char *list, uint32_t index,
                                      const char *name, bool *is_true)
{
    enum step_result end = command_condition(t, when, name, pointer, is_true);

    if (end == STEP_FAILED)
        t->failure.source =
            str_printf(t->mem, "%.*s/%s/%u/%s", STR_ARG(pointer), list, index, name);
    return end;
}

enum step_result command_run(struct turn *t, const struct command *c, struct value *out)
{
    switch (c->type) {
    case COMMAND_TRANSFORM:
        return command_field(t, c, FIELD_DATA, out) ? STEP_DONE : STEP_FAILED;
    case COMMAND_SET:
        return run_set(t, c, out);
    case COMMAND_FAIL:
        return run_fail(t, c);
    case COMMAND_VALIDATE:
        return compute_validate(t, c, out);
    case COMMAND_AGGREGATE:
        return compute_aggregate(t, c, out);
    case COMMAND_LOG:
        return run_log(t, c, out);
    case COMMAND_RECORD_CREATE:
    case COMMAND_RECORD_GET:
    case COMMAND_RECORD_UPDATE:
    case COMMAND_RECORD_DELETE:
    case COMMAND_RECORD_QUERY:
        return record_run(t, c, out);
    case COMMAND_EVENT_PUBLISH:
    case COMMAND_EMAIL:
    case COMMAND_SMS:
    case COMMAND_PUSH:
    case COMMAND_MESSAGE_PUBLISH:
        return message_run(t, c, out);
    case COMMAND_NODE_START:
    case COMMAND_NODE_END:
    case COMMAND_CONDITION:
    case COMMAND_VARIABLE_SET:
        return graph_run(t, c, out);
    case COMMAND_MATH:
        return math_run(t, c, out);
    case COMMAND_START:
        return child_start(t, c, out);
    case COMMAND_HTTP:
        return call_run(t, c, out);
    case COMMAND_CALL:
    case COMMAND_IF:
    case COMMAND_MATCH:
    case COMMAND_TRY:
    case COMMAND_WAIT_SIGNAL:
    case COMMAND_WAIT_TIMER:
    case COMMAND_WAIT_UNTIL:
    case COMMAND_SLEEP:
    case COMMAND_TASK_CREATE:
    case COMMAND_TYPE_COUNT:
        break;
    }
    PANIC("a wait stands alone in its step, and a procedure runs what has commands in it");
}
