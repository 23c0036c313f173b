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

change_apply_fn execution_park_apply;

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

change_apply_fn execution_unpark_apply;

#endif
