/* rig.c - see rig.h. */
#include "engine/rig.h"

#include "define/facts.h"
#include "engine/commit/search.h"
#include "engine/context.h"
#include "engine/show.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct str double_quotes(struct rig *r, const char *text)
{
    struct str s = str_copy(&r->mem, str_of(text));
    char *p = (char *)(uintptr_t)s.ptr;

    for (size_t i = 0; i < s.len; i++)
        if (p[i] == '\'')
            p[i] = '"';
    return s;
}

static struct value read_value(struct rig *r, const char *text)
{
    struct value v = value_absent();

    if (!json_read(&r->mem, double_quotes(r, text), &v, &r->err))
        fail_msg("%s: %s", text, r->err.message);
    return v;
}

const char *rig_text(struct rig *r, struct str s)
{
    char *copy = arena_copy(&r->mem, s.ptr, s.len);

    for (size_t i = 0; i < s.len; i++)
        if (copy[i] == '"')
            copy[i] = '\'';
    return copy;
}

void rig_init(struct rig *r)
{
    *r = (struct rig){.now_us = INT64_C(1767225600000000)}; /* 2026-01-01 */
    arena_init(&r->mem);
    r->env = define_env(&r->mem);
}

void rig_fini(struct rig *r)
{
    if (r->program != NULL)
        program_release(r->program);
    arena_fini(&r->mem);
}

void rig_made(struct rig *r, const struct program *program, struct value definition)
{
    *VEC_ADD(&r->mem, &r->versions) =
        (struct rig_version){.program = program, .definition = definition};
}

void rig_define(struct rig *r, const char *scenario)
{
    struct findings findings = {0};
    struct value definition;
    struct buf text;

    if (r->program != NULL)
        program_release(r->program);
    definition = read_value(r, scenario);
    define_compile(&r->mem, r->env, NULL,
                   value_map_member(definition, STR("states")).kind != VALUE_ABSENT ? KIND_MACHINE
                                                                                    : KIND_SCENARIO,
                   definition, r->version > 0 ? r->version : 1, &findings, &r->program);
    rig_made(r, r->program, definition);
    if (r->program != NULL)
        return;
    buf_init_arena(&text, &r->mem);
    assert_true(json_write_pretty(&text, findings_value(&r->mem, &findings), &r->err));
    fail_msg("does not compile: %s\n%.*s", scenario, STR_ARG(buf_view(&text)));
}

/* --- records --- */

static struct record_read *find_record(struct rig *r, struct str object, struct str id)
{
    for (size_t i = 0; i < r->records.count; i++)
        if (str_eq(r->records.items[i].object, object) && str_eq(r->records.items[i].id, id))
            return &r->records.items[i];
    return NULL;
}

void rig_record(struct rig *r, const char *object, const char *id, int64_t version,
                const char *data)
{
    struct record_read *record = find_record(r, str_of(object), str_of(id));

    if (record == NULL)
        record = VEC_ADD(&r->mem, &r->records);
    *record = (struct record_read){.object = str_of(object),
                                   .id = str_of(id),
                                   .version = version,
                                   .data = read_value(r, data)};
}

const char *rig_find_record(struct rig *r, const char *object, const char *id, int64_t *version)
{
    struct record_read *record = find_record(r, str_of(object), str_of(id));
    struct buf text;

    *version = record == NULL ? 0 : record->version;
    if (*version == 0)
        return "none";
    buf_init_arena(&text, &r->mem);
    assert_true(json_write(&text, record->data, &r->err));
    return rig_text(r, buf_view(&text));
}

static void apply_records(struct rig *r, const struct record_writes *writes)
{
    for (size_t i = 0; i < writes->count; i++) {
        const struct record_write *w = &writes->items[i];
        struct record_read *record = find_record(r, w->object, w->id);

        /* The store applies them one by one and would refuse a second write of the same record. */
        assert_true(w->read_version == (record == NULL ? 0 : record->version));
        assert_true(w->is_delete ? w->read_version > 0 : w->version > w->read_version);
        if (record == NULL)
            record = VEC_ADD(&r->mem, &r->records);
        *record = (struct record_read){
            .object = w->object, .id = w->id, .version = w->is_delete ? 0 : w->version};
        if (!w->is_delete && !json_read(&r->mem, w->data_json, &record->data, &r->err))
            fail_msg("%s", r->err.message);
    }
}

