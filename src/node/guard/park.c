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

static struct park_failure *failure_find(struct node *n, struct uuid id)
{
    for (size_t i = 0; i < FAILURES_MAX; i++)
        if (n->failures->items[i].tries > 0 && uuid_cmp(n->failures->items[i].id, id) == 0)
            return &n->failures->items[i];
    return NULL;
}

/* One more failure of this execution. The oldest of too many is forgotten. */
static unsigned failure_count(struct node *n, struct uuid id)
{
    struct park_failure *f = failure_find(n, id);

    if (f == NULL) {
        f = &n->failures->items[n->failures->next++ % FAILURES_MAX];
        n->failures->count += f->tries == 0;
        *f = (struct park_failure){.id = id};
    }
    return ++f->tries;
}

void park_forget(struct node *n, struct uuid id)
{
    struct park_failure *f = n->failures->count > 0 ? failure_find(n, id) : NULL;

    if (f == NULL)
        return;
    *f = (struct park_failure){0};
    n->failures->count--;
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
        wake_later(n, id, RETRY_SOON_US << (tries - 1));
        return;
    }
    park_forget(n, id);
    timers_remove(&n->wake->timers, id);
    park(n, id, code, err);
}
