/* jobs_list.c - jobs for people: a list, and what an execution that waits for one is told about. */
#include "api/jobs.h"

#include "api/lookup.h"
#include "api/view.h"
#include "store/read_job.h"
#include "value/json.h"
#include "value/object.h"
#include "value/timefmt.h"

#include <stdio.h>

enum { LIST_LIMIT = 50 };

static void show_job(struct buf *out, const struct stored_job *job)
{
    object_next(out);
    buf_char(out, '{');
    object_id(out, "id", job->id);
    object_text(out, "type", job->type);
    object_text(out, "status", str_of(job_status_name(job->status)));
    object_id(out, "executionId", job->execution);
    object_text(out, "step", job->step);
    object_int(out, "attempt", job->attempt);
    object_text(out, "idempotencyKey", job->idempotency_key);
    object_text(out, "worker", job->worker);
    object_time(out, "leaseUntil", job->lease_until_us);
    object_time(out, "createdAt", job->created_at_us);
    buf_char(out, '}');
}

static bool run_list(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct job_filter *filter = q->args;
    struct listed_jobs list;
    bool has_more, is_visible;

    if (!read_jobs(reader, q->mem, filter, &list, err))
        return false;
    has_more = (int64_t)list.count == filter->limit;
    buf_text(&q->answer, "{\"items\":[");
    for (size_t i = 0; i < list.count; i++) {
        const struct listed_job *l = &list.items[i];

        if (!view_allows(q->call, q->mem, reader, l->job.org_id, l->code, l->version, &is_visible,
                         err))
            return false;
        if (is_visible)
            show_job(&q->answer, &l->job);
    }
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor",
                has_more ? str_printf(q->mem, "j%llx",
                                      (unsigned long long)list.items[list.count - 1].job.key)
                         : STR_NONE);
    buf_char(&q->answer, '}');
    return true;
}

static bool take_cursor(struct call *c, int64_t *out)
{
    struct str text = http_query(c->http, "cursor");
    uint64_t key = 0;

    *out = 0;
    if (text.len == 0)
        return true;
    for (size_t i = 1; i < text.len && text.len <= 17; i++) {
        char x = text.ptr[i];

        if (!(x >= '0' && x <= '9') && !(x >= 'a' && x <= 'f'))
            break;
        key = key << 4 | (uint64_t)(x <= '9' ? x - '0' : x - 'a' + 10);
    }
    if (text.ptr[0] == 'j' && key > 0 && key <= INT64_MAX &&
        str_eq(text, str_printf(c->mem, "j%llx", (unsigned long long)key))) {
        *out = (int64_t)key;
        return true;
    }
    call_refuse_text(c, ERR_BAD_REQUEST, "this cursor is not one of ours");
    return false;
}

void jobs_list(struct call *c)
{
    struct job_filter *filter = ARENA_NEW(c->mem, struct job_filter);
    enum job_status status;

    *filter = (struct job_filter){.org_id = c->user.org_id,
                                  .type = http_query(c->http, "type"),
                                  .status = http_query(c->http, "status")};
    if (filter->status.len > 0 &&
        (!job_status_read(filter->status, &status) || status > JOB_LEASED)) {
        call_refuse_text(c, ERR_BAD_REQUEST, "status is ready or leased: others have an end");
        return;
    }
    if (take_cursor(c, &filter->after) && call_limit(c, LIST_LIMIT, &filter->limit))
        lookup_start(c, filter, run_list, NULL);
}

/* --- what an execution waits for --- */

/* Why the job is not done yet, in words that follow "for a worker of ...;". */
static bool describe_job(struct lookup *q, struct reader *reader, const struct stored_job *job,
                         struct buf *out, struct err *err)
{
    struct str worker;
    int64_t asked_at_us;

    if (job->status == JOB_LEASED) {
        buf_text(out, "one has it");
        if (job->worker.len > 0)
            buf_printf(out, ": %.*s", STR_ARG(job->worker));
        return true;
    }
    if (!read_type_asked(reader, q->mem, job->org_id, job->type, &asked_at_us, &worker, err))
        return false;
    buf_text(out, asked_at_us == 0 ? "none has asked for it" : "one last asked for it at ");
    if (asked_at_us > 0) {
        char text[TIMESTAMP_TEXT_MAX];

        buf_str(out,
                str_from(text, timestamp_write(text, value_timestamp(asked_at_us / 1000000, 0))));
    }
    return true;
}

bool jobs_explain(struct lookup *q, struct reader *reader, struct stored_execution *x,
                  struct err *err)
{
    struct stored_jobs jobs;
    struct value why;
    struct buf reason, out;

    if (x->waiting_kind != WAITING_JOB || x->waiting_for_json.len == 0)
        return true;
    if (!read_jobs_of(reader, q->mem, x->row, 1, &jobs, err) ||
        !json_read(q->mem, x->waiting_for_json, &why, err))
        return false;
    if (jobs.count == 0 || why.kind != VALUE_MAP)
        return true;
    buf_init_arena(&reason, q->mem);
    if (!describe_job(q, reader, &jobs.items[0], &reason, err))
        return false;
    buf_init_arena(&out, q->mem);
    buf_char(&out, '{');
    for (uint32_t i = 0; i < why.map->count; i++) {
        const struct value_entry *e = &why.map->entries[i];
        struct str name = value_text(e->key);
        char text[64];

        snprintf(text, sizeof(text), "%.*s", STR_ARG(name));
        if (str_eq(name, STR("reason"))) {
            object_text(&out, "reason", buf_view(&reason));
            continue;
        }
        object_name(&out, text);
        if (!json_write(&out, e->value, err))
            return false;
    }
    object_id(&out, "jobId", jobs.items[0].id);
    if (jobs.items[0].status == JOB_LEASED)
        object_time(&out, "leaseUntil", jobs.items[0].lease_until_us);
    buf_char(&out, '}');
    x->waiting_for_json = buf_view(&out);
    return true;
}
