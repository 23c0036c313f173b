/*
 * jobs.c - workers answer jobs, renew their leases and give them back; claiming is in jobs_claim.c.
 *
 * An answer goes to the execution that waits for it, once the token was held
 * against the job.
 */
#include "api/lookup.h"
#include "api/repeat.h"
#include "base/digest.h"
#include "node/poll.h"
#include "store/read_job.h"
#include "value/json.h"
#include "value/object.h"

enum { PROGRESS_LEN_MAX = 65536 };

/* --- answering --- */

/* A worker's answer to a job, and the job. */
struct job_answer {
    struct call *call;
    struct uuid id;
    struct str token;
    struct value output, error; /* one of them is absent */
    struct str digest;
    struct stored_job job;
    bool is_found;
    struct node_request *request; /* once it is sent on */
};

static bool job_not_found(struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "there is no job with this id");
}

static bool take_id(struct call *c, struct uuid *out)
{
    struct err err;

    return uuid_read(c->params[0], out) || job_not_found(&err) || call_refuse(c, &err);
}

/* The same answer has the same digest, however its members are spaced. */
static bool make_digest(struct call *c, struct job_answer *a)
{
    bool is_output = a->output.kind != VALUE_ABSENT;
    struct buf text;
    struct err err;

    buf_init_arena(&text, c->mem);
    buf_text(&text, is_output ? "output:" : "error:");
    if (!json_write(&text, is_output ? a->output : a->error, &err))
        return call_refuse(c, &err);
    a->digest = digest_hex(c->mem, buf_view(&text));
    return true;
}

static struct str answer_text(struct call *c, const struct job_answer *a)
{
    struct buf out;

    object_begin(&out, c->mem);
    object_id(&out, "id", a->id);
    object_text(
        &out, "status",
        str_of(job_status_name(a->output.kind != VALUE_ABSENT ? JOB_COMPLETED : JOB_FAILED)));
    object_id(&out, "executionId", a->job.execution);
    return object_end(&out);
}

static bool job_run_find(struct lookup *q, struct reader *reader, struct err *err)
{
    struct job_answer *a = q->args;

    return read_job(reader, q->mem, a->id, &a->job, &a->is_found, err);
}

/* Why the token is worth nothing. */
static void refuse_token(struct call *c, const struct idempotency *idempotency,
                         const struct job_answer *a)
{
    struct err err;

    if (!str_eq(a->job.token, a->token))
        (void)err_set(&err, ERR_CONFLICT, "this is not the leaseToken of the job");
    else if (a->job.status == JOB_EXPIRED)
        (void)err_set(&err, ERR_CONFLICT,
                      "the lease of the job had run out: its answer is not wanted any more");
    else if (a->job.status == JOB_ENDED)
        (void)err_set(&err, ERR_CONFLICT, "the execution does not wait for this job any more");
    else
        (void)err_set(&err, ERR_CONFLICT, "the job has another answer already");
    repeat_or_refuse(c, idempotency, &err, NULL, STR_NONE);
}

/* Whether the same answer was stored: the worker may not have received the first reply. */
static bool is_repeated(const struct job_answer *a)
{
    return (a->job.status == JOB_COMPLETED || a->job.status == JOB_FAILED) &&
           str_eq(a->job.token, a->token) && str_eq(a->job.answer_hash, a->digest);
}

/* The same answer may have come twice at once: then the first has ended the job. */
static void found_again(struct lookup *q)
{
    struct job_answer *a = q->args;

    if (a->is_found && is_repeated(a))
        call_answer(q->call, 200, answer_text(q->call, a));
    else
        repeat_or_refuse(q->call, &a->request->idempotency, &a->request->err, &a->request->findings,
                         STR_NONE);
}

static void job_answered(struct node_request *r)
{
    struct job_answer *a = r->owner;
    struct call *c = a->call;

    if (r->ok && r->stored_status != 0)
        call_answer_again(c, r->stored_status, r->stored_answer);
    else if (r->ok)
        call_answer(c, 200, r->idempotency.answer);
    else if (r->err.code == ERR_CONFLICT)
        lookup_start(c, a, job_run_find, found_again);
    else
        repeat_or_refuse_of(c, r);
}

static void job_found(struct lookup *q)
{
    struct job_answer *a = q->args;
    struct call *c = q->call;
    struct node_request *r;
    struct err err;

    if (!a->is_found || !str_eq(a->job.org_id, c->user.org_id) ||
        !job_type_is_within(a->job.type, c->user.namespaces)) {
        (void)job_not_found(&err);
        call_refuse(c, &err);
        return;
    }
    if (is_repeated(a)) {
        call_answer(c, 200, answer_text(c, a));
        return;
    }
    r = call_event(c, EVENT_ANSWER, job_answered);
    if (r == NULL)
        return;
    if (a->job.status != JOB_LEASED || !str_eq(a->job.token, a->token)) {
        refuse_token(c, &r->idempotency, a);
        return;
    }
    r->owner = a;
    a->request = r;
    r->execution = a->job.execution;
    r->event.answer_seq = a->job.seq;
    r->event.answer_output = a->output;
    r->event.answer_error = a->error;
    r->event.answer_digest = a->digest;
    r->idempotency.status = 200;
    r->idempotency.answer = answer_text(c, a);
    call_submit(c, r);
}

