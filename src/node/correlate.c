/*
 * correlate.c - signals that find their wait by a correlation; see inner.h.
 *
 *     look (reader) --a wait--> its execution --takes it--> answered
 *      ^    |                        |
 *      |    +--none--> kept          +--does not--> look behind that wait
 *      |                 |
 *      +--a later wait---+
 *
 * An id that was sent before is answered from what the store knows of it, at
 * the first look or, when both are under way, by the store itself.
 */
#include "node/inner.h"

#include "define/access.h"
#include "store/change_signal.h"
#include "store/digest.h"
#include "value/json.h"
#include "value/object.h"

/* --- what it is --- */

static struct str json_of(struct arena *mem, struct value v)
{
    struct buf out;
    struct err err;

    buf_init_arena(&out, mem);
    if (!json_write(&out, v, &err))
        return STR("null"); /* it was read from JSON */
    return buf_view(&out);
}

static struct str sender_json(const struct node_request *r)
{
    struct buf out;

    buf_init_arena(&out, r->mem);
    buf_char(&out, '{');
    object_text(&out, "role", r->user.role);
    object_json(&out, "groups", json_of(r->mem, r->user.groups));
    buf_char(&out, '}');
    return buf_view(&out);
}

/* None of the parts can hold what stands between them. */
static struct str digest_of(const struct node_request *r, struct str payload_json)
{
    struct buf out;

    buf_init_arena(&out, r->mem);
    buf_str(&out, r->signal_type);
    buf_char(&out, '\0');
    buf_str(&out, r->correlation);
    buf_char(&out, '\0');
    buf_str(&out, payload_json);
    return digest_hex(r->mem, buf_view(&out));
}

static struct correlated_signal *make_signal(struct node *n, const struct node_request *r)
{
    struct correlated_signal *s = arena_alloc(r->mem, sizeof(*s));
    int64_t now_us = clock_wall_us(n->clock);

    *s = (struct correlated_signal){
        .org_id = r->user.org_id,
        .id = r->signal_id,
        .type = r->signal_type,
        .correlation = r->correlation,
        .has_own_id = r->has_own_id,
        .payload_json = json_of(r->mem, r->payload),
        .by_json = json_of(r->mem, r->signal_by),
        .sender_json = sender_json(r),
        .received_at_us = now_us,
        .expires_at_us = now_us + r->ttl_us,
    };
    s->digest = digest_of(r, s->payload_json);
    return s;
}

/* --- looking for a wait --- */

static void run_look(struct node_read *read, struct reader *reader)
{
    struct load *l = read->owner;
    const struct work *w = l->correlate.work;
    const struct correlated_signal *s = w->correlated;

    l->ok = true;
    if (s->has_own_id)
        l->ok = read_correlated(reader, &l->mem, s->org_id, s->id, l->correlate.now_us,
                                &l->correlate.known, &l->correlate.is_known, &l->err);
    if (l->ok && !l->correlate.is_known)
        l->ok = read_wait(reader, &l->mem, s->org_id, s->correlation, s->type, w->waits_up_to,
                          &l->correlate.wait, &l->correlate.is_found, &l->err);
}

/* It was sent before. */
static void answer_known(struct node *n, struct work *w, const struct known_signal *known)
{
    struct node_request *r = w->request;
    bool is_same = str_eq(known->digest, w->correlated->digest);

    work_free(n, w);
    if (!is_same) {
        request_refuse(n, r, ERR_CONFLICT, "a signal with this id has other content");
        return;
    }
    r->ok = true;
    r->signal_id_out = r->signal_id;
    r->is_kept = !known->is_delivered;
    r->execution = known->execution;
    request_done(n, r);
}

static void done_look(struct node_read *read)
{
    struct load *l = read->owner;
    struct node *n = l->node;
    struct work *w = l->correlate.work;
    struct node_request *r = w->request;

    if (!l->ok) {
        work_free(n, w);
        request_refuse(n, r, err_is_retryable(l->err.code) ? ERR_OVERLOADED : l->err.code, "%s",
                       l->err.message);
    } else if (l->correlate.is_known) {
        answer_known(n, w, &l->correlate.known);
    } else if (l->correlate.is_found) {
        w->waits_up_to = l->correlate.wait.row;
        r->execution = l->correlate.wait.execution;
        entry_queue(n, entry_get(n, r->execution), w);
    } else {
        batch_add(n, w);
    }
    load_free(l);
}

void correlate(struct node *n, struct work *w)
{
    struct load *l = load_new(n, run_look, done_look);

    if (w->correlated == NULL)
        w->correlated = make_signal(n, w->request);
    w->entry = NULL;
    w->commit = NULL;
    w->asserts = w->is_futile = false;
    w->tries = 0; /* of the execution that was asked before */
    w->now_us = 0;
    work_forget_reads(w);
    l->correlate.work = w;
    l->correlate.now_us = w->correlated->received_at_us;
    load_send(l);
}

bool correlate_goes_on(struct node *n, struct work *w, enum err_code why)
{
    /* These are about the signal itself. */
    if (w->correlated == NULL || why == ERR_INVALID || why == ERR_TOO_LARGE)
        return false;
    w->request->findings = (struct findings){0};
    correlate(n, w);
    return true;
}

/* --- keeping it --- */

struct change *correlate_keep(struct node *n, struct work *w)
{
    struct signal_keep *keep = arena_alloc(w->request->mem, sizeof(*keep));

    *keep = (struct signal_keep){
        .change = {.apply = signal_keep_apply, .now_us = clock_wall_us(n->clock)},
        .waits_up_to = w->waits_up_to,
    };
    return &keep->change;
}

bool correlate_looks_again(struct node *n, struct work *w)
{
    /* A later wait has begun; or the execution of this one is gone. */
    enum member_result why = w->commit == NULL ? MEMBER_STALE : MEMBER_GONE;

    if (w->correlated == NULL || w->member.result != why || ++w->kept_tries > KEPT_TRIES_MAX)
        return false;
    correlate(n, w);
    return true;
}

/* --- for a wait that begins --- */

static bool may_take(struct value access, struct value sender)
{
    struct value role = value_map_get_str(sender, STR("role"));
    struct value groups = value_map_get_str(sender, STR("groups"));
    struct str name = role.kind == VALUE_STRING ? value_text(role) : STR_NONE;

    return access_allows(access, "view", name, groups) &&
           access_allows(access, "operate", name, groups);
}

bool correlate_load(struct reader *reader, struct arena *mem, const struct work *w,
                    struct str correlation, struct kept_read *out, struct err *err)
{
    const struct execution *x = w->entry->x;
    struct kept_signal *signals;
    struct stored_kepts kepts;

    *out = (struct kept_read){.correlation = str_copy(mem, correlation)};
    if (!read_kept(reader, mem, x->org_id, correlation, w->entry->row, w->now_us, &kepts,
                   &out->last_row, err))
        return false;
    signals = ARENA_ARRAY(mem, kepts.count + 1, struct kept_signal);
    for (size_t i = 0; i < kepts.count; i++)
        if (may_take(x->program->access, kepts.items[i].sender))
            signals[out->count++] = kepts.items[i].kept;
    out->signals = signals;
    return true;
}
