/* change_job.c - see change_job.h. */
#include "store/change_job.h"

#include "store/digest.h"
#include "store/gather.h"
#include "value/object.h"

enum { TOKEN_LEN = 32 };

static const char *const status_names[JOB_STATUS_COUNT] = {
#define JOB_STATUS(symbol, name) [JOB_##symbol] = name,
#include "store/job_status.def"
#undef JOB_STATUS
};

const char *job_status_name(enum job_status status)
{
    return status_names[status];
}

bool job_status_read(struct str name, enum job_status *out)
{
    for (int i = 0; i < JOB_STATUS_COUNT; i++) {
        if (!str_eq(name, str_of(status_names[i])))
            continue;
        *out = (enum job_status)i;
        return true;
    }
    return false;
}

bool job_of_row(struct db *db, enum sql sql, struct arena *mem, struct stored_job *out)
{
    int64_t key = db_column_int(db, sql, 0);

    *out = (struct stored_job){
        .key = key,
        .seq = key & HISTORY_SEQ_MAX,
        .type = str_copy(mem, db_column_text(db, sql, 2)),
        .org_id = str_copy(mem, db_column_text(db, sql, 3)),
        .step = str_copy(mem, db_column_text(db, sql, 6)),
        .attempt = db_column_int(db, sql, 7),
        .idempotency_key = str_copy(mem, db_column_text(db, sql, 8)),
        .input_json = str_copy(mem, db_column_text(db, sql, 9)),
        .created_at_us = db_column_int(db, sql, 10),
        .worker = str_copy(mem, db_column_text(db, sql, 11)),
        .token = str_copy(mem, db_column_text(db, sql, 12)),
        .lease_us = db_column_int(db, sql, 13),
        .lease_until_us = db_column_int(db, sql, 14),
        .ended_at_us = db_column_int(db, sql, 15),
        .answer_hash = str_copy(mem, db_column_text(db, sql, 16)),
    };
    return uuid_read(db_column_text(db, sql, 1), &out->id) &&
           job_status_read(db_column_text(db, sql, 4), &out->status) &&
           uuid_read(db_column_text(db, sql, 5), &out->execution);
}

/* --- with commits --- */

static enum job_status status_of(const struct ask_end *end)
{
    switch (end->how) {
    case ASK_ANSWERED:
        return JOB_COMPLETED;
    case ASK_REFUSED:
        return JOB_FAILED;
    case ASK_LOST:
        return JOB_EXPIRED;
    case ASK_UNWANTED:
    case ASK_UNCLAIMED:
        return JOB_ENDED;
    }
    PANIC("unknown end of a job");
}

static bool insert_job(struct apply *a, const struct member *m, const struct ask *ask,
                       enum db_status *status)
{
    const struct execution *e = m->commit->after;
    char id[UUID_TEXT_LEN + 1];

    uuid_write(ask->id, id);
    return apply_put(a, SQL_JOB_INSERT,
                     DB_PARAMS(db_int(history_key(m->row, ask->seq)),
                               db_text(str_from(id, UUID_TEXT_LEN)), db_text(ask->type),
                               db_text(record_org(e->org_id)), db_int(e->updated_at_us)),
                     status);
}

/* Whether a worker has the job; of one that has no row nobody has. */
static enum db_status find_lease(struct apply *a, int64_t key, bool *out)
{
    enum db_status status = db_run(a->db, SQL_JOB_LOCK, DB_PARAMS(db_int(key)));

    *out = status == DB_ROW && db_column_int(a->db, SQL_JOB_LOCK, 0) != 0;
    db_end(a->db, SQL_JOB_LOCK);
    return status == DB_ROW ? DB_DONE : status;
}

enum apply_result apply_check_jobs(struct apply *a, struct member *m, enum db_status *status)
{
    const struct asks_ended *ended = &m->commit->asks_ended;
    bool is_leased = false, is_flushed = false;

    *status = DB_DONE;
    for (size_t i = 0; i < ended->count; i++) {
        if (ended->items[i].how != ASK_UNCLAIMED)
            continue;
        /* A member of this batch may have leased it. */
        if (!is_flushed)
            *status = gather_flush(a);
        is_flushed = true;
        if (*status == DB_DONE)
            *status = find_lease(a, history_key(m->row, ended->items[i].seq), &is_leased);
        if (*status != DB_DONE)
            return APPLY_FAILED;
        if (is_leased)
            return apply_refuse(a, m, MEMBER_STALE);
    }
    return APPLY_DONE;
}

