/* mask.c - see mask.h. */
#include "value/mask.h"

#include "value/json.h"

static const struct str hidden = {.ptr = "***", .len = 3};

/* Members of executions, of rows of history and of dead letters that may hold what a user has put in. */
static const char *const shown[] = {"key",    "input",  "context", "waitingFor", "error",
                                    "result", "output", "cause",   "payload",    "note"};

void mask_add(struct arena *mem, struct mask *m, struct str name)
{
    *VEC_ADD(mem, &m->names) = name;
}

void mask_add_field(struct arena *mem, struct mask *m, struct str name)
{
    *VEC_ADD(mem, &m->fields) = name;
}

/* --- learning --- */

static bool is_number(struct value v)
{
    return v.kind == VALUE_INT || v.kind == VALUE_UINT || v.kind == VALUE_DOUBLE;
}

/* A number as JSON writes it. */
static struct str number_text(struct arena *mem, struct value v)
{
    struct buf out;
    struct err err;

    buf_init_arena(&out, mem);
    return json_write(&out, v, &err) ? buf_view(&out) : STR_NONE;
}

static void learn(struct arena *mem, struct mask *m, struct value v)
{
    struct str text = STR_NONE;

    if (v.kind == VALUE_MAP)
        for (uint32_t i = 0; i < v.len; i++)
            learn(mem, m, v.map->entries[i].value);
    else if (v.kind == VALUE_LIST)
        for (uint32_t i = 0; i < v.len; i++)
            learn(mem, m, v.items[i]);
    else if (v.kind == VALUE_STRING)
        text = value_text(v);
    else if (is_number(v))
        text = number_text(mem, v);
    if (text.len >= MASK_LEN_MIN || (v.kind == VALUE_STRING && text.len > 0))
        *VEC_ADD(mem, &m->texts) = text;
}

static void learn_members(struct arena *mem, struct mask *m, const struct mask_names *names,
                          struct value v)
{
    for (size_t i = 0; v.kind == VALUE_MAP && i < names->count; i++)
        learn(mem, m, value_map_get_str(v, names->items[i]));
}

void mask_learn(struct arena *mem, struct mask *m, struct value input)
{
    learn_members(mem, m, &m->names, input);
}

void mask_learn_answer(struct arena *mem, struct mask *m, struct value answer)
{
    learn_members(mem, m, &m->fields, answer);
}

/* --- hiding --- */

/* The longest secret that stands at this place of the text; 0 for none. */
static size_t secret_at(const struct mask *m, struct str text, size_t at)
{
    size_t longest = 0;

    for (size_t i = 0; i < m->texts.count; i++) {
        struct str secret = m->texts.items[i];
        bool is_whole = at == 0 && secret.len == text.len;
        if (secret.len > longest && secret.len <= text.len - at &&
            (secret.len >= MASK_LEN_MIN || is_whole) &&
            memcmp(text.ptr + at, secret.ptr, secret.len) == 0)
            longest = secret.len;
    }
    return longest;
}

/* --- links --- */

static bool is_link_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

/* Where the next link begins, and how long it is; -1: there is none from there on. */
static int64_t link_find(struct str text, size_t from, size_t *len)
{
    const struct str mark = STR(MASK_LINK_MARK);

    for (int64_t at; (at = str_find(text, mark, from)) >= 0; from = (size_t)at + mark.len) {
        *len = mark.len;
        while ((size_t)at + *len < text.len && is_link_char(text.ptr[(size_t)at + *len]))
            ++*len;
        if (*len >= mark.len + MASK_LINK_MIN)
            return at;
    }
    return -1;
}

size_t mask_links_in(char *text, size_t len)
{
    size_t from = 0, kept = 0, link;
    int64_t at;

    while ((at = link_find(str_from(text, len), from, &link)) >= 0) {
        memmove(text + kept, text + from, (size_t)at - from);
        kept += (size_t)at - from;
        memcpy(text + kept, hidden.ptr, hidden.len);
        kept += hidden.len;
        from = (size_t)at + link;
    }
    memmove(text + kept, text + from, len - from);
    return kept + len - from;
}

struct str mask_links(struct arena *mem, struct str text)
{
    size_t len;
    char *copy;

    if (link_find(text, 0, &len) < 0)
        return text;
    copy = arena_alloc(mem, text.len + 1);
    memcpy(copy, text.ptr, text.len);
    len = mask_links_in(copy, text.len);
    copy[len] = '\0';
    return str_from(copy, len);
}

/* --- in texts --- */

struct str mask_text(struct arena *mem, const struct mask *m, struct str text)
{
    size_t from = 0;
    struct buf out;

    text = mask_links(mem, text);

    buf_init_arena(&out, mem);
    for (size_t at = 0; at < text.len;) {
        size_t len = secret_at(m, text, at);
        if (len == 0) {
            at++;
            continue;
        }
        buf_add(&out, text.ptr + from, at - from);
        buf_str(&out, hidden);
        at += len;
        from = at;
    }
    if (out.len == 0)
        return text;
    buf_add(&out, text.ptr + from, text.len - from);
    return buf_view(&out);
}

