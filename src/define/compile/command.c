/* command.c - one command, by the table in commands.def. */
#include "define/catalog/synonym.h"
#include "define/compile/compile.h"
#include "define/compile/context.h"
#include "define/compile/library.h"
#include "define/compile/mapping.h"
#include "define/compile/param.h"
#include "define/compile/scenario.h"

/* Names that `as` may not have, because the context will: see roots.def for the others. */
static const char later_roots[] = "fn item";

/* Names that expressions cannot use for a variable. */
static const char reserved_words[] =
    "as break const continue else false for function if import in let loop null package "
    "namespace return true var void while";

static void compile_arguments(struct compiler *c, struct value v, const struct command_spec *spec,
                              struct command *command)
{
    const struct cel_env *env = c->env;

    for (const struct argument *a = spec->arguments; a->spec.name != NULL; a++) {
        struct value field = compile_field(v, a->spec.name);
        size_t outer;

        if (field.kind == VALUE_ABSENT)
            continue;
        outer = compile_enter(c, str_of(a->spec.name));
        if (compile_sees_secrets(spec->type, a->field))
            c->env = compile_showing(c, ROOT_SECRETS);
        compile_argument(c, field, a, command);
        c->env = env;
        compile_leave(c, outer);
    }
}

/* --- the command --- */

static void count_call(struct tally *tally, enum command_type type)
{
    tally->http += type == COMMAND_HTTP;
    tally->notifications += type == COMMAND_EMAIL || type == COMMAND_SMS || type == COMMAND_PUSH;
}

/* The nearest command, else that of a word from elsewhere, else all of them. */
static void suggest_command(struct compiler *c, struct str name)
{
    struct str nearest = catalog_nearest(name);
    const char *ours;
    struct buf all;
    size_t at = 0;

    if (nearest.len == 0 && (ours = synonym_next(SYNONYM_COMMAND, name, &at)) != NULL)
        nearest = str_of(ours);
    if (nearest.len > 0) {
        compile_did_you_mean(c, nearest);
        return;
    }
    buf_init_arena(&all, c->mem);
    for (unsigned i = 0; i < COMMAND_TYPE_COUNT; i++)
        if (catalog_command((enum command_type)i)->place != PLACE_NODE)
            buf_printf(&all, "%s%s", i == 0 ? "" : ", ",
                       catalog_command((enum command_type)i)->name);
    compile_hint(c, "the commands are %.*s", STR_ARG(buf_view(&all)));
}

static const struct command_spec *compile_type(struct compiler *c, struct value v)
{
    const struct command_spec *spec = NULL;
    struct value type = compile_field(v, "type");
    size_t outer = compile_enter(c, STR("type"));

    if (type.kind == VALUE_ABSENT) {
        compile_error(c, FINDING_MISSING_FIELD, "a command needs a 'type'");
    } else if (type.kind != VALUE_STRING) {
        compile_wrong_type(c, type, "the name of a command");
    } else {
        struct str name = value_text(type);
        spec = catalog_find(name);
        if (spec == NULL) {
            compile_error(c, FINDING_UNKNOWN_COMMAND, "there is no command '%.*s'", STR_ARG(name));
            suggest_command(c, name);
        }
    }
    compile_leave(c, outer);
    return spec;
}

static bool is_root(struct str name)
{
    enum context_root root;

    return context_root_of(name, &root) || catalog_has_word(str_of(later_roots), name);
}

/* Whether another command that may run with this one has the name. */
static bool is_taken(const struct compile_scope *scope, struct str name)
{
    for (; scope != NULL; scope = scope->around)
        for (size_t i = 0; i < scope->names.count; i++)
            if (str_eq(scope->names.items[i].name, name) && !scope->names.items[i].is_hidden)
                return true;
    return false;
}

/* Let the commands that follow see this one's result. */
static void declare_as(struct compiler *c, struct command *command)
{
    size_t outer = compile_enter(c, STR("as"));
    struct str name = command->as;
    struct err err;

    if (!compile_is_name(name) || catalog_has_word(str_of(reserved_words), name)) {
        compile_error(c, FINDING_BAD_NAME,
                      "a name is a letter or '_', then letters, digits or '_', and no word that "
                      "expressions reserve");
    } else if (is_root(name)) {
        compile_error(c, FINDING_BAD_NAME, "'%.*s' would hide $.%.*s", STR_ARG(name),
                      STR_ARG(name));
    } else {
        if (is_taken(c->scope, name))
            compile_error(c, FINDING_DUPLICATE_NAME, "two commands have the name '%.*s'",
                          STR_ARG(name));
        *VEC_ADD(c->mem, &c->scope->names) = (struct scope_name){.name = name};
        if (!cel_env_variable(c->scope->env, name, STR("dyn"), &command->as_slot, &err))
            PANIC(err.message);
        shape_say_command(c, c->scope->env, command);
    }
    compile_leave(c, outer);
}

