/* type.c - making, reading and writing types; see type.h. */
#include "cel/type.h"

#include "base/text/ascii.h"

static const struct type dyn = {.kind = TYPE_DYN};

/* In the order of enum type_kind, up to OPTIONAL. */
static const struct {
    const char *name;
    struct type type;
} basics[] = {
    {"dyn", {.kind = TYPE_DYN}},
    {"null", {.kind = TYPE_NULL}},
    {"bool", {.kind = TYPE_BOOL}},
    {"int", {.kind = TYPE_INT}},
    {"uint", {.kind = TYPE_UINT}},
    {"double", {.kind = TYPE_DOUBLE}},
    {"number", {.kind = TYPE_NUMBER}},
    {"string", {.kind = TYPE_STRING}},
    {"bytes", {.kind = TYPE_BYTES}},
    {"timestamp", {.kind = TYPE_TIMESTAMP}},
    {"duration", {.kind = TYPE_DURATION}},
    {"net.IP", {.kind = TYPE_IP}},
    {"net.CIDR", {.kind = TYPE_CIDR}},
    {"list", {.kind = TYPE_LIST, .count = 1, .params = {&dyn}}},
    {"map", {.kind = TYPE_MAP, .count = 2, .params = {&dyn, &dyn}}},
    {"type", {.kind = TYPE_TYPE, .count = 1, .params = {&dyn}}},
    {"optional_type", {.kind = TYPE_OPTIONAL, .count = 1, .params = {&dyn}}},
};

enum { BASIC_COUNT = ARRAY_SIZE(basics) };

const struct type *type_basic(enum type_kind kind)
{
    ASSERT((size_t)kind < BASIC_COUNT);
    return &basics[kind].type;
}

const struct type *type_with(struct arena *mem, const struct type *like,
                             const struct type *const params[TYPE_PARAMS_MAX])
{
    struct type *t = arena_alloc(mem, sizeof(*t));

    *t = *like;
    t->is_generic = false;
    for (unsigned i = 0; i < t->count; i++) {
        ASSERT(params[i] != NULL);
        t->params[i] = params[i];
        t->is_generic |= params[i]->is_generic;
    }
    return t;
}

const struct type *type_list(struct arena *mem, const struct type *item)
{
    return type_with(mem, type_basic(TYPE_LIST), (const struct type *[TYPE_PARAMS_MAX]){item});
}

const struct type *type_map(struct arena *mem, const struct type *key, const struct type *value)
{
    return type_with(mem, type_basic(TYPE_MAP), (const struct type *[TYPE_PARAMS_MAX]){key, value});
}

const struct type *type_optional(struct arena *mem, const struct type *inner)
{
    return type_with(mem, type_basic(TYPE_OPTIONAL), (const struct type *[TYPE_PARAMS_MAX]){inner});
}

const struct type *type_variable(struct arena *mem, uint32_t index)
{
    struct type *t = arena_alloc(mem, sizeof(*t));

    *t = (struct type){.kind = TYPE_VARIABLE, .index = index};
    return t;
}

const struct type *type_of_value(struct value v)
{
    /* What is not here may be anything: TYPE_DYN is 0. */
    static const uint8_t kinds[VALUE_KIND_COUNT] = {
        [VALUE_NULL] = TYPE_NULL,         [VALUE_BOOL] = TYPE_BOOL,
        [VALUE_INT] = TYPE_INT,           [VALUE_UINT] = TYPE_UINT,
        [VALUE_DOUBLE] = TYPE_DOUBLE,     [VALUE_STRING] = TYPE_STRING,
        [VALUE_BYTES] = TYPE_BYTES,       [VALUE_TIMESTAMP] = TYPE_TIMESTAMP,
        [VALUE_DURATION] = TYPE_DURATION, [VALUE_IP] = TYPE_IP,
        [VALUE_CIDR] = TYPE_CIDR,         [VALUE_TYPE] = TYPE_TYPE,
        [VALUE_LIST] = TYPE_LIST,         [VALUE_MAP] = TYPE_MAP,
        [VALUE_OPTIONAL] = TYPE_OPTIONAL,
    };

    return type_basic((enum type_kind)kinds[v.kind]);
}

