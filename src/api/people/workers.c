/* workers.c - endpoints that are called with the jobs of a namespace. */
#include "api/list.h"
#include "api/repeat.h"
#include "base/text/ascii.h"
#include "base/url.h"
#include "node/poll.h"
#include "store/read_job.h"

#include <stdlib.h>

enum { NAMESPACE_LEN_MAX = 100, URL_LEN_MAX = 2000, CREDENTIAL_LEN_MAX = 100 };

static void worker_changed(struct node_request *r)
{
    struct call *c = r->owner;

    if (r->ok)
        node_look_at_workers(c->node);
    repeat_changed(r);
}

/* Whether a namespace, a URL and a credential may be these. False: the call was refused. */
static bool check_worker(struct call *c, struct value url, struct value credential)
{
    const char *wrong;
    struct str host;

    if (!ascii_is_dotted_name(c->params[0], NAMESPACE_LEN_MAX))
        return call_refuse_text(
            c, ERR_INVALID,
            "a namespace is what stands before the dot of an external procedure: "
            "letters, digits, '_' and '-', at most %d of them",
            NAMESPACE_LEN_MAX);
    wrong = url.len <= URL_LEN_MAX ? url_host(c->mem, value_text(url), &host)
                                   : "a URL has at most 2000 bytes";
    if (wrong != NULL)
        return call_refuse_field(c, "url", "bad_value", "%s", wrong);
    if (credential.kind == VALUE_STRING && credential.len > CREDENTIAL_LEN_MAX)
        return call_refuse_field(c, "credential", "bad_value",
                                 "credential is the code of a credential");
    return true;
}

void workers_put(struct call *c)
{
    struct worker_put *w = ARENA_NEW(c->mem, struct worker_put);
    struct value url, credential;
    const struct body_field fields[] = {
        {"url", BODY_TEXT, true, .out = &url},
        {"credential", BODY_TEXT, false, .out = &credential},
    };

    if (!call_body(c, fields, ARRAY_SIZE(fields)) || !check_worker(c, url, credential))
        return;
    *w = (struct worker_put){
        .change = {.apply = worker_put_apply, .leaves_executions = true},
        .name = c->params[0],
        .url = value_text(url),
        .credential = value_text_or(credential, STR_NONE),
    };
    call_submit_change(c, &w->change, worker_changed, "worker.put", w->name, STR_NONE);
}

void workers_delete(struct call *c)
{
    struct worker_delete *w = ARENA_NEW(c->mem, struct worker_delete);

    *w = (struct worker_delete){
        .change = {.apply = worker_delete_apply, .leaves_executions = true, .answer_status = 204},
        .name = c->params[0],
    };
    call_submit_change(c, &w->change, worker_changed, "worker.delete", w->name, STR_NONE);
}

static int compare_workers(const void *a, const void *b)
{
    return str_cmp(((const struct stored_worker *)a)->name,
                   ((const struct stored_worker *)b)->name);
}

/* Endpoints in the order of their namespaces; a cursor is the last namespace of the page before. */
static bool workers_read_page(struct list_page *l)
{
    struct stored_workers all, page = {0};
    const struct stored_worker *last;

    if (!read_workers(l->reader, l->mem, &all, l->err))
        return false;
    /* Databases have orders of their own. */
    if (all.count > 0)
        qsort(all.items, all.count, sizeof(all.items[0]), compare_workers);
    for (size_t i = 0; i < all.count && (int64_t)page.count <= l->limit; i++)
        if (l->cursor.len == 0 || str_cmp(all.items[i].name, l->cursor) > 0)
            *VEC_ADD(l->mem, &page) = all.items[i];
    last = LIST_ROWS(l, &page);
    if (last != NULL)
        l->next = last->name;
    return true;
}

static bool workers_show_row(struct list_page *l, const void *row)
{
    worker_show(l->out, row);
    return true;
}

static const struct list_kind workers_kind = {.read = workers_read_page, .show = workers_show_row};

void workers_list(struct call *c)
{
    list_start(c, ARENA_NEW(c->mem, struct list_page), &workers_kind);
}

static bool worker_run_get(struct lookup *q, struct reader *reader, struct err *err)
{
    struct stored_workers all;

    if (!read_workers(reader, q->mem, &all, err))
        return false;
    for (size_t i = 0; i < all.count; i++) {
        if (!str_eq(all.items[i].name, q->call->params[0]))
            continue;
        worker_show(&q->answer, &all.items[i]);
        return true;
    }
    return err_set(err, ERR_NOT_FOUND, "no endpoint is registered for this namespace");
}

void workers_get(struct call *c)
{
    lookup_start(c, NULL, worker_run_get, NULL);
}
