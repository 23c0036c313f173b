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

void mask_hide_all(struct mask *m)
{
    m->hides_all = true;
}

/* --- learning --- */

/* What to look for within texts: secrets that say enough. */
static struct pattern_set *mask_parts(struct arena *mem, const struct mask *m)
{
    struct str *parts = ARENA_ARRAY(mem, m->texts.count + 1, struct str);
    size_t count = 0;

    for (size_t i = 0; i < m->texts.count; i++)
        if (m->texts.items[i].len >= MASK_LEN_MIN)
            parts[count++] = m->texts.items[i];
    return pattern_set_new(mem, parts, count);
}

static bool mask_is_number(struct value v)
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

/* A text within JSON, as another text may hold it. */
static struct str escaped_text(struct arena *mem, struct str text)
{
    struct buf out;

    buf_init_arena(&out, mem);
    json_write_string(&out, text);
    return str_slice(buf_view(&out), 1, out.len - 1);
}

void mask_add_secret(struct arena *mem, struct mask *m, struct str secret)
{
    if (secret.len == 0 || m->hides_all || map_find(&m->whole, secret) != NULL)
        return;
    m->bytes += secret.len;
    if (m->texts.count >= MASK_SECRETS_MAX || m->bytes > MASK_BYTES_MAX) {
        mask_hide_all(m);
        return;
    }
    if (m->texts.count == 0)
        map_init(&m->whole, mem);
    secret = str_copy(mem, secret);
    m->whole.mem = mem; /* the arena may have moved with its owner */
    (void)map_add(&m->whole, secret, NULL);
    *VEC_ADD(mem, &m->texts) = secret;
    m->parts = NULL;
}

void mask_seal(struct arena *mem, struct mask *m)
{
    if (m->texts.count > 0)
        m->parts = mask_parts(mem, m);
}

static void learn_text(struct arena *mem, struct mask *m, struct str text)
{
    struct str escaped = escaped_text(mem, text);

    mask_add_secret(mem, m, text);
    if (escaped.len > text.len)
        mask_add_secret(mem, m, escaped);
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
    else if (mask_is_number(v))
        text = number_text(mem, v);
    if (text.len >= MASK_LEN_MIN || (v.kind == VALUE_STRING && text.len > 0))
        learn_text(mem, m, text);
}

/* What a name leads to; one with dots leads into objects, and into each item of lists. */
static void learn_named(struct arena *mem, struct mask *m, struct str name, struct value v)
{
    int64_t dot = str_find(name, STR("."), 0);

    if (v.kind == VALUE_LIST) {
        for (uint32_t i = 0; i < v.len; i++)
            learn_named(mem, m, name, v.items[i]);
    } else if (v.kind == VALUE_MAP && dot < 0) {
        learn(mem, m, value_map_get_str(v, name));
    } else if (v.kind == VALUE_MAP) {
        learn_named(mem, m, str_slice(name, (size_t)dot + 1, name.len),
                    value_map_get_str(v, str_slice(name, 0, (size_t)dot)));
    } else {
        /* It is not of the shape that was declared: it is taken for sensitive. */
        learn(mem, m, v);
    }
}

static void learn_members(struct arena *mem, struct mask *m, const struct mask_names *names,
                          struct value v)
{
    for (size_t i = 0; v.kind == VALUE_MAP && i < names->count; i++)
        learn_named(mem, m, names->items[i], v);
}

void mask_learn(struct arena *mem, struct mask *m, struct value input)
{
    learn_members(mem, m, &m->names, input);
}

void mask_learn_answer(struct arena *mem, struct mask *m, struct value answer)
{
    learn_members(mem, m, &m->fields, answer);
}

/* --- in texts --- */

/* One value that is being masked. */
struct masking {
    struct arena *mem;
    const struct mask *m;
    struct pattern_set *parts;
    bool is_in_text; /* it was read from a text: texts in it are not read again */
};

static struct value hide_value(const struct masking *h, struct value v);

static struct masking masking_begin(struct arena *mem, const struct mask *m)
{
    struct masking h = {.mem = mem, .m = m, .parts = m->parts};

    if (h.parts == NULL && m->texts.count > 0)
        h.parts = mask_parts(mem, m);
    return h;
}

static struct str hide_parts(const struct masking *h, struct str text)
{
    if (map_find(&h->m->whole, text) != NULL)
        return hidden;
    return pattern_set_replace(h->mem, h->parts, text, hidden);
}

