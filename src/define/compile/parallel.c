/* parallel.c - what runs at once: parallel steps, and loops with `concurrency`. */
#include "define/compile/compile.h"
#include "define/compile/scenario.h"

/* How many branches must end before the step is done. */
static void compile_join(struct compiler *c, struct value v, struct step *step)
{
    struct value join = compile_field(v, "join");
    size_t outer = compile_enter(c, STR("join"));

    step->join = step->block_count;
    if (join.kind == VALUE_STRING) {
        if (compile_find_word(c, join, "all any") == 1)
            step->join = 1;
    } else if (join.kind == VALUE_INT) {
        if (join.i < 1 || join.i > (int64_t)step->block_count)
            compile_error(c, FINDING_BAD_VALUE,
                          "this must be a number from 1 to %u, the number of branches",
                          step->block_count);
        else
            step->join = (uint32_t)join.i;
    } else if (join.kind != VALUE_ABSENT && join.kind != VALUE_NULL) {
        compile_wrong_type(c, join, "\"all\", \"any\" or a number");
    }
    compile_leave(c, outer);
}

void compile_parallel(struct compiler *c, struct value v, struct step *step)
{
    size_t outer = compile_enter(c, STR("parallel"));

    (void)compile_fields(c, v, TABLE_PARALLEL);
    if (step->block_count > 0)
        compile_join(c, v, step);
    compile_leave(c, outer);
}

/* --- variables in rounds that run at once --- */

static bool sets_variables(const struct command *commands, uint32_t count,
                           const struct command **found)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct command *command = &commands[i];
        const struct procedure *called = command->call.procedure;
        bool sets = command->type == COMMAND_SET;

        *found = command;
        if (command->type == COMMAND_CALL && called != NULL) {
            sets = sets_variables(called->commands, called->command_count, found);
            *found = command;
        }
        for (uint32_t k = 0; k < command->body_count && !sets; k++)
            sets = sets_variables(command->bodies[k].commands, command->bodies[k].count, found);
        if (sets)
            return true;
    }
    return false;
}

void check_rounds(struct compiler *c, const struct program *p)
{
    struct str here = compile_pointer(c);

    for (uint32_t i = 0; i < p->step_count; i++) {
        const struct step *step = &p->steps[i];
        const struct procedure *run = step->procedure;
        const struct command *command;

        if (step->rounds == 0 || run == NULL ||
            !sets_variables(run->commands, run->command_count, &command))
            continue;
        buf_clear(&c->path);
        if (run->kind == PROCEDURE_INLINE)
            buf_str(&c->path, command->pointer);
        else
            buf_printf(&c->path, "%.*s/procedure", STR_ARG(step->pointer));
        c->step = step->code;
        compile_error(c, FINDING_MISPLACED,
                      "rounds that run at once cannot set variables: let 'collect' of the loop "
                      "'%.*s' gather what each of them answers",
                      STR_ARG(p->steps[step->rounds - 1].code));
    }
    c->step = STR_NONE;
    buf_clear(&c->path);
    buf_str(&c->path, here);
}
