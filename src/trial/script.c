/* script.c - see script.h. */
#include "trial/script.h"

#include "base/text/nearest.h"
#include "define/catalog/catalog.h"
#include "value/timefmt.h"

bool script_knows(struct value map, const char *words, struct err *err)
{
    for (uint32_t i = 0; i < map.len; i++) {
        struct str name = value_text(map.map->entries[i].key);
        struct nearest n = nearest_to(name);

        if (catalog_has_word(str_of(words), name))
            continue;
        nearest_offer_words(&n, str_of(words));
        if (n.best.len > 0)
            return err_set(err, ERR_INVALID, "there is no field '%.*s' here; did you mean '%.*s'?",
                           STR_ARG(name), STR_ARG(n.best));
        return err_set(err, ERR_INVALID, "there is no field '%.*s' here; there are: %s",
                       STR_ARG(name), words);
    }
    return true;
}

static bool is_kind(struct value v, enum value_kind kind)
{
    return v.kind == VALUE_ABSENT || v.kind == (uint8_t)kind;
}

enum cancel_rollback script_rollback(struct value compensate)
{
    if (compensate.kind != VALUE_BOOL)
        return CANCEL_BY_STRATEGY;
    return compensate.b ? CANCEL_ROLLS_BACK : CANCEL_LEAVES;
}

bool script_read_text(struct value map, const char *name, struct str *out, struct err *err)
{
    struct value v = value_map_member(map, str_of(name));

    *out = value_text_or(v, STR_NONE);
    return is_kind(v, VALUE_STRING) || err_set(err, ERR_INVALID, "'%s' must be a string", name);
}

bool script_read_refused(struct value map, struct value *out, struct err *err)
{
    *out = value_map_member(map, STR("refused"));
    return (out->kind == VALUE_MAP ? script_knows(*out, "message pointer code", err)
                                   : out->kind == VALUE_ABSENT || value_is_true(*out)) ||
           err_set(err, ERR_INVALID,
                   "'refused' is true, or what is said then: {\"message\"?, \"pointer\"?, "
                   "\"code\"?}");
}

static bool read_after(struct value map, bool *has_time, int64_t *out, struct err *err)
{
    struct value v = value_map_member(map, STR("after"));

    *has_time = v.kind != VALUE_ABSENT;
    return !*has_time || (define_duration_us(v, out) && *out >= 0) ||
           err_set(err, ERR_INVALID, "'after' must be a duration such as \"30s\" or \"7d\"");
}

/* --- signals --- */

static bool read_signal(struct value v, struct trial_signal *out, struct err *err)
{
    if (v.kind != VALUE_MAP || value_map_member(v, STR("type")).kind != VALUE_STRING)
        return err_set(err, ERR_INVALID,
                       "a signal is {\"type\", \"payload\"?, \"after\"?, \"by\"?, \"to\"?, "
                       "\"refused\"?}");
    if (!script_knows(v, "type payload after by to refused", err))
        return false;
    *out = (struct trial_signal){.type = value_text(value_map_member(v, STR("type"))),
                                 .payload = value_map_member(v, STR("payload")),
                                 .by = value_map_member(v, STR("by"))};
    if (!script_read_refused(v, &out->refused, err))
        return false;
    if (!is_kind(out->by, VALUE_MAP))
        return err_set(err, ERR_INVALID, "'by' must be an object");
    return script_read_text(v, "to", &out->to, err) &&
           read_after(v, &out->has_time, &out->after_us, err);
}

bool script_read_signals(struct arena *mem, struct value v, struct trial_signals *out,
                         struct err *err)
{
    if (v.kind == VALUE_ABSENT)
        return true;
    if (v.kind != VALUE_LIST && v.kind != VALUE_MAP)
        return err_set(err, ERR_INVALID, "'signals' must be a list");
    for (uint32_t i = 0; v.kind == VALUE_LIST && i < v.len; i++)
        if (!read_signal(v.items[i], VEC_ADD(mem, out), err))
            return false;
    for (uint32_t i = 0; v.kind == VALUE_MAP && i < v.len; i++) {
        struct str type = value_text(v.map->entries[i].key);
        struct value payload = v.map->entries[i].value;
        uint32_t count = payload.kind == VALUE_LIST ? payload.len : 1;

        for (uint32_t k = 0; k < count; k++)
            *VEC_ADD(mem, out) = (struct trial_signal){
                .type = type, .payload = payload.kind == VALUE_LIST ? payload.items[k] : payload};
    }
    return true;
}

