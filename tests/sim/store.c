/* store.c - the store that the node of the simulator sees; see sim.h. */
#include "engine/commit/commit.h"
#include "engine/commit/history.h"
#include "sim/sim.h"

#include <stdio.h>

enum { READS_MAX = 64, DONE_CAPACITY = 4096 };

/* The node is given its store and opens none. */
struct store *store_open(const struct store_options *options, struct err *err)
{
    (void)options;
    (void)err_set(err, ERR_IO, "there is no real store here");
    return NULL;
}

/* Only nodes with a store of their own read anything before they begin. */
bool store_read_now(struct store *s, void (*run)(void *context, struct reader *reader),
                    void *context, struct err *err)
{
    (void)s;
    (void)run;
    (void)context;
    return err_set(err, ERR_IO, "there is no real store here");
}

void store_close(struct store *s)
{
    s->ops->close(s);
}

static bool submit(struct store *base, struct batch *batch)
{
    struct sim_store *s = (struct sim_store *)base;

    if (batch->waits)
        return false; /* nobody else holds locks here: it comes with the others */
    SIM_CHECK(s->node->sim, s->batch_count < 2, "a third batch was submitted");
    SIM_CHECK(s->node->sim, batch->members.count > 0, "an empty batch was submitted");
    if (!mailbox_reserve(&s->done))
        return false;
    s->batches[s->batch_count++] = batch;
    return true;
}

static bool read(struct store *base, struct store_read *task)
{
    struct sim_store *s = (struct sim_store *)base;
    struct sim *sim = s->node->sim;

    if (s->reads.count == READS_MAX ||
        (!sim->no_faults && dice_hits(&sim->dice, sim->config.faults.read_full)) ||
        !mailbox_reserve(&s->done))
        return false;
    *VEC_ADD(&sim->mem, &s->reads) = task;
    return true;
}

static void close_store(struct store *base)
{
    (void)base;
}

static const struct store_ops ops = {.submit = submit, .read = read, .close = close_store};

bool store_init(struct sim_node *at, struct err *err)
{
    at->store = (struct sim_store){.base = {.ops = &ops}, .node = at};
    return mailbox_init(&at->store.done, DONE_CAPACITY, err);
}

void store_fini(struct sim_node *at)
{
    mailbox_fini(&at->store.done);
}

void store_crash(struct sim_node *at)
{
    struct sim_store *s = &at->store;
    void *items[64];

    for (unsigned i = 0; i < s->batch_count; i++)
        mailbox_unreserve(&s->done);
    for (size_t i = 0; i < s->reads.count; i++)
        mailbox_unreserve(&s->done);
    s->batch_count = 0;
    s->is_written = false;
    s->reads.count = 0;
    while (mailbox_take(&s->done, items, 64) > 0) {
    }
}

bool store_is_idle(const struct sim_node *at)
{
    const struct sim_store *s = &at->store;

    return s->batch_count == 0 && s->reads.count == 0 && s->done.count == 0;
}

/* --- batches --- */

/* Whether it writes to a record that others write to: all but those of 'own'. */
static bool writes_shared(const struct commit *c)
{
    for (size_t i = 0; i < c->records.count; i++)
        if (!str_eq(c->records.items[i].object, STR("own")))
            return true;
    return false;
}

/* Another writer was faster: what it wrote says the same, under the next version. */
static void contend(struct sim *sim, const struct commit *c)
{
    for (size_t i = 0; i < c->records.count; i++) {
        const struct record_write *w = &c->records.items[i];
        const struct disk_record *r = disk_find_record(&sim->disk, w->object, w->id);

        if (r != NULL && r->version > 0 && !str_eq(w->object, STR("own")))
            disk_put_record(&sim->disk, w->object, w->id, r->data_json);
    }
}

