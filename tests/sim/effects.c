/*
 * effects.c - the ledger that the simulated services keep, and I10; see sim.h.
 *
 * A service at http://e.example does something once for each idempotency key,
 * and undoes it once for the key of its rollback. It is consistent: what it has
 * done it does not refuse afterwards. When nothing is in flight, everything that
 * was done for an execution which has been rolled back has been undone, or a
 * dead letter names its step; also in executions that were moved to another
 * version.
 */
#include "effect/effect.h"
#include "engine/commit/history.h"
#include "sim/disk.h"

#define SERVICE "http://e.example/"
#define UNDO "-rollback"

struct effect_done {
    struct str key;
    struct uuid execution;
    bool happened;
    bool is_late; /* another node had ended the attempt before: see check_alone() of outside.c */
};

bool effects_has(const struct effect_call *call)
{
    return call->message == NULL && str_find(call->request_json, STR(SERVICE), 0) >= 0;
}

static struct effect_done *effect_of(struct sim *sim, const struct effect_call *call)
{
    struct effect_done *e = map_get(&sim->outside.effects, call->key);

    if (e != NULL)
        return e;
    e = ARENA_NEW(&sim->mem, struct effect_done);
    *e = (struct effect_done){.key = str_copy(&sim->mem, call->key), .execution = call->execution};
    map_put(&sim->outside.effects, e->key, e);
    return e;
}

static void effect_happens(struct effect_done *e, bool is_late)
{
    e->is_late = e->is_late || (is_late && !e->happened);
    e->happened = true;
}

void effects_lose(struct sim *sim, const struct effect_call *call, bool is_late)
{
    if (dice_roll(&sim->dice, 2) == 0)
        effect_happens(effect_of(sim, call), is_late);
}

int effects_answer(struct sim *sim, const struct effect_call *call, bool is_late)
{
    static const int refusals[] = {409, 422, 429, 503};
    struct effect_done *e = effect_of(sim, call);
    unsigned which = sim->no_faults ? 0 : dice_roll(&sim->dice, 10);

    if (which >= 8) {
        effects_lose(sim, call, is_late);
        return which == 8 ? 0 : 500;
    }
    if (which < 5 || e->happened) {
        effect_happens(e, is_late);
        return 200;
    }
    return refusals[dice_roll(&sim->dice, ARRAY_SIZE(refusals))];
}

/* The key of its rollback: "...-s1" is undone by "...-s1.1-rollback", "...-s1.2" by "...-s1.2-rollback". */
static struct str undo_key(struct sim *sim, const struct effect_done *e)
{
    if (str_find(str_slice(e->key, UUID_TEXT_LEN, e->key.len), STR("."), 0) >= 0)
        return str_printf(&sim->disk.scratch, "%.*s" UNDO, STR_ARG(e->key));
    return str_printf(&sim->disk.scratch, "%.*s.1" UNDO, STR_ARG(e->key));
}

/* The step that has asked for it, by the row of an attempt. */
static struct str step_of(const struct disk_execution *x, struct str key)
{
    for (size_t i = 0; i < x->history.count; i++)
        if (str_eq(x->history.items[i].key, key))
            return x->history.items[i].step;
    return STR_NONE;
}

static bool has_letter(const struct disk_execution *x, struct str step)
{
    for (size_t i = 0; i < x->letters.count; i++)
        if (str_eq(x->letters.items[i].step, step) && !x->letters.items[i].is_incident)
            return true;
    return false;
}

/* It was cancelled and keeps what it has done: not held here. */
static bool keeps_done(const struct disk_execution *x)
{
    for (size_t i = 0; i < x->history.count; i++)
        if (x->history.items[i].kind == HISTORY_EVENT &&
            str_find(x->history.items[i].delta_json, STR("\"keepsDone\":"), 0) >= 0)
            return true;
    return false;
}

static void check_effect(struct sim *sim, const struct effect_done *e)
{
    const struct disk_execution *x = disk_find_ever(&sim->disk, e->execution);
    const struct effect_done *undone;

    if (!e->happened || e->is_late || str_ends_with(e->key, STR(UNDO)) || x == NULL ||
        x->is_deleted || !status_is_terminal(x->s.status) || keeps_done(x) ||
        str_find(x->s.error_json, STR("\"compensation\":"), 0) < 0)
        return;
    undone = map_get(&sim->outside.effects, undo_key(sim, e));
    SIM_CHECK(sim, (undone != NULL && undone->happened) || has_letter(x, step_of(x, e->key)),
              "I10: %.*s was done, the execution has been rolled back, and nothing says that it "
              "was undone",
              STR_ARG(e->key));
}

void effects_check(struct sim *sim)
{
    for (const struct map_entry *e = map_next(&sim->outside.effects, NULL); e != NULL;
         e = map_next(&sim->outside.effects, e))
        check_effect(sim, e->ptr);
}
