/* bulk.c - see bulk.h. */
#include "api/bulk.h"

#include "api/api.h"
#include "api/lookup.h"
#include "value/json.h"
#include "value/object.h"

enum { PAGE = 200, PAGES_MAX = 200, LIMIT_MAX = 10000, STATUS_RESERVED = 102 };

#define LOOK_AGAIN_US INT64_C(200000)

static void bulk_read_page(struct bulk *b);
static void bulk_look(struct bulk *b);
static void bulk_finish(struct bulk *b, bool has_more);

/* --- those under way --- */

static bool is_same_key(const struct idempotency *a, const struct idempotency *b)
{
    return str_eq(a->key, b->key) && str_eq(a->user, b->user) && str_eq(a->path, b->path);
}

static struct bulk *bulks_find(const struct bulks *all, const struct idempotency *key)
{
    struct bulk *b = all->first;

    while (b != NULL && !is_same_key(&b->idempotency, key))
        b = b->next_bulk;
    return b;
}

/* The request is answered: who waits for the same key finds the answer, or goes on. */
static void bulk_end(struct bulk *b)
{
    struct bulk **at = &api_bulks(b->call->api)->first;
    struct bulk *waiters = b->waiters;

    while (*at != NULL && *at != b)
        at = &(*at)->next_bulk;
    if (*at == b)
        *at = b->next_bulk;
    b->waiters = NULL;
    while (waiters != NULL) {
        struct bulk *w = waiters;

        waiters = w->next_waiter;
        bulk_look(w);
    }
}

void bulks_tick(struct bulks *all, int64_t mono_us, int *timeout_ms)
{
    struct bulk *next;

    for (struct bulk *b = all->first; b != NULL; b = next) {
        int64_t in_ms = (b->look_at_us - mono_us) / 1000 + 1;

        next = b->next_bulk;
        if (b->look_at_us == 0)
            continue;
        if (b->look_at_us <= mono_us) {
            b->look_at_us = 0;
            bulk_look(b);
        } else if (*timeout_ms < 0 || *timeout_ms > in_ms) {
            *timeout_ms = (int)in_ms;
        }
    }
}

static void bulk_answer(struct bulk *b, struct str json)
{
    call_answer(b->call, 200, json);
    bulk_end(b);
}

static void bulk_refuse(struct bulk *b, const struct err *err)
{
    call_refuse(b->call, err);
    bulk_end(b);
}

/* --- members --- */

/* What a member is asked under: nobody else's key, since no route has this path. */
static struct idempotency member_key(const struct bulk *b, struct arena *mem, struct uuid id)
{
    struct idempotency key = b->idempotency;
    char text[UUID_TEXT_LEN + 1];

    if (key.key.len == 0)
        return key;
    uuid_write(id, text);
    key.path = str_printf(mem, "%.*s/%s", STR_ARG(key.path), text);
    return key;
}

static void page_ends(struct bulk *b)
{
    b->cursor = b->next.len > 0 ? str_copy(b->call->mem, b->next) : STR_NONE;
    arena_fini(&b->page_mem);
    if (b->cursor.len > 0 && b->matched < b->limit && b->pages < PAGES_MAX)
        bulk_read_page(b);
    else
        bulk_finish(b, b->cursor.len > 0);
}

static void one_less(struct bulk *b)
{
    if (--b->under_way == 0)
        page_ends(b);
}

void bulk_member_done(struct bulk_member *m, bool ok, const struct err *err)
{
    struct bulk *b = m->bulk;

    if (ok) {
        b->done++;
    } else if (b->kind->is_skipped(b, err)) {
        b->skipped++;
    } else {
        if (b->failed < BULK_ERRORS_MAX)
            b->errors[b->failed] = (struct bulk_error){.id = m->id, .about = m->about, .err = *err};
        b->failed++;
    }
    one_less(b);
}

static void request_done(struct node_request *r)
{
    bulk_member_done(r->owner, r->ok, &r->err);
}

