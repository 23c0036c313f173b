/* cel.c - compiling, from source to program; see cel.h. */
#include "cel/check.h"
#include "cel/patterns.h"
#include "cel/program.h"
#include "cel/syntax/foreign.h"
#include "cel/syntax/parse.h"

static struct guards keep_guards(struct arena *mem, const struct guards *from)
{
    struct guards kept = {0};

    for (size_t i = 0; i < from->count; i++)
        *VEC_ADD(mem, &kept) = str_copy(mem, from->items[i]);
    return kept;
}

/* What the checker has noted, in the arena of the program; NULL when that is nothing. */
static const struct advice *keep_advice(struct arena *mem, const struct checker *c,
                                        const struct guards when[2])
{
    struct advice *kept;
    struct cel_note *notes;

    if (c->notes.count == 0 && when[0].count == 0 && when[1].count == 0)
        return NULL;
    kept = ARENA_NEW(mem, struct advice);
    notes = ARENA_ARRAY(mem, c->notes.count, struct cel_note);
    for (size_t i = 0; i < c->notes.count; i++) {
        notes[i] = c->notes.items[i];
        notes[i].name = str_copy(mem, notes[i].name);
    }
    *kept = (struct advice){.notes = notes,
                            .note_count = (uint32_t)c->notes.count,
                            .when = {keep_guards(mem, &when[0]), keep_guards(mem, &when[1])}};
    return kept;
}

/* Check, fold and emit a tree; the part that all ways to compile share. */
static bool compile_tree(struct arena *mem, struct arena *scratch, const struct cel_env *env,
                         struct str source, struct ast_node *tree,
                         const struct cel_options *options, const struct cel_program **out,
                         struct err *err)
{
    struct guards when[2] = {{0}, {0}};
    struct checker checker;
    const struct type *type;

    checker_init(&checker, scratch, env, source, options, err);
    for (int i = 0; i < 2 && checker.facts != CEL_FACTS_NONE; i++)
        check_guards(&checker, tree, i == 1, &when[i]);
    type = check_tree(&checker, tree);
    if (type == NULL)
        return false;
    fold_constants(mem, env->mode, tree);
    return emit_program(mem, scratch, env, source, tree, type, keep_advice(mem, &checker, when),
                        out, err);
}

/* A function that makes the tree of a source; the parser stands at its beginning. */
typedef struct ast_node *tree_fn(struct parser *p);

/* The byte offset of a line and column, which count from 1, in code points. */
static size_t place_offset(struct str source, uint32_t line, uint32_t column)
{
    size_t at = 0;

    for (; line > 1 && at < source.len; at++)
        line -= source.ptr[at] == '\n';
    while (column > 1 && at < source.len) {
        at++;
        while (at < source.len && ((unsigned char)source.ptr[at] & 0xC0) == 0x80)
            at++;
        column--;
    }
    return at;
}

/* A message of the parser says what it expected; what people of other languages meant helps more. */
static void advise(struct str source, struct err *err)
{
    uint32_t at, line, column;
    const char *advice;

    if (err->code != ERR_EXPRESSION_SYNTAX || err->line == 0)
        return;
    advice = foreign_syntax(source, place_offset(source, err->line, err->column), &at);
    if (advice == NULL)
        return;
    cel_place(source, at, &line, &column);
    (void)err_set_at(err, err->code, line, column, "%s", advice);
}

static bool compile(struct arena *mem, const struct cel_env *env, struct str source, uint32_t start,
                    tree_fn *parse, const struct cel_options *options,
                    const struct cel_program **out, struct err *err)
{
    struct arena scratch;
    struct parser parser;
    struct ast_node *tree;
    bool ok = false;

    arena_init(&scratch);
    source = str_copy(mem, source);
    if (parser_init(&parser, &scratch, mem, source, env->mode,
                    options == NULL || !options->without_macros, err)) {
        parser.lex.pos = start;
        tree = parse(&parser);
        ok = tree != NULL && compile_tree(mem, &scratch, env, source, tree, options, out, err);
    }
    if (!ok && env->mode == CEL_DEFINITION)
        advise(source, err);
    arena_fini(&scratch);
    return ok;
}

bool cel_compile(struct arena *mem, const struct cel_env *env, struct str source,
                 const struct cel_options *options, const struct cel_program **out, struct err *err)
{
    return compile(mem, env, source, 0, parse_whole, options, out, err);
}

bool cel_compile_text(struct arena *mem, const struct cel_env *env, struct str text, bool is_html,
                      const struct cel_program **out, struct err *err)
{
    return compile(mem, env, text, 0, is_html ? parse_html : parse_text, NULL, out, err);
}

/* Exactly one double-quoted literal and nothing else. */
static bool is_quoted_literal(struct str text)
{
    struct lexer lex = {.source = text};
    struct lex_token t;
    struct err err;

    return text.len >= 2 && text.ptr[0] == '"' && lex_next(&lex, &t, &err) &&
           t.kind == TOKEN_STRING && t.len == text.len;
}

