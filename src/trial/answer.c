/* answer.c - what the executions of a trial read; see inner.h. */
#include "define/program.h"
#include "engine/commit/search.h"
#include "trial/inner.h"
#include "value/json.h"

/* Of records that a trial has made: behind those of the world, before those of a turn. */
#define TRIAL_FIRST_ROW (SEARCH_NEW_ROW >> 1)

/* --- records: what was written lies over what the world has --- */

static struct trial_record *find_record(struct trial_run *r, struct str object, struct str id)
{
    for (size_t i = 0; i < r->out->records.count; i++) {
        struct record_read *record = &r->out->records.items[i].read;
        if (str_eq(record->object, object) && str_eq(record->id, id))
            return &r->out->records.items[i];
    }
    return NULL;
}

static bool answer_one(struct trial_run *r, struct arena *mem, const struct record_query *q,
                       struct turn_reads *reads, struct err *err)
{
    const struct trial_record *own = find_record(r, q->object, q->id);
    struct record_read read = {.object = q->object, .id = q->id};

    if (own != NULL)
        read = own->read;
    else if (r->world != NULL && r->world->record != NULL &&
             !r->world->record(r->world->context, mem, q->object, q->id, &read, err))
        return false;
    *VEC_ADD(mem, &reads->records) = read;
    return true;
}

/* What the world has of it, but for records of the trial's own. */
static bool ask_world(struct trial_run *r, struct arena *mem, const struct search *s,
                      struct search_found *out, struct err *err)
{
    struct search wider = *s;

    *out = (struct search_found){.err = {.code = ERR_NONE}};
    if (r->world == NULL || r->world->search == NULL)
        return true;
    wider.hidden = (struct search_ids){0};
    for (size_t i = 0; i < s->hidden.count; i++)
        *VEC_ADD(mem, &wider.hidden) = s->hidden.items[i];
    for (size_t i = 0; i < r->out->records.count; i++)
        if (str_eq(r->out->records.items[i].read.object, s->object))
            *VEC_ADD(mem, &wider.hidden) = r->out->records.items[i].read.id;
    return r->world->search(r->world->context, mem, &wider, out, err);
}

/* Rows that the world gave to records that the trial has changed; others are later than all. */
static int64_t row_of(const struct search_found *world, struct str id, size_t number)
{
    for (uint32_t i = 0; i < world->hidden_count; i++)
        if (str_eq(world->hidden[i].id, id))
            return world->hidden[i].row;
    return TRIAL_FIRST_ROW + (int64_t)number;
}

/* Whether the turn that asks has changed it and lays that over itself. */
static bool is_hidden(const struct search *s, struct str id)
{
    for (size_t i = 0; i < s->hidden.count; i++)
        if (str_eq(s->hidden.items[i], id))
            return true;
    return false;
}

/* The trial's own records that fit, with what `after` leaves of them. */
static bool own_matches(struct trial_run *r, struct arena *mem, const struct search *s,
                        struct search_found *found, struct search_match *own, uint32_t *count,
                        struct err *err)
{
    struct cel_limits left = {.cost = SEARCH_COST_MAX};
    struct search_rank after;

    if (s->after.len > 0 && !search_cursor_read(mem, s, &after, err))
        return false;
    for (size_t i = 0; i < r->out->records.count; i++) {
        const struct record_read *read = &r->out->records.items[i].read;
        struct search_match *match = &own[*count];
        int64_t row = row_of(found, read->id, i);
        bool fits;

        if (!str_eq(read->object, s->object) || read->version == 0)
            continue;
        if (is_hidden(s, read->id)) {
            found->hidden[found->hidden_count++] =
                (struct search_hidden){.id = read->id, .row = row};
            continue;
        }
        match->record = search_record(mem, read->id, read->version, read->data);
        search_rank_of(s, match->record, row, &match->rank);
        if (s->after.len > 0 && search_compare(s, &match->rank, &after) <= 0)
            continue;
        if (!search_fits(mem, s, &left, match->record, &fits, err))
            return false;
        *count += fits;
    }
    return true;
}

/* Room for those that the world has met and for those of the trial. */
static void widen_hidden(struct arena *mem, struct search_found *found, size_t more)
{
    struct search_hidden *wider =
        ARENA_ARRAY(mem, found->hidden_count + more + 1, struct search_hidden);

    if (found->hidden_count > 0)
        memcpy(wider, found->hidden, found->hidden_count * sizeof(*wider));
    found->hidden = wider;
}

static bool answer_search(struct trial_run *r, struct arena *mem, const struct search *s,
                          struct turn_reads *reads, struct err *err)
{
    struct search_read read = {.search = s};
    struct search_match *own = ARENA_ARRAY(mem, r->out->records.count + 1, struct search_match);
    struct err failure = {.code = ERR_NONE};
    uint32_t count = 0;

    if (!ask_world(r, mem, s, &read.found, err))
        return false;
    widen_hidden(mem, &read.found, r->out->records.count);
    if (read.found.err.code == ERR_NONE &&
        (!own_matches(r, mem, s, &read.found, own, &count, &failure) ||
         !search_merge(mem, s, &read.found, own, count, &failure)))
        read.found.err = failure;
    *VEC_ADD(mem, &reads->searches) = read;
    return true;
}

