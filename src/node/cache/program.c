/* program.c - compiled programs by content, counted and evicted; see program.h. */
#include "node/cache/program.h"

#include "base/alloc.h"
#include "base/digest.h"
#include "base/hash.h"
#include "define/program.h"
#include "node/cache/load.h"
#include "node/cluster/config.h"
#include "node/inner.h"
#include "node/repair.h"
#include "node/work.h"
#include "node/work_request.h"

#include <stdio.h>

#define PROGRAM_BYTES ((size_t)32 << 20)

void programs_init(struct node *n)
{
    map_init(&n->programs->contents, &n->mem);
    map_init(&n->programs->current, &n->mem);
    TAILQ_INIT(&n->programs->by_use);
    if (n->options.program_bytes == 0)
        n->options.program_bytes = PROGRAM_BYTES;
}

/* --- all of them, by last use --- */

static void touch_program(struct programs *all, struct program_ref *ref)
{
    TAILQ_REMOVE(&all->by_use, ref, by_use);
    TAILQ_INSERT_TAIL(&all->by_use, ref, by_use);
}

static void count_program_bytes(struct programs *all, struct program_ref *ref)
{
    size_t bytes = sizeof(*ref) + ref->mem.held_bytes;

    all->bytes = all->bytes - ref->bytes + bytes;
    ref->bytes = bytes;
}

static void program_free(struct programs *all, struct program_ref *ref)
{
    TAILQ_REMOVE(&all->by_use, ref, by_use);
    ASSERT(TAILQ_FIRST(&all->by_use) != ref);
    all->count--;
    all->bytes -= ref->bytes;
    program_read_release(&ref->read);
    arena_fini(&ref->mem);
    free(ref);
}

void programs_free(struct node *n)
{
    while (!TAILQ_EMPTY(&n->programs->by_use))
        program_free(n->programs, TAILQ_FIRST(&n->programs->by_use));
}

/* --- the tables --- */

static void drop_current(struct programs *all, struct program_ref *ref)
{
    if (ref->is_current)
        (void)map_remove(&all->current, ref->name);
    ref->is_current = false;
}

static void drop_content(struct programs *all, struct program_ref *ref)
{
    if (ref->has_content)
        (void)map_remove(&all->contents, ref->content);
    ref->has_content = false;
}

/* Free it if nobody holds it and nobody can find it, or is likely to look for it. */
static void free_if_lost(struct programs *all, struct program_ref *ref)
{
    if (ref->is_superseded && ref->holders == 0)
        drop_content(all, ref);
    if (ref->holders == 0 && !ref->is_current && !ref->has_content && ref->state != PROGRAM_LOADING)
        program_free(all, ref);
}

/* What begins now begins with another; this one is for those that have begun with it. */
static void supersede(struct programs *all, struct program_ref *ref)
{
    drop_current(all, ref);
    ref->is_superseded = true;
    free_if_lost(all, ref);
}

void program_hold(struct node *n, struct program_ref **to, struct program_ref *ref)
{
    struct program_ref *before = *to;

    *to = ref;
    if (ref != NULL)
        ref->holders++;
    if (before == NULL)
        return;
    ASSERT(before->holders > 0);
    before->holders--;
    free_if_lost(n->programs, before);
}

bool programs_are_too_large(const struct node *n)
{
    return n->programs->bytes > n->options.program_bytes;
}

void programs_trim(struct node *n)
{
    enum { IN_USE_MAX = 16 }; /* in one pass */
    struct programs *all = n->programs;
    size_t in_use = 0;

    /* Those in use go to the other end. Where all are, looking at them again is no use. */
    while (programs_are_too_large(n) && in_use < IN_USE_MAX && in_use < all->count) {
        struct program_ref *ref = TAILQ_FIRST(&all->by_use);

        if (ref->holders > 0 || ref->state == PROGRAM_LOADING) {
            touch_program(all, ref);
            in_use++;
            continue;
        }
        drop_current(all, ref);
        drop_content(all, ref);
        program_free(all, ref);
    }
}

/* --- what it reaches --- */

static uint64_t name_hash(bool is_procedure, struct str code)
{
    return hash_bytes(code.ptr, code.len) ^ (is_procedure ? UINT64_C(0x9e3779b97f4a7c15) : 0);
}

static bool list_has(const struct pin_list *list, bool is_procedure, uint64_t hash)
{
    for (size_t i = 0; i < list->count; i++)
        if (name_hash(is_procedure, list->items[i].name) == hash)
            return true;
    return false;
}

/* Whether it may reach what has this hash. */
static bool reaches(const struct program_ref *ref, uint64_t hash)
{
    return list_has(&ref->pins.procedures, true, hash) ||
           list_has(&ref->pins.functions, false, hash);
}

