/* actor.c - one execution of a trial; see inner.h. */
#include "engine/commit/reads.h"
#include "trial/inner.h"

#include "engine/commit/link.h"
#include "value/json.h"

#define TRIAL_LINKS "https://pawl.test/callbacks/"

enum { COMPACT_MIN_BYTES = 1 << 20, COMPACT_FACTOR = 4 };

struct actor *actor_add(struct trial_run *r, const struct execution *x)
{
    struct actor *a = ARENA_NEW(r->mem, struct actor);

    arena_init(&a->mem);
    a->compact_at_bytes = COMPACT_MIN_BYTES;
    a->x = state_copy(&a->mem, x);
    *VEC_ADD(r->mem, &r->actors) = a;
    return a;
}

/* Every event leaves its turn behind; the state is copied when that outweighs it. */
static void compact(struct actor *a)
{
    struct arena fresh;

    if (a->mem.held_bytes < a->compact_at_bytes)
        return;
    arena_init(&fresh);
    a->x = state_copy(&fresh, a->x);
    arena_fini(&a->mem);
    a->mem = fresh;
    a->compact_at_bytes = COMPACT_FACTOR * fresh.held_bytes;
    if (a->compact_at_bytes < COMPACT_MIN_BYTES)
        a->compact_at_bytes = COMPACT_MIN_BYTES;
}

bool actor_waits_for(struct trial_run *r, const struct actor *a, struct str kind)
{
    for (uint32_t i = 0; i < execution_strands(a->x); i++) {
        struct str json = execution_waits(a->x, i);
        struct value why, is;
        struct err err;

        if (json.len == 0 || !json_read(r->mem, json, &why, &err))
            continue;
        is = value_map_get_str(why, STR("kind"));
        if (is.kind == VALUE_STRING && str_eq(value_text(is), kind))
            return true;
    }
    return false;
}

/* --- what a commit leaves --- */

static void keep_history(struct arena *mem, struct actor *a, const struct history *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct history_row *row = VEC_ADD(mem, &a->history);

        *row = rows->items[i];
        row->step = str_copy(mem, row->step);
        row->status = str_copy(mem, row->status);
        row->key = str_copy(mem, row->key);
        row->input_json = str_copy(mem, row->input_json);
        row->output_json = str_copy(mem, row->output_json);
        row->error_json = str_copy(mem, row->error_json);
        row->delta_json = str_copy(mem, row->delta_json);
        row->dep = str_copy(mem, row->dep);
    }
}

static bool is_same_attempt(const struct command_run *a, const struct command_run *b)
{
    return a->kind == b->kind && a->visit == b->visit && a->attempt == b->attempt &&
           str_eq(a->step, b->step);
}

/* A step that stopped for an answer goes through the commands around that again. */
static bool is_known(const struct command_runs *runs, const struct command_run *run)
{
    for (size_t i = runs->count; i > 0 && is_same_attempt(&runs->items[i - 1], run); i--)
        if (str_eq(runs->items[i - 1].place, run->place))
            return true;
    return false;
}

static void keep_commands(struct arena *mem, struct actor *a, const struct command_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        struct command_run run = runs->items[i];

        if (is_known(&a->commands, &run))
            continue;
        run.step = str_copy(mem, run.step);
        run.place = str_copy(mem, run.place);
        *VEC_ADD(mem, &a->commands) = run;
    }
}

