/*
 * load.c - what the node reads from the store for executions; see inner.h.
 *
 * Each read runs on a reader thread and fills memory that the loop does not
 * touch meanwhile; it comes back through the mailbox.
 */
#include "node/inner.h"

#include "node/render.h"
#include "value/json.h"

#include <stdlib.h>

/* --- reads of the node's own --- */

/* On a reader thread. */
static void load_run(struct node_read *read, struct reader *reader)
{
    static const struct uuid nobody;
    struct load *l = read->owner;
    bool is_about_one = uuid_cmp(l->about, nobody) != 0;
    unsigned slot = is_about_one ? poison_enter(&l->node->poison, l->about) : 0;

    l->run(read, reader);
    if (is_about_one)
        poison_leave(&l->node->poison, slot);
}

struct load *load_new(struct node *n, void (*run)(struct node_read *, struct reader *),
                      void (*done)(struct node_read *))
{
    struct load *l = calloc(1, sizeof(*l));

    if (l == NULL)
        PANIC("out of memory");
    arena_init(&l->mem);
    l->node = n;
    l->run = run;
    l->read.run = load_run;
    l->read.done = done;
    l->read.owner = l;
    l->older = n->newest_load;
    if (l->older != NULL)
        l->older->newer = l;
    n->newest_load = l;
    return l;
}

void load_free(struct load *l)
{
    if (l->newer != NULL)
        l->newer->older = l->older;
    else
        l->node->newest_load = l->older;
    if (l->older != NULL)
        l->older->newer = l->newer;
    arena_fini(&l->mem);
    free(l);
}

void load_send(struct load *l)
{
    struct node *n = l->node;
    struct load_queue *unsent = &n->unsent[l->read.lane];

    if (unsent->first == NULL && node_read(n, &l->read, &l->err))
        return;
    l->next_unsent = NULL;
    if (unsent->first != NULL)
        unsent->last->next_unsent = l;
    else
        unsent->first = l;
    unsent->last = l;
}

bool loads_resend(struct node *n)
{
    bool any = n->group != NULL;

    loads_send_group(n);
    for (unsigned lane = 0; lane < LANE_COUNT; lane++) {
        struct load_queue *unsent = &n->unsent[lane];

        while (unsent->first != NULL && node_read(n, &unsent->first->read, &unsent->first->err)) {
            unsent->first = unsent->first->next_unsent;
            any = true;
        }
    }
    return any;
}

bool loads_are_unsent(const struct node *n)
{
    if (n->group != NULL)
        return true;
    for (unsigned lane = 0; lane < LANE_COUNT; lane++)
        if (n->unsent[lane].first != NULL)
            return true;
    return false;
}

void loads_free(struct node *n)
{
    for (struct load *l = n->newest_load, *older; l != NULL; l = older) {
        older = l->older;
        load_free(l);
    }
}

/* --- executions --- */

