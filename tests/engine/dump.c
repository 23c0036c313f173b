/* dump.c - see dump.h. */
#include "engine/dump.h"

#include "base/buf.h"
#include "value/json.h"
#include "value/number.h"

/* --- as text --- */

static void put_number(struct buf *out, int64_t n)
{
    char text[NUMBER_TEXT_MAX];

    buf_add(out, text, number_write_int(text, n));
    buf_char(out, ' ');
}

static void put_text(struct buf *out, struct str s)
{
    buf_str(out, s);
    buf_char(out, '\n');
}

static void number(struct buf *out, const char *name, int64_t n)
{
    buf_text(out, name);
    buf_char(out, ' ');
    put_number(out, n);
    buf_char(out, '\n');
}

static void text(struct buf *out, const char *name, struct str s)
{
    buf_text(out, name);
    buf_char(out, ' ');
    put_text(out, s);
}

/* Values by kind, which their JSON does not tell: a timestamp is no string. */
static void put_value(struct buf *out, struct value v)
{
    struct err err;

    buf_char(out, (char)('A' + v.kind));
    switch ((enum value_kind)v.kind) {
    case VALUE_LIST:
        for (uint32_t i = 0; i < v.len; i++)
            put_value(out, v.items[i]);
        break;
    case VALUE_MAP:
        for (uint32_t i = 0; i < v.len; i++) {
            put_value(out, v.map->entries[i].key);
            put_value(out, v.map->entries[i].value);
        }
        break;
    case VALUE_STRING:
        buf_str(out, value_text(v));
        break;
    case VALUE_ABSENT:
        break;
    case VALUE_NULL:
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_UINT:
    case VALUE_DOUBLE:
    case VALUE_BYTES:
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
    case VALUE_IP:
    case VALUE_CIDR:
    case VALUE_TYPE:
    case VALUE_OPTIONAL:
    case VALUE_ERROR:
    case VALUE_KIND_COUNT:
        if (!json_write(out, v, &err))
            buf_text(out, err.message);
        break;
    }
    buf_char(out, ';');
}

static void value(struct buf *out, const char *name, struct value v)
{
    buf_text(out, name);
    buf_char(out, ' ');
    put_value(out, v);
    buf_char(out, '\n');
}

/* --- going over two states at once --- */

/*
 * One walk serves for both: it compares `a` with `b`, or writes down `a`. What
 * it goes over is all that a later advance depends on, and all that is stored.
 */
struct walk {
    struct buf *out; /* where `a` is written to; NULL: compare */
    bool is_same;
};

static inline void on_number(struct walk *w, const char *name, int64_t a, int64_t b)
{
    w->is_same &= a == b;
    if (UNLIKELY(w->out != NULL))
        number(w->out, name, a);
}

static inline void on_text(struct walk *w, const char *name, struct str a, struct str b)
{
    w->is_same &= str_eq(a, b);
    if (UNLIKELY(w->out != NULL))
        text(w->out, name, a);
}

/* By kind, which equality does not tell: 1 and 1.0 are equal and not the same. */
static bool same_value(struct value a, struct value b)
{
    bool is_same = a.kind == b.kind && a.len == b.len;

    switch ((enum value_kind)a.kind) {
    case VALUE_LIST:
        for (uint32_t i = 0; is_same && i < a.len; i++)
            is_same = same_value(a.items[i], b.items[i]);
        return is_same;
    case VALUE_MAP:
        for (uint32_t i = 0; is_same && i < a.len; i++)
            is_same = same_value(a.map->entries[i].key, b.map->entries[i].key) &&
                      same_value(a.map->entries[i].value, b.map->entries[i].value);
        return is_same;
    case VALUE_STRING:
    case VALUE_BYTES:
        return is_same && str_eq(value_text(a), value_text(b));
    case VALUE_ABSENT:
    case VALUE_NULL:
        return is_same;
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_UINT:
    case VALUE_DOUBLE: /* by its bits: 0 is not -0 */
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
        return is_same && a.u == b.u;
    case VALUE_IP:
    case VALUE_CIDR:
    case VALUE_TYPE:
    case VALUE_OPTIONAL:
    case VALUE_ERROR:
    case VALUE_KIND_COUNT:
        break;
    }
    return false; /* no state holds one of these */
}

static inline void on_value(struct walk *w, const char *name, struct value a, struct value b)
{
    w->is_same &= same_value(a, b);
    if (UNLIKELY(w->out != NULL))
        value(w->out, name, a);
}

