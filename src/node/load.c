/*
 * load.c - what the node reads from the store: executions, programs, records,
 * and what is due; see inner.h.
 *
 * Each read runs on a reader thread and fills memory that the loop does not
 * touch meanwhile; it comes back through the mailbox.
 */
#include "node/inner.h"

#include "base/crash.h"
#include "base/log.h"
#include "value/json.h"

#include <stdlib.h>

/* A read of the node's own. Freed when it is done. */
struct load {
    struct node_read read;
    struct node *node;
    struct err err;
    bool ok;
    struct load *next; /* of the executions that wait for a program, or of those refused */
    union {
        struct {
            struct entry *entry;
            struct stored_execution stored;
            bool found;
        } execution;
        struct {
            struct entry *entry;
            struct work *work;
        } records;
        struct {
            struct program_ref *ref;
            const struct program *program;
            enum program_state state;
        } program;
        struct {
            struct published *published;
            int64_t version;
        } published;
        struct {
            struct arena mem;
            int64_t after_us, until_us;
            struct uuid after_id;
            struct dues dues;
        } due;
    };
};

static struct load *load_new(struct node *n, void (*run)(struct node_read *, struct reader *),
                             void (*done)(struct node_read *))
{
    struct load *l = calloc(1, sizeof(*l));

    if (l == NULL)
        PANIC("out of memory");
    l->node = n;
    l->read.run = run;
    l->read.done = done;
    l->read.owner = l;
    return l;
}

/* A read that is not taken ends in the next pass: whoever asked for it is not ready for that. */
static void submit(struct load *l)
{
    struct node *n = l->node;

    if (node_read(n, &l->read, &l->err))
        return;
    l->ok = false;
    l->next = n->refused_loads;
    n->refused_loads = l;
}

bool loads_refused(struct node *n)
{
    struct load *l = n->refused_loads, *next;
    bool any = l != NULL;

    n->refused_loads = NULL;
    for (; l != NULL; l = next) {
        next = l->next;
        l->read.done(&l->read);
    }
    return any;
}

/* --- executions --- */

static void run_execution(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;
    struct entry *e = l->execution.entry;

    l->ok =
        read_execution(reader, &e->mem, e->id, &l->execution.stored, &l->execution.found, &l->err);
}

/* It cannot be read now: whoever asked is told, and what was due is tried again. */
static void fail_entry(struct node *n, struct entry *e, enum err_code code, const char *message)
{
    struct work *w;

    log_write(LOG_ERROR, "an execution cannot be loaded",
              LOG_FIELDS(log_str("reason", str_of(message))));
    if (err_is_retryable(code))
        code = ERR_OVERLOADED;
    while ((w = work_pop(&e->works)) != NULL) {
        if (w->kind == WORK_REQUEST)
            request_refuse(n, w->request, code, "%s", message);
        else if (code == ERR_OVERLOADED)
            timers_add(&n->timers, clock_wall_us(n->clock) + RETRY_READ_US, e->id);
        work_free(n, w);
    }
    request_refuse_waiters(n, e, code, message);
    e->wake_queued = false;
    e->state = ENTRY_GONE;
    entry_release_if_idle(n, e);
}

/* The row is here; so is its program, or it comes first. */
static void restore(struct load *l)
{
    struct node *n = l->node;
    struct entry *e = l->execution.entry;
    struct program_ref *ref = e->program;

    if (ref->state != PROGRAM_READY) {
        fail_entry(n, e, err_is_retryable(ref->err.code) ? ref->err.code : ERR_INTERNAL,
                   ref->err.message);
    } else if (!state_restore(&e->mem, ref->program, &l->execution.stored, &e->x, &l->err)) {
        fail_entry(n, e, l->err.code, l->err.message);
    } else {
        e->state = ENTRY_READY;
        entry_touch(n, e);
        entry_make_ready(n, e);
        entry_release_if_idle(n, e);
    }
    free(l);
}

static void done_execution(struct node_read *read)
{
    struct load *l = read->owner;
    struct node *n = l->node;
    struct entry *e = l->execution.entry;

    if (!l->ok) {
        fail_entry(n, e, l->err.code, l->err.message);
        free(l);
        return;
    }
    if (!l->execution.found) {
        e->state = ENTRY_GONE;
        entry_make_ready(n, e);
        free(l);
        return;
    }
    e->program = program_get(n, l->execution.stored.code, l->execution.stored.version);
    if (e->program->state == PROGRAM_LOADING) {
        l->next = e->program->loads;
        e->program->loads = l;
        return;
    }
    restore(l);
}

