/*
 * counts.c - GET /counts: how much there is to do, as the shell of the UI shows it.
 *
 * Whoever has an inbox learns its size; the rest is for who may read executions.
 * The figures are those of an organisation: what the `access` of a definition
 * keeps from the caller is counted, and nothing else is told of it.
 */
#include "api/counts.h"

#include "api/api.h"
#include "api/lookup.h"
#include "define/assignee.h"
#include "store/org.h"
#include "store/read_inbox.h"
#include "value/object.h"

struct counting {
    struct value keys; /* of the caller's inbox */
    int64_t inbox;
    bool sees_rest, is_fresh; /* is_fresh: `rest` was counted lately */
    struct org_counts rest;
};

/* --- what was counted lately --- */

static struct counts_of *counts_find(struct counts_known *k, struct str org)
{
    for (size_t i = 0; i < COUNTS_ORGS_MAX; i++)
        if (k->orgs[i].at_us > 0 && str_eq(str_from(k->orgs[i].org, k->orgs[i].org_len), org))
            return &k->orgs[i];
    return NULL;
}

static void counts_keep(struct counts_known *k, struct str org, int64_t now_us,
                        const struct org_counts *counts)
{
    struct counts_of *of = counts_find(k, org);

    if (org.len > COUNTS_ORG_LEN_MAX)
        return;
    if (of == NULL) {
        of = &k->orgs[k->next];
        k->next = (k->next + 1) % COUNTS_ORGS_MAX;
        memcpy(of->org, org.ptr, org.len);
        of->org_len = org.len;
    }
    of->at_us = now_us;
    of->counts = *counts;
}

/* --- counting --- */

/* Counters are those of all organisations: for the default one, when there are no others. */
static bool count_rest(struct lookup *q, struct reader *reader, struct org_counts *out,
                       struct err *err)
{
    struct str org_id = q->call->user.org_id;
    bool has_others = true;

    if (str_eq(org_id, ORG_DEFAULT) && !read_has_other_orgs(reader, &has_others, err))
        return false;
    return read_org_counts(reader, has_others ? org_id : STR_NONE, out, err);
}

static bool counts_run(struct lookup *q, struct reader *reader, struct err *err)
{
    struct counting *a = q->args;

    return read_inbox_count(reader, q->mem, q->call->user.org_id, a->keys, &a->inbox, err) &&
           (!a->sees_rest || a->is_fresh || count_rest(q, reader, &a->rest, err));
}

/* By the kinds that clients see; what is held is a figure of its own. */
static void write_waits(struct buf *out, const struct org_counts *counts)
{
    int64_t shown[WAITING_COUNT] = {0};

    for (unsigned i = 1; i < WAITING_COUNT; i++)
        for (unsigned k = 1; k <= i; k++)
            if (strcmp(waiting_kind_shown((enum waiting_kind)k),
                       waiting_kind_shown((enum waiting_kind)i)) == 0) {
                shown[k] += counts->waiting[i];
                break;
            }
    object_nested(out, "waiting");
    for (unsigned i = 1; i < WAITING_COUNT; i++)
        if (shown[i] > 0 && i != WAITING_INCIDENT)
            object_int(out, waiting_kind_shown((enum waiting_kind)i), shown[i]);
    buf_char(out, '}');
    object_int(out, "held", shown[WAITING_INCIDENT]);
}

static void write_rest(struct buf *out, const struct org_counts *counts)
{
    object_int(out, "deadLetters", counts->open_letters);
    object_int(out, "outboxWaiting", counts->pending_messages);
    object_nested(out, "executions");
    object_int(out, "running",
               counts->statuses[STATUS_PENDING] + counts->statuses[STATUS_RUNNING] +
                   counts->statuses[STATUS_COMPENSATING]);
    write_waits(out, counts);
    buf_char(out, '}');
}

static void counts_then(struct lookup *q)
{
    const struct counting *a = q->args;
    struct call *c = q->call;
    struct buf out;

    if (a->sees_rest && !a->is_fresh)
        counts_keep(api_parts(c->api)->counts, c->user.org_id, api_mono_us(c->api), &a->rest);
    object_begin(&out, c->mem);
    object_int(&out, "inbox", a->inbox);
    if (a->sees_rest)
        write_rest(&out, &a->rest);
    call_answer(c, 200, object_end(&out));
}

void counts_get(struct call *c)
{
    struct counting *a = ARENA_NEW(c->mem, struct counting);
    const struct counts_of *known = counts_find(api_parts(c->api)->counts, c->user.org_id);

    a->keys = assignee_keys(c->mem, c->user.id, c->user.email, c->user.groups);
    a->sees_rest = call_has_right(c, RIGHT_VIEWER);
    a->is_fresh = known != NULL && api_mono_us(c->api) - known->at_us < COUNTS_FRESH_US;
    if (a->is_fresh)
        a->rest = known->counts;
    lookup_start(c, a, counts_run, counts_then);
}
