/*
 * disk.c - what is durable in the simulator, and how members change it; see
 * sim.h.
 *
 * A member is checked as a whole before anything of it is written, so that it
 * is all or nothing. The order of the checks is that of src/store.
 */
#include "sim/disk.h"

#include "define/define.h"
#include "engine/dump.h"
#include "sim/automatic.h"
#include "sim/inbox.h"
#include "sim/planner.h"
#include "store/change_definition.h"
#include "store/change_retention.h"
#include "value/json.h"

void disk_init(struct disk *d, const struct cel_env *env)
{
    *d = (struct disk){.env = env};
    arena_init(&d->mem);
    arena_init(&d->scratch);
    map_init(&d->by_id, &d->mem);
    map_init(&d->live_keys, &d->mem);
    map_init(&d->records, &d->mem);
    map_init(&d->answers, &d->mem);
}

void disk_fini(struct disk *d)
{
    for (size_t i = 0; i < d->definitions.count; i++)
        program_release(d->definitions.items[i].program);
    arena_fini(&d->scratch);
    arena_fini(&d->mem);
}

struct disk_execution *disk_find_ever(struct disk *d, struct uuid id)
{
    return map_get(&d->by_id, str_from((const char *)id.bytes, sizeof(id.bytes)));
}

struct disk_execution *disk_find(struct disk *d, struct uuid id)
{
    struct disk_execution *x = disk_find_ever(d, id);

    return x == NULL || x->is_deleted ? NULL : x;
}

const struct disk_signal *disk_find_signal(const struct disk_execution *x, struct str id)
{
    for (size_t i = 0; i < x->count; i++)
        if (str_eq(x->items[i].id, id))
            return &x->items[i];
    return NULL;
}

/* --- definitions --- */

void disk_publish(struct sim *sim, struct str code, struct str text, int64_t *version)
{
    struct disk *d = &sim->disk;
    struct findings findings = {0};
    struct disk_definition *def;
    struct value v;
    struct err err;
    int64_t last = 0;

    for (size_t i = 0; i < d->definitions.count; i++)
        if (str_eq(d->definitions.items[i].code, code))
            last = d->definitions.items[i].version;
    def = VEC_ADD(&d->mem, &d->definitions);
    *def = (struct disk_definition){
        .code = str_copy(&d->mem, code), .text = str_copy(&d->mem, text), .version = last + 1};
    if (!json_read(&d->mem, def->text, &v, &err))
        sim_fail(sim, "a scenario is no JSON: %s\n%.*s", err.message, STR_ARG(text));
    define_compile_scenario(&d->mem, d->env, v, def->version, &findings, &def->program);
    if (def->program == NULL)
        sim_fail(sim, "a scenario does not compile: %.*s\n%.*s",
                 STR_ARG(findings.items[0].message.text), STR_ARG(text));
    *version = def->version;
    d->stamp++;
    ticks_derive(sim, def);
}

static const struct program *find_program(const struct disk *d, struct str code, int64_t version)
{
    for (size_t i = d->definitions.count; i-- > 0;)
        if (d->definitions.items[i].version == version &&
            str_eq(d->definitions.items[i].code, code))
            return d->definitions.items[i].program;
    return NULL;
}

/* --- one commit --- */

static struct str answer_key(struct arena *mem, const struct idempotency *i)
{
    return str_printf(mem, "%.*s %.*s %.*s %.*s", STR_ARG(i->user), STR_ARG(i->method),
                      STR_ARG(i->path), STR_ARG(i->key));
}

static bool is_repeated(struct disk *d, struct arena *mem, struct member *m)
{
    const struct idempotency *i = m->idempotency;
    const struct disk_answer *a;

    if (i == NULL || (a = map_get(&d->answers, answer_key(mem, i))) == NULL)
        return false;
    m->result = str_eq(a->body_hash, i->body_hash) ? MEMBER_REPEATED : MEMBER_KEY_CONFLICT;
    m->answer = a->answer;
    m->answer_status = a->status;
    return true;
}

