/* trial.c - see trial.h. */
#include "trial/trial.h"

#include "base/buf.h"
#include "engine/show.h"
#include "value/json.h"

#define START_US INT64_C(1767225600000000) /* 2026-01-01 */

/* A trial while it runs. */
struct run {
    struct arena *mem;
    const struct trial_script *script;
    struct trial *out;
    int64_t now_us;
    struct value config;
    bool *sent; /* by signal of the script */
    bool is_cancelled;
};

/* --- records --- */

static struct record_read *find_record(struct run *r, struct str object, struct str id)
{
    for (size_t i = 0; i < r->out->records.count; i++) {
        struct record_read *record = &r->out->records.items[i];
        if (str_eq(record->object, object) && str_eq(record->id, id))
            return record;
    }
    return NULL;
}

static bool write_records(struct run *r, const struct record_writes *writes, struct err *err)
{
    for (size_t i = 0; i < writes->count; i++) {
        const struct record_write *w = &writes->items[i];
        struct record_read *record = find_record(r, w->object, w->id);

        if (record == NULL)
            record = VEC_ADD(r->mem, &r->out->records);
        *record = (struct record_read){
            .object = w->object, .id = w->id, .version = w->is_delete ? 0 : w->version};
        if (!w->is_delete && !json_read(r->mem, w->data_json, &record->data, err))
            return false;
    }
    return true;
}

static void answer_need(struct run *r, const struct record_query *q, struct record_reads *records,
                        struct object_reads *objects)
{
    struct record_reads all = {0};
    const struct record_read *found;

    if (q->id.len > 0) {
        found = find_record(r, q->object, q->id);
        *VEC_ADD(r->mem, records) =
            found != NULL ? *found : (struct record_read){.object = q->object, .id = q->id};
        return;
    }
    for (size_t i = 0; i < r->out->records.count; i++) {
        const struct record_read *record = &r->out->records.items[i];
        if (str_eq(record->object, q->object) && record->version > 0)
            *VEC_ADD(r->mem, &all) = *record;
    }
    *VEC_ADD(r->mem, objects) = (struct object_read){
        .object = q->object, .records = all.items, .count = (uint32_t)all.count};
}

/* The rows that rolling back goes through. */
static void answer_history(struct run *r, int64_t after, struct history *out)
{
    out->count = 0;
    for (size_t i = (size_t)after; i < r->out->history.count && out->count < UNDO_PAGE; i++)
        *VEC_ADD(r->mem, out) = r->out->history.items[i];
}

/* --- events --- */

static bool apply(struct run *r, struct event ev, struct err *err)
{
    struct record_reads records = {0};
    struct object_reads objects = {0};
    struct process_reads processes = {0};
    struct history history = {0};
    /* A trial has one process: others do not exist, nor do their executions. */
    const struct child_read child = {.error = value_null()};
    struct commit c;

    ev.config = r->config;
    ev.records = &records;
    ev.objects = &objects;
    while (true) {
        if (!engine_advance(r->mem, r->out->x, &ev, r->now_us, &c, err))
            return false;
        if (c.result == ADVANCE_COMMIT)
            break;
        for (size_t i = 0; i < c.needs.count; i++)
            answer_need(r, &c.needs.items[i], &records, &objects);
        for (size_t i = 0; i < c.needs_processes.count; i++)
            *VEC_ADD(r->mem, &processes) = c.needs_processes.items[i];
        ev.processes = &processes;
        if (c.needs_child)
            ev.child = &child;
        if (c.needs_history.is_needed) {
            answer_history(r, c.needs_history.after, &history);
            ev.history = &history;
        }
    }
    for (size_t i = 0; i < c.history.count; i++)
        *VEC_ADD(r->mem, &r->out->history) = c.history.items[i];
    for (size_t i = 0; i < c.logs.count; i++)
        *VEC_ADD(r->mem, &r->out->logs) = c.logs.items[i];
    r->out->x = c.after;
    return write_records(r, &c.records, err);
}

static struct value tester(struct arena *mem)
{
    struct value_entry *entries = ARENA_ARRAY(mem, 2, struct value_entry);
    size_t duplicate;

    entries[0] = (struct value_entry){value_key(STR("id")), value_string(STR("tester"))};
    entries[1] = (struct value_entry){value_key(STR("name")), value_string(STR("Tester"))};
    return value_map_make(mem, entries, 2, &duplicate);
}

static bool send(struct run *r, size_t i, struct err *err)
{
    const struct trial_signal *s = &r->script->signals.items[i];

    r->sent[i] = true;
    r->out->signals_unsent--;
    return apply(r,
                 (struct event){.kind = EVENT_SIGNAL,
                                .signal_id = str_printf(r->mem, "signal-%zu", i + 1),
                                .signal_type = s->type,
                                .signal_payload = s->payload,
                                .signal_by = s->by.kind == VALUE_MAP ? s->by : tester(r->mem)},
                 err);
}

/* --- what happens next --- */

