/*
 * jobs.c - jobs on the disk of the simulator, as store/change_job.h has them;
 * see sim.h. Who does them: worker.c.
 *
 * Where several nodes share the disk leases go by one clock, which is never set
 * back; the clock of a node alone may be.
 */
#include "sim/disk.h"

#include "engine/commit/commit.h"
#include "engine/commit/history.h"
#include "engine/execution.h"
#include "value/json.h"

static int64_t lease_now_us(struct sim *sim, int64_t node_us)
{
    return sim_is_shared(sim) ? sim_mono_us(sim) + 1 : node_us;
}

static bool is_open(const struct disk_job *j)
{
    return !j->of->is_deleted && (j->job.status == JOB_READY || j->job.status == JOB_LEASED);
}

struct disk_job *disk_job_find(const struct disk *d, struct uuid id)
{
    for (size_t i = d->jobs.count; i-- > 0;)
        if (uuid_cmp(d->jobs.items[i]->job.id, id) == 0)
            return d->jobs.items[i];
    return NULL;
}

static struct disk_job *job_of_attempt(const struct disk_execution *x, int64_t seq)
{
    for (size_t i = x->jobs.count; i-- > 0;)
        if (x->jobs.items[i]->job.seq == seq)
            return x->jobs.items[i];
    return NULL;
}

/* --- with commits --- */

bool disk_refuses_jobs(struct sim *sim, const struct disk_execution *x, struct member *m)
{
    const struct asks_ended *ended = &m->commit->asks_ended;

    for (size_t i = 0; x != NULL && i < ended->count; i++) {
        const struct disk_job *j = job_of_attempt(x, ended->items[i].seq);

        if (j == NULL || j->job.status != JOB_LEASED)
            continue;
        if (ended->items[i].how == ASK_UNCLAIMED ||
            (ended->items[i].how == ASK_LAPSED &&
             j->job.lease_until_us > lease_now_us(sim, m->commit->wall_us)))
            m->result = MEMBER_STALE;
    }
    return m->result != MEMBER_APPLIED;
}

static void add_job(struct sim *sim, struct disk_execution *x, const struct ask *a)
{
    struct disk *d = &sim->disk;
    struct disk_job *j = ARENA_NEW(&d->mem, struct disk_job);
    const struct history_row *row = &x->history.items[a->seq - 1];

    SIM_CHECK(sim, row->seq == a->seq && str_eq(row->key, a->key),
              "I1: a job without the attempt that it is");
    SIM_CHECK(sim, disk_job_find(d, a->id) == NULL, "two jobs have one id");
    outside_note_asked(sim, x, row->key, row->input_json);
    j->of = x;
    j->job = (struct stored_job){.id = a->id,
                                 .execution = x->s.id,
                                 .seq = a->seq,
                                 .type = str_copy(&d->mem, a->type),
                                 .step = row->step,
                                 .idempotency_key = row->key,
                                 .input_json = row->input_json,
                                 .attempt = row->attempt,
                                 .status = JOB_READY};
    *VEC_ADD(&d->mem, &d->jobs) = j;
    *VEC_ADD(&d->mem, &x->jobs) = j;
    sim_note(sim, (uint64_t)a->seq);
}

static bool was_sent(const struct disk_job *j, struct str digest)
{
    for (size_t i = 0; i < j->sent.count; i++)
        if (str_eq(j->sent.items[i], digest))
            return true;
    return false;
}

/* --- what workers are told about leases --- */

static int64_t jumps_of(const struct sim *sim)
{
    return sim->jumps_back + sim->jumps_forward;
}

/* The end of a lease in monotonic time, as the clock of the machine stands now. */
static int64_t lease_until_mono_us(struct sim *sim, const struct disk_job *j)
{
    return sim_mono_us(sim) + j->job.lease_until_us - lease_now_us(sim, sim_wall_us(sim));
}

void disk_job_promised(struct sim *sim, struct disk_job *j)
{
    j->promised_until_us = lease_until_mono_us(sim, j);
    j->jumps = jumps_of(sim);
}

/* Where nodes share the disk the wall clock says nothing about leases. */
static bool is_promised(struct sim *sim, const struct disk_job *j)
{
    return j->promised_until_us > sim_mono_us(sim) &&
           (sim_is_shared(sim) || j->jumps == jumps_of(sim));
}