/* --- what commands of every type have --- */

static void add_rollback(struct compiler *c, struct value v, struct command *command)
{
    size_t outer = compile_enter(c, STR("rollback"));

    *VEC_ADD(c->mem, &c->scope->rollbacks) = (struct late_rollback){
        .command = command, .written = compile_field(v, "rollback"), .path = compile_pointer(c)};
    compile_leave(c, outer);
}

/* Of these a wait has none: its step does. */
static void refuse_on_wait(struct compiler *c, struct value v, const char *field)
{
    if (compile_has(v, field))
        compile_error_at(c, field, FINDING_MISPLACED, "a wait has no '%s'; write it in the step",
                         field);
}

/* How long a call may take, as far as it is written. */
static void count_timeout(struct compiler *c, const struct command *command)
{
    const struct mapping *m = command->fields[FIELD_TIMEOUT];
    const int64_t hour_us = INT64_C(3600) * 1000000; /* the longest that the engine takes */
    int64_t us = CALL_TIMEOUT_S * INT64_C(1000000);

    if (m != NULL && (m->kind != MAPPING_CONST || !define_duration_us(m->value, &us) || us <= 0))
        return;
    c->scope->tally.http_us += us < hour_us ? us : hour_us;
}

/* What every command has; one that only a node has says all of it beside `config`. */
static void compile_common(struct compiler *c, struct value v, const struct command_spec *spec,
                           struct command *command)
{
    if (spec->place == PLACE_NODE)
        return;
    if (compile_field(v, "result").kind != VALUE_ABSENT) {
        c->env = compile_showing(c, ROOT_RESPONSE);
        command->fields[FIELD_RESULT] = compile_mapping_of(c, v, "result");
        c->env = c->scope->env;
    }
    command->as = compile_text(c, v, "as");
    if (spec->ends == ENDS_WAITS) {
        refuse_on_wait(c, v, "optional");
        refuse_on_wait(c, v, "retry");
        refuse_on_wait(c, v, "rollback");
        return;
    }
    command->is_optional = compile_flag(c, v, "optional");
    command->retry = compile_own_retry(c, v);
    if (compile_has(v, "rollback"))
        add_rollback(c, v, command);
}

/* --- the command --- */

static void compile_flow_call(struct compiler *c, struct value v, struct command *command)
{
    struct value name = compile_field(v, "procedure");
    size_t outer = compile_enter(c, STR("procedure"));

    command->call.input = command->fields[FIELD_INPUT];
    command->fields[FIELD_INPUT] = NULL;
    if (name.kind == VALUE_STRING)
        command->call.procedure = library_procedure(c, value_text(name), &c->scope->tally);
    else if (name.kind != VALUE_ABSENT)
        compile_wrong_type(c, name, catalog_wanted(ARGUMENT_PROCEDURE));
    compile_leave(c, outer);
    if (command->call.procedure != NULL)
        compile_check_given(c, command->call.procedure, command->call.input);
}

/* One that is published later is started all the same. */
static void check_started(struct compiler *c, struct value v, struct command *command)
{
    const struct registry *registry = c->library->registry;
    const struct mapping *code = command->fields[FIELD_CODE];
    size_t outer = compile_enter(c, STR("code"));

    (void)v;
    if (registry != NULL && registry->process != NULL && !c->is_stored && code != NULL &&
        code->kind == MAPPING_CONST && code->value.kind == VALUE_STRING &&
        !(c->program != NULL && str_eq(c->program->code, value_text(code->value))) &&
        !registry->process(registry->context, value_text(code->value)))
        compile_warning(c, FINDING_UNKNOWN_PROCESS,
                        "no process '%.*s' is published: until one is, this step fails",
                        STR_ARG(value_text(code->value)));
    compile_leave(c, outer);
}

/* A name that is computed is looked up when the mail is made. */
static void check_template_named(struct compiler *c, struct value v, struct command *command)
{
    const struct registry *registry = c->library->registry;
    const struct mapping *code = command->fields[FIELD_TEMPLATE];
    size_t outer = compile_enter(c, STR("template"));

    (void)v;
    if (registry != NULL && registry->template != NULL && code != NULL &&
        code->kind == MAPPING_CONST && code->value.kind == VALUE_STRING && !c->is_stored &&
        !registry->template(registry->context, value_text(code->value))) {
        compile_error(c, FINDING_UNKNOWN_TEMPLATE, "there is no template '%.*s'",
                      STR_ARG(value_text(code->value)));
        compile_hint(c, "save it first, or apply both together");
    }
    compile_leave(c, outer);
}

static void check_query_limit(struct compiler *c, struct value v, struct command *command)
{
    const struct mapping *limit = command->fields[FIELD_LIMIT];
    size_t outer = compile_enter(c, STR("limit"));

    (void)v;
    if (limit != NULL && limit->kind == MAPPING_CONST && limit->value.kind == VALUE_INT &&
        limit->value.i > RECORD_QUERY_LIMIT_MAX)
        compile_stricter(c, FINDING_BAD_VALUE, "limit is at most %d; 'after' reads on",
                         RECORD_QUERY_LIMIT_MAX);
    compile_leave(c, outer);
}

