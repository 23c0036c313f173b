/* gather.c - see gather.h. */
#include "store/write/gather.h"

#include "define/program.h"
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "engine/status.h"
#include "store/idempotency.h"
#include "store/write/apply_commit.h"
#include "store/write/planner_facts.h"
#include "store/write/row_locks.h"

/* --- the keys of the maps --- */

static struct str id_key(const struct uuid *id)
{
    return str_from((const char *)id->bytes, sizeof(id->bytes));
}

static struct str org_of(const struct execution *e)
{
    return e->org_id.len > 0 ? e->org_id : STR("-");
}

static struct str live_key_of(struct arena *mem, struct str org, struct str code, struct str key)
{
    return str_printf(mem, "%.*s\n%.*s\n%.*s", STR_ARG(org), STR_ARG(code), STR_ARG(key));
}

static struct str signal_key_of(struct arena *mem, int64_t row, struct str id)
{
    return str_printf(mem, "%lld\n%.*s", (long long)row, STR_ARG(id));
}

static struct str answer_key_of(struct arena *mem, struct str key, struct str user, struct str path,
                                struct str method)
{
    return str_printf(mem, "%.*s\n%.*s\n%.*s\n%.*s", STR_ARG(key), STR_ARG(user), STR_ARG(path),
                      STR_ARG(method));
}

/* The entry of a key, made empty when there is none. */
static void *entry_of(struct arena *mem, struct map *map, struct str key, size_t size, bool *is_new)
{
    struct map_entry *entry = map_add(map, key, is_new);

    if (entry->ptr == NULL)
        entry->ptr = arena_zalloc(mem, size);
    return entry->ptr;
}

static struct cached_execution *cached_execution_of(struct apply *a, struct uuid id)
{
    struct cached_execution *fresh = ARENA_NEW(a->mem, struct cached_execution), *cached;
    bool is_new;

    fresh->id = id;
    cached = map_get(&a->executions, id_key(&id));
    if (cached != NULL)
        return cached;
    map_add(&a->executions, id_key(&fresh->id), &is_new)->ptr = fresh;
    return fresh;
}

void gather_forget(struct apply *a)
{
    db_drop(a->db);
    map_init(&a->executions, a->mem);
    map_init(&a->keys, a->mem);
    map_init(&a->signals, a->mem);
    map_init(&a->answers, a->mem);
    map_init(&a->records, a->mem);
    map_init(&a->snapshots, a->mem);
    facts_forget(a);
}

/* --- asking --- */

/* One more row of a question. */
static enum db_status ask(struct apply *a, enum sql sql, const struct db_value *params,
                          unsigned count)
{
    a->asks = true;
    return db_put(a->db, sql, params, count);
}

static enum db_status ask_execution(struct apply *a, struct cached_execution *cached, int64_t row)
{
    if (cached->is_asked || cached->is_new)
        return DB_DONE;
    cached->is_asked = true;
    if (row != 0)
        return ask(a, SQL_GATHER_ROWS, DB_PARAMS(db_int(row)));
    return ask(a, SQL_GATHER_IDS, DB_PARAMS(db_text(UUID_STR(cached->id))));
}

static enum db_status ask_key(struct apply *a, const struct execution *e)
{
    bool is_new;

    (void)entry_of(a->mem, &a->keys, live_key_of(a->mem, org_of(e), e->program->code, e->key),
                   sizeof(struct cached_key), &is_new);
    if (!is_new)
        return DB_DONE;
    return ask(a, SQL_GATHER_KEYS,
               DB_PARAMS(db_text(e->key), db_text(e->program->code), db_text(org_of(e))));
}

static enum db_status ask_signal(struct apply *a, int64_t row, struct str id)
{
    bool is_new;

    (void)entry_of(a->mem, &a->signals, signal_key_of(a->mem, row, id),
                   sizeof(struct cached_signal), &is_new);
    return is_new ? ask(a, SQL_GATHER_SIGNALS, DB_PARAMS(db_int(row), db_text(id))) : DB_DONE;
}

