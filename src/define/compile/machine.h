/*
 * machine.h - the states of a machine and the transitions between them before their commands are
 * compiled. Internal to src/define.
 *
 * why: decision 0580
 */
#ifndef PAWL_DEFINE_COMPILE_MACHINE_H
#define PAWL_DEFINE_COMPILE_MACHINE_H

#include "define/compile/compile.h"

enum {
    STATES_MAX = 200,
    TRANSITIONS_MAX = 1000,
    EVENT_NAME_MAX = 100,
    MACHINE_COMMANDS_MAX = 5000
};

/* No state. */
#define NO_STATE UINT32_MAX

/* A transition as it is written. */
struct machine_transition {
    uint32_t from, to; /* states; `to` is NO_STATE after a finding, `from` when it stays */
    bool stays;
    struct value written;
    struct str event;   /* empty: of `after` */
    struct value span;  /* of `after` */
    struct str pointer; /* where it stands */
    struct str code;    /* struct state_way */
    bool is_first;      /* of its event or time */
    bool has_commands;
    uint32_t step; /* what it becomes; NO_STEP when it has no commands */
};

struct machine_state {
    struct str name; /* empty after a finding */
    struct value written;
    struct str pointer;
    bool is_final, is_reached;
    uint32_t step;
    uint32_t first, count, event_count; /* of machine.transitions */
};

struct state_graph {
    struct machine_state *states;
    uint32_t count;
    uint32_t initial; /* or NO_STATE */
    struct {
        VEC_OF(struct machine_transition);
    } transitions;
};

/* `initial` and `states` of the machine where we stand. Whatever is wrong with them is a finding. */
void machine_read(struct compiler *c, struct value definition, struct state_graph *m);

/* Stand at the pointer of a part of it. */
void machine_stand_at(struct compiler *c, struct str pointer, struct str state);

/* Whether a list of commands, or one, holds any. */
bool machine_has_commands(struct value object, const char *field);

/* How many things happen by themselves: the members of `after`. */
uint32_t machine_afters(struct value written);

#endif