/* A search, as the store answers it: rows are counted from 1 in the order of making. */
static void answer_search(struct rig *r, const struct search *s, struct search_reads *searches)
{
    struct search_read read = {.search = s, .found = {.err = {.code = ERR_NONE}}};
    struct collector c;
    bool is_full = false, ok;

    read.found.hidden = ARENA_ARRAY(&r->mem, s->hidden.count + 1, struct search_hidden);
    assert_true(search_begin(&c, &r->mem, s, SEARCH_BYTES_MAX, false, &r->err));
    ok = true;
    for (size_t i = 0; c.has_after && i < r->records.count; i++)
        if (c.after.row >= SEARCH_NEW_ROW && str_eq(r->records.items[i].id, c.after.id))
            c.after.row = read.found.after_row = (int64_t)i + 1;
    for (size_t i = 0; ok && !is_full && i < r->records.count; i++) {
        const struct record_read *record = &r->records.items[i];
        bool is_hidden = false;
        struct buf json;

        for (size_t k = 0; k < s->hidden.count; k++)
            is_hidden = is_hidden || str_eq(s->hidden.items[k], record->id);
        if (!str_eq(record->object, s->object) || record->version == 0)
            continue;
        if (is_hidden) {
            read.found.hidden[read.found.hidden_count++] =
                (struct search_hidden){.id = record->id, .row = (int64_t)i + 1};
            continue;
        }
        buf_init_arena(&json, &r->mem);
        assert_true(json_write(&json, record->data, &r->err));
        ok = search_offer(&c, (int64_t)i + 1, record->id, record->version, buf_view(&json),
                          &is_full, &r->err);
    }
    search_end(&c);
    if (ok)
        search_take(&r->mem, &c, &read.found);
    else
        read.found.err = r->err;
    search_fini(&c);
    *VEC_ADD(&r->mem, searches) = read;
}

/* What a NEED asked for, as the node would answer it. */
static void answer_need(struct rig *r, const struct record_query *q, struct record_reads *records,
                        struct search_reads *searches)
{
    struct record_read *found;

    if (q->search != NULL) {
        answer_search(r, q->search, searches);
        return;
    }
    found = find_record(r, q->object, q->id);
    *VEC_ADD(&r->mem, records) =
        found != NULL ? *found : (struct record_read){.object = q->object, .id = q->id};
}

/* --- what must always hold --- */

static void assert_same(const char *what, struct str a, struct str b)
{
    if (!str_eq(a, b))
        fail_msg("%s\n--- this\n%.*s\n--- and this\n%.*s", what, STR_ARG(a), STR_ARG(b));
}

/* The newest, since a program that was released may have had the same address. */
static struct value step_meta(struct rig *r, const struct program *p)
{
    for (size_t i = r->versions.count; i > 0; i--)
        if (r->versions.items[i - 1].program == p)
            return facts_get(facts_of(&r->mem, r->versions.items[i - 1].definition), "stepMeta");
    fail_msg("nobody knows what the program was made of");
    return value_absent();
}

/* The context as expressions see it: {input, steps, variables, signals}. */
static struct value context_view(struct arena *mem, const struct execution *exec)
{
    const struct program *p = exec->program;
    struct value_entry *steps = ARENA_ARRAY(mem, p->step_count + 1u, struct value_entry);
    struct value_entry *roots = ARENA_ARRAY(mem, 4, struct value_entry);
    size_t count = 0, duplicate;

