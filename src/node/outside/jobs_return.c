/* jobs_return.c - jobs that are given back, for whoever asked for them has gone; see jobs.h. */
#include "base/alloc.h"
#include "node/inner.h"
#include "node/outside/jobs.h"
#include "node/request.h"
#include "node/work_request.h"
#include "store/change_job.h"

/* Jobs that are given back, until that is durable. */
struct node_return {
    LIST_ENTRY(node_return) returns; /* all of the node */
    struct node *node;
    struct arena mem;
    struct stored_jobs jobs;
    struct job_return change;
    struct node_request request;
};

static void return_free(struct node_return *back)
{
    LIST_REMOVE(back, returns);
    arena_fini(&back->mem);
    free(back);
}

static void returned(struct node_request *r)
{
    struct node_return *back = r->owner;

    for (size_t i = 0; r->ok && i < back->jobs.count; i++) {
        const struct stored_job *job = &back->jobs.items[i];

        jobs_notify(back->node, job->org_id, job->type);
    }
    return_free(back);
}

void jobs_give_back(struct node *n, const struct stored_jobs *jobs)
{
    struct node_return *back = ALLOC_NEW(struct node_return);

    arena_init(&back->mem);
    back->node = n;
    LIST_INSERT_HEAD(&n->jobs->returns, back, returns);
    for (size_t i = 0; i < jobs->count; i++) {
        struct stored_job job = jobs->items[i];

        job.token = str_copy(&back->mem, job.token);
        job.org_id = str_copy(&back->mem, job.org_id);
        job.type = str_copy(&back->mem, job.type);
        *VEC_ADD(&back->mem, &back->jobs) = job;
    }
    back->change = (struct job_return){
        .change = {.apply = job_return_apply, .leaves_executions = true}, .jobs = &back->jobs};
    back->request = node_change_request(&back->change.change, &back->mem, returned, back);
    node_record(n, &back->request);
}

void jobs_forget_returns(struct node *n)
{
    for (struct node_return *back = LIST_FIRST(&n->jobs->returns), *next; back != NULL;
         back = next) {
        next = LIST_NEXT(back, returns);
        return_free(back);
    }
}
