/* assignee.c - see assignee.h. */
#include "define/assignee.h"

#include "base/str.h"
#include "base/text/ascii.h"

static struct value assignee_key(struct arena *mem, struct str text)
{
    if (str_find(text, STR("@"), 0) < 0 || str_starts_with(text, STR(ASSIGNEE_GROUP)))
        return value_string(str_copy(mem, text));
    return value_string(ascii_lower_copy(mem, text));
}

static bool has_key(const struct value *keys, size_t count, struct str key)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(value_text(keys[i]), key))
            return true;
    return false;
}

bool assignee_read(struct arena *mem, struct value assignee, struct value *out)
{
    const struct value *given = assignee.kind == VALUE_LIST ? assignee.items : &assignee;
    size_t given_count = assignee.kind == VALUE_LIST ? assignee.len : 1, count = 0;
    struct value *keys;

    if (given_count == 0 || given_count > ASSIGNEES_MAX)
        return false;
    keys = ARENA_ARRAY(mem, given_count, struct value);
    for (size_t i = 0; i < given_count; i++) {
        if (given[i].kind != VALUE_STRING || given[i].len == 0 || given[i].len > ASSIGNEE_LEN_MAX ||
            str_eq(value_text(given[i]), STR(ASSIGNEE_GROUP)))
            return false;
        keys[count] = assignee_key(mem, value_text(given[i]));
        if (!has_key(keys, count, value_text(keys[count])))
            count++;
    }
    *out = value_list(keys, count);
    return true;
}

struct value assignee_keys(struct arena *mem, struct str id, struct str email, struct value groups)
{
    size_t group_count = groups.kind == VALUE_LIST ? groups.len : 0, count = 0;
    struct value *keys = ARENA_ARRAY(mem, group_count + 2, struct value);

    keys[count++] = value_string(str_copy(mem, id));
    if (email.len > 0)
        keys[count++] = assignee_key(mem, email);
    for (size_t i = 0; i < group_count; i++)
        if (groups.items[i].kind == VALUE_STRING)
            keys[count++] = value_string(
                str_printf(mem, ASSIGNEE_GROUP "%.*s", STR_ARG(value_text(groups.items[i]))));
    return value_list(keys, count);
}

bool assignee_is_among(struct value keys, struct value assignees)
{
    for (uint32_t i = 0; keys.kind == VALUE_LIST && i < keys.len; i++)
        if (assignees.kind == VALUE_LIST &&
            has_key(assignees.items, assignees.len, value_text(keys.items[i])))
            return true;
    return false;
}
