/* jump.c - goto: where it leads, and which steps are never reached. */
#include "base/text/nearest.h"
#include "define/compile/compile.h"
#include "define/compile/mapping.h"
#include "define/compile/scenario.h"

static const char *const jump_words[] = {
#define JUMP_WORD(symbol, word) word,
#include "define/catalog/jump_words.def"
#undef JUMP_WORD
};

enum { JUMP_WORD_COUNT = ARRAY_SIZE(jump_words), JUMPS_MAX = 100 };

/* --- targets --- */

static const struct step *loop_around(const struct program *p, const struct step *step)
{
    do
        step = program_owner(p, step);
    while (step != NULL && step->kind != STEP_LOOP);
    return step;
}

/* Whether a jump from the step to `block`, which is around it, would leave a branch of this. */
static const struct step *parallel_left(const struct program *p, const struct step *from,
                                        uint32_t block)
{
    for (; from != NULL && from->block != block; from = program_owner(p, from)) {
        const struct step *owner = program_owner(p, from);
        if (owner != NULL && owner->kind == STEP_PARALLEL)
            return owner;
    }
    return NULL;
}

/* Whether a jump to there stays in the branch of a parallel step; else a finding. */
static bool stays_in_branch(struct compiler *c, uint32_t block)
{
    const struct step *left = parallel_left(c->program, c->at, block);

    if (left == NULL)
        return true;
    compile_error(c, FINDING_BAD_JUMP,
                  "this would lead out of a branch of the parallel step '%.*s', whose other "
                  "branches are under way",
                  STR_ARG(left->code));
    return false;
}

/* Whether the block of `to` is the block of `from`, or one around it. */
static bool may_reach(const struct program *p, const struct step *from, const struct step *to)
{
    for (; from != NULL; from = program_owner(p, from))
        if (from->block == to->block)
            return true;
    return false;
}

static struct str nearest_target(const struct program *p, struct str name)
{
    struct nearest n = nearest_to(name);

    for (uint32_t i = 0; i < p->step_count; i++)
        nearest_offer(&n, p->steps[i].code);
    for (uint32_t i = 0; i < JUMP_WORD_COUNT; i++)
        nearest_offer(&n, str_of(jump_words[i]));
    return n.best;
}

static bool word_target(struct compiler *c, enum jump_kind kind, struct jump *out)
{
    const struct step *loop = loop_around(c->program, c->at);

    out->kind = kind;
    if (kind == JUMP_END)
        return true;
    if (loop != NULL)
        return stays_in_branch(c, loop->first_block);
    compile_error(c, FINDING_BAD_JUMP, "'%s' belongs into a loop, and this step is in none",
                  jump_words[kind - JUMP_END]);
    return false;
}

/* "the steps are 'pay', 'ship'", the first of them; `end` beside them. */
static void hint_steps(struct compiler *c)
{
    enum { STEPS_SHOWN = 10 };
    struct buf out;

    buf_init_arena(&out, c->mem);
    for (uint32_t i = 0; i < c->program->step_count && i < STEPS_SHOWN; i++)
        buf_printf(&out, "%s'%.*s'", i == 0 ? "" : ", ", STR_ARG(c->program->steps[i].code));
    if (c->program->step_count > STEPS_SHOWN)
        compile_hint(c, "the steps are %.*s, ..., and 'end'", STR_ARG(buf_view(&out)));
    else
        compile_hint(c, "the steps are %.*s, and 'end'", STR_ARG(buf_view(&out)));
}

static bool step_target(struct compiler *c, struct str name, struct jump *out)
{
    const struct step *to = program_step(c->program, name);

    if (to == NULL) {
        compile_error(c, FINDING_UNKNOWN_STEP, "there is no step '%.*s'", STR_ARG(name));
        compile_did_you_mean(c, nearest_target(c->program, name));
        if (nearest_target(c->program, name).len == 0)
            hint_steps(c);
        return false;
    }
    if (!may_reach(c->program, c->at, to)) {
        const struct step *owner = program_owner(c->program, to);

        compile_error(c, FINDING_BAD_JUMP, "a jump to '%.*s' would lead into the %s '%.*s'",
                      STR_ARG(name),
                      owner->kind == STEP_LOOP       ? "loop"
                      : owner->kind == STEP_PARALLEL ? "parallel step"
                                                     : "branch",
                      STR_ARG(owner->code));
        return false;
    }
    if (!stays_in_branch(c, to->block))
        return false;
    out->kind = JUMP_STEP;
    out->step = to->index;
    return true;
}

bool compile_target(struct compiler *c, struct value v, struct jump *out)
{
    struct str name;

    out->step = 0;
    if (v.kind == VALUE_ABSENT)
        compile_error(c, FINDING_MISSING_FIELD, "'to' is missing");
    else if (v.kind != VALUE_STRING)
        compile_wrong_type(c, v, "the code of a step");
    if (v.kind != VALUE_STRING || c->program == NULL || c->at == NULL)
        return false;
    name = value_text(v);
    for (size_t i = 0; i < JUMP_WORD_COUNT; i++)
        if (str_eq(name, str_of(jump_words[i])))
            return word_target(c, (enum jump_kind)(JUMP_END + i), out);
    return step_target(c, name, out);
}

/* --- goto --- */

static void compile_jump(struct compiler *c, struct value v, struct jump *jump)
{
    size_t outer;

    *jump = (struct jump){.kind = JUMP_END};
    if (!compile_fields(c, v, TABLE_JUMP))
        return;
    (void)compile_text(c, v, "name");
    jump->when = compile_when(c, v, "when");
    outer = compile_enter(c, STR("to"));
    if (compile_field(v, "to").kind != VALUE_ABSENT)
        (void)compile_target(c, compile_field(v, "to"), jump);
    compile_leave(c, outer);
}