/* Refuse a member for a reason that does not lie in itself. */
static bool refuse_member(struct sim_store *s, struct member *m)
{
    struct sim *sim = s->node->sim;
    char what = '.';

    if (m->kind != MEMBER_COMMIT)
        return false;
    if (s->member_script != NULL && *s->member_script != 0)
        what = *s->member_script++;
    else if (!sim->no_faults && writes_shared(m->commit) &&
             dice_hits(&sim->dice, sim->config.faults.contend))
        what = 'd';
    else if (!sim->no_faults && dice_hits(&sim->dice, sim->config.faults.refuse_member))
        what = "sdfl"[dice_roll(&sim->dice, 4)];
    if (what == '.' || (what == 'd' && !writes_shared(m->commit)) ||
        (what == 'k' && m->commit->starts.count == 0))
        return false;
    sim->refused_members++;
    if (what == 'd')
        contend(sim, m->commit);
    m->result = what == 's'   ? MEMBER_STALE
                : what == 'd' ? MEMBER_RECORD_STALE
                : what == 'k' ? MEMBER_START_STALE
                : what == 'l' ? MEMBER_LOCKED
                              : MEMBER_FAILED;
    if (what == 'f')
        (void)err_set(&m->err, ERR_IO, "the simulated disk refused it");
    return true;
}

/*
 * A commit rests on the one before it of the same node, which may be in the
 * same batch or in the one that was under way when this one was submitted. When
 * that was refused, the row may be of the version that it names all the same:
 * another node has made its own.
 */
static bool refuse_follower(struct sim_store *s, struct member *m)
{
    struct uuid id = m->kind == MEMBER_COMMIT   ? m->commit->after->id
                     : m->kind == MEMBER_ASSERT ? m->assertion->id
                                                : (struct uuid){.bytes = {0}};
    bool found = m->is_void;

    for (size_t i = 0; i < s->refused.count; i++)
        found |= uuid_cmp(s->refused.items[i], id) == 0;
    for (size_t i = 0;
         s->batches[0]->seen < s->batches[0]->number - 1 && i < s->refused_before.count; i++)
        found |= uuid_cmp(s->refused_before.items[i], id) == 0;
    if (found)
        m->result = MEMBER_STALE;
    return found;
}

static void note_refused(struct sim_store *s, const struct member *m)
{
    if (m->kind == MEMBER_COMMIT && !m->commit->is_start)
        *VEC_ADD(&s->node->sim->mem, &s->refused) = m->commit->after->id;
}

/* The next batch begins. */
static void forget_refused(struct sim_store *s)
{
    struct executions_refused swap = s->refused_before;

    s->refused_before = s->refused;
    s->refused = swap;
    s->refused.count = 0;
}

static void trace_assertion(const struct sim_node *at, const struct member *m)
{
    const struct assertion *s = m->assertion;
    char id[UUID_TEXT_LEN + 1];

    uuid_write(s->id, id);
    if (str_find(str_of(id), at->sim->config.trace, 0) >= 0)
        printf("event %lld, node %d: version %lld is asserted, result %d, %zu rows consumed\n",
               (long long)at->sim->events, (int)(at - at->sim->nodes), (long long)s->row_version,
               (int)m->result, s->consumed.count);
}

/* With --trace: what became of the commits of one execution. */
static void trace_member(const struct sim_node *at, const struct member *m)
{
    struct sim *sim = at->sim;
    const struct commit *c = m->commit;
    char id[UUID_TEXT_LEN + 1];

    if (sim->config.trace.len > 0 && m->kind == MEMBER_ASSERT)
        trace_assertion(at, m);
    if (sim->config.trace.len == 0 || m->kind != MEMBER_COMMIT)
        return;
    uuid_write(c->after->id, id);
    if (str_find(str_of(id), sim->config.trace, 0) < 0)
        return;
    printf(
        "event %lld, node %d: version %lld to %lld, result %d, %s, wake_at %lld (now %lld), %.*s\n",
        (long long)sim->events, (int)(at - sim->nodes), (long long)c->read_version,
        (long long)c->after->row_version, (int)m->result, status_name(c->after->status),
        (long long)c->after->wake_at_us, (long long)clock_wall_us(&at->clock.clock),
        STR_ARG(c->after->waiting_for_json));
    for (size_t i = 0; i < c->history.count; i++)
        printf("    row %lld %s %.*s %.*s %.*s %.*s %.*s\n", (long long)c->history.items[i].seq,
               history_kind_name(c->history.items[i].kind), STR_ARG(c->history.items[i].step),
               STR_ARG(c->history.items[i].status), STR_ARG(c->history.items[i].key),
               STR_ARG(c->history.items[i].error_json), STR_ARG(c->history.items[i].delta_json));
}

