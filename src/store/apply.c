/* apply.c - commits of the engine as statements; see apply.h. */
#include "store/apply.h"

#include "store/change.h"
#include "store/gather.h"
#include "store/users.h"
#include "value/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name;
    bool is_terminal;
} statuses[] = {
#define STATUS(symbol, text, terminal) {.name = (text), .is_terminal = (terminal)},
#include "engine/status.def"
#undef STATUS
};

struct str status_text(enum execution_status status)
{
    ASSERT(status < STATUS_COUNT);
    return str_of(statuses[status].name);
}

bool status_from_text(struct str text, enum execution_status *out)
{
    for (unsigned i = 0; i < STATUS_COUNT; i++)
        if (str_eq(str_of(statuses[i].name), text)) {
            *out = (enum execution_status)i;
            return true;
        }
    return false;
}

bool status_is_live(enum execution_status status)
{
    ASSERT(status < STATUS_COUNT);
    return !statuses[status].is_terminal;
}

enum apply_result apply_refuse(const struct apply *a, struct member *m, enum member_result result)
{
    m->result = result;
    return a->wrote ? APPLY_AGAIN : APPLY_DONE;
}

enum apply_result apply_refuse_with(const struct apply *a, struct member *m, enum err_code code,
                                    const char *format, ...)
{
    char message[sizeof(m->err.message)];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    (void)err_set(&m->err, code, "%s", message);
    return apply_refuse(a, m, MEMBER_FAILED);
}

bool apply_write(struct apply *a, enum sql sql, const struct db_value *params, unsigned count,
                 enum db_status *status)
{
    *status = db_exec(a->db, sql, params, count);
    if (*status != DB_DONE)
        return false;
    if (db_changes(a->db) > 0)
        a->wrote = true;
    return true;
}

bool apply_put(struct apply *a, enum sql sql, const struct db_value *params, unsigned count,
               enum db_status *status)
{
    a->wrote = true;
    *status = db_put(a->db, sql, params, count);
    return *status == DB_DONE;
}

/* --- what a commit is held against --- */

/* An execution as it stands before the commit. */
struct before {
    int64_t row, row_version, wake_at_us;
    enum execution_status status;
    struct seat *seat; /* where the state waits to be written; or NULL */
};

/* DB_ROW: found; DB_DONE: there is none; DB_BUSY: it is locked. */
static enum db_status before_of_seat(struct apply *a, struct uuid id, int64_t row,
                                     struct before *out)
{
    struct seat *seat;
    enum db_status status = gather_seat(a, id, row, &seat);

    if (status == DB_ROW)
        *out = (struct before){.row = seat->row,
                               .row_version = seat->row_version,
                               .wake_at_us = seat->wake_at_us,
                               .status = seat->status,
                               .seat = seat};
    return status;
}

/* The same; `row` may be 0. */
static enum db_status load_before(struct apply *a, struct uuid of, int64_t row, struct before *out)
{
    char id[UUID_TEXT_LEN + 1];
    enum sql sql = row != 0 ? SQL_EXECUTION_STATE : SQL_EXECUTION_STATE_BY_ID;
    enum db_status status;

    if (a->db->has_sets)
        return before_of_seat(a, of, row, out);
    uuid_write(of, id);
    status = db_run(a->db, sql,
                    DB_PARAMS(row != 0 ? db_int(row) : db_text(str_from(id, UUID_TEXT_LEN))));
    if (status == DB_ROW) {
        out->row = db_column_int(a->db, sql, 0);
        if (!status_from_text(db_column_text(a->db, sql, 1), &out->status))
            status = DB_CORRUPT;
        out->row_version = db_column_int(a->db, sql, 2);
        out->wake_at_us = db_column_int(a->db, sql, 3);
    }
    db_end(a->db, sql);
    return status;
}

/* Whether a live execution of this code and organisation has the key. DB_ROW: m->holder is it. */
static enum db_status find_holder(struct apply *a, struct member *m, const struct execution *e)
{
    const struct key_seat *key = gather_key(a, e);
    enum db_status status;

