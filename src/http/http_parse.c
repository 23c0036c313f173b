/* http_parse.c - see http_parse.h; chunks are in http_chunk.c. */
#include "http/http_parse.h"

#include "base/text/ascii.h"

#include <strings.h>

/* What the headers say about the body and the connection. */
struct noticed {
    unsigned hosts, lengths, encodings;
    struct http_span host;
    bool closes, keeps;
    struct http_span authority; /* of a target in absolute form */
};

static const char no_clear_end[] = "it is not clear where the body ends";

static enum http_parse_result refuse_as(struct http_head *head, enum err_code code, const char *why)
{
    head->refusal = code;
    head->why = why;
    head->field_count = 0;
    return HTTP_PARSE_BAD;
}

static bool parse_refuse(struct http_head *head, const char *why)
{
    (void)refuse_as(head, ERR_BAD_REQUEST, why);
    return false;
}

/* A character of a name (RFC 9110, 5.6.2). */
static bool is_token(unsigned char ch)
{
    static const uint64_t tokens[2] = {0x03ff6cfa00000000, 0x57ffffffc7fffffe};

    return ch < 128 && (tokens[ch >> 6] >> (ch & 63) & 1) != 0;
}

static bool is_text(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char ch = (unsigned char)s.ptr[i];
        if ((ch < ' ' && ch != '\t') || ch == 0x7f)
            return false;
    }
    return true;
}

bool http_same_word(struct str a, struct str b)
{
    return a.len == b.len && strncasecmp(a.ptr, b.ptr, a.len) == 0;
}

static struct http_span span_of(const char *text, struct str part)
{
    return (struct http_span){(uint16_t)(part.ptr - text), (uint16_t)part.len};
}

/* --- the request line --- */

/* Path and query of a target in origin form. */
static void split_target(const char *text, struct str target, struct http_head *head)
{
    const char *mark = memchr(target.ptr, '?', target.len);
    size_t path_len = mark != NULL ? (size_t)(mark - target.ptr) : target.len;

    head->path = span_of(text, str_slice(target, 0, path_len));
    if (mark != NULL)
        head->query = span_of(text, str_slice(target, path_len + 1, target.len));
}

/* "http://host/path?query" */
static bool read_absolute(const char *text, struct str target, struct http_head *head,
                          struct noticed *seen)
{
    size_t scheme = target.len > 7 && strncasecmp(target.ptr, "http://", 7) == 0    ? 7
                    : target.len > 8 && strncasecmp(target.ptr, "https://", 8) == 0 ? 8
                                                                                    : 0;
    struct str rest;
    size_t len = 0;

    if (scheme == 0)
        return parse_refuse(head, "the target of a request is a path that begins with /");
    rest = str_slice(target, scheme, target.len);
    while (len < rest.len && rest.ptr[len] != '/' && rest.ptr[len] != '?')
        len++;
    if (len == 0)
        return parse_refuse(head, "the target names no host");
    seen->authority = span_of(text, str_slice(rest, 0, len));
    split_target(text, str_slice(rest, len, rest.len), head);
    /* Without a path it is "/": one stands before the host. */
    if (head->path.len == 0)
        head->path = (struct http_span){(uint16_t)(seen->authority.at - 1), 1};
    return true;
}

static bool read_target(const char *text, struct str target, struct http_head *head,
                        struct noticed *seen)
{
    /* Beyond ASCII it should be encoded; what is no UTF-8 is refused with the path. */
    for (size_t i = 0; i < target.len; i++)
        if ((unsigned char)target.ptr[i] <= ' ' || target.ptr[i] == 0x7f)
            return parse_refuse(head, "the request line is not METHOD TARGET HTTP/1.1");
    if (target.len > 0 && target.ptr[0] == '/') {
        split_target(text, target, head);
        return true;
    }
    if (str_eq(target, STR("*")) && str_eq(http_span_str(text, head->method), STR("OPTIONS"))) {
        head->path = span_of(text, target);
        return true;
    }
    return read_absolute(text, target, head, seen);
}

