/*
 * cel.h - the expression language: compile once, evaluate many times.
 *
 *     env + source  --cel_compile-->  program  --cel_evaluate-->  value
 *
 * An environment declares variables and functions; a program is immutable and
 * may be evaluated by any number of threads at once. Evaluation is pure: no
 * clock, no randomness, no I/O, bounded in time and memory. A failed
 * evaluation is a value of kind VALUE_ERROR, not a struct err.
 *
 * Strict mode is the public CEL specification without protobuf messages.
 * Definition mode, for everything that users write, adds mixed arithmetic,
 * `$` as the root of all variables, dates, and the wider grammars of
 * duration() and timestamp().
 *
 * why: decision 0024
 */
#ifndef PAWL_CEL_CEL_H
#define PAWL_CEL_CEL_H

#include "base/arena.h"
#include "base/err.h"
#include "value/value.h"

enum cel_mode { CEL_STRICT, CEL_DEFINITION };

struct cel_env;
struct cel_program;
struct cel_patterns;
struct cel_eval;

/* A function of the library or of the caller; see eval.h. */
typedef struct value cel_fn(struct cel_eval *ev, const struct value *args);

enum {
    CEL_SOURCE_MAX = 100000, /* code points */
    CEL_NESTING_MAX = 250,
};

struct cel_limits {
    int64_t cost;        /* units; one is about one step of the machine */
    size_t memory_bytes; /* allocated by one evaluation */
};

extern const struct cel_limits cel_default_limits;

/* --- environments --- */

/* An environment with the standard library and the extensions. Lives in `mem`. */
struct cel_env *cel_env_new(struct arena *mem, enum cel_mode mode);

/*
 * An environment that knows all that `parent` knows, slots included, and takes
 * further declarations of its own. `parent` must outlive it and not change.
 */
struct cel_env *cel_env_extend(struct arena *mem, const struct cel_env *parent);

/* The outermost environment that `env` extends: the one of cel_env_new(). */
const struct cel_env *cel_env_library(const struct cel_env *env);

/* Names are first looked up below this namespace: "x" makes `y` find `x.y`. */
void cel_env_container(struct cel_env *env, struct str container);

/*
 * Let `$` stand for any map: in `$.x` an x that is not declared is looked up
 * in cel_activation.root when the expression is evaluated. Without this it
 * does not compile, as an undeclared bare name never does.
 */
void cel_env_open_root(struct cel_env *env);

/*
 * Declare a variable, which may have dots ("steps.pay"), and learn its slot.
 * Slots count from 0. `type` is written as in functions.def: "int",
 * "map(string, dyn)"; ERR_INVALID when it is not. Declaring a name again
 * replaces its type and keeps its slot.
 */
bool cel_env_variable(struct cel_env *env, struct str name, struct str type, uint32_t *slot,
                      struct err *err) MUST_USE;

/*
 * Declare every member of a map that people gave as a context, of type dyn, and put its value
 * into `slots`, which has one place for each; `$` stands for all of it. A name with a dot would
 * be the field of another variable: it is not declared, and $['a.b'] finds it.
 */
void cel_env_members(struct cel_env *env, struct value context, struct value *slots);

/*
 * Close a declared variable: `name.x` compiles only if that is declared too,
 * under its whole name; name["x"] is the same. The variable as a whole and
 * `name[key]` stay as they are. ERR_INVALID when there is no such variable.
 */
bool cel_env_close(struct cel_env *env, struct str name, struct err *err) MUST_USE;

/*
 * Say that a declared variable has a field of this name, and none but those
 * that were said: `name.x` does not compile for others. has(name.x) and
 * name.?x ask whether there is one, so they compile for any. An empty `field`
 * adds none. ERR_INVALID when there is no such variable.
 */
bool cel_env_field(struct cel_env *env, struct str name, struct str field,
                   struct err *err) MUST_USE;

/* Take back what cel_env_field() has said of a variable: it may have any field. */
void cel_env_open(struct cel_env *env, struct str name);

/* From here on no expression knows the variable, which keeps its slot. */
void cel_env_hide(struct cel_env *env, struct str name);

/* Let expressions know again what was hidden. Answers whether it was. */
bool cel_env_show(struct cel_env *env, struct str name);

/*
 * Say which texts a field of a declared variable can be: those, or none at
 * all. `field` may have dots: "error.class". A comparison with another text
 * does not compile, since it is never true. Without words anything goes again.
 */
void cel_env_words(struct cel_env *env, struct str name, struct str field, const struct str *words,
                   uint32_t count);

/*
 * Say of which type a field of a declared variable is, if it is not null or
 * missing: "int" and "double" are any number. A comparison with a constant of
 * another type does not compile. ERR_INVALID when that is no type.
 */
bool cel_env_type(struct cel_env *env, struct str name, struct str field, struct str type,
                  struct err *err) MUST_USE;

