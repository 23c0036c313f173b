/* step.c - what the steps of a scenario hold. */
#include "define/compile/compile.h"
#include "define/compile/context.h"
#include "define/compile/library.h"
#include "define/compile/mapping.h"
#include "define/compile/param.h"
#include "define/compile/scenario.h"

static const int64_t DAY_US = INT64_C(86400) * 1000000;

enum { LOOP_MAX = 100000, RECONCILE_MAX = 1000, CONCURRENCY_MAX = 100 };

/* The types of signals that a step waits for, when they are written out; else none. */
static const struct str *signal_types(struct compiler *c, struct value step, uint32_t *count)
{
    struct value wait = compile_field(step, "procedure"), types;
    struct str *texts;
    bool is_list;

    *count = 0;
    if (wait.kind == VALUE_LIST && wait.len == 1)
        wait = wait.items[0];
    types = compile_field(wait, "signalType");
    is_list = types.kind == VALUE_LIST;
    if ((!is_list && types.kind != VALUE_STRING) || compile_has(wait, "result"))
        return NULL;
    texts = ARENA_ARRAY(c->mem, is_list ? types.len + 1 : 1, struct str);
    for (uint32_t i = 0; i < (is_list ? types.len : 1); i++) {
        struct value type = is_list ? types.items[i] : types;

        if (type.kind != VALUE_STRING || !compile_is_plain(value_text(type))) {
            *count = 0;
            return NULL;
        }
        texts[(*count)++] = value_text(type);
    }
    return texts;
}

/* The statuses of a task, those of planner/task_status.def: `status` of a step that makes one. */
static void say_task_status(struct compiler *c, struct cel_env *env, struct str name,
                            struct value step)
{
    static const char *const statuses[] = {"blocked",   "available", "assigned", "in_progress",
                                           "submitted", "done",      "canceled"};
    struct value task = compile_field(step, "procedure");
    struct str *words;

    if (task.kind == VALUE_LIST && task.len == 1)
        task = task.items[0];
    if (c->is_stored || compile_has(task, "result") ||
        !str_eq(value_map_text(task, STR("type")), STR("task.create")))
        return;
    words = ARENA_ARRAY(c->mem, ARRAY_SIZE(statuses), struct str);
    for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
        words[i] = str_of(statuses[i]);
    cel_env_words(env, name, STR("status"), words, ARRAY_SIZE(statuses));
}

/* Declare $.steps.CODE for every step, in the order of their slots. */
static struct cel_env *declare_steps(struct compiler *c, const struct program *p,
                                     const struct value *written)
{
    struct cel_env *env = cel_env_extend(c->mem, c->env);

    for (uint32_t i = 0; i < p->step_count; i++) {
        struct str code = p->steps[i].code;
        struct str name = str_printf(c->mem, "steps.%.*s", STR_ARG(code));
        const struct str *types;
        uint32_t slot, count;
        struct err err;

        /* A step without a usable code, which is an error by now. */
        if (code.len == 0)
            continue;
        if (!cel_env_variable(env, name, STR("dyn"), &slot, &err))
            PANIC(err.message);
        context_say_step(c->mem, env, name);
        types = signal_types(c, written[i], &count);
        cel_env_words(env, name, STR("type"), types, count);
        say_task_status(c, env, name, written[i]);
    }
    return env;
}

/* --- branches --- */

static void compile_branch(struct compiler *c, struct value branch, struct program *p,
                           const struct step *step)
{
    struct block *blocks = (struct block *)p->blocks + step->first_block;
    size_t outer = compile_enter(c, STR("branch"));

    for (uint32_t i = 0; i < step->block_count; i++) {
        size_t inner = compile_enter_index(c, i);
        struct value way = branch.items[i];

        if (way.kind == VALUE_MAP) {
            (void)compile_fields(c, way, TABLE_WAY);
            (void)compile_text(c, way, "name");
            blocks[i].when = compile_when(c, way, "when");
            if (i + 1 < step->block_count && compile_field(way, "when").kind == VALUE_ABSENT)
                compile_warning(c, FINDING_UNREACHABLE,
                                "without 'when' this way is always taken, and none after it");
        }
        compile_leave(c, inner);
    }
    compile_leave(c, outer);
}

/* --- loops --- */

