/*
 * child.c - flow.start: executions that an execution starts; see procedure.h.
 *
 * A child is part of the commit of the step that starts it: commit.starts. One
 * that is waited for begins when the step stops, any other when it completes.
 * The step is notified of its end, under the key "child:ID", with its result: nothing is read for
 * that. Should it get lost, the parent looks for itself once an hour, and when an operator lets it
 * go on. Who joins an execution of another parent by its key leaves a row with it, "joiner:ID",
 * and is notified likewise, but for the result, which it reads.
 *
 * The program of the child, and who holds its key, are asked for with NEED.
 */
#include "define/define.h"
#include "engine/command/command.h"
#include "engine/command/procedure.h"
#include "engine/commit/reads.h"
#include "engine/flow/step.h"
#include "engine/flow/strand.h"
#include "engine/ident.h"
#include "engine/trace.h"
#include "value/json.h"

/* How often a parent looks at a child, which will tell it of its end. */
static const int64_t LOOK_EVERY_US = INT64_C(3600) * 1000000;

#define JOINER_KEY "joiner:"

bool child_is_awaited(const struct cursor *cursor)
{
    return str_starts_with(cursor->awaited, STR(CHILD_KEY));
}

bool child_awaited(const struct cursor *cursor, struct uuid *id)
{
    return child_is_awaited(cursor) &&
           uuid_read(str_slice(cursor->awaited, sizeof(CHILD_KEY) - 1, cursor->awaited.len), id);
}

bool child_is_own(const struct cursor *cursor, struct uuid *id)
{
    return !cursor->is_joined && child_awaited(cursor, id);
}

/* The process of that code, and with a key who holds it. STEP_DONE or STEP_NEEDS. */
static enum step_result child_seek(struct turn *t, struct str code, struct str key,
                                   const struct process_read **out)
{
    const struct process_reads *reads = &event_reads(t->ev)->processes;

    for (size_t i = 0; i < reads->count; i++) {
        *out = &reads->items[i];
        if (str_eq((*out)->code, code) && str_eq((*out)->key, key))
            return STEP_DONE;
    }
    *VEC_ADD(t->mem, &t->out->needs_processes) = (struct process_read){.code = code, .key = key};
    return STEP_NEEDS;
}

/* The input of the child, checked like that of any start. */
static enum step_result child_input(struct turn *t, const struct command *c,
                                    const struct program *p, struct value *out, struct str *json)
{
    struct findings findings = {0};
    struct value given;

    if (!command_field(t, c, FIELD_INPUT, &given))
        return STEP_FAILED;
    define_check_input(t->mem, p, given, out, &findings);
    if (findings_have_errors(&findings)) {
        (void)turn_fail(t, STR("validation_input"), ERR_CLASS_BUSINESS,
                        "the input of '%.*s' is wrong: %pS", STR_ARG(p->code),
                        SENTENCE_ARG(findings.items[0].message));
        t->failure.details = findings_value(t->mem, &findings);
        return STEP_FAILED;
    }
    return turn_freeze(t, out, json) ? STEP_DONE : STEP_FAILED;
}

/* The business key: as the command says, else as the settings of the child do. */
static enum step_result child_key(struct turn *t, const struct command *c, const struct program *p,
                                  struct value input, struct str *out)
{
    struct value user = turn_read(t, t->x->user_json, value_null());
    struct str given;
    struct err err;

    if (!command_text(t, c, FIELD_KEY, STR_NONE, &given))
        return STEP_FAILED;
    if (state_key(t->mem, p, given, input, value_absent(), user, t->ev->config, t->now_us, out,
                  &err))
        return STEP_DONE;
    return turn_fail(t,
                     out->len > 0 && state_key_mistake(*out) != NULL ? STR("validation_key")
                                                                     : STR("expression_error"),
                     ERR_CLASS_BUSINESS, "the key of '%.*s': %pS", STR_ARG(p->code), ERR_ARG(&err));
}

static struct execution *make_child(struct turn *t, const struct program *p, struct value input,
                                    struct str input_json, struct str key)
{
    struct execution *x = ARENA_NEW(t->mem, struct execution);
    struct trace trace;

