/* guard.c - see guard.h. */
#include "node/guard/guard.h"

#include "engine/execution.h"
#include "node/cache/entry.h"

enum guard_verdict { GUARD_PASSES, GUARD_SETTLES, GUARD_KEEPS, GUARD_REJECTS };

/* What may stop an execution as a whole; parked comes before paused. */
enum guard_state { GUARD_OPEN, GUARD_PAUSED, GUARD_PARKED, GUARD_STATE_COUNT };

static const enum guard_verdict verdicts[GUARD_SUBJECT_COUNT][GUARD_STATE_COUNT] = {
#define GUARD(subject, open, paused, parked) {GUARD_##open, GUARD_##paused, GUARD_##parked},
#include "node/guard/guard.def"
#undef GUARD
};

static enum guard_state state_of(const struct entry *e)
{
    return entry_is_parked(e) ? GUARD_PARKED : e->x->pause != NULL ? GUARD_PAUSED : GUARD_OPEN;
}

bool guard_only_keeps(const struct work *w)
{
    return verdicts[w->kind->subject(w)][state_of(w->entry)] == GUARD_KEEPS;
}

static enum work_begun guard_reject(enum guard_state state, struct err *err)
{
    ASSERT(state == GUARD_PARKED);
    (void)err_set(err, ERR_CONFLICT, "the execution is parked: its dead letter says why");
    return WORK_REJECTED;
}

enum work_begun guard_begin(struct node *n, struct entry *e, struct work *w, struct err *err)
{
    enum guard_state state = state_of(e);
    enum guard_verdict verdict = verdicts[w->kind->subject(w)][state];
    enum work_begun begun = WORK_ADVANCES;

    if (verdict == GUARD_REJECTS)
        return guard_reject(state, err);
    if (w->kind->begin != NULL)
        begun = w->kind->begin(n, e, w, err);
    return begun == WORK_ADVANCES && verdict == GUARD_SETTLES ? guard_reject(state, err) : begun;
}