/* A field of both. */
#define NUMBER(field) on_number(w, #field, (int64_t)a->field, (int64_t)b->field)
#define TEXT(field) on_text(w, #field, a->field, b->field)
#define VALUE(field) on_value(w, #field, a->field, b->field)

static void columns(struct walk *w, const struct execution *a, const struct execution *b)
{
    NUMBER(row_version);
    NUMBER(seq);
    NUMBER(checkpoint_seq);
    NUMBER(log_bytes);
    NUMBER(created_at_us);
    NUMBER(started_at_us);
    NUMBER(completed_at_us);
    NUMBER(updated_at_us);
    NUMBER(deadline_at_us);
    NUMBER(wake_at_us);
    NUMBER(stop_requested);
    NUMBER(crash_count);
    NUMBER(context_bytes);
    NUMBER(status);
    TEXT(key);
    TEXT(org_id);
    TEXT(user_json);
    TEXT(input_json);
    TEXT(error_json);
    TEXT(result_json);
    NUMBER(waiting_kind);
    TEXT(waiting_for_json);
}

static void reconciling(struct walk *w, const struct reconciling *a, const struct reconciling *b)
{
    NUMBER(since_us);
    NUMBER(asked_at_us);
    NUMBER(before);
    NUMBER(retry_at_us);
    TEXT(error_json);
    TEXT(input_json);
    TEXT(suspended_json);
    TEXT(letter);
}

static void cursor(struct walk *w, const struct cursor *a, const struct cursor *b)
{
    NUMBER(step);
    NUMBER(phase);
    NUMBER(visit);
    NUMBER(attempt);
    NUMBER(started_at_us);
    NUMBER(wake_at_us);
    NUMBER(stood_us);
    TEXT(input_json);
    TEXT(types_json);
    TEXT(correlation);
    TEXT(assignees_json);
    TEXT(title);
    NUMBER(timeout_at_us);
    NUMBER(remind_at_us);
    NUMBER(remind_every_us);
    NUMBER(reminders);
    NUMBER(unmatched);
    TEXT(suspended_json);
    TEXT(awaited);
    NUMBER(is_joined);
    TEXT(child_code);
    NUMBER(is_started);
    TEXT(failed_at);
    TEXT(past);
    NUMBER(tries);
    NUMBER(seq);
    NUMBER(is_unsure);
    NUMBER(asked);
    NUMBER(deferred_seq);
    TEXT(deferred_answer_json);
    on_number(w, "asking", a->reconciling != NULL, b->reconciling != NULL);
    if (a->reconciling != NULL && b->reconciling != NULL)
        reconciling(w, a->reconciling, b->reconciling);
}

static void frame(struct walk *w, const struct frame *a, const struct frame *b)
{
    NUMBER(step);
    NUMBER(block);
    NUMBER(visit);
    NUMBER(started_at_us);
    NUMBER(index);
    NUMBER(links_from);
}

static void strands(struct walk *w, const struct strand *const *as, const struct strand *const *bs,
                    uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        const struct strand *a = as[n], *b = bs[n];

        cursor(w, &a->cursor, &b->cursor);
        NUMBER(waiting_kind);
        TEXT(waiting_for_json);
        NUMBER(frame_count);
        for (uint32_t i = 0; i < a->frame_count && i < b->frame_count; i++)
            frame(w, &a->frames[i], &b->frames[i]);
    }
}

/* Where the step stood before it was undone. */
static void undone(struct walk *w, const struct cursor *a, const struct cursor *b)
{
    NUMBER(visit);
    NUMBER(attempt);
    NUMBER(started_at_us);
    NUMBER(is_unsure);
    NUMBER(asked);
    TEXT(input_json);
    TEXT(suspended_json);
}

static void past_visits(struct walk *w, const struct past_visit *a, const struct past_visit *b)
{
    for (; a != NULL && b != NULL; a = a->next, b = b->next) {
        TEXT(code);
        NUMBER(visit);
    }
    w->is_same &= a == b;
}

