/*
 * trial.c - what happens next in a trial; see trial.h.
 *
 * First what is ready now: answers of mocks, the ends of processes that were
 * waited for, work that is due. Then the script: a signal or an operator whose
 * turn it is, if the execution waits for one. Then the clock is moved to the
 * earliest of what has a time.
 */
#include "define/program.h"
#include "define/trigger.h"
#include "trial/inner.h"

#include "base/buf.h"
#include "value/json.h"

#define START_US INT64_C(1767225600000000) /* 2026-01-01 */
#define NEVER INT64_MAX

static const struct {
    const char *code, *message;
} stops[] = {
#define TRIAL_STOP(symbol, code, message) [TRIAL_##symbol] = {(code), (message)},
#include "trial/stops.def"
#undef TRIAL_STOP
};

const char *trial_stop_message(enum trial_stop stop)
{
    return stops[stop].message;
}

const char *trial_stop_code(enum trial_stop stop)
{
    return stops[stop].code;
}

static struct value tester(struct arena *mem)
{
    return value_map_of(mem, VALUE_ENTRIES({value_key(STR("id")), value_string(STR("tester"))},
                                           {value_key(STR("name")), value_string(STR("Tester"))}));
}

static bool is_over(const struct actor *a)
{
    return status_is_terminal(a->x->status);
}

static struct actor *first_actor(const struct trial_run *r)
{
    ASSERT(r->actors.count > 0);
    return r->actors.items[0];
}

/* --- answers --- */

/* The key under which an execution waits for the end of one; empty when it does not. */
static struct str key_of_child(const struct actor *a, struct str id)
{
    for (uint32_t i = 0; !is_over(a) && i < execution_strands(a->x); i++) {
        struct str awaited = execution_cursor(a->x, i)->awaited;

        if (str_starts_with(awaited, STR("child:")) && str_ends_with(awaited, id))
            return awaited;
    }
    return STR_NONE;
}

/* The execution that waits for the end of this one, or NULL. */
static struct actor *awaiting(const struct trial_run *r, const struct actor *child, struct str *key)
{
    struct str id = UUID_STR(child->x->id);

    for (size_t i = 0; i < r->actors.count; i++) {
        *key = key_of_child(r->actors.items[i], id);
        if (key->len > 0)
            return r->actors.items[i];
    }
    return NULL;
}

/* Whether an execution rolls back, and waits for the end of this one before it does. */
static bool has_stopped(const struct actor *a, struct uuid child)
{
    for (uint32_t i = 0; !is_over(a) && i < a->x->stopped_count; i++)
        if (uuid_cmp(a->x->stopped[i].id, child) == 0)
            return true;
    return false;
}

/* *more: one that has cancelled this one, which has ended since, knows it now. */
static bool answer_stopper(struct trial_run *r, const struct actor *child, bool *more,
                           struct err *err)
{
    struct child_reads told = {0};

    *more = false;
    for (size_t i = 0; i < r->actors.count; i++) {
        if (!has_stopped(r->actors.items[i], child->x->id))
            continue;
        *more = true;
        *VEC_ADD(r->mem, &told) = answer_child(r, child->x);
        return actor_apply(r, r->actors.items[i],
                           (struct event){.kind = EVENT_WAKE, .children = &told}, err);
    }
    return true;
}

/* *more: somebody was answered. */
static bool answer(struct trial_run *r, bool *more, struct err *err)
{
    if (!actor_apply_notice(r, more, err))
        return false;
    if (*more)
        return true;
    *more = true;
    for (size_t i = 0; i < r->actors.count; i++) {
        struct actor *a = r->actors.items[i], *parent;
        struct child_read read;
        struct event ev;
        struct str key;

        ASSERT(a != NULL);
        if (mock_job(r, a, &ev) || tasks_answer(r, a, &ev))
            return actor_apply(r, a, ev, err);
        parent = is_over(a) ? awaiting(r, a, &key) : NULL;
        if (parent == NULL && is_over(a)) {
            if (!answer_stopper(r, a, more, err))
                return false;
            if (*more)
                return true;
            *more = true;
        }
        if (parent == NULL)
            continue;
        read = answer_child(r, a->x);
        ev = (struct event){.kind = EVENT_ANSWER,
                            .answer_key = key,
                            .answer_output = read.result,
                            .answer_error = read.error};
        return actor_apply(r, parent, ev, err);
    }
    *more = false;
    return true;
}