/* Whether a string in a value position is text with {{ expr }} in it, or without. */
static bool is_template(struct str text)
{
    return !str_starts_with(text, STR("$.")) && !str_starts_with(text, STR("=")) &&
           !is_quoted_literal(text);
}

bool cel_compile_value(struct arena *mem, const struct cel_env *env, struct str text,
                       const struct cel_options *options, const struct cel_program **out,
                       struct err *err)
{
    if (str_starts_with(text, STR("$.")) || is_quoted_literal(text))
        return compile(mem, env, text, 0, parse_whole, options, out, err);
    if (text.len > 0 && text.ptr[0] == '=')
        return compile(mem, env, text, 1, parse_whole, options, out, err);
    return compile(mem, env, text, 0, parse_template, options, out, err);
}

bool cel_compile_url(struct arena *mem, const struct cel_env *env, struct str text,
                     const struct cel_options *options, const struct cel_program **out,
                     struct err *err)
{
    if (!is_template(text))
        return cel_compile_value(mem, env, text, options, out, err);
    return compile(mem, env, text, 0, parse_url, options, out, err);
}

bool cel_compile_path(struct arena *mem, const struct cel_env *env, struct str text,
                      const struct cel_options *options, const struct cel_program **out,
                      struct err *err)
{
    if (is_quoted_literal(text))
        return compile(mem, env, text, 0, parse_whole, options, out, err);
    if (!is_template(text))
        return compile(mem, env, text, text.ptr[0] == '=' ? 1 : 0, parse_whole_path, options, out,
                       err);
    return compile(mem, env, text, 0, parse_path, options, out, err);
}

void cel_program_release(const struct cel_program *program)
{
    if (program->own_patterns != NULL)
        cel_patterns_release(program->own_patterns);
}

struct str cel_program_type(const struct cel_program *program)
{
    return program->type;
}

uint32_t cel_program_notes(const struct cel_program *program, const struct cel_note **out)
{
    *out = program->advice != NULL ? program->advice->notes : NULL;
    return program->advice != NULL ? program->advice->note_count : 0;
}

size_t cel_env_guard(struct cel_env *env, const struct cel_program *program, bool outcome)
{
    const struct advice *advice = program != NULL ? program->advice : NULL;
    size_t mark = env->guards.count;

    for (size_t i = 0; advice != NULL && i < advice->when[outcome].count; i++)
        *VEC_ADD(env->mem, &env->guards) = advice->when[outcome].items[i];
    return mark;
}

void cel_env_unguard(struct cel_env *env, size_t mark)
{
    ASSERT(mark <= env->guards.count);
    env->guards.count = mark;
}

struct str cel_program_call(const struct cel_program *program, uint32_t index)
{
    return index < program->function_count ? program->functions[index]->name : STR_NONE;
}

struct str cel_program_source(const struct cel_program *program)
{
    return program->source;
}

bool cel_program_reads(const struct cel_program *program, uint32_t slot)
{
    for (uint32_t i = 0; i < program->code_count; i++) {
        const struct instruction *at = &program->code[i];

        if (at->op == OP_ROOT || (at->op == OP_PATH && at->slot == slot) ||
            ((at->op == OP_SLOT || at->op == OP_HAS_SLOT) && at->arg == slot))
            return true;
    }
    return false;
}

uint32_t cel_program_slot_count(const struct cel_program *program)
{
    return program->slot_count;
}

bool cel_program_is_constant(const struct cel_program *program, struct value *out)
{
    if (program->code_count != 2 || program->code[0].op != OP_CONST)
        return false;
    *out = program->constants[program->code[0].arg];
    return true;
}

struct value cel_call(struct cel_eval *ev, const struct cel_program *body, const struct value *args)
{
    struct cel_activation activation = {.slots = args, .now_us = ev->now_us};
    struct cel_eval caller = *ev;
    struct value v;

    if (ev->nesting == CEL_CALLS_MAX)
        return cel_fail(ev, "functions call each other more than %d deep", CEL_CALLS_MAX);
    ev->nesting++;
    ev->mode = body->mode;
    v = vm_run(ev, body, &activation);
    /* All is as before, but for what is left of the budget. */
    caller.mem_left = ev->mem_left;
    caller.cost_left = ev->cost_left;
    *ev = caller;
    if (v.kind != VALUE_ERROR)
        return v;
    /* The place in the body means nothing to the caller. */
    return value_error(ev->mem, v.error->code, ev->offset, "%s(): %pS", ev->function,
                       SENTENCE_ARG(value_sentence(v)));
}

static const char *const op_names[] = {
#define OP(symbol, effect) #symbol,
#include "cel/op.def"
#undef OP
#define OPERATOR(symbol, name, text) #symbol,
#include "cel/syntax/operator.def"
#undef OPERATOR
};

struct str cel_program_listing(struct arena *mem, const struct cel_program *program)
{
    struct buf text;

    buf_init_arena(&text, mem);
    for (uint32_t i = 0; i < program->code_count; i++) {
        struct instruction in = program->code[i];
        buf_printf(&text, "%4u  %-15s a=%u slot=%u arg=%u\n", i, op_names[in.op], in.a, in.slot,
                   in.arg);
    }
    return buf_view(&text);
}
