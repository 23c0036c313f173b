/* import_plan.c - what becomes of an item of a bundle: created, changed or left; see import.h. */
#include "api/definitions/import.h"
#include "api/definitions/subscriptions.h"
#include "node/node.h"
#include "value/diff.h"
#include "value/json.h"
#include "value/object.h"

enum { CHANGES_MAX = 100, CHANGE_TEXT_MAX = 200 };

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

bool import_is_environment(enum kind kind)
{
    return kind == KIND_CONFIG || kind == KIND_SUBSCRIPTION || kind == KIND_CREDENTIAL;
}

static void import_keep_environment(struct arena *mem, struct import_item *i)
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

/* Whether a secret may go along: it was made for this type and these addresses. */
static bool keeps_secret(struct value from, struct value to)
{
    static const char *const names[] = {"type", "base_url", "token_url"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (!str_eq(value_map_text(from, str_of(names[i])), value_map_text(to, str_of(names[i]))))
            return false;
    return true;
}

/*
 * A credential that is here stays as it is: its address and its secret belong
 * to this installation. When it is to be replaced, its secret stays only where it
 * was given for the same type and address. The answer says what is left to be done.
 */
static void plan_credential(struct arena *mem, const struct import *all, struct import_item *i,
                            const struct stored_definition *d)
{
    struct differences differences = {0};
    struct value shown = value_map_empty();
    bool is_filled = false;

    i->plan = d != NULL ? PLAN_UNCHANGED : PLAN_CREATE;
    i->changes_json = STR("[]");
    i->version = d != NULL ? d->version : 0;
    i->stored_text = STR_NONE;
    /* A row that is damaged shows nothing. */
    if (d != NULL && (!vault_shown(mem, d->text, &shown, &is_filled) || shown.kind != VALUE_MAP))
        shown = value_map_empty();
    if (d != NULL)
        value_diff(mem, shown, i->item.definition, CHANGES_MAX, &differences);
    if (differences.count > 0 && all->overwrites[KIND_CREDENTIAL]) {
        i->plan = PLAN_UPDATE;
        i->changes_json = changes_json(mem, &differences);
        is_filled = is_filled && keeps_secret(shown, i->item.definition);
        i->stored_text = is_filled ? d->text : STR_NONE;
    } else if (differences.count > 0) {
        import_keep_environment(mem, i);
    }
    if (!is_filled)
        import_warn(mem, i, "secret_missing",
                    sentence_make(
                        mem, "the credential '%.*s' has no secret yet: `pawl credential set %.*s`",
                        STR_ARG(i->item.code), STR_ARG(i->item.code)));
}

bool import_plan_item(struct lookup *q, struct reader *reader, const struct import *all,
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
        plan_credential(q->mem, all, i, found ? &d : NULL);
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
    /* What was only moved on a canvas is saved, and is no change that anybody reads about. */
    differences = (struct differences){0};
    value_diff(q->mem, kind_meaning(q->mem, spec, from), kind_meaning(q->mem, spec, to),
               CHANGES_MAX, &differences);
    i->changes_json = changes_json(q->mem, &differences);
    /* With `prune` the bundle says what is in use and what is not. */
    if (i->plan == PLAN_UNCHANGED && all->prunes && str_eq(d.status, STR("retired")))
        i->plan = PLAN_UNRETIRE;
    if (i->plan == PLAN_UPDATE && import_is_environment(spec->kind) && !all->overwrites[spec->kind])
        import_keep_environment(q->mem, i);
    return true;
}
