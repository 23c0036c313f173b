/* command.c - the commands of a step, by the table in commands.def. */
#include "define/compile.h"
#include "value/timefmt.h"

/* Fields that commands of every type have. */
static const struct field_spec common_fields[] = {
    {"type", STATE_NOW},       {"as", STATE_NOW},         {"when", STATE_NOW},
    {"result", STATE_NOW},     {"optional", STATE_LATER}, {"retry", STATE_LATER},
    {"rollback", STATE_LATER},
};

/* Fields of waits for people and such. */
static const struct field_spec later_wait_fields[] = {
    {"accept", STATE_LATER}, {"correlation", STATE_LATER}, {"reminder", STATE_LATER},
    {"title", STATE_LATER},  {"assignee", STATE_LATER},    {"form", STATE_LATER},
    {"public", STATE_LATER},
};

enum {
    COMMON_COUNT = sizeof(common_fields) / sizeof(common_fields[0]),
    LATER_WAIT_COUNT = sizeof(later_wait_fields) / sizeof(later_wait_fields[0]),
};

/* Names that `as` may not have, because the context will: see roots.def for the others. */
static const char later_roots[] = "event secrets fn";

/* Names that expressions cannot use for a variable. */
static const char reserved_words[] =
    "as break const continue else false for function if import in let loop null package "
    "namespace return true var void while";

static bool check_fields(struct compiler *c, struct value v, const struct command_spec *spec)
{
    struct field_spec specs[COMMON_COUNT + LATER_WAIT_COUNT + COMMAND_ARGUMENTS_MAX];
    size_t count = COMMON_COUNT;

    memcpy(specs, common_fields, sizeof(common_fields));
    for (const struct argument *a = spec->arguments; a->need != ARGUMENT_END; a++)
        specs[count++] = (struct field_spec){catalog_field_name(a->field).ptr, STATE_NOW};
    if (spec->type == COMMAND_WAIT_SIGNAL) {
        memcpy(&specs[count], later_wait_fields, sizeof(later_wait_fields));
        count += LATER_WAIT_COUNT;
    }
    return compile_fields(c, v, specs, count);
}

/* --- arguments --- */

static bool is_whole_number(struct value v)
{
    return v.kind == VALUE_INT && v.i >= 0;
}

/* A constant in a field of that kind; a finding when it cannot stand there. */
static void check_constant(struct compiler *c, enum argument_kind kind, struct value v)
{
    struct value time;
    int64_t us;

    switch (kind) {
    case ARGUMENT_VALUE:
    case ARGUMENT_WORD:
    case ARGUMENT_CONDITION:
        return;
    case ARGUMENT_TEXT:
        if (v.kind != VALUE_STRING)
            compile_wrong_type(c, v, catalog_wanted(kind));
        else if (v.len == 0)
            compile_error(c, FINDING_BAD_VALUE, "this text may not be empty");
        return;
    case ARGUMENT_TEXTS:
        if (v.kind == VALUE_LIST && v.len == 0)
            compile_error(c, FINDING_BAD_VALUE, "this list may not be empty");
        for (uint32_t i = 0; v.kind == VALUE_LIST && i < v.len; i++) {
            size_t outer = compile_enter_index(c, i);
            check_constant(c, ARGUMENT_TEXT, v.items[i]);
            compile_leave(c, outer);
        }
        if (v.kind != VALUE_LIST && v.kind != VALUE_STRING)
            compile_wrong_type(c, v, catalog_wanted(kind));
        else if (v.kind == VALUE_STRING)
            check_constant(c, ARGUMENT_TEXT, v);
        return;
    case ARGUMENT_MAP:
        if (v.kind != VALUE_MAP)
            compile_wrong_type(c, v, catalog_wanted(kind));
        return;
    case ARGUMENT_INTEGER:
        if (!is_whole_number(v))
            compile_wrong_type(c, v, catalog_wanted(kind));
        return;
    case ARGUMENT_DURATION:
        (void)compile_duration(c, v, &us);
        return;
    case ARGUMENT_TIMESTAMP:
        if (v.kind != VALUE_STRING && v.kind != VALUE_TIMESTAMP)
            compile_wrong_type(c, v, catalog_wanted(kind));
        else if (v.kind == VALUE_STRING && !timestamp_read(value_text(v), &time) &&
                 !timestamp_read_date(value_text(v), &time))
            compile_error(c, FINDING_BAD_TIMESTAMP, "this must be %s", catalog_wanted(kind));
        return;
    case ARGUMENT_KIND_COUNT:
        break;
    }
    PANIC("unknown kind of argument");
}

