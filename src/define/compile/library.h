/*
 * library.h - procedures and the commands in them while they are compiled. Internal to src/define.
 */
#ifndef PAWL_DEFINE_COMPILE_LIBRARY_H
#define PAWL_DEFINE_COMPILE_LIBRARY_H

#include "define/compile/compile.h"

/* --- named procedures: library.c --- */

/* How large a procedure is, with what it calls. */
struct tally {
    uint32_t commands;
    uint32_t http, notifications;
    int64_t http_us; /* their timeouts together, those that are computed apart */
    uint32_t depth;  /* of calls */
    bool has_rollbacks;
};

enum unit_state { UNIT_NEW, UNIT_OPEN, UNIT_DONE, UNIT_BROKEN };

/* A named procedure. */
struct procedure_unit {
    struct procedure procedure;
    struct value definition; /* LOCAL, REGISTRY */
    enum define_rules rules; /* REGISTRY: of its version */
    enum unit_state state;   /* OPEN while it is being compiled */
    struct tally tally;
};

struct library {
    const struct cel_env *base;      /* the roots, and the functions */
    struct cel_env *named;           /* for named procedures; NULL until one needs it */
    const struct registry *registry; /* or NULL */
    struct map local;                /* of struct procedure_unit */
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

/* `procedures` of a scenario: all of them are compiled. */
void library_add_local(struct compiler *c, struct value procedures);

/*
 * The procedure of that name, compiled: one of the scenario's own, one of the
 * registry, or an external one. NULL after a finding. Its size is added to
 * *tally, which may be NULL.
 */
const struct procedure *library_procedure(struct compiler *c, struct str name, struct tally *tally);

/* Compile what is written as a procedure of its own, of which nothing but `definition` is set. */
void library_compile_unit(struct compiler *c, struct procedure_unit *unit);

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
struct compile_scope {
    struct cel_env *env; /* grows by each `as` */
    const struct cel_env *outer_env;
    struct compile_scope *outer;        /* or NULL */
    const struct compile_scope *around; /* whose names a rollback sees, or NULL */
    bool may_wait;                      /* one command, written in a step */
    const struct command_spec *node;    /* what the next command is, by the type of its node */
    unsigned depth;                     /* of bodies */
    struct str prefix;                  /* of positions: "2." */
    uint32_t position;                  /* of the last command */
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
void scope_open(struct compiler *c, struct compile_scope *scope);
void scope_read(struct compiler *c, struct value commands, struct procedure *p);
void scope_close(struct compiler *c, struct compile_scope *scope, struct procedure *p);

/* A list of commands, or one, at the present place of the scope. */
const struct command *compile_command_list(struct compiler *c, struct value written,
                                           uint32_t *count);

/* One argument of a command where we stand. */
void compile_argument(struct compiler *c, struct value v, const struct argument *a,
                      struct command *command);

/* The bodies of flow.if, flow.match and flow.try. flow.c */
void compile_bodies(struct compiler *c, struct value v, struct command *command);

/* rules of compute.validate; fields and by of compute.aggregate. flow.c */
void compile_rules(struct compiler *c, struct value v, struct command *command);
void compile_aggregate(struct compiler *c, struct value v, struct command *command);

/* The one command of a node of a schema: `config` holds its fields. procedure.c */
const struct procedure *compile_node_procedure(struct compiler *c, const struct command_spec *spec,
                                               struct value config);

/* What fields of nodes say together. node_command.c */
void compile_node_condition(struct compiler *c, struct value v, struct command *command);
void compile_node_variable(struct compiler *c, struct value v, struct command *command);
void compile_node_math(struct compiler *c, struct value v, struct command *command);
void compile_node_sleep(struct compiler *c, struct value v, struct command *command);

/* What only wait.signal has. wait.c */
void compile_wait(struct compiler *c, struct value v, struct command *command);
void compile_task(struct compiler *c, struct value v, struct command *command);

#endif
