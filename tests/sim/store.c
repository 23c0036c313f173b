/* store.c - the store that the node of the simulator sees; see sim.h. */
#include "sim/sim.h"

enum { READS_MAX = 64, DONE_CAPACITY = 4096 };

/* The node is given its store and opens none. */
struct store *store_open(const struct store_options *options, struct err *err)
{
    (void)options;
    (void)err_set(err, ERR_IO, "there is no real store here");
    return NULL;
}

void store_close(struct store *s)
{
    s->ops->close(s);
}

static bool submit(struct store *base, struct batch *batch)
{
    struct sim_store *s = (struct sim_store *)base;

    SIM_CHECK(s->sim, s->batch_count < 2, "a third batch was submitted");
    SIM_CHECK(s->sim, batch->members.count > 0, "an empty batch was submitted");
    if (!mailbox_reserve(&s->done))
        return false;
    s->batches[s->batch_count++] = batch;
    return true;
}

static bool read(struct store *base, struct store_task *task)
{
    struct sim_store *s = (struct sim_store *)base;
    struct sim *sim = s->sim;

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

bool store_init(struct sim *sim, struct err *err)
{
    sim->store = (struct sim_store){.base = {.ops = &ops}, .sim = sim};
    return mailbox_init(&sim->store.done, DONE_CAPACITY, err);
}

void store_fini(struct sim *sim)
{
    mailbox_fini(&sim->store.done);
}

void store_crash(struct sim *sim)
{
    struct sim_store *s = &sim->store;
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

bool store_is_idle(const struct sim *sim)
{
    return sim->store.batch_count == 0 && sim->store.reads.count == 0 && sim->store.done.count == 0;
}

/* --- batches --- */

/* Refuse a member for a reason that does not lie in itself. */
static bool refuse_member(struct sim *sim, struct member *m)
{
    struct sim_store *s = &sim->store;
    char what = '.';

    if (m->kind != MEMBER_COMMIT)
        return false;
    if (s->member_script != NULL && *s->member_script != 0)
        what = *s->member_script++;
    else if (!sim->no_faults && dice_hits(&sim->dice, sim->config.faults.refuse_member))
        what = "sdf"[dice_roll(&sim->dice, 3)];
    if (what == '.' || (what == 'd' && m->commit->records.count == 0))
        return false;
    sim->refused_members++;
    m->result = what == 's' ? MEMBER_STALE : what == 'd' ? MEMBER_RECORD_STALE : MEMBER_FAILED;
    if (what == 'f')
        (void)err_set(&m->err, ERR_IO, "the simulated disk refused it");
    return true;
}

static void write_members(struct sim *sim, struct batch *b)
{
    for (size_t i = 0; i < b->members.count; i++)
        if (!refuse_member(sim, b->members.items[i]))
            disk_apply(sim, b->members.items[i]);
}

static char pick_end(struct sim *sim)
{
    const struct faults *f = &sim->config.faults;
    struct sim_store *s = &sim->store;

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

bool store_write_one(struct sim *sim)
{
    struct sim_store *s = &sim->store;
    struct batch *b = s->batches[0];
    char end;

    if (s->batch_count == 0 || s->is_written)
        return false;
    end = pick_end(sim);
    s->is_written = true;
    b->end = end == 'c' ? BATCH_COMMITTED : end == 'r' ? BATCH_REFUSED : BATCH_UNKNOWN;
    if (end == 'r')
        sim->refused_batches++;
    if (end == 'u' || end == 'k')
        sim->unknown_batches++;
    if (end != 'c')
        (void)err_set(&b->err, ERR_IO, "the simulated disk is %s", end == 'r' ? "full" : "silent");
    if (end == 'c' || end == 'k')
        write_members(sim, b);
    sim_note(sim, (uint64_t)end);
    return true;
}

bool store_deliver_one(struct sim *sim)
{
    struct sim_store *s = &sim->store;

    if (!s->is_written)
        return false;
    mailbox_put_reserved(&s->done, s->batches[0]);
    s->batches[0] = s->batches[1];
    s->batch_count--;
    s->is_written = false;
    return true;
}

/* --- reads --- */

bool store_read_one(struct sim *sim)
{
    struct sim_store *s = &sim->store;
    struct store_task *task;
    size_t which;

    if (s->reads.count == 0)
        return false;
    /* Readers are several threads: any of those that wait may be next. */
    which = dice_roll(&sim->dice, (unsigned)s->reads.count);
    task = s->reads.items[which];
    for (size_t i = which + 1; i < s->reads.count; i++)
        s->reads.items[i - 1] = s->reads.items[i];
    s->reads.count--;
    task->run(task, (struct reader *)(void *)sim);
    mailbox_put_reserved(&s->done, task);
    return true;
}
