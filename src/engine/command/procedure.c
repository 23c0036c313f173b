/*
 * procedure.c - running the commands of a procedure; see procedure.h.
 *
 * A procedure runs within one turn, from its first command on; suspend.c says
 * what happens when one of its commands cannot answer at once.
 */
#include "engine/command/procedure.h"
#include "define/define.h"
#include "engine/command/command.h"
#include "engine/command/ledger.h"
#include "engine/commit/ask.h"
#include "engine/context.h"
#include "engine/flow/step.h"

static struct str scope_path(const struct turn *t)
{
    return t->scope != NULL ? t->scope->path : STR_NONE;
}

struct str procedure_place(struct arena *mem, struct str path, struct str position)
{
    return path.len == 0 ? position : STR_JOIN(mem, path, STR("."), position);
}

struct str procedure_command_place(struct turn *t, const struct command *c)
{
    return procedure_place(t->mem, scope_path(t), c->position);
}

/* What this command has answered, or with a mark chosen, before the step stopped; or absent. */
static struct value frozen_result(struct turn *t, const struct command *c, const char *mark)
{
    return t->run.frozen.kind != VALUE_MAP ? value_absent()
                                           : ledger_at(t, procedure_command_place(t, c), mark);
}

struct value procedure_noted_input(struct turn *t, const struct command *c)
{
    return frozen_result(t, c, "<");
}

void procedure_note_input(struct turn *t, const struct command *c, struct value input,
                          struct str json)
{
    ledger_add_written(t, FINISHED_INPUT, c, input, json);
}

enum step_result procedure_answered(struct turn *t, struct str place, struct value *out)
{
    *out = ledger_at(t, place, "!");
    if (t->refused_at.len == 0 || !str_eq(t->refused_at, place))
        return STEP_DONE;
    t->failure = t->refusal;
    t->refused_at = STR_NONE;
    return STEP_FAILED;
}

/* --- commands with commands in them --- */

static enum step_result run_list(struct turn *t, const struct command *commands, uint32_t count,
                                 struct value *out);

static enum step_result run_body(struct turn *t, const struct command *c, uint32_t number,
                                 struct value *out)
{
    *out = value_null();
    return run_list(t, c->bodies[number].commands, c->bodies[number].count, out);
}

/* The body that was taken before the step stopped, or the one that is chosen now. */
static enum step_result run_chosen(struct turn *t, const struct command *c,
                                   enum step_result (*choose)(struct turn *, const struct command *,
                                                              uint32_t *),
                                   struct value *out)
{
    struct value taken = frozen_result(t, c, "?");
    uint32_t number = 0;

    if (taken.kind == VALUE_INT && taken.i >= 0 && taken.i < c->body_count)
        number = (uint32_t)taken.i;
    else if (choose(t, c, &number) != STEP_DONE)
        return STEP_FAILED;
    ledger_add(t, FINISHED_CHOICE, c, value_int(number));
    return run_body(t, c, number, out);
}

static enum step_result choose_if(struct turn *t, const struct command *c, uint32_t *number)
{
    bool is_true = false;
    enum step_result end =
        command_condition(t, c->expressions[FIELD_CONDITION], "condition", c->pointer, &is_true);

    *number = is_true ? BODY_THEN : BODY_ELSE;
    return end;
}

/* Cases are written as texts: a string is itself, anything else its JSON. */
static enum step_result choose_case(struct turn *t, const struct command *c, uint32_t *number)
{
    struct value v = cel_evaluate(t->mem, c->expressions[FIELD_EXPRESSION], &t->activation, NULL);
    struct str text;

    if (v.kind == VALUE_ERROR)
        return turn_fail_value(t, v, c->pointer);
    if (v.kind == VALUE_STRING)
        text = value_text(v);
    else if (!turn_json(t, v, &text))
        return STEP_FAILED;
    for (*number = 0; *number + 1 < c->body_count; ++*number)
        if (str_eq(value_text(c->bodies[*number].match), text))
            break;
    return STEP_DONE;
}

static enum step_result run_catch(struct turn *t, const struct command *c, struct value error,
                                  struct value *out)
{
    struct value outer = t->error;
    enum step_result end;

    ledger_add(t, FINISHED_CHOICE, c, error);
    t->error = t->slots[ROOT_ERROR] = error;
    end = run_body(t, c, BODY_CATCH, out);
    t->error = t->slots[ROOT_ERROR] = outer;
    return end;
}

static enum step_result run_try(struct turn *t, const struct command *c, struct value *out)
{
    struct value error = frozen_result(t, c, "?");
    enum step_result end;
    struct str json;

