/* apply_definition.c - changes of definitions as statements; see apply.h. */
#include "store/change_definition.h"
#include "store/write/apply.h"

#include "base/crash.h"
#include "define/facts.h"
#include "define/pins.h"
#include "store/change.h"
#include "store/write/change_apply.h"

/* Numbers are never given twice, not even after a draft was deleted. */
struct counter {
    int64_t version, revision;
};

struct draft {
    bool exists;
    int64_t revision;
};

struct published_version {
    int64_t version;  /* 0: none */
    int64_t previous; /* the one that was published before it first was; 0: none */
    bool has_this_text;
};

static bool load_counter(struct apply *a, const struct definition_change *d, struct counter *out)
{
    a->status =
        db_run(a->db, SQL_DEFINITION_COUNTER, DB_PARAMS(db_text(d->kind), db_text(d->code)));
    *out = (struct counter){0};
    if (a->status == DB_ROW)
        *out = (struct counter){.version = db_column_int(a->db, SQL_DEFINITION_COUNTER, 0),
                                .revision = db_column_int(a->db, SQL_DEFINITION_COUNTER, 1)};
    db_end(a->db, SQL_DEFINITION_COUNTER);
    return a->status <= DB_DONE;
}

static bool load_draft(struct apply *a, const struct definition_change *d, struct draft *out)
{
    a->status = db_run(a->db, SQL_DRAFT_FIND, DB_PARAMS(db_text(d->kind), db_text(d->code)));
    *out = (struct draft){.exists = a->status == DB_ROW};
    if (out->exists)
        out->revision = db_column_int(a->db, SQL_DRAFT_FIND, 0);
    db_end(a->db, SQL_DRAFT_FIND);
    return a->status <= DB_DONE;
}

static bool load_published(struct apply *a, const struct definition_change *d,
                           struct published_version *out)
{
    const enum sql sql = SQL_DEFINITION_PUBLISHED;

    a->status = db_run(a->db, sql, DB_PARAMS(db_text(d->kind), db_text(d->code)));
    *out = (struct published_version){0};
    if (a->status == DB_ROW)
        *out = (struct published_version){
            .version = db_column_int(a->db, sql, 0),
            .previous = db_column_int(a->db, sql, 1),
            .has_this_text = str_eq(db_column_text(a->db, sql, 2), d->text),
        };
    db_end(a->db, sql);
    return a->status <= DB_DONE;
}

static bool store_counter(struct apply *a, const struct definition_change *d,
                          const struct counter *counter)
{
    return apply_write(a, SQL_DEFINITION_COUNTER_SET,
                       DB_PARAMS(db_text(d->kind), db_text(d->code), db_int(counter->version),
                                 db_int(counter->revision)));
}

static bool definition_insert(struct apply *a, const struct definition_change *d, int64_t version,
                              int64_t revision, int64_t previous, const char *state)
{
    struct str facts = facts_has_kind(d->kind) ? facts_text(a->mem, d->text) : STR_NONE;

    return apply_write(a, SQL_DEFINITION_INSERT,
                       DB_PARAMS(db_text(d->kind), db_text(d->code), db_int(version),
                                 db_int(revision), db_text(str_of(state)), db_text_or_null(d->name),
                                 db_text_or_null(d->summary), db_text_or_null(d->user_id),
                                 db_int(d->now_us), db_text(d->text), db_int(previous),
                                 db_text_or_null(facts)));
}

static bool delete_draft(struct apply *a, const struct definition_change *d)
{
    return apply_write(a, SQL_DRAFT_DELETE, DB_PARAMS(db_text(d->kind), db_text(d->code)));
}

/* A draft that says what is published, to the byte, is none: it goes. */
static bool drop_same_draft(struct apply *a, struct definition_change *d)
{
    if (!apply_write(a, SQL_DRAFT_DELETE_SAME, DB_PARAMS(db_text(d->kind), db_text(d->code))))
        return false;
    if (d->action == DEFINITION_SAVE_DRAFT && db_changes(a->db) > 0)
        d->version = 0;
    return true;
}

static bool save_draft(struct apply *a, struct definition_change *d, struct counter counter)
{
    d->version = ++counter.revision;
    return delete_draft(a, d) && definition_insert(a, d, 0, counter.revision, 0, "draft") &&
           store_counter(a, d, &counter) && drop_same_draft(a, d);
}

/* No version is published any more; what is not kept goes. */
static bool supersede(struct apply *a, const struct definition_change *d)
{
    return apply_write(a, SQL_DEFINITION_SUPERSEDE,
                       DB_PARAMS(db_text(d->kind), db_text(d->code))) &&
           (!d->forgets ||
            apply_write(a, SQL_DEFINITION_FORGET, DB_PARAMS(db_text(d->kind), db_text(d->code))));
}

