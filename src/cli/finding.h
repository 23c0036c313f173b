/* finding.h - findings of definitions as lines: file:pointer: message. */
#ifndef PAWL_CLI_FINDING_H
#define PAWL_CLI_FINDING_H

#include "value/value.h"

/* Print one, at this pointer, to stderr; answers whether it is an error. */
bool finding_print_one(const char *file, struct str pointer, struct value finding);

/* Print a list of findings to stderr; answers how many of them are errors. */
unsigned finding_print(const char *file, struct value findings);

#endif
