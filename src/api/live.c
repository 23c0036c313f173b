/*
 * live.c - functions, templates, subscriptions and config: what is saved is used at once.
 *
 * Functions keep every version; of the others there is one.
 */
#include "api/key_row.h"
#include "api/live_list.h"
#include "api/subscriptions.h"
#include "value/json.h"
#include "value/object.h"

enum { TRIES_MAX = 5 };

/* --- reading --- */

static bool show_live(struct arena *mem, struct buf *out, const struct kind_spec *spec,
                      const struct stored_definition *d, struct err *err)
{
    struct str text =
        spec->kind == KIND_SUBSCRIPTION ? subscriptions_shown(mem, d->text, true) : d->text;

    (void)err;
    object_next(out);
    buf_char(out, '{');
    object_text(out, spec->key, d->code);
    object_int(out, "version", d->version);
    object_text(out, "updatedBy", d->created_by);
    object_time(out, "updatedAt", d->created_at_us);
    if (spec->kind == KIND_CONFIG) {
        object_json(out, "value", d->text);
    } else {
        /* The members of what is stored, which is an object and not empty. */
        buf_char(out, ',');
        buf_str(out, str_slice(text, 1, text.len - 1));
    }
    buf_char(out, '}');
    return true;
}

void live_list(struct call *c)
{
    live_list_page(c, show_live);
}

void live_get(struct call *c)
{
    live_list_one(c, show_live);
}

/* --- saving --- */

struct save_args {
    struct definition_item item;
    int64_t if_match;
    /* of a subscription, whose secret is sealed */
    struct key_row key;
    unsigned tries;
    struct definition_change changes[2];
};

static bool check_room(struct lookup *q, struct reader *reader, const struct save_args *args,
                       struct err *err)
{
    struct definition_items one = {0};

    *VEC_ADD(q->mem, &one) = &args->item;
    return definitions_check_room(reader, q->mem, &one, err);
}

/* What uses it must stay valid. */
static bool check_users(struct reader *reader, struct world *w, const struct definition_item *item,
                        struct err *err)
{
    struct definition_names changed = {0}, except = {0};

    if (item->spec->kind == KIND_TEMPLATE || item->spec->kind == KIND_SUBSCRIPTION)
        return true;
    *VEC_ADD(w->mem, &changed) =
        (struct definition_name){.kind = item->spec->kind, .name = item->code};
    *VEC_ADD(w->mem, &except) = changed.items[0];
    return definitions_still_valid(reader, w, &changed, &except, err);
}

static bool check_item(struct lookup *q, struct reader *reader, struct save_args *args,
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
        ok = err_set(err, ERR_INVALID, "%.*s", STR_ARG(q->findings.items[0].message));
    else
        ok = args->item.spec->kind == KIND_CONFIG || check_users(reader, &w, &args->item, err);
    world_close(&w);
    return ok;
}

/* Seal the secret of a subscription; that rests on the key. */
static bool seal_item(struct lookup *q, struct reader *reader, struct save_args *args,
                      struct err *err)
{
    struct sealed_rows all;

    return sealed_rows_read(reader, q->mem, &all, err) &&
           key_row_read(q, reader, &all, &args->key, err) &&
           subscriptions_seal(q->mem, node_vault(q->call->node), &args->item, err);
}

static bool run_put(struct lookup *q, struct reader *reader, struct err *err)
{
    struct save_args *args = q->args;
    struct value body;
    bool is_subscription = args->item.spec->kind == KIND_SUBSCRIPTION;

    q->findings = (struct findings){0};

    if (!json_read(q->mem, q->call->http->body, &body, err))
        return false;
    if (body.kind != VALUE_MAP)
        return err_set(err, ERR_INVALID, "the body must be a JSON object");
    if (!definitions_take_live(q->mem, args->item.spec, body, &args->item, &q->findings))
        return err_set(err, ERR_INVALID, "%.*s", STR_ARG(q->findings.items[0].message));
    if (is_subscription &&
        !subscriptions_take(reader, q->mem, node_vault(q->call->node), &args->item, err))
        return false;
    return check_room(q, reader, args, err) && check_item(q, reader, args, err) &&
           (!is_subscription || seal_item(q, reader, args, err));
}

static struct str put_json(struct arena *mem, const struct definition_change *d, int32_t *status)
{
    const struct kind_spec *spec = kind_named(d->kind);
    struct buf out;

    *status = d->created ? 201 : 200;
    buf_init_arena(&out, mem);
    buf_char(&out, '{');
    object_text(&out, spec->key, d->code);
    object_int(&out, "version", d->version);
    buf_char(&out, '}');
    return buf_view(&out);
}

static void live_checked(struct lookup *q);

static void was_put(struct node_request *r)
{
    struct call *c = r->owner;
    struct save_args *args = r->definitions != NULL ? r->definitions->owner : NULL;

    /* The key was changed meanwhile, by another subscription perhaps: look again. */
    if (args != NULL && !r->ok && r->err.code == ERR_PRECONDITION_FAILED &&
        args->if_match == MATCH_WHATEVER && ++args->tries < TRIES_MAX)
        lookup_start(c, args, run_put, live_checked);
    else
        definitions_answer(c, r, true);
}

static void live_checked(struct lookup *q)
{
    struct save_args *args = q->args;
    struct node_request *r = definitions_request(q->call, &args->item, DEFINITION_PUT, was_put);

    if (r == NULL)
        return;
    r->definition.if_match = args->if_match;
    r->definition.answer = put_json;
    if (args->item.spec->kind == KIND_SUBSCRIPTION) {
        args->changes[0] = r->definition;
        args->changes[0].owner = args;
        args->changes[0].next = &args->changes[1];
        args->changes[1] = key_row_change(q->call, &args->key);
        r->definitions = args->changes;
    }
    call_submit(q->call, r);
}

static struct save_args *new_args(struct call *c)
{
    struct save_args *args = ARENA_NEW(c->mem, struct save_args);

    args->item.spec = definitions_kind(c);
    args->item.code = c->params[0];
    return args;
}

void live_put(struct call *c)
{
    struct save_args *args = new_args(c);

    if (!kind_allows_name(args->item.spec, args->item.code))
        call_refuse_text(c, ERR_INVALID, "%s", kind_name_rule(args->item.spec));
    else if (definitions_if_match(c, &args->if_match))
        lookup_start(c, args, run_put, live_checked);
}

/* --- deleting --- */

/* Whether a command in it sends this template. A name that is computed is nobody's. */
static bool sends_template(struct value v, struct str code)
{
    struct value name =
        v.kind == VALUE_MAP ? value_map_get_str(v, STR("template")) : value_absent();

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
    const struct save_args *args = q->args;
    struct world w;
    bool ok;

    if (args->item.spec->kind == KIND_TEMPLATE)
        return check_senders(q, reader, args->item.code, err);
    if (!definitions_world(reader, q->mem, &w, err))
        return false;
    world_drop(&w, args->item.spec->kind, args->item.code);
    world_open(&w);
    ok = check_users(reader, &w, &args->item, err);
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
        definitions_answer(c, r, false);
}

static void delete (struct lookup *q)
{
    struct save_args *args = q->args;
    struct node_request *r =
        definitions_request(q->call, &args->item, DEFINITION_REMOVE, was_deleted);

    if (r == NULL)
        return;
    r->definition.if_match = args->if_match;
    call_submit(q->call, r);
}

void live_delete(struct call *c)
{
    struct save_args *args = new_args(c);

    if (definitions_if_match(c, &args->if_match))
        lookup_start(c, args, run_delete, delete);
}