/* An expression in a field of that kind: its type must be one that may stand there. */
static void check_type(struct compiler *c, enum argument_kind kind, const struct mapping *m)
{
    struct str types = catalog_types(kind), type = cel_program_type(m->program), word = type;
    int64_t open = str_find(type, STR("("), 0);

    if (open >= 0)
        word = str_slice(type, 0, (size_t)open);
    /* What an optional holds is only known when it is evaluated. */
    if (types.len == 0 || str_eq(word, STR("dyn")) || str_eq(word, STR("optional_type")) ||
        catalog_has_word(types, word))
        return;
    compile_error(c, FINDING_EXPRESSION_TYPE, "this must be %s, and it is of type %.*s",
                  catalog_wanted(kind), STR_ARG(type));
}

static void check_mapping(struct compiler *c, enum argument_kind kind, const struct mapping *m)
{
    bool ok = true;

    switch (m->kind) {
    case MAPPING_CONST:
        check_constant(c, kind, m->value);
        return;
    case MAPPING_PROGRAM:
        check_type(c, kind, m);
        return;
    case MAPPING_LIST:
        ok = kind == ARGUMENT_VALUE || kind == ARGUMENT_TEXTS;
        for (uint32_t i = 0; i < m->count && kind == ARGUMENT_TEXTS; i++) {
            size_t outer = compile_enter_index(c, i);
            check_mapping(c, ARGUMENT_TEXT, &m->items[i]);
            compile_leave(c, outer);
        }
        break;
    case MAPPING_MAP:
        ok = kind == ARGUMENT_VALUE || kind == ARGUMENT_MAP;
        break;
    }
    if (!ok)
        compile_error(c, FINDING_WRONG_TYPE, "this must be %s, not %s", catalog_wanted(kind),
                      m->kind == MAPPING_LIST ? "a list" : "an object");
}

static bool is_jump(struct value v)
{
    return v.kind == VALUE_MAP && v.len == 1 && compile_field(v, "to").kind == VALUE_STRING;
}

static void compile_argument(struct compiler *c, struct value v, const struct argument *a,
                             struct command *command)
{
    struct mapping *word;
    const struct mapping *m;

    if (a->kind == ARGUMENT_CONDITION) {
        command->expressions[a->field] = compile_condition(c, v);
    } else if (a->kind == ARGUMENT_WORD) {
        if (a->field == FIELD_ON_TIMEOUT && is_jump(v)) {
            compile_error(c, FINDING_NOT_SUPPORTED_YET, "a jump on timeout is not supported yet");
            return;
        }
        (void)compile_find_word(c, v, a->words);
        word = ARENA_NEW(c->mem, struct mapping);
        *word = (struct mapping){.kind = MAPPING_CONST, .value = v, .pointer = compile_pointer(c)};
        command->fields[a->field] = word;
    } else {
        size_t before = c->findings->count;
        m = compile_mapping(c, v);
        /* A bad expression says nothing about the type. */
        if (c->findings->count == before)
            check_mapping(c, a->kind, m);
        command->fields[a->field] = m;
    }
}

static void compile_arguments(struct compiler *c, struct value v, const struct command_spec *spec,
                              struct command *command)
{
    for (const struct argument *a = spec->arguments; a->need != ARGUMENT_END; a++) {
        struct str name = catalog_field_name(a->field);
        struct value field = value_map_get_str(v, name);
        size_t outer;

        if (field.kind == VALUE_ABSENT) {
            if (a->need == ARGUMENT_NEEDED)
                compile_missing(c, name.ptr);
            continue;
        }
        outer = compile_enter(c, name);
        compile_argument(c, field, a, command);
        compile_leave(c, outer);
    }
}

/* --- the command --- */

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
        if (spec == NULL && catalog_is_later(name)) {
            compile_error(c, FINDING_NOT_SUPPORTED_YET, "the command '%.*s' is not supported yet",
                          STR_ARG(name));
        } else if (spec == NULL) {
            compile_error(c, FINDING_UNKNOWN_COMMAND, "there is no command '%.*s'", STR_ARG(name));
            compile_did_you_mean(c, catalog_nearest(name));
        }
    }
    compile_leave(c, outer);
    return spec;
}

static bool is_root(struct str name)
{
    static const char *const roots[] = {
#define ROOT(symbol, root_name, type) root_name,
#include "define/roots.def"
#undef ROOT
    };

    for (size_t i = 0; i < ROOT_COUNT; i++)
        if (str_eq(name, str_of(roots[i])))
            return true;
    return catalog_has_word(str_of(later_roots), name);
}

