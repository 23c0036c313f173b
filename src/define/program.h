/*
 * program.h - what a definition compiles to: immutable, and all the engine runs.
 *
 * A program lives in one arena and never changes after define_compile() has
 * made it. Fields in value positions are mappings, evaluated against the
 * context of the execution.
 *
 * Steps form a tree that is kept in one array, in the order in which they are
 * written, an inner step after the step it is in. A block is a list of steps
 * that run one after the other; block 0 is the scenario's own, a branch has one
 * for each alternative, a parallel step for each of its branches, a loop has one:
 *
 *     steps                  index  block  next   blocks
 *       pay                    0      0      1    0: owner none, first 0
 *       check (branch)         1      0      4    1: owner 1, first 2
 *         ask                  2      1    none   2: owner 1, first 3
 *         log                  3      2    none
 *       ship                   4      0    none
 *
 * The steps of a machine are in block 0, none follows another: its states, which wait, and one for
 * each transition that has commands: `exit` of the old state, `do`, `entry` of the new one.
 *
 * Where an execution stands is stored as codes, never as these numbers.
 *
 * What a step runs is a procedure: commands written in the step itself
 * (inline), one of the scenario's own `procedures` (local), one of the registry
 * in the version that was published when the program was made (registry), or
 * one that a worker does (external). All that a program can reach is in it; which
 * versions these are is its snapshot.
 *
 * The slots of an activation:
 *
 *     0 .. ROOT_COUNT - 1      the roots, by enum context_root
 *     ROOT_COUNT + step.index  $.steps.CODE of each step
 *     above these              results that commands of one procedure have
 *                              named with `as`: command.as_slot
 *
 * The first two groups are all that fields of steps, `result` of the program
 * and `input` of calls use; settings.key uses the roots alone. The commands of
 * an inline procedure use procedure.slot_count slots of that layout. A named
 * procedure has no steps in its context: the roots, then its `as` names from
 * slot ROOT_COUNT on. The rollback of a command, when it is inline, extends the
 * slots of the procedure that the command is in: it sees the names of that and
 * adds its own. What the engine has not set (a command that was skipped,
 * a root that has no meaning in that place) is VALUE_ABSENT.
 */
#ifndef PAWL_DEFINE_PROGRAM_H
#define PAWL_DEFINE_PROGRAM_H

#include "base/arena.h"
#include "cel/cel.h"
#include "define/kind.h"
#include "define/param_type.h"
#include "define/pins.h"
#include "value/value.h"

