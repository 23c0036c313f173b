/*
 * change_park.h - executions that a node cannot go on with are parked.
 *
 *     live --cannot be loaded, compiled, restored, written--> parked --retry--> live
 *          --five crashes (MEMBER_CRASH)------------------->
 *
 * A parked execution has CRASHES_MAX crashes, whatever led to it, is due for
 * nobody, and has a dead letter of the kind "execution" that says why. Any
 * commit of it (an operator cancels it, say) ends that and closes the letter.
 */
#ifndef PAWL_STORE_CHANGE_PARK_H
#define PAWL_STORE_CHANGE_PARK_H

#include "store/change.h"

/* Park it and write the letter; nothing happens when it is parked or has ended. Never refused. */
struct execution_park {
    struct change change; /* .apply = execution_park_apply */
    struct uuid id;
    struct uuid letter;    /* the id that the letter gets */
    struct str cause_json; /* {code, message, class} */
};

enum apply_result execution_park_apply(struct apply *a, struct member *m, enum db_status *status);

/*
 * Let it be tried again, and close the letter as retried. Refused with
 * ERR_NOT_FOUND when there is no such letter, with ERR_CONFLICT when it is not
 * open.
 */
struct execution_unpark {
    struct change change; /* .apply = execution_unpark_apply */
    struct uuid letter;
    struct str user_id;
};

enum apply_result execution_unpark_apply(struct apply *a, struct member *m, enum db_status *status);

/* Write the letter of an execution that is parked, unless it has one. False: *status says why. */
bool apply_parked_letter(struct apply *a, const struct member *m, struct uuid execution,
                         struct uuid letter, struct str cause_json, int64_t now_us,
                         enum db_status *status) MUST_USE;

#endif
