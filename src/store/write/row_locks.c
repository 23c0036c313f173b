/* row_locks.c - see row_locks.h. */
#include "store/write/row_locks.h"

#include "base/buf.h"
#include "store/db/sql.h"

/* Which lock it is: the statement, and what it was asked for. */
static struct str lock_key(struct arena *mem, enum sql sql, const struct db_value *key,
                           unsigned count)
{
    struct buf out;

    buf_init_arena(&out, mem);
    buf_printf(&out, "%u", (unsigned)sql);
    for (unsigned i = 0; i < count; i++) {
        buf_char(&out, '\n');
        if (key[i].kind == DB_INT)
            buf_printf(&out, "%lld", (long long)key[i].i);
        else
            buf_str(&out, key[i].text);
    }
    return buf_view(&out);
}

void member_lock(struct member_locks *l, enum sql sql, const struct db_value *key, unsigned count)
{
    struct apply *a = l->a;
    struct lock_wanted *wanted = ARENA_NEW(a->mem, struct lock_wanted);
    struct map_entry *entry;
    bool is_new;

    if (a->status != DB_DONE)
        return;
    entry = map_add(&a->locks, lock_key(a->mem, sql, key, count), &is_new);
    *wanted = (struct lock_wanted){.member = l->m, .next = entry->ptr};
    entry->ptr = wanted;
    l->m->locks_rows = true;
    a->asks = true;
    if (is_new)
        a->status = db_put(a->db, sql, key, count);
}

enum db_status row_locks_ask(struct apply *a, const struct members *members)
{
    map_init(&a->locks, a->mem);
    a->status = DB_DONE;
    for (size_t i = 0; i < members->count; i++) {
        struct member_locks l = {.a = a, .m = members->items[i]};

        /* The batch has waited for a second: those that it may have waited for are left out. */
        l.m->is_passed_over = a->leaves_out && (a->waits || member_may_wait(l.m));
        if (l.m->is_passed_over)
            continue;
        l.m->locks_rows = false;
        if (a->db->has_sets)
            member_locks_ask(&l);
    }
    return a->status;
}

/* All statements that lock: they stand together in sql.def. */
enum { LOCK_FIRST = SQL_LOCK_CORRELATIONS, LOCK_LAST = SQL_LOCK_EXECUTIONS };

static void pass_over(struct apply *a, enum sql sql)
{
    unsigned count = (unsigned)strlen(sql_types(sql));
    struct db_value key[DB_PARAMS_MAX];

    for (unsigned i = 0; i < count; i++)
        key[i] = db_text(db_column_text(a->db, sql, i));
    for (struct lock_wanted *w = map_get(&a->locks, lock_key(a->mem, sql, key, count)); w != NULL;
         w = w->next)
        w->member->is_passed_over = true;
}

enum db_status row_locks_take(struct apply *a)
{
    enum db_status status = DB_DONE;

    for (unsigned i = LOCK_FIRST; a->locks.count > 0 && i <= LOCK_LAST && status == DB_DONE; i++) {
        enum sql sql = (enum sql)i;

        for (status = db_first(a->db, sql); status == DB_ROW; status = db_next(a->db, sql))
            pass_over(a, sql);
        db_end(a->db, sql);
    }
    return status;
}

bool row_locks_try(struct apply *a, const enum sql *locks, size_t count, struct str key,
                   bool *is_free)
{
    *is_free = true;
    a->status = DB_DONE;
    if (!a->db->has_sets)
        return true;
    for (size_t i = 0; i < count && a->status == DB_DONE; i++)
        a->status = db_put(a->db, locks[i], DB_PARAMS(db_text(key)));
    if (a->status == DB_DONE)
        a->status = db_flush(a->db);
    for (size_t i = 0; i < count; i++) {
        *is_free = *is_free && a->status == DB_DONE && db_first(a->db, locks[i]) == DB_DONE;
        db_end(a->db, locks[i]);
    }
    return a->status == DB_DONE;
}