static void compile_loop_name(struct compiler *c, struct value v, struct loop *loop)
{
    size_t outer = compile_enter(c, STR("as"));

    loop->as = compile_text(c, v, "as");
    if (loop->list == NULL && loop->as.len > 0)
        compile_error(c, FINDING_MISPLACED, "'as' names the item of a 'for'");
    else if (compile_field(v, "as").kind == VALUE_STRING && !compile_is_name(loop->as))
        compile_error(c, FINDING_BAD_NAME,
                      "a name is a letter or '_', then letters, digits or '_'");
    else if (str_eq(loop->as, STR("item")))
        loop->as = STR_NONE; /* the name that it has anyway */
    else if (catalog_has_word(STR("index parent"), loop->as))
        compile_error(c, FINDING_BAD_NAME, "'%.*s' would hide $.loop.%.*s", STR_ARG(loop->as),
                      STR_ARG(loop->as));
    compile_leave(c, outer);
}

static void compile_loop(struct compiler *c, struct value v, const struct program *p,
                         struct step *step)
{
    struct loop *loop = ARENA_NEW(c->mem, struct loop);
    const struct cel_env *outer_env = c->env;
    size_t outer = compile_enter(c, STR("loop"));

    step->loop = loop;
    loop->concurrency = 1;
    (void)compile_fields(c, v, TABLE_LOOP);
    if (compile_has(v, "while") == compile_has(v, "for")) {
        compile_error(c, FINDING_ONE_OF, "a loop has either 'while' or 'for'");
        compile_hint(c, "write \"for\": \"$.input.items\", or \"while\": \"variables.n < 3\"");
    }
    if (compile_has(v, "for"))
        loop->list = compile_value_of(c, v, "for", ARGUMENT_LIST);
    c->env = compile_showing(c, ROOT_LOOP);
    c->sees_all_steps = true;
    if (compile_has(v, "while"))
        loop->condition = compile_when(c, v, "while");
    compile_loop_name(c, v, loop);
    loop->max = loop->list != NULL ? 10000 : 100;
    compile_count(c, v, "max", 1, LOOP_MAX, &loop->max);
    loop->collect = compile_mapping_of(c, v, "collect");
    c->sees_all_steps = false;
    c->env = outer_env;
    loop->continues = compile_word(c, TABLE_LOOP, v, "onError") == 0;
    compile_count(c, v, "concurrency", 1, CONCURRENCY_MAX, &loop->concurrency);
    if (loop->concurrency > 1 && compile_has(v, "while"))
        compile_error_at(c, "concurrency", FINDING_MISPLACED,
                         "each round of a 'while' decides about the next: only those of a 'for' "
                         "run at once");
    if (step->block_count > 0 && p->blocks[step->first_block].first == NO_STEP &&
        compile_field(v, "steps").kind == VALUE_LIST)
        compile_warning(c, FINDING_NO_STEPS, "there are no steps in this loop");
    compile_leave(c, outer);
}

/* --- what runs --- */

static bool is_wait(const struct step *step)
{
    return step->procedure != NULL && step->procedure->command_count > 0 &&
           catalog_command(step->procedure->commands[0].type)->ends == ENDS_WAITS;
}

static void compile_reconcile(struct compiler *c, struct value v, struct step *step)
{
    struct reconcile *reconcile = ARENA_NEW(c->mem, struct reconcile);
    const struct cel_env *outer_env = c->env;
    size_t outer = compile_enter(c, STR("reconcile"));

    *reconcile = (struct reconcile){.every_us = INT64_C(5) * 1000000, .max = 10};
    step->reconcile = reconcile;
    c->env = compile_showing(c, ROOT_ERROR);
    (void)compile_call(c, v, TABLE_RECONCILE, &reconcile->call);
    c->env = outer_env;
    if (v.kind == VALUE_MAP && !compile_has(v, "type")) {
        compile_timeout(c, v, "every", &reconcile->every_us);
        compile_count(c, v, "max", 1, RECONCILE_MAX, &reconcile->max);
    }
    compile_leave(c, outer);
}

/* A wait that is written to last longer than the execution may. */
static void check_deadline(struct compiler *c, const struct program *p, const struct step *step)
{
    static const enum command_field fields[] = {FIELD_DURATION, FIELD_TIMEOUT};
    const struct command *wait = step->procedure->commands;

    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        const struct mapping *m = wait->fields[fields[i]];
        struct buf here = c->path;
        struct span span;

        /* So many business days are at least as many days. */
        if (m == NULL || m->kind != MAPPING_CONST || !define_span(m->value, &span) ||
            span.us + span.business_days * DAY_US <= p->timeout_us)
            continue;
        buf_init_arena(&c->path, c->mem);
        buf_printf(&c->path, "%.*s/%.*s", STR_ARG(wait->pointer),
                   STR_ARG(catalog_field_name(fields[i])));
        compile_warning(c, FINDING_WAIT_BEYOND_DEADLINE,
                        p->timeout_is_written
                            ? "settings.timeout ends the execution before this wait is over"
                            : "an execution ends after 30 days unless settings.timeout says "
                              "otherwise: before this wait is over");
        c->path = here;
    }
}