/* Whether a field of a variable is there. */
enum cel_presence {
    CEL_PRESENCE_UNKNOWN,
    CEL_PRESENCE_CERTAIN,  /* it is there, and of its type */
    CEL_PRESENCE_OPTIONAL, /* it may be missing */
};

/* Say of a field, after its type, whether it is there. */
void cel_env_presence(struct cel_env *env, struct str name, struct str field,
                      enum cel_presence presence);

/* A field of what a variable is; `type` as functions.def writes it, or empty: anything. */
struct cel_member {
    struct str name, type;
};

/* What the value of a variable probably is. */
struct cel_shape {
    struct str type; /* of the whole, or empty: anything */
    const struct cel_member *members;
    uint32_t count;
    bool is_closed; /* it has these members and no others */
};

/*
 * Say what a declared variable probably is, in place of what was said before.
 * A program that reads a member which a closed shape lacks has a note about
 * it. ERR_INVALID when there is no such variable or type.
 */
bool cel_env_shape(struct cel_env *env, struct str name, const struct cel_shape *shape,
                   struct err *err) MUST_USE;

/* Say whether a declared variable is null for now: a program that reads its fields has a note. */
void cel_env_pending(struct cel_env *env, struct str name, bool is_pending);

/*
 * Expressions of this environment are evaluated only when `program` gave
 * `outcome`: what it asks for, such as has(input.coupon), is there, if it was
 * compiled with facts. Until cel_env_unguard() of the number that it answers.
 * `program` may be NULL.
 */
size_t cel_env_guard(struct cel_env *env, const struct cel_program *program, bool outcome);
void cel_env_unguard(struct cel_env *env, size_t mark);

/* Let functions with this word and a dot before their names exist, even if none is declared. */
void cel_env_space(struct cel_env *env, struct str word);

/*
 * Declare one overload of a function: "fn.discount", "int, string -> double".
 * `call` may be NULL for a function that is only checked. All overloads of a
 * name share one `call` and `context`: those of the last declaration.
 */
bool cel_env_function(struct cel_env *env, struct str name, bool is_member, struct str signature,
                      cel_fn *call, void *context, struct err *err) MUST_USE;

/*
 * Let the expressions of this environment, and of those that extend it, share
 * the patterns that they match with: equal ones are compiled once, and all of
 * them within one budget. `patterns` must outlive the programs. Without this
 * each program has a smaller budget and patterns of its own.
 */
void cel_env_patterns(struct cel_env *env, struct cel_patterns *patterns);

/* How many slots an activation for this environment has. */
uint32_t cel_env_slot_count(const struct cel_env *env);

/* --- constant patterns --- */

enum {
    CEL_PATTERNS_MAX = 256,          /* different ones that are compiled together */
    CEL_PATTERNS_COST_MAX = 6000000, /* units of compile cost: about half a second */
    CEL_PROGRAM_PATTERNS_MAX = 64,   /* the same for one expression alone */
    CEL_PROGRAM_PATTERNS_COST_MAX = 2000000,
};

/* An empty set of patterns in `mem`, for cel_env_patterns(). */
struct cel_patterns *cel_patterns_new(struct arena *mem);

/* Give back what they hold outside the arena, when no program uses them any more. */
void cel_patterns_release(struct cel_patterns *patterns);

/* --- programs --- */

/* How much of what an environment says of fields the checker relies on. */
enum cel_facts {
    CEL_FACTS_NONE,    /* what a field is compared with, and no more */
    CEL_FACTS_CERTAIN, /* and the types of fields that are there for certain */
    CEL_FACTS_LIKELY,  /* and the shapes of variables */
};

struct cel_options {
    bool without_check;  /* leave type errors to evaluation */
    bool without_macros; /* has(), all(), ... are ordinary functions */
    enum cel_facts facts;
};

/*
 * Compile `source`, of which nothing is kept. The program lives in `mem`;
 * `env` must outlive it and keep what it declares.
 * False: ERR_EXPRESSION_SYNTAX, ERR_EXPRESSION_TYPE or
 * ERR_LIMIT_EXPRESSION_SIZE, with line and column. `options` may be NULL.
 */
bool cel_compile(struct arena *mem, const struct cel_env *env, struct str source,
                 const struct cel_options *options, const struct cel_program **out,
                 struct err *err) MUST_USE;

/*
 * Compile a string that stands where a definition wants a value: "$.x" and
 * "=expr" are expressions, a string that is one double-quoted literal is that
 * literal, everything else is a template: text with {{ expr }} in it or
 * without, "{{{{" being a literal "{{". One expression and nothing else keeps
 * its type; otherwise the parts are joined as text, and null or a missing part
 * is an error.
 */
bool cel_compile_value(struct arena *mem, const struct cel_env *env, struct str text,
                       const struct cel_options *options, const struct cel_program **out,
                       struct err *err) MUST_USE;

