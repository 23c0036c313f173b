/*
 * test_http_parse.c - heads and chunks, without a server: good ones and bad
 * ones by a table, each of them in all pairs of pieces, and damaged at random
 * from a fixed seed.
 */
#include "base/buf.h"
#include "http/http_parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* What a head says, in one line. */
static void describe(struct buf *out, struct str text, enum http_parse_result result,
                     const struct http_head *head)
{
    buf_clear(out);
    if (result == HTTP_PARSE_MORE) {
        buf_text(out, "more");
        return;
    }
    if (result == HTTP_PARSE_BAD) {
        buf_printf(out, "%s: %s", err_code_name(head->refusal), head->why);
        return;
    }
    buf_printf(out, "%.*s %.*s", STR_ARG(http_span_str(text.ptr, head->method)),
               STR_ARG(http_span_str(text.ptr, head->path)));
    if (head->query.len > 0)
        buf_printf(out, " ?%.*s", STR_ARG(http_span_str(text.ptr, head->query)));
    if (head->body_bytes > 0)
        buf_printf(out, " body %llu", (unsigned long long)head->body_bytes);
    buf_text(out, head->is_chunked ? " chunked" : "");
    buf_text(out, head->is_1_0 ? " 1.0" : "");
    buf_text(out, head->keeps_alive ? "" : " close");
    buf_text(out, head->expects_continue ? " continue" : "");
    for (int i = 0; i < head->field_count; i++)
        if (!http_same_word(http_span_str(text.ptr, head->fields[i].name), STR("Host")))
            buf_printf(out, " [%.*s|%.*s]", STR_ARG(http_span_str(text.ptr, head->fields[i].name)),
                       STR_ARG(http_span_str(text.ptr, head->fields[i].value)));
}

#define LINE "the request line is not METHOD TARGET HTTP/1.1"
#define END "it is not clear where the body ends"
#define FIELD "a line of the headers is not NAME: VALUE"
#define HOST "a request has one header Host"
#define CRLF "a line of the head does not end with CR LF"
#define CONTROL "a header holds a control character"
#define H "\r\nHost: x\r\n"

