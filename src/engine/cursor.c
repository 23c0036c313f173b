/*
 * cursor.c - where an execution stands, as it is stored: the cursors of its
 * strands, the steps around them, rolling back, being paused. See state.h.
 *
 * What is written here is read below, member by member; what a version before
 * did not write is missing and reads as nothing.
 */
#include "define/define.h"
#include "engine/ask.h"
#include "engine/procedure.h"
#include "engine/state.h"
#include "engine/stored.h"
#include "value/number.h"

/* --- writing --- */

static void write_int(struct buf *out, const char *before, int64_t n)
{
    char text[NUMBER_TEXT_MAX];

    buf_text(out, before);
    buf_add(out, text, number_write_int(text, n));
}

static void object_name_plain(struct buf *out, const char *name)
{
    buf_char(out, '"');
    buf_text(out, name);
    buf_text(out, "\":");
}

static void write_number(struct buf *out, const char *name, int64_t n)
{
    if (n == 0)
        return;
    buf_char(out, ',');
    object_name_plain(out, name);
    write_int(out, "", n);
}

static void write_json(struct buf *out, const char *name, struct str json)
{
    if (json.len == 0)
        return;
    buf_char(out, ',');
    object_name_plain(out, name);
    buf_str(out, json);
}

static void write_text(struct buf *out, const char *name, struct str text)
{
    if (text.len == 0)
        return;
    buf_char(out, ',');
    object_name_plain(out, name);
    json_write_string(out, text);
}

