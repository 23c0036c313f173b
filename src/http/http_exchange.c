/*
 * http_exchange.c - one request and its answer; see http_inner.h. How the
 * request is received is in http_receive.c.
 *
 *     RECEIVING --complete--> HANDLING --http_answer()--> ANSWERED --> SENDING --> freed
 *                                 |                          ^
 *                                 +-> KEPT --http_answer()---+
 *
 * A connection with a request that is KEPT or ANSWERED is not closed, whatever
 * its client does: other threads may look at the request and at its socket.
 */
#include "base/alloc.h"
#include "http/http_inner.h"

#include <sys/socket.h>

enum {
    FIRST_BLOCK_BYTES = 2048, /* a request that is kept takes 5 KiB: this and the next, of 4 */
    SPARE_EXCHANGES = 256,
    SPARE_MAX_BYTES = 16 << 10, /* of memory that a spare exchange may hold */
    STREAM_ROUNDS = 16,         /* of one stream, before others have their turn */
};

/* --- from new to freed --- */

static void memory_init(struct arena *mem)
{
    arena_init(mem);
    mem->block_bytes = FIRST_BLOCK_BYTES;
}

struct exchange *exchange_new(struct connection *c)
{
    struct http_server *s = c->server;
    struct exchange *x = s->spare;
    struct arena mem;

    if (x != NULL) {
        s->spare = x->next;
        s->spare_count--;
        mem = x->mem;
    } else {
        x = alloc_bytes(sizeof(*x));
        memory_init(&mem);
    }
    *x = (struct exchange){.mem = mem, .server = s, .connection = c};
    buf_init(&x->body);
    buf_init(&x->unsent);
    x->request.mem = &x->mem;
    x->request.number = ++s->requests;
    c->exchange = x;
    return x;
}

void exchange_free(struct exchange *x)
{
    struct http_server *s = x->server;

    ASSERT(x->phase == PHASE_RECEIVING || x->phase == PHASE_SENDING || x->is_answered_early);
    x->connection->exchange = NULL;
    s->sending_count -= x->phase == PHASE_SENDING;
    if (x->source.more != NULL)
        stream_ended(x);
    exchange_uncount_body(x);
    buf_fini(&x->body);
    buf_fini(&x->unsent);
    if (s->spare_count == SPARE_EXCHANGES) {
        arena_fini(&x->mem);
        free(x);
        return;
    }
    if (x->mem.held_bytes > SPARE_MAX_BYTES) {
        arena_fini(&x->mem);
        memory_init(&x->mem);
    }
    arena_reset(&x->mem);
    x->next = s->spare;
    s->spare = x;
    s->spare_count++;
}

void exchanges_free_spare(struct http_server *s)
{
    while (s->spare != NULL) {
        struct exchange *x = s->spare;
        s->spare = x->next;
        arena_fini(&x->mem);
        free(x);
    }
}

/* When the client is answered in place of the handler. */
static int64_t overdue_at_us(const struct exchange *x)
{
    return x->kept_at_us + x->server->options.decide_us + x->request.wait_us;
}

static void keep(struct exchange *x)
{
    struct http_server *s = x->server;

    x->phase = PHASE_KEPT;
    x->kept_at_us = s->now_us;
    if (overdue_at_us(x) < s->next_overdue_us)
        s->next_overdue_us = overdue_at_us(x);
    LIST_INSERT_HEAD(&s->kept, x, link);
}

/* --- answering --- */

static bool is_stream(const struct exchange *x)
{
    return x->source.more != NULL;
}

static void exchange_answer(struct exchange *x, const struct http_answer *answer)
{
    struct http_server *s = x->server;
    struct buf head;

    ASSERT(x->phase == PHASE_HANDLING || x->phase == PHASE_KEPT);
    if (!x->is_answered_early) {
        buf_init_arena(&head, &x->mem);
        head_write(&head, x, answer);
        x->out[0] = buf_view(&head);
    }
    if (x->phase == PHASE_KEPT) {
        LIST_REMOVE(x, link);
        x->next = NULL;
        *s->answered_end = x;
        s->answered_end = &x->next;
    }
    x->phase = PHASE_ANSWERED;
}

/* The body that is sent after the head. */
static struct str body_sent(const struct exchange *x, const struct http_answer *answer)
{
    bool has_body = !str_eq(x->request.method, STR("HEAD")) && status_has_body(answer->status);

    return has_body ? answer->body : STR_NONE;
}

void http_rewrite(struct http_request *r, struct str method, struct str path, struct str query,
                  struct str body)
{
    r->method = method;
    r->path = path;
    r->body = body;
    exchange_of(r)->query = query;
}

void http_answer(struct http_request *r, const struct http_answer *answer)
{
    struct exchange *x = exchange_of(r);
    struct http_answer sent = *answer;

    if (r->reshape != NULL)
        r->reshape(r, &sent);
    x->out[1] = body_sent(x, &sent);
    exchange_answer(x, &sent);
}

