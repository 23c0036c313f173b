/* workers.c - endpoints that are called with the jobs of a namespace. */
#include "api/lookup.h"
#include "api/repeat.h"
#include "engine/call_url.h"
#include "store/read_job.h"
#include "value/object.h"

enum { NAMESPACE_LEN_MAX = 100, URL_LEN_MAX = 2000, CREDENTIAL_LEN_MAX = 100 };

/* Letters, digits, '_' and '-', with dots between. */
static bool is_namespace(struct str name)
{
    bool is_start = true;

    for (size_t i = 0; i < name.len; i++) {
        char x = name.ptr[i];
        bool is_word = (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') ||
                       x == '_' || x == '-';

        if (x == '.' ? is_start : !is_word)
            return false;
        is_start = x == '.';
    }
    return !is_start && name.len <= NAMESPACE_LEN_MAX;
}

static void changed(struct node_request *r)
{
    struct call *c = r->owner;

    if (!r->ok) {
        repeat_or_refuse(c, &r->idempotency, &r->err, &r->findings, STR_NONE);
        return;
    }
    node_look_at_workers(c->node);
    if (r->stored_status != 0)
        call_answer_again(c, r->stored_status, r->stored_answer);
    else if (r->change->answer_status == 0)
        call_answer_nothing(c);
    else
        call_answer(c, r->change->answer_status, r->change->answer_json);
}

void workers_put(struct call *c)
{
    struct worker_put *w = ARENA_NEW(c->mem, struct worker_put);
    struct value url, credential;
    const struct body_field fields[] = {
        {"url", BODY_TEXT, true, &url},
        {"credential", BODY_TEXT, false, &credential},
    };
    struct node_request *r;
    const char *wrong;
    struct str host;

    if (!call_body(c, fields, ARRAY_SIZE(fields)))
        return;
    if (!is_namespace(c->params[0])) {
        call_refuse_text(c, ERR_INVALID,
                         "a namespace is what stands before the dot of an external procedure: "
                         "letters, digits, '_' and '-', at most %d of them",
                         NAMESPACE_LEN_MAX);
        return;
    }
    wrong = url.len <= URL_LEN_MAX ? url_host(c->mem, value_text(url), &host)
                                   : "a URL has at most 2000 bytes";
    if (wrong != NULL) {
        call_refuse_field(c, "url", "bad_value", wrong);
        return;
    }
    if (credential.kind == VALUE_STRING && credential.len > CREDENTIAL_LEN_MAX) {
        call_refuse_field(c, "credential", "bad_value", "credential is the code of a credential");
        return;
    }
    *w = (struct worker_put){
        .change = {.apply = worker_put_apply, .leaves_executions = true},
        .name = c->params[0],
        .url = value_text(url),
        .credential = credential.kind == VALUE_STRING ? value_text(credential) : STR_NONE,
    };
    r = call_change(c, &w->change, changed);
    if (r == NULL)
        return;
    call_audit(c, r, "worker.put", w->name, STR_NONE);
    call_submit(c, r);
}

void workers_delete(struct call *c)
{
    struct worker_delete *w = ARENA_NEW(c->mem, struct worker_delete);
    struct node_request *r;

    *w = (struct worker_delete){.change = {.apply = worker_delete_apply, .leaves_executions = true},
                                .name = c->params[0]};
    r = call_change(c, &w->change, changed);
    if (r == NULL)
        return;
    r->idempotency.status = 204;
    call_audit(c, r, "worker.delete", w->name, STR_NONE);
    call_submit(c, r);
}

static bool run_list(struct lookup *q, struct reader *reader, struct err *err)
{
    struct stored_workers all;

    if (!read_workers(reader, q->mem, &all, err))
        return false;
    buf_text(&q->answer, "{\"items\":[");
    for (size_t i = 0; i < all.count; i++)
        worker_show(&q->answer, &all.items[i]);
    buf_text(&q->answer, "],\"nextCursor\":null}");
    return true;
}

void workers_list(struct call *c)
{
    lookup_start(c, NULL, run_list, NULL);
}

static bool run_get(struct lookup *q, struct reader *reader, struct err *err)
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
    lookup_start(c, NULL, run_get, NULL);
}
