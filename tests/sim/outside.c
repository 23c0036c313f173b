/*
 * outside.c - the world that executions call, made up; see sim.h.
 *
 * A call is done or not, and answered or not, as the dice say; the answer comes
 * when the world lets it come, also long after the time of its attempt. A node
 * that dies takes its calls with it: some of them have been done.
 *
 * An answer that a node has heard is applied, or nobody waits for it any more; no
 * two calls of one key are in flight; and nothing is undone while a call is that
 * it might have to undo. These hold unless the node crashes.
 */
#include "sim/sim.h"

#include "effect/effect.h"
#include "engine/commit/history.h"

/* What was asked under one key. */
struct asked_outside {
    struct str key, request_json;
    unsigned attempts;
};

static const struct history_row *row_of(const struct disk_execution *x, int64_t seq)
{
    for (size_t i = x->history.count; i > 0; i--)
        if (x->history.items[i - 1].seq == seq)
            return &x->history.items[i - 1];
    return NULL;
}

/* An operator lets a rollback that was given up begin anew: what it asks for is evaluated again. */
static bool is_anew(const struct disk_execution *x, struct str key)
{
    for (size_t i = 0; str_find(key, STR("-rollback"), 0) >= 0 && i < x->history.count; i++)
        if (str_eq(x->history.items[i].status, STR("undo")))
            return true;
    return false;
}

void outside_note_asked(struct sim *sim, const struct disk_execution *x, struct str key,
                        struct str request_json)
{
    struct asked_outside *asked = map_get(&sim->outside.asked, key);

    if (asked == NULL) {
        asked = ARENA_NEW(&sim->mem, struct asked_outside);
        asked->key = str_copy(&sim->mem, key);
        asked->request_json = str_copy(&sim->mem, request_json);
        map_put(&sim->outside.asked, asked->key, asked);
    }
    SIM_CHECK(sim, str_eq(asked->request_json, request_json) || is_anew(x, key),
              "I5: two attempts under the key %.*s ask for different things:\n%.*s\n%.*s",
              STR_ARG(key), STR_ARG(asked->request_json), STR_ARG(request_json));
    asked->attempts++;
}

/*
 * Of a key one call is in flight, however often it is tried. With several nodes
 * another one may have ended the attempt by its clock: attempts do not name the
 * node that makes them.
 */
static void check_alone(const struct sim_node *at, const struct effect_call *call)
{
    const struct calls_outside *all = &at->sim->outside.under_way;

    for (size_t i = 0; at->sim->config.nodes == 1 && i < all->count; i++)
        SIM_CHECK(at->sim,
                  all->items[i].call->message != NULL ||
                      !str_eq(all->items[i].call->key, call->key),
                  "two calls of the key %.*s are in flight, of the attempts %lld and %lld",
                  STR_ARG(call->key), (long long)all->items[i].call->seq, (long long)call->seq);
}

/* Whether there may be something to undo: it neither undoes, nor asks what became of a call, nor reminds. */
static bool goes_forward(const struct effect_call *call)
{
    return call->message == NULL && str_find(call->key, STR("-rollback"), 0) < 0 &&
           str_find(call->key, STR("-reconcile-"), 0) < 0 &&
           str_find(call->key, STR("-reminder-"), 0) < 0;
}

/* What undoes leaves when what it may have to undo is done: else it would come first. */
static void check_comes_after(const struct sim_node *at, const struct effect_call *call)
{
    const struct calls_outside *all = &at->sim->outside.under_way;

    if (at->sim->config.nodes != 1 || str_find(call->key, STR("-rollback"), 0) < 0)
        return;
    for (size_t i = 0; i < all->count; i++)
        SIM_CHECK(at->sim,
                  uuid_cmp(all->items[i].call->execution, call->execution) != 0 ||
                      !goes_forward(all->items[i].call),
                  "I10: %.*s leaves while %.*s is in flight", STR_ARG(call->key),
                  STR_ARG(all->items[i].call->key));
}

