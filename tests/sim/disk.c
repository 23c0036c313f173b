/*
 * disk.c - what is durable in the simulator, and the invariants of every
 * commit; see sim.h.
 *
 * A member is checked as a whole before anything of it is written, so that it
 * is all or nothing. The order of the checks is that of src/store.
 */
#include "engine/dump.h"
#include "engine/show.h"
#include "sim/sim.h"
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

struct disk_execution *disk_find(struct disk *d, struct uuid id)
{
    return map_get(&d->by_id, str_from((const char *)id.bytes, sizeof(id.bytes)));
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
        sim_fail(sim, "a scenario does not compile: %.*s\n%.*s", STR_ARG(findings.items[0].message),
                 STR_ARG(text));
    *version = def->version;
}

static const struct program *find_program(const struct disk *d, struct str code, int64_t version)
{
    for (size_t i = d->definitions.count; i-- > 0;)
        if (d->definitions.items[i].version == version &&
            str_eq(d->definitions.items[i].code, code))
            return d->definitions.items[i].program;
    return NULL;
}

/* --- records --- */

/* "a/b", written to `out`. */
static struct str join(char *out, struct str a, struct str b)
{
    memcpy(out, a.ptr, a.len);
    out[a.len] = '/';
    memcpy(out + a.len + 1, b.ptr, b.len);
    return str_from(out, a.len + 1 + b.len);
}

struct disk_record *disk_find_record(struct disk *d, struct str object, struct str id)
{
    char key[400];

    ASSERT(object.len + 1 + id.len <= sizeof(key));
    return map_get(&d->records, join(key, object, id));
}

static struct disk_record *make_record(struct disk *d, struct str object, struct str id)
{
    struct disk_record *r = disk_find_record(d, object, id);

    if (r != NULL)
        return r;
    r = ARENA_NEW(&d->mem, struct disk_record);
    r->object = str_copy(&d->mem, object);
    r->id = str_copy(&d->mem, id);
    map_put(&d->records, join(arena_alloc(&d->mem, object.len + 1 + id.len), object, id), r);
    *VEC_ADD(&d->mem, &d->record_list) = r;
    return r;
}

static void set_record(struct disk *d, struct disk_record *r, int64_t version, struct str json)
{
    struct err err;

    r->version = version;
    r->data_json = str_copy(&d->mem, json);
    if (version > 0 && !json_read(&d->mem, r->data_json, &r->data, &err))
        PANIC("a record is no JSON");
}

void disk_put_record(struct disk *d, struct str object, struct str id, struct str data_json)
{
    struct disk_record *r = make_record(d, object, id);

    set_record(d, r, ++r->last_version, data_json);
}

/* --- invariants --- */

static void check_same(struct sim *sim, struct arena *mem, const char *what,
                       const struct execution *after, const struct execution *restored)
{
    struct str in_memory, from_disk;

    if (dump_is_same(after, restored))
        return;
    in_memory = dump_execution(mem, after);
    from_disk = dump_execution(mem, restored);
    sim_fail(sim, "%s\n--- in memory\n%.*s\n--- from the disk\n%.*s", what, STR_ARG(in_memory),
             STR_ARG(from_disk));
}

/* The state that a checkpoint (none: the birth) and all rows after it give. */
static struct execution *fold(struct sim *sim, struct arena *mem, const struct disk_execution *x,
                              struct disk_checkpoint from)
{
    struct stored_execution stored = x->s;
    struct execution *restored;
    struct err err;

    stored.context_json = from.context_json;
    stored.history = (struct history){.items = x->history.items + from.seq,
                                      .count = x->history.count - (size_t)from.seq};
    SIM_CHECK(sim, state_restore(mem, x->program, &stored, &restored, &err), "I4: %s", err.message);
    return restored;
}

/*
 * I4: what was stored restores to the state that the engine went on with; so
 * does the checkpoint before with the rows of this commit; and now and then,
 * and at the end, the history alone.
 */
static void check_restores(struct sim *sim, struct arena *mem, const struct disk_execution *x,
                           struct disk_checkpoint before, const struct execution *after)
{
    struct disk_checkpoint now = {x->s.context_json, x->s.checkpoint_seq};
    struct disk_checkpoint none = {STR_NONE, 0};
    struct execution *restored = fold(sim, mem, x, now);