    for (uint32_t i = 0; i < p->step_count; i++)
        if (exec->steps[i].outcome != OUTCOME_NONE)
            steps[count++] = (struct value_entry){
                .key = value_key(p->steps[i].code),
                .value = context_step_view(mem, &p->steps[i], &exec->steps[i])};
    roots[0] = (struct value_entry){value_key(STR("input")), exec->input};
    roots[1] = (struct value_entry){value_key(STR("steps")),
                                    value_map_make(mem, steps, count, &duplicate)};
    roots[2] = (struct value_entry){value_key(STR("variables")), exec->variables};
    roots[3] =
        (struct value_entry){value_key(STR("signals")), context_signals(mem, &exec->signals)};
    return value_map_make(mem, roots, 4, &duplicate);
}

/* Clients see the same, from memory and from the store, the order of steps apart. */
static void check_shown(struct rig *r, const struct execution *x, struct stored_execution *stored)
{
    struct value a = value_absent(), b = value_absent();
    struct buf memory, store;

    stored->step_meta = step_meta(r, x->program);
    buf_init_arena(&memory, &r->mem);
    buf_init_arena(&store, &r->mem);
    show_execution(&memory, x);
    if (!show_stored(&r->mem, &store, stored, true, &r->err))
        fail_msg("cannot be shown: %s", r->err.message);
    if (!json_read(&r->mem, buf_view(&memory), &a, &r->err) ||
        !json_read(&r->mem, buf_view(&store), &b, &r->err))
        fail_msg("what is shown is no JSON: %s", r->err.message);
    if (!value_equal(a, b, NULL))
        assert_same("what is shown is not the same", buf_view(&memory), buf_view(&store));
    if (!value_equal(value_map_get_str(a, STR("context")), context_view(&r->mem, x), NULL))
        fail_msg("the context is shown otherwise than expressions see it: %.*s",
                 STR_ARG(buf_view(&memory)));
}

/* What was stored before these facts had columns says them, too. */
static void check_facts(struct rig *r, const struct execution *x)
{
    struct stored_execution stored = r->stored;

    stored.waiting_kind = WAITING_COUNT;
    stored.is_rolled_back = !execution_is_rolled_back(x);
    if (!state_restore_facts(&r->mem, &stored, &r->err))
        fail_msg("the facts do not restore: %s", r->err.message);
    assert_int_equal(stored.waiting_kind, x->waiting_kind);
    assert_int_equal((x->waiting_kind != WAITING_NONE), (x->waiting_for_json.len > 0));
    if (x->status == STATUS_FAILED)
        assert_int_equal(stored.is_rolled_back, execution_is_rolled_back(x));
}

static void check_restores(struct rig *r, const struct execution *x)
{
    struct str wanted = dump_execution(&r->mem, x);
    struct stored_execution stored = r->stored;
    struct execution *restored;

    stored.history = (struct history){0};
    for (size_t i = 0; i < r->history.count; i++)
        if (r->history.items[i].seq > stored.checkpoint_seq)
            *VEC_ADD(&r->mem, &stored.history) = r->history.items[i];
    if (!state_restore(&r->mem, r->program, &stored, &restored, &r->err))
        fail_msg("does not restore: %s", r->err.message);
    assert_same("the checkpoint and the rows after it are not the state", wanted,
                dump_execution(&r->mem, restored));
    assert_true(dump_is_same(x, restored));
    check_shown(r, x, &stored);
    check_facts(r, x);

    if (r->is_of_versions)
        return;
    stored.history = r->history;
    stored.context_json = STR_NONE;
    if (!state_restore(&r->mem, r->program, &stored, &restored, &r->err))
        fail_msg("does not restore: %s", r->err.message);
    restored->log_bytes = x->log_bytes;
    assert_same("history alone is not the state", wanted, dump_execution(&r->mem, restored));
    assert_same("a copy is not the state", wanted, dump_execution(&r->mem, state_copy(&r->mem, x)));
}

static void check_rows(const struct rig *r)
{
    int64_t before_us = 0;

    for (size_t i = 0; i < r->history.count; i++) {
        const struct history_row *row = &r->history.items[i];
        assert_int_equal(row->seq, i + 1);
        assert_true(row->completed_at_us >= before_us);
        assert_true(row->started_at_us <= row->completed_at_us);
        before_us = row->completed_at_us;
    }
    assert_int_equal(r->x->seq, r->history.count);
}

