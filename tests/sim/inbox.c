/* inbox.c - see inbox.h. */
#include "sim/inbox.h"

#include "engine/commit/commit.h"
#include "engine/commit/history.h"
#include "engine/state.h"
#include "value/json.h"

static const char *const users[] = {"u1", "u2", "u3"};

void inbox_opened(struct sim *sim, struct disk_execution *x, const struct commit *c)
{
    struct disk *d = &sim->disk;

    for (size_t i = 0; i < c->opened.count; i++) {
        const struct listed_wait *w = &c->opened.items[i];
        struct disk_ask *a;

        if (w->assignees_json.len == 0)
            continue;
        a = ARENA_NEW(&d->mem, struct disk_ask);
        *a = (struct disk_ask){.of = x,
                               .step = str_copy(&d->mem, w->step),
                               .visit = w->visit,
                               .assignees_json = str_copy(&d->mem, w->assignees_json)};
        *VEC_ADD(&d->mem, &d->asked_people) = a;
    }
}

/* --- answering --- */

static bool is_asked_of(const struct disk_ask *a, const char *user)
{
    return str_find(a->assignees_json, str_of(user), 0) >= 0;
}

static void answer_acknowledged(struct sim *sim, const struct sim_request *q)
{
    struct disk_ask *a = q->ask;
    struct str id = q->r.event.signal_id;

    SIM_CHECK(sim, is_asked_of(a, q->user), "%s has answered what others are asked", q->user);
    SIM_CHECK(sim, disk_find_signal(a->of, id) != NULL,
              "I9: an answer was acknowledged and is not durable");
    SIM_CHECK(sim, a->answer.len == 0 || str_eq(a->answer, id),
              "two answers to one wait were acknowledged: %.*s and %.*s", STR_ARG(a->answer),
              STR_ARG(id));
    a->answer = str_copy(&sim->disk.mem, id);
    a->answer_seq = q->r.signal_seq;
    sim->disk.people_answers++;
}

static void person_answered(struct sim *sim, const struct sim_request *q)
{
    if (q->r.ok)
        answer_acknowledged(sim, q);
    else
        SIM_CHECK(sim,
                  q->r.err.code == ERR_OUTCOME_UNKNOWN || q->was_sent_again ||
                      disk_find_signal(q->ask->of, q->r.event.signal_id) == NULL,
                  "an answer was refused and has been taken: %s", q->r.err.message);
}

static struct value keys_of(struct arena *mem, const char *user)
{
    struct value *keys = ARENA_NEW(mem, struct value);

    *keys = value_string(str_of(user));
    return value_list(keys, 1);
}

/* Mostly what was asked lately: others may be about to answer it, too. */
static struct disk_ask *some_ask(struct sim *sim)
{
    struct disk *d = &sim->disk;
    unsigned count = (unsigned)d->asked_people.count, recent = count < 12 ? count : 12;

    return count == 0 ? NULL : d->asked_people.items[count - 1 - dice_roll(&sim->dice, recent)];
}

/* The answer to the one that was sent first says nothing about those behind it. */
static void note_sent_again(struct sim *sim, struct str id)
{
    for (size_t i = 0; i < sim->clients.pending.count; i++)
        if (sim->clients.pending.items[i]->check == person_answered &&
            str_eq(sim->clients.pending.items[i]->r.event.signal_id, id))
            sim->clients.pending.items[i]->was_sent_again = true;
}

void inbox_act(struct sim *sim)
{
    struct disk_ask *a = some_ask(sim);
    struct sim_request *q;
    struct answer_to *to;

    if (a == NULL)
        return;
    q = client_new_event(sim, EVENT_SIGNAL);
    to = ARENA_NEW(&q->mem, struct answer_to);
    q->ask = a;
    q->check = person_answered;
    /* Whoever has lost the answer sends the same once more. */
    q->was_sent_again = a->last_sent.len > 0 && dice_roll(&sim->dice, 4) == 0;
    if (q->was_sent_again) {
        note_sent_again(sim, a->last_sent);
    } else {
        a->last_sent = str_printf(&sim->disk.mem, "person%lld", (long long)q->number);
        a->last_user = users[dice_roll(&sim->dice, ARRAY_SIZE(users))];
    }
    q->user = a->last_user;
    *to = (struct answer_to){.step = a->step, .visit = a->visit, .keys = keys_of(&q->mem, q->user)};
    q->r.execution = a->of->s.id;
    q->r.event.signal_id = a->last_sent;
    q->r.event.signal_type = STR("ok");
    q->r.event.signal_payload = value_null();
    q->r.event.by = value_map_empty();
    q->r.event.answer_to = to;
    (void)client_submit(sim, q);
}

