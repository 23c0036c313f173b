/*
 * import.c - POST /import: many definitions in one transaction.
 *
 *     items --take--> checked against each other and the store --plan--> changes --> all or none
 *
 * All of it is looked at on a reader thread first. What an item is compared
 * with may change before the changes are made; then the store refuses them and
 * everything is looked at again.
 *
 * why: decisions 0051, 0406
 */
#include "api/definitions/import.h"
#include "api/definitions/subscriptions.h"
#include "api/problem.h"
#include "node/node.h"
#include "value/json.h"
#include "value/object.h"

enum { TRIES_MAX = 5 };

static const char *const plan_names[] = {[PLAN_UNCHANGED] = "unchanged",
                                         [PLAN_CREATE] = "create",
                                         [PLAN_UPDATE] = "update",
                                         [PLAN_RETIRE] = "retire",
                                         [PLAN_UNRETIRE] = "unretire"};

/* --- checking --- */

static bool import_check_capacity(struct lookup *q, struct reader *reader, const struct import *all,
                                  struct err *err)
{
    struct definition_items items = {0};
    struct err cause;

    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].is_usable)
            *VEC_ADD(q->mem, &items) = &all->items[i].item;
    return definitions_check_capacity(reader, q->mem, &items, &cause) ||
           err_set(err, cause.code, "nothing was changed: %pS", ERR_ARG(&cause));
}

/* Subscriptions keep the secrets that they have. */
static bool take_secrets(struct lookup *q, struct reader *reader, struct import *all,
                         struct err *err)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].is_usable && all->items[i].item.spec->kind == KIND_SUBSCRIPTION &&
            !subscriptions_take(reader, q->mem, node_vault(q->call->node), &all->items[i].item,
                                err))
            return false;
    return true;
}

/* A credential that changes and keeps its secret: that is sealed with what is shown now. */
static bool seal_credential(struct lookup *q, struct import_item *i, struct err *err)
{
    struct vault *vault = node_vault(q->call->node);
    struct value shown, secret;

    if (!vault_open(vault, q->mem, STR("credential"), i->item.code, i->stored_text, &shown, &secret,
                    err))
        return false;
    i->item.text =
        vault_seal(vault, q->mem, STR("credential"), i->item.code, i->item.definition, secret);
    return true;
}

static bool seal_item(struct lookup *q, struct import_item *i, struct err *err)
{
    return i->item.spec->kind == KIND_CREDENTIAL
               ? seal_credential(q, i, err)
               : subscriptions_seal(q->mem, node_vault(q->call->node), &i->item, err);
}

/* Seal the secrets of subscriptions and credentials that change; that rests on the key. */
static bool seal_secrets(struct lookup *q, struct reader *reader, struct import *all,
                         struct err *err)
{
    struct sealed_rows stored;

    all->has_sealed = false;
    for (size_t i = 0; i < all->count; i++) {
        struct import_item *item = &all->items[i];

        if (item->plan == PLAN_UNCHANGED ||
            (item->item.spec->kind != KIND_SUBSCRIPTION &&
             (item->item.spec->kind != KIND_CREDENTIAL || item->stored_text.len == 0)))
            continue;
        if (!seal_item(q, item, err))
            return false;
        all->has_sealed = true;
    }
    return !all->has_sealed || (sealed_rows_read(reader, q->mem, &stored, err) &&
                                key_row_read(q, reader, &stored, &all->key, err));
}

/* Items name each other and what is stored. */
static bool check_items(struct lookup *q, struct reader *reader, struct import *all,
                        struct world *w, struct err *err)
{
    struct definition_names changed = {0}, except = {0};

    for (size_t i = 0; i < all->count; i++) {
        const struct definition_item *item = &all->items[i].item;
        struct definition_name name;

        if (!all->items[i].is_usable)
            continue;
        definitions_add(w, item);
        name = (struct definition_name){.kind = item->spec->kind, .name = item->code};
        *VEC_ADD(q->mem, &except) = name;
        if (item->spec->kind == KIND_FUNCTION || item->spec->kind == KIND_PROCEDURE)
            *VEC_ADD(q->mem, &changed) = name;
    }
    world_open(w);
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].is_usable)
            world_check(w, all->items[i].item.spec->kind, all->items[i].item.code,
                        all->items[i].item.definition, &all->items[i].findings);
    return all->is_draft || definitions_still_valid(reader, w, &changed, &except, err);
}

