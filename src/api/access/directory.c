/* directory.c - see directory.h. */
#include "api/access/directory_table.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/text/ascii.h"
#include "node/node.h"
#include "node/request.h"
#include "store/change_user.h"
#include "store/installation.h"
#include "store/org.h"
#include "store/read_user.h"
#include "value/json.h"

#include <time.h>

#define LOOK_EVERY_US INT64_C(1000000)
#define USES_EVERY_US INT64_C(1000000)
#define USE_GRAIN_US INT64_C(60000000)
#define SESSION_GRAIN_US INT64_C(3600000000)
#define EXPIRY_EVERY_US INT64_C(10000000)

/* Changes entered one by one leave what they replace behind: then everything is read afresh. */
enum { ENTERED_MAX = 10000, FIRST_READ_TRIES = 30 };

struct directory {
    struct directory_options options;
    struct token_hasher *hasher;
    uint8_t admin_hash[TOKEN_HASH_LEN];
    struct directory_table table;
    int64_t known, own;
    unsigned entered;
    uint64_t changes;

    /* the read in flight; `next` is the table that it fills, on a reader thread */
    struct node_read read;
    bool is_reading, has_failed; /* the loop's */
    bool has_read, read_ok;      /* the reader's, until it is back */
    struct directory_table next;
    int64_t read_known, read_version;
    struct err read_err;
    int64_t look_us; /* monotonic: when to look again */

    /* the write in flight */
    bool is_writing;
    struct arena write_mem;
    struct node_request request;
    struct token_uses_change uses;
    int64_t write_us; /* monotonic: not before */

    int64_t expiry_us;       /* monotonic: when to look for what has expired */
    int64_t expiry_known_us; /* wall: up to when that was looked for */
};

/* --- reading --- */

/* The administrator's token may have been changed at another node. */
static bool follow_admin(struct directory *d, struct reader *reader)
{
    struct str hash;

    if (!read_installation(reader, &d->next.mem, INSTALLATION_ADMIN_TOKEN, &hash, &d->read_err))
        return false;
    if (hash.len > 0 && !token_hash_read(hash, d->admin_hash))
        return err_set(&d->read_err, ERR_IO, "the administrator's token is stored as no digest");
    return true;
}

static void run_read(struct node_read *read, struct reader *reader)
{
    struct directory *d = read->owner;
    struct everyone all;

    d->has_read = false;
    d->read_ok = read_access_version(reader, &d->read_version, &d->read_err);
    if (!d->read_ok || d->read_version == d->read_known)
        return;
    d->read_ok = read_everyone(reader, &d->next.mem, &all, &d->read_err);
    if (!d->read_ok)
        return;
    d->read_version = all.access_version;
    d->read_ok = !d->options.is_shared || follow_admin(d, reader);
    if (!d->read_ok)
        return;
    table_fill(&d->next, d->admin_hash, &all);
    d->has_read = true;
}

/* Uses that were not written yet are not forgotten. */
static void carry_over(const struct directory_table *from, struct directory_table *to)
{
    for (size_t i = 0; i < from->notes.count; i++) {
        const struct directory_entry *old = from->notes.items[i];
        struct directory_entry *e =
            table_find(old->token == NULL ? &to->tokens : &to->sessions, old->hash);
        if (e == NULL)
            continue;
        e->used_us = old->used_us;
        e->is_noted = true;
        *VEC_ADD(&to->mem, &to->notes) = e;
    }
}

static bool is_same(const struct person *a, const struct person *b)
{
    int64_t budget = INT64_MAX;

    return a->role == b->role && a->is_active == b->is_active && str_eq(a->org_id, b->org_id) &&
           str_eq(a->name, b->name) && str_eq(a->email, b->email) &&
           value_equal(a->groups, b->groups, &budget) &&
           value_equal(a->namespaces, b->namespaces, &budget);
}

/* A person who has not changed keeps the revision. */
static void carry_revisions(struct directory *d)
{
    d->changes++;
    for (const struct map_entry *e = map_next(&d->next.people, NULL); e != NULL;
         e = map_next(&d->next.people, e)) {
        struct person *p = e->ptr;
        const struct person *old = map_get(&d->table.people, p->id);

        p->revision = old != NULL && is_same(old, p) ? old->revision : d->changes;
    }
}

