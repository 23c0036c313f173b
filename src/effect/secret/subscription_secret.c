/* subscription_secret.c - see subscription_secret.h. */
#include "effect/secret/subscription_secret.h"

#define KIND STR("subscription")
#define SECRET STR("secret")

struct subscription_parts subscription_split(struct arena *mem, struct value definition)
{
    struct value_entry *entries = ARENA_ARRAY(mem, definition.len + 1, struct value_entry);
    struct subscription_parts parts = {.secret = value_absent()};
    size_t count = 0;

    for (uint32_t i = 0; i < definition.len; i++) {
        const struct value_entry *e = &definition.map->entries[i];

        if (str_eq(value_text(e->key), SECRET))
            parts.secret = e->value.kind == VALUE_STRING ? e->value : value_absent();
        else
            entries[count++] = *e;
    }
    parts.shown = value_map_take(mem, entries, count);
    return parts;
}

bool subscription_open(struct vault *v, struct arena *mem, struct str code, struct str text,
                       struct subscription_parts *out, struct err *err)
{
    struct value shown, secret = value_absent();
    bool is_sealed;

    if (!vault_shown(mem, text, &shown, &is_sealed))
        return err_set(err, ERR_INTERNAL, "what is stored of the subscription is no object");
    if (is_sealed && v == NULL)
        return err_set(err, ERR_INVALID, "this server has no master key");
    if (is_sealed && !vault_open(v, mem, KIND, code, text, &shown, &secret, err))
        return false;
    *out = subscription_split(mem, shown);
    out->is_plain = out->secret.kind == VALUE_STRING;
    if (is_sealed) {
        out->is_plain = false;
        out->secret = secret;
    }
    return true;
}

struct str subscription_seal(struct vault *v, struct arena *mem, struct str code,
                             const struct subscription_parts *parts)
{
    return vault_seal(v, mem, KIND, code, parts->shown, parts->secret);
}
