/*
 * shape.c - what the results of commands and steps are, and warnings about
 * expressions that read more of them, or earlier, than there is.
 *
 * All of this is likely and not certain: an operator who skips a step gives it
 * any result, and so does a reconcile. An expression that does not fit a shape
 * is a warning.
 */
#include "define/compile/compile.h"
#include "define/compile/context.h"

/* What a step has beside the fields of its result. */
static const struct cel_member step_members[] = {
    {{.ptr = "success", .len = 7}, {.ptr = "bool", .len = 4}},
    {{.ptr = "output", .len = 6}, {0}},
    {{.ptr = "error", .len = 5}, {0}},
    {{.ptr = "meta", .len = 4}, {0}},
};

enum { STEP_MEMBER_COUNT = ARRAY_SIZE(step_members), SHAPE_MEMBERS_MAX = 100 };

/* A shape while its members are gathered. Beyond the most members it is open. */
struct gathered {
    struct cel_shape shape;
    struct cel_member members[SHAPE_MEMBERS_MAX];
};

static void gather(struct gathered *g, struct str name, struct str type)
{
    if (g->shape.count == SHAPE_MEMBERS_MAX)
        g->shape.is_closed = false;
    else
        g->members[g->shape.count++] = (struct cel_member){.name = name, .type = type};
}

/* --- types of values --- */

/* A type of expressions as a result keeps it; empty where JSON makes something else of it. */
static struct str result_type(struct str type)
{
    if (str_eq(type, STR("int")) || str_eq(type, STR("string")) || str_eq(type, STR("bool")) ||
        str_eq(type, STR("number")))
        return type;
    if (str_eq(type, STR("double")))
        return STR("number");
    if (str_starts_with(type, STR("list(")))
        return STR("list(dyn)");
    if (str_starts_with(type, STR("map(")))
        return STR("map(dyn, dyn)");
    return STR_NONE;
}

static struct str value_type_text(struct value v)
{
    if (v.kind == VALUE_LIST)
        return STR("list(dyn)");
    if (v.kind == VALUE_MAP)
        return STR("map(dyn, dyn)");
    return v.kind == VALUE_STRING   ? STR("string")
           : v.kind == VALUE_INT    ? STR("int")
           : v.kind == VALUE_BOOL   ? STR("bool")
           : v.kind == VALUE_DOUBLE ? STR("number")
                                    : STR_NONE;
}

static struct str mapping_type(const struct mapping *m)
{
    switch (m->kind) {
    case MAPPING_CONST:
        return value_type_text(m->value);
    case MAPPING_PROGRAM:
        return result_type(cel_program_type(m->program));
    case MAPPING_LIST:
        return STR("list(dyn)");
    case MAPPING_MAP:
        return STR("map(dyn, dyn)");
    }
    PANIC("unknown kind of mapping");
}