static void rollback(struct walk *w, const struct rollback *a, const struct rollback *b)
{
    NUMBER(end);
    NUMBER(before);
    NUMBER(row);
    NUMBER(commands_left);
    NUMBER(has_failed);
    TEXT(under);
    NUMBER(is_unreadable);
    NUMBER(deadline_at_us);
    on_number(w, "from", a->from != NULL, b->from != NULL);
    if (a->from != NULL && b->from != NULL)
        undone(w, a->from, b->from);
    NUMBER(is_known);
    NUMBER(keeps_done);
    NUMBER(is_retry);
    NUMBER(tried_before);
    past_visits(w, a->again, b->again);
    NUMBER(strand_index);
    NUMBER(other_count);
    if (a->other_count == b->other_count)
        strands(w, a->others, b->others, a->other_count);
}

static void pause_of(struct walk *w, const struct pause *a, const struct pause *b)
{
    NUMBER(since_us);
    TEXT(reason);
    TEXT(by_json);
}

static void debug_of(struct walk *w, const struct debug *a, const struct debug *b)
{
    NUMBER(until);
    TEXT(to);
    TEXT(breakpoints_json);
    TEXT(after);
    NUMBER(since_us);
}

static void stopped(struct walk *w, const struct stopped_child *a, const struct stopped_child *b)
{
    on_number(w, "id", 0, uuid_cmp(a->id, b->id));
    NUMBER(call_seq);
    NUMBER(call_epoch);
    TEXT(step);
    NUMBER(since_us);
    NUMBER(look_at_us);
    TEXT(loop_json);
    on_number(w, "stood", a->strand != NULL, b->strand != NULL);
    if (a->strand != NULL && b->strand != NULL)
        strands(w, &a->strand, &b->strand, 1);
}

static void stands(struct walk *w, const struct execution *a, const struct execution *b)
{
    cursor(w, &a->cursor, &b->cursor);
    NUMBER(frame_count);
    for (uint32_t i = 0; i < a->frame_count && i < b->frame_count; i++)
        frame(w, &a->frames[i], &b->frames[i]);
    NUMBER(other_count);
    NUMBER(strand_index);
    TEXT(strand_waiting_json);
    NUMBER(strand_waiting_kind);
    if (a->other_count == b->other_count)
        strands(w, a->others, b->others, a->other_count);
    NUMBER(reminding_count);
    if (a->reminding_count == b->reminding_count)
        strands(w, a->reminding, b->reminding, a->reminding_count);
    NUMBER(jumps);
    NUMBER(links_from);
    NUMBER(links_spent);
    NUMBER(reopened_at_us);
    NUMBER(has_moved);
    NUMBER(has_unrolled);
    NUMBER(depth);
    NUMBER(history_bytes);
    on_number(w, "undo", a->rollback != NULL, b->rollback != NULL);
    if (a->rollback != NULL && b->rollback != NULL)
        rollback(w, a->rollback, b->rollback);
    NUMBER(stopped_count);
    for (uint32_t i = 0; i < a->stopped_count && i < b->stopped_count; i++)
        stopped(w, &a->stopped[i], &b->stopped[i]);
    on_number(w, "pause", a->pause != NULL, b->pause != NULL);
    if (a->pause != NULL && b->pause != NULL)
        pause_of(w, a->pause, b->pause);
    on_number(w, "debug", a->debug != NULL, b->debug != NULL);
    if (a->debug != NULL && b->debug != NULL)
        debug_of(w, a->debug, b->debug);
}

static void items(struct walk *w, const struct items *a, const struct items *b)
{
    struct shared_iter here = {0}, there = {0};
    const struct value *m, *n;

    NUMBER(list.count);
    NUMBER(bytes);
    while ((m = items_next(a, &here)) != NULL && (n = items_next(b, &there)) != NULL)
        on_value(w, "item", *m, *n);
}

static void loops(struct walk *w, const struct loop_data *a, const struct loop_data *b)
{
    for (; a != NULL && b != NULL; a = a->outer, b = b->outer) {
        NUMBER(step);
        VALUE(list);
        items(w, &a->collected, &b->collected);
        items(w, &a->errors, &b->errors);
        NUMBER(visit);
        NUMBER(base);
        NUMBER(started);
        NUMBER(ended);
    }
    w->is_same &= a == b;
}

static void step(struct walk *w, const struct step_state *a, const struct step_state *b)
{
    NUMBER(outcome);
    NUMBER(visit);
    VALUE(output);
    TEXT(output_json);
    VALUE(error);
    TEXT(error_json);
}

static void rounds(struct walk *w, const struct round_step *a, const struct round_step *b)
{
    for (; a != NULL && b != NULL; a = a->next, b = b->next) {
        NUMBER(round.loop);
        NUMBER(round.visit);
        NUMBER(round.index);
        NUMBER(step);
        step(w, &a->state, &b->state);
    }
    w->is_same &= a == b;
}

