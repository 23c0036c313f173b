/* hooks_request.c - a request to a webhook: what it says; see hooks.h. */
#include "api/executions/hooks.h"

#include "base/text/ascii.h"
#include "base/text/utf8.h"
#include "http/http_parse.h"
#include "value/json.h"

enum { PAIRS_MAX = 1000 };

struct pair_list {
    VEC_OF(struct value_entry);
};

/* --- names and values --- */

static struct value_entry *pair_find(struct pair_list *list, struct str name)
{
    for (size_t i = 0; i < list->count; i++)
        if (str_eq(value_text(list->items[i].key), name))
            return &list->items[i];
    return NULL;
}

/* A name that comes again has a list of all its values. */
static void pair_add(struct arena *mem, struct pair_list *list, struct str name, struct str text)
{
    struct value_entry *known = pair_find(list, name);
    uint32_t count = known == NULL ? 0 : known->value.kind == VALUE_LIST ? known->value.len : 1;
    struct value *items;

    if (known == NULL) {
        *VEC_ADD(mem, list) = (struct value_entry){value_key(name), value_string(text)};
        return;
    }
    items = ARENA_ARRAY(mem, count + 1u, struct value);
    for (uint32_t i = 0; i < count; i++)
        items[i] = known->value.kind == VALUE_LIST ? known->value.items[i] : known->value;
    items[count] = value_string(text);
    known->value = value_list(items, count + 1u);
}

static bool read_pairs(struct arena *mem, struct str encoded, const char *what, struct value *out,
                       struct err *err)
{
    struct pair_list list = {0};
    struct str name, text;
    enum http_pair next;
    size_t at = 0, count = 0;

    while ((next = http_pair_next(mem, encoded, &at, &name, &text)) == HTTP_PAIR_FOUND) {
        if (++count > PAIRS_MAX)
            return err_set(err, ERR_BAD_REQUEST, "the %s has more than %d fields", what, PAIRS_MAX);
        pair_add(mem, &list, name, text);
    }
    if (next == HTTP_PAIR_BROKEN)
        return err_set(err, ERR_BAD_REQUEST, "the %s is not UTF-8, or an escape in it is broken",
                       what);
    *out = value_map_take(mem, list.items, list.count);
    return true;
}

/* --- headers --- */

/* Names in small letters; those that come again are joined with commas. What is no text is left out. */
static struct value read_headers(struct arena *mem, const struct http_request *r)
{
    struct pair_list list = {0};
    struct str name, text;

    for (size_t i = 0; http_header_at(r, i, &name, &text); i++) {
        struct value_entry *known;

        name = ascii_lower_copy(mem, name);
        if (utf8_valid_prefix(text) != text.len)
            continue;
        known = pair_find(&list, name);
        if (known == NULL)
            *VEC_ADD(mem, &list) =
                (struct value_entry){value_key(name), value_string(str_copy(mem, text))};
        else
            known->value = value_string(
                str_printf(mem, "%.*s, %.*s", STR_ARG(value_text(known->value)), STR_ARG(text)));
    }
    return value_map_take(mem, list.items, list.count);
}

bool hook_is_secret(struct str name)
{
    static const char *const parts[] = {"authorization", "cookie",  "token",      "secret",
                                        "password",      "api-key", "apikey",     "api_key",
                                        "access-key",    "jwt",     "credential", "session"};

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        if (str_find(name, str_of(parts[i]), 0) >= 0)
            return true;
    return false;
}

static bool is_secret_header(struct str name, struct str auth_header)
{
    return hook_is_secret(name) || (auth_header.len > 0 && str_eq(name, auth_header));
}

struct value hook_kept(struct arena *mem, struct value webhook, struct str auth_header)
{
    struct value headers = value_map_get_str(webhook, STR("headers"));
    struct value_entry *kept = ARENA_ARRAY(mem, headers.len + 1u, struct value_entry);
    struct value_entry *all = ARENA_ARRAY(mem, webhook.len + 1u, struct value_entry);
    size_t count = 0;

    auth_header = ascii_lower_copy(mem, auth_header);
    for (uint32_t i = 0; i < headers.len; i++)
        if (!is_secret_header(value_text(headers.map->entries[i].key), auth_header))
            kept[count++] = headers.map->entries[i];
    for (uint32_t i = 0; i < webhook.len; i++) {
        all[i] = webhook.map->entries[i];
        if (str_eq(value_text(all[i].key), STR("headers")))
            all[i].value = value_map_take(mem, kept, count);
    }
    return value_map_take(mem, all, webhook.len);
}

/* --- the body --- */

/* "application/json; charset=utf-8" is application/json, in small letters. */
static struct str content_type(struct arena *mem, const struct http_request *r)
{
    struct str type = http_header(r, "Content-Type");
    int64_t end = str_find(type, STR(";"), 0);

    return ascii_lower_copy(mem, str_trim(str_slice(type, 0, end < 0 ? type.len : (size_t)end)));
}

static bool is_json(struct str type)
{
    return type.len == 0 || str_eq(type, STR("application/json")) ||
           (type.len > STR("+json").len && str_ends_with(type, STR("+json")));
}

static bool read_payload(struct arena *mem, const struct http_request *r, struct value *out,
                         struct err *err)
{
    struct str type = content_type(mem, r);

    if (r->body.len == 0) {
        *out = value_null();
        return true;
    }
    if (is_json(type)) {
        if (json_read(mem, r->body, out, err))
            return true;
        if (err->code != ERR_INVALID) /* JSON with a text that no value may hold */
            err->code = ERR_BAD_REQUEST;
        return false;
    }
    if (str_eq(type, STR("application/x-www-form-urlencoded")))
        return read_pairs(mem, r->body, "form", out, err);
    if (utf8_valid_prefix(r->body) != r->body.len || memchr(r->body.ptr, '\0', r->body.len) != NULL)
        return err_set(err, ERR_BAD_REQUEST,
                       "the body is no text; a webhook takes JSON, a form or a text");
    *out = value_string(r->body);
    return true;
}

bool hook_query(struct arena *mem, struct str query, struct value *out, struct err *err)
{
    return read_pairs(mem, query, "query", out, err);
}

bool hook_request(struct arena *mem, const struct http_request *r, struct str path,
                  struct value *out, struct err *err)
{
    struct value payload, query;

    if (!read_payload(mem, r, &payload, err) || !hook_query(mem, http_query_text(r), &query, err))
        return false;
    *out = value_map_of(mem, VALUE_ENTRIES({value_key(STR("payload")), payload},
                                           {value_key(STR("headers")), read_headers(mem, r)},
                                           {value_key(STR("query")), query},
                                           {value_key(STR("method")), value_string(r->method)},
                                           {value_key(STR("path")), value_string(path)}));
    return true;
}