void bulk_ask(struct bulk_member *m)
{
    struct node_request *r = &m->request;
    struct err err;

    r->user = m->bulk->call->user;
    r->idempotency = m->idempotency;
    r->mem = &m->bulk->page_mem;
    r->done = request_done;
    r->owner = m;
    if (!node_submit(m->bulk->call->node, r, &err))
        bulk_member_done(m, false, &err);
}

static void act_on(struct bulk *b, size_t i)
{
    struct bulk_member *m = ARENA_NEW(&b->page_mem, struct bulk_member);

    m->bulk = b;
    m->id = b->kind->id(b, i);
    m->idempotency = member_key(b, &b->page_mem, m->id);
    b->under_way++;
    b->kind->act(b, i, m);
}

/* --- pages --- */

/* What an earlier request under this key has done, before its server was gone. */
static bool read_done_before(struct bulk *b, struct reader *reader, struct err *err)
{
    b->done_before = arena_zalloc(&b->page_mem, b->page_count + 1);
    for (size_t i = 0; b->goes_on && i < b->page_count; i++) {
        struct idempotency key = member_key(b, &b->page_mem, b->kind->id(b, i));
        struct stored_answer kept;

        if (!read_answer(reader, &b->page_mem, &key, b->asked_at_us, &kept, err))
            return false;
        b->done_before[i] = kept.is_kept && kept.is_same;
    }
    return true;
}

static void run_page(struct node_read *read, struct reader *reader)
{
    struct bulk *b = read->owner;

    b->read_ok =
        b->kind->read(b, reader, &b->page_count, &b->err) && read_done_before(b, reader, &b->err);
}

static void page_fails(struct bulk *b, const struct err *err)
{
    arena_fini(&b->page_mem);
    if (b->matched == 0)
        bulk_refuse(b, err);
    else
        bulk_finish(b, true);
}

static void page_read(struct node_read *read)
{
    struct bulk *b = read->owner;

    if (!b->read_ok) {
        page_fails(b, &b->err);
        return;
    }
    /* One for the loop itself: requests may be answered while it runs. */
    b->under_way = 1;
    b->matched += (int64_t)b->page_count;
    for (size_t i = 0; i < b->page_count; i++) {
        if (b->done_before[i])
            b->done++;
        else if (!b->kind->allows(b, i))
            b->skipped++;
        else if (!b->is_dry_run)
            act_on(b, i);
    }
    one_less(b);
}

static void bulk_read_page(struct bulk *b)
{
    int64_t left = b->limit - b->matched;
    struct err err;

    b->pages++;
    b->page_limit = left < PAGE ? left : PAGE;
    b->read =
        (struct node_read){.lane = LANE_CLIENT, .run = run_page, .done = page_read, .owner = b};
    arena_init(&b->page_mem);
    if (!node_read(b->call->node, &b->read, &err))
        page_fails(b, &err);
}

/* --- the answer --- */

static void write_counts(struct buf *out, const struct bulk *b)
{
    object_int(out, "matched", b->matched);
    object_int(out, "done", b->done);
    object_int(out, "failed", b->failed);
    object_int(out, "skipped", b->skipped);
}

static struct str answer_json(struct bulk *b, bool has_more)
{
    struct buf out;

    buf_init_arena(&out, b->call->mem);
    buf_char(&out, '{');
    object_text(&out, "action", str_of(b->action));
    object_bool(&out, "dryRun", b->is_dry_run);
    write_counts(&out, b);
    object_bool(&out, "more", has_more);
    object_text(&out, "nextCursor", has_more ? b->cursor : STR_NONE);
    object_name(&out, "errors");
    buf_char(&out, '[');
    for (int64_t i = 0; i < b->failed && i < BULK_ERRORS_MAX; i++) {
        object_next(&out);
        buf_char(&out, '{');
        object_id(&out, b->kind->id_name, b->errors[i].id);
        if (b->kind->show_error != NULL)
            b->kind->show_error(&out, b->errors[i].about);
        object_text(&out, "code", str_of(err_code_name(b->errors[i].err.code)));
        object_text(&out, "message", str_of(b->errors[i].err.message));
        buf_char(&out, '}');
    }
    buf_text(&out, "]}");
    return buf_view(&out);
}

