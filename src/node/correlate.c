/* correlate.c - see correlate.h. */
#include "node/correlate.h"

#include "base/digest.h"
#include "define/access.h"
#include "define/program.h"
#include "engine/execution.h"
#include "node/batch.h"
#include "node/cache/entry.h"
#include "node/cache/load.h"
#include "node/inner.h"
#include "node/work.h"
#include "node/work_request.h"
#include "store/change_signal.h"
#include "value/json.h"
#include "value/object.h"

/* --- what it is --- */

/* A request that the node makes for itself may leave out who asks. */
static struct str json_or_null(struct arena *mem, struct value v)
{
    return v.kind == VALUE_ABSENT ? STR("null") : json_must_text(mem, v);
}

static struct str sender_json(const struct node_request *r)
{
    struct buf out;

    object_begin(&out, r->mem);
    object_text(&out, "role", r->user.role);
    object_json(&out, "groups", json_or_null(r->mem, r->user.groups));
    return object_end(&out);
}

/* None of the parts can hold what stands between them. */
static struct str digest_of(const struct node_request *r, struct str payload_json)
{
    struct buf out;

    buf_init_arena(&out, r->mem);
    buf_str(&out, r->event.signal_type);
    buf_char(&out, '\0');
    buf_str(&out, r->event.signal_correlation);
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
        .id = r->event.signal_id,
        .type = r->event.signal_type,
        .correlation = r->event.signal_correlation,
        .has_own_id = r->has_own_id,
        .payload_json = json_or_null(r->mem, r->event.signal_payload),
        .by_json = json_or_null(r->mem, r->event.by),
        .sender_json = sender_json(r),
        .received_at_us = now_us,
        .expires_at_us = now_us + r->ttl_us,
    };
    s->digest = digest_of(r, s->payload_json);
    return s;
}

/* --- looking for a wait --- */

/* The next wait that may take a signal, unless the signal is known already. */
struct wait_load {
    struct load load; /* first: see load.h */
    struct work *work;
    int64_t now_us;
    bool is_known, is_found;
    struct known_signal known;
    struct open_wait wait;
};

static void run_look(struct load *load, struct reader *reader)
{
    struct wait_load *l = (struct wait_load *)load;
    const struct work *w = l->work;
    const struct correlated_signal *s = w->correlated;

    load->ok = true;
    if (s->has_own_id)
        load->ok = read_correlated(reader, &load->mem, s->org_id, s->id, l->now_us, &l->known,
                                   &l->is_known, &load->err);
    if (load->ok && !l->is_known)
        load->ok = read_wait(reader, &load->mem, s->org_id, s->correlation, s->type, w->waits_up_to,
                             &l->wait, &l->is_found, &load->err);
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
    r->signal_id_out = r->event.signal_id;
    r->is_buffered = !known->is_delivered;
    r->execution = known->execution;
    request_done(n, r);
}

static void done_look(struct load *load)
{
    struct wait_load *l = (struct wait_load *)load;
    struct node *n = load->node;
    struct work *w = l->work;
    struct node_request *r = w->request;

    if (!load->ok) {
        work_free(n, w);
        request_refuse(n, r, err_is_retryable(load->err.code) ? ERR_OVERLOADED : load->err.code,
                       "%pS", ERR_ARG(&load->err));
    } else if (l->is_known) {
        answer_known(n, w, &l->known);
    } else if (l->is_found) {
        w->waits_up_to = l->wait.row;
        r->execution = l->wait.execution;
        entry_queue(n, entry_get(n, r->execution), w);
    } else {
        batch_add(n, w);
    }
    load_free(load);
}

void correlate(struct node *n, struct work *w)
{
    struct wait_load *l = LOAD_NEW(n, struct wait_load, run_look, done_look);

    if (w->correlated == NULL)
        w->correlated = make_signal(n, w->request);
    w->entry = NULL;
    w->commit = NULL;
    w->asserts = ASSERTS_NOTHING;
    w->tries = 0; /* of the execution that was asked before */
    w->now_us = 0;
    work_forget_reads(w);
    l->work = w;
    l->now_us = w->correlated->received_at_us;
    load_send(&l->load);
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

struct change *correlate_buffer(struct node *n, struct work *w)
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

    if (w->correlated == NULL || w->member.result != why ||
        ++w->buffered_tries > BUFFERED_TRIES_MAX)
        return false;
    correlate(n, w);
    return true;
}

/* --- for a wait that begins --- */

static bool may_take(struct value access, struct value sender)
{
    struct value role = value_map_get_str(sender, STR("role"));
    struct value groups = value_map_get_str(sender, STR("groups"));
    struct str name = value_text_or(role, STR_NONE);

    return access_allows(access, "view", name, groups) &&
           access_allows(access, "operate", name, groups);
}

bool correlate_load(struct reader *reader, struct arena *mem, const struct work *w,
                    struct str correlation, struct kept_read *out, struct err *err)
{
    const struct execution *x = w->entry->x;
    struct buffered_signal *signals;
    struct stored_buffered_signals buffered;

    *out = (struct kept_read){.correlation = str_copy(mem, correlation)};
    if (!read_buffered_signals(reader, mem, x->org_id, correlation, w->entry->row, w->now_us,
                               &buffered, &out->last_row, err))
        return false;
    signals = ARENA_ARRAY(mem, buffered.count + 1, struct buffered_signal);
    for (size_t i = 0; i < buffered.count; i++)
        if (may_take(x->program->access, buffered.items[i].sender))
            signals[out->count++] = buffered.items[i].buffered;
    out->signals = signals;
    return true;
}
