/* apply_execution.c - the rows of an execution: its state, its history; see apply_commit.h. */
#include "store/write/apply_commit.h"

#include "define/program.h"
#include "engine/commit/commit.h"
#include "engine/commit/history.h"
#include "engine/execution.h"
#include "engine/status.h"
#include "store/write/gather.h"

static struct db_value waiting_kind_value(const struct execution *e)
{
    return db_text_or_null(str_of(waiting_kind_name(e->waiting_kind)));
}

/* Which lists look at the strands beside the first one: 1, or NULL when there are none. */
static struct db_value has_branches_value(const struct execution *e)
{
    return db_some_int(e->other_count > 0);
}

enum db_status apply_insert_execution(struct apply *a, const struct commit *c,
                                      const struct commit *context, int64_t row)
{
    const struct execution *e = c->after;
    bool is_live = status_is_live(e->status);

    return db_put(
        a->db, SQL_EXECUTION_INSERT,
        DB_PARAMS(
            db_int(row), db_text(UUID_STR(e->id)), db_text(e->program->code),
            db_int(e->program->version), db_text(status_text(e->status)), db_int(e->row_version),
            db_int(e->seq), db_int(context != NULL ? context->after->checkpoint_seq : 0),
            db_some_int(e->wake_at_us), db_some_int(e->deadline_at_us), db_int(e->created_at_us),
            db_some_int(e->started_at_us), db_some_int(e->completed_at_us),
            db_int(e->updated_at_us), db_int(e->stop_requested), db_int(e->crash_count),
            db_int(EXECUTION_FORMAT), db_text_or_null(e->org_id), db_text_or_null(e->key),
            is_live ? db_text_or_null(e->key) : db_null(),
            db_text_or_null(execution_current_step(e)), db_text_or_null(e->user_json),
            db_text_or_null(c->cursor_json), db_text_or_null(e->waiting_for_json),
            db_text_or_null(e->error_json), db_text_or_null(e->result_json),
            db_text_or_null(e->input_json),
            context != NULL ? db_text_or_null(context->context_json) : db_null(),
            e->has_parent ? db_text(UUID_STR(e->parent_id)) : db_null(),
            db_text_or_null(e->program->snapshot), waiting_kind_value(e),
            db_text(str_of(kind_spec(e->program->kind)->name)),
            e->has_again_of ? db_text(UUID_STR(e->again_of)) : db_null(), db_text_or_null(e->trace),
            db_text_or_null(e->webhook_json), db_text_or_null(e->record), db_text_or_null(e->chain),
            has_branches_value(e), e->debug != NULL ? db_text(STR("true")) : db_null()));
}

enum db_status apply_move_execution(struct apply *a, const struct execution *e, int64_t row)
{
    return db_put(a->db, SQL_EXECUTION_MOVE,
                  DB_PARAMS(db_int(row), db_int(e->program->version),
                            db_some_int(e->deadline_at_us), db_text_or_null(e->program->snapshot)));
}

enum db_status apply_put_execution(struct apply *a, const struct cached_execution *cached)
{
    const struct commit *c = cached->last, *context = cached->context;
    const struct execution *e = c->after;
    enum db_status status;

    if (cached->is_new)
        return apply_insert_execution(a, c, context, cached->row);
    status =
        db_put(a->db, SQL_EXECUTION_UPDATE,
               DB_PARAMS(db_int(cached->row), db_int(cached->stored_version),
                         db_text(status_text(e->status)), db_int(e->row_version), db_int(e->seq),
                         db_some_int(e->started_at_us), db_some_int(e->completed_at_us),
                         db_int(e->updated_at_us), db_int(e->stop_requested),
                         db_int(e->crash_count), db_text_or_null(execution_current_step(e)),
                         db_text_or_null(c->cursor_json), db_text_or_null(e->waiting_for_json),
                         db_text_or_null(e->error_json), db_text_or_null(e->result_json),
                         waiting_kind_value(e), db_int(EXECUTION_FORMAT), db_int(context != NULL),
                         context != NULL ? db_text_or_null(context->context_json) : db_null(),
                         context != NULL ? db_int(context->after->checkpoint_seq) : db_null(),
                         db_some_int(e->wake_at_us),
                         status_is_live(e->status) ? db_text_or_null(e->key) : db_null(),
                         has_branches_value(e)));
    return status == DB_DONE && cached->is_moved ? apply_move_execution(a, e, cached->row) : status;
}

/*
 * What the versions are that its snapshot names; executions share it, so it is often there. One
 * that was kept long ago is kept anew: then it is not deleted before the execution is seen.
 */
