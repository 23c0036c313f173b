/*
 * tell_event.h - events that arise in the store: a record that is edited by
 * hand, an execution or a message that is parked, a task that moves.
 *
 * The node says with a member who wants which events (member.events, filled by
 * node/route.c when the member may tell some: change.tells). The change calls
 * event_tell() where it writes what has happened, and a row of the outbox for
 * each of them becomes durable with it. Who wants an event is fixed when it
 * arises, as it is for those of executions.
 *
 *     struct task_change t = {.change = {.apply = task_change_apply, .tells = "task."}, ...};
 *     ...
 *     event_tell(a, m, &(struct told_event){.name = STR("task.done"), ...}, status)
 */
#ifndef PAWL_STORE_TELL_EVENT_H
#define PAWL_STORE_TELL_EVENT_H

#include "store/apply.h"

/* One who wants events of a name, or of all names that begin with it. */
struct event_route {
    struct str name;
    bool is_prefix;
    struct str org_id; /* whose events; empty: those of everybody */
    enum message_kind kind;
    struct str destination; /* of the row of the outbox */
};

/* Who wants what a member may tell; those of one destination follow each other. */
struct event_routes {
    VEC_OF(struct event_route);
    struct uuid seed; /* what the ids of its events are made from */

    /* filled by the store */
    int64_t told;
    struct {
        VEC_OF(struct str);
    } lanes; /* destinations that have got a row, perhaps several times */
};

/* Something has happened. */
struct told_event {
    struct str name;
    struct str org_id; /* empty: the default one */
    struct str key;    /* or empty */
    struct str payload_json;
    /* Whose doing it is, or about whom; it comes in order with what that sends itself. */
    bool has_execution;
    struct uuid execution;
    /* Without an execution: events about the same come in order, "task/ID". */
    struct str about;
    int64_t now_us;
};

/*
 * Write a row of the outbox for everybody who wants it; nothing when nobody
 * does. Before it, all that can refuse the member was looked at. False: *status
 * says why.
 */
bool event_tell(struct apply *a, const struct member *m, const struct told_event *e,
                enum db_status *status) MUST_USE;

/* Whether anybody wants it: then its payload is worth making. */
bool event_is_wanted(const struct member *m, struct str name, struct str org_id);

/* A dead letter as its event tells it. What is not known is empty. */
struct told_letter {
    struct uuid id;
    struct str kind, step;
    int64_t attempts;
    struct str cause_json;
    struct str code, key; /* of the execution that it is about */
};

/* {id, kind, code, key, step, attempts, cause}: of dead_letter.created, in `mem`. */
struct str event_letter_json(struct arena *mem, const struct told_letter *l);

/* {object, id, version, data}: of record.*, in `mem`; without data: it is deleted. */
struct str event_record_json(struct arena *mem, struct str object, struct str id, int64_t version,
                             struct str data_json);

#endif
