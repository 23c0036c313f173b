/* A worker to begin with: copy it, put your own handlers in. starter [LEASE_SECONDS] */
#define _GNU_SOURCE
#include "pawl_worker.h"

#include <stdio.h>
#include <stdlib.h>

/* Output as a printf says it; asprintf leaves nothing to be freed when it fails. */
static char *cut(struct pawl_job *job, void *arg, struct pawl_failure *failure)
{
    double length = pawl_json_number(job->input, "length", 0);
    char *output;

    (void)arg;
    if (length <= 0) {
        snprintf(failure->code, sizeof(failure->code), "no_length");
        snprintf(failure->message, sizeof(failure->message), "there is nothing to cut");
        return NULL;
    }
    return asprintf(&output, "{\"pieces\":%d,\"by\":\"c\"}", (int)(length / 10)) < 0 ? NULL
                                                                                     : output;
}

static char *other(struct pawl_job *job, void *arg, struct pawl_failure *failure)
{
    char *output;

    (void)arg, (void)failure;
    pawl_job_report(job, "{\"begun\":true}");
    return asprintf(&output, "{\"did\":\"%s\",\"by\":\"c\"}", job->type) < 0 ? NULL : output;
}

int main(int argc, char **argv)
{
    struct pawl_options options = {.lease_ms = argc > 1 ? (int)(strtod(argv[1], NULL) * 1000) : 0};
    struct pawl_worker *worker = pawl_worker_new(&options);

    if (worker == NULL)
        return 1;
    pawl_worker_handle(worker, "workshop.cut", cut, NULL);
    pawl_worker_handle(worker, "workshop.*", other, NULL);
    return pawl_worker_run(worker);
}
