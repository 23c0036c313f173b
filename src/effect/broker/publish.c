/*
 * publish.c - what is published, and what the broker says to it; see inner.h.
 *
 * A message for an exchange that is not there would close the channel with all
 * that is unconfirmed on it: so it is asked before, once for each exchange, on a
 * channel of its own. What closes the channel all the same (an exchange that was
 * deleted, a right that is missing) is found by publishing one at a time for a
 * while: the one that is unconfirmed then is the one that is refused.
 */
#include "effect/broker/broker.h"
#include "effect/broker/headers.h"
#include "effect/broker/inner.h"
#include "value/json.h"

#include <stdio.h>
#include <string.h>

enum {
    KNOWN_MAX = 1000, /* exchanges that are remembered */
    SHORT_MAX = 255,  /* bytes of a name in AMQP */
};

static void link_lost(struct broker *b, const char *why)
{
    if (!b->is_link_lost)
        snprintf(b->lost_reason, sizeof(b->lost_reason), "%s", why);
    b->is_link_lost = true;
}

/* --- channels and exchanges --- */

static bool open_channel(struct broker *b, amqp_channel_t channel)
{
    amqp_rpc_reply_t reply;
    char why[LINK_REASON_MAX] = "";

    (void)amqp_channel_open(b->link.state, channel);
    reply = amqp_get_rpc_reply(b->link.state);
    if (reply.reply_type == AMQP_RESPONSE_NORMAL)
        return true;
    (void)link_is_usable(reply, why);
    link_lost(b, why);
    return false;
}

/* Answer the closing of the channel, and open it again. */
static bool reopen_channel(struct broker *b, amqp_channel_t channel)
{
    amqp_channel_close_ok_t ok = {0};
    int status = amqp_send_method(b->link.state, channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok);
    char why[LINK_REASON_MAX];

    if (status == AMQP_STATUS_OK)
        return open_channel(b, channel);
    link_status(status, why);
    link_lost(b, why);
    return false;
}

/* Declare an exchange, or ask whether it is there. False: `why`, or the link is lost. */
static bool declare(struct broker *b, struct str name, bool only_asks, char why[LINK_REASON_MAX])
{
    amqp_rpc_reply_t reply;

    (void)amqp_exchange_declare(b->link.state, CHANNEL_ASK, link_bytes(name),
                                amqp_cstring_bytes("topic"), only_asks, 1, 0, 0, amqp_empty_table);
    reply = amqp_get_rpc_reply(b->link.state);
    if (reply.reply_type == AMQP_RESPONSE_NORMAL)
        return true;
    if (!link_is_usable(reply, why))
        link_lost(b, why);
    else
        (void)reopen_channel(b, CHANNEL_ASK);
    return false;
}

static void forget_exchanges(struct broker *b)
{
    arena_fini(&b->mem);
    arena_init(&b->mem);
    map_init(&b->known, &b->mem);
}

/*
 * Whether the exchange is there. That of events is declared; one of another type, or which this
 * user may not declare, is the operator's business.
 */
static bool exchange_is_there(struct broker *b, struct str name, char why[LINK_REASON_MAX])
{
    bool is_ours = str_eq(name, STR(BROKER_EVENTS_EXCHANGE));

    if (name.len == 0 || map_get(&b->known, name) != NULL)
        return true;
    if (!(is_ours && declare(b, name, false, why)) &&
        (b->is_link_lost || !declare(b, name, true, why)))
        return false;
    if (b->known.count >= KNOWN_MAX)
        forget_exchanges(b);
    map_put(&b->known, str_copy(&b->mem, name), b);
    return true;
}

/* Numbers of messages count from 1 on each channel in confirm mode. */
static bool begin_channel(struct broker *b)
{
    amqp_rpc_reply_t reply;
    char why[LINK_REASON_MAX] = "";

    if (!open_channel(b, CHANNEL_PUBLISH))
        return false;
    (void)amqp_confirm_select(b->link.state, CHANNEL_PUBLISH);
    reply = amqp_get_rpc_reply(b->link.state);
    if (reply.reply_type == AMQP_RESPONSE_NORMAL)
        return true;
    (void)link_is_usable(reply, why);
    link_lost(b, why);
    return false;
}

bool publish_begin(struct broker *b)
{
    bool is_again = b->is_channel_closed;
    amqp_channel_close_ok_t ok = {0};
    char why[LINK_REASON_MAX] = "";

    b->first_tag = b->next_tag = 1;
    b->is_returning = b->is_channel_closed = false;
    forget_exchanges(b);
    if (is_again) {
        if (amqp_send_method(b->link.state, CHANNEL_PUBLISH, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok) !=
            AMQP_STATUS_OK) {
            link_lost(b, "the channel could not be closed");
            return false;
        }
        return begin_channel(b);
    }
    if (!begin_channel(b) || !open_channel(b, CHANNEL_ASK))
        return false;
    (void)exchange_is_there(b, STR(BROKER_EVENTS_EXCHANGE), why);
    return !b->is_link_lost;
}