    check_same(sim, mem, "I4: the checkpoint with the rows after it is not the state", after,
               restored);
    if (x->has_moved)
        return;
    if (now.seq != before.seq) {
        restored = fold(sim, mem, x, before);
        restored->log_bytes = after->log_bytes;
        check_same(sim, mem, "I4: the rows over the checkpoint before are not the state", after,
                   restored);
    }
    if (before.seq == 0 || (!status_is_terminal(after->status) && !dice_hits(&sim->dice, 100)))
        return;
    restored = fold(sim, mem, x, none);
    restored->log_bytes = after->log_bytes;
    check_same(sim, mem, "I4: the history alone is not the state", after, restored);
}

/* The forward row of a visit that is its last. */
static const struct history_row *visit_row(const struct disk_execution *x,
                                           const struct history_row *of)
{
    for (size_t i = x->history.count; i-- > 0;) {
        const struct history_row *r = &x->history.items[i];
        if (r->kind == HISTORY_FORWARD && r->visit == of->visit && str_eq(r->step, of->step))
            return r;
    }
    return NULL;
}

/* I8: what is undone has been done, and was done before what was undone before it. */
static void check_rollback(struct sim *sim, const struct disk_execution *x,
                           const struct history_row *row)
{
    const struct history_row *undone = visit_row(x, row), *before;

    /* One that was given up is tried again out of order. */
    for (size_t i = 0; i < x->history.count; i++)
        if (x->history.items[i].kind == HISTORY_EVENT &&
            str_eq(x->history.items[i].status, STR("undo")))
            return;
    SIM_CHECK(sim, undone != NULL, "I8: %.*s is undone and was not done", STR_ARG(row->step));
    for (size_t i = x->history.count; i-- > 0;) {
        const struct history_row *r = &x->history.items[i];
        if (r->kind != HISTORY_ROLLBACK)
            continue;
        before = visit_row(x, r);
        SIM_CHECK(sim, undone->seq <= before->seq, "I8: row %lld is undone after row %lld",
                  (long long)undone->seq, (long long)before->seq);
        SIM_CHECK(sim, undone != before || row->attempt > r->attempt || !str_eq(row->key, r->key),
                  "I8: %.*s is undone twice", STR_ARG(row->step));
        break;
    }
}

/* Every attempt of a visit is recorded once, and nothing follows its completion. */
static void check_row(struct sim *sim, const struct disk_execution *x,
                      const struct history_row *row)
{
    int64_t last =
        x->history.count == 0 ? 0 : x->history.items[x->history.count - 1].completed_at_us;

    SIM_CHECK(sim, row->seq == (int64_t)x->history.count + 1,
              "history has a gap: row %lld after %zu", (long long)row->seq, x->history.count);
    SIM_CHECK(sim, row->completed_at_us >= last, "times of a history go back");
    for (size_t i = 0; row->kind == HISTORY_FORWARD && i < x->history.count; i++) {
        const struct history_row *r = &x->history.items[i];
        if (r->kind != HISTORY_FORWARD || r->visit != row->visit || !str_eq(r->step, row->step))
            continue;
        SIM_CHECK(sim, row->attempt > r->attempt && str_eq(r->status, STR("failed")),
                  "step %.*s ran twice in visit %lld", STR_ARG(row->step), (long long)row->visit);
    }
    if (row->kind == HISTORY_ROLLBACK)
        check_rollback(sim, x, row);
}

static bool is_begun_by(const struct commit *c, const char *event)
{
    return c->history.count > 0 && c->history.items[0].kind == HISTORY_EVENT &&
           str_eq(c->history.items[0].status, str_of(event));
}

/*
 * I7: an end is an end, but for an operator's retry of what failed and was not rolled back, or of
 * a rollback that was given up.
 */
static bool may_change(const struct disk_execution *x, const struct commit *c)
{
    return !status_is_terminal(x->s.status) ||
           (x->s.status == STATUS_FAILED && show_allows(&x->s, ACTION_RETRY) &&
            is_begun_by(c, "retry")) ||
           (x->s.status != STATUS_COMPLETED && is_begun_by(c, "undo"));
}

