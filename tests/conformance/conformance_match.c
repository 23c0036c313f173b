/* conformance_match.c - see conformance_match.h. */
#include "conformance/conformance_match.h"

#include "base/buf.h"
#include "value/json.h"

#include <stdio.h>

struct value match_member(struct value map, const char *name)
{
    return map.kind == VALUE_MAP ? value_map_get_str(map, str_of(name)) : value_absent();
}

const char *match_text(struct arena *mem, struct value v)
{
    struct buf out;
    struct err err;

    if (v.kind == VALUE_ABSENT)
        return "nothing";
    buf_init_arena(&out, mem);
    if (!json_write(&out, v, &err))
        return err.message[0] != '\0' ? "a value without a JSON form" : "";
    buf_char(&out, '\0');
    return out.ptr;
}

static const char *differs(struct arena *mem, const char *path, struct value expected,
                           struct value is)
{
    return str_printf(mem, "%s: expected %.2000s, is %.2000s", path, match_text(mem, expected),
                      match_text(mem, is))
        .ptr;
}

static bool is_missing_mark(struct value v)
{
    return v.kind == VALUE_STRING && str_eq(value_text(v), STR("<missing>"));
}

static const char *match_members(struct arena *mem, const char *path, struct value expected,
                                 struct value is)
{
    for (uint32_t i = 0; i < expected.len; i++) {
        struct str name = value_text(expected.map->entries[i].key);
        struct value wanted = expected.map->entries[i].value;
        const char *inner = str_printf(mem, "%s.%.*s", path, STR_ARG(name)).ptr;
        const char *problem = match_value(mem, inner, wanted, value_map_get_str(is, name));

        if (problem != NULL)
            return problem;
    }
    return NULL;
}

const char *match_value(struct arena *mem, const char *path, struct value expected, struct value is)
{
    if (is_missing_mark(expected))
        return is.kind == VALUE_ABSENT ? NULL : differs(mem, path, expected, is);
    if (expected.kind == VALUE_MAP && is.kind == VALUE_MAP)
        return match_members(mem, path, expected, is);
    if (expected.kind == VALUE_LIST && is.kind == VALUE_LIST && expected.len == is.len) {
        for (uint32_t i = 0; i < expected.len; i++) {
            const char *inner = str_printf(mem, "%s[%u]", path, i).ptr;
            const char *problem = match_value(mem, inner, expected.items[i], is.items[i]);

            if (problem != NULL)
                return problem;
        }
        return NULL;
    }
    if (is.kind == VALUE_ABSENT || !value_equal(expected, is, NULL))
        return differs(mem, path, expected, is);
    return NULL;
}

/* --- history --- */

static bool is_text(struct value v, const char *text)
{
    return v.kind == VALUE_STRING && str_eq(value_text(v), str_of(text));
}

/* A row in short, as the header says. */
static struct value row_in_short(struct arena *mem, struct value row)
{
    struct value step = match_member(row, "step"), kind = match_member(row, "kind");
    struct value status = match_member(row, "status");
    struct value visit = match_member(row, "visit"), attempt = match_member(row, "attempt");
    struct buf out;

    buf_init_arena(&out, mem);
    buf_str(&out, value_text(step));
    if (visit.i != 1)
        buf_printf(&out, "#%lld", (long long)visit.i);
    if (attempt.i != 1)
        buf_printf(&out, "@%lld", (long long)attempt.i);
    if (!is_text(kind, "forward"))
        buf_printf(&out, " %.*s", STR_ARG(value_text(kind)));
    if (!is_text(status, is_text(kind, "rollback") ? "compensated" : "completed"))
        buf_printf(&out, " %.*s", STR_ARG(value_text(status)));
    return value_string(buf_view(&out));
}

static const char *match_row(struct arena *mem, uint32_t number, struct value expected,
                             struct value row)
{
    const char *path = str_printf(mem, "history[%u]", number).ptr;

    if (expected.kind != VALUE_MAP)
        return NULL;
    for (uint32_t i = 0; i < expected.len; i++) {
        struct str name = value_text(expected.map->entries[i].key);
        struct value wanted = expected.map->entries[i].value;
        const char *inner = str_printf(mem, "%s.%.*s", path, STR_ARG(name)).ptr;
        const char *problem;

        if (str_eq(name, STR("row")))
            continue;
        if (str_eq(name, STR("key")))
            name = STR("idempotencyKey");
        problem = match_value(mem, inner, wanted, value_map_get_str(row, name));
        if (problem != NULL)
            return problem;
    }
    return NULL;
}

const char *match_history(struct arena *mem, struct value expected, struct value rows)
{
    struct value *wanted = ARENA_ARRAY(mem, expected.len + 1u, struct value);
    struct value *are = ARENA_ARRAY(mem, rows.len + 1u, struct value);
    const char *problem = NULL;

    for (uint32_t i = 0; i < expected.len; i++)
        wanted[i] = expected.items[i].kind == VALUE_MAP ? match_member(expected.items[i], "row")
                                                        : expected.items[i];
    for (uint32_t i = 0; i < rows.len; i++)
        are[i] = row_in_short(mem, rows.items[i]);
    if (!value_equal(value_list(wanted, expected.len), value_list(are, rows.len), NULL))
        return differs(mem, "history", value_list(wanted, expected.len), value_list(are, rows.len));
    for (uint32_t i = 0; i < rows.len && problem == NULL; i++)
        problem = match_row(mem, i, expected.items[i], rows.items[i]);
    return problem;
}
