/* apply_definition.c - changes of definitions as statements; see apply.h. */
#include "store/apply.h"

#include "base/crash.h"

/* Numbers are never given twice, not even after a draft was deleted. */
struct counter {
    int64_t version, revision;
};

struct draft {
    bool exists;
    int64_t revision;
    bool has_this_text;
};

static bool load_counter(struct apply *a, const struct definition_change *d, struct counter *out,
                         enum db_status *status)
{
    *status = db_run(a->db, SQL_DEFINITION_COUNTER, DB_PARAMS(db_text(d->kind), db_text(d->code)));
    *out = (struct counter){0};
    if (*status == DB_ROW)
        *out = (struct counter){.version = db_column_int(a->db, SQL_DEFINITION_COUNTER, 0),
                                .revision = db_column_int(a->db, SQL_DEFINITION_COUNTER, 1)};
    db_end(a->db, SQL_DEFINITION_COUNTER);
    return *status <= DB_DONE;
}

static bool load_draft(struct apply *a, const struct definition_change *d, struct draft *out,
                       enum db_status *status)
{
    *status = db_run(a->db, SQL_DRAFT_FIND, DB_PARAMS(db_text(d->kind), db_text(d->code)));
    *out = (struct draft){.exists = *status == DB_ROW};
    if (out->exists) {
        out->revision = db_column_int(a->db, SQL_DRAFT_FIND, 0);
        out->has_this_text = str_eq(db_column_text(a->db, SQL_DRAFT_FIND, 1), d->text);
    }
    db_end(a->db, SQL_DRAFT_FIND);
    return *status <= DB_DONE;
}

static bool store_counter(struct apply *a, const struct definition_change *d,
                          const struct counter *counter, enum db_status *status)
{
    return apply_write(a, SQL_DEFINITION_COUNTER_SET,
                       DB_PARAMS(db_text(d->kind), db_text(d->code), db_int(counter->version),
                                 db_int(counter->revision)),
                       status);
}

static bool insert(struct apply *a, const struct definition_change *d, int64_t version,
                   int64_t revision, const char *state, enum db_status *status)
{
    return apply_write(a, SQL_DEFINITION_INSERT,
                       DB_PARAMS(db_text(d->kind), db_text(d->code), db_int(version),
                                 db_int(revision), db_text(str_of(state)), db_some_text(d->name),
                                 db_some_text(d->summary), db_some_text(d->user_id),
                                 db_int(d->now_us), db_text(d->text)),
                       status);
}

static bool delete_draft(struct apply *a, const struct definition_change *d, enum db_status *status)
{
    return apply_write(a, SQL_DRAFT_DELETE, DB_PARAMS(db_text(d->kind), db_text(d->code)), status);
}

static bool save_draft(struct apply *a, struct definition_change *d, struct counter counter,
                       enum db_status *status)
{
    d->version = ++counter.revision;
    return delete_draft(a, d, status) && insert(a, d, 0, counter.revision, "draft", status) &&
           store_counter(a, d, &counter, status);
}

/* A draft that says the same has become this version; another one stays. */
static bool publish(struct apply *a, struct definition_change *d, struct counter counter,
                    const struct draft *draft, enum db_status *status)
{
    d->version = ++counter.version;
    if (!apply_write(a, SQL_DEFINITION_SUPERSEDE, DB_PARAMS(db_text(d->kind), db_text(d->code)),
                     status))
        return false;
    CRASH_POINT(PUBLISHING);
    return insert(a, d, d->version, 0, "published", status) &&
           store_counter(a, d, &counter, status) &&
           (!draft->has_this_text || delete_draft(a, d, status));
}

/* What If-Match asks for: to save, 0 means that there must be no draft. */
static bool matches(const struct definition_change *d, const struct draft *draft)
{
    if (d->if_match < 0 || (d->if_match == 0 && d->action != DEFINITION_SAVE_DRAFT))
        return true;
    return d->if_match == (draft->exists ? draft->revision : 0);
}

enum apply_end apply_definition(struct apply *a, struct member *m, enum db_status *status)
{
    struct definition_change *d = m->definition;
    struct counter counter;
    struct draft draft;
    bool ok = false;

    /* Making the counter first locks the definition against other nodes. */
    *status =
        db_exec(a->db, SQL_DEFINITION_COUNTER_MAKE, DB_PARAMS(db_text(d->kind), db_text(d->code)));
    if (*status != DB_DONE || !load_counter(a, d, &counter, status) ||
        !load_draft(a, d, &draft, status))
        return APPLY_FAILED;
    if (!matches(d, &draft))
        return apply_refuse(a, m, MEMBER_STALE);
    switch (d->action) {
    case DEFINITION_SAVE_DRAFT:
        ok = save_draft(a, d, counter, status);
        break;
    case DEFINITION_DELETE_DRAFT:
        if (!draft.exists)
            return apply_refuse(a, m, MEMBER_GONE);
        ok = delete_draft(a, d, status);
        break;
    case DEFINITION_PUBLISH:
        ok = publish(a, d, counter, &draft, status);
        break;
    }
    return ok ? APPLY_DONE : APPLY_FAILED;
}