    if (key != NULL && key->is_held)
        m->holder = key->holder;
    if (key != NULL)
        return key->is_held ? DB_ROW : DB_DONE;
    status = gather_flush(a);
    if (status != DB_DONE)
        return status;
    status = db_run(a->db, SQL_LIVE_KEY_FIND,
                    DB_PARAMS(db_text(e->key), db_text(e->program->code), db_some_text(e->org_id)));

    if (status == DB_ROW && !uuid_read(db_column_text(a->db, SQL_LIVE_KEY_FIND, 1), &m->holder))
        status = DB_CORRUPT;
    db_end(a->db, SQL_LIVE_KEY_FIND);
    return status;
}

/* --- signals --- */

struct signal_texts {
    struct str payload, by;
};

static bool write_field(struct arena *mem, struct value view, const char *field, struct str *out,
                        struct err *err)
{
    struct value v = value_map_get_str(view, str_of(field));
    struct buf text;

    *out = STR_NONE;
    if (v.kind == VALUE_ABSENT)
        return true;
    buf_init_arena(&text, mem);
    if (!json_write(&text, v, err))
        return false;
    *out = buf_view(&text);
    return true;
}

static bool signal_texts(struct apply *a, const struct signal *s, struct signal_texts *out,
                         struct err *err)
{
    *out = (struct signal_texts){0};
    return s->view.kind != VALUE_MAP ||
           (write_field(a->mem, s->view, "payload", &out->payload, err) &&
            write_field(a->mem, s->view, "by", &out->by, err));
}

/* DB_ROW: a signal of this id is stored; m->result says whether it is the same one. */
static enum db_status find_signal(struct apply *a, struct member *m, int64_t row,
                                  const struct signal_texts *texts)
{
    const struct signal *s = m->commit->received;
    const struct signal_seat *known = gather_signal(a, row, s->id);
    enum db_status status;

    if (known != NULL && known->is_known)
        m->result = str_eq(known->type, s->type) && str_eq(known->payload, texts->payload)
                        ? MEMBER_SIGNAL_KNOWN
                        : MEMBER_SIGNAL_DIFFERS;
    if (known != NULL)
        return known->is_known ? DB_ROW : DB_DONE;
    status = db_run(a->db, SQL_SIGNAL_FIND, DB_PARAMS(db_int(row), db_text(s->id)));

    if (status == DB_ROW)
        m->result = str_eq(db_column_text(a->db, SQL_SIGNAL_FIND, 0), s->type) &&
                            str_eq(db_column_text(a->db, SQL_SIGNAL_FIND, 1), texts->payload)
                        ? MEMBER_SIGNAL_KNOWN
                        : MEMBER_SIGNAL_DIFFERS;
    db_end(a->db, SQL_SIGNAL_FIND);
    return status;
}

/* --- writing --- */

struct str record_org(struct str org_id)
{
    return org_id.len > 0 ? org_id : ORG_DEFAULT;
}

bool apply_record_last(struct apply *a, struct str org_id, struct str object, struct str id,
                       int64_t *version, enum db_status *status)
{
    *status = db_run(a->db, SQL_RECORD_LAST,
                     DB_PARAMS(db_text(record_org(org_id)), db_text(object), db_text(id)));
    *version = *status == DB_ROW ? db_column_int(a->db, SQL_RECORD_LAST, 0) : 0;
    db_end(a->db, SQL_RECORD_LAST);
    return *status <= DB_DONE;
}

/* A record that a commit made and took away: it must not have been there, and counts on. */
static bool write_passing_record(struct apply *a, struct str org_id, const struct record_write *w,
                                 bool *is_stale, enum db_status *status)
{
    *status = db_run(a->db, SQL_RECORD_FIND,
                     DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id)));
    *is_stale = *status == DB_ROW;
    db_end(a->db, SQL_RECORD_FIND);
    if (*status > DB_DONE)
        return false;
    return *is_stale || apply_write(a, SQL_RECORD_GONE,
                                    DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id),
                                              db_int(w->version)),
                                    status);
}

