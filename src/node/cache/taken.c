/* taken.c - see taken.h. */
#include "node/cache/taken.h"

#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "engine/signals.h"
#include "node/cluster/waiters.h"
#include "node/inner.h"
#include "node/view.h"
#include "node/work_request.h"

bool taken_find(struct node_request *r, const struct commit *commit)
{
    struct buf text;

    for (size_t i = 0; i < commit->history.count; i++) {
        const struct history_row *row = &commit->history.items[i];

        if (row->took != r->signal_seq)
            continue;
        buf_init_arena(&text, r->mem);
        view_row(r->mem, &text, commit->after, row);
        r->taken_json = buf_view(&text);
        r->taken_status = commit->after->status;
        r->is_refused_later = row->kind == HISTORY_EVENT;
        return true;
    }
    return false;
}

/* Take one out of the waiters and answer it. */
static void answer(struct node *n, struct node_request **link)
{
    struct node_request *r = *link;

    *link = r->next;
    n->waiters->count--;
    request_done(n, r);
}

void taken_answer(struct node *n, struct entry *e, const struct commit *commit)
{
    for (struct node_request **link = &e->waiters; *link != NULL;) {
        struct node_request *r = *link;

        if (r->signal_seq > 0 && taken_find(r, commit))
            answer(n, link);
        else
            link = &r->next;
    }
}

bool taken_not_yet(const struct execution *x, int64_t signal_seq)
{
    struct shared_iter iter = {0};
    const struct signal *s;

    while ((s = signals_next(&x->signals, &iter)) != NULL)
        if (s->seq == signal_seq)
            return !s->is_taken;
    return false;
}

void taken_loaded(struct node *n, struct entry *e)
{
    for (struct node_request **link = &e->waiters; *link != NULL;) {
        struct node_request *r = *link;

        if (r->signal_seq > 0 && !taken_not_yet(e->x, r->signal_seq)) {
            r->taken_before = true;
            answer(n, link);
        } else {
            link = &r->next;
        }
    }
}