/* What was done is durable, but nobody could find it in the audit log: that is no success. */
static void refuse_unnoted(struct bulk *b, const struct err *cause)
{
    struct err err;

    (void)err_set(&err, cause->code == ERR_OVERLOADED ? ERR_OVERLOADED : ERR_INTERNAL,
                  "%lld were acted on, and that could not be noted in the audit log: %s; repeat "
                  "the request, with the same Idempotency-Key if it had one",
                  (long long)b->done, cause->message);
    bulk_refuse(b, &err);
}

static void noted(struct node_request *r)
{
    struct bulk *b = r->owner;

    if (r->ok && r->stored_status != 0) {
        call_answer_again(b->call, r->stored_status, r->stored_answer);
        bulk_end(b);
    } else if (r->ok) {
        bulk_answer(b, r->change->answer_json);
    } else {
        refuse_unnoted(b, &r->err);
    }
}

/* The counts go into the audit log, and the answer is kept for the key, in one change. */
static void note_and_answer(struct bulk *b, struct str json)
{
    struct call *c = b->call;
    struct change *note = ARENA_NEW(c->mem, struct change);
    struct node_request *r = ARENA_NEW(c->mem, struct node_request);
    struct buf details;
    struct err err;

    buf_init_arena(&details, c->mem);
    buf_char(&details, '{');
    object_json(&details, "filter", b->filter_json);
    write_counts(&details, b);
    buf_char(&details, '}');
    *note = (struct change){.apply = change_nothing,
                            .now_us = api_now_us(c->api),
                            .answer_status = 200,
                            .answer_json = json};
    *r = (struct node_request){.kind = NODE_CHANGE,
                               .user = c->user,
                               .idempotency = b->idempotency,
                               .change = note,
                               .mem = c->mem,
                               .done = noted,
                               .owner = b};
    call_audit(c, r, str_printf(c->mem, "%s.bulk_%s", b->kind->name, b->action).ptr, STR_NONE,
               buf_view(&details));
    if (!node_submit(c->node, r, &err))
        refuse_unnoted(b, &err);
}

static void bulk_finish(struct bulk *b, bool has_more)
{
    struct str json = answer_json(b, has_more);

    if (b->is_dry_run)
        bulk_answer(b, json);
    else
        note_and_answer(b, json);
}

/* --- the key --- */

static void reserved(struct node_request *r)
{
    struct bulk *b = r->owner;
    struct value before, node, at;
    struct err err;

    b->is_reserved = true;
    if (!r->ok) {
        bulk_refuse(b, &r->err);
    } else if (r->stored_status == 0) {
        bulk_read_page(b);
    } else if (!json_read(b->call->mem, r->stored_answer, &before, &err)) {
        bulk_refuse(b, &err);
    } else {
        /* Somebody was here first: another node, or this one before it ended. */
        node = value_map_get_str(before, STR("node"));
        at = value_map_get_str(before, STR("at"));
        b->goes_on = true;
        b->holder = value_text(node);
        b->asked_at_us = at.i;
        bulk_look(b);
    }
}

static void bulk_reserve(struct bulk *b)
{
    struct call *c = b->call;
    struct change *nothing = ARENA_NEW(c->mem, struct change);
    struct node_request *r = ARENA_NEW(c->mem, struct node_request);
    struct buf json;
    struct err err;

    buf_init_arena(&json, c->mem);
    buf_char(&json, '{');
    object_text(&json, "node", node_own_name(c->node));
    object_int(&json, "at", b->asked_at_us);
    buf_char(&json, '}');
    *nothing = (struct change){.apply = change_nothing,
                               .now_us = b->asked_at_us,
                               .answer_status = STATUS_RESERVED,
                               .answer_json = buf_view(&json)};
    *r = (struct node_request){.kind = NODE_CHANGE,
                               .user = c->user,
                               .idempotency = b->idempotency,
                               .change = nothing,
                               .mem = c->mem,
                               .done = reserved,
                               .owner = b};
    r->idempotency.path = str_printf(c->mem, "%.*s#reserved", STR_ARG(b->idempotency.path));
    if (!node_submit(c->node, r, &err))
        bulk_refuse(b, &err);
}