/* --- signals --- */

/* The execution that a signal of the script is for: the newest of that process; or NULL. */
static struct actor *receiver(const struct trial_run *r, const struct trial_signal *s)
{
    if (s->to.len == 0)
        return first_actor(r);
    for (size_t i = r->actors.count; i > 0; i--)
        if (str_eq(r->actors.items[i - 1]->x->program->code, s->to))
            return r->actors.items[i - 1];
    return NULL;
}

static bool must_be_refused(const struct trial_signal *s)
{
    return s->refused.kind != VALUE_ABSENT;
}

/* Whether it can be sent: one that must be refused may come too late. */
static bool can_receive(const struct trial_run *r, const struct trial_signal *s)
{
    const struct actor *a = receiver(r, s);

    return a != NULL && (!is_over(a) || must_be_refused(s)) && a->x->status != STATUS_PENDING;
}

static struct value sender(const struct trial_run *r, const struct trial_signal *s)
{
    if (s->by.kind == VALUE_MAP)
        return s->by;
    return r->script->user.kind == VALUE_MAP ? r->script->user : tester(r->mem);
}

/* Send one that must be refused, and note what became of it: a refusal changes nothing. */
static bool send_in_vain(struct trial_run *r, size_t i, const struct event *ev, struct err *err)
{
    struct trial_reply *reply = VEC_ADD(r->mem, &r->out->replies);
    struct findings *findings = r->findings;
    bool ok;

    *reply = (struct trial_reply){.signal = i};
    r->findings = &reply->findings;
    ok = actor_apply(r, receiver(r, &r->script->signals.items[i]), *ev, err);
    r->findings = findings;
    if (ok)
        return true;
    reply->is_refused = err->code == ERR_CONFLICT || err->code == ERR_INVALID;
    reply->message = sentence_copy(r->mem, err_sentence(err));
    return reply->is_refused;
}

static bool send(struct trial_run *r, size_t i, struct err *err)
{
    const struct trial_signal *s = &r->script->signals.items[i];
    const struct event ev = {.kind = EVENT_SIGNAL,
                             .signal_id = str_printf(r->mem, "signal-%zu", i + 1),
                             .signal_type = s->type,
                             .signal_payload = s->payload,
                             .by = sender(r, s)};

    r->sent[i] = true;
    r->out->signals_unsent--;
    return must_be_refused(s) ? send_in_vain(r, i, &ev, err)
                              : actor_apply(r, receiver(r, s), ev, err);
}

/* The signal whose turn it is, if it is waited for; else the number of signals. */
static size_t signal_in_turn(struct trial_run *r)
{
    const struct trial_signals *all = &r->script->signals;
    const struct actor *a;
    size_t i = 0;

    while (i < all->count && (r->sent[i] || all->items[i].has_time))
        i++;
    if (i == all->count || !can_receive(r, &all->items[i]))
        return all->count;
    a = receiver(r, &all->items[i]);
    return is_over(a) || actor_waits_for(r, a, STR("signal")) ? i : all->count;
}

/* The signal that comes first by its time, or the number of signals. */
static size_t signal_by_time(const struct trial_run *r)
{
    const struct trial_signals *all = &r->script->signals;
    size_t first = all->count;

    for (size_t i = 0; i < all->count; i++)
        if (!r->sent[i] && all->items[i].has_time && can_receive(r, &all->items[i]) &&
            (first == all->count || all->items[i].after_us < all->items[first].after_us))
            first = i;
    return first;
}

/* --- operators --- */

