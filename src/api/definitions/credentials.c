/*
 * credentials.c - credentials: saved is live, and a secret is never shown again.
 *
 * A credential is a definition of its own kind whose secret is sealed before
 * it goes to the store (effect/secret/vault.h). Rotating the master key seals all
 * secrets anew, those of subscriptions as well. live_list.c shows them.
 */
#include "api/definitions/key_row.h"
#include "base/url.h"
#include "node/node.h"
#include "value/json.h"

enum { TRIES_MAX = 5, CREDENTIALS_MAX = 1000 };

/* --- saving --- */

struct credential_save {
    struct definition_item item;
    int64_t if_match;
    struct key_row key;
    unsigned tries;
    struct definition_change changes[2];
    struct str details_json;
};

/* URLs of a credential: define checks that they are texts, this that a call can use them. */
static bool check_urls(struct lookup *q, struct value shown, struct err *err)
{
    static const char *const names[] = {"base_url", "token_url"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct value v = value_map_get_str(shown, str_of(names[i]));
        const char *wrong;
        struct str host;

        if (v.kind != VALUE_STRING)
            continue;
        wrong = url_host(q->mem, value_text(v), &host);
        if (wrong == NULL)
            continue;
        body_finding(q->mem, &q->findings, names[i], "bad_value", "%s", wrong);
        return err_set(err, ERR_INVALID, "%s", wrong);
    }
    return true;
}

static bool take_body(struct lookup *q, struct credential_save *args, struct err *err)
{
    struct value body, shown, secret;
    enum credential_type type;

    if (!json_read(q->mem, q->call->http->body, &body, err))
        return false;
    if (body.kind != VALUE_MAP)
        return err_set(err, ERR_INVALID, "the body must be a JSON object");
    if (!credential_read(q->mem, body, &q->findings, &type, &shown, &secret))
        return err_set(err, ERR_INVALID, "%pS", SENTENCE_ARG(q->findings.items[0].message));
    if (secret.kind == VALUE_ABSENT) {
        const char *field = credential_secret_field(type);

        body_finding(q->mem, &q->findings, field, "missing_field",
                     "a credential of type %s needs '%s', also when it is "
                     "changed: nobody can read the one it has",
                     credential_type_name(type), field);
        return err_set(err, ERR_INVALID, "'%s' is missing", field);
    }
    if (!check_urls(q, shown, err))
        return false;
    args->item.definition = shown;
    args->item.text = vault_seal(node_vault(q->call->node), q->mem, STR("credential"),
                                 args->item.code, shown, secret);
    args->details_json = json_must_text(q->mem, shown);
    return true;
}

static bool credential_run_put(struct lookup *q, struct reader *reader, struct err *err)
{
    struct credential_save *args = q->args;
    struct sealed_rows all;

    q->findings = (struct findings){0};
    if (!sealed_rows_read(reader, q->mem, &all, err) ||
        !key_row_read(q, reader, &all, &args->key, err))
        return false;
    if (all.credentials.count >= CREDENTIALS_MAX)
        return err_set(err, ERR_TOO_LARGE, "there may be %d credentials", CREDENTIALS_MAX);
    return take_body(q, args, err);
}

static void seal_again(struct lookup *q);

static void credential_was_put(struct node_request *r)
{
    struct call *c = r->owner;
    struct credential_save *args = r->definitions->owner;

    /* Another has changed the key or this credential: look again, unless it was to be as named. */
    if (!r->ok && r->err.code == ERR_PRECONDITION_FAILED && args->if_match == MATCH_WHATEVER) {
        if (++args->tries < TRIES_MAX)
            lookup_start(c, args, credential_run_put, seal_again);
        else
            call_refuse_text(c, ERR_OVERLOADED, "others change credentials all the time");
        return;
    }
    definitions_answer(r, true);
}

static void seal_again(struct lookup *q)
{
    struct credential_save *args = q->args;
    struct call *c = q->call;
    struct node_request *r = call_request(c, NODE_DEFINITION, credential_was_put);

    if (r == NULL)
        return;
    args->changes[0] = definitions_change(c, &args->item, DEFINITION_PUT);
    args->changes[0].if_match = args->if_match;
    args->changes[0].answer = definitions_put_json;
    r->definitions = key_row_beside(c, &args->key, args->changes, args);
    call_audit(c, r, "credential.put", args->item.code, args->details_json);
    call_submit(c, r);
}

void credentials_put(struct call *c)
{
    struct credential_save *args = ARENA_NEW(c->mem, struct credential_save);

    *args = (struct credential_save){.item = {.spec = definitions_kind(c), .code = c->params[0]}};
    if (!kind_allows_name(args->item.spec, args->item.code))
        call_refuse_text(c, ERR_INVALID, "%s", kind_name_rule(args->item.spec));
    else if (definitions_if_match(c, &args->if_match))
        lookup_start(c, args, credential_run_put, seal_again);
}