static void read_alone(struct load *l, struct reader *reader)
{
    struct entry *e = l->execution.entry;
    unsigned slot = poison_enter(&l->node->poison, e->id);

    l->ok =
        read_execution(reader, &e->mem, e->id, &l->execution.stored, &l->execution.found, &l->err);
    poison_leave(&l->node->poison, slot);
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

static bool read_group(struct load *group, struct reader *reader)
{
    struct group_poison poison = {.poison = &group->node->poison};
    struct execution_reads reads = {
        .items = ARENA_ARRAY(&group->mem, group->group.count, struct execution_read),
        .begins = group_begins,
        .context = &poison};
    bool ok;

    for (struct load *l = group->group.first; l != NULL; l = l->next_in_group)
        reads.items[reads.count++] =
            (struct execution_read){.id = l->execution.entry->id, .mem = &l->execution.entry->mem};
    ok = read_several(reader, &group->mem, &reads, &group->err);
    group_leaves(&poison);
    reads.count = 0;
    for (struct load *l = group->group.first; ok && l != NULL; l = l->next_in_group) {
        const struct execution_read *is = &reads.items[reads.count++];

        l->ok = true;
        l->execution.found = is->found;
        l->execution.stored = is->stored;
    }
    return ok;
}

static void run_group(struct node_read *read, struct reader *reader)
{
    struct load *group = read->owner;

    if (group->group.count > 1 && read_group(group, reader))
        return;
    /* One that cannot be read is not to take the others with it. */
    for (struct load *l = group->group.first; l != NULL; l = l->next_in_group)
        read_alone(l, reader);
}

/* What waits for it is told; it is tried again after a while, or parked. */
static void fail_execution(struct load *l, const char *code, const struct err *err)
{
    struct entry *e = l->execution.entry;

    if (err->code != ERR_NOT_FOUND)
        park_or_wake_later(l->node, e->id, code, err);
    entry_fail(l->node, e, err);
    entry_release_if_idle(l->node, e);
    load_free(l);
}

/* Another waits for its end: the row stays until then. */
static void load_take_join(struct entry *e, const struct told *told)
{
    struct tell end;

    e->is_joined = true;
    if (!status_is_terminal(e->x->status) || e->joins.count == JOINERS_MAX)
        return;
    *VEC_ADD(&e->mem, &e->joins) = told->n;
    if (engine_told_join(&e->mem, e->x, told, &end))
        *VEC_ADD(&e->mem, &e->joiners) = end;
}

/* Values may lie in the text that they were read from. */
static void load_take_task(struct entry *e, struct told told)
{
    struct task_answer answer;

    if (told.kind != TELL_TASK)
        return;
    told.payload_json = str_copy(&e->mem, told.payload_json);
    if (engine_told_task(&e->mem, &told, &answer))
        *VEC_ADD(&e->mem, &e->tasks) = answer;
}

/* Its next wake applies what it was told; the texts stay where they are. */
static void load_take_told(struct node *n, struct entry *e, const struct tolds *tolds)
{
    entry_forget_told(e);
    for (size_t i = 0; i < tolds->count; i++) {
        if (tolds->items[i].kind == TELL_JOIN) {
            load_take_join(e, &tolds->items[i]);
            continue;
        }
        *VEC_ADD(&e->mem, &e->told) = tolds->items[i].n;
        load_take_task(e, tolds->items[i]);
        if (engine_told_cancel(&e->mem, &tolds->items[i], &e->cancel)) {
            e->is_told_to_cancel = true;
            e->cancel.reason = str_copy(&e->mem, e->cancel.reason);
        }
    }
    if (e->wake_queued)
        return;
    if (e->joins.count > 0 || (e->told.count > 0 && (e->x->pause == NULL || e->is_told_to_cancel)))
        wake(n, e->id);
}

static void run_news(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;

    l->ok = read_told(reader, &l->mem, l->news.entry->id, &l->news.tolds, &l->err);
}

static void done_news(struct node_read *read)
{
    struct load *l = read->owner;
    struct entry *e = l->news.entry;
    struct node *n = l->node;

    e->is_needing = false;
    if (l->ok) {
        load_take_told(n, e, &l->news.tolds);
    } else {
        park_or_wake_later(n, e->id, "internal_read", &l->err);
        entry_fail(n, e, &l->err);
    }
    entry_make_ready(n, e);
    entry_release_if_idle(n, e);
    load_free(l);
}

void load_told(struct node *n, struct entry *e)
{
    struct load *l = load_new(n, run_news, done_news);

    ASSERT(e->pins == 0);
    e->is_needing = true;
    e->has_news = false;
    l->about = e->id;
    l->news.entry = e;
    load_send(l);
}

static void restore_execution(struct load *l)
{
    struct node *n = l->node;
    struct entry *e = l->execution.entry;
    struct err err;

    if (e->program->state != PROGRAM_READY) {
        bool may_pass = err_is_retryable(e->program->err.code);
        err_set(&err, may_pass ? e->program->err.code : ERR_INTERNAL, "its program: %s",
                e->program->err.message);
        fail_execution(l, "internal_program", &err);
        return;
    }
    if (!state_restore(&e->mem, e->program->program, &l->execution.stored, &e->x, &l->err)) {
        err = l->err;
        fail_execution(l, "internal_state", &err);
        return;
    }
    load_take_told(n, e, &l->execution.stored.tolds);
    load_free(l);
    e->row = e->x->row;
    e->state = ENTRY_READY;
    news_known(e, e->x);
    if (!e->wake_queued)
        wake_arm(n, e->x);
    taken_loaded(n, e);
    request_expire_loaded(n, e);
    entry_touch(n, e);
    entry_make_ready(n, e);
    entry_release_if_idle(n, e);
}

void load_restore(struct load *l)
{
    struct node *n = l->node;

    poison_set(&n->poison, l->execution.entry->id);
    restore_execution(l);
    poison_clear(&n->poison);
}

static void done_execution(struct node_read *read)
{
    struct load *l = read->owner;
    struct entry *e = l->execution.entry;
    struct err err = l->err;

    if (l->ok && !l->execution.found)
        l->ok = err_set(&err, ERR_NOT_FOUND, "there is no such execution");
    if (!l->ok) {
        fail_execution(l, "internal_read", &err);
        return;
    }
    program_hold(l->node, &e->program,
                 program_get_pinned(l->node, e->id, l->execution.stored.code,
                                    l->execution.stored.version, l->execution.stored.snapshot));
    if (e->program->state == PROGRAM_LOADING) {
        l->next_for_program = e->program->loads;
        e->program->loads = l;
        return;
    }
    load_restore(l);
}

static void done_group(struct node_read *read)
{
    struct load *group = read->owner;

    for (struct load *l = group->group.first, *next; l != NULL; l = next) {
        next = l->next_in_group;
        done_execution(&l->read);
    }
    load_free(group);
}

void loads_send_group(struct node *n)
{
    struct load *group = n->group;

    n->group = NULL;
    if (group != NULL)
        load_send(group);
}

void load_entry(struct node *n, struct entry *e)
{
    struct load *l = load_new(n, NULL, done_execution);
    struct load *group = n->group;

    e->state = ENTRY_LOADING;
    e->has_news = false;
    l->execution.entry = e;
    if (group == NULL) {
        group = n->group = load_new(n, run_group, done_group);
        group->group.first = l;
    } else {
        group->group.last->next_in_group = l;
    }
    group->group.last = l;
    if (++group->group.count == LOAD_GROUP_MAX)
        loads_send_group(n);
}

/* --- records --- */

/* One that is made now goes on counting where an earlier one of its id ended. */
static bool load_record(struct reader *reader, struct arena *mem, struct work *w,
                        const struct record_query *q, struct err *err)
{
    struct record_read read;

    if (!read_record(reader, mem, w->entry->x->org_id, q->object, q->id, &read, err) ||
        (read.version == 0 &&
         !read_record_last(reader, w->entry->x->org_id, q->object, q->id, &read.last_version, err)))
        return false;
    *VEC_ADD(mem, &w->records) = read;
    return true;
}

static bool load_search(struct reader *reader, struct arena *mem, struct work *w,
                        const struct record_query *q, struct err *err)
{
    struct search_read read = {.search = q->search};

    if (!read_found(reader, mem, q->search, &read.found, err))
        return false;
    *VEC_ADD(mem, &w->searches) = read;
    return true;
}

/* What flow.start asks for: the published program, or who holds a key. */
static bool load_process(struct node *n, struct reader *reader, struct arena *mem,
                         const struct process_read *need, struct work *w, struct err *err)
{
    struct process_read found = *need;
    struct program_read read;

    if (need->key.len > 0 && !read_by_key(reader, w->entry->x->org_id, need->code, need->key,
                                          &found.holder, &found.is_held, err))
        return false;
    if (need->key.len == 0) {
        if (!program_read(n, reader, mem, need->code, -1, &read, err))
            return false;
        found.program = read.program;
        *VEC_ADD(mem, &w->programs) = read;
    }
    *VEC_ADD(mem, &w->processes) = found;
    return true;
}

static bool load_child(struct reader *reader, struct arena *mem, struct uuid id,
                       struct child_read *out, struct err *err)
{
    struct stored_execution child;

    *out = (struct child_read){.id = id, .result = value_null(), .error = value_null()};
    if (!read_execution(reader, mem, id, &child, &out->is_found, err))
        return false;
    if (!out->is_found)
        return true;
    out->status = child.status;
    return (child.result_json.len == 0 || json_read(mem, child.result_json, &out->result, err)) &&
           (child.error_json.len == 0 || json_read(mem, child.error_json, &out->error, err));
}

/* What is asked for beside records. */
static bool load_others(struct node *n, struct reader *reader, struct arena *mem, struct uuid id,
                        struct work *w, struct err *err)
{
    const struct commit *c = w->commit;
    bool found;

    if (c->needs_history.is_needed) {
        w->history = (struct history){0};
        if (!read_history(reader, mem, id, c->needs_history.after, ROLLBACK_PAGE, &w->history,
                          &found, err))
            return false;
        w->has_history = true;
    }
    for (size_t i = 0; i < c->needs_processes.count; i++)
        if (!load_process(n, reader, mem, &c->needs_processes.items[i], w, err))
            return false;
    for (size_t i = 0; i < c->needs_kept.count; i++)
        if (!correlate_load(reader, mem, w, c->needs_kept.items[i], VEC_ADD(mem, &w->kept), err))
            return false;
    for (size_t i = 0; i < c->needs_renders.count; i++)
        if (!render_template(reader, mem, &c->needs_renders.items[i], VEC_ADD(mem, &w->renders),
                             err))
            return false;
    if (c->needs_leases) {
        if (!read_leases_of(reader, mem, w->entry->row, &w->leases, err))
            return false;
        w->has_leases = true;
    }
    for (size_t i = 0; i < c->needs_children.count; i++)
        if (!load_child(reader, mem, c->needs_children.items[i], VEC_ADD(mem, &w->children), err))
            return false;
    return true;
}

static void run_records(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;
    struct work *w = l->records.work;
    struct arena *mem = &l->records.entry->mem;
    const struct record_queries *needs = &w->commit->needs;

    l->ok = load_others(l->node, reader, mem, l->records.entry->id, w, &l->err);
    for (size_t i = 0; i < needs->count && l->ok; i++) {
        const struct record_query *q = &needs->items[i];

        l->ok = q->search != NULL ? load_search(reader, mem, w, q, &l->err)
                                  : load_record(reader, mem, w, q, &l->err);
    }
}

static void done_records(struct node_read *read)
{
    struct load *l = read->owner;
    struct entry *e = l->records.entry;
    struct node *n = l->node;

    e->is_needing = false;
    if (!l->ok) {
        park_or_wake_later(n, e->id, "internal_read", &l->err);
        entry_fail(n, e, &l->err);
    }
    entry_make_ready(n, e);
    entry_release_if_idle(n, e);
    load_free(l);
}

static bool has_search(const struct record_queries *needs)
{
    for (size_t i = 0; i < needs->count; i++)
        if (needs->items[i].search != NULL)
            return true;
    return false;
}

void load_records(struct node *n, struct entry *e, struct work *w)
{
    struct load *l = load_new(n, run_records, done_records);

    l->read.lane = has_search(&w->commit->needs) ? LANE_SEARCH : LANE_ENGINE;
    e->is_needing = true;
    l->about = e->id;
    l->records.entry = e;
    l->records.work = w;
    load_send(l);
}
