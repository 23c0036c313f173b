/*
 * comprehend.c - what the loops of macros gather; see program.h and vm.c.
 */
#include "cel/program.h"

/*
 * While a fold makes a list or a map, its result so far is a list whose array
 * still has room; for a map that array is one of entries.
 */
static struct value_entry *fold_entries(struct value accu)
{
    return (struct value_entry *)accu.items;
}

/* The room for entries whose number is not known beforehand follows from their number. */
static size_t fold_capacity(size_t count)
{
    size_t capacity = 16;

    while (capacity < count)
        capacity *= 2;
    return count == 0 ? 0 : capacity;
}

struct value comprehend_begin(struct cel_eval *ev, enum fold_kind kind, struct value range)
{
    size_t item = kind == FOLD_LIST ? sizeof(struct value) : sizeof(struct value_entry);
    void *items;

    if (range.kind != VALUE_LIST && range.kind != VALUE_MAP)
        return cel_fail(ev, "no such overload: %s is neither a list nor a map",
                        value_kind_name((enum value_kind)range.kind));
    switch (kind) {
    case FOLD_ALL:
        return value_bool(true);
    case FOLD_EXISTS:
        return value_bool(false);
    case FOLD_EXISTS_ONE:
        return value_int(0);
    case FOLD_MAP_ENTRY:
        return value_list(NULL, 0);
    case FOLD_LIST:
    case FOLD_MAP:
        /* As many results as elements at most. */
        items = cel_alloc(ev, (size_t)range.len * item + 1);
        if (items == NULL)
            return cel_over_memory(ev);
        return value_list(items, 0);
    }
    PANIC("unknown kind of comprehension");
}

/* all() and exists(): `decisive` ends the loop, an error stays until something decides. */
bool comprehend_decide(struct cel_eval *ev, struct value *accu, struct value body, bool decisive)
{
    if (body.kind == VALUE_BOOL && body.b == decisive) {
        *accu = body;
        return true;
    }
    if (body.kind != VALUE_BOOL && accu->kind != VALUE_ERROR)
        *accu = body.kind == VALUE_ERROR
                    ? body
                    : cel_fail(ev, "no such overload: a bool is needed, not %s",
                               value_kind_name((enum value_kind)body.kind));
    return false;
}

/* Append all entries of the map `body`. */
static struct value fold_add_entries(struct cel_eval *ev, struct value *accu, struct value body)
{
    size_t count = (size_t)accu->len + body.len;
    struct value_entry *entries = fold_entries(*accu);

    if (body.kind != VALUE_MAP)
        return cel_fail(ev, "no such overload: a map is needed here, not %s",
                        value_kind_name((enum value_kind)body.kind));
    if (body.len == 0)
        return value_null();
    if (fold_capacity(count) > fold_capacity(accu->len)) {
        entries = cel_alloc(ev, fold_capacity(count) * sizeof(*entries));
        if (entries == NULL)
            return cel_over_memory(ev);
        if (accu->len > 0)
            memcpy(entries, accu->items, accu->len * sizeof(*entries));
    }
    memcpy(entries + accu->len, body.map->entries, body.len * sizeof(*entries));
    *accu = value_list((const struct value *)entries, count);
    return value_null();
}

/* Take the body's value into the result of a fold that is not all() or exists(). */
struct value comprehend_step(struct cel_eval *ev, enum fold_kind kind, struct value *state,
                             struct value body)
{
    struct value *accu = &state[2];

    switch (kind) {
    case FOLD_EXISTS_ONE:
        if (body.kind != VALUE_BOOL)
            return cel_fail(ev, "no such overload: a bool is needed, not %s",
                            value_kind_name((enum value_kind)body.kind));
        accu->i += body.b;
        return value_null();
    case FOLD_LIST:
        ((struct value *)accu->items)[accu->len++] = body;
        return value_null();
    case FOLD_MAP:
        fold_entries(*accu)[accu->len++] = (struct value_entry){.key = state[3], .value = body};
        return value_null();
    case FOLD_MAP_ENTRY:
        return fold_add_entries(ev, accu, body);
    case FOLD_ALL:
    case FOLD_EXISTS:
        break;
    }
    PANIC("unknown kind of comprehension");
}

struct value comprehend_end(struct cel_eval *ev, enum fold_kind kind, struct value accu)
{
    size_t duplicate;
    struct value map;

    switch (kind) {
    case FOLD_ALL:
    case FOLD_EXISTS:
    case FOLD_LIST:
        return accu;
    case FOLD_EXISTS_ONE:
        return value_bool(accu.i == 1);
    case FOLD_MAP:
    case FOLD_MAP_ENTRY:
        if ((size_t)accu.len * 12 + 64 > ev->mem_left)
            return cel_over_memory(ev);
        ev->mem_left -= (size_t)accu.len * 12 + 64;
        map = value_map_make(ev->mem, fold_entries(accu), accu.len, &duplicate);
        return map.kind != VALUE_ABSENT ? map : cel_fail(ev, "repeated key");
    }
    PANIC("unknown kind of comprehension");
}
