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
#include "base/map.h"
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
    COMMANDS_MAX = 50, /* of a procedure, those of what it calls included */
    CALL_DEPTH_MAX = 3,
    BODY_DEPTH_MAX = 5, /* commands within commands */
    PROCEDURES_MAX = 100,
    PARAMS_MAX = 200,
    NAME_MAX_LEN = 100, /* of codes, parameters and results */
    EXTERNAL_NAME_MAX = 200,
    MAPPING_DEPTH_MAX = 100,
    FINDINGS_MAX = 200, /* what is found beyond them is not told */
};

struct library;
struct scope;

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
    uint32_t errors; /* how many were found */
    bool is_stored;  /* it was published before: rules that came later do not hold */
    struct library *library;
    struct scope *scope;           /* of the procedure we are in, or NULL */
    const struct scope *around;    /* of the procedure whose rollbacks we are in, or NULL */
    const struct program *program; /* the tree of steps for jumps; NULL in a named procedure */
    const struct step *at;         /* the step we are in, or NULL */
    const struct retry *retry;     /* what a policy leaves out */
    const struct unit *unit;       /* the named procedure we are in, or NULL */
    bool lists_input;              /* the fields of $.input are known */
    const char *sees;              /* what expressions of a trigger see, as a hint; or NULL */
    const char *about;             /* what the expression is over, "record"; or NULL */
    bool sees_only_about;          /* and no root of the context */
    bool sees_all_steps;           /* what stands here runs when the steps have run */
    struct {
        VEC_OF(struct early_read);
    } early_reads;
};

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

