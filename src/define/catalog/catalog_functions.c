/* catalog_functions.c - the functions of expressions in the catalog; see catalog_json.h. */
#include "define/catalog/catalog_json.h"
#include "value/object.h"

/* One overload: cel/functions.def. */
struct overload_row {
    const char *name, *signature;
    bool is_member;
};

#define GLOBAL false
#define MEMBER true
static const struct overload_row overloads[] = {
#define FN(symbol, fn_name, fn_style, fn_signature, modes)                                         \
    {.name = (fn_name), .signature = (fn_signature), .is_member = (fn_style)},
#include "cel/functions.def"
#undef FN
};
#undef MEMBER
#undef GLOBAL

static const struct function_text {
    const char *name, *group, *signature; /* of a macro; else NULL */
    struct text help;
    const char *example, *result;
} texts[] = {
#define TEXT(en, ru)                                                                               \
    {                                                                                              \
        {                                                                                          \
            (en), (ru)                                                                             \
        }                                                                                          \
    }
#define MACRO_TEXT(fn_name, fn_group, fn_signature, fn_help, fn_example, fn_result)                \
    {.name = (fn_name),                                                                            \
     .group = (fn_group),                                                                          \
     .signature = (fn_signature),                                                                  \
     .help = fn_help,                                                                              \
     .example = (fn_example),                                                                      \
     .result = (fn_result)},
#define FUNCTION_TEXT(fn_name, fn_group, fn_help, fn_example, fn_result)                           \
    {.name = (fn_name),                                                                            \
     .group = (fn_group),                                                                          \
     .help = fn_help,                                                                              \
     .example = (fn_example),                                                                      \
     .result = (fn_result)},
#include "define/catalog/function_texts.def"
#undef FUNCTION_TEXT
#undef MACRO_TEXT
#undef TEXT
};

/* The receiver ends at the first comma that stands in no parentheses. */
static size_t receiver_length(struct str params)
{
    size_t end = 0;

    for (int depth = 0; end < params.len && (params.ptr[end] != ',' || depth > 0); end++)
        depth += (params.ptr[end] == '(') - (params.ptr[end] == ')');
    return end;
}

/* "string, int -> string" of `substring` becomes "string.substring(int) -> string". */
static void write_signature(struct buf *out, const struct overload_row *o)
{
    struct str signature = str_of(o->signature);
    size_t arrow = (size_t)str_find(signature, STR(" -> "), 0);
    struct str params = str_slice(signature, 0, arrow);
    struct str result = str_slice(signature, arrow, signature.len);
    size_t end;

    object_next(out);
    buf_char(out, '"');
    if (o->is_member) {
        end = receiver_length(params);
        buf_str(out, str_slice(params, 0, end));
        buf_char(out, '.');
        params = str_trim(str_slice(params, end < params.len ? end + 1 : end, params.len));
    }
    buf_printf(out, "%s(%.*s)%.*s\"", o->name, STR_ARG(params), STR_ARG(result));
}

static void write_function(struct buf *out, const struct function_text *t, enum language language)
{
    object_item(out);
    object_text(out, "name", str_of(t->name));
    object_text(out, "group", str_of(t->group));
    object_bool(out, "isMacro", t->signature != NULL);
    object_list(out, "signatures");
    if (t->signature != NULL)
        buf_printf(out, "\"%s\"", t->signature);
    for (size_t i = 0; i < ARRAY_SIZE(overloads); i++)
        if (t->signature == NULL && str_eq(str_of(overloads[i].name), str_of(t->name)))
            write_signature(out, &overloads[i]);
    buf_char(out, ']');
    object_text(out, "help", str_of(t->help.in[language]));
    object_text(out, "example", str_of(t->example));
    object_json(out, "result", str_of(t->result));
    buf_char(out, '}');
}

void catalog_write_functions(struct buf *out, enum language language)
{
    object_list(out, "functions");
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        write_function(out, &texts[i], language);
    buf_char(out, ']');
}