static void done_read(struct node_read *read)
{
    struct directory *d = read->owner;

    d->is_reading = false;
    d->has_failed = !d->read_ok;
    d->look_us = clock_mono_us(d->options.clock) + LOOK_EVERY_US;
    if (!d->read_ok)
        log_write(LOG_WARN, "users cannot be read",
                  LOG_FIELDS(log_str("reason", str_of(d->read_err.message))));
    if (d->has_read && d->read_version >= d->own) {
        carry_over(&d->table, &d->next);
        carry_revisions(d);
        table_fini(&d->table);
        d->table = d->next;
        table_moved(&d->table);
        d->known = d->read_version;
        d->entered = 0;
    } else {
        table_fini(&d->next);
    }
}

static void start_read(struct directory *d)
{
    struct err err;

    if (d->is_reading)
        return;
    d->look_us = clock_mono_us(d->options.clock) + LOOK_EVERY_US;
    table_init(&d->next);
    d->read_known = d->entered < ENTERED_MAX ? d->known : -1;
    d->read = (struct node_read){.run = run_read, .done = done_read, .owner = d};
    d->is_reading = node_read(d->options.node, &d->read, &err);
    if (!d->is_reading)
        table_fini(&d->next);
}

/* --- uses --- */

static void note_use(struct directory *d, struct directory_entry *e)
{
    bool is_session = e->token != NULL;

    e->used_us = clock_wall_us(d->options.clock);
    if (e->is_noted || (!is_session && e->id.len == 0) ||
        e->used_us - e->written_us < (is_session ? SESSION_GRAIN_US : USE_GRAIN_US))
        return;
    e->is_noted = true;
    *VEC_ADD(&d->table.mem, &d->table.notes) = e;
}

static void written(struct node_request *r)
{
    struct directory *d = r->owner;

    d->is_writing = false;
    arena_reset(&d->write_mem);
}

/* The uses that are noted, in d->write_mem. */
static struct token_uses_change uses_noted(struct directory *d)
{
    const struct directory_notes *notes = &d->table.notes;
    struct token_use *uses = ARENA_ARRAY(&d->write_mem, notes->count, struct token_use);
    struct session_use *session_uses = ARENA_ARRAY(&d->write_mem, notes->count, struct session_use);
    size_t count = 0, session_count = 0;

    for (size_t i = 0; i < notes->count; i++) {
        const struct directory_entry *e = notes->items[i];

        if (e->token != NULL) {
            token_hash_write(e->hash, session_uses[session_count].hash);
            session_uses[session_count++].at_us = e->used_us;
        } else if (e->id.len == UUID_TEXT_LEN) {
            memcpy(uses[count].id, e->id.ptr, UUID_TEXT_LEN);
            uses[count++].at_us = e->used_us;
        }
    }
    return (struct token_uses_change){
        .change = {.apply = token_uses_apply, .now_us = clock_wall_us(d->options.clock)},
        .uses = uses,
        .count = count,
        .session_uses = session_uses,
        .session_count = session_count,
    };
}

static void write_uses(struct directory *d)
{
    struct directory_notes *notes = &d->table.notes;
    struct err err;

    d->write_us = clock_mono_us(d->options.clock) + USES_EVERY_US;
    d->uses = uses_noted(d);
    d->request = (struct node_request){.kind = NODE_CHANGE,
                                       .change = &d->uses.change,
                                       .mem = &d->write_mem,
                                       .owner = d,
                                       .done = written};
    if (!node_submit(d->options.node, &d->request, &err)) {
        arena_reset(&d->write_mem);
        return;
    }
    d->is_writing = true;
    for (size_t i = 0; i < notes->count; i++) {
        notes->items[i]->is_noted = false;
        notes->items[i]->written_us = notes->items[i]->used_us;
    }
    notes->count = 0;
}

/* --- looking up --- */

static const struct person *use_entry(struct directory *d, struct directory_entry *e,
                                      struct pass *pass, bool *is_expired)
{
    *is_expired = e != NULL && !entry_is_valid(e, clock_wall_us(d->options.clock));
    if (e == NULL || *is_expired)
        return NULL;
    note_use(d, e);
    pass->token_id = e->id;
    if (e->token != NULL) {
        note_use(d, e->token);
        pass->token_id = e->token->id;
        pass->session = str_from((const char *)e->hash, TOKEN_HASH_LEN);
    }
    return e->person;
}