static void check_commit(const struct execution *before, const struct commit *c)
{
    assert_true(c->read_version == before->row_version);
    assert_true(c->after->row_version == before->row_version + 1);
    assert_true(c->after->updated_at_us >= before->updated_at_us);
    /* A failed one keeps its place for an operator. */
    if (c->after->status != STATUS_FAILED)
        assert_true(status_is_terminal(c->after->status) == (c->cursor_json.len == 0));
    assert_true(!status_is_terminal(c->after->status) || c->after->wake_at_us == 0);
    if (c->after->status == STATUS_RUNNING)
        assert_true(c->after->wake_at_us == WAKE_AT_ONCE);
}

/* --- events --- */

/* Advance twice from the same state: the commits are the same and the state is untouched. */
static bool advance(struct rig *r, const struct event *ev, struct commit *out)
{
    struct str before = dump_execution(&r->mem, r->x);
    struct commit again;
    bool ok = engine_advance(&r->mem, r->x, ev, r->now_us, out, &r->err);
    bool ok_again = engine_advance(&r->mem, r->x, ev, r->now_us, &again, &r->err);

    assert_int_equal(ok, ok_again);
    if (ok)
        assert_same("the same inputs gave another commit", dump_commit(&r->mem, out),
                    dump_commit(&r->mem, &again));
    assert_same("the execution was written to", before, dump_execution(&r->mem, r->x));
    return ok;
}

static void answer_history(struct rig *r, const struct history_need *need, struct history *out)
{
    out->count = 0;
    for (size_t i = 0; i < r->history.count && out->count < ROLLBACK_PAGE; i++)
        if (r->history.items[i].seq > need->after && r->history.items[i].seq >= r->history_from)
            *VEC_ADD(&r->mem, out) = r->history.items[i];
}

static void answer_process(struct rig *r, const struct process_read *need,
                           struct process_reads *out)
{
    struct process_read found = *need;

    for (size_t i = 0; i < r->processes.count; i++)
        if (str_eq(r->processes.items[i].code, need->code)) {
            found.program = r->processes.items[i].program;
            found.is_held = need->key.len > 0 && str_eq(need->key, r->processes.items[i].key);
            found.holder = r->processes.items[i].holder;
        }
    *VEC_ADD(&r->mem, out) = found;
}

/* The last one with that number: another may have taken its place. */
static void answer_former(struct rig *r, struct str name, struct former_reads *out)
{
    struct former_read found = {.name = name};

    for (size_t i = 0; i < r->versions.count && !r->forgets_versions; i++)
        if (r->versions.items[i].program->version != r->forgotten &&
            str_eq(former_name(&r->mem, r->versions.items[i].program), name))
            found.program = r->versions.items[i].program;
    *VEC_ADD(&r->mem, out) = found;
}

static void answer_kept(struct rig *r, struct str correlation, struct kept_reads *out)
{
    struct kept_read found = {.correlation = correlation};

    for (size_t i = 0; i < r->kept.count; i++)
        if (str_eq(r->kept.items[i].correlation, correlation))
            found = r->kept.items[i];
    *VEC_ADD(&r->mem, out) = found;
}

/* With a wake comes what the children have said, if they have ended. */
static void tell_ends(struct rig *r, struct event *ev, struct child_reads *out)
{
    struct uuid id;

    if (ev->kind != EVENT_WAKE || ev->children != NULL || !r->child.is_found ||
        !status_is_terminal(r->child.status))
        return;
    for (uint32_t i = 0; i < execution_strands(r->x); i++) {
        struct str awaited = execution_cursor(r->x, i)->awaited;

        if (str_starts_with(awaited, STR("child:")) &&
            uuid_read(str_slice(awaited, 6, awaited.len), &id) &&
            (!r->first_child_alone || out->count == 0)) {
            *VEC_ADD(&r->mem, out) = r->child;
            out->items[out->count - 1].id = id;
        }
    }
    for (uint32_t i = 0; i < r->x->stopped_count; i++) {
        *VEC_ADD(&r->mem, out) = r->child;
        out->items[out->count - 1].id = r->x->stopped[i].id;
    }
    ev->children = out->count > 0 ? out : NULL;
}