static bool is_secret_number(struct arena *mem, const struct mask *m, struct value v)
{
    struct str text;

    if (!is_number(v))
        return false;
    text = number_text(mem, v);
    for (size_t i = 0; i < m->texts.count; i++)
        if (text.len >= MASK_LEN_MIN && str_eq(m->texts.items[i], text))
            return true;
    return false;
}

/* A key that was a secret; several such stay apart. */
static struct value mask_key(struct arena *mem, const struct mask *m, struct value key,
                             unsigned *count)
{
    struct str text = mask_text(mem, m, value_text(key));

    if (text.ptr == key.text)
        return key;
    return value_key(++*count == 1 ? text : str_printf(mem, "%.*s%u", STR_ARG(text), *count));
}

static struct value mask_map(struct arena *mem, const struct mask *m, struct value v)
{
    struct value_entry *entries = ARENA_ARRAY(mem, v.len + 1u, struct value_entry);
    unsigned keys = 0;
    size_t duplicate;

    for (uint32_t i = 0; i < v.len; i++) {
        entries[i].key = mask_key(mem, m, v.map->entries[i].key, &keys);
        entries[i].value = mask_value(mem, m, v.map->entries[i].value);
    }
    return value_map_make(mem, entries, v.len, &duplicate);
}

struct value mask_value(struct arena *mem, const struct mask *m, struct value v)
{
    struct value *items;

    if (v.kind == VALUE_STRING) {
        struct str text = mask_text(mem, m, value_text(v));
        return text.ptr == v.text ? v : value_string(text);
    }
    if (v.kind == VALUE_MAP)
        return mask_map(mem, m, v);
    if (v.kind != VALUE_LIST)
        return is_secret_number(mem, m, v) ? value_string(hidden) : v;
    items = ARENA_ARRAY(mem, v.len + 1u, struct value);
    for (uint32_t i = 0; i < v.len; i++)
        items[i] = mask_value(mem, m, v.items[i]);
    return value_list(items, v.len);
}

struct str mask_json(struct arena *mem, const struct mask *m, struct str json)
{
    struct value v;
    struct buf out;
    struct err err;

    if (mask_is_empty(m) || json.len == 0)
        return json;
    buf_init_arena(&out, mem);
    if (!json_read(mem, json, &v, &err) || !json_write(&out, mask_value(mem, m, v), &err))
        return STR("null");
    return buf_view(&out);
}

/* An input: what is sensitive is hidden whatever it is. */
static struct value mask_input(struct arena *mem, const struct mask *m, struct value input)
{
    struct value_entry *entries;
    size_t duplicate;

    if (input.kind != VALUE_MAP)
        return mask_value(mem, m, input);
    entries = ARENA_ARRAY(mem, input.len + 1u, struct value_entry);
    for (uint32_t i = 0; i < input.len; i++) {
        entries[i] = input.map->entries[i];
        entries[i].value = mask_value(mem, m, entries[i].value);
        for (size_t k = 0; k < m->names.count; k++)
            if (str_eq(value_text(entries[i].key), m->names.items[k]) &&
                entries[i].value.kind != VALUE_NULL)
                entries[i].value = value_string(hidden);
    }
    return value_map_make(mem, entries, input.len, &duplicate);
}

static struct value mask_context(struct arena *mem, const struct mask *m, struct value context)
{
    struct value_entry *entries;
    size_t duplicate;

    if (context.kind != VALUE_MAP)
        return mask_value(mem, m, context);
    entries = ARENA_ARRAY(mem, context.len + 1u, struct value_entry);
    for (uint32_t i = 0; i < context.len; i++) {
        bool is_input = str_eq(value_text(context.map->entries[i].key), STR("input"));
        entries[i] = context.map->entries[i];
        entries[i].value =
            is_input ? mask_input(mem, m, entries[i].value) : mask_value(mem, m, entries[i].value);
    }
    return value_map_make(mem, entries, context.len, &duplicate);
}

static bool is_shown(struct str name)
{
    for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
        if (str_eq(name, str_of(shown[i])))
            return true;
    return false;
}

bool mask_view(struct arena *mem, const struct mask *m, struct str json, struct buf *out,
               struct err *err)
{
    struct value view;

    if (!json_read(mem, json, &view, err))
        return false;
    if (view.kind != VALUE_MAP)
        return err_set(err, ERR_INTERNAL, "what is shown is no object");
    buf_char(out, '{');
    for (uint32_t i = 0; i < view.len; i++) {
        struct str name = value_text(view.map->entries[i].key);
        struct value v = view.map->entries[i].value;

        if (str_eq(name, STR("input")) || str_eq(name, STR("payload")))
            v = mask_input(mem, m, v);
        else if (str_eq(name, STR("context")))
            v = mask_context(mem, m, v);
        else if (is_shown(name))
            v = mask_value(mem, m, v);
        if (i > 0)
            buf_char(out, ',');
        json_write_string(out, name);
        buf_char(out, ':');
        if (!json_write(out, v, err))
            return false;
    }
    buf_char(out, '}');
    return true;
}