/* A call leaves: its attempt must be durable, and all attempts of a key ask for the same. */
static void outside_send(void *context, struct effect_call *call)
{
    struct sim_node *at = context;
    struct sim *sim = at->sim;
    const struct disk_execution *x = disk_find_ever(&sim->disk, call->execution);
    const struct history_row *row = x != NULL ? row_of(x, call->seq) : NULL;

    if (call->message != NULL) {
        outbox_sent(at, call);
        *VEC_ADD(&sim->mem, &sim->outside.under_way) =
            (struct call_outside){.at = at, .call = call};
        return;
    }
    SIM_CHECK(sim, row != NULL && str_eq(row->key, call->key),
              "I1: a call leaves before its attempt is durable");
    SIM_CHECK(sim, str_eq(row->input_json, call->request_json),
              "a call asks for something else than its attempt says");
    outside_note_asked(sim, x, call->key, call->request_json);
    check_alone(at, call);
    check_comes_after(at, call);
    sim->outside.calls++;
    sim_note_str(sim, call->key);
    *VEC_ADD(&sim->mem, &sim->outside.under_way) = (struct call_outside){.at = at, .call = call};
}

struct node_caller outside_caller(struct sim_node *at)
{
    return (struct node_caller){.send = outside_send, .context = at};
}

static void fail(struct effect_call *call, const char *class)
{
    call->error_json = str_printf(
        &call->mem, "{\"code\":\"external_made_up\",\"class\":\"%s\",\"message\":\"m\"}", class);
}

/* Whether a strand waits for the answer of that attempt; in one that has failed it does, too. */
static bool attempt_is_open(struct sim *sim, const struct disk_execution *x, int64_t seq)
{
    struct str field = str_printf(&sim->disk.scratch, "\"callSeq\":%lld", (long long)seq);
    int64_t at = -1;

    if (x == NULL || x->is_deleted ||
        (status_is_terminal(x->s.status) && x->s.status != STATUS_FAILED))
        return false;
    while ((at = str_find(x->s.cursor_json, field, (size_t)(at + 1))) >= 0) {
        size_t behind = (size_t)at + field.len;

        if (behind == x->s.cursor_json.len || x->s.cursor_json.ptr[behind] < '0' ||
            x->s.cursor_json.ptr[behind] > '9')
            return true;
    }
    return false;
}

/* Whether another node has ended the attempt while its call was in flight. */
static bool is_late(struct sim *sim, const struct effect_call *call)
{
    return sim->config.nodes > 1 &&
           !attempt_is_open(sim, disk_find_ever(&sim->disk, call->execution), call->seq);
}

static void answer_effect(struct sim *sim, struct effect_call *call)
{
    int status = effects_answer(sim, call, is_late(sim, call));

    if (status == 0)
        fail(call, "indeterminate");
    else
        call->answer_json =
            str_printf(&call->mem, "{\"status_code\":%d,\"headers\":{},\"body\":null}", status);
}

static void answer(struct sim_node *at, struct effect_call *call)
{
    static const int failures[] = {422, 429, 500, 503, 202};
    struct sim *sim = at->sim;
    unsigned which;

    if (call->message != NULL) {
        outbox_answer(at, call);
        return;
    }
    if (effects_has(call)) {
        answer_effect(sim, call);
        return;
    }
    which = sim->no_faults ? 0 : dice_roll(&sim->dice, 10);
    if (which == 8)
        fail(call, "indeterminate");
    else if (which == 9)
        fail(call, "transient");
    else
        call->answer_json = str_printf(
            &call->mem, "{\"status_code\":%d,\"headers\":{},\"body\":{\"outcome\":\"%s\"}}",
            which < 6 ? 200 : failures[dice_roll(&sim->dice, ARRAY_SIZE(failures))],
            dice_roll(&sim->dice, 2) == 0 ? "succeeded" : "not_happened");
}

/* --- answers that were heard --- */

static void note_heard(struct sim_node *at, const struct effect_call *call)
{
    struct sim *sim = at->sim;

    if (call->message == NULL &&
        attempt_is_open(sim, disk_find_ever(&sim->disk, call->execution), call->seq))
        *VEC_ADD(&sim->mem, &sim->outside.heard) =
            (struct answer_heard){.at = at,
                                  .execution = call->execution,
                                  .seq = call->seq,
                                  .key = str_copy(&sim->mem, call->key)};
}

