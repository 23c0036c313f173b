/*
 * program.h - what a definition compiles to: immutable, and all the engine runs.
 *
 * A program lives in one arena and never changes after define_compile() has
 * made it. Scenarios are sequences of steps; a step runs the commands of its
 * procedure one after the other. Fields in value positions are mappings,
 * evaluated against the context of the execution.
 *
 * The slots of an activation for the expressions of a program:
 *
 *     0 .. ROOT_COUNT - 1      the roots, by enum context_root
 *     ROOT_COUNT + step.index  $.steps.CODE of each step
 *     above these              the results that commands of one step have named
 *                              with `as`, in order: command.as_slot
 *
 * `when` and `input` of a step and `result` of the program use the first two
 * groups; the commands of a step use step.slot_count slots, each command
 * seeing the names of those before it; settings.key uses the roots alone.
 */
#ifndef PAWL_DEFINE_PROGRAM_H
#define PAWL_DEFINE_PROGRAM_H

#include "base/arena.h"
#include "cel/cel.h"
#include "value/value.h"

/* The roots of the context. A slot of each program's environment has the same number. */
enum context_root {
#define ROOT(symbol, name, type) ROOT_##symbol,
#include "define/roots.def"
#undef ROOT
    ROOT_COUNT
};

/* A JSON value in which strings may be expressions or templates. */
enum mapping_kind { MAPPING_CONST, MAPPING_PROGRAM, MAPPING_LIST, MAPPING_MAP };

struct mapping {
    enum mapping_kind kind;
    uint32_t count;     /* LIST, MAP */
    struct value value; /* CONST: itself */
    const struct cel_program *program;
    const struct mapping *items; /* LIST: count; MAP: the values */
    const struct value *keys;    /* MAP: strings with their hash */
    struct str pointer;          /* where it stands in the definition: a JSON pointer */
};

enum command_type {
#define COMMAND(symbol, name, alias, place, summary, arguments) COMMAND_##symbol,
#define COMMAND_LATER(name)
#include "define/commands.def"
#undef COMMAND_LATER
#undef COMMAND
    COMMAND_TYPE_COUNT
};

/* The fields of commands, by name; a command has those that its type allows. */
enum command_field {
#define COMMAND_FIELD(symbol, name) FIELD_##symbol,
#include "define/command_fields.def"
#undef COMMAND_FIELD
    FIELD_COUNT
};

struct command {
    enum command_type type;
    struct str as;                  /* empty when the result has no name */
    uint32_t as_slot;               /* where later commands of the step find it; 0 without a name */
    const struct cel_program *when; /* or NULL */
    /*
     * The fields in value positions, NULL where one is not given. Words such
     * as ifExists are constants, one of those that commands.def lists.
     */
    const struct mapping *fields[FIELD_COUNT];
    /* The fields in expression positions: match, where. */
    const struct cel_program *expressions[FIELD_COUNT];
};

/* What happens when a step has finally failed. */
enum on_error { ON_ERROR_COMPENSATE, ON_ERROR_RETRY, ON_ERROR_FAIL_FAST, ON_ERROR_HOLD };

struct step {
    uint32_t index;
    struct str code;
    struct str name;
    struct value meta;
    const struct cel_program *when; /* or NULL */
    const struct mapping *input;    /* or NULL */
    const struct command *commands; /* one or more */
    uint32_t command_count;
    uint32_t slot_count;    /* of an activation for its commands */
    bool continues;         /* onError "continue": the failure is recorded and the next step runs */
    bool holds;             /* the step's own onError is "hold" */
    enum on_error on_error; /* its own, else the program's; "continue" changes nothing here */
};

enum param_type {
#define PARAM(symbol, name, wanted) PARAM_##symbol,
#include "define/param_types.def"
#undef PARAM
    PARAM_TYPE_COUNT
};

struct param {
    struct str name;
    enum param_type type;
    bool required;
    bool sensitive;
    struct value fallback; /* VALUE_ABSENT when there is no default */
    struct value allowed;  /* enum: a list, or VALUE_ABSENT */
};

struct program {
    struct str code;
    struct str name;
    int64_t version; /* 0 for a draft */
    struct value meta;
    bool declares_input;
    const struct param *params;
    uint32_t param_count;
    const struct step *steps;
    uint32_t step_count;          /* may be 0 */
    const struct mapping *result; /* or NULL: the last completed step's */
    const struct mapping *key;    /* settings.key, or NULL */
    bool joins_by_key;            /* settings.onKeyConflict "join" */
    enum on_error on_error;
    int64_t timeout_us;        /* settings.timeout */
    struct value access;       /* who may what, see access.h; or absent */
    struct value retry_policy; /* settings.retryPolicy as written, its shape checked, or absent */
    const struct cel_env *env; /* ROOT_COUNT slots, then one for each step: $.steps.CODE */
    uint32_t slot_count;       /* enough for every activation */
    const struct cel_program *const *expressions; /* all of them, for program_release() */
    uint32_t expression_count;
};

/* The slot of $.steps.CODE. */
static inline uint32_t program_step_slot(const struct step *step)
{
    return ROOT_COUNT + step->index;
}

/* The step of that code, or NULL. */
const struct step *program_step(const struct program *p, struct str code);

#endif