void http_stream(struct http_request *r, const struct http_answer *answer,
                 const struct http_source *source)
{
    struct exchange *x = exchange_of(r);

    x->source = *source;
    /* Only the end of the connection shows an old client where the stream ends. */
    x->is_last = x->is_last || x->is_1_0;
    if (str_eq(r->method, STR("HEAD")))
        x->rest = REST_ENDED;
    exchange_answer(x, answer);
}

void exchange_send_more(struct exchange *x)
{
    struct connection *c = x->connection;
    bool is_last = x->is_last;

    for (int rounds = 0;;) {
        if (x->is_aborted || (is_stream(x) && c->is_half_closed)) {
            c->state = CONNECTION_OVER;
            return;
        }
        if (x->out[0].len + x->out[1].len > 0) {
            if (connection_send(c, x->out))
                continue;
            if (is_stream(x) && c->state != CONNECTION_OVER)
                stream_keep_unsent(x);
            return;
        }
        if (!is_stream(x) || x->rest == REST_ENDED)
            break;
        if (rounds++ == STREAM_ROUNDS) {
            connection_make_ready(c);
            return;
        }
        if (!stream_fill(x))
            return;
    }
    exchange_free(x);
    connection_answered(c, is_last);
}

void exchange_send(struct exchange *x)
{
    x->phase = PHASE_SENDING;
    x->server->sending_count++;
    if (is_stream(x))
        stream_began(x);
    connection_wait_for(x->connection);
    exchange_send_more(x);
}

void exchanges_send_answered(struct http_server *s)
{
    struct exchange *x = s->answered, *next;

    s->answered = NULL;
    s->answered_end = &s->answered;
    for (; x != NULL; x = next) {
        struct connection *c = x->connection;

        next = x->next;
        if (x->is_answered_early) {
            exchange_free(x);
            connection_linger(c);
        } else {
            exchange_send(x);
        }
        /* Another request may wait behind it, or the end. */
        connection_run(c);
    }
}

/* --- handling --- */

static void answer_closing(struct exchange *x)
{
    const struct http_server *s = x->server;
    struct http_answer answer = {.status = 503};

    if (s->options.closing != NULL)
        s->options.closing(s->options.context, &x->request, &x->mem, &answer);
    http_answer(&x->request, &answer);
}

void exchanges_answer_closing(struct http_server *s)
{
    while (!LIST_EMPTY(&s->kept))
        answer_closing(LIST_FIRST(&s->kept));
}

void exchange_handle(struct exchange *x)
{
    struct http_server *s = x->server;

    s->handled++;
    connection_leave(x->connection);
    x->connection->state = CONNECTION_BUSY;
    x->phase = PHASE_HANDLING;
    if (s->is_quiet)
        answer_closing(x);
    else
        s->options.handle(s->options.context, &x->request);
    if (x->phase == PHASE_ANSWERED) {
        exchange_send(x);
        return;
    }
    ASSERT(x->phase == PHASE_HANDLING && x->request.refusal == ERR_NONE);
    keep(x);
}

void exchange_handle_early(struct exchange *x)
{
    x->is_last = true;
    x->connection->lingers = true;
    exchange_handle(x);
}

static void exchange_notify(struct exchange *x, http_closing_fn *what)
{
    struct http_server *s = x->server;
    struct http_answer answer = {.status = 503};
    struct str pieces[2];
    struct arena mem;
    struct buf head;

    /* The memory of the request may be in use by another thread. */
    arena_init(&mem);
    if (what != NULL)
        what(s->options.context, &x->request, &mem, &answer);
    x->is_answered_early = x->is_last = true;
    buf_init_arena(&head, &mem);
    head_write(&head, x, &answer);
    pieces[0] = buf_view(&head);
    pieces[1] = body_sent(x, &answer);
    /* A client that has not read what it got before will not read this. */
    while (pieces[0].len + pieces[1].len > 0 && connection_send(x->connection, pieces))
        ;
    x->connection->state = CONNECTION_BUSY; /* until the request ends, answered or not */
    if (x->connection->tls != NULL)
        secure_end(x->connection);
    (void)shutdown(x->connection->fd, SHUT_WR);
    arena_fini(&mem);
}

void http_answer_kept(struct http_server *s, http_closing_fn *what)
{
    for (struct exchange *x = LIST_FIRST(&s->kept); x != NULL; x = LIST_NEXT(x, link))
        if (!x->is_answered_early)
            exchange_notify(x, what);
}

void exchanges_answer_overdue(struct http_server *s)
{
    int64_t next_us = INT64_MAX;

    if (s->now_us < s->next_overdue_us)
        return;
    for (struct exchange *x = LIST_FIRST(&s->kept); x != NULL; x = LIST_NEXT(x, link)) {
        if (x->is_answered_early)
            continue;
        if (overdue_at_us(x) <= s->now_us)
            exchange_notify(x, s->options.overdue);
        else if (overdue_at_us(x) < next_us)
            next_us = overdue_at_us(x);
    }
    s->next_overdue_us = next_us;
}