/* Whether the answer is there, and if not, whether who makes it still runs. */
static void run_look(struct node_read *read, struct reader *reader)
{
    struct bulk *b = read->owner;
    struct arena *mem = b->call->mem;
    struct stored_nodes nodes = {0};

    b->holder_is_gone = true;
    b->read_ok =
        read_answer(reader, mem, &b->idempotency, b->asked_at_us, &b->kept, &b->err) &&
        (b->holder.len == 0 || b->kept.is_kept || read_nodes(reader, mem, &nodes, &b->err));
    for (size_t i = 0; i < nodes.count; i++)
        if (str_eq(nodes.items[i].name, b->holder) && nodes.items[i].is_connected)
            b->holder_is_gone = false;
}

static void looked(struct node_read *read)
{
    struct bulk *b = read->owner;
    struct err err;

    if (!b->read_ok) {
        bulk_refuse(b, &b->err);
    } else if (b->kept.is_kept && !b->kept.is_same) {
        (void)err_set(&err, ERR_IDEMPOTENCY_CONFLICT,
                      "this Idempotency-Key was used with another request");
        bulk_refuse(b, &err);
    } else if (b->kept.is_kept) {
        call_answer_again(b->call, b->kept.status, b->kept.text);
        bulk_end(b);
    } else if (b->is_dry_run) {
        bulk_read_page(b);
    } else if (!b->is_reserved) {
        bulk_reserve(b);
    } else if (b->holder_is_gone || str_eq(b->holder, node_own_name(b->call->node))) {
        /* Of this node there is one request per key: the one that reserved it has ended. */
        bulk_read_page(b);
    } else {
        b->look_at_us = api_mono_us(b->call->api) + LOOK_AGAIN_US;
    }
}

/* Wait for who has the key here; else look for an answer. */
static void bulk_look(struct bulk *b)
{
    struct bulks *all = api_bulks(b->call->api);
    struct bulk *other = bulks_find(all, &b->idempotency);
    struct err err;

    if (other != NULL && other != b) {
        b->next_waiter = other->waiters;
        other->waiters = b;
        return;
    }
    if (other == NULL) {
        b->next_bulk = all->first;
        all->first = b;
    }
    b->read = (struct node_read){.lane = LANE_CLIENT, .run = run_look, .done = looked, .owner = b};
    if (!node_read(b->call->node, &b->read, &err))
        bulk_refuse(b, &err);
}

/* --- the request --- */

bool bulk_take(struct bulk *b, struct call *c, struct value filter, struct value dry_run,
               struct value limit, struct value cursor)
{
    struct err err;
    struct buf json;

    b->call = c;
    b->is_dry_run = value_is_true(dry_run);
    b->limit = limit.kind == VALUE_INT ? limit.i : LIMIT_MAX;
    b->cursor = cursor.kind == VALUE_STRING ? value_text(cursor) : STR_NONE;
    b->asked_at_us = api_now_us(c->api);
    buf_init_arena(&json, c->mem);
    b->filter_json = json_write(&json, filter, &err) ? buf_view(&json) : STR_NONE;
    if (b->limit >= 1 && b->limit <= LIMIT_MAX)
        return call_idempotency(c, &b->idempotency);
    call_refuse_field(c, "limit", "bad_value", "limit is a number from 1 to 10000");
    return false;
}

void bulk_start(struct bulk *b)
{
    if (b->idempotency.key.len == 0)
        bulk_read_page(b);
    else
        bulk_look(b);
}
