/* flow.c - commands that hold others, or rules: flow.*, compute.validate, compute.aggregate. */
#include "define/compile/compile.h"
#include "define/compile/context.h"
#include "define/compile/library.h"
#include "define/compile/mapping.h"

/* --- bodies --- */

/* One body; names that other bodies of the command have given do not disturb it. */
static void compile_body(struct compiler *c, struct value v, const char *field, size_t first_name,
                         struct body *body)
{
    struct compile_scope *scope = c->scope;
    size_t outer = compile_enter(c, str_of(field));

    for (size_t i = first_name; i < scope->names.count; i++)
        scope->names.items[i].is_hidden = true;
    if (v.kind == VALUE_LIST || v.kind == VALUE_MAP)
        body->commands = compile_command_list(c, v, &body->count);
    else if (v.kind != VALUE_ABSENT)
        compile_wrong_type(c, v, catalog_wanted(ARGUMENT_COMMANDS));
    compile_leave(c, outer);
}

static void compile_cases(struct compiler *c, struct value v, size_t first_name,
                          struct command *command)
{
    struct value cases = compile_of_kind(c, v, "cases", VALUE_MAP, catalog_wanted(ARGUMENT_CASES));
    uint32_t count = cases.kind == VALUE_MAP ? cases.len : 0;
    struct body *bodies = arena_zalloc(c->mem, (count + 1) * sizeof(*bodies));
    size_t outer = compile_enter(c, STR("cases"));

    for (uint32_t i = 0; i < count; i++) {
        const struct value_entry *e = &cases.map->entries[i];
        /* A field's name ends with a zero byte; a key of JSON may not. */
        struct str key = str_copy(c->mem, value_text(e->key));

        bodies[i].match = e->key;
        compile_body(c, e->value, key.ptr, first_name, &bodies[i]);
    }
    compile_leave(c, outer);
    bodies[count].match = value_absent();
    compile_body(c, compile_field(v, "default"), "default", first_name, &bodies[count]);
    command->bodies = bodies;
    command->body_count = count + 1;
}

/* Of two bodies the second may be a `catch`, which sees $.error. */
static void compile_two(struct compiler *c, struct value v, const char *one, const char *other,
                        size_t first_name, struct command *command)
{
    struct str error = str_of(context_root_name(ROOT_ERROR));
    struct body *bodies = arena_zalloc(c->mem, 2 * sizeof(*bodies));

    for (int i = 0; i < 2; i++) {
        const char *field = i == 0 ? one : other;
        bool is_shown =
            command->type == COMMAND_TRY && i == BODY_CATCH && cel_env_show(c->scope->env, error);
        size_t guard =
            cel_env_guard(c->scope->env, command->expressions[FIELD_CONDITION], i == BODY_THEN);

        bodies[i].match = value_absent();
        compile_body(c, compile_field(v, field), field, first_name, &bodies[i]);
        cel_env_unguard(c->scope->env, guard);
        if (is_shown)
            cel_env_hide(c->scope->env, error);
    }
    command->bodies = bodies;
    command->body_count = 2;
}

void compile_bodies(struct compiler *c, struct value v, struct command *command)
{
    struct compile_scope *scope = c->scope;
    struct str prefix = scope->prefix;
    uint32_t position = scope->position;
    size_t first_name = scope->names.count;
    bool may_wait = scope->may_wait;

    if (scope->depth == BODY_DEPTH_MAX) {
        compile_error(c, FINDING_LIMIT_DEPTH, "commands stand more than %d deep within one another",
                      BODY_DEPTH_MAX);
        return;
    }
    scope->depth++;
    scope->may_wait = false;
    scope->prefix = str_printf(c->mem, "%.*s.", STR_ARG(command->position));
    scope->position = 0;
    if (command->type == COMMAND_MATCH)
        compile_cases(c, v, first_name, command);
    else if (command->type == COMMAND_IF)
        compile_two(c, v, "then", "else", first_name, command);
    else
        compile_two(c, v, "commands", "catch", first_name, command);
    for (size_t i = first_name; i < scope->names.count; i++)
        scope->names.items[i].is_hidden = false;
    scope->depth--;
    scope->may_wait = may_wait;
    scope->prefix = prefix;
    scope->position = position;
}

