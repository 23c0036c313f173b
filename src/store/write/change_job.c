/* change_job.c - see change_job.h. */
#include "store/change_job.h"
#include "base/names.h"

#include "base/digest.h"
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "store/org.h"
#include "store/write/apply_commit.h"
#include "store/write/change_apply.h"
#include "store/write/gather.h"
#include "value/json.h"
#include "value/object.h"

enum { TOKEN_LEN = 32, TYPES_OF_PATTERN_MAX = 1000 };

static const char *const status_names[JOB_STATUS_COUNT] = {
#define JOB_STATUS(symbol, name) [JOB_##symbol] = name,
#include "store/job_status.def"
#undef JOB_STATUS
};

NAMES_NAME(job_status_name, enum job_status, status_names)
NAMES_READ(job_status_read, enum job_status, status_names)

bool job_of_row(struct db *db, enum sql sql, struct arena *mem, struct stored_job *out)
{
    int64_t key = db_column_int(db, sql, 0);

    *out = (struct stored_job){
        .key = key,
        .seq = key & HISTORY_SEQ_MAX,
        .type = db_column_copy(db, mem, sql, 2),
        .org_id = db_column_copy(db, mem, sql, 3),
        .step = db_column_copy(db, mem, sql, 6),
        .attempt = db_column_int(db, sql, 7),
        .idempotency_key = db_column_copy(db, mem, sql, 8),
        .input_json = db_column_copy(db, mem, sql, 9),
        .created_at_us = db_column_int(db, sql, 10),
        .worker = db_column_copy(db, mem, sql, 11),
        .token = db_column_copy(db, mem, sql, 12),
        .lease_us = db_column_int(db, sql, 13),
        .lease_until_us = db_column_int(db, sql, 14),
        .ended_at_us = db_column_int(db, sql, 15),
        .answer_hash = db_column_copy(db, mem, sql, 16),
        .progress_json = db_column_copy(db, mem, sql, 17),
    };
    return uuid_read(db_column_text(db, sql, 1), &out->id) &&
           job_status_read(db_column_text(db, sql, 4), &out->status) &&
           uuid_read(db_column_text(db, sql, 5), &out->execution);
}

bool job_type_is_pattern(struct str type)
{
    return type.len > 2 && type.ptr[type.len - 1] == '*' && type.ptr[type.len - 2] == '.';
}

bool job_type_is_within(struct str type, struct value namespaces)
{
    if (namespaces.kind != VALUE_LIST || namespaces.len == 0)
        return true;
    for (uint32_t i = 0; i < namespaces.len; i++) {
        struct str name = value_text_or(namespaces.items[i], STR_NONE);

        if (name.len > 0 && type.len > name.len && type.ptr[name.len] == '.' &&
            str_starts_with(type, name))
            return true;
    }
    return false;
}

/* --- with commits --- */

static enum job_status end_status(const struct ask_end *end)
{
    switch (end->how) {
    case ASK_ANSWERED:
        return JOB_COMPLETED;
    case ASK_REFUSED:
        return JOB_FAILED;
    case ASK_LOST:
    case ASK_LAPSED:
        return JOB_EXPIRED;
    case ASK_UNWANTED:
    case ASK_UNCLAIMED:
        return JOB_ENDED;
    }
    PANIC("unknown end of a job");
}

static bool insert_job(struct apply *a, const struct member *m, const struct ask *ask)
{
    const struct execution *e = m->commit->after;

    return apply_put(a, SQL_JOB_INSERT,
                     DB_PARAMS(db_int(history_key(m->row, ask->seq)), db_text(UUID_STR(ask->id)),
                               db_text(ask->type), db_text(record_org(e->org_id)),
                               db_int(e->updated_at_us)));
}

/*
 * Whether a lease refuses that the attempt has ended like this: a worker has
 * what nobody was said to have begun, or a heartbeat has renewed what was said to
 * be over. Of one that has no row nobody has a lease.
 */
