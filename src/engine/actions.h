/*
 * actions.h - what people do with an execution: the tables actions.def and action_fields.def.
 *
 * why: decision 0347
 */
#ifndef PAWL_ENGINE_ACTIONS_H
#define PAWL_ENGINE_ACTIONS_H

#include "base/str.h"

enum action {
#define ACTION(symbol, ...) ACTION_##symbol,
#include "engine/actions.def"
#undef ACTION
    ACTION_COUNT
};

enum action_field {
#define ACTION_FIELD(symbol, ...) ACTION_FIELD_##symbol,
#include "engine/action_fields.def"
#undef ACTION_FIELD
    ACTION_FIELD_COUNT
};

enum action_audit { ACTION_AUDIT_NOTHING, ACTION_AUDIT_PRESENT, ACTION_AUDIT_WHOLE };

struct action_spec {
    const char *name;      /* "cancel" */
    const char *audit;     /* "execution.cancel" */
    unsigned takes, needs; /* sets of fields, 1 << ACTION_FIELD_x each */
    bool is_for_many;
    const char *row;   /* or NULL */
    const char *done;  /* or NULL */
    const char *begun; /* or NULL */
};

extern const struct action_spec action_specs[ACTION_COUNT];

struct action_field_spec {
    const char *name;
    enum action_audit audit;
    const char *only;    /* or NULL */
    const char *missing; /* or NULL */
};

extern const struct action_field_spec action_field_specs[ACTION_FIELD_COUNT];

bool action_read(struct str name, enum action *out) MUST_USE;

bool action_takes(enum action action, enum action_field field);

/* The status of the row of history that notes the action; it has one. */
struct str action_row(enum action action);

/* Whether the status of a row of kind HISTORY_EVENT says what an operator did. */
bool action_is_row(struct str status);

/* The row of what an operator says of a dead letter: see repair_resolve(). */
#define ACTION_ROW_RESOLVED STR("resolved")

#endif
