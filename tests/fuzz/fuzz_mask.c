/*
 * fuzz_mask.c - any JSON without what any input calls sensitive.
 *
 * The first line is the input, whose members `card` and `pin` are sensitive;
 * the rest is what is shown. Claims: nothing crashes; a view that is masked is
 * JSON; no text in it holds a secret; the steps of the search are bounded by
 * the length of the text.
 */
#include "value/json.h"
#include "value/mask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Secrets with stars may arise anew from what is put in their place. */
static bool is_checked(struct str secret)
{
    return secret.len >= MASK_LEN_MIN && memchr(secret.ptr, '*', secret.len) == NULL;
}

static void check_text(const struct mask *m, struct str text)
{
    for (size_t i = 0; i < m->texts.count; i++)
        ASSERT(!is_checked(m->texts.items[i]) || str_find(text, m->texts.items[i], 0) < 0);
}

static void check_masked(const struct mask *m, struct value v)
{
    if (v.kind == VALUE_STRING)
        check_text(m, value_text(v));
    for (uint32_t i = 0; v.kind == VALUE_LIST && i < v.len; i++)
        check_masked(m, v.items[i]);
    for (uint32_t i = 0; v.kind == VALUE_MAP && i < v.len; i++) {
        struct str name = value_text(v.map->entries[i].key);

        if (!str_eq(name, STR("card")))
            check_text(m, name);
        check_masked(m, v.map->entries[i].value);
    }
}

static void check_views(struct arena *mem, const struct mask *m, struct str json)
{
    static const char *const shown[] = {"error", "output", "input", "payload"};
    struct str view;
    struct value v;
    struct err err;

    if (!json_read(mem, mask_view_text(mem, m, json), &v, &err))
        ASSERT(mask_is_empty(m) || str_find(json, STR("\""), 0) >= 0);
    if (!json_read(mem, json, &v, &err))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
        view = str_printf(mem, "{\"%s\":%.*s}", shown[i], STR_ARG(json));
        view = mask_view_text(mem, m, view);
        ASSERT(json_read(mem, mask_view_member(view, str_of(shown[i])), &v, &err));
        check_masked(m, v);
    }
    /* Names within a context are the engine's own. */
    view = mask_view_text(mem, m, str_printf(mem, "{\"context\":{\"steps\":%.*s}}", STR_ARG(json)));
    view = mask_view_member(mask_view_member(view, STR("context")), STR("steps"));
    ASSERT(json_read(mem, view, &v, &err));
    check_masked(m, v);
}

static void check_steps(struct arena *mem, const struct mask *m, struct str text)
{
    uint64_t before = m->parts != NULL ? pattern_set_steps(m->parts) : 0;

    check_text(m, mask_text(mem, m, text));
    if (m->parts != NULL)
        ASSERT(pattern_set_steps(m->parts) - before <= 64 * (uint64_t)text.len + 64);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str all = str_from((const char *)data, size);
    int64_t line = str_find(all, STR("\n"), 0);
    struct str json = line < 0 ? all : str_slice(all, (size_t)line + 1, size);
    struct mask m = {0};
    struct arena mem;
    struct value input;
    struct err err;

    arena_init(&mem);
    mask_add(&mem, &m, STR("card"));
    mask_add_field(&mem, &m, STR("pin"));
    if (line >= 0 && json_read(&mem, str_slice(all, 0, (size_t)line), &input, &err)) {
        mask_learn(&mem, &m, input);
        mask_learn_answer(&mem, &m, input);
        mask_seal(&mem, &m);
    }
    check_views(&mem, &m, json);
    check_steps(&mem, &m, json);
    ASSERT(json_read(&mem, mask_json(&mem, &m, json), &input, &err) || json.len == 0);
    arena_fini(&mem);
    return 0;
}