/* False: *status says why. */
static bool write_record(struct apply *a, struct str org_id, const struct record_write *w,
                         int64_t now_us, bool *is_stale, enum db_status *status)
{
    int64_t last = 0;
    bool ok;

    /* It may have come and gone since it was read as missing. */
    if (w->read_version == 0 && !apply_record_last(a, org_id, w->object, w->id, &last, status))
        return false;
    *is_stale = last >= w->version;
    if (*is_stale)
        return true;
    if (w->is_delete && w->read_version == 0)
        return write_passing_record(a, org_id, w, is_stale, status);
    if (w->is_delete)
        ok = apply_write(
            a, SQL_RECORD_DELETE,
            DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id), db_int(w->read_version)),
            status);
    else if (w->read_version == 0)
        ok = apply_write(a, SQL_RECORD_INSERT,
                         DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id),
                                   db_int(w->version), db_text(w->data_json), db_int(now_us)),
                         status);
    else
        ok = apply_write(a, SQL_RECORD_UPDATE,
                         DB_PARAMS(db_text(org_id), db_text(w->object), db_text(w->id),
                                   db_int(w->version), db_text(w->data_json), db_int(now_us),
                                   db_int(w->read_version)),
                         status);
    *is_stale = ok && db_changes(a->db) == 0;
    return ok;
}

/* APPLY_DONE with m->result RECORD_STALE, or unchanged when all were written. */
static enum apply_result write_records(struct apply *a, struct member *m, int64_t now_us,
                                       enum db_status *status)
{
    const struct record_writes *writes = &m->commit->records;
    struct str org_id = record_org(m->commit->after->org_id);

    for (size_t i = 0; i < writes->count; i++) {
        bool is_stale = false;

        if (!write_record(a, org_id, &writes->items[i], now_us, &is_stale, status))
            return APPLY_FAILED;
        if (is_stale)
            return apply_refuse(a, m, MEMBER_RECORD_STALE);
    }
    return APPLY_DONE;
}

static struct db_value waiting_kind_value(const struct execution *e)
{
    return db_some_text(str_of(waiting_kind_name(e->waiting_kind)));
}

static struct str current_step(const struct execution *e)
{
    if (!status_is_live(e->status) || e->cursor.step >= e->program->step_count)
        return STR_NONE;
    return e->program->steps[e->cursor.step].code;
}

/* `context`: the commit whose checkpoint it has; or NULL. */
static enum db_status insert_execution(struct apply *a, const struct commit *c,
                                       const struct commit *context, int64_t row)
{
    const struct execution *e = c->after;
    char id[UUID_TEXT_LEN + 1], parent[UUID_TEXT_LEN + 1], again_of[UUID_TEXT_LEN + 1];
    bool is_live = status_is_live(e->status);

    uuid_write(e->id, id);
    uuid_write(e->parent_id, parent);
    uuid_write(e->again_of, again_of);
    return db_put(
        a->db, SQL_EXECUTION_INSERT,
        DB_PARAMS(
            db_int(row), db_text(str_from(id, UUID_TEXT_LEN)), db_text(e->program->code),
            db_int(e->program->version), db_text(status_text(e->status)), db_int(e->row_version),
            db_int(e->seq), db_int(context != NULL ? context->after->checkpoint_seq : 0),
            db_some_int(e->wake_at_us), db_some_int(e->deadline_at_us), db_int(e->created_at_us),
            db_some_int(e->started_at_us), db_some_int(e->completed_at_us),
            db_int(e->updated_at_us), db_int(e->stop_requested), db_int(e->crash_count),
            db_int(EXECUTION_FORMAT), db_some_text(e->org_id), db_some_text(e->key),
            is_live ? db_some_text(e->key) : db_null(), db_some_text(current_step(e)),
            db_some_text(e->user_json), db_some_text(c->cursor_json),
            db_some_text(e->waiting_for_json), db_some_text(e->error_json),
            db_some_text(e->result_json), db_some_text(e->input_json),
            context != NULL ? db_some_text(context->context_json) : db_null(),
            e->has_parent ? db_text(str_from(parent, UUID_TEXT_LEN)) : db_null(),
            db_some_text(e->program->snapshot), waiting_kind_value(e),
            db_text(str_of(kind_spec(e->program->kind)->name)),
            e->has_again_of ? db_text(str_from(again_of, UUID_TEXT_LEN)) : db_null()));
}

