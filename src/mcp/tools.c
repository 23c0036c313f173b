/* tools.c - tools: how they are listed, and the request that a call of one becomes; see mcp.h. */
#include "mcp/mcp_inner.h"

#include "base/arena.h"
#include "base/url.h"
#include "value/json.h"
#include "value/object.h"

#include <stdio.h>

enum tool {
#define MCP_TOOL(symbol, ...) TOOL_##symbol,
#define MCP_ARG(...)
#include "mcp/tools.def"
#undef MCP_TOOL
#undef MCP_ARG
    TOOL_COUNT
};

enum tool_access { ACCESS_READ, ACCESS_CHANGE };
enum arg_type { TYPE_TEXT, TYPE_NUMBER, TYPE_KIND, TYPE_OBJECT, TYPE_LIST, TYPE_ANY };
enum arg_place { PLACE_PATH, PLACE_QUERY, PLACE_BODY, PLACE_WHOLE };
enum arg_need { NEED_REQUIRED, NEED_OPTIONAL };

static const struct tool_row {
    const char *name;
    enum tool_access access;
    const char *method, *path, *title, *description;
} tools[TOOL_COUNT] = {
#define MCP_TOOL(symbol, name, access, ...) {name, ACCESS_##access, __VA_ARGS__},
#define MCP_ARG(...)
#include "mcp/tools.def"
#undef MCP_TOOL
#undef MCP_ARG
};

