/*
 * definitions.h - what the calls about definitions share, whatever their kind.
 *
 * The kind of a call is the word of its path: /api/v1/scenarios/... . Checking
 * takes longer than the loop has time, so a change is first looked at on a
 * reader thread, against the functions and the config that are stored, and
 * then made by the node.
 *
 * why: decisions 0050, 0051, 0172, 0322
 */
#ifndef PAWL_API_DEFINITIONS_DEFINITIONS_H
#define PAWL_API_DEFINITIONS_DEFINITIONS_H

#include "api/lookup.h"
#include "define/world.h"
#include "store/change_definition.h"
#include "store/store.h"

/* The kind that the path of the call names. */
const struct kind_spec *definitions_kind(const struct call *c);

/* Let a world find the processes and templates that are published, by a reader of this thread. */
void definitions_look_up(struct world *w, struct reader *reader);

/* On a reader thread: the functions and the config that are stored; then world_open(). */
bool definitions_world(struct reader *reader, struct arena *mem, struct world *out,
                       struct err *err) MUST_USE;

/*
 * If-Match: "3" as in ETag, or 3, or * for MATCH_ANY_VERSION, else
 * MATCH_WHATEVER; If-None-Match: * is 0: there must be none. Refused when it is
 * something else.
 */
bool definitions_if_match(struct call *c, int64_t *out) MUST_USE;

/*
 * One definition as it was sent, taken apart. `definition` is what
 * world_check() wants; `text` what is stored.
 */
enum { SUMMARY_LEN_MAX = 2000 }; /* bytes of a changeSummary */

struct definition_item {
    const struct kind_spec *spec;
    struct str code; /* or its name */
    struct str name; /* for people, or empty */
    struct value definition;
    struct str text;
};

/*
 * Take a value of a live kind apart: {value} of config, all of it for others.
 * False: what is wrong is in `findings`.
 */
bool definitions_take_live(struct arena *mem, const struct kind_spec *spec, struct value body,
                           struct definition_item *out, struct findings *findings) MUST_USE;

/* Several that are changed together. */
struct definition_items {
    VEC_OF(const struct definition_item *);
};

/*
 * On a reader thread: whether the items fit beside what is
 * stored, and none is too large. False: ERR_TOO_LARGE says what is.
 */
bool definitions_check_capacity(struct reader *reader, struct arena *mem,
                                const struct definition_items *items, struct err *err) MUST_USE;

/* Put what an item is into the world, so that others may name it; before world_open(). */
void definitions_add(struct world *w, const struct definition_item *item);

/* A stored definition as a value; of a process without the field `kind`. */
bool definitions_value(struct arena *mem, const struct kind_spec *spec, struct str text,
                       struct value *out, struct err *err) MUST_USE;

/* A request to the node that makes one change of the call's definition, audited. */
struct node_request *definitions_request(struct call *c, const struct definition_item *item,
                                         enum definition_action action,
                                         void (*done)(struct node_request *r));

/* The change of an item, for a request with several. */
struct definition_change definitions_change(const struct call *c,
                                            const struct definition_item *item,
                                            enum definition_action action);

/* On a reader thread: $.config as it is published, in `mem`. */
bool definitions_config(struct reader *reader, struct arena *mem, struct value *out,
                        struct err *err) MUST_USE;

/* The `answer` of what is saved and live at once: its key and version, 201 when it is new. */
struct str definitions_put_json(struct arena *mem, const struct definition_change *d,
                                int32_t *status);

/*
 * Answer what became of a change: by definition.answer, with the version as
 * ETag if `etag`; without an answer 204.
 */
void definitions_answer(const struct node_request *r, bool etag);

/* --- who uses what --- */

/*
 * On a reader thread: whether nothing that is published names the definition.
 * False: ERR_CONFLICT says what does.
 */
bool definitions_unused(struct reader *reader, struct arena *mem, const struct kind_spec *spec,
                        struct str code, struct err *err) MUST_USE;

/* Something in the world that is about to change, or to go. */
struct definition_name {
    enum kind kind;
    struct str name;
};

struct definition_names {
    VEC_OF(struct definition_name);
};

/*
 * On a reader thread: whether everything that is published and names one of
 * `changed` still is valid in the world, but for `except`, which is replaced.
 * False: ERR_CONFLICT says what is not, and why.
 */
bool definitions_still_valid(struct reader *reader, struct world *w,
                             const struct definition_names *changed,
                             const struct definition_names *except, struct err *err) MUST_USE;

#endif
