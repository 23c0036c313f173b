/* http_chunk.c - bodies that come in chunks; see http_parse.h. */
#include "base/text/hex.h"
#include "http/http_parse.h"

enum {
    DROPPED_MAX_BYTES = 8 << 10, /* of extensions and trailers, which nobody reads */
    SIZE_DIGITS_MAX = 15,        /* do not overflow */
};

static bool size_ends(struct http_chunks *c, char ch)
{
    if (c->digits == 0)
        return false;
    if (ch == '\r')
        c->state = HTTP_CHUNK_SIZE_END;
    else if (ch == ';' || ch == ' ' || ch == '\t')
        c->state = HTTP_CHUNK_EXTENSION;
    else
        return false;
    return true;
}

static bool read_size(struct http_chunks *c, char ch)
{
    int digit = hex_digit(ch);

    if (digit < 0)
        return size_ends(c, ch);
    if (c->digits == SIZE_DIGITS_MAX)
        return false;
    c->digits++;
    c->left_bytes = c->left_bytes << 4 | (uint64_t)digit;
    return true;
}

/* A byte of an extension or a trailer, up to the CR that ends its line. */
static bool drop(struct http_chunks *c, char ch, enum http_chunk_state after_cr)
{
    if (ch == '\r') {
        c->state = after_cr;
        return true;
    }
    return ++c->dropped <= DROPPED_MAX_BYTES && ch != '\n' && ch != '\0';
}

static bool expect(struct http_chunks *c, char ch, char wanted, enum http_chunk_state next)
{
    c->state = next;
    return ch == wanted;
}

static bool read_trailer(struct http_chunks *c, char ch)
{
    if (ch == '\r') {
        c->state = HTTP_CHUNK_LAST_LF;
        return true;
    }
    c->state = HTTP_CHUNK_TRAILER_LINE;
    return drop(c, ch, HTTP_CHUNK_TRAILER_LF);
}

static bool read_byte(struct http_chunks *c, char ch)
{
    switch (c->state) {
    case HTTP_CHUNK_SIZE:
        return read_size(c, ch);
    case HTTP_CHUNK_EXTENSION:
        return drop(c, ch, HTTP_CHUNK_SIZE_END);
    case HTTP_CHUNK_SIZE_END:
        return expect(c, ch, '\n', c->left_bytes > 0 ? HTTP_CHUNK_DATA : HTTP_CHUNK_TRAILER);
    case HTTP_CHUNK_DATA_CR:
        return expect(c, ch, '\r', HTTP_CHUNK_DATA_LF);
    case HTTP_CHUNK_DATA_LF:
        c->digits = 0;
        return expect(c, ch, '\n', HTTP_CHUNK_SIZE);
    case HTTP_CHUNK_TRAILER:
        return read_trailer(c, ch);
    case HTTP_CHUNK_TRAILER_LINE:
        return drop(c, ch, HTTP_CHUNK_TRAILER_LF);
    case HTTP_CHUNK_TRAILER_LF:
        return expect(c, ch, '\n', HTTP_CHUNK_TRAILER);
    case HTTP_CHUNK_LAST_LF:
        return ch == '\n';
    case HTTP_CHUNK_DATA:
        break;
    }
    PANIC("data is not read by bytes");
}

enum http_chunk_result http_chunks_read(struct http_chunks *c, struct str in, size_t *used,
                                        struct str *data)
{
    *data = STR_NONE;
    for (*used = 0; *used < in.len;) {
        bool is_last = c->state == HTTP_CHUNK_LAST_LF;

        if (c->state == HTTP_CHUNK_DATA) {
            size_t count = in.len - *used;
            if (count >= c->left_bytes) {
                count = (size_t)c->left_bytes;
                c->state = HTTP_CHUNK_DATA_CR;
            }
            *data = str_from(in.ptr + *used, count);
            c->left_bytes -= count;
            *used += count;
            return HTTP_CHUNKS_DATA;
        }
        if (!read_byte(c, in.ptr[(*used)++]))
            return HTTP_CHUNKS_BAD;
        if (is_last)
            return HTTP_CHUNKS_END;
    }
    return HTTP_CHUNKS_MORE;
}