void programs_changed(struct node *n, struct str kind, struct str code)
{
    struct programs *all = n->programs;
    uint64_t hash = name_hash(str_eq(kind, STR("procedure")), code);

    all->changed_names[all->changes++ % PROGRAM_CHANGES_MAX] = hash;
    for (struct map_entry *e = map_next(&all->current, NULL); e != NULL;
         e = map_next(&all->current, e)) {
        struct program_ref *ref = e->ptr;

        if (ref->state == PROGRAM_READY && reaches(ref, hash))
            supersede(all, ref);
    }
}

/* Whether all that is pinned has these versions. */
static bool has_versions(const struct pin_list *pinned, const struct pin_list *now)
{
    for (size_t i = 0; i < pinned->count; i++)
        if (pins_version(now, pinned->items[i].name) != pinned->items[i].version)
            return false;
    return true;
}

void programs_compare(struct node *n, const struct pins *now)
{
    struct programs *all = n->programs;

    all->unknown_changes = ++all->changes;
    for (struct map_entry *e = map_next(&all->current, NULL); e != NULL;
         e = map_next(&all->current, e)) {
        struct program_ref *ref = e->ptr;

        if (ref->state == PROGRAM_READY &&
            (!has_versions(&ref->pins.procedures, &now->procedures) ||
             !has_versions(&ref->pins.functions, &now->functions)))
            supersede(all, ref);
    }
}

/* Whether something that it reaches was published after its read was sent. */
static bool is_outdated(const struct programs *all, const struct program_ref *ref)
{
    if (all->unknown_changes > ref->changes_seen ||
        all->changes - ref->changes_seen > PROGRAM_CHANGES_MAX)
        return true;
    for (int64_t i = ref->changes_seen; i < all->changes; i++)
        if (reaches(ref, all->changed_names[i % PROGRAM_CHANGES_MAX]))
            return true;
    return false;
}

/* --- reading --- */

struct program_load {
    struct load load; /* first: see load.h */
    struct program_ref *ref;
    struct program_read read;
};

static void run_program(struct load *load, struct reader *reader)
{
    struct program_load *l = (struct program_load *)load;
    struct program_ref *ref = l->ref;

    load->ok = program_read_pinned(load->node, reader, &ref->mem, ref->code, ref->version,
                                   ref->snapshot, &l->read, &load->err);
}

static void done_program(struct load *load);

static void send_read(struct node *n, struct program_ref *ref)
{
    struct program_load *l = LOAD_NEW(n, struct program_load, run_program, done_program);

    ref->changes_seen = n->programs->changes;
    l->load.about = ref->about;
    l->ref = ref;
    load_send(&l->load);
}

/* Whoever waits for it goes on with `ready`, which is this one or another of the same content. */
static void program_hand_out(struct node *n, struct program_ref *ref, struct program_ref *ready)
{
    struct execution_load *waiting;
    struct work *w;

    while ((waiting = ref->loads) != NULL) {
        ref->loads = waiting->next_for_program;
        program_hold(n, &waiting->entry->program, ready);
        load_restore(waiting);
    }
    while ((w = work_pop(&ref->starts)) != NULL)
        request_start(n, w);
    if (ready != ref) {
        ready->moves = ref->moves;
        ref->moves = (struct work_queue){0};
    }
    repair_program_come(n, ready);
}

/* The name of its content is its own, then the snapshot. */
static void set_content(struct program_ref *ref, struct str snapshot)
{
    size_t len = ref->name.len;

    ASSERT(len + 1 + snapshot.len < sizeof(ref->text));
    ref->text[len++] = ':';
    if (snapshot.len > 0)
        memcpy(ref->text + len, snapshot.ptr, snapshot.len);
    ref->content = str_from(ref->text, len + snapshot.len);
}

/* Put what was read with what is published now under its content. Answers the one to be used. */
static struct program_ref *find_content(struct programs *all, struct program_ref *ref)
{
    struct program_ref *same;

    if (ref->has_content)
        return ref;
    set_content(ref, ref->program->snapshot);
    same = map_get(&all->contents, ref->content);
    if (same == NULL) {
        map_put(&all->contents, ref->content, ref);
        ref->has_content = true;
        return ref;
    }
    if (same->state != PROGRAM_READY)
        return ref;
    drop_current(all, ref);
    drop_current(all, same); /* never both; and its key is that of the table now */
    map_put(&all->current, same->name, same);
    same->is_current = true;
    same->is_superseded = false;
    return same;
}

