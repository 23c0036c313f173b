/*
 * node_command.c - what `config` of the nodes of a schema says only together: see node_types.def.
 */
#include "define/compile/compile.h"
#include "define/compile/graph.h"
#include "define/compile/library.h"
#include "define/compile/mapping.h"

/* --- condition --- */

/* Branches that an edge has of itself. */
static bool is_own_branch(struct str branch)
{
    return catalog_has_word(STR("default error"), branch);
}

static void check_branch_name(struct compiler *c, const struct branch_case *cases, uint32_t i)
{
    size_t outer = compile_enter(c, STR("branch"));
    struct str branch = cases[i].branch;

    if (branch.len == 0 || branch.len > NAME_MAX_LEN)
        compile_error(c, FINDING_BAD_NAME, "a branch has a name of 1 to %d bytes", NAME_MAX_LEN);
    else if (is_own_branch(branch))
        compile_error(c, FINDING_BAD_NAME, "the edge '%.*s' is there without a case",
                      STR_ARG(branch));
    for (uint32_t k = 0; branch.len > 0 && k < i; k++)
        if (str_eq(cases[k].branch, branch)) {
            compile_error(c, FINDING_DUPLICATE_NAME, "two cases have the branch '%.*s'",
                          STR_ARG(branch));
            break;
        }
    compile_leave(c, outer);
}

static void compile_branch_cases(struct compiler *c, struct value list, struct command *command)
{
    struct branch_case *cases = ARENA_ARRAY(c->mem, list.len + 1u, struct branch_case);

    for (uint32_t i = 0; i < list.len; i++) {
        size_t item = compile_enter_index(c, i);

        cases[i] = (struct branch_case){0};
        if (compile_fields(c, list.items[i], TABLE_BRANCH_CASE)) {
            cases[i].branch = compile_text(c, list.items[i], "branch");
            if (compile_field(list.items[i], "branch").kind == VALUE_STRING)
                check_branch_name(c, cases, i);
            (void)compile_text(c, list.items[i], "name");
            cases[i].expression = compile_when(c, list.items[i], "expression");
        }
        compile_leave(c, item);
    }
    command->branch_cases = cases;
    command->branch_case_count = list.len;
}

void compile_node_condition(struct compiler *c, struct value v, struct command *command)
{
    struct value list = compile_field(v, "cases");
    size_t outer = compile_enter(c, STR("cases"));

    if (list.kind == VALUE_LIST && list.len > BRANCH_CASES_MAX)
        compile_error(c, FINDING_BAD_VALUE, "a condition has at most %d cases", BRANCH_CASES_MAX);
    else if (list.kind == VALUE_LIST && list.len == 0)
        compile_error(c, FINDING_BAD_VALUE, "this list may not be empty");
    else if (list.kind == VALUE_LIST)
        compile_branch_cases(c, list, command);
    else if (list.kind != VALUE_ABSENT)
        compile_wrong_type(c, list, catalog_wanted(ARGUMENT_BRANCHES));
    compile_leave(c, outer);
    if (compile_has(v, "expression") == (list.kind != VALUE_ABSENT)) {
        compile_error(c, FINDING_ONE_OF, "a condition has either 'expression' or 'cases'");
        compile_hint(c, "write %s", "\"expression\": \"steps.http_1.output.status_code == 200\"");
    }
}

/* --- variable_set --- */

void compile_node_variable(struct compiler *c, struct value v, struct command *command)
{
    const struct mapping *name = command->fields[FIELD_NAME];
    bool has_name = compile_has(v, "name");
    bool has_value = compile_field(v, "value").kind != VALUE_ABSENT;

    if (has_name == compile_has(v, "values") || has_name != has_value) {
        compile_error(c, FINDING_ONE_OF, "a variable is set by 'name' and 'value', or by 'values'");
        compile_hint(c, "write %s", "\"name\": \"price\", \"value\": 100");
    }
    if (name != NULL && name->kind == MAPPING_CONST && name->value.kind == VALUE_STRING &&
        name->value.len > 0 && !compile_is_name(value_text(name->value)))
        compile_error_at(c, "name", FINDING_BAD_NAME,
                         "a name is a letter or '_', then letters, digits or '_'");
}

/* --- math --- */

static const struct {
    const char *name;
    unsigned operands;
} operations[] = {
#define MATH_OPERATION(symbol, name, operands) {name, operands},
#include "define/catalog/math_operations.def"
#undef MATH_OPERATION
};

static void check_operand(struct compiler *c, struct value v, const struct command *command,
                          enum command_field field, bool is_wanted)
{
    const struct mapping *m = command->fields[field];
    struct str name = catalog_field_name(field);
    size_t outer;

    if (is_wanted && compile_field(v, name.ptr).kind == VALUE_ABSENT)
        compile_missing(c, name.ptr);
    if (m == NULL)
        return;
    outer = compile_enter(c, name);
    if (!is_wanted)
        compile_error(c, FINDING_MISPLACED, "this operation has no second operand");
    else if (m->kind == MAPPING_PROGRAM)
        compile_check_type(c, m->program, STR("int uint double number"), "a number");
    else if (m->kind != MAPPING_CONST ||
             (m->value.kind != VALUE_INT && m->value.kind != VALUE_DOUBLE))
        compile_wrong_type(c, compile_field(v, name.ptr), "a number");
    compile_leave(c, outer);
}

void compile_node_math(struct compiler *c, struct value v, struct command *command)
{
    const struct mapping *word = command->fields[FIELD_OPERATION];
    size_t outer;

    if (compile_has(v, "expression") == compile_has(v, "operation")) {
        compile_error(c, FINDING_ONE_OF, "a calculation has either 'expression' or 'operation'");
        compile_hint(c, "write %s", "\"operation\": \"add\", \"a\": \"$.input.price\", \"b\": 1");
        return;
    }
    if (compile_has(v, "expression")) {
        if (compile_has(v, "a") || compile_has(v, "b"))
            compile_error(c, FINDING_MISPLACED, "'a' and 'b' belong to an operation");
        outer = compile_enter(c, STR("expression"));
        if (command->expressions[FIELD_EXPRESSION] != NULL)
            compile_check_type(c, command->expressions[FIELD_EXPRESSION],
                               STR("int uint double number"), "a number");
        compile_leave(c, outer);
        return;
    }
    for (unsigned i = 0; word != NULL && i < MATH_OPERATION_COUNT; i++)
        if (word->value.kind == VALUE_STRING &&
            str_eq(value_text(word->value), str_of(operations[i].name))) {
            command->operation = (enum math_operation)i;
            check_operand(c, v, command, FIELD_A, true);
            check_operand(c, v, command, FIELD_B, operations[i].operands == 2);
        }
}

/* --- sleep --- */

void compile_node_sleep(struct compiler *c, struct value v, struct command *command)
{
    (void)command;
    if (compile_has(v, "duration") == compile_has(v, "until")) {
        compile_error(c, FINDING_ONE_OF, "a sleep has either 'duration' or 'until'");
        compile_hint(c, "write %s", "\"duration\": \"10m\"");
    }
}