/* The fields that say something only together, or that hold commands; NULL: there are none. */
static void (*const special[COMMAND_TYPE_COUNT])(struct compiler *c, struct value v,
                                                 struct command *command) = {
    [COMMAND_CALL] = compile_flow_call,
    [COMMAND_IF] = compile_bodies,
    [COMMAND_MATCH] = compile_bodies,
    [COMMAND_TRY] = compile_bodies,
    [COMMAND_VALIDATE] = compile_rules,
    [COMMAND_AGGREGATE] = compile_aggregate,
    [COMMAND_WAIT_SIGNAL] = compile_wait,
    [COMMAND_TASK_CREATE] = compile_task,
    [COMMAND_RECORD_QUERY] = check_query_limit,
    [COMMAND_START] = check_started,
    [COMMAND_HTTP] = compile_http,
    [COMMAND_EMAIL] = check_template_named,
    [COMMAND_CONDITION] = compile_node_condition,
    [COMMAND_VARIABLE_SET] = compile_node_variable,
    [COMMAND_MATH] = compile_node_math,
    [COMMAND_SLEEP] = compile_node_sleep,
};

static void compile_command(struct compiler *c, struct value v, struct command *command)
{
    const struct command_spec *spec;
    size_t guard;

    if (v.kind != VALUE_MAP) {
        compile_wrong_type(c, v, "a command: an object with a 'type'");
        return;
    }
    spec = c->scope->node != NULL ? c->scope->node : compile_type(c, v);
    c->scope->node = NULL;
    if (spec == NULL)
        return;
    command->type = spec->type;
    /* The type of a node stands beside what is written here. */
    if (spec->place == PLACE_NODE)
        command->written_hash += hash_int(spec->type);
    count_call(&c->scope->tally, spec->type);
    (void)compile_command_fields(c, v, spec);
    if (spec->place != PLACE_NODE)
        command->when = compile_when(c, v, "when");
    guard = cel_env_guard(c->scope->env, command->when, true);
    if (spec->place == PLACE_ALONE && !c->scope->may_wait)
        compile_error(c, FINDING_WAIT_NOT_ALONE,
                      "'%s' must be the only command of its step; give it a step of its own: "
                      "{\"code\": ..., \"procedure\": {\"type\": \"%s\", ...}}",
                      spec->name, spec->name);
    compile_arguments(c, v, spec, command);
    if (special[spec->type] != NULL)
        special[spec->type](c, v, command);
    if (spec->type == COMMAND_HTTP)
        count_timeout(c, command);
    compile_common(c, v, spec, command);
    cel_env_unguard(c->scope->env, guard);
    if (command->as.len > 0)
        declare_as(c, command);
}

/* A hash of what is written; the order of members does not count. */
static uint64_t written_hash(struct value v)
{
    uint64_t hash = hash_int(v.kind);

    switch (v.kind) {
    case VALUE_STRING:
        return hash ^ hash_bytes(v.text, v.len);
    case VALUE_LIST:
        for (uint32_t i = 0; i < v.len; i++)
            hash = hash_int(hash + written_hash(v.items[i]));
        return hash;
    case VALUE_MAP:
        for (uint32_t i = 0; i < v.map->count; i++)
            hash += hash_int(written_hash(v.map->entries[i].key) +
                             3 * written_hash(v.map->entries[i].value));
        return hash;
    default:
        return hash ^ hash_int(v.u);
    }
}

const struct command *compile_command_list(struct compiler *c, struct value written,
                                           uint32_t *out_count)
{
    bool is_list = written.kind == VALUE_LIST;
    uint32_t count = is_list ? written.len : 1;
    struct command *commands;

    if (count > COMMANDS_MAX) {
        compile_error(c, FINDING_LIMIT_COMMANDS, "a procedure has at most %d commands, not %u",
                      COMMANDS_MAX, count);
        count = COMMANDS_MAX;
    }
    commands = arena_zalloc(c->mem, (count + 1) * sizeof(*commands));
    for (uint32_t i = 0; i < count; i++) {
        size_t outer = is_list ? compile_enter_index(c, i) : c->path.len;
        struct compile_scope *scope = c->scope;

        scope->tally.commands++;
        commands[i].position =
            str_printf(c->mem, "%.*s%u", STR_ARG(scope->prefix), ++scope->position);
        commands[i].pointer = compile_pointer(c);
        commands[i].written_hash = written_hash(is_list ? written.items[i] : written);
        compile_command(c, is_list ? written.items[i] : written, &commands[i]);
        compile_leave(c, outer);
    }
    *out_count = count;
    return commands;
}
