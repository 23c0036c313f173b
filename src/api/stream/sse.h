/*
 * sse.h - one client that listens to server-sent events: what it has not taken
 * yet, and how it ends.
 *
 *     sse_begin --> open --sse_end--> ending --all taken--> gone
 *                     +---sse_abort, or the client leaves----> gone
 *
 * Whoever writes asks sse_fits() first: a client has SSE_ROOM_BYTES. A single
 * event that is larger is sent to a client that has taken everything else.
 */
#ifndef PAWL_API_STREAM_SSE_H
#define PAWL_API_STREAM_SSE_H

#include "api/call.h"

enum { SSE_ROOM_BYTES = 64 << 10 };
#define SSE_SLOW_US INT64_C(2000000)
#define SSE_HEARTBEAT_US INT64_C(15000000)

struct sse {
    struct http_request *http; /* NULL before it is begun and once it has gone */
    const struct call *call;   /* while there is `http` */
    struct buf out;
    size_t taken;     /* of `out` */
    int64_t taken_us; /* when the client took something, or was given something to take */
    bool is_ending;
    const struct clock *clock;
    void (*drained)(struct sse *s); /* everything was taken: write more, or nothing */
    void (*gone)(struct sse *s);    /* called once, after sse_begin() */
};

/* Make one that is not begun. */
void sse_init(struct sse *s, const struct clock *clock, void (*drained)(struct sse *s),
              void (*gone)(struct sse *s));
void sse_fini(struct sse *s);

/* Answer the call with the stream. */
void sse_begin(struct sse *s, struct call *c);

static inline size_t sse_unsent(const struct sse *s)
{
    return s->out.len - s->taken;
}

/* Whether `len` more bytes may wait for this client. */
static inline bool sse_fits(const struct sse *s, size_t len)
{
    return sse_unsent(s) == 0 || sse_unsent(s) + len <= SSE_ROOM_BYTES;
}

/* Whether something waits for the client, and it has taken nothing for a while. */
bool sse_is_slow(const struct sse *s);

/* Send text that sse_event() made. */
void sse_add(struct sse *s, struct str text);
void sse_heartbeat(struct sse *s); /* a comment: clients and proxies see that the stream lives */

/* End it when everything has been taken; or now. */
void sse_end(struct sse *s);
void sse_abort(struct sse *s);

/* Cut it unless its caller would be let in as when it began: the next try is looked at anew. */
void sse_recheck(struct sse *s);

/* Append one event: `json` has no line feeds. */
void sse_event(struct buf *out, const char *type, int64_t id, struct str json);

/*
 * The number in the header Last-Event-ID, else in ?after, else -1; a call with
 * another text there is refused and the answer is false.
 */
bool sse_last_id(struct call *c, int64_t *out) MUST_USE;

#endif