/* Nobody but its worker ends an attempt before the time that the worker was told. */
static void check_promise(struct sim *sim, const struct disk_job *j, const struct ask_end *end)
{
    SIM_CHECK(sim, (end->how != ASK_LOST && end->how != ASK_LAPSED) || !is_promised(sim, j),
              "the lease of job %.*s was taken away %lld us before its time",
              STR_ARG(sim_id(sim, j->job.id)),
              (long long)(j->promised_until_us - sim_mono_us(sim)));
}

/* ... and nobody else is given what it does, while the attempt is open. */
static void check_alone(struct sim *sim, const struct disk_job *leased)
{
    const struct disk_jobs *all = &leased->of->jobs;

    for (size_t i = 0; i < all->count; i++)
        SIM_CHECK(sim,
                  all->items[i] == leased || !is_open(all->items[i]) ||
                      all->items[i]->job.status != JOB_LEASED || !is_promised(sim, all->items[i]) ||
                      !str_eq(all->items[i]->job.idempotency_key, leased->job.idempotency_key),
                  "two workers have a job of the key %.*s", STR_ARG(leased->job.idempotency_key));
}

/*
 * Whether the lease lasts as long as the heartbeat asked for: by the clock of the machine, or, when
 * that was set back and a later heartbeat has written the lease by it, by the time that has passed.
 */
static bool has_beat(struct sim *sim, const struct disk_job *j, const struct sim_request *q)
{
    int64_t until_us = lease_until_mono_us(sim, j);

    if (until_us >= q->sent_us + j->job.lease_us)
        return true;
    return !sim_is_shared(sim) && j->job.lease_until_us >= j->job.lease_us + q->beat->change.now_us;
}

void disk_check_beat(struct sim *sim, const struct sim_request *q)
{
    struct disk_job *j = disk_job_find(&sim->disk, q->beat->id);
    bool is_its_own =
        is_open(j) && j->job.status == JOB_LEASED && str_eq(j->job.token, q->beat->token);

    if (q->r.ok && is_its_own) {
        SIM_CHECK(sim, has_beat(sim, j, q), "I9: a heartbeat was acknowledged and is not durable");
        disk_job_promised(sim, j);
    }
    SIM_CHECK(sim, q->r.ok || q->r.err.code != ERR_CONFLICT || !is_its_own || !is_promised(sim, j),
              "a heartbeat was refused, and its lease is not over");
}

static void end_job(struct sim *sim, struct disk_execution *x, const struct ask_end *end)
{
    static const enum job_status ends[] = {
        [ASK_ANSWERED] = JOB_COMPLETED, [ASK_REFUSED] = JOB_FAILED, [ASK_LOST] = JOB_EXPIRED,
        [ASK_LAPSED] = JOB_EXPIRED,     [ASK_UNWANTED] = JOB_ENDED, [ASK_UNCLAIMED] = JOB_ENDED};
    struct disk_job *j = job_of_attempt(x, end->seq);
    bool is_answer = end->how == ASK_ANSWERED || end->how == ASK_REFUSED;

    SIM_CHECK(sim, j != NULL, "a job has ended that there never was");
    SIM_CHECK(sim, is_open(j), "I2: a job has two ends: %s, then %s",
              job_status_name(j->job.status), job_status_name(ends[end->how]));
    SIM_CHECK(sim, !is_answer || (j->job.status == JOB_LEASED && was_sent(j, end->digest)),
              "a job has an answer that nobody gave who has it");
    check_promise(sim, j, end);
    j->job.status = ends[end->how];
    j->job.answer_hash = str_copy(&sim->disk.mem, end->digest);
    sim->disk.jobs_answered += is_answer;
    sim->disk.jobs_expired += end->how == ASK_LOST || end->how == ASK_LAPSED;
    sim_note(sim, (uint64_t)end->seq * 8 + end->how);
}

/* What a worker holds may have happened: no commit may say that its attempt did not. */
static void check_doubt(struct sim *sim, const struct disk_execution *x, const struct commit *c,
                        const struct ask_end *end)
{
    const struct disk_job *j = job_of_attempt(x, end->seq);

    for (size_t i = 0; j->job.status == JOB_LEASED && i < c->history.count; i++) {
        const struct history_row *row = &c->history.items[i];

        SIM_CHECK(sim,
                  !str_eq(row->step, j->job.step) ||
                      row->visit != x->history.items[end->seq - 1].visit ||
                      str_find(row->error_json, STR("timeout_step"), 0) < 0 ||
                      str_find(row->error_json, STR("transient"), 0) < 0,
                  "the time of an attempt was up while a worker had it, and it is not in doubt");
    }
}

