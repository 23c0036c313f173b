/*
 * compile.h - walking through a definition: where we stand, and what is wrong there.
 * Internal to src/define; the public face is define.h.
 *
 * A compiler knows the JSON pointer of the value that is being read. Whoever
 * goes into a field enters it and leaves it again:
 *
 *     size_t outer = compile_enter(c, STR("steps"));
 *     ...
 *     compile_leave(c, outer);
 *
 * Nothing stops at the first mistake: what could not be read is left empty,
 * and the program is thrown away at the end.
 */
#ifndef PAWL_DEFINE_COMPILE_H
#define PAWL_DEFINE_COMPILE_H

#include "base/buf.h"
#include "define/catalog.h"
#include "define/define.h"

enum finding_code {
#define FINDING(symbol, code) FINDING_##symbol,
#include "define/findings.def"
#undef FINDING
    FINDING_CODE_COUNT
};

enum {
    STEPS_MAX = 50,
    STEP_COMMANDS_MAX = 50,
    PARAMS_MAX = 200,
    NAME_MAX_LEN = 100, /* of codes, parameters and results */
    MAPPING_DEPTH_MAX = 100,
    FINDINGS_MAX = 200, /* what is found beyond them is not told */
};

struct compiler {
    struct arena *mem;
    const struct cel_env *env; /* what an expression may name here */
    struct findings *findings;
    struct buf path; /* JSON pointer of where we stand */
    struct str step; /* the code of the step we are in, or empty */
    bool has_errors;
    struct {
        VEC_OF(const struct cel_program *);
    } expressions; /* every one that compiled */
};

void compiler_init(struct compiler *c, struct arena *mem, const struct cel_env *env,
                   struct findings *findings);

/* --- where we stand --- */

size_t compile_enter(struct compiler *c, struct str field);
size_t compile_enter_index(struct compiler *c, size_t index);
void compile_leave(struct compiler *c, size_t outer);

/* What a message calls the place: the last word of the pointer, or "each item" of a list. */
struct str compile_here(const struct compiler *c);

/* The pointer, copied. */
struct str compile_pointer(const struct compiler *c);

/* --- what is wrong there --- */

void compile_error(struct compiler *c, enum finding_code code, const char *format, ...)
    PRINTF_LIKE(3, 4);
void compile_warning(struct compiler *c, enum finding_code code, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* "amount must be a number, not a text" */
void compile_wrong_type(struct compiler *c, struct value v, const char *wanted);

/* What the last finding lacked: "did you mean 'x'?". Nothing when `nearest` is empty. */
void compile_did_you_mean(struct compiler *c, struct str nearest);

/* What was wrong with the expression `source`. */
void compile_expression_error(struct compiler *c, struct str source, const struct err *err);

/* --- fields --- */

enum field_state {
    STATE_NOW,
    STATE_LATER,   /* of the language, and not built yet */
    STATE_IGNORED, /* accepted whatever it holds */
};

struct field_spec {
    const char *name;
    enum field_state state;
};

/*
 * Whether `v` is an object; if not, that is a finding. Its fields that are
 * unknown or not built yet are findings too. A field that is not built yet
 * does no harm while it is null or empty.
 */
bool compile_fields(struct compiler *c, struct value v, const struct field_spec *specs,
                    size_t count);

/* The field of an object, or VALUE_ABSENT. */
struct value compile_field(struct value object, const char *name);

/* The field as a text; empty, and a finding, when it is none; empty when it is not there. */
struct str compile_text(struct compiler *c, struct value object, const char *name);

/* The field as a boolean; false when it is not there. */
bool compile_flag(struct compiler *c, struct value object, const char *name);

/*
 * The field as one of `words` (spaces between them): its place among them, or
 * -1 when it is not there or something else, which is then a finding.
 */
int compile_word(struct compiler *c, struct value object, const char *name, const char *words);

/* `meta`, an object that may hold anything; an empty one when it is not there. */
struct value compile_meta(struct compiler *c, struct value object);

/* A finding that the field is missing. */
void compile_missing(struct compiler *c, const char *name);

/* A word of `words`, or the finding that it is none of them: its place among them, or -1. */
int compile_find_word(struct compiler *c, struct value v, const char *words);

/* --- values and expressions: mapping.c --- */

/* The mapping of a value where we stand. Never NULL. */
const struct mapping *compile_mapping(struct compiler *c, struct value v);

/* The program of an expression that must be true or false, or NULL after a finding. */
const struct cel_program *compile_condition(struct compiler *c, struct value v);

/* --- the parts of a definition --- */

/* [a-z][a-z0-9_]{0,99}; a finding if not. */
bool compile_check_code(struct compiler *c, struct str code);

/* Whether a name is a letter or '_', then letters, digits and '_', at most NAME_MAX_LEN of them. */
bool compile_is_name(struct str name);

/* A constant duration, not negative; a finding if not. */
bool compile_duration(struct compiler *c, struct value v, int64_t *out_us);

/* `input` of a definition. param.c */
void compile_params(struct compiler *c, struct value list, struct program *p);

/* `settings` of a scenario. settings.c */
void compile_settings(struct compiler *c, struct value settings, struct program *p);

/* The commands of a step, an object or a list; env is the program's. command.c */
const struct procedure *compile_commands(struct compiler *c, struct value written);

/* `steps`, codes first, so that each may name any other; sets the program's env. step.c */
void compile_steps(struct compiler *c, struct value list, struct program *p);

/* The words of `onError`, in the order of enum on_error. */
#define ON_ERROR_WORDS "compensate retry fail_fast hold"

#endif