static void keep_answer(struct disk *d, const struct member *m)
{
    struct disk_answer *a;

    if (m->idempotency == NULL)
        return;
    a = ARENA_NEW(&d->mem, struct disk_answer);
    a->body_hash = str_copy(&d->mem, m->idempotency->body_hash);
    a->answer = str_copy(&d->mem, m->idempotency->answer);
    a->status = m->idempotency->status;
    map_put(&d->answers, answer_key(&d->mem, m->idempotency), a);
}

struct str disk_join(char *out, struct str a, struct str b)
{
    memcpy(out, a.ptr, a.len);
    out[a.len] = '/';
    memcpy(out + a.len + 1, b.ptr, b.len);
    return str_from(out, a.len + 1 + b.len);
}

struct str disk_live_key(struct arena *mem, const struct execution *x)
{
    struct str code = x->program->code;

    return disk_join(arena_alloc(mem, code.len + 1 + x->key.len), code, x->key);
}

static struct str payload_json(struct arena *mem, struct value view)
{
    struct buf text;
    struct err err;

    buf_init_arena(&text, mem);
    if (!json_write(&text, value_map_get_str(view, STR("payload")), &err))
        PANIC("a payload has no JSON form");
    return buf_view(&text);
}

static bool is_known_signal(struct arena *mem, const struct disk_execution *x, struct member *m)
{
    const struct signal *s = m->commit->received;
    const struct disk_signal *known = s == NULL ? NULL : disk_find_signal(x, s->id);

    if (known == NULL)
        return false;
    m->result =
        str_eq(known->type, s->type) && str_eq(known->payload_json, payload_json(mem, s->view))
            ? MEMBER_SIGNAL_KNOWN
            : MEMBER_SIGNAL_DIFFERS;
    m->has_holder = true;
    m->holder = x->s.id;
    return true;
}

/* Whether the commit takes a key that another live execution has: *holder. */
static bool is_key_busy(struct disk *d, struct arena *mem, const struct commit *c,
                        const struct disk_execution *x, const struct disk_execution **holder)
{
    if (c->after->key.len == 0 || (!c->is_start && status_is_terminal(c->after->status)))
        return false;
    *holder = map_get(&d->live_keys, disk_live_key(mem, c->after));
    return *holder != NULL && *holder != x;
}

/* Whether the member is refused: m->result says why. */
static bool is_refused(struct sim *sim, struct arena *mem, struct member *m,
                       struct disk_execution *x)
{
    struct disk *d = &sim->disk;
    const struct commit *c = m->commit;
    const struct disk_execution *holder;

    if (is_repeated(d, mem, m))
        return true;
    m->result = MEMBER_APPLIED;
    if (!c->is_start && x == NULL)
        m->result = MEMBER_GONE;
    else if (!c->is_start && is_known_signal(mem, x, m))
        return true;
    else if (c->is_start ? x != NULL : x->s.row_version != c->read_version)
        m->result = MEMBER_STALE;
    else if (is_key_busy(d, mem, c, x, &holder)) {
        m->holder = holder->s.id;
        m->result = MEMBER_KEY_BUSY;
    } else if (events_refuse(sim, m) || ticks_refuse(sim, m) || disk_refuses_jobs(sim, x, m))
        return true;
    else if (disk_has_stale_record(d, c))
        m->result = MEMBER_RECORD_STALE;
    else if (!disk_refuses_children(d, mem, m))
        (void)correlation_refuses(d, m);
    return m->result != MEMBER_APPLIED;
}

struct disk_execution *disk_add_execution(struct sim *sim, const struct execution *after)
{
    struct disk *d = &sim->disk;
    struct disk_execution *x = ARENA_NEW(&d->mem, struct disk_execution);
    struct value request = value_map_get_str(after->input, STR("request"));

    x->s.id = after->id;
    x->is_child = after->has_parent;
    x->request = request.kind == VALUE_INT && !x->is_child ? request.i : 0;
    x->program = find_program(d, after->program->code, after->program->version);
    SIM_CHECK(sim, x->program != NULL, "an execution of a version that was never published");
    *VEC_ADD(&d->mem, &d->executions) = x;
    x->s.row = (int64_t)d->executions.count;
    map_put(&d->by_id, str_from((const char *)x->s.id.bytes, sizeof(x->s.id.bytes)), x);
    return x;
}