    x->id = ident_make_child(t->x->id, t->x->seq + 1, t->ids++, t->now_us);
    x->program = p;
    x->parent_id = t->x->id;
    x->has_parent = true;
    x->depth = t->x->depth + 1;
    x->key = key;
    x->org_id = t->x->org_id;
    x->user_json = t->x->user_json;
    x->chain = t->x->chain;
    trace_of(t->x, &trace);
    x->trace = trace_store(t->mem, &trace, trace_cursor_span(t->x, &t->x->cursor));
    x->created_at_us = x->updated_at_us = t->now_us;
    x->deadline_at_us = p->timeout_us > 0 ? t->wall_us + p->timeout_us : 0;
    x->input = input;
    x->input_json = input_json;
    x->status = STATUS_PENDING;
    x->wake_at_us = WAKE_AT_ONCE;
    x->row_version = 1;
    x->steps = arena_zalloc(t->mem, (p->step_count + 1u) * sizeof(*x->steps));
    x->variables = value_map_empty();
    x->context_bytes = input_json.len;
    return x;
}

/* Look again after so long, or when the time of the step is up. */
static void look_after(struct turn *t, int64_t us)
{
    struct cursor *cursor = &t->x->cursor;

    cursor->wake_at_us = t->wall_us + us;
    if (cursor->timeout_at_us > 0 && cursor->timeout_at_us < cursor->wake_at_us)
        cursor->wake_at_us = cursor->timeout_at_us;
}

/* The execution that this one has joined will tell it, too, that it has ended. */
static void notify_joiner(struct turn *t, struct uuid id)
{
    *VEC_ADD(t->mem, &t->out->notices) = (struct notice){
        .execution = id,
        .kind = NOTICE_JOIN,
        .key = str_printf(t->mem, JOINER_KEY "%s", UUID_STR(t->x->id).ptr),
    };
}

/* `code`: of its process; empty: a version that did not keep it has stored the wait. */
static struct str child_describe(struct turn *t, struct str code, struct str id)
{
    const struct cursor *cursor = &t->x->cursor;
    struct buf why;

    buf_init_arena(&why, t->mem);
    field_kind(&why, WAITING_CHILD);
    field_text(&why, "step", turn_code(t));
    if (code.len > 0)
        field_text(&why, "code", code);
    field_text(&why, "executionId", id);
    field_time(&why, "since", t->now_us);
    if (cursor->timeout_at_us > 0)
        field_time(&why, "until", cursor->timeout_at_us);
    return field_end(&why);
}

/* The step stops until the child has ended. */
static enum step_result wait_for(struct turn *t, const struct command *c, struct str code,
                                 struct str id, bool is_joined)
{
    struct cursor *cursor = &t->x->cursor;
    const struct step *step = turn_step(t);

    if (!suspend_step(t, procedure_command_place(t, c)))
        return STEP_FAILED;
    cursor->awaited = str_printf(t->mem, CHILD_KEY "%.*s", STR_ARG(id));
    cursor->is_joined = is_joined;
    cursor->is_started = !is_joined;
    cursor->child_code = str_copy(t->mem, code);
    cursor->timeout_at_us = step->timeout_us > 0 ? t->wall_us + step->timeout_us : 0;
    look_after(t, LOOK_EVERY_US);
    step_wait(t, PHASE_JOB, WAITING_CHILD, STR("child"), child_describe(t, code, id));
    return STEP_WAITS;
}

void child_release(struct turn *t)
{
    struct str awaited = t->x->cursor.awaited;

    look_after(t, LOOK_EVERY_US);
    execution_set_waiting(t->x, WAITING_CHILD,
                          child_describe(t, t->x->cursor.child_code,
                                         str_slice(awaited, sizeof(CHILD_KEY) - 1, awaited.len)));
}

static const struct execution *find_start(const struct turn *t, struct execution *const *starts,
                                          size_t count, const struct program *p, struct str key)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(starts[i]->key, key) && str_eq(starts[i]->program->code, p->code) &&
            child_is_wanted(t, starts[i]->id))
            return starts[i];
    return NULL;
}

/*
 * Who holds the key: an execution that this turn starts, which no read can
 * show, or one that was read. STEP_DONE with *held, or STEP_NEEDS.
 */