/* --- publishing --- */

bool publish_has_room(const struct broker *b)
{
    uint64_t waiting = b->next_tag - b->first_tag;

    return b->careful > 0 ? waiting == 0 : waiting < WINDOW;
}

/* The parts of a message of message.publish. */
static bool read_spec(struct broker_message *m, struct value *headers, struct err *err)
{
    struct value spec, body;

    if (!json_read(&m->mem, m->spec_json, &spec, err))
        return false;
    if (spec.kind != VALUE_MAP)
        return err_set(err, ERR_INVALID, "it is no message");
    m->exchange = value_map_text(spec, STR("exchange"));
    m->routing_key = value_map_text(spec, STR("routing_key"));
    m->type = value_map_text(spec, STR("type"));
    *headers = value_map_get_str(spec, STR("headers"));
    body = value_map_get_str(spec, STR("body"));
    m->body = body.kind == VALUE_ABSENT ? STR("null") : json_must_text(&m->mem, body);
    return true;
}

static bool read_headers(struct broker_message *m, amqp_table_t *out, struct err *err)
{
    struct value headers = value_absent();

    if (m->spec_json.len > 0
            ? !read_spec(m, &headers, err)
            : m->headers_json.len > 0 && !json_read(&m->mem, m->headers_json, &headers, err))
        return false;
    if (m->exchange.len > SHORT_MAX || m->routing_key.len > SHORT_MAX || m->id.len > SHORT_MAX)
        return err_set(err, ERR_INVALID, "exchange, routing key and id have at most 255 bytes");
    if (!headers_of(&m->mem, headers, out))
        return err_set(err, ERR_INVALID, "the headers are too large, or a name is above 255 bytes");
    return true;
}

void publish_one(struct broker *b, struct broker_message *m)
{
    char why[LINK_REASON_MAX] = "";
    amqp_basic_properties_t properties = {
        ._flags = AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG |
                  AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_APP_ID_FLAG | AMQP_BASIC_HEADERS_FLAG,
        .content_type = amqp_cstring_bytes("application/json"),
        .delivery_mode = AMQP_DELIVERY_PERSISTENT,
        .message_id = link_bytes(m->id),
        .app_id = amqp_cstring_bytes("pawl"),
    };
    struct err err;
    int status;

    if (m->is_opaque)
        properties.content_type = amqp_cstring_bytes("application/octet-stream");
    if (!read_headers(m, &properties.headers, &err)) {
        broker_answer(b, m, BROKER_UNROUTABLE, err.message);
        return;
    }
    if (m->type.len > 0 && m->type.len <= SHORT_MAX) {
        properties._flags |= AMQP_BASIC_TYPE_FLAG;
        properties.type = link_bytes(m->type);
    }
    if (!exchange_is_there(b, m->exchange, why)) {
        broker_answer(b, m, b->is_link_lost ? BROKER_UNSENT : BROKER_UNROUTABLE, why);
        return;
    }
    status = amqp_basic_publish(b->link.state, CHANNEL_PUBLISH, link_bytes(m->exchange),
                                link_bytes(m->routing_key), 1, 0, &properties, link_bytes(m->body));
    if (status != AMQP_STATUS_OK) {
        link_status(status, why);
        link_lost(b, why);
        broker_answer(b, m, BROKER_UNSENT, why);
        return;
    }
    b->unconfirmed[b->next_tag++ % WINDOW] = m;
}

/* --- what comes back --- */

static void settle(struct broker *b, uint64_t tag, bool is_acked)
{
    struct broker_message *m = b->unconfirmed[tag % WINDOW];

    if (m == NULL)
        return;
    b->unconfirmed[tag % WINDOW] = NULL;
    if (b->careful > 0)
        b->careful--;
    if (!is_acked)
        broker_answer(b, m, BROKER_REFUSED, "the broker could not take it");
    else if (m->is_returned)
        broker_answer(b, m, BROKER_UNROUTABLE, str_copy(&m->mem, m->reason).ptr);
    else
        broker_answer(b, m, BROKER_CONFIRMED, "");
}

/* Of this message, or of all up to it. Numbers that were never given are nobody's. */
static void confirm(struct broker *b, uint64_t tag, bool is_multiple, bool is_acked)
{
    if (tag == 0 && is_multiple)
        tag = b->next_tag - 1;
    if (tag < b->first_tag || tag >= b->next_tag)
        return;
    for (uint64_t t = is_multiple ? b->first_tag : tag; t <= tag; t++)
        settle(b, t, is_acked);
    while (b->first_tag < b->next_tag && b->unconfirmed[b->first_tag % WINDOW] == NULL)
        b->first_tag++;
}

/* The properties of a returned message say which it is. */
static void returned(struct broker *b, const amqp_basic_properties_t *p)
{
    struct str id =
        (p->_flags & AMQP_BASIC_MESSAGE_ID_FLAG) != 0 ? link_str(p->message_id) : STR_NONE;

    for (uint64_t t = b->first_tag; t < b->next_tag; t++) {
        struct broker_message *m = b->unconfirmed[t % WINDOW];

        if (m == NULL || m->is_returned || !str_eq(m->id, id))
            continue;
        m->is_returned = true;
        m->reason = str_copy(&m->mem, str_of(b->return_reason));
        return;
    }
}