static void signals(struct walk *w, const struct signals *these, const struct signals *those)
{
    struct shared_iter here = {0}, there = {0};
    const struct signal *a = signals_next(these, &here), *b = signals_next(those, &there);

    for (; a != NULL && b != NULL;
         a = signals_next(these, &here), b = signals_next(those, &there)) {
        NUMBER(seq);
        NUMBER(is_taken);
        TEXT(answers);
        NUMBER(received_at_us);
        TEXT(id);
        TEXT(type);
        TEXT(json);
        VALUE(view);
    }
    w->is_same &= a == NULL && b == NULL;
}

static void execution(struct walk *w, const struct execution *a, const struct execution *b)
{
    columns(w, a, b);
    /* Where it stands means nothing any more at an end that nothing follows. */
    if (!status_is_terminal(a->status) || a->status == STATUS_FAILED)
        stands(w, a, b);
    loops(w, a->loops, b->loops);
    rounds(w, a->rounds, b->rounds);
    items(w, &a->secrets, &b->secrets);
    items(w, &a->compensated, &b->compensated);
    items(w, &a->failed, &b->failed);
    items(w, &a->given_up, &b->given_up);
    past_visits(w, a->past_visits, b->past_visits);
    items(w, &a->past_steps, &b->past_steps);
    NUMBER(last_done);
    NUMBER(has_new_input);
    VALUE(input);
    VALUE(variables);
    TEXT(variables_json);
    NUMBER(program->step_count);
    for (uint32_t i = 0; w->is_same && i < a->program->step_count; i++) {
        step(w, &a->steps[i], &b->steps[i]);
        on_number(w, "visits", state_visits(a, i), state_visits(b, i));
    }
    signals(w, &a->signals, &b->signals);
}

bool dump_is_same(const struct execution *a, const struct execution *b)
{
    struct walk w = {.is_same = true};

    execution(&w, a, b);
    return w.is_same;
}

struct str dump_execution(struct arena *mem, const struct execution *x)
{
    struct buf out;
    struct walk w = {.out = &out, .is_same = true};

    buf_init_arena(&out, mem);
    execution(&w, x, x);
    text(&out, "context", state_context_json(mem, x));
    return buf_view(&out);
}

/* --- commits --- */

static void rows(struct buf *out, const struct history *history)
{
    for (size_t i = 0; i < history->count; i++) {
        const struct history_row *r = &history->items[i];
        number(out, "row", r->seq);
        text(out, history_kind_name(r->kind), r->step);
        put_text(out, r->status);
        put_text(out, r->key);
        put_number(out, r->visit);
        put_number(out, r->attempt);
        put_number(out, r->started_at_us);
        put_number(out, r->completed_at_us);
        put_text(out, r->input_json);
        put_text(out, r->output_json);
        put_text(out, r->error_json);
        put_text(out, r->delta_json);
    }
}

static void waits(struct buf *out, const char *name, const struct listed_waits *waits)
{
    for (size_t i = 0; i < waits->count; i++) {
        const struct listed_wait *w = &waits->items[i];

        buf_printf(out, "%s %.*s %lld %.*s %.*s %lld %.*s %.*s\n", name, STR_ARG(w->step),
                   (long long)w->visit, STR_ARG(w->correlation), STR_ARG(w->types_json),
                   (long long)w->buffered_up_to, STR_ARG(w->assignees_json), STR_ARG(w->title));
    }
}

struct str dump_commit(struct arena *mem, const struct commit *c)
{
    struct buf out;

