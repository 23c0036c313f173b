/* notify.c - see notify.h. */
#include "node/notify.h"

#include "define/program.h"
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "engine/show.h"
#include "node/inner.h"
#include "node/node.h"

void node_listen(struct node *n, node_listener_fn *listener, void *context)
{
    n->listener = listener;
    n->listener_context = context;
}

bool node_is_shared(const struct node *n)
{
    return str_starts_with(n->options.store_url, STR("postgres"));
}

void notify_known(struct entry *e, const struct execution *x)
{
    e->notified = (struct entry_notified){
        .is_known = true, .status = x->status, .step = execution_current_step(x)};
}

/* Whether an operator had it go on after an end, in this very commit. */
static bool is_reopened_by(const struct commit *commit)
{
    int64_t at_us = commit->after->reopened_at_us;

    for (size_t i = 0; at_us > 0 && i < commit->history.count; i++)
        if (commit->history.items[i].kind == HISTORY_EVENT &&
            commit->history.items[i].completed_at_us == at_us)
            return true;
    return false;
}

bool notify_is_end(const struct commit *commit, enum execution_status before)
{
    return status_is_terminal(commit->after->status) &&
           (commit->after->status != before || is_reopened_by(commit));
}

void notify_commit(struct node *n, struct entry *e, const struct commit *commit)
{
    const struct execution *x = commit->after;
    struct str step = execution_current_step(x);
    struct mask mask;
    bool moved =
        !e->notified.is_known || e->notified.status != x->status || !str_eq(e->notified.step, step);

    notify_known(e, x);
    if (n->listener == NULL)
        return;
    show_mask(&e->mem, x, &mask);
    n->listener(n->listener_context, &(struct node_notice){
                                         .id = x->id,
                                         .code = x->program->code,
                                         .org_id = x->org_id,
                                         .status = x->status,
                                         .current_step = step,
                                         .waiting_for_json = x->waiting_for_json,
                                         .row_version = x->row_version,
                                         .seq = x->seq,
                                         .at_us = x->updated_at_us,
                                         .moved = moved,
                                         .access = x->program->access,
                                         .history = &commit->history,
                                         .mask = &mask,
                                     });
}