static void write_frames(struct buf *out, const struct program *p, const struct frame *frames,
                         uint32_t count)
{
    if (count == 0)
        return;
    buf_text(out, ",\"in\":[");
    for (uint32_t i = 0; i < count; i++) {
        const struct frame *f = &frames[i];
        const struct step *step = &p->steps[f->step];
        buf_text(out, i > 0 ? ",{\"step\":" : "{\"step\":");
        json_write_string(out, step->code);
        write_int(out, ",\"block\":", f->block - step->first_block);
        write_int(out, ",\"visit\":", f->visit);
        write_int(out, ",\"startedAt\":", f->started_at_us);
        if (step->kind == STEP_LOOP)
            write_int(out, ",\"index\":", f->index);
        write_number(out, "links", f->links_from);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

/* What a retry of the visit needs. */
static void write_from(struct buf *out, const struct cursor *c)
{
    if (c == NULL)
        return;
    write_int(out, ",\"from\":{\"visit\":", c->visit);
    write_number(out, "attempt", c->attempt);
    write_number(out, "startedAt", c->started_at_us);
    write_json(out, "input", c->input_json);
    write_json(out, "frozen", c->suspended_json);
    write_number(out, "unsure", c->is_unsure);
    write_number(out, "asked", c->asked);
    buf_char(out, '}');
}

static void write_reconciling(struct buf *out, const struct reconciling *a)
{
    if (a == NULL)
        return;
    buf_text(out, ",\"asking\":{\"error\":");
    buf_str(out, a->error_json);
    write_number(out, "since", a->since_us);
    write_number(out, "askedAt", a->asked_at_us);
    write_number(out, "before", a->before);
    write_number(out, "retryAt", a->retry_at_us);
    write_json(out, "input", a->input_json);
    write_json(out, "frozen", a->suspended_json);
    write_text(out, "letter", a->letter);
    buf_char(out, '}');
}

/* Opens an object and leaves it open. */
static void write_cursor(struct buf *out, const struct program *p, const struct cursor *c)
{
    buf_text(out, "{\"step\":");
    if (c->step < p->step_count)
        json_write_string(out, p->steps[c->step].code);
    else
        buf_text(out, "null");
    buf_text(out, ",\"phase\":\"");
    buf_text(out, phase_name(c->phase));
    write_int(out, "\",\"visit\":", c->visit);
    write_int(out, ",\"attempt\":", c->attempt);
    write_int(out, ",\"startedAt\":", c->started_at_us);
    write_number(out, "wakeAt", c->wake_at_us);
    write_json(out, "input", c->input_json);
    write_json(out, "types", c->types_json);
    write_text(out, "correlation", c->correlation);
    write_json(out, "assignees", c->assignees_json);
    write_text(out, "title", c->title);
    write_number(out, "timeoutAt", c->timeout_at_us);
    write_number(out, "remindAt", c->remind_at_us);
    write_number(out, "remindEvery", c->remind_every_us);
    write_json(out, "remindTimes", c->remind_times_json);
    write_number(out, "reminders", c->reminders);
    write_number(out, "unmatched", c->unmatched);
    write_text(out, "task", c->task);
    write_number(out, "keepsTask", c->keeps_task);
    write_number(out, "overdue", c->is_overdue);
    write_json(out, "frozen", c->suspended_json);
    write_text(out, "awaited", c->awaited);
    write_text(out, "ask", str_of(ask_name(c->ask)));
    write_text(out, "host", c->host);
    write_number(out, "callSeq", c->asked_seq);
    write_text(out, "failedAt", c->failed_at);
    write_number(out, "tries", c->tries);
    write_number(out, "unsure", c->is_unsure);
    write_number(out, "asked", c->asked);
    write_reconciling(out, c->reconciling);
    write_number(out, "seq", c->seq);
    write_number(out, "keptSeq", c->deferred_seq);
    write_json(out, "keptAnswer", c->deferred_answer_json);
}

static void write_strands(struct buf *out, const struct program *p,
                          const struct strand *const *strands, uint32_t count)
{
    if (count == 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        buf_text(out, i == 0 ? ",\"beside\":[" : ",");
        write_cursor(out, p, &strands[i]->cursor);
        write_json(out, "why", strands[i]->waiting_for_json);
        write_frames(out, p, strands[i]->frames, strands[i]->frame_count);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

/* The strands beside the first one, each with what it waits for. */
static void write_others(struct buf *out, const struct execution *x)
{
    write_json(out, "why", x->strand_waiting_json);
    if (x->other_count == 0)
        return;
    write_number(out, "place", x->strand_index);
    write_strands(out, x->program, x->others, x->other_count);
}

static void write_rollback(struct buf *out, const struct program *p, const struct rollback *u)
{
    if (u == NULL)
        return;
    buf_text(out, ",\"undo\":{\"end\":\"");
    buf_text(out, status_name(u->end));
    write_int(out, "\",\"before\":", u->before);
    write_number(out, "row", u->row);
    write_number(out, "commands", u->commands_left);
    write_number(out, "failed", u->has_failed);
    write_number(out, "deadlineAt", u->deadline_at_us);
    write_number(out, "known", u->is_known);
    write_number(out, "alone", u->is_retry);
    write_number(out, "triedBefore", u->tried_before);
    for (const struct past_visit *v = u->again; v != NULL; v = v->next) {
        buf_text(out, v == u->again ? ",\"again\":[[" : "],[");
        json_write_string(out, v->code);
        write_int(out, ",", v->visit);
    }
    buf_text(out, u->again != NULL ? "]]" : "");
    write_from(out, u->from);
    write_number(out, "place", u->strand_index);
    write_strands(out, p, u->others, u->other_count);
    buf_char(out, '}');
}

static void write_pause(struct buf *out, const struct pause *p)
{
    if (p == NULL)
        return;
    write_int(out, ",\"pause\":{\"since\":", p->since_us);
    write_text(out, "reason", p->reason);
    write_json(out, "by", p->by_json);
    buf_char(out, '}');
}

struct str state_cursor_json(struct arena *mem, const struct execution *exec)
{
    struct buf out;

    buf_init_arena(&out, mem);
    write_cursor(&out, exec->program, &exec->cursor);
    write_number(&out, "jumps", exec->jumps);
    write_number(&out, "links", exec->links_from);
    write_number(&out, "linksSpent", exec->links_spent);
    write_number(&out, "reopened", exec->reopened_at_us);
    write_frames(&out, exec->program, exec->frames, exec->frame_count);
    write_others(&out, exec);
    write_rollback(&out, exec->program, exec->rollback);
    write_pause(&out, exec->pause);
    buf_char(&out, '}');
    return buf_view(&out);
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
        const struct step *step = program_step(p, stored_text(f, STR("step")));

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

static struct str stored_json_of(struct arena *mem, struct value stored, struct str name)
{
    struct value v = stored_field(stored, name);

    return v.kind == VALUE_ABSENT ? STR_NONE : stored_json(mem, v);
}

static const struct cursor *restore_from(struct arena *mem, const struct execution *x,
                                         struct value stored)
{
    struct cursor *c;

    if (stored.kind != VALUE_MAP)
        return NULL;
    c = ARENA_NEW(mem, struct cursor);
    /* While nothing is undone the cursor stays at the step. */
    c->step = x->cursor.step;
    c->visit = stored_int(stored, STR("visit"));
    c->attempt = stored_int(stored, STR("attempt"));
    c->started_at_us = stored_int(stored, STR("startedAt"));
    c->input_json = stored_json_of(mem, stored, STR("input"));
    c->suspended_json = stored_json_of(mem, stored, STR("frozen"));
    c->is_unsure = stored_int(stored, STR("unsure")) != 0;
    c->asked = stored_int(stored, STR("asked"));
    return c;
}

static void restore_reconciling(struct arena *mem, struct cursor *cursor, struct value stored)
{
    struct reconciling *a;

    if (stored.kind != VALUE_MAP)
        return;
    a = ARENA_NEW(mem, struct reconciling);
    a->since_us = stored_int(stored, STR("since"));
    a->asked_at_us = stored_int(stored, STR("askedAt"));
    a->before = stored_int(stored, STR("before"));
    a->retry_at_us = stored_int(stored, STR("retryAt"));
    a->error_json = stored_json_of(mem, stored, STR("error"));
    a->input_json = stored_json_of(mem, stored, STR("input"));
    a->suspended_json = stored_json_of(mem, stored, STR("frozen"));
    a->letter = stored_text(stored, STR("letter"));
    cursor->reconciling = a;
}

enum waiting_kind state_waiting_kind(struct value waiting_for)
{
    enum waiting_kind kind = WAITING_NONE;

    /* The kinds that are stored by a name of their own are shown as another one. */
    if (waiting_for.kind == VALUE_MAP &&
        !waiting_kind_read(stored_text(waiting_for, STR("kind")), &kind))
        kind = WAITING_NONE;
    if (kind == WAITING_RECONCILE && value_is_true(stored_field(waiting_for, STR("parked"))))
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
    if (!stored_read(mem, x->waiting_for_json, &why, err))
        return false;
    v = stored_field(why, STR("correlation"));
    if (v.kind != VALUE_ABSENT && !define_correlation(mem, v, &x->cursor.correlation))
        x->cursor.correlation = STR_NONE;
    return true;
}

static bool restore_strand(struct arena *mem, const struct program *p, struct value stored,
                           struct strand *out, struct err *err)
{
    struct value v = stored_field(stored, STR("step"));
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
    if (!phase_read(stored_text(stored, STR("phase")), &c->phase))
        return stored_broken(err, "the cursor has an unknown phase");
    c->visit = stored_int(stored, STR("visit"));
    c->attempt = stored_int(stored, STR("attempt"));
    c->started_at_us = stored_int(stored, STR("startedAt"));
    c->wake_at_us = stored_int(stored, STR("wakeAt"));
    c->input_json = stored_json_of(mem, stored, STR("input"));
    c->types_json = stored_json_of(mem, stored, STR("types"));
    c->correlation = stored_text(stored, STR("correlation"));
    c->assignees_json = stored_json_of(mem, stored, STR("assignees"));
    c->title = stored_text(stored, STR("title"));
    c->timeout_at_us = stored_int(stored, STR("timeoutAt"));
    c->remind_at_us = stored_int(stored, STR("remindAt"));
    c->remind_every_us = stored_int(stored, STR("remindEvery"));
    c->remind_times_json = stored_json_of(mem, stored, STR("remindTimes"));
    c->reminders = stored_int(stored, STR("reminders"));
    c->unmatched = stored_int(stored, STR("unmatched"));
    c->task = stored_text(stored, STR("task"));
    c->keeps_task = stored_int(stored, STR("keepsTask")) != 0;
    c->is_overdue = stored_int(stored, STR("overdue")) != 0;
    c->suspended_json = stored_json_of(mem, stored, STR("frozen"));
    c->awaited = stored_text(stored, STR("awaited"));
    c->host = stored_text(stored, STR("host"));
    c->asked_seq = stored_int(stored, STR("callSeq"));
    if (!ask_read(stored_text(stored, STR("ask")), &c->ask))
        return stored_broken(err, "the cursor asks for something unknown");
    /* One that was stored before asks had names. */
    if (c->ask == ASK_NONE && c->awaited.len > 0 && !child_is_awaited(c))
        c->ask = c->host.len > 0 ? ASK_CALL : ASK_JOB;
    c->failed_at = stored_text(stored, STR("failedAt"));
    c->tries = stored_int(stored, STR("tries"));
    c->is_unsure = stored_int(stored, STR("unsure")) != 0;
    c->asked = stored_int(stored, STR("asked"));
    restore_reconciling(mem, c, stored_field(stored, STR("asking")));
    c->seq = stored_int(stored, STR("seq"));
    c->deferred_seq = stored_int(stored, STR("keptSeq"));
    c->deferred_answer_json = stored_json_of(mem, stored, STR("keptAnswer"));
    out->waiting_for_json = stored_json_of(mem, stored, STR("why"));
    out->waiting_kind = state_waiting_kind(stored_field(stored, STR("why")));
    return restore_frames(mem, p, stored_field(stored, STR("in")), out, err);
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
    struct rollback *rollback;

    if (stored.kind != VALUE_MAP)
        return true;
    rollback = ARENA_NEW(mem, struct rollback);
    if (!status_read(stored_text(stored, STR("end")), &rollback->end))
        return stored_broken(err, "it rolls back to an unknown end");
    rollback->before = stored_int(stored, STR("before"));
    rollback->row = stored_int(stored, STR("row"));
    rollback->commands_left = stored_int(stored, STR("commands"));
    rollback->has_failed = stored_int(stored, STR("failed")) != 0;
    rollback->deadline_at_us = stored_int(stored, STR("deadlineAt"));
    rollback->is_known = stored_int(stored, STR("known")) != 0;
    rollback->is_retry = stored_int(stored, STR("alone")) != 0;
    rollback->tried_before = stored_int(stored, STR("triedBefore"));
    rollback->from = restore_from(mem, x, stored_field(stored, STR("from")));
    rollback->again = restore_again(mem, stored_field(stored, STR("again")));
    rollback->strand_index = (uint32_t)stored_int(stored, STR("place"));
    x->rollback = rollback;
    return restore_strands(mem, x->program, stored_field(stored, STR("beside")), &rollback->others,
                           &rollback->other_count, err);
}

static void restore_pause(struct arena *mem, struct execution *x, struct value stored)
{
    struct pause *pause;

    if (stored.kind != VALUE_MAP)
        return;
    pause = ARENA_NEW(mem, struct pause);
    pause->since_us = stored_int(stored, STR("since"));
    pause->reason = stored_text(stored, STR("reason"));
    pause->by_json = stored_json_of(mem, stored, STR("by"));
    x->pause = pause;
}

bool state_restore_cursor(struct arena *mem, struct execution *x, struct str text, struct err *err)
{
    struct strand first;
    struct value stored;

    if (text.len == 0)
        return true;
    if (!stored_read(mem, text, &stored, err) ||
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
    x->strand_index = (uint32_t)stored_int(stored, STR("place"));
    restore_pause(mem, x, stored_field(stored, STR("pause")));
    return restore_correlation(mem, x, err) &&
           restore_strands(mem, x->program, stored_field(stored, STR("beside")), &x->others,
                           &x->other_count, err) &&
           restore_rollback(mem, x, stored_field(stored, STR("undo")), err);
}