/* The type of a member by the catalog: "integer". Times are texts once they are stored. */
static struct str kind_type(const char *kind)
{
    static const struct {
        const char *kind, *type;
    } rows[] = {
        {"string", "string"},
        {"integer", "int"},
        {"boolean", "bool"},
        {"list of any", "list(dyn)"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (strcmp(rows[i].kind, kind) == 0)
            return str_of(rows[i].type);
    return STR_NONE;
}

/* --- shapes of results: each answers whether anything is known --- */

static void gather_keys(struct gathered *g, const struct mapping *m)
{
    for (uint32_t i = 0; m->kind == MAPPING_MAP && i < m->count; i++)
        gather(g, value_text(m->keys[i]), mapping_type(&m->items[i]));
    for (uint32_t i = 0; m->kind == MAPPING_CONST && m->value.kind == VALUE_MAP && i < m->value.len;
         i++)
        gather(g, value_text(m->value.map->entries[i].key),
               value_type_text(m->value.map->entries[i].value));
}

static bool mapping_shape(const struct mapping *m, struct gathered *g)
{
    bool is_map =
        m->kind == MAPPING_MAP || (m->kind == MAPPING_CONST && m->value.kind == VALUE_MAP);

    gather_keys(g, m);
    g->shape.type = mapping_type(m);
    g->shape.is_closed = is_map;
    return is_map || g->shape.type.len > 0;
}

static void gather_members(struct gathered *g, const struct command_spec *spec)
{
    for (const struct result_member *m = spec->result.members; m->name != NULL; m++)
        gather(g, str_of(m->name), kind_type(m->kind));
    g->shape.type = STR("map(dyn, dyn)");
}

static bool is_word(const struct mapping *m, const char *word)
{
    return m == NULL || (m->kind == MAPPING_CONST && m->value.kind == VALUE_STRING &&
                         str_eq(value_text(m->value), str_of(word)));
}

static bool procedure_shape(const struct procedure *p, struct gathered *g);

/* What the command answers, its own `result` aside. */
static bool aggregate_shape(const struct command *command, struct gathered *g)
{
    if (command->expressions[FIELD_BY] != NULL)
        gather_members(g, catalog_command(command->type));
    else
        for (uint32_t i = 0; i < command->aggregate_count; i++)
            gather(g, command->aggregates[i].name, STR_NONE);
    g->shape.is_closed = true;
    return true;
}

static bool created_shape(const struct command *command, struct gathered *g)
{
    const struct mapping *data = command->fields[FIELD_DATA];

    gather_members(g, catalog_command(command->type));
    g->shape.is_closed = is_word(command->fields[FIELD_IF_EXISTS], "fail") && data != NULL &&
                         data->kind != MAPPING_PROGRAM;
    if (data != NULL)
        gather_keys(g, data);
    return true;
}

/* {name: value}, or `values`. */
static bool variable_shape(const struct command *command, struct gathered *g)
{
    const struct mapping *name = command->fields[FIELD_NAME], *value = command->fields[FIELD_VALUE];

    if (command->fields[FIELD_VALUES] != NULL)
        return mapping_shape(command->fields[FIELD_VALUES], g);
    if (name == NULL || name->kind != MAPPING_CONST || name->value.kind != VALUE_STRING ||
        value == NULL)
        return false;
    gather(g, value_text(name->value), mapping_type(value));
    g->shape.is_closed = true;
    return true;
}

static bool answer_shape(const struct command *command, struct gathered *g)
{
    const struct command_spec *spec = catalog_command(command->type);
    const struct mapping *wait = command->fields[FIELD_WAIT];

    switch (command->type) {
    case COMMAND_TRANSFORM:
        return command->fields[FIELD_DATA] != NULL && mapping_shape(command->fields[FIELD_DATA], g);
    case COMMAND_SET:
        return command->fields[FIELD_VALUES] != NULL &&
               mapping_shape(command->fields[FIELD_VALUES], g);
    case COMMAND_CALL:
        return procedure_shape(command->call.procedure, g);
    case COMMAND_AGGREGATE:
        return aggregate_shape(command, g);
    case COMMAND_START:
        if (wait != NULL && (wait->kind != MAPPING_CONST || value_is_true(wait->value)))
            return false;
        gather_members(g, spec);
        g->shape.is_closed = true;
        return true;
    case COMMAND_RECORD_CREATE:
        return created_shape(command, g);
    case COMMAND_RECORD_GET:
    case COMMAND_RECORD_UPDATE:
    case COMMAND_TASK_CREATE:
        gather_members(g, spec);
        return true;
    case COMMAND_VALIDATE:
    case COMMAND_RECORD_DELETE:
    case COMMAND_RECORD_QUERY:
    case COMMAND_LOG:
    case COMMAND_EVENT_PUBLISH:
    case COMMAND_EMAIL:
    case COMMAND_SMS:
    case COMMAND_PUSH:
    case COMMAND_HTTP:
    case COMMAND_WAIT_SIGNAL:
    case COMMAND_WAIT_TIMER:
    case COMMAND_WAIT_UNTIL:
    case COMMAND_MESSAGE_PUBLISH:
    case COMMAND_NODE_START:
    case COMMAND_CONDITION:
    case COMMAND_MATH:
    case COMMAND_SLEEP:
        gather_members(g, spec);
        g->shape.is_closed = true;
        return true;
    case COMMAND_VARIABLE_SET:
        return variable_shape(command, g);
    case COMMAND_FAIL:
    case COMMAND_NODE_END:
    case COMMAND_IF:
    case COMMAND_MATCH:
    case COMMAND_TRY:
    case COMMAND_TYPE_COUNT:
        return false;
    }
    PANIC("unknown command");
}

static bool command_shape(const struct command *command, struct gathered *g)
{
    const struct mapping *result = command->fields[FIELD_RESULT];

    return result != NULL ? mapping_shape(result, g) : answer_shape(command, g);
}

static bool procedure_shape(const struct procedure *p, struct gathered *g)
{
    const struct command *last;

    if (p == NULL || p->kind == PROCEDURE_EXTERNAL)
        return false;
    if (p->result != NULL)
        return mapping_shape(p->result, g);
    if (p->command_count == 0)
        return false;
    last = &p->commands[p->command_count - 1];
    /* When it is left out, another one's result is the procedure's. */
    if ((last->when != NULL || last->is_optional) && p->command_count > 1)
        return false;
    return command_shape(last, g);
}

static bool step_shape(const struct step *step, struct gathered *g)
{
    static const char *const loop[] = {"count", "items", "errors", NULL};
    static const char *const parallel[] = {"branches", "count", "ended", NULL};
    const char *const *names = step->kind == STEP_LOOP ? loop : parallel;

    if (step->kind == STEP_PROCEDURE)
        return procedure_shape(step->procedure, g);
    if (step->kind == STEP_BRANCH)
        return false;
    for (; *names != NULL; names++)
        gather(g, str_of(*names), strcmp(*names, "count") == 0 ? STR("int") : STR("list(dyn)"));
    g->shape.is_closed = true;
    return true;
}

/* --- saying them --- */

static void say(struct compiler *c, struct cel_env *env, struct str name, const struct gathered *g)
{
    struct cel_shape shape = g->shape;
    struct cel_member *members = ARENA_ARRAY(c->mem, shape.count, struct cel_member);
    struct err err;

    if (shape.count > 0)
        memcpy(members, g->members, shape.count * sizeof(*members));
    shape.members = members;
    if (!cel_env_shape(env, name, &shape, &err))
        PANIC(err.message);
}

void shape_say_command(struct compiler *c, struct cel_env *env, const struct command *command)
{
    struct gathered g = {0};

    if (!c->is_stored && !command->is_optional && command_shape(command, &g))
        say(c, env, command->as, &g);
}

static struct str step_name(struct compiler *c, const struct step *step)
{
    return str_printf(c->mem, "steps.%.*s", STR_ARG(step->code));
}

void shape_say_step(struct compiler *c, struct cel_env *env, const struct step *step)
{
    struct gathered g = {0};

    if (c->is_stored || step->code.len == 0 || c->has_errors || !step_shape(step, &g))
        return;
    /* Of a result that is no object there are no fields. */
    if (g.shape.type.len > 0 && !str_starts_with(g.shape.type, STR("map(")))
        g.shape.is_closed = true;
    g.shape.type = STR_NONE;
    for (size_t i = 0; i < STEP_MEMBER_COUNT; i++)
        gather(&g, step_members[i].name, step_members[i].type);
    say(c, env, step_name(c, step), &g);
}

/* --- results that are not there yet --- */

static bool is_within(const struct program *p, const struct step *step, const struct step *around)
{
    while (step != NULL && step != around)
        step = program_owner(p, step);
    return step != NULL;
}

void shape_say_pending(struct compiler *c, struct cel_env *env, const struct program *p,
                       const struct step *step)
{
    for (uint32_t i = 0; !c->is_stored && i < p->step_count; i++) {
        const struct step *other = &p->steps[i];
        bool is_pending = step != NULL && (i >= step->index || is_within(p, step, other));

        if (other->code.len > 0)
            cel_env_pending(env, step_name(c, other), is_pending);
    }
}

/* Whether a jump leads back over a step: what stands behind it may have run before it. */
static bool is_jumped_back_over(const struct program *p, uint32_t index)
{
    for (uint32_t i = index; i < p->step_count; i++) {
        const struct step *from = &p->steps[i];
        const struct wait *wait = from->procedure != NULL && from->procedure->command_count > 0
                                      ? from->procedure->commands[0].wait
                                      : NULL;

        for (uint32_t k = 0; k < from->jumps.count; k++)
            if (from->jumps.items[k].kind == JUMP_STEP && from->jumps.items[k].step <= index)
                return true;
        if (wait != NULL && wait->on_timeout == ON_TIMEOUT_JUMP &&
            wait->timeout_kind == JUMP_STEP && wait->timeout_step <= index)
            return true;
    }
    return false;
}

/* The block of a step around `step`, or of itself, whose owner is `owner`. */
static uint32_t block_within(const struct program *p, const struct step *step,
                             const struct step *owner)
{
    while (program_owner(p, step) != owner)
        step = program_owner(p, step);
    return step->block;
}

/* Whether the result may be there: by a round before, a jump back, or a branch beside it. */
static bool may_have_ended(const struct program *p, const struct early_read *r)
{
    const struct step *step = &p->steps[r->step], *read = &p->steps[r->read];

    for (const struct step *owner = program_owner(p, step); owner != NULL;
         owner = program_owner(p, owner)) {
        if (read == owner || !is_within(p, read, owner))
            continue;
        if (owner->kind == STEP_LOOP)
            return true;
        if (owner->kind == STEP_PARALLEL &&
            block_within(p, step, owner) != block_within(p, read, owner))
            return true;
    }
    return is_jumped_back_over(p, r->step);
}

void shape_check_early(struct compiler *c, const struct program *p)
{
    for (size_t i = 0; i < c->early_reads.count; i++) {
        const struct early_read *r = &c->early_reads.items[i];
        const struct step *read = &p->steps[r->read];
        struct finding *f;

        if (may_have_ended(p, r) || c->findings->count == FINDINGS_MAX)
            continue;
        f = VEC_ADD(c->mem, c->findings);
        *f = r->finding;
        f->message = sentence_make(
            c->mem,
            r->read == r->step ? "$.steps.%.*s is null until this step has ended"
            : is_within(p, &p->steps[r->step], read)
                ? "$.steps.%.*s is null here: that step ends when the steps in it have ended"
                : "$.steps.%.*s is null here: that step comes later",
            STR_ARG(read->code));
        f->is_warning = true;
    }
}

/* Keep it until all jumps are known. */
static void note_early(struct compiler *c, struct str source, const struct cel_note *note)
{
    struct str code = str_slice(note->name, STR("steps.").len, note->name.len);
    const struct step *read = program_step(c->program, code);

    if (c->sees_all_steps || c->at == NULL || read == NULL)
        return;
    if (c->findings->count == FINDINGS_MAX)
        return;
    compile_expression_warning(c, FINDING_RESULT_NOT_THERE, source, &note->err);
    *VEC_ADD(c->mem, &c->early_reads) =
        (struct early_read){.step = c->at->index,
                            .read = read->index,
                            .finding = c->findings->items[--c->findings->count]};
}

void compile_notes(struct compiler *c, struct str source, const struct cel_program *program)
{
    const struct cel_note *notes;
    uint32_t count = cel_program_notes(program, &notes);

    for (uint32_t i = 0; i < count; i++) {
        const struct cel_note *note = &notes[i];
        switch (note->kind) {
        case CEL_NOTE_MEMBER:
            compile_expression_warning(c, FINDING_UNKNOWN_RESULT_FIELD, source, &note->err);
            break;
        case CEL_NOTE_MISSING:
            compile_expression_warning(c, FINDING_INPUT_MAY_BE_MISSING, source, &note->err);
            break;
        case CEL_NOTE_PENDING:
            note_early(c, source, note);
            break;
        case CEL_NOTE_DOLLAR:
            compile_expression_warning(c, FINDING_PLAIN_TEXT, source, &note->err);
            break;
        }
    }
}