/* Let the commands that follow see this one's result. */
static void declare_as(struct compiler *c, struct cel_env *env, const struct procedure *procedure,
                       struct command *command)
{
    size_t outer = compile_enter(c, STR("as"));
    struct err err;

    if (!compile_is_name(command->as) || catalog_has_word(str_of(reserved_words), command->as)) {
        compile_error(c, FINDING_BAD_NAME,
                      "a name is a letter or '_', then letters, digits or '_', and no word that "
                      "expressions reserve");
    } else if (is_root(command->as)) {
        compile_error(c, FINDING_BAD_NAME, "'%.*s' would hide $.%.*s", STR_ARG(command->as),
                      STR_ARG(command->as));
    } else {
        for (const struct command *other = procedure->commands; other != command; other++)
            if (str_eq(other->as, command->as))
                compile_error(c, FINDING_DUPLICATE_NAME, "two commands have the name '%.*s'",
                              STR_ARG(command->as));
        if (!cel_env_variable(env, command->as, STR("dyn"), &command->as_slot, &err))
            PANIC(err.message);
    }
    compile_leave(c, outer);
}

static void compile_common(struct compiler *c, struct value v, struct command *command)
{
    struct value field = compile_field(v, "when");
    size_t outer;

    if (field.kind != VALUE_ABSENT) {
        outer = compile_enter(c, STR("when"));
        command->when = compile_condition(c, field);
        compile_leave(c, outer);
    }
    field = compile_field(v, "result");
    if (field.kind != VALUE_ABSENT) {
        outer = compile_enter(c, STR("result"));
        command->fields[FIELD_RESULT] = compile_mapping(c, field);
        compile_leave(c, outer);
    }
    command->as = compile_text(c, v, "as");
}

static const struct wait *compile_wait(struct compiler *c, const struct command *command)
{
    struct wait *wait = ARENA_NEW(c->mem, struct wait);
    const struct mapping *then = command->fields[FIELD_ON_TIMEOUT];

    if (then != NULL && then->value.kind == VALUE_STRING &&
        str_eq(value_text(then->value), STR("continue")))
        wait->on_timeout = ON_TIMEOUT_CONTINUE;
    return wait;
}

static void compile_command(struct compiler *c, struct value v, bool is_alone,
                            struct command *command)
{
    const struct command_spec *spec;

    if (v.kind != VALUE_MAP) {
        compile_wrong_type(c, v, "a command: an object with a 'type'");
        return;
    }
    spec = compile_type(c, v);
    if (spec == NULL)
        return;
    command->type = spec->type;
    (void)check_fields(c, v, spec);
    if (spec->place == PLACE_ALONE && !is_alone)
        compile_error(c, FINDING_WAIT_NOT_ALONE, "'%s' must be the only command of its step",
                      spec->name);
    compile_arguments(c, v, spec, command);
    if (spec->type == COMMAND_WAIT_SIGNAL)
        command->wait = compile_wait(c, command);
    compile_common(c, v, command);
}

const struct procedure *compile_commands(struct compiler *c, struct value written)
{
    struct procedure *p = ARENA_NEW(c->mem, struct procedure);
    const struct cel_env *outer_env = c->env;
    struct cel_env *env = cel_env_extend(c->mem, outer_env);
    bool is_list = written.kind == VALUE_LIST;
    uint32_t count = is_list ? written.len : 1;
    struct command *commands;

    if (count > STEP_COMMANDS_MAX) {
        compile_error(c, FINDING_TOO_MANY_COMMANDS, "a step has at most %d commands, not %u",
                      STEP_COMMANDS_MAX, count);
        count = STEP_COMMANDS_MAX;
    }
    if (count == 0)
        compile_error(c, FINDING_BAD_VALUE, "a procedure needs at least one command");
    commands = arena_zalloc(c->mem, (count + 1) * sizeof(*commands));
    p->commands = commands;
    p->command_count = count;
    c->env = env;
    for (uint32_t i = 0; i < count; i++) {
        size_t outer = is_list ? compile_enter_index(c, i) : c->path.len;
        commands[i].position = str_printf(c->mem, "%u", i + 1);
        commands[i].pointer = compile_pointer(c);
        compile_command(c, is_list ? written.items[i] : written, count == 1, &commands[i]);
        if (commands[i].as.len > 0)
            declare_as(c, env, p, &commands[i]);
        compile_leave(c, outer);
    }
    p->slot_count = cel_env_slot_count(env);
    c->env = outer_env;
    return p;
}