static enum db_status find_lease(struct apply *a, const struct member *m, const struct ask_end *end,
                                 bool *out)
{
    enum db_status status =
        db_run(a->db, SQL_JOB_LOCK,
               DB_PARAMS(db_int(history_key(m->row, end->seq)), db_int(m->commit->wall_us)));

    *out =
        status == DB_ROW && db_column_int(a->db, SQL_JOB_LOCK, end->how == ASK_LAPSED ? 1 : 0) != 0;
    db_end(a->db, SQL_JOB_LOCK);
    return status == DB_ROW ? DB_DONE : status;
}

enum apply_result apply_check_jobs(struct apply *a, struct member *m)
{
    const struct asks_ended *ended = &m->commit->asks_ended;
    bool is_leased = false, is_flushed = false;

    a->status = DB_DONE;
    for (size_t i = 0; i < ended->count; i++) {
        if (ended->items[i].how != ASK_UNCLAIMED && ended->items[i].how != ASK_LAPSED)
            continue;
        /* A member of this batch may have leased it, or renewed its lease. */
        if (!is_flushed)
            a->status = gather_flush(a);
        is_flushed = true;
        if (a->status == DB_DONE)
            a->status = find_lease(a, m, &ended->items[i], &is_leased);
        if (a->status != DB_DONE)
            return APPLY_FAILED;
        if (is_leased)
            return apply_refuse(a, m, MEMBER_STALE);
    }
    return APPLY_DONE;
}

bool apply_jobs(struct apply *a, const struct member *m)
{
    const struct commit *c = m->commit;

    for (size_t i = 0; i < c->asks.count; i++)
        if (c->asks.items[i].kind == ASK_JOB && !insert_job(a, m, &c->asks.items[i]))
            return false;
    for (size_t i = 0; i < c->asks_ended.count; i++) {
        const struct ask_end *end = &c->asks_ended.items[i];

        if (!apply_put(a, SQL_JOB_END,
                       DB_PARAMS(db_int(history_key(m->row, end->seq)),
                                 db_text(str_of(job_status_name(end_status(end)))),
                                 db_int(c->after->updated_at_us), db_text_or_null(end->digest))))
            return false;
    }
    return true;
}

/* --- claiming --- */

/*
 * Jobs of one type in one organisation: how many are wanted, and those that are there. A
 * pattern that is asked for has one too, without jobs: those are in the queues of its types.
 */
struct ready_jobs {
    struct str org_id, type, worker;
    size_t wanted;
    bool notes_asked;
    struct stored_jobs jobs; /* oldest first */
    size_t taken;
};

struct ready_jobs_all {
    VEC_OF(struct ready_jobs *);
    struct map by_name;
};

static struct str queue_name(struct arena *mem, struct str org_id, struct str type)
{
    return str_printf(mem, "%.*s\n%.*s", STR_ARG(org_id), STR_ARG(type));
}

static struct ready_jobs *queue_find(struct apply *a, struct ready_jobs_all *all, struct str org_id,
                                     struct str type)
{
    return map_get(&all->by_name, queue_name(a->mem, org_id, type));
}

static void queue_want(struct apply *a, struct ready_jobs_all *all, const struct job_poll *p,
                       struct str type)
{
    struct ready_jobs *s = queue_find(a, all, p->org_id, type);

    if (s == NULL) {
        s = ARENA_NEW(a->mem, struct ready_jobs);
        *s = (struct ready_jobs){.org_id = p->org_id, .type = type, .worker = p->worker};
        *VEC_ADD(a->mem, all) = s;
        map_put(&all->by_name, queue_name(a->mem, p->org_id, type), s);
    }
    s->wanted += p->max;
    if (s->wanted > JOBS_CLAIMED_MAX)
        s->wanted = JOBS_CLAIMED_MAX;
    s->notes_asked |= p->notes_asked;
}

/* The types that one who asks is served from: as written, and those that fit a pattern. */
struct served_types {
    VEC_OF(struct str);
};

