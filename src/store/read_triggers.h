/*
 * read_triggers.h - the triggers of published processes, in the table `triggers`: what
 * a node must know of them without reading every definition.
 *
 * Rows are derived from the facts of the published version (define/facts.h), in
 * the transaction that publishes, reverts, retires, unretires, imports or deletes
 * it, so they are never of another version than what starts. A retired process
 * keeps its rows, marked: it takes no starts, and signals for its executions
 * still arrive.
 *
 *     code | position | kind | version | type | topic | org_id | is_retired | spec
 *
 * `topic` is what a trigger is found by: trigger_topic() of define/trigger.h.
 */
#ifndef PAWL_STORE_READ_TRIGGERS_H
#define PAWL_STORE_READ_TRIGGERS_H

#include "define/trigger.h"
#include "store/read.h"

struct stored_trigger {
    struct str code; /* of the process */
    struct str kind;
    int64_t version;
    uint32_t position; /* in `triggers` of that version: program->triggers[position] */
    enum trigger_type type;
    struct str topic;
    struct str org_id; /* empty: the default organisation */
    bool is_retired;
    struct value spec; /* as it is written: a map */
};

struct stored_triggers {
    VEC_OF(struct stored_trigger);
};

/* All of a type, by code and position; on a reader thread, as all of read.h. */
bool read_triggers(struct reader *r, struct arena *mem, enum trigger_type type,
                   struct stored_triggers *out, struct err *err) MUST_USE;

/* Those of a type that are found by a topic. */
bool read_triggers_of_topic(struct reader *r, struct arena *mem, enum trigger_type type,
                            struct str topic, struct stored_triggers *out,
                            struct err *err) MUST_USE;

#endif
