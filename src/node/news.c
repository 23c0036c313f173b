/* news.c - telling of commits that have become durable; see node.h. */
#include "node/inner.h"

#include "engine/show.h"

void node_on_news(struct node *n, node_hear_fn *hear, void *context)
{
    n->hear = hear;
    n->hear_context = context;
}

bool node_is_shared(const struct node *n)
{
    return str_starts_with(n->options.store_url, STR("postgres"));
}

void news_known(struct entry *e, const struct execution *x)
{
    e->is_told = true;
    e->told_status = x->status;
    e->told_step = execution_current_step(x);
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

bool news_is_end(const struct commit *commit, enum execution_status before)
{
    return status_is_terminal(commit->after->status) &&
           (commit->after->status != before || is_reopened_by(commit));
}

void news_tell(struct node *n, struct entry *e, const struct commit *commit)
{
    const struct execution *x = commit->after;
    struct str step = execution_current_step(x);
    struct mask mask;
    bool moved = !e->is_told || e->told_status != x->status || !str_eq(e->told_step, step);

    news_known(e, x);
    if (n->hear == NULL)
        return;
    show_mask(&e->mem, x, &mask);
    n->hear(n->hear_context, &(struct node_news){
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