static void served_add(struct apply *a, struct served_types *out, struct str type)
{
    for (size_t i = 0; i < out->count; i++)
        if (str_eq(out->items[i], type))
            return;
    *VEC_ADD(a->mem, out) = type;
}

/* The types of a pattern that have jobs, TYPES_OF_PATTERN_MAX of them. */
static bool pattern_expand(struct apply *a, struct str org_id, struct str pattern,
                           struct served_types *out)
{
    const enum sql sql = SQL_JOB_TYPES_BETWEEN;
    struct str low = str_slice(pattern, 0, pattern.len - 1);
    /* '/' is what follows '.' */
    struct str high = str_printf(a->mem, "%.*s/", (int)(low.len - 1), low.ptr);

    a->status = db_run(
        a->db, sql,
        DB_PARAMS(db_text(org_id), db_text(low), db_text(high), db_int(TYPES_OF_PATTERN_MAX)));
    for (; a->status == DB_ROW; a->status = db_next(a->db, sql))
        served_add(a, out, db_column_copy(a->db, a->mem, sql, 0));
    db_end(a->db, sql);
    return a->status == DB_DONE;
}

/* The queues of all who ask; served[i] are the types of the i-th. False: a->status says why. */
static bool queues_make(struct apply *a, const struct job_claim *c, struct ready_jobs_all *out,
                        struct served_types *served)
{
    map_init(&out->by_name, a->mem);
    for (size_t i = 0; i < c->poll_count; i++) {
        const struct job_poll *p = c->polls[i];

        for (size_t k = 0; k < p->type_count; k++) {
            if (!job_type_is_pattern(p->types[k])) {
                served_add(a, &served[i], p->types[k]);
                continue;
            }
            queue_want(a, out, p, p->types[k]); /* so that it is noted */
            if (!pattern_expand(a, p->org_id, p->types[k], &served[i]))
                return false;
        }
        for (size_t k = 0; k < served[i].count; k++)
            queue_want(a, out, p, served[i].items[k]);
    }
    return true;
}

static enum db_status queue_fill(struct apply *a, struct ready_jobs_all *all, enum sql sql,
                                 enum db_status status, int64_t *now_us)
{
    for (; status == DB_ROW; status = db_next(a->db, sql)) {
        struct stored_job job;
        struct ready_jobs *s;

        if (!job_of_row(a->db, sql, a->mem, &job))
            return DB_CORRUPT;
        s = queue_find(a, all, job.org_id, job.type);
        ASSERT(s != NULL);
        *VEC_ADD(a->mem, &s->jobs) = job;
        if (a->db->has_sets)
            *now_us = db_column_int(a->db, sql, JOB_COLUMN_COUNT);
    }
    return status;
}

/* The oldest jobs of each queue; those that another node is about to lease are left out. */
static enum db_status queues_read(struct apply *a, struct ready_jobs_all *all, int64_t *now_us)
{
    enum sql sql = a->db->has_sets ? SQL_GATHER_JOBS : SQL_JOBS_READY;
    enum db_status status = DB_DONE;
    bool has_any = false;

    for (size_t i = 0; i < all->count && status == DB_DONE; i++) {
        const struct ready_jobs *s = all->items[i];
        const struct db_value params[] = {db_text(s->org_id), db_text(s->type),
                                          db_int((int64_t)s->wanted)};

        if (job_type_is_pattern(s->type))
            continue;
        has_any = true;
        if (a->db->has_sets) {
            status = db_put(a->db, sql, params, 3);
        } else {
            status = queue_fill(a, all, sql, db_run(a->db, sql, params, 3), now_us);
            db_end(a->db, sql);
        }
    }
    if (status != DB_DONE || !a->db->has_sets)
        return status;
    if (!has_any)
        return db_flush(a->db); /* what else was put */
    status = db_flush(a->db);
    if (status == DB_DONE)
        status = queue_fill(a, all, sql, db_first(a->db, sql), now_us);
    db_end(a->db, sql);
    return status;
}