bool apply_jobs(struct apply *a, const struct member *m, enum db_status *status)
{
    const struct commit *c = m->commit;

    for (size_t i = 0; i < c->asks.count; i++)
        if (c->asks.items[i].kind == ASK_JOB && !insert_job(a, m, &c->asks.items[i], status))
            return false;
    for (size_t i = 0; i < c->asks_ended.count; i++) {
        const struct ask_end *end = &c->asks_ended.items[i];

        if (!apply_put(a, SQL_JOB_END,
                       DB_PARAMS(db_int(history_key(m->row, end->seq)),
                                 db_text(str_of(job_status_name(status_of(end)))),
                                 db_int(c->after->updated_at_us), db_text_or_null(end->digest)),
                       status))
            return false;
    }
    return true;
}

/* --- claiming --- */

/* Jobs of one type in one organisation: how many are wanted, and those that are there. */
struct shelf {
    struct str org_id, type, worker;
    size_t wanted;
    bool notes_asked;
    struct stored_jobs jobs; /* oldest first */
    size_t taken;
};

struct shelves {
    VEC_OF(struct shelf *);
    struct map by_name;
};

static struct str shelf_name(struct arena *mem, struct str org_id, struct str type)
{
    return str_printf(mem, "%.*s\n%.*s", STR_ARG(org_id), STR_ARG(type));
}

static struct shelf *shelf_find(struct apply *a, struct shelves *all, struct str org_id,
                                struct str type)
{
    return map_get(&all->by_name, shelf_name(a->mem, org_id, type));
}

static void shelf_want(struct apply *a, struct shelves *all, const struct job_poll *p,
                       struct str type)
{
    struct shelf *s = shelf_find(a, all, p->org_id, type);

    if (s == NULL) {
        s = ARENA_NEW(a->mem, struct shelf);
        *s = (struct shelf){.org_id = p->org_id, .type = type, .worker = p->worker};
        *VEC_ADD(a->mem, all) = s;
        map_put(&all->by_name, shelf_name(a->mem, p->org_id, type), s);
    }
    s->wanted += p->max;
    if (s->wanted > JOBS_CLAIMED_MAX)
        s->wanted = JOBS_CLAIMED_MAX;
    s->notes_asked |= p->notes_asked;
}

static void shelves_make(struct apply *a, const struct job_claim *c, struct shelves *out)
{
    map_init(&out->by_name, a->mem);
    for (size_t i = 0; i < c->poll_count; i++)
        for (size_t k = 0; k < c->polls[i]->type_count; k++)
            shelf_want(a, out, c->polls[i], c->polls[i]->types[k]);
}

static enum db_status shelf_fill(struct apply *a, struct shelves *all, enum sql sql,
                                 enum db_status status, int64_t *now_us)
{
    for (; status == DB_ROW; status = db_next(a->db, sql)) {
        struct stored_job job;
        struct shelf *s;

        if (!job_of_row(a->db, sql, a->mem, &job))
            return DB_CORRUPT;
        s = shelf_find(a, all, job.org_id, job.type);
        ASSERT(s != NULL);
        *VEC_ADD(a->mem, &s->jobs) = job;
        if (a->db->has_sets)
            *now_us = db_column_int(a->db, sql, JOB_COLUMN_COUNT);
    }
    return status;
}

/* The oldest jobs of each shelf; those that another node is about to lease are left out. */
static enum db_status shelves_read(struct apply *a, struct shelves *all, int64_t *now_us)
{
    enum sql sql = a->db->has_sets ? SQL_GATHER_JOBS : SQL_JOBS_READY;
    enum db_status status = DB_DONE;

    for (size_t i = 0; i < all->count && status == DB_DONE; i++) {
        const struct shelf *s = all->items[i];
        const struct db_value params[] = {db_text(s->org_id), db_text(s->type),
                                          db_int((int64_t)s->wanted)};

        if (a->db->has_sets) {
            status = db_put(a->db, sql, params, 3);
        } else {
            status = shelf_fill(a, all, sql, db_run(a->db, sql, params, 3), now_us);
            db_end(a->db, sql);
        }
    }
    if (status != DB_DONE || !a->db->has_sets || all->count == 0)
        return status;
    status = db_flush(a->db);
    if (status == DB_DONE)
        status = shelf_fill(a, all, sql, db_first(a->db, sql), now_us);
    db_end(a->db, sql);
    return status;
}

/* Nobody can guess it, and a batch that is repeated makes the same. */
static struct str make_token(struct apply *a, const struct job_poll *p, struct uuid job)
{
    struct uuid all[3] = {p->seed[0], p->seed[1], job};

    return str_slice(digest_hex(a->mem, str_from((const char *)all, sizeof(all))), 0, TOKEN_LEN);
}