/* --- operators --- */

static bool read_outcome(struct value v, enum verdict *out, struct err *err)
{
    struct value outcome = value_map_member(v, STR("outcome"));

    return (outcome.kind == VALUE_STRING && verdict_read(value_text(outcome), out)) ||
           err_set(err, ERR_INVALID,
                   "'outcome' must be \"succeeded\", \"failed\" or \"not_happened\"");
}

static bool read_action(struct value v, struct trial_action *out, struct err *err)
{
    static const struct {
        const char *name, *fields;
        enum event_kind kind;
    } actions[] = {
        {"retry", "action after from input", EVENT_RETRY},
        {"skip", "action after output", EVENT_SKIP},
        {"resolve", "action after outcome output", EVENT_RESOLVE},
        {"cancel", "action after reason compensate", EVENT_CANCEL},
    };
    struct value name = value_map_member(v, STR("action")),
                 compensate = value_map_member(v, STR("compensate"));

    *out = (struct trial_action){.input = value_map_member(v, STR("input")),
                                 .output = value_map_member(v, STR("output"))};
    for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
        if (name.kind != VALUE_STRING || !str_eq(value_text(name), str_of(actions[i].name)))
            continue;
        out->kind = actions[i].kind;
        out->rollback = script_rollback(compensate);
        if (out->kind == EVENT_RESOLVE && !read_outcome(v, &out->verdict, err))
            return false;
        if (!is_kind(compensate, VALUE_BOOL))
            return err_set(err, ERR_INVALID, "'compensate' must be true or false");
        return script_knows(v, actions[i].fields, err) &&
               script_read_text(v, "from", &out->from, err) &&
               script_read_text(v, "reason", &out->reason, err) &&
               read_after(v, &out->has_time, &out->after_us, err);
    }
    return err_set(err, ERR_INVALID,
                   "an operator's action is {\"action\": \"retry\", \"skip\", \"resolve\" or "
                   "\"cancel\", \"after\"?, ...}");
}

bool script_read_actions(struct arena *mem, struct value v, struct trial_actions *out,
                         struct err *err)
{
    if (!is_kind(v, VALUE_LIST))
        return err_set(err, ERR_INVALID, "'operator' must be a list of actions");
    for (uint32_t i = 0; v.kind == VALUE_LIST && i < v.len; i++)
        if (!read_action(v.items[i], VEC_ADD(mem, out), err))
            return false;
    return true;
}

/* --- records --- */

bool script_read_records(struct arena *mem, struct value v, struct record_reads *out,
                         struct err *err)
{
    if (v.kind == VALUE_ABSENT)
        return true;
    for (uint32_t i = 0; v.kind == VALUE_MAP && i < v.len; i++) {
        struct value of = v.map->entries[i].value;

        for (uint32_t k = 0; of.kind == VALUE_MAP && k < of.len; k++) {
            if (of.map->entries[k].value.kind != VALUE_MAP)
                return err_set(err, ERR_INVALID, "a record is an object");
            *VEC_ADD(mem, out) = (struct record_read){.object = value_text(v.map->entries[i].key),
                                                      .id = value_text(of.map->entries[k].key),
                                                      .version = 1,
                                                      .data = of.map->entries[k].value};
        }
        if (of.kind != VALUE_MAP)
            return err_set(err, ERR_INVALID, "'records' is {object: {id: data}}");
    }
    return v.kind == VALUE_MAP || err_set(err, ERR_INVALID, "'records' is {object: {id: data}}");
}

