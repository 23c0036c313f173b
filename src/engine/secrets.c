/*
 * secrets.c - which values of an execution in memory are to be hidden; see show.h and state.h.
 *
 * What people have put into sensitive fields of a form is learned from the signals and results that
 * the execution holds. When a signal leaves, what was sensitive in it stays: variables and records
 * may hold it still.
 */
#include "define/program.h"
#include "engine/execution.h"
#include "engine/show.h"
#include "engine/state.h"

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

/* The sensitive ones among parameters, and those within others. */
static void add_names(struct arena *mem, const struct param *params, uint32_t count,
                      struct str around, struct mask *out,
                      void (*add)(struct arena *mem, struct mask *m, struct str name))
{
    for (uint32_t i = 0; i < count; i++) {
        const struct param *p = &params[i];
        struct str name = around.len == 0
                              ? p->name
                              : str_printf(mem, "%.*s.%.*s", STR_ARG(around), STR_ARG(p->name));

        /* The items of a list are called as the list is. */
        for (; !p->sensitive && p->item != NULL; p = p->item)
            ;
        if (p->sensitive)
            add(mem, out, name);
        else
            add_names(mem, p->fields, p->field_count, name, out, add);
    }
}

static void add_fields(struct arena *mem, const struct program *p, struct mask *out)
{
    for (uint32_t i = 0; i < p->step_count; i++) {
        const struct wait *wait = wait_of(&p->steps[i]);
        if (wait != NULL)
            add_names(mem, wait->form, wait->form_count, STR_NONE, out, mask_add_field);
    }
}

/* --- of signals that have left --- */

enum { KEPT_SECRETS_MAX = 2000, KEPT_BYTES_MAX = 64 * 1024 };

static void learn_kept(struct arena *mem, const struct execution *x, struct mask *out)
{
    struct shared_iter iter = {0};
    const struct value *v;

    while ((v = items_next(&x->secrets, &iter)) != NULL)
        if (v->kind == VALUE_STRING)
            mask_add_secret(mem, out, value_text(*v));
        else
            mask_hide_all(out);
}

void state_keep_secret(struct arena *mem, struct execution *x, struct value secret)
{
    items_add(mem, &x->secrets, x, value_copy(mem, secret), 0);
}

void state_keep_secrets(struct arena *mem, struct execution *x, const struct signal *left)
{
    struct mask known = {0};
    size_t count;

    add_fields(mem, x->program, &known);
    if (known.fields.count == 0)
        return;
    learn_kept(mem, x, &known);
    if (known.hides_all)
        return;
    count = known.texts.count;
    mask_learn_answer(mem, &known, value_map_get_str(left->view, STR("payload")));
    if (known.hides_all || known.texts.count > KEPT_SECRETS_MAX || known.bytes > KEPT_BYTES_MAX) {
        state_keep_secret(mem, x, value_null());
        return;
    }
    for (; count < known.texts.count; count++)
        state_keep_secret(mem, x, value_string(known.texts.items[count]));
}

/* --- the mask --- */

void show_mask(struct arena *mem, const struct execution *x, struct mask *out)
{
    const struct program *p = x->program;

    *out = (struct mask){0};
    add_names(mem, p->params, p->param_count, STR_NONE, out, mask_add);
    add_fields(mem, p, out);
    if (mask_is_empty(out) && x->secrets.list.count == 0)
        return;
    learn_kept(mem, x, out);
    mask_learn(mem, out, x->input);
    if (x->has_new_input)
        mask_learn(mem, out, x->first_input);
    if (out->fields.count > 0)
        learn_answers(mem, x, out);
    mask_seal(mem, out);
}
