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
 *                      looked: [["order", "7"]]}          records that were read
 *
 * A result has the place of its command for a name. With a mark: "?" the body
 * that was taken, the error that was caught, or false when it was skipped; "<"
 * the input of a call; "!" what a worker has answered.
 */
#include "engine/command.h"
#include "engine/procedure.h"
#include "value/json.h"

/* --- freezing --- */

static void write_results(struct turn *t, struct buf *out)
{
    static const char *const marks[] = {
        [FINISHED_RESULT] = "", [FINISHED_CHOICE] = "?", [FINISHED_INPUT] = "<"};
    bool first = true;

    buf_char(out, '{');
    for (size_t i = 0; i < t->run.finished.count; i++) {
        const struct finished *f = &t->run.finished.items[i];
        struct str place = procedure_place(t->mem, f->path, f->command->position), json;

        if (f->result.kind == VALUE_ABSENT)
            continue;
        /* It has been part of the activation; what has no JSON form becomes null. */
        if (!turn_json(t, f->result, &json))
            json = STR("null");
        if (!first)
            buf_char(out, ',');
        first = false;
        buf_printf(out, "\"%.*s%s\":", STR_ARG(place), marks[f->kind]);
        buf_str(out, json);
    }
    buf_char(out, '}');
}

static void write_records(struct buf *out, const struct record_writes *writes)
{
    buf_char(out, '[');
    for (size_t i = 0; i < writes->count; i++) {
        const struct record_write *w = &writes->items[i];
        buf_text(out, i > 0 ? ",{\"object\":" : "{\"object\":");
        json_write_string(out, w->object);
        buf_text(out, ",\"id\":");
        json_write_string(out, w->id);
        buf_printf(out, ",\"read\":%lld,\"version\":%lld", (long long)w->read_version,
                   (long long)w->version);
        if (!w->is_delete) {
            buf_text(out, ",\"data\":");
            buf_str(out, w->data_json);
        }
        if (w->may_rebase)
            buf_text(out, ",\"rebase\":true");
        if (w->merged_json.len > 0) {
            buf_text(out, ",\"merged\":");
            buf_str(out, w->merged_json);
        }
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

/* What its commands have read: [[object, id], ...] */
static void write_looked(struct buf *out, const struct record_queries *looked)
{
    for (size_t i = 0; i < looked->count; i++) {
        buf_text(out, i > 0 ? ",[" : "[[");
        json_write_string(out, looked->items[i].object);
        buf_char(out, ',');
        json_write_string(out, looked->items[i].id);
        buf_char(out, ']');
    }
    buf_char(out, ']');
}

static void write_logs(struct buf *out, const struct log_lines *logs)
{
    buf_char(out, '[');
    for (size_t i = 0; i < logs->count; i++) {
        const struct log_line *l = &logs->items[i];
        buf_text(out, i > 0 ? ",{\"level\":" : "{\"level\":");
        json_write_string(out, l->level);
        buf_text(out, ",\"message\":");
        json_write_string(out, l->message);
        if (l->data_json.len > 0) {
            buf_text(out, ",\"data\":");
            buf_str(out, l->data_json);
        }
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

static void write_messages(struct buf *out, const struct messages *messages)
{
    buf_char(out, '[');
    for (size_t i = 0; i < messages->count; i++) {
        const struct message *m = &messages->items[i];
        char id[UUID_TEXT_LEN + 1];

        uuid_write(m->id, id);
        buf_printf(out, "%s{\"id\":\"%s\",\"kind\":\"%s\",\"name\":", i > 0 ? "," : "", id,
                   message_kind_name(m->kind));
        json_write_string(out, m->name);
        buf_text(out, ",\"step\":");
        json_write_string(out, m->step);
        buf_text(out, ",\"body\":");
        buf_str(out, m->body_json);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

bool suspend_step(struct turn *t, struct str asks)
{
    struct str assigned, warnings;
    struct buf out;

    buf_init_arena(&out, t->mem);
    buf_text(&out, "{\"asks\":");
    json_write_string(&out, asks);
    buf_text(&out, ",\"results\":");
    write_results(t, &out);
    if (t->assigned.len > 0) {
        if (!turn_json(t, t->assigned, &assigned))
            return false;
        buf_text(&out, ",\"assigned\":");
        buf_str(&out, assigned);
    }
    if (t->run.warnings.kind == VALUE_LIST) {
        if (!turn_json(t, t->run.warnings, &warnings))
            return false;
        buf_text(&out, ",\"warnings\":");
        buf_str(&out, warnings);
    }
    if (t->records.count > 0) {
        buf_text(&out, ",\"records\":");
        write_records(&out, &t->records);
    }
    if (t->looked.count > 0) {
        buf_text(&out, ",\"looked\":");
        write_looked(&out, &t->looked);
    }
    if (t->logs.count > 0) {
        buf_text(&out, ",\"logs\":");
        write_logs(&out, &t->logs);
    }
    if (t->messages.count > 0) {
        buf_text(&out, ",\"messages\":");
        write_messages(&out, &t->messages);
    }
    buf_char(&out, '}');
    t->x->cursor.suspended_json = buf_view(&out);
    if (out.len > CONTEXT_BYTES_MAX)
        return turn_fail_size(t) == STEP_DONE;
    /* Executions that were started begin now: their ids are known from here on. */
    for (size_t i = 0; i < t->starts.count; i++)
        *VEC_ADD(t->mem, &t->out->starts) = t->starts.items[i];
    t->starts.count = 0;
    return true;
}

/* --- thawing --- */

static struct str text_of(struct value map, struct str name)
{
    struct value v = value_map_get_str(map, name);

    return v.kind == VALUE_STRING ? value_text(v) : STR_NONE;
}

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
            (struct record_write){.object = text_of(r, STR("object")),
                                  .id = text_of(r, STR("id")),
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

        *m = (struct message){.name = text_of(v, STR("name")),
                              .step = text_of(v, STR("step")),
                              .body_json = json_of(t, value_map_get_str(v, STR("body")))};
        if (!uuid_read(text_of(v, STR("id")), &m->id) ||
            !message_kind_read(text_of(v, STR("kind")), &m->kind))
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
            .level = text_of(logs.items[i], STR("level")),
            .message = text_of(logs.items[i], STR("message")),
            .data_json = json_of(t, value_map_get_str(logs.items[i], STR("data")))};
}

static void recall(struct turn *t, struct value frozen)
{
    struct value assigned = value_map_get_str(frozen, STR("assigned"));

    t->run.frozen = value_map_get_str(frozen, STR("results"));
    t->run.warnings = value_map_get_str(frozen, STR("warnings"));
    if (assigned.kind == VALUE_MAP) {
        t->assigned = assigned;
        t->variables = state_merge(t->mem, t->variables, assigned);
    }
}

void suspend_recall(struct turn *t)
{
    recall(t, turn_read(t, t->x->cursor.suspended_json, value_null()));
}

enum step_result suspend_resume(struct turn *t)
{
    struct value frozen = turn_read(t, t->x->cursor.suspended_json, value_null());

    recall(t, frozen);
    resume_rest(t, frozen);
    return resume_records(t, value_map_get_str(frozen, STR("records")));
}

static struct value with_field(struct turn *t, struct value map, struct str name, struct value v)
{
    struct value_entry *entry = ARENA_ARRAY(t->mem, 1, struct value_entry);
    size_t duplicate;

    entry[0] = (struct value_entry){.key = value_key(name), .value = v};
    return state_merge(t->mem, map, value_map_make(t->mem, entry, 1, &duplicate));
}

struct value suspend_asked(struct turn *t)
{
    struct value frozen = turn_read(t, t->x->cursor.suspended_json, value_null());
    struct str asks = text_of(frozen, STR("asks"));

    return value_map_get_str(value_map_get_str(frozen, STR("results")),
                             str_printf(t->mem, "%.*s<", STR_ARG(asks)));
}

void suspend_refuse(struct turn *t)
{
    t->refused_at = text_of(turn_read(t, t->x->cursor.suspended_json, value_null()), STR("asks"));
    t->refusal = t->failure;
    t->failure = (struct failure){0};
}

bool suspend_answer(struct turn *t, struct value output)
{
    struct value frozen = turn_read(t, t->x->cursor.suspended_json, value_null());
    struct str asks = text_of(frozen, STR("asks"));
    struct value results = value_map_get_str(frozen, STR("results"));

    if (!turn_freeze(t, &output, &(struct str){0}))
        return false;
    results = with_field(t, results, str_printf(t->mem, "%.*s!", STR_ARG(asks)), output);
    frozen = with_field(t, frozen, STR("results"), results);
    return turn_json(t, frozen, &t->x->cursor.suspended_json);
}