/* A draft that says the same has become this version; another one stays. */
static bool publish(struct apply *a, struct definition_change *d, struct counter counter,
                    const struct published_version *published)
{
    d->version = ++counter.version;
    if (!supersede(a, d))
        return false;
    CRASH_POINT(PUBLISHING);
    return definition_insert(a, d, d->version, 0, published->version, "published") &&
           store_counter(a, d, &counter) && drop_same_draft(a, d);
}

static bool definition_put(struct apply *a, struct definition_change *d, struct counter counter,
                           const struct published_version *published)
{
    d->created = published->version == 0;
    d->unchanged = !d->created && published->has_this_text;
    d->version = published->version;
    return d->unchanged || publish(a, d, counter, published);
}

static bool revert(struct apply *a, struct definition_change *d,
                   const struct published_version *published)
{
    d->version = published->previous;
    return supersede(a, d) &&
           apply_write(a, SQL_DEFINITION_RESTORE,
                       DB_PARAMS(db_text(d->kind), db_text(d->code), db_int(d->version))) &&
           drop_same_draft(a, d);
}

static bool mark(struct apply *a, struct definition_change *d,
                 const struct published_version *published, const char *state)
{
    d->version = published->version;
    return apply_write(a, SQL_DEFINITION_MARK,
                       DB_PARAMS(db_text(d->kind), db_text(d->code), db_text(str_of(state))));
}

/* --- what it is held against --- */

/* Whether a snapshot, which executions rest on, pins a procedure of that code. */
static bool is_pinned(struct apply *a, const struct definition_change *d)
{
    const enum sql sql = SQL_DEFINITION_PINS;
    bool found = false;

    a->status = db_run(a->db, sql, DB_NO_PARAMS);
    for (; a->status == DB_ROW && !found; a->status = db_next(a->db, sql)) {
        struct pins pins;
        struct err err;

        found = pins_read(a->mem, db_column_text(a->db, sql, 0), &pins, &err) &&
                pins_version(&pins.procedures, d->code) != 0;
    }
    db_end(a->db, sql);
    return found;
}

/* Whether an execution rests on it. */
static bool is_in_use(struct apply *a, const struct definition_change *d)
{
    bool found;

    if (!d->is_process)
        return is_pinned(a, d);
    return apply_finds(a, SQL_DEFINITION_RUNS, DB_PARAMS(db_text(d->code)), &found) && found;
}

static bool is_about_draft(enum definition_action action)
{
    return action == DEFINITION_SAVE_DRAFT || action == DEFINITION_DELETE_DRAFT;
}

/* What If-Match asks for, and what the caller has looked at. */
static bool matches(const struct definition_change *d, const struct draft *draft,
                    const struct published_version *published)
{
    int64_t now =
        is_about_draft(d->action) ? (draft->exists ? draft->revision : 0) : published->version;
    /* 0 means that there must be none, which makes sense to who makes one. */
    bool asks =
        d->if_match > 0 || d->if_match == MATCH_ANY_VERSION ||
        (d->if_match == 0 && (d->action == DEFINITION_SAVE_DRAFT || d->action == DEFINITION_PUT));

    bool fits = d->if_match == MATCH_ANY_VERSION ? now > 0 : d->if_match == now;

    return (!asks || fits) && (!d->has_rests_on || d->rests_on == published->version);
}

/* Another kind of process has this code: *kind says which. DB_ROW then. */
static enum db_status find_namesake(struct apply *a, const struct definition_change *d,
                                    struct str *kind)
{
    enum db_status status =
        db_run(a->db, SQL_PROCESS_NAMESAKE, DB_PARAMS(db_text(d->kind), db_text(d->code)));

    if (status == DB_ROW)
        *kind = db_column_copy(a->db, a->mem, SQL_PROCESS_NAMESAKE, 0);
    db_end(a->db, SQL_PROCESS_NAMESAKE);
    return status;
}