/* The roots of the context. A slot of each program's environment has the same number. */
enum context_root {
#define ROOT(symbol, name, type, place) ROOT_##symbol,
#include "define/catalog/roots.def"
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

enum {
    CALL_TIMEOUT_S = 10,           /* of a call over HTTP that says nothing else */
    RECORD_QUERY_LIMIT_MAX = 1000, /* records that one record.query may ask for */
    BUSINESS_KEY_MAX = 255,        /* bytes, wherever a key is given or computed */
};

enum command_type {
#define COMMAND(symbol, name, alias, place, ends, leaves, group, label, help, result, arguments)   \
    COMMAND_##symbol,
#include "define/catalog/commands.def"
#undef COMMAND
    COMMAND_TYPE_COUNT
};

/* The fields of commands, by name; a command has those that its type allows. */
enum command_field {
#define COMMAND_FIELD(symbol, name) FIELD_##symbol,
#include "define/catalog/command_fields.def"
#undef COMMAND_FIELD
    FIELD_COUNT
};

struct procedure;
struct command;
struct trigger; /* trigger.h */

/* What a parameter says of its value beside the type. */
struct bounds {
    struct value min, max;             /* of a number; absent: none */
    uint32_t min_length, max_length;   /* characters of a text, items of a list */
    bool has_length;                   /* ... one of the two was given */
    bool is_multiline;                 /* a text that may have several lines */
    const struct cel_program *pattern; /* or NULL; reads the text in `pattern_slot` */
    uint32_t pattern_slot;
    struct str pattern_text;
};

struct param {
    struct str name; /* of the items of a list: "NAME[]" */
    enum param_type type;
    struct bounds bounds;
    const struct param *fields; /* of an object: NULL when any are allowed */
    uint32_t field_count;
    const struct param *item; /* of a list: what each must be; or NULL */
    bool required;
    bool sensitive;
    const struct cel_program *required_when; /* or NULL; reads all values in `required_slot` */
    uint32_t required_slot;
    struct value fallback; /* VALUE_ABSENT when there is no default */
    struct value allowed;  /* enum: a list, or VALUE_ABSENT */
};

/* How failures are tried again. */
struct retry {
    uint32_t max_attempts; /* the first included; at least 1 */
    int64_t delay_us;      /* before the second */
    double backoff;        /* each further delay is that many times longer; at least 1 */
    int64_t max_delay_us;
    bool has_jitter;      /* full: anything between nothing and the delay */
    const struct str *on; /* only these: codes, "prefix_*", or classes; empty = all */
    const struct str *not_on;
    uint32_t on_count, not_on_count;
};

/* A procedure with what it is given: {procedure, input}, or just the procedure. */
struct procedure_call {
    const struct procedure *procedure;
    const struct mapping *input; /* a map, or NULL */
    const struct retry *retry;   /* of a rollback: how it is tried again; else NULL */
};

/* Where to go on: the first of a list whose condition holds. */
enum jump_kind {
    JUMP_STEP,
#define JUMP_WORD(symbol, word) JUMP_##symbol,
#include "define/catalog/jump_words.def"
#undef JUMP_WORD
};

/* Of which visits a jump is: an edge `error` of a schema takes those that failed. */
enum jump_after { AFTER_ANY, AFTER_FAILURE };

struct jump {
    const struct cel_program *when; /* or NULL: always */
    enum jump_kind kind;
    uint32_t step; /* STEP: its index; in the same block or in one around it */
    enum jump_after after;
    struct str branch; /* an edge of a condition: the `branch` of its result; or empty: any */
};

struct jumps {
    const struct jump *items;
    uint32_t count;
};

/* reconcile of a step: what has become of an attempt without an answer? */
struct reconcile {
    struct procedure_call call;
    int64_t every_us;
    uint32_t max;
};

/* --- commands --- */

/* Commands within a command. */
struct body {
    struct value match; /* flow.match: the value of this case, a string; absent: the default */
    const struct command *commands;
    uint32_t count; /* may be 0 */
};

/* The bodies of a command, by number. */
enum { BODY_THEN, BODY_ELSE };      /* flow.if: always two */
enum { BODY_COMMANDS, BODY_CATCH }; /* flow.try: always two; the catch sees $.error */
/* flow.match: the cases in order, then the default: at least one, the last has no `match` */

/* A rule of compute.validate. */
struct rule {
    const struct cel_program *expr;
    const struct mapping *code, *message; /* values */
};

enum aggregate_op {
#define AGGREGATE(symbol, name) AGGREGATE_##symbol,
#include "define/catalog/aggregates.def"
#undef AGGREGATE
    AGGREGATE_OP_COUNT
};

/* A case of a condition: the branch that is taken when it is the first that holds. */
struct branch_case {
    struct str branch;
    const struct cel_program *expression;
};

enum math_operation {
#define MATH_OPERATION(symbol, name, operands) MATH_##symbol,
#include "define/catalog/math_operations.def"
#undef MATH_OPERATION
    MATH_OPERATION_COUNT
};

/* A field that compute.aggregate makes: `of` sees $.item. */
struct aggregate {
    struct str name;
    enum aggregate_op op;
    const struct cel_program *of; /* NULL: the item itself; COUNT needs none */
};

/* What a wait.signal says beside signalType, match, timeout, correlation, title and assignee. */
enum on_timeout { ON_TIMEOUT_FAIL, ON_TIMEOUT_CONTINUE, ON_TIMEOUT_JUMP };

struct wait {
    enum on_timeout on_timeout;
    enum jump_kind timeout_kind; /* JUMP: where to, as in struct jump */
    uint32_t timeout_step;       /* STEP: the index */
    bool accepts_new_only;       /* accept "new" */
    bool is_public;
    const struct param *form; /* what the payload must be, as `input`; NULL: anything */
    uint32_t form_count;
    struct value form_written; /* as it was written, for those who answer; or absent */
    /* reminder: `procedure` is NULL when there is none; it sees $.reminder.index */
    struct procedure_call reminder;
    const struct mapping *reminder_every;     /* a duration; NULL when there is `at` */
    const struct mapping *const *reminder_at; /* spans from the beginning of the wait on */
    uint32_t reminder_at_count;
    uint32_t reminder_max; /* 0 = no limit */
};

/* $.secrets.CODE.NAME, as an expression of a command writes it. */
struct secret_name {
    struct str code, name;
};

enum { SECRETS_MAX = 20 }; /* of one command */

struct command {
    enum command_type type;
    struct str as;    /* empty when the result has no name */
    uint32_t as_slot; /* where later commands of the procedure find it; 0 without a name */
    /*
     * Its place in its procedure, fixed when it is written: "2", or "2.1" for
     * the first command within the second. Commands within one are numbered
     * through all its bodies, in their order.
     */
    struct str position;
    struct str pointer;    /* of the command in the definition */
    uint64_t written_hash; /* of its text, whatever the order of members: in this process */
    const struct cel_program *when; /* or NULL */
    bool is_optional;               /* its error goes to $.warnings */
    const struct retry *retry;      /* its own, or NULL */
    struct procedure_call rollback; /* its own; procedure NULL when it has none. Sees its `as` */
    /*
     * The fields in value positions, NULL where one is not given. Words such
     * as ifExists are constants, one of those that commands.def lists.
     */
    const struct mapping *fields[FIELD_COUNT];
    /* The fields in expression positions: match, where, condition, expression, by. */
    const struct cel_program *expressions[FIELD_COUNT];
    /* What only some types have. */
    const struct body *bodies; /* flow.if, flow.match, flow.try */
    uint32_t body_count;
    struct procedure_call call; /* flow.call; `input` is in it, not in `fields` */
    const struct wait *wait;    /* wait.signal */
    const struct rule *rules;
    uint32_t rule_count;
    const struct aggregate *aggregates;
    uint32_t aggregate_count;
    const struct branch_case *branch_cases; /* condition with `cases` */
    uint32_t branch_case_count;
    enum math_operation operation;     /* math without `expression` */
    const struct secret_name *secrets; /* integration.http */
    uint32_t secret_count;
    uint32_t item_slot; /* compute.aggregate: $.item of `by` and of the aggregates */
};

enum procedure_kind { PROCEDURE_INLINE, PROCEDURE_LOCAL, PROCEDURE_REGISTRY, PROCEDURE_EXTERNAL };

/*
 * EXTERNAL has a name and nothing else. The others have commands, at least one.
 * LOCAL and REGISTRY are shared by all that call them.
 */
struct procedure {
    enum procedure_kind kind;
    struct str name; /* empty when INLINE */
    int64_t version; /* REGISTRY: the one that is pinned */
    bool declares_input;
    const struct param *params; /* of its `input` */
    uint32_t param_count;
    const struct command *commands;
    uint32_t command_count;
    const struct mapping *result; /* or NULL: the last command's result */
    uint32_t slot_count;          /* of an activation for its commands and result */
    bool has_rollbacks;           /* some command in it, or in what it calls, has a rollback */
};

/* --- steps --- */

/* What happens when a step has finally failed. */
enum on_error { ON_ERROR_COMPENSATE, ON_ERROR_RETRY, ON_ERROR_FAIL_FAST, ON_ERROR_HOLD };

enum step_kind {
#define STEP_KIND(symbol, field) STEP_##symbol,
#include "define/catalog/step_kinds.def"
#undef STEP_KIND
    STEP_KIND_COUNT
};

/* No step: the end of a block, the owner of block 0. */
#define NO_STEP UINT32_MAX

struct block {
    uint32_t owner;                 /* the step it is in, or NO_STEP */
    uint32_t first;                 /* its first step, or NO_STEP when there is none */
    const struct cel_program *when; /* of a branch: NULL = always */
};

struct loop {
    const struct cel_program *condition; /* while: or NULL */
    const struct mapping *list;          /* for: or NULL */
    struct str as;                       /* another name of $.loop.item; empty = none */
    uint32_t max;
    const struct mapping *collect; /* evaluated at the end of each iteration, or NULL */
    bool continues;                /* onError "continue": a failed iteration is recorded */
    uint32_t concurrency;          /* how many iterations run at once; 1: one after the other */
};

/* A way from one state of a machine to another, or one on which a state only does something. */
struct state_way {
    struct str code;  /* what stands for it: "STATE.EVENT", the second of a list "STATE.EVENT#2", of
                        `after` "STATE#24h"; "STATE#entry": how the machine begins */
    struct str name;  /* for people, or empty */
    struct str event; /* empty: of `after`, or the beginning */
    const struct cel_program *when; /* its guard, or NULL; sees $.signal */
    uint32_t from, to;              /* steps of states; the same one when it stays */
    bool stays;                     /* the state is neither left nor entered */
    uint32_t step;                  /* what it does; `to` when it has no commands */
};

/* Transitions that are judged once a state has stood so long. */
struct after {
    struct value span;     /* as it is written */
    uint32_t first, count; /* of state.transitions */
};

enum { AFTERS_MAX = 20 }; /* of one state */

/* A state of a machine: what its step waits for. A final one has nothing of it. */
struct state {
    bool is_final;
    const struct state_way *transitions; /* those of events first, in the order of the text */
    uint32_t count, event_count;
    const struct after *afters;
    uint32_t after_count;
    struct value events; /* the names of its events: a list of texts */
};

struct step {
    uint32_t index;
    struct str code;
    struct str name;
    struct value meta;
    struct str pointer; /* of the step in the definition */
    enum step_kind kind;
    uint32_t block;                    /* that it is in */
    uint32_t next;                     /* in that block, or NO_STEP */
    uint32_t depth;                    /* how many steps are around it */
    const struct cel_program *when;    /* or NULL */
    const struct mapping *input;       /* or NULL */
    const struct procedure *procedure; /* PROCEDURE: never NULL */
    uint32_t first_block, block_count; /* BRANCH, PARALLEL: one or more; LOOP: one */
    const struct loop *loop;           /* LOOP */
    uint32_t join;                     /* PARALLEL: how many branches must end */
    uint32_t rounds;      /* the innermost loop around it whose rounds run at once, + 1; or 0 */
    struct jumps jumps;   /* goto, or the edges of a node */
    bool leaves_by_jumps; /* a node: it has no next step, and leaves by an edge when skipped too */
    const struct state *state;          /* of a machine: this step is a state; or NULL */
    const struct state_way *transition; /* of a machine: this step is what that does; or NULL */
    const struct retry *retry;          /* its own, or NULL */
    int64_t timeout_us;                 /* of one attempt; 0 = none */
    struct procedure_call rollback;     /* procedure NULL when it has none */
    const struct reconcile *reconcile;  /* or NULL */
    bool continues;         /* onError "continue": the failure is recorded and the next step runs */
    enum on_error on_error; /* its own, else that of the step around it, else the program's */
};

struct program {
    enum kind kind; /* that the definition is of */
    struct str code;
    struct str name;
    int64_t version; /* 0 for a draft */
    struct value meta;
    struct value access;            /* who may what, see access.h; or absent */
    const struct trigger *triggers; /* in the order they are written */
    uint32_t trigger_count;
    const struct param *params;
    uint32_t param_count;
    bool declares_input;
    bool joins_by_key;       /* settings.onKeyConflict "join" */
    bool timeout_is_written; /* the author gave settings.timeout */
    bool retry_is_written;   /* the author gave settings.retryPolicy: fail_fast keeps it */
    const struct step *steps;
    const struct block *blocks;   /* the first is the scenario's own */
    uint32_t step_count;          /* may be 0; inner ones included */
    const struct map *by_code;    /* the steps, for program_step(); NULL while it is compiled */
    uint32_t block_count;         /* at least 1 */
    const struct mapping *result; /* or NULL: the last completed step's */
    const struct mapping *key;    /* settings.key, or NULL */
    int64_t timeout_us;           /* settings.timeout */
    struct retry retry;           /* settings.retryPolicy, what it leaves out being the default */
    enum on_error on_error;
    uint32_t slot_count;       /* enough for every activation, procedures included */
    const struct cel_env *env; /* ROOT_COUNT slots, then one for each step: $.steps.CODE */
    const struct procedure *const *procedures; /* all named ones it can reach */
    const struct pinned *functions;            /* user functions, fn.NAME, that it calls itself */
    struct cel_patterns *patterns;             /* of all its expressions, for program_release() */
    uint32_t procedure_count, function_count;
    /* What executions pin with it (pins.h) and what that is known by; empty: there is nothing. */
    struct str pins_json, snapshot;
};

/* The step around a step, or NULL. */
static inline const struct step *program_owner(const struct program *p, const struct step *step)
{
    uint32_t owner = p->blocks[step->block].owner;

    return owner == NO_STEP ? NULL : &p->steps[owner];
}

/* The step of that code, or NULL. */
const struct step *program_step(const struct program *p, struct str code);

#endif
