/* http_read.c - what a request says beside its body; see http.h. */
#include "api/http_inner.h"
#include "api/percent.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <strings.h>
#include <sys/socket.h>

static struct str lookup(const struct http_request *r, enum MHD_ValueKind kind, const char *name)
{
    const char *value = NULL;
    size_t len = 0;

    if (MHD_lookup_connection_value_n(((const struct exchange *)r)->handle, kind, name,
                                      strlen(name), &value, &len) != MHD_YES)
        return STR_NONE;
    return value == NULL ? STR("") : str_from(value, len);
}

struct str http_header(const struct http_request *r, const char *name)
{
    return lookup(r, MHD_HEADER_KIND, name);
}

struct str http_cookie(const struct http_request *r, const char *name)
{
    return lookup(r, MHD_COOKIE_KIND, name);
}

bool http_is_tls(const struct http_request *r)
{
    return ((const struct exchange *)r)->server->options.tls_cert != NULL;
}

struct counting {
    const char *name;
    unsigned count;
};

static enum MHD_Result count_one(void *context, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    struct counting *c = context;

    (void)kind;
    (void)value;
    c->count += strcasecmp(name, c->name) == 0;
    return MHD_YES;
}

unsigned http_header_count(const struct http_request *r, const char *name)
{
    struct counting c = {.name = name};

    (void)MHD_get_connection_values(((const struct exchange *)r)->handle, MHD_HEADER_KIND,
                                    count_one, &c);
    return c.count;
}

bool http_peer(const struct http_request *r, struct ip *out)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        ((const struct exchange *)r)->handle, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    char text[INET6_ADDRSTRLEN];

    return info != NULL && info->client_addr != NULL &&
           getnameinfo(info->client_addr,
                       info->client_addr->sa_family == AF_INET ? sizeof(struct sockaddr_in)
                                                               : sizeof(struct sockaddr_in6),
                       text, sizeof(text), NULL, 0, NI_NUMERICHOST) == 0 &&
           ip_read(str_of(text), out);
}

int http_socket(const struct http_request *r)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        ((const struct exchange *)r)->handle, MHD_CONNECTION_INFO_CONNECTION_FD);

    return info != NULL ? info->connect_fd : -1;
}

struct str http_query(const struct http_request *r, const char *name)
{
    struct str encoded = lookup(r, MHD_GET_ARGUMENT_KIND, name), text;

    /* A query that is no text was refused before the handler could ask. */
    return percent_decode(r->mem, encoded, &text) ? text : STR_NONE;
}

struct values {
    struct arena *mem;
    const char *name;
    struct str *items;
    size_t count, max;
};

static enum MHD_Result add_value(void *context, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    struct values *v = context;

    (void)kind;
    if (strcmp(name, v->name) != 0 || v->count == v->max)
        return MHD_YES;
    if (percent_decode(v->mem, value == NULL ? STR("") : str_of(value), &v->items[v->count]))
        v->count++;
    return MHD_YES;
}

size_t http_query_all(const struct http_request *r, const char *name, struct str *out, size_t max)
{
    struct values v = {.mem = r->mem, .name = name, .items = out, .max = max};

    (void)MHD_get_connection_values(((const struct exchange *)r)->handle, MHD_GET_ARGUMENT_KIND,
                                    add_value, &v);
    return v.count;
}

static enum MHD_Result add_name(void *context, enum MHD_ValueKind kind, const char *name,
                                const char *value)
{
    struct values *v = context;

    (void)kind;
    /* Nothing between two separators, as in "?" or "a=1&": no parameter. */
    if (name[0] == '\0' && (value == NULL || value[0] == '\0'))
        return MHD_YES;
    if (v->count < v->max)
        v->items[v->count++] = str_copy(v->mem, str_of(name));
    return MHD_YES;
}

size_t http_query_names(const struct http_request *r, struct str *out, size_t max)
{
    struct values v = {.mem = r->mem, .items = out, .max = max};

    (void)MHD_get_connection_values(((const struct exchange *)r)->handle, MHD_GET_ARGUMENT_KIND,
                                    add_name, &v);
    return v.count;
}

static enum MHD_Result find_forwarding(void *context, enum MHD_ValueKind kind, const char *name,
                                       const char *value)
{
    bool *is_forwarded = context;

    (void)kind;
    (void)value;
    if (strcasecmp(name, "Forwarded") == 0 || strncasecmp(name, "X-Forwarded-", 12) == 0)
        *is_forwarded = true;
    return MHD_YES;
}

bool http_is_local(const struct http_request *r)
{
    bool is_forwarded = false;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        ((const struct exchange *)r)->handle, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info == NULL ? NULL : info->client_addr;

    (void)MHD_get_connection_values(((const struct exchange *)r)->handle, MHD_HEADER_KIND,
                                    find_forwarding, &is_forwarded);
    if (address == NULL || is_forwarded)
        return false;
    if (address->sa_family == AF_INET)
        return ((const uint8_t *)&((const struct sockaddr_in *)address)->sin_addr)[0] == 127;
    if (address->sa_family == AF_INET6) {
        const struct in6_addr *ip = &((const struct sockaddr_in6 *)address)->sin6_addr;

        return IN6_IS_ADDR_LOOPBACK(ip) || (IN6_IS_ADDR_V4MAPPED(ip) && ip->s6_addr[12] == 127);
    }
    return false;
}