static const struct {
    const char *text;
    const char *says;
} cases[] = {
    {"GET / HTTP/1.1" H "\r\n", "GET /"},
    {"\r\nGET / HTTP/1.1" H "\r\n", "GET /"},
    {"GET /a/b?c=d&e HTTP/1.1" H "\r\nrest", "GET /a/b ?c=d&e"},
    {"GET /? HTTP/1.1" H "\r\n", "GET /"},
    {"GET /a%00%zz HTTP/1.1" H "\r\n", "GET /a%00%zz"},
    {"GET /\xd0\xb6 HTTP/1.1" H "\r\n", "GET /\xd0\xb6"},
    {"G!#$%&'*+-.^_`|~09az / HTTP/1.1" H "\r\n", "G!#$%&'*+-.^_`|~09az /"},
    {"GET / HTTP/1.1\r\nhOST:x\r\nA:b\r\nC: \t d \t\r\nE:\r\n\r\n", "GET / [A|b] [C|d] [E|]"},
    {"GET / HTTP/1.1\r\nHost:\r\nX: a b\tc \xff\r\n\r\n", "GET / [X|a b\tc \xff]"},
    {"GET / HTTP/1.1\r\nHost: [::1]:7070\r\n\r\n", "GET /"},
    {"POST / HTTP/1.1" H "Content-Length: 5\r\n\r\nabcde", "POST / body 5 [Content-Length|5]"},
    {"POST / HTTP/1.1" H "Content-Length: 005\r\n\r\n", "POST / body 5 [Content-Length|005]"},
    {"POST / HTTP/1.1" H "Content-Length: 999999999999999999\r\n\r\n",
     "POST / body 999999999999999999 [Content-Length|999999999999999999]"},
    {"POST / HTTP/1.1" H "Transfer-Encoding: Chunked\r\n\r\n",
     "POST / chunked [Transfer-Encoding|Chunked]"},
    {"POST / HTTP/1.1" H "Expect: 100-Continue\r\n\r\n", "POST / continue [Expect|100-Continue]"},
    {"POST / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n", "POST / 1.0 close [Expect|100-continue]"},
    /* Connections. */
    {"GET / HTTP/1.0\r\n\r\n", "GET / 1.0 close"},
    {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "GET / 1.0 [Connection|Keep-Alive]"},
    {"GET / HTTP/1.1" H "Connection: x , Close\r\n\r\n", "GET / close [Connection|x , Close]"},
    {"GET / HTTP/1.1" H "Connection: keep-alive\r\nConnection: close\r\n\r\n",
     "GET / close [Connection|keep-alive] [Connection|close]"},
    {"GET / HTTP/1.1" H "Connection: closed,\r\n\r\n", "GET / [Connection|closed,]"},
    {"GET / HTTP/1.7" H "\r\n", "GET /"},
    /* Targets. */
    {"GET http://x/a?b HTTP/1.1" H "\r\n", "GET /a ?b"},
    {"GET HTTPS://X HTTP/1.1" H "\r\n", "GET /"},
    {"GET http://x?b HTTP/1.1" H "\r\n", "GET / ?b"},
    {"GET http://y/a HTTP/1.1" H "\r\n",
     "bad_request: the header Host is not the host of the target"},
    {"GET http:///a HTTP/1.1" H "\r\n", "bad_request: the target names no host"},
    {"GET ftp://x/a HTTP/1.1" H "\r\n",
     "bad_request: the target of a request is a path that begins with /"},
    {"GET a HTTP/1.1" H "\r\n",
     "bad_request: the target of a request is a path that begins with /"},
    {"CONNECT x:80 HTTP/1.1" H "\r\n",
     "bad_request: the target of a request is a path that begins with /"},
    {"OPTIONS * HTTP/1.1" H "\r\n", "OPTIONS *"},
    {"GET * HTTP/1.1" H "\r\n",
     "bad_request: the target of a request is a path that begins with /"},
    {"GET /\x01 HTTP/1.1" H "\r\n", "bad_request: " LINE},
    {"GET /\x7f HTTP/1.1" H "\r\n", "bad_request: " LINE},
    {"GET /a b HTTP/1.1" H "\r\n", "bad_request: " LINE},
    /* Request lines. */
    {"GET  / HTTP/1.1" H "\r\n", "bad_request: " LINE},
    {"GET /  HTTP/1.1" H "\r\n", "bad_request: " LINE},
    {"GET / HTTP/1.1 " H "\r\n", "bad_request: " LINE},
    {" GET / HTTP/1.1" H "\r\n", "bad_request: " LINE},
    {"GET\t/ HTTP/1.1" H "\r\n", "bad_request: " LINE},
    {"GET /\r\n\r\n", "bad_request: " LINE},
    {"GET\r\n\r\n", "bad_request: " LINE},
    {"G\xc3T / HTTP/1.1" H "\r\n", "bad_request: " LINE},
    {"GET / http/1.1" H "\r\n", "bad_request: " LINE},
    {"GET / HTTP/1.10" H "\r\n", "bad_request: " LINE},
    {"GET / HTTP/11" H "\r\n", "bad_request: " LINE},
    {"GET / HTTP/x.1" H "\r\n", "bad_request: " LINE},
    {"\r\n\r\nGET / HTTP/1.1" H "\r\n", "bad_request: " LINE},
    {"GET / HTTP/2.0" H "\r\n", "http_version: this server speaks HTTP/1.1"},
    {"GET / HTTP/0.9" H "\r\n", "http_version: this server speaks HTTP/1.1"},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "http_version: this server speaks HTTP/1.1"},
    /* Lines. */
    {"GET / HTTP/1.1\nHost: x\n\n", "bad_request: " CRLF},
    {"GET / HTTP/1.1\r\nHost: x\n\r\n", "bad_request: " CRLF},
    {"GET / HTTP/1.1" H "\n", "bad_request: " CRLF},
    {"\nGET / HTTP/1.1" H "\r\n", "bad_request: " CRLF},
    {"GET / HTTP/1.1" H "A: b\r\r\n\r\n", "bad_request: " CONTROL},
    {"GET / HTTP/1.1" H "A: b\rC: d\r\n\r\n", "bad_request: " CONTROL},
    {"GET / HTTP/1.1" H "A: \x01\r\n\r\n", "bad_request: " CONTROL},
    {"GET / HTTP/1.1" H "A: \x7f\r\n\r\n", "bad_request: " CONTROL},
    {"GET / HTTP/1.1" H "A: b\r\n c\r\n\r\n", "bad_request: a header stands in one line"},
    {"GET / HTTP/1.1\r\n Host: x\r\n\r\n", "bad_request: a header stands in one line"},
    {"GET / HTTP/1.1" H "A : b\r\n\r\n", "bad_request: " FIELD},
    {"GET / HTTP/1.1" H ": b\r\n\r\n", "bad_request: " FIELD},
    {"GET / HTTP/1.1" H "A\r\n\r\n", "bad_request: " FIELD},
    {"GET / HTTP/1.1" H "A b: c\r\n\r\n", "bad_request: " FIELD},
    {"GET / HTTP/1.1" H "\xc3: c\r\n\r\n", "bad_request: " FIELD},
    {"GET / HTTP/1.1" H "(): c\r\n\r\n", "bad_request: " FIELD},
    /* Hosts. */
    {"GET / HTTP/1.1\r\n\r\n", "bad_request: " HOST},
    {"GET / HTTP/1.1" H "Host: x\r\n\r\n", "bad_request: " HOST},
    {"GET / HTTP/1.0" H "HOST: y\r\n\r\n", "bad_request: " HOST},
    {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
     "bad_request: the header Host is not a host and a port"},
    {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
     "bad_request: the header Host is not a host and a port"},
    {"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n",
     "bad_request: the header Host is not a host and a port"},
    /* Bodies with two ends, or none. */
    {"POST / HTTP/1.1" H "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", "bad_request: " END},
    {"POST / HTTP/1.1" H "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", "bad_request: " END},
    {"POST / HTTP/1.1" H "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
     "bad_request: " END},
    {"POST / HTTP/1.1" H "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
     "bad_request: " END},
    {"POST / HTTP/1.1" H "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
     "bad_request: " END},
    {"POST / HTTP/1.1" H "Transfer-Encoding: gzip, chunked\r\n\r\n", "bad_request: " END},
    {"POST / HTTP/1.1" H "Transfer-Encoding: xchunked\r\n\r\n", "bad_request: " END},
    {"POST / HTTP/1.1" H "Transfer-Encoding: \r\n\r\n", "bad_request: " END},
    {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "bad_request: " END},
    {"POST / HTTP/1.1" H "Content-Length: \r\n\r\n", "bad_request: " END},
    {"POST / HTTP/1.1" H "Content-Length: -1\r\n\r\n", "bad_request: " END},
    {"POST / HTTP/1.1" H "Content-Length: 5 5\r\n\r\n", "bad_request: " END},
    {"POST / HTTP/1.1" H "Content-Length: 5,5\r\n\r\n", "bad_request: " END},
    {"POST / HTTP/1.1" H "Content-Length: 18446744073709551621\r\n\r\n", "bad_request: " END},
    {"POST / HTTP/1.1" H "Content-Length\t: 5\r\n\r\n", "bad_request: " FIELD},
    /* Not whole. */
    {"", "more"},
    {"\r\n", "more"},
    {"GET / HTTP/1.1\r\nHost: x\r\n", "more"},
    {"GET / HTTP/1.1\r\nHost: x\r\n\r", "more"},
};

