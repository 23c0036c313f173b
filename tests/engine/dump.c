/* dump.c - see dump.h. */
#include "engine/dump.h"

#include "base/buf.h"
#include "value/json.h"
#include "value/number.h"

/* Written without printf: the simulator compares a great many of these. */

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

static void cursor(struct buf *out, const struct cursor *c)
{
    number(out, "cursor", c->step);
    put_number(out, c->phase);
    put_number(out, c->visit);
    put_number(out, c->attempt);
    put_number(out, c->started_at_us);
    put_number(out, c->wake_at_us);
    put_text(out, c->input_json);
    put_text(out, c->types_json);
    put_number(out, c->timeout_at_us);
    put_number(out, c->remind_at_us);
    put_number(out, c->remind_every_us);
    put_number(out, c->reminders);
    put_number(out, c->unmatched);
    put_text(out, c->frozen_json);
    put_text(out, c->awaited);
    put_text(out, c->failed_at);
    put_number(out, c->tries);
    put_number(out, c->seq);
}

static void frames(struct buf *out, const struct frame *f, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        number(out, "in", f[i].step);
        put_number(out, f[i].block);
        put_number(out, f[i].visit);
        put_number(out, f[i].started_at_us);
        put_number(out, f[i].index);
    }
}

static void stands(struct buf *out, const struct execution *x)
{
    frames(out, x->frames, x->frame_count);
    for (uint32_t i = 0; i < x->other_count; i++) {
        cursor(out, &x->others[i].cursor);
        frames(out, x->others[i].frames, x->others[i].frame_count);
        text(out, "why", x->others[i].waiting_for_json);
    }
    if (x->other_count > 0) {
        number(out, "place", x->place);
        text(out, "why", x->strand_waiting_json);
    }
    number(out, "jumps", x->jumps);
    if (x->undo != NULL) {
        text(out, "undo", str_of(status_name(x->undo->end)));
        put_number(out, x->undo->before);
        put_number(out, x->undo->row);
        put_number(out, x->undo->commands_left);
        put_number(out, x->undo->has_failed);
        put_number(out, x->undo->deadline_at_us);
    }
}

static void loops(struct arena *mem, struct buf *out, const struct execution *x)
{
    for (const struct loop_data *l = x->loops; l != NULL; l = l->outer) {
        number(out, "loop", l->step);
        put_number(out, (int64_t)l->collected.bytes);
        put_number(out, (int64_t)l->errors.bytes);
        value(out, "list", l->list);
        value(out, "collected", items_value(mem, &l->collected));
        value(out, "errors", items_value(mem, &l->errors));
        put_number(out, l->base);
        put_number(out, l->started);
        put_number(out, l->ended);
    }
    for (const struct round_step *r = x->rounds; r != NULL; r = r->next) {
        number(out, "round", r->round.loop);
        put_number(out, r->round.visit);
        put_number(out, r->round.index);
        put_number(out, r->step);
        put_number(out, r->state.outcome);
        put_number(out, r->state.visit);
        value(out, "output", r->state.output);
        value(out, "error", r->state.error);
    }
}

static void columns(struct buf *out, const struct execution *x)
{
    number(out, "row_version", x->row_version);
    number(out, "seq", x->seq);
    number(out, "checkpoint_seq", x->checkpoint_seq);
    number(out, "log_bytes", x->log_bytes);
    number(out, "created_at", x->created_at_us);
    number(out, "started_at", x->started_at_us);
    number(out, "completed_at", x->completed_at_us);
    number(out, "updated_at", x->updated_at_us);
    number(out, "deadline_at", x->deadline_at_us);
    number(out, "wake_at", x->wake_at_us);
    number(out, "stop_requested", x->stop_requested);
    number(out, "crash_count", x->crash_count);
    number(out, "context_bytes", (int64_t)x->context_bytes);
    text(out, "status", str_of(status_name(x->status)));
    text(out, "key", x->key);
    text(out, "org", x->org_id);
    text(out, "user", x->user_json);
    text(out, "input", x->input_json);
    text(out, "error", x->error_json);
    text(out, "result", x->result_json);
    text(out, "waiting_for", x->waiting_for_json);
}

struct str dump_execution(struct arena *mem, const struct execution *x)
{
    struct signal_place place = {0};
    const struct signal *signal;
    struct buf out;

    buf_init_arena(&out, mem);
    columns(&out, x);
    if (!status_is_terminal(x->status) || x->status == STATUS_FAILED) {
        cursor(&out, &x->cursor);
        stands(&out, x);
    }
    loops(mem, &out, x);
    value(&out, "compensated", items_value(mem, &x->compensated));
    value(&out, "failed", items_value(mem, &x->failed));
    for (const struct past_visit *p = x->past_visits; p != NULL; p = p->next) {
        buf_printf(&out, "past %.*s ", STR_ARG(p->code));
        put_number(&out, p->visit);
    }
    number(&out, "last", x->last_done);
    text(&out, "context", state_context_json(mem, x));
    value(&out, "input value", x->input);
    value(&out, "variables", x->variables);
    for (uint32_t i = 0; i < x->program->step_count; i++) {
        const struct step_state *s = &x->steps[i];
        put_number(&out, s->outcome);
        put_number(&out, s->visit);
        put_number(&out, state_visits(x, i));
        value(&out, "output", s->output);
        value(&out, "error", s->error);
    }
    while ((signal = signals_next(&x->signals, &place)) != NULL)
        value(&out, signal->is_taken ? "taken" : "pending", signal->view);
    return buf_view(&out);
}

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
    number(&out, "needs child", (int64_t)c->needs_children.count);
    number(&out, "needs history", c->needs_history.is_needed ? c->needs_history.after : -1);
    if (c->result == ADVANCE_NEED)
        return buf_view(&out);
    number(&out, "is_start", c->is_start);
    number(&out, "read_version", c->read_version);
    text(&out, "context", c->writes_context ? c->context_json : STR_NONE);
    text(&out, "cursor", c->cursor_json);
    text(&out, "signal", c->received != NULL ? c->received->json : STR_NONE);
    rows(&out, &c->history);
    for (size_t i = 0; i < c->records.count; i++) {
        const struct record_write *w = &c->records.items[i];
        buf_printf(&out, "record %.*s/%.*s %lld->%lld %d %.*s\n", STR_ARG(w->object),
                   STR_ARG(w->id), (long long)w->read_version, (long long)w->version, w->is_delete,
                   STR_ARG(w->data_json));
    }
    for (size_t i = 0; i < c->starts.count; i++)
        buf_str(&out, dump_execution(mem, c->starts.items[i]));
    buf_printf(&out, "incident %s\n", letter_status_name(c->incident));
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

void dump_store(struct arena *mem, const struct commit *c, struct stored_execution *stored)
{
    const struct execution *x = c->after;
    struct stored_execution before = *stored;

    *stored = (struct stored_execution){
        .row = 1,
        .id = x->id,
        .code = str_copy(mem, x->program->code),
        .version = x->program->version,
        .status = x->status,
        .key = str_copy(mem, x->key),
        .org_id = str_copy(mem, x->org_id),
        .user_json = str_copy(mem, x->user_json),
        .input_json = str_copy(mem, x->input_json),
        .context_json = before.context_json,
        .cursor_json = str_copy(mem, c->cursor_json),
        .error_json = str_copy(mem, x->error_json),
        .result_json = str_copy(mem, x->result_json),
        .waiting_for_json = str_copy(mem, x->waiting_for_json),
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