/* Nobody can guess it, and a batch that is repeated makes the same. */
static struct str lease_token(struct apply *a, const struct job_poll *p, struct uuid job)
{
    struct uuid all[3] = {p->seed[0], p->seed[1], job};

    return str_slice(digest_hex(a->mem, str_from((const char *)all, sizeof(all))), 0, TOKEN_LEN);
}

static bool lease_job(struct apply *a, struct job_poll *p, struct stored_job job, int64_t now_us)
{
    job.status = JOB_LEASED;
    job.worker = p->worker;
    job.token = lease_token(a, p, job.id);
    job.lease_us = p->lease_us;
    job.lease_until_us = now_us + p->lease_us;
    *VEC_ADD(a->mem, &p->found) = job;
    return apply_put(a, SQL_JOB_LEASE,
                     DB_PARAMS(db_int(job.key), db_text_or_null(job.worker), db_text(job.token),
                               db_int(job.lease_us), db_int(job.lease_until_us)));
}

/* The types that it asks for take turns, so that the backlog of one does not hide another. */
static bool poll_serve(struct apply *a, struct job_poll *p, const struct served_types *types,
                       struct ready_jobs_all *all, size_t *left, int64_t now_us)
{
    size_t empty = 0;

    for (size_t i = p->first_type; p->found.count<p->max && * left> 0 && empty < types->count;
         i++) {
        struct ready_jobs *s = queue_find(a, all, p->org_id, types->items[i % types->count]);

        if (s->taken == s->jobs.count) {
            empty++;
            continue;
        }
        empty = 0;
        --*left;
        if (!lease_job(a, p, s->jobs.items[s->taken++], now_us))
            return false;
    }
    return true;
}

/* --- claims under a key --- */

static bool is_same_key(const struct idempotency *a, const struct idempotency *b)
{
    return str_eq(a->key, b->key) && str_eq(a->user, b->user) && str_eq(a->path, b->path) &&
           str_eq(a->method, b->method);
}

/* One that was leased then, unless its lease is over or another has it. */
static bool take_standing(struct apply *a, struct job_poll *p, struct value leased, int64_t now_us)
{
    struct str token = value_map_text(leased, STR("token"));
    struct stored_job job;
    struct uuid id;

    if (!uuid_read(value_map_text(leased, STR("id")), &id))
        return true;
    a->status = db_run(a->db, SQL_READ_JOB, DB_PARAMS(db_text(UUID_STR(id))));
    if (a->status == DB_ROW && !job_of_row(a->db, SQL_READ_JOB, a->mem, &job))
        a->status = DB_CORRUPT;
    if (a->status == DB_ROW && job.status == JOB_LEASED && str_eq(job.token, token) &&
        job.lease_until_us > now_us)
        *VEC_ADD(a->mem, &p->found) = job;
    db_end(a->db, SQL_READ_JOB);
    return a->status <= DB_DONE;
}

/* What stands of that which was found under its key before, by whichever node. */
static bool find_standing(struct apply *a, const struct job_claim *c, struct job_poll *p,
                          int64_t now_us)
{
    struct cached_answer kept;
    struct value before, jobs;
    struct err err;

    if (!apply_load_answer(a, &p->kept_as, c->change.now_us, &kept))
        return false;
    p->differs = kept.is_kept && !str_eq(kept.body_hash, p->kept_as.body_hash);
    if (!kept.is_kept || p->differs || !json_read(a->mem, kept.answer, &before, &err))
        return true;
    jobs = value_map_get_str(before, STR("jobs"));
    for (uint32_t i = 0; jobs.kind == VALUE_LIST && i < jobs.len; i++)
        if (!take_standing(a, p, jobs.items[i], now_us))
            return false;
    return true;
}

