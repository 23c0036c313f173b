/* correlation.c - waits and signals that a correlation joins, on the disk of the simulator. */
#include "sim/sim.h"

#include "engine/commit/commit.h"
#include "engine/stored_execution.h"
#include "store/change_signal.h"
#include "store/read_signal.h"
#include "value/json.h"

#include <stdio.h>

static bool is_for(struct str types_json, struct str type)
{
    char quoted[40];
    int len = snprintf(quoted, sizeof(quoted), "\"%.*s\"", STR_ARG(type));

    return str_find(types_json, str_from(quoted, (size_t)len), 0) >= 0;
}

static struct disk_correlated *find(const struct disk *d, struct str id)
{
    for (size_t i = 0; i < d->correlated.count; i++)
        if (str_eq(d->correlated.items[i].id, id))
            return &d->correlated.items[i];
    return NULL;
}

const struct disk_correlated *correlation_find(const struct disk *d, struct str id)
{
    return find(d, id);
}

static const struct disk_wait *find_wait(const struct disk *d, struct str correlation,
                                         struct str type, int64_t after)
{
    for (size_t i = 0; i < d->waits.count; i++) {
        const struct disk_wait *w = &d->waits.items[i];

        if (w->row > after && str_eq(w->correlation, correlation) && is_for(w->types_json, type))
            return w;
    }
    return NULL;
}

/* --- members --- */

static bool is_known(const struct disk *d, struct member *m)
{
    const struct disk_correlated *known = find(d, m->correlated->id);

    if (known == NULL)
        return false;
    m->result =
        str_eq(known->digest, m->correlated->digest) ? MEMBER_SIGNAL_KNOWN : MEMBER_SIGNAL_DIFFERS;
    m->has_holder = known->is_delivered;
    m->holder = known->execution;
    return true;
}

static void add(struct disk *d, const struct correlated_signal *s, const struct uuid *execution)
{
    struct disk_correlated *added = VEC_ADD(&d->mem, &d->correlated);

    *added = (struct disk_correlated){
        .row = (int64_t)d->correlated.count,
        .id = str_copy(&d->mem, s->id),
        .type = str_copy(&d->mem, s->type),
        .correlation = str_copy(&d->mem, s->correlation),
        .digest = str_copy(&d->mem, s->digest),
        .payload_json = str_copy(&d->mem, s->payload_json),
        .received_at_us = s->received_at_us,
        .is_delivered = execution != NULL,
    };
    if (execution != NULL)
        added->execution = *execution;
}

bool correlation_refuses(const struct disk *d, struct member *m)
{
    const struct commit *c = m->commit;

    if (m->correlated != NULL && m->correlated->has_own_id && is_known(d, m))
        return true;
    for (size_t i = 0; i < d->correlated.count; i++) {
        const struct disk_correlated *s = &d->correlated.items[i];

        for (size_t k = 0; k < c->opened.count && !s->is_delivered; k++)
            if (s->row > c->opened.items[k].buffered_up_to &&
                str_eq(s->correlation, c->opened.items[k].correlation) &&
                is_for(c->opened.items[k].types_json, s->type))
                m->result = MEMBER_BUFFERED_STALE;
        for (size_t k = 0; k < c->buffered_taken.count && s->is_delivered; k++)
            if (s->row == c->buffered_taken.items[k].row)
                m->result = MEMBER_BUFFERED_STALE;
    }
    return m->result == MEMBER_BUFFERED_STALE;
}

/* No signal lies beside a wait that would take it; one that ended the server is left alone. */
static void check_apart(struct sim *sim, const struct disk_correlated *s)
{
    const struct disk_execution *x;

    for (size_t i = 0; i < sim->disk.waits.count && !s->is_delivered; i++) {
        const struct disk_wait *w = &sim->disk.waits.items[i];

        if (!str_eq(w->correlation, s->correlation) || !is_for(w->types_json, s->type))
            continue;
        x = disk_find(&sim->disk, w->execution);
        SIM_CHECK(sim, x->s.crash_count > 0, "a signal is kept beside a wait that would take it");
    }
}

static void close_wait(struct sim *sim, struct uuid execution, const struct listed_wait *w)
{
    struct disk *d = &sim->disk;
    size_t kept = 0;

    for (size_t i = 0; i < d->waits.count; i++) {
        struct disk_wait one = d->waits.items[i];

        if (uuid_cmp(one.execution, execution) != 0 || !str_eq(one.step, w->step) ||
            one.visit != w->visit)
            d->waits.items[kept++] = one;
    }
    SIM_CHECK(sim, kept + 1 == d->waits.count, "a wait was closed that was not open");
    d->waits.count = kept;
}

void correlation_apply(struct sim *sim, const struct member *m)
{
    struct disk *d = &sim->disk;
    const struct commit *c = m->commit;

    for (size_t i = 0; i < c->buffered_taken.count; i++) {
        struct disk_correlated *s = find(d, c->buffered_taken.items[i].signal->id);

        SIM_CHECK(sim, s != NULL && !s->is_delivered, "I2: a kept signal was taken twice");
        s->is_delivered = true;
        s->execution = c->after->id;
    }
    for (size_t i = 0; i < c->closed.count; i++)
        close_wait(sim, c->after->id, &c->closed.items[i]);
    for (size_t i = 0; i < c->opened.count; i++) {
        const struct listed_wait *w = &c->opened.items[i];

        *VEC_ADD(&d->mem, &d->waits) =
            (struct disk_wait){.row = ++d->wait_rows,
                               .execution = c->after->id,
                               .step = str_copy(&d->mem, w->step),
                               .visit = w->visit,
                               .correlation = str_copy(&d->mem, w->correlation),
                               .types_json = str_copy(&d->mem, w->types_json)};
    }
    if (m->correlated != NULL && m->correlated->has_own_id)
        add(d, m->correlated, &c->after->id);
    for (size_t i = 0; c->opened.count > 0 && i < d->correlated.count; i++)
        check_apart(sim, &d->correlated.items[i]);
}