static void job_send_answer(struct call *c, struct value token, struct value output,
                            struct value error)
{
    struct job_answer *a = ARENA_NEW(c->mem, struct job_answer);

    *a = (struct job_answer){
        .call = c, .token = value_text(token), .output = output, .error = error};
    if (take_id(c, &a->id) && make_digest(c, a))
        lookup_start(c, a, job_run_find, job_found);
}

void jobs_complete(struct call *c)
{
    struct value token, output;
    const struct body_field fields[] = {
        {"leaseToken", BODY_TEXT, true, .out = &token},
        {"output", BODY_ANY, false, .out = &output},
    };

    if (!call_body(c, fields, ARRAY_SIZE(fields)))
        return;
    if (output.kind == VALUE_ABSENT)
        output = value_null();
    job_send_answer(c, token, output, value_absent());
}

/* {code, message, class, retryable, details}: what a failure of a step is made of. */
static bool check_error(struct call *c, struct value error)
{
    static const char *const texts[] = {"code", "message", "class"};
    struct value class = value_map_get_str(error, STR("class"));

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct value v = value_map_get_str(error, str_of(texts[i]));

        if (v.kind == VALUE_STRING || v.kind == VALUE_ABSENT)
            continue;
        return call_refuse_field(c, "error", "bad_value",
                                 "error is {\"code\", \"message\", \"class\"}, all of them texts");
    }
    if (value_map_get_str(error, STR("code")).len == 0)
        return call_refuse_field(c, "error", "bad_value", "error has no code: what has failed?");
    return class.kind == VALUE_ABSENT || err_class_find(value_text(class)) != ERR_CLASS_NONE ||
           call_refuse_field(c, "error", "bad_value",
                             "the class of an error is business, transient or indeterminate");
}

void jobs_fail(struct call *c)
{
    struct value token, error;
    const struct body_field fields[] = {
        {"leaseToken", BODY_TEXT, true, .out = &token},
        {"error", BODY_OBJECT, true, .out = &error},
    };

    if (call_body(c, fields, ARRAY_SIZE(fields)) && check_error(c, error))
        job_send_answer(c, token, value_absent(), error);
}

/* --- keeping it --- */

/* How far the worker is; absent: what it has said before stays. */
static bool take_progress(struct call *c, struct value progress, struct str *out)
{
    if (progress.kind == VALUE_ABSENT)
        return true;
    *out = json_must_text(c->mem, progress);
    return out->len <= PROGRESS_LEN_MAX ||
           call_refuse_field(c, "progress", "bad_value", "progress has at most 65536 bytes");
}

void jobs_heartbeat(struct call *c)
{
    struct job_beat *b = ARENA_NEW(c->mem, struct job_beat);
    struct value token, progress;
    const struct body_field fields[] = {{"leaseToken", BODY_TEXT, true, .out = &token},
                                        {"progress", BODY_ANY, false, .out = &progress}};

    if (!call_body(c, fields, ARRAY_SIZE(fields)) || !take_id(c, &b->id) ||
        !take_progress(c, progress, &b->progress_json))
        return;
    b->change = (struct change){.apply = job_beat_apply, .leaves_executions = true};
    b->org_id = c->user.org_id;
    b->namespaces = c->user.namespaces;
    b->token = value_text(token);
    call_submit_change(c, &b->change, repeat_changed, NULL, STR_NONE, STR_NONE);
}

/* --- giving it back --- */

static void job_released(struct node_request *r)
{
    const struct job_release *release = (const struct job_release *)r->change;
    struct call *c = r->owner;

    /* An answer that is repeated has released nothing. */
    if (r->ok && r->stored_status == 0)
        node_job_returned(c->node, release->org_id, release->type);
    repeat_changed(r);
}

void jobs_return(struct call *c)
{
    struct job_release *release = ARENA_NEW(c->mem, struct job_release);
    struct value token;
    const struct body_field fields[] = {{"leaseToken", BODY_TEXT, true, .out = &token}};

    if (!call_body(c, fields, ARRAY_SIZE(fields)) || !take_id(c, &release->id))
        return;
    release->change = (struct change){.apply = job_release_apply, .leaves_executions = true};
    release->org_id = c->user.org_id;
    release->namespaces = c->user.namespaces;
    release->token = value_text(token);
    call_submit_change(c, &release->change, job_released, NULL, STR_NONE, STR_NONE);
}
