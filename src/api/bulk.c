/* bulk.c - see bulk.h. */
#include "api/bulk.h"

#include "api/api.h"
#include "api/list.h"
#include "base/map.h"
#include "node/node.h"
#include "store/change.h"
#include "value/json.h"
#include "value/object.h"

enum {
    PAGE = 200,
    IDS_BYTES_MAX = 4 << 20,
    PAGES_MAX = 200,
    LIMIT_MAX = 10000,
    STATUS_RESERVED = 102
};

#define LOOK_AGAIN_US INT64_C(200000)
#define BULK_WAIT_US INT64_C(600000000) /* 10,000 members may take minutes */

static void bulk_read_page(struct bulk *b);
static void bulk_look(struct bulk *b);
static void bulk_finish(struct bulk *b, bool has_more);

/* --- those in flight --- */

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

/* The request is answered: requests that wait for its key find the answer, or act in its place. */
static void bulk_end(struct bulk *b)
{
    struct bulk **at = &api_parts(b->call->api)->bulks->first;
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
    call_keeps_no_answer(b->call); /* it was stored with the counts, or is that of a dry run */
    call_answer(b->call, 200, json);
    bulk_end(b);
}

static void bulk_answer_again(struct bulk *b, int status, struct str text)
{
    call_answer_again(b->call, status, text);
    bulk_end(b);
}

static void bulk_refuse(struct bulk *b, const struct err *err)
{
    call_refuse(b->call, err);
    bulk_end(b);
}

/* A request that changes nothing and keeps this answer under the key. */
static struct node_request *bulk_request(struct bulk *b, int64_t now_us, int32_t status,
                                         struct str json, void (*done)(struct node_request *r))
{
    struct call *c = b->call;
    struct change *nothing = ARENA_NEW(c->mem, struct change);
    struct node_request *r = ARENA_NEW(c->mem, struct node_request);

    *nothing = (struct change){.apply = change_nothing,
                               .now_us = now_us,
                               .makes_space = b->makes_space,
                               .answer_status = status,
                               .answer_json = json};
    *r = (struct node_request){.kind = NODE_CHANGE,
                               .user = c->user,
                               .idempotency = b->idempotency,
                               .change = nothing,
                               .mem = c->mem,
                               .done = done,
                               .owner = b};
    return r;
}

/* --- members --- */

/* The idempotency key of a member. No route has its path, so no client can use it. */
static struct idempotency member_key(const struct bulk *b, struct arena *mem, struct uuid id)
{
    struct idempotency key = b->idempotency;

    if (key.key.len == 0)
        return key;
    key.path = str_printf(mem, "%.*s/%s", STR_ARG(key.path), UUID_STR(id).ptr);
    return key;
}

static void bulk_page_ends(struct bulk *b)
{
    b->cursor = b->next.len > 0 ? str_copy(b->call->mem, b->next) : STR_NONE;
    arena_fini(&b->page_mem);
    if (b->cursor.len > 0 && b->matched < b->limit && b->pages < PAGES_MAX)
        bulk_read_page(b);
    else
        bulk_finish(b, b->cursor.len > 0);
}

static void bulk_one_less(struct bulk *b)
{
    if (--b->in_flight == 0)
        bulk_page_ends(b);
}

static void bulk_failed(struct bulk *b, struct uuid id, struct uuid about, const struct err *err)
{
    if (b->failed < BULK_ERRORS_MAX)
        b->errors[b->failed] = (struct bulk_error){.id = id, .about = about, .err = *err};
    b->failed++;
}

void bulk_member_done(struct bulk_member *m, bool ok, const struct err *err)
{
    struct bulk *b = m->bulk;

    if (ok)
        b->done += !b->is_dry_run;
    else if (b->kind->is_skipped != NULL && b->kind->is_skipped(b, err))
        b->skipped++;
    else
        bulk_failed(b, m->id, m->about, err);
    bulk_one_less(b);
}

static void bulk_request_done(struct node_request *r)
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
    r->done = bulk_request_done;
    r->owner = m;
    if (!node_submit(m->bulk->call->node, r, &err))
        bulk_member_done(m, false, &err);
}

static void bulk_act_on(struct bulk *b, size_t i)
{
    struct bulk_member *m = ARENA_NEW(&b->page_mem, struct bulk_member);

    m->bulk = b;
    m->id = b->kind->id(b, i);
    if (!b->is_dry_run)
        m->idempotency = member_key(b, &b->page_mem, m->id);
    b->in_flight++;
    b->kind->act(b, i, m);
}

/* --- pages --- */

/* Which members an earlier request under this key has done before its server went away. */
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

