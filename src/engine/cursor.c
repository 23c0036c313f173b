/*
 * cursor.c - where an execution stands, as it is stored: the cursors of its
 * strands, the steps around them, rolling back, being paused. See state.h.
 *
 * What is written here is read below, member by member; what a version before
 * did not write is missing and reads as nothing.
 */
#include "define/define.h"
#include "engine/command/procedure.h"
#include "engine/commit/ask.h"
#include "engine/state.h"
#include "engine/stored.h"
#include "value/object.h"

/* --- members --- */

#define FIELD(type, stored, member, name)                                                          \
    {                                                                                              \
        STORED_##stored, name, offsetof(struct type, member)                                       \
    }
#define FIELDS(rows)                                                                               \
    {                                                                                              \
        rows, sizeof(rows) / sizeof((rows)[0])                                                     \
    }

static const struct stored_field cursor_fields[] = {
    FIELD(cursor, COUNT, visit, "visit"),
    FIELD(cursor, COUNT, attempt, "attempt"),
    FIELD(cursor, COUNT, started_at_us, "startedAt"),
    FIELD(cursor, NUMBER, wake_at_us, "wakeAt"),
    FIELD(cursor, NUMBER, stood_us, "stoodAt"),
    FIELD(cursor, JSON, input_json, "input"),
    FIELD(cursor, JSON, types_json, "types"),
    FIELD(cursor, TEXT, correlation, "correlation"),
    FIELD(cursor, JSON, assignees_json, "assignees"),
    FIELD(cursor, TEXT, title, "title"),
    FIELD(cursor, JSON, show_json, "show"),
    FIELD(cursor, JSON, then_json, "then"),
    FIELD(cursor, NUMBER, timeout_at_us, "timeoutAt"),
    FIELD(cursor, NUMBER, remind_at_us, "remindAt"),
    FIELD(cursor, NUMBER, remind_every_us, "remindEvery"),
    FIELD(cursor, JSON, remind_times_json, "remindTimes"),
    FIELD(cursor, NUMBER, reminders, "reminders"),
    FIELD(cursor, NUMBER, unmatched, "unmatched"),
    FIELD(cursor, TEXT, task, "task"),
    FIELD(cursor, FLAG, keeps_task, "keepsTask"),
    FIELD(cursor, FLAG, is_overdue, "overdue"),
    FIELD(cursor, JSON, suspended_json, "frozen"),
    FIELD(cursor, TEXT, awaited, "awaited"),
    FIELD(cursor, FLAG, is_joined, "joined"),
    FIELD(cursor, FLAG, is_started, "started"),
    FIELD(cursor, TEXT, child_code, "childCode"),
    FIELD(cursor, TEXT, host, "host"),
    FIELD(cursor, NUMBER, asked_seq, "callSeq"),
    FIELD(cursor, NUMBER, asked_epoch, "callEpoch"),
    FIELD(cursor, TEXT, failed_at, "failedAt"),
    FIELD(cursor, NUMBER, tries, "tries"),
    FIELD(cursor, NUMBER, waits, "waits"),
    FIELD(cursor, FLAG, is_unsure, "unsure"),
    FIELD(cursor, NUMBER, behind, "behind"),
    FIELD(cursor, NUMBER, asked, "asked"),
    FIELD(cursor, NUMBER, seq, "seq"),
    FIELD(cursor, NUMBER, deferred_seq, "keptSeq"),
    FIELD(cursor, JSON, deferred_answer_json, "keptAnswer"),
    FIELD(cursor, TEXT, past, "past"),
};
const struct stored_fields stored_cursor = FIELDS(cursor_fields);

static const struct stored_field from_fields[] = {
    FIELD(cursor, COUNT, visit, "visit"),
    FIELD(cursor, NUMBER, attempt, "attempt"),
    FIELD(cursor, NUMBER, started_at_us, "startedAt"),
    FIELD(cursor, JSON, input_json, "input"),
    FIELD(cursor, JSON, suspended_json, "frozen"),
    FIELD(cursor, FLAG, is_unsure, "unsure"),
    FIELD(cursor, NUMBER, behind, "behind"),
    FIELD(cursor, NUMBER, asked, "asked"),
};
const struct stored_fields stored_from = FIELDS(from_fields);