bool apply_keep_snapshot(struct apply *a, const struct execution *e)
{
    const struct program *p = e->program;
    bool is_new = false;

    if (p->snapshot.len > 0)
        (void)map_add(&a->snapshots, p->snapshot, &is_new);
    return !is_new || apply_put(a, SQL_SNAPSHOT_KEEP,
                                DB_PARAMS(db_text(p->snapshot), db_text(p->pins_json),
                                          db_int(e->updated_at_us)));
}

/* By whether it has a checkpoint, and by what changes: see commit_before. */
static enum sql advance_statement(bool has_context, bool wakes, bool moves, bool all)
{
    static const enum sql some[2][2][2] = {
        {{SQL_ADVANCE, SQL_ADVANCE_STEP}, {SQL_ADVANCE_WAKE, SQL_ADVANCE_WAKE_STEP}},
        {{SQL_ADVANCE_CONTEXT, SQL_ADVANCE_CONTEXT_STEP},
         {SQL_ADVANCE_CONTEXT_WAKE, SQL_ADVANCE_CONTEXT_WAKE_STEP}}};

    if (all)
        return has_context ? SQL_ADVANCE_CONTEXT_ALL : SQL_ADVANCE_ALL;
    return some[has_context][wakes][moves];
}

/* Whether the row says what the commit has not written because it was that before. */
static bool row_is_whole(struct apply *a, const struct execution *e, int64_t row)
{
    const struct db_value expected[] = {db_text(status_text(e->status)),
                                        db_text_or_null(execution_current_step(e)),
                                        db_text_or_null(e->error_json), waiting_kind_value(e)};
    bool is_whole = db_run(a->db, SQL_EXECUTION_INDEXED, DB_PARAMS(db_int(row))) == DB_ROW;

    for (unsigned i = 0; is_whole && i < ARRAY_SIZE(expected); i++)
        is_whole = str_eq(db_column_text(a->db, SQL_EXECUTION_INDEXED, i), expected[i].text);
    is_whole = is_whole && db_column_int(a->db, SQL_EXECUTION_INDEXED, 4) == e->wake_at_us &&
               db_column_int(a->db, SQL_EXECUTION_INDEXED, 5) == (e->other_count > 0);
    db_end(a->db, SQL_EXECUTION_INDEXED);
    return is_whole;
}

bool apply_update_execution(struct apply *a, const struct commit *c, int64_t row)
{
    const struct commit_before *before = &c->before;
    const struct execution *e = c->after;
    bool all = !before->is_known || !before->keeps_rest;
    bool wakes = all || !before->keeps_wake, moves = all || !before->keeps_step;
    unsigned count = 13;
    struct db_value params[DB_PARAMS_MAX] = {
        db_int(row),
        db_int(c->read_version),
        db_int(e->row_version),
        db_int(e->seq),
        db_some_int(e->started_at_us),
        db_some_int(e->completed_at_us),
        db_int(e->updated_at_us),
        db_int(e->stop_requested),
        db_int(e->crash_count),
        db_text_or_null(c->cursor_json),
        db_text_or_null(e->waiting_for_json),
        db_text_or_null(e->result_json),
        db_int(EXECUTION_FORMAT),
    };

    if (c->writes_context) {
        params[count++] = db_text_or_null(c->context_json);
        params[count++] = db_int(e->checkpoint_seq);
    }
    if (wakes)
        params[count++] = db_some_int(e->wake_at_us);
    if (moves)
        params[count++] = db_text_or_null(execution_current_step(e));
    if (all) {
        params[count++] = db_text(status_text(e->status));
        params[count++] = db_text_or_null(e->error_json);
        params[count++] = waiting_kind_value(e);
        params[count++] = has_branches_value(e);
    }
    if (!apply_write(a, advance_statement(c->writes_context, wakes, moves, all), params, count))
        return false;
    ASSERT_SLOW(db_changes(a->db) == 0 || row_is_whole(a, e, row));
    return true;
}

bool apply_history(struct apply *a, const struct commit *c, int64_t row)
{
    for (size_t i = 0; i < c->history.count; i++) {
        const struct history_row *h = &c->history.items[i];

        if (!apply_put(a, SQL_HISTORY_INSERT,
                       DB_PARAMS(db_int(history_key(row, h->seq)), db_int(h->kind),
                                 db_int(h->visit), db_int(h->attempt), db_int(h->started_at_us),
                                 db_int(h->completed_at_us), db_text_or_null(h->step),
                                 db_text(h->status), db_text_or_null(h->key),
                                 db_text_or_null(h->input_json), db_text_or_null(h->output_json),
                                 db_text_or_null(h->error_json), db_text_or_null(h->delta_json))))
            return false;
    }
    return true;
}