/* An error by a rule that is newer than versions which may be stored: nothing for those. */
void compile_stricter(struct compiler *c, enum finding_code code, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* "amount must be a number, not a text" */
void compile_wrong_type(struct compiler *c, struct value v, const char *wanted);

/* What the last finding lacked: "did you mean 'x'?". Nothing when `nearest` is empty. */
void compile_did_you_mean(struct compiler *c, struct str nearest);

/* The last finding says this too. */
void compile_hint(struct compiler *c, struct str hint);

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

/* --- values and expressions: mapping.c --- */

/* Whether a text in a value position is itself, and no expression or template. */
bool compile_is_plain(struct str text);

/* The mapping of a value where we stand. Never NULL. */
const struct mapping *compile_mapping(struct compiler *c, struct value v);

/* The program of an expression that must be true or false, or NULL after a finding. */
const struct cel_program *compile_condition(struct compiler *c, struct value v);

/* The program of an expression of any type, or NULL after a finding. */
const struct cel_program *compile_expression(struct compiler *c, struct value v);

/*
 * Whether an expression may be of one of the types, which are written without
 * what stands in parentheses and with spaces between them; "" is any.
 */
bool compile_has_type(const struct cel_program *program, struct str types);

/* Whether one that is not is so for certain, or only if results are what they should be. */
bool compile_is_certain(struct compiler *c, const struct cel_program *program, bool is_value,
                        struct str types);

/* --- small parts --- */

/* Whether a code is [a-z][a-z0-9_]{0,99}. */
bool compile_is_code(struct str code);

/* The same, and a finding if not. */
bool compile_check_code(struct compiler *c, struct str code);

/* `code` of a definition. */
struct str compile_own_code(struct compiler *c, struct value definition);

/* Whether a name is a letter or '_', then letters, digits and '_', at most NAME_MAX_LEN of them. */
bool compile_is_name(struct str name);

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

/* The field as a mapping of an object; NULL when it is not there, or after a finding. */
const struct mapping *compile_map(struct compiler *c, struct value object, const char *name);

/* The field as a condition; NULL when it is not there, or after a finding. */
const struct cel_program *compile_when(struct compiler *c, struct value object, const char *name);

/* --- parameters: param.c, input.c --- */

struct params {
    const struct param *items;
    uint32_t count;
};

/* The field `type` of a parameter, by the table: an enum param_type, or -1 when there is none. */
int compile_param_type(struct compiler *c, enum field_table table, struct value object);

/*
 * Whether *v is of that type. A double that is a whole number becomes an int
 * where an integer is wanted.
 */
bool compile_fits(enum param_type type, struct value *v);

/* A finding that `v` is not of that type; and "a whole number", for messages. */
void compile_misfit(struct compiler *c, struct value v, enum param_type type);
const char *compile_param_wanted(enum param_type type);

/* Whether a value is in the list that a parameter allows. */
bool compile_is_allowed(const struct param *param, struct value v);

/* An environment in which $.input has these parameters, and the texts that their enums allow. */
const struct cel_env *compile_input_env(struct compiler *c, const struct params *params);

/* What the values of parameters are called in their conditions: "input" or "payload". */
enum params_root { PARAMS_INPUT, PARAMS_PAYLOAD };

/*
 * An environment in which these names are laid over $.input: of the types that the mapping shows
 * for certain, or whatever they hold. `m` may be NULL.
 */
const struct cel_env *compile_overlay_env(struct compiler *c, struct value names,
                                          const struct mapping *m);

/* The types that an expression for a parameter may have, as compile_has_type() takes them. */
struct str compile_param_types(enum param_type type);

/* What stands under a name in a map that is written; NULL: nothing. `constant` has room for it. */
const struct mapping *mapping_member(const struct mapping *m, struct str name,
                                     struct mapping *constant);

/* The type of an expression without what is only likely; "dyn" when nothing certain is known. */
struct str compile_certain_type(struct compiler *c, const struct cel_program *program);

/* `input` of a definition, or `form` of a wait: a list of parameters where we stand. */
bool compile_params(struct compiler *c, struct value list, enum params_root root,
                    struct params *out);

/*
 * Whether what is written as the input of a procedure can be what its
 * parameters say: the names, and constants. `input` may be NULL.
 */
void compile_check_given(struct compiler *c, const struct procedure *p,
                         const struct mapping *input);

/* --- trigger.c --- */

/* `triggers` of a process, whose parameters are known. */
void compile_triggers(struct compiler *c, struct value list, struct program *p);

/* --- settings.c, retry.c --- */

extern const struct retry retry_default;

void compile_settings(struct compiler *c, struct value settings, struct program *p);

/* A retry policy where we stand; what it leaves out is as *retry says. */
void compile_retry(struct compiler *c, struct value policy, struct retry *retry);

/* `onError` is "retry" here, and nothing says how often: a warning that says what it does. */
void compile_warn_retry(struct compiler *c);

/* `retry` of a step or a command, or NULL. */
const struct retry *compile_own_retry(struct compiler *c, struct value object);

/* --- what a program is made of beside its steps: library.c --- */

/* How large a procedure is, with what it calls. */
struct tally {
    uint32_t commands;
    uint32_t http, notifications;
    uint32_t depth; /* of calls */
    bool has_rollbacks;
};

enum unit_state { UNIT_NEW, UNIT_OPEN, UNIT_DONE, UNIT_BROKEN };

/* A named procedure. */
struct unit {
    struct procedure procedure;
    struct value definition; /* LOCAL, REGISTRY */
    enum unit_state state;   /* OPEN while it is being compiled */
    struct tally tally;
};

struct library {
    const struct cel_env *base;      /* the roots, and the functions */
    struct cel_env *named;           /* for named procedures; NULL until one needs it */
    const struct registry *registry; /* or NULL */
    struct map local;                /* of struct unit */
    struct map shared;               /* the same: registry and external */
    unsigned open;                   /* units that are being compiled */
    uint32_t slot_count;             /* the most that any procedure needs */
    struct {
        VEC_OF(const struct procedure *);
    } procedures;
    struct {
        VEC_OF(struct pinned);
    } functions;
    struct {
        VEC_OF(const struct cel_program *);
    } expressions; /* every one that compiled */
};

struct library *library_new(struct arena *mem, const struct cel_env *base,
                            const struct registry *registry);

/* What the library holds becomes the program's. */
void library_finish(struct arena *mem, struct library *l, struct program *p);

/* The environment of named procedures: the slots of the roots, those that they do not see hidden. */
const struct cel_env *library_named_env(struct compiler *c);

/* `procedures` of a scenario: all of them are compiled. */
void library_add_local(struct compiler *c, struct value procedures);

/*
 * The procedure of that name, compiled: one of the scenario's own, one of the
 * registry, or an external one. NULL after a finding. Its size is added to
 * *tally, which may be NULL.
 */
const struct procedure *library_procedure(struct compiler *c, struct str name, struct tally *tally);

/* Compile what is written as a procedure of its own, of which nothing but `definition` is set. */
void library_compile_unit(struct compiler *c, struct unit *unit);

/* --- commands: procedure.c, command.c, argument.c, flow.c, wait.c --- */

struct scope_name {
    struct str name;
    bool is_hidden; /* named by a body that does not run when this one does */
};

/* http.c: integration.http as a whole; and whether $.secrets may stand in a field. */
void compile_http(struct compiler *c, struct value v, struct command *command);
/* A finding unless there is such a credential, of that type, where that is known. */
void compile_credential_of(struct compiler *c, struct str code, const char *type);
bool compile_sees_secrets(enum command_type type, enum command_field field);

struct late_rollback {
    struct command *command;
    struct value written;
    struct str path;
};

/* A procedure while its commands are read. */
struct scope {
    struct cel_env *env; /* grows by each `as` */
    const struct cel_env *outer_env;
    struct scope *outer;        /* or NULL */
    const struct scope *around; /* whose names a rollback sees, or NULL */
    bool may_wait;              /* one command, written in a step */
    unsigned depth;             /* of bodies */
    struct str prefix;          /* of positions: "2." */
    uint32_t position;          /* of the last command */
    unsigned items;             /* $.item so far */
    struct tally tally;
    struct {
        VEC_OF(struct scope_name);
    } names;
    struct {
        VEC_OF(struct late_rollback);
    } rollbacks; /* read when all names are known */
};

/* Where commands are written. */
enum commands_place { COMMANDS_OF_STEP, COMMANDS_ELSEWHERE };

/* `procedure`: a name, a command or a list of commands. NULL after a finding. */
const struct procedure *compile_procedure(struct compiler *c, struct value v,
                                          enum commands_place place);

/*
 * {procedure, input, ...}, or just the procedure. The fields of the object are
 * those of the table, these two among them. False after a finding.
 */
bool compile_call(struct compiler *c, struct value v, enum field_table table,
                  struct procedure_call *out);

/* `rollback` of a step or a command: {procedure, input}, or just the procedure. */
void compile_rollback(struct compiler *c, struct value v, struct procedure_call *out);

/*
 * Reading a procedure: expressions see what they see here, and the results of
 * its commands. scope_close() reads the rollbacks of the commands and says
 * what is too large.
 */
void scope_open(struct compiler *c, struct scope *scope);
void scope_read(struct compiler *c, struct value commands, struct procedure *p);
void scope_close(struct compiler *c, struct scope *scope, struct procedure *p);

/* A list of commands, or one, at the present place of the scope. */
const struct command *compile_command_list(struct compiler *c, struct value written,
                                           uint32_t *count);

/* One argument of a command where we stand. */
void compile_argument(struct compiler *c, struct value v, const struct argument *a,
                      struct command *command);

/* A value where one of that kind is wanted. Never NULL. */
const struct mapping *compile_value(struct compiler *c, struct value v, enum argument_kind kind);

/* The bodies of flow.if, flow.match and flow.try. flow.c */
void compile_bodies(struct compiler *c, struct value v, struct command *command);

/* rules of compute.validate; fields and by of compute.aggregate. flow.c */
void compile_rules(struct compiler *c, struct value v, struct command *command);
void compile_aggregate(struct compiler *c, struct value v, struct command *command);

/* What only wait.signal has. wait.c */
void compile_wait(struct compiler *c, struct value v, struct command *command);
void compile_task(struct compiler *c, struct value v, struct command *command);

/* --- steps: survey.c, step.c, parallel.c, jump.c --- */

/* `steps` of a scenario; sets the program's env. */
void compile_steps(struct compiler *c, struct value list, struct program *p);

/* The tree of steps: codes, blocks, who is in whom. `written` becomes what each was made from. */
void survey_steps(struct compiler *c, struct value list, struct program *p,
                  const struct value **written);

/* What a parallel step says beside its branches, which the survey has found. */
void compile_parallel(struct compiler *c, struct value v, struct step *step);

/* Findings about steps of rounds that run at once. */
void check_rounds(struct compiler *c, const struct program *p);

/* `goto` of the step we are in. */
void compile_jumps(struct compiler *c, struct value v, struct jumps *out);

/* Where a jump from the step we are in leads: a step that may be reached, or a word. */
bool compile_target(struct compiler *c, struct value v, struct jump *out);

/* Warnings about steps that never run. */
void check_reachable(struct compiler *c, const struct program *p);

/* --- definitions as a whole: the column `compiler` of kinds.def. scenario.c --- */

void compile_scenario(struct compiler *c, struct value definition, struct program *p);
void compile_registered(struct compiler *c, struct value definition, struct program *p);

/* --- what expressions see: context.c --- */

/* Where we stand, an environment in which a root is known that is hidden elsewhere. */
struct cel_env *compile_showing(const struct compiler *c, enum context_root root);

/* What is known of results: shape.c */

/* What the expression lacks, by the notes that the checker has made: warnings. */
void compile_notes(struct compiler *c, struct str source, const struct cel_program *program);

/* Say what the result of a command is, under the name that `as` gives it. */
void shape_say_command(struct compiler *c, struct cel_env *env, const struct command *command);

/* Say what $.steps.CODE is, when the step has been read. */
void shape_say_step(struct compiler *c, struct cel_env *env, const struct step *step);

/*
 * Before a step is read: the results of those that have not ended when it runs
 * are null. `step` may be NULL: all have ended.
 */
void shape_say_pending(struct compiler *c, struct cel_env *env, const struct program *p,
                       const struct step *step);

/* When all steps are read: warnings about results that are read before they can be there. */
void shape_check_early(struct compiler *c, const struct program *p);

/* Say what is known of $.steps.CODE, which is declared. */
void context_say_step(struct arena *mem, struct cel_env *env, struct str name);

const char *context_root_name(enum context_root root);

/* Where it is known: "in a rollback". Empty: everywhere. */
const char *context_place(enum context_root root);

/* The root of that name. */
bool context_root_of(struct str name, enum context_root *out);

#endif
