/*
 * jobs_claim.c - workers ask for jobs.
 *
 * A claim is a long poll: it is kept by the node (node_poll) until there is a
 * job or its time is up. Under an Idempotency-Key the ids and lease tokens that
 * it found are stored with the leases. Repeated, it is answered with those whose
 * lease still stands under that token, as the store has them now; when none
 * does, it claims anew.
 */
#include "api/access/directory.h"
#include "api/api.h"
#include "api/lookup.h"
#include "api/repeat.h"
#include "define/define.h"
#include "node/poll.h"
#include "store/read_job.h"
#include "store/read_node.h"
#include "value/json.h"
#include "value/object.h"

#include <poll.h>

enum {
    TYPES_MAX = 100,
    TYPE_LEN_MAX = 200,
    WORKER_LEN_MAX = 255,
    CLAIM_MAX = 100,
    CLAIM_DEFAULT = 10,
};

#define SECOND_US INT64_C(1000000)
#define WAIT_DEFAULT_US (30 * SECOND_US)
#define WAIT_MAX_US (300 * SECOND_US)
#define LEASE_DEFAULT_US (60 * SECOND_US)
#define LEASE_MAX_US (24 * 3600 * SECOND_US)

struct claim_body {
    struct value types, max, wait, lease, worker;
};

static void show_claimed(struct buf *out, const struct stored_job *job)
{
    object_item(out);
    object_id(out, "id", job->id);
    object_text(out, "type", job->type);
    object_json(out, "input", job->input_json);
    object_text(out, "idempotencyKey", job->idempotency_key);
    object_int(out, "attempt", job->attempt);
    object_id(out, "executionId", job->execution);
    object_text(out, "step", job->step);
    object_text(out, "leaseToken", job->token);
    object_time(out, "leaseUntil", job->lease_until_us);
    if (job->progress_json.len > 0)
        object_json(out, "progress", job->progress_json);
    buf_char(out, '}');
}

static void answer_jobs(struct call *c, const struct stored_jobs *jobs)
{
    struct buf out;

    buf_init_arena(&out, c->mem);
    buf_text(&out, "{\"items\":[");
    for (size_t i = 0; i < jobs->count; i++)
        show_claimed(&out, &jobs->items[i]);
    buf_text(&out, "]}");
    call_answer(c, 200, buf_view(&out));
}

static void job_claimed(struct node_poll *p)
{
    if (!p->ok)
        call_refuse(p->owner, &p->err);
    else
        answer_jobs(p->owner, &p->poll.found);
}

/* Nobody is there any more to take a job, or who is there may not have it any more. */
static bool is_gone(const struct node_poll *p)
{
    const struct call *c = p->owner;
    struct pollfd fd = {.fd = http_socket(c->http), .events = POLLRDHUP};

    if (!directory_admits(api_parts(c->api)->people, &c->pass))
        return true;
    return fd.fd >= 0 && poll(&fd, 1, 0) > 0 && (fd.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

static bool type_is_listed(const struct str *types, size_t count, struct str type)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(types[i], type))
            return true;
    return false;
}

static bool take_types(struct call *c, struct value written, struct job_poll *out)
{
    struct str *types;

    if (written.kind != VALUE_LIST || written.len == 0 || written.len > TYPES_MAX)
        return call_refuse_field(c, "types", "bad_value",
                                 "types is a list of 1 to 100 procedures, such as "
                                 "[\"integrations.sync_1c\"]");
    types = ARENA_ARRAY(c->mem, written.len, struct str);
    for (uint32_t i = 0; i < written.len; i++) {
        struct value v = written.items[i];

        if (v.kind != VALUE_STRING || v.len == 0 || v.len > TYPE_LEN_MAX ||
            str_find(value_text(v), STR("."), 0) < 0)
            return call_refuse_field(
                c, "types", "bad_value",
                "a type is the name of an external procedure: \"namespace.name\"");
        if (str_find(value_text(v), STR("*"), 0) >= 0 &&
            !(job_type_is_pattern(value_text(v)) &&
              str_find(value_text(v), STR("*"), 0) == (int64_t)v.len - 1))
            return call_refuse_field(c, "types", "bad_value",
                                     "a star stands at the end of a pattern, behind a dot: "
                                     "\"it.*\"");
        if (!job_type_is_within(value_text(v), c->user.namespaces))
            return call_refuse_text(c, ERR_FORBIDDEN,
                                    "jobs of the type %.*s are not among the namespaces of this "
                                    "user; GET /me shows them",
                                    STR_ARG(value_text(v)));
        if (!type_is_listed(types, out->type_count, value_text(v)))
            types[out->type_count++] = value_text(v);
    }
    out->types = types;
    return true;
}

static bool take_span(struct call *c, const char *field, struct value written, int64_t least_us,
                      int64_t most_us, const char *message, int64_t *out_us)
{
    return written.kind == VALUE_ABSENT ||
           (define_duration_us(written, out_us) && *out_us >= least_us && *out_us <= most_us) ||
           call_refuse_field(c, field, "bad_value", "%s", message);
}