static bool apply(struct rig *r, struct event ev)
{
    struct turn_reads reads = {0};
    struct child_reads told = {0};
    struct commit c;

    ev.config = r->config.kind == VALUE_MAP ? r->config : value_map_empty();
    ev.reads = &reads;
    ev.gives_up_on_records = r->gives_up_on_records;
    if (ev.capacity == NULL)
        ev.capacity = r->capacity;
    ev.buffers_signals = r->keeps_signals;
    tell_ends(r, &ev, &told);
    r->needs = 0;
    while (true) {
        if (!advance(r, &ev, &c))
            return false;
        if (c.result == ADVANCE_COMMIT)
            break;
        assert_true(c.needs.count > 0 || c.needs_history.is_needed || c.needs_processes.count > 0 ||
                    c.needs_formers.count > 0 || c.needs_children.count > 0 ||
                    c.needs_buffered.count > 0 || c.needs_leases);
        if (c.needs_leases) {
            reads.has_leases = true;
            reads.leases = r->leases;
        }
        for (size_t i = 0; i < c.needs_buffered.count; i++)
            answer_kept(r, c.needs_buffered.items[i], &reads.kept);
        for (size_t i = 0; i < c.needs_processes.count; i++)
            answer_process(r, &c.needs_processes.items[i], &reads.processes);
        for (size_t i = 0; i < c.needs_formers.count; i++)
            answer_former(r, c.needs_formers.items[i], &reads.formers);
        for (size_t i = 0; i < c.needs_children.count; i++) {
            struct child_read *read = VEC_ADD(&r->mem, &reads.children);
            *read = r->child;
            read->id = c.needs_children.items[i];
            if (r->first_child_alone && i > 0)
                read->status = STATUS_RUNNING;
        }
        assert_true(++r->needs < 1000);
        if (c.needs_history.is_needed) {
            answer_history(r, &c.needs_history, &reads.history);
            reads.has_history = true;
        }
        for (size_t i = 0; i < c.needs.count; i++)
            answer_need(r, &c.needs.items[i], &reads.records, &reads.searches);
        for (size_t i = 0; i < reads.records.count && r->contended != NULL; i++)
            if (str_eq(reads.records.items[i].id, str_of(r->contended)))
                reads.records.items[i].tries = RECORD_TRIES_MAX + 1;
    }
    check_commit(r->x, &c);
    apply_records(r, &c.records);
    for (size_t i = 0; i < c.history.count; i++)
        *VEC_ADD(&r->mem, &r->history) = c.history.items[i];
    dump_store(&r->mem, &c, &r->stored);
    r->x = c.after;
    r->last = c;
    check_rows(r);
    check_restores(r, r->x);
    return true;
}

void rig_start(struct rig *r, const char *input)
{
    rig_start_with(r, read_value(r, input));
}

void rig_start_with(struct rig *r, struct value input)
{
    struct execution *x = ARENA_NEW(&r->mem, struct execution);
    struct buf json;

    buf_init_arena(&json, &r->mem);
    x->input = input;
    assert_true(json_write(&json, x->input, &r->err));
    x->id = (struct uuid){.bytes = {1, 2, 3, 4, 5, 6, 0x77, 8, 0x89, 10, 11, 12, 13, 14, 15, 16}};
    x->program = r->program;
    x->user_json = STR("{\"id\":\"u1\",\"name\":\"Ann\"}");
    x->created_at_us = x->updated_at_us = r->now_us;
    x->deadline_at_us = r->program->timeout_us > 0 ? r->now_us + r->program->timeout_us : 0;
    x->input_json = buf_view(&json);
    x->status = STATUS_PENDING;
    x->steps = arena_zalloc(&r->mem, (r->program->step_count + 1u) * sizeof(*x->steps));
    x->variables = value_map_empty();
    x->debug = r->debug;
    x->context_bytes = x->input_json.len;
    r->x = x;
    r->history = (struct history){0};
    r->stored = (struct stored_execution){0};
    assert_true(apply(r, (struct event){.kind = EVENT_START}));
    assert_true(r->last.is_start);
}