static bool may_act(const struct trial_run *r, const struct trial_action *action)
{
    const struct actor *a = first_actor(r);

    return !is_over(a) || (a->x->status == STATUS_FAILED && action->kind == EVENT_RETRY);
}

static bool act(struct trial_run *r, size_t i, struct err *err)
{
    const struct trial_action *action = &r->script->actions.items[i];
    const struct reconciling *reconciling = first_actor(r)->x->cursor.reconciling;

    r->acted[i] = true;
    r->out->actions_undone--;
    return actor_apply(
        r, first_actor(r),
        (struct event){.kind = action->kind,
                       .reason = action->reason,
                       .cancel_rollback = action->rollback,
                       .from = action->from,
                       .input = action->input,
                       .output = action->output,
                       .letter = reconciling != NULL ? reconciling->letter : STR_NONE,
                       .verdict = action->verdict},
        err);
}

/* The action whose turn it is, if somebody must act; else the number of actions. */
static size_t action_in_turn(struct trial_run *r)
{
    const struct trial_actions *all = &r->script->actions;
    bool is_stuck =
        first_actor(r)->x->status == STATUS_FAILED || execution_is_held(first_actor(r)->x);
    size_t i = 0;

    while (i < all->count && (r->acted[i] || all->items[i].has_time))
        i++;
    return is_stuck && i < all->count && may_act(r, &all->items[i]) ? i : all->count;
}

static size_t action_by_time(const struct trial_run *r)
{
    const struct trial_actions *all = &r->script->actions;
    size_t first = all->count;

    for (size_t i = 0; i < all->count; i++)
        if (!r->acted[i] && all->items[i].has_time && may_act(r, &all->items[i]) &&
            (first == all->count || all->items[i].after_us < all->items[first].after_us))
            first = i;
    return first;
}

/* --- time --- */

static bool stopped_only_calls(const struct execution *x)
{
    for (uint32_t i = 0; i < x->stopped_count; i++)
        if (x->stopped[i].call_seq == 0)
            return false;
    return true;
}

/*
 * When an execution goes on by itself; 0 = not before somebody does something.
 * One that just waits does so until its deadline, and nobody wants to see that
 * unless the author has written one.
 */
static int64_t wakes_at(const struct execution *x)
{
    bool is_ready = x->wake_at_us == WAKE_AT_ONCE;
    int64_t timer_us = 0;

    /* What it has started is undone first, however long that takes; a call has its time. */
    if (x->rollback != NULL && x->stopped_count > 0)
        return stopped_only_calls(x) ? x->wake_at_us : 0;

    for (uint32_t i = 0; i < execution_askers(x); i++) {
        const struct cursor *c = execution_asker(x, i);
        int64_t us = str_starts_with(c->awaited, STR("child:")) ? c->timeout_at_us : c->wake_at_us;

        /* A call that no mock answers is not made: it waits. */
        if (call_is_awaited(c))
            us = 0;

        if (us > 0 && (timer_us == 0 || us < timer_us))
            timer_us = us;
    }
    if (is_ready || x->wake_at_us == 0)
        return x->wake_at_us;
    if (timer_us == 0)
        return x->program->timeout_is_written ? x->deadline_at_us : 0;
    return x->deadline_at_us > 0 && x->deadline_at_us < timer_us ? x->deadline_at_us : timer_us;
}

static struct actor *next_to_wake(const struct trial_run *r, int64_t *at_us)
{
    struct actor *first = NULL;

    *at_us = NEVER;
    for (size_t i = 0; i < r->actors.count; i++) {
        struct actor *a = r->actors.items[i];
        int64_t us = is_over(a) ? 0 : wakes_at(a->x);

        if (us > 0 && us < *at_us) {
            first = a;
            *at_us = us;
        }
    }
    return first;
}

/* The first whose deadline passes before `until_us`, when something happens all the same. */
static struct actor *next_to_expire(const struct trial_run *r, int64_t until_us)
{
    for (size_t i = 0; until_us < NEVER && i < r->actors.count; i++) {
        struct actor *a = r->actors.items[i];

        if (!is_over(a) && wakes_at(a->x) == 0 && a->x->deadline_at_us > 0 &&
            a->x->wake_at_us > 0 && a->x->deadline_at_us < until_us)
            return a;
    }
    return NULL;
}

