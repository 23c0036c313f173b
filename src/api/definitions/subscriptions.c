/* subscriptions.c - see subscriptions.h. */
#include "api/definitions/subscriptions.h"

#include "effect/secret/subscription_secret.h"
#include "store/read_definition.h"
#include "value/json.h"

#define SECRET STR("secret")

/* A map with one member more, unless that is absent. */
static struct value with_member(struct arena *mem, struct value map, struct str name,
                                struct value v)
{
    struct value_entry *entries = ARENA_ARRAY(mem, map.len + 1, struct value_entry);
    size_t count = 0;

    for (; count < map.len; count++)
        entries[count] = map.map->entries[count];
    if (v.kind != VALUE_ABSENT)
        entries[count++] = (struct value_entry){.key = value_key(name), .value = v};
    return value_map_take(mem, entries, count);
}

bool subscriptions_value(struct arena *mem, struct vault *vault, const struct stored_definition *d,
                         struct value *out, struct err *err)
{
    struct subscription_parts parts;
    struct err cause;

    if (!subscription_open(vault, mem, d->code, d->text, &parts, &cause))
        return err_set(
            err, ERR_CONFLICT,
            "the secret of the subscription '%.*s' cannot be opened (%pS): send it again",
            STR_ARG(d->code), ERR_ARG(&cause));
    *out = with_member(mem, parts.shown, SECRET, parts.secret);
    return true;
}

bool subscriptions_take(struct reader *reader, struct arena *mem, struct vault *vault,
                        struct definition_item *item, struct err *err)
{
    struct value given = value_map_get_str(item->definition, SECRET), before, kept = value_absent();
    struct stored_definition stored;
    bool found;

    if (given.kind != VALUE_ABSENT && given.kind != VALUE_NULL)
        return true;
    if (given.kind == VALUE_ABSENT) {
        if (!read_definition(reader, mem, STR("subscription"), item->code, -1, &stored, &found,
                             err) ||
            (found && !subscriptions_value(mem, vault, &stored, &before, err)))
            return false;
        if (found)
            kept = value_map_get_str(before, SECRET);
    }
    item->definition =
        with_member(mem, subscription_split(mem, item->definition).shown, SECRET, kept);
    return true;
}

bool subscriptions_seal(struct arena *mem, struct vault *vault, struct definition_item *item,
                        struct err *err)
{
    struct subscription_parts parts = subscription_split(mem, item->definition);

    if (parts.secret.kind == VALUE_ABSENT) {
        item->text = json_must_text(mem, parts.shown);
        return true;
    }
    if (vault == NULL)
        return err_set(err, ERR_CONFLICT, "this server has no master key to seal the secret with");
    item->text = subscription_seal(vault, mem, item->code, &parts);
    return true;
}

struct str subscriptions_shown(struct arena *mem, struct str text, bool has_mark)
{
    struct subscription_parts parts;
    struct value shown;
    bool is_sealed;

    if (!vault_shown(mem, text, &shown,
                     &is_sealed)) /* the row is damaged: nothing of it is shown */
        shown = value_map_empty();
    parts = subscription_split(mem, shown);
    is_sealed |= parts.secret.kind == VALUE_STRING;
    return json_must_text(
        mem, has_mark ? with_member(mem, parts.shown, STR("hasSecret"), value_bool(is_sealed))
                      : parts.shown);
}
