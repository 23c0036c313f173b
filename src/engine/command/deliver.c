/* deliver.c - signals come to the waits that they are for; see wait.h. */
#include "engine/command/machine.h"
#include "engine/command/wait.h"
#include "engine/flow/repair.h"
#include "engine/flow/strand.h"

enum signal_known engine_signal_known(const struct execution *exec, struct str id, struct str type,
                                      struct value payload)
{
    const struct signal *s = signals_find(&exec->signals, id);

    if (s == NULL)
        return SIGNAL_NEW;
    return str_eq(s->type, type) && value_equal(value_map_get_str(s->view, STR("payload")),
                                                turn_or_null(payload), NULL)
               ? SIGNAL_SAME
               : SIGNAL_DIFFERS;
}

/* The waits that such a signal is for, the oldest first. */
struct takers {
    VEC_OF(struct cursor);
};

static void find_takers(struct turn *t, struct takers *out)
{
    for (uint32_t i = 0; i < execution_strands(t->x); i++) {
        const struct cursor *cursor = execution_cursor(t->x, i);
        size_t at;

        if (cursor->phase != PHASE_WAIT || cursor->deferred_seq > 0)
            continue;
        (void)VEC_ADD(t->mem, out);
        for (at = out->count - 1; at > 0 && out->items[at - 1].seq > cursor->seq; at--)
            out->items[at] = out->items[at - 1];
        out->items[at] = *cursor;
    }
}

/*
 * Those that want something else than the payload do not take it. False: it was
 * for some, and none of them wants it; `err` is what the oldest says.
 */
static bool check_forms(struct turn *t, struct takers *takers, struct err *err)
{
    struct findings findings = {0};
    struct err refused;
    size_t count = 0;
    bool is_wanted = false, is_refused = false;

    for (size_t i = 0; i < takers->count; i++) {
        (void)strand_take_visit(t, &takers->items[i]);
        if (!wait_is_for(t, turn_step(t)))
            continue;
        if (wait_checks_form(t, turn_step(t), &refused)) {
            is_wanted = true;
            takers->items[count++] = takers->items[i];
        } else if (!is_refused) {
            is_refused = true;
            findings = t->out->findings;
            *err = refused;
        }
    }
    takers->count = count;
    if (is_wanted)
        findings.count = 0;
    t->out->findings = findings;
    return is_wanted || !is_refused;
}

/* Of an answer: the one wait that it is for. False: there is none, or it is not theirs to answer. */
static bool keep_answered(struct turn *t, struct takers *takers, struct err *err)
{
    const struct answer_to *to = t->ev->answer_to;
    size_t count = 0;

    for (size_t i = 0; i < takers->count; i++)
        if (takers->items[i].visit == to->visit &&
            str_eq(t->x->program->steps[takers->items[i].step].code, to->step))
            takers->items[count++] = takers->items[i];
    takers->count = count;
    if (count == 0)
        return err_set(err, ERR_CONFLICT, "it waits for no answer any more");
    (void)strand_take_visit(t, &takers->items[0]);
    return people_may_answer(t, err);
}

bool deliver_signal(struct turn *t, bool *complete, struct err *err)
{
    const struct event *ev = t->ev;
    struct arrival arrival = {ev->signal_id, ev->signal_type, ev->signal_payload, ev->by,
                              t->now_us};
    struct signal *signal = ARENA_NEW(t->mem, struct signal);
    struct takers takers = {0};
    struct value output;

    find_takers(t, &takers);
    if (ev->answer_to != NULL && !keep_answered(t, &takers, err))
        return false;
    if (t->x->program->kind == KIND_MACHINE)
        return machine_signal(t, complete, err);
    if (!check_forms(t, &takers, err) || !receive_make(t, &arrival, signal, err))
        return false;
    if (ev->answer_to != NULL)
        signal->answers = str_printf(t->mem, "%.*s:%lld", STR_ARG(ev->answer_to->step),
                                     (long long)ev->answer_to->visit);
    receive(t, signal);
    t->out->received = signal;
    for (size_t i = 0; i < takers.count; i++) {
        (void)strand_take_visit(t, &takers.items[i]);
        turn_begin_step(t);
        if (!wait_takes(t, turn_step(t), signal, &output))
            continue;
        if (t->x->pause != NULL || execution_is_stopped(t->x))
            pause_defer_signal(t, signal);
        else
            *complete = wake_leave_wait(t, STEP_DONE, output, signal->seq);
        return true;
    }
    if (ev->answer_to != NULL)
        return err_set(err, ERR_INVALID, "this is no answer that the wait takes");
    return ev->signal_correlation.len == 0 ||
           err_set(err, ERR_CONFLICT, "no wait with this correlation takes the signal");
}

bool deliver_kept(struct turn *t, const struct execution *before)
{
    struct takers waits = {0};
    struct value output;
    int64_t took;

    find_takers(t, &waits);
    for (size_t i = 0; i < waits.count && turn_goes_forward(t); i++) {
        const struct cursor *c = &waits.items[i];

        if (c->correlation.len == 0 || c->seq > before->seq || !strand_take_visit(t, c))
            continue;
        turn_begin_step(t);
        if (wait_looks(t, turn_step(t), &output, &took) == STEP_NEEDS ||
            (took > 0 && !wake_leave_wait(t, STEP_DONE, output, took)))
            return false;
    }
    return true;
}
