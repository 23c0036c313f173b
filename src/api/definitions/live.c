/*
 * live.c - functions, templates, subscriptions and config: what is saved is used at once.
 *
 * Functions keep every version; of the others there is one. live_list.c shows them.
 */
#include "api/definitions/key_row.h"
#include "api/definitions/subscriptions.h"
#include "node/node.h"
#include "value/json.h"

enum { TRIES_MAX = 5 };

/* --- saving --- */

struct live_save {
    struct definition_item item;
    int64_t if_match;
    /* of a subscription, whose secret is sealed */
    struct key_row key;
    unsigned tries;
    struct definition_change changes[2];
};

static bool live_check_capacity(struct lookup *q, struct reader *reader,
                                const struct live_save *args, struct err *err)
{
    struct definition_items one = {0};

    *VEC_ADD(q->mem, &one) = &args->item;
    return definitions_check_capacity(reader, q->mem, &one, err);
}

/* Published definitions that use the item must stay valid. */
static bool live_check_users(struct reader *reader, struct world *w,
                             const struct definition_item *item, struct err *err)
{
    struct definition_names changed = {0}, except = {0};

    if (item->spec->kind == KIND_TEMPLATE || item->spec->kind == KIND_SUBSCRIPTION)
        return true;
    *VEC_ADD(w->mem, &changed) =
        (struct definition_name){.kind = item->spec->kind, .name = item->code};
    *VEC_ADD(w->mem, &except) = changed.items[0];
    return definitions_still_valid(reader, w, &changed, &except, err);
}

static bool live_check_item(struct lookup *q, struct reader *reader, struct live_save *args,
                            struct err *err)
{
    struct world w;
    bool ok;

    if (!definitions_world(reader, q->mem, &w, err))
        return false;
    definitions_add(&w, &args->item);
    world_open(&w);
    world_check(&w, args->item.spec->kind, args->item.code, args->item.definition, &q->findings);
    if (findings_have_errors(&q->findings))
        ok = err_set(err, ERR_INVALID, "%pS", SENTENCE_ARG(q->findings.items[0].message));
    else
        ok = args->item.spec->kind == KIND_CONFIG || live_check_users(reader, &w, &args->item, err);
    world_close(&w);
    return ok;
}

/* Seal the secret of a subscription; that rests on the key. */
static bool live_seal_item(struct lookup *q, struct reader *reader, struct live_save *args,
                           struct err *err)
{
    struct sealed_rows all;

    return sealed_rows_read(reader, q->mem, &all, err) &&
           key_row_read(q, reader, &all, &args->key, err) &&
           subscriptions_seal(q->mem, node_vault(q->call->node), &args->item, err);
}

static bool live_run_put(struct lookup *q, struct reader *reader, struct err *err)
{
    struct live_save *args = q->args;
    struct value body;
    bool is_subscription = args->item.spec->kind == KIND_SUBSCRIPTION;

    q->findings = (struct findings){0};

    if (!json_read(q->mem, q->call->http->body, &body, err))
        return false;
    if (body.kind != VALUE_MAP)
        return err_set(err, ERR_INVALID, "the body must be a JSON object");
    if (!definitions_take_live(q->mem, args->item.spec, body, &args->item, &q->findings))
        return err_set(err, ERR_INVALID, "%pS", SENTENCE_ARG(q->findings.items[0].message));
    if (is_subscription &&
        !subscriptions_take(reader, q->mem, node_vault(q->call->node), &args->item, err))
        return false;
    return live_check_capacity(q, reader, args, err) && live_check_item(q, reader, args, err) &&
           (!is_subscription || live_seal_item(q, reader, args, err));
}

static void live_checked(struct lookup *q);

static void live_was_put(struct node_request *r)
{
    struct call *c = r->owner;
    struct live_save *args = r->definitions != NULL ? r->definitions->owner : NULL;

    /* The key was changed meanwhile, by another subscription perhaps: look again. */
    if (args != NULL && !r->ok && r->err.code == ERR_PRECONDITION_FAILED &&
        args->if_match == MATCH_WHATEVER && ++args->tries < TRIES_MAX)
        lookup_start(c, args, live_run_put, live_checked);
    else
        definitions_answer(r, true);
}

