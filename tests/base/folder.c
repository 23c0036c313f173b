/* folder.c - see folder.h. */
#include "base/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

void folder_make(char path[FOLDER_PATH_MAX])
{
    const char *below = getenv("TMPDIR");

    (void)snprintf(path, FOLDER_PATH_MAX, "%s/pawl-test-XXXXXX", below != NULL ? below : "/tmp");
    assert_non_null(mkdtemp(path));
}

void folder_drop(const char *path)
{
    char command[FOLDER_PATH_MAX + 8];

    (void)snprintf(command, sizeof(command), "rm -rf %s", path);
    assert_int_equal(system(command), 0);
}