/* --- mocks --- */

static bool is_control(struct value v, const char *name)
{
    return v.kind == VALUE_MAP && v.len == 1 &&
           value_map_member(v, str_of(name)).kind != VALUE_ABSENT;
}

static bool check_error(struct str name, struct value error, struct err *err)
{
    struct value class = value_map_member(error, STR("class")),
                 code = value_map_member(error, STR("code"));

    if (error.kind != VALUE_MAP || !is_kind(code, VALUE_STRING) ||
        !is_kind(value_map_member(error, STR("message")), VALUE_STRING))
        return err_set(err, ERR_INVALID,
                       "the error of the mock '%.*s' is {\"code\", \"message\", \"class\"?}",
                       STR_ARG(name));
    if (class.kind != VALUE_ABSENT &&
        err_class_find(value_text_or(class, STR_NONE)) == ERR_CLASS_NONE)
        return err_set(err, ERR_INVALID,
                       "the class of an error is business, transient or indeterminate");
    return true;
}

static bool check_mock(struct str name, struct value mock, struct err *err)
{
    struct value answers = value_map_member(mock, STR("answers"));

    if (is_control(mock, "error"))
        return check_error(name, value_map_member(mock, STR("error")), err);
    if (!is_control(mock, "answers"))
        return true;
    if (answers.kind != VALUE_LIST || answers.len == 0)
        return err_set(err, ERR_INVALID, "the 'answers' of the mock '%.*s' are a list",
                       STR_ARG(name));
    for (uint32_t i = 0; i < answers.len; i++)
        if (is_control(answers.items[i], "error") &&
            !check_error(name, value_map_member(answers.items[i], STR("error")), err))
            return false;
    return true;
}

static bool read_mocks_of(struct value mocks, const char *kind, struct value *out, struct err *err)
{
    *out = value_map_member(mocks, str_of(kind));
    if (!is_kind(*out, VALUE_MAP))
        return err_set(err, ERR_INVALID, "'mocks.%s' must be an object", kind);
    for (uint32_t i = 0; out->kind == VALUE_MAP && i < out->len; i++)
        if (!check_mock(value_text(out->map->entries[i].key), out->map->entries[i].value, err))
            return false;
    return true;
}

/* [{method?, url, response: {status_code?, headers?, body?}, or error: {code, message, class}}] */
static bool read_call_mocks(struct value mocks, struct value *out, struct err *err)
{
    *out = value_map_member(mocks, STR("http"));
    if (!is_kind(*out, VALUE_LIST))
        return err_set(err, ERR_INVALID, "'mocks.http' must be a list");
    for (uint32_t i = 0; out->kind == VALUE_LIST && i < out->len; i++) {
        struct value mock = out->items[i];

        if (mock.kind != VALUE_MAP || !script_knows(mock, "method url response error", err))
            return err_set(err, ERR_INVALID,
                           "each of 'mocks.http' is {method?, url, response: {status_code, "
                           "headers?, body?}} or has {error} in place of the response");
        if (value_map_member(mock, STR("url")).kind != VALUE_STRING)
            return err_set(err, ERR_INVALID, "each of 'mocks.http' has a 'url'");
        if (!is_kind(value_map_member(mock, STR("method")), VALUE_STRING) ||
            !is_kind(value_map_member(mock, STR("response")), VALUE_MAP) ||
            !is_kind(value_map_member(mock, STR("error")), VALUE_MAP))
            return err_set(
                err, ERR_INVALID,
                "in 'mocks.http' a method is a text, a response and an error are objects");
    }
    return true;
}

bool script_read_mocks(struct arena *mem, struct value v, struct trial_script *out, struct err *err)
{
    if (v.kind == VALUE_ABSENT)
        return true;
    if (v.kind != VALUE_MAP)
        return err_set(err, ERR_INVALID, "'mocks' must be an object");
    if (!read_call_mocks(v, &out->mocks.http, err))
        return false;
    return script_knows(v, "procedures processes signals http tasks", err) &&
           read_mocks_of(v, "tasks", &out->mocks.tasks, err) &&
           read_mocks_of(v, "procedures", &out->mocks.procedures, err) &&
           read_mocks_of(v, "processes", &out->mocks.processes, err) &&
           script_read_signals(mem, value_map_member(v, STR("signals")), &out->signals, err);
}

