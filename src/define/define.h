/*
 * define.h - definitions: reading, checking and compiling what a user wrote.
 *
 *     JSON text --json_read--> value --define_compile--> program or findings
 */
#ifndef PAWL_DEFINE_DEFINE_H
#define PAWL_DEFINE_DEFINE_H

#include "base/vec.h"
#include "define/kind.h"
#include "define/program.h"
#include "value/source.h"

/* One thing that is wrong with a definition. */
struct finding {
    struct str pointer; /* JSON pointer */
    struct str step;    /* code of the step, or empty */
    struct str code;    /* stable: "unknown_field", "expression_syntax", ... */
    struct str message;
    uint32_t column; /* in an expression: code points from 1 on, over all its lines; else 0 */
    bool is_warning;
    struct str hint;    /* or empty */
    struct place place; /* in the text that was read; line 0 unless findings_locate() was called */
};

struct findings {
    VEC_OF(struct finding);
};

/* Whether any finding is an error. */
bool findings_have_errors(const struct findings *findings);

/*
 * Say where in a text the findings stand; `at` is the JSON pointer of the
 * definition in it, before those of the findings.
 */
void findings_locate(struct arena *mem, const struct source_text *source, struct str at,
                     struct findings *findings);

/* The same for a text that json_read() has accepted. */
void findings_locate_json(struct arena *mem, struct str json, struct str at,
                          struct findings *findings);

/* The same for one that a server has found: its pointer in the text, its code, its column or 0. */
struct place finding_place(struct arena *mem, const struct source_text *source, struct str pointer,
                           struct str code, uint32_t column);

/* The findings as the API shows them: a list of {pointer, step?, code, message, ...}. */
struct value findings_value(struct arena *mem, const struct findings *findings);

/* The name of a definition's kind, by its field `kind` or its shape, or NULL: see kind.h. */
const char *define_kind_of(struct value definition);

/* Something that definitions name and that stands elsewhere, in its published version. */
struct registered {
    struct value definition;
    int64_t version;
};

/*
 * Where a definition finds what it names; user functions stand in `base`. The
 * function answers whether there is one of that name, and puts it into `mem`;
 * it may be NULL: there is none.
 */
struct registry {
    bool (*procedure)(void *context, struct arena *mem, struct str code, struct registered *out);
    void *context;
    /* Whether a process of that code is published. NULL: nobody knows. */
    bool (*process)(void *context, struct str code);
    /* Whether there is a credential of that code; *shown is {type, base_url, ...}. NULL: none. */
    bool (*credential)(void *context, struct str code, struct value *shown);
    bool knows_credentials; /* one that is not there does not exist: an error, else a warning */
    /*
     * What it does not know may exist all the same: a warning. The program
     * takes it for an external procedure, and is good for checking only.
     */
    bool is_partial;
    /*
     * What is compiled was published before: rules that came later do not hold.
     * What it names is treated so in any case.
     */
    bool is_stored;
};

/*
 * Check a definition of a kind that has a compiler, and compile it. A procedure
 * of the registry becomes a program without steps, whose first procedure it is. Everything that is wrong with it is added
 * to `findings`; without an error the program is in *out, else NULL. `base` is
 * the environment of all definitions (define_env()), which may know functions
 * too; `registry` may be NULL.
 * The program and the findings live in `mem`; `definition` must live as long.
 */
void define_compile(struct arena *mem, const struct cel_env *base, const struct registry *registry,
                    enum kind kind, struct value definition, int64_t version,
                    struct findings *findings, const struct program **out);

/* The same for a scenario that finds nothing elsewhere. */
void define_compile_scenario(struct arena *mem, const struct cel_env *base, struct value definition,
                             int64_t version, struct findings *findings,
                             const struct program **out);

/* The environment that all definitions share: the roots of the context. Lives in `mem`. */
const struct cel_env *define_env(struct arena *mem);

/* Release what the program holds outside its arena. */
void program_release(const struct program *p);

/*
 * Check the input of a start against the program's parameters: types,
 * required ones, defaults, enumerations, undeclared ones. *out is the input
 * with defaults. Problems are added to `findings`, pointers beginning with
 * "/input".
 */
void define_check_input(struct arena *mem, const struct program *p, struct value input,
                        struct value *out, struct findings *findings);

/*
 * The same for anything that parameters describe: the input of a procedure,
 * the payload of a form. Pointers begin with `at`.
 */
void define_check_params(struct arena *mem, const struct param *params, uint32_t count,
                         struct str at, struct value given, struct value *out,
                         struct findings *findings);

/* The same for a form as it was written, without its definition. What it holds lives in `mem`. */
void define_check_form(struct arena *mem, struct str form_json, struct str at, struct value given,
                       struct value *out, struct findings *findings);

enum { CORRELATION_LEN_MAX = 500 }; /* bytes */

/*
 * What a correlation is compared by: a text of 1 to CORRELATION_LEN_MAX bytes
 * is itself, an integer its digits. *out is in `mem`. False: it is neither.
 */
bool define_correlation(struct arena *mem, struct value v, struct str *out) MUST_USE;

/*
 * Evaluate a mapping: lists and maps of it live in `mem`, what is constant is
 * shared. An error value is that of the first part that failed. An optional
 * is what it holds; an empty one is an error.
 */
struct value mapping_evaluate(struct arena *mem, const struct mapping *m,
                              const struct cel_activation *activation);

/* The same; after an error *failed is the part that failed, whose pointer says where it stands. */
struct value mapping_evaluate_at(struct arena *mem, const struct mapping *m,
                                 const struct cel_activation *activation,
                                 const struct mapping **failed);

/*
 * A duration as definitions write it ("30s", "1h30m", or a duration value), in
 * microseconds, which may be negative. False for anything else.
 */
bool define_duration_us(struct value v, int64_t *out_us);

/*
 * How long a wait lasts, or how long after its beginning a reminder comes: a
 * duration that is not negative, or so many business days ("3bd"), which a
 * calendar counts (calendar.h). One of the two is 0.
 */
struct span {
    int64_t us;
    int64_t business_days;
};

bool define_span(struct value v, struct span *out);

#endif
