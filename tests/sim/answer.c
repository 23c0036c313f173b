/*
 * answer.c - what may be answered to a request; see sim.h.
 *
 * An answer is held against the disk at the moment it comes: what it says must
 * be durable by then (I1, I9), and what it refuses must not have happened.
 */
#include "engine/show.h"
#include "engine/state.h"
#include "sim/sim.h"
#include "store/change_definition.h"
#include "store/change_retention.h"

#include <stdlib.h>

/* So long after its time a wait may be refused because the store did not say how it stands. */
#define CONFIRM_US INT64_C(5000000)

/* --- answers --- */

/* The number after `name` in a JSON text that we wrote ourselves. */
static int64_t number_after(struct str json, struct str name)
{
    int64_t at = str_find(json, name, 0);

    return at < 0 ? -1 : strtoll(json.ptr + at + name.len, NULL, 10);
}

/* Whether this text and a quote stand at a place of a JSON text. */
static bool text_follows(struct str json, size_t at, struct str text)
{
    return at + text.len < json.len && str_eq(str_slice(json, at, at + text.len), text) &&
           json.ptr[at + text.len] == '"';
}

/* Whoever has waited and is told that it goes on has waited long enough, and it did go on. */
static void check_not_ended(struct sim *sim, const struct sim_request *q,
                            const struct disk_execution *x, int64_t version)
{
    for (int64_t i = version; i < (int64_t)x->versions.count; i++)
        SIM_CHECK(sim,
                  !status_is_terminal(x->versions.items[i].status) ||
                      x->versions.items[i].mono_us >= q->deadline_us,
                  "an answer says that it goes on, and it had ended");
}

/* An execution that was shown: that version of it is durable and looked so. */
static void check_shown(struct sim *sim, const struct sim_request *q)
{
    const struct node_request *r = &q->r;
    const struct disk_execution *x = disk_find_ever(&sim->disk, r->id);
    int64_t version = number_after(r->execution_json, STR("\"rowVersion\":"));
    struct str name = STR("\"status\":\""), status;
    int64_t at;

    SIM_CHECK(sim, x != NULL, "I9: an answer names an execution that is not durable");
    SIM_CHECK(sim, version >= 1 && version <= x->s.row_version,
              "I1: an answer shows version %lld, and %lld is durable", (long long)version,
              (long long)x->s.row_version);
    at = str_find(r->execution_json, name, 0);
    status = str_of(status_name(x->versions.items[version - 1].status));
    SIM_CHECK(sim, at > 0 && text_follows(r->execution_json, (size_t)at + name.len, status),
              "I1: an answer shows another status");
    SIM_CHECK(sim, r->ended == status_is_terminal(x->versions.items[version - 1].status),
              "I1: an answer is wrong about the end");
    SIM_CHECK(sim, version >= q->first_version,
              "an answer shows version %lld, and %lld was durable when it was asked for",
              (long long)version, (long long)q->first_version);
    /* Nobody waits for one that is held: only an operator ends that. */
    if (!r->ended && q->deadline_us > 0 && !x->versions.items[version - 1].is_held &&
        !x->is_deleted && !r->is_unconfirmed)
        check_not_ended(sim, q, x, version);
}

static void check_repeated(struct sim *sim, const struct sim_request *q)
{
    const struct node_request *r = &q->r;
    struct disk_execution *x;
    struct uuid id;
    struct str prefix = STR("{\"id\":\"");

    SIM_CHECK(sim, str_starts_with(r->stored_answer, prefix), "a stored answer is broken");
    if (r->kind != NODE_START)
        return;
    SIM_CHECK(sim,
              uuid_read(str_slice(r->stored_answer, prefix.len, prefix.len + UUID_TEXT_LEN), &id),
              "a stored answer has no id");
    x = disk_find_ever(&sim->disk, id);
    SIM_CHECK(sim, x != NULL, "I9: a stored answer names an execution that is not durable");
    /* A start that has joined answers with the execution that another has started. */
    SIM_CHECK(sim, x->request == q->number || r->stored_status == 200,
              "a stored answer is of another request");
}