/*
 * The same where the value is a URL, or a path behind one: what expressions
 * give is percent-encoded but for letters, digits and -._~, so that it adds no
 * part of the path, no parameter and no host. A value that makes a part `.` or
 * `..`, or goes on with the name of a host beyond a dot, is
 * ERR_VALIDATION_URL when it is evaluated. What url.raw() gives is taken as it
 * is, and in a URL the value at its very beginning.
 *
 * why: decision 0483
 */
bool cel_compile_url(struct arena *mem, const struct cel_env *env, struct str text,
                     const struct cel_options *options, const struct cel_program **out,
                     struct err *err) MUST_USE;
bool cel_compile_path(struct arena *mem, const struct cel_env *env, struct str text,
                      const struct cel_options *options, const struct cel_program **out,
                      struct err *err) MUST_USE;

/*
 * Compile a template that always gives text, such as a letter: one expression
 * and nothing else becomes text too. In HTML what expressions give is escaped.
 */
bool cel_compile_text(struct arena *mem, const struct cel_env *env, struct str text, bool is_html,
                      const struct cel_program **out, struct err *err) MUST_USE;

/* Whether the program is one constant, and which. */
bool cel_program_is_constant(const struct cel_program *program, struct value *out);

/* Give back what a program holds outside its arena: patterns that it does not share. */
void cel_program_release(const struct cel_program *program);

/* The type that the checker found, as text: "list(int)"; "dyn" without check. */
struct str cel_program_type(const struct cel_program *program);

/* Something about a program that compiles, and may fail all the same. */
enum cel_note_kind {
    CEL_NOTE_MEMBER,  /* a closed shape has no such member */
    CEL_NOTE_MISSING, /* a field that may be missing is read, and nothing asks whether it is there */
    CEL_NOTE_PENDING, /* the same for a field of a variable that is null for now */
    CEL_NOTE_DOLLAR,  /* a text holds ${x}, which is no expression */
};

struct cel_note {
    enum cel_note_kind kind;
    struct str name; /* of the variable or field: "steps.pay" */
    struct err err;  /* what is said about it, and where it stands */
};

/* Whether a text holds ${x}, as other languages put texts together; *inner is what is in it. */
bool cel_find_dollar(struct str text, struct str *inner);

/* Its notes, of which there are some only if it was compiled with facts; how many. */
uint32_t cel_program_notes(const struct cel_program *program, const struct cel_note **out);

/* The name of the function that it calls at its call number `index`; empty beyond the last. */
struct str cel_program_call(const struct cel_program *program, uint32_t index);

/* The source that it was compiled from. */
struct str cel_program_source(const struct cel_program *program);

/* Whether it reads variable `slot`; all of them when it reads `$` as a whole. */
bool cel_program_reads(const struct cel_program *program, uint32_t slot);

/* How many slots its activation has. */
uint32_t cel_program_slot_count(const struct cel_program *program);

/* The machine code as text, one instruction a line. */
struct str cel_program_listing(struct arena *mem, const struct cel_program *program);

/* --- evaluation --- */

struct cel_activation {
    const struct value *slots; /* one for each declared variable; VALUE_ABSENT = not bound */
    struct value root;         /* what `$` is; VALUE_ABSENT: a map of the variables without dots */
    /* Asked for a slot that is VALUE_ABSENT; may be NULL. */
    struct value (*load)(void *context, uint32_t slot);
    void *context;
    int64_t now_us; /* handed to functions that need the time */
    /* What evaluations with it have cost so far is added here; may be NULL. */
    struct cel_limits *spent;
    /* Evaluations may not cost more than what is left of this in `spent`; 0: their own limits alone. */
    int64_t cost_end;
};

/*
 * Evaluate. The result may point into `mem`, into the program and into the
 * values of the activation. Scalars allocate nothing. `limits` may be NULL.
 */
struct value cel_evaluate(struct arena *mem, const struct cel_program *program,
                          const struct cel_activation *activation, const struct cel_limits *limits);

/* The same; *limits is what it may cost, and then what is left of that. */
struct value cel_evaluate_within(struct arena *mem, const struct cel_program *program,
                                 const struct cel_activation *activation,
                                 struct cel_limits *limits);

/*
 * For a function declared with cel_env_function() whose body is itself a
 * program: run it with `args` for its slots, within the caller's budget.
 * An error of the body is one at the call, and its message begins with the
 * function's name. Deeper than CEL_CALLS_MAX is an error.
 */
enum { CEL_CALLS_MAX = 3 };
struct value cel_call(struct cel_eval *ev, const struct cel_program *body,
                      const struct value *args);

/* Turn an offset in a source text into line and column (from 1, in code points). */
void cel_place(struct str source, uint32_t offset, uint32_t *line, uint32_t *column);

#endif
