/*
 * define.h - definitions: reading, checking and compiling what a user wrote.
 *
 *     JSON text --json_read--> value --define_compile--> program or findings
 *
 * why: decision 0025
 */
#ifndef PAWL_DEFINE_DEFINE_H
#define PAWL_DEFINE_DEFINE_H

#include "define/findings.h"
#include "define/kind.h"

struct cel_activation;
struct cel_env;
struct mapping;
struct param;
struct program;

/*
 * Rules that change what a definition does. A version keeps those of the time
 * when it was published, which are a fact of it (facts.h); what is not
 * published yet has the newest ones.
 *
 * why: decision 0483
 */
enum define_rules {
    RULES_FIRST,
    RULES_URL_VALUES, /* values in `url` and `path` are percent-encoded */
    RULES_NEWEST = RULES_URL_VALUES,
};

/* Something that definitions name and that stands elsewhere, in its published version. */
struct registered {
    struct value definition;
    int64_t version;         /* 0: it is not published */
    enum define_rules rules; /* of a version */
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
    /* Whether there is a template of that code. NULL: nobody knows. */
    bool (*template)(void *context, struct str code);
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
    enum define_rules rules; /* of what was published before */
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
