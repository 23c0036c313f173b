/* finding.c - findings as the API shows them. */
#include "define/define.h"

bool findings_have_errors(const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (!findings->items[i].is_warning)
            return true;
    return false;
}

static struct value finding_value(struct arena *mem, const struct finding *f)
{
    struct value_entry *e = ARENA_ARRAY(mem, 7, struct value_entry);
    size_t count = 0;

    e[count++] = (struct value_entry){value_key(STR("pointer")), value_string(f->pointer)};
    if (f->step.len > 0)
        e[count++] = (struct value_entry){value_key(STR("step")), value_string(f->step)};
    e[count++] = (struct value_entry){value_key(STR("code")), value_string(f->code)};
    e[count++] = (struct value_entry){value_key(STR("message")), value_string(f->message)};
    if (f->column > 0)
        e[count++] = (struct value_entry){value_key(STR("column")), value_int(f->column)};
    e[count++] = (struct value_entry){value_key(STR("severity")),
                                      value_string(f->is_warning ? STR("warning") : STR("error"))};
    if (f->hint.len > 0)
        e[count++] = (struct value_entry){value_key(STR("hint")), value_string(f->hint)};
    return value_map_take(mem, e, count);
}

struct value findings_value(struct arena *mem, const struct findings *findings)
{
    struct value *items = ARENA_ARRAY(mem, findings->count, struct value);

    for (size_t i = 0; i < findings->count; i++)
        items[i] = finding_value(mem, &findings->items[i]);
    return value_list(items, findings->count);
}
