/* sse.c - see sse.h. */
#include "api/stream/sse.h"

#include "api/access/directory.h"
#include "api/api.h"
#include "base/time/clock.h"
#include "http/http.h"
#include "value/mask.h"

enum { CAPACITY_KEPT_BYTES = 4096 };

static ssize_t more(void *context, char *out, size_t capacity)
{
    struct sse *s = context;
    size_t count = sse_unsent(s);

    if (count == 0 && s->is_ending)
        return HTTP_STREAM_END;
    if (count > capacity)
        count = capacity;
    if (count == 0)
        return 0;
    memcpy(out, s->out.ptr + s->taken, count);
    s->taken += count;
    s->taken_us = clock_mono_us(s->clock);
    if (sse_unsent(s) > 0)
        return (ssize_t)count;
    /* Thousands of clients are silent most of the time. */
    if (s->out.capacity > CAPACITY_KEPT_BYTES)
        buf_fini(&s->out);
    buf_clear(&s->out);
    s->taken = 0;
    if (!s->is_ending)
        s->drained(s);
    return (ssize_t)count;
}

static void gone(void *context)
{
    struct sse *s = context;

    s->http = NULL;
    s->call = NULL;
    s->gone(s);
}

void sse_init(struct sse *s, const struct clock *clock, void (*drained)(struct sse *s),
              void (*gone_fn)(struct sse *s))
{
    *s = (struct sse){.clock = clock, .drained = drained, .gone = gone_fn};
    buf_init(&s->out);
}

void sse_fini(struct sse *s)
{
    buf_fini(&s->out);
}

void sse_begin(struct sse *s, struct call *c)
{
    s->http = c->http;
    s->call = c;
    s->taken_us = clock_mono_us(s->clock);
    http_stream(c->http,
                &(struct http_answer){
                    .status = 200,
                    .content_type = "text/event-stream",
                    .headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}}},
                &(struct http_source){.more = more, .gone = gone, .context = s});
}

bool sse_is_slow(const struct sse *s)
{
    return sse_unsent(s) > 0 && clock_mono_us(s->clock) - s->taken_us > SSE_SLOW_US;
}

void sse_add(struct sse *s, struct str text)
{
    size_t at;

    if (s->is_ending || text.len == 0)
        return;
    if (sse_unsent(s) == 0)
        s->taken_us = clock_mono_us(s->clock);
    at = s->out.len;
    buf_str(&s->out, text);
    s->out.len = at + mask_links_in(s->out.ptr + at, s->out.len - at);
    if (s->http != NULL)
        http_stream_wake(s->http);
}

void sse_heartbeat(struct sse *s)
{
    if (sse_unsent(s) == 0)
        sse_add(s, STR(":\n\n"));
}

void sse_end(struct sse *s)
{
    s->is_ending = true;
    if (s->http != NULL)
        http_stream_wake(s->http);
}

void sse_abort(struct sse *s)
{
    s->is_ending = true;
    if (s->http != NULL)
        http_stream_abort(s->http);
}

void sse_recheck(struct sse *s)
{
    if (s->http != NULL && !s->is_ending &&
        !directory_admits(api_parts(s->call->api)->people, &s->call->pass))
        sse_abort(s);
}

void sse_event(struct buf *out, const char *type, int64_t id, struct str json)
{
    buf_printf(out, "id: %lld\nevent: %s\ndata: ", (long long)id, type);
    buf_str(out, json);
    buf_text(out, "\n\n");
}

bool sse_last_id(struct call *c, int64_t *out)
{
    struct str text = http_header(c->http, "Last-Event-ID");

    if (text.len == 0)
        text = http_query(c->http, "after");
    *out = -1;
    return text.len == 0 || (str_to_int64(text, out) && *out >= 0) ||
           call_refuse_text(c, ERR_BAD_REQUEST, "Last-Event-ID and after are the id of an event");
}