static void check_start(struct sim *sim, const struct sim_request *q)
{
    const struct node_request *r = &q->r;
    const struct disk_execution *x = disk_find_ever(&sim->disk, r->id);

    if (r->stored_answer.len > 0) {
        check_repeated(sim, q);
        return;
    }
    check_shown(sim, q);
    if (r->joined)
        SIM_CHECK(sim, str_eq(x->s.code, r->code) && x->s.key.len > 0,
                  "a start joined an execution without its key");
    else
        SIM_CHECK(sim, x->request == q->number, "a start was answered with another execution");
    client_remember(sim, r->id);
}

/* The step that is said to have taken the signal is durable, and took this one. */
static void check_taken(struct sim *sim, const struct node_request *r,
                        const struct disk_execution *x)
{
    int64_t seq = number_after(r->taken_json, STR("\"seq\":"));

    SIM_CHECK(sim, seq > r->signal_seq && seq <= (int64_t)x->history.count,
              "I1: the step that took a signal is not durable");
    SIM_CHECK(sim, state_row_took(r->mem, &x->history.items[seq - 1]) == r->signal_seq,
              "a signal was taken by another step than was said");
}

/* One by correlation is kept, or delivered to whom it is said to be. */
static void check_correlated(struct sim *sim, const struct node_request *r)
{
    const struct disk_correlated *s = correlation_find(&sim->disk, r->event.signal_id);
    const struct disk_execution *x =
        r->is_buffered ? NULL : disk_find_ever(&sim->disk, r->execution);

    SIM_CHECK(sim, !r->is_buffered || s != NULL, "I9: a signal was acknowledged and is not kept");
    SIM_CHECK(sim, r->is_buffered || (x != NULL && disk_find_signal(x, r->event.signal_id) != NULL),
              "I9: a signal was acknowledged and is not durable");
}

static void check_signal(struct sim *sim, const struct sim_request *q)
{
    const struct node_request *r = &q->r;
    const struct disk_execution *x = disk_find_ever(&sim->disk, r->execution);
    const struct disk_signal *s = x == NULL ? NULL : disk_find_signal(x, r->event.signal_id);

    if (r->stored_answer.len > 0)
        return;
    if (r->event.signal_correlation.len > 0) {
        check_correlated(sim, r);
        return;
    }
    SIM_CHECK(sim, s != NULL, "I9: a signal was acknowledged and is not durable");
    SIM_CHECK(sim,
              str_eq(s->type, r->event.signal_type) && str_eq(s->payload_json, q->payload_json),
              "a signal was acknowledged that has other content");
    if (r->taken_json.len > 0)
        check_taken(sim, r, x);
}

static void check_happened(struct sim *sim, const struct sim_request *q)
{
    const struct node_request *r = &q->r;
    struct disk_execution *x = disk_find_ever(&sim->disk, r->execution);

    switch (r->event.kind) {
    case EVENT_SIGNAL:
        check_signal(sim, q);
        return;
    case EVENT_CANCEL:
        SIM_CHECK(sim,
                  x != NULL &&
                      (x->s.status == STATUS_CANCELLED || x->s.status == STATUS_COMPENSATING),
                  "I9: a cancel was acknowledged and is not durable");
        return;
    case EVENT_ANSWER:
        SIM_CHECK(sim, x != NULL && str_eq(q->job->job.answer_hash, r->event.answer_digest),
                  "I9: the answer of a job was acknowledged and is not durable");
        return;
    case EVENT_RETRY:
    case EVENT_SKIP:
    case EVENT_MIGRATE:
    case EVENT_RESOLVE:
    case EVENT_ROLLBACK:
    case EVENT_PAUSE:
    case EVENT_RESUME:
    case EVENT_ASSIGN:
    case EVENT_CONTINUE:
    case EVENT_BREAKPOINTS:
        SIM_CHECK(sim, x != NULL, "I9: a repair was acknowledged of what is not durable");
        x->repairs++;
        return;
    case EVENT_START:
    case EVENT_WAKE:
        break;
    }
    PANIC("no client asks for this");
}

