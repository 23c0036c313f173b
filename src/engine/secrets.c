/* secrets.c - which values of an execution in memory are to be hidden; see show.h. */
#include "define/program.h"
#include "engine/execution.h"
#include "engine/show.h"

static const struct wait *wait_of(const struct step *step)
{
    const struct procedure *p = step->kind == STEP_PROCEDURE ? step->procedure : NULL;

    return p != NULL && p->kind == PROCEDURE_INLINE ? p->commands[0].wait : NULL;
}

/* What the people who answered have put into sensitive fields of a form. */
static void learn_answers(struct arena *mem, const struct execution *x, struct mask *out)
{
    struct shared_iter iter = signals_last(&x->signals, x->signals.list.count);
    const struct signal *signal;

    while ((signal = signals_next(&x->signals, &iter)) != NULL)
        mask_learn_answer(mem, out, value_map_get_str(signal->view, STR("payload")));
    for (uint32_t i = 0; i < x->program->step_count; i++) {
        struct value output = x->steps[i].output;
        if (wait_of(&x->program->steps[i]) != NULL && output.kind == VALUE_MAP)
            mask_learn_answer(mem, out, value_map_get_str(output, STR("payload")));
    }
}

void show_mask(struct arena *mem, const struct execution *x, struct mask *out)
{
    const struct program *p = x->program;

    *out = (struct mask){0};
    for (uint32_t i = 0; i < p->param_count; i++)
        if (p->params[i].sensitive)
            mask_add(mem, out, p->params[i].name);
    for (uint32_t i = 0; i < p->step_count; i++) {
        const struct wait *wait = wait_of(&p->steps[i]);
        for (uint32_t f = 0; wait != NULL && f < wait->form_count; f++)
            if (wait->form[f].sensitive)
                mask_add_field(mem, out, wait->form[f].name);
    }
    if (mask_is_empty(out))
        return;
    mask_learn(mem, out, x->input);
    if (x->has_new_input)
        mask_learn(mem, out, x->first_input);
    if (out->fields.count > 0)
        learn_answers(mem, x, out);
    mask_seal(mem, out);
}