static enum db_status move_execution(struct apply *a, const struct execution *e, int64_t row)
{
    return db_put(a->db, SQL_EXECUTION_MOVE,
                  DB_PARAMS(db_int(row), db_int(e->program->version),
                            db_some_int(e->deadline_at_us), db_some_text(e->program->snapshot)));
}

enum db_status apply_put_seat(struct apply *a, const struct seat *seat)
{
    const struct commit *c = seat->last, *context = seat->context;
    const struct execution *e = c->after;
    enum db_status status;

    if (seat->is_new)
        return insert_execution(a, c, context, seat->row);
    status = db_put(
        a->db, SQL_EXECUTION_UPDATE,
        DB_PARAMS(db_int(seat->row), db_int(seat->stored_version), db_text(status_text(e->status)),
                  db_int(e->row_version), db_int(e->seq), db_some_int(e->started_at_us),
                  db_some_int(e->completed_at_us), db_int(e->updated_at_us),
                  db_int(e->stop_requested), db_int(e->crash_count), db_some_text(current_step(e)),
                  db_some_text(c->cursor_json), db_some_text(e->waiting_for_json),
                  db_some_text(e->error_json), db_some_text(e->result_json), waiting_kind_value(e),
                  db_int(EXECUTION_FORMAT), db_int(context != NULL),
                  context != NULL ? db_some_text(context->context_json) : db_null(),
                  context != NULL ? db_int(context->after->checkpoint_seq) : db_null(),
                  db_some_int(e->wake_at_us),
                  status_is_live(e->status) ? db_some_text(e->key) : db_null()));
    return status == DB_DONE && seat->is_moved ? move_execution(a, e, seat->row) : status;
}

/*
 * What the versions are that its snapshot names; executions share it, so it is often there. One
 * that was kept long ago is kept anew: then it is not deleted before the execution is seen.
 */
static bool keep_snapshot(struct apply *a, const struct execution *e, enum db_status *status)
{
    const struct program *p = e->program;
    bool is_new = false;

    if (p->snapshot.len > 0)
        (void)map_add(&a->snapshots, p->snapshot, &is_new);
    return !is_new || apply_put(a, SQL_SNAPSHOT_KEEP,
                                DB_PARAMS(db_text(p->snapshot), db_text(p->pins_json),
                                          db_int(e->updated_at_us)),
                                status);
}

/* Indexed columns are named only where they change: naming one rewrites its index. */
static bool update_execution(struct apply *a, const struct commit *c, const struct before *before,
                             enum db_status *status)
{
    static const enum sql statements[2][2] = {{SQL_ADVANCE, SQL_ADVANCE_CONTEXT},
                                              {SQL_ADVANCE_WAKE, SQL_ADVANCE_WAKE_CONTEXT}};
    const struct execution *e = c->after;
    bool wakes = e->wake_at_us != before->wake_at_us;
    unsigned count = 17;
    struct db_value params[DB_PARAMS_MAX] = {
        db_int(before->row),
        db_int(c->read_version),
        db_text(status_text(e->status)),
        db_int(e->row_version),
        db_int(e->seq),
        db_some_int(e->started_at_us),
        db_some_int(e->completed_at_us),
        db_int(e->updated_at_us),
        db_int(e->stop_requested),
        db_int(e->crash_count),
        db_some_text(current_step(e)),
        db_some_text(c->cursor_json),
        db_some_text(e->waiting_for_json),
        db_some_text(e->error_json),
        db_some_text(e->result_json),
        waiting_kind_value(e),
        db_int(EXECUTION_FORMAT),
    };

    if (c->writes_context) {
        params[count++] = db_some_text(c->context_json);
        params[count++] = db_int(e->checkpoint_seq);
    }
    if (wakes)
        params[count++] = db_some_int(e->wake_at_us);
    return apply_write(a, statements[wakes][c->writes_context], params, count, status);
}