const struct person *directory_by_token(struct directory *d, struct str token, struct pass *pass,
                                        bool *is_expired)
{
    uint8_t hash[TOKEN_HASH_LEN];

    token_hasher_run(d->hasher, token, hash);
    *pass = (struct pass){.kind = PASS_TOKEN};
    return use_entry(d, table_find(&d->table.tokens, hash), pass, is_expired);
}

const struct person *directory_by_session(struct directory *d, struct str cookie, struct pass *pass)
{
    uint8_t hash[TOKEN_HASH_LEN];
    bool is_expired;

    token_hasher_run(d->hasher, cookie, hash);
    *pass = (struct pass){.kind = PASS_SESSION};
    return use_entry(d, table_find(&d->table.sessions, hash), pass, &is_expired);
}

const struct person *directory_by_email(const struct directory *d, struct str email)
{
    char lower[320];

    if (email.len == 0 || email.len > sizeof(lower))
        return NULL;
    for (size_t i = 0; i < email.len; i++)
        lower[i] = ascii_lower(email.ptr[i]);
    return map_get(&d->table.emails, str_from(lower, email.len));
}

const struct person *directory_find(const struct directory *d, struct str org_id, struct str text)
{
    const struct person *found = map_get(&d->table.people, text), *p;

    if (found == NULL)
        found = directory_by_email(d, text);
    if (found != NULL)
        return org_id.len == 0 || str_eq(found->org_id, org_id) ? found : NULL;
    for (const struct map_entry *e = map_next(&d->table.people, NULL); e != NULL;
         e = map_next(&d->table.people, e)) {
        p = e->ptr;
        if (!str_eq(p->name, text) || (org_id.len > 0 && !str_eq(p->org_id, org_id)))
            continue;
        if (found == NULL ||
            (str_eq(p->org_id, ORG_DEFAULT) && !str_eq(found->org_id, ORG_DEFAULT)))
            found = p;
    }
    return found;
}

uint64_t directory_changes(const struct directory *d)
{
    return d->changes;
}

bool directory_admits(const struct directory *d, const struct pass *pass)
{
    const struct person *p = map_get(&d->table.people, pass->user_id);
    int64_t now_us = clock_wall_us(d->options.clock);
    const struct directory_entry *e = NULL;

    if (p == NULL || !p->is_active || p->revision != pass->revision)
        return false;
    if (pass->session.len > 0)
        e = map_get(&d->table.sessions, pass->session);
    else if (pass->token_id.len > 0)
        e = map_get(&d->table.ids, pass->token_id);
    else
        return true;
    return e != NULL && entry_is_valid(e, now_us);
}

/* --- changes of our own --- */

static void entered(struct directory *d, int64_t version)
{
    if (version == d->known + 1)
        d->known = version;
    if (version > d->own)
        d->own = version;
    d->entered++;
    d->changes++;
    node_access_changed(d->options.node);
}

/* Another node has changed something: look at once. */
static void changed_elsewhere(void *context)
{
    struct directory *d = context;

    d->look_us = 0;
}

void directory_put_user(struct directory *d, struct str json, int64_t version)
{
    struct arena *mem = &d->table.mem;
    struct value user;
    struct person p;
    struct err err;

    entered(d, version);
    if (!json_read(mem, str_copy(mem, json), &user, &err) || user.kind != VALUE_MAP)
        PANIC("a user that we have shown cannot be read");
    p = (struct person){.id = value_map_text(user, STR("id")),
                        .org_id = value_map_text(user, STR("org_id")),
                        .name = value_map_text(user, STR("name")),
                        .email = value_map_text(user, STR("email")),
                        .groups = value_map_get_str(user, STR("groups")),
                        .namespaces = value_map_get_str(user, STR("namespaces")),
                        .is_active = value_is_true(value_map_get_str(user, STR("active"))),
                        .revision = d->changes};
    person_set_role(&p, value_map_text(user, STR("role")));
    table_put_person(&d->table, &p);
}

void directory_put_token(struct directory *d, const struct stored_token *token, struct str replaces,
                         int64_t version)
{
    entered(d, version);
    if (replaces.len > 0)
        table_drop_tokens(&d->table, token->user_id,
                          str_eq(replaces, STR(TOKEN_REPLACES_ALL)) ? STR_NONE : replaces);
    (void)table_put_token(&d->table, token);
}

void directory_drop_token(struct directory *d, struct str id, int64_t version)
{
    struct directory_entry *token = map_get(&d->table.ids, id);

    entered(d, version);
    if (token != NULL)
        table_drop(&d->table, token);
}