static void check_ok(struct sim *sim, const struct sim_request *q)
{
    const struct node_request *r = &q->r;
    struct disk_execution *x;

    switch (r->kind) {
    case NODE_START:
        check_start(sim, q);
        return;
    case NODE_EVENT:
        check_happened(sim, q);
        return;
    case NODE_WAIT:
        check_shown(sim, q);
        return;
    case NODE_DEFINITION:
        SIM_CHECK(sim, r->definitions->version > 0, "a version was published without a number");
        return;
    case NODE_HOOK:
        break; /* no client calls one */
    case NODE_UNPARK:
    case NODE_CHANGE:
        x = disk_find_ever(&sim->disk, q->deletion->id);
        SIM_CHECK(sim, x != NULL && x->is_deleted,
                  "I9: a deletion was acknowledged and is not durable");
        return;
    }
}

/* --- refusals --- */

static bool has_faults(const struct sim *sim)
{
    const struct faults *f = &sim->config.faults;

    return f->refuse_batch + f->refuse_member + f->unknown + f->read_error + f->crash > 0;
}

static bool is_repair(const struct node_request *r)
{
    return node_request_is(r, EVENT_RETRY) || node_request_is(r, EVENT_SKIP) ||
           node_request_is(r, EVENT_MIGRATE) || node_request_is(r, EVENT_PAUSE) ||
           node_request_is(r, EVENT_RESUME) || node_request_is(r, EVENT_CONTINUE) ||
           node_request_is(r, EVENT_BREAKPOINTS);
}

/* What is said to be possible is not refused, but for a version that does not fit. */
static bool is_repair_conflict(const struct node_request *r, const struct disk_execution *x)
{
    enum action action = node_request_is(r, EVENT_RETRY)         ? ACTION_RETRY
                         : node_request_is(r, EVENT_SKIP)        ? ACTION_SKIP
                         : node_request_is(r, EVENT_PAUSE)       ? ACTION_PAUSE
                         : node_request_is(r, EVENT_RESUME)      ? ACTION_RESUME
                         : node_request_is(r, EVENT_CONTINUE)    ? ACTION_CONTINUE
                         : node_request_is(r, EVENT_BREAKPOINTS) ? ACTION_BREAKPOINTS
                                                                 : ACTION_MIGRATE;

    return r->version > 0 || !show_allows(&x->s, action);
}

struct str letter_text(struct arena *mem, const struct disk_letter *l)
{
    char text[UUID_TEXT_LEN + 1];

    uuid_write(l->id, text);
    return str_copy(mem, str_of(text));
}

const struct disk_letter *letter_open(struct arena *mem, const struct disk_execution *x,
                                      struct str id)
{
    for (size_t i = 0; i < x->letters.count; i++)
        if (x->letters.items[i].is_open &&
            (id.len == 0 || str_eq(id, letter_text(mem, &x->letters.items[i]))))
            return &x->letters.items[i];
    return NULL;
}

bool answer_is_conflict(struct sim *sim, const struct sim_request *q,
                        const struct disk_execution *x)
{
    const struct node_request *r = &q->r;
    const struct disk_signal *s;

    /* What is gone is not found, by anybody. */
    if (q->was_gone && r->event.signal_correlation.len == 0)
        return false;
    if (r->event.signal_correlation.len > 0)
        return correlation_find(&sim->disk, r->event.signal_id) != NULL;
    if (r->kind == NODE_CHANGE)
        return !status_is_terminal(x->s.status) || disk_has_live_parent(&sim->disk, x) ||
               disk_is_awaited(&sim->disk, x) || disk_sends(&sim->disk, x);
    if (is_repair(r))
        return is_repair_conflict(r, x);
    /* Beside a step that is asked about, another one may be held as it is. */
    if (node_request_is(r, EVENT_RESOLVE))
        return letter_open(r->mem, x, r->event.letter) == NULL ||
               str_find(x->s.cursor_json, r->event.letter, 0) < 0;
    if (node_request_is(r, EVENT_ROLLBACK))
        return true; /* it may be about what has no rollback */
    if (status_is_terminal(x->s.status) || x->s.crash_count > 0)
        return true;
    if (node_request_is(r, EVENT_ANSWER))
        return q->job->job.status != JOB_LEASED;
    if (node_request_is(r, EVENT_CANCEL) && x->s.status == STATUS_COMPENSATING)
        return true;
    s = node_request_is(r, EVENT_SIGNAL) ? disk_find_signal(x, r->event.signal_id) : NULL;
    return s != NULL &&
           (!str_eq(s->type, r->event.signal_type) || !str_eq(s->payload_json, q->payload_json));
}

