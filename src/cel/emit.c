/* emit.c - a checked tree to machine code; see program.h. */
#include "base/vec.h"
#include "cel/patterns.h"
#include "cel/program.h"

struct code {
    VEC_OF(struct instruction);
};
struct offsets {
    VEC_OF(uint32_t);
};
struct constants {
    VEC_OF(struct value);
};
struct regions {
    VEC_OF(struct region);
};
struct functions {
    VEC_OF(const struct cel_function *);
};
struct patterns {
    VEC_OF(const struct regex *);
};

struct emitter {
    struct arena *mem;     /* of the program */
    struct arena *scratch; /* of the compilation */
    const struct cel_env *env;
    struct str source;
    struct err *err;
    struct code code;
    struct offsets offsets;
    struct constants constants;
    struct offsets constant_offsets;
    struct regions regions;
    struct functions functions;
    struct patterns patterns;
    struct cel_patterns *own_patterns; /* made for the first one, unless the environment has some */
    uint32_t open_region;              /* the innermost one, or NO_REGION */
    uint32_t depth, deepest;
    bool failed;
};

enum { VARIES = 0 };

static const int8_t effects[] = {
#define OP(symbol, effect) (effect),
#include "cel/op.def"
#undef OP
};

static void emit_node(struct emitter *e, struct ast_node *n);

/* --- instructions --- */

static void adjust(struct emitter *e, int64_t by)
{
    e->depth = (uint32_t)(e->depth + by);
    if (e->depth > e->deepest)
        e->deepest = e->depth;
}

static uint32_t here(const struct emitter *e)
{
    return (uint32_t)e->code.count;
}

/* Append an instruction and answer its place. */
static uint32_t put(struct emitter *e, enum opcode op, uint8_t a, uint32_t arg,
                    const struct ast_node *at)
{
    *VEC_ADD(e->scratch, &e->offsets) = at->offset;
    *VEC_ADD(e->scratch, &e->code) = (struct instruction){.op = (uint8_t)op, .a = a, .arg = arg};
    if (op <= OP_RETURN)
        adjust(e, effects[op]);
    return here(e) - 1;
}

static void aim(struct emitter *e, uint32_t jump)
{
    e->code.items[jump].arg = here(e);
}

static uint32_t add_constant(struct emitter *e, struct value v, const struct ast_node *at)
{
    if (v.kind == VALUE_STRING && v.hash == 0)
        v = value_key(value_text(v));
    *VEC_ADD(e->scratch, &e->constant_offsets) = at->offset;
    *VEC_ADD(e->scratch, &e->constants) = v;
    return (uint32_t)e->constants.count - 1;
}

/* --- regions --- */

/* Begin a region: an error in what follows goes on at the target given when it ends. */
static uint32_t open_region(struct emitter *e)
{
    *VEC_ADD(e->scratch, &e->regions) =
        (struct region){.start = here(e), .depth = e->depth, .parent = e->open_region};
    e->open_region = (uint32_t)e->regions.count - 1;
    return e->open_region;
}

static void close_region(struct emitter *e, uint32_t r)
{
    struct region *region = &e->regions.items[r];

    region->end = here(e);
    region->target = here(e);
    e->open_region = region->parent;
}

/* --- variables and fields --- */

static bool emit_path(struct emitter *e, const struct ast_node *n)
{
    const struct ast_node *fields[UINT8_MAX];
    const struct ast_node *at = n;
    uint32_t count = 0, first = (uint32_t)e->constants.count, place;

    for (; at->kind == NODE_SELECT; at = at->operand) {
        if (count == UINT8_MAX)
            return false;
        fields[count++] = at;
    }
    if (at->kind != NODE_SLOT || at->slot > UINT16_MAX)
        return false;
    for (uint32_t i = count; i-- > 0;)
        add_constant(e, value_string(fields[i]->text), fields[i]);
    place = put(e, OP_PATH, (uint8_t)count, first, at);
    e->code.items[place].slot = (uint16_t)at->slot;
    return true;
}

static void emit_field(struct emitter *e, struct ast_node *n, enum opcode op)
{
    if (op == OP_FIELD && emit_path(e, n))
        return;
    emit_node(e, n->operand);
    put(e, op, 0, add_constant(e, value_string(n->text), n), n);
}

/* --- calls --- */

