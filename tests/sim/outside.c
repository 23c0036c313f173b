/*
 * outside.c - the world that executions call, made up; see sim.h.
 *
 * A call is done or not, and answered or not, as the dice say; the answer comes
 * when the world lets it come, also long after its attempt was given up. A node
 * that dies takes its calls with it: some of them have been done.
 */
#include "sim/sim.h"

#include "effect/effect.h"

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

/* A call leaves: its attempt must be durable, and all attempts of a key ask for the same. */
static void outside_send(void *context, struct effect_call *call)
{
    struct sim_node *at = context;
    struct sim *sim = at->sim;
    const struct disk_execution *x = disk_find_ever(&sim->disk, call->execution);
    const struct history_row *row = x != NULL ? row_of(x, call->seq) : NULL;

    if (call->message != NULL) {
        outbox_sent(sim, call);
        *VEC_ADD(&sim->mem, &sim->outside.under_way) =
            (struct call_outside){.at = at, .call = call};
        return;
    }
    SIM_CHECK(sim, row != NULL && str_eq(row->key, call->key),
              "I1: a call leaves before its attempt is durable");
    SIM_CHECK(sim, str_eq(row->input_json, call->request_json),
              "a call asks for something else than its attempt says");
    outside_note_asked(sim, x, call->key, call->request_json);
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

static void answer(struct sim *sim, struct effect_call *call)
{
    static const int failures[] = {422, 429, 500, 503, 202};
    unsigned which;

    if (call->message != NULL) {
        outbox_answer(sim, call);
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
        answer(at->sim, call);
        node_call_answered(at->node, call);
        return true;
    }
}

void outside_forget(struct sim_node *at)
{
    struct calls_outside *all = &at->sim->outside.under_way;
    size_t kept = 0;

    for (size_t i = 0; i < all->count; i++) {
        if (all->items[i].at != at)
            all->items[kept++] = all->items[i];
        else
            effect_call_free(all->items[i].call);
    }
    all->count = kept;
}