/* The next ids, as many as a page may have; their cursor is a number. */
static bool bulk_read_ids(struct bulk *b, struct reader *reader, struct err *err)
{
    size_t bytes = 0, one;
    int64_t at;

    b->page_count = 0;
    b->next = STR_NONE;
    b->kind->clear(b);
    if (!list_cursor_number(b->cursor, &at, err))
        return false;
    for (int64_t n = 0; n < b->page_limit && at < (int64_t)b->id_count && bytes < IDS_BYTES_MAX;
         n++, at++) {
        if (!b->kind->add(b, reader, b->ids[at], &one, err))
            return false;
        bytes += one;
        b->page_count += one > 0;
        if (one == 0)
            *VEC_ADD(&b->page_mem, &b->missing) = b->ids[at];
    }
    if (at < (int64_t)b->id_count)
        b->next = list_number_cursor(&b->page_mem, at);
    return true;
}

static void bulk_run_page(struct node_read *read, struct reader *reader)
{
    struct bulk *b = read->owner;

    b->missing = (struct bulk_ids){0};
    b->read_ok =
        (b->ids != NULL ? bulk_read_ids(b, reader, &b->err)
                        : b->kind->read(b, reader, &b->page_count, &b->err)) &&
        (b->kind->complete == NULL || b->kind->complete(b, reader, b->page_count, &b->err)) &&
        read_done_before(b, reader, &b->err);
}

static void bulk_page_fails(struct bulk *b, const struct err *err)
{
    arena_fini(&b->page_mem);
    if (b->matched == 0)
        bulk_refuse(b, err);
    else
        bulk_finish(b, true);
}

static void bulk_count_missing(struct bulk *b)
{
    struct err err;

    (void)err_set(&err, ERR_NOT_FOUND, "there is nothing with this id");
    b->matched += (int64_t)b->missing.count;
    for (size_t i = 0; i < b->missing.count; i++)
        bulk_failed(b, b->missing.items[i], (struct uuid){{0}}, &err);
}

static void bulk_page_read(struct node_read *read)
{
    struct bulk *b = read->owner;

    if (!b->read_ok) {
        bulk_page_fails(b, &b->err);
        return;
    }
    /* One for the loop itself: requests may be answered while it runs. */
    b->in_flight = 1;
    b->matched += (int64_t)b->page_count;
    bulk_count_missing(b);
    for (size_t i = 0; i < b->page_count; i++) {
        if (b->done_before[i])
            b->done++;
        else if (b->kind->allows != NULL && !b->kind->allows(b, i))
            b->skipped++;
        else if (!b->is_dry_run || (b->kind->is_tried != NULL && b->kind->is_tried(b)))
            bulk_act_on(b, i);
    }
    bulk_one_less(b);
}

static void bulk_read_page(struct bulk *b)
{
    int64_t left = b->limit - b->matched;
    struct err err;

    b->pages++;
    b->page_limit = left < PAGE ? left : PAGE;
    b->read = (struct node_read){
        .lane = LANE_CLIENT, .run = bulk_run_page, .done = bulk_page_read, .owner = b};
    arena_init(&b->page_mem);
    if (!node_read(b->call->node, &b->read, &err))
        bulk_page_fails(b, &err);
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

    object_begin(&out, b->call->mem);
    object_text(&out, "action", str_of(b->action));
    object_bool(&out, "dryRun", b->is_dry_run);
    write_counts(&out, b);
    object_bool(&out, "more", has_more);
    object_text(&out, "nextCursor", has_more ? b->cursor : STR_NONE);
    object_list(&out, "errors");
    for (int64_t i = 0; i < b->failed && i < BULK_ERRORS_MAX; i++) {
        object_item(&out);
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

/* The members are done, but the audit log lacks them: that is answered as a failure. */
static void refuse_unnoted(struct bulk *b, const struct err *cause)
{
    struct err err;

    (void)err_set(&err, cause->code == ERR_OVERLOADED ? ERR_OVERLOADED : ERR_INTERNAL,
                  "%lld were acted on, and that could not be noted in the audit log: %pS; repeat "
                  "the request, with the same Idempotency-Key if it had one",
                  (long long)b->done, ERR_ARG(cause));
    bulk_refuse(b, &err);
}

static void bulk_noted(struct node_request *r)
{
    struct bulk *b = r->owner;

    if (r->ok && r->stored_status != 0)
        bulk_answer_again(b, r->stored_status, r->stored_answer);
    else if (r->ok)
        bulk_answer(b, r->change->answer_json);
    else
        refuse_unnoted(b, &r->err);
}

/* The counts go into the audit log, and the answer is kept for the key, in one change. */
static void note_and_answer(struct bulk *b, struct str json)
{
    struct call *c = b->call;
    struct node_request *r = bulk_request(b, api_now_us(c->api), 200, json, bulk_noted);
    struct buf details;
    struct err err;

    object_begin(&details, c->mem);
    if (b->ids != NULL)
        object_int(&details, "ids", (int64_t)b->id_count);
    else
        object_json(&details, "filter", b->filter_json);
    write_counts(&details, b);
    call_audit(c, r, str_printf(c->mem, "%s.bulk_%s", b->kind->name, b->action).ptr, STR_NONE,
               object_end(&details));
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

static void bulk_reserved(struct node_request *r)
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
    struct node_request *r;
    struct buf json;
    struct err err;

    object_begin(&json, c->mem);
    object_text(&json, "node", node_own_name(c->node));
    object_int(&json, "at", b->asked_at_us);
    r = bulk_request(b, b->asked_at_us, STATUS_RESERVED, object_end(&json), bulk_reserved);
    r->idempotency.path = str_printf(c->mem, "%.*s#reserved", STR_ARG(b->idempotency.path));
    if (!node_submit(c->node, r, &err))
        bulk_refuse(b, &err);
}

/* Whether the answer is there, and if not, whether who makes it still runs. */
static void bulk_run_look(struct node_read *read, struct reader *reader)
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

static void bulk_looked(struct node_read *read)
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
        bulk_answer_again(b, b->kept.status, b->kept.text);
    } else if (b->is_dry_run) {
        bulk_read_page(b);
    } else if (!b->is_reserved) {
        bulk_reserve(b);
    } else if (b->holder_is_gone || str_eq(b->holder, node_own_name(b->call->node))) {
        /* A node runs one request per key, so the one that reserved it here has ended. */
        bulk_read_page(b);
    } else {
        b->look_at_us = api_mono_us(b->call->api) + LOOK_AGAIN_US;
    }
}