void load_entry(struct node *n, struct entry *e)
{
    struct load *l = load_new(n, run_execution, done_execution);

    e->state = ENTRY_LOADING;
    l->execution.entry = e;
    submit(l);
}

/* --- records --- */

static void run_records(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;
    struct work *w = l->records.work;
    struct arena *mem = &l->records.entry->mem;
    const struct record_queries *needs = &w->commit->needs;

    l->ok = true;
    for (size_t i = 0; i < needs->count && l->ok; i++) {
        const struct record_query *q = &needs->items[i];
        struct record_reads found = {0};

        l->ok = read_records(reader, mem, q->object, q->id, q->id.len > 0 ? 1 : 100000, &found,
                             &l->err);
        if (!l->ok)
            return;
        if (q->id.len == 0)
            *VEC_ADD(mem, &w->objects) = (struct object_read){
                .object = q->object, .records = found.items, .count = (uint32_t)found.count};
        else
            *VEC_ADD(mem, &w->records) =
                found.count > 0 ? found.items[0]
                                : (struct record_read){.object = q->object, .id = q->id};
    }
}

static void done_records(struct node_read *read)
{
    struct load *l = read->owner;
    struct entry *e = l->records.entry;

    e->is_needing = false;
    if (!l->ok)
        fail_entry(l->node, e, l->err.code, l->err.message);
    else
        entry_make_ready(l->node, e);
    free(l);
}

void load_records(struct node *n, struct entry *e, struct work *w)
{
    struct load *l = load_new(n, run_records, done_records);

    e->is_needing = true;
    l->records.entry = e;
    l->records.work = w;
    submit(l);
}

/* --- programs --- */

static void run_program(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;
    struct program_ref *ref = l->program.ref;
    struct stored_definition d;
    struct findings findings = {0};
    struct value definition;
    bool found;

    l->program.state = PROGRAM_MISSING;
    l->ok = read_definition(reader, &ref->mem, STR("scenario"), ref->code, ref->version, &d, &found,
                            &l->err);
    if (!l->ok || !found)
        return;
    l->program.state = PROGRAM_BROKEN;
    if (!json_read(&ref->mem, d.text, &definition, &l->err))
        return;
    define_compile_scenario(&ref->mem, l->node->env, definition, d.version, &findings,
                            &l->program.program);
    if (l->program.program != NULL)
        l->program.state = PROGRAM_READY;
    else
        err_set(&l->err, ERR_INVALID, "version %lld of '%.*s' does not compile",
                (long long)ref->version, STR_ARG(ref->code));
}

static void done_program(struct node_read *read)
{
    struct load *l = read->owner;
    struct node *n = l->node;
    struct program_ref *ref = l->program.ref;
    struct load *waiting;
    struct work *w;

    ref->err = l->err;
    ref->state = l->ok ? l->program.state : PROGRAM_BROKEN;
    ref->program = l->program.program;
    if (ref->state == PROGRAM_MISSING)
        err_set(&ref->err, ERR_NOT_FOUND, "there is no version %lld of '%.*s'",
                (long long)ref->version, STR_ARG(ref->code));
    while ((waiting = ref->loads) != NULL) {
        ref->loads = waiting->next;
        restore(waiting);
    }
    while ((w = work_pop(&ref->starts)) != NULL)
        request_start(n, w);
    free(l);
    if (ref->state != PROGRAM_READY)
        program_forget(n, ref);
}

static struct program_ref *program_find(struct node *n, struct str code, int64_t version)
{
    for (struct program_ref *p = n->programs; p != NULL; p = p->next)
        if (p->version == version && str_eq(p->code, code))
            return p;
    return NULL;
}

struct program_ref *program_get(struct node *n, struct str code, int64_t version)
{
    struct program_ref *p = program_find(n, code, version);
    struct load *l;

    if (p != NULL)
        return p;
    p = calloc(1, sizeof(*p));
    if (p == NULL)
        PANIC("out of memory");
    arena_init(&p->mem);
    p->code = str_copy(&p->mem, code);
    p->version = version;
    p->state = PROGRAM_LOADING;
    p->next = n->programs;
    n->programs = p;
    l = load_new(n, run_program, done_program);
    l->program.ref = p;
    submit(l);
    return p;
}

/* What could not be loaded is asked for again the next time. */
void program_forget(struct node *n, struct program_ref *ref)
{
    struct program_ref **link = &n->programs;

    while (*link != ref)
        link = &(*link)->next;
    *link = ref->next;
    arena_fini(&ref->mem);
    free(ref);
}