/* A refusal was true of a version that was the newest at some time since it was asked for. */
static void check_conflict(struct sim *sim, const struct sim_request *q)
{
    const struct node_request *r = &q->r;
    const struct disk_execution *x = disk_find_ever(&sim->disk, client_asks_about(q));

    SIM_CHECK(sim, r->event.signal_correlation.len > 0 || x != NULL,
              "a conflict with an execution that is not durable");
    SIM_CHECK(sim, q->was_conflict || answer_is_conflict(sim, q, x),
              "a %s rests on what is not durable: %s", is_repair(r) ? "refused repair" : "refusal",
              r->err.message);
}

static bool was_started(const struct sim *sim, int64_t number)
{
    for (size_t i = sim->disk.executions.count; i-- > 0;)
        if (sim->disk.executions.items[i]->request == number)
            return true;
    return false;
}

/* What was refused for certain has not happened. */
static void check_did_not_happen(struct sim *sim, const struct sim_request *q)
{
    const struct node_request *r = &q->r;
    const struct disk_execution *x;

    if (r->idempotency.key.len > 0)
        return; /* the same may have been asked for twice */
    if (r->kind == NODE_START)
        SIM_CHECK(sim, !was_started(sim, q->number), "a start was refused and has happened");
    if (node_request_is(r, EVENT_SIGNAL) && q->has_unique_signal) {
        x = disk_find_ever(&sim->disk, r->execution);
        SIM_CHECK(sim, x == NULL || disk_find_signal(x, r->event.signal_id) == NULL,
                  "a signal was refused and has happened: %s", r->err.message);
    }
}

static void check_refused(struct sim *sim, const struct sim_request *q)
{
    const struct node_request *r = &q->r;
    const struct disk_execution *x;

    sim->clients.refused++;
    if (r->err.code == ERR_OUTCOME_UNKNOWN) {
        SIM_CHECK(sim, has_faults(sim), "an outcome is unknown though nothing went wrong");
        return;
    }
    check_did_not_happen(sim, q);
    if (r->err.code == ERR_KEY_BUSY) {
        x = disk_find_ever(&sim->disk, r->id);
        SIM_CHECK(sim,
                  x != NULL && x->s.key.len > 0 &&
                      (r->kind != NODE_START || str_eq(x->s.code, r->code)),
                  "a key is busy without a holder");
    } else if (r->err.code == ERR_CONFLICT) {
        check_conflict(sim, q);
    } else if (r->err.code == ERR_NOT_FOUND) {
        SIM_CHECK(sim, r->kind != NODE_START && disk_find(&sim->disk, client_asks_about(q)) == NULL,
                  "something durable was not found");
    } else if (r->err.code == ERR_INVALID && (is_repair(r) || r->breakpoints.kind == VALUE_LIST)) {
        SIM_CHECK(sim, r->findings.count > 0, "a request is wrong and nothing is said of why");
    } else if (r->err.code == ERR_OVERLOADED) {
        /* Others were faster each time that it was tried, or the store did not say how it stands. */
        SIM_CHECK(sim,
                  has_faults(sim) || sim->config.nodes > 1 || sim->config.faults.contend > 0 ||
                      (r->kind == NODE_WAIT && sim_mono_us(sim) - q->deadline_us >= CONFIRM_US),
                  "refused though nobody else was at work: %s", r->err.message);
    } else if (r->err.code != ERR_IDEMPOTENCY_CONFLICT) {
        SIM_CHECK(sim, has_faults(sim), "refused though nothing went wrong: %s", r->err.message);
    }
}

void answer_check(struct sim *sim, const struct sim_request *q)
{
    if (q->r.ok)
        check_ok(sim, q);
    else
        check_refused(sim, q);
}