static void parse(struct buf *out, struct str text)
{
    struct http_head head;
    enum http_parse_result result = http_parse_head(text, &head);

    describe(out, text, result, &head);
}

static void test_parse__heads_say_what_they_say(void **state)
{
    struct buf says;

    (void)state;
    buf_init(&says);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        parse(&says, str_of(cases[i].text));
        if (!str_eq(buf_view(&says), str_of(cases[i].says)))
            fail_msg("%s\nsays %.*s\nnot  %s", cases[i].text, STR_ARG(buf_view(&says)),
                     cases[i].says);
    }
    /* A zero byte is no character of anything. */
    parse(&says, STR("GET /\0 HTTP/1.1" H "\r\n"));
    assert_true(str_eq(buf_view(&says), STR("bad_request: " LINE)));
    parse(&says, STR("GET / HTTP/1.1" H "A: \0\r\n\r\n"));
    assert_true(str_eq(buf_view(&says), STR("bad_request: " CONTROL)));
    buf_fini(&says);
}

/* A first piece says that more is to come, or what the whole says; never anything else. */
static void test_parse__pieces_do_not_change_what_a_head_says(void **state)
{
    struct buf says;

    (void)state;
    buf_init(&says);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (size_t len = 0; len < strlen(cases[i].text); len++) {
            char *piece = malloc(len + 1); /* exactly as long, for sanitizers */
            memcpy(piece, cases[i].text, len);
            parse(&says, str_from(piece, len));
            if (!str_eq(buf_view(&says), STR("more")) &&
                !str_eq(buf_view(&says), str_of(cases[i].says)))
                fail_msg("the first %zu bytes of %s\nsay %.*s", len, cases[i].text,
                         STR_ARG(buf_view(&says)));
            free(piece);
        }
    buf_fini(&says);
}