/* The findings of all items, their pointers from the body on. */
static void gather(struct lookup *q, const struct import *all)
{
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; k < all->items[i].findings.count; k++) {
            struct finding f = all->items[i].findings.items[k];
            f.pointer = str_printf(q->mem, "/items/%zu%.*s", i, STR_ARG(f.pointer));
            *VEC_ADD(q->mem, &q->findings) = f;
        }
}

/* --- the answer --- */

/* One of the items, or behind them of what the bundle lacks. */
static struct import_item *item_at(const struct import *all, size_t k)
{
    return k < all->count ? &all->items[k] : all->pruned.items[k - all->count];
}

static size_t item_count(const struct import *all)
{
    return all->count + all->pruned.count;
}

static void write_item(struct arena *mem, struct buf *out, const struct import *all,
                       const struct import_item *i, bool is_done, size_t *left)
{
    int64_t version = is_done && i->plan != PLAN_UNCHANGED ? i->change.version : i->version;
    struct findings shown = i->findings;

    if (shown.count > *left)
        shown.count = *left;
    *left -= shown.count;
    object_item(out);
    object_text(out, "kind", str_of(i->item.spec->name));
    object_text(out, "code", i->item.code);
    object_text(out, "action", str_of(plan_names[i->plan]));
    if (version > 0)
        object_int(out, "version", version);
    else
        object_json(out, "version", STR_NONE);
    object_json(out, "changes", i->changes_json);
    object_name(out, "errors");
    json_must_write(out, problem_findings(mem, all->language, &shown));
    buf_char(out, '}');
}

static void write_answer(struct arena *mem, struct buf *out, const struct import *all, bool is_done)
{
    size_t left = FINDINGS_SHOWN_MAX; /* for all items together */

    buf_char(out, '{');
    object_bool(out, "dryRun", all->is_dry);
    object_list(out, "items");
    for (size_t k = 0; k < item_count(all); k++)
        write_item(mem, out, all, item_at(all, k), is_done, &left);
    buf_text(out, "]}");
}

static struct str done_json(struct arena *mem, const struct definition_change *d, int32_t *status)
{
    struct buf out;

    *status = 200;
    buf_init_arena(&out, mem);
    write_answer(mem, &out, d->owner, true);
    return buf_view(&out);
}

/* --- the call --- */

static bool run_import(struct lookup *q, struct reader *reader, struct err *err)
{
    struct import *all = q->args;
    const struct finding *f;
    struct world w;
    bool ok, is_malformed = false;

    all->pruned.count = 0;
    if (!import_read_body(q, all, err) || !take_secrets(q, reader, all, err) ||
        !import_check_capacity(q, reader, all, err) || !definitions_world(reader, q->mem, &w, err))
        return false;
    ok = check_items(q, reader, all, &w, err);
    world_close(&w);
    for (size_t i = 0; i < all->count; i++)
        is_malformed |= !all->items[i].is_usable;
    gather(q, all);
    /* A draft may be wrong, but not without a name. */
    if (findings_have_errors(&q->findings) && (!all->is_draft || is_malformed)) {
        for (f = q->findings.items; f->is_warning; f++)
            ;
        return err_set(err, ERR_INVALID, "nothing was changed: %.*s: %pS", STR_ARG(f->pointer),
                       SENTENCE_ARG(f->message));
    }
    for (size_t i = 0; ok && i < all->count; i++)
        ok = import_plan_item(q, reader, all, &all->items[i], err);
    ok = ok && (!all->prunes || import_plan_prune(q, reader, all, err));
    ok = ok && (all->is_dry || seal_secrets(q, reader, all, err));
    if (ok && all->is_dry)
        write_answer(q->mem, &q->answer, all, false);
    return ok;
}

static void imported(struct node_request *r);

