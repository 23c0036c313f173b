/* fix.c - what mends a finding, where that is plain: struct finding_fix. */
#include "base/text/ascii.h"
#include "base/text/utf8.h"
#include "define/compile/compile.h"
#include "value/json.h"

enum fix_kind { FIX_NONE, FIX_VALUE, FIX_NAME };

/* What findings.def says of the code of the last finding. */
static enum fix_kind last_fix_kind(const struct compiler *c)
{
    static const struct {
        const char *code;
        enum fix_kind kind;
    } kinds[] = {
#define FINDING(symbol, code, fix) {code, FIX_##fix},
#include "define/catalog/findings.def"
#undef FINDING
    };

    if (c->findings->count == 0)
        return FIX_NONE;
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (str_eq(c->findings->items[c->findings->count - 1].code, str_of(kinds[i].code)))
            return kinds[i].kind;
    return FIX_NONE;
}

/* A value that an answer may hold. */
static bool is_small(struct compiler *c, struct value v)
{
    struct buf out;
    struct err err;

    buf_init_arena(&out, c->mem);
    out.limit = FIX_MAX_BYTES;
    return json_write(&out, v, &err);
}

static void set_fix(struct compiler *c, struct finding_fix fix)
{
    if (is_small(c, fix.value))
        c->findings->items[c->findings->count - 1].fix = fix;
}

void compile_fix_value(struct compiler *c, struct value v)
{
    struct str text = v.kind == VALUE_STRING ? value_text(v) : json_must_text(c->mem, v);

    if (last_fix_kind(c) == FIX_VALUE)
        set_fix(c, (struct finding_fix){
                       .value = v,
                       .label = v.kind == VALUE_STRING
                                    ? sentence_make(c->mem, "write \"%.*s\"", STR_ARG(text))
                                    : sentence_make(c->mem, "write %.*s", STR_ARG(text))});
}

void compile_fix_text(struct compiler *c, struct str text)
{
    compile_fix_value(c, value_string(text));
}

/* The object with a field of another name, all in their places. */
static struct value with_name(struct compiler *c, struct value object, struct str name,
                              struct str meant)
{
    struct value_entry *entries = ARENA_ARRAY(c->mem, object.len, struct value_entry);

    for (uint32_t i = 0; i < object.len; i++) {
        entries[i] = object.map->entries[i];
        if (str_eq(value_text(entries[i].key), name))
            entries[i].key = value_key(meant);
    }
    return value_map_take(c->mem, entries, object.len);
}

void compile_did_you_mean_field(struct compiler *c, struct value object, struct str name,
                                struct str nearest)
{
    compile_hint(c, "did you mean '%.*s'?", STR_ARG(nearest));
    if (last_fix_kind(c) != FIX_NAME || value_map_get_str(object, nearest).kind != VALUE_ABSENT ||
        !is_small(c, object))
        return;
    set_fix(c, (struct finding_fix){.value = with_name(c, object, name, nearest),
                                    .is_around = true,
                                    .label =
                                        sentence_make(c->mem, "call it '%.*s'", STR_ARG(nearest))});
}

/* --- in an expression --- */

/* What the hint of an error takes a word for, or empty. */
static struct str meant_word(const struct err *err)
{
    struct sentence hint = sentence_hint(err_sentence(err));

    if (hint.part_count < 2 || strcmp(hint.parts[0].format, "did you mean '%.*s'?") != 0)
        return STR_NONE;
    return sentence_at(hint, 1).text;
}

/* "input.amout" -> "amout" */
static struct str behind_last_dot(struct str name)
{
    size_t at = name.len;

    while (at > 0 && name.ptr[at - 1] != '.')
        at--;
    return str_slice(name, at, name.len);
}

static size_t error_offset(struct str source, const struct err *err)
{
    size_t at = 0;

    for (uint32_t line = err->line; line > 1 && at < source.len; at++)
        line -= source.ptr[at] == '\n';
    for (uint32_t column = err->column; column > 1 && at < source.len; column--)
        for (at++; at < source.len && ((unsigned char)source.ptr[at] & 0xC0) == 0x80; at++)
            ;
    return at;
}

/* Where a whole word stands first at or behind `at`; -1: nowhere. */
static int64_t find_word(struct str source, struct str word, size_t at)
{
    for (int64_t found = str_find(source, word, at); found >= 0;
         found = str_find(source, word, (size_t)found + 1)) {
        size_t end = (size_t)found + word.len;

        if ((found == 0 || !ascii_is_word(source.ptr[found - 1])) &&
            (end == source.len || !ascii_is_word(source.ptr[end])))
            return found;
    }
    return -1;
}

void compile_fix_expression(struct compiler *c, struct str source, const struct err *err)
{
    struct str name = err_name(err, (enum err_about)err->about), meant = meant_word(err);
    struct str wrong = behind_last_dot(name);
    size_t from = error_offset(source, err);
    int64_t found;

    if (wrong.len == 0 || meant.len == 0)
        return;
    /* The column may be that of the dot, or of the beginning of the whole name. */
    found = find_word(source, wrong, from);
    if (found < 0 || (size_t)found > from + name.len + 1)
        return;
    meant = str_find(name, STR("."), 0) >= 0 ? behind_last_dot(meant) : meant;
    compile_fix_text(c,
                     str_printf(c->mem, "%.*s%.*s%.*s", (int)found, source.ptr, STR_ARG(meant),
                                STR_ARG(str_slice(source, (size_t)found + wrong.len, source.len))));
}
