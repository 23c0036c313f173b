/* case.c - reading declarative tests; see case.h. */
#include "trial/case.h"

#include "define/catalog/test_fields.h"
#include "trial/script.h"
#include "value/json.h"
#include "value/object.h"

/* In short for an operator who cancels. */
static bool read_cancel(struct arena *mem, struct value v, struct trial_script *out,
                        struct err *err)
{
    struct trial_action *action;
    struct value after = value_map_member(v, STR("after"));

    if (v.kind == VALUE_ABSENT)
        return true;
    if (v.kind != VALUE_MAP || !script_knows(v, "after reason compensate", err))
        return err_set(err, ERR_INVALID, "'cancel' is {\"after\": duration}");
    action = VEC_ADD(mem, &out->actions);
    *action =
        (struct trial_action){.kind = EVENT_CANCEL,
                              .has_time = true,
                              .rollback = script_rollback(value_map_member(v, STR("compensate")))};
    if (!script_read_text(v, "reason", &action->reason, err))
        return false;
    if (action->reason.len == 0)
        action->reason = STR("cancelled by the test");
    if (after.kind == VALUE_ABSENT)
        return true;
    return (define_duration_us(after, &action->after_us) && action->after_us >= 0) ||
           err_set(err, ERR_INVALID, "'after' must be a duration such as \"30s\" or \"7d\"");
}

static bool names(struct value v, enum kind kind)
{
    return value_map_member(v, str_of(kind_spec(kind)->name)).kind != VALUE_ABSENT;
}

static bool read_process(struct value v, struct trial_case *out, struct err *err)
{
    static const enum kind kinds[] = {KIND_SCENARIO, KIND_SCHEMA, KIND_MACHINE};
    struct value process, procedure = value_map_member(v, STR("procedure"));
    unsigned count = 0;

    out->kind = KIND_SCENARIO;
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (names(v, kinds[i])) {
            out->kind = kinds[i];
            count++;
        }
    process = value_map_member(v, str_of(kind_spec(out->kind)->name));
    if (process.kind == VALUE_MAP)
        out->definition = process;
    else if (!script_read_text(v, kind_spec(out->kind)->name, &out->scenario, err))
        return false;
    if (procedure.kind == VALUE_MAP)
        out->procedure_definition = procedure;
    else if (!script_read_text(v, "procedure", &out->procedure, err))
        return false;
    if (count + (procedure.kind != VALUE_ABSENT) != 1)
        return err_set(err, ERR_INVALID,
                       "a case names a 'scenario', a 'schema', a 'machine' or a 'procedure'");
    return true;
}

static bool read_start(struct value v, struct trial_script *script, struct err *err)
{
    script->input = value_map_member(v, STR("input"));
    script->webhook = value_map_member(v, STR("webhook"));
    if (script->webhook.kind != VALUE_MAP && script->webhook.kind != VALUE_ABSENT)
        return err_set(err, ERR_INVALID, "'webhook' must be an object: {\"payload\": ...}");
    script->user = value_map_member(v, STR("user"));
    script->config = value_map_member(v, STR("config"));
    if ((script->user.kind != VALUE_MAP && script->user.kind != VALUE_ABSENT) ||
        (script->config.kind != VALUE_MAP && script->config.kind != VALUE_ABSENT))
        return err_set(err, ERR_INVALID, "'user' and 'config' must be objects");
    return script_read_text(v, "key", &script->key, err) &&
           script_read_now(value_map_member(v, STR("now")), &script->now_us, err);
}

static bool read_expect(struct value v, struct trial_case *out, struct err *err)
{
    out->expect = value_map_member(v, STR("expect"));
    if (out->expect.kind != VALUE_MAP)
        return err_set(err, ERR_INVALID,
                       "there is no 'expect': a test says there what must come of it, such as "
                       "\"expect\": {\"status\": \"completed\"}");
    if (!script_knows(out->expect, EXPECT_FIELDS, err) ||
        !script_read_refused(out->expect, &out->refused, err))
        return false;
    return out->refused.kind == VALUE_ABSENT || out->expect.len == 1 ||
           err_set(err, ERR_INVALID,
                   "'refused' stands alone in 'expect': nothing else comes of a start that is "
                   "refused");
}

bool case_read(struct arena *mem, struct value v, struct trial_case *out, struct err *err)
{
    struct trial_script *script = &out->script;

    *out = (struct trial_case){.definition = value_absent(),
                               .procedure_definition = value_absent(),
                               .refused = value_absent()};
    if (v.kind != VALUE_MAP)
        return err_set(err, ERR_INVALID, "a case is an object");
    if (!script_read_text(v, "name", &out->name, err) || !script_knows(v, CASE_FIELDS, err) ||
        !read_process(v, out, err) || !read_start(v, script, err) || !read_expect(v, out, err))
        return false;
    if (out->name.len == 0)
        out->name = out->scenario.len > 0 ? out->scenario : out->procedure;
    return script_read_mocks(mem, value_map_member(v, STR("mocks")), script, err) &&
           script_read_signals(mem, value_map_member(v, STR("signals")), &script->signals, err) &&
           script_read_records(mem, value_map_member(v, STR("records")), &script->records, err) &&
           script_read_actions(mem, value_map_member(v, STR("operator")), &script->actions, err) &&
           read_cancel(mem, value_map_member(v, STR("cancel")), script, err);
}

static bool is_case(struct value v)
{
    return v.kind == VALUE_MAP && value_map_member(v, STR("kind")).kind == VALUE_ABSENT &&
           (names(v, KIND_SCENARIO) || names(v, KIND_SCHEMA) || names(v, KIND_MACHINE) ||
            value_map_member(v, STR("procedure")).kind != VALUE_ABSENT ||
            value_map_member(v, STR("expect")).kind != VALUE_ABSENT);
}

bool case_is_test(struct value v)
{
    struct value tests = v.kind == VALUE_LIST ? v : value_map_member(v, STR("tests"));

    if (tests.kind != VALUE_LIST)
        return is_case(v);
    for (uint32_t i = 0; i < tests.len; i++)
        if (!is_case(tests.items[i]))
            return v.kind == VALUE_MAP;
    return v.kind == VALUE_MAP || tests.len > 0;
}

/* --- procedures --- */

struct value case_procedure_scenario(struct arena *mem, struct str code, struct value input)
{
    struct value scenario;
    struct buf text;
    struct err err;

    buf_init_arena(&text, mem);
    buf_printf(&text,
               "{\"code\":\"%.*s\",\"onError\":\"fail_fast\",\"steps\":[{\"code\":\"%.*s\","
               "\"procedure\":\"%.*s\",\"input\":{",
               STR_ARG(code), STR_ARG(code), STR_ARG(code));
    for (uint32_t i = 0; input.kind == VALUE_MAP && i < input.len; i++) {
        struct str name = value_text(input.map->entries[i].key);
        struct buf quoted;

        /* The name as a literal of CEL, which JSON's texts are. */
        buf_init_arena(&quoted, mem);
        json_write_string(&quoted, name);
        object_next(&text);
        json_write_string(&text, name);
        buf_char(&text, ':');
        json_write_string(&text, str_printf(mem, "=$.input[%.*s]", STR_ARG(buf_view(&quoted))));
    }
    buf_text(&text, "}}]}");
    if (!json_read(mem, buf_view(&text), &scenario, &err))
        PANIC(err.message);
    return scenario;
}
