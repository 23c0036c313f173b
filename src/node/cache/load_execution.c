/*
 * load_execution.c - executions are read into entries, with what is for them in
 * execution_events; see load.h.
 */
#include "engine/advance.h"
#include "engine/state.h"
#include "node/cache/entry.h"
#include "node/cache/load.h"
#include "node/cache/program.h"
#include "node/cache/taken.h"
#include "node/cluster/waiters.h"
#include "node/guard/crash.h"
#include "node/guard/park.h"
#include "node/guard/poison.h"
#include "node/inner.h"
#include "node/notify.h"
#include "node/wake.h"
#include "node/work.h"
#include "store/read_execution.h"

/* --- executions --- */

/* Executions that are read together. */
struct group_load {
    struct load load; /* first: see load.h */
    struct execution_load *first, *last;
    size_t count;
};

static void read_alone(struct execution_load *l, struct reader *reader)
{
    struct entry *e = l->entry;
    unsigned slot = poison_enter(l->load.node->poison, e->id);

    l->load.ok = read_execution(reader, &e->mem, e->id, &l->stored, &l->found, &l->load.err);
    poison_leave(l->load.node->poison, slot);
}

/* Which execution of a group is being read stands in the poison file, as for one alone. */
struct group_poison {
    struct poison *poison;
    unsigned slot;
    bool is_entered;
};

static void group_leaves(struct group_poison *p)
{
    if (p->is_entered)
        poison_leave(p->poison, p->slot);
    p->is_entered = false;
}

static void group_begins(void *context, struct uuid id)
{
    struct group_poison *p = context;

    group_leaves(p);
    p->slot = poison_enter(p->poison, id);
    p->is_entered = true;
}

static bool read_group(struct group_load *group, struct reader *reader)
{
    struct group_poison poison = {.poison = group->load.node->poison};
    struct execution_reads reads = {
        .items = ARENA_ARRAY(&group->load.mem, group->count, struct execution_read),
        .begins = group_begins,
        .context = &poison};
    bool ok;

    for (struct execution_load *l = group->first; l != NULL; l = l->next_in_group)
        reads.items[reads.count++] =
            (struct execution_read){.id = l->entry->id, .mem = &l->entry->mem};
    ok = read_several(reader, &group->load.mem, &reads, &group->load.err);
    group_leaves(&poison);
    reads.count = 0;
    for (struct execution_load *l = group->first; ok && l != NULL; l = l->next_in_group) {
        const struct execution_read *is = &reads.items[reads.count++];

        l->load.ok = true;
        l->found = is->found;
        l->stored = is->stored;
    }
    return ok;
}

static void run_group(struct load *load, struct reader *reader)
{
    struct group_load *group = (struct group_load *)load;

    if (group->count > 1 && read_group(group, reader))
        return;
    /* One that cannot be read is not to take the others with it. */
    for (struct execution_load *l = group->first; l != NULL; l = l->next_in_group)
        read_alone(l, reader);
}

/* What waits for it is refused; it is tried again after a while, or parked. */
static void fail_execution(struct execution_load *l, const char *code, const struct err *err)
{
    struct entry *e = l->entry;
    struct node *n = l->load.node;

    /* One that is parked is left alone, and its letter has said why. */
    if (err->code != ERR_NOT_FOUND && !(l->found && l->stored.crash_count >= CRASHES_MAX))
        park_or_wake_later(n, e->id, code, err);
    entry_fail(n, e, err);
    entry_release_if_idle(n, e);
    load_free(&l->load);
}

/* Another waits for its end: the row stays until then. */
static void load_take_join(struct entry *e, const struct notice_row *notice)
{
    struct notice end;

    e->events.is_joined = true;
    if (!status_is_terminal(e->x->status) || e->events.joins.count == JOINERS_MAX)
        return;
    *VEC_ADD(&e->mem, &e->events.joins) = notice->n;
    if (engine_notice_join(&e->mem, e->x, notice, &end))
        *VEC_ADD(&e->mem, &e->events.joiners) = end;
}

/* Values may lie in the text that they were read from. */
static void load_take_task(struct entry *e, struct notice_row notice)
{
    struct task_answer answer;

    if (notice.kind != NOTICE_TASK)
        return;
    notice.payload_json = str_copy(&e->mem, notice.payload_json);
    if (engine_notice_task(&e->mem, &notice, &answer))
        *VEC_ADD(&e->mem, &e->events.tasks) = answer;
}

static void load_take_child(struct entry *e, struct notice_row notice)
{
    struct child_read end;

    if (notice.kind != NOTICE_CHILD)
        return;
    notice.payload_json = str_copy(&e->mem, notice.payload_json);
    if (engine_notice_child(&e->mem, &notice, &end))
        *VEC_ADD(&e->mem, &e->events.children) = end;
}

