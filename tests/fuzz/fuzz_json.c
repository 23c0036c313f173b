/*
 * fuzz_json.c - any bytes through the JSON reader and writer.
 *
 * What is read must be written, read again as an equal value, and written
 * again to the same bytes; pretty text must read as the same value.
 */
#include "value/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static struct value read_again(struct arena *mem, const struct buf *text)
{
    struct value v = value_absent();
    struct err err;

    ASSERT(json_read(mem, buf_view(text), &v, &err));
    return v;
}

static void write_and_read(struct arena *mem, struct value v)
{
    struct buf first, second, pretty;
    struct value again;
    struct err err;

    buf_init_arena(&first, mem);
    buf_init_arena(&second, mem);
    buf_init_arena(&pretty, mem);
    ASSERT(json_write(&first, v, &err));
    again = read_again(mem, &first);
    ASSERT(again.kind == v.kind && value_equal(v, again, NULL));
    ASSERT(json_write(&second, again, &err));
    ASSERT(str_eq(buf_view(&first), buf_view(&second)));
    ASSERT(json_write_pretty(&pretty, v, &err));
    ASSERT(value_equal(v, read_again(mem, &pretty), NULL));

    /* A limit one byte short is kept, and nothing is left behind. */
    buf_init_arena(&second, mem);
    second.limit = first.len - 1;
    ASSERT(!json_write(&second, v, &err) && err.code == ERR_TOO_LARGE && second.len == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct str text = str_from((const char *)bytes, len);
    struct arena mem;
    struct value v;
    struct err err = {.code = ERR_NONE};

    arena_init(&mem);
    if (json_read(&mem, text, &v, &err))
        write_and_read(&mem, v);
    else
        ASSERT((err.code == ERR_BAD_JSON || err.code == ERR_INVALID) && err.line > 0 &&
               err.column > 0);
    arena_fini(&mem);
    return 0;
}
