/*
 * park.c - executions that the node cannot go on with: they are tried a few
 * times, then parked with a dead letter; see store/change_park.h.
 *
 *     what failed                                     then
 *     the store is away, full or too slow             again in a second, without end
 *     the store refuses this one (ERR_IO)             again after 1, 2, 4 ... s, five times; then parked
 *     it does not compile, cannot be restored, ...    parked
 *
 * How often it was tried is known to this node only, and only while that lasts.
 */
#include "node/inner.h"

#include "base/log.h"
#include "store/change_park.h"
#include "value/object.h"

#include <stdlib.h>

/* What parks one execution: it belongs to its work. */
struct parking {
    struct execution_park park; /* first: w->change points to it */
    struct arena mem;           /* of the cause */
};

/* --- how often it was tried --- */

static struct failure *failure_find(struct node *n, struct uuid id)
{
    for (size_t i = 0; i < FAILURES_MAX; i++)
        if (n->failures[i].tries > 0 && uuid_cmp(n->failures[i].id, id) == 0)
            return &n->failures[i];
    return NULL;
}

/* One more failure of this execution. The oldest of too many is forgotten. */
static unsigned failure_count(struct node *n, struct uuid id)
{
    struct failure *f = failure_find(n, id);

    if (f == NULL) {
        f = &n->failures[n->next_failure++ % FAILURES_MAX];
        n->failing += f->tries == 0;
        *f = (struct failure){.id = id};
    }
    return ++f->tries;
}

void park_forget(struct node *n, struct uuid id)
{
    struct failure *f = n->failing > 0 ? failure_find(n, id) : NULL;

    if (f == NULL)
        return;
    *f = (struct failure){0};
    n->failing--;
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

    timers_remove(&n->timers, park_id(w));
    if (e != NULL && e->state == ENTRY_READY) {
        e->is_stale = true;
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
    .name = "park",
    .member = park_member,
    .applied = park_applied,
    .refused = park_refused,
    .unknown = park_unknown,
    .freed = park_freed,
};

static struct str cause_json(struct parking *p, const char *code, const struct err *err)
{
    struct buf out;

    buf_init_arena(&out, &p->mem);
    buf_char(&out, '{');
    object_text(&out, "code", str_of(code));
    object_text(&out, "message", str_of(err->message));
    object_text(&out, "class", STR("transient"));
    buf_char(&out, '}');
    return buf_view(&out);
}

static void park(struct node *n, struct uuid id, const char *code, const struct err *err)
{
    struct parking *p = calloc(1, sizeof(*p));
    struct work *w = work_new(n, &work_park);
    int64_t now_us = clock_wall_us(n->clock);

    if (p == NULL)
        PANIC("out of memory");
    arena_init(&p->mem);
    p->park = (struct execution_park){
        .change = {.apply = execution_park_apply, .tells = "dead_letter.", .now_us = now_us},
        .id = id,
        .letter = uuid_gen_next(&n->ids, now_us / 1000),
        .cause_json = cause_json(p, code, err),
    };
    w->change = &p->park.change;
    batch_add(n, w);
}

void park_or_wake_later(struct node *n, struct uuid id, const char *code, const struct err *err)
{
    char text[UUID_TEXT_LEN + 1];
    unsigned tries;

    uuid_write(id, text);
    log_write(LOG_ERROR, "an execution cannot go on",
              LOG_FIELDS(log_str("execution", str_of(text)), log_str("code", str_of(code)),
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
    timers_remove(&n->timers, id);
    park(n, id, code, err);
}
