/* survey.c - the tree of steps before anything in them is read: codes, blocks, who is in whom. */
#include "define/compile/compile.h"
#include "define/compile/scenario.h"

struct survey {
    struct compiler *c;
    struct program *p;
    struct step *steps;    /* room for all, and for STEPS_MAX at most */
    struct value *written; /* what each was made from */
    struct {
        VEC_OF(struct block);
    } blocks;
    bool is_full; /* which has been said */
};

static void survey_list(struct survey *s, struct value list, uint32_t block, uint32_t depth);

/* --- codes --- */

static bool is_jump_word(struct str code)
{
    static const char words[] =
#define JUMP_WORD(symbol, word) word " "
#include "define/catalog/jump_words.def"
#undef JUMP_WORD
        ;

    return catalog_has_word(STR(words), code);
}

static void read_code(struct survey *s, struct step *step)
{
    struct compiler *c = s->c;
    struct value v = s->written[step->index];
    size_t outer;

    step->code = compile_text(c, v, "code");
    if (compile_field(v, "code").kind != VALUE_STRING)
        return;
    outer = compile_enter(c, STR("code"));
    if (!compile_check_code(c, step->code)) {
        step->code = STR_NONE;
    } else if (is_jump_word(step->code)) {
        compile_error(c, FINDING_RESERVED_CODE, "'%.*s' is where a goto may lead, not a step",
                      STR_ARG(step->code));
    } else {
        for (const struct step *other = s->steps; other != step; other++)
            if (str_eq(other->code, step->code)) {
                compile_error(c, FINDING_DUPLICATE_CODE, "there are two steps '%.*s'",
                              STR_ARG(step->code));
                compile_hint(c, "each step has a code of its own");
            }
    }
    compile_leave(c, outer);
}

/* --- what a step is --- */

/* The kind by the one field that makes it so; a finding when there are two. */
static void read_kind(struct survey *s, struct step *step)
{
    static const char *const fields[] = {
#define STEP_KIND(symbol, field) field,
#include "define/catalog/step_kinds.def"
#undef STEP_KIND
    };
    struct value v = s->written[step->index];
    const char *found = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        if (!compile_has(v, fields[i]))
            continue;
        if (found != NULL) {
            compile_error(s->c, FINDING_ONE_OF, "a step has '%s' or '%s', not both", found,
                          fields[i]);
            return;
        }
        found = fields[i];
        step->kind = (enum step_kind)i;
    }
}

static uint32_t add_blocks(struct survey *s, struct step *step, uint32_t count)
{
    step->first_block = (uint32_t)s->blocks.count;
    step->block_count = count;
    for (uint32_t i = 0; i < count; i++)
        *VEC_ADD(s->c->mem, &s->blocks) = (struct block){.owner = step->index, .first = NO_STEP};
    return step->first_block;
}

/* `steps` of a branch or a loop. */
static void survey_inner(struct survey *s, struct value object, uint32_t block, uint32_t depth)
{
    struct compiler *c = s->c;
    struct value list = compile_field(object, "steps");
    size_t outer;

    if (list.kind == VALUE_ABSENT)
        return;
    outer = compile_enter(c, STR("steps"));
    if (list.kind == VALUE_LIST)
        survey_list(s, list, block, depth);
    else
        compile_wrong_type(c, list, "a list of steps");
    compile_leave(c, outer);
}

static void survey_branch(struct survey *s, struct step *step, struct value branch)
{
    struct compiler *c = s->c;
    uint32_t index = step->index, depth = step->depth + 1;
    size_t outer = compile_enter(c, STR("branch"));
    uint32_t first;

    if (branch.kind != VALUE_LIST) {
        compile_wrong_type(c, branch, "a list such as [{\"when\": ..., \"steps\": [...]}]");
    } else if (branch.len == 0) {
        compile_error(c, FINDING_BAD_VALUE, "a branch needs at least one way to go");
    } else if (branch.len > STEPS_MAX) {
        compile_error(c, FINDING_LIMIT_STEPS, "a branch has at most %d ways to go, not %u",
                      STEPS_MAX, branch.len);
    } else {
        first = add_blocks(s, &s->steps[index], branch.len);
        for (uint32_t i = 0; i < branch.len; i++) {
            size_t inner = compile_enter_index(c, i);
            if (branch.items[i].kind == VALUE_MAP)
                survey_inner(s, branch.items[i], first + i, depth);
            else
                compile_wrong_type(c, branch.items[i], "an object");
            compile_leave(c, inner);
        }
    }
    compile_leave(c, outer);
}

static void survey_loop(struct survey *s, struct step *step, struct value loop)
{
    size_t outer = compile_enter(s->c, STR("loop"));

    if (loop.kind != VALUE_MAP)
        compile_wrong_type(s->c, loop, "an object with 'while' or 'for', and 'steps'");
    else
        survey_inner(s, loop, add_blocks(s, step, 1), step->depth + 1);
    compile_leave(s->c, outer);
}

