/* argument.c - the fields of a command, each by its kind in argument_kinds.def. */
#include "define/compile/compile.h"
#include "define/compile/context.h"
#include "define/compile/library.h"
#include "define/compile/mapping.h"
#include "value/timefmt.h"

#define KIND(symbol) (1u << VALUE_##symbol)
/* The kinds of value that a constant may be in a field; 0: any, or read by other rules. */
static const uint32_t constant_kinds[ARGUMENT_KIND_COUNT] = {
    [ARGUMENT_TEXT] = KIND(STRING),
    [ARGUMENT_URL] = KIND(STRING),
    [ARGUMENT_PATH] = KIND(STRING),
    [ARGUMENT_LINE] = KIND(STRING),
    [ARGUMENT_TEXTS] = KIND(STRING) | KIND(LIST),
    [ARGUMENT_MAP] = KIND(MAP),
    [ARGUMENT_LIST] = KIND(LIST),
    [ARGUMENT_FLAG] = KIND(BOOL),
    [ARGUMENT_INTEGER] = KIND(INT),
    [ARGUMENT_TIMESTAMP] = KIND(STRING) | KIND(TIMESTAMP),
};
#undef KIND

static void check_constant(struct compiler *c, enum argument_kind kind, struct value v);

static void check_texts(struct compiler *c, struct value list)
{
    if (list.len == 0)
        compile_error(c, FINDING_BAD_VALUE, "this list may not be empty");
    for (uint32_t i = 0; i < list.len; i++) {
        size_t outer = compile_enter_index(c, i);
        check_constant(c, ARGUMENT_TEXT, list.items[i]);
        compile_leave(c, outer);
    }
}

static bool is_time(struct value v)
{
    struct value time;

    return v.kind == VALUE_TIMESTAMP || timestamp_read(value_text(v), &time) ||
           timestamp_read_date(value_text(v), &time);
}

/* A constant in a field of that kind; a finding when it cannot stand there. */
static void check_constant(struct compiler *c, enum argument_kind kind, struct value v)
{
    uint32_t kinds = constant_kinds[kind];
    bool is_text = (constant_kinds[kind] & 1u << VALUE_STRING) != 0 && kind != ARGUMENT_TIMESTAMP;

    if ((kinds != 0 && (kinds & 1u << v.kind) == 0) || (kind == ARGUMENT_INTEGER && v.i < 0))
        compile_wrong_type(c, v, catalog_wanted(kind));
    else if (is_text && v.kind == VALUE_LIST)
        check_texts(c, v);
    else if (is_text && v.len == 0)
        compile_error(c, FINDING_BAD_VALUE, "this text may not be empty");
    else if (kind == ARGUMENT_DURATION)
        (void)compile_span(c, v);
    else if (kind == ARGUMENT_TIMESTAMP && !is_time(v))
        compile_error(c, FINDING_BAD_TIMESTAMP, "this must be %s", catalog_wanted(kind));
}