void compile_jumps(struct compiler *c, struct value v, struct jumps *out)
{
    uint32_t count = v.kind == VALUE_LIST ? v.len : 1;
    struct jump *jumps;
    bool is_sure = false;

    if (v.kind != VALUE_STRING && v.kind != VALUE_LIST) {
        compile_wrong_type(c, v,
                           "the code of a step, or a list such as "
                           "[{\"when\": ..., \"to\": ...}]");
        return;
    }
    if (count > JUMPS_MAX) {
        compile_error(c, FINDING_BAD_VALUE, "a goto leads to at most %d places", JUMPS_MAX);
        return;
    }
    jumps = ARENA_ARRAY(c->mem, count + 1, struct jump);
    if (v.kind == VALUE_STRING) {
        jumps[0] = (struct jump){.kind = JUMP_END};
        (void)compile_target(c, v, &jumps[0]);
    }
    for (uint32_t i = 0; v.kind == VALUE_LIST && i < count; i++) {
        size_t outer = compile_enter_index(c, i);
        compile_jump(c, v.items[i], &jumps[i]);
        if (is_sure)
            compile_warning(c, FINDING_UNREACHABLE, "the one before it is always taken");
        is_sure = is_sure || compile_field(v.items[i], "when").kind == VALUE_ABSENT;
        compile_leave(c, outer);
    }
    *out = (struct jumps){.items = jumps, .count = count};
}

/* --- what is never reached --- */

struct reach {
    const struct program *p;
    bool entered[STEPS_MAX], done[STEPS_MAX];
    bool changed;
};

static void mark(struct reach *r, bool *flag)
{
    r->changed = r->changed || !*flag;
    *flag = true;
}

/* Behind the last step of a block the step around it is done. */
static void go_on_after(struct reach *r, const struct step *step)
{
    const struct step *owner = program_owner(r->p, step);

    if (step->next != NO_STEP)
        mark(r, &r->entered[step->next]);
    else if (owner != NULL)
        mark(r, &r->done[owner->index]);
}

static void follow(struct reach *r, const struct step *from, enum jump_kind kind, uint32_t step)
{
    switch (kind) {
    case JUMP_STEP:
        mark(r, &r->entered[step]);
        return;
    case JUMP_NEXT:
    case JUMP_BREAK:
        mark(r, &r->done[loop_around(r->p, from)->index]);
        return;
    case JUMP_END:
        return;
    }
}

static void leave_step(struct reach *r, const struct step *step)
{
    bool is_sure = false;

    for (uint32_t i = 0; i < step->jumps.count && !is_sure; i++) {
        const struct jump *j = &step->jumps.items[i];
        follow(r, step, j->kind, j->step);
        is_sure = j->when == NULL;
    }
    if (!is_sure)
        go_on_after(r, step);
}

static void enter_step(struct reach *r, const struct step *step)
{
    const struct command *first = step->procedure != NULL && step->procedure->command_count > 0
                                      ? &step->procedure->commands[0]
                                      : NULL;
    const struct block *blocks = &r->p->blocks[step->first_block];
    bool may_do_nothing = step->kind == STEP_LOOP;
    uint32_t empty = 0;

    /* Skipped: the goto is not taken. */
    if (step->when != NULL)
        go_on_after(r, step);
    if (step->kind == STEP_PROCEDURE)
        may_do_nothing = true;
    if (first != NULL && first->wait != NULL && first->wait->on_timeout == ON_TIMEOUT_JUMP)
        follow(r, step, first->wait->timeout_kind, first->wait->timeout_step);
    for (uint32_t i = 0; i < step->block_count; i++) {
        if (blocks[i].first != NO_STEP)
            mark(r, &r->entered[blocks[i].first]);
        empty += blocks[i].first == NO_STEP;
    }
    if (empty > 0 && (step->kind != STEP_PARALLEL || empty >= step->join))
        may_do_nothing = true;
    if (step->kind == STEP_BRANCH && blocks[step->block_count - 1].when != NULL)
        may_do_nothing = true;
    if (may_do_nothing)
        mark(r, &r->done[step->index]);
}

void check_reachable(struct compiler *c, const struct program *p)
{
    struct reach r = {.p = p, .changed = true};
    struct str here = compile_pointer(c);

    if (p->step_count > 0)
        r.entered[0] = true;
    while (r.changed) {
        r.changed = false;
        for (uint32_t i = 0; i < p->step_count; i++) {
            if (r.entered[i])
                enter_step(&r, &p->steps[i]);
            if (r.done[i])
                leave_step(&r, &p->steps[i]);
        }
    }
    for (uint32_t i = 0; i < p->step_count; i++) {
        const struct step *step = &p->steps[i], *owner = program_owner(p, step);
        const struct step *before = i > 0 ? &p->steps[i - 1] : NULL;

        /* The first of several is enough, and a step with steps in it stands for them. */
        if (r.entered[i] || (owner != NULL && !r.entered[owner->index]) ||
            (before != NULL && before->next == i && !r.entered[i - 1]))
            continue;
        buf_clear(&c->path);
        buf_str(&c->path, step->pointer);
        c->step = step->code;
        compile_warning(c, FINDING_UNREACHABLE,
                        "nothing leads to this step: what stands before it always jumps");
    }
    c->step = STR_NONE;
    buf_clear(&c->path);
    buf_str(&c->path, here);
}
