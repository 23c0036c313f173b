/* panic.c - the one way in which a bug ends the process. */
#include "base/attr.h"

#include <stdio.h>
#include <stdlib.h>

void panic_at(const char *file, int line, const char *what)
{
    fprintf(stderr, "pawl: bug at %s:%d: %s\n", file, line, what);
    fflush(stderr);
    abort();
}