static void check_mapping(struct compiler *c, enum argument_kind kind, const struct mapping *m)
{
    bool ok = true;

    switch (m->kind) {
    case MAPPING_CONST:
        check_constant(c, kind, m->value);
        return;
    case MAPPING_PROGRAM:
        compile_check_type(c, m->program, catalog_types(kind), catalog_wanted(kind));
        return;
    case MAPPING_LIST:
        ok = kind == ARGUMENT_VALUE || kind == ARGUMENT_TEXTS || kind == ARGUMENT_LIST;
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

const struct mapping *compile_value(struct compiler *c, struct value v, enum argument_kind kind)
{
    uint32_t before = c->errors;
    bool is_url = (kind == ARGUMENT_URL || kind == ARGUMENT_PATH) && c->rules >= RULES_URL_VALUES;
    const struct mapping *m =
        is_url ? compile_url(c, v, kind == ARGUMENT_PATH) : compile_mapping(c, v);

    /* A bad expression says nothing about the type. */
    if (c->errors == before)
        check_mapping(c, kind, m);
    return m;
}

static const struct mapping *compile_one_word(struct compiler *c, struct value v,
                                              const struct argument *a)
{
    struct mapping *word = ARENA_NEW(c->mem, struct mapping);

    if (a->field == FIELD_ON_TIMEOUT &&
        (v.kind != VALUE_STRING || !catalog_has_word(str_of(a->spec.words), value_text(v))))
        compile_error(c, FINDING_BAD_VALUE,
                      "onTimeout must be \"fail\", \"continue\" or {\"to\": the code of a step}");
    else
        (void)compile_find_word(c, v, a->spec.words);
    *word = (struct mapping){.kind = MAPPING_CONST, .value = v, .pointer = compile_pointer(c)};
    return word;
}

/* The types of signals that a wait takes are those that $.signal.type can be. */
static void say_signal_types(struct compiler *c, struct cel_env *env, const struct mapping *types)
{
    bool is_list = types != NULL && types->value.kind == VALUE_LIST;
    uint32_t count = is_list ? types->value.len : 1;
    struct str *words = ARENA_ARRAY(c->mem, count + 1, struct str);

    if (types == NULL || types->kind != MAPPING_CONST)
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct value type = is_list ? types->value.items[i] : types->value;
        if (type.kind != VALUE_STRING)
            return;
        words[i] = value_text(type);
    }
    cel_env_words(env, STR("signal"), STR("type"), words, count);
}

/* Two conditions are about something that they alone see. */
static void compile_condition_field(struct compiler *c, struct value v, const struct argument *a,
                                    struct command *command)
{
    const struct cel_env *outer_env = c->env;
    struct cel_env *env;

    if (a->field == FIELD_WHERE) {
        c->env = compile_showing(c, ROOT_RECORD);
        c->about = "record";
    }
    if (a->field == FIELD_MATCH) {
        c->about = "signal.payload";
        env = compile_showing(c, ROOT_SIGNAL);
        say_signal_types(c, env, command->fields[FIELD_SIGNAL_TYPE]);
        c->env = env;
    }
    command->expressions[a->field] = compile_condition(c, v);
    c->env = outer_env;
    c->about = NULL;
}

void compile_argument(struct compiler *c, struct value v, const struct argument *a,
                      struct command *command)
{
    switch (a->kind) {
    case ARGUMENT_CONDITION:
        compile_condition_field(c, v, a, command);
        return;
    case ARGUMENT_EXPRESSION:
        command->expressions[a->field] = compile_expression(c, v);
        return;
    case ARGUMENT_WORD:
        /* A jump is read with the rest of the wait, a trigger with the schema. */
        if ((a->field != FIELD_ON_TIMEOUT && a->field != FIELD_TRIGGER) || v.kind != VALUE_MAP)
            command->fields[a->field] = compile_one_word(c, v, a);
        return;
    case ARGUMENT_ITEM:
    case ARGUMENT_COMMANDS:
    case ARGUMENT_CASES:
    case ARGUMENT_BRANCHES:
    case ARGUMENT_RULES:
    case ARGUMENT_AGGREGATES:
    case ARGUMENT_PROCEDURE:
    case ARGUMENT_REMINDER:
    case ARGUMENT_FORM:
    case ARGUMENT_FACTS:
    case ARGUMENT_CONSEQUENCES:
        return; /* by the command as a whole */
    case ARGUMENT_VALUE:
    case ARGUMENT_TEXT:
    case ARGUMENT_URL:
    case ARGUMENT_PATH:
    case ARGUMENT_LINE:
    case ARGUMENT_TEXTS:
    case ARGUMENT_MAP:
    case ARGUMENT_LIST:
    case ARGUMENT_FLAG:
    case ARGUMENT_INTEGER:
    case ARGUMENT_DURATION:
    case ARGUMENT_TIMESTAMP:
        command->fields[a->field] = compile_value(c, v, a->kind);
        return;
    case ARGUMENT_KIND_COUNT:
        break;
    }
    PANIC("unknown kind of argument");
}