static struct history_row copy_row(struct arena *mem, const struct history_row *row)
{
    struct history_row copy = *row;

    copy.step = str_copy(mem, row->step);
    copy.status = str_copy(mem, row->status);
    copy.key = str_copy(mem, row->key);
    copy.input_json = str_copy(mem, row->input_json);
    copy.output_json = str_copy(mem, row->output_json);
    copy.error_json = str_copy(mem, row->error_json);
    copy.delta_json = str_copy(mem, row->delta_json);
    return copy;
}

/* Whether this row has the result that an operator gave for a step that he skips: it has not run. */
static bool is_given_by_skip(const struct commit *c, size_t row)
{
    const struct history_row *rows = c->history.items;
    /* One that was in flight is stopped first. */
    bool is_next = row == 1 || (row == 2 && str_eq(rows[1].status, STR("failed")) &&
                                str_eq(rows[1].step, rows[2].step));

    return is_next && str_eq(rows[0].status, STR("skip"));
}

static void add_rows(struct sim *sim, struct disk_execution *x, const struct commit *c)
{
    struct disk *d = &sim->disk;

    for (size_t i = 0; i < c->history.count; i++) {
        const struct history_row *row = &c->history.items[i];

        disk_check_row(sim, x, row);
        SIM_CHECK(sim,
                  !str_starts_with(row->step, STR("own")) ||
                      str_find(row->error_json, STR("conflict_version"), 0) < 0,
                  "a record that nobody else writes to is in conflict");
        *VEC_ADD(&d->mem, &x->history) = copy_row(&d->mem, row);
        d->rows++;
        if (str_starts_with(row->step, STR("inc")) && str_eq(row->status, STR("completed")) &&
            !is_given_by_skip(c, i))
            d->increments++;
        sim_note(sim, (uint64_t)row->seq);
        sim_note(sim, (uint64_t)row->completed_at_us);
        sim_note_str(sim, row->step);
        sim_note_str(sim, row->status);
        sim_note_str(sim, row->output_json);
        sim_note_str(sim, row->error_json);
        sim_note_str(sim, row->delta_json);
    }
}

static void write_signal(struct sim *sim, struct disk_execution *x, const struct signal *s)
{
    struct disk *d = &sim->disk;

    if (s == NULL)
        return;
    SIM_CHECK(sim, disk_find_signal(x, s->id) == NULL, "I2: a signal was applied twice");
    *VEC_ADD(&d->mem, x) = (struct disk_signal){.id = str_copy(&d->mem, s->id),
                                                .type = str_copy(&d->mem, s->type),
                                                .payload_json = payload_json(&d->mem, s->view)};
}

static void write_key(struct disk *d, struct disk_execution *x, const struct execution *after)
{
    struct str key;

    if (after->key.len == 0)
        return;
    key = disk_live_key(&d->mem, after);
    if (!status_is_terminal(after->status))
        map_put(&d->live_keys, key, x);
    else if (map_get(&d->live_keys, key) == x)
        (void)map_remove(&d->live_keys, key);
}

void disk_keep_state(struct sim *sim, struct disk_execution *x, const struct commit *c)
{
    struct disk *d = &sim->disk;
    int64_t row = x->s.row;

    dump_store(&d->mem, c, &x->s);
    x->s.row = row;
    x->s.has_parent = c->after->has_parent;
    x->s.parent_id = c->after->parent_id;
    *VEC_ADD(&d->mem, &x->versions) = (struct disk_version){
        .status = x->s.status, .is_held = execution_is_held(c->after), .mono_us = sim_mono_us(sim)};
}

