/*
 * http_receive.c - a head has come, and the body after it: what is wanted, what
 * is read and thrown away, and when the handler is called; see http_inner.h.
 */
#include "http/http_inner.h"
#include "http/percent.h"

enum {
    BODY_DEFAULT_BYTES = 1 << 20,
    DISCARDED_MAX_BYTES = 16 << 20, /* read and thrown away so that the client sees its 413 */
};

static const char too_large[] = "the body is larger than it may be";

/* Whether there is memory for so much more of its body, in its share and those before. */
static bool body_fits(const struct exchange *x, size_t len)
{
    const struct http_server *s = x->server;

    for (unsigned i = 0; i <= x->request.share; i++)
        if (s->body_bytes[i] + len > s->options.bodies_max_bytes >> (2 * i))
            return false;
    return true;
}

static void body_count(struct exchange *x, size_t len)
{
    x->counted += len;
    for (unsigned i = 0; i <= x->request.share; i++)
        x->server->body_bytes[i] += len;
}

void exchange_uncount_body(struct exchange *x)
{
    for (unsigned i = 0; i <= x->request.share; i++)
        x->server->body_bytes[i] -= x->counted;
    x->counted = 0;
}

static void exchange_refuse(struct exchange *x, enum err_code code, const char *why)
{
    x->request.refusal = code;
    x->request.why = why;
    x->request.body = STR_NONE;
    exchange_uncount_body(x);
    buf_fini(&x->body);
    buf_init(&x->body);
}

void exchange_refuse_head(struct connection *c, const char *text, const struct http_head *head)
{
    struct exchange *x = exchange_new(c);

    x->request.method = str_copy(&x->mem, http_span_str(text, head->method));
    x->request.path = str_copy(&x->mem, http_span_str(text, head->path));
    x->is_1_0 = head->is_1_0;
    exchange_refuse(x, head->refusal, head->why);
    exchange_handle_early(x);
}

/* The query is stored and compared: it is text, whatever part of it is decoded. */
static bool query_is_text(struct exchange *x)
{
    struct arena_mark mark = arena_mark(&x->mem);
    struct str text;
    bool is_text = percent_decode(&x->mem, x->query, &text);

    arena_release(&x->mem, mark);
    return is_text;
}

static void copy_head(struct exchange *x, const char *text, const struct http_head *head)
{
    struct http_field *fields = ARENA_ARRAY(&x->mem, head->field_count, struct http_field);

    x->head = arena_copy(&x->mem, text, head->bytes);
    memcpy(fields, head->fields, head->field_count * sizeof(*fields));
    x->fields = fields;
    x->field_count = head->field_count;
    x->request.method = http_span_str(x->head, head->method);
    x->request.path = http_span_str(x->head, head->path);
    x->query = http_span_str(x->head, head->query);
    x->is_1_0 = head->is_1_0;
    x->is_last = !head->keeps_alive;
    x->is_chunked = head->is_chunked;
    x->left_bytes = head->body_bytes;
}

static void ask_for_body(struct connection *c)
{
    struct str pieces[2] = {STR("HTTP/1.1 100 Continue\r\n\r\n"), STR_NONE};

    /* With its socket full before anything was sent a client reads nothing at all. */
    if (!connection_send(c, pieces) || pieces[0].len > 0)
        c->state = CONNECTION_OVER;
}

void exchange_begin(struct connection *c, const char *text, const struct http_head *head,
                    bool has_more)
{
    struct http_server *s = c->server;
    struct exchange *x = exchange_new(c);
    bool has_body = head->is_chunked || head->body_bytes > 0;
    bool is_admitted = true;

    copy_head(x, text, head);
    connection_wait_for(c);
    x->body_max = BODY_DEFAULT_BYTES;
    if (s->options.admit != NULL)
        is_admitted = s->options.admit(s->options.context, &x->request, &x->body_max);
    if (x->query.len > 0 && !query_is_text(x))
        exchange_refuse(x, ERR_BAD_REQUEST, "the query is not UTF-8, or holds U+0000");
    if (!has_body) {
        exchange_handle(x);
        return;
    }
    if (is_admitted && head->body_bytes > x->body_max && x->request.refusal == ERR_NONE)
        exchange_refuse(x, ERR_TOO_LARGE, too_large);
    if (!is_admitted || head->body_bytes > DISCARDED_MAX_BYTES ||
        (x->request.refusal != ERR_NONE && head->expects_continue)) {
        exchange_handle_early(x);
        return;
    }
    c->state = CONNECTION_BODY;
    if (head->expects_continue && !has_more)
        ask_for_body(c);
}

/* A piece of the body. False: so much of it was thrown away that the answer comes now. */
static bool take_piece(struct exchange *x, struct str data)
{
    if (x->request.refusal == ERR_NONE && data.len > x->body_max - x->counted)
        exchange_refuse(x, ERR_TOO_LARGE, too_large);
    if (x->request.refusal == ERR_NONE && !body_fits(x, data.len))
        exchange_refuse(x, ERR_OVERLOADED, "too many large requests are in flight");
    if (x->request.refusal != ERR_NONE) {
        x->discarded += data.len;
        return x->discarded <= DISCARDED_MAX_BYTES;
    }
    body_count(x, data.len);
    if (x->body.len == 0 && data.len == x->left_bytes) {
        x->request.body = str_copy(&x->mem, data);
    } else {
        buf_str(&x->body, data);
        x->request.body = buf_view(&x->body);
    }
    return true;
}

static size_t take_chunks(struct exchange *x, struct str in)
{
    size_t at = 0;

    while (at < in.len) {
        struct str data;
        size_t used;

        switch (http_chunks_read(&x->chunks, str_slice(in, at, in.len), &used, &data)) {
        case HTTP_CHUNKS_MORE:
            return in.len;
        case HTTP_CHUNKS_DATA:
            if (!take_piece(x, data)) {
                exchange_handle_early(x);
                return in.len;
            }
            break;
        case HTTP_CHUNKS_END:
            exchange_handle(x);
            return at + used;
        case HTTP_CHUNKS_BAD:
            exchange_refuse(x, ERR_BAD_REQUEST, "the chunks of the body are no chunks");
            exchange_handle_early(x);
            return in.len;
        }
        at += used;
    }
    return at;
}

size_t exchange_take_body(struct exchange *x, struct str in)
{
    size_t count;

    if (x->is_chunked)
        return take_chunks(x, in);
    count = in.len < x->left_bytes ? in.len : (size_t)x->left_bytes;
    (void)take_piece(x, str_slice(in, 0, count)); /* its length was looked at */
    x->left_bytes -= count;
    if (x->left_bytes == 0)
        exchange_handle(x);
    return count;
}