/* Where the patterns of this expression are compiled and kept. */
static struct cel_patterns *pattern_pool(struct emitter *e)
{
    if (e->env->patterns != NULL)
        return e->env->patterns;
    if (e->own_patterns == NULL) {
        e->own_patterns = ARENA_NEW(e->mem, struct cel_patterns);
        patterns_init(e->own_patterns, e->mem, CEL_PROGRAM_PATTERNS_COST_MAX,
                      CEL_PROGRAM_PATTERNS_MAX);
    }
    return e->own_patterns;
}

static bool emit_pattern(struct emitter *e, struct ast_node *n)
{
    const struct regex *pattern;
    struct err err;
    uint32_t index;

    if (n->function->call != cel_fn_matches || n->count != 2 || n->items[1]->kind != NODE_CONST ||
        n->items[1]->value.kind != VALUE_STRING)
        return false;
    pattern = patterns_get(pattern_pool(e), value_text(n->items[1]->value), &err);
    if (pattern == NULL) {
        uint32_t line, column;
        /* The specification has a bad pattern fail when it is evaluated. */
        if (e->env->mode == CEL_STRICT)
            return false;
        cel_place(e->source, n->items[1]->offset, &line, &column);
        e->failed =
            !err_set_at(e->err, err.code == ERR_EXPRESSION_ERROR ? ERR_EXPRESSION_TYPE : err.code,
                        line, column, "%pS", ERR_ARG(&err));
        return true;
    }
    *VEC_ADD(e->scratch, &e->patterns) = pattern;
    index = (uint32_t)e->patterns.count - 1;
    emit_node(e, n->items[0]);
    put(e, OP_MATCHES, 0, index, n);
    return true;
}

/* What or() and orValue() would fall back to is evaluated only when it is needed. */
static bool emit_optional_or(struct emitter *e, struct ast_node *n)
{
    bool is_value = n->function->call == cel_fn_optional_or_value;
    uint32_t exit;

    if (!is_value && n->function->call != cel_fn_optional_or)
        return false;
    emit_node(e, n->items[0]);
    exit = put(e, OP_OPTIONAL_OR, is_value, 0, n);
    emit_node(e, n->items[1]);
    if (!is_value)
        put(e, OP_OPTIONAL_CHECK, 0, 0, n->items[1]);
    aim(e, exit);
    return true;
}

static void emit_call(struct emitter *e, struct ast_node *n)
{
    if (n->count > UINT8_MAX) {
        uint32_t line, column;
        cel_place(e->source, n->offset, &line, &column);
        e->failed = !err_set_at(e->err, ERR_LIMIT_EXPRESSION_SIZE, line, column,
                                "a call has at most %d arguments", UINT8_MAX);
        return;
    }
    if (emit_pattern(e, n) || emit_optional_or(e, n))
        return;
    for (uint32_t i = 0; i < n->count; i++)
        emit_node(e, n->items[i]);
    *VEC_ADD(e->scratch, &e->functions) = n->function;
    put(e, OP_CALL, (uint8_t)n->count, (uint32_t)e->functions.count - 1, n);
    adjust(e, 1 - (int64_t)n->count);
}

/* --- logic --- */

/* result = true; each operand in its region: result = result && operand, out when false */
static void emit_logic(struct emitter *e, struct ast_node *n)
{
    bool is_and = n->kind == NODE_AND;
    uint32_t *exits = ARENA_ARRAY(e->scratch, n->count, uint32_t);

    put(e, OP_CONST, 0, add_constant(e, value_bool(is_and), n), n);
    for (uint32_t i = 0; i < n->count; i++) {
        uint32_t r = open_region(e);
        emit_node(e, n->items[i]);
        close_region(e, r);
        exits[i] = put(e, is_and ? OP_AND : OP_OR, 0, 0, n->items[i]);
    }
    put(e, OP_LOGIC_END, 0, 0, n);
    for (uint32_t i = 0; i < n->count; i++)
        aim(e, exits[i]);
}

static void emit_ternary(struct emitter *e, struct ast_node *n)
{
    uint32_t to_else, to_end;

    emit_node(e, n->items[0]);
    to_else = put(e, OP_BRANCH, 0, 0, n->items[0]);
    emit_node(e, n->items[1]);
    to_end = put(e, OP_JUMP, 0, 0, n);
    adjust(e, -1);
    aim(e, to_else);
    emit_node(e, n->items[2]);
    aim(e, to_end);
}

