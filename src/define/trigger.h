/*
 * trigger.h - what starts a process by itself: the items of `triggers`, compiled,
 * and what one of them comes to when it fires.
 *
 *     trigger + what has happened  --trigger_evaluate-->  a start, a signal, or nothing
 *
 * Pure: who watches the clock, takes the request or sees the event is elsewhere.
 * Which triggers are published is in the store's table `triggers`, see
 * store/read_triggers.h.
 *
 * why: decision 0285
 */
#ifndef PAWL_DEFINE_TRIGGER_H
#define PAWL_DEFINE_TRIGGER_H

#include "base/arena.h"
#include "base/err.h"
#include "value/value.h"

struct cel_program;
struct mapping;
struct program;

enum trigger_type {
#define TRIGGER_TYPE(symbol, word) TRIGGER_##symbol,
#include "define/trigger_types.def"
#undef TRIGGER_TYPE
    TRIGGER_TYPE_COUNT
};

enum {
    TRIGGERS_MAX = 50,      /* of one definition */
    TRIGGER_ID_MAX = 255,   /* bytes of what a sender calls a delivery */
    WEBHOOK_PATH_MAX = 200, /* bytes */
    TRIGGER_NAME_MAX = 200, /* bytes of the names of events and objects */
    TRIGGER_SIGNAL_TYPE_MAX = 255,
};

/* As the words of their fields stand in catalog.h. */
enum catch_up { CATCH_UP_ONE, CATCH_UP_NONE, CATCH_UP_ALL };
enum verify_encoding { VERIFY_HEX, VERIFY_BASE64 };

/* How the sender of a webhook proves who it is: as `header` and `encoding` say, or as a service does. */
enum verify_scheme {
    VERIFY_BY_HEADER,
#define VERIFY_SCHEME(symbol, word, header) VERIFY_##symbol,
#include "define/verify_schemes.def"
#undef VERIFY_SCHEME
    VERIFY_SCHEME_COUNT
};

/* The scheme of that word; VERIFY_SCHEME_COUNT: there is none. An empty word: BY_HEADER. */
enum verify_scheme verify_scheme_find(struct str word);

/* The header that has the proof of a scheme; of VERIFY_BY_HEADER "". */
const char *verify_scheme_header(enum verify_scheme scheme);

struct trigger {
    enum trigger_type type;
    uint32_t position;              /* in `triggers`, from 0 */
    struct str org_id;              /* SCHEDULE, WEBHOOK; empty: the default organisation */
    const struct cel_program *when; /* or NULL: always */
    const struct mapping *input;    /* a map, or NULL */
    const struct mapping *key;      /* WEBHOOK, EVENT; or NULL */
    /* SCHEDULE */
    struct str cron;
    struct str timezone; /* empty: UTC */
    enum catch_up catch_up;
    /* WEBHOOK */
    struct str path;              /* without a slash before it */
    struct str method;            /* in capitals */
    const struct mapping *id;     /* or NULL */
    struct str verify_credential; /* empty: whoever knows the path may call */
    struct str verify_header;     /* in small letters */
    enum verify_scheme verify_scheme;
    enum verify_encoding verify_encoding;
    const struct mapping *signal_type; /* NULL: it starts an execution */
    const struct mapping *correlation; /* as long as signal_type is there */
    /* EVENT, ACTION */
    struct str event;
    struct str object;
    struct str label; /* of the button; never empty */
};

const char *trigger_type_name(enum trigger_type type);
bool trigger_type_find(struct str name, enum trigger_type *out) MUST_USE;

/* What its expressions see; what does not belong to its type is VALUE_ABSENT. */
struct trigger_context {
    struct value webhook;  /* {payload, headers, query, method, path} */
    struct value event;    /* {name, payload, executionId, at} */
    struct value record;   /* {id, version, ...data} */
    struct value schedule; /* {id, at, cron, timezone} */
    struct value config;   /* a map */
    struct value user;     /* who it runs as: {id, name, email, role} */
    int64_t now_us;
};

struct trigger_outcome {
    bool fires;         /* `when` holds; else nothing but `id` is set */
    struct str id;      /* what the sender calls the delivery; empty: it has no name */
    struct value input; /* of the start, or the payload of the signal; a map. VALUE_ABSENT: `input`
                             * is not written */
    struct str key;     /* empty: none */
    struct str signal_type; /* empty: it is a start */
    struct str correlation;
};

/*
 * What a trigger of `p` comes to. *out is in `mem` and shares with the context
 * and the program. False: an expression failed or gave what it may not give
 * (ERR_INVALID, the message says which field).
 */
bool trigger_evaluate(struct arena *mem, const struct program *p, const struct trigger *t,
                      const struct trigger_context *context, struct trigger_outcome *out,
                      struct err *err) MUST_USE;

/*
 * What a trigger as it is written is found by, in `mem`: "POST shop/orders", the
 * name of an event, an object; empty for a schedule. Empty too when it is none,
 * which a definition that compiles has not.
 */
struct str trigger_topic(struct arena *mem, struct value written);

/* The same for a request: what a webhook with this method and path is found by. */
struct str trigger_webhook_topic(struct arena *mem, struct str method, struct str path);

#endif
