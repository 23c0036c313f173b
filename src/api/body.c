/* body.c - see body.h. */
#include "api/body.h"

#include "value/json.h"
#include "value/path.h"

static struct finding *add(struct arena *mem, struct findings *findings, struct str field,
                           const char *code, struct str message)
{
    struct finding *f = VEC_ADD(mem, findings);
    struct buf pointer;

    buf_init_arena(&pointer, mem);
    path_add(&pointer, field);
    *f = (struct finding){.pointer = buf_view(&pointer), .code = str_of(code), .message = message};
    return f;
}

void body_finding(struct arena *mem, struct findings *findings, const char *field, const char *code,
                  struct str message)
{
    (void)add(mem, findings, str_of(field), code, message);
}

static const char *wanted(enum body_kind kind)
{
    switch (kind) {
    case BODY_ANY:
        return "anything";
    case BODY_TEXT:
        return "a text";
    case BODY_INT:
        return "an integer";
    case BODY_BOOL:
        return "true or false";
    case BODY_OBJECT:
        return "an object";
    }
    PANIC("unknown kind of field");
}

static bool has_kind(struct value v, enum body_kind kind)
{
    switch (kind) {
    case BODY_ANY:
        return true;
    case BODY_TEXT:
        return v.kind == VALUE_STRING;
    case BODY_INT:
        return v.kind == VALUE_INT;
    case BODY_BOOL:
        return v.kind == VALUE_BOOL;
    case BODY_OBJECT:
        return v.kind == VALUE_MAP;
    }
    PANIC("unknown kind of field");
}

static void take(struct arena *mem, const struct body_field *field, struct value v,
                 struct findings *findings)
{
    if (v.kind == VALUE_NULL && field->kind != BODY_ANY)
        return;
    if (has_kind(v, field->kind))
        *field->out = v;
    else
        (void)add(mem, findings, str_of(field->name), "wrong_type",
                  str_printf(mem, "%s must be %s", field->name, wanted(field->kind)));
}

void body_unknown(struct arena *mem, struct findings *findings, struct str name,
                  const struct body_field *fields, size_t count)
{
    struct finding *f = add(mem, findings, name, "unknown_field",
                            str_printf(mem, "there is no field '%.*s'",
                                       (int)(name.len > 100 ? 100 : name.len), name.ptr));
    unsigned limit = name.len > 3 ? 2 : 1;
    const char *nearest = NULL;

    for (size_t i = 0; i < count; i++) {
        unsigned distance = str_distance(name, str_of(fields[i].name), limit);
        if (distance > limit)
            continue;
        nearest = fields[i].name;
        limit = distance;
    }
    if (nearest != NULL)
        f->hint = str_printf(mem, "did you mean '%s'?", nearest);
}

static const struct body_field *field_find(const struct body_field *fields, size_t count,
                                           struct str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(str_of(fields[i].name), name))
            return &fields[i];
    return NULL;
}

static bool is_missing(struct value body, const char *name)
{
    struct value v = value_map_get_str(body, str_of(name));

    return v.kind == VALUE_ABSENT || v.kind == VALUE_NULL;
}

bool body_read(struct arena *mem, struct str text, const struct body_field *fields, size_t count,
               struct findings *findings, struct err *err)
{
    struct value body = value_map_empty();

    for (size_t i = 0; i < count; i++)
        *fields[i].out = value_absent();
    if (text.len > 0 && !json_read(mem, text, &body, err))
        return false;
    if (body.kind != VALUE_MAP)
        return err_set(err, ERR_INVALID, "the body must be a JSON object");
    for (uint32_t i = 0; i < body.len; i++) {
        const struct value_entry *e = &body.map->entries[i];
        const struct body_field *field = field_find(fields, count, value_text(e->key));
        if (field != NULL)
            take(mem, field, e->value, findings);
        else
            body_unknown(mem, findings, value_text(e->key), fields, count);
    }
    for (size_t i = 0; i < count; i++)
        if (fields[i].is_required && is_missing(body, fields[i].name))
            (void)add(mem, findings, str_of(fields[i].name), "missing_field",
                      str_printf(mem, "%s is missing", fields[i].name));
    if (findings->count == 0)
        return true;
    return err_set(err, ERR_INVALID, "%.*s", STR_ARG(findings->items[0].message));
}
