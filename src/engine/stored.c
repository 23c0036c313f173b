/* stored.c - see stored.h. */
#include "engine/stored.h"

#include "value/number.h"
#include "value/object.h"

bool stored_broken(struct err *err, const char *what)
{
    return err_set(err, ERR_INTERNAL, "the stored execution is damaged: %s", what);
}

bool stored_read(struct arena *mem, struct str text, struct value *out, struct err *err)
{
    struct err cause;

    if (text.len == 0) {
        *out = value_map_empty();
        return true;
    }
    return json_read(mem, text, out, &cause) || stored_broken(err, cause.message);
}

bool stored_read_map(struct arena *mem, struct str text, struct value *out, struct err *err)
{
    return stored_read(mem, text, out, err) &&
           (out->kind == VALUE_MAP || stored_broken(err, "a column holds no object"));
}

static bool stored_is_text(enum stored_kind kind)
{
    return kind == STORED_TEXT || kind == STORED_JSON;
}

/* A flag is a number here. */
static int64_t stored_number(const struct stored_field *f, const void *from)
{
    const char *at = (const char *)from + f->offset;

    return f->kind == STORED_FLAG ? *(const bool *)(const void *)at
                                  : *(const int64_t *)(const void *)at;
}

static void write_field(struct buf *out, const struct stored_field *f, const void *from)
{
    const struct str *text = (const void *)((const char *)from + f->offset);
    bool is_text = stored_is_text(f->kind);
    int64_t n = is_text ? 0 : stored_number(f, from);
    char digits[NUMBER_TEXT_MAX];

    if (is_text ? text->len == 0 : n == 0 && f->kind != STORED_COUNT)
        return;
    object_name(out, f->name);
    if (!is_text)
        buf_add(out, digits, number_write_int(digits, n));
    else if (f->kind == STORED_JSON)
        buf_str(out, *text);
    else
        json_write_string(out, *text);
}

void stored_write(struct buf *out, struct stored_fields fields, const void *from)
{
    for (size_t i = 0; i < fields.count; i++)
        write_field(out, &fields.items[i], from);
}

int64_t stored_int(struct value stored, struct str name)
{
    int64_t n = value_map_int(stored, name);

    return stored_counts(n) ? n : 0;
}

void stored_restore(struct arena *mem, struct stored_fields fields, struct value stored, void *to)
{
    for (size_t i = 0; i < fields.count; i++) {
        const struct stored_field *f = &fields.items[i];
        void *at = (char *)to + f->offset;
        struct value v = value_map_member(stored, str_of(f->name));

        switch (f->kind) {
        case STORED_COUNT:
        case STORED_NUMBER:
            *(int64_t *)at = stored_int(stored, str_of(f->name));
            break;
        case STORED_FLAG:
            *(bool *)at = v.kind == VALUE_INT && v.i != 0;
            break;
        case STORED_TEXT:
            *(struct str *)at = v.kind == VALUE_STRING ? value_text(v) : STR_NONE;
            break;
        case STORED_JSON:
            *(struct str *)at = v.kind == VALUE_ABSENT ? STR_NONE : json_must_text(mem, v);
            break;
        }
    }
}

void stored_copy_texts(struct arena *mem, struct stored_fields fields, void *of)
{
    for (size_t i = 0; i < fields.count; i++) {
        struct str *text = (void *)((char *)of + fields.items[i].offset);

        if (stored_is_text(fields.items[i].kind))
            *text = text->len == 0 ? STR_NONE : str_copy(mem, *text);
    }
}
