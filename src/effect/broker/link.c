/* link.c - see link.h. */
#include "effect/broker/link.h"

#include "base/alloc.h"
#include "effect/broker/broker.h"

#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define SYSTEM_CERTIFICATES "/etc/ssl/certs/ca-certificates.crt"

enum { LINK_CHANNELS_MAX = 16 };

void link_init(struct broker_wire *l)
{
    *l = (struct broker_wire){.fd = -1};
    pthread_mutex_init(&l->lock, NULL);
}

void link_fini(struct broker_wire *l)
{
    link_close(l);
    pthread_mutex_destroy(&l->lock);
}

/* --- what the broker says --- */

void link_text(amqp_bytes_t text, char *out, size_t size)
{
    size_t len = text.len < size - 1 ? text.len : size - 1;
    const char *from = text.bytes;

    for (size_t i = 0; i < len; i++)
        out[i] = from[i] >= ' ' && from[i] < 0x7f ? from[i] : '?';
    out[len] = '\0';
}

void link_status(int status, char why[LINK_REASON_MAX])
{
    snprintf(why, LINK_REASON_MAX, "%s", amqp_error_string2(status));
}

bool link_is_usable(amqp_rpc_reply_t reply, char why[LINK_REASON_MAX])
{
    switch (reply.reply_type) {
    case AMQP_RESPONSE_NORMAL:
        return true;
    case AMQP_RESPONSE_NONE:
        snprintf(why, LINK_REASON_MAX, "the broker did not answer");
        return false;
    case AMQP_RESPONSE_LIBRARY_EXCEPTION:
        link_status(reply.library_error, why);
        return false;
    case AMQP_RESPONSE_SERVER_EXCEPTION:
        break;
    }
    if (reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD) {
        const amqp_channel_close_t *close = reply.reply.decoded;

        link_text(close->reply_text, why, LINK_REASON_MAX);
        return true;
    }
    if (reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD) {
        const amqp_connection_close_t *close = reply.reply.decoded;

        link_text(close->reply_text, why, LINK_REASON_MAX);
    } else {
        snprintf(why, LINK_REASON_MAX, "the broker answered something else");
    }
    return false;
}

/* --- connecting --- */

/* The parts of the URL, which point into `copy`. */
static bool read_url(char *copy, struct amqp_connection_info *out)
{
    amqp_default_connection_info(out);
    return amqp_parse_url(copy, out) == AMQP_STATUS_OK;
}

/* The library takes localhost where none is named: an address that was cut off leads there. */
static bool has_host(struct str url)
{
    struct str rest = str_slice(url, (size_t)str_find(url, STR("://"), 0) + 3, url.len);
    struct str place = str_cut(&rest, '/');

    for (int64_t at; (at = str_find(place, STR("@"), 0)) >= 0;)
        place = str_slice(place, (size_t)at + 1, place.len);
    return place.len > 0 && place.ptr[0] != ':';
}

const char *broker_url_mistake(struct str url)
{
    struct amqp_connection_info info;
    const char *mistake = NULL;
    char *copy;

    if (!str_starts_with(url, STR("amqp://")) && !str_starts_with(url, STR("amqps://")))
        return "it begins with amqp:// or amqps://";
    copy = alloc_text(url);
    if (!read_url(copy, &info))
        mistake = "it is amqp://USER:PASSWORD@HOST:PORT/VHOST, what is special percent-encoded";
    else if (!has_host(url))
        mistake = "it names no host";
    free(copy);
    return mistake;
}

/* Certificates are verified, and so is the name of the host in them. */
static amqp_socket_t *new_socket(amqp_connection_state_t state, bool is_tls,
                                 char why[LINK_REASON_MAX])
{
    const char *trusted = getenv("SSL_CERT_FILE");
    amqp_socket_t *socket;
    int status;

    if (!is_tls)
        return alloc_check(amqp_tcp_socket_new(state));
    if (trusted == NULL || trusted[0] == '\0')
        trusted = SYSTEM_CERTIFICATES;
    socket = alloc_check(amqp_ssl_socket_new(state));
    amqp_ssl_socket_set_verify_peer(socket, 1);
    amqp_ssl_socket_set_verify_hostname(socket, 1);
    (void)amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST);
    status = amqp_ssl_socket_set_cacert(socket, trusted);
    if (status == AMQP_STATUS_OK)
        return socket;
    snprintf(why, LINK_REASON_MAX, "the trusted certificates in %.150s cannot be read", trusted);
    return NULL;
}

