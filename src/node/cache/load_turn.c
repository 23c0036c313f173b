/*
 * load_turn.c - what a turn of an execution asks for is read into the memory of
 * its entry; see load.h.
 */
#include "define/program.h"
#include "engine/commit/commit.h"
#include "engine/commit/search.h"
#include "engine/execution.h"
#include "node/cache/entry.h"
#include "node/cache/load.h"
#include "node/cache/program.h"
#include "node/cluster/config.h"
#include "node/correlate.h"
#include "node/guard/park.h"
#include "node/inner.h"
#include "node/render.h"
#include "store/read_execution.h"
#include "store/read_job.h"
#include "store/read_record.h"
#include "value/json.h"

/* One that is made now goes on counting where an earlier one of its id ended. */
static bool load_record(struct reader *reader, struct arena *mem, struct work *w,
                        const struct record_query *q, struct err *err)
{
    struct record_read read;

    if (!read_record(reader, mem, w->entry->x->org_id, q->object, q->id, &read, err) ||
        (read.version == 0 &&
         !read_record_last(reader, w->entry->x->org_id, q->object, q->id, &read.last_version, err)))
        return false;
    *VEC_ADD(mem, &w->reads->records) = read;
    return true;
}

static bool load_search(struct reader *reader, struct arena *mem, struct work *w,
                        const struct record_query *q, struct err *err)
{
    struct search_read read = {.search = q->search};

    if (!read_found(reader, mem, q->search, &read.found, err))
        return false;
    *VEC_ADD(mem, &w->reads->searches) = read;
    return true;
}

/* --- what flow.start asks for: the published program, or who holds a key --- */

/* The program of what is published under the code, if it is in memory; else it will be soon. */
static struct program_ref *program_in_memory(struct node *n, struct str code)
{
    struct program_ref *ref;
    struct published *p;

    if (!program_can_be_named(code, STR_NONE))
        return NULL;
    p = published_get(n, code);
    if (p->version == 0) {
        published_load(n, p);
        return NULL;
    }
    ref = program_get(n, code, p->version);
    return ref->state == PROGRAM_READY ? ref : NULL;
}

/* On the loop: the programs that are in memory, as they would be read. */
static void processes_in_memory(struct node *n, struct entry *e, const struct commit *c,
                                struct process_reads *out)
{
    for (size_t i = 0; i < c->needs_processes.count; i++) {
        struct process_read found = c->needs_processes.items[i];
        struct program_ref *ref = found.key.len == 0 ? program_in_memory(n, found.code) : NULL;

        if (ref == NULL)
            continue;
        entry_hold_started(n, e, ref);
        found.program = ref->program;
        *VEC_ADD(&e->mem, out) = found;
    }
}

static const struct process_read *process_find(const struct process_reads *all, struct str code)
{
    for (size_t i = 0; i < all->count; i++)
        if (str_eq(all->items[i].code, code))
            return &all->items[i];
    return NULL;
}

/* Whether nothing has to be read. */
static bool needs_only(const struct commit *c, const struct process_reads *known)
{
    return known->count > 0 && c->needs_processes.count == known->count && c->needs.count == 0 &&
           !c->needs_history.is_needed && c->needs_formers.count == 0 &&
           c->needs_buffered.count == 0 && c->needs_renders.count == 0 && !c->needs_leases &&
           c->needs_children.count == 0;
}

/*
 * Where other nodes publish too: what is in memory stands as long as the number
 * of all changes is the one that this node knows (config.h).
 */
static bool processes_compare(struct reader *reader, int64_t stamp, struct process_reads *known,
                              struct err *err)
{
    int64_t now;

    if (known->count == 0)
        return true;
    if (!read_definition_stamp(reader, &now, err))
        return false;
    if (now != stamp)
        *known = (struct process_reads){0};
    return true;
}

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
    *VEC_ADD(mem, &w->reads->processes) = found;
    return true;
}

/* What rolling back asks for: a program that the execution has run with before. */
static bool load_former(struct node *n, struct reader *reader, struct arena *mem, struct str name,
                        struct work *w, struct err *err)
{
    struct former_read found = {.name = str_copy(mem, name)};
    struct program_read read;
    struct str snapshot;
    int64_t version;

    if (former_name_read(name, &version, &snapshot)) {
        if (!program_read_pinned(n, reader, mem, w->entry->x->program->code, version, snapshot,
                                 &read, err))
            return false;
        found.program = read.program;
        *VEC_ADD(mem, &w->programs) = read;
    }
    *VEC_ADD(mem, &w->reads->formers) = found;
    return true;
}

static bool take_end(struct arena *mem, struct uuid asker, const struct execution_end *end,
                     struct child_reads *out, struct err *err)
{
    for (size_t i = 0; i < out->count; i++) {
        struct child_read *read = &out->items[i];

        if (uuid_cmp(read->id, end->id) != 0)
            continue;
        read->is_found = true;
        read->status = end->status;
        read->is_parked = end->crash_count >= CRASHES_MAX || end->waiting_kind == WAITING_PARKED;
        read->is_others = !end->has_parent || uuid_cmp(end->parent_id, asker) != 0;
        return (end->result_json.len == 0 ||
                json_read(mem, end->result_json, &read->result, err)) &&
               (end->error_json.len == 0 || json_read(mem, end->error_json, &read->error, err));
    }
    return true;
}

