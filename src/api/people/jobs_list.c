/* jobs_list.c - jobs for people: a list, and why an execution still waits for one. */
#include "api/list.h"
#include "api/people/jobs.h"
#include "base/text/hex.h"
#include "engine/stored_execution.h"
#include "store/read_job.h"
#include "value/json.h"
#include "value/object.h"
#include "value/timefmt.h"

#include <stdio.h>

struct jobs_page {
    struct list_page list;
    struct job_filter filter;
};

/* "j" and the key of the last job, in hexadecimal. */
static bool jobs_read_cursor(struct str cursor, int64_t *out, struct err *err)
{
    uint64_t key = 0;

    if (cursor.len > 0 &&
        (cursor.ptr[0] != 'j' || !hex_read_uint64(str_slice(cursor, 1, cursor.len), &key) ||
         key == 0 || key > INT64_MAX))
        return list_bad_cursor(err);
    *out = (int64_t)key;
    return true;
}

static bool jobs_read(struct list_page *l)
{
    struct job_filter *filter = &((struct jobs_page *)l)->filter;
    const struct listed_job *last;
    struct listed_jobs rows;

    filter->limit = l->limit + 1;
    if (!jobs_read_cursor(l->cursor, &filter->after, l->err) ||
        !read_jobs(l->reader, l->mem, filter, &rows, l->err))
        return false;
    last = LIST_ROWS(l, &rows);
    if (last != NULL)
        l->next = str_printf(l->mem, "j%llx", (unsigned long long)last->job.key);
    return true;
}

static void jobs_show(struct list_page *l, const void *row)
{
    const struct stored_job *job = &((const struct listed_job *)row)->job;
    struct buf *out = l->out;

    object_id(out, "id", job->id);
    object_text(out, "type", job->type);
    object_text(out, "status", str_of(job_status_name(job->status)));
    object_id(out, "executionId", job->execution);
    object_text(out, "step", job->step);
    object_int(out, "attempt", job->attempt);
    object_text(out, "idempotencyKey", job->idempotency_key);
    object_text(out, "worker", job->worker);
    object_time(out, "leaseUntil", job->lease_until_us);
    if (job->progress_json.len > 0)
        object_json(out, "progress", job->progress_json);
    object_time(out, "createdAt", job->created_at_us);
}

static const struct list_kind jobs_kind = {
    .read = jobs_read,
    .show_members = jobs_show,
    .owner = LIST_OWNER(struct listed_job, job.org_id, code, version),
};

void jobs_list(struct call *c)
{
    struct jobs_page *p = ARENA_NEW(c->mem, struct jobs_page);
    enum job_status status;

    p->filter.org_id = c->user.org_id;
    p->filter.type = http_query(c->http, "type");
    p->filter.status = http_query(c->http, "status");
    if (p->filter.status.len > 0 &&
        (!job_status_read(p->filter.status, &status) || status > JOB_LEASED))
        call_refuse_text(c, ERR_BAD_REQUEST, "status is ready or leased: others have an end");
    else
        list_start(c, &p->list, &jobs_kind);
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

        asked_at_us -= asked_at_us % 1000000;
        buf_str(out, str_from(text, timestamp_write(text, timestamp_of_us(asked_at_us))));
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
    object_begin(&out, q->mem);
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
    x->waiting_for_json = object_end(&out);
    return true;
}
