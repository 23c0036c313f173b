/* planner.h - what the commands about tasks and shifts share. */
#ifndef PAWL_CLI_PLANNER_H
#define PAWL_CLI_PLANNER_H

#include "cli/client.h"

/* The end of an id, which is unlike any other's. */
struct str planner_end_of(struct str id);

/* A new client_event_id. */
struct str planner_event_id(struct arena *mem);

/* The id of what a person named: an id, or a unique end of one in the list at `path`. */
bool planner_find(struct client *c, const char *what, const char *path, const char *name,
                  struct str *out) MUST_USE;

/* Print a list, one page or all of them; `none` when it is empty. The exit status. */
int planner_list(struct client *c, struct str path, bool all, bool as_json,
                 void (*print)(struct arena *mem, struct value items), const char *none);

#endif