/* What an advance may never say, whatever the store makes of it. */
static void check_commit(struct sim *sim, const struct commit *c, const struct disk_execution *x)
{
    const struct execution *after = c->after;
    bool is_live = !status_is_terminal(after->status);

    SIM_CHECK(sim, after->row_version == c->read_version + 1, "I3: a commit skips a version");
    SIM_CHECK(sim, c->history.count > 0, "a commit without history");
    SIM_CHECK(sim, c->starts.count == 0, "children are not simulated");
    SIM_CHECK(sim, x == NULL || may_change(x, c), "I7: a terminal execution changed");
    SIM_CHECK(sim, is_live || after->wake_at_us == 0, "a terminal execution has a timer");
    SIM_CHECK(sim, is_live || after->completed_at_us > 0, "a terminal execution has no end");
    SIM_CHECK(sim, after->status != STATUS_RUNNING || after->wake_at_us == WAKE_AT_ONCE,
              "ready work is not due");
    SIM_CHECK(sim, after->status != STATUS_WAITING || after->waiting_for_json.len > 0,
              "an execution waits and does not say for what");
    SIM_CHECK(sim, after->status != STATUS_PENDING, "a commit leaves an execution pending");
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

static struct str live_key(struct arena *mem, const struct execution *x)
{
    struct str code = x->program->code;

    return join(arena_alloc(mem, code.len + 1 + x->key.len), code, x->key);
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

static bool has_stale_record(struct disk *d, const struct commit *c)
{
    for (size_t i = 0; i < c->records.count; i++) {
        const struct record_write *w = &c->records.items[i];
        const struct disk_record *r = disk_find_record(d, w->object, w->id);
        if ((r == NULL ? 0 : r->version) != w->read_version)
            return true;
        if (r != NULL && r->version == 0 && r->last_version >= w->version)
            return true; /* it came and went since it was read as missing */
        for (size_t k = 0; k < i; k++)
            if (str_eq(c->records.items[k].id, w->id) &&
                str_eq(c->records.items[k].object, w->object))
                return true; /* the second write of a record meets the first one's version */
    }
    return false;
}

/* Whether the commit takes a key that another live execution has: *holder. */
static bool is_key_busy(struct disk *d, struct arena *mem, const struct commit *c,
                        const struct disk_execution *x, const struct disk_execution **holder)
{
    if (c->after->key.len == 0 || status_is_terminal(c->after->status))
        return false;
    *holder = map_get(&d->live_keys, live_key(mem, c->after));
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
    } else if (has_stale_record(d, c))
        m->result = MEMBER_RECORD_STALE;
    else
        (void)correlation_refuses(d, m);
    return m->result != MEMBER_APPLIED;
}

static struct disk_execution *add_execution(struct sim *sim, const struct execution *after)
{
    struct disk *d = &sim->disk;
    struct disk_execution *x = ARENA_NEW(&d->mem, struct disk_execution);
    struct value request = value_map_get_str(after->input, STR("request"));

    x->s.id = after->id;
    x->request = request.kind == VALUE_INT ? request.i : 0;
    x->program = find_program(d, after->program->code, after->program->version);
    SIM_CHECK(sim, x->program != NULL, "an execution of a version that was never published");
    *VEC_ADD(&d->mem, &d->executions) = x;
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

static void add_rows(struct sim *sim, struct disk_execution *x, const struct commit *c)
{
    struct disk *d = &sim->disk;

    for (size_t i = 0; i < c->history.count; i++) {
        const struct history_row *row = &c->history.items[i];

        check_row(sim, x, row);
        *VEC_ADD(&d->mem, &x->history) = copy_row(&d->mem, row);
        d->rows++;
        /* What an operator gives as a result has not run. */
        if (str_starts_with(row->step, STR("inc")) && str_eq(row->status, STR("completed")) &&
            !(i == 1 && str_eq(c->history.items[0].status, STR("skip"))))
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

static void write_records(struct sim *sim, const struct commit *c)
{
    struct disk *d = &sim->disk;

    for (size_t i = 0; i < c->records.count; i++) {
        const struct record_write *w = &c->records.items[i];
        struct disk_record *r = make_record(d, w->object, w->id);

        SIM_CHECK(sim, w->version > r->last_version, "a version of a record comes again");
        r->last_version = w->version;
        set_record(d, r, w->is_delete ? 0 : w->version, w->data_json);
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
    key = live_key(&d->mem, after);
    if (!status_is_terminal(after->status))
        map_put(&d->live_keys, key, x);
    else if (map_get(&d->live_keys, key) == x)
        (void)map_remove(&d->live_keys, key);
}

/* --- dead letters --- */

/* All of them, or the oldest of a step. */
static void close_incident(struct disk_execution *x, struct str step)
{
    for (size_t i = 0; i < x->letters.count; i++) {
        struct disk_letter *l = &x->letters.items[i];

        if (!l->is_incident || !l->is_open || (step.len > 0 && !str_eq(l->step, step)))
            continue;
        l->is_open = false;
        if (step.len > 0)
            return;
    }
}

static void write_letters(struct sim *sim, struct disk_execution *x, const struct commit *c)
{
    struct disk *d = &sim->disk;

    if (c->incident != LETTER_OPEN && c->incident_steps.count == 0)
        close_incident(x, STR_NONE);
    for (size_t i = 0; c->incident != LETTER_OPEN && i < c->incident_steps.count; i++)
        close_incident(x, c->incident_steps.items[i]);
    for (size_t i = 0; c->retries_letter && i < x->letters.count; i++)
        if (uuid_cmp(x->letters.items[i].id, c->retried_letter) == 0)
            x->letters.items[i].is_open = false;
    for (size_t i = 0; i < c->dead_letters.count; i++) {
        const struct dead_letter *l = &c->dead_letters.items[i];

        for (size_t k = 0; k < x->letters.count; k++)
            SIM_CHECK(sim, uuid_cmp(x->letters.items[k].id, l->id) != 0,
                      "two dead letters have one id");
        SIM_CHECK(sim, l->seq >= 1 && l->seq <= (int64_t)x->history.count,
                  "a dead letter names no row");
        SIM_CHECK(sim, l->cause_json.len > 0, "a dead letter without a cause");
        *VEC_ADD(&d->mem, &x->letters) =
            (struct disk_letter){.id = l->id,
                                 .seq = l->seq,
                                 .step = str_copy(&d->mem, l->step),
                                 .is_incident = !str_eq(l->kind, STR("compensation")),
                                 .is_open = true};
        sim_note(sim, (uint64_t)l->seq);
    }
}

/* What is held has one open letter for each strand that is, and nothing else has one. */
static void check_incident(struct sim *sim, const struct disk_execution *x,
                           const struct execution *after)
{
    unsigned open = 0, held = 0;

    for (size_t i = 0; i < x->letters.count; i++)
        open += x->letters.items[i].is_incident && x->letters.items[i].is_open;
    for (uint32_t i = 0; !status_is_terminal(after->status) && i < execution_strands(after); i++)
        held += execution_cursor(after, i)->phase == PHASE_HELD;
    SIM_CHECK(sim, open == held, "%u dead letters are open of an execution that is held %u times",
              open, held);
}

/* A step that failed and may have happened: it has a letter if nothing could undo it. */
static bool may_be_lost(const struct history_row *row)
{
    return row->kind == HISTORY_FORWARD && str_eq(row->status, STR("failed")) &&
           str_find(row->delta_json, STR("\"maybe\":true"), 0) >= 0;
}

/* A rollback that was given up has one letter, and no other rollback has any. */
static void check_compensations(struct sim *sim, const struct disk_execution *x)
{
    for (size_t i = 0; i < x->history.count; i++) {
        const struct history_row *row = &x->history.items[i];
        bool is_given_up = row->kind == HISTORY_ROLLBACK && str_eq(row->status, STR("failed")) &&
                           str_find(row->delta_json, STR("\"retry\":"), 0) < 0;
        unsigned letters = 0;

        for (size_t k = 0; k < x->letters.count; k++)
            letters += !x->letters.items[k].is_incident && x->letters.items[k].seq == row->seq;
        SIM_CHECK(sim, letters == (is_given_up ? 1u : 0u) || (letters == 1 && may_be_lost(row)),
                  "%u dead letters for row %lld, a %s that is %.*s", letters, (long long)row->seq,
                  history_kind_name(row->kind), STR_ARG(row->status));
    }
}

static void apply_commit(struct sim *sim, struct member *m)
{
    struct disk *d = &sim->disk;
    const struct commit *c = m->commit;
    struct disk_execution *x = disk_find(d, c->after->id);
    struct disk_checkpoint before = {STR_NONE, 0};
    struct arena *mem = &d->scratch;

    arena_reset(mem);
    if (!is_refused(sim, mem, m, x)) {
        check_commit(sim, c, x);
        if (x == NULL)
            x = add_execution(sim, c->after);
        else
            before = (struct disk_checkpoint){x->s.context_json, x->s.checkpoint_seq};
        add_rows(sim, x, c);
        write_records(sim, c);
        write_signal(sim, x, c->received);
        for (size_t i = 0; i < c->kept_taken.count; i++)
            write_signal(sim, x, c->kept_taken.items[i].signal);
        correlation_apply(sim, m);
        write_letters(sim, x, c);
        check_incident(sim, x, c->after);
        write_key(d, x, c->after);
        keep_answer(d, m);
        dump_store(&d->mem, c, &x->s);
        x->has_moved |= c->moves && x->program->version != x->s.version;
        x->program = find_program(d, x->s.code, x->s.version);
        x->s.row = m->row = (int64_t)(d->by_id.count);
        x->log_lines += (unsigned)c->logs.count;
        *VEC_ADD(&d->mem, &x->versions) = (struct disk_version){.status = x->s.status};
        check_restores(sim, mem, x, before, c->after);
        d->commits++;
    }
    sim_note(sim, m->result);
}

/* --- members --- */

static void apply_definition(struct sim *sim, struct member *m)
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

void disk_apply(struct sim *sim, struct member *m)
{
    struct disk_execution *x;

    switch (m->kind) {
    case MEMBER_COMMIT:
        apply_commit(sim, m);
        return;
    case MEMBER_DEFINITION:
        apply_definition(sim, m);
        return;
    case MEMBER_CHANGE:
        ASSERT(m->correlated != NULL); /* clients change nothing else */
        correlation_keep(sim, m);
        return;
    case MEMBER_CRASH:
        x = disk_find(&sim->disk, m->crashed);
        m->result = x == NULL ? MEMBER_GONE : MEMBER_APPLIED;
        if (x != NULL)
            x->s.crash_count++;
        return;
    case MEMBER_ASSERT:
        x = disk_find(&sim->disk, m->assertion->id);
        if (x == NULL)
            m->result = MEMBER_GONE;
        else
            m->result =
                x->s.row_version == m->assertion->row_version ? MEMBER_APPLIED : MEMBER_STALE;
        return;
    }
    PANIC("unknown kind of member");
}

/* --- at rest --- */

static void check_execution(struct sim *sim, const struct disk_execution *x)
{
    bool is_live = !status_is_terminal(x->s.status);
    size_t signals = 0, repairs = 0;

    for (size_t i = 0; i < x->history.count; i++) {
        struct str status = x->history.items[i].status;

        signals += str_eq(status, STR("signal"));
        repairs += str_eq(status, STR("retry")) || str_eq(status, STR("skip")) ||
                   str_eq(status, STR("migrated")) || str_eq(status, STR("resolved")) ||
                   str_eq(status, STR("undo")) || str_eq(status, STR("paused")) ||
                   str_eq(status, STR("resumed"));
    }
    SIM_CHECK(sim, repairs >= x->repairs, "I9: a repair was acknowledged and is not durable");
    SIM_CHECK(sim, signals == x->count, "I2: %zu signals in history, %zu received", signals,
              x->count);
    SIM_CHECK(sim, (int64_t)x->history.count == x->s.seq, "history is not complete");
    if (!is_live)
        check_compensations(sim, x);
    SIM_CHECK(sim, x->log_lines_seen <= x->log_lines, "I1: a log line without its commit");
    SIM_CHECK(sim, !is_live || x->s.status == STATUS_WAITING, "an execution is stuck: %s",
              status_name(x->s.status));
    SIM_CHECK(sim, x->s.wake_at_us == 0 || x->s.wake_at_us > clock_wall_us(&sim->clock.clock),
              "an execution is stuck: it was due");
}

void disk_check_all(struct sim *sim)
{
    struct disk *d = &sim->disk;
    int64_t increments = 0;

    for (size_t i = 0; i < d->executions.count; i++)
        check_execution(sim, d->executions.items[i]);
    correlation_check(sim);
    for (size_t i = 0; i < d->record_list.count; i++) {
        const struct disk_record *r = d->record_list.items[i];
        if (str_eq(r->object, STR("acc")))
            increments += value_map_get_str(r->data, STR("n")).i;
    }
    SIM_CHECK(sim, increments == d->increments, "an update was lost: %lld increments, %lld counted",
              (long long)d->increments, (long long)increments);
}
