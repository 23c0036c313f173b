/* bundle.c - see bundle.h. */
#include "cli/bundle.h"

#include "cli/file.h"
#include "define/kind.h"
#include "value/json_text.h"

static void add_items(struct arena *mem, const char *path, struct str text, struct value items,
                      struct bundle *out)
{
    struct str *texts = ARENA_ARRAY(mem, items.len + 1, struct str);

    if (json_text_items(json_text_member(mem, text, STR("items")), texts, items.len) != items.len)
        PANIC("the items of a list were counted wrong");
    for (uint32_t i = 0; i < items.len; i++)
        *VEC_ADD(mem, out) = (struct bundle_item){.path = path,
                                                  .place = str_printf(mem, "/items/%u", i),
                                                  .text = texts[i],
                                                  .value = items.items[i]};
}

bool bundle_read(struct arena *mem, const char *path, struct bundle *out)
{
    struct value v, items;
    struct str text;

    if (!file_read_json(mem, path, &text, &v))
        return false;
    items = v.kind == VALUE_MAP ? value_map_get_str(v, STR("items")) : value_absent();
    if (items.kind == VALUE_LIST && kind_of(v) == NULL)
        add_items(mem, path, text, items, out);
    else
        *VEC_ADD(mem, out) = (struct bundle_item){.path = path, .text = text, .value = v};
    return true;
}