/* Wait for who has the key here; else look for an answer. */
static void bulk_look(struct bulk *b)
{
    struct bulks *all = api_parts(b->call->api)->bulks;
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
    b->read = (struct node_read){
        .lane = LANE_CLIENT, .run = bulk_run_look, .done = bulk_looked, .owner = b};
    if (!node_read(b->call->node, &b->read, &err))
        bulk_refuse(b, &err);
}

/* --- the request --- */

/* A list of ids, each once. */
static bool bulk_take_ids(struct bulk *b, struct call *c, struct value ids)
{
    struct uuid *all = ARENA_ARRAY(c->mem, ids.len + 1, struct uuid);
    struct map seen;

    if (ids.len > LIMIT_MAX)
        return call_refuse_field(c, "ids", "bad_value", "ids has at most 10000 ids");
    map_init(&seen, c->mem);
    for (uint32_t i = 0; i < ids.len; i++) {
        struct str text = value_text_or(ids.items[i], STR_NONE);

        if (!uuid_read(text, &all[i]))
            return call_refuse_field(c, "ids", "bad_value", "ids is a list of ids");
        text = uuid_text(c->mem, all[i]);
        if (map_get(&seen, text) != NULL)
            return call_refuse_field(c, "ids", "bad_value", "ids has %.*s twice", STR_ARG(text));
        map_put(&seen, text, &all[i]);
    }
    b->ids = all;
    b->id_count = ids.len;
    return true;
}

/* A filter, or ids. */
static bool bulk_take_which(struct bulk *b, struct call *c, const struct bulk_body *body)
{
    bool has_filter = body->filter.kind == VALUE_MAP, has_ids;

    has_ids = body->ids.kind != VALUE_ABSENT && body->ids.kind != VALUE_NULL;
    if (has_ids && body->ids.kind != VALUE_LIST)
        return call_refuse_field(c, "ids", "wrong_type", "ids must be a list of ids");
    if (!has_ids && !has_filter)
        return call_refuse_field(c, "filter", "missing_field",
                                 "filter or ids is missing: it says which are meant");
    if (has_ids && has_filter)
        return call_refuse_field(c, "ids", "bad_value", "give either ids or filter, not both");
    b->filter_json = has_filter ? json_must_text(c->mem, body->filter) : STR_NONE;
    return has_filter || bulk_take_ids(b, c, body->ids);
}

bool bulk_take(struct bulk *b, struct call *c, const struct bulk_body *body)
{
    b->call = c;
    b->is_dry_run = value_is_true(body->dry_run);
    b->limit = body->limit.kind == VALUE_INT ? body->limit.i : LIMIT_MAX;
    b->cursor = value_text_or(body->cursor, STR_NONE);
    b->asked_at_us = api_now_us(c->api);
    if (!bulk_take_which(b, c, body))
        return false;
    if (b->limit >= 1 && b->limit <= LIMIT_MAX)
        return call_idempotency(c, &b->idempotency);
    return call_refuse_field(c, "limit", "bad_value", "limit is a number from 1 to 10000");
}

void bulk_start(struct bulk *b)
{
    b->call->http->wait_us = BULK_WAIT_US;
    if (b->idempotency.key.len == 0)
        bulk_read_page(b);
    else
        bulk_look(b);
}
