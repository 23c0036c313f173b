/* park.c - see park.h. */
#include "node/guard/park.h"

#include "base/alloc.h"
#include "base/log.h"
#include "node/batch.h"
#include "node/cache/entry.h"
#include "node/inner.h"
#include "node/timers.h"
#include "node/wake.h"
#include "node/work.h"
#include "store/change_park.h"
#include "value/object.h"

/* What parks one execution: it belongs to its work. */
struct parking {
    struct execution_park park; /* first: w->change points to it */
    struct arena mem;           /* of the cause */
};

/* --- how often it was tried --- */

/* One that is not tried for so long is nobody's: it was deleted, or another node has it. */
#define FORGET_US INT64_C(600000000)

struct park_failure {
    struct uuid id;
    unsigned tries;
    int64_t at_us; /* monotonic: the last one */
};

static struct str failure_key(const struct uuid *id)
{
    return str_from((const char *)id->bytes, sizeof(id->bytes));
}

void failures_init(struct node *n)
{
    map_init(&n->failures->by_id, &n->mem);
}

void failures_free(struct node *n)
{
    for (struct map_entry *e = NULL; (e = map_next(&n->failures->by_id, e)) != NULL;)
        free(e->ptr);
}

void park_forget(struct node *n, struct uuid id)
{
    struct park_failure *f = map_get(&n->failures->by_id, failure_key(&id));

    if (f == NULL)
        return;
    (void)map_remove(&n->failures->by_id, failure_key(&id));
    free(f);
}

/* Whether one more can be remembered. */
static bool failures_have_capacity(struct node *n)
{
    const struct map *all = &n->failures->by_id;
    const struct park_failure *oldest;

    if (all->count < FAILURES_MAX)
        return true;
    oldest = map_next(all, NULL)->ptr;
    if (oldest->at_us + FORGET_US > clock_mono_us(n->clock))
        return false;
    park_forget(n, oldest->id);
    return true;
}

/* One more failure of this execution: how many there were; 0: this one cannot be counted. */
static unsigned failure_count(struct node *n, struct uuid id)
{
    struct map *all = &n->failures->by_id;
    struct park_failure *f = map_get(all, failure_key(&id));

    if (f == NULL && !failures_have_capacity(n))
        return 0;
    if (f == NULL) {
        f = ALLOC_NEW(struct park_failure);
        f->id = id;
    }
    f->tries++;
    f->at_us = clock_mono_us(n->clock);
    (void)map_remove(all, failure_key(&id));
    map_put(all, failure_key(&f->id), f);
    return f->tries;
}

/* --- parking as a work --- */

static void park_member(struct node *n, struct work *w)
{
    (void)n;
    w->member.kind = MEMBER_CHANGE;
    w->member.change = w->change;
}

static struct parking *parking_of(const struct work *w)
{
    return (struct parking *)w->change;
}

static struct uuid park_id(const struct work *w)
{
    return parking_of(w)->park.id;
}

/* It is parked: what is in memory of it is older than that. */
static void park_applied(struct node *n, struct work *w)
{
    struct entry *e = entry_find(n, park_id(w));

    timers_remove(&n->wake->timers, park_id(w));
    if (e != NULL && entry_is_loaded(e)) {
        entry_mark_stale(e);
        entry_make_ready(n, e);
        entry_release_if_idle(n, e);
    }
    work_free(n, w);
}

/* It is not parked, and fails again when it is due or somebody asks for it. */
static void park_refused(struct node *n, struct work *w)
{
    wake_later(n, park_id(w), RETRY_LATER_US);
    work_free(n, w);
}

static void park_unknown(struct node *n, struct work *w, const struct batch *b)
{
    (void)b;
    wake_later(n, park_id(w), RETRY_SOON_US);
    work_free(n, w);
}

static void park_freed(struct node *n, struct work *w)
{
    (void)n;
    arena_fini(&parking_of(w)->mem);
    free(parking_of(w));
}

const struct work_kind work_park = {
    .member = park_member,
    .applied = park_applied,
    .refused = park_refused,
    .unknown = park_unknown,
    .freed = park_freed,
};

static struct str cause_json(struct parking *p, const char *code, const struct err *err)
{
    struct buf out;

    object_begin(&out, &p->mem);
    object_text(&out, "code", str_of(code));
    object_text(&out, "message", str_of(err->message));
    object_text(&out, "class", str_of(err_class_name(ERR_CLASS_TRANSIENT)));
    object_bool(&out, "retryable", true);
    return object_end(&out);
}

static void park(struct node *n, struct uuid id, const char *code, const struct err *err)
{
    struct parking *p = ALLOC_NEW(struct parking);
    struct work *w = work_new(n, &work_park);
    int64_t now_us = clock_wall_us(n->clock);

    arena_init(&p->mem);
    p->park = (struct execution_park){
        .change = {.apply = execution_park_apply, .announces = "dead_letter.", .now_us = now_us},
        .id = id,
        .letter = uuid_gen_next(&n->ids, now_us / 1000),
        .cause_json = cause_json(p, code, err),
    };
    w->change = &p->park.change;
    batch_add(n, w);
}

void park_or_wake_later(struct node *n, struct uuid id, const char *code, const struct err *err)
{
    unsigned tries;

    log_write(LOG_ERROR, "an execution cannot go on",
              LOG_FIELDS(log_str("execution", UUID_STR(id)), log_str("code", str_of(code)),
                         log_str("reason", str_of(err->message))));
    if (err->code == ERR_OVERLOADED) {
        wake_later(n, id, RETRY_SOON_US);
        return;
    }
    tries = err_is_retryable(err->code) ? failure_count(n, id) : TRIES_MAX;
    if (tries < TRIES_MAX) {
        wake_later(n, id, tries == 0 ? RETRY_LATER_US : RETRY_SOON_US << (tries - 1));
        return;
    }
    park_forget(n, id);
    timers_remove(&n->wake->timers, id);
    park(n, id, code, err);
}