static void keep_rest(struct trial_run *r, const struct commit *c)
{
    for (size_t i = 0; i < c->logs.count; i++) {
        const struct log_line *line = &c->logs.items[i];

        *VEC_ADD(r->mem, &r->out->logs) =
            (struct log_line){.level = str_copy(r->mem, line->level),
                              .message = str_copy(r->mem, line->message),
                              .data_json = str_copy(r->mem, line->data_json)};
    }
    for (size_t i = 0; i < c->messages.count; i++) {
        struct message *message = VEC_ADD(r->mem, &r->out->messages);

        *message = c->messages.items[i];
        message->name = str_copy(r->mem, message->name);
        message->step = str_copy(r->mem, message->step);
        message->body_json = str_copy(r->mem, message->body_json);
    }
    for (size_t i = 0; i < c->dead_letters.count; i++) {
        struct dead_letter *letter = VEC_ADD(r->mem, &r->out->dead_letters);

        *letter = c->dead_letters.items[i];
        letter->kind = str_copy(r->mem, letter->kind);
        letter->step = str_copy(r->mem, letter->step);
        letter->cause_json = str_copy(r->mem, letter->cause_json);
        letter->payload_json = str_copy(r->mem, letter->payload_json);
    }
}

/* --- events --- */

/* Links of a trial lead nowhere: they are the same in each, and no server takes them. */
static void sign_nothing(void *key, struct str text, uint8_t out[LINK_MAC_LEN])
{
    (void)key;
    (void)text;
    memset(out, 0, LINK_MAC_LEN);
}

static const struct link_maker trial_links = {
    .base = {.ptr = TRIAL_LINKS, .len = sizeof(TRIAL_LINKS) - 1}, .sign = sign_nothing};

static bool advance(struct trial_run *r, struct actor *a, struct event ev, struct commit *c,
                    struct err *err)
{
    /* A trial answers jobs: no worker holds one. */
    struct turn_reads reads = {.has_leases = true};

    ev.reads = &reads;
    ev.links = &trial_links;
    ev.config = r->config;
    ev.credentials = r->script->credentials;
    ev.assumes_credentials = true;
    ev.mocked = r->script->mocks.procedures;
    ev.traces = true;
    while (true) {
        if (!engine_advance(&a->mem, a->x, &ev, r->now_us, c, err))
            return false;
        if (c->result == ADVANCE_COMMIT)
            return true;
        if (!answer_needs(r, a, c, &reads, err))
            return false;
    }
}

static void keep_notices(struct trial_run *r, const struct notices *notices)
{
    for (size_t i = 0; i < notices->count; i++) {
        const struct notice *n = &notices->items[i];

        for (size_t k = 0; n->kind == NOTICE_CANCEL && k < r->actors.count; k++)
            if (uuid_cmp(r->actors.items[k]->x->id, n->execution) == 0)
                *VEC_ADD(r->mem, &r->notices) = (struct trial_notice){
                    .to = r->actors.items[k],
                    .row = {.kind = n->kind,
                            .key = str_copy(r->mem, n->key),
                            .payload_json = str_copy(r->mem, n->payload_json)}};
    }
}

bool actor_apply_notice(struct trial_run *r, bool *more, struct err *err)
{
    struct event ev = {0};
    struct trial_notice notice;

    *more = r->notices.count > 0;
    if (!*more)
        return true;
    notice = r->notices.items[--r->notices.count];
    if (status_is_terminal(notice.to->x->status) || !engine_notice_cancel(r->mem, &notice.row, &ev))
        return true;
    /* One that is being rolled back already goes on with that. */
    return actor_apply(r, notice.to, ev, err) || err->code == ERR_CONFLICT;
}

bool actor_apply(struct trial_run *r, struct actor *a, struct event ev, struct err *err)
{
    struct commit c;

    if (!advance(r, a, ev, &c, err)) {
        /* The memory of the actor is freed before anybody reads them. */
        findings_add(r->mem, &c.findings, r->findings);
        return false;
    }
    keep_history(r->mem, a, &c.history);
    keep_commands(r->mem, a, &c.commands);
    keep_rest(r, &c);
    if (!answer_keep_records(r, &c.records, err))
        return false;
    a->x = c.after;
    keep_notices(r, &c.notices);
    tasks_keep(r, a, &c.tasks);
    for (size_t i = 0; i < c.starts.count; i++)
        (void)actor_add(r, c.starts.items[i]);
    compact(a);
    if (a == r->actors.items[0])
        r->out->ended_at_us = r->now_us;
    return true;
}
