/*
 * compile.h - walking through a definition: where we stand, what is wrong there, and its fields.
 * Internal to src/define; the public face is define.h. What is read field by field is declared in
 * mapping.h, param.h, library.h, scenario.h and context.h.
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
 *
 * why: decisions 0080, 0082
 */
#ifndef PAWL_DEFINE_COMPILE_COMPILE_H
#define PAWL_DEFINE_COMPILE_COMPILE_H

#include "base/buf.h"
#include "base/map.h"
#include "cel/cel.h"
#include "define/catalog/catalog.h"
#include "define/define.h"

enum finding_code {
#define FINDING(symbol, code, fix) FINDING_##symbol,
#include "define/catalog/findings.def"
#undef FINDING
    FINDING_CODE_COUNT
};

enum {
    STEPS_MAX =
        200, /* of a definition, those within others included; and ways or branches of one */
    COMMANDS_MAX = 50, /* of a procedure, those of what it calls included */
    CALL_DEPTH_MAX = 3,
    BODY_DEPTH_MAX = 5, /* commands within commands */
    PROCEDURES_MAX = 100,
    PARAMS_MAX = 200,
    NAME_MAX_LEN = 100, /* of codes, parameters and results */
    EXTERNAL_NAME_MAX = 200,
    MAPPING_DEPTH_MAX = 100,
    FINDINGS_MAX = 200,     /* what is found beyond them is not told */
    FINDING_TEXT_MAX = 512, /* bytes of a message, its end included; a longer one is cut */
};

struct compile_scope;
struct library;
struct procedure_unit;

/* An expression that reads the result of a step which comes later, or of its own. */
struct early_read {
    uint32_t step; /* that it stands in: an index */
    uint32_t read;
    struct finding finding;
};

struct compiler {
    struct arena *mem;
    const struct cel_env *env; /* what an expression may name here */
    struct findings *findings;
    struct buf path; /* JSON pointer of where we stand */
    struct str step; /* the code of the step we are in, or empty */
    bool has_errors;
    uint32_t errors;        /* how many were found */
    struct cel_limits left; /* what values may still cost that are held against parameters */
    bool is_spent;          /* ... they have cost more, and a finding says so */
    bool is_stored;         /* it was published before: rules that came later do not hold */
    enum define_rules rules;
    struct library *library;
    struct compile_scope *scope;        /* of the procedure we are in, or NULL */
    const struct compile_scope *around; /* of the procedure whose rollbacks we are in, or NULL */
    const struct program *program;      /* the tree of steps for jumps; NULL in a named procedure */
    const struct step *at;              /* the step we are in, or NULL */
    const struct retry *retry;          /* what a policy leaves out */
    const struct procedure_unit *unit;  /* the named procedure we are in, or NULL */
    bool lists_input;                   /* the fields of $.input are known */
    const char *sees;                   /* what expressions of a trigger see, as a hint; or NULL */
    const char *about;                  /* what the expression is over, "record"; or NULL */
    bool sees_only_about;               /* and no root of the context */
    bool sees_all_steps;                /* what stands here runs when the steps have run */
    struct {
        VEC_OF(struct early_read);
    } early_reads;
};

/* What holding values against parameters may cost in all: about a tenth of a second. */
extern const struct cel_limits compile_check_limits;

void compiler_init(struct compiler *c, struct arena *mem, const struct cel_env *env,
                   struct findings *findings);

/* A compiler of the same program for a definition of its own, or another place in this one. */
void compiler_branch(struct compiler *c, const struct compiler *from, struct str path);

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

/* The same about a field of the object where we stand. */
void compile_error_at(struct compiler *c, const char *field, enum finding_code code,
                      const char *format, ...) PRINTF_LIKE(4, 5);
void compile_warning_at(struct compiler *c, const char *field, enum finding_code code,
                        const char *format, ...) PRINTF_LIKE(4, 5);

