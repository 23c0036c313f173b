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
#include "api/definitions/key_row.h"
#include "api/definitions/subscriptions.h"
#include "api/problem.h"
#include "node/node.h"
#include "value/diff.h"
#include "value/json.h"
#include "value/json_text.h"
#include "value/object.h"

enum { ITEMS_MAX = 5000, CHANGES_MAX = 100, CHANGE_TEXT_MAX = 200, TRIES_MAX = 5 };

enum plan { PLAN_UNCHANGED, PLAN_CREATE, PLAN_UPDATE };

struct import_item {
    struct definition_item item;
    struct findings findings; /* pointers into the item */
    bool is_usable;           /* its kind and code are known */
    enum plan plan;
    int64_t version; /* published now, or the revision of the draft; 0: none */
    struct str changes_json;
    struct definition_change change;
};

struct import {
    struct import_item *items;
    size_t count;
    bool is_dry, is_draft;
    bool overwrites[KIND_COUNT]; /* of kinds that belong to the environment */
    enum language language;      /* of what is found */
    struct str summary;
    unsigned tries;
    bool has_sealed; /* secrets of subscriptions are sealed: all of it rests on the key */
    struct key_row key;
    struct definition_change key_change;
};

static const char *const plan_names[] = {
    [PLAN_UNCHANGED] = "unchanged", [PLAN_CREATE] = "create", [PLAN_UPDATE] = "update"};

/* --- taking the items apart --- */

static void import_wrong(struct arena *mem, struct import_item *i, const char *field,
                         const char *code, struct sentence message)
{
    body_finding(mem, &i->findings, field, code, "%pS", SENTENCE_ARG(message));
    if (field[0] == '\0')
        i->findings.items[i->findings.count - 1].pointer = STR("");
}

static void import_warn(struct arena *mem, struct import_item *i, const char *code,
                        struct sentence message)
{
    import_wrong(mem, i, "", code, message);
    i->findings.items[i->findings.count - 1].is_warning = true;
}

static void unknown_kind(struct arena *mem, struct import_item *i, struct value v)
{
    struct value kind = value_map_get_str(v, STR("kind"));
    struct str nearest;

    if (kind.kind != VALUE_STRING) {
        import_wrong(
            mem, i, "kind", "missing_field",
            SENTENCE("what is this? A scenario has 'steps', a procedure 'commands'; anything else "
                     "says its 'kind': config, function or template"));
        return;
    }
    nearest = kind_nearest(value_text(kind));
    import_wrong(mem, i, "kind", "bad_value",
                 sentence_make(mem, "there is no kind '%.*s'", STR_ARG(value_text(kind))));
    body_hint(mem, &i->findings, nearest);
}

/* An item of an export: {kind, code, text}. */
static bool is_wrapped(struct value v)
{
    return v.kind == VALUE_MAP && v.len == 3 &&
           value_map_get_str(v, STR("kind")).kind == VALUE_STRING &&
           value_map_get_str(v, STR("code")).kind == VALUE_STRING &&
           value_map_get_str(v, STR("text")).kind == VALUE_STRING;
}

/* The definition in an item of an export, and its text. False: the item is not usable. */
static bool unwrap(struct arena *mem, struct import_item *i, struct value *v, struct value *code,
                   struct str *text)
{
    const struct kind_spec *spec = i->item.spec;
    struct value inner;
    struct err err;

    *code = value_map_get_str(*v, STR("code"));
    *text = value_text(value_map_get_str(*v, STR("text")));
    if (!json_read(mem, *text, &inner, &err) || inner.kind != VALUE_MAP) {
        import_wrong(mem, i, "text", "wrong_type",
                     SENTENCE("'text' must hold a definition, a JSON object, as a string"));
        return false;
    }
    if (spec->life == KIND_STAGED &&
        !value_equal(value_map_get_str(inner, str_of(spec->key)), *code, NULL)) {
        import_wrong(mem, i, "code", "bad_value",
                     SENTENCE("'code' must be that of the definition in 'text'"));
        return false;
    }
    *v = inner;
    return true;
}