/* Whether a text is a list or a map: *masked is its JSON without secrets, *is_same that it had none. */
static bool mask_structure(const struct masking *h, struct str text, struct str *masked,
                           bool *is_same)
{
    struct masking inner = *h;
    struct buf before, after;
    struct value v;
    struct err err;

    if (text.len == 0 || (text.ptr[0] != '{' && text.ptr[0] != '[') ||
        !json_read(h->mem, text, &v, &err))
        return false;
    inner.is_in_text = true;
    buf_init_arena(&before, h->mem);
    buf_init_arena(&after, h->mem);
    mask_write(&before, v);
    mask_write(&after, hide_value(&inner, v));
    *masked = buf_view(&after);
    *is_same = str_eq(buf_view(&before), *masked);
    return true;
}

/*
 * A list or a map that was made a text, as the message of a log may be, is
 * masked as what it is too: that finds short texts, and numbers. It stays as it
 * is written where hiding what the text holds was enough.
 */
static struct str hide_text(const struct masking *h, struct str text)
{
    struct str plain, masked, ignored;
    bool is_same;

    if (h->m->hides_all && text.len > 0)
        return hidden;
    text = mask_links(h->mem, text);
    if (h->m->texts.count == 0)
        return text;
    plain = hide_parts(h, text);
    if (h->is_in_text || !mask_structure(h, text, &masked, &is_same) || is_same ||
        (mask_structure(h, plain, &ignored, &is_same) && is_same))
        return plain;
    return hide_parts(h, masked);
}

struct str mask_text(struct arena *mem, const struct mask *m, struct str text)
{
    const struct masking h = masking_begin(mem, m);

    return hide_text(&h, text);
}

static bool is_secret_number(struct arena *mem, const struct mask *m, struct value v)
{
    struct str text;

    if (!mask_is_number(v) || m->hides_all)
        return mask_is_number(v);
    text = number_text(mem, v);
    return text.len >= MASK_LEN_MIN && map_find(&m->whole, text) != NULL;
}

/* Keys of one map: those that stay as they are, then those that stand for secrets. */
struct mask_keys {
    struct map taken;
    unsigned count; /* of names that were tried for secrets */
};

/* The key of a number or a boolean as JSON writes it. */
static struct str mask_key_text(struct arena *mem, struct value key)
{
    return key.kind == VALUE_STRING ? value_text(key) : number_text(mem, key);
}

/* A name for a key that was a secret, which no other key of the map has. */
static struct value mask_key(struct arena *mem, struct mask_keys *keys, struct str text)
{
    struct str name = text;
    bool is_new = false;

    while (!is_new) {
        if (++keys->count > 1)
            name = str_printf(mem, "%.*s%u", STR_ARG(text), keys->count);
        (void)map_add(&keys->taken, name, &is_new);
    }
    return value_key(name);
}

static bool mask_is_name(const struct mask *m, struct str text)
{
    for (size_t i = 0; i < m->names.count; i++)
        if (str_eq(m->names.items[i], text))
            return true;
    return false;
}

/* Whether something within what is called `text` is sensitive. */
static bool has_name_within(const struct mask *m, struct str text)
{
    for (size_t i = 0; i < m->names.count; i++)
        if (m->names.items[i].len > text.len && m->names.items[i].ptr[text.len] == '.' &&
            str_starts_with(m->names.items[i], text))
            return true;
    return false;
}

/* Names of sensitive members are known to all, also of those within others. */
static bool mask_is_known(const struct mask *m, struct str key)
{
    for (size_t i = 0; i < m->names.count; i++) {
        struct str name = m->names.items[i];

        if (str_ends_with(name, key) &&
            (name.len == key.len || name.ptr[name.len - key.len - 1] == '.'))
            return true;
    }
    return false;
}

/* Replace keys that hold secrets. */
static void mask_keys(const struct masking *h, struct value_entry *entries, uint32_t count)
{
    struct arena *mem = h->mem;
    struct str *texts = ARENA_ARRAY(mem, count + 1u, struct str);
    struct mask_keys keys = {0};
    bool is_any = false;

    for (uint32_t i = 0; i < count; i++) {
        struct str text = mask_key_text(mem, entries[i].key), masked = hide_text(h, text);

        texts[i] = masked.ptr == text.ptr || mask_is_known(h->m, text) ? STR_NONE : masked;
        is_any |= texts[i].len > 0;
    }
    if (!is_any)
        return;
    map_init(&keys.taken, mem);
    for (uint32_t i = 0; i < count; i++)
        if (texts[i].len == 0)
            (void)map_add(&keys.taken, mask_key_text(mem, entries[i].key), NULL);
    for (uint32_t i = 0; i < count; i++)
        if (texts[i].len > 0)
            entries[i].key = mask_key(mem, &keys, texts[i]);
}

