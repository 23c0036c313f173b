/* query.c - see query.h. */
#include "api/query.h"

static void run(struct node_read *read, struct reader *reader)
{
    struct query *q = read->owner;

    q->ok = q->run(q, reader, &q->err);
}

static void done(struct node_read *read)
{
    struct query *q = read->owner;
    struct http_header etag = {"ETag", q->etag};

    if (!q->ok)
        call_refuse_with(q->call, &q->err, &q->findings, STR_NONE);
    else if (q->then != NULL)
        q->then(q);
    else
        call_answer_headers(q->call, 200, buf_view(&q->answer), &etag, q->etag != NULL);
}

void query_start(struct call *c, void *args, query_run_fn *run_fn, query_then_fn *then)
{
    struct query *q = ARENA_NEW(c->mem, struct query);
    struct err err;

    *q = (struct query){
        .read = {.run = run, .done = done, .owner = q},
        .call = c,
        .mem = c->mem,
        .args = args,
        .run = run_fn,
        .then = then,
    };
    buf_init_arena(&q->answer, c->mem);
    if (!node_read(c->node, &q->read, &err))
        call_refuse(c, &err);
}
