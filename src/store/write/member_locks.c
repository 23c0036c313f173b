/* member_locks.c - which rows the members of a batch are going to write; see row_locks.h. */
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "store/change_job.h"
#include "store/change_letter.h"
#include "store/change_node.h"
#include "store/change_outbox.h"
#include "store/change_park.h"
#include "store/change_record.h"
#include "store/change_retention.h"
#include "store/change_schedule.h"
#include "store/change_signal.h"
#include "store/change_user.h"
#include "store/change_worker.h"
#include "store/org.h"
#include "store/planner.h"
#include "store/write/row_locks.h"

static void lock_text(struct member_locks *l, enum sql sql, struct str key)
{
    if (key.len > 0)
        member_lock(l, sql, DB_PARAMS(db_text(key)));
}

static void lock_int(struct member_locks *l, enum sql sql, int64_t key)
{
    if (key != 0)
        member_lock(l, sql, DB_PARAMS(db_int(key)));
}

static void lock_id(struct member_locks *l, enum sql sql, struct uuid id)
{
    member_lock(l, sql, DB_PARAMS(db_text(UUID_STR(id))));
}

/* Texts in a list; what else is in it is refused later. */
static void lock_texts(struct member_locks *l, enum sql sql, struct value list)
{
    for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len; i++)
        lock_text(l, sql, value_text_or(list.items[i], STR_NONE));
}

/* --- commits --- */

static void lock_task_acts(struct member_locks *l, const struct task_acts *acts)
{
    for (size_t i = 0; i < acts->count; i++) {
        struct value body = acts->items[i].body;

        lock_text(l, SQL_LOCK_TASKS, acts->items[i].id);
        lock_text(l, SQL_LOCK_USERS, value_map_text(body, STR("assign_to")));
        lock_texts(l, SQL_LOCK_TASKS, value_map_member(body, STR("depends_on")));
    }
}

/* What it takes from others: signals that were kept, a message, the tick of a schedule. */
static void lock_taken(struct member_locks *l)
{
    const struct member *m = l->m;
    const struct commit *c = m->commit;

    for (size_t i = 0; i < c->opened.count; i++)
        if (c->opened.items[i].correlation.len > 0)
            member_lock(
                l, SQL_LOCK_CORRELATIONS,
                DB_PARAMS(db_text(c->after->org_id), db_text(c->opened.items[i].correlation)));
    for (size_t i = 0; i < c->buffered_taken.count; i++)
        lock_int(l, SQL_LOCK_KEPT, c->buffered_taken.items[i].row);
    if (m->correlated != NULL && m->correlated->has_own_id)
        member_lock(l, SQL_LOCK_CORRELATED,
                    DB_PARAMS(db_text(m->correlated->org_id), db_text(m->correlated->id)));
    if (m->message != NULL)
        lock_int(l, SQL_LOCK_OUTBOX, m->message->row);
    if (m->tick != NULL)
        lock_id(l, SQL_LOCK_SCHEDULES, m->tick->id);
}

static void lock_commit(struct member_locks *l)
{
    const struct commit *c = l->m->commit;
    struct str org_id = record_org(c->after->org_id);
    int64_t row = c->after->row;

    for (size_t i = 0; i < c->records.count; i++)
        member_lock(l, SQL_LOCK_RECORDS,
                    DB_PARAMS(db_text(org_id), db_text(c->records.items[i].object),
                              db_text(c->records.items[i].id)));
    if (c->closed.count > 0)
        lock_int(l, SQL_LOCK_WAITS, row);
    for (size_t i = 0; row != 0 && i < c->asks_ended.count; i++)
        lock_int(l, SQL_LOCK_JOBS, history_key(row, c->asks_ended.items[i].seq));
    if (c->incident.status != LETTER_OPEN || c->ends_parking)
        lock_int(l, SQL_LOCK_LETTERS_OPEN, row);
    if (c->retries_letter)
        lock_id(l, SQL_LOCK_LETTERS, c->retried_letter);
    for (size_t i = 0; i < c->consumed.count; i++)
        lock_int(l, SQL_LOCK_NOTICES, c->consumed.items[i]);
    lock_task_acts(l, &c->tasks);
    lock_taken(l);
}

/* --- changes of what people keep --- */

static void lock_nothing(struct member_locks *l)
{
    (void)l;
}

static void lock_record(struct member_locks *l)
{
    const struct record_change *r = (const struct record_change *)l->m->change;

    member_lock(l, SQL_LOCK_RECORDS,
                DB_PARAMS(db_text(record_org(r->org_id)), db_text(r->object), db_text(r->id)));
}

/* Whoever changes users, tokens or sessions says so in one row. */
static void lock_access(struct member_locks *l)
{
    lock_int(l, SQL_LOCK_ACCESS, 1);
}

