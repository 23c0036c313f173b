/*
 * form.c - a form that is stored by itself, without the definition it was written in; see define.h.
 *
 * Its conditions (`requiredWhen`) are expressions, so it is compiled: as the
 * form of a wait, which is the definition that forms come from.
 */
#include "define/define.h"

#include "define/program.h"
#include "value/json.h"

static const char around[] = "{\"code\":\"form\",\"steps\":[{\"code\":\"wait\",\"procedure\":"
                             "{\"type\":\"wait.signal\",\"signalType\":\"answer\",\"form\":";

void define_check_form(struct arena *mem, struct str form_json, struct str at, struct value given,
                       struct value *out, struct findings *findings)
{
    static const struct registry stored = {.is_stored = true};
    const struct program *program = NULL;
    struct findings ignored = {0};
    struct value definition;
    const struct wait *wait;
    struct err err;

    *out = given;
    if (!json_read(mem, str_printf(mem, "%s%.*s}}]}", around, STR_ARG(form_json)), &definition,
                   &err))
        return;
    define_compile(mem, define_env(mem), &stored, KIND_SCENARIO, definition, 0, &ignored, &program);
    /* It compiled when it was saved. */
    if (program == NULL)
        return;
    wait = program->steps[0].procedure->commands[0].wait;
    if (wait->form != NULL)
        define_check_params(mem, wait->form, wait->form_count, at, given, out, findings);
    program_release(program);
}