/* --- which version is published --- */

static void run_published(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;
    struct stored_definition d;
    struct arena mem;
    bool found;

    arena_init(&mem);
    l->ok = read_definition(reader, &mem, STR("scenario"), l->published.published->code, -1, &d,
                            &found, &l->err);
    l->published.version = l->ok && found ? d.version : 0;
    arena_fini(&mem);
}

static void done_published(struct node_read *read)
{
    struct load *l = read->owner;
    struct node *n = l->node;
    struct published *p = l->published.published;
    struct work_queue starts = p->starts;
    struct work *w;

    p->is_reading = false;
    p->starts = (struct work_queue){0};
    /* A version that was published meanwhile is newer than what was read. */
    if (p->version == 0)
        p->version = l->published.version;
    while ((w = work_pop(&starts)) != NULL) {
        struct node_request *r = w->request;
        if (p->version != 0) {
            r->version = p->version;
            request_start(n, w);
            continue;
        }
        work_free(n, w);
        if (l->ok)
            request_refuse(n, r, ERR_NOT_FOUND, "no process '%.*s' is published", STR_ARG(r->code));
        else
            request_refuse(n, r, l->err.code, "%s", l->err.message);
    }
    free(l);
}

struct published *published_get(struct node *n, struct str code)
{
    struct published *p = map_get(&n->published, code);

    if (p != NULL)
        return p;
    p = ARENA_NEW(&n->mem, struct published);
    p->code = str_copy(&n->mem, code);
    map_put(&n->published, p->code, p);
    return p;
}

void load_published(struct node *n, struct published *p)
{
    struct load *l;

    if (p->is_reading)
        return;
    p->is_reading = true;
    l = load_new(n, run_published, done_published);
    l->published.published = p;
    submit(l);
}

/* --- what is due --- */

static void run_due(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;

    l->ok = read_due(reader, &l->due.mem, l->due.after_us, l->due.after_id, l->due.until_us,
                     TIMER_PAGE, &l->due.dues, &l->err);
}

static void done_due(struct node_read *read)
{
    struct load *l = read->owner;
    struct node *n = l->node;
    const struct dues *dues = &l->due.dues;

    if (!n->is_recovered)
        CRASH_POINT(RECOVERING);
    n->is_refilling = false;
    for (size_t i = 0; i < dues->count; i++)
        timers_add(&n->timers, dues->items[i].wake_at_us, dues->items[i].id);
    if (!l->ok) {
        log_write(LOG_ERROR, "timers cannot be read",
                  LOG_FIELDS(log_str("reason", str_of(l->err.message))));
        n->retry_refill_us = clock_mono_us(n->clock) + RETRY_READ_US;
    } else if (dues->count == TIMER_PAGE) {
        n->filled_until_us = dues->items[dues->count - 1].wake_at_us;
        n->filled_id = dues->items[dues->count - 1].id;
        n->next_refill_us = 0;
    } else {
        n->filled_until_us = l->due.until_us;
        n->filled_id = (struct uuid){.bytes = {0}};
        n->next_refill_us = clock_mono_us(n->clock) + REFILL_EVERY_US;
        if (!n->is_recovered)
            CRASH_POINT(RECOVERED);
        n->is_recovered = true;
    }
    arena_fini(&l->due.mem);
    free(l);
}

void load_due(struct node *n)
{
    int64_t wall_us = clock_wall_us(n->clock), mono_us = clock_mono_us(n->clock);
    struct load *l;

    /*
     * The wall clock was set back. What was read is in the heap and stays there; what is
     * committed from now on joins it only within the window, the rest must be read in time.
     */
    if (n->filled_until_us > wall_us + TIMER_WINDOW_US) {
        n->filled_until_us = wall_us + TIMER_WINDOW_US;
        n->filled_id = (struct uuid){.bytes = {0}};
    }
    if (n->is_refilling || mono_us < n->retry_refill_us ||
        (mono_us < n->next_refill_us && wall_us < n->filled_until_us))
        return;
    n->is_refilling = true;
    l = load_new(n, run_due, done_due);
    arena_init(&l->due.mem);
    l->due.after_us = n->filled_until_us;
    l->due.after_id = n->filled_id;
    l->due.until_us = wall_us + TIMER_WINDOW_US;
    if (l->due.until_us < l->due.after_us)
        l->due.until_us = l->due.after_us;
    submit(l);
}
