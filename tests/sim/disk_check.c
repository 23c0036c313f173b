/* disk_check.c - the invariants of every commit, and of the disk at rest; see docs/INVARIANTS.md. */
#include "sim/disk.h"

#include "engine/dump.h"
#include "engine/show.h"

/* --- invariants --- */

static void check_same(struct sim *sim, struct arena *mem, const char *what,
                       const struct execution *after, const struct execution *restored)
{
    struct str in_memory, from_disk;

    if (dump_is_same(after, restored))
        return;
    in_memory = dump_execution(mem, after);
    from_disk = dump_execution(mem, restored);
    sim_fail(sim, "%s\n--- in memory\n%.*s\n--- from the disk\n%.*s", what, STR_ARG(in_memory),
             STR_ARG(from_disk));
}

/* The state that a checkpoint (none: the start) and all rows after it give. */
static struct execution *fold(struct sim *sim, struct arena *mem, const struct disk_execution *x,
                              struct disk_checkpoint from)
{
    struct stored_execution stored = x->s;
    struct execution *restored;
    struct err err;

    stored.context_json = from.context_json;
    stored.history = (struct history){.items = x->history.items + from.seq,
                                      .count = x->history.count - (size_t)from.seq};
    SIM_CHECK(sim, state_restore(mem, x->program, &stored, &restored, &err), "I4: %s", err.message);
    return restored;
}

/*
 * I4: what was stored restores to the state that the engine went on with; so
 * does the checkpoint before with the rows of this commit; and now and then,
 * and at the end, the history alone.
 */
void disk_check_restores(struct sim *sim, struct arena *mem, const struct disk_execution *x,
                         struct disk_checkpoint before, const struct execution *after)
{
    struct disk_checkpoint now = {x->s.context_json, x->s.checkpoint_seq};
    struct disk_checkpoint none = {STR_NONE, 0};
    struct execution *restored = fold(sim, mem, x, now);

    check_same(sim, mem, "I4: the checkpoint with the rows after it is not the state", after,
               restored);
    if (x->has_moved)
        return;
    if (now.seq != before.seq) {
        restored = fold(sim, mem, x, before);
        restored->log_bytes = after->log_bytes;
        check_same(sim, mem, "I4: the rows over the checkpoint before are not the state", after,
                   restored);
    }
    if (before.seq == 0 || (!status_is_terminal(after->status) && !dice_hits(&sim->dice, 100)))
        return;
    restored = fold(sim, mem, x, none);
    restored->log_bytes = after->log_bytes;
    check_same(sim, mem, "I4: the history alone is not the state", after, restored);
}

/* Whether the row says what a visit has come to; also that of a call which was stopped before. */
static bool is_of_visit(const struct history_row *r)
{
    return r->kind == HISTORY_FORWARD ||
           (r->kind == HISTORY_EVENT && r->visit > 0 && str_eq(r->status, STR("call_ended")));
}

/* The row of a visit that is its last. */
static const struct history_row *visit_row(const struct disk_execution *x,
                                           const struct history_row *of)
{
    for (size_t i = x->history.count; i-- > 0;) {
        const struct history_row *r = &x->history.items[i];
        if (is_of_visit(r) && r->visit == of->visit && str_eq(r->step, of->step))
            return r;
    }
    return NULL;
}

/* I8: what is undone has been done, and was done before what was undone before it. */
static void check_rollback(struct sim *sim, const struct disk_execution *x,
                           const struct history_row *row)
{
    const struct history_row *undone = visit_row(x, row), *before;

    /* One that was given up is tried again out of order. */
    for (size_t i = 0; i < x->history.count; i++)
        if (x->history.items[i].kind == HISTORY_EVENT &&
            str_eq(x->history.items[i].status, STR("undo")))
            return;
    SIM_CHECK(sim, undone != NULL, "I8: %.*s is undone and was not done", STR_ARG(row->step));
    for (size_t i = x->history.count; i-- > 0;) {
        const struct history_row *r = &x->history.items[i];
        if (r->kind != HISTORY_ROLLBACK)
            continue;
        before = visit_row(x, r);
        SIM_CHECK(sim, undone->seq <= before->seq, "I8: row %lld is undone after row %lld",
                  (long long)undone->seq, (long long)before->seq);
        SIM_CHECK(sim, undone != before || row->attempt > r->attempt || !str_eq(row->key, r->key),
                  "I8: %.*s of %.*s is undone twice", STR_ARG(row->step),
                  STR_ARG(sim_id(sim, x->s.id)));
        break;
    }
}