static void fill(struct buf *text, const char *begin, size_t len)
{
    buf_clear(text);
    buf_text(text, begin);
    while (text->len < len)
        buf_char(text, 'x');
}

static void test_parse__length_of_a_head_is_bounded(void **state)
{
    struct buf text, says;

    (void)state;
    buf_init(&text);
    buf_init(&says);
    fill(&text, "GET /", HTTP_HEAD_MAX_BYTES - 1);
    parse(&says, buf_view(&text));
    assert_true(str_eq(buf_view(&says), STR("more")));
    fill(&text, "GET /", HTTP_HEAD_MAX_BYTES + 1);
    parse(&says, buf_view(&text));
    assert_true(str_starts_with(buf_view(&says), STR("uri_too_long: ")));
    fill(&text, "GET / HTTP/1.1" H "X: ", HTTP_HEAD_MAX_BYTES - 4);
    buf_text(&text, "\r\n\r\n");
    parse(&says, buf_view(&text));
    assert_true(str_starts_with(buf_view(&says), STR("GET / [X|xxx")));
    fill(&text, "GET / HTTP/1.1" H "X: ", HTTP_HEAD_MAX_BYTES - 3);
    buf_text(&text, "\r\n\r\n");
    parse(&says, buf_view(&text));
    assert_true(str_starts_with(buf_view(&says), STR("headers_too_large: ")));
    for (int extra = 0; extra < 2; extra++) {
        buf_clear(&text);
        buf_text(&text, "GET / HTTP/1.0\r\n");
        for (int i = 0; i < HTTP_FIELDS_MAX + extra; i++)
            buf_text(&text, "a:\r\n");
        buf_text(&text, "\r\n");
        parse(&says, buf_view(&text));
        assert_true(
            str_starts_with(buf_view(&says), extra ? STR("headers_too_large") : STR("GET /")));
    }
    buf_fini(&text);
    buf_fini(&says);
}

/* --- chunks --- */