/* --- compute.validate --- */

void compile_rules(struct compiler *c, struct value v, struct command *command)
{
    struct value list = compile_of_kind(c, v, "rules", VALUE_LIST, catalog_wanted(ARGUMENT_RULES));
    uint32_t count = list.kind == VALUE_LIST ? list.len : 0;
    struct rule *rules = ARENA_ARRAY(c->mem, count + 1, struct rule);
    size_t outer = compile_enter(c, STR("rules"));

    if (list.kind == VALUE_LIST && count == 0)
        compile_error(c, FINDING_BAD_VALUE, "without a rule nothing is validated");
    for (uint32_t i = 0; i < count; i++) {
        struct value rule = list.items[i];
        size_t inner = compile_enter_index(c, i);

        rules[i] = (struct rule){0};
        if (compile_fields(c, rule, TABLE_RULE)) {
            rules[i].expr = compile_when(c, rule, "expr");
            rules[i].code = compile_value_of(c, rule, "code", ARGUMENT_TEXT);
            rules[i].message = compile_value_of(c, rule, "message", ARGUMENT_TEXT);
        }
        compile_leave(c, inner);
    }
    compile_leave(c, outer);
    command->rules = rules;
    command->rule_count = count;
}

/* --- compute.aggregate --- */

static void compile_aggregate_field(struct compiler *c, struct value v, struct aggregate *out)
{
    int op;

    if (!compile_fields(c, v, TABLE_AGGREGATE))
        return;
    op = compile_word(c, TABLE_AGGREGATE, v, "op");
    if (op >= 0)
        out->op = (enum aggregate_op)op;
    out->of = compile_expression_of(c, v, "of");
}

/*
 * Expressions over $.item, in a slot that no result of the procedure will have.
 * The slot is taken by a name that holds its number: a rollback extends the
 * environment of its procedure, where a name counted per procedure would find
 * a slot that is taken already.
 */
static const struct cel_env *item_env(struct compiler *c, struct command *command)
{
    struct compile_scope *scope = c->scope;
    struct cel_env *env = cel_env_extend(c->mem, scope->env);
    struct str name = str_printf(c->mem, "@item%u", cel_env_slot_count(scope->env));
    struct err err;
    uint32_t slot;

    if (!cel_env_variable(env, STR("item"), STR("dyn"), &command->item_slot, &err) ||
        !cel_env_variable(scope->env, name, STR("dyn"), &slot, &err))
        PANIC(err.message);
    ASSERT(slot == command->item_slot);
    return env;
}

void compile_aggregate(struct compiler *c, struct value v, struct command *command)
{
    struct value fields = compile_field(v, "fields");
    uint32_t count = fields.kind == VALUE_MAP ? fields.len : 0;
    struct aggregate *aggregates = ARENA_ARRAY(c->mem, count + 1, struct aggregate);
    const struct cel_env *outer_env = c->env;
    size_t outer;

    c->env = item_env(c, command);
    c->about = "item";
    command->expressions[FIELD_BY] = compile_expression_of(c, v, "by");
    outer = compile_enter(c, STR("fields"));
    if (fields.kind != VALUE_MAP && fields.kind != VALUE_ABSENT)
        compile_wrong_type(c, fields, catalog_wanted(ARGUMENT_AGGREGATES));
    else if (fields.kind == VALUE_MAP && count == 0)
        compile_error(c, FINDING_BAD_VALUE, "without a field nothing is aggregated");
    for (uint32_t i = 0; i < count; i++) {
        const struct value_entry *e = &fields.map->entries[i];
        size_t inner = compile_enter(c, value_text(e->key));

        aggregates[i] = (struct aggregate){.name = value_text(e->key)};
        compile_aggregate_field(c, e->value, &aggregates[i]);
        compile_leave(c, inner);
    }
    compile_leave(c, outer);
    c->env = outer_env;
    c->about = NULL;
    command->aggregates = aggregates;
    command->aggregate_count = count;
}
