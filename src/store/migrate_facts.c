/* migrate_facts.c - the facts of versions that were stored before there were any; see migrate.h. */
#include "define/facts.h"
#include "store/migrate.h"

struct old_version {
    struct str kind, code, facts;
    int64_t version;
};

struct old_versions {
    VEC_OF(struct old_version);
};

/* Those that have something to say. */
static enum db_status old_versions_read(struct db *db, struct arena *mem, struct old_versions *out)
{
    const enum sql sql = SQL_DEFINITIONS_ALL;
    enum db_status status = db_run(db, sql, DB_NO_PARAMS);

    for (; status == DB_ROW; status = db_next(db, sql)) {
        struct old_version v = {.kind = str_copy(mem, db_column_text(db, sql, 0)),
                                .code = str_copy(mem, db_column_text(db, sql, 1)),
                                .version = db_column_int(db, sql, 2)};
        struct arena turn;

        arena_init(&turn);
        v.facts = str_copy(mem, facts_text(&turn, db_column_text(db, sql, 3)));
        arena_fini(&turn);
        if (v.facts.len > 0 && facts_has_kind(v.kind))
            *VEC_ADD(mem, out) = v;
    }
    db_end(db, sql);
    return status;
}

enum db_status migrate_facts(struct db *db)
{
    struct old_versions all = {0};
    struct arena mem;
    enum db_status status;

    arena_init(&mem);
    status = old_versions_read(db, &mem, &all);
    for (size_t i = 0; i < all.count && status == DB_DONE; i++)
        status = db_exec(db, SQL_DEFINITION_FACTS_SET,
                         DB_PARAMS(db_text(all.items[i].kind), db_text(all.items[i].code),
                                   db_int(all.items[i].version), db_text(all.items[i].facts)));
    arena_fini(&mem);
    return status;
}