static bool waits_for_signal(struct run *r)
{
    struct value why;
    struct err err;

    return r->out->x->waiting_for_json.len > 0 &&
           json_read(r->mem, r->out->x->waiting_for_json, &why, &err) && why.kind == VALUE_MAP &&
           value_equal(value_map_get_str(why, STR("kind")), value_string(STR("signal")), NULL);
}

/* The signal whose turn it is, or the number of signals. */
static size_t next_in_turn(const struct run *r)
{
    size_t i = 0;

    while (i < r->script->signals.count && (r->sent[i] || r->script->signals.items[i].has_time))
        i++;
    return i;
}

/* The signal that comes first by its time, or the number of signals. */
static size_t next_by_time(const struct run *r)
{
    const struct trial_signals *signals = &r->script->signals;
    size_t first = signals->count;

    for (size_t i = 0; i < signals->count; i++)
        if (!r->sent[i] && signals->items[i].has_time &&
            (first == signals->count ||
             signals->items[i].after_us < signals->items[first].after_us))
            first = i;
    return first;
}

static void move_to(struct run *r, int64_t us)
{
    if (us > r->now_us)
        r->now_us = us;
}

/* *more: something happened. */
static bool step(struct run *r, bool *more, struct err *err)
{
    const struct trial_script *script = r->script;
    const struct execution *x = r->out->x;
    size_t count = script->signals.count, turn = next_in_turn(r), timed = next_by_time(r);
    int64_t wake_us = x->wake_at_us > 0 ? x->wake_at_us : INT64_MAX;
    int64_t signal_us =
        timed < count ? r->out->started_at_us + script->signals.items[timed].after_us : INT64_MAX;
    int64_t cancel_us = script->has_cancel && !r->is_cancelled
                            ? r->out->started_at_us + script->cancel_after_us
                            : INT64_MAX;

    *more = true;
    if (wake_us > r->now_us && signal_us > r->now_us && cancel_us > r->now_us && turn < count &&
        waits_for_signal(r))
        return send(r, turn, err);
    if (cancel_us <= signal_us && cancel_us <= wake_us && cancel_us < INT64_MAX) {
        r->is_cancelled = true;
        move_to(r, cancel_us);
        return apply(
            r, (struct event){.kind = EVENT_CANCEL, .reason = STR("cancelled by the test")}, err);
    }
    if (signal_us <= wake_us && signal_us < INT64_MAX) {
        move_to(r, signal_us);
        return send(r, timed, err);
    }
    *more = wake_us < INT64_MAX;
    if (!*more)
        return true;
    move_to(r, wake_us);
    return apply(r, (struct event){.kind = EVENT_WAKE}, err);
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

bool trial_run(struct arena *mem, const struct program *program, const struct trial_script *script,
               struct trial *out, struct findings *findings, struct err *err)
{
    struct run r = {.mem = mem, .script = script, .out = out};
    struct birth birth = {
        .id = {.bytes = {1, 0x9b, 0x75, 0xf0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 1}},
        .key = script->key,
        .user_json = user_text(mem, script->user),
    };
    bool more = true;

    *out = (struct trial){.signals_unsent = script->signals.count};
    r.now_us = out->started_at_us = birth.now_us = script->now_us > 0 ? script->now_us : START_US;
    r.config = script->config.kind == VALUE_MAP ? script->config : value_map_empty();
    r.sent = arena_zalloc(mem, script->signals.count + 1);
    for (size_t i = 0; i < script->records.count; i++)
        *VEC_ADD(mem, &out->records) = script->records.items[i];
    define_check_input(mem, program, script->input, &birth.input, findings);
    if (findings_have_errors(findings))
        return err_set(err, ERR_INVALID, "the input is not what '%.*s' takes",
                       STR_ARG(program->code));
    if (!state_new(mem, program, &birth, &out->x, err) ||
        !apply(&r, (struct event){.kind = EVENT_START}, err))
        return false;
    for (unsigned events = 0; more && !status_is_terminal(out->x->status); events++) {
        if (events == TRIAL_EVENTS_MAX) {
            out->is_cut = true;
            break;
        }
        if (!step(&r, &more, err))
            return false;
    }
    out->ended_at_us = r.now_us;
    return true;
}

/* --- showing --- */

struct value trial_value(struct arena *mem, const struct trial *trial)
{
    struct value shown;
    struct buf text;
    struct err err;
    bool first = true;

    buf_init_arena(&text, mem);
    show_execution(mem, &text, trial->x);
    ASSERT(text.len > 0);
    /* The history takes its place as one more member. */
    text.len--;
    buf_text(&text, ",\"steps\":[");
    for (size_t i = 0; i < trial->history.count; i++) {
        if (trial->history.items[i].kind == HISTORY_EVENT)
            continue;
        if (!first)
            buf_char(&text, ',');
        first = false;
        show_history_row(&text, trial->x->id, &trial->history.items[i]);
    }
    buf_text(&text, "]}");
    if (!json_read(mem, buf_view(&text), &shown, &err))
        PANIC("what is shown of an execution is JSON");
    return shown;
}
