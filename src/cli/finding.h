/* finding.h - findings of definitions as lines: file:pointer: message. */
#ifndef PAWL_CLI_FINDING_H
#define PAWL_CLI_FINDING_H

#include "value/value.h"

/* Print a list of findings to stderr; answers how many of them are errors. */
unsigned finding_print(const char *file, struct value findings);

#endif