enum db_status gather_ask_answer(struct apply *a, const struct idempotency *i)
{
    bool is_new;

    (void)entry_of(a->mem, &a->answers, answer_key_of(a->mem, i->key, i->user, i->path, i->method),
                   sizeof(struct cached_answer), &is_new);
    if (!is_new)
        return DB_DONE;
    return ask(a, SQL_GATHER_ANSWERS,
               DB_PARAMS(db_text(i->key), db_text(i->user), db_text(i->path), db_text(i->method)));
}

static enum db_status ask_commit(struct apply *a, const struct commit *c)
{
    const struct execution *e = c->after;
    enum db_status status = DB_DONE;

    if (!c->is_start || a->is_repeated)
        status = ask_execution(a, cached_execution_of(a, e->id), e->row);
    if (status == DB_DONE && c->is_start && e->key.len > 0)
        status = ask_key(a, e);
    if (status == DB_DONE && c->received != NULL && e->row != 0)
        status = ask_signal(a, e->row, c->received->id);
    for (size_t i = 0; i < c->starts.count && status == DB_DONE; i++)
        if (c->starts.items[i]->key.len > 0)
            status = ask_key(a, c->starts.items[i]);
    return status == DB_DONE && c->records.count > 0 ? apply_ask_records(a, c) : status;
}

/* --- answers --- */

static bool take_execution(struct apply *a, enum sql sql)
{
    struct cached_execution *cached;
    struct uuid id;

    if (!uuid_read(db_column_text(a->db, sql, 1), &id))
        return false;
    cached = cached_execution_of(a, id);
    if (cached->is_found)
        return true; /* a member of this batch has changed it already */
    cached->is_found = true;
    cached->row = db_column_int(a->db, sql, 0);
    cached->row_version = cached->stored_version = db_column_int(a->db, sql, 3);
    cached->wake_at_us = db_column_int(a->db, sql, 4);
    return status_read(db_column_text(a->db, sql, 2), &cached->status);
}

static bool take_key(struct apply *a, enum sql sql)
{
    struct cached_key *k = map_get(&a->keys, live_key_of(a->mem, db_column_text(a->db, sql, 2),
                                                         db_column_text(a->db, sql, 1),
                                                         db_column_text(a->db, sql, 0)));

    if (k == NULL || !uuid_read(db_column_text(a->db, sql, 3), &k->holder))
        return false;
    k->is_held = true;
    return true;
}

static bool take_signal(struct apply *a, enum sql sql)
{
    gather_received(a, db_column_int(a->db, sql, 0), db_column_text(a->db, sql, 1),
                    db_column_copy(a->db, a->mem, sql, 2), db_column_copy(a->db, a->mem, sql, 3));
    return true;
}

struct cached_answer gather_answer_row(struct apply *a, enum sql sql, unsigned first)
{
    return (struct cached_answer){
        .is_kept = true,
        .body_hash = db_column_copy(a->db, a->mem, sql, first),
        .status = (int32_t)db_column_int(a->db, sql, first + 1),
        .answer = db_column_copy(a->db, a->mem, sql, first + 2),
        .created_at_us = db_column_int(a->db, sql, first + 3),
        .row = db_column_int(a->db, sql, first + 4),
    };
}

static bool take_answer(struct apply *a, enum sql sql)
{
    struct cached_answer *s =
        map_get(&a->answers,
                answer_key_of(a->mem, db_column_text(a->db, sql, 0), db_column_text(a->db, sql, 1),
                              db_column_text(a->db, sql, 2), db_column_text(a->db, sql, 3)));

    if (s != NULL)
        *s = gather_answer_row(a, sql, 4);
    return s != NULL;
}

enum db_status gather_take_rows(struct apply *a, const struct gathered_rows *answers, size_t count)
{
    enum db_status status = DB_DONE;

    for (size_t i = 0; i < count && status == DB_DONE; i++) {
        enum sql sql = answers[i].sql;

        status = db_first(a->db, sql);
        while (status == DB_ROW)
            status = answers[i].take(a, sql) ? db_next(a->db, sql) : DB_CORRUPT;
        db_end(a->db, sql);
    }
    return status;
}