static const struct stored_field reconciling_fields[] = {
    FIELD(reconciling, JSON, error_json, "error"),
    FIELD(reconciling, NUMBER, since_us, "since"),
    FIELD(reconciling, NUMBER, asked_at_us, "askedAt"),
    FIELD(reconciling, NUMBER, before, "before"),
    FIELD(reconciling, NUMBER, retry_at_us, "retryAt"),
    FIELD(reconciling, JSON, input_json, "input"),
    FIELD(reconciling, JSON, suspended_json, "frozen"),
    FIELD(reconciling, TEXT, letter, "letter"),
    FIELD(reconciling, NUMBER, sent, "sent"),
};
const struct stored_fields stored_reconciling = FIELDS(reconciling_fields);

static const struct stored_field rollback_fields[] = {
    FIELD(rollback, COUNT, before, "before"),
    FIELD(rollback, NUMBER, row, "row"),
    FIELD(rollback, NUMBER, commands_left, "commands"),
    FIELD(rollback, FLAG, has_failed, "failed"),
    FIELD(rollback, TEXT, under, "under"),
    FIELD(rollback, FLAG, is_unreadable, "unreadable"),
    FIELD(rollback, NUMBER, deadline_at_us, "deadlineAt"),
    FIELD(rollback, FLAG, is_known, "known"),
    FIELD(rollback, FLAG, keeps_done, "keeps"),
    FIELD(rollback, FLAG, is_retry, "alone"),
    FIELD(rollback, FLAG, returns, "returns"),
    FIELD(rollback, NUMBER, tried_before, "triedBefore"),
};
const struct stored_fields stored_rollback = FIELDS(rollback_fields);

static const struct stored_field machine_fields[] = {
    FIELD(machine_place, NUMBER, entered_at_us, "enteredAt"),
    FIELD(machine_place, NUMBER, passed, "passed"),
    FIELD(machine_place, NUMBER, final_seq, "final"),
};
const struct stored_fields stored_machine = FIELDS(machine_fields);

static const struct stored_field pause_fields[] = {
    FIELD(pause, COUNT, since_us, "since"),
    FIELD(pause, TEXT, reason, "reason"),
    FIELD(pause, JSON, by_json, "by"),
};
const struct stored_fields stored_pause = FIELDS(pause_fields);

static const struct stored_field debug_fields[] = {
    FIELD(debug, COUNT, until, "until"),
    FIELD(debug, TEXT, to, "to"),
    FIELD(debug, JSON, breakpoints_json, "breakpoints"),
    FIELD(debug, TEXT, after, "after"),
    FIELD(debug, NUMBER, since_us, "since"),
};
const struct stored_fields stored_debug = FIELDS(debug_fields);

/* --- writing --- */

/* A member that is left out when it is 0. */
static void cursor_write_number(struct buf *out, const char *name, int64_t n)
{
    if (n != 0)
        object_int(out, name, n);
}

static void write_part(struct buf *out, const char *name, struct stored_fields fields,
                       const void *part)
{
    if (part == NULL)
        return;
    object_nested(out, name);
    stored_write(out, fields, part);
    buf_char(out, '}');
}

static void write_why(struct buf *out, struct str json)
{
    if (json.len > 0)
        object_json(out, "why", json);
}