    buf_init_arena(&out, mem);
    number(&out, "result", c->result);
    for (size_t i = 0; i < c->needs.count; i++)
        buf_printf(&out, "need %.*s/%.*s\n", STR_ARG(c->needs.items[i].object),
                   STR_ARG(c->needs.items[i].id));
    for (size_t i = 0; i < c->needs_processes.count; i++)
        buf_printf(&out, "need %.*s %.*s\n", STR_ARG(c->needs_processes.items[i].code),
                   STR_ARG(c->needs_processes.items[i].key));
    for (size_t i = 0; i < c->needs_formers.count; i++)
        text(&out, "needs former", c->needs_formers.items[i]);
    for (size_t i = 0; i < c->needs_buffered.count; i++)
        text(&out, "needs kept", c->needs_buffered.items[i]);
    number(&out, "needs child", (int64_t)c->needs_children.count);
    number(&out, "needs leases", c->needs_leases);
    number(&out, "needs history", c->needs_history.is_needed ? c->needs_history.after : -1);
    if (c->result == ADVANCE_NEED)
        return buf_view(&out);
    number(&out, "is_start", c->is_start);
    number(&out, "read_version", c->read_version);
    text(&out, "context", c->writes_context ? c->context_json : STR_NONE);
    text(&out, "cursor", c->cursor_json);
    text(&out, "signal", c->received != NULL ? c->received->json : STR_NONE);
    waits(&out, "opens", &c->opened);
    waits(&out, "closes", &c->closed);
    for (size_t i = 0; i < c->buffered_taken.count; i++)
        buf_printf(&out, "takes %lld %.*s\n", (long long)c->buffered_taken.items[i].row,
                   STR_ARG(c->buffered_taken.items[i].signal->json));
    rows(&out, &c->history);
    for (size_t i = 0; i < c->records.count; i++) {
        const struct record_write *w = &c->records.items[i];
        buf_printf(&out, "record %.*s/%.*s %lld->%lld %d %.*s\n", STR_ARG(w->object),
                   STR_ARG(w->id), (long long)w->read_version, (long long)w->version, w->is_delete,
                   STR_ARG(w->data_json));
    }
    for (size_t i = 0; i < c->starts.count; i++)
        buf_str(&out, dump_execution(mem, c->starts.items[i]));
    buf_printf(&out, "incident %s\n", letter_status_name(c->incident.status));
    for (size_t i = 0; i < c->dead_letters.count; i++)
        buf_printf(&out, "dead letter %.*s %.*s %.*s\n", STR_ARG(c->dead_letters.items[i].kind),
                   STR_ARG(c->dead_letters.items[i].step),
                   STR_ARG(c->dead_letters.items[i].cause_json));
    for (size_t i = 0; i < c->logs.count; i++)
        buf_printf(&out, "log %.*s %.*s %.*s\n", STR_ARG(c->logs.items[i].level),
                   STR_ARG(c->logs.items[i].message), STR_ARG(c->logs.items[i].data_json));
    buf_str(&out, dump_execution(mem, c->after));
    return buf_view(&out);
}

/* What a column has become; it is written only where that is something else. */
static struct str column(struct arena *mem, struct str before, struct str now)
{
    return str_eq(before, now) ? before : str_copy(mem, now);
}

void dump_store(struct arena *mem, const struct commit *c, struct stored_execution *stored)
{
    const struct execution *x = c->after;
    struct stored_execution before = *stored;

    *stored = (struct stored_execution){
        .row = 1,
        .id = x->id,
        .kind = str_of(kind_spec(x->program->kind)->name),
        .code = column(mem, before.code, x->program->code),
        .version = x->program->version,
        .status = x->status,
        .key = column(mem, before.key, x->key),
        .org_id = column(mem, before.org_id, x->org_id),
        .user_json = column(mem, before.user_json, x->user_json),
        .input_json = column(mem, before.input_json, x->input_json),
        .context_json = before.context_json,
        .cursor_json = column(mem, before.cursor_json, c->cursor_json),
        .error_json = column(mem, before.error_json, x->error_json),
        .result_json = column(mem, before.result_json, x->result_json),
        .waiting_kind = x->waiting_kind,
        .waiting_for_json = column(mem, before.waiting_for_json, x->waiting_for_json),
        .current_step = column(mem, before.current_step, execution_current_step(x)),
        .is_debugged = x->debug != NULL || before.is_debugged,
        .is_rolled_back = execution_is_rolled_back(x),
        .row_version = x->row_version,
        .seq = x->seq,
        .checkpoint_seq = before.checkpoint_seq,
        .wake_at_us = x->wake_at_us,
        .deadline_at_us = x->deadline_at_us,
        .created_at_us = x->created_at_us,
        .started_at_us = x->started_at_us,
        .completed_at_us = x->completed_at_us,
        .updated_at_us = x->updated_at_us,
        .stop_requested = x->stop_requested,
        .crash_count = x->crash_count,
        .format = EXECUTION_FORMAT,
        .history = before.history,
    };
    if (c->writes_context) {
        stored->context_json = str_copy(mem, c->context_json);
        stored->checkpoint_seq = x->checkpoint_seq;
    }
}
