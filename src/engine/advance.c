/*
 * advance.c - events in, commits out; see advance.h.
 *
 *     START, WAKE (left in the middle) --> run steps
 *     WAKE (time has come)             --> the wait ends or fails --> run steps
 *     WAKE (past the deadline)         --> failed or held
 *     SIGNAL                           --> recorded; a wait that takes it ends --> run steps
 *     CANCEL                           --> cancelled
 */
#include "engine/advance.h"

#include "engine/turn.h"

/* Contexts up to this size are checkpointed with every commit. */
enum { CHECKPOINT_SMALL = 4096 };

/* The view scenario_step_history computes the same. */
struct uuid engine_row_id(struct uuid execution, int64_t seq, int64_t completed_at_us)
{
    uint8_t random[UUID_RANDOM_LEN];

    random[0] = (uint8_t)(seq >> 8 & 0xF);
    random[1] = (uint8_t)seq;
    memcpy(random + 2, execution.bytes + 8, 8);
    return uuid_v7(completed_at_us / 1000, random);
}

/* --- waking --- */

/* The deadline of the whole execution has passed: its onError decides, whatever the step's says. */
static void apply_deadline(struct turn *t)
{
    struct str error_json;

    (void)turn_fail(t, STR("timeout_execution"), STR("business"),
                    "the execution did not end before its deadline");
    (void)turn_failure(t, &error_json);
    turn_row(t, HISTORY_EVENT, STR_NONE, STR("timeout"))->error_json = error_json;
    outcome_fail(t, t->x->program->on_error, error_json);
}

/* The wait under way has ended with `output`, or failed: go on. False: reads are needed first. */
static bool leave_wait(struct turn *t, enum step_end end, struct value output, int64_t took)
{
    const struct command *c = &turn_step(t)->procedure->commands[0];

    if (end == STEP_DONE)
        end = command_shape(t, c, &output);
    if (end == STEP_DONE)
        end = step_complete(t, output, took);
    if (end == STEP_FAILED && !step_fail(t))
        return true;
    return step_run_all(t);
}

/* *complete: false when reads are needed first. False: there is nothing to wake. */
static bool apply_wake(struct turn *t, bool *complete)
{
    struct execution *x = t->x;
    struct value output = value_null();
    enum step_end end;

    if (x->cursor.phase == PHASE_HELD)
        return false;
    if (x->deadline_at_us > 0 && t->wall_us >= x->deadline_at_us) {
        apply_deadline(t);
        return true;
    }
    if (x->cursor.phase == PHASE_ENTER) {
        *complete = step_run_all(t);
        return true;
    }
    if (x->cursor.wake_at_us == 0 || x->cursor.wake_at_us > t->wall_us)
        return false;
    turn_begin_step(t);
    end = wait_expired(t, turn_step(t), &output);
    *complete = leave_wait(t, end, output, 0);
    return true;
}

/* --- signals --- */

static struct value or_null(struct value v)
{
    return v.kind == VALUE_ABSENT ? value_null() : v;
}

enum signal_known engine_signal_known(const struct execution *exec, struct str id, struct str type,
                                      struct value payload)
{
    const struct signal *s = signals_find(&exec->signals, id);

    if (s == NULL)
        return SIGNAL_NEW;
    return str_eq(s->type, type) &&
                   value_equal(value_map_get_str(s->view, STR("payload")), or_null(payload), NULL)
               ? SIGNAL_SAME
               : SIGNAL_DIFFERS;
}

/* {id, type, payload, by, receivedAt}, still in the memory of the event. */
static struct value signal_view(struct turn *t)
{
    const struct event *ev = t->ev;
    struct value_entry *entries = ARENA_ARRAY(t->mem, 5, struct value_entry);
    size_t duplicate;

    entries[0] = (struct value_entry){value_key(STR("id")), value_string(ev->signal_id)};
    entries[1] = (struct value_entry){value_key(STR("type")), value_string(ev->signal_type)};
    entries[2] = (struct value_entry){value_key(STR("payload")), or_null(ev->signal_payload)};
    entries[3] = (struct value_entry){value_key(STR("by")), or_null(ev->signal_by)};
    entries[4] = (struct value_entry){value_key(STR("receivedAt")), time_text(t->mem, t->now_us)};
    return value_map_make(t->mem, entries, 5, &duplicate);
}