static void lock_user(struct member_locks *l)
{
    lock_access(l);
    lock_text(l, SQL_LOCK_USERS, ((const struct user_change *)l->m->change)->user.id);
}

static void lock_token(struct member_locks *l)
{
    const struct token_change *c = (const struct token_change *)l->m->change;

    lock_access(l);
    lock_text(l, SQL_LOCK_USERS, c->token.user_id);
    lock_text(l, SQL_LOCK_TOKENS, c->is_revoke ? c->token.id : c->replaces);
}

static void lock_session(struct member_locks *l)
{
    lock_access(l);
    lock_text(l, SQL_LOCK_SESSIONS, ((const struct session_change *)l->m->change)->session.hash);
}

static void lock_worker_put(struct member_locks *l)
{
    lock_text(l, SQL_LOCK_WORKERS, ((const struct worker_put *)l->m->change)->name);
}

static void lock_worker_delete(struct member_locks *l)
{
    lock_text(l, SQL_LOCK_WORKERS, ((const struct worker_delete *)l->m->change)->name);
}

/* --- changes around executions --- */

static void lock_letter(struct member_locks *l)
{
    struct uuid id = ((const struct letter_resolve *)l->m->change)->id;

    lock_id(l, SQL_LOCK_LETTERS, id);
    lock_id(l, SQL_LOCK_OUTBOX_PARKED, id);
}

static void lock_parking(struct member_locks *l)
{
    lock_id(l, SQL_LOCK_EXECUTIONS, ((const struct execution_park *)l->m->change)->id);
}

static void lock_unparking(struct member_locks *l)
{
    struct uuid letter = ((const struct execution_unpark *)l->m->change)->letter;

    lock_id(l, SQL_LOCK_LETTERS, letter);
    lock_id(l, SQL_LOCK_PARKED, letter);
}

static void lock_deletion(struct member_locks *l)
{
    static const enum sql parts[] = {SQL_LOCK_LETTERS_OF, SQL_LOCK_WAITS_OF, SQL_LOCK_NOTICES_OF,
                                     SQL_LOCK_OUTBOX_OF,  SQL_LOCK_JOBS_OF,  SQL_LOCK_EXECUTIONS};

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        lock_id(l, parts[i], ((const struct execution_delete *)l->m->change)->id);
}

static void lock_beat(struct member_locks *l)
{
    lock_id(l, SQL_LOCK_JOBS_BY_ID, ((const struct job_beat *)l->m->change)->id);
}

static void lock_released(struct member_locks *l)
{
    lock_id(l, SQL_LOCK_JOBS_BY_ID, ((const struct job_release *)l->m->change)->id);
}

static void lock_returned(struct member_locks *l)
{
    const struct stored_jobs *jobs = ((const struct job_return *)l->m->change)->jobs;

    for (size_t i = 0; i < jobs->count; i++)
        lock_int(l, SQL_LOCK_JOBS, jobs->items[i].key);
}

static void lock_buffered(struct member_locks *l)
{
    const struct correlated_signal *s = l->m->correlated;

    member_lock(l, SQL_LOCK_CORRELATIONS, DB_PARAMS(db_text(s->org_id), db_text(s->correlation)));
    member_lock(l, SQL_LOCK_CORRELATED, DB_PARAMS(db_text(s->org_id), db_text(s->id)));
}

static void lock_skip(struct member_locks *l)
{
    lock_id(l, SQL_LOCK_SCHEDULES, ((const struct schedule_skip *)l->m->change)->tick.id);
}

static void lock_pause(struct member_locks *l)
{
    lock_id(l, SQL_LOCK_SCHEDULES, ((const struct schedule_pause *)l->m->change)->id);
}

static void lock_settled(struct member_locks *l)
{
    const struct outbox_settle *s = (const struct outbox_settle *)l->m->change;

    for (size_t i = 0; i < s->count; i++)
        lock_int(l, SQL_LOCK_OUTBOX, s->deliveries[i].row);
}

static void lock_lanes(struct member_locks *l)
{
    const struct outbox_claim *c = (const struct outbox_claim *)l->m->change;

    for (size_t i = 0; i < c->count; i++)
        lock_text(l, SQL_LOCK_LANES, c->lanes[i].destination);
}

static void lock_retry(struct member_locks *l)
{
    const struct outbox_retry *r = (const struct outbox_retry *)l->m->change;

    lock_id(l, r->by_letter ? SQL_LOCK_OUTBOX_PARKED : SQL_LOCK_OUTBOX_BY_ID, r->id);
    lock_id(l, r->by_letter ? SQL_LOCK_LETTERS : SQL_LOCK_LETTERS_OF_MESSAGE, r->id);
}

static void lock_resolved(struct member_locks *l)
{
    struct uuid id = ((const struct outbox_resolve *)l->m->change)->id;

    lock_id(l, SQL_LOCK_OUTBOX_BY_ID, id);
    lock_id(l, SQL_LOCK_LETTERS_OF_MESSAGE, id);
}

