/* names.c - see names.h. */
#include "base/names.h"

int names_find(const void *table, size_t row_bytes, size_t count, struct str name)
{
    const char *row = table;

    for (size_t i = 0; i < count; i++, row += row_bytes) {
        const char *found;

        memcpy(&found, row, sizeof(found));
        if (str_eq(name, str_of(found)))
            return (int)i;
    }
    return -1;
}