static void survey_parallel(struct survey *s, struct step *step, struct value parallel)
{
    struct compiler *c = s->c;
    struct value branches = compile_field(parallel, "branches");
    uint32_t first, depth = step->depth + 1;
    size_t outer = compile_enter(c, STR("parallel")), inner;

    if (parallel.kind != VALUE_MAP) {
        compile_wrong_type(c, parallel, "an object with 'branches'");
    } else if (branches.kind != VALUE_ABSENT) {
        inner = compile_enter(c, STR("branches"));
        if (branches.kind != VALUE_LIST)
            compile_wrong_type(c, branches, "a list of lists of steps");
        else if (branches.len == 0)
            compile_error(c, FINDING_BAD_VALUE, "nothing runs without a branch");
        else if (branches.len > STEPS_MAX)
            compile_error(c, FINDING_LIMIT_STEPS, "a parallel step has at most %d branches, not %u",
                          STEPS_MAX, branches.len);
        else {
            first = add_blocks(s, step, branches.len);
            for (uint32_t i = 0; i < branches.len; i++) {
                size_t item = compile_enter_index(c, i);
                if (branches.items[i].kind == VALUE_LIST)
                    survey_list(s, branches.items[i], first + i, depth);
                else
                    compile_wrong_type(c, branches.items[i], "a list of steps");
                compile_leave(c, item);
            }
        }
        compile_leave(c, inner);
    }
    compile_leave(c, outer);
}

/* --- lists --- */

static void survey_step(struct survey *s, struct value v, uint32_t block, uint32_t depth)
{
    struct step *step = &s->steps[s->p->step_count];

    *step = (struct step){.index = s->p->step_count++,
                          .block = block,
                          .next = NO_STEP,
                          .depth = depth,
                          .meta = value_map_empty(),
                          .pointer = compile_pointer(s->c)};
    s->written[step->index] = v;
    if (v.kind != VALUE_MAP)
        return;
    read_code(s, step);
    s->c->step = step->code;
    read_kind(s, step);
    s->c->step = STR_NONE;
    if (step->kind == STEP_BRANCH)
        survey_branch(s, step, compile_field(v, "branch"));
    else if (step->kind == STEP_LOOP)
        survey_loop(s, step, compile_field(v, "loop"));
    else if (step->kind == STEP_PARALLEL)
        survey_parallel(s, step, compile_field(v, "parallel"));
}

static void survey_list(struct survey *s, struct value list, uint32_t block, uint32_t depth)
{
    struct compiler *c = s->c;
    uint32_t last = NO_STEP;

    for (uint32_t i = 0; i < list.len; i++) {
        uint32_t index = s->p->step_count;
        size_t outer;

        if (index == STEPS_MAX) {
            if (!s->is_full)
                compile_error(c, FINDING_LIMIT_STEPS,
                              "a scenario has at most %d steps, those within others included",
                              STEPS_MAX);
            s->is_full = true;
            return;
        }
        if (last == NO_STEP)
            s->blocks.items[block].first = index;
        else
            s->steps[last].next = index;
        last = index;
        outer = compile_enter_index(c, i);
        survey_step(s, list.items[i], block, depth);
        compile_leave(c, outer);
    }
}

/* --- how many there are --- */

static uint32_t count_steps(struct value list, uint32_t max);

/* The steps within one, wherever steps may stand in it: `max` when there are more. */
static uint32_t count_inner(struct value step, uint32_t max)
{
    struct value ways = compile_field(step, "branch");
    struct value branches = compile_field(compile_field(step, "parallel"), "branches");
    uint32_t count = count_steps(compile_field(compile_field(step, "loop"), "steps"), max);

    for (uint32_t i = 0; ways.kind == VALUE_LIST && i < ways.len && count < max; i++)
        count += count_steps(compile_field(ways.items[i], "steps"), max - count);
    for (uint32_t i = 0; branches.kind == VALUE_LIST && i < branches.len && count < max; i++)
        count += count_steps(branches.items[i], max - count);
    return count;
}

static uint32_t count_steps(struct value list, uint32_t max)
{
    uint32_t count = 0;

    for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len && count < max; i++) {
        count++;
        count += count_inner(list.items[i], max - count);
    }
    return count;
}

void survey_steps(struct compiler *c, struct value list, struct program *p,
                  const struct value **written)
{
    size_t room = (size_t)count_steps(list, STEPS_MAX) + 1;
    struct survey s = {.c = c,
                       .p = p,
                       .steps = arena_zalloc(c->mem, room * sizeof(struct step)),
                       .written = ARENA_ARRAY(c->mem, room, struct value)};

    *VEC_ADD(c->mem, &s.blocks) = (struct block){.owner = NO_STEP, .first = NO_STEP};
    p->steps = s.steps;
    survey_list(&s, list, 0, 0);
    p->blocks = s.blocks.items;
    p->block_count = (uint32_t)s.blocks.count;
    *written = s.written;
}
