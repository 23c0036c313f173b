/* import_items.c - the items of a bundle: which kind each is of, its code and its text; see import.h. */
#include "api/definitions/import.h"

#include "value/json.h"
#include "value/json_text.h"

enum { ITEMS_MAX = 5000 };

/* --- taking the items apart --- */

void import_wrong(struct arena *mem, struct import_item *i, const char *field, const char *code,
                  struct sentence message)
{
    body_finding(mem, &i->findings, field, code, "%pS", SENTENCE_ARG(message));
    if (field[0] == '\0')
        i->findings.items[i->findings.count - 1].pointer = STR("");
}

void import_warn(struct arena *mem, struct import_item *i, const char *code,
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
        import_wrong(mem, i, "kind", "missing_field",
                     SENTENCE("what is this? A scenario has 'steps', a schema 'nodes', a machine "
                              "'states', a procedure "
                              "'commands'; anything else "
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

/* --- the body --- */

static bool read_overwrite(struct lookup *q, struct import *all, struct value list, struct err *err)
{
    bool ok = list.kind == VALUE_LIST || list.kind == VALUE_ABSENT || list.kind == VALUE_NULL;

    for (uint32_t i = 0; list.kind == VALUE_LIST && ok && i < list.len; i++) {
        const struct kind_spec *spec =
            list.items[i].kind == VALUE_STRING ? kind_named(value_text(list.items[i])) : NULL;

        ok = spec != NULL && import_is_environment(spec->kind);
        if (ok)
            all->overwrites[spec->kind] = true;
    }
    if (ok)
        return true;
    body_finding(q->mem, &q->findings, "overwrite", "bad_value",
                 "overwrite names config, subscription and credential");
    return err_set(err, ERR_INVALID, "overwrite names config, subscription and credential");
}

/* All that is published and not in the bundle would be retired: drafts retire nothing, and nothing would leave nothing. */
static bool check_prune(struct lookup *q, const struct import *all, struct err *err)
{
    struct sentence message = all->is_draft
                                  ? SENTENCE("prune is for what is published, not for drafts")
                                  : SENTENCE("prune needs a bundle with items: an empty one would "
                                             "retire everything");

    if (!all->prunes || (!all->is_draft && all->count > 0))
        return true;
    body_finding(q->mem, &q->findings, "prune", "bad_value", "%pS", SENTENCE_ARG(message));
    return err_set(err, ERR_INVALID, "%pS", SENTENCE_ARG(message));
}

bool import_read_body(struct lookup *q, struct import *all, struct err *err)
{
    struct value items, dry, draft, overwrite, prune, summary;
    const struct body_field fields[] = {
        {"items", BODY_ANY, true, .out = &items},
        {"dryRun", BODY_BOOL, false, .out = &dry},
        {"draft", BODY_BOOL, false, .out = &draft},
        {"prune", BODY_BOOL, false, .out = &prune},
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
    all->prunes = value_is_true(prune);
    all->summary = value_text_or(summary, STR_NONE);
    all->count = items.len;
    if (!check_prune(q, all, err))
        return false;
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