/* --- collections --- */

static void emit_items(struct emitter *e, struct ast_node *n)
{
    enum opcode plain = n->kind == NODE_LIST ? OP_LIST : OP_MAP;

    for (uint32_t i = 0; i < n->count; i++)
        emit_node(e, n->items[i]);
    if (n->optional != NULL) {
        char *flags = arena_copy(e->mem, n->optional, n->count);
        struct value v = value_bytes(str_from(flags, n->count));
        put(e, OP_CONST, 0, add_constant(e, v, n), n);
        put(e, (enum opcode)(plain + 1), 0, n->count, n);
        adjust(e, -1);
    } else {
        put(e, plain, 0, n->count, n);
    }
    adjust(e, 1 - (int64_t)n->count);
}

/*
 *     range; FOLD_BEGIN
 *  next: FOLD_NEXT end
 *     filter; FOLD_FILTER next
 *     body; FOLD_STEP next       (all and exists leave the loop here)
 *  end: FOLD_END
 */
static void emit_fold(struct emitter *e, struct ast_node *n)
{
    struct fold *f = n->fold;
    uint8_t kind = (uint8_t)f->kind;
    uint32_t next, loop_size;
    bool absorbs = f->kind == FOLD_ALL || f->kind == FOLD_EXISTS;

    emit_node(e, f->range);
    f->first.place = e->depth + 2;
    f->second.place = e->depth + 3;
    put(e, OP_FOLD_BEGIN, kind, 0, f->range);
    adjust(e, 4);
    next = put(e, OP_FOLD_NEXT, f->second.name.len > 0, 0, n);
    if (f->filter != NULL) {
        emit_node(e, f->filter);
        put(e, OP_FOLD_FILTER, 0, next, f->filter);
    }
    if (absorbs) {
        uint32_t r = open_region(e);
        emit_node(e, f->body);
        close_region(e, r);
    } else {
        emit_node(e, f->body);
    }
    put(e, OP_FOLD_STEP, kind, next, f->body);
    loop_size = here(e) - next;
    e->code.items[next].slot = (uint16_t)(loop_size < UINT16_MAX ? loop_size : UINT16_MAX);
    aim(e, next);
    put(e, OP_FOLD_END, kind, 0, n);
    adjust(e, -4);
}

static void emit_bind(struct emitter *e, struct ast_node *n)
{
    uint32_t r = open_region(e);

    n->local->place = e->depth;
    emit_node(e, n->items[0]);
    close_region(e, r);
    emit_node(e, n->items[1]);
    put(e, OP_SLIDE, 0, 0, n);
}

static void emit_optional_map(struct emitter *e, struct ast_node *n)
{
    uint32_t exit;

    n->local->place = e->depth;
    emit_node(e, n->items[0]);
    exit = put(e, OP_OPTIONAL_BEGIN, 0, 0, n);
    emit_node(e, n->items[1]);
    put(e, OP_OPTIONAL_END, n->is_flat, 0, n);
    aim(e, exit);
}

static void emit_operator(struct emitter *e, struct ast_node *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        emit_node(e, n->items[i]);
    put(e, (enum opcode)(OP_FIRST_OPERATOR + n->op), 0, 0, n);
    adjust(e, 1 - (int64_t)n->count);
}

static void emit_join(struct emitter *e, struct ast_node *n)
{
    for (uint32_t i = 0; i < n->count; i++) {
        struct ast_node *part = n->items[i];
        emit_node(e, part);
        if (part->kind != NODE_CONST || part->value.kind != VALUE_STRING)
            put(e, OP_TEXT, 0, 0, part);
    }
    if (n->text.len > 0) {
        put(e, OP_CONST, 0, add_constant(e, value_string(str_copy(e->mem, n->text)), n), n);
        put(e, OP_JOIN_URL, n->is_path ? 1 : 0, n->count, n);
        adjust(e, -(int64_t)n->count);
        return;
    }
    put(e, OP_JOIN, 0, n->count, n);
    adjust(e, 1 - (int64_t)n->count);
}