static bool lease_job(struct apply *a, struct job_poll *p, struct stored_job job, int64_t now_us,
                      enum db_status *status)
{
    job.status = JOB_LEASED;
    job.worker = p->worker;
    job.token = make_token(a, p, job.id);
    job.lease_us = p->lease_us;
    job.lease_until_us = now_us + p->lease_us;
    *VEC_ADD(a->mem, &p->found) = job;
    return apply_put(a, SQL_JOB_LEASE,
                     DB_PARAMS(db_int(job.key), db_text_or_null(job.worker), db_text(job.token),
                               db_int(job.lease_us), db_int(job.lease_until_us)),
                     status);
}

/* The types that it asks for take turns, so that the backlog of one does not hide another. */
static bool poll_serve(struct apply *a, struct job_poll *p, struct shelves *all, size_t *left,
                       int64_t now_us, enum db_status *status)
{
    size_t empty = 0;

    p->found = (struct stored_jobs){0};
    for (size_t i = p->first_type; p->found.count<p->max && * left> 0 && empty < p->type_count;
         i++) {
        struct shelf *s = shelf_find(a, all, p->org_id, p->types[i % p->type_count]);

        if (s->taken == s->jobs.count) {
            empty++;
            continue;
        }
        empty = 0;
        --*left;
        if (!lease_job(a, p, s->jobs.items[s->taken++], now_us, status))
            return false;
    }
    return true;
}

enum apply_result job_claim_apply(struct apply *a, struct member *m, enum db_status *status)
{
    struct job_claim *c = (struct job_claim *)m->change;
    int64_t now_us = c->change.now_us;
    size_t left = JOBS_CLAIMED_MAX;
    struct shelves all = {0};

    shelves_make(a, c, &all);
    *status = shelves_read(a, &all, &now_us);
    if (*status != DB_DONE)
        return APPLY_FAILED;
    for (size_t i = 0; i < c->poll_count; i++)
        if (!poll_serve(a, c->polls[i], &all, &left, now_us, status))
            return APPLY_FAILED;
    c->is_cut = left == 0;
    for (size_t i = 0; i < all.count; i++)
        if (all.items[i]->notes_asked &&
            !apply_put(a, SQL_JOB_TYPE_ASKED,
                       DB_PARAMS(db_text(all.items[i]->org_id), db_text(all.items[i]->type),
                                 db_int(c->change.now_us), db_text_or_null(all.items[i]->worker)),
                       status))
            return APPLY_FAILED;
    return APPLY_DONE;
}

/* --- leases --- */

enum apply_result job_beat_apply(struct apply *a, struct member *m, enum db_status *status)
{
    struct job_beat *b = (struct job_beat *)m->change;
    struct stored_job job = {0};
    char id[UUID_TEXT_LEN + 1];
    int64_t now_us = 0;
    struct buf answer;

    uuid_write(b->id, id);
    *status = db_run(a->db, SQL_JOB_FIND,
                     DB_PARAMS(db_text(str_from(id, UUID_TEXT_LEN)), db_int(b->change.now_us)));
    if (*status == DB_ROW) {
        now_us = db_column_int(a->db, SQL_JOB_FIND, JOB_COLUMN_COUNT);
        if (!job_of_row(a->db, SQL_JOB_FIND, a->mem, &job))
            *status = DB_CORRUPT;
    }
    db_end(a->db, SQL_JOB_FIND);
    if (*status == DB_DONE || (*status == DB_ROW && !str_eq(job.org_id, b->org_id)))
        return apply_refuse_with(a, m, ERR_NOT_FOUND, "there is no job with this id");
    if (*status != DB_ROW)
        return APPLY_FAILED;
    if (job.status != JOB_LEASED || !str_eq(job.token, b->token) || job.lease_until_us <= now_us)
        return apply_refuse_with(a, m, ERR_CONFLICT, "this lease is over: the job is %s",
                                 job.status == JOB_LEASED ? "no longer yours"
                                                          : job_status_name(job.status));
    if (!apply_write(a, SQL_JOB_BEAT, DB_PARAMS(db_int(job.key), db_int(now_us + job.lease_us)),
                     status))
        return APPLY_FAILED;
    buf_init_arena(&answer, a->mem);
    buf_char(&answer, '{');
    object_id(&answer, "id", job.id);
    object_time(&answer, "leaseUntil", now_us + job.lease_us);
    buf_char(&answer, '}');
    b->change.answer_status = 200;
    b->change.answer_json = buf_view(&answer);
    return APPLY_DONE;
}

enum apply_result job_return_apply(struct apply *a, struct member *m, enum db_status *status)
{
    const struct job_return *r = (const struct job_return *)m->change;

    for (size_t i = 0; i < r->jobs->count; i++)
        if (!apply_write(a, SQL_JOB_GIVE_BACK,
                         DB_PARAMS(db_int(r->jobs->items[i].key), db_text(r->jobs->items[i].token)),
                         status))
            return APPLY_FAILED;
    return APPLY_DONE;
}
