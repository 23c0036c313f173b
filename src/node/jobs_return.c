/* jobs_return.c - jobs that are given back, for whoever asked for them has gone; see jobs.h. */
#include "node/inner.h"

#include "store/change_job.h"

#include <stdlib.h>

/* Jobs that are given back, until that is durable. */
struct node_return {
    struct node_return *before, *next; /* all of the node */
    struct node *node;
    struct arena mem;
    struct stored_jobs jobs;
    struct job_return change;
    struct node_request request;
};

static void return_free(struct node_return *back)
{
    *(back->before != NULL ? &back->before->next : &back->node->jobs.returns) = back->next;
    if (back->next != NULL)
        back->next->before = back->before;
    arena_fini(&back->mem);
    free(back);
}

static void returned(struct node_request *r)
{
    struct node_return *back = r->owner;

    for (size_t i = 0; r->ok && i < back->jobs.count; i++) {
        const struct stored_job *job = &back->jobs.items[i];

        jobs_tell(back->node, job->org_id, job->type);
    }
    return_free(back);
}

void jobs_give_back(struct node *n, const struct stored_jobs *jobs)
{
    struct node_return *back = calloc(1, sizeof(*back));
    struct err err;

    if (back == NULL)
        PANIC("out of memory");
    arena_init(&back->mem);
    back->node = n;
    back->next = n->jobs.returns;
    if (back->next != NULL)
        back->next->before = back;
    n->jobs.returns = back;
    for (size_t i = 0; i < jobs->count; i++) {
        struct stored_job job = jobs->items[i];

        job.token = str_copy(&back->mem, job.token);
        job.org_id = str_copy(&back->mem, job.org_id);
        job.type = str_copy(&back->mem, job.type);
        *VEC_ADD(&back->mem, &back->jobs) = job;
    }
    back->change = (struct job_return){
        .change = {.apply = job_return_apply, .leaves_executions = true}, .jobs = &back->jobs};
    back->request = (struct node_request){.kind = NODE_CHANGE,
                                          .change = &back->change.change,
                                          .mem = &back->mem,
                                          .done = returned,
                                          .owner = back};
    /* Refused, the leases run out. */
    if (!node_submit(n, &back->request, &err))
        return_free(back);
}

void jobs_forget_returns(struct node *n)
{
    while (n->jobs.returns != NULL)
        return_free(n->jobs.returns);
}
