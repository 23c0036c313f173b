/*
 * change_letter.h - closing a dead letter by hand.
 *
 * The execution that it tells of stays as it is; whoever acts on that closes
 * the letter of a hold by doing so: see commit.incident.
 */
#ifndef PAWL_STORE_CHANGE_LETTER_H
#define PAWL_STORE_CHANGE_LETTER_H

#include "store/change.h"

/*
 * An open letter becomes resolved. Refused with ERR_NOT_FOUND when there is
 * none, with ERR_CONFLICT when it is not open.
 */
struct letter_resolve {
    struct change change; /* .apply = letter_resolve_apply */
    struct uuid id;
    struct str note, user_id;
};

change_apply_fn letter_resolve_apply;

#endif