static enum step_result find_holder(struct turn *t, const struct program *p, struct str key,
                                    bool *held, struct uuid *id)
{
    const struct execution *started =
        find_start(t, t->out->starts.items, t->out->starts.count, p, key);
    const struct process_read *read;
    enum step_result end;

    if (started == NULL)
        started = find_start(t, t->starts.items, t->starts.count, p, key);
    *held = started != NULL;
    if (started != NULL) {
        *id = started->id;
        return STEP_DONE;
    }
    end = child_seek(t, p->code, key, &read);
    if (end == STEP_DONE && read->is_held) {
        *held = true;
        *id = read->holder;
    }
    return end;
}

/* Whose execution stands for the child: a new one, or the one that holds the key. */
static enum step_result choose(struct turn *t, const struct command *c, const struct program *p,
                               struct execution **made, struct uuid *id)
{
    bool is_held = false;
    struct value input;
    struct str json, key = STR_NONE;
    enum step_result end = child_input(t, c, p, &input, &json);

    *made = NULL;
    if (end == STEP_DONE)
        end = child_key(t, c, p, input, &key);
    if (end == STEP_DONE && key.len > 0) {
        end = find_holder(t, p, key, &is_held, id);
        if (end == STEP_DONE && is_held && !p->joins_by_key)
            return turn_fail(t, STR("conflict_key"), ERR_CLASS_BUSINESS,
                             "an execution of '%.*s' with the key '%.*s' is running",
                             STR_ARG(p->code), STR_ARG(key));
        if (end == STEP_DONE && is_held)
            return STEP_DONE;
    }
    if (end != STEP_DONE)
        return end;
    if (t->x->depth >= START_DEPTH_MAX)
        return turn_fail(t, STR("limit_depth"), ERR_CLASS_BUSINESS,
                         "starts by starts are nested deeper than %d", START_DEPTH_MAX);
    *made = make_child(t, p, input, json, key);
    *id = (*made)->id;
    return STEP_DONE;
}

enum step_result child_start(struct turn *t, const struct command *c, struct value *out)
{
    const struct process_read *process;
    struct execution *made;
    struct value waits;
    struct uuid id;
    struct str code;
    enum step_result end;

    end = procedure_answered(t, procedure_command_place(t, c), out);
    if (end == STEP_FAILED || out->kind != VALUE_ABSENT)
        return end;
    if (!command_text(t, c, FIELD_CODE, STR_NONE, &code) ||
        !command_field(t, c, FIELD_WAIT, &waits))
        return STEP_FAILED;
    if (value_is_true(waits) && (t->reminder > 0 || t->about != NULL))
        return turn_fail(t, STR("validation_procedure"), ERR_CLASS_BUSINESS,
                         "a rollback, a reconcile or a reminder cannot wait for '%.*s' to end",
                         STR_ARG(code));
    end = child_seek(t, code, STR_NONE, &process);
    if (end != STEP_DONE)
        return end;
    if (process->program == NULL)
        return turn_fail(t, STR("not_found_process"), ERR_CLASS_BUSINESS,
                         "there is no published process '%.*s'", STR_ARG(code));
    end = choose(t, c, process->program, &made, &id);
    if (end != STEP_DONE)
        return end;
    if (value_is_true(waits)) {
        end = wait_for(t, c, code, uuid_text(t->mem, id), made == NULL);
        if (end == STEP_WAITS && made != NULL) {
            *VEC_ADD(t->mem, &t->out->starts) = made;
            *VEC_ADD(t->mem, &t->awaited_starts) = id;
        } else if (end == STEP_WAITS) {
            notify_joiner(t, id);
        }
        return end;
    }
    if (made != NULL)
        *VEC_ADD(t->mem, &t->starts) = made;
    else
        *VEC_ADD(t->mem, &t->joined) = id;
    *out = value_map_of(t->mem, VALUE_ENTRIES({value_key(STR("executionId")),
                                               value_string(uuid_text(t->mem, id))}));
    return STEP_DONE;
}

void child_begin_staged(struct turn *t)
{
    for (size_t i = 0; i < t->starts.count; i++)
        *VEC_ADD(t->mem, &t->out->starts) = t->starts.items[i];
    for (size_t i = 0; i < t->joined.count; i++)
        *VEC_ADD(t->mem, &t->named) = t->joined.items[i];
    t->starts.count = t->joined.count = 0;
}