/* A map of entries that are masked; one that cannot be made is hidden whole. */
static struct value masked_map(struct arena *mem, struct value_entry *entries, uint32_t count)
{
    size_t duplicate;
    struct value v = value_map_make(mem, entries, count, &duplicate);

    return v.kind == VALUE_MAP ? v : value_string(hidden);
}

static struct value hide_map(const struct masking *h, struct value v)
{
    struct value_entry *entries = ARENA_ARRAY(h->mem, v.len + 1u, struct value_entry);

    for (uint32_t i = 0; i < v.len; i++)
        entries[i] =
            (struct value_entry){v.map->entries[i].key, hide_value(h, v.map->entries[i].value)};
    mask_keys(h, entries, v.len);
    return masked_map(h->mem, entries, v.len);
}

static struct value hide_value(const struct masking *h, struct value v)
{
    struct value *items;

    if (v.kind == VALUE_STRING) {
        struct str text = hide_text(h, value_text(v));
        return text.ptr == v.text ? v : value_string(text);
    }
    if (h->m->hides_all && (v.kind == VALUE_MAP || v.kind == VALUE_LIST) && v.len > 0)
        return value_string(hidden);
    if (v.kind == VALUE_MAP)
        return hide_map(h, v);
    if (v.kind != VALUE_LIST)
        return is_secret_number(h->mem, h->m, v) ? value_string(hidden) : v;
    items = ARENA_ARRAY(h->mem, v.len + 1u, struct value);
    for (uint32_t i = 0; i < v.len; i++)
        items[i] = hide_value(h, v.items[i]);
    return value_list(items, v.len);
}

struct value mask_value(struct arena *mem, const struct mask *m, struct value v)
{
    const struct masking h = masking_begin(mem, m);

    return hide_value(&h, v);
}

void mask_write(struct buf *out, struct value v)
{
    struct err err;

    if (!json_write(out, v, &err))
        json_write_string(out, hidden);
}

struct str mask_json(struct arena *mem, const struct mask *m, struct str json)
{
    struct value v;
    struct buf out;
    struct err err;

    if (mask_is_empty(m) || json.len == 0)
        return mask_links(mem, json);
    buf_init_arena(&out, mem);
    mask_write(&out, json_read(mem, json, &v, &err) ? mask_value(mem, m, v) : value_string(hidden));
    return buf_view(&out);
}

static struct value hide_named(const struct masking *h, struct str around, struct value v);

/* A member of an input, or of an object in it, which is called `name`. */
static struct value hide_member(const struct masking *h, struct str name, struct value v)
{
    if (v.kind == VALUE_NULL)
        return v;
    if (mask_is_name(h->m, name))
        return value_string(hidden);
    return has_name_within(h->m, name) ? hide_named(h, name, v) : hide_value(h, v);
}

/* An object, or a list of them, in which some members are sensitive; `around`: what it is called. */
static struct value hide_named(const struct masking *h, struct str around, struct value v)
{
    struct value_entry *entries;
    struct value *items;

    if (v.kind == VALUE_LIST && !h->m->hides_all) {
        items = ARENA_ARRAY(h->mem, v.len + 1u, struct value);
        for (uint32_t i = 0; i < v.len; i++)
            items[i] = hide_named(h, around, v.items[i]);
        return value_list(items, v.len);
    }
    if (v.kind != VALUE_MAP || (h->m->hides_all && around.len > 0))
        return hide_value(h, v);
    entries = ARENA_ARRAY(h->mem, v.len + 1u, struct value_entry);
    for (uint32_t i = 0; i < v.len; i++) {
        struct str key = value_text(v.map->entries[i].key);

        entries[i] = v.map->entries[i];
        entries[i].value = hide_member(
            h,
            around.len == 0 ? key : str_printf(h->mem, "%.*s.%.*s", STR_ARG(around), STR_ARG(key)),
            entries[i].value);
    }
    mask_keys(h, entries, v.len);
    return masked_map(h->mem, entries, v.len);
}

