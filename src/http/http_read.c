/* http_read.c - what a request says beside its body; see http.h. */
#include "http/cidr.h"
#include "http/http_inner.h"
#include "http/percent.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <strings.h>
#include <sys/socket.h>

/* --- headers --- */

static const struct exchange *exchange_read(const struct http_request *r)
{
    return (const struct exchange *)r;
}

static struct str field_name(const struct exchange *x, size_t i)
{
    return http_span_str(x->head, x->fields[i].name);
}

struct str http_header(const struct http_request *r, const char *name)
{
    const struct exchange *x = exchange_read(r);
    struct str wanted = str_of(name);

    for (size_t i = 0; i < x->field_count; i++)
        if (http_same_word(field_name(x, i), wanted))
            return http_span_str(x->head, x->fields[i].value);
    return STR_NONE;
}

bool http_header_at(const struct http_request *r, size_t i, struct str *name, struct str *value)
{
    const struct exchange *x = exchange_read(r);

    if (i >= x->field_count)
        return false;
    *name = field_name(x, i);
    *value = http_span_str(x->head, x->fields[i].value);
    return true;
}

unsigned http_header_count(const struct http_request *r, const char *name)
{
    const struct exchange *x = exchange_read(r);
    struct str wanted = str_of(name);
    unsigned count = 0;

    for (size_t i = 0; i < x->field_count; i++)
        count += http_same_word(field_name(x, i), wanted);
    return count;
}

/* The next part of a list; *at is behind its separator then. False: there is none. */
static bool next_part(struct str list, char separator, size_t *at, struct str *out)
{
    const char *end;

    if (*at > list.len || list.len == 0)
        return false;
    end = memchr(list.ptr + *at, separator, list.len - *at);
    *out = str_slice(list, *at, end != NULL ? (size_t)(end - list.ptr) : list.len);
    *at += out->len + 1;
    return true;
}

/* "name=value"; a name alone has an empty value. */
static void split_pair(struct str pair, struct str *name, struct str *value)
{
    const char *equals = pair.len > 0 ? memchr(pair.ptr, '=', pair.len) : NULL;
    size_t len = equals != NULL ? (size_t)(equals - pair.ptr) : pair.len;

    *name = str_slice(pair, 0, len);
    *value = equals != NULL ? str_slice(pair, len + 1, pair.len) : STR("");
}

struct str http_cookie(const struct http_request *r, const char *name)
{
    const struct exchange *x = exchange_read(r);
    struct str wanted = str_of(name), pair, given, value;

    for (size_t i = 0; i < x->field_count; i++) {
        struct str list = http_span_str(x->head, x->fields[i].value);
        size_t at = 0;

        if (!http_same_word(field_name(x, i), STR("Cookie")))
            continue;
        while (next_part(list, ';', &at, &pair)) {
            split_pair(str_trim(pair), &given, &value);
            if (str_eq(given, wanted))
                return value;
        }
    }
    return STR_NONE;
}

/* --- the query --- */

size_t http_query_all(const struct http_request *r, const char *name, struct str *out, size_t max)
{
    struct str query = exchange_read(r)->query, wanted = str_of(name), pair, given, value;
    size_t at = 0, count = 0;

    /* A query that is no text was refused before the handler could ask. */
    while (count < max && next_part(query, '&', &at, &pair)) {
        split_pair(pair, &given, &value);
        if (str_eq(given, wanted) && percent_decode_form(r->mem, value, &out[count]))
            count++;
    }
    return count;
}

struct str http_query(const struct http_request *r, const char *name)
{
    struct str value;

    return http_query_all(r, name, &value, 1) == 1 ? value : STR_NONE;
}

size_t http_query_names(const struct http_request *r, struct str *out, size_t max)
{
    struct str query = exchange_read(r)->query, pair, value;
    size_t at = 0, count = 0;

    /* Nothing between two separators, as in "?" or "a=1&": no parameter. */
    while (count < max && next_part(query, '&', &at, &pair))
        if (pair.len > 0 && !str_eq(pair, STR("=")))
            split_pair(pair, &out[count++], &value);
    return count;
}

struct str http_query_text(const struct http_request *r)
{
    return exchange_read(r)->query;
}

enum http_pair http_pair_next(struct arena *mem, struct str encoded, size_t *at, struct str *name,
                              struct str *value)
{
    struct str pair, raw_name, raw_value;

    do {
        if (!next_part(encoded, '&', at, &pair))
            return HTTP_PAIR_END;
    } while (pair.len == 0 || str_eq(pair, STR("=")));
    split_pair(pair, &raw_name, &raw_value);
    return percent_decode_form(mem, raw_name, name) && percent_decode_form(mem, raw_value, value)
               ? HTTP_PAIR_FOUND
               : HTTP_PAIR_BROKEN;
}

/* --- the connection --- */

bool http_is_tls(const struct http_request *r)
{
    return exchange_read(r)->server->tls != NULL;
}

int http_socket(const struct http_request *r)
{
    return exchange_read(r)->connection->fd;
}

static bool peer_address(const struct http_request *r, struct sockaddr_storage *out)
{
    socklen_t len = sizeof(*out);

    return getpeername(http_socket(r), (struct sockaddr *)out, &len) == 0 &&
           (out->ss_family == AF_INET || out->ss_family == AF_INET6);
}

bool http_peer(const struct http_request *r, struct ip *out)
{
    struct sockaddr_storage address;
    char text[INET6_ADDRSTRLEN];

    return peer_address(r, &address) &&
           getnameinfo((const struct sockaddr *)&address,
                       address.ss_family == AF_INET ? sizeof(struct sockaddr_in)
                                                    : sizeof(struct sockaddr_in6),
                       text, sizeof(text), NULL, 0, NI_NUMERICHOST) == 0 &&
           ip_read(str_of(text), out);
}

static bool is_forwarded(const struct exchange *x)
{
    for (size_t i = 0; i < x->field_count; i++) {
        struct str name = field_name(x, i);

        if (http_same_word(name, STR("Forwarded")) ||
            (name.len >= 12 && strncasecmp(name.ptr, "X-Forwarded-", 12) == 0))
            return true;
    }
    return false;
}

bool http_is_local(const struct http_request *r)
{
    struct sockaddr_storage address;

    if (is_forwarded(exchange_read(r)) || !peer_address(r, &address))
        return false;
    if (address.ss_family == AF_INET)
        return ((const uint8_t *)&((const struct sockaddr_in *)&address)->sin_addr)[0] == 127;
    const struct in6_addr *ip = &((const struct sockaddr_in6 *)&address)->sin6_addr;

    return IN6_IS_ADDR_LOOPBACK(ip) || (IN6_IS_ADDR_V4MAPPED(ip) && ip->s6_addr[12] == 127);
}