enum db_status gather_take_answers(struct apply *a)
{
    static const struct gathered_rows answers[] = {
        {SQL_GATHER_ROWS, take_execution}, {SQL_GATHER_IDS, take_execution},
        {SQL_GATHER_KEYS, take_key},       {SQL_GATHER_RECORDS, apply_take_record},
        {SQL_GATHER_SIGNALS, take_signal}, {SQL_GATHER_ANSWERS, take_answer}};

    return gather_take_rows(a, answers, ARRAY_SIZE(answers));
}

/* --- a batch --- */

static size_t count_starts(const struct members *members)
{
    size_t starts = 0;

    for (size_t i = 0; i < members->count; i++)
        if (members->items[i]->kind == MEMBER_COMMIT)
            starts += members->items[i]->commit->is_start + members->items[i]->commit->starts.count;
    return starts;
}

/* A file says its first free key; the others follow. */
static enum db_status take_rows_of_file(struct apply *a, size_t starts, int64_t *rows)
{
    enum db_status status = DB_DONE;

    if (starts > 0)
        status = db_run(a->db, SQL_NEW_ROWS, DB_PARAMS(db_int((int64_t)starts)));
    for (size_t i = 0; i < starts && status == DB_ROW; i++)
        rows[i] = db_column_int(a->db, SQL_NEW_ROWS, 0) + (int64_t)i;
    db_end(a->db, SQL_NEW_ROWS);
    return status == DB_ROW ? DB_DONE : status;
}

/* Ask what the members are held against. */
static enum db_status ask_members(struct apply *a, const struct members *members)
{
    enum db_status status = DB_DONE;

    for (size_t i = 0; i < members->count && status == DB_DONE; i++) {
        const struct member *m = members->items[i];

        if (m->is_passed_over)
            continue;
        if (m->kind == MEMBER_COMMIT)
            status = ask_commit(a, m->commit);
        if (m->kind == MEMBER_ASSERT)
            status = ask_execution(a, cached_execution_of(a, m->assertion->id), m->assertion->row);
        if (status == DB_DONE)
            status = facts_ask(a, m);
        if (status == DB_DONE && m->idempotency != NULL)
            status = gather_ask_answer(a, m->idempotency);
    }
    return status;
}

enum db_status gather(struct apply *a, const struct members *members)
{
    size_t starts = count_starts(members);
    int64_t *rows = ARENA_ARRAY(a->mem, starts + 1, int64_t);
    enum db_status status;
    bool is_short;

    gather_forget(a);
    a->rows = rows;
    a->starts = starts;
    status = row_locks_ask(a, members);
    if (!a->db->has_sets)
        return take_rows_of_file(a, starts, rows);
    if (status == DB_DONE)
        status = ask_members(a, members);
    if (status != DB_DONE)
        return status;
    is_short = new_rows_ask(a->new_rows, a->db, starts, &status);
    if (status == DB_DONE && (is_short || a->asks))
        status = db_flush(a->db);
    if (status == DB_DONE)
        status = new_rows_take(a->new_rows, a->db, starts, rows);
    if (status == DB_DONE)
        status = row_locks_take(a);
    if (status == DB_DONE)
        status = facts_take(a);
    return status == DB_DONE && a->asks ? gather_take_answers(a) : status;
}

/* --- executions --- */

/* Whether it is there, under this key if that is known, and another session has locked it. */
static enum db_status find_locked(struct apply *a, struct uuid id, int64_t row)
{
    enum db_status status = db_run(a->db, SQL_READ_ROW, DB_PARAMS(db_text(UUID_STR(id))));

    if (status == DB_ROW)
        status = row == 0 || db_column_int(a->db, SQL_READ_ROW, 0) == row ? DB_BUSY : DB_DONE;
    db_end(a->db, SQL_READ_ROW);
    return status;
}