    if (error.kind == VALUE_MAP)
        return run_catch(t, c, error, out);
    end = run_body(t, c, BODY_COMMANDS, out);
    if (end != STEP_FAILED || t->failure.is_tried_again)
        return end;
    return run_catch(t, c, turn_failure(t, &json), out);
}

static enum step_result run_call(struct turn *t, const struct command *c, struct value *out)
{
    struct str place = procedure_command_place(t, c);
    struct value input;

    input = procedure_noted_input(t, c);
    if (input.kind == VALUE_ABSENT && turn_evaluate(t, c->call.input, &input) != STEP_DONE)
        return STEP_FAILED;
    ledger_add(t, FINISHED_INPUT, c, input);
    if (c->call.procedure->kind == PROCEDURE_EXTERNAL)
        return job_run(t, c->call.procedure, place, input, out);
    return procedure_run(t, c->call.procedure, place, input, out);
}

/* --- one command --- */

static enum step_result dispatch(struct turn *t, const struct command *c, struct value *out)
{
    if (c->type == COMMAND_CALL)
        return run_call(t, c, out);
    if (c->type == COMMAND_IF)
        return run_chosen(t, c, choose_if, out);
    if (c->type == COMMAND_MATCH)
        return run_chosen(t, c, choose_case, out);
    if (c->type == COMMAND_TRY)
        return run_try(t, c, out);
    return command_run(t, c, out);
}

void procedure_warn(struct turn *t)
{
    struct value before = t->run.warnings, *items;
    uint32_t count = before.kind == VALUE_LIST ? before.len : 0;
    struct str json;

    items = ARENA_ARRAY(t->mem, count + 1, struct value);
    if (count > 0)
        memcpy(items, before.items, count * sizeof(*items));
    items[count] = turn_failure(t, &json);
    t->run.warnings = t->slots[ROOT_WARNINGS] = value_list(items, count + 1);
}

/* A failure of a command with a policy of its own: is the policy done with it? */
static void weigh_retry(struct turn *t, const struct command *c)
{
    struct failure *f = &t->failure;
    int64_t at_us;

    if (f->is_tried_again || f->retry != NULL)
        return; /* one within it has decided */
    f->at = procedure_command_place(t, c);
    f->retry = c->retry;
    f->is_tried_again = t->about == NULL && failure_retries(t, c->retry, &at_us);
}

/* Whether it has no commands in it that would have to be gone through again. */
static bool is_leaf(const struct command *c)
{
    return c->body_count == 0 &&
           (c->type != COMMAND_CALL || c->call.procedure->kind == PROCEDURE_EXTERNAL);
}

/* Whether the command is to run: as it was decided before the step stopped, or by its `when`. */
static enum step_result is_wanted(struct turn *t, const struct command *c, bool *wanted)
{
    struct value choice = frozen_result(t, c, "?");

    *wanted = choice.kind != VALUE_BOOL;
    if (choice.kind != VALUE_ABSENT)
        return STEP_DONE;
    return command_condition(t, c->when, "when", c->pointer, wanted);
}

static enum step_result perform(struct turn *t, const struct command *c, struct value *out)
{
    enum step_result end;

    *out = value_null();
    probe_trace(t, c);
    end = dispatch(t, c, out);
    if (end == STEP_DONE)
        end = command_shape(t, c, out);
    if (end == STEP_FAILED && t->failure.source.len == 0)
        t->failure.source = c->pointer;
    if (end == STEP_FAILED)
        ledger_fail(t, c, failure_may_have_happened(t));
    if (end == STEP_FAILED && c->retry != NULL)
        weigh_retry(t, c);
    if (end != STEP_FAILED || !c->is_optional || t->failure.is_tried_again)
        return end;
    procedure_warn(t);
    t->failure = (struct failure){0};
    *out = value_null();
    return STEP_DONE;
}

/* Whether it was decided that the command does not run. */
static bool was_passed_over(struct turn *t, const struct command *c)
{
    return frozen_result(t, c, "?").kind == VALUE_BOOL;
}

/* Whether the command has asked, and it is known what came of that. */
static bool command_is_answered(struct turn *t, const struct command *c)
{
    return frozen_result(t, c, "!").kind != VALUE_ABSENT ||
           (t->refused_at.len > 0 && str_eq(t->refused_at, procedure_command_place(t, c)));
}