static bool take_max(struct call *c, struct value written, size_t *out)
{
    *out = CLAIM_DEFAULT;
    if (written.kind == VALUE_ABSENT)
        return true;
    if (written.i < 1 || written.i > CLAIM_MAX)
        return call_refuse_field(c, "max", "bad_value", "max is a number from 1 to 100");
    *out = (size_t)written.i;
    return true;
}

static bool take_worker(struct call *c, struct value written, struct str *out)
{
    *out = value_text_or(written, c->user.name);
    return out->len <= WORKER_LEN_MAX ||
           call_refuse_field(c, "worker", "bad_value", "worker has at most 255 bytes");
}

/* --- a claim that is repeated --- */

/* What was found under the key before; in the call's memory. */
struct repeated_claim {
    struct node_poll *poll;
    int64_t now_us;
    struct stored_answer kept;
    struct stored_jobs standing; /* those whose lease still stands */
};

/* One that was leased then, unless it has another holder by now, or none. */
static bool take_standing(struct lookup *q, struct reader *reader, struct repeated_claim *r,
                          struct value leased, struct err *err)
{
    struct str token = value_map_text(leased, STR("token"));
    struct stored_job job;
    struct uuid id;
    bool is_found;

    if (!uuid_read(value_map_text(leased, STR("id")), &id))
        return true;
    if (!read_job(reader, q->mem, id, &job, &is_found, err))
        return false;
    if (is_found && job.status == JOB_LEASED && str_eq(job.token, token) &&
        job.lease_until_us > r->now_us)
        *VEC_ADD(q->mem, &r->standing) = job;
    return true;
}

static bool claim_run_repeated(struct lookup *q, struct reader *reader, struct err *err)
{
    struct repeated_claim *r = q->args;
    struct value before, jobs;

    if (!read_answer(reader, q->mem, &r->poll->poll.kept_as, r->now_us, &r->kept, err))
        return false;
    if (!r->kept.is_kept || !r->kept.is_same)
        return true;
    if (!json_read(q->mem, r->kept.text, &before, err))
        return false;
    jobs = value_map_get_str(before, STR("jobs"));
    for (uint32_t i = 0; jobs.kind == VALUE_LIST && i < jobs.len; i++)
        if (!take_standing(q, reader, r, jobs.items[i], err))
            return false;
    return true;
}

static void claim_poll(struct call *c, struct node_poll *p)
{
    struct err err;

    c->http->wait_us = p->wait_us;
    if (!node_poll(c->node, p, &err))
        call_refuse(c, &err);
}

static void claim_looked_up(struct lookup *q)
{
    struct repeated_claim *r = q->args;

    if (r->kept.is_kept && !r->kept.is_same)
        call_refuse_text(q->call, ERR_IDEMPOTENCY_CONFLICT,
                         "this Idempotency-Key was used with another request");
    else if (r->standing.count > 0)
        answer_jobs(q->call, &r->standing);
    else
        claim_poll(q->call, r->poll);
}

static void claim_repeated_or_new(struct call *c, struct node_poll *p)
{
    struct repeated_claim *r = ARENA_NEW(c->mem, struct repeated_claim);

    *r = (struct repeated_claim){.poll = p, .now_us = api_now_us(c->api)};
    lookup_start(c, r, claim_run_repeated, claim_looked_up);
}

/* --- the request --- */

void jobs_claim(struct call *c)
{
    struct claim_body b;
    const struct body_field fields[] = {
        {"types", BODY_ANY, true, .out = &b.types},
        {"max", BODY_INT, false, .out = &b.max},
        {"wait", BODY_TEXT, false, .out = &b.wait},
        {"lease", BODY_TEXT, false, .out = &b.lease},
        {"worker", BODY_TEXT, false, .out = &b.worker},
    };
    struct node_poll *p = ARENA_NEW(c->mem, struct node_poll);

    if (!call_body(c, fields, ARRAY_SIZE(fields)))
        return;
    *p = (struct node_poll){
        .poll = {.org_id = c->user.org_id, .lease_us = LEASE_DEFAULT_US},
        .wait_us = WAIT_DEFAULT_US,
        .is_gone = is_gone,
        .done = job_claimed,
        .owner = c,
        .mem = c->mem,
    };
    if (!take_types(c, b.types, &p->poll) || !take_max(c, b.max, &p->poll.max) ||
        !take_span(c, "wait", b.wait, 0, WAIT_MAX_US,
                   "wait is a duration such as \"30s\", at most 5m", &p->wait_us) ||
        !take_span(c, "lease", b.lease, SECOND_US, LEASE_MAX_US,
                   "lease is a duration from 1s to 24h, such as \"60s\"", &p->poll.lease_us) ||
        !take_worker(c, b.worker, &p->poll.worker) || !call_idempotency(c, &p->poll.kept_as))
        return;
    if (p->poll.kept_as.key.len > 0)
        claim_repeated_or_new(c, p);
    else
        claim_poll(c, p);
}