static const struct {
    const char *text;
    const char *says; /* the body and what follows, "more" or "bad" */
} bodies[] = {
    {"0\r\n\r\n", "[] "},
    {"3\r\nabc\r\n0\r\n\r\nrest", "[abc] rest"},
    {"3\r\nabc\r\n00A\r\n0123456789\r\n000\r\n\r\n", "[abc0123456789] "},
    {"3;a=\"b\";c\r\nabc\r\n0;d\r\n\r\n", "[abc] "},
    {"3 \t;a\r\nabc\r\n0\r\n\r\n", "[abc] "},
    {"2\r\n\r\n\r\n0\r\nA: b\r\nC: d\r\n\r\nrest", "[\r\n] rest"},
    {"3\r\nabc\r\n", "more"},
    {"0\r\n", "more"},
    {"0\r\nA: b\r\n", "more"},
    {"\r\n", "bad"},
    {";a\r\n", "bad"},
    {"g\r\n", "bad"},
    {"-3\r\nabc\r\n", "bad"},
    {"0x3\r\nabc\r\n", "bad"},
    {"3\nabc\r\n", "bad"},
    {"3\rxabc\r\n", "bad"},
    {"3\r\nabcd\r\n", "bad"},
    {"3\r\nabc\n0\r\n\r\n", "bad"},
    {"3;a\nabc\r\n", "bad"},
    {"0\r\n\n", "bad"},
    {"0\r\nA: b\n\r\n", "bad"},
    {"0\r\n\rx", "bad"},
    {"1000000000000000\r\n", "bad"},
    {"0000000000000003\r\nabc\r\n", "bad"},
};

/* Read a body in pieces of at most `step` bytes, but the first of `first`. */
static void read_body(struct buf *out, struct str text, size_t first, size_t step)
{
    struct http_chunks chunks = {0};
    size_t at = 0, end = first < text.len ? first : text.len;

    buf_clear(out);
    buf_char(out, '[');
    for (;;) {
        struct str data;
        size_t used;
        enum http_chunk_result result =
            http_chunks_read(&chunks, str_from(text.ptr + at, end - at), &used, &data);

        assert_true(used <= end - at);
        at += used;
        buf_str(out, data);
        if (result == HTTP_CHUNKS_END) {
            buf_printf(out, "] %.*s", STR_ARG(str_slice(text, at, text.len)));
            return;
        }
        if (result == HTTP_CHUNKS_BAD || (result == HTTP_CHUNKS_MORE && end == text.len)) {
            buf_clear(out);
            buf_text(out, result == HTTP_CHUNKS_BAD ? "bad" : "more");
            return;
        }
        if (result == HTTP_CHUNKS_MORE)
            end = step < text.len - end ? end + step : text.len;
    }
}

static void test_parse__chunks_say_what_they_say_in_all_pieces(void **state)
{
    struct buf says;

    (void)state;
    buf_init(&says);
    for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
        struct str text = str_of(bodies[i].text);

        for (size_t first = 0; first <= text.len; first++)
            for (size_t step = 1; step <= text.len; step++) {
                read_body(&says, text, first, step);
                if (!str_eq(buf_view(&says), str_of(bodies[i].says)))
                    fail_msg("%s\nsays %.*s\nnot  %s", bodies[i].text, STR_ARG(buf_view(&says)),
                             bodies[i].says);
            }
    }
    buf_fini(&says);
}

/* --- damaged at random --- */

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Change, repeat, leave out or put in some bytes of `text`; answers its new length. */
static size_t damage(uint64_t *seed, char *text, size_t len, size_t capacity)
{
    static const char telling[] = "\r\n\r\n :\t,;?/*\0\x7f\xff"
                                  "019azCHTP.";
    size_t at = next_random(seed) % (len + 1), count = next_random(seed) % 9;

    switch (next_random(seed) % 4) {
    case 0:
        if (at < len)
            text[at] = telling[next_random(seed) % (sizeof(telling) - 1)];
        return len;
    case 1:
        count = count < len - at ? count : len - at;
        memmove(text + at, text + at + count, len - at - count);
        return len - count;
    case 2:
        count = count < len - at ? count : len - at;
        if (len + count > capacity)
            return len;
        memmove(text + at + count, text + at, len - at);
        return len + count;
    default:
        if (len == capacity)
            return len;
        memmove(text + at + 1, text + at, len - at);
        text[at] = telling[next_random(seed) % (sizeof(telling) - 1)];
        return len + 1;
    }
}

static bool span_is_inside(struct http_span span, uint32_t bytes)
{
    return (uint32_t)span.at + span.len <= bytes;
}

