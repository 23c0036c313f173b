/*
 * definitions_capacity.c - how much of what is used as soon as it is saved there may be.
 *
 * Every execution takes a copy of the config that it uses, and every function
 * is compiled with every definition, so both are bounded; and an item of a
 * bundle is not larger than it could be alone.
 */
#include "api/definitions/definitions.h"
#include "store/read_definition.h"

enum { CONFIG_VALUE_MAX = 64 * 1024, CONFIG_ALL_MAX = 256 * 1024 };
enum { CONFIG_COUNT_MAX = 1000, FUNCTION_COUNT_MAX = 1000 };
enum { STAGED_TEXT_MAX = 2 << 20, LIVE_TEXT_MAX = 1 << 20 };

/* Of one kind, as it will be. */
struct capacity {
    enum kind kind;
    size_t count_max, bytes_max;
};

static bool check_size(const struct definition_item *item, struct err *err)
{
    size_t max = item->spec->life == KIND_STAGED   ? STAGED_TEXT_MAX
                 : item->spec->kind == KIND_CONFIG ? CONFIG_VALUE_MAX
                                                   : LIVE_TEXT_MAX;

    return item->text.len <= max ||
           err_set(err, ERR_TOO_LARGE,
                   "%s '%.*s' has %zu bytes as JSON, and at most %zu are allowed", item->spec->name,
                   STR_ARG(item->code), item->text.len, max);
}

/* Whether an item replaces what is stored under this code. */
static bool is_replaced(const struct definition_items *items, enum kind kind, struct str code)
{
    for (size_t i = 0; i < items->count; i++)
        if (items->items[i]->spec->kind == kind && str_eq(items->items[i]->code, code))
            return true;
    return false;
}

static bool check_kind(struct reader *reader, struct arena *mem,
                       const struct definition_items *items, const struct capacity *capacity,
                       struct err *err)
{
    const struct kind_spec *spec = kind_spec(capacity->kind);
    struct stored_definitions all;
    size_t count = 0, bytes = 0;

    for (size_t i = 0; i < items->count; i++)
        if (items->items[i]->spec->kind == capacity->kind) {
            bytes += items->items[i]->text.len;
            count++;
        }
    if (count == 0)
        return true;
    if (!read_published(reader, mem, str_of(spec->name), &all, err))
        return false;
    for (size_t i = 0; i < all.count; i++)
        if (!is_replaced(items, capacity->kind, all.items[i].code)) {
            bytes += all.items[i].text.len;
            count++;
        }
    if (count > capacity->count_max)
        return err_set(err, ERR_TOO_LARGE, "there may be %zu of the kind %s, and this makes %zu",
                       capacity->count_max, spec->name, count);
    if (bytes > capacity->bytes_max)
        return err_set(err, ERR_TOO_LARGE,
                       "all of the kind %s have at most %zu bytes together, and this makes %zu",
                       spec->name, capacity->bytes_max, bytes);
    return true;
}

bool definitions_check_capacity(struct reader *reader, struct arena *mem,
                                const struct definition_items *items, struct err *err)
{
    static const struct capacity capacities[] = {
        {KIND_CONFIG, CONFIG_COUNT_MAX, CONFIG_ALL_MAX},
        {KIND_FUNCTION, FUNCTION_COUNT_MAX, SIZE_MAX},
    };

    for (size_t i = 0; i < items->count; i++)
        if (!check_size(items->items[i], err))
            return false;
    for (size_t i = 0; i < ARRAY_SIZE(capacities); i++)
        if (!check_kind(reader, mem, items, &capacities[i], err))
            return false;
    return true;
}