/* A node that has no others below it is one instruction. */
static void emit_leaf(struct emitter *e, const struct ast_node *n)
{
    if (n->kind == NODE_CONST)
        put(e, OP_CONST, 0, add_constant(e, n->value, n), n);
    else if (n->kind == NODE_FAIL)
        put(e, OP_FAIL, 0, add_constant(e, value_copy(e->mem, n->value), n), n);
    else if (n->kind == NODE_LOCAL)
        put(e, OP_LOCAL, 0, n->local->place, n);
    else if (n->kind == NODE_ROOT)
        put(e, OP_ROOT, 0, 0, n);
    else
        put(e, n->kind == NODE_SLOT ? OP_SLOT : OP_HAS_SLOT, 0, n->slot, n);
}

static void emit_node(struct emitter *e, struct ast_node *n)
{
    if (e->failed)
        return;
    switch ((enum node_kind)n->kind) {
    case NODE_CONST:
    case NODE_FAIL:
    case NODE_SLOT:
    case NODE_HAS_SLOT:
    case NODE_LOCAL:
    case NODE_ROOT:
        emit_leaf(e, n);
        return;
    case NODE_SELECT:
        emit_field(e, n, OP_FIELD);
        return;
    case NODE_HAS:
        emit_field(e, n, OP_HAS);
        return;
    case NODE_OPTIONAL_SELECT:
        emit_field(e, n, OP_OPTIONAL_FIELD);
        return;
    case NODE_OPERATOR:
        emit_operator(e, n);
        return;
    case NODE_CALL:
        emit_call(e, n);
        return;
    case NODE_AND:
    case NODE_OR:
        emit_logic(e, n);
        return;
    case NODE_TERNARY:
        emit_ternary(e, n);
        return;
    case NODE_LIST:
    case NODE_MAP:
        emit_items(e, n);
        return;
    case NODE_FOLD:
        emit_fold(e, n);
        return;
    case NODE_BIND:
        emit_bind(e, n);
        return;
    case NODE_OPTIONAL_MAP:
        emit_optional_map(e, n);
        return;
    case NODE_JOIN:
        emit_join(e, n);
        return;
    case NODE_NAME:
        break;
    }
    PANIC("a name was left unresolved");
}

/* --- the whole --- */

static void *keep(struct arena *mem, const void *array, size_t count, size_t size)
{
    void *copy = arena_array(mem, count, size);

    if (count > 0)
        memcpy(copy, array, count * size);
    return copy;
}

#define KEEP(mem, vec) keep((mem), (vec).items, (vec).count, sizeof(*(vec).items))

/* What was emitted, out of the scratch memory. */
static const struct cel_program *emitted_program(const struct emitter *e, const struct type *type,
                                                 const struct advice *advice)
{
    struct cel_program *p = arena_alloc(e->mem, sizeof(*p));
    struct buf text;

    buf_init_arena(&text, e->mem);
    type_write(&text, type);
    *p = (struct cel_program){
        .code = KEEP(e->mem, e->code),
        .offsets = KEEP(e->mem, e->offsets),
        .constants = KEEP(e->mem, e->constants),
        .constant_offsets = KEEP(e->mem, e->constant_offsets),
        .regions = KEEP(e->mem, e->regions),
        .functions = KEEP(e->mem, e->functions),
        .patterns = KEEP(e->mem, e->patterns),
        .code_count = (uint32_t)e->code.count,
        .region_count = (uint32_t)e->regions.count,
        .own_patterns = e->own_patterns,
        .function_count = (uint32_t)e->functions.count,
        .stack_depth = e->deepest,
        .slot_count = e->env->slot_count,
        .mode = e->env->mode,
        .env = e->env,
        .source = e->source,
        .type = buf_view(&text),
        .advice = advice,
    };
    return p;
}

bool emit_program(struct arena *mem, struct arena *scratch, const struct cel_env *env,
                  struct str source, struct ast_node *tree, const struct type *type,
                  const struct advice *advice, const struct cel_program **out, struct err *err)
{
    struct emitter e = {.mem = mem,
                        .scratch = scratch,
                        .env = env,
                        .source = source,
                        .err = err,
                        .open_region = NO_REGION};

    emit_node(&e, tree);
    put(&e, OP_RETURN, 0, 0, tree);
    if (e.failed) {
        if (e.own_patterns != NULL)
            cel_patterns_release(e.own_patterns);
        return false;
    }
    ASSERT(e.depth == 0);
    *out = emitted_program(&e, type, advice);
    return true;
}