/* --- what the history says --- */

static bool is_of(const struct disk_ask *a, const struct history_row *row)
{
    return row->visit == a->visit && str_eq(row->step, a->step);
}

/* Whether somebody was asked under the key of that reminder before that row. */
static bool has_asked_before(const struct disk_execution *x, size_t end, struct str key)
{
    for (size_t i = 0; i < end; i++)
        if (x->history.items[i].kind == HISTORY_EVENT &&
            str_starts_with(x->history.items[i].key, key))
            return true;
    return false;
}

static void check_reminder(struct sim *sim, const struct disk_execution *x, size_t at, size_t end)
{
    const struct history_row *row = &x->history.items[at];

    SIM_CHECK(sim, at < end || has_asked_before(x, end, row->key),
              "somebody is reminded of what was answered");
    for (size_t i = 0; i < at && str_eq(row->status, STR("completed")); i++)
        SIM_CHECK(sim,
                  x->history.items[i].kind != HISTORY_REMINDER ||
                      !str_eq(x->history.items[i].key, row->key) ||
                      !str_eq(x->history.items[i].status, STR("completed")),
                  "I2: the reminder %.*s was sent twice", STR_ARG(row->key));
}

/* A row of an attempt that leaves, or is to leave, for a reminder. */
static bool is_asked_by_reminder(const struct history_row *row)
{
    return row->kind == HISTORY_EVENT && str_find(row->key, STR("-reminder-"), 0) >= 0 &&
           !str_eq(row->status, STR("answer"));
}

/* The place of the row that ends the wait; behind all when it is open. */
static size_t end_of_wait(const struct disk_ask *a)
{
    size_t end = 0;

    while (end < a->of->history.count && (a->of->history.items[end].kind != HISTORY_FORWARD ||
                                          !is_of(a, &a->of->history.items[end])))
        end++;
    return end;
}

/* Keys of reminders are given out once, in order; attempts of one share it. */
static void check_reminders(struct sim *sim, const struct disk_ask *a)
{
    struct str last = STR_NONE;
    unsigned reminders = 0;

    for (size_t i = 0; i < a->of->history.count; i++) {
        const struct history_row *row = &a->of->history.items[i];

        SIM_CHECK(sim, !is_of(a, row) || !is_asked_by_reminder(row) || i < end_of_wait(a),
                  "a reminder asks somebody when its wait is over (%.*s)", STR_ARG(row->status));
        if (!is_of(a, row) || row->kind != HISTORY_REMINDER)
            continue;
        check_reminder(sim, a->of, i, end_of_wait(a));
        reminders += !str_eq(last, row->key);
        last = row->key;
    }
    SIM_CHECK(sim, reminders <= REMINDERS_MAX, "%u reminders of one wait", reminders);
    sim->disk.reminders += reminders;
}

static void check_answer(struct sim *sim, const struct disk_ask *a)
{
    unsigned taken = 0;

    for (size_t i = 0; i < a->of->history.count; i++) {
        const struct history_row *row = &a->of->history.items[i];

        if (row->kind != HISTORY_FORWARD ||
            state_row_took(&sim->disk.scratch, row) != a->answer_seq)
            continue;
        SIM_CHECK(sim, is_of(a, row), "an answer of %.*s to %.*s was taken by %.*s",
                  STR_ARG(sim_id(sim, a->of->s.id)), STR_ARG(a->step), STR_ARG(row->step));
        taken++;
    }
    SIM_CHECK(sim, taken <= 1, "I2: an answer was applied %u times", taken);
    SIM_CHECK(sim, taken == 1 || a->of->s.status != STATUS_COMPLETED || a->of->repairs > 0,
              "I9: an answer was acknowledged, and its step ended without it");
}

void inbox_check(struct sim *sim)
{
    const struct disk *d = &sim->disk;

    for (size_t i = 0; i < d->asked_people.count; i++) {
        const struct disk_ask *a = d->asked_people.items[i];

        arena_reset(&sim->disk.scratch);
        if (a->of->is_deleted)
            continue;
        check_reminders(sim, a);
        if (a->answer.len > 0 && a->answer_seq > 0)
            check_answer(sim, a);
    }
}