static void begin_return(struct broker *b, const amqp_basic_return_t *r)
{
    char text[32], exchange[72], key[72];

    link_text(r->reply_text, text, sizeof(text));
    link_text(r->exchange, exchange, sizeof(exchange));
    link_text(r->routing_key, key, sizeof(key));
    snprintf(b->return_reason, sizeof(b->return_reason),
             "%s: no queue takes messages of exchange '%s' with routing key '%s'", text, exchange,
             key);
    b->is_returning = true;
}

/* The broker has closed the channel, or the whole connection, because of one of those that wait. */
static void blame(struct broker *b, const char *why)
{
    uint64_t waiting = b->next_tag - b->first_tag;

    if (b->careful > 0 && waiting == 1 && b->unconfirmed[b->first_tag % WINDOW] != NULL) {
        /* It was alone: it is meant. */
        struct broker_message *m = b->unconfirmed[b->first_tag % WINDOW];

        b->unconfirmed[b->first_tag % WINDOW] = NULL;
        b->first_tag++;
        broker_answer(b, m, BROKER_REFUSED, why);
    }
    if (waiting > b->careful)
        b->careful = (unsigned)waiting + 1;
}

static void channel_closed(struct broker *b, amqp_channel_t channel,
                           const amqp_channel_close_t *close)
{
    char why[LINK_REASON_MAX];

    link_text(close->reply_text, why, sizeof(why));
    if (channel != CHANNEL_PUBLISH) {
        (void)reopen_channel(b, channel);
        return;
    }
    blame(b, why);
    b->is_channel_closed = true;
}

static void connection_closed(struct broker *b, const amqp_connection_close_t *close)
{
    char why[LINK_REASON_MAX];

    link_text(close->reply_text, why, sizeof(why));
    /* Unless somebody has closed it, or the broker ends. */
    if (close->reply_code != AMQP_CONNECTION_FORCED)
        blame(b, why);
    link_lost(b, why);
}

static void take_method(struct broker *b, amqp_channel_t channel, const amqp_method_t *method)
{
    char why[LINK_REASON_MAX];

    if (method->id == AMQP_BASIC_ACK_METHOD) {
        const amqp_basic_ack_t *ack = method->decoded;
        confirm(b, ack->delivery_tag, ack->multiple != 0, true);
    } else if (method->id == AMQP_BASIC_NACK_METHOD) {
        const amqp_basic_nack_t *nack = method->decoded;
        confirm(b, nack->delivery_tag, nack->multiple != 0, false);
    } else if (method->id == AMQP_BASIC_RETURN_METHOD) {
        begin_return(b, method->decoded);
    } else if (method->id == AMQP_CHANNEL_CLOSE_METHOD) {
        channel_closed(b, channel, method->decoded);
    } else if (method->id == AMQP_CONNECTION_CLOSE_METHOD) {
        connection_closed(b, method->decoded);
    } else if (method->id == AMQP_CONNECTION_BLOCKED_METHOD) {
        const amqp_connection_blocked_t *blocked = method->decoded;
        link_text(blocked->reason, why, sizeof(why));
        broker_set_state(b, BROKER_BLOCKED, why);
    } else if (method->id == AMQP_CONNECTION_UNBLOCKED_METHOD) {
        broker_set_state(b, BROKER_UP, "");
    }
}

static void take_frame(struct broker *b, const amqp_frame_t *frame)
{
    if (frame->frame_type == AMQP_FRAME_METHOD) {
        take_method(b, frame->channel, &frame->payload.method);
    } else if (frame->frame_type == AMQP_FRAME_HEADER && b->is_returning) {
        returned(b, frame->payload.properties.decoded);
        b->is_returning = false;
    }
    /* The body of what is returned is known: it is skipped. */
}

void publish_read(struct broker *b)
{
    const struct timeval now = {0};
    amqp_frame_t frame;
    char why[LINK_REASON_MAX];
    int status;

    while (!b->is_link_lost && !b->is_channel_closed) {
        status = amqp_simple_wait_frame_noblock(b->link.state, &frame, &now);
        if (status == AMQP_STATUS_OK) {
            take_frame(b, &frame);
            amqp_maybe_release_buffers(b->link.state);
        } else {
            if (status != AMQP_STATUS_TIMEOUT) {
                link_status(status, why);
                link_lost(b, why);
            }
            return;
        }
    }
}

void publish_give_up(struct broker *b)
{
    for (; b->first_tag < b->next_tag; b->first_tag++) {
        struct broker_message *m = b->unconfirmed[b->first_tag % WINDOW];

        b->unconfirmed[b->first_tag % WINDOW] = NULL;
        if (m != NULL)
            broker_answer(b, m, BROKER_UNSENT,
                          b->is_link_lost ? b->lost_reason : "the channel was closed");
    }
}
