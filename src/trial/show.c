/* show.c - a trial as a value, for tests and clients; see trial.h. */
#include "engine/show.h"
#include "base/buf.h"
#include "define/catalog/catalog.h"
#include "trial/trial.h"
#include "value/json.h"
#include "value/object.h"

static void write_steps(struct buf *out, const struct trial_execution *e)
{
    object_list(out, "steps");
    for (size_t i = 0; i < e->history.count; i++) {
        if (e->history.items[i].kind == HISTORY_EVENT)
            continue;
        object_next(out);
        show_history_row(out, e->x->id, &e->history.items[i]);
    }
    buf_char(out, ']');
}

static void write_commands(struct buf *out, const struct trial_execution *e)
{
    object_list(out, "commands");
    for (size_t i = 0; i < e->commands.count; i++) {
        const struct command_run *run = &e->commands.items[i];

        object_item(out);
        object_text(out, "step", run->step);
        object_text(out, "kind", str_of(history_kind_name(run->kind)));
        object_text(out, "place", run->place);
        object_text(out, "type", str_of(run->command->name));
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

/* The execution with its history; left open for more members. */
static void write_execution(struct buf *out, const struct trial_execution *e)
{
    show_execution(out, e->x);
    ASSERT(out->len > 0);
    out->len--;
    write_steps(out, e);
    write_commands(out, e);
}

static void write_logs(struct buf *out, const struct log_lines *logs)
{
    object_list(out, "logs");
    for (size_t i = 0; i < logs->count; i++) {
        object_item(out);
        object_text(out, "level", logs->items[i].level);
        object_text(out, "message", logs->items[i].message);
        object_json(out, "data", logs->items[i].data_json);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

/* What it would have sent: {kind, name, step, body}. */
static void write_messages(struct buf *out, const struct messages *messages)
{
    object_list(out, "messages");
    for (size_t i = 0; i < messages->count; i++) {
        object_item(out);
        object_text(out, "kind", str_of(message_kind_name(messages->items[i].kind)));
        object_text(out, "name", messages->items[i].name);
        object_text(out, "step", messages->items[i].step);
        object_json(out, "body", messages->items[i].body_json);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

/* What the trial has written: {object, id, version, data}, data null when it was deleted. */
static void write_records(struct buf *out, const struct trial *trial)
{
    struct err err;

    object_list(out, "records");
    for (size_t i = 0; i < trial->records.count; i++) {
        const struct trial_record *record = &trial->records.items[i];

        if (!record->is_written)
            continue;
        object_item(out);
        object_text(out, "object", record->read.object);
        object_text(out, "id", record->read.id);
        object_int(out, "version", record->read.last_version);
        object_name(out, "data");
        if (record->read.version == 0 || !json_write(out, record->read.data, &err))
            buf_text(out, "null");
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

static void write_dead_letters(struct buf *out, const struct dead_letters *letters)
{
    object_list(out, "deadLetters");
    for (size_t i = 0; i < letters->count; i++) {
        object_item(out);
        object_text(out, "kind", letters->items[i].kind);
        object_text(out, "step", letters->items[i].step);
        object_int(out, "attempts", letters->items[i].attempts);
        object_json(out, "cause", letters->items[i].cause_json);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

static void write_children(struct buf *out, const struct trial *trial)
{
    object_list(out, "children");
    for (size_t i = 0; i < trial->children.count; i++) {
        object_next(out);
        write_execution(out, &trial->children.items[i]);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

static void write_times(struct buf *out, const struct trial *trial)
{
    int64_t us = trial->ended_at_us - trial->started_at_us;

    object_time(out, "endedAt", trial->ended_at_us);
    object_name(out, "duration");
    json_must_write(out, value_duration(us / 1000000, (uint32_t)(us % 1000000) * 1000));
}

struct value trial_value(struct arena *mem, const struct trial *trial)
{
    struct value shown;
    struct buf text;
    struct err err;

    buf_init_arena(&text, mem);
    write_execution(&text, &trial->main);
    write_logs(&text, &trial->logs);
    write_messages(&text, &trial->messages);
    write_records(&text, trial);
    write_children(&text, trial);
    write_dead_letters(&text, &trial->dead_letters);
    write_times(&text, trial);
    buf_char(&text, '}');
    if (!json_read(mem, buf_view(&text), &shown, &err))
        PANIC("what is shown of a trial is JSON");
    return shown;
}