void correlation_keep(struct sim *sim, struct member *m)
{
    struct disk *d = &sim->disk;
    const struct signal_keep *keep = (const struct signal_keep *)(const void *)m->change;
    const struct correlated_signal *s = m->correlated;

    m->result = MEMBER_APPLIED;
    if (is_known(d, m))
        return;
    if (find_wait(d, s->correlation, s->type, keep->waits_up_to) != NULL) {
        m->result = MEMBER_STALE;
    } else {
        add(d, s, NULL);
        check_apart(sim, find(d, s->id));
    }
}

/* --- at rest --- */

/* One that keeps a signal while its execution is paused is closed. */
static bool is_wait(struct value strand)
{
    struct value phase = value_map_get_str(strand, STR("phase"));

    return phase.kind == VALUE_STRING && str_eq(value_text(phase), STR("wait")) &&
           value_map_get_str(strand, STR("correlation")).kind == VALUE_STRING &&
           value_map_get_str(strand, STR("keptSeq")).kind == VALUE_ABSENT;
}

/* Whether one of the strands waits for signals that come by correlation. */
static bool has_wait(struct sim *sim, struct str cursor_json)
{
    struct value cursor, beside;
    struct err err;
    bool found;

    if (str_find(cursor_json, STR("\"correlation\":"), 0) < 0)
        return false;
    SIM_CHECK(sim, json_read(&sim->disk.mem, cursor_json, &cursor, &err), "%s", err.message);
    beside = value_map_get_str(cursor, STR("beside"));
    found = is_wait(cursor);
    for (uint32_t i = 0; beside.kind == VALUE_LIST && i < beside.len; i++)
        found = found || is_wait(beside.items[i]);
    return found;
}

void correlation_check(struct sim *sim)
{
    const struct disk *d = &sim->disk;

    for (size_t i = 0; i < d->correlated.count; i++) {
        const struct disk_correlated *s = &d->correlated.items[i];
        const struct disk_execution *x = disk_find_ever(&sim->disk, s->execution);

        SIM_CHECK(sim, !s->is_delivered || (x != NULL && disk_find_signal(x, s->id) != NULL),
                  "I9: a signal that was delivered is not among those of its execution");
    }
    for (size_t i = 0; i < d->executions.count; i++) {
        const struct stored_execution *x = &d->executions.items[i]->s;
        bool waits = !status_is_terminal(x->status) && has_wait(sim, x->cursor_json);
        bool is_open = false;

        for (size_t k = 0; k < d->waits.count; k++)
            is_open |= uuid_cmp(d->waits.items[k].execution, x->id) == 0 &&
                       d->waits.items[k].correlation.len > 0;
        SIM_CHECK(sim, waits == is_open, "a wait is %s and its row says otherwise",
                  waits ? "open" : "closed");
    }
}

/* --- reading --- */

bool read_wait(struct reader *r, struct arena *mem, struct str org_id, struct str correlation,
               struct str type, int64_t after, struct open_wait *out, bool *found, struct err *err)
{
    const struct disk_wait *w = find_wait(&sim_of(r)->disk, correlation, type, after);

    (void)mem;
    (void)org_id; /* all of one */
    if (sim_read_fails(r, err))
        return false;
    *found = w != NULL;
    if (w != NULL)
        *out = (struct open_wait){.row = w->row, .execution = w->execution};
    return true;
}

bool read_correlated(struct reader *r, struct arena *mem, struct str org_id, struct str id,
                     int64_t now_us, struct known_signal *out, bool *found, struct err *err)
{
    const struct disk_correlated *s = find(&sim_of(r)->disk, id);

    (void)mem;
    (void)org_id;
    (void)now_us;
    if (sim_read_fails(r, err))
        return false;
    *found = s != NULL;
    if (s != NULL)
        *out = (struct known_signal){
            .digest = s->digest, .is_delivered = s->is_delivered, .execution = s->execution};
    return true;
}

bool read_buffered_signals(struct reader *r, struct arena *mem, struct str org_id,
                           struct str correlation, int64_t execution, int64_t now_us,
                           struct stored_buffered_signals *out, int64_t *last_row, struct err *err)
{
    const struct disk *d = &sim_of(r)->disk;

    (void)org_id;
    (void)execution; /* ids of these signals are no others' */
    (void)now_us;    /* nothing expires */
    *out = (struct stored_buffered_signals){0};
    *last_row = 0;
    if (sim_read_fails(r, err))
        return false;
    for (size_t i = 0; i < d->correlated.count; i++) {
        const struct disk_correlated *s = &d->correlated.items[i];
        struct stored_buffered_signal kept = {
            .buffered = {.row = s->row,
                         .signal = {.id = s->id,
                                    .type = s->type,
                                    .by = value_map_empty(),
                                    .received_at_us = s->received_at_us}},
            .sender = value_map_empty()};

        if (s->is_delivered || !str_eq(s->correlation, correlation))
            continue;
        if (!json_read(mem, s->payload_json, &kept.buffered.signal.payload, err))
            return false;
        *last_row = s->row;
        *VEC_ADD(mem, out) = kept;
    }
    return true;
}

bool read_expired(struct reader *r, int64_t now_us, bool *found, struct err *err)
{
    (void)now_us;
    *found = false;
    return !sim_read_fails(r, err);
}