static void write_commit(struct sim_node *by, struct member *m)
{
    struct sim *sim = by->sim;
    struct disk *d = &sim->disk;
    const struct commit *c = m->commit;
    struct disk_execution *x = disk_find(d, c->after->id);
    struct disk_checkpoint before = {STR_NONE, 0};
    struct arena *mem = &d->scratch;

    arena_reset(mem);
    if (!is_refused(sim, mem, m, x)) {
        disk_check_commit(sim, c, x);
        if (x == NULL)
            x = disk_add_execution(sim, c->after);
        else
            before = (struct disk_checkpoint){x->s.context_json, x->s.checkpoint_seq};
        disk_check_boundary(sim, x, c);
        add_rows(sim, x, c);
        disk_write_records(sim, c);
        write_signal(sim, x, c->received);
        for (size_t i = 0; i < c->buffered_taken.count; i++)
            write_signal(sim, x, c->buffered_taken.items[i].signal);
        correlation_apply(sim, m);
        inbox_opened(sim, x, c);
        disk_write_letters(sim, x, c);
        disk_check_incident(sim, x, c->after);
        events_check_routes(sim, c);
        disk_write_outbox(sim, x, c);
        ticks_started(by, m, x);
        events_started(sim, m, x);
        disk_write_jobs(sim, x, c);
        write_key(d, x, c->after);
        keep_answer(d, m);
        disk_start_children(sim, c);
        disk_keep_state(sim, x, c);
        disk_note_end(sim, x);
        x->has_moved |= c->moves && x->program->version != x->s.version;
        x->program = find_program(d, x->s.code, x->s.version);
        m->row = x->s.row;
        x->log_lines += (unsigned)c->logs.count;
        disk_notify(sim, &c->notices);
        disk_consume(sim, x, &c->consumed);
        disk_drop_notices(sim, x);
        disk_write_tasks(sim, x, c);
        disk_check_restores(sim, mem, x, before, c->after);
        d->commits++;
        client_saw(sim, x);
    }
    sim_note(sim, m->result);
}

/* --- members --- */

static void write_definition(struct sim *sim, struct member *m)
{
    struct definition_change *change = m->definition;
    struct arena mem;

    arena_init(&mem);
    if (!is_repeated(&sim->disk, &mem, m)) {
        m->result = MEMBER_APPLIED;
        disk_publish(sim, change->code, change->text, &change->version);
        keep_answer(&sim->disk, m);
    }
    arena_fini(&mem);
}

/* Something was decided on a state: it is still true, or it is decided anew. */
static void write_assertion(struct sim *sim, struct member *m)
{
    struct disk *d = &sim->disk;
    struct disk_execution *x = disk_find(d, m->assertion->id);

    arena_reset(&d->scratch);
    if (is_repeated(d, &d->scratch, m))
        return;
    if (x == NULL)
        m->result = MEMBER_GONE;
    else if (x->s.row_version != m->assertion->row_version)
        m->result = MEMBER_STALE;
    else {
        m->result = MEMBER_APPLIED;
        m->row = x->s.row;
        disk_notify(sim, &m->assertion->notices);
        disk_consume(sim, x, &m->assertion->consumed);
        keep_answer(d, m);
    }
    sim_note(sim, m->result);
}

void disk_apply(struct sim_node *by, struct member *m)
{
    struct sim *sim = by->sim;
    struct disk_execution *x;

    switch (m->kind) {
    case MEMBER_COMMIT:
        write_commit(by, m);
        return;
    case MEMBER_DEFINITION:
        write_definition(sim, m);
        return;
    case MEMBER_CHANGE:
        if (m->change->apply == execution_delete_apply)
            disk_delete(sim, m);
        else if (disk_change_jobs(sim, m) || disk_settle(sim, m) || ticks_change(by, m) ||
                 plan_change(sim, m))
            return;
        else if (m->correlated == NULL)
            disk_park(sim, m);
        else
            correlation_keep(sim, m);
        return;
    case MEMBER_CRASH:
        x = disk_find(&sim->disk, m->crashed);
        m->result = x == NULL ? MEMBER_GONE : MEMBER_APPLIED;
        if (x != NULL)
            x->s.crash_count++;
        return;
    case MEMBER_ASSERT:
        write_assertion(sim, m);
        return;
    }
    PANIC("unknown kind of member");
}