static bool make_signal(struct turn *t, struct signal *out, struct err *err)
{
    struct value view = signal_view(t);

    *out = (struct signal){.received_at_us = t->now_us, .seq = t->x->seq + 1};
    if (!turn_freeze(t, &view, &out->json))
        return err_set(
            err, str_eq(t->failure.code, STR("limit_context_size")) ? ERR_TOO_LARGE : ERR_INVALID,
            "%.*s", STR_ARG(t->failure.message));
    if (t->x->context_bytes + out->json.len > CONTEXT_BYTES_MAX)
        return err_set(err, ERR_TOO_LARGE, "the context would be larger than %d bytes",
                       CONTEXT_BYTES_MAX);
    out->view = value_copy(t->mem, view);
    out->id = value_text(value_map_get_str(out->view, STR("id")));
    out->type = value_text(value_map_get_str(out->view, STR("type")));
    return true;
}

static bool apply_signal(struct turn *t, bool *complete, struct err *err)
{
    struct execution *x = t->x;
    struct signal *signal = ARENA_NEW(t->mem, struct signal);
    struct value output;

    if (!make_signal(t, signal, err))
        return false;
    state_add_signal(t->mem, x, signal);
    t->out->received = signal;
    (void)turn_row(t, HISTORY_EVENT, STR_NONE, STR("signal"));
    turn_note(t, "signal", signal->json);
    if (x->cursor.phase != PHASE_WAIT)
        return true;
    turn_begin_step(t);
    if (wait_takes(t, turn_step(t), signal, &output))
        *complete = leave_wait(t, STEP_DONE, output, signal->seq);
    return true;
}

/* --- cancelling --- */

static void apply_cancel(struct turn *t)
{
    struct buf reason;

    (void)turn_row(t, HISTORY_EVENT, STR_NONE, STR("cancelled"));
    if (t->ev->reason.len > 0) {
        buf_init_arena(&reason, t->mem);
        member_text(&reason, "reason", t->ev->reason);
        turn_note(t, "cancel", member_end(&reason));
    }
    outcome_cancel(t);
}

/* --- the commit --- */

static int64_t earlier(int64_t a, int64_t b)
{
    return a == 0 ? b : b == 0 || a < b ? a : b;
}

static bool is_unborn(const struct record_write *write)
{
    return write->is_delete && write->read_version == 0;
}

/* A record that was made and deleted in this turn never was. */
static void drop_unborn(struct record_writes *writes)
{
    size_t kept = 0;

    for (size_t i = 0; i < writes->count; i++)
        if (!is_unborn(&writes->items[i]))
            writes->items[kept++] = writes->items[i];
    writes->count = kept;
}

static void finish(struct turn *t)
{
    struct execution *x = t->x;
    struct commit *out = t->out;

    ASSERT(out->history.count > 0);
    ASSERT_SLOW(x->context_bytes == state_context_bytes(x));
    drop_unborn(&out->records);
    x->row_version++;
    x->updated_at_us = t->now_us;
    x->crash_count = 0;
    if (x->status == STATUS_WAITING)
        x->wake_at_us =
            x->cursor.phase == PHASE_HELD ? 0 : earlier(x->cursor.wake_at_us, x->deadline_at_us);
    for (size_t i = 0; i < out->history.count; i++)
        x->log_bytes += state_row_bytes(&out->history.items[i]);
    if (x->context_bytes <= CHECKPOINT_SMALL || x->log_bytes >= (int64_t)x->context_bytes) {
        out->writes_context = true;
        out->context_json = state_context_json(t->mem, x);
        x->checkpoint_seq = x->seq;
        x->log_bytes = 0;
    }
    if (!status_is_terminal(x->status))
        out->cursor_json = state_cursor_json(t->mem, x);
}

bool engine_advance(struct arena *mem, const struct execution *exec, const struct event *ev,
                    int64_t now_us, struct commit *out, struct err *err)
{
    struct turn t;
    bool complete = true;

    if (status_is_terminal(exec->status))
        return err_set(err, ERR_CONFLICT, "the execution is %s", status_name(exec->status));
    turn_init(&t, mem, exec, ev, now_us, out);
    switch (ev->kind) {
    case EVENT_START:
        t.x->started_at_us = t.now_us;
        out->is_start = true;
        complete = step_run_all(&t);
        break;
    case EVENT_WAKE:
        if (!apply_wake(&t, &complete))
            return err_set(err, ERR_CONFLICT, "there is nothing to wake");
        break;
    case EVENT_SIGNAL:
        if (!apply_signal(&t, &complete, err))
            return false;
        break;
    case EVENT_CANCEL:
        apply_cancel(&t);
        break;
    }
    out->result = complete ? ADVANCE_COMMIT : ADVANCE_NEED;
    if (complete)
        finish(&t);
    return true;
}