static bool reaches(const struct program *p, struct str name)
{
    for (uint32_t i = 0; i < p->procedure_count; i++)
        if (str_eq(p->procedures[i]->name, name))
            return true;
    return false;
}

/* Whether the step of that code asks for a task. */
static bool asks_for_task(const struct program *p, struct str code)
{
    const struct step *step = program_step(p, code);

    return step != NULL && step->kind == STEP_PROCEDURE && step->procedure->command_count > 0 &&
           step->procedure->commands[0].type == COMMAND_TASK_CREATE;
}

/* Nothing in the programs asks for what the mock of this name answers. */
static void add_unused_mock(struct arena *mem, struct findings *findings, const char *kind,
                            const char *code, struct str name, struct sentence message,
                            struct str nearest)
{
    *VEC_ADD(mem, findings) = (struct finding){
        .pointer = str_printf(mem, "/mocks/%s/%.*s", kind, STR_ARG(name)),
        .code = str_of(code),
        .message = message,
        .is_warning = true,
        .hint = nearest.len > 0 ? sentence_make(mem, "did you mean '%.*s'?", STR_ARG(nearest))
                                : SENTENCE_NONE};
}

static void check_task_mock(struct arena *mem, struct str code, const struct program *program,
                            const struct trial *trial, struct findings *findings)
{
    bool is_known = asks_for_task(program, code);
    struct nearest n = nearest_to(code);

    for (size_t i = 0; i < trial->children.count && !is_known; i++)
        is_known = asks_for_task(trial->children.items[i].x->program, code);
    if (is_known)
        return;
    for (uint32_t i = 0; i < program->step_count; i++)
        if (asks_for_task(program, program->steps[i].code))
            nearest_offer(&n, program->steps[i].code);
    add_unused_mock(mem, findings, "tasks", "unknown_step", code,
                    sentence_make(mem, "no step '%.*s' asks for a task", STR_ARG(code)), n.best);
}

void script_check_mocks(struct arena *mem, const struct trial_mocks *mocks,
                        const struct program *program, const struct trial *trial,
                        struct findings *findings)
{
    for (uint32_t i = 0; mocks->tasks.kind == VALUE_MAP && i < mocks->tasks.len; i++)
        check_task_mock(mem, value_text(mocks->tasks.map->entries[i].key), program, trial,
                        findings);
    for (uint32_t i = 0; mocks->procedures.kind == VALUE_MAP && i < mocks->procedures.len; i++) {
        struct str name = value_text(mocks->procedures.map->entries[i].key);
        struct nearest n = nearest_to(name);
        bool is_known = reaches(program, name);

        for (size_t k = 0; k < trial->children.count && !is_known; k++)
            is_known = reaches(trial->children.items[k].x->program, name);
        if (is_known)
            continue;
        for (uint32_t k = 0; k < program->procedure_count; k++)
            nearest_offer(&n, program->procedures[k]->name);
        add_unused_mock(mem, findings, "procedures", "unknown_procedure", name,
                        sentence_make(mem, "nothing calls a procedure '%.*s'", STR_ARG(name)),
                        n.best);
    }
}

/* --- time --- */

bool script_read_now(struct value v, int64_t *out, struct err *err)
{
    struct value at;

    if (v.kind == VALUE_ABSENT)
        return true;
    if (v.kind != VALUE_STRING ||
        (!timestamp_read(value_text(v), &at) && !timestamp_read_date(value_text(v), &at)) ||
        at.seconds < 1)
        return err_set(err, ERR_INVALID, "'now' must be a time such as \"2026-01-31T09:00:00Z\"");
    *out = at.seconds * 1000000 + at.nanos / 1000;
    return true;
}
