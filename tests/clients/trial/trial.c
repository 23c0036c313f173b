/* A worker with one handler for each thing that test_clients.mjs looks at. */
#define _GNU_SOURCE
#include "pawl_worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *echo(struct pawl_job *job, void *arg, struct pawl_failure *failure)
{
    char *out = NULL;

    (void)arg, (void)failure;
    if (asprintf(&out,
                 "{\"input\":%s,\"key\":\"%s\",\"attempt\":%d,\"progress\":%s,\"step\":\"%s\","
                 "\"execution\":\"%s\"}",
                 job->input, job->idempotency_key, job->attempt,
                 job->progress != NULL ? job->progress : "null", job->step, job->execution_id) < 0)
        return NULL;
    return out;
}

static char *fail(struct pawl_job *job, void *arg, struct pawl_failure *failure)
{
    char *code = pawl_json_text(job->input, "code"), *class = pawl_json_text(job->input, "class");
    char *message = pawl_json_text(job->input, "message");

    (void)arg;
    snprintf(failure->code, sizeof(failure->code), "%s", code);
    snprintf(failure->message, sizeof(failure->message), "%s", message);
    failure->class = strcmp(class, "transient") == 0 ? "transient" : "business";
    free(code);
    free(class);
    free(message);
    return NULL;
}

/* In C nothing is thrown: it says itself that nobody knows. */
static char *broken(struct pawl_job *job, void *arg, struct pawl_failure *failure)
{
    (void)job, (void)arg;
    *failure = (struct pawl_failure){"worker_error", "made up", "indeterminate"};
    return NULL;
}

static char *large(struct pawl_job *job, void *arg, struct pawl_failure *failure)
{
    size_t bytes = (size_t)pawl_json_number(job->input, "bytes", 0);
    char *out = malloc(bytes + 3);

    (void)arg, (void)failure;
    memset(out, 'x', bytes + 2);
    out[0] = out[bytes + 1] = '"';
    out[bytes + 2] = '\0';
    return out;
}

static char *slow(struct pawl_job *job, void *arg, struct pawl_failure *failure)
{
    (void)arg, (void)failure;
    pawl_job_report(job, "{\"page\":1}");
    if (!pawl_job_wait(job, (int)pawl_json_number(job->input, "ms", 0)))
        return pawl_json_quote("slept");
    printf("CANCELLED %s: %s\n", job->id, pawl_job_cancel_reason(job));
    fflush(stdout);
    return pawl_json_quote("cancelled");
}

static char *deaf(struct pawl_job *job, void *arg, struct pawl_failure *failure)
{
    (void)arg, (void)failure;
    usleep((useconds_t)pawl_json_number(job->input, "ms", 0) * 1000);
    return NULL;
}

static char *many(struct pawl_job *job, void *arg, struct pawl_failure *failure)
{
    (void)arg, (void)failure;
    return pawl_json_quote(job->type);
}

int main(int argc, char **argv)
{
    struct pawl_options options = {.name = "trial-c",
                                   .concurrency = 4,
                                   .lease_ms = (int)(strtod(argv[argc - 2], NULL) * 1000),
                                   .wait_ms = 1000,
                                   .grace_ms = (int)(strtod(argv[argc - 1], NULL) * 1000)};
    struct pawl_worker *w = pawl_worker_new(&options);

    if (w == NULL)
        return 1;
    pawl_worker_handle(w, "trial.echo", echo, NULL);
    pawl_worker_handle(w, "trial.fail", fail, NULL);
    pawl_worker_handle(w, "trial.break", broken, NULL);
    pawl_worker_handle(w, "trial.large", large, NULL);
    pawl_worker_handle(w, "trial.slow", slow, NULL);
    pawl_worker_handle(w, "trial.deaf", deaf, NULL);
    pawl_worker_handle(w, "many.*", many, NULL);
    if (pawl_worker_run(w) != 0) {
        printf("REFUSED\n");
        return 1;
    }
    printf("STOPPED\n");
    return 0;
}
