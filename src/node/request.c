/* request.c - requests in, answers out; see node.h. */
#include "node/request.h"

#include "define/access.h"
#include "define/define.h"
#include "define/program.h"
#include "define/trigger.h"
#include "engine/state.h"
#include "node/batch.h"
#include "node/cache/entry.h"
#include "node/cache/program.h"
#include "node/chore/schedules.h"
#include "node/cluster/cluster.h"
#include "node/cluster/config.h"
#include "node/correlate.h"
#include "node/inner.h"
#include "node/node.h"
#include "node/outside/triggers.h"
#include "node/view.h"
#include "node/work.h"
#include "node/work_request.h"
#include "store/change_park.h"
#include "value/json.h"

#include <stdarg.h>

void request_done(struct node *n, struct node_request *r)
{
    n->pending--;
    r->done(r);
}

void request_refuse(struct node *n, struct node_request *r, enum err_code code, const char *format,
                    ...)
{
    va_list args;

    va_start(args, format);
    r->ok = err_vset(&r->err, code, 0, 0, format, args);
    va_end(args);
    request_done(n, r);
}

void request_show(struct node_request *r, const struct execution *x)
{
    struct buf text;

    buf_init_arena(&text, r->mem);
    view_execution(r->mem, &text, x);
    r->ok = true;
    r->id = x->id;
    r->ended = status_is_terminal(x->status);
    r->execution_json = buf_view(&text);
}

void request_answer(struct node *n, struct node_request *r, const struct execution *x)
{
    if (r->signal_seq == 0)
        request_show(r, x);
    request_done(n, r);
}

/* --- starting --- */

struct str request_user_json(const struct node_request *r)
{
    const struct node_user *user = &r->user;
    struct buf out;

    buf_init_arena(&out, r->mem);
    buf_text(&out, "{\"id\":");
    json_write_string(&out, user->id);
    buf_text(&out, ",\"name\":");
    json_write_string(&out, user->name);
    buf_text(&out, ",\"email\":");
    json_write_string(&out, user->email);
    buf_text(&out, ",\"role\":");
    json_write_string(&out, user->role);
    buf_char(&out, '}');
    return buf_view(&out);
}

static struct value user_value(struct node_request *r)
{
    struct value user;
    struct err err;

    return json_read(r->mem, request_user_json(r), &user, &err) ? user : value_map_empty();
}

/* The key that the start gives, else what the definition says. */
static bool business_key(struct node *n, struct node_request *r, const struct program *p,
                         struct value input, struct str *out)
{
    struct value user = user_value(r);

    return state_key(r->mem, p, r->key, input, r->webhook, user, n->config->map,
                     clock_wall_us(n->clock), out, &r->err);
}

static bool make_execution(struct node *n, struct entry *e, const struct program *p,
                           const struct node_request *r, struct str key, struct value input,
                           struct err *err)
{
    struct execution_new from = {
        .id = e->id,
        .key = key,
        .org_id = r->user.org_id,
        .user_json = request_user_json(r),
        .trace = r->trace,
        .webhook = r->webhook,
        .record = r->record,
        .chain = r->by_event != NULL ? r->by_event->chain : STR_NONE,
        .input = input,
        .now_us = clock_wall_us(n->clock),
        .has_again_of = r->has_again_of,
        .again_of = r->again_of,
        .is_debugged = r->is_debugged,
        .breakpoints = r->breakpoints,
    };

    if (!execution_new(&e->mem, p, &from, &e->x, err))
        return false;
    e->state = ENTRY_READY;
    return true;
}