static void take_name(struct arena *mem, struct import_item *i, struct value v, struct value code)
{
    const struct kind_spec *spec = i->item.spec;
    struct value name = value_map_get_str(v, STR("name"));

    if (code.kind == VALUE_ABSENT)
        import_wrong(mem, i, spec->key, "missing_field",
                     sentence_make(mem, "'%s' is missing", spec->key));
    else if (code.kind != VALUE_STRING || !kind_allows_name(spec, value_text(code)))
        import_wrong(mem, i, spec->key, spec->life == KIND_LIVE ? "bad_name" : "bad_code",
                     sentence_of(str_of(kind_name_rule(spec))));
    else
        i->item.code = value_text(code);
    i->is_usable = i->item.code.len > 0;
    if (spec->life == KIND_STAGED && name.kind == VALUE_STRING)
        i->item.name = value_text(name);
}

static void take_item(struct arena *mem, const struct import *all, struct import_item *i,
                      struct value v, struct str text)
{
    const struct kind_spec *spec = kind_of(v);
    struct value code;
    bool is_whole;

    *i = (struct import_item){.item = {.spec = spec}};
    if (v.kind != VALUE_MAP) {
        import_wrong(mem, i, "", "wrong_type", SENTENCE("each item must be an object"));
        return;
    }
    if (spec == NULL) {
        unknown_kind(mem, i, v);
        return;
    }
    if (all->is_draft && spec->life == KIND_LIVE) {
        import_wrong(mem, i, "kind", "bad_value",
                     sentence_make(mem,
                                   "there are no drafts of a %s: it is used as soon as it is saved",
                                   spec->name));
        return;
    }
    code = value_map_get_str(v, str_of(spec->key));
    is_whole = is_wrapped(v);
    if (is_whole && !unwrap(mem, i, &v, &code, &text))
        return;
    take_name(mem, i, v, code);
    if (!i->is_usable)
        return;
    if (spec->life == KIND_LIVE) {
        i->is_usable =
            definitions_take_live(mem, spec, kind_body(mem, spec, v), &i->item, &i->findings);
    } else {
        i->item.definition = v;
        i->item.text = is_whole ? text : json_text_without(mem, text, STR("kind"));
    }
}

static void check_twice(struct arena *mem, struct import *all)
{
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; k < i && all->items[i].is_usable; k++) {
            const struct definition_item *a = &all->items[i].item, *b = &all->items[k].item;
            if (all->items[k].is_usable && a->spec == b->spec && str_eq(a->code, b->code)) {
                import_wrong(mem, &all->items[i], a->spec->key, "duplicate_code",
                             sentence_make(mem, "item %zu is the %s '%.*s' too", k, a->spec->name,
                                           STR_ARG(a->code)));
                all->items[i].is_usable = false;
            }
        }
}

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

/* Seal the secrets of subscriptions that change; that rests on the key. */
static bool seal_secrets(struct lookup *q, struct reader *reader, struct import *all,
                         struct err *err)
{
    struct sealed_rows stored;