enum db_status gather_execution(struct apply *a, struct uuid id, int64_t row,
                                struct cached_execution **out)
{
    struct cached_execution *cached = cached_execution_of(a, id);
    enum db_status status = DB_DONE;

    *out = cached;
    if (!cached->is_asked && !cached->is_found) {
        status = ask_execution(a, cached, row);
        if (status == DB_DONE)
            status = db_flush(a->db);
        if (status == DB_DONE)
            status = gather_take_answers(a);
        if (status != DB_DONE)
            return status;
    }
    return cached->is_found ? DB_ROW : find_locked(a, id, row);
}

struct cached_execution *gather_start(struct apply *a, struct uuid id)
{
    struct cached_execution *cached = cached_execution_of(a, id);

    if (cached->is_found)
        return NULL;
    cached->is_found = cached->is_new = true;
    return cached;
}

enum db_status gather_tell(struct apply *a, struct uuid id)
{
    struct cached_execution *cached = map_get(&a->executions, id_key(&id));
    enum db_status status = DB_DONE;

    if (cached == NULL)
        return DB_DONE;
    if (cached->drops)
        status = gather_flush(a);
    cached->is_told = true;
    return status;
}

void gather_drop(struct apply *a, struct uuid id)
{
    struct cached_execution *cached = map_get(&a->executions, id_key(&id));

    if (cached != NULL)
        cached->drops = true;
}

enum db_status gather_close_waits(struct apply *a, struct uuid id)
{
    const struct cached_execution *cached = map_get(&a->executions, id_key(&id));

    return cached != NULL && cached->opens ? gather_flush(a) : DB_DONE;
}

void gather_open_waits(struct apply *a, struct uuid id)
{
    struct cached_execution *cached = map_get(&a->executions, id_key(&id));

    if (cached != NULL)
        cached->opens = true;
}

enum db_status gather_change(struct apply *a, struct cached_execution *cached,
                             const struct commit *c)
{
    enum db_status status = DB_DONE;

    /* It goes on after its end: what it was told meanwhile is nobody's. */
    if (cached->is_told && status_is_terminal(cached->status) &&
        !status_is_terminal(c->after->status))
        status = gather_flush(a);
    cached->is_changed = true;
    cached->is_moved |= c->moves;
    cached->last = c;
    if (c->writes_context)
        cached->context = c;
    cached->status = c->after->status;
    cached->row_version = c->after->row_version;
    cached->wake_at_us = c->after->wake_at_us;
    return status;
}

enum db_status gather_put(struct apply *a)
{
    enum db_status status = DB_DONE;

    for (struct map_entry *e = NULL;
         status == DB_DONE && (e = map_next(&a->executions, e)) != NULL;) {
        struct cached_execution *cached = e->ptr;

        if (cached->is_changed)
            status = apply_put_execution(a, cached);
        cached->is_changed = cached->is_new = cached->is_told = cached->drops = false;
        cached->opens = false;
        cached->stored_version = cached->row_version;
    }
    return status == DB_DONE ? facts_put(a) : status;
}

enum db_status gather_flush(struct apply *a)
{
    enum db_status status = gather_put(a);

    return status == DB_DONE ? db_flush(a->db) : status;
}

/* --- keys, signals, answers --- */

struct cached_key *gather_key(struct apply *a, const struct execution *e)
{
    return map_get(&a->keys, live_key_of(a->mem, org_of(e), e->program->code, e->key));
}

struct cached_signal *gather_signal(struct apply *a, int64_t row, struct str id)
{
    return map_get(&a->signals, signal_key_of(a->mem, row, id));
}

void gather_received(struct apply *a, int64_t row, struct str id, struct str type,
                     struct str payload)
{
    struct cached_signal *s = entry_of(a->mem, &a->signals, signal_key_of(a->mem, row, id),
                                       sizeof(struct cached_signal), NULL);

    *s = (struct cached_signal){.is_known = true, .type = type, .payload = payload};
}

struct cached_answer *gather_answer(struct apply *a, const struct idempotency *i)
{
    return map_get(&a->answers, answer_key_of(a->mem, i->key, i->user, i->path, i->method));
}
