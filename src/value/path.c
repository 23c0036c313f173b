/* path.c - see path.h. */
#include "value/path.h"

#include "value/number.h"

void path_add(struct buf *path, struct str token)
{
    buf_char(path, '/');
    for (size_t i = 0; i < token.len; i++) {
        if (token.ptr[i] == '~')
            buf_add(path, "~0", 2);
        else if (token.ptr[i] == '/')
            buf_add(path, "~1", 2);
        else
            buf_char(path, token.ptr[i]);
    }
}

void path_add_index(struct buf *path, uint64_t index)
{
    char text[NUMBER_TEXT_MAX];

    buf_char(path, '/');
    buf_add(path, text, number_write_uint(text, index));
}
