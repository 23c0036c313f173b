/*
 * message.h - messages that leave with a commit: events, mails, text messages,
 * push notifications.
 *
 * A message is staged like a record: the step that fails sends none. It says
 * what is sent and knows nothing of where: the node finds the subscriptions of
 * an event, and the relay the server of a mail.
 */
#ifndef PAWL_ENGINE_MESSAGE_H
#define PAWL_ENGINE_MESSAGE_H

#include "base/uuid.h"
#include "base/vec.h"
#include "value/value.h"

enum message_kind {
#define MESSAGE_KIND(symbol, name) MESSAGE_##symbol,
#include "engine/commit/message_kind.def"
#undef MESSAGE_KIND
    MESSAGE_KIND_COUNT
};

const char *message_kind_name(enum message_kind kind);
bool message_kind_read(struct str name, enum message_kind *out) MUST_USE;

/* One message as the execution sends it. */
struct message {
    struct uuid id; /* the same however often it is sent */
    enum message_kind kind;
    struct str name; /* of an event; of others the first recipient, for people */
    struct str step; /* that sends it; empty for an event of the engine's own */
    /*
     * EVENT: {id, name, payload, key, executionId, code, at}, which is what
     * subscribers get. EMAIL: {to, cc, bcc, replyTo, subject, body, html}. SMS:
     * {to, body}. PUSH: {to, title, body}. BROKER: {exchange, routing_key, body, headers}.
     */
    struct str body_json;
};

/* What an event says. Texts may be empty but for the name. */
struct event_text {
    struct uuid id;
    struct str name, payload_json, key;
    bool has_execution;
    struct uuid execution;
    struct str code; /* of the execution */
    int64_t at_us;
};

/* An event as subscribers get it, in `mem`. */
struct str message_event_write(struct arena *mem, const struct event_text *e);

/*
 * What a trigger gets: the event and the chain (chain.h) that it arose in, in
 * `mem`; and back.
 */
struct str message_trigger_write(struct arena *mem, struct str event_json, struct str chain);
bool message_trigger_read(struct arena *mem, struct str body_json, struct value *event,
                          struct str *chain, struct err *err) MUST_USE;

/* What the destination of a trigger begins with; behind it stands "CODE/POSITION". */
#define MESSAGE_TRIGGER_LANE "trigger:"

struct execution;

/* The same of an event of an execution; `key` and `payload_json` may be empty. */
struct str message_event_json(struct arena *mem, const struct execution *x, struct uuid id,
                              struct str name, struct str key, struct str payload_json,
                              int64_t at_us);

struct messages {
    VEC_OF(struct message);
};

#endif