/* --- the planner --- */

static const struct planner_change *planner_change_of(const struct member_locks *l)
{
    return (const struct planner_change *)l->m->change;
}

static void lock_actor(struct member_locks *l)
{
    lock_text(l, SQL_LOCK_USERS, planner_change_of(l)->actor.id);
}

static void lock_task(struct member_locks *l)
{
    const struct planner_change *c = planner_change_of(l);

    lock_actor(l);
    lock_text(l, SQL_LOCK_USERS, value_map_text(c->request.payload, STR("assign_to")));
    lock_text(l, SQL_LOCK_TASKS, c->id);
    lock_text(l, SQL_LOCK_DEFECTS, c->id);
}

static void lock_new_task(struct member_locks *l)
{
    lock_actor(l);
    lock_texts(l, SQL_LOCK_TASKS, value_map_member(planner_change_of(l)->body, STR("depends_on")));
}

static void lock_split(struct member_locks *l)
{
    struct value parts = value_map_member(planner_change_of(l)->body, STR("subtasks"));

    lock_task(l);
    for (uint32_t i = 0; parts.kind == VALUE_LIST && i < parts.len; i++)
        lock_texts(l, SQL_LOCK_TASKS, value_map_member(parts.items[i], STR("depends_on")));
}

static void lock_release(struct member_locks *l)
{
    lock_task(l);
    lock_text(l, SQL_LOCK_HOLDS, planner_change_of(l)->other_id);
}

static void lock_acknowledgement(struct member_locks *l)
{
    lock_task(l);
    lock_text(l, SQL_LOCK_ESCALATIONS, planner_change_of(l)->other_id);
}

static void lock_dependency(struct member_locks *l)
{
    const struct planner_change *c = planner_change_of(l);

    lock_text(l, SQL_LOCK_DEPENDENCIES, c->org_id);
    lock_task(l);
    lock_text(l, SQL_LOCK_TASKS, value_map_text(c->body, STR("depends_on")));
}

static void lock_invitation(struct member_locks *l)
{
    lock_task(l);
    lock_text(l, SQL_LOCK_USERS, value_map_text(planner_change_of(l)->body, STR("user_id")));
}

static void lock_shift_members(struct member_locks *l)
{
    lock_actor(l);
    lock_texts(l, SQL_LOCK_USERS, value_map_member(planner_change_of(l)->body, STR("members")));
}

static void lock_shift(struct member_locks *l)
{
    lock_text(l, SQL_LOCK_SHIFTS, planner_change_of(l)->id);
    lock_text(l, SQL_LOCK_SHIFT_TASKS, planner_change_of(l)->id);
}

static void lock_policy(struct member_locks *l)
{
    lock_text(l, SQL_LOCK_POLICIES, planner_change_of(l)->org_id);
}

/* --- members --- */

static void lock_change(struct member_locks *l)
{
    static const struct {
        change_apply_fn *apply;
        void (*ask)(struct member_locks *l);
    } kinds[] = {
#define CHANGE_LOCKS(apply, locks) {apply, locks},
#include "store/write/change_locks.def"
#undef CHANGE_LOCKS
    };

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (kinds[i].apply == l->m->change->apply) {
            kinds[i].ask(l);
            return;
        }
    PANIC("a change that is not in change_locks.def");
}

void member_locks_ask(struct member_locks *l)
{
    const struct member *m = l->m;

    switch (m->kind) {
    case MEMBER_COMMIT:
        lock_commit(l);
        return;
    case MEMBER_DEFINITION:
        lock_int(l, SQL_LOCK_STAMP, 1);
        return;
    case MEMBER_CHANGE:
        lock_change(l);
        return;
    case MEMBER_CRASH:
        lock_id(l, SQL_LOCK_EXECUTIONS, m->crashed);
        return;
    case MEMBER_ASSERT:
        for (size_t i = 0; i < m->assertion->consumed.count; i++)
            lock_int(l, SQL_LOCK_NOTICES, m->assertion->consumed.items[i]);
        return;
    }
    PANIC("unknown kind of member");
}

/* A business key is unique: an insert waits for one that is not committed. */
static bool commit_inserts_key(const struct commit *c)
{
    if (c->is_start && c->after->key.len > 0)
        return true;
    for (size_t i = 0; i < c->starts.count; i++)
        if (c->starts.items[i]->key.len > 0)
            return true;
    return false;
}

bool member_may_wait(const struct member *m)
{
    return m->locks_rows || m->idempotency != NULL || m->kind == MEMBER_CHANGE ||
           m->kind == MEMBER_DEFINITION ||
           (m->kind == MEMBER_COMMIT && commit_inserts_key(m->commit));
}