/* --- rotating the key --- */

struct rekey {
    struct seal_key next;
    struct definition_change *changes; /* the first is that of the row that names the key */
    size_t count;                      /* of the others */
    size_t credentials, subscriptions; /* ... that had a secret or not */
    struct str id;
};

static void give_up_rekey(const struct call *c, const struct rekey *k)
{
    struct err ignored;

    (void)!vault_rekey_end(node_vault(c->node), &k->next, REKEY_REFUSED, &ignored);
}

/* Add a change for each definition of the kind: its secret, sealed with the next key. */
static bool seal_all(struct lookup *q, struct rekey *k, enum kind kind,
                     const struct stored_definitions *all, struct err *err)
{
    const struct kind_spec *spec = kind_spec(kind);

    for (size_t i = 0; i < all->count; i++) {
        const struct stored_definition *d = &all->items[i];
        struct definition_item item = {.spec = spec, .code = d->code};
        struct definition_change *change = &k->changes[++k->count];

        if (!vault_rekey(node_vault(q->call->node), q->mem, &k->next, str_of(spec->name), d->code,
                         d->text, &item.text, err))
            return false;
        *change = definitions_change(q->call, &item, DEFINITION_PUT);
        change->user_id = d->created_by;
        change->has_rests_on = true;
        change->rests_on = d->version;
    }
    return true;
}

static bool run_rekey(struct lookup *q, struct reader *reader, struct err *err)
{
    struct vault *vault = node_vault(q->call->node);
    struct rekey *k = q->args;
    struct sealed_rows all;
    struct key_row row;

    if (!sealed_rows_read(reader, q->mem, &all, err) || !key_row_read(q, reader, &all, &row, err) ||
        !vault_rekey_begin(vault, &k->next, err))
        return false;
    k->credentials = all.credentials.count;
    k->subscriptions = all.subscriptions.count;
    k->changes =
        ARENA_ARRAY(q->mem, k->credentials + k->subscriptions + 1, struct definition_change);
    if (!seal_all(q, k, KIND_CREDENTIAL, &all.credentials, err) ||
        !seal_all(q, k, KIND_SUBSCRIPTION, &all.subscriptions, err)) {
        give_up_rekey(q->call, k);
        return false;
    }
    k->id = str_of(k->next.id);
    row.text = key_row_text(q->mem, k->id);
    k->changes[0] = key_row_change(q->call, &row);
    for (size_t i = 0; i < k->count; i++)
        k->changes[i].next = &k->changes[i + 1];
    return true;
}

static struct str rekey_json(struct arena *mem, const struct definition_change *d, int32_t *status)
{
    const struct rekey *k = d->owner;

    *status = 200;
    return str_printf(mem, "{\"keyId\":\"%.*s\",\"credentials\":%zu,\"subscriptions\":%zu}",
                      STR_ARG(k->id), k->credentials, k->subscriptions);
}

static enum rekey_result rekey_result_of(const struct node_request *r)
{
    if (r->ok)
        return r->stored_status == 0 ? REKEY_DONE : REKEY_REFUSED;
    return r->err.code == ERR_PRECONDITION_FAILED || r->err.code == ERR_IDEMPOTENCY_CONFLICT
               ? REKEY_REFUSED
               : REKEY_UNKNOWN;
}

static void was_rekeyed(struct node_request *r)
{
    const struct rekey *k = r->definitions->owner;
    struct call *c = r->owner;
    struct err err;

    if (!vault_rekey_end(node_vault(c->node), &k->next, rekey_result_of(r), &err))
        call_refuse(c, &err);
    else if (!r->ok && r->err.code == ERR_PRECONDITION_FAILED)
        call_refuse_text(
            c, ERR_CONFLICT,
            "a credential or a subscription was changed meanwhile: nothing was rotated; try "
            "again");
    else
        definitions_answer(r, false);
}

static void then_rekey(struct lookup *q)
{
    struct node_request *r = call_request(q->call, NODE_DEFINITION, was_rekeyed);
    struct rekey *k = q->args;
    struct err err;

    if (r == NULL) {
        give_up_rekey(q->call, k);
        return;
    }
    k->changes[0].answer = rekey_json;
    k->changes[0].owner = k;
    r->definitions = k->changes;
    r->done = was_rekeyed; /* also for a stored refusal: the key file follows the store */
    call_audit(q->call, r, "credential.rekey", k->id,
               str_printf(q->mem, "{\"credentials\":%zu,\"subscriptions\":%zu}", k->credentials,
                          k->subscriptions));
    if (node_submit(q->call->node, r, &err))
        return;
    give_up_rekey(q->call, k);
    call_refuse(q->call, &err);
}

void credentials_rekey(struct call *c)
{
    lookup_start(c, ARENA_NEW(c->mem, struct rekey), run_rekey, then_rekey);
}