static bool insert_history(struct apply *a, const struct commit *c, int64_t row,
                           enum db_status *status)
{
    for (size_t i = 0; i < c->history.count; i++) {
        const struct history_row *h = &c->history.items[i];

        if (!apply_put(a, SQL_HISTORY_INSERT,
                       DB_PARAMS(db_int(history_key(row, h->seq)), db_int(h->kind),
                                 db_int(h->visit), db_int(h->attempt), db_int(h->started_at_us),
                                 db_int(h->completed_at_us), db_some_text(h->step),
                                 db_text(h->status), db_some_text(h->key),
                                 db_some_text(h->input_json), db_some_text(h->output_json),
                                 db_some_text(h->error_json), db_some_text(h->delta_json)),
                       status))
            return false;
    }
    return true;
}

static bool insert_signal(struct apply *a, const struct signal *s, int64_t row,
                          const struct signal_texts *texts, enum db_status *status)
{
    if (a->db->has_sets)
        gather_received(a, row, s->id, s->type, texts->payload);
    return apply_put(a, SQL_SIGNAL_INSERT,
                     DB_PARAMS(db_int(row), db_text(s->id), db_text(s->type),
                               db_some_text(texts->payload), db_some_text(texts->by),
                               db_int(s->received_at_us), db_int(s->seq)),
                     status);
}

/* Those that were kept until now; they have been in the store as they are. */
static bool insert_taken(struct apply *a, struct member *m, enum db_status *status)
{
    const struct kept_takes *takes = &m->commit->kept_taken;

    for (size_t i = 0; i < takes->count; i++) {
        struct signal_texts texts;

        if (!signal_texts(a, takes->items[i].signal, &texts, &m->err)) {
            *status = DB_REFUSED;
            return false;
        }
        if (!insert_signal(a, takes->items[i].signal, m->row, &texts, status))
            return false;
    }
    return true;
}

/* --- one commit --- */

/* The row of an execution that begins. DB_CONFLICT: it is there, or its key is taken. */
static bool begin_execution(struct apply *a, const struct commit *c, int64_t row,
                            enum db_status *status)
{
    struct key_seat *key = c->after->key.len > 0 ? gather_key(a, c->after) : NULL;
    struct seat *seat;

    a->wrote = true;
    if (!a->db->has_sets) {
        *status = insert_execution(a, c, c->writes_context ? c : NULL, row);
        a->wrote = *status == DB_DONE;
        return *status == DB_DONE;
    }
    seat = gather_start(a, c->after->id);
    a->wrote = seat != NULL;
    *status = seat == NULL ? DB_CONFLICT : DB_DONE;
    if (seat == NULL)
        return false;
    seat->row = row;
    gather_change(seat, c);
    if (key != NULL && status_is_live(c->after->status))
        *key = (struct key_seat){.is_held = true, .holder = c->after->id};
    return true;
}

static enum apply_result start_execution(struct apply *a, struct member *m, enum db_status *status)
{
    const struct execution *e = m->commit->after;
    bool has_live_key = e->key.len > 0 && status_is_live(e->status);

    if (has_live_key) {
        *status = find_holder(a, m, e);
        if (*status == DB_ROW)
            return apply_refuse(a, m, MEMBER_KEY_BUSY);
        if (*status != DB_DONE)
            return APPLY_FAILED;
    }
    m->row = a->rows[a->next_row++];
    if (!begin_execution(a, m->commit, m->row, status))
        return *status == DB_CONFLICT ? apply_refuse(a, m, MEMBER_STALE) : APPLY_FAILED;
    if (!keep_snapshot(a, e, status))
        return APPLY_FAILED;
    a->counts[e->status]++;
    return APPLY_DONE;
}

/* The business key goes when an execution ends, and comes back when it is taken up again. */
static enum apply_result move_live_key(struct apply *a, struct member *m,
                                       const struct before *before, enum db_status *status)
{
    const struct execution *e = m->commit->after;
    bool was_live = status_is_live(before->status);
    bool is_live = status_is_live(e->status);
    struct key_seat *key;

    if (e->key.len == 0 || was_live == is_live)
        return APPLY_DONE;
    if (is_live) {
        *status = find_holder(a, m, e);
        if (*status == DB_ROW)
            return apply_refuse(a, m, MEMBER_KEY_BUSY);
        if (*status != DB_DONE)
            return APPLY_FAILED;
    }
    if (before->seat != NULL) {
        key = gather_key(a, e);
        if (key != NULL)
            *key = (struct key_seat){.is_held = is_live, .holder = e->id};
        return APPLY_DONE; /* the row says it when it is written */
    }
    return apply_write(a, is_live ? SQL_LIVE_KEY_TAKE : SQL_LIVE_KEY_DROP,
                       DB_PARAMS(db_int(m->row)), status)
               ? APPLY_DONE
               : APPLY_FAILED;
}