/* How the children stand, all of them in one statement. */
static bool load_children(struct reader *reader, struct arena *mem, struct uuid asker,
                          const struct commit *c, struct child_reads *out, struct err *err)
{
    struct execution_ends ends;
    struct buf ids;

    if (c->needs_children.count == 0)
        return true;
    buf_init_arena(&ids, mem);
    for (size_t i = 0; i < c->needs_children.count; i++) {
        struct uuid id = c->needs_children.items[i];

        *VEC_ADD(mem, out) =
            (struct child_read){.id = id, .result = value_null(), .error = value_null()};
        buf_printf(&ids, "%c\"%s\"", i == 0 ? '[' : ',', UUID_STR(id).ptr);
    }
    buf_char(&ids, ']');
    if (!read_ends(reader, mem, buf_view(&ids), &ends, err))
        return false;
    for (size_t i = 0; i < ends.count; i++)
        if (!take_end(mem, asker, &ends.items[i], out, err))
            return false;
    return true;
}

/* What is asked for beside processes and records. */
static bool load_others(struct node *n, struct reader *reader, struct arena *mem, struct uuid id,
                        struct work *w, struct err *err)
{
    const struct commit *c = w->commit;
    bool found;

    if (c->needs_history.is_needed) {
        w->reads->history = (struct history){0};
        if (!read_history(reader, mem, id, c->needs_history.after, ROLLBACK_PAGE,
                          &w->reads->history, &found, err))
            return false;
        w->reads->has_history = true;
    }
    for (size_t i = 0; i < c->needs_formers.count; i++)
        if (!load_former(n, reader, mem, c->needs_formers.items[i], w, err))
            return false;
    for (size_t i = 0; i < c->needs_buffered.count; i++)
        if (!correlate_load(reader, mem, w, c->needs_buffered.items[i],
                            VEC_ADD(mem, &w->reads->kept), err))
            return false;
    for (size_t i = 0; i < c->needs_renders.count; i++)
        if (!render_template(reader, mem, &c->needs_renders.items[i],
                             VEC_ADD(mem, &w->reads->renders), err))
            return false;
    if (c->needs_leases) {
        if (!read_leases_of(reader, mem, w->entry->row, &w->reads->leases, err))
            return false;
        w->reads->has_leases = true;
    }
    return load_children(reader, mem, id, c, &w->reads->children, err);
}

struct turn_load {
    struct load load; /* first: see load.h */
    struct entry *entry;
    struct work *work;
    struct process_reads known; /* what was in memory */
    bool is_shared;
    int64_t stamp; /* of the definitions that this node knows */
};

static bool load_processes(struct turn_load *l, struct reader *reader, struct err *err)
{
    const struct process_reads *needs = &l->work->commit->needs_processes;
    struct arena *mem = &l->entry->mem;

    if (l->is_shared && !processes_compare(reader, l->stamp, &l->known, err))
        return false;
    for (size_t i = 0; i < needs->count; i++) {
        const struct process_read *need = &needs->items[i];
        const struct process_read *known =
            need->key.len == 0 ? process_find(&l->known, need->code) : NULL;

        if (known != NULL)
            *VEC_ADD(mem, &l->work->reads->processes) = *known;
        else if (!load_process(l->load.node, reader, mem, need, l->work, err))
            return false;
    }
    return true;
}

static void run_turn_reads(struct load *load, struct reader *reader)
{
    struct turn_load *l = (struct turn_load *)load;
    struct work *w = l->work;
    struct arena *mem = &l->entry->mem;
    const struct record_queries *needs = &w->commit->needs;

    load->ok = load_processes(l, reader, &load->err) &&
               load_others(load->node, reader, mem, l->entry->id, w, &load->err);
    for (size_t i = 0; i < needs->count && load->ok; i++) {
        const struct record_query *q = &needs->items[i];

        load->ok = q->search != NULL ? load_search(reader, mem, w, q, &load->err)
                                     : load_record(reader, mem, w, q, &load->err);
    }
}

static void done_turn_reads(struct load *load)
{
    struct entry *e = ((struct turn_load *)load)->entry;
    struct node *n = load->node;

    entry_end_reading(e);
    n->programs->compiled += (int64_t)((struct turn_load *)load)->work->programs.count;
    if (!load->ok) {
        park_or_wake_later(n, e->id, "internal_read", &load->err);
        entry_fail(n, e, &load->err);
    }
    entry_make_ready(n, e);
    entry_release_if_idle(n, e);
    load_free(load);
}

static bool has_search(const struct record_queries *needs)
{
    for (size_t i = 0; i < needs->count; i++)
        if (needs->items[i].search != NULL)
            return true;
    return false;
}

bool load_turn(struct node *n, struct entry *e, struct work *w)
{
    struct process_reads known = {0};
    struct turn_load *l;

    processes_in_memory(n, e, w->commit, &known);
    if (!node_is_shared(n) && needs_only(w->commit, &known)) {
        for (size_t i = 0; i < known.count; i++)
            *VEC_ADD(&e->mem, &w->reads->processes) = known.items[i];
        w->has_reads = true;
        return true;
    }
    l = LOAD_NEW(n, struct turn_load, run_turn_reads, done_turn_reads);
    l->known = known;
    l->is_shared = node_is_shared(n);
    l->stamp = n->config->stamp;
    l->load.read.lane = has_search(&w->commit->needs) ? LANE_SEARCH : LANE_ENGINE;
    w->has_reads = true;
    entry_begin_reading(e);
    l->load.about = e->id;
    l->entry = e;
    l->work = w;
    load_send(&l->load);
    return false;
}