void disk_check_row(struct sim *sim, const struct disk_execution *x, const struct history_row *row)
{
    int64_t last =
        x->history.count == 0 ? 0 : x->history.items[x->history.count - 1].completed_at_us;

    SIM_CHECK(sim, row->seq == (int64_t)x->history.count + 1,
              "history has a gap: row %lld after %zu", (long long)row->seq, x->history.count);
    SIM_CHECK(sim, row->completed_at_us >= last,
              "times of a history go back: row %lld of %.*s, %lld us", (long long)row->seq,
              STR_ARG(sim_id(sim, x->s.id)), (long long)(last - row->completed_at_us));
    for (size_t i = 0; row->kind == HISTORY_FORWARD && i < x->history.count; i++) {
        const struct history_row *r = &x->history.items[i];
        if (r->kind != HISTORY_FORWARD || r->visit != row->visit || !str_eq(r->step, row->step))
            continue;
        SIM_CHECK(sim, row->attempt > r->attempt && str_eq(r->status, STR("failed")),
                  "step %.*s of %.*s ran twice in visit %lld", STR_ARG(row->step),
                  STR_ARG(sim_id(sim, x->s.id)), (long long)row->visit);
    }
    if (row->kind == HISTORY_ROLLBACK)
        check_rollback(sim, x, row);
}

static bool is_begun_by(const struct commit *c, const char *event)
{
    return c->history.count > 0 && c->history.items[0].kind == HISTORY_EVENT &&
           str_eq(c->history.items[0].status, str_of(event));
}

/*
 * I7: an end is an end, but for an operator's retry of what failed and was not rolled back, or of
 * a rollback that was given up; and an answer that comes late is kept for such a retry.
 */
static bool may_change(const struct disk_execution *x, const struct commit *c)
{
    return !status_is_terminal(x->s.status) ||
           (x->s.status == STATUS_FAILED && show_allows(&x->s, ACTION_RETRY) &&
            is_begun_by(c, "retry")) ||
           (x->s.status == STATUS_FAILED && c->after->status == STATUS_FAILED &&
            is_begun_by(c, "answer")) ||
           (x->s.status != STATUS_COMPLETED && is_begun_by(c, "undo"));
}

/* Whether a row says that the visit had begun. */
static bool has_begun(const struct disk_execution *x, const struct history_row *visit)
{
    for (size_t i = 0; i < x->history.count; i++) {
        const struct history_row *row = &x->history.items[i];

        if (row->visit == visit->visit && str_eq(row->step, visit->step))
            return true;
    }
    return false;
}

/*
 * While a debugger has stopped it no step begins: what ends meanwhile had begun before the stop. A
 * call that waits for capacity says so in a row, and when it leaves it counts as begun anew.
 */
static void check_stands(struct sim *sim, const struct commit *c, const struct disk_execution *x)
{
    int64_t stopped_us = 0;

    if (x == NULL || x->s.status != STATUS_WAITING_DEBUG || is_begun_by(c, "continued"))
        return;
    for (size_t i = x->history.count; i-- > 0 && stopped_us == 0;)
        if (str_eq(x->history.items[i].status, STR("waiting_debug")))
            stopped_us = x->history.items[i].completed_at_us;
    SIM_CHECK(sim, stopped_us > 0, "an execution is stopped, and no row says so");
    for (size_t i = 0; i < c->history.count; i++) {
        const struct history_row *row = &c->history.items[i];

        SIM_CHECK(sim,
                  row->kind != HISTORY_FORWARD || row->started_at_us <= stopped_us ||
                      has_begun(x, row),
                  "step %.*s began while a debugger had stopped the execution", STR_ARG(row->step));
    }
}

void disk_check_commit(struct sim *sim, const struct commit *c, const struct disk_execution *x)
{
    const struct execution *after = c->after;
    bool is_live = !status_is_terminal(after->status);

    check_stands(sim, c, x);
    SIM_CHECK(sim, after->row_version == c->read_version + 1, "I3: a commit skips a version");
    SIM_CHECK(sim, c->history.count > 0, "a commit without history");
    SIM_CHECK(sim, x == NULL || x->rows_deleted == 0, "a deleted execution goes on");
    SIM_CHECK(sim, x == NULL || may_change(x, c), "I7: a terminal execution changed");
    SIM_CHECK(sim, is_live || after->wake_at_us == 0, "a terminal execution has a timer");
    SIM_CHECK(sim, is_live || after->completed_at_us > 0, "a terminal execution has no end");
    SIM_CHECK(sim, after->status != STATUS_RUNNING || after->wake_at_us == WAKE_AT_ONCE,
              "ready work is not due");
    SIM_CHECK(sim, after->status != STATUS_WAITING || after->waiting_for_json.len > 0,
              "an execution waits and does not say for what");
    /* A child is told of something before it has begun. */
    SIM_CHECK(sim, after->status != STATUS_PENDING || (x != NULL && x->s.status == STATUS_PENDING),
              "a commit leaves an execution pending");
}