static enum apply_result advance_execution(struct apply *a, struct member *m,
                                           const struct before *before, enum db_status *status)
{
    const struct execution *e = m->commit->after;
    enum apply_result end = move_live_key(a, m, before, status);

    if (end != APPLY_DONE || m->result != MEMBER_APPLIED)
        return end;
    if (m->commit->moves && !keep_snapshot(a, e, status))
        return APPLY_FAILED;
    if (before->seat != NULL) {
        a->wrote = true;
        gather_change(before->seat, m->commit);
    } else {
        if (!update_execution(a, m->commit, before, status))
            return APPLY_FAILED;
        if (db_changes(a->db) == 0)
            return apply_refuse(a, m, MEMBER_STALE);
        if (m->commit->moves) {
            *status = move_execution(a, e, before->row);
            if (*status != DB_DONE)
                return APPLY_FAILED;
        }
    }
    a->counts[before->status]--;
    a->counts[e->status]++;
    return APPLY_DONE;
}

/* Executions that begin with this commit. What was read of their keys may have changed. */
static enum apply_result start_children(struct apply *a, struct member *m, enum db_status *status)
{
    for (size_t i = 0; i < m->commit->starts.count; i++) {
        struct commit *start = ARENA_NEW(a->mem, struct commit);

        *start = (struct commit){
            .after = m->commit->starts.items[i], .writes_context = true, .context_json = STR("{}")};
        *status = start->after->key.len > 0 ? find_holder(a, m, start->after) : DB_DONE;
        if (*status == DB_ROW)
            return apply_refuse(a, m, MEMBER_RECORD_STALE);
        if (*status != DB_DONE)
            return APPLY_FAILED;
        if (!begin_execution(a, start, a->rows[a->next_row++], status))
            return *status == DB_CONFLICT ? apply_refuse(a, m, MEMBER_RECORD_STALE) : APPLY_FAILED;
        if (!keep_snapshot(a, start->after, status))
            return APPLY_FAILED;
        a->counts[start->after->status]++;
    }
    return APPLY_DONE;
}

/* What other executions are told. */
static bool write_tells(struct apply *a, const struct tells *tells, enum db_status *status)
{
    for (size_t i = 0; i < tells->count; i++) {
        const struct tell *t = &tells->items[i];
        char id[UUID_TEXT_LEN + 1];

        uuid_write(t->execution, id);
        if (!apply_put(a, SQL_TELL,
                       DB_PARAMS(db_text(str_from(id, UUID_TEXT_LEN)),
                                 db_text(str_of(tell_kind_name(t->kind))), db_text(t->key),
                                 db_some_text(t->payload_json)),
                       status))
            return false;
    }
    return true;
}

/* Another session has locked it: the others of the batch do not wait for that. */
static enum apply_result refuse_locked(const struct apply *a, struct member *m)
{
    return apply_refuse_with(a, m, ERR_OVERLOADED,
                             "another session has locked the execution; try again");
}

bool apply_consume(struct apply *a, int64_t row, const struct told_numbers *numbers,
                   enum db_status *status)
{
    for (size_t i = 0; i < numbers->count; i++)
        if (!apply_put(a, SQL_TOLD_CONSUME, DB_PARAMS(db_int(row), db_int(numbers->items[i])),
                       status))
            return false;
    return true;
}

enum apply_result apply_assertion(struct apply *a, struct member *m, enum db_status *status)
{
    const struct assertion *s = m->assertion;
    struct before before;
    enum apply_result end;