static void compile_run(struct compiler *c, struct value v, const struct program *p,
                        const struct cel_env *given_env, struct step *step)
{
    size_t outer = compile_enter(c, STR("procedure"));

    if (compile_has(v, "procedure")) {
        step->procedure = compile_procedure(c, compile_field(v, "procedure"), COMMANDS_OF_STEP);
    } else {
        compile_error(c, FINDING_MISSING_FIELD, "'procedure' is missing");
        compile_hint(c, "write %s", "\"procedure\": {\"type\": \"log\", \"message\": \"hello\"}");
    }
    compile_leave(c, outer);
    compile_run_fields(c, v, p, given_env, step);
}

void compile_run_fields(struct compiler *c, struct value v, const struct program *p,
                        const struct cel_env *given_env, struct step *step)
{
    const struct cel_env *own_env = c->env;

    step->retry = compile_own_retry(c, v);
    compile_timeout(c, v, "timeout", &step->timeout_us);
    if (compile_has(v, "reconcile"))
        compile_reconcile(c, compile_field(v, "reconcile"), step);
    /* What it is given is written where nothing is laid over $.input yet. */
    c->env = given_env;
    if (step->procedure != NULL && step->procedure->kind != PROCEDURE_INLINE)
        compile_check_given(c, step->procedure, step->input);
    c->env = own_env;
    if (is_wait(step))
        check_deadline(c, p, step);
    if (step->timeout_us > 0 && is_wait(step))
        compile_warning_at(c, "timeout", FINDING_TIMEOUT_ON_WAIT,
                           "this limits one attempt, and a wait has none; write 'timeout' in the "
                           "command");
}

/* Fields that say how a procedure runs, in a step that has none. */
static void refuse_run_fields(struct compiler *c, struct value v)
{
    static const char *const fields[] = {"input", "retry", "timeout", "reconcile"};

    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        if (compile_has(v, fields[i]))
            compile_error_at(c, fields[i], FINDING_MISPLACED,
                             "'%s' belongs to a step that runs a procedure; write it in the steps "
                             "within this one",
                             fields[i]);
}

/* --- one step --- */

void compile_on_error(struct compiler *c, struct value v, const struct program *p,
                      struct step *step)
{
    int word = compile_word(c, TABLE_STEP, v, "onError");
    const struct step *owner = program_owner(p, step);

    step->on_error = owner != NULL ? owner->on_error : p->on_error;
    if (word > ON_ERROR_HOLD)
        step->continues = true;
    else if (word >= 0)
        step->on_error = (enum on_error)word;
    if (word == ON_ERROR_RETRY && !p->retry_is_written &&
        compile_field(v, "retry").kind == VALUE_ABSENT)
        compile_warn_retry(c);
}

/* The steps around it have been read. */
static uint32_t rounds_around(const struct program *p, const struct step *step)
{
    const struct step *owner = program_owner(p, step);

    if (owner == NULL)
        return 0;
    return owner->loop != NULL && owner->loop->concurrency > 1 ? owner->index + 1 : owner->rounds;
}

static bool is_in_loop(const struct program *p, const struct step *step)
{
    for (step = program_owner(p, step); step != NULL; step = program_owner(p, step))
        if (step->kind == STEP_LOOP)
            return true;
    return false;
}

/*
 * Where the steps around it lead to it: the conditions that hold there, and
 * $.loop if one of them is a loop.
 */
static const struct cel_env *env_around(const struct compiler *c, const struct program *p,
                                        const struct step *step)
{
    struct cel_env *env =
        is_in_loop(p, step) ? compile_showing(c, ROOT_LOOP) : cel_env_extend(c->mem, c->env);

    for (uint32_t block = step->block; p->blocks[block].owner != NO_STEP;
         block = p->steps[p->blocks[block].owner].block) {
        const struct step *owner = &p->steps[p->blocks[block].owner];

        (void)cel_env_guard(env, owner->when, true);
        (void)cel_env_guard(env, p->blocks[block].when, true);
        for (uint32_t i = owner->first_block; owner->kind == STEP_BRANCH && i < block; i++)
            (void)cel_env_guard(env, p->blocks[i].when, false);
        if (owner->loop != NULL)
            (void)cel_env_guard(env, owner->loop->condition, true);
    }
    return env;
}

