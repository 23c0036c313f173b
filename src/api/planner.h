/*
 * planner.h - calls about tasks and what is around them.
 *
 * A change is a row of planner.def: the fields of its body and the function of
 * the store that applies it. Everything else is the same for all of them.
 */
#ifndef PAWL_API_PLANNER_H
#define PAWL_API_PLANNER_H

#include "api/call.h"
#include "store/planner.h"

enum planner_kind {
    TAKES_TEXT,
    TAKES_INT,
    TAKES_SIGNED,
    TAKES_BOOL,
    TAKES_TIME,   /* RFC 3339; the store is given microseconds under NAME_us */
    TAKES_IDS,    /* a list of texts */
    TAKES_OBJECT, /* a map, as it is */
    TAKES_ANY,
    TAKES_TASKS, /* a list of bodies of tasks */
};

struct planner_field {
    const char *name;
    enum planner_kind kind;
    bool is_required;
    int64_t max;       /* of a text or list its length, of a number its value; 0 = the usual */
    const char *words; /* of a text: those that it may be, with spaces between; or NULL */
};

enum { PLANNER_FIELDS_MAX = 12 };

/* The fields of a task. */
extern const struct planner_field planner_task_fields[];

/* Read the body by its fields, into c->mem; false after a refusal. */
bool planner_body(struct call *c, const struct planner_field *fields, struct value *out) MUST_USE;

/* The same for an object that is part of one. */
bool planner_fields(struct call *c, const struct planner_field *fields, struct value body,
                    struct value *out) MUST_USE;

/* Who asks, as far as the token says. */
struct planner_person planner_actor(const struct call *c);

/* Ask the store for a change of the planner; answers the call. `audit` may be NULL. */
void planner_submit(struct call *c, struct planner_change *p, const char *audit);

/* A change was applied: tell whoever is concerned. */
void planner_applied(struct call *c, const struct planner_change *p);

/* A change with all that the call says. */
struct planner_change *planner_change_new(struct call *c, planner_apply_fn *apply);

#endif