void directory_put_session(struct directory *d, const struct stored_session *session,
                           bool has_purged, int64_t version)
{
    entered(d, version);
    (void)table_put_session(&d->table, session);
    /* Which ones are gone, the store alone knows. */
    if (has_purged)
        d->known = 0;
}

void directory_drop_session(struct directory *d, struct str hash, int64_t version)
{
    struct directory_entry *session = map_get(&d->table.sessions, hash);

    entered(d, version);
    if (session != NULL)
        table_drop(&d->table, session);
}

/* --- the loop --- */

/* Whether the time of a token, or the life of a session, ends within these. */
static bool one_ends(const struct map *entries, int64_t after_us, int64_t until_us)
{
    for (const struct map_entry *i = map_next(entries, NULL); i != NULL; i = map_next(entries, i)) {
        const struct directory_entry *e = i->ptr;
        int64_t end_us = e->token == NULL ? e->expires_us : e->created_us + SESSION_LIFE_US;

        if (end_us > after_us && end_us <= until_us)
            return true;
    }
    return false;
}

/* Streams of what has expired since the last look must end: that is a change, too. */
static void look_for_expiry(struct directory *d)
{
    int64_t before_us = d->expiry_known_us, now_us = clock_wall_us(d->options.clock);

    d->expiry_known_us = now_us;
    d->changes += one_ends(&d->table.tokens, before_us, now_us) ||
                  one_ends(&d->table.sessions, before_us, now_us);
}

static void directory_lower(int *timeout_ms, int64_t us)
{
    int ms = us <= 0 ? 0 : (int)((us + 999) / 1000);

    if (*timeout_ms < 0 || ms < *timeout_ms)
        *timeout_ms = ms;
}

void directory_tick(struct directory *d, int *timeout_ms)
{
    int64_t now_us = clock_mono_us(d->options.clock);
    bool is_behind = d->known < d->own || d->entered >= ENTERED_MAX;

    /* After a failure there is a pause. */
    if (now_us >= d->look_us ? is_behind || d->options.is_shared : is_behind && !d->has_failed)
        start_read(d);
    if (now_us >= d->expiry_us) {
        d->expiry_us = now_us + EXPIRY_EVERY_US;
        look_for_expiry(d);
    }
    if (d->options.is_shared && !d->is_reading)
        directory_lower(timeout_ms, d->look_us - now_us);
    if (d->table.notes.count == 0 || d->is_writing)
        return;
    if (now_us >= d->write_us)
        write_uses(d);
    else
        directory_lower(timeout_ms, d->write_us - now_us);
}

/* --- opening --- */

/* The loop does not run yet: pass by pass until the first read is back. */
static bool read_once(struct directory *d, struct err *err)
{
    const struct timespec pause = {.tv_nsec = 500000};

    start_read(d);
    if (!d->is_reading)
        return err_set(err, ERR_OVERLOADED, "users cannot be read: too many reads are in flight");
    while (d->is_reading) {
        (void)node_pass(d->options.node);
        if (d->is_reading)
            (void)nanosleep(&pause, NULL);
    }
    if (!d->read_ok)
        *err = d->read_err;
    return d->read_ok;
}

/* A store that is slow to answer just now does not end the start. */
static bool read_first(struct directory *d, struct err *err)
{
    const struct timespec pause = {.tv_nsec = 200000000};

    d->known = -1;
    for (unsigned tries = 1; !read_once(d, err); tries++) {
        if (tries == FIRST_READ_TRIES || !err_is_retryable(err->code))
            return false;
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

struct directory *directory_open(const struct directory_options *options, struct err *err)
{
    struct directory *d = ALLOC_NEW(struct directory);

    d->options = *options;
    d->hasher = token_hasher_new();
    if (!token_hash_read(options->admin_hash, d->admin_hash)) {
        (void)err_set(err, ERR_INTERNAL, "the administrator's token has no digest");
        directory_close(d);
        return NULL;
    }
    table_init(&d->table);
    arena_init(&d->write_mem);
    d->expiry_known_us = clock_wall_us(options->clock);
    if (read_first(d, err)) {
        node_on_access_change(options->node, changed_elsewhere, d);
        return d;
    }
    directory_close(d);
    return NULL;
}

void directory_close(struct directory *d)
{
    if (d->is_reading)
        table_fini(&d->next);
    table_fini(&d->table);
    arena_fini(&d->write_mem);
    token_hasher_free(d->hasher);
    free(d);
}