/* --- its end --- */

/* {output} or {error}, as an answer to the step that waits for it. */
static struct str describe_end(struct turn *t)
{
    const struct execution *x = t->x;
    struct buf end;

    buf_init_arena(&end, t->mem);
    if (x->status == STATUS_COMPLETED)
        field_json(&end, "output", x->result_json.len > 0 ? x->result_json : STR("null"));
    else
        field_json(&end, "error", x->error_json.len > 0 ? x->error_json : STR("null"));
    field_text(&end, "status", str_of(status_name(x->status)));
    return field_end(&end);
}

static struct str child_key_of(struct arena *mem, struct uuid id)
{
    return str_printf(mem, CHILD_KEY "%s", UUID_STR(id).ptr);
}

void child_notify_end(struct turn *t)
{
    *VEC_ADD(t->mem, &t->out->notices) = (struct notice){
        .execution = t->x->parent_id,
        .kind = NOTICE_CHILD,
        .key = child_key_of(t->mem, t->x->id),
        .payload_json = describe_end(t),
    };
}

bool engine_notice_join(struct arena *mem, const struct execution *exec,
                        const struct notice_row *notice, struct notice *out)
{
    struct uuid joiner;

    if (notice->kind != NOTICE_JOIN || !str_starts_with(notice->key, STR(JOINER_KEY)) ||
        !uuid_read(str_slice(notice->key, sizeof(JOINER_KEY) - 1, notice->key.len), &joiner))
        return false;
    /* There may be many of them, and an end may be large: they look it up. */
    *out = (struct notice){
        .execution = joiner, .kind = NOTICE_CHILD, .key = child_key_of(mem, exec->id)};
    return true;
}

bool engine_notice_child(struct arena *mem, const struct notice_row *notice, struct child_read *out)
{
    struct value how = value_absent(), status;
    struct err err;

    *out = (struct child_read){.is_found = true, .is_unseen = true};
    if (notice->kind != NOTICE_CHILD || !str_starts_with(notice->key, STR(CHILD_KEY)) ||
        !uuid_read(str_slice(notice->key, sizeof(CHILD_KEY) - 1, notice->key.len), &out->id))
        return false;
    if (notice->payload_json.len == 0 || !json_read(mem, notice->payload_json, &how, &err) ||
        how.kind != VALUE_MAP)
        return true;
    out->result = value_map_get_str(how, STR("output"));
    out->error = value_map_get_str(how, STR("error"));
    status = value_map_get_str(how, STR("status"));
    /* A version before this has said only how it ended. */
    if (status.kind != VALUE_STRING || !status_read(value_text(status), &out->status))
        out->status = out->result.kind != VALUE_ABSENT ? STATUS_COMPLETED : STATUS_FAILED;
    out->is_unseen = false;
    return true;
}

/* --- cancelling it: stopped.c --- */

bool engine_notice_cancel(struct arena *mem, const struct notice_row *notice, struct event *out)
{
    struct value how, rollback, reason;
    struct err err;

    if (notice->kind != NOTICE_CANCEL || !str_starts_with(notice->key, STR(CHILD_PARENT_KEY)) ||
        !uuid_read(str_slice(notice->key, sizeof(CHILD_PARENT_KEY) - 1, notice->key.len),
                   &out->parent) ||
        !json_read(mem, notice->payload_json, &how, &err) || how.kind != VALUE_MAP)
        return false;
    rollback = value_map_get_str(how, STR("rollback"));
    reason = value_map_get_str(how, STR("reason"));
    out->kind = EVENT_CANCEL;
    out->is_by_parent = true;
    out->cancel_rollback = child_read_rollback(value_text_or(rollback, STR_NONE));
    out->reason = value_text_or(reason, STR_NONE);
    return true;
}

/* --- waiting for it --- */

static const struct child_read *find_read(const struct child_reads *reads, struct uuid id)
{
    const struct child_read *found = NULL;

    /* One that has said how it ended may have said that it ended before. */
    for (size_t i = 0; i < reads->count && (found == NULL || found->is_unseen); i++)
        if (uuid_cmp(reads->items[i].id, id) == 0)
            found = &reads->items[i];
    return found;
}