/* --- at rest --- */

static void check_execution(struct sim *sim, const struct disk_execution *x)
{
    bool is_live = !status_is_terminal(x->s.status);
    size_t signals = 0, repairs = 0;

    for (size_t i = 0; i < x->history.count; i++) {
        struct str status = x->history.items[i].status;

        signals += str_eq(status, STR("signal"));
        repairs += str_eq(status, STR("retry")) || str_eq(status, STR("skip")) ||
                   str_eq(status, STR("migrated")) || str_eq(status, STR("resolved")) ||
                   str_eq(status, STR("undo")) || str_eq(status, STR("paused")) ||
                   str_eq(status, STR("resumed")) || str_eq(status, STR("continued")) ||
                   str_eq(status, STR("breakpoints"));
    }
    SIM_CHECK(sim, repairs >= x->repairs, "I9: a repair was acknowledged and is not durable");
    SIM_CHECK(sim, signals == x->count, "I2: %zu signals in history, %zu received", signals,
              x->count);
    SIM_CHECK(sim, (int64_t)x->history.count == x->s.seq, "history is not complete");
    if (!is_live)
        disk_check_compensations(sim, x);
    disk_check_family(sim, x);
    SIM_CHECK(sim, x->log_lines_seen <= x->log_lines, "I1: a log line without its commit");
    SIM_CHECK(sim, !is_live || x->s.status == STATUS_WAITING || x->s.status == STATUS_WAITING_DEBUG,
              "an execution is stuck: %s", status_name(x->s.status));
    SIM_CHECK(sim, x->s.wake_at_us == 0 || x->s.wake_at_us > sim_wall_us(sim),
              "an execution is stuck: it was due");
}

/* Whoever is due, or waits for what has happened, has been advanced. */
static void check_is_awake(struct sim *sim, const struct disk_execution *x, int64_t now_us)
{
    char id[UUID_TEXT_LEN + 1];
    struct uuid child;

    uuid_write(x->s.id, id);
    SIM_CHECK(sim, x->s.wake_at_us == 0 || x->s.wake_at_us > now_us || x->s.crash_count >= 5,
              "execution %s sleeps: %s, due since %lld us, waits for %.*s", id,
              status_name(x->s.status), (long long)(now_us - x->s.wake_at_us),
              STR_ARG(x->s.waiting_for_json));
    SIM_CHECK(sim, !disk_missed_child(sim, x, &child),
              "execution %s sleeps: its child has ended, and it waits for %.*s", id,
              STR_ARG(x->s.waiting_for_json));
}

/*
 * Whoever was told something has heard it, unless only an operator can let it go on; nothing stays
 * for one that has ended.
 */
static void check_has_heard(struct sim *sim, const struct disk_event *e)
{
    const struct stored_execution *s = &e->of->s;

    SIM_CHECK(sim,
              e->of->is_deleted || s->crash_count >= 5 ||
                  (e->notice.kind == NOTICE_JOIN &&
                   (!status_is_terminal(s->status) || disk_may_tell_joiners_yet(sim, e->of))) ||
                  s->waiting_kind == WAITING_PAUSED,
              "execution %.*s sleeps: it was told %.*s, and waits for %.*s",
              STR_ARG(sim_id(sim, s->id)), STR_ARG(e->notice.key), STR_ARG(s->waiting_for_json));
}

void disk_check_nobody_sleeps(struct sim *sim)
{
    int64_t now_us = sim_wall_us(sim);

    for (size_t i = 0; i < sim->disk.executions.count; i++)
        if (!sim->disk.executions.items[i]->is_deleted)
            check_is_awake(sim, sim->disk.executions.items[i], now_us);
    disk_check_leases(sim);
    disk_check_tasks(sim);
    for (size_t i = 0; i < sim->disk.events.count; i++)
        check_has_heard(sim, &sim->disk.events.items[i]);
}

void disk_check_all(struct sim *sim)
{
    struct disk *d = &sim->disk;
    int64_t increments = 0;

    for (size_t i = 0; i < d->executions.count; i++)
        if (!d->executions.items[i]->is_deleted)
            check_execution(sim, d->executions.items[i]);
    correlation_check(sim);
    disk_check_outbox(sim);
    for (size_t i = 0; i < d->record_list.count; i++) {
        const struct disk_record *r = d->record_list.items[i];
        if (str_eq(r->object, STR("acc")))
            increments += value_map_get_str(r->data, STR("n")).i;
    }
    SIM_CHECK(sim, increments == d->increments, "an update was lost: %lld increments, %lld counted",
              (long long)d->increments, (long long)increments);
}