/* Each strand that waits for a worker has one job, and nobody else has. */
static void check_awaited(struct sim *sim, const struct disk_execution *x,
                          const struct execution *after)
{
    size_t open = 0, awaited = 0;

    for (size_t i = 0; i < x->jobs.count; i++)
        open += is_open(x->jobs.items[i]);
    for (uint32_t i = 0; !status_is_terminal(after->status) && i < execution_askers(after); i++) {
        const struct cursor *c = execution_asker(after, i);
        const struct disk_job *j;

        if (c->ask != ASK_JOB || c->asked_seq == 0 || c->deferred_seq > 0)
            continue;
        j = job_of_attempt(x, c->asked_seq);
        SIM_CHECK(sim, j != NULL && is_open(j), "execution %.*s waits for a job that is %s: %.*s",
                  STR_ARG(sim_id(sim, x->s.id)),
                  j == NULL ? "not there" : job_status_name(j->job.status),
                  STR_ARG(after->waiting_for_json));
        awaited++;
    }
    SIM_CHECK(sim, open == awaited, "%zu jobs are open of execution %.*s, %zu are waited for", open,
              STR_ARG(sim_id(sim, x->s.id)), awaited);
}

void disk_write_jobs(struct sim *sim, struct disk_execution *x, const struct commit *c)
{
    for (size_t i = 0; i < c->asks.count; i++)
        if (c->asks.items[i].kind == ASK_JOB)
            add_job(sim, x, &c->asks.items[i]);
    for (size_t i = 0; i < c->asks_ended.count; i++) {
        if (c->asks_ended.items[i].how == ASK_UNWANTED)
            check_doubt(sim, x, c, &c->asks_ended.items[i]);
        end_job(sim, x, &c->asks_ended.items[i]);
    }
    check_awaited(sim, x, c->after);
}

/* --- claims --- */

static struct disk_job *oldest_ready(struct disk *d, struct str type)
{
    for (size_t i = 0; i < d->jobs.count; i++) {
        struct disk_job *j = d->jobs.items[i];

        if (is_open(j) && j->job.status == JOB_READY && str_eq(j->job.type, type))
            return j;
    }
    return NULL;
}

bool disk_has_ready_job(const struct disk *d)
{
    for (size_t i = d->jobs.count; i-- > 0;)
        if (is_open(d->jobs.items[i]) && d->jobs.items[i]->job.status == JOB_READY)
            return true;
    return false;
}

static void lease_job(struct sim *sim, struct disk_job *j, struct job_poll *p, int64_t now_us)
{
    struct disk *d = &sim->disk;

    j->job.status = JOB_LEASED;
    j->job.worker = str_copy(&d->mem, p->worker);
    j->job.token = str_printf(&d->mem, "lease%lld", (long long)++d->leases);
    j->job.lease_us = p->lease_us;
    j->job.lease_until_us = now_us + p->lease_us;
    check_alone(sim, j);
    *VEC_ADD(&d->mem, &p->found) = j->job;
    sim_note(sim, (uint64_t)d->leases);
}

/* The types of a poll take turns. */
static void serve_poll(struct sim *sim, struct job_poll *p, int64_t now_us)
{
    size_t empty = 0;

    p->found = (struct stored_jobs){0};
    for (size_t i = p->first_type; p->found.count < p->max && empty < p->type_count; i++) {
        struct disk_job *j = oldest_ready(&sim->disk, p->types[i % p->type_count]);

        empty = j == NULL ? empty + 1 : 0;
        if (j != NULL)
            lease_job(sim, j, p, now_us);
    }
}

static void beat(struct sim *sim, struct member *m, struct job_beat *b)
{
    struct disk_job *j = disk_job_find(&sim->disk, b->id);
    int64_t now_us = lease_now_us(sim, b->change.now_us);

    SIM_CHECK(sim, j != NULL, "a heartbeat for a job that there never was");
    if (!is_open(j) || j->job.status != JOB_LEASED || !str_eq(j->job.token, b->token) ||
        j->job.lease_until_us <= now_us) {
        (void)err_set(&m->err, ERR_CONFLICT, "this lease is over");
        m->result = MEMBER_FAILED;
        return;
    }
    j->job.lease_until_us = now_us + j->job.lease_us;
}

static void give_back(struct sim *sim, const struct job_return *r)
{
    for (size_t i = 0; i < r->jobs->count; i++) {
        struct disk_job *j = disk_job_find(&sim->disk, r->jobs->items[i].id);

        if (is_open(j) && j->job.status == JOB_LEASED &&
            str_eq(j->job.token, r->jobs->items[i].token))
            j->job.status = JOB_READY;
    }
}

