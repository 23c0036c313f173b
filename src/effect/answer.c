/*
 * answer.c - the answer to a call: taken as libcurl receives it, written as JSON; see answer.h.
 */
#include "effect/answer.h"
#include "base/text/ascii.h"
#include "base/text/utf8.h"
#include "effect/secret/secret_mask.h"
#include "value/json.h"

enum {
    HEADERS_MAX = 256, /* lines of a head that are kept, and their bytes; others are left out */
    HEADERS_MAX_BYTES = 64 << 10,
};

/* --- received --- */

size_t answer_take_body(char *data, size_t size, size_t count, void *context)
{
    struct transfer *t = context;

    if (t->call->wants_status)
        return size * count;
    t->body_bytes += size * count;
    if (t->body_bytes > EFFECT_ANSWER_MAX_BYTES) {
        t->is_too_large = true;
        return 0;
    }
    buf_add(&t->body, data, size * count);
    return size * count;
}

static struct str header_name(const struct transfer *t, size_t i)
{
    const struct answer_header *h = &t->answer_headers.items[i];

    return str_slice(buf_view(&t->head), h->name_at, h->name_at + h->name_len);
}

static struct str header_value(const struct transfer *t, size_t i)
{
    const struct answer_header *h = &t->answer_headers.items[i];

    return str_slice(buf_view(&t->head), h->value_at, h->value_at + h->value_len);
}

static void keep_header(struct transfer *t, struct str name, struct str value)
{
    struct answer_header h = {.name_at = (uint32_t)t->head.len, .name_len = (uint32_t)name.len};

    for (size_t i = 0; i < name.len; i++)
        buf_char(&t->head, ascii_lower(name.ptr[i]));
    h.value_at = (uint32_t)t->head.len;
    h.value_len = (uint32_t)value.len;
    buf_str(&t->head, value);
    *VEC_ADD(&t->call->mem, &t->answer_headers) = h;
}

/* The lines of a head are kept in one buffer, which the next head of the same answer begins anew. */
static void begin_head(struct transfer *t)
{
    buf_clear(&t->head);
    t->answer_headers.count = 0;
    t->has_head = false;
}

size_t answer_take_header(char *data, size_t size, size_t count, void *context)
{
    struct transfer *t = context;
    struct str line = str_trim(str_from(data, size * count));
    int64_t colon = str_find(line, STR(":"), 0);
    struct str name, value;

    t->heads_bytes += size * count;
    if (t->heads_bytes > ANSWER_HEADS_MAX_BYTES) {
        t->is_too_large = true;
        return 0;
    }
    if (str_starts_with(line, STR("HTTP/"))) {
        begin_head(t);
        return size * count;
    }
    t->has_head = t->has_head || line.len == 0;
    if (t->call->wants_status || colon <= 0 || t->answer_headers.count == HEADERS_MAX ||
        t->head.len + line.len > HEADERS_MAX_BYTES)
        return size * count;
    name = str_slice(line, 0, (size_t)colon);
    value = str_trim(str_slice(line, (size_t)colon + 1, line.len));
    if (utf8_is_valid(line) && memchr(line.ptr, '\0', line.len) == NULL)
        keep_header(t, name, value);
    return size * count;
}

/* --- written --- */

/* Whether the type of a body says that it is JSON. */
static bool is_json_type(const char *type)
{
    return strstr(type, "/json") != NULL || strstr(type, "+json") != NULL;
}

/* Whether lists and maps stand within one another on more than so many levels. */
static bool is_deeper(struct value v, unsigned levels)
{
    if (v.kind != VALUE_LIST && v.kind != VALUE_MAP)
        return false;
    if (levels == 0)
        return true;
    for (uint32_t i = 0; i < v.len; i++)
        if (is_deeper(v.kind == VALUE_LIST ? v.items[i] : v.map->entries[i].value, levels - 1))
            return true;
    return false;
}

/*
 * The body as a JSON text: JSON as it is, anything else as a string. False: it
 * cannot be kept. It is too large or was cut, it is no text or holds one that no
 * value may hold, or its type says JSON and it is none.
 */
