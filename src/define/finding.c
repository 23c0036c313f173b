/* finding.c - findings: where they stand, and as the API shows them. */
#include "define/define.h"

bool findings_have_errors(const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (!findings->items[i].is_warning)
            return true;
    return false;
}

struct place finding_place(struct arena *mem, const struct source_text *source, struct str pointer,
                           struct str code, uint32_t column)
{
    bool is_about_name = str_eq(code, STR("unknown_field"));

    return source_place(mem, source, pointer, is_about_name ? PLACE_KEY : PLACE_VALUE, column);
}

void findings_locate(struct arena *mem, const struct source_text *source, struct str at,
                     struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        struct finding *f = &findings->items[i];

        f->place = finding_place(mem, source,
                                 str_printf(mem, "%.*s%.*s", STR_ARG(at), STR_ARG(f->pointer)),
                                 f->code, f->column);
    }
}

void findings_locate_json(struct arena *mem, struct str json, struct str at,
                          struct findings *findings)
{
    findings_locate(mem, &(struct source_text){.form = SOURCE_JSON, .text = json, .json = json}, at,
                    findings);
}

static struct value finding_value(struct arena *mem, const struct finding *f)
{
    struct value_entry *e = ARENA_ARRAY(mem, 8, struct value_entry);
    size_t count = 0;

    e[count++] = (struct value_entry){value_key(STR("pointer")), value_string(f->pointer)};
    if (f->step.len > 0)
        e[count++] = (struct value_entry){value_key(STR("step")), value_string(f->step)};
    e[count++] = (struct value_entry){value_key(STR("code")), value_string(f->code)};
    e[count++] = (struct value_entry){value_key(STR("message")), value_string(f->message)};
    if (f->column > 0)
        e[count++] = (struct value_entry){value_key(STR("column")), value_int(f->column)};
    if (f->place.line > 0)
        e[count++] = (struct value_entry){
            value_key(STR("place")),
            value_map_of(mem,
                         VALUE_ENTRIES({value_key(STR("line")), value_int(f->place.line)},
                                       {value_key(STR("column")), value_int(f->place.column)}))};
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