/* An input: what is sensitive is hidden whatever it is. */
static struct value mask_input(const struct masking *h, struct value input)
{
    return input.kind == VALUE_MAP ? hide_named(h, STR_NONE, input) : hide_value(h, input);
}

static struct value mask_context(const struct masking *h, struct value context)
{
    struct value_entry *entries;

    if (context.kind != VALUE_MAP)
        return hide_value(h, context);
    entries = ARENA_ARRAY(h->mem, context.len + 1u, struct value_entry);
    for (uint32_t i = 0; i < context.len; i++) {
        bool is_input = str_eq(value_text(context.map->entries[i].key), STR("input"));
        entries[i] = context.map->entries[i];
        entries[i].value =
            is_input ? mask_input(h, entries[i].value) : hide_value(h, entries[i].value);
    }
    return masked_map(h->mem, entries, context.len);
}

static bool is_shown(struct str name)
{
    for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
        if (str_eq(name, str_of(shown[i])))
            return true;
    return false;
}

/* --- views --- */

/* Behind the string that begins at `at`; the end of the text when it does not end. */
static size_t view_string_end(struct str json, size_t at)
{
    for (at++; at < json.len && json.ptr[at] != '"'; at++)
        if (json.ptr[at] == '\\')
            at++;
    return at < json.len ? at + 1 : json.len;
}

/* Where the value that begins at `at` ends: before a comma or a bracket that is not its own. */
static size_t view_value_end(struct str json, size_t at)
{
    size_t depth = 0;

    while (at < json.len) {
        char c = json.ptr[at];

        if (depth == 0 && (c == ',' || c == '}' || c == ']'))
            break;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        at = c == '"' ? view_string_end(json, at) : at + 1;
    }
    return at;
}

static struct value mask_member(const struct masking *h, struct str name, struct value v)
{
    if (str_eq(name, STR("input")) || str_eq(name, STR("payload")))
        return mask_input(h, v);
    if (str_eq(name, STR("context")))
        return mask_context(h, v);
    return is_shown(name) ? hide_value(h, v) : v;
}

/* The member of a view that stands at *at, "name":value, which is moved behind it. */
static bool view_next(struct str json, size_t *at, struct str *name, struct str *text)
{
    size_t begin = *at + (*at > 1 && *at < json.len && json.ptr[*at] == ','), name_end, end;

    if (begin >= json.len || json.ptr[begin] != '"')
        return false;
    name_end = view_string_end(json, begin);
    end = view_value_end(json, name_end + 1);
    *name = str_slice(json, begin, name_end);
    *text = name_end + 1 < end ? str_slice(json, name_end + 1, end) : STR_NONE;
    *at = end;
    return true;
}

/*
 * Append one member. Members are read one by one: a view is nested deeper than
 * what it shows, which may be as deep as JSON allows.
 */
static void view_add(const struct masking *h, struct str name_json, struct str json,
                     struct buf *out)
{
    struct value name, v;
    struct err err;

    if (!json_read(h->mem, name_json, &name, &err) || name.kind != VALUE_STRING)
        name = value_string(hidden);
    v = json_read(h->mem, json, &v, &err) ? mask_member(h, value_text(name), v)
                                          : value_string(hidden);
    if (out->ptr[out->len - 1] != '{')
        buf_char(out, ',');
    json_write_string(out, value_text(name));
    buf_char(out, ':');
    mask_write(out, v);
}

void mask_view(struct arena *mem, const struct mask *m, struct str json, struct buf *out)
{
    const struct masking h = masking_begin(mem, m);
    struct str name, text;
    size_t at = 1;

    buf_char(out, '{');
    while (str_starts_with(json, STR("{")) && view_next(json, &at, &name, &text))
        view_add(&h, name, text, out);
    buf_char(out, '}');
}

struct str mask_view_text(struct arena *mem, const struct mask *m, struct str json)
{
    struct buf out;

    if (mask_is_empty(m))
        return mask_links(mem, json);
    buf_init_arena(&out, mem);
    mask_view(mem, m, json, &out);
    return buf_view(&out);
}

struct str mask_view_member(struct str view, struct str name)
{
    struct str found, text;
    size_t at = 1;

    while (view_next(view, &at, &found, &text))
        if (found.len == name.len + 2 && str_eq(str_slice(found, 1, found.len - 1), name))
            return text;
    return STR("null");
}
