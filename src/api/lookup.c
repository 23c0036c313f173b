/* lookup.c - see lookup.h. */
#include "api/lookup.h"

#include <poll.h>

bool lookup_is_gone(void *lookup)
{
    const struct lookup *q = lookup;
    struct pollfd fd = {.fd = q->socket, .events = POLLRDHUP};

    return q->socket >= 0 && poll(&fd, 1, 0) > 0 && (fd.revents & (POLLRDHUP | POLLHUP)) != 0;
}

static void lookup_run(struct node_read *read, struct reader *reader)
{
    struct lookup *q = read->owner;

    /* Half-closed counts as gone, but only where it saves seconds, and never a change. */
    if (q->read.lane == LANE_CLIENT_SEARCH && q->then == NULL && lookup_is_gone(q))
        q->ok = err_set(&q->err, ERR_OVERLOADED, "nobody waits for the answer any more");
    else
        q->ok = q->run(q, reader, &q->err);
}

static void lookup_done(struct node_read *read)
{
    struct lookup *q = read->owner;
    struct http_header etag = {"ETag", q->etag};

    if (!q->ok)
        call_refuse_with(q->call, &q->err, &q->findings, STR_NONE);
    else if (q->then != NULL)
        q->then(q);
    else
        call_answer_headers(q->call, 200, buf_view(&q->answer), &etag, q->etag != NULL);
}

static void start_on(struct call *c, enum read_lane lane, void *args, lookup_run_fn *run_fn,
                     lookup_then_fn *then)
{
    struct lookup *q = ARENA_NEW(c->mem, struct lookup);
    struct err err;

    *q = (struct lookup){
        .read = {.lane = lane, .run = lookup_run, .done = lookup_done, .owner = q},
        .call = c,
        .socket = http_socket(c->http),
        .mem = c->mem,
        .args = args,
        .run = run_fn,
        .then = then,
    };
    buf_init_arena(&q->answer, c->mem);
    if (!node_read(c->node, &q->read, &err))
        call_refuse(c, &err);
}

void lookup_start(struct call *c, void *args, lookup_run_fn *run_fn, lookup_then_fn *then)
{
    start_on(c, LANE_CLIENT, args, run_fn, then);
}

void lookup_start_long(struct call *c, void *args, lookup_run_fn *run_fn, lookup_then_fn *then)
{
    start_on(c, LANE_CLIENT_SEARCH, args, run_fn, then);
}