static void move_to(struct trial_run *r, int64_t us)
{
    if (us > r->now_us)
        r->now_us = us;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* *more: something happened. */
static bool step(struct trial_run *r, bool *more, struct err *err)
{
    const struct trial_script *script = r->script;
    size_t signal = signal_by_time(r), action = action_by_time(r), turn;
    int64_t start_us = r->out->started_at_us, wake_us;
    struct actor *sleeper = next_to_wake(r, &wake_us), *expired;
    int64_t signal_us =
        signal < script->signals.count ? start_us + script->signals.items[signal].after_us : NEVER;
    int64_t action_us =
        action < script->actions.count ? start_us + script->actions.items[action].after_us : NEVER;

    if (!answer(r, more, err))
        return false;
    if (*more)
        return true;
    *more = true;
    if (wake_us > r->now_us && signal_us > r->now_us && action_us > r->now_us) {
        turn = action_in_turn(r);
        if (turn < script->actions.count)
            return act(r, turn, err);
        turn = signal_in_turn(r);
        if (turn < script->signals.count)
            return send(r, turn, err);
    }
    expired = next_to_expire(r, least(least(action_us, signal_us), wake_us));
    if (expired != NULL) {
        move_to(r, expired->x->deadline_at_us);
        return actor_apply(r, expired, (struct event){.kind = EVENT_WAKE}, err);
    }
    if (action_us < NEVER && action_us <= signal_us && action_us <= wake_us) {
        move_to(r, action_us);
        return act(r, action, err);
    }
    if (signal_us < NEVER && signal_us <= wake_us) {
        move_to(r, signal_us);
        return send(r, signal, err);
    }
    *more = sleeper != NULL;
    if (!*more)
        return true;
    move_to(r, wake_us);
    return actor_apply(r, sleeper, (struct event){.kind = EVENT_WAKE}, err);
}

/* --- the whole of it --- */

static enum trial_stop limit_reached(const struct trial_run *r, unsigned events)
{
    const struct trial_world *w = r->world;
    size_t bytes = r->mem->held_bytes;

    if (events >= TRIAL_EVENTS_MAX)
        return TRIAL_STOPPED_EVENTS;
    if (w == NULL)
        return TRIAL_WHOLE;
    for (size_t i = 0; i < r->actors.count; i++)
        bytes += r->actors.items[i]->mem.held_bytes;
    if (w->memory_max > 0 && bytes > w->memory_max)
        return TRIAL_STOPPED_MEMORY;
    return w->is_late != NULL && w->is_late(w->context) ? TRIAL_STOPPED_TIME : TRIAL_WHOLE;
}

static bool run_all(struct trial_run *r, struct err *err)
{
    bool more = true;

    r->out->is_started = true;
    if (!actor_apply(r, first_actor(r), (struct event){.kind = EVENT_START}, err))
        return false;
    for (unsigned events = 1; more; events++) {
        r->out->stop = limit_reached(r, events);
        if (r->out->stop != TRIAL_WHOLE)
            break;
        if (!step(r, &more, err))
            return false;
    }
    return true;
}

static struct str user_text(struct arena *mem, struct value user)
{
    struct buf out;
    struct err err;

    buf_init_arena(&out, mem);
    if (!json_write(&out, user.kind == VALUE_MAP ? user : tester(mem), &err))
        return STR("{}");
    return buf_view(&out);
}

/* The webhook of the process that starts it and has this path and method, where they are given. */
static const struct trigger *find_webhook(const struct program *p, struct value webhook)
{
    struct str path = value_map_text(webhook, STR("path")),
               method = value_map_text(webhook, STR("method"));

    for (uint32_t i = 0; i < p->trigger_count; i++) {
        const struct trigger *t = &p->triggers[i];

        if (t->type == TRIGGER_WEBHOOK && t->signal_type == NULL &&
            (path.len == 0 || str_eq(path, t->path)) &&
            (method.len == 0 || str_eq(method, t->method)))
            return t;
    }
    return NULL;
}

/* What the trigger makes of the request becomes the start; without a trigger it has no input. */
static bool fire_webhook(struct trial_run *r, const struct program *p, struct execution_new *from,
                         struct err *err)
{
    const struct trigger_context context = {.webhook = r->script->webhook,
                                            .event = value_absent(),
                                            .record = value_absent(),
                                            .config = r->config,
                                            .user = value_absent(),
                                            .now_us = from->now_us};
    const struct trigger *t = find_webhook(p, r->script->webhook);
    struct trigger_outcome out;

    if (t == NULL)
        return true;
    if (!trigger_evaluate(r->mem, p, t, &context, &out, err))
        return false;
    if (!out.fires)
        return err_set(err, ERR_INVALID, "triggers[%u].when is false: nothing starts", t->position);
    if (out.input.kind == VALUE_MAP)
        from->input = out.input;
    if (from->key.len == 0)
        from->key = out.key;
    return true;
}

static bool begin(struct trial_run *r, const struct program *program, struct err *err)
{
    const struct trial_script *script = r->script;
    struct execution_new from = {
        .id = {.bytes = {1, 0x9b, 0x75, 0xf0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 1}},
        .key = script->key,
        .user_json = user_text(r->mem, script->user),
        .webhook = script->webhook,
        .now_us = script->now_us > 0 ? script->now_us : START_US,
    };
    struct execution *x;

    r->now_us = r->out->started_at_us = r->out->ended_at_us = from.now_us;
    from.input = script->input.kind == VALUE_ABSENT ? value_map_empty() : script->input;
    if (script->webhook.kind == VALUE_MAP && script->input.kind == VALUE_ABSENT &&
        !fire_webhook(r, program, &from, err))
        return false;
    define_check_input(r->mem, program, from.input, &from.input, r->findings);
    if (findings_have_errors(r->findings))
        return err_set(err, ERR_INVALID, "the input is not what '%.*s' takes",
                       STR_ARG(program->code));
    if (!state_key(r->mem, program, from.key, from.input, from.webhook,
                   script->user.kind == VALUE_MAP ? script->user : tester(r->mem), r->config,
                   from.now_us, &from.key, err))
        return false;
    if (!execution_new(r->mem, program, &from, &x, err))
        return false;
    (void)actor_add(r, x);
    return true;
}

/* What is left of an execution moves to the memory of the trial. */
static struct trial_execution keep(struct trial_run *r, struct actor *a)
{
    struct trial_execution kept = {
        .x = state_copy(r->mem, a->x), .history = a->history, .commands = a->commands};

    arena_fini(&a->mem);
    return kept;
}

bool trial_run(struct arena *mem, const struct program *program, const struct trial_script *script,
               const struct trial_world *world, struct trial *out, struct findings *findings,
               struct err *err)
{
    struct trial_run r = {
        .mem = mem, .script = script, .world = world, .out = out, .findings = findings};
    bool ok;

    *out = (struct trial){.signals_unsent = script->signals.count,
                          .actions_undone = script->actions.count};
    r.config = script->config.kind == VALUE_MAP ? script->config : value_map_empty();
    r.sent = arena_zalloc(mem, script->signals.count + 1);
    out->signals_sent = r.sent;
    r.acted = arena_zalloc(mem, script->actions.count + 1);
    for (size_t i = 0; i < script->records.count; i++)
        *VEC_ADD(mem, &out->records) = (struct trial_record){.read = script->records.items[i]};
    ok = begin(&r, program, err) && run_all(&r, err);
    for (size_t i = 0; i < r.actors.count; i++) {
        struct trial_execution kept = keep(&r, r.actors.items[i]);
        if (i == 0)
            out->main = kept;
        else
            *VEC_ADD(mem, &out->children) = kept;
    }
    return ok;
}