bool rig_wake(struct rig *r)
{
    return apply(r, (struct event){.kind = EVENT_WAKE});
}

bool rig_signal(struct rig *r, const char *id, const char *type, const char *payload)
{
    return apply(r, (struct event){.kind = EVENT_SIGNAL,
                                   .signal_id = str_of(id),
                                   .signal_type = str_of(type),
                                   .signal_payload = read_value(r, payload),
                                   .by = read_value(r, "{'id':'u1','name':'Ann'}")});
}

bool rig_cancel(struct rig *r, const char *reason)
{
    return apply(r, (struct event){.kind = EVENT_CANCEL, .reason = str_of(reason)});
}

bool rig_event(struct rig *r, struct event ev)
{
    return apply(r, ev);
}

struct value rig_value(struct rig *r, const char *json)
{
    return read_value(r, json);
}

void rig_settle(struct rig *r)
{
    for (unsigned i = 0; i < 10000 && r->x->wake_at_us != 0; i++) {
        if (r->x->wake_at_us > r->now_us) {
            if (r->x->wake_at_us == r->x->deadline_at_us)
                return;
            r->now_us = r->x->wake_at_us;
        }
        if (!rig_wake(r))
            fail_msg("nothing to wake: %s", r->err.message);
        if (i % 3 == 0)
            rig_reload(r);
    }
}

const char *rig_trace(struct rig *r)
{
    struct buf out;

    buf_init_arena(&out, &r->mem);
    for (size_t i = 0; i < r->history.count; i++) {
        const struct history_row *row = &r->history.items[i];
        static const char *const marks[] = {"", "-", "?", "!"};

        if (row->kind == HISTORY_EVENT)
            continue;
        if (out.len > 0)
            buf_char(&out, ' ');
        buf_printf(&out, "%s%.*s", marks[row->kind], STR_ARG(row->step));
        if (row->visit > 1)
            buf_printf(&out, "%lld", (long long)row->visit);
        if (!str_eq(row->status, STR("completed")) && !str_eq(row->status, STR("compensated")))
            buf_printf(&out, ".%.*s", STR_ARG(row->status));
        if (row->attempt > 1)
            buf_printf(&out, "(%lld)", (long long)row->attempt);
    }
    buf_char(&out, 0);
    return out.ptr;
}

void rig_pass(struct rig *r, int64_t us)
{
    r->now_us += us;
}

void rig_reload(struct rig *r)
{
    struct stored_execution stored = r->stored;

    stored.history = (struct history){0};
    for (size_t i = 0; i < r->history.count; i++)
        if (r->history.items[i].seq > stored.checkpoint_seq)
            *VEC_ADD(&r->mem, &stored.history) = r->history.items[i];
    if (!state_restore(&r->mem, r->program, &stored, &r->x, &r->err))
        fail_msg("does not restore: %s", r->err.message);
}

const struct history_row *rig_row(struct rig *r, const char *step)
{
    for (size_t i = r->history.count; i-- > 0;)
        if (str_eq(r->history.items[i].step, str_of(step)) &&
            r->history.items[i].kind == HISTORY_FORWARD)
            return &r->history.items[i];
    return NULL;
}

const char *rig_output(struct rig *r, const char *step)
{
    const struct step *s = program_step(r->program, str_of(step));

    assert_non_null(s);
    return rig_text(r, r->x->steps[s->index].output_json);
}

/* --- one for each claim --- */

struct rig rig;

int rig_setup(void **state)
{
    (void)state;
    rig_init(&rig);
    return 0;
}

int rig_teardown(void **state)
{
    (void)state;
    rig_fini(&rig);
    return 0;
}
