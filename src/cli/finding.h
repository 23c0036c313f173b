/*
 * finding.h - findings of definitions as lines, to stderr:
 *
 *     order.json:12:7:/steps/2/procdure: step pay: there is no field 'procdure' here; did you mean ...
 */
#ifndef PAWL_CLI_FINDING_H
#define PAWL_CLI_FINDING_H

#include "cli/author/bundle.h"

/* Print one that a server has found in an item of a file; answers whether it is an error. */
bool finding_print(struct arena *mem, const struct bundle_item *item, struct str pointer,
                   struct value finding);

/* One as a line without its end. Its `place` is that in the file, line 0: it is not known. */
struct finding;
struct str finding_line(struct arena *mem, const char *path, const struct finding *f);

#endif
