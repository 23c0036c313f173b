/*
 * fuzz_source.c - any bytes as JSON with comments and as YAML.
 *
 * What is read is JSON, and every pointer has a place within the text. What is
 * refused has a line and a column.
 */
#include "value/json.h"
#include "value/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void look_up(struct arena *mem, const struct source_text *s, uint32_t inner)
{
    static const char *const pointers[] = {"", "/steps", "/steps/0/when", "/a~1b", "/0", "/0/0"};

    for (size_t i = 0; i < ARRAY_SIZE(pointers); i++) {
        struct place p = source_place(mem, s, str_of(pointers[i]), PLACE_VALUE, inner);

        ASSERT(p.line > 0 && p.column > 0);
        p = source_place(mem, s, str_of(pointers[i]), PLACE_KEY, 0);
        ASSERT(p.line > 0 && p.column > 0);
    }
}

static void try_form(struct str text, enum source_form form)
{
    struct source_text s;
    struct value again;
    struct arena mem;
    struct err err = {0};

    arena_init(&mem);
    if (source_read(&mem, form, text, &s, &err)) {
        ASSERT(json_read(&mem, s.json, &again, &err));
        look_up(&mem, &s, 3);
    } else {
        ASSERT(err.line > 0 && err.column > 0);
    }
    arena_fini(&mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct str text = str_from((const char *)bytes, len);

    try_form(text, SOURCE_COMMENTS);
    try_form(text, SOURCE_YAML);
    return 0;
}
