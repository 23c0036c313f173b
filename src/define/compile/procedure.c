/* procedure.c - what a step, a rollback or a reminder runs: a procedure, written there or named. */
#include "define/compile/compile.h"
#include "define/compile/context.h"
#include "define/compile/library.h"
#include "define/compile/mapping.h"
#include "define/compile/param.h"
#include "define/compile/scenario.h"

enum { HTTP_MAX = 10, NOTIFICATIONS_MAX = 10, HTTP_SECONDS = 30 };

/* --- commands of one procedure --- */

static void check_tally(struct compiler *c, const struct tally *t)
{
    if (t->commands > COMMANDS_MAX)
        compile_error(c, FINDING_LIMIT_COMMANDS,
                      "a procedure has at most %d commands, those it calls included, not %u",
                      COMMANDS_MAX, t->commands);
    if (t->http > HTTP_MAX)
        compile_error(c, FINDING_LIMIT_CALLS, "a procedure makes at most %d calls over HTTP",
                      HTTP_MAX);
    if (t->notifications > NOTIFICATIONS_MAX)
        compile_error(c, FINDING_LIMIT_CALLS, "a procedure sends at most %d notifications",
                      NOTIFICATIONS_MAX);
    if (t->depth > CALL_DEPTH_MAX)
        compile_error(c, FINDING_LIMIT_DEPTH, "procedures call each other more than %d deep",
                      CALL_DEPTH_MAX);
    if (t->http <= HTTP_MAX && t->http_us > HTTP_SECONDS * INT64_C(1000000))
        compile_warning(c, FINDING_SLOW_CALLS,
                        "the calls of this procedure may take %lld seconds together: their "
                        "timeouts add up to more than %d",
                        (long long)(t->http_us / 1000000), HTTP_SECONDS);
}

/* The rollbacks of commands see the results of all of them. */
static void compile_late_rollbacks(struct compiler *c, const struct compile_scope *scope)
{
    struct str here = compile_pointer(c);

    c->around = scope;
    for (size_t i = 0; i < scope->rollbacks.count; i++) {
        const struct late_rollback *late = &scope->rollbacks.items[i];

        buf_clear(&c->path);
        buf_str(&c->path, late->path);
        compile_rollback(c, late->written, &late->command->rollback);
    }
    c->around = scope->around;
    buf_clear(&c->path);
    buf_str(&c->path, here);
}

void scope_open(struct compiler *c, struct compile_scope *scope)
{
    *scope = (struct compile_scope){.env = cel_env_extend(c->mem, c->env),
                                    .outer_env = c->env,
                                    .outer = c->scope,
                                    .around = c->around};
    c->env = scope->env;
    c->scope = scope;
}

void scope_read(struct compiler *c, struct value commands, struct procedure *p)
{
    p->commands = compile_command_list(c, commands, &p->command_count);
    if (commands.kind == VALUE_LIST && commands.len == 0)
        compile_error(c, FINDING_BAD_VALUE, "a procedure needs at least one command");
}

void scope_close(struct compiler *c, struct compile_scope *scope, struct procedure *p)
{
    p->slot_count = cel_env_slot_count(scope->env);
    if (c->library->slot_count < p->slot_count)
        c->library->slot_count = p->slot_count;
    c->scope = NULL;
    compile_late_rollbacks(c, scope);
    p->has_rollbacks = scope->tally.has_rollbacks || scope->rollbacks.count > 0;
    scope->tally.has_rollbacks = p->has_rollbacks;
    check_tally(c, &scope->tally);
    c->env = scope->outer_env;
    c->scope = scope->outer;
}

/* --- a procedure where one is wanted --- */

const struct procedure *compile_procedure(struct compiler *c, struct value v,
                                          enum commands_place place)
{
    struct procedure *p;
    struct compile_scope scope;

    if (v.kind == VALUE_STRING)
        return library_procedure(c, value_text(v), NULL);
    if (v.kind != VALUE_MAP && v.kind != VALUE_LIST) {
        compile_wrong_type(c, v, "the name of a procedure, a command or a list of commands");
        return NULL;
    }
    p = ARENA_NEW(c->mem, struct procedure);
    scope_open(c, &scope);
    scope.may_wait = place == COMMANDS_OF_STEP && (v.kind == VALUE_MAP || v.len == 1);
    scope_read(c, v, p);
    scope_close(c, &scope, p);
    return p;
}

const struct procedure *compile_node_procedure(struct compiler *c, const struct command_spec *spec,
                                               struct value config)
{
    struct procedure *p = ARENA_NEW(c->mem, struct procedure);
    struct compile_scope scope;

    scope_open(c, &scope);
    scope.may_wait = true;
    scope.node = spec;
    scope_read(c, config, p);
    scope_close(c, &scope, p);
    return p;
}

bool compile_call(struct compiler *c, struct value v, enum field_table table,
                  struct procedure_call *out)
{
    const struct cel_env *outer_env = c->env;
    size_t outer;

    *out = (struct procedure_call){0};
    if (v.kind != VALUE_MAP || compile_has(v, "type")) {
        out->procedure = compile_procedure(c, v, COMMANDS_ELSEWHERE);
    } else {
        (void)compile_fields(c, v, table);
        if (!compile_has(v, "procedure")) {
            if (compile_field(v, "procedure").kind == VALUE_NULL)
                compile_missing(c, "procedure");
            return false;
        }
        outer = compile_enter(c, STR("procedure"));
        c->env = compile_overlay_env(c, compile_field(v, "input"), NULL);
        out->procedure = compile_procedure(c, compile_field(v, "procedure"), COMMANDS_ELSEWHERE);
        c->env = outer_env;
        compile_leave(c, outer);
        out->input = compile_map(c, v, "input");
    }
    if (out->procedure != NULL)
        compile_check_given(c, out->procedure, out->input);
    return out->procedure != NULL;
}

void compile_rollback(struct compiler *c, struct value v, struct procedure_call *out)
{
    const struct cel_env *outer_env = c->env;
    const struct retry *outer_retry = c->retry, *own = NULL;
    bool outer_sees = c->sees_all_steps;

    c->sees_all_steps = true;
    c->retry = &retry_of_rollbacks;
    c->env = compile_showing(c, ROOT_ERROR);
    if (c->unit == NULL)
        c->env = compile_showing(c, ROOT_COMPENSATION);
    (void)compile_call(c, v, TABLE_CALL, out);
    if (v.kind == VALUE_MAP && !compile_has(v, "type"))
        own = compile_own_retry(c, v);
    out->retry = own != NULL ? own : &retry_of_rollbacks;
    c->retry = outer_retry;
    c->env = outer_env;
    c->sees_all_steps = outer_sees;
}