static bool write_body(struct transfer *t, struct buf *out)
{
    struct str body = buf_view(&t->body);
    char *type = NULL;
    struct value v;
    struct err err;

    if (body.len == 0) {
        buf_text(out, "null");
        return true;
    }
    curl_easy_getinfo(t->easy, CURLINFO_CONTENT_TYPE, &type);
    if (type == NULL || is_json_type(type)) {
        if (json_read(&t->call->mem, body, &v, &err)) {
            if (!is_deeper(v, EFFECT_ANSWER_DEPTH_MAX))
                buf_str(out, body);
            return !is_deeper(v, EFFECT_ANSWER_DEPTH_MAX);
        }
        if (type != NULL || err.code == ERR_INVALID)
            return false;
    }
    if (!utf8_is_valid(body) || memchr(body.ptr, '\0', body.len) != NULL)
        return false;
    json_write_string(out, body);
    return true;
}

void answer_forget(struct transfer *t)
{
    buf_clear(&t->body);
    begin_head(t);
    t->heads_bytes = t->body_bytes = 0;
    t->is_too_large = false;
}

/* A text of the answer without what the service has repeated of a secret. */
static struct str mask_answer(struct transfer *t, struct str text)
{
    return t->secrets != NULL ? secret_mask_text(&t->call->mem, &t->secrets->mask, text) : text;
}

static bool is_repeated(const struct transfer *t, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (str_eq(header_name(t, k), header_name(t, i)))
            return true;
    return false;
}

/* A header that comes several times is one, its values with commas between. */
static struct str join_header(struct transfer *t, size_t first, struct buf *joined)
{
    buf_clear(joined);
    buf_str(joined, header_value(t, first));
    for (size_t i = first + 1; i < t->answer_headers.count; i++)
        if (str_eq(header_name(t, i), header_name(t, first))) {
            buf_text(joined, ", ");
            buf_str(joined, header_value(t, i));
        }
    return mask_answer(t, buf_view(joined));
}

static void write_answer_headers(struct transfer *t, struct buf *out)
{
    struct buf joined;

    buf_init(&joined);
    for (size_t i = 0; i < t->answer_headers.count; i++) {
        if (is_repeated(t, i))
            continue;
        if (i > 0)
            buf_char(out, ',');
        json_write_string(out, header_name(t, i));
        buf_char(out, ':');
        json_write_string(out, join_header(t, i, &joined));
    }
    buf_fini(&joined);
}

/* The same as write_body(), without what the service has repeated of a secret. */
static bool write_masked_body(struct transfer *t, struct buf *out)
{
    struct buf json;

    if (t->secrets == NULL)
        return write_body(t, out);
    buf_init_arena(&json, &t->call->mem);
    if (!write_body(t, &json))
        return false;
    buf_str(out, secret_mask_json(&t->call->mem, &t->secrets->mask, buf_view(&json)));
    return true;
}

/* How large the body is, as far as that is known. */
static int64_t body_size(const struct transfer *t)
{
    curl_off_t said = -1;

    curl_easy_getinfo(t->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &said);
    return said > (curl_off_t)t->body_bytes ? (int64_t)said : (int64_t)t->body_bytes;
}

/* In place of a body that cannot be kept: the status decides, and what was done has been done. */
static void write_no_body(struct transfer *t, struct buf *out)
{
    char *type = NULL;
    struct str text;

    curl_easy_getinfo(t->easy, CURLINFO_CONTENT_TYPE, &type);
    text = type != NULL ? str_of(type) : STR_NONE;
    buf_text(out, "null,\"contentType\":");
    if (text.len > 0 && utf8_is_valid(text))
        json_write_string(out, mask_answer(t, text));
    else
        buf_text(out, "null");
    buf_printf(out, ",\"size\":%lld", (long long)body_size(t));
}

void answer_write(struct transfer *t, long status, bool is_whole)
{
    struct buf out;

    buf_init_arena(&out, &t->call->mem);
    buf_printf(&out, "{\"status_code\":%ld,\"headers\":{", status);
    write_answer_headers(t, &out);
    buf_text(&out, "},\"body\":");
    if (!is_whole || !write_masked_body(t, &out))
        write_no_body(t, &out);
    buf_char(&out, '}');
    t->call->answer_json = buf_view(&out);
}
