/*
 * suspend.c - what a step has done when it stops for a worker; see procedure.h.
 *
 * When a command asks a worker, what the commands before it have answered,
 * chosen and staged is frozen into the cursor. It is thawed when the step goes
 * on, or tries again: then the procedure runs from its first command on again,
 * but what was frozen is taken as it was and not evaluated. Until something
 * has left, a new attempt starts from nothing, because nothing of the old one
 * is left.
 *
 *     cursor.frozen = {asks: "2.1",                       whose answer is awaited
 *                      results: {"1": ..., "2?": 0},      of commands; see below
 *                      warnings, assigned, records, logs, messages, what is staged
 *                      looked: [["order", "7"]],          records that were read
 *                      spent: [visit, attempt, cost]}     on expressions: see ATTEMPT_COST_MAX
 * */
#include "engine/command/command.h"
#include "engine/command/ledger.h"
#include "engine/command/procedure.h"
#include "value/json.h"
#include "value/object.h"

/* --- freezing --- */

static void write_records(struct buf *out, const struct record_writes *writes)
{
    object_list(out, "records");
    for (size_t i = 0; i < writes->count; i++) {
        const struct record_write *w = &writes->items[i];

        object_item(out);
        field_text(out, "object", w->object);
        field_text(out, "id", w->id);
        object_int(out, "read", w->read_version);
        object_int(out, "version", w->version);
        if (!w->is_delete)
            object_json(out, "data", w->data_json);
        if (w->may_rebase)
            object_bool(out, "rebase", true);
        if (w->merged_json.len > 0)
            object_json(out, "merged", w->merged_json);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

/* What its commands have read: [[object, id], ...] */
static void write_looked(struct buf *out, const struct record_queries *looked)
{
    object_list(out, "looked");
    for (size_t i = 0; i < looked->count; i++) {
        object_next(out);
        buf_char(out, '[');
        json_write_string(out, looked->items[i].object);
        buf_char(out, ',');
        json_write_string(out, looked->items[i].id);
        buf_char(out, ']');
    }
    buf_char(out, ']');
}

static void write_logs(struct buf *out, const struct log_lines *logs)
{
    object_list(out, "logs");
    for (size_t i = 0; i < logs->count; i++) {
        const struct log_line *l = &logs->items[i];

        object_item(out);
        field_text(out, "level", l->level);
        field_text(out, "message", l->message);
        if (l->data_json.len > 0)
            object_json(out, "data", l->data_json);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

static void write_messages(struct buf *out, const struct messages *messages)
{
    object_list(out, "messages");
    for (size_t i = 0; i < messages->count; i++) {
        const struct message *m = &messages->items[i];

        object_item(out);
        object_id(out, "id", m->id);
        field_text(out, "kind", str_of(message_kind_name(m->kind)));
        field_text(out, "name", m->name);
        field_text(out, "step", m->step);
        object_json(out, "body", m->body_json);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

bool suspend_fits(const struct turn *t)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < execution_askers(t->x); i++) {
        const struct cursor *cursor = execution_asker(t->x, i);

        bytes += cursor->input_json.len + cursor->suspended_json.len;
    }
    return bytes <= (size_t)STRANDS_BYTES_MAX;
}

/* What the attempt has spent on expressions, [visit, attempt, cost], once that matters. */
static void write_spent(const struct turn *t, struct buf *out)
{
    int64_t spent = ATTEMPT_COST_MAX - (t->activation.cost_end - t->spent.cost);

    if (spent < ATTEMPT_COST_MAX / 1000)
        return;
    object_name(out, "spent");
    buf_printf(out, "[%lld,%lld,%lld]", (long long)t->x->cursor.visit,
               (long long)t->x->cursor.attempt, (long long)spent);
}

bool suspend_step(struct turn *t, struct str asks)
{
    struct str assigned, warnings;
    struct buf out;

    object_begin(&out, t->mem);
    field_text(&out, "asks", asks);
    ledger_write(t, &out);
    if (t->assigned.len > 0) {
        if (!turn_json(t, t->assigned, &assigned))
            return false;
        object_json(&out, "assigned", assigned);
    }
    if (t->run.warnings.kind == VALUE_LIST) {
        if (!turn_json(t, t->run.warnings, &warnings))
            return false;
        object_json(&out, "warnings", warnings);
    }
    if (t->records.count > 0)
        write_records(&out, &t->records);
    if (t->looked.count > 0)
        write_looked(&out, &t->looked);
    if (t->logs.count > 0)
        write_logs(&out, &t->logs);
    if (t->messages.count > 0)
        write_messages(&out, &t->messages);
    write_spent(t, &out);
    t->x->cursor.suspended_json = object_end(&out);
    if (t->x->cursor.suspended_json.len > CONTEXT_BYTES_MAX || !suspend_fits(t))
        return turn_fail_size(t) == STEP_DONE;
    /* Executions that were started begin now: their ids are known from here on. */
    child_begin_staged(t);
    return true;
}

/* --- thawing --- */

static struct str json_of(struct turn *t, struct value v)
{
    struct str json = STR_NONE;

    if (v.kind != VALUE_ABSENT && !turn_json(t, v, &json))
        PANIC("what was read from JSON has no JSON form");
    return json;
}

/* Each write is held against the record as it is now. STEP_DONE, STEP_NEEDS or STEP_FAILED. */
static enum step_result resume_records(struct turn *t, struct value records)
{
    enum step_result all = STEP_DONE;

    for (uint32_t i = 0; records.kind == VALUE_LIST && i < records.len; i++) {
        struct value r = records.items[i];
        struct value data = value_map_get_str(r, STR("data"));
        enum step_result end = record_resume(
            t,
            (struct record_write){.object = value_map_text(r, STR("object")),
                                  .id = value_map_text(r, STR("id")),
                                  .read_version = value_map_get_str(r, STR("read")).i,
                                  .version = value_map_get_str(r, STR("version")).i,
                                  .is_delete = data.kind == VALUE_ABSENT,
                                  .data_json = json_of(t, data),
                                  .may_rebase = value_is_true(value_map_get_str(r, STR("rebase"))),
                                  .merged_json = json_of(t, value_map_get_str(r, STR("merged")))});

        if (end == STEP_FAILED)
            return end;
        if (end == STEP_NEEDS)
            all = end; /* those behind it are asked for with it */
    }
    return all;
}

static void resume_messages(struct turn *t, struct value messages)
{
    for (uint32_t i = 0; messages.kind == VALUE_LIST && i < messages.len; i++) {
        struct value v = messages.items[i];
        struct message *m = VEC_ADD(t->mem, &t->messages);

        *m = (struct message){.name = value_map_text(v, STR("name")),
                              .step = value_map_text(v, STR("step")),
                              .body_json = json_of(t, value_map_get_str(v, STR("body")))};
        if (!uuid_read(value_map_text(v, STR("id")), &m->id) ||
            !message_kind_read(value_map_text(v, STR("kind")), &m->kind))
            PANIC("a staged message does not read back");
    }
}

static void resume_rest(struct turn *t, struct value frozen)
{
    struct value looked = value_map_get_str(frozen, STR("looked"));
    struct value logs = value_map_get_str(frozen, STR("logs"));

    resume_messages(t, value_map_get_str(frozen, STR("messages")));
    for (uint32_t i = 0; looked.kind == VALUE_LIST && i < looked.len; i++)
        *VEC_ADD(t->mem, &t->looked) =
            (struct record_query){.object = value_text(looked.items[i].items[0]),
                                  .id = value_text(looked.items[i].items[1])};
    for (uint32_t i = 0; logs.kind == VALUE_LIST && i < logs.len; i++)
        *VEC_ADD(t->mem, &t->logs) = (struct log_line){
            .level = value_map_text(logs.items[i], STR("level")),
            .message = value_map_text(logs.items[i], STR("message")),
            .data_json = json_of(t, value_map_get_str(logs.items[i], STR("data")))};
}

static void recall(struct turn *t, const struct procedure *p, struct value frozen)
{
    struct value assigned = value_map_get_str(frozen, STR("assigned"));

    ledger_recall(t, p, value_map_get_str(frozen, STR("results")));
    t->run.warnings = value_map_get_str(frozen, STR("warnings"));
    if (assigned.kind == VALUE_MAP) {
        t->assigned = assigned;
        t->variables = state_merge(t->mem, t->variables, assigned);
    }
}

void suspend_recall(struct turn *t, const struct procedure *p)
{
    recall(t, p, turn_read(t, t->x->cursor.suspended_json, value_null()));
}

/* The attempt goes on: it has so much less. Another attempt has all of it. */
static void resume_spent(struct turn *t, struct value spent)
{
    if (spent.kind == VALUE_LIST && spent.len == 3 && spent.items[0].kind == VALUE_INT &&
        spent.items[0].i == t->x->cursor.visit && spent.items[1].kind == VALUE_INT &&
        spent.items[1].i == t->x->cursor.attempt && spent.items[2].kind == VALUE_INT &&
        spent.items[2].i > 0 && spent.items[2].i <= ATTEMPT_COST_MAX)
        t->activation.cost_end = t->spent.cost + ATTEMPT_COST_MAX - spent.items[2].i;
}

enum step_result suspend_resume(struct turn *t, const struct procedure *p)
{
    struct value frozen = turn_read(t, t->x->cursor.suspended_json, value_null());

    recall(t, p, frozen);
    resume_spent(t, value_map_member(frozen, STR("spent")));
    resume_rest(t, frozen);
    return resume_records(t, value_map_get_str(frozen, STR("records")));
}

struct value suspend_asked(struct turn *t)
{
    struct value frozen = turn_read(t, t->x->cursor.suspended_json, value_null());
    struct str asks = value_map_text(frozen, STR("asks"));

    return value_map_get_str(value_map_get_str(frozen, STR("results")),
                             STR_JOIN(t->mem, asks, STR("<")));
}

void suspend_refuse(struct turn *t)
{
    t->refused_at =
        value_map_text(turn_read(t, t->x->cursor.suspended_json, value_null()), STR("asks"));
    t->refusal = t->failure;
    t->failure = (struct failure){0};
}

bool suspend_answer(struct turn *t, struct value output)
{
    struct value frozen = turn_read(t, t->x->cursor.suspended_json, value_null());
    struct str asks = value_map_text(frozen, STR("asks"));
    struct value results = value_map_get_str(frozen, STR("results"));

    if (!turn_make_plain(t, &output))
        return false;
    /* An answer lives as long as its request; what is remembered becomes part of the state. */
    output = value_copy(t->mem, output);
    results = state_with(t->mem, results, STR_JOIN(t->mem, asks, STR("!")), output);
    frozen = state_with(t->mem, frozen, STR("results"), results);
    if (!turn_json(t, frozen, &t->x->cursor.suspended_json))
        return false;
    turn_has_read(t, t->x->cursor.suspended_json, frozen);
    return true;
}
