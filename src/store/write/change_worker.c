/* change_worker.c - see change_worker.h. */
#include "store/change_worker.h"

#include "store/db/db.h"
#include "store/store.h"
#include "store/write/apply.h"
#include "store/write/change_apply.h"
#include "value/object.h"

void worker_show(struct buf *out, const struct stored_worker *w)
{
    buf_char(out, '{');
    object_text(out, "namespace", w->name);
    object_text(out, "url", w->url);
    object_text(out, "credential", w->credential);
    object_time(out, "createdAt", w->created_at_us);
    object_time(out, "updatedAt", w->updated_at_us);
    buf_char(out, '}');
}

enum apply_result worker_put_apply(struct apply *a, struct member *m)
{
    struct worker_put *w = (struct worker_put *)m->change;
    struct stored_worker now = {.name = w->name,
                                .url = w->url,
                                .credential = w->credential,
                                .created_at_us = w->change.now_us,
                                .updated_at_us = w->change.now_us};
    struct buf answer;

    a->status = db_run(a->db, SQL_WORKER_FIND, DB_PARAMS(db_text(w->name)));
    w->change.answer_status = a->status == DB_ROW ? 200 : 201;
    if (a->status == DB_ROW)
        now.created_at_us = db_column_int(a->db, SQL_WORKER_FIND, 0);
    db_end(a->db, SQL_WORKER_FIND);
    if (a->status != DB_ROW && a->status != DB_DONE)
        return APPLY_FAILED;
    if (!apply_write(a, SQL_WORKER_PUT,
                     DB_PARAMS(db_text(w->name), db_text(w->url), db_text_or_null(w->credential),
                               db_int(w->change.now_us))))
        return APPLY_FAILED;
    buf_init_arena(&answer, a->mem);
    worker_show(&answer, &now);
    w->change.answer_json = buf_view(&answer);
    return APPLY_DONE;
}

enum apply_result worker_delete_apply(struct apply *a, struct member *m)
{
    const struct worker_delete *w = (const struct worker_delete *)m->change;

    if (!apply_write(a, SQL_WORKER_DELETE, DB_PARAMS(db_text(w->name))))
        return APPLY_FAILED;
    if (db_changes(a->db) == 0)
        return apply_refuse_with(a, m, ERR_NOT_FOUND, "no endpoint is registered for '%.*s'",
                                 STR_ARG(w->name));
    return APPLY_DONE;
}