static const struct tool_arg {
    enum tool tool;
    const char *name;
    enum arg_type type;
    enum arg_place place;
    enum arg_need need;
    const char *description;
} tool_args[] = {
#define MCP_TOOL(...)
#define MCP_ARG(symbol, name, type, place, need, description)                                      \
    {TOOL_##symbol, name, TYPE_##type, PLACE_##place, NEED_##need, description},
#include "mcp/tools.def"
#undef MCP_TOOL
#undef MCP_ARG
};

static const char *const kind_words[] = {"scenario", "schema", "machine", "procedure"};

/* --- listing --- */

static void show_kinds(struct buf *out)
{
    object_list(out, "enum");
    for (size_t i = 0; i < ARRAY_SIZE(kind_words); i++) {
        object_next(out);
        json_write_string(out, str_of(kind_words[i]));
    }
    buf_char(out, ']');
}

static void show_schema(struct buf *out, const struct tool_arg *a)
{
    static const char *const type_names[] = {
        [TYPE_TEXT] = "string",   [TYPE_NUMBER] = "integer", [TYPE_KIND] = "string",
        [TYPE_OBJECT] = "object", [TYPE_LIST] = "array",     [TYPE_ANY] = NULL,
    };

    object_nested(out, a->name);
    if (type_names[a->type] != NULL)
        object_text(out, "type", str_of(type_names[a->type]));
    if (a->type == TYPE_KIND)
        show_kinds(out);
    object_text(out, "description", str_of(a->description));
    buf_char(out, '}');
}

static void show_input_schema(struct buf *out, enum tool tool)
{
    object_nested(out, "inputSchema");
    object_text(out, "type", STR("object"));
    object_nested(out, "properties");
    for (size_t i = 0; i < ARRAY_SIZE(tool_args); i++)
        if (tool_args[i].tool == tool)
            show_schema(out, &tool_args[i]);
    buf_char(out, '}');
    object_list(out, "required");
    for (size_t i = 0; i < ARRAY_SIZE(tool_args); i++)
        if (tool_args[i].tool == tool && tool_args[i].need == NEED_REQUIRED) {
            object_next(out);
            json_write_string(out, str_of(tool_args[i].name));
        }
    buf_char(out, ']');
    object_bool(out, "additionalProperties", false);
    buf_char(out, '}');
}

void mcp_list_tools(struct buf *out, const struct mcp_options *options)
{
    object_list(out, "tools");
    for (int i = 0; i < TOOL_COUNT; i++) {
        bool changes = tools[i].access == ACCESS_CHANGE;

        if (changes && !options->allows_changes)
            continue;
        object_item(out);
        object_text(out, "name", str_of(tools[i].name));
        object_text(out, "title", str_of(tools[i].title));
        object_text(out, "description", str_of(tools[i].description));
        show_input_schema(out, (enum tool)i);
        object_nested(out, "annotations");
        object_bool(out, "readOnlyHint", !changes);
        if (changes)
            object_bool(out, "destructiveHint", false);
        buf_text(out, "}}");
    }
    buf_char(out, ']');
}

/* --- arguments --- */

static bool is_kind(struct str text)
{
    for (size_t i = 0; i < ARRAY_SIZE(kind_words); i++)
        if (str_eq(text, str_of(kind_words[i])))
            return true;
    return false;
}

/* What an argument must be when it is not; or NULL. */
static const char *arg_mistake(const struct tool_arg *a, struct value v)
{
    switch (a->type) {
    case TYPE_TEXT:
        return v.kind == VALUE_STRING && (v.len > 0 || a->place != PLACE_PATH) ? NULL : "a text";
    case TYPE_NUMBER:
        return v.kind == VALUE_INT ? NULL : "a whole number";
    case TYPE_KIND:
        return v.kind == VALUE_STRING && is_kind(value_text(v))
                   ? NULL
                   : "scenario, schema, machine or procedure";
    case TYPE_OBJECT:
        return v.kind == VALUE_MAP ? NULL : "an object";
    case TYPE_LIST:
        return v.kind == VALUE_LIST ? NULL : "a list";
    case TYPE_ANY:
        return NULL;
    }
    PANIC("no such type of an argument");
}

/* The argument of a tool with that name, or NULL. */
static const struct tool_arg *arg_find(enum tool tool, struct str name)
{
    for (size_t i = 0; i < ARRAY_SIZE(tool_args); i++)
        if (tool_args[i].tool == tool && str_eq(name, str_of(tool_args[i].name)))
            return &tool_args[i];
    return NULL;
}

/* Whether the arguments are those that the tool takes. False: *out says what is wrong. */
static bool check_args(struct arena *mem, enum tool tool, struct value args,
                       struct mcp_message *out)
{
    const char *name = tools[tool].name;

    for (uint32_t i = 0; args.kind == VALUE_MAP && i < args.map->count; i++) {
        struct str given = value_text(args.map->entries[i].key);

        if (arg_find(tool, given) == NULL) {
            out->said = mcp_error(mem, out->id, MCP_BAD_PARAMS, "%s has no argument %.*s", name,
                                  (int)(given.len < 100 ? given.len : 100), given.ptr);
            return false;
        }
    }
    for (size_t i = 0; i < ARRAY_SIZE(tool_args); i++) {
        const struct tool_arg *a = &tool_args[i];
        struct value v = value_map_member(args, str_of(a->name));
        const char *mistake;

        if (a->tool != tool || (v.kind == VALUE_ABSENT && a->need == NEED_OPTIONAL))
            continue;
        mistake = v.kind == VALUE_ABSENT ? "given" : arg_mistake(a, v);
        if (mistake != NULL) {
            out->said = mcp_error(mem, out->id, MCP_BAD_PARAMS, "%s: %s must be %s", name, a->name,
                                  mistake);
            return false;
        }
    }
    return true;
}

static struct str arg_text(struct arena *mem, struct value v)
{
    return v.kind == VALUE_STRING ? value_text(v) : json_must_text(mem, v);
}

/* --- the request --- */

/* The path of the row, its words in braces being arguments. */
static struct str request_path(struct arena *mem, const struct tool_row *t, struct value args)
{
    struct buf path;

    buf_init_arena(&path, mem);
    for (const char *p = t->path; *p != '\0'; p++) {
        struct str name = str_of(p + 1);
        int64_t end = *p == '{' ? str_find(name, STR("}"), 0) : -1;

        if (end < 0) {
            buf_char(&path, *p);
            continue;
        }
        name = str_slice(name, 0, (size_t)end);
        url_encode(&path, arg_text(mem, value_map_member(args, name)));
        p += end + 1;
    }
    return buf_view(&path);
}

static struct str request_query(struct arena *mem, enum tool tool, struct value args)
{
    struct buf query;

    buf_init_arena(&query, mem);
    for (size_t i = 0; i < ARRAY_SIZE(tool_args); i++) {
        const struct tool_arg *a = &tool_args[i];
        struct value v = value_map_member(args, str_of(a->name));

        if (a->tool != tool || a->place != PLACE_QUERY || v.kind == VALUE_ABSENT)
            continue;
        if (query.len > 0)
            buf_char(&query, '&');
        buf_text(&query, a->name);
        buf_char(&query, '=');
        url_encode(&query, arg_text(mem, v));
    }
    return buf_view(&query);
}

/* The body: an object of the arguments that belong there, or the one that is all of it; or none. */
static struct str request_body(struct arena *mem, enum tool tool, struct value args)
{
    struct buf body;
    bool has_any = false;

    object_begin(&body, mem);
    for (size_t i = 0; i < ARRAY_SIZE(tool_args); i++) {
        const struct tool_arg *a = &tool_args[i];
        struct value v = value_map_member(args, str_of(a->name));

        if (a->tool != tool)
            continue;
        if (a->place == PLACE_WHOLE)
            return json_must_text(mem, v);
        if (a->place != PLACE_BODY || v.kind == VALUE_ABSENT)
            continue;
        object_json(&body, a->name, json_must_text(mem, v));
        has_any = true;
    }
    return has_any ? object_end(&body) : STR_NONE;
}

void mcp_call_tool(struct arena *mem, struct value params, const struct mcp_options *options,
                   struct mcp_message *out)
{
    struct str name = value_map_text(params, STR("name"));
    struct value args = value_map_member(params, STR("arguments"));
    int tool = 0;

    while (tool < TOOL_COUNT && !str_eq(name, str_of(tools[tool].name)))
        tool++;
    if (tool == TOOL_COUNT) {
        out->said = mcp_error(mem, out->id, MCP_BAD_PARAMS, "there is no tool %.*s",
                              (int)(name.len < 100 ? name.len : 100), name.ptr);
        return;
    }
    if (tools[tool].access == ACCESS_CHANGE && !options->allows_changes) {
        out->said = mcp_error(mem, out->id, MCP_BAD_PARAMS,
                              "%s changes something, which is not allowed here: start the server "
                              "of the protocol with changes allowed",
                              tools[tool].name);
        return;
    }
    if (args.kind != VALUE_ABSENT && args.kind != VALUE_MAP) {
        out->said = mcp_error(mem, out->id, MCP_BAD_PARAMS, "arguments is an object");
        return;
    }
    if (!check_args(mem, (enum tool)tool, args, out))
        return;
    out->turn = MCP_ASKS;
    out->method = tools[tool].method;
    out->path = request_path(mem, &tools[tool], args);
    out->query = request_query(mem, (enum tool)tool, args);
    out->body = request_body(mem, (enum tool)tool, args);
}