static void write_members(struct sim_store *s, struct batch *b)
{
    for (size_t i = 0; i < b->members.count; i++) {
        struct member *m = b->members.items[i];

        if (!refuse_follower(s, m) && !refuse_member(s, m))
            disk_apply(s->node, m);
        if (m->result != MEMBER_APPLIED)
            note_refused(s, m);
        trace_member(s->node, m);
        if (m->kind == MEMBER_COMMIT && m->result == MEMBER_APPLIED)
            outside_committed(s->node->sim, s->node,
                              disk_find_ever(&s->node->sim->disk, m->commit->after->id), m->commit);
    }
}

static char pick_end(struct sim_store *s)
{
    struct sim *sim = s->node->sim;
    const struct faults *f = &sim->config.faults;

    if (s->script != NULL && *s->script != 0)
        return *s->script++;
    if (sim->no_faults)
        return 'c';
    if (dice_hits(&sim->dice, f->refuse_batch))
        return 'r';
    if (dice_hits(&sim->dice, f->unknown))
        return dice_roll(&sim->dice, 2) == 0 ? 'u' : 'k';
    return 'c';
}

bool store_write_one(struct sim_node *at)
{
    struct sim_store *s = &at->store;
    struct sim *sim = at->sim;
    struct batch *b = s->batches[0];
    char end;

    if (s->batch_count == 0 || s->is_written)
        return false;
    end = pick_end(s);
    s->is_written = true;
    forget_refused(s);
    b->end = end == 'c' ? BATCH_COMMITTED : end == 'r' ? BATCH_REFUSED : BATCH_UNKNOWN;
    if (end == 'r')
        sim->refused_batches++;
    if (end == 'u' || end == 'k')
        sim->unknown_batches++;
    if (end != 'c')
        (void)err_set(&b->err, ERR_IO, "the simulated disk is %s", end == 'r' ? "full" : "silent");
    if (end == 'c' || end == 'k')
        write_members(s, b);
    for (size_t i = 0; (end == 'r' || end == 'u') && i < b->members.count; i++)
        note_refused(s, b->members.items[i]);
    sim_note(sim, (uint64_t)end);
    return true;
}

bool store_deliver_one(struct sim_node *at)
{
    struct sim_store *s = &at->store;

    if (!s->is_written)
        return false;
    mailbox_put_reserved(&s->done, s->batches[0]);
    s->batches[0] = s->batches[1];
    s->batch_count--;
    s->is_written = false;
    return true;
}

/* --- reads --- */

bool store_read_one(struct sim_node *at)
{
    struct sim_store *s = &at->store;
    struct sim *sim = at->sim;
    struct store_read *task;
    size_t which;

    if (s->reads.count == 0)
        return false;
    /* Readers are several threads: any of those that wait may be next. */
    which = dice_roll(&sim->dice, (unsigned)s->reads.count);
    task = s->reads.items[which];
    for (size_t i = which + 1; i < s->reads.count; i++)
        s->reads.items[i - 1] = s->reads.items[i];
    s->reads.count--;
    task->run(task, (struct reader *)(void *)at);
    mailbox_put_reserved(&s->done, task);
    return true;
}
