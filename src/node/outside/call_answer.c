/* call_answer.c - answers that are kept; see call_answer.h. */
#include "node/outside/call_answer.h"

#include "base/alloc.h"
#include "node/cache/entry.h"
#include "node/inner.h"
#include "node/outside/calls.h"
#include "node/wake.h"

enum { PAUSES_MAX = 3 }; /* of 1, 2, 4 and 8 seconds */

/* The answers of one execution that are kept: they are tried again together, in their order. */
struct kept_execution {
    struct uuid id;
    struct work_queue works;
    int64_t again_us; /* monotonic */
    TAILQ_ENTRY(kept_execution) link;
};

static struct str kept_key(const struct uuid *id)
{
    return str_from((const char *)id->bytes, sizeof(id->bytes));
}

void kept_answers_init(struct node *n)
{
    map_init(&n->calls->kept.by_id, &n->mem);
    TAILQ_INIT(&n->calls->kept.all);
}

static struct kept_execution *kept_get(struct node *n, struct uuid id, int64_t pause_us)
{
    struct kept_answers *kept = &n->calls->kept;
    struct kept_execution *of = map_get(&kept->by_id, kept_key(&id));

    if (of != NULL)
        return of;
    of = ALLOC_NEW(struct kept_execution);
    of->id = id;
    of->again_us = clock_mono_us(n->clock) + pause_us;
    map_put(&kept->by_id, kept_key(&of->id), of);
    TAILQ_INSERT_TAIL(&kept->all, of, link);
    chore_hurry(&kept->chore, pause_us);
    return of;
}

void answer_keep(struct node *n, struct work *w)
{
    unsigned count = w->answer->kept_count++;
    int64_t pause_us = RETRY_SOON_US << (count < PAUSES_MAX ? count : PAUSES_MAX);

    work_forget_reads(w);
    w->commit = NULL;
    w->asserts = ASSERTS_NOTHING;
    w->now_us = 0;
    w->entry = NULL;
    w->tries = w->start_tries = w->buffered_tries = 0;
    work_push(&kept_get(n, w->answer->about.execution, pause_us)->works, w);
}

void answer_queue(struct node *n, struct work *w)
{
    struct uuid id = w->answer->about.execution;
    struct kept_execution *of = map_get(&n->calls->kept.by_id, kept_key(&id));

    if (of != NULL)
        work_push(&of->works, w);
    else
        entry_queue(n, entry_get(n, id), w);
}

static void kept_put_back(struct node *n, struct kept_execution *of)
{
    struct entry *e = entry_get(n, of->id);
    struct work *w;

    (void)map_remove(&n->calls->kept.by_id, kept_key(&of->id));
    TAILQ_REMOVE(&n->calls->kept.all, of, link);
    while ((w = work_pop(&of->works)) != NULL)
        entry_queue(n, e, w);
    free(of);
}

static void kept_run(struct chore *c)
{
    struct node *n = c->node;
    int64_t now_us = clock_mono_us(n->clock), next_us = INT64_MAX;

    for (struct kept_execution *of = TAILQ_FIRST(&n->calls->kept.all), *next; of != NULL;
         of = next) {
        next = TAILQ_NEXT(of, link);
        if (of->again_us <= now_us)
            kept_put_back(n, of);
        else if (of->again_us - now_us < next_us)
            next_us = of->again_us - now_us;
    }
    chore_rest(c, next_us != INT64_MAX ? next_us : 0);
}

static int64_t kept_in_us(const struct chore *c)
{
    return TAILQ_EMPTY(&c->node->calls->kept.all) ? INT64_MAX : chore_left_us(c);
}

static void kept_close(struct chore *c)
{
    struct kept_answers *kept = &c->node->calls->kept;

    while (!TAILQ_EMPTY(&kept->all)) {
        struct kept_execution *of = TAILQ_FIRST(&kept->all);

        TAILQ_REMOVE(&kept->all, of, link);
        free(of);
    }
}

/* Also while the node stops: what was heard is applied first. */
const struct chore_kind chore_kept_answers = {
    .run = kept_run, .in_us = kept_in_us, .close = kept_close};