static bool applies_answer(const struct commit *commit, struct str key)
{
    for (size_t i = 0; i < commit->history.count; i++)
        if (str_eq(commit->history.items[i].answered, key))
            return true;
    return false;
}

/* Nobody waits for it any more: the execution has ended, or another strand or an operator has stopped it. */
static bool is_unwanted(const struct disk_execution *x, const struct commit *commit, struct str key)
{
    bool is_question = str_find(key, STR("-reconcile-"), 0) >= 0;

    for (size_t i = 0; i < commit->history.count; i++) {
        const struct history_row *row = &commit->history.items[i];

        /* Another version does not judge what a stopped call has done. */
        if (str_find(row->delta_json, STR("\"was\":"), 0) >= 0 ||
            str_find(row->error_json, STR("{\"code\":\"stopped\""), 0) == 0 ||
            (is_question && str_find(row->delta_json, STR("\"maybe\":true"), 0) >= 0))
            return true;
    }
    return status_is_terminal(x->s.status);
}

/* What another node has committed is left out, for the same reason as in check_alone(). */
void outside_committed(struct sim *sim, const struct sim_node *by, const struct disk_execution *x,
                       const struct commit *commit)
{
    struct answers_heard *all = &sim->outside.heard;
    size_t kept = 0;

    for (size_t i = 0; i < all->count; i++) {
        const struct answer_heard *h = &all->items[i];
        bool is_applied;

        if (uuid_cmp(h->execution, x->s.id) != 0) {
            all->items[kept++] = *h;
            continue;
        }
        is_applied = applies_answer(commit, h->key);
        if (!is_applied && attempt_is_open(sim, x, h->seq))
            all->items[kept++] = *h;
        else
            SIM_CHECK(sim, is_applied || is_unwanted(x, commit, h->key) || h->at != by,
                      "the answer of attempt %lld of %.*s was heard, and the attempt ended "
                      "without it",
                      (long long)h->seq, STR_ARG(sim_id(sim, x->s.id)));
    }
    all->count = kept;
}

static void check_applied(struct sim *sim, const struct answer_heard *h)
{
    const struct disk_execution *x = disk_find_ever(&sim->disk, h->execution);

    SIM_CHECK(sim, x->s.crash_count >= CRASHES_MAX || !attempt_is_open(sim, x, h->seq),
              "the answer of attempt %lld of %.*s was heard and is not applied", (long long)h->seq,
              STR_ARG(sim_id(sim, x->s.id)));
}

void outside_check_heard(struct sim *sim)
{
    for (size_t i = 0; i < sim->outside.heard.count; i++)
        check_applied(sim, &sim->outside.heard.items[i]);
}

void outside_check_drained(const struct sim_node *at)
{
    const struct answers_heard *all = &at->sim->outside.heard;

    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].at == at)
            check_applied(at->sim, &all->items[i]);
}

bool outside_answer_one(struct sim_node *at)
{
    struct calls_outside *all = &at->sim->outside.under_way;
    unsigned mine = 0, which;

    for (size_t i = 0; i < all->count; i++)
        mine += all->items[i].at == at;
    if (mine == 0 || at->node == NULL)
        return false;
    which = dice_roll(&at->sim->dice, mine);
    for (size_t i = 0;; i++) {
        struct effect_call *call = all->items[i].call;

        if (all->items[i].at != at || which-- > 0)
            continue;
        all->items[i] = all->items[--all->count];
        answer(at, call);
        note_heard(at, call);
        node_call_answered(at->node, call);
        return true;
    }
}

void outside_forget(struct sim_node *at)
{
    struct calls_outside *all = &at->sim->outside.under_way;
    struct answers_heard *heard = &at->sim->outside.heard;
    size_t kept = 0;

    for (size_t i = 0; i < all->count; i++) {
        if (all->items[i].at != at) {
            all->items[kept++] = all->items[i];
            continue;
        }
        if (effects_has(all->items[i].call))
            effects_lose(at->sim, all->items[i].call, is_late(at->sim, all->items[i].call));
        effect_call_free(all->items[i].call);
    }
    all->count = kept;
    kept = 0;
    for (size_t i = 0; i < heard->count; i++)
        if (heard->items[i].at != at)
            heard->items[kept++] = heard->items[i];
    heard->count = kept;
    outbox_forget_confirmed(at);
}
