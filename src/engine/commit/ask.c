/* ask.c - see ask.h. */
#include "engine/commit/ask.h"
#include "base/names.h"
#include "engine/command/command.h"
#include "engine/command/procedure.h"
#include "engine/commit/reads.h"
#include "engine/flow/step.h"

static const struct {
    const char *name;
    const struct ask_functions *functions;
    bool is_stored;
} kinds[ASK_COUNT] = {
    [ASK_NONE] = {"", NULL, false},
#define ASK(symbol, name, kind, is_stored) [ASK_##symbol] = {name, &ask_##kind, is_stored},
#include "engine/commit/ask.def"
#undef ASK
};

const struct ask_functions *ask_of(const struct cursor *cursor)
{
    ASSERT(cursor->ask != ASK_NONE);
    return kinds[cursor->ask].functions;
}

NAMES_NAME(ask_name, enum ask_kind, kinds)
NAMES_READ(ask_read, enum ask_kind, kinds)

bool ask_has_news(const struct turn *t, const struct cursor *cursor)
{
    return cursor->ask != ASK_NONE && ask_of(cursor)->has_news != NULL &&
           ask_of(cursor)->has_news(t, cursor);
}

bool ask_is_waited_for(const struct cursor *cursor)
{
    return cursor->ask != ASK_NONE && ask_of(cursor)->is_waited_for && cursor->asked_seq > 0;
}

bool ask_begin(struct turn *t, enum ask_kind kind, struct str place)
{
    struct cursor *cursor = &t->x->cursor;

    if (!suspend_step(t, place))
        return false;
    cursor->ask = kind;
    cursor->awaited = turn_key(t, key_position(t->mem, place));
    /* Rolling back and reconciling have phases of their own. */
    if (t->about == NULL)
        cursor->phase = PHASE_JOB;
    return true;
}

struct ask *ask_leave(struct turn *t, struct ask a, struct str why)
{
    struct cursor *cursor = &t->x->cursor;
    struct history_row *row;
    struct ask *left;

    turn_record_answer(t); /* of what the step has asked for before */
    cursor->asked_seq = t->x->seq + 1;
    step_wait(t, cursor->phase, ask_of(cursor)->waiting, str_of(ask_name(cursor->ask)), why);
    row = &t->out->history.items[t->out->history.count - 1];
    ASSERT(row->seq == cursor->asked_seq);
    row->key = cursor->awaited;
    row->input_json = a.request_json;
    left = VEC_ADD(t->mem, &t->out->asks);
    *left = a;
    left->kind = cursor->ask;
    left->key = cursor->awaited;
    left->seq = cursor->asked_seq;
    return left;
}

bool ask_is_leased(const struct event *ev, const struct cursor *cursor)
{
    const struct job_leases *leases = &event_reads(ev)->leases;

    for (size_t i = 0; i < leases->count; i++)
        if (leases->items[i] == cursor->asked_seq)
            return true;
    return false;
}

/* --- what has ended --- */

/* Whether an answer is still wanted: one that is deferred until the execution goes on has come. */
bool ask_is_open(const struct cursor *cursor)
{
    return kinds[cursor->ask].is_stored && cursor->asked_seq > 0 && cursor->deferred_seq == 0;
}

/* `i` is where the asker stood before: it mostly stands there still. */
static bool is_still_open(const struct execution *x, const struct cursor *was, uint32_t i)
{
    const struct cursor *c;

    if (status_is_terminal(x->status))
        return false;
    if (i < execution_askers(x)) {
        c = execution_asker(x, i);
        if (c->asked_seq == was->asked_seq && ask_is_open(c))
            return true;
    }
    for (uint32_t k = 0; k < execution_askers(x); k++) {
        c = execution_asker(x, k);
        if (c->asked_seq == was->asked_seq && ask_is_open(c))
            return true;
    }
    return false;
}

static enum ask_result ask_result(const struct event *ev, const struct cursor *c)
{
    if (ev->kind != EVENT_ANSWER || ev->answer_seq != c->asked_seq)
        /* Leases are read when the time of a job is up: one without a lease was not begun. */
        return event_reads(ev)->has_leases && !ask_is_leased(ev, c) ? ASK_UNCLAIMED : ASK_UNWANTED;
    if (ev->answer_is_lost)
        return ev->answer_is_lapsed ? ASK_LAPSED : ASK_LOST;
    return ev->answer_output.kind != VALUE_ABSENT ? ASK_ANSWERED : ASK_REFUSED;
}

static bool is_asked(const struct execution *x, int64_t seq)
{
    for (uint32_t i = 0; !status_is_terminal(x->status) && i < execution_askers(x); i++)
        if (execution_asker(x, i)->asked_seq == seq)
            return true;
    return false;
}

/* Whoever asked was stopped by another strand in the same turn: it does not leave. */
static void drop_unwanted(struct turn *t)
{
    struct asks *asks = &t->out->asks;
    size_t kept = 0;

    for (size_t i = 0; i < asks->count; i++)
        if (is_asked(t->x, asks->items[i].seq))
            asks->items[kept++] = asks->items[i];
    asks->count = kept;
}

void ask_compare(struct turn *t, const struct execution *before)
{
    drop_unwanted(t);
    for (uint32_t i = 0; !status_is_terminal(before->status) && i < execution_askers(before); i++) {
        const struct cursor *c = execution_asker(before, i);

        if (!ask_is_open(c) || is_still_open(t->x, c, i))
            continue;
        *VEC_ADD(t->mem, &t->out->asks_ended) = (struct ask_end){
            .kind = c->ask,
            .seq = c->asked_seq,
            .how = ask_result(t->ev, c),
            .digest = t->ev->answer_digest,
        };
    }
}