/* --- reading --- */

static bool is_name_char(char c)
{
    return ascii_is_word(c) || c == '.';
}

static void type_skip(struct str *text, size_t n)
{
    *text = str_slice(*text, n, text->len);
}

static struct str take_name(struct str *text)
{
    struct str name = *text;
    size_t n = 0;

    while (n < text->len && is_name_char(text->ptr[n]))
        n++;
    name.len = n;
    type_skip(text, n);
    return name;
}

/* "A", or "$T": a parameter of a signature. */
static bool parse_param(struct arena *mem, struct str *text, const struct type **out)
{
    size_t dollar = text->len > 1 && text->ptr[0] == '$' ? 1 : 0;
    struct type *t;
    char c;

    if (text->len <= dollar)
        return false;
    c = text->ptr[dollar];
    if (c < 'A' || c > 'Z' || (text->len > dollar + 1 && is_name_char(text->ptr[dollar + 1])))
        return false;
    t = arena_alloc(mem, sizeof(*t));
    *t = (struct type){.kind = TYPE_PARAM, .is_generic = true, .index = (uint32_t)(c - 'A')};
    type_skip(text, dollar + 1);
    *out = t;
    return true;
}

/* "(a, b)" behind the name of a type. */
static bool parse_arguments(struct arena *mem, struct str *text, struct type *t, struct err *err)
{
    t->count = 0;
    do {
        type_skip(text, 1);
        *text = str_trim(*text);
        if (t->count == TYPE_PARAMS_MAX)
            return err_set(err, ERR_INVALID, "a type has at most %d parameters", TYPE_PARAMS_MAX);
        if (!type_parse(mem, text, &t->params[t->count], err))
            return false;
        t->is_generic |= t->params[t->count]->is_generic;
        t->count++;
        *text = str_trim(*text);
    } while (text->len > 0 && text->ptr[0] == ',');
    if (text->len == 0 || text->ptr[0] != ')')
        return err_set(err, ERR_INVALID, "a type lacks ')'");
    type_skip(text, 1);
    return true;
}

bool type_parse(struct arena *mem, struct str *text, const struct type **out, struct err *err)
{
    struct type t = {.kind = TYPE_OPAQUE};
    const struct type *known = NULL;
    struct type *made;

    *text = str_trim(*text);
    if (parse_param(mem, text, out))
        return true;
    t.name = take_name(text);
    if (str_eq(t.name, STR("optional")))
        t.name = STR("optional_type");
    for (unsigned i = 0; i < BASIC_COUNT; i++)
        if (str_eq(t.name, str_of(basics[i].name)))
            known = &basics[i].type;
    if (text->len == 0 || text->ptr[0] != '(') {
        if (known == NULL)
            return err_set(err, ERR_INVALID, "'%.*s' is not a type", STR_ARG(t.name));
        *out = known;
        return true;
    }
    if (known != NULL)
        t.kind = known->kind;
    if (!parse_arguments(mem, text, &t, err))
        return false;
    if (known != NULL && known->count != t.count)
        return err_set(err, ERR_INVALID, "'%.*s' has %d parameters", STR_ARG(t.name), known->count);
    if (t.kind == TYPE_OPAQUE)
        t.name = str_copy(mem, t.name);
    made = arena_alloc(mem, sizeof(*made));
    *made = t;
    *out = made;
    return true;
}

/* --- writing --- */

void type_write(struct buf *out, const struct type *t)
{
    bool bare = t->kind == TYPE_TYPE && t->params[0]->kind == TYPE_DYN;

    if (t->kind == TYPE_PARAM || t->kind == TYPE_VARIABLE) {
        buf_text(out, "dyn");
        return;
    }
    if (t->kind == TYPE_OPAQUE)
        buf_str(out, t->name);
    else
        buf_text(out, basics[t->kind].name);
    for (unsigned i = 0; i < t->count && !bare; i++) {
        buf_text(out, i == 0 ? "(" : ", ");
        type_write(out, t->params[i]);
    }
    if (t->count > 0 && !bare)
        buf_char(out, ')');
}