/* "HTTP/1.1": a later minor version speaks as 1.1 does. */
static bool read_version(struct str version, struct http_head *head)
{
    if (version.len != 8 || memcmp(version.ptr, "HTTP/", 5) != 0 ||
        !ascii_is_digit(version.ptr[5]) || version.ptr[6] != '.' || !ascii_is_digit(version.ptr[7]))
        return parse_refuse(head, "the request line is not METHOD TARGET HTTP/1.1");
    if (version.ptr[5] != '1') {
        (void)refuse_as(head, ERR_HTTP_VERSION, "this server speaks HTTP/1.1");
        return false;
    }
    head->is_1_0 = version.ptr[7] == '0';
    return true;
}

static bool read_request_line(const char *text, struct str line, struct http_head *head,
                              struct noticed *seen)
{
    size_t method = 0, target;

    while (method < line.len && is_token((unsigned char)line.ptr[method]))
        method++;
    target = line.len;
    while (target > method && line.ptr[target - 1] != ' ')
        target--;
    if (method == 0 || method + 1 >= target || line.ptr[method] != ' ')
        return parse_refuse(head, "the request line is not METHOD TARGET HTTP/1.1");
    head->method = span_of(text, str_slice(line, 0, method));
    return read_version(str_slice(line, target, line.len), head) &&
           read_target(text, str_slice(line, method + 1, target - 1), head, seen);
}

/* --- headers --- */

/* Whether a list of words holds this one. */
static bool list_has(struct str list, struct str word)
{
    for (size_t from = 0; from <= list.len;) {
        const char *comma = memchr(list.ptr + from, ',', list.len - from);
        size_t to = comma != NULL ? (size_t)(comma - list.ptr) : list.len;

        if (http_same_word(str_trim(str_slice(list, from, to)), word))
            return true;
        from = to + 1;
    }
    return false;
}

static bool read_length(struct str value, struct http_head *head)
{
    uint64_t length = 0;

    if (value.len == 0 || value.len > 18) /* 18 digits do not overflow */
        return parse_refuse(head, no_clear_end);
    for (size_t i = 0; i < value.len; i++) {
        if (!ascii_is_digit(value.ptr[i]))
            return parse_refuse(head, no_clear_end);
        length = length * 10 + (uint64_t)(value.ptr[i] - '0');
    }
    head->body_bytes = length;
    return true;
}

static bool is_host(struct str value)
{
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.ptr[i] <= ' ' || (unsigned char)value.ptr[i] >= 0x7f ||
            strchr("/?#@\\\"<>,", value.ptr[i]) != NULL)
            return false;
    return true;
}

/* The headers that the server itself goes by. */
static bool notice(const char *text, const struct http_field *field, struct http_head *head,
                   struct noticed *seen)
{
    struct str name = http_span_str(text, field->name);
    struct str value = http_span_str(text, field->value);

    if (http_same_word(name, STR("Host"))) {
        seen->hosts++;
        seen->host = field->value;
        if (!is_host(value))
            return parse_refuse(head, "the header Host is not a host and a port");
    } else if (http_same_word(name, STR("Content-Length"))) {
        seen->lengths++;
        return read_length(value, head);
    } else if (http_same_word(name, STR("Transfer-Encoding"))) {
        seen->encodings++;
        head->is_chunked = http_same_word(value, STR("chunked"));
        if (!head->is_chunked)
            return parse_refuse(head, no_clear_end);
    } else if (http_same_word(name, STR("Connection"))) {
        seen->closes = seen->closes || list_has(value, STR("close"));
        seen->keeps = seen->keeps || list_has(value, STR("keep-alive"));
    } else if (http_same_word(name, STR("Expect"))) {
        head->expects_continue = http_same_word(value, STR("100-continue"));
    }
    return true;
}

static bool read_field(const char *text, struct str line, struct http_head *head,
                       struct noticed *seen)
{
    struct http_field *field = &head->fields[head->field_count];
    size_t name = 0, from, to = line.len;

