/*
 * last.h - which execution this user has started last, for @last.
 *
 * Kept in $XDG_STATE_HOME/pawl/last (~/.local/state/pawl/last), one line
 * "URL ID" for each server. A convenience: where it cannot be written, @last is
 * the newest execution of all.
 *
 * why: decision 0072
 */
#ifndef PAWL_CLI_LAST_H
#define PAWL_CLI_LAST_H

#include "base/str.h"

/* Remember `id` as the last one started on the server at `url`. */
void last_remember(struct arena *mem, const char *url, struct str id);

/* The id that was remembered for the server, in `mem`, or empty. */
struct str last_recall(struct arena *mem, const char *url);

#endif