bool answer_keep_records(struct trial_run *r, const struct record_writes *writes, struct err *err)
{
    for (size_t i = 0; i < writes->count; i++) {
        const struct record_write *w = &writes->items[i];
        struct trial_record *record = find_record(r, w->object, w->id);
        struct value data = value_absent();

        if (!w->is_delete && !json_read(r->mem, w->data_json, &data, err))
            return false;
        if (record == NULL)
            record = VEC_ADD(r->mem, &r->out->records);
        *record = (struct trial_record){.read = {.object = str_copy(r->mem, w->object),
                                                 .id = str_copy(r->mem, w->id),
                                                 .version = w->is_delete ? 0 : w->version,
                                                 .last_version = w->version,
                                                 .data = data},
                                        .is_written = true};
    }
    return true;
}

/* --- history --- */

static void answer_history(const struct actor *a, int64_t after, struct turn_reads *reads)
{
    size_t first = after > 0 ? (size_t)after : 0;
    size_t count = first < a->history.count ? a->history.count - first : 0;

    reads->has_history = true;
    reads->history = (struct history){.items = a->history.items + first,
                                      .count = count < ROLLBACK_PAGE ? count : ROLLBACK_PAGE};
}

/* --- processes --- */

static const struct program *find_program(struct trial_run *r, const struct turn_reads *reads,
                                          struct str code)
{
    struct value mock = value_map_member(r->script->mocks.processes, code);

    for (size_t i = 0; i < reads->processes.count; i++)
        if (str_eq(reads->processes.items[i].code, code))
            return reads->processes.items[i].program;
    if (mock.kind != VALUE_ABSENT)
        return mock_process(r, code, mock);
    if (str_eq(r->actors.items[0]->x->program->code, code))
        return r->actors.items[0]->x->program;
    return r->world != NULL && r->world->process != NULL
               ? r->world->process(r->world->context, code)
               : NULL;
}

static void answer_process(struct trial_run *r, struct arena *mem, const struct process_read *asked,
                           struct turn_reads *reads)
{
    struct process_read read = {.code = asked->code, .key = asked->key};

    read.program = find_program(r, reads, asked->code);
    for (size_t i = 0; asked->key.len > 0 && i < r->actors.count; i++) {
        const struct execution *x = r->actors.items[i]->x;

        if (str_eq(x->program->code, asked->code) && str_eq(x->key, asked->key) &&
            !status_is_terminal(x->status)) {
            read.is_held = true;
            read.holder = x->id;
        }
    }
    *VEC_ADD(mem, &reads->processes) = read;
}

static struct value read_or_absent(struct trial_run *r, struct str json)
{
    struct value v = value_absent();
    struct err err;

    if (json.len > 0 && !json_read(r->mem, json, &v, &err))
        PANIC("what an execution holds does not read back");
    return v;
}

struct child_read answer_child(struct trial_run *r, const struct execution *x)
{
    struct child_read read = {.id = x->id, .is_found = true, .status = x->status};

    read.result =
        x->status == STATUS_COMPLETED ? read_or_absent(r, x->result_json) : value_absent();
    if (x->status == STATUS_COMPLETED && read.result.kind == VALUE_ABSENT)
        read.result = value_null();
    read.error = read_or_absent(r, x->error_json);
    return read;
}

static void look_for_child(struct trial_run *r, struct arena *mem, struct uuid id,
                           struct turn_reads *reads)
{
    struct child_read read = {.id = id};

    for (size_t i = 0; i < r->actors.count; i++)
        if (uuid_cmp(r->actors.items[i]->x->id, id) == 0)
            read = answer_child(r, r->actors.items[i]->x);
    *VEC_ADD(mem, &reads->children) = read;
}

/* --- all of them --- */

static void answer_mock(struct trial_run *r, struct arena *mem, const struct mock_read *asked,
                        struct turn_reads *reads)
{
    struct mock_read read = *asked;

    mock_note(r, asked->name, asked->input);
    read.output = mock_answer(
        r, asked->name, value_map_member(r->script->mocks.procedures, asked->name), &read.error);
    *VEC_ADD(mem, &reads->mocks) = read;
}

/* Offline there are no templates: the texts say which one it would be. */
static bool answer_render(struct trial_run *r, struct arena *mem, const struct render_read *need,
                          struct turn_reads *reads, struct err *err)
{
    struct render_read read = *need;

    if (r->world != NULL && r->world->render != NULL) {
        if (!r->world->render(r->world->context, mem, need, &read, err))
            return false;
    } else {
        read.subject = read.body = str_printf(mem, "(template %.*s)", STR_ARG(need->code));
    }
    *VEC_ADD(mem, &reads->renders) = read;
    return true;
}

bool answer_needs(struct trial_run *r, struct actor *a, const struct commit *c,
                  struct turn_reads *reads, struct err *err)
{
    struct arena *mem = &a->mem;

    for (size_t i = 0; i < c->needs.count; i++) {
        const struct record_query *q = &c->needs.items[i];

        if (q->search != NULL ? !answer_search(r, mem, q->search, reads, err)
                              : !answer_one(r, mem, q, reads, err))
            return false;
    }
    for (size_t i = 0; i < c->needs_processes.count; i++)
        answer_process(r, mem, &c->needs_processes.items[i], reads);
    for (size_t i = 0; i < c->needs_mocks.count; i++)
        answer_mock(r, mem, &c->needs_mocks.items[i], reads);
    for (size_t i = 0; i < c->needs_renders.count; i++)
        if (!answer_render(r, mem, &c->needs_renders.items[i], reads, err))
            return false;
    if (c->needs_history.is_needed)
        answer_history(a, c->needs_history.after, reads);
    for (size_t i = 0; i < c->needs_children.count; i++)
        look_for_child(r, mem, c->needs_children.items[i], reads);
    return true;
}
