/* url.c - see url.h. */
#include "base/url.h"

#include "base/text/ascii.h"
#include "base/text/hex.h"

#include <strings.h>

enum { URL_MAX_BYTES = 8192 };

static bool is_unreserved(char c)
{
    return ascii_is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

static bool is_host_char(char c)
{
    return is_unreserved(c) || c == '[' || c == ']' || c == ':';
}

/* The port behind the name, or the one of the scheme. False: it is no number from 1 to 65535. */
static bool read_port(struct str authority, bool is_tls, struct str *name, int64_t *port)
{
    size_t end = authority.len;
    size_t colon = end;

    while (colon > 0 && authority.ptr[colon - 1] != ':' && authority.ptr[colon - 1] != ']')
        colon--;
    *port = is_tls ? 443 : 80;
    *name = authority;
    if (colon == 0 || authority.ptr[colon - 1] == ']')
        return true;
    *name = str_slice(authority, 0, colon - 1);
    if (colon == end)
        return true;
    return str_to_int64(str_slice(authority, colon, end), port) && *port > 0 && *port < 65536;
}

/* Scheme, name in small letters and port. Each call asks for it twice: no printf here. */
static struct str host_text(struct arena *mem, struct str scheme, struct str name, int64_t port)
{
    enum { PORT_DIGITS = 5 };
    char *text = arena_alloc(mem, scheme.len + name.len + 1 + PORT_DIGITS);
    size_t len = scheme.len;

    memcpy(text, scheme.ptr, scheme.len);
    for (size_t i = 0; i < name.len; i++)
        text[len++] = ascii_lower(name.ptr[i]);
    text[len++] = ':';
    for (int64_t unit = 10000; unit > 0; unit /= 10)
        if (port >= unit)
            text[len++] = (char)('0' + port / unit % 10);
    return str_from(text, len);
}

const char *url_host(struct arena *mem, struct str url, struct str *out)
{
    bool is_tls = str_starts_with(url, STR("https://"));
    size_t start = is_tls ? 8 : 7, end;
    struct str name;
    int64_t port;

    if (!is_tls && !str_starts_with(url, STR("http://")))
        return "a URL begins with http:// or https://";
    if (url.len > URL_MAX_BYTES)
        return "a URL has 8192 bytes at most";
    for (size_t i = 0; i < url.len; i++)
        if ((unsigned char)url.ptr[i] <= ' ' || url.ptr[i] == 0x7f || url.ptr[i] == '\\')
            return "a URL holds no spaces, control characters or backslashes; 'query' encodes "
                   "parameters";
    for (end = start;
         end < url.len && url.ptr[end] != '/' && url.ptr[end] != '?' && url.ptr[end] != '#';
         end++) {
        if (url.ptr[end] == '@')
            return "a URL holds no user and password; write an Authorization header";
        if (!is_host_char(url.ptr[end]))
            return "the name of the host in the URL is wrong";
    }
    if (!read_port(str_slice(url, start, end), is_tls, &name, &port))
        return "the port in the URL is wrong";
    if (name.len == 0)
        return "the URL names no host";
    *out = host_text(mem, str_slice(url, 0, start), name, port);
    return NULL;
}

void url_encode(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (is_unreserved(text.ptr[i]))
            buf_char(out, text.ptr[i]);
        else
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)text.ptr[i]);
    }
}

bool url_decode(struct str text, char *out, size_t *len)
{
    *len = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c == '%') {
            int high = i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
            int low = i + 2 < text.len ? hex_digit(text.ptr[i + 2]) : -1;

            if (high < 0 || low < 0)
                return false;
            c = (char)(high << 4 | low);
            i += 2;
        }
        out[(*len)++] = c;
    }
    return true;
}

bool url_is_dot_segment(struct str segment)
{
    unsigned dots = 0;

    for (size_t at = 0; at < segment.len; dots++) {
        struct str rest = str_slice(segment, at, segment.len);

        if (rest.ptr[0] == '.')
            at += 1;
        else if (str_starts_with(rest, STR("%2e")) || str_starts_with(rest, STR("%2E")))
            at += 3;
        else
            return false;
    }
    return dots == 1 || dots == 2;
}

void url_add_parameter(struct buf *url, struct str name, struct str value)
{
    struct str so_far = buf_view(url);
    bool has_query = str_find(so_far, STR("?"), 0) >= 0;

    if (!has_query || !(str_ends_with(so_far, STR("?")) || str_ends_with(so_far, STR("&"))))
        buf_char(url, has_query ? '&' : '?');
    url_encode(url, name);
    buf_char(url, '=');
    url_encode(url, value);
}

static bool is_token_char(char c)
{
    return is_unreserved(c) || (c != '\0' && strchr("!#$%&'*+^`|", c) != NULL);
}

const char *url_header_mistake(struct str name, struct str value)
{
    /* These say how bytes travel: who sends them says that. */
    static const char *const ours[] = {"host",       "content-length", "transfer-encoding",
                                       "connection", "upgrade",        "expect"};

    if (name.len == 0)
        return "a header has a name";
    for (size_t i = 0; i < name.len; i++)
        if (!is_token_char(name.ptr[i]))
            return "the name of a header has letters, digits and '-' only";
    for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
        if (name.len == strlen(ours[i]) && strncasecmp(name.ptr, ours[i], name.len) == 0)
            return "the headers Host, Content-Length, Transfer-Encoding, Connection, Upgrade and "
                   "Expect are written by the server";
    for (size_t i = 0; i < value.len; i++)
        if (((unsigned char)value.ptr[i] < ' ' && value.ptr[i] != '\t') || value.ptr[i] == 0x7f)
            return "the value of a header has no line feeds or other control characters";
    return NULL;
}
