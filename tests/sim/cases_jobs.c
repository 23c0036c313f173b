/* cases_jobs.c - named cases about the leases of jobs: rules 10 and 11; see cases.h. */
#include "sim/cases.h"

#define JOB_STEP "{'code':'w','procedure':'w.t0'}"

static void job_loop(void)
{
    (void)node_pass(only->node);
    (void)store_write_one(only);
    (void)store_deliver_one(only);
    while (store_read_one(only)) {
    }
    case_let_pass(SECOND / 1000);
}

/* An execution whose job nobody has. */
static struct asked *begin_with_job(void)
{
    struct asked *a;

    case_begin();
    case_define("p", JOB_STEP, "");
    a = case_start("p", "{}", 0);
    while (sim.disk.jobs.count == 0 || !a->is_answered)
        job_loop();
    return a;
}

static void end_with_answer(const struct asked *a)
{
    CLAIM(sim.disk.jobs.items[0]->job.status == JOB_LEASED && sim.disk.jobs_expired == 0);
    case_settle();
    CLAIM(sim.disk.jobs.count == 1 && case_status(a->id) == STATUS_COMPLETED);
    case_end();
}

void case_heartbeat_keeps_the_lease(void)
{
    struct asked *a = begin_with_job();

    CLAIM(worker_ask(&sim, only, 0, 10 * SECOND));
    while (sim.workers.held.count == 0)
        job_loop();
    while (sim.disk.jobs.items[0]->job.lease_until_us - sim_wall_us(&sim) > SECOND / 10)
        job_loop();
    /* It is on its way to the disk when the lease ends, and the node sees that it has ended. */
    worker_beat(&sim, &sim.workers.held.items[0]);
    (void)node_pass(only->node);
    CLAIM(only->store.batch_count == 1);
    case_let_pass(SECOND);
    for (unsigned i = 0; i < 5; i++) {
        (void)node_pass(only->node);
        while (store_read_one(only)) {
        }
    }
    for (unsigned i = 0; i < 200; i++)
        job_loop();
    end_with_answer(a);
}

void case_history_ends_no_lease(void)
{
    struct asked *a = begin_with_job();

    /* What is over is read as of now, and the answer comes later. */
    case_let_pass(6 * SECOND);
    (void)node_pass(only->node);
    CLAIM(only->store.reads.count > 0);
    clock_manual_set_wall(&only->clock, sim_wall_us(&sim) - 3600 * SECOND);
    CLAIM(worker_ask(&sim, only, 0, 10 * SECOND));
    while (sim.workers.held.count == 0) {
        (void)node_pass(only->node);
        (void)store_write_one(only);
        (void)store_deliver_one(only);
    }
    for (unsigned i = 0; i < 100; i++)
        job_loop();
    end_with_answer(a);
}
