/* user_list.h - users page by page: for administrators, and for the board of the planner. */
#ifndef PAWL_API_ACCESS_USER_LIST_H
#define PAWL_API_ACCESS_USER_LIST_H

#include "api/list.h"
#include "store/read_user.h"

/* Append the members of a user, without braces. */
typedef void user_show_fn(struct buf *out, const struct stored_user *u);

/*
 * Answer with a page of the users that `filter` lets through; `role`, `cursor`
 * and `limit` are those of the call, which is refused when one of them is wrong.
 */
void user_list(struct call *c, struct user_filter filter, user_show_fn *show);

#endif