static void live_checked(struct lookup *q)
{
    struct live_save *args = q->args;
    struct node_request *r =
        definitions_request(q->call, &args->item, DEFINITION_PUT, live_was_put);

    if (r == NULL)
        return;
    r->definitions->if_match = args->if_match;
    r->definitions->answer = definitions_put_json;
    if (args->item.spec->kind == KIND_SUBSCRIPTION) {
        args->changes[0] = *r->definitions;
        r->definitions = key_row_beside(q->call, &args->key, args->changes, args);
    }
    call_submit(q->call, r);
}

static struct live_save *new_args(struct call *c)
{
    struct live_save *args = ARENA_NEW(c->mem, struct live_save);

    args->item.spec = definitions_kind(c);
    args->item.code = c->params[0];
    return args;
}

void live_put(struct call *c)
{
    struct live_save *args = new_args(c);

    if (!kind_allows_name(args->item.spec, args->item.code))
        call_refuse_text(c, ERR_INVALID, "%s", kind_name_rule(args->item.spec));
    else if (definitions_if_match(c, &args->if_match))
        lookup_start(c, args, live_run_put, live_checked);
}

/* --- deleting --- */

/* Whether a command in it sends this template. Names that are computed do not count. */
static bool sends_template(struct value v, struct str code)
{
    struct value name = value_map_member(v, STR("template"));

    if (name.kind == VALUE_STRING && str_eq(value_text(name), code))
        return true;
    for (uint32_t i = 0; (v.kind == VALUE_MAP || v.kind == VALUE_LIST) && i < v.len; i++)
        if (sends_template(v.kind == VALUE_MAP ? v.map->entries[i].value : v.items[i], code))
            return true;
    return false;
}

/* A template that a published definition sends stays: its messages would fail when they are due. */
static bool check_senders(struct lookup *q, struct reader *reader, struct str code, struct err *err)
{
    for (unsigned i = 0; i < KIND_COUNT; i++) {
        const struct kind_spec *spec = kind_spec((enum kind)i);
        struct stored_definitions all;

        if (spec->state == KIND_LATER || i == KIND_CONFIG)
            continue;
        if (!read_published(reader, q->mem, str_of(spec->name), &all, err))
            return false;
        for (size_t k = 0; k < all.count; k++) {
            struct value v;

            if (!json_read(q->mem, all.items[k].text, &v, err))
                return false;
            if (sends_template(v, code))
                return err_set(err, ERR_CONFLICT, "%s '%.*s' uses it", spec->name,
                               STR_ARG(all.items[k].code));
        }
    }
    return true;
}

static bool run_delete(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct live_save *args = q->args;
    struct world w;
    bool ok;

    if (args->item.spec->kind == KIND_TEMPLATE)
        return check_senders(q, reader, args->item.code, err);
    if (!definitions_world(reader, q->mem, &w, err))
        return false;
    world_drop(&w, args->item.spec->kind, args->item.code);
    world_open(&w);
    ok = live_check_users(reader, &w, &args->item, err);
    world_close(&w);
    return ok;
}

static void was_deleted(struct node_request *r)
{
    struct call *c = r->owner;
    const struct kind_spec *spec = definitions_kind(c);

    if (!r->ok && r->err.code == ERR_NOT_FOUND)
        call_refuse_text(c, ERR_NOT_FOUND, "there is no %s of this %s", spec->name, spec->key);
    else
        definitions_answer(r, false);
}

static void delete (struct lookup *q)
{
    struct live_save *args = q->args;
    struct node_request *r =
        definitions_request(q->call, &args->item, DEFINITION_REMOVE, was_deleted);

    if (r == NULL)
        return;
    r->definitions->if_match = args->if_match;
    call_submit(q->call, r);
}

void live_delete(struct call *c)
{
    struct live_save *args = new_args(c);

    if (definitions_if_match(c, &args->if_match))
        lookup_start(c, args, run_delete, delete);
}