/* What its kind of step has: a procedure, ways, a loop or branches. */
static void compile_kind(struct compiler *c, struct value v, struct program *p, struct step *step)
{
    const struct cel_env *given_env = c->env;

    if (step->kind == STEP_PROCEDURE && compile_field(v, "input").kind != VALUE_NULL)
        step->input = compile_map(c, v, "input");
    c->env = compile_overlay_env(c, compile_field(v, "input"), step->input);
    if (step->kind == STEP_PROCEDURE)
        compile_run(c, v, p, given_env, step);
    else
        refuse_run_fields(c, v);
    if (step->kind == STEP_BRANCH)
        compile_branch(c, compile_field(v, "branch"), p, step);
    if (step->kind == STEP_LOOP && compile_field(v, "loop").kind == VALUE_MAP)
        compile_loop(c, compile_field(v, "loop"), p, step);
    if (step->kind == STEP_PARALLEL && compile_field(v, "parallel").kind == VALUE_MAP)
        compile_parallel(c, compile_field(v, "parallel"), step);
}

void compile_name_and_when(struct compiler *c, struct value v, struct step *step)
{
    struct cel_env *env;

    step->name = compile_text(c, v, "name");
    if (step->name.len == 0)
        step->name = step->code;
    step->when = compile_when(c, v, "when");
    if (compile_text(c, v, "whenName").len > 0 && !compile_has(v, "when"))
        compile_warning_at(c, "whenName", FINDING_MISPLACED, "there is no 'when' that it names");
    if (step->when == NULL)
        return;
    env = cel_env_extend(c->mem, c->env);
    (void)cel_env_guard(env, step->when, true);
    c->env = env;
}

static void compile_step(struct compiler *c, struct value v, struct program *p, struct step *step)
{
    const struct cel_env *outer_env = c->env;
    size_t outer;

    if (!compile_fields(c, v, TABLE_STEP))
        return;
    if (program_owner(p, step) != NULL)
        c->env = env_around(c, p, step);
    compile_name_and_when(c, v, step);
    step->rounds = rounds_around(p, step);
    compile_kind(c, v, p, step);
    if (compile_has(v, "rollback")) {
        outer = compile_enter(c, STR("rollback"));
        compile_rollback(c, compile_field(v, "rollback"), &step->rollback);
        compile_leave(c, outer);
    }
    if (compile_has(v, "goto")) {
        outer = compile_enter(c, STR("goto"));
        c->sees_all_steps = true;
        compile_jumps(c, compile_field(v, "goto"), &step->jumps);
        c->sees_all_steps = false;
        compile_leave(c, outer);
    }
    c->env = outer_env;
    compile_on_error(c, v, p, step);
    step->meta = compile_meta(c, v);
}

/* --- all of them --- */

/* Back to where a step stands: the pointer of the survey. */
void compile_stand_at(struct compiler *c, const struct step *step)
{
    buf_clear(&c->path);
    buf_str(&c->path, step->pointer);
    c->step = step->code;
    c->at = step;
}

static void compile_list(struct compiler *c, struct value list, struct program *p)
{
    struct str here = compile_pointer(c);
    const struct value *written;
    struct cel_env *env;
    struct step *steps;

    if (list.len == 0)
        compile_warning(c, FINDING_NO_STEPS, "there are no steps, so nothing will happen");
    survey_steps(c, list, p, &written);
    p->env = c->env = env = declare_steps(c, p, written);
    p->slot_count = cel_env_slot_count(p->env);
    steps = (struct step *)p->steps;
    for (uint32_t i = 0; i < p->step_count; i++) {
        compile_stand_at(c, &steps[i]);
        shape_say_pending(c, env, p, &steps[i]);
        compile_step(c, written[i], p, &steps[i]);
        shape_say_step(c, env, &steps[i]);
    }
    shape_say_pending(c, env, p, NULL);
    c->step = STR_NONE;
    c->at = NULL;
    buf_clear(&c->path);
    buf_str(&c->path, here);
    check_rounds(c, p);
    shape_check_early(c, p);
    if (!c->has_errors)
        check_reachable(c, p);
}

void compile_steps(struct compiler *c, struct value list, struct program *p)
{
    size_t outer;

    if (list.kind == VALUE_ABSENT)
        return;
    outer = compile_enter(c, STR("steps"));
    if (list.kind == VALUE_LIST) {
        compile_list(c, list, p);
    } else {
        compile_wrong_type(c, list, "a list of steps");
        compile_hint(c, "write %s", "[{\"code\": \"first\", \"procedure\": ...}]");
    }
    compile_leave(c, outer);
}
