/* finding.c - findings: where they stand, and as the API shows them. */
#include "define/define.h"
#include "value/source.h"

static struct finding finding_copy(struct arena *mem, struct finding f)
{
    f.pointer = str_copy(mem, f.pointer);
    f.step = str_copy(mem, f.step);
    f.code = str_copy(mem, f.code);
    f.message = sentence_copy(mem, f.message);
    f.hint = sentence_copy(mem, f.hint);
    f.name = str_copy(mem, f.name);
    f.fix.value = value_copy(mem, f.fix.value);
    f.fix.label = sentence_copy(mem, f.fix.label);
    return f;
}

void findings_add(struct arena *mem, const struct findings *from, struct findings *to)
{
    for (size_t i = 0; i < from->count; i++) {
        struct finding f = finding_copy(mem, from->items[i]);

        *VEC_ADD(mem, to) = f;
    }
}

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

static void findings_copy_some(struct arena *mem, const struct findings *from, bool errors,
                               bool warnings, struct findings *out)
{
    for (size_t i = 0; i < from->count && out->count < FINDINGS_SHOWN_MAX; i++) {
        struct finding f = from->items[i];

        if (!(f.is_warning ? warnings : errors))
            continue;
        f = finding_copy(mem, f);
        *VEC_ADD(mem, out) = f;
    }
}

struct findings findings_copy(struct arena *mem, const struct findings *from)
{
    struct findings out = {0};

    if (from == NULL)
        return out;
    if (from->count <= FINDINGS_SHOWN_MAX) {
        findings_copy_some(mem, from, true, true, &out);
    } else {
        findings_copy_some(mem, from, true, false, &out);
        findings_copy_some(mem, from, false, true, &out);
    }
    return out;
}

static struct value fix_value(struct arena *mem, const struct finding *f)
{
    size_t end = f->pointer.len;

    while (f->fix.is_around && end > 0 && f->pointer.ptr[--end] != '/')
        ;
    return value_map_of(
        mem, VALUE_ENTRIES({value_key(STR("pointer")), value_string(str_slice(f->pointer, 0, end))},
                           {value_key(STR("value")), f->fix.value},
                           {value_key(STR("label")), value_string(f->fix.label.text)}));
}

static struct value finding_value(struct arena *mem, const struct finding *f)
{
    struct value_entry *e = ARENA_ARRAY(mem, 9, struct value_entry);
    size_t count = 0;

    value_entry_add(e, &count, STR("pointer"), value_string(f->pointer));
    if (f->step.len > 0)
        value_entry_add(e, &count, STR("step"), value_string(f->step));
    value_entry_add(e, &count, STR("code"), value_string(f->code));
    value_entry_add(e, &count, STR("message"), value_string(f->message.text));
    if (f->column > 0)
        value_entry_add(e, &count, STR("column"), value_int(f->column));
    if (f->place.line > 0)
        value_entry_add(
            e, &count, STR("place"),
            value_map_of(mem,
                         VALUE_ENTRIES({value_key(STR("line")), value_int(f->place.line)},
                                       {value_key(STR("column")), value_int(f->place.column)})));
    value_entry_add(e, &count, STR("severity"),
                    value_string(f->is_warning ? STR("warning") : STR("error")));
    if (f->hint.text.len > 0)
        value_entry_add(e, &count, STR("hint"), value_string(f->hint.text));
    if (f->fix.value.kind != VALUE_ABSENT)
        value_entry_add(e, &count, STR("fix"), fix_value(mem, f));
    return value_map_take(mem, e, count);
}

struct value findings_value(struct arena *mem, const struct findings *findings)
{
    struct value *items = ARENA_ARRAY(mem, findings->count, struct value);

    for (size_t i = 0; i < findings->count; i++)
        items[i] = finding_value(mem, &findings->items[i]);
    return value_list(items, findings->count);
}
