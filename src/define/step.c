/* step.c - the steps of a scenario. */
#include "define/compile.h"

static const struct field_spec step_fields[] = {
    {"code", STATE_NOW},       {"name", STATE_NOW},      {"procedure", STATE_NOW},
    {"input", STATE_NOW},      {"when", STATE_NOW},      {"onError", STATE_NOW},
    {"meta", STATE_NOW},       {"branch", STATE_LATER},  {"loop", STATE_LATER},
    {"parallel", STATE_LATER}, {"goto", STATE_LATER},    {"rollback", STATE_LATER},
    {"retry", STATE_LATER},    {"timeout", STATE_LATER}, {"reconcile", STATE_LATER},
};

/* --- codes --- */

static void compile_code(struct compiler *c, struct value v, const struct program *p,
                         struct step *step)
{
    size_t outer;

    step->code = compile_text(c, v, "code");
    if (compile_field(v, "code").kind == VALUE_ABSENT)
        compile_missing(c, "code");
    if (compile_field(v, "code").kind != VALUE_STRING)
        return;
    outer = compile_enter(c, STR("code"));
    if (!compile_check_code(c, step->code)) {
        step->code = STR_NONE;
    } else if (catalog_has_word(STR("end next break"), step->code)) {
        compile_error(c, FINDING_RESERVED_CODE, "'%.*s' is where a goto may lead, not a step",
                      STR_ARG(step->code));
    } else {
        for (const struct step *other = p->steps; other != step; other++)
            if (str_eq(other->code, step->code))
                compile_error(c, FINDING_DUPLICATE_CODE, "there are two steps '%.*s'",
                              STR_ARG(step->code));
    }
    compile_leave(c, outer);
}

/* Declare $.steps.CODE for every step, in the order of their slots. */
static const struct cel_env *declare_steps(struct compiler *c, const struct program *p)
{
    struct cel_env *env = cel_env_extend(c->mem, c->env);

    for (uint32_t i = 0; i < p->step_count; i++) {
        struct str code = p->steps[i].code;
        struct str name = str_printf(c->mem, "steps.%.*s", STR_ARG(code));
        uint32_t slot;
        struct err err;

        /* A step without a usable code, which is an error by now. */
        if (code.len == 0)
            continue;
        if (!cel_env_variable(env, name, STR("dyn"), &slot, &err))
            PANIC(err.message);
    }
    return env;
}

/* --- one step --- */

static void compile_procedure(struct compiler *c, struct value v, struct step *step)
{
    struct value procedure = compile_field(v, "procedure");
    size_t outer;

    if (procedure.kind == VALUE_ABSENT) {
        if (compile_field(v, "branch").kind == VALUE_ABSENT &&
            compile_field(v, "loop").kind == VALUE_ABSENT &&
            compile_field(v, "parallel").kind == VALUE_ABSENT)
            compile_missing(c, "procedure");
        return;
    }
    outer = compile_enter(c, STR("procedure"));
    if (procedure.kind == VALUE_STRING)
        compile_error(c, FINDING_NOT_SUPPORTED_YET,
                      "procedures by name are not supported yet; write the command here");
    else if (procedure.kind != VALUE_MAP && procedure.kind != VALUE_LIST)
        compile_wrong_type(c, procedure, "a command or a list of commands");
    else
        step->procedure = compile_commands(c, procedure);
    compile_leave(c, outer);
}

static void compile_on_error(struct compiler *c, struct value v, const struct program *p,
                             struct step *step)
{
    int word = compile_word(c, v, "onError", ON_ERROR_WORDS " continue");

    step->on_error = p->on_error;
    if (word > ON_ERROR_HOLD)
        step->continues = true;
    else if (word >= 0)
        step->on_error = (enum on_error)word;
}

static void compile_step(struct compiler *c, struct value v, const struct program *p,
                         struct step *step)
{
    struct value field;
    size_t outer;

    if (!compile_fields(c, v, step_fields, sizeof(step_fields) / sizeof(step_fields[0])))
        return;
    step->name = compile_text(c, v, "name");
    if (step->name.len == 0)
        step->name = step->code;
    field = compile_field(v, "when");
    if (field.kind != VALUE_ABSENT) {
        outer = compile_enter(c, STR("when"));
        step->when = compile_condition(c, field);
        compile_leave(c, outer);
    }
    field = compile_field(v, "input");
    if (field.kind != VALUE_ABSENT) {
        outer = compile_enter(c, STR("input"));
        if (field.kind != VALUE_MAP)
            compile_wrong_type(c, field, "an object");
        else
            step->input = compile_mapping(c, field);
        compile_leave(c, outer);
    }
    compile_procedure(c, v, step);
    compile_on_error(c, v, p, step);
    step->meta = compile_meta(c, v);
}

/* --- all of them --- */

static void compile_list(struct compiler *c, struct value list, struct program *p)
{
    uint32_t count = list.len <= STEPS_MAX ? list.len : STEPS_MAX;
    struct step *steps = arena_zalloc(c->mem, (count + 1) * sizeof(*steps));
    struct block *top;

    if (list.len > STEPS_MAX)
        compile_error(c, FINDING_TOO_MANY_STEPS, "a scenario has at most %d steps, not %u",
                      STEPS_MAX, list.len);
    if (list.len == 0)
        compile_warning(c, FINDING_NO_STEPS, "there are no steps, so nothing will happen");
    p->steps = steps;
    p->step_count = count;
    top = ARENA_NEW(c->mem, struct block);
    *top = (struct block){.owner = NO_STEP, .first = count > 0 ? 0 : NO_STEP};
    p->blocks = top;
    p->block_count = 1;
    for (uint32_t i = 0; i < count; i++) {
        size_t outer = compile_enter_index(c, i);
        steps[i].index = i;
        steps[i].pointer = compile_pointer(c);
        steps[i].next = i + 1 < count ? i + 1 : NO_STEP;
        if (list.items[i].kind == VALUE_MAP)
            compile_code(c, list.items[i], p, &steps[i]);
        compile_leave(c, outer);
    }
    p->env = c->env = declare_steps(c, p);
    p->slot_count = cel_env_slot_count(p->env);
    for (uint32_t i = 0; i < count; i++) {
        size_t outer = compile_enter_index(c, i);
        c->step = steps[i].code;
        compile_step(c, list.items[i], p, &steps[i]);
        if (steps[i].procedure != NULL && steps[i].procedure->slot_count > p->slot_count)
            p->slot_count = steps[i].procedure->slot_count;
        c->step = STR_NONE;
        compile_leave(c, outer);
    }
}

void compile_steps(struct compiler *c, struct value list, struct program *p)
{
    size_t outer;

    if (list.kind == VALUE_ABSENT) {
        compile_missing(c, "steps");
        return;
    }
    outer = compile_enter(c, STR("steps"));
    if (list.kind != VALUE_LIST)
        compile_wrong_type(c, list, "a list of steps");
    else
        compile_list(c, list, p);
    compile_leave(c, outer);
}