static enum definition_action plan_action(const struct import *all, enum plan plan)
{
    switch (plan) {
    case PLAN_UNCHANGED:
        return DEFINITION_KEEP;
    case PLAN_RETIRE:
        return DEFINITION_RETIRE;
    case PLAN_UNRETIRE:
        return DEFINITION_UNRETIRE;
    case PLAN_CREATE:
    case PLAN_UPDATE:
        break;
    }
    return all->is_draft ? DEFINITION_SAVE_DRAFT : DEFINITION_PUT;
}

/* The change of one item. Also what stays must be as it was looked at. */
static struct definition_change *plan_change(struct call *c, const struct import *all,
                                             struct import_item *i)
{
    bool stays = i->plan == PLAN_UNCHANGED;

    i->change = definitions_change(c, &i->item, plan_action(all, i->plan));
    i->change.summary = all->summary;
    i->change.has_rests_on = !all->is_draft;
    i->change.rests_on = i->version;
    if (all->is_draft && !stays)
        i->change.if_match = i->version;
    return &i->change;
}

/* {"changes": [{kind, code, action}]}, for the audit log. */
static struct str import_audit_details(struct arena *mem, const struct import *all)
{
    struct buf out;

    object_begin(&out, mem);
    object_text(&out, "changeSummary", all->summary);
    object_bool(&out, "draft", all->is_draft);
    object_list(&out, "changes");
    for (size_t k = 0; k < item_count(all); k++) {
        const struct import_item *i = item_at(all, k);
        if (i->plan == PLAN_UNCHANGED)
            continue;
        object_item(&out);
        object_text(&out, "kind", str_of(i->item.spec->name));
        object_text(&out, "code", i->item.code);
        object_text(&out, "action", str_of(plan_names[i->plan]));
        buf_char(&out, '}');
    }
    buf_text(&out, "]}");
    return buf_view(&out);
}

/* Where nothing changes there is nothing to make durable, but perhaps an answer to keep. */
static bool needs_request(const struct call *c, const struct import *all)
{
    for (size_t i = 0; i < item_count(all); i++)
        if (item_at(all, i)->plan != PLAN_UNCHANGED)
            return true;
    return all->count > 0 && http_header(c->http, "Idempotency-Key").len > 0;
}

static void then_import(struct lookup *q)
{
    struct import *all = q->args;
    struct definition_change *first = NULL, **last = &first;
    struct node_request *r;

    if (all->is_dry || !needs_request(q->call, all)) {
        if (all->is_dry)
            call_keeps_no_answer(q->call);
        else
            write_answer(q->mem, &q->answer, all, false);
        call_answer(q->call, 200, buf_view(&q->answer));
        return;
    }
    r = call_request(q->call, NODE_DEFINITION, imported);
    if (r == NULL)
        return;
    for (unsigned kind = 0; kind < KIND_COUNT; kind++)
        for (size_t i = 0; i < item_count(all); i++)
            if (item_at(all, i)->item.spec->kind == (enum kind)kind) {
                *last = plan_change(q->call, all, item_at(all, i));
                last = &(*last)->next;
            }
    if (all->has_sealed) {
        all->key_change = key_row_change(q->call, &all->key);
        *last = &all->key_change;
    }
    first->answer = done_json;
    first->owner = all;
    r->definitions = first;
    call_audit(q->call, r, "import", STR_NONE, import_audit_details(q->mem, all));
    call_submit(q->call, r);
}

static void imported(struct node_request *r)
{
    struct call *c = r->owner;
    struct import *all = r->definitions->owner;

    if (!r->ok && r->err.code == ERR_PRECONDITION_FAILED && ++all->tries < TRIES_MAX)
        lookup_start(c, all, run_import, then_import);
    else if (!r->ok && r->err.code == ERR_PRECONDITION_FAILED)
        call_refuse_text(c, ERR_OVERLOADED, "others change the same definitions all the time");
    else
        definitions_answer(r, false);
}

void import_post(struct call *c)
{
    struct import *all = ARENA_NEW(c->mem, struct import);

    all->language = call_language(c);
    lookup_start(c, all, run_import, then_import);
}
