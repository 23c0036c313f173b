/*
 * where.h - the same action for many executions, or for what else there is
 * many of: --where "status=waiting code=x".
 *
 * The conditions are those of pawl ls, name=value with spaces between them; a
 * value with spaces in it stands in double quotes.
 */
#ifndef PAWL_CLI_WHERE_H
#define PAWL_CLI_WHERE_H

#include "cli/client.h"

/* What there is many of. */
struct many {
    const char *path; /* "/executions/bulk" */
    const char *noun; /* "executions" */
    const char *all;  /* a condition that all of them meet */
};

struct where {
    const struct many *of;  /* NULL: executions */
    const char *action;     /* of POST to its path */
    const char *done;       /* the same in the past: "cancelled" */
    const char *conditions; /* as they were given */
    struct str fields;      /* further members of the request as JSON, without braces; or empty */
    bool is_dry_run;
};

/*
 * Work through all that match, with a bar on a terminal, and say
 * how many. Answers the exit status: 1 when some failed or it was refused.
 */
int where_run(struct client *c, const struct where *w);

#endif