/* What must hold of any bytes. */
static void check_head(struct str text)
{
    struct http_head head, again;
    enum http_parse_result result = http_parse_head(text, &head);

    assert_true((result == HTTP_PARSE_BAD) == (head.refusal != ERR_NONE));
    assert_true((result == HTTP_PARSE_BAD) == (head.why != NULL));
    if (result != HTTP_PARSE_DONE)
        return;
    assert_true(head.bytes <= text.len && memcmp(text.ptr + head.bytes - 4, "\r\n\r\n", 4) == 0);
    assert_true(head.method.len > 0 && span_is_inside(head.method, head.bytes));
    assert_true(head.path.len > 0 && span_is_inside(head.path, head.bytes));
    assert_true(span_is_inside(head.query, head.bytes));
    assert_false(head.is_chunked && head.body_bytes > 0);
    for (int i = 0; i < head.field_count; i++) {
        struct str value = http_span_str(text.ptr, head.fields[i].value);
        assert_true(span_is_inside(head.fields[i].name, head.bytes));
        assert_true(span_is_inside(head.fields[i].value, head.bytes));
        assert_true(value.len == 0 || memchr(value.ptr, '\n', value.len) == NULL);
        assert_true(value.len == 0 || memchr(value.ptr, '\r', value.len) == NULL);
        assert_true(value.len == 0 || memchr(value.ptr, '\0', value.len) == NULL);
    }
    /* It ends where it ends, whatever follows, and not before. */
    assert_int_equal(http_parse_head(str_slice(text, 0, head.bytes), &again), HTTP_PARSE_DONE);
    assert_int_equal(again.bytes, head.bytes);
    assert_int_equal(http_parse_head(str_slice(text, 0, head.bytes - 1), &again), HTTP_PARSE_MORE);
}

static void test_parse__damaged_requests_do_no_harm(void **state)
{
    enum { ROUNDS = 300000, ROOM = 400 };
    uint64_t seed = 88172645463325252;
    size_t good = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        char text[ROOM];
        const char *from = cases[next_random(&seed) % ARRAY_SIZE(cases)].text;
        size_t len = strlen(from), times = next_random(&seed) % 4;
        struct http_head head;
        char *exact;

        memcpy(text, from, len);
        for (size_t i = 0; i < times; i++)
            len = damage(&seed, text, len, ROOM);
        exact = malloc(len + (len == 0)); /* exactly as long, for sanitizers */
        memcpy(exact, text, len);
        check_head(str_from(exact, len));
        good += http_parse_head(str_from(exact, len), &head) == HTTP_PARSE_DONE;
        free(exact);
    }
    assert_true(good > ROUNDS / 20 && good < ROUNDS); /* both ways are taken */
}

static void test_parse__damaged_chunks_mean_the_same_in_pieces(void **state)
{
    enum { ROUNDS = 100000, ROOM = 200 };
    uint64_t seed = 362436069;
    struct buf whole, pieces;

    (void)state;
    buf_init(&whole);
    buf_init(&pieces);
    for (int round = 0; round < ROUNDS; round++) {
        char text[ROOM];
        const char *from = bodies[next_random(&seed) % ARRAY_SIZE(bodies)].text;
        size_t len = strlen(from), times = next_random(&seed) % 4;

        memcpy(text, from, len);
        for (size_t i = 0; i < times; i++)
            len = damage(&seed, text, len, ROOM);
        read_body(&whole, str_from(text, len), len, 1);
        read_body(&pieces, str_from(text, len), next_random(&seed) % (len + 1),
                  1 + next_random(&seed) % 5);
        if (!str_eq(buf_view(&whole), buf_view(&pieces)))
            fail_msg("%.*s", (int)len, text);
    }
    buf_fini(&whole);
    buf_fini(&pieces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse__heads_say_what_they_say),
        cmocka_unit_test(test_parse__pieces_do_not_change_what_a_head_says),
        cmocka_unit_test(test_parse__length_of_a_head_is_bounded),
        cmocka_unit_test(test_parse__chunks_say_what_they_say_in_all_pieces),
        cmocka_unit_test(test_parse__damaged_requests_do_no_harm),
        cmocka_unit_test(test_parse__damaged_chunks_mean_the_same_in_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