/* An error by a rule that is newer than versions which may be stored: nothing for those. */
void compile_stricter(struct compiler *c, enum finding_code code, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* "amount must be a number, not a text" */
void compile_wrong_type(struct compiler *c, struct value v, const char *wanted);
void compile_wrong_kind(struct compiler *c, struct value v, struct sentence wanted);

/* What the last finding lacked: "did you mean 'x'?". Nothing when `nearest` is empty. */
void compile_did_you_mean(struct compiler *c, struct str nearest);

/* The same for the name of a field of `object`, which the last finding is about. */
void compile_did_you_mean_field(struct compiler *c, struct value object, struct str name,
                                struct str nearest);

/* What mends the last finding stands at its pointer instead: a text, or any value. */
void compile_fix_text(struct compiler *c, struct str text);
void compile_fix_value(struct compiler *c, struct value v);

/* The same where a word of an expression is another one: the error says where, and what is meant. */
void compile_fix_expression(struct compiler *c, struct str source, const struct err *err);

/* The last finding says this too. */
void compile_hint(struct compiler *c, const char *format, ...) PRINTF_LIKE(2, 3);

/* Where in the text what the last finding tells of stands: from 1, in code points. */
void compile_column(struct compiler *c, uint32_t column);

/* What was wrong with the expression `source`. */
void compile_expression_error(struct compiler *c, struct str source, const struct err *err);

/* It compiles, and will hardly do: a warning. */
void compile_expression_warning(struct compiler *c, enum finding_code code, struct str source,
                                const struct err *err);

/* --- fields --- */

/*
 * Whether `v` is an object; if not, that is a finding. Its fields are held
 * against the rows of the table: those that are unknown, not built yet or
 * missing are findings too. A field that is not built yet does no harm while
 * it is null or empty.
 */
bool compile_fields(struct compiler *c, struct value v, enum field_table table);

/* The same for a command: its own fields beside those of the table COMMAND. */
bool compile_command_fields(struct compiler *c, struct value v, const struct command_spec *spec);

/* The field of an object, or VALUE_ABSENT; the same when it is no object. */
struct value compile_field(struct value object, const char *name);

/* The field if it is of that kind; else VALUE_ABSENT, and a finding when it is there. */
struct value compile_of_kind(struct compiler *c, struct value object, const char *name,
                             enum value_kind kind, const char *wanted);

/* The field as a text; empty, and a finding, when it is none; empty when it is not there. */
struct str compile_text(struct compiler *c, struct value object, const char *name);

/* The field as a boolean; false when it is not there. */
bool compile_flag(struct compiler *c, struct value object, const char *name);

/*
 * The field as one of the words that its row in the table has: its place among
 * them, or -1 when it is not there or something else, which is then a finding.
 */
int compile_word(struct compiler *c, enum field_table table, struct value object, const char *name);

/* `meta`, an object that may hold anything; an empty one when it is not there. */
struct value compile_meta(struct compiler *c, struct value object);

/* A finding that the field is missing. */
void compile_missing(struct compiler *c, const char *name);

/* A word of `words`, or the finding that it is none of them: its place among them, or -1. */
int compile_find_word(struct compiler *c, struct value v, const char *words);

/* --- small parts --- */

/* Whether a code is [a-z][a-z0-9_]{0,99}. */
bool compile_is_code(struct str code);

/* The same, and a finding if not. */
bool compile_check_code(struct compiler *c, struct str code);

/* `code` of a definition. */
struct str compile_own_code(struct compiler *c, struct value definition);

/* Whether a name is a letter or '_', then letters, digits and '_', at most NAME_MAX_LEN of them. */
bool compile_is_name(struct str name);

/* The field as such a name; a finding if it is none. */
struct str compile_name(struct compiler *c, struct value object, const char *field);

/* A constant duration, not negative; a finding if not. */
bool compile_duration(struct compiler *c, struct value v, int64_t *out_us);

/* The same for a wait, where "3bd" will do; see define_span(). */
bool compile_span(struct compiler *c, struct value v);

/* The field as a constant duration above zero; *out_us stays when it is not there. */
void compile_timeout(struct compiler *c, struct value object, const char *name, int64_t *out_us);

/* The field as a whole number from `min` to `max`; *out stays when it is not there. */
void compile_count(struct compiler *c, struct value object, const char *name, uint32_t min,
                   uint32_t max, uint32_t *out);

/* A field that is there and not null. */
bool compile_has(struct value object, const char *name);

#endif