/* The program is at hand: make the execution. False: r->err says what is wrong with the request. */
static bool start_with(struct node *n, struct work *w, struct program_ref *ref)
{
    struct node_request *r = w->request;
    const struct program *p = ref->program;
    struct value input;
    struct entry *e;
    struct str key;

    if (r->process_kind != NULL && r->process_kind->kind != p->kind)
        return err_set(&r->err, ERR_NOT_FOUND, "'%.*s' is no %s", STR_ARG(p->code),
                       r->process_kind->name);
    if (!access_allows(p->access, "start", r->user.role, r->user.groups))
        return err_set(&r->err, ERR_FORBIDDEN, "'%.*s' lets others start it, not you",
                       STR_ARG(p->code));
    if (r->by_event != NULL && !triggers_fire(n, r, p))
        return false;
    if (r->schedule != NULL && !schedules_input(n, r, p, &r->event.input, &r->err))
        return false;
    r->findings = (struct findings){0};
    define_check_input(r->mem, p, r->event.input, &input, &r->findings);
    if (findings_have_errors(&r->findings))
        return err_set(&r->err, ERR_INVALID, "the input is not what '%.*s' takes",
                       STR_ARG(p->code));
    if (!state_check_breakpoints(r->mem, p, r->breakpoints, "/breakpoints", &r->findings, &r->err))
        return false;
    if (!business_key(n, r, p, input, &key))
        return false;
    e = entry_new(n, cluster_new_id(n));
    program_hold(n, &e->program, ref);
    if (!make_execution(n, e, p, r, key, input, &r->err)) {
        e->state = ENTRY_GONE;
        entry_release_if_idle(n, e);
        return false;
    }
    entry_queue(n, e, w);
    return true;
}

/* --- webhooks --- */

static void request_begin_signal(struct node *n, struct work *w)
{
    struct node_request *r = w->request;

    r->has_own_id = r->event.signal_id.len > 0;
    if (!r->has_own_id)
        r->event.signal_id =
            uuid_text(r->mem, uuid_gen_next(&n->ids, clock_wall_us(n->clock) / 1000));
    if (r->event.signal_correlation.len > 0)
        correlate(n, w);
    else
        entry_queue(n, entry_get(n, r->execution), w);
}

/*
 * What the trigger makes of a hook, which from here on is a start or a signal.
 * FAILED: r->err says why.
 */
static enum hook_result fire_hook(struct node *n, struct node_request *r, const struct program *p)
{
    const struct trigger_context context = {.webhook = r->hook->webhook,
                                            .event = value_absent(),
                                            .record = r->hook->record,
                                            .config = n->config->map,
                                            .user = user_value(r),
                                            .now_us = clock_wall_us(n->clock)};
    const struct trigger *t;
    struct trigger_outcome out;

    /* The position comes from a row of its own, beside that of the definition. */
    if (r->hook->position >= p->trigger_count) {
        r->ok =
            err_set(&r->err, ERR_INTERNAL, "the trigger is not in its process: publish it again");
        return HOOK_FAILED;
    }
    t = &p->triggers[r->hook->position];
    if (!trigger_evaluate(r->mem, p, t, &context, &out, &r->err))
        return HOOK_FAILED;
    if (out.id.len > 0) {
        r->idempotency = r->hook->id;
        r->idempotency.key = out.id;
    }
    if (!out.fires && t->type == TRIGGER_ACTION) {
        r->ok = err_set(&r->err, ERR_CONFLICT, "'%.*s' is not offered for the record as it is now",
                        STR_ARG(p->code));
        return HOOK_FAILED;
    }
    if (!out.fires) {
        r->ok = true;
        return HOOK_IDLE;
    }
    if (out.signal_type.len > 0) {
        struct value payload = value_map_get_str(r->hook->webhook, STR("payload"));

        r->kind = NODE_EVENT;
        r->event.kind = EVENT_SIGNAL;
        r->event.signal_type = out.signal_type;
        r->event.signal_correlation = out.correlation;
        r->event.signal_payload = out.input.kind != VALUE_ABSENT ? out.input
                                  : payload.kind != VALUE_ABSENT ? payload
                                                                 : value_null();
        return HOOK_SIGNALS;
    }
    out.input = out.input.kind == VALUE_MAP ? out.input : value_map_empty();
    r->event.input = r->event.input.kind == VALUE_MAP
                         ? state_merge(r->mem, out.input, r->event.input)
                         : out.input;
    r->key = out.key;
    r->kind = NODE_START;
    return HOOK_STARTS;
}

/* Whether the request goes on as a start; else it was answered, or is a signal now. */
static bool hook_starts(struct node *n, struct work *w, const struct program *p)
{
    struct node_request *r = w->request;

    r->hook->result = fire_hook(n, r, p);
    switch (r->hook->result) {
    case HOOK_STARTS:
        return true;
    case HOOK_SIGNALS:
        request_begin_signal(n, w);
        return false;
    case HOOK_IDLE:
    case HOOK_FAILED:
        work_free(n, w);
        request_done(n, r);
        return false;
    }
    PANIC("unknown result of a hook");
}