const struct child_read *child_told(const struct turn *t, struct uuid id)
{
    return t->ev->children != NULL ? find_read(t->ev->children, id) : NULL;
}

const struct child_read *child_was_read(const struct turn *t, struct uuid id)
{
    return find_read(&event_reads(t->ev)->children, id);
}

bool child_has_news(const struct turn *t, const struct cursor *cursor)
{
    struct uuid id;

    return cursor->phase == PHASE_JOB && child_awaited(cursor, &id) && child_told(t, id) != NULL;
}

void child_hear(struct turn *t)
{
    struct uuid id;

    if (child_awaited(&t->x->cursor, &id))
        *VEC_ADD(t->mem, &t->heard) = id;
}

/* How the child stands, as it has said or as was read; or NULL. */
static const struct child_read *child_stands(const struct turn *t, struct uuid id)
{
    const struct child_read *told = child_told(t, id);

    return told != NULL && !told->is_unseen ? told : child_was_read(t, id);
}

bool child_asks_to_read(struct turn *t)
{
    const struct cursor *cursor = &t->x->cursor;
    struct uuid id;

    if (cursor->phase != PHASE_JOB || !child_awaited(cursor, &id) || child_stands(t, id) != NULL ||
        (child_told(t, id) == NULL && cursor->wake_at_us > t->wall_us))
        return false;
    *VEC_ADD(t->mem, &t->out->needs_children) = id;
    return true;
}

/* It is parked, and rolling back has waited for it for as long as it does. */
static bool has_waited_long(const struct turn *t, const struct child_read *child)
{
    return t->x->rollback != NULL && child->is_parked && stopped_is_old(t, child->id);
}

enum step_result child_look(struct turn *t, struct value *output, struct value *error)
{
    struct cursor *cursor = &t->x->cursor;
    const struct child_read *child;
    struct uuid id;

    *output = *error = value_absent();
    if (!child_awaited(cursor, &id)) {
        turn_damaged(t, "the execution that a step waits for has no id");
        return STEP_WAITS;
    }
    if (child_asks_to_read(t))
        return STEP_NEEDS;
    child = child_stands(t, id);
    if (child == NULL)
        return STEP_SKIPPED;
    if (!child->is_found || status_is_terminal(child->status)) {
        if (child->is_found && child->status == STATUS_COMPLETED)
            *output = child->result;
        else
            *error = child->error;
        return STEP_DONE;
    }
    /* It was joined, and the state did not say so: rolling back has nothing to wait for. */
    if (t->before->rollback != NULL && child->is_others) {
        (void)turn_fail(t, STR("stopped"), ERR_CLASS_BUSINESS, STRAND_STOPPED);
        t->failure.is_own = true; /* it says nothing of earlier attempts */
        return STEP_FAILED;
    }
    if (has_waited_long(t, child))
        return turn_fail(t, STR("timeout_compensation"), ERR_CLASS_BUSINESS,
                         "the execution that was started has not been undone in time");
    if (cursor->timeout_at_us > 0 && cursor->timeout_at_us <= t->wall_us)
        return turn_fail(t, STR("timeout_step"), ERR_CLASS_TRANSIENT,
                         "the execution that was started did not end in time");
    if (cursor->wake_at_us > t->wall_us)
        return STEP_SKIPPED;
    (void)step_row(t, HISTORY_EVENT, STR("child"));
    /* It has joined when nobody told joiners, and looked itself. */
    if (cursor->remind_every_us > 0)
        notify_joiner(t, id);
    cursor->remind_every_us = 0;
    look_after(t, LOOK_EVERY_US);
    return STEP_WAITS;
}

void child_await_undone(struct cursor *cursor)
{
    cursor->timeout_at_us = 0;
    if (!cursor->is_started)
        cursor->wake_at_us = WAKE_AT_ONCE;
}

void child_look_at_all(struct turn *t)
{
    for (uint32_t i = 0; i <= t->x->other_count; i++) {
        struct cursor *cursor = &t->x->cursor;

        strand_take(t, i);
        if (cursor->phase == PHASE_JOB && child_is_awaited(cursor))
            cursor->wake_at_us = WAKE_AT_ONCE;
    }
    stopped_look_at_all(t);
}