bool disk_change_jobs(struct sim *sim, struct member *m)
{
    struct job_claim *claim = (struct job_claim *)(void *)m->change;

    m->result = MEMBER_APPLIED;
    if (m->change->apply == job_claim_apply) {
        claim->is_cut = false;
        for (size_t i = 0; i < claim->poll_count; i++)
            serve_poll(sim, claim->polls[i], lease_now_us(sim, claim->change.now_us));
    } else if (m->change->apply == job_beat_apply) {
        beat(sim, m, (struct job_beat *)(void *)m->change);
    } else if (m->change->apply == job_return_apply) {
        give_back(sim, (const struct job_return *)(const void *)m->change);
    } else {
        return false;
    }
    sim_note(sim, m->result);
    return true;
}

/* --- reads --- */

bool read_leases_over(struct reader *r, struct arena *mem, int64_t now_us, int64_t limit,
                      struct leases_over *out, int64_t *next_in_us, struct err *err)
{
    struct sim *sim = sim_of(r);

    now_us = lease_now_us(sim, now_us);
    *out = (struct leases_over){0};
    *next_in_us = -1;
    for (size_t i = 0; i < sim->disk.jobs.count; i++) {
        const struct disk_job *j = sim->disk.jobs.items[i];
        int64_t in_us = j->job.lease_until_us - now_us;

        if (!is_open(j) || j->job.status != JOB_LEASED || j->of->s.crash_count >= CRASHES_MAX)
            continue;
        if (in_us > 0)
            *next_in_us = *next_in_us < 0 || in_us < *next_in_us ? in_us : *next_in_us;
        else if ((int64_t)out->count < limit)
            *VEC_ADD(mem, out) =
                (struct lease_over){.execution = j->job.execution, .seq = j->job.seq};
    }
    return !sim_read_fails(r, err);
}

bool read_leases_of(struct reader *r, struct arena *mem, int64_t row, struct job_leases *out,
                    struct err *err)
{
    const struct disk_execution *x = sim_of(r)->disk.executions.items[row - 1];

    *out = (struct job_leases){0};
    for (size_t i = 0; i < x->jobs.count; i++)
        if (is_open(x->jobs.items[i]) && x->jobs.items[i]->job.status == JOB_LEASED)
            *VEC_ADD(mem, out) = x->jobs.items[i]->job.seq;
    return !sim_read_fails(r, err);
}

bool read_types_ready(struct reader *r, struct arena *mem, struct str types_json,
                      struct job_types *out, struct err *err)
{
    struct value types;

    *out = (struct job_types){0};
    if (!json_read(mem, types_json, &types, err))
        PANIC("types are no JSON");
    for (uint32_t i = 0; i < types.len; i++) {
        struct value pair = types.items[i];

        if (oldest_ready(&sim_of(r)->disk, value_text(pair.items[1])) != NULL)
            *VEC_ADD(mem, out) = (struct job_type){.org_id = value_text(pair.items[0]),
                                                   .type = value_text(pair.items[1])};
    }
    return !sim_read_fails(r, err);
}

bool read_workers(struct reader *r, struct arena *mem, struct stored_workers *out, struct err *err)
{
    (void)mem;
    *out = (struct stored_workers){0};
    if (sim_of(r)->config.faults.no_workers)
        return err_set(err, ERR_OVERLOADED, "the simulated table of workers is too long");
    return !sim_read_fails(r, err);
}

bool read_types_of(struct reader *r, struct arena *mem, struct str name, struct job_types *out,
                   struct err *err)
{
    (void)mem;
    (void)name;
    (void)out;
    return !sim_read_fails(r, err);
}

/* --- when nothing is under way --- */

void disk_check_leases(struct sim *sim)
{
    for (size_t i = 0; i < sim->disk.jobs.count; i++) {
        const struct disk_job *j = sim->disk.jobs.items[i];

        SIM_CHECK(sim,
                  !is_open(j) || j->job.status != JOB_LEASED ||
                      j->of->s.crash_count >= CRASHES_MAX ||
                      j->job.lease_until_us > lease_now_us(sim, sim_wall_us(sim)),
                  "the lease of job %.*s is over, and nobody has noticed: its execution waits for "
                  "%.*s",
                  STR_ARG(sim_id(sim, j->job.id)), STR_ARG(j->of->s.waiting_for_json));
    }
}