/* Its next wake applies these rows; the texts stay where they are. */
static void load_take_events(struct node *n, struct entry *e, const struct notice_rows *notices)
{
    struct event cancel = {0};

    entry_forget_events(e);
    e->events.is_cut = notices->is_cut;
    for (size_t i = 0; i < notices->count; i++) {
        if (notices->items[i].kind == NOTICE_JOIN) {
            load_take_join(e, &notices->items[i]);
            continue;
        }
        *VEC_ADD(&e->mem, &e->events.numbers) = notices->items[i].n;
        load_take_task(e, notices->items[i]);
        load_take_child(e, notices->items[i]);
        if (engine_notice_cancel(&e->mem, &notices->items[i], &cancel)) {
            e->events.cancels = true;
            e->events.parent = cancel.parent;
            e->events.cancel_rollback = cancel.cancel_rollback;
            e->events.reason = str_copy(&e->mem, cancel.reason);
        }
    }
    if (e->wake_queued)
        return;
    if (e->events.joins.count > 0 ||
        (e->events.numbers.count > 0 && (e->x->pause == NULL || e->events.cancels)))
        wake(n, e->id);
}

/* The rows of execution_events of one execution. */
struct events_load {
    struct load load; /* first: see load.h */
    struct entry *entry;
    struct notice_rows notices;
};

static void run_news(struct load *load, struct reader *reader)
{
    struct events_load *l = (struct events_load *)load;

    load->ok = read_notices(reader, &load->mem, l->entry->id, &l->notices, &load->err);
}

static void done_news(struct load *load)
{
    struct events_load *l = (struct events_load *)load;
    struct entry *e = l->entry;
    struct node *n = load->node;

    entry_end_reading(e);
    if (load->ok) {
        load_take_events(n, e, &l->notices);
    } else {
        park_or_wake_later(n, e->id, "internal_read", &load->err);
        entry_fail(n, e, &load->err);
    }
    entry_make_ready(n, e);
    entry_release_if_idle(n, e);
    load_free(load);
}

void load_events(struct node *n, struct entry *e)
{
    struct events_load *l = LOAD_NEW(n, struct events_load, run_news, done_news);

    ASSERT(e->pins == 0);
    entry_begin_reading(e);
    e->events.is_unread = false;
    l->load.about = e->id;
    l->entry = e;
    load_send(&l->load);
}

static void restore_execution(struct execution_load *l)
{
    struct node *n = l->load.node;
    struct entry *e = l->entry;
    struct err err;

    if (e->program->state != PROGRAM_READY) {
        bool may_pass = err_is_retryable(e->program->err.code);
        err_set(&err, may_pass ? e->program->err.code : ERR_INTERNAL, "its program: %pS",
                ERR_ARG(&e->program->err));
        fail_execution(l, "internal_program", &err);
        return;
    }
    if (!state_restore(&e->mem, e->program->program, &l->stored, &e->x, &l->load.err)) {
        err = l->load.err;
        fail_execution(l, "internal_state", &err);
        return;
    }
    load_take_events(n, e, &l->stored.notices);
    load_free(&l->load);
    e->row = e->x->row;
    e->state = ENTRY_READY;
    notify_known(e, e->x);
    if (!e->wake_queued)
        wake_arm(n, e->x);
    taken_loaded(n, e);
    waiters_loaded(n, e);
    entry_touch(n, e);
    entry_make_ready(n, e);
    entry_release_if_idle(n, e);
}

void load_restore(struct execution_load *l)
{
    struct node *n = l->load.node;

    poison_set(n->poison, l->entry->id);
    restore_execution(l);
    poison_clear(n->poison);
}

static void execution_was_read(struct execution_load *l)
{
    struct entry *e = l->entry;
    struct err err = l->load.err;
    bool ok = l->load.ok;

    if (ok && !l->found)
        ok = err_set(&err, ERR_NOT_FOUND, "there is no such execution");
    if (!ok) {
        fail_execution(l, "internal_read", &err);
        return;
    }
    if (!program_can_be_named(l->stored.code, l->stored.snapshot)) {
        (void)err_set(&err, ERR_INTERNAL, "what is stored of it names no program");
        fail_execution(l, "internal_state", &err);
        return;
    }
    program_hold(l->load.node, &e->program,
                 program_get_pinned(l->load.node, e->id, l->stored.code, l->stored.version,
                                    l->stored.snapshot));
    if (e->program->state == PROGRAM_LOADING) {
        l->next_for_program = e->program->loads;
        e->program->loads = l;
        return;
    }
    load_restore(l);
}

static void done_group(struct load *load)
{
    struct group_load *group = (struct group_load *)load;

    for (struct execution_load *l = group->first, *next; l != NULL; l = next) {
        next = l->next_in_group;
        execution_was_read(l);
    }
    load_free(load);
}

void loads_send_group(struct node *n)
{
    struct group_load *group = n->loads->group;

    n->loads->group = NULL;
    if (group != NULL)
        load_send(&group->load);
}

void load_entry(struct node *n, struct entry *e)
{
    struct group_load *group = n->loads->group;
    struct execution_load *l;

    e->state = ENTRY_LOADING;
    e->events.is_unread = false;
    if (crash_holds(n, e->id))
        return;
    l = LOAD_NEW(n, struct execution_load, NULL, NULL);
    l->entry = e;
    if (group == NULL) {
        group = n->loads->group = LOAD_NEW(n, struct group_load, run_group, done_group);
        group->first = l;
    } else {
        group->last->next_in_group = l;
    }
    group->last = l;
    if (++group->count == LOAD_GROUP_MAX)
        loads_send_group(n);
}