static void done_program(struct load *load)
{
    struct program_load *l = (struct program_load *)load;
    struct node *n = load->node;
    struct program_ref *ref = l->ref, *ready = ref;

    if (load->ok)
        config_expect(n, l->read.stamp);
    n->programs->compiled++;
    ref->err = load->err;
    ref->read = l->read;
    ref->program = ref->read.program;
    ref->state = load->ok ? ref->read.state : PROGRAM_BROKEN;
    load_free(load);
    if (ref->state == PROGRAM_READY)
        pins_collect(&ref->mem, ref->program, ref->read.functions.items, ref->read.functions.count,
                     &ref->pins);
    if (ref->state == PROGRAM_READY && ref->is_current && is_outdated(n->programs, ref)) {
        ref->state = PROGRAM_LOADING;
        program_read_release(&ref->read);
        ref->pins = (struct pins){0};
        arena_reset(&ref->mem);
        send_read(n, ref);
        return;
    }
    count_program_bytes(n->programs, ref);
    if (ref->state == PROGRAM_READY)
        ready = find_content(n->programs, ref);
    if (ref->state == PROGRAM_MISSING)
        err_set(&ref->err, ERR_NOT_FOUND, "there is no version %lld of '%.*s'",
                (long long)ref->version, STR_ARG(ref->code));
    ref->holders++; /* until all have it */
    program_hand_out(n, ref, ready);
    ref->holders--;
    /* What could not be loaded is asked for again the next time. */
    if (ref->state != PROGRAM_READY) {
        drop_current(n->programs, ref);
        drop_content(n->programs, ref);
    }
    free_if_lost(n->programs, ref);
}

/* --- asking for one --- */

enum { CODE_MAX = 100 }; /* bytes */

bool program_can_be_named(struct str code, struct str snapshot)
{
    return code.len <= CODE_MAX && snapshot.len <= DIGEST_HEX_LEN;
}

static struct program_ref *program_new(struct node *n, struct uuid about, struct str code,
                                       int64_t version, struct str snapshot)
{
    struct program_ref *ref = ALLOC_NEW(struct program_ref);
    int len;

    arena_init(&ref->mem);
    len = snprintf(ref->text, sizeof(ref->text), "%.*s@%lld", STR_ARG(code), (long long)version);
    ASSERT(len > 0 && (size_t)len < sizeof(ref->text));
    ref->name = str_from(ref->text, (size_t)len);
    ref->code = str_slice(ref->name, 0, code.len);
    ref->version = version;
    ref->about = about;
    if (snapshot.len > 0) {
        set_content(ref, snapshot);
        ref->snapshot = str_slice(ref->content, ref->name.len + 1, ref->content.len);
    }
    ref->state = PROGRAM_LOADING;
    TAILQ_INSERT_TAIL(&n->programs->by_use, ref, by_use);
    n->programs->count++;
    count_program_bytes(n->programs, ref);
    send_read(n, ref);
    return ref;
}

static struct program_ref *get_current(struct node *n, struct uuid about, struct str code,
                                       int64_t version)
{
    char text[PROGRAM_KEY_MAX];
    int len = snprintf(text, sizeof(text), "%.*s@%lld", STR_ARG(code), (long long)version);
    struct program_ref *ref;

    ASSERT(len > 0 && (size_t)len < sizeof(text));
    ref = map_get(&n->programs->current, str_from(text, (size_t)len));
    if (ref != NULL) {
        touch_program(n->programs, ref);
        return ref;
    }
    ref = program_new(n, about, code, version, STR_NONE);
    map_put(&n->programs->current, ref->name, ref);
    ref->is_current = true;
    return ref;
}

struct program_ref *program_get(struct node *n, struct str code, int64_t version)
{
    return get_current(n, (struct uuid){.bytes = {0}}, code, version);
}

struct program_ref *program_get_pinned(struct node *n, struct uuid about, struct str code,
                                       int64_t version, struct str snapshot)
{
    char text[PROGRAM_KEY_MAX];
    struct program_ref *ref;
    int len;

    if (snapshot.len == 0)
        return get_current(n, about, code, version);
    len = snprintf(text, sizeof(text), "%.*s@%lld:%.*s", STR_ARG(code), (long long)version,
                   STR_ARG(snapshot));
    ASSERT(len > 0 && (size_t)len < sizeof(text));
    ref = map_get(&n->programs->contents, str_from(text, (size_t)len));
    if (ref != NULL) {
        touch_program(n->programs, ref);
        ref->is_superseded = false; /* others that have begun with it may follow */
        return ref;
    }
    ref = program_new(n, about, code, version, snapshot);
    map_put(&n->programs->contents, ref->content, ref);
    ref->has_content = true;
    return ref;
}
