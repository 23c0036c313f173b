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

enum apply_result letter_resolve_apply(struct apply *a, struct member *m, enum db_status *status);

/* An open letter: its row, and that of the execution it tells of. */
struct open_letter {
    int64_t row, execution;
};

/* APPLY_DONE with the letter, which must be open; refused otherwise, as letter_resolve is. */
enum apply_result letter_find_open(struct apply *a, struct member *m, struct uuid id,
                                   struct open_letter *out, enum db_status *status);

#endif