/* So that the broker says when it takes nothing, and a look at its connections shows who this is. */
static bool sign_in(struct broker_wire *l, const struct amqp_connection_info *info,
                    const char *name, char why[LINK_REASON_MAX])
{
    amqp_table_entry_t able[] = {
        {.key = amqp_cstring_bytes("publisher_confirms"),
         .value = {.kind = AMQP_FIELD_KIND_BOOLEAN, .value.boolean = 1}},
        {.key = amqp_cstring_bytes("connection.blocked"),
         .value = {.kind = AMQP_FIELD_KIND_BOOLEAN, .value.boolean = 1}},
        {.key = amqp_cstring_bytes("consumer_cancel_notify"),
         .value = {.kind = AMQP_FIELD_KIND_BOOLEAN, .value.boolean = 1}},
    };
    amqp_table_entry_t entries[] = {
        {.key = amqp_cstring_bytes("capabilities"),
         .value = {.kind = AMQP_FIELD_KIND_TABLE,
                   .value.table = {.num_entries = ARRAY_SIZE(able), .entries = able}}},
        {.key = amqp_cstring_bytes("connection_name"),
         .value = {.kind = AMQP_FIELD_KIND_UTF8, .value.bytes = amqp_cstring_bytes(name)}},
    };
    amqp_table_t properties = {.num_entries = ARRAY_SIZE(entries), .entries = entries};
    amqp_rpc_reply_t reply = amqp_login_with_properties(
        l->state, info->vhost, LINK_CHANNELS_MAX, LINK_FRAME_MAX, LINK_HEARTBEAT_S, &properties,
        AMQP_SASL_METHOD_PLAIN, info->user, info->password);

    if (reply.reply_type == AMQP_RESPONSE_NORMAL)
        return true;
    (void)link_is_usable(reply, why);
    return false;
}

static bool connect_to(struct broker_wire *l, const struct amqp_connection_info *info,
                       char why[LINK_REASON_MAX])
{
    const struct timeval patience = {.tv_sec = LINK_TIMEOUT_S};
    amqp_socket_t *socket;
    int status;

    l->state = alloc_check(amqp_new_connection());
    (void)amqp_set_handshake_timeout(l->state, &patience);
    (void)amqp_set_rpc_timeout(l->state, &patience);
    socket = new_socket(l->state, info->ssl != 0, why);
    if (socket == NULL)
        return false;
    status = amqp_socket_open_noblock(socket, info->host, info->port, &patience);
    if (status != AMQP_STATUS_OK) {
        link_status(status, why);
        return false;
    }
    pthread_mutex_lock(&l->lock);
    l->fd = amqp_get_sockfd(l->state);
    if (l->is_cut)
        (void)shutdown(l->fd, SHUT_RDWR);
    pthread_mutex_unlock(&l->lock);
    return true;
}

bool link_open(struct broker_wire *l, struct str url, const char *name, char why[LINK_REASON_MAX])
{
    struct amqp_connection_info info;
    char *copy = alloc_text(url);
    bool is_open = false;

    amqp_set_initialize_ssl_library(0);
    if (!read_url(copy, &info))
        snprintf(why, LINK_REASON_MAX, "the address of the broker is none");
    else
        is_open = connect_to(l, &info, why) && sign_in(l, &info, name, why);
    explicit_bzero(copy, url.len);
    free(copy);
    if (!is_open)
        link_close(l);
    return is_open;
}

void link_close(struct broker_wire *l)
{
    /* Without a farewell: that would wait for an answer. The broker notices. */
    pthread_mutex_lock(&l->lock);
    l->fd = -1;
    pthread_mutex_unlock(&l->lock);
    if (l->state != NULL)
        (void)amqp_destroy_connection(l->state);
    l->state = NULL;
}

void link_cut(struct broker_wire *l)
{
    pthread_mutex_lock(&l->lock);
    l->is_cut = true;
    if (l->fd >= 0)
        (void)shutdown(l->fd, SHUT_RDWR);
    pthread_mutex_unlock(&l->lock);
}
