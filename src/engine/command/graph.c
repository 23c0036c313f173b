/* graph.c - what the nodes of a schema do that no other command does; see command.h. */
#include "engine/command/command.h"

static enum step_result graph_branch(struct turn *t, struct str branch, struct value *out)
{
    *out = value_map_of(t->mem, VALUE_ENTRIES({value_key(STR("branch")), value_string(branch)}));
    return STEP_DONE;
}

/* {branch}: the first case that holds, else "default"; or "true" and "false" of one expression. */
static enum step_result run_condition(struct turn *t, const struct command *c, struct value *out)
{
    bool holds = false;

    if (c->branch_case_count == 0) {
        if (command_condition(t, c->expressions[FIELD_EXPRESSION], "expression", c->pointer,
                              &holds) != STEP_DONE)
            return STEP_FAILED;
        return graph_branch(t, holds ? STR("true") : STR("false"), out);
    }
    for (uint32_t i = 0; i < c->branch_case_count; i++) {
        if (command_condition_at(t, c->branch_cases[i].expression, c->pointer, "cases", i,
                                 "expression", &holds) != STEP_DONE)
            return STEP_FAILED;
        if (holds)
            return graph_branch(t, c->branch_cases[i].branch, out);
    }
    return graph_branch(t, STR("default"), out);
}

/* The variables that the node sets, and its result: {name: value}, or `values`. */
static enum step_result run_variable_set(struct turn *t, const struct command *c, struct value *out)
{
    struct value_entry *entry;
    struct value v;
    struct str name;
    size_t count = 0;

    if (c->fields[FIELD_VALUES] != NULL) {
        if (!command_field(t, c, FIELD_VALUES, out))
            return STEP_FAILED;
    } else {
        if (!command_text(t, c, FIELD_NAME, STR_NONE, &name) ||
            !command_field(t, c, FIELD_VALUE, &v))
            return STEP_FAILED;
        entry = ARENA_NEW(t->mem, struct value_entry);
        value_entry_add(entry, &count, name, v);
        *out = value_map_take(t->mem, entry, count);
    }
    return command_set_variables(t, *out);
}

/* Without `result` an execution answers with what the node before the end gave. */
static struct value last_result(const struct turn *t)
{
    const struct execution *x = t->x;
    const struct step_state *last = x->last_done > 0 ? &x->steps[x->last_done - 1] : NULL;

    return last != NULL && last->outcome == OUTCOME_COMPLETED ? last->output : value_null();
}

enum step_result graph_run(struct turn *t, const struct command *c, struct value *out)
{
    if (c->type == COMMAND_CONDITION)
        return run_condition(t, c, out);
    if (c->type == COMMAND_VARIABLE_SET)
        return run_variable_set(t, c, out);
    /* A `result` of the end is made by command_shape(). */
    *out = c->type == COMMAND_NODE_START     ? value_map_empty()
           : c->fields[FIELD_RESULT] != NULL ? value_null()
                                             : last_result(t);
    return STEP_DONE;
}