    all->has_sealed = false;
    for (size_t i = 0; i < all->count; i++) {
        struct import_item *item = &all->items[i];

        if (item->item.spec->kind != KIND_SUBSCRIPTION || item->plan == PLAN_UNCHANGED)
            continue;
        if (!subscriptions_seal(q->mem, node_vault(q->call->node), &item->item, err))
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

/* --- planning --- */

/* A value in a few words. */
static void write_part(struct arena *mem, struct buf *out, const char *name, struct value v)
{
    struct buf text;
    struct err err;

    if (v.kind == VALUE_ABSENT)
        return;
    buf_init_arena(&text, mem);
    text.limit = CHANGE_TEXT_MAX;
    if (json_write(&text, v, &err))
        object_json(out, name, buf_view(&text));
    else
        object_text(out, name,
                    v.kind == VALUE_LIST  ? STR("(a list)")
                    : v.kind == VALUE_MAP ? STR("(an object)")
                                          : STR("(a long text)"));
}

static struct str changes_json(struct arena *mem, const struct differences *all)
{
    struct buf out;

    buf_init_arena(&out, mem);
    buf_char(&out, '[');
    for (size_t i = 0; i < all->count; i++) {
        const struct difference *d = &all->items[i];

        object_item(&out);
        object_name(&out, "pointer");
        json_write_string(&out, d->pointer);
        /* Of a secret the answer says only that it differs. */
        if (!str_eq(d->pointer, STR("/secret"))) {
            write_part(mem, &out, "from", d->from);
            write_part(mem, &out, "to", d->to);
        }
        buf_char(&out, '}');
    }
    buf_char(&out, ']');
    return buf_view(&out);
}

/*
 * A credential that is here stays as it is: its address and its secret belong
 * to this installation. The answer says what is left to be done.
 */
static void plan_credential(struct arena *mem, struct import_item *i,
                            const struct stored_definition *d)
{
    struct value shown;
    bool is_filled = false;
    int64_t budget = INT64_MAX;

    i->plan = d != NULL ? PLAN_UNCHANGED : PLAN_CREATE;
    i->changes_json = STR("[]");
    i->version = d != NULL ? d->version : 0;
    if (d != NULL && vault_shown(mem, d->text, &shown, &is_filled) &&
        !value_equal(shown, i->item.definition, &budget))
        import_warn(mem, i, "kept_as_it_is",
                    sentence_make(mem,
                                  "the credential '%.*s' is here with other fields, which it keeps",
                                  STR_ARG(i->item.code)));
    if (!is_filled)
        import_warn(mem, i, "secret_missing",
                    sentence_make(
                        mem, "the credential '%.*s' has no secret yet: `pawl credential set %.*s`",
                        STR_ARG(i->item.code), STR_ARG(i->item.code)));
}

/* Config and subscriptions name addresses of the installation that they are part of. */
static bool belongs_to_environment(enum kind kind)
{
    return kind == KIND_CONFIG || kind == KIND_SUBSCRIPTION;
}

static void keep_environment(struct arena *mem, struct import_item *i)
{
    const char *kind = i->item.spec->name;

    i->plan = PLAN_UNCHANGED;
    i->changes_json = STR("[]");
    import_warn(mem, i, "kept_as_it_is",
                sentence_make(mem,
                              "the %s '%.*s' is here with another value, which it keeps; to "
                              "replace it: `pawl apply --overwrite %s`",
                              kind, STR_ARG(i->item.code), kind));
}

/* Compare an item with what is stored. */
static bool plan_item(struct lookup *q, struct reader *reader, const struct import *all,
                      struct import_item *i, struct err *err)
{
    const struct kind_spec *spec = i->item.spec;
    struct differences differences = {0};
    struct stored_definition d;
    struct value from, to;
    bool found;

    if (!read_definition(reader, q->mem, str_of(spec->name), i->item.code, all->is_draft ? 0 : -1,
                         &d, &found, err))
        return false;
    if (spec->kind == KIND_SUBSCRIPTION)
        to = i->item.definition;
    else if (!definitions_value(q->mem, spec, i->item.text, &to, err))
        return false;
    if (spec->kind == KIND_CREDENTIAL) {
        plan_credential(q->mem, i, found ? &d : NULL);
        return true;
    }
    i->plan = PLAN_CREATE;
    i->changes_json = STR("[]");
    i->version = 0;
    if (!found)
        return true;
    if (spec->kind == KIND_SUBSCRIPTION
            ? !subscriptions_value(q->mem, node_vault(q->call->node), &d, &from, err)
            : !definitions_value(q->mem, spec, d.text, &from, err))
        return false;
    i->version = all->is_draft ? d.revision : d.version;
    value_diff(q->mem, from, to, CHANGES_MAX, &differences);
    i->plan = differences.count == 0 ? PLAN_UNCHANGED : PLAN_UPDATE;
    i->changes_json = changes_json(q->mem, &differences);
    if (i->plan == PLAN_UPDATE && belongs_to_environment(spec->kind) &&
        !all->overwrites[spec->kind])
        keep_environment(q->mem, i);
    return true;
}

/* --- the answer --- */

static void write_answer(struct arena *mem, struct buf *out, const struct import *all, bool is_done)
{
    size_t left = FINDINGS_SHOWN_MAX; /* for all items together */

    buf_char(out, '{');
    object_bool(out, "dryRun", all->is_dry);
    object_list(out, "items");
    for (size_t k = 0; k < all->count; k++) {
        const struct import_item *i = &all->items[k];
        int64_t version = is_done && i->plan != PLAN_UNCHANGED ? i->change.version : i->version;
        struct findings shown = i->findings;

        if (shown.count > left)
            shown.count = left;
        left -= shown.count;

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

static bool read_overwrite(struct lookup *q, struct import *all, struct value list, struct err *err)
{
    bool ok = list.kind == VALUE_LIST || list.kind == VALUE_ABSENT || list.kind == VALUE_NULL;

    for (uint32_t i = 0; list.kind == VALUE_LIST && ok && i < list.len; i++) {
        const struct kind_spec *spec =
            list.items[i].kind == VALUE_STRING ? kind_named(value_text(list.items[i])) : NULL;

        ok = spec != NULL && belongs_to_environment(spec->kind);
        if (ok)
            all->overwrites[spec->kind] = true;
    }
    if (ok)
        return true;
    body_finding(q->mem, &q->findings, "overwrite", "bad_value",
                 "overwrite names config and subscription");
    return err_set(err, ERR_INVALID, "overwrite names config and subscription");
}

static bool import_read_body(struct lookup *q, struct import *all, struct err *err)
{
    struct value items, dry, draft, overwrite, summary;
    const struct body_field fields[] = {
        {"items", BODY_ANY, true, .out = &items},
        {"dryRun", BODY_BOOL, false, .out = &dry},
        {"draft", BODY_BOOL, false, .out = &draft},
        {"overwrite", BODY_ANY, false, .out = &overwrite},
        {"changeSummary", BODY_TEXT, false, .out = &summary, .max = SUMMARY_LEN_MAX}};
    struct str body = q->call->http->body;
    struct str *texts;

    if (!body_read(q->mem, body, fields, ARRAY_SIZE(fields), &q->findings, err))
        return false;
    if (items.kind != VALUE_LIST || items.len > ITEMS_MAX) {
        struct sentence message =
            sentence_make(q->mem, "items must be a list of at most %d", ITEMS_MAX);
        body_finding(q->mem, &q->findings, "items", "wrong_type", "%pS", SENTENCE_ARG(message));
        return err_set(err, ERR_INVALID, "%pS", SENTENCE_ARG(message));
    }
    if (!read_overwrite(q, all, overwrite, err))
        return false;
    all->is_dry = value_is_true(dry);
    all->is_draft = value_is_true(draft);
    all->summary = value_text_or(summary, STR_NONE);
    all->count = items.len;
    all->items = ARENA_ARRAY(q->mem, items.len + 1, struct import_item);
    texts = ARENA_ARRAY(q->mem, items.len + 1, struct str);
    if (json_text_items(json_text_member(q->mem, body, STR("items")), texts, items.len) !=
        items.len)
        PANIC("the items of a list were counted wrong");
    for (size_t i = 0; i < all->count; i++)
        take_item(q->mem, all, &all->items[i], items.items[i], texts[i]);
    check_twice(q->mem, all);
    return true;
}

static bool run_import(struct lookup *q, struct reader *reader, struct err *err)
{
    struct import *all = q->args;
    const struct finding *f;
    struct world w;
    bool ok, is_malformed = false;

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
        ok = plan_item(q, reader, all, &all->items[i], err);
    ok = ok && (all->is_dry || seal_secrets(q, reader, all, err));
    if (ok && all->is_dry)
        write_answer(q->mem, &q->answer, all, false);
    return ok;
}

static void imported(struct node_request *r);

/* The change of one item. Also what stays must be as it was looked at. */
static struct definition_change *plan_change(struct call *c, const struct import *all,
                                             struct import_item *i)
{
    bool stays = i->plan == PLAN_UNCHANGED;

    i->change = definitions_change(c, &i->item,
                                   stays           ? DEFINITION_KEEP
                                   : all->is_draft ? DEFINITION_SAVE_DRAFT
                                                   : DEFINITION_PUT);
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
    for (size_t k = 0; k < all->count; k++) {
        const struct import_item *i = &all->items[k];
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
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].plan != PLAN_UNCHANGED)
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
        for (size_t i = 0; i < all->count; i++)
            if (all->items[i].item.spec->kind == (enum kind)kind) {
                *last = plan_change(q->call, all, &all->items[i]);
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
