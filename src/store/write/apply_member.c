/*
 * apply_member.c - the members of a batch, each with what goes beside its
 * change: the answer that is kept for a repeated request, the audit log. See
 * apply.h.
 */
#include "store/audit.h"
#include "store/change_definition.h"
#include "store/idempotency.h"
#include "store/write/apply.h"

#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "store/write/change_apply.h"
#include "store/write/gather.h"
#include "store/write/planner_facts.h"

/* --- the Idempotency-Key --- */

/* Read the answer where none was gathered. False: a->status says why. */
static bool answer_load(struct apply *a, const struct idempotency *i, struct cached_answer *out)
{
    const enum sql sql = SQL_IDEMPOTENCY_FIND;

    a->status =
        db_run(a->db, sql,
               DB_PARAMS(db_text(i->key), db_text(i->user), db_text(i->path), db_text(i->method)));
    if (a->status == DB_ROW)
        *out = gather_answer_row(a, sql, 0);
    db_end(a->db, sql);
    return a->status <= DB_DONE;
}

bool apply_find_answer(struct apply *a, struct member *m, int64_t now_us, enum apply_result *end)
{
    const struct idempotency *i = m->idempotency;
    struct cached_answer loaded = {0}, *kept = gather_answer(a, i);

    a->status = DB_DONE;
    *end = APPLY_FAILED;
    if (kept == NULL && !answer_load(a, i, &loaded))
        return true;
    kept = kept != NULL ? kept : &loaded;
    if (!kept->is_kept)
        return false;
    if (kept->created_at_us > now_us - idempotency_kept_us(i)) {
        bool is_same = str_eq(kept->body_hash, i->body_hash);

        m->answer_status = kept->status;
        m->answer = kept->answer;
        *end = apply_refuse(a, m, is_same ? MEMBER_REPEATED : MEMBER_KEY_CONFLICT);
        return true;
    }
    kept->is_kept = false;
    return !apply_write(a, SQL_IDEMPOTENCY_DROP, DB_PARAMS(db_int(kept->row)));
}

bool apply_load_answer(struct apply *a, const struct idempotency *i, int64_t now_us,
                       struct cached_answer *out)
{
    const struct cached_answer *kept = gather_answer(a, i);

    *out = (struct cached_answer){0};
    a->status = DB_DONE;
    if (kept != NULL)
        *out = *kept;
    else if (!answer_load(a, i, out))
        return false;
    out->is_kept &= out->created_at_us > now_us - idempotency_kept_us(i);
    return true;
}

bool apply_store_answer(struct apply *a, const struct idempotency *i, int64_t row, int64_t now_us)
{
    struct cached_answer *cached = gather_answer(a, i);

    /* DB_CONFLICT: another node has just kept one; the repeated batch will see it. */
    if (!apply_put(a, SQL_IDEMPOTENCY_PUT,
                   DB_PARAMS(db_text(i->key), db_text(i->user), db_text(i->path),
                             db_text(i->method), db_text(i->body_hash), db_int(i->status),
                             db_text_or_null(i->answer), db_int(now_us), db_some_int(row))))
        return false;
    if (cached != NULL)
        *cached = (struct cached_answer){.is_kept = true,
                                         .body_hash = i->body_hash,
                                         .status = i->status,
                                         .answer = i->answer,
                                         .created_at_us = now_us};
    if (idempotency_is_received(i))
        a->stored_received++;
    else
        a->stored_answers++;
    a->answered_at_us = now_us;
    return true;
}

bool apply_replace_answer(struct apply *a, const struct idempotency *i, int64_t now_us)
{
    const struct cached_answer *cached = gather_answer(a, i);
    struct cached_answer before = {0};
    bool is_known = cached != NULL && (!cached->is_kept || cached->row != 0);

    if (is_known)
        before = *cached;
    return (is_known || answer_load(a, i, &before)) &&
           (!before.is_kept ||
            apply_write(a, SQL_IDEMPOTENCY_DROP, DB_PARAMS(db_int(before.row)))) &&
           apply_store_answer(a, i, 0, now_us);
}

/* --- members --- */

static enum apply_result apply_crash(struct apply *a, struct member *m)
{
    a->status = gather_flush(a);
    if (a->status != DB_DONE ||
        !apply_write(a, SQL_CRASH, DB_PARAMS(db_text(UUID_STR(m->crashed)))))
        return APPLY_FAILED;
    if (db_changes(a->db) == 0)
        return apply_refuse(a, m, MEMBER_GONE);
    return apply_done_if(
        apply_parked_letter(a, m, m->crashed, m->crashed_letter,
                            STR("{\"code\":\"internal_crash\",\"message\":\"the server ended "
                                "while it worked on this execution, as often as it is allowed "
                                "to\",\"class\":\"transient\"}"),
                            m->crashed_at_us));
}