    if (line.ptr[0] == ' ' || line.ptr[0] == '\t')
        return parse_refuse(head, "a header stands in one line");
    while (name < line.len && is_token((unsigned char)line.ptr[name]))
        name++;
    if (name == 0 || name == line.len || line.ptr[name] != ':')
        return parse_refuse(head, "a line of the headers is not NAME: VALUE");
    from = name + 1;
    while (from < to && (line.ptr[from] == ' ' || line.ptr[from] == '\t'))
        from++;
    while (to > from && (line.ptr[to - 1] == ' ' || line.ptr[to - 1] == '\t'))
        to--;
    field->name = span_of(text, str_slice(line, 0, name));
    field->value = span_of(text, str_slice(line, from, to));
    if (!is_text(http_span_str(text, field->value)))
        return parse_refuse(head, "a header holds a control character");
    head->field_count++;
    return notice(text, field, head, seen);
}

/* --- the whole --- */

/* All headers are there: whether they agree with each other. */
static bool conclude(const char *text, struct http_head *head, const struct noticed *seen)
{
    if (seen->hosts > 1 || (seen->hosts == 0 && !head->is_1_0))
        return parse_refuse(head, "a request has one header Host");
    if (seen->authority.len > 0 && seen->hosts == 1 &&
        !http_same_word(http_span_str(text, seen->authority), http_span_str(text, seen->host)))
        return parse_refuse(head, "the header Host is not the host of the target");
    /* A body whose end two readers may see in two places would hide a request behind a proxy. */
    if (seen->lengths + seen->encodings > 1 || (head->is_chunked && head->is_1_0))
        return parse_refuse(head, no_clear_end);
    head->keeps_alive = !seen->closes && (!head->is_1_0 || seen->keeps);
    head->expects_continue = head->expects_continue && !head->is_1_0;
    return true;
}

/* The line that begins at `from`, without its end. */
static enum http_parse_result next_line(struct str text, size_t from, struct str *line,
                                        struct http_head *head)
{
    const char *end = memchr(text.ptr + from, '\n', text.len - from);
    size_t to;

    if (end == NULL)
        return HTTP_PARSE_MORE;
    to = (size_t)(end - text.ptr);
    if (to == from || text.ptr[to - 1] != '\r')
        return refuse_as(head, ERR_BAD_REQUEST, "a line of the head does not end with CR LF");
    *line = str_slice(text, from, to - 1);
    return HTTP_PARSE_DONE;
}

static enum http_parse_result too_long(struct str text, bool has_request_line,
                                       struct http_head *head)
{
    if (text.len < HTTP_HEAD_MAX_BYTES)
        return HTTP_PARSE_MORE;
    return has_request_line
               ? refuse_as(head, ERR_HEADERS_TOO_LARGE,
                           "request line and headers have more than 32768 bytes")
               : refuse_as(head, ERR_URI_TOO_LONG, "the request line has more than 32768 bytes");
}

enum http_parse_result http_parse_head(struct str text, struct http_head *head)
{
    struct noticed seen = {0};
    enum http_parse_result result;
    bool has_request_line = false;
    size_t at = 0;
    struct str line;

    /* All but the fields: only as many of them are read as are counted. */
    memset(head, 0, offsetof(struct http_head, fields));
    if (text.len == 0)
        return HTTP_PARSE_MORE;
    if (text.len > HTTP_HEAD_MAX_BYTES)
        text.len = HTTP_HEAD_MAX_BYTES;
    /* Some clients send an empty line after a body. */
    if (text.len >= 2 && memcmp(text.ptr, "\r\n", 2) == 0)
        at = 2;
    for (;;) {
        result = next_line(text, at, &line, head);
        if (result == HTTP_PARSE_MORE)
            return too_long(text, has_request_line, head);
        if (result == HTTP_PARSE_BAD)
            return result;
        at += line.len + 2;
        if (line.len == 0)
            break;
        if (has_request_line && head->field_count == HTTP_FIELDS_MAX)
            return refuse_as(head, ERR_HEADERS_TOO_LARGE, "there are more than 256 headers");
        if (!(has_request_line ? read_field(text.ptr, line, head, &seen)
                               : read_request_line(text.ptr, line, head, &seen)))
            return HTTP_PARSE_BAD;
        has_request_line = true;
    }
    if (!has_request_line)
        return refuse_as(head, ERR_BAD_REQUEST, "the request line is not METHOD TARGET HTTP/1.1");
    head->bytes = (uint32_t)at;
    return conclude(text.ptr, head, &seen) ? HTTP_PARSE_DONE : HTTP_PARSE_BAD;
}