/* One that comes again under a key that has leases is given these, or is refused: p->repeats. */
static bool poll_look_back(struct apply *a, const struct job_claim *c, size_t at, int64_t now_us)
{
    struct job_poll *p = c->polls[at];

    p->found = (struct stored_jobs){0};
    p->differs = p->repeats = false;
    if (p->kept_as.key.len == 0)
        return true;
    for (size_t i = 0; i < at && !p->repeats; i++) {
        const struct job_poll *first = c->polls[i];

        if (first->found.count == 0 || !is_same_key(&first->kept_as, &p->kept_as))
            continue;
        p->differs = !str_eq(first->kept_as.body_hash, p->kept_as.body_hash);
        if (!p->differs)
            p->found = first->found;
        p->repeats = true;
    }
    if (!p->repeats && !find_standing(a, c, p, now_us))
        return false;
    p->repeats = p->repeats || p->differs || p->found.count > 0;
    return true;
}

/* What a poll under an Idempotency-Key has found: who repeats it is given the same leases. */
static bool keep_leases(struct apply *a, const struct job_poll *p, int64_t now_us)
{
    struct idempotency kept = p->kept_as;
    struct buf text;

    if (kept.key.len == 0 || p->found.count == 0)
        return true;
    object_begin(&text, a->mem);
    object_list(&text, "jobs");
    for (size_t i = 0; i < p->found.count; i++) {
        object_item(&text);
        object_id(&text, "id", p->found.items[i].id);
        object_text(&text, "token", p->found.items[i].token);
        buf_char(&text, '}');
    }
    buf_char(&text, ']');
    kept.status = 200;
    kept.answer = object_end(&text);
    return apply_replace_answer(a, &kept, now_us);
}

/* The jobs that are there, and what was found before under the keys of those who ask. */
static enum db_status claim_read(struct apply *a, const struct job_claim *c,
                                 struct ready_jobs_all *all, struct served_types *served,
                                 int64_t *now_us)
{
    enum db_status status = DB_DONE;

    if (!queues_make(a, c, all, served))
        return a->status;
    for (size_t i = 0; i < c->poll_count && status == DB_DONE; i++)
        if (a->db->has_sets && c->polls[i]->kept_as.key.len > 0)
            status = gather_ask_answer(a, &c->polls[i]->kept_as);
    if (status == DB_DONE)
        status = queues_read(a, all, now_us);
    return status == DB_DONE && a->db->has_sets ? gather_take_answers(a) : status;
}

enum apply_result job_claim_apply(struct apply *a, struct member *m)
{
    struct job_claim *c = (struct job_claim *)m->change;
    int64_t now_us = c->change.now_us;
    size_t left = JOBS_CLAIMED_MAX;
    struct ready_jobs_all all = {0};
    struct served_types *served =
        arena_zalloc(a->mem, (c->poll_count + 1) * sizeof(struct served_types));

    a->status = claim_read(a, c, &all, served, &now_us);
    if (a->status != DB_DONE)
        return APPLY_FAILED;
    for (size_t i = 0; i < c->poll_count; i++) {
        struct job_poll *p = c->polls[i];

        if (!poll_look_back(a, c, i, now_us) ||
            (!p->repeats && (!poll_serve(a, p, &served[i], &all, &left, now_us) ||
                             !keep_leases(a, p, c->change.now_us))))
            return APPLY_FAILED;
    }
    c->is_cut = left == 0;
    for (size_t i = 0; i < all.count; i++)
        if (all.items[i]->notes_asked &&
            !apply_put(a, SQL_JOB_TYPE_ASKED,
                       DB_PARAMS(db_text(all.items[i]->org_id), db_text(all.items[i]->type),
                                 db_int(c->change.now_us), db_text_or_null(all.items[i]->worker))))
            return APPLY_FAILED;
    return APPLY_DONE;
}

/* --- leases --- */

/* Whose lease a request is about. */
struct lease_of {
    struct uuid id;
    struct str org_id, token;
    struct value namespaces;
};