/* What is kept for a repeated request, now that the change has been made. */
static bool keep_change_answer(struct apply *a, const struct member *m, int64_t now_us)
{
    struct idempotency kept;

    if (m->idempotency == NULL)
        return true;
    kept = *m->idempotency;
    if (m->kind == MEMBER_DEFINITION) {
        if (m->definition->answer != NULL)
            kept.answer = m->definition->answer(a->mem, m->definition, &kept.status);
    } else if (m->change->answer_status != 0) {
        kept.status = m->change->answer_status;
        kept.answer = m->change->answer_json;
    }
    return apply_store_answer(a, &kept, 0, now_us);
}

/* A change that people make: looked up under its Idempotency-Key, made, and its answer kept. */
static enum apply_result apply_change(struct apply *a, struct member *m)
{
    bool is_definition = m->kind == MEMBER_DEFINITION, is_gathered;
    int64_t now_us = is_definition ? m->definition->now_us : m->change->now_us;
    enum apply_result end;

    if (m->idempotency != NULL && apply_find_answer(a, m, now_us, &end))
        return end;
    /* It looks and writes by statements of its own, unless what it looks at was gathered. */
    a->status = DB_DONE;
    if (!facts_are_gathered(a, m)) {
        a->status = gather_flush(a);
        if (a->status == DB_DONE && !is_definition && !m->change->leaves_executions)
            a->status = facts_ask_again(a, m);
    }
    if (a->status != DB_DONE)
        return APPLY_FAILED;
    is_gathered = facts_are_gathered(a, m);
    end = is_definition ? apply_definition(a, m) : m->change->apply(a, m);
    if (!is_definition && !is_gathered && !m->change->leaves_executions) {
        /* Rows that it has put are not forgotten with what was gathered. */
        if (end == APPLY_DONE && m->result == MEMBER_APPLIED) {
            a->status = db_flush(a->db);
            if (a->status != DB_DONE)
                return APPLY_FAILED;
        }
        gather_forget(a);
    }
    if (end == APPLY_DONE && m->result == MEMBER_APPLIED && !keep_change_answer(a, m, now_us))
        return APPLY_FAILED;
    return end;
}

enum apply_result change_nothing(struct apply *a, struct member *m)
{
    (void)a;
    (void)m;
    return APPLY_DONE;
}

static enum apply_result apply_by_kind(struct apply *a, struct member *m)
{
    switch (m->kind) {
    case MEMBER_COMMIT:
        return apply_commit(a, m);
    case MEMBER_DEFINITION:
    case MEMBER_CHANGE:
        return apply_change(a, m);
    case MEMBER_CRASH:
        return apply_crash(a, m);
    case MEMBER_ASSERT:
        return apply_assertion(a, m);
    }
    PANIC("unknown kind of member");
}

static bool write_audit(struct apply *a, const struct audit *audit)
{
    return apply_put(a, SQL_AUDIT_INSERT,
                     DB_PARAMS(db_int(audit->now_us), db_text_or_null(audit->user_id),
                               db_text_or_null(audit->user_name), db_text_or_null(audit->org_id),
                               db_text(audit->action), db_text_or_null(audit->target),
                               db_text_or_null(audit->details_json)));
}

static bool is_refused(const struct apply *a, struct uuid id)
{
    return map_find(&a->refused, str_from((const char *)id.bytes, sizeof(id.bytes))) != NULL;
}

void apply_note_refused(struct apply *a, const struct uuid *id)
{
    (void)map_add(&a->refused, str_from((const char *)id->bytes, sizeof(id->bytes)), NULL);
}

enum apply_result apply_member(struct apply *a, struct member *m)
{
    enum apply_result end;

    a->wrote = false;
    m->result = MEMBER_APPLIED;
    m->has_holder = false;
    m->is_left_out = m->is_passed_over && a->leaves_out;
    if (m->is_passed_over) {
        if (m->kind == MEMBER_COMMIT)
            apply_note_refused(a, &m->commit->after->id);
        return apply_refuse(a, m, MEMBER_LOCKED);
    }
    /* It rests on a commit that did not become true, whatever version another node has written. */
    if (m->is_void)
        return apply_refuse(a, m, MEMBER_STALE);
    if (m->kind == MEMBER_COMMIT && !m->commit->is_start && is_refused(a, m->commit->after->id))
        return apply_refuse(a, m, MEMBER_STALE);
    if (m->kind == MEMBER_ASSERT && is_refused(a, m->assertion->id))
        return apply_refuse(a, m, MEMBER_STALE);
    end = apply_by_kind(a, m);
    if (m->kind == MEMBER_COMMIT && m->result != MEMBER_APPLIED)
        apply_note_refused(a, &m->commit->after->id);
    if (end == APPLY_DONE && m->result == MEMBER_APPLIED && m->audit != NULL &&
        !write_audit(a, m->audit))
        return APPLY_FAILED;
    return end;
}
