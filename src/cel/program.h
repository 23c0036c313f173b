/*
 * program.h - a compiled expression. Internal to src/cel.
 *
 * The machine has a stack of values whose depth at every instruction is known
 * when the code is made. Errors are values too, but no instruction ever sees
 * one as an operand: an error is raised, which means that the innermost region
 * around the failing instruction is looked up and evaluation goes on at its
 * target, with the stack cut to its depth and the error on top. Regions stand
 * around the operands of && and ||, the bodies of all() and exists(), and the
 * value of cel.bind(). Without one the error is the result.
 *
 * why: decision 0021
 */
#ifndef PAWL_CEL_PROGRAM_H
#define PAWL_CEL_PROGRAM_H

#include "cel/env.h"
#include "cel/eval.h"
#include "cel/syntax/ast.h"

struct regex;

enum opcode {
#define OP(symbol, effect) OP_##symbol,
#include "cel/op.def"
#undef OP
#define OPERATOR(symbol, name, text) OP_##symbol,
#include "cel/syntax/operator.def"
#undef OPERATOR
    OP_COUNT,
    OP_FIRST_OPERATOR = OP_RETURN + 1,
};

struct instruction {
    uint8_t op;
    uint8_t a;
    uint16_t slot; /* PATH; FOLD_NEXT: instructions in the loop */
    uint32_t arg;
};

struct region {
    uint32_t start, end; /* instructions, the end excluded */
    uint32_t target;
    uint32_t depth;  /* of the stack, before the error is put on it */
    uint32_t parent; /* the region around this one, or NO_REGION */
};

#define NO_REGION UINT32_MAX

/* What the checker says of an expression that compiles. */
struct advice {
    const struct cel_note *notes;
    uint32_t note_count;
    struct guards when[2]; /* what is there when it gave false, and when it gave true */
};

struct cel_program {
    const struct instruction *code;
    const uint32_t *offsets; /* in the source, for each instruction */
    const struct value *constants;
    const uint32_t *constant_offsets; /* in the source: which field of a path is missing */
    const struct region *regions;     /* in the order of their start */
    const struct cel_function *const *functions;
    const struct regex *const *patterns;
    struct cel_patterns
        *own_patterns; /* NULL: they belong to the environment's, or there are none */
    uint32_t code_count, region_count, function_count;
    uint32_t stack_depth;
    uint32_t slot_count;
    enum cel_mode mode;
    const struct cel_env *env; /* for the names of the slots in $ */
    struct str source;
    struct str type;
    const struct advice *advice; /* or NULL */
};

/* Make a program of a checked tree. emit.c */
bool emit_program(struct arena *mem, struct arena *scratch, const struct cel_env *env,
                  struct str source, struct ast_node *tree, const struct type *type,
                  const struct advice *advice, const struct cel_program **out,
                  struct err *err) MUST_USE;

/* Replace what is constant by its value, which lives in `mem`. fold.c */
void fold_constants(struct arena *mem, enum cel_mode mode, struct ast_node *tree);

/* Run a program inside an evaluation: its budget goes on, its slots are given. vm.c */
struct value vm_run(struct cel_eval *ev, const struct cel_program *program,
                    const struct cel_activation *activation);

/* --- the loops of macros: comprehend.c; the state they keep is described in vm.c --- */

/* The result before the first element; an error when `range` is neither list nor map. */
struct value comprehend_begin(struct cel_eval *ev, enum fold_kind kind, struct value range);

/*
 * all() and exists(): take the body's value into *accu. True: it was
 * `decisive` and ends the loop; an error stays until something decides.
 */
bool comprehend_decide(struct cel_eval *ev, struct value *accu, struct value body, bool decisive);

/* The others: take the body's value into the state. An error value fails the loop. */
struct value comprehend_step(struct cel_eval *ev, enum fold_kind kind, struct value *state,
                             struct value body);

/* The result after the last element. */
struct value comprehend_end(struct cel_eval *ev, enum fold_kind kind, struct value accu);

/* --- operators on values: arith.c --- */

/* Apply an operator of operator.def; `b` is not looked at when it takes one operand. */
struct value operate(struct cel_eval *ev, enum operator op, struct value a, struct value b);

/* The error that an operator does not take values of these kinds. */
struct value operate_no_overload(struct cel_eval *ev, enum operator op, struct value a,
                                 struct value b);

/* --- parts of values: parts.c --- */

/* v[key] and v[?key]; an optional gives the part of what it holds, as an optional. */
struct value operate_index(struct cel_eval *ev, struct value v, struct value key);
struct value operate_optional_index(struct cel_eval *ev, struct value v, struct value key);

/* The field of a value, of kind VALUE_ERROR when it has none. */
struct value operate_field(struct cel_eval *ev, struct value v, struct value key);
struct value operate_optional_field(struct cel_eval *ev, struct value v, struct value key);
struct value operate_has(struct cel_eval *ev, struct value v, struct value key);

/* Lists and maps of values that are written out; `optional` may be NULL. */
struct value operate_list(struct cel_eval *ev, const struct value *items, uint32_t count,
                          const char *optional);
struct value operate_map(struct cel_eval *ev, const struct value *items, uint32_t count,
                         const char *optional);

/* The text of a part of a template, and of all its parts. template.c */
struct value operate_text(struct cel_eval *ev, struct value v);
struct value operate_join(struct cel_eval *ev, const struct value *items, uint32_t count);

/* The same for a URL: `kinds` has an enum url_part for each text. url_join.c */
struct value operate_join_url(struct cel_eval *ev, const struct value *items, uint32_t count,
                              const char *kinds, bool is_path);

#endif