static enum step_result procedure_run_one(struct turn *t, const struct command *c,
                                          struct value *out)
{
    struct value frozen = is_leaf(c) ? frozen_result(t, c, "") : value_absent();
    enum step_result end;
    bool wanted = true;

    if (frozen.kind != VALUE_ABSENT) {
        *out = frozen;
    } else if (t->is_stopping && is_leaf(c) && !command_is_answered(t, c) &&
               !was_passed_over(t, c)) {
        return STEP_FAILED;
    } else {
        end = is_wanted(t, c, &wanted);
        if (end == STEP_DONE && wanted)
            end = perform(t, c, out);
        if (end != STEP_DONE)
            return end;
        /* What earlier attempts have left open is known with the command's result. */
        if (t->about == NULL && ledger_asks_outside(c))
            t->x->cursor.is_unsure = false;
    }
    if (c->as.len > 0)
        t->slots[c->as_slot] = wanted ? *out : value_null();
    if (!wanted) {
        ledger_add(t, FINISHED_CHOICE, c, value_bool(false));
        return STEP_DONE;
    }
    ledger_add(t, FINISHED_RESULT, c, *out);
    return STEP_DONE;
}

static enum step_result run_list(struct turn *t, const struct command *commands, uint32_t count,
                                 struct value *out)
{
    for (uint32_t i = 0; i < count; i++) {
        enum step_result end = procedure_run_one(t, &commands[i], out);
        if (end != STEP_DONE)
            return end;
    }
    return STEP_DONE;
}

/* --- procedures --- */

/* Its parameters, with defaults and types as those of a start. */
static enum step_result check_input(struct turn *t, const struct procedure *p, struct value *input)
{
    struct findings findings = {0};

    if (input->kind == VALUE_ABSENT)
        *input = value_map_empty();
    if (!p->declares_input)
        return STEP_DONE;
    define_check_params(t->mem, p->params, p->param_count, STR("/input"), *input, input, &findings);
    if (!findings_have_errors(&findings))
        return STEP_DONE;
    (void)turn_fail(t, STR("validation_input"), ERR_CLASS_BUSINESS,
                    "the input of the procedure '%.*s' is wrong: %pS", STR_ARG(p->name),
                    SENTENCE_ARG(findings.items[0].message));
    t->failure.details = findings_value(t->mem, &findings);
    return STEP_FAILED;
}

void procedure_enter(struct turn *t, const struct procedure *p, struct str place,
                     struct value input, struct scope *scope)
{
    /* Rollbacks within it have slots of their own above those of the procedure. */
    uint32_t count = t->x->program->slot_count;
    struct value *slots = ARENA_ARRAY(t->mem, count + 1u, struct value);

    ASSERT(p->slot_count <= count);
    for (uint32_t i = 0; i < count; i++)
        slots[i] = value_absent();
    *scope =
        (struct scope){.outer = t->scope, .path = place, .input = input, .outer_slots = t->slots};
    t->scope = scope;
    t->slots = slots;
    t->activation.slots = slots;
}

void procedure_leave(struct turn *t)
{
    t->slots = t->scope->outer_slots;
    t->activation.slots = t->slots;
    t->scope = t->scope->outer;
}

/* Commands that are written where they run see an input of their own over $.input. */
static enum step_result run_inline(struct turn *t, const struct procedure *p, struct value input,
                                   struct value *out)
{
    struct value outer = t->slots[ROOT_INPUT];
    enum step_result end;

    if (input.kind != VALUE_MAP)
        return run_list(t, p->commands, p->command_count, out);
    t->slots[ROOT_INPUT] = state_merge(t->mem, context_input(t), input);
    end = run_list(t, p->commands, p->command_count, out);
    t->slots[ROOT_INPUT] = outer;
    return end;
}

enum step_result procedure_run(struct turn *t, const struct procedure *p, struct str place,
                               struct value input, struct value *out)
{
    struct scope scope;
    enum step_result end;

    *out = value_null();
    if (p->kind == PROCEDURE_EXTERNAL)
        return job_run(t, p, place.len > 0 ? place : STR("1"), input, out);
    if (p->kind == PROCEDURE_INLINE)
        return run_inline(t, p, input, out);
    if (check_input(t, p, &input) != STEP_DONE)
        return STEP_FAILED;
    if (probe_is_mocked(t, p))
        return probe_answer(t, p, place, input, out);
    procedure_enter(t, p, place, input, &scope);
    end = run_list(t, p->commands, p->command_count, out);
    if (end == STEP_DONE && p->result != NULL)
        end = turn_evaluate(t, p->result, out);
    procedure_leave(t);
    return end;
}