/* Whether its lease stands: then the job, locked, and the time of the store. Else *result. */
static bool lease_find(struct apply *a, struct member *m, struct lease_of of,
                       struct stored_job *job, int64_t *now_us, enum apply_result *result)
{
    *result = APPLY_FAILED;
    a->status =
        db_run(a->db, SQL_JOB_FIND, DB_PARAMS(db_text(UUID_STR(of.id)), db_int(m->change->now_us)));
    if (a->status == DB_ROW) {
        *now_us = db_column_int(a->db, SQL_JOB_FIND, JOB_COLUMN_COUNT);
        if (!job_of_row(a->db, SQL_JOB_FIND, a->mem, job))
            a->status = DB_CORRUPT;
    }
    db_end(a->db, SQL_JOB_FIND);
    if (a->status == DB_DONE ||
        (a->status == DB_ROW &&
         (!str_eq(job->org_id, of.org_id) || !job_type_is_within(job->type, of.namespaces))))
        *result = apply_refuse_with(a, m, ERR_NOT_FOUND, "there is no job with this id");
    else if (a->status == DB_ROW && (job->status != JOB_LEASED || !str_eq(job->token, of.token) ||
                                     job->lease_until_us <= *now_us))
        *result = apply_refuse_with(a, m, ERR_CONFLICT, "this lease is over: the job is %s",
                                    job->status == JOB_LEASED ? "no longer yours"
                                                              : job_status_name(job->status));
    else
        return a->status == DB_ROW;
    return false;
}

enum apply_result job_beat_apply(struct apply *a, struct member *m)
{
    struct job_beat *b = (struct job_beat *)m->change;
    struct lease_of of = {b->id, b->org_id, b->token, b->namespaces};
    struct stored_job job = {0};
    enum apply_result result;
    int64_t now_us = 0;
    struct buf answer;

    if (!lease_find(a, m, of, &job, &now_us, &result))
        return result;
    if (!apply_write(a, SQL_JOB_BEAT, DB_PARAMS(db_int(job.key), db_int(now_us + job.lease_us))))
        return APPLY_FAILED;
    if (b->progress_json.len > 0 &&
        !apply_write(a, SQL_JOB_PROGRESS, DB_PARAMS(db_int(job.key), db_text(b->progress_json))))
        return APPLY_FAILED;
    object_begin(&answer, a->mem);
    object_id(&answer, "id", job.id);
    object_time(&answer, "leaseUntil", now_us + job.lease_us);
    b->change.answer_status = 200;
    b->change.answer_json = object_end(&answer);
    return APPLY_DONE;
}

enum apply_result job_release_apply(struct apply *a, struct member *m)
{
    struct job_release *r = (struct job_release *)m->change;
    struct lease_of of = {r->id, r->org_id, r->token, r->namespaces};
    struct stored_job job = {0};
    enum apply_result result;
    int64_t now_us = 0;
    struct buf answer;

    if (!lease_find(a, m, of, &job, &now_us, &result))
        return result;
    if (!apply_write(a, SQL_JOB_GIVE_BACK, DB_PARAMS(db_int(job.key), db_text(job.token))))
        return APPLY_FAILED;
    r->type = job.type;
    object_begin(&answer, a->mem);
    object_id(&answer, "id", job.id);
    object_text(&answer, "status", str_of(job_status_name(JOB_READY)));
    r->change.answer_status = 200;
    r->change.answer_json = object_end(&answer);
    return APPLY_DONE;
}

enum apply_result job_return_apply(struct apply *a, struct member *m)
{
    const struct job_return *r = (const struct job_return *)m->change;

    for (size_t i = 0; i < r->jobs->count; i++)
        if (!apply_write(
                a, SQL_JOB_GIVE_BACK,
                DB_PARAMS(db_int(r->jobs->items[i].key), db_text(r->jobs->items[i].token))))
            return APPLY_FAILED;
    return APPLY_DONE;
}
