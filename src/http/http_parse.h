/*
 * http_parse.h - bytes to the head of a request, and chunks to a body. Pure:
 * no sockets, no memory of its own, no clock.
 *
 * Strict where two readers could understand a request in two ways (RFC 9112):
 * lines end with CR LF, a header stands in one line, nothing stands between
 * its name and the colon, and there is one way to know where the body ends.
 * What a request means does not depend on the pieces in which its bytes come.
 */
#ifndef PAWL_HTTP_HTTP_PARSE_H
#define PAWL_HTTP_HTTP_PARSE_H

#include "base/err.h"

enum {
    HTTP_HEAD_MAX_BYTES = 32 << 10, /* request line and headers together */
    HTTP_FIELDS_MAX = 256,
};

/* A piece of the head, by its place. */
struct http_span {
    uint16_t at, len;
};

struct http_field {
    struct http_span name, value;
};

struct http_head {
    uint32_t bytes; /* up to the empty line, included */
    struct http_span method;
    struct http_span path;  /* as it was sent, percent-encoded, without the query */
    struct http_span query; /* after the question mark */
    bool is_1_0;
    bool keeps_alive;      /* the client wants to send another request */
    bool expects_continue; /* it sends its body after 100 Continue */
    bool is_chunked;
    uint64_t body_bytes; /* Content-Length; 0 without one */
    enum err_code refusal;
    const char *why;
    uint16_t field_count;
    struct http_field fields[HTTP_FIELDS_MAX]; /* without those of a head that is refused */
};

enum http_parse_result {
    HTTP_PARSE_MORE, /* more bytes are needed */
    HTTP_PARSE_DONE,
    HTTP_PARSE_BAD, /* refusal and why are set; method and path too, if the first line is good */
};

/* Read the head that `text` begins with. */
enum http_parse_result http_parse_head(struct str text, struct http_head *head) MUST_USE;

static inline struct str http_span_str(const char *text, struct http_span span)
{
    return str_from(text + span.at, span.len);
}

/* Whether two texts are equal but for the case of ASCII letters. */
bool http_same_word(struct str a, struct str b);

/* --- bodies in chunks --- */

enum http_chunk_state {
    HTTP_CHUNK_SIZE, /* zero, so that a new reader is {0} */
    HTTP_CHUNK_EXTENSION,
    HTTP_CHUNK_SIZE_END,
    HTTP_CHUNK_DATA,
    HTTP_CHUNK_DATA_CR,
    HTTP_CHUNK_DATA_LF,
    HTTP_CHUNK_TRAILER, /* at the beginning of a line */
    HTTP_CHUNK_TRAILER_LINE,
    HTTP_CHUNK_TRAILER_LF,
    HTTP_CHUNK_LAST_LF,
};

struct http_chunks {
    enum http_chunk_state state;
    unsigned digits;     /* of the size so far */
    uint64_t left_bytes; /* of this chunk */
    uint32_t dropped;    /* bytes of extensions and trailers so far */
};

enum http_chunk_result {
    HTTP_CHUNKS_MORE, /* all of `in` was read */
    HTTP_CHUNKS_DATA, /* `data` holds a piece of the body */
    HTTP_CHUNKS_END,
    HTTP_CHUNKS_BAD,
};

/* Read on in `in`; *used says how much of it was read, *data is a part of that. */
enum http_chunk_result http_chunks_read(struct http_chunks *c, struct str in, size_t *used,
                                        struct str *data) MUST_USE;

#endif