void request_start(struct node *n, struct work *w)
{
    struct node_request *r = w->request;
    struct program_ref *ref = program_get(n, r->code, r->version);

    if (ref->state == PROGRAM_LOADING) {
        work_push(&ref->starts, w);
        return;
    }
    if (ref->state == PROGRAM_READY && r->hook != NULL && !hook_starts(n, w, ref->program))
        return;
    if (ref->state != PROGRAM_READY)
        r->err = ref->err;
    else if (start_with(n, w, ref))
        return;
    work_free(n, w);
    request_done(n, r);
}

void request_begin_start(struct node *n, struct work *w)
{
    struct node_request *r = w->request;
    struct published *p;

    if (!n->config->is_known) {
        work_push(&n->config->early_starts, w);
        return;
    }
    if (!program_can_be_named(r->code, STR_NONE)) {
        work_free(n, w);
        request_refuse(n, r, ERR_NOT_FOUND, "no process has so long a code");
        return;
    }
    if (r->hook != NULL && r->hook->signals) {
        request_start(n, w);
        return;
    }
    /* A start with a version of its own asks too: the process may be retired. */
    p = published_get(n, r->code);
    if (p->version == 0) {
        work_push(&p->starts, w);
        published_load(n, p);
        return;
    }
    if (r->version == 0)
        r->version = p->version;
    request_start(n, w);
}

/* What an operator asks for an execution that cannot be loaded is no event of the engine. */
static struct change *unpark_change(struct node *n, struct node_request *r)
{
    struct execution_unpark *u = arena_zalloc(r->mem, sizeof(*u));

    u->change = (struct change){.apply = execution_unpark_apply, .now_us = clock_wall_us(n->clock)};
    u->user_id = r->user.id;
    if (!uuid_read(r->event.letter, &u->letter))
        PANIC("a dead letter has no id");
    return &u->change;
}

/* A paused node shows what is stored, and takes changes that no execution sees. */
static bool moves_executions(enum node_request_kind kind)
{
    switch (kind) {
    case NODE_START:
    case NODE_HOOK:
    case NODE_EVENT:
    case NODE_UNPARK:
        return true;
    case NODE_WAIT:
    case NODE_DEFINITION:
    case NODE_CHANGE:
        break;
    }
    return false;
}

static void request_take(struct node *n, struct node_request *r)
{
    struct work *w;

    n->pending++;
    r->ok = false;
    r->taken_before = r->is_unconfirmed = false;
    r->next = NULL;
    r->findings = (struct findings){0};
    w = work_new(n, &work_request);
    w->request = r;
    switch (r->kind) {
    case NODE_START:
    case NODE_HOOK:
        request_begin_start(n, w);
        break;
    case NODE_EVENT:
        if (r->event.kind == EVENT_SIGNAL) {
            request_begin_signal(n, w);
            break;
        }
        entry_queue(n, entry_get(n, r->execution), w);
        break;
    case NODE_WAIT:
        entry_queue(n, entry_get(n, r->execution), w);
        break;
    case NODE_UNPARK:
        r->change = unpark_change(n, r);
        batch_add(n, w);
        break;
    case NODE_DEFINITION:
    case NODE_CHANGE:
        batch_add(n, w);
        break;
    }
}

bool node_submit(struct node *n, struct node_request *r, struct err *err)
{
    if (n->is_draining)
        return err_set(err, ERR_OVERLOADED, "the server is stopping");
    if (n->options.is_paused && moves_executions(r->kind))
        return err_set(err, ERR_OVERLOADED, NODE_PAUSED_MESSAGE);
    if (node_store_is_away(n))
        return err_set(err, ERR_STORE_AWAY, "the database does not answer; try again later");
    if (n->pending >= n->options.pending_max)
        return err_set(err, ERR_OVERLOADED, "too many requests are in flight");
    request_take(n, r);
    return true;
}

void node_record(struct node *n, struct node_request *r)
{
    ASSERT(r->kind == NODE_CHANGE);
    request_take(n, r);
}