static void write_frames(struct buf *out, const struct program *p, const struct frame *frames,
                         uint32_t count)
{
    if (count == 0)
        return;
    object_list(out, "in");
    for (uint32_t i = 0; i < count; i++) {
        const struct frame *f = &frames[i];
        const struct step *step = &p->steps[f->step];

        object_item(out);
        object_text(out, "step", step->code);
        object_int(out, "block", f->block - step->first_block);
        object_int(out, "visit", f->visit);
        object_int(out, "startedAt", f->started_at_us);
        if (step->kind == STEP_LOOP)
            object_int(out, "index", f->index);
        cursor_write_number(out, "links", f->links_from);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

/* Opens an object and leaves it open. */
static void write_cursor(struct buf *out, const struct program *p, const struct cursor *c)
{
    object_item(out);
    object_text(out, "step", c->step < p->step_count ? p->steps[c->step].code : STR_NONE);
    object_text(out, "phase", str_of(phase_name(c->phase)));
    stored_write(out, stored_cursor, c);
    if (c->ask != ASK_NONE)
        object_text(out, "ask", str_of(ask_name(c->ask)));
    write_part(out, "asking", stored_reconciling, c->reconciling);
}

static void write_strands(struct buf *out, const char *name, const struct program *p,
                          const struct strand *const *strands, uint32_t count)
{
    if (count == 0)
        return;
    object_list(out, name);
    for (uint32_t i = 0; i < count; i++) {
        write_cursor(out, p, &strands[i]->cursor);
        write_why(out, strands[i]->waiting_for_json);
        write_frames(out, p, strands[i]->frames, strands[i]->frame_count);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

/* The strands beside the first one, each with what it waits for. */
static void write_others(struct buf *out, const struct execution *x)
{
    write_why(out, x->strand_waiting_json);
    if (x->other_count == 0)
        return;
    cursor_write_number(out, "place", x->strand_index);
    write_strands(out, "beside", x->program, x->others, x->other_count);
}

static void write_rollback(struct buf *out, const struct program *p, const struct rollback *u)
{
    if (u == NULL)
        return;
    object_nested(out, "undo");
    object_text(out, "end", str_of(status_name(u->end)));
    stored_write(out, stored_rollback, u);
    for (const struct past_visit *v = u->again; v != NULL; v = v->next) {
        buf_text(out, v == u->again ? ",\"again\":[[" : "],[");
        json_write_string(out, v->code);
        buf_printf(out, ",%lld", (long long)v->visit);
    }
    buf_text(out, u->again != NULL ? "]]" : "");
    write_part(out, "from", stored_from, u->from);
    cursor_write_number(out, "place", u->strand_index);
    write_strands(out, "beside", p, u->others, u->other_count);
    buf_char(out, '}');
}

static void write_stopped(struct buf *out, const struct execution *x)
{
    if (x->stopped_count == 0)
        return;
    object_list(out, "stopped");
    for (uint32_t i = 0; i < x->stopped_count; i++) {
        object_item(out);
        if (x->stopped[i].call_seq > 0) {
            object_int(out, "call", x->stopped[i].call_seq);
            object_int(out, "epoch", x->stopped[i].call_epoch);
        } else {
            object_text(out, "id", str_of(UUID_STR(x->stopped[i].id).ptr));
        }
        object_text(out, "step", x->stopped[i].step);
        object_int(out, "since", x->stopped[i].since_us);
        object_int(out, "lookAt", x->stopped[i].look_at_us);
        if (x->stopped[i].strand != NULL)
            write_strands(out, "stood", x->program, &x->stopped[i].strand, 1);
        if (x->stopped[i].loop_json.len > 0)
            object_json(out, "loop", x->stopped[i].loop_json);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

struct str state_cursor_json(struct arena *mem, const struct execution *exec)
{
    struct buf out;

    buf_init_arena(&out, mem);
    write_cursor(&out, exec->program, &exec->cursor);
    cursor_write_number(&out, "jumps", exec->jumps);
    cursor_write_number(&out, "links", exec->links_from);
    cursor_write_number(&out, "linksSpent", exec->links_spent);
    cursor_write_number(&out, "reopened", exec->reopened_at_us);
    cursor_write_number(&out, "moved", exec->has_moved);
    cursor_write_number(&out, "unrolled", exec->has_unrolled);
    cursor_write_number(&out, "depth", exec->depth);
    cursor_write_number(&out, "bytes", exec->history_bytes);
    write_frames(&out, exec->program, exec->frames, exec->frame_count);
    write_others(&out, exec);
    write_strands(&out, "reminding", exec->program, exec->reminding, exec->reminding_count);
    write_rollback(&out, exec->program, exec->rollback);
    write_stopped(&out, exec);
    write_part(&out, "pause", stored_pause, exec->pause);
    write_part(&out, "debug", stored_debug, exec->debug);
    if (exec->program->kind == KIND_MACHINE)
        write_part(&out, "machine", stored_machine, &exec->machine);
    return object_end(&out);
}

/* --- reading --- */

static bool restore_frames(struct arena *mem, const struct program *p, struct value stored,
                           struct strand *out, struct err *err)
{
    struct frame *frames;

    if (stored.kind != VALUE_LIST || stored.len == 0)
        return true;
    frames = ARENA_ARRAY(mem, stored.len, struct frame);
    for (uint32_t i = 0; i < stored.len; i++) {
        struct value f = stored.items[i];
        const struct step *step = program_step(p, value_map_text(f, STR("step")));

        if (step == NULL)
            return stored_broken(err, "a step around the current one is not in its program");
        frames[i] =
            (struct frame){.step = step->index,
                           .block = step->first_block + (uint32_t)stored_int(f, STR("block")),
                           .visit = stored_int(f, STR("visit")),
                           .started_at_us = stored_int(f, STR("startedAt")),
                           .index = stored_int(f, STR("index")),
                           .links_from = stored_int(f, STR("links"))};
    }
    out->frames = frames;
    out->frame_count = stored.len;
    return true;
}

/* A part that is zeroed, of `size` bytes, with what was stored of it; NULL: nothing was. */
static void *restore_part(struct arena *mem, size_t size, struct stored_fields fields,
                          struct value stored)
{
    void *part;

    if (stored.kind != VALUE_MAP)
        return NULL;
    part = arena_zalloc(mem, size);
    stored_restore(mem, fields, stored, part);
    return part;
}

enum waiting_kind state_waiting_kind(struct value waiting_for)
{
    enum waiting_kind kind = WAITING_NONE;

    /* The kinds that are stored by a name of their own are shown as another one. */
    if (waiting_for.kind == VALUE_MAP &&
        !waiting_kind_read(value_map_text(waiting_for, STR("kind")), &kind))
        kind = WAITING_NONE;
    if (kind == WAITING_RECONCILE && value_is_true(value_map_member(waiting_for, STR("parked"))))
        kind = WAITING_PARKED;
    return kind;
}

/* A wait that an earlier version began says it to people alone. */
static bool restore_correlation(struct arena *mem, struct execution *x, struct err *err)
{
    struct value why, v;

    if (x->cursor.phase != PHASE_WAIT || x->cursor.correlation.len > 0 ||
        x->waiting_kind != WAITING_SIGNAL)
        return true;
    if (!stored_read_map(mem, x->waiting_for_json, &why, err))
        return false;
    v = value_map_member(why, STR("correlation"));
    if (v.kind != VALUE_ABSENT && !define_correlation(mem, v, &x->cursor.correlation))
        x->cursor.correlation = STR_NONE;
    return true;
}

static bool restore_strand(struct arena *mem, const struct program *p, struct value stored,
                           struct strand *out, struct err *err)
{
    struct value v = value_map_member(stored, STR("step")), why;
    struct cursor *c = &out->cursor;
    const struct step *step;

    *out = (struct strand){0};
    c->step = p->step_count;
    if (v.kind == VALUE_STRING) {
        step = program_step(p, value_text(v));
        if (step == NULL)
            return stored_broken(err, "the current step is not in its program");
        c->step = step->index;
    }
    if (!phase_read(value_map_text(stored, STR("phase")), &c->phase))
        return stored_broken(err, "the cursor has an unknown phase");
    stored_restore(mem, stored_cursor, stored, c);
    if (!ask_read(value_map_text(stored, STR("ask")), &c->ask))
        return stored_broken(err, "the cursor asks for something unknown");
    /* One that was stored before asks had names. */
    if (c->ask == ASK_NONE && c->awaited.len > 0 && !child_is_awaited(c))
        c->ask = c->host.len > 0 ? ASK_CALL : ASK_JOB;
    c->reconciling = restore_part(mem, sizeof(*c->reconciling), stored_reconciling,
                                  value_map_member(stored, STR("asking")));
    why = value_map_member(stored, STR("why"));
    if (why.kind != VALUE_ABSENT && why.kind != VALUE_MAP)
        return stored_broken(err, "what a strand waits for is no object");
    out->waiting_for_json = why.kind == VALUE_ABSENT ? STR_NONE : json_must_text(mem, why);
    out->waiting_kind = state_waiting_kind(why);
    return restore_frames(mem, p, value_map_member(stored, STR("in")), out, err);
}

static bool restore_strands(struct arena *mem, const struct program *p, struct value stored,
                            const struct strand *const **out, uint32_t *count, struct err *err)
{
    const struct strand **strands;

    if (stored.kind != VALUE_LIST || stored.len == 0)
        return true;
    strands = ARENA_ARRAY(mem, stored.len, const struct strand *);
    for (uint32_t i = 0; i < stored.len; i++) {
        struct strand *s = arena_alloc(mem, sizeof(*s));

        if (!restore_strand(mem, p, stored.items[i], s, err))
            return false;
        strands[i] = s;
    }
    *out = strands;
    *count = stored.len;
    return true;
}

/* [[code, visit], ...] */
static const struct past_visit *restore_again(struct arena *mem, struct value stored)
{
    const struct past_visit *out = NULL, **link = &out;

    for (uint32_t i = 0; stored.kind == VALUE_LIST && i < stored.len; i++) {
        struct value pair = stored.items[i];
        struct past_visit *made;

        if (pair.kind != VALUE_LIST || pair.len != 2 || pair.items[0].kind != VALUE_STRING ||
            pair.items[1].kind != VALUE_INT)
            continue;
        made = ARENA_NEW(mem, struct past_visit);
        *made = (struct past_visit){.code = value_text(pair.items[0]), .visit = pair.items[1].i};
        *link = made;
        link = &made->next;
    }
    return out;
}

static bool restore_rollback(struct arena *mem, struct execution *x, struct value stored,
                             struct err *err)
{
    struct rollback *rollback = restore_part(mem, sizeof(*rollback), stored_rollback, stored);
    struct cursor *from;

    if (rollback == NULL)
        return true;
    if (!status_read(value_map_text(stored, STR("end")), &rollback->end))
        return stored_broken(err, "it rolls back to an unknown end");
    from = restore_part(mem, sizeof(*from), stored_from, value_map_member(stored, STR("from")));
    /* While nothing is rolled back the cursor stays at the step. */
    if (from != NULL)
        from->step = x->cursor.step;
    rollback->from = from;
    rollback->again = restore_again(mem, value_map_member(stored, STR("again")));
    rollback->strand_index = (uint32_t)stored_int(stored, STR("place"));
    x->rollback = rollback;
    return restore_strands(mem, x->program, value_map_member(stored, STR("beside")),
                           &rollback->others, &rollback->other_count, err);
}

static bool restore_stopped(struct arena *mem, struct execution *x, struct value stored,
                            struct err *err)
{
    struct stopped_child *all;

    if (stored.kind != VALUE_LIST || stored.len == 0)
        return true;
    all = ARENA_ARRAY(mem, stored.len, struct stopped_child);
    for (uint32_t i = 0; i < stored.len; i++) {
        struct value v = stored.items[i], loop = value_map_member(v, STR("loop"));
        const struct strand *const *stood = NULL;
        uint32_t count = 0;

        all[i] = (struct stopped_child){.call_seq = stored_int(v, STR("call")),
                                        .call_epoch = stored_int(v, STR("epoch")),
                                        .step = str_copy(mem, value_map_text(v, STR("step"))),
                                        .since_us = stored_int(v, STR("since")),
                                        .look_at_us = stored_int(v, STR("lookAt"))};
        if (!restore_strands(mem, x->program, value_map_member(v, STR("stood")), &stood, &count,
                             err))
            return false;
        all[i].strand = count > 0 ? stood[0] : NULL;
        all[i].loop_json = loop.kind == VALUE_MAP ? json_must_text(mem, loop) : STR_NONE;
        if (all[i].call_seq <= 0 && !uuid_read(value_map_text(v, STR("id")), &all[i].id))
            return stored_broken(err, "an execution that it has cancelled has no id");
    }
    x->stopped = all;
    x->stopped_count = stored.len;
    return true;
}

bool state_restore_cursor(struct arena *mem, struct execution *x, struct str text, struct err *err)
{
    struct strand first;
    struct value stored, v;

    if (text.len == 0)
        return true;
    if (!stored_read_map(mem, text, &stored, err) ||
        !restore_strand(mem, x->program, stored, &first, err))
        return false;
    x->cursor = first.cursor;
    x->frames = first.frames;
    x->frame_count = first.frame_count;
    x->strand_waiting_json = first.waiting_for_json;
    x->strand_waiting_kind = first.waiting_kind;
    x->jumps = (uint32_t)stored_int(stored, STR("jumps"));
    x->links_from = stored_int(stored, STR("links"));
    x->links_spent = stored_int(stored, STR("linksSpent"));
    x->reopened_at_us = stored_int(stored, STR("reopened"));
    x->has_moved = stored_int(stored, STR("moved")) != 0;
    x->has_unrolled = stored_int(stored, STR("unrolled")) != 0;
    x->depth = stored_int(stored, STR("depth"));
    x->history_bytes = stored_int(stored, STR("bytes"));
    x->strand_index = (uint32_t)stored_int(stored, STR("place"));
    v = value_map_member(stored, STR("machine"));
    if (v.kind == VALUE_MAP)
        stored_restore(mem, stored_machine, v, &x->machine);
    x->pause =
        restore_part(mem, sizeof(*x->pause), stored_pause, value_map_member(stored, STR("pause")));
    x->debug =
        restore_part(mem, sizeof(*x->debug), stored_debug, value_map_member(stored, STR("debug")));
    return restore_correlation(mem, x, err) &&
           restore_strands(mem, x->program, value_map_member(stored, STR("beside")), &x->others,
                           &x->other_count, err) &&
           restore_strands(mem, x->program, value_map_member(stored, STR("reminding")),
                           &x->reminding, &x->reminding_count, err) &&
           restore_stopped(mem, x, value_map_member(stored, STR("stopped")), err) &&
           restore_rollback(mem, x, value_map_member(stored, STR("undo")), err);
}