    if (m->idempotency != NULL && apply_find_answer(a, m, s->now_us, &end, status))
        return end;
    *status = load_before(a, s->id, s->row, &before);
    if (*status == DB_DONE)
        return apply_refuse(a, m, MEMBER_GONE);
    if (*status == DB_BUSY && a->db->has_sets)
        return refuse_locked(a, m);
    if (*status != DB_ROW)
        return APPLY_FAILED;
    if (before.row_version != s->row_version)
        return apply_refuse(a, m, MEMBER_STALE);
    m->row = before.row;
    if (!write_tells(a, &s->tells, status) || !apply_consume(a, before.row, &s->consumed, status) ||
        (m->idempotency != NULL &&
         !apply_keep_answer(a, m->idempotency, before.row, s->now_us, status)))
        return APPLY_FAILED;
    return APPLY_DONE;
}

/* What the commit rests on: *before, and refusals that need nothing written. */
static enum apply_result check_commit(struct apply *a, struct member *m, struct before *before,
                                      const struct signal_texts *texts, enum db_status *status)
{
    const struct commit *c = m->commit;

    if (c->history.count > 0 && c->history.items[c->history.count - 1].seq > HISTORY_SEQ_MAX) {
        (void)err_set(&m->err, ERR_TOO_LARGE, "the history of this execution is full");
        return apply_refuse(a, m, MEMBER_FAILED);
    }
    if (c->is_start)
        return APPLY_DONE;
    *status = load_before(a, c->after->id, c->after->row, before);
    if (*status == DB_DONE)
        return apply_refuse(a, m, MEMBER_GONE);
    if (*status == DB_BUSY && a->db->has_sets)
        return refuse_locked(a, m);
    if (*status != DB_ROW)
        return APPLY_FAILED;
    m->row = before->row;
    if (c->received != NULL) {
        *status = find_signal(a, m, before->row, texts);
        if (*status == DB_ROW) {
            m->holder = c->after->id;
            m->has_holder = true;
            return apply_refuse(a, m, m->result);
        }
        if (*status != DB_DONE)
            return APPLY_FAILED;
    }
    if (before->row_version != c->read_version)
        return apply_refuse(a, m, MEMBER_STALE);
    return APPLY_DONE;
}

/* The same of what signals find it by. */
static enum apply_result check_all(struct apply *a, struct member *m, struct before *before,
                                   const struct signal_texts *texts, enum db_status *status)
{
    enum apply_result end = check_commit(a, m, before, texts, status);

    if (end != APPLY_DONE || m->result != MEMBER_APPLIED)
        return end;
    return apply_check_correlation(a, m, status);
}

enum apply_result apply_commit(struct apply *a, struct member *m, enum db_status *status)
{
    const struct commit *c = m->commit;
    int64_t now_us = c->after->updated_at_us;
    struct signal_texts texts = {0};
    struct before before = {0};
    enum apply_result end;

    if (c->received != NULL && !signal_texts(a, c->received, &texts, &m->err))
        return apply_refuse(a, m, MEMBER_FAILED);
    if (m->idempotency != NULL && apply_find_answer(a, m, now_us, &end, status))
        return end;
    end = check_all(a, m, &before, &texts, status);
    if (end != APPLY_DONE || m->result != MEMBER_APPLIED)
        return end;
    end = write_records(a, m, now_us, status);
    if (end != APPLY_DONE || m->result != MEMBER_APPLIED)
        return end;
    end = c->is_start ? start_execution(a, m, status) : advance_execution(a, m, &before, status);
    if (end != APPLY_DONE || m->result != MEMBER_APPLIED)
        return end;
    end = start_children(a, m, status);
    if (end != APPLY_DONE || m->result != MEMBER_APPLIED)
        return end;
    if (!write_tells(a, &c->tells, status) || !apply_consume(a, m->row, &c->consumed, status) ||
        !insert_history(a, c, m->row, status) || !apply_letters(a, m, status) ||
        !apply_correlation(a, m, status) || !insert_taken(a, m, status) ||
        (c->received != NULL && !insert_signal(a, c->received, m->row, &texts, status)) ||
        (m->idempotency != NULL && !apply_keep_answer(a, m->idempotency, m->row, now_us, status)))
        return APPLY_FAILED;
    return APPLY_DONE;
}