static enum apply_result check(struct apply *a, struct member *m, const struct definition_change *d,
                               const struct draft *draft, const struct published_version *published)
{
    struct str kind;

    if (!matches(d, draft, published))
        return apply_refuse(a, m, MEMBER_STALE);
    if (d->action == DEFINITION_DELETE_DRAFT && !draft->exists)
        return apply_refuse(a, m, MEMBER_GONE);
    if ((d->action == DEFINITION_REVERT || d->action == DEFINITION_REMOVE ||
         d->action == DEFINITION_RETIRE || d->action == DEFINITION_UNRETIRE) &&
        published->version == 0)
        return apply_refuse(a, m, MEMBER_GONE);
    if (d->action == DEFINITION_ERASE) {
        bool is_used = is_in_use(a, d);

        if (a->status > DB_DONE)
            return APPLY_FAILED;
        if (published->version == 0 && !draft->exists)
            return apply_refuse(a, m, MEMBER_GONE);
        if (is_used)
            return apply_refuse_with(a, m, ERR_CONFLICT,
                                     "executions that are stored rest on it: retire it, and delete "
                                     "it when they are gone");
    }
    if (d->action == DEFINITION_REVERT && published->previous == 0)
        return apply_refuse_with(a, m, ERR_CONFLICT, "nothing was published before version %lld",
                                 (long long)published->version);
    if (d->is_process) {
        a->status = find_namesake(a, d, &kind);
        if (a->status > DB_DONE)
            return APPLY_FAILED;
        if (a->status == DB_ROW)
            return apply_refuse_with(a, m, ERR_CONFLICT, "'%.*s' is the code of a %.*s already",
                                     STR_ARG(d->code), STR_ARG(kind));
    }
    return APPLY_DONE;
}

static bool make(struct apply *a, struct definition_change *d, struct counter counter,
                 const struct published_version *published)
{
    switch (d->action) {
    case DEFINITION_SAVE_DRAFT:
        return save_draft(a, d, counter);
    case DEFINITION_DELETE_DRAFT:
        return delete_draft(a, d);
    case DEFINITION_PUBLISH:
        return publish(a, d, counter, published);
    case DEFINITION_REVERT:
        return revert(a, d, published);
    case DEFINITION_PUT:
        return definition_put(a, d, counter, published);
    case DEFINITION_REMOVE:
        return supersede(a, d);
    case DEFINITION_RETIRE:
        return mark(a, d, published, "retired");
    case DEFINITION_UNRETIRE:
        return mark(a, d, published, "published");
    case DEFINITION_ERASE:
        return apply_write(a, SQL_DEFINITION_ERASE, DB_PARAMS(db_text(d->kind), db_text(d->code)));
    case DEFINITION_KEEP:
        d->version = published->version;
        return true;
    }
    PANIC("unknown action");
}

static enum apply_result apply_definition_change(struct apply *a, struct member *m,
                                                 struct definition_change *d)
{
    struct published_version published;
    struct counter counter;
    struct draft draft;
    enum apply_result end;

    if (!load_draft(a, d, &draft) || !load_published(a, d, &published))
        return APPLY_FAILED;
    end = check(a, m, d, &draft, &published);
    if (end != APPLY_DONE || m->result != MEMBER_APPLIED)
        return end;
    if (!apply_write(a, SQL_DEFINITION_COUNTER_MAKE,
                     DB_PARAMS(db_text(d->kind), db_text(d->code))) ||
        !load_counter(a, d, &counter) || !make(a, d, counter, &published))
        return APPLY_FAILED;
    if (d->is_process && !is_about_draft(d->action) && !d->unchanged &&
        (!triggers_derive(a, d->kind, d->code) ||
         !schedules_derive(a, d->kind, d->code, d->now_us)))
        return APPLY_FAILED;
    return APPLY_DONE;
}

/* No two processes have one webhook: only one could be called. */
static enum apply_result check_twins(struct apply *a, struct member *m)
{
    const enum sql sql = SQL_TRIGGER_TWIN;
    enum apply_result end = APPLY_DONE;

    for (struct definition_change *d = m->definition; d != NULL && end == APPLY_DONE; d = d->next) {
        if (!d->is_process || is_about_draft(d->action))
            continue;
        a->status = db_run(a->db, sql, DB_PARAMS(db_text(d->code)));
        if (a->status == DB_ROW)
            end = apply_refuse_with(a, m, ERR_CONFLICT,
                                    "the webhook '%.*s' of '%.*s' belongs to the process '%.*s' "
                                    "already: give it another path",
                                    STR_ARG(db_column_text(a->db, sql, 0)), STR_ARG(d->code),
                                    STR_ARG(db_column_text(a->db, sql, 1)));
        db_end(a->db, sql);
        if (a->status > DB_DONE)
            return APPLY_FAILED;
        if (m->result != MEMBER_APPLIED)
            break;
    }
    return end;
}

enum apply_result apply_definition(struct apply *a, struct member *m)
{
    enum apply_result end = APPLY_DONE;

    for (struct definition_change *d = m->definition; d != NULL; d = d->next) {
        end = apply_definition_change(a, m, d);
        if (end != APPLY_DONE || m->result != MEMBER_APPLIED)
            return end;
    }
    end = check_twins(a, m);
    if (end != APPLY_DONE || m->result != MEMBER_APPLIED)
        return end;
    /* Other nodes see by the stamp that there was a change. Its row is locked: one at a time. */
    return apply_done_if(apply_write(a, SQL_DEFINITION_STAMP_NEXT, DB_NO_PARAMS));
}
