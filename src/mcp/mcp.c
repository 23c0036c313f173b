/* mcp.c - messages: what they ask for, and their answers; see mcp.h. */
#include "mcp/mcp_inner.h"

#include "base/arena.h"
#include "base/text/utf8.h"
#include "value/json.h"
#include "value/object.h"

#include <stdarg.h>
#include <stdio.h>

/* The newest first: that is offered to who asks for another. */
static const char *const protocol_versions[] = {"2025-06-18", "2024-11-05"};

#define INSTRUCTIONS                                                                               \
    "Pawl runs durable processes. To write one, read pawl://docs/definitions, "                    \
    "pawl://docs/scenarios and pawl://catalog, then use validate_definition, dry_run and "         \
    "run_tests. To explain an execution that is stuck, use explain_execution and "                 \
    "execution_steps: waitingFor says what it waits for, actions what may be done."

/* --- answers --- */

void mcp_begin(struct buf *out, struct arena *mem, struct str id)
{
    object_begin(out, mem);
    object_text(out, "jsonrpc", STR("2.0"));
    object_json(out, "id", id);
    object_nested(out, "result");
}

struct str mcp_end(struct buf *out)
{
    buf_char(out, '}');
    return object_end(out);
}

struct str mcp_error(struct arena *mem, struct str id, int code, const char *format, ...)
{
    struct buf out, message;
    va_list args;
    char text[512];

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    buf_init_arena(&message, mem);
    /* What was cut in the middle of a letter is no text. */
    buf_str(&message, str_slice(str_of(text), 0, utf8_valid_prefix(str_of(text))));
    object_begin(&out, mem);
    object_text(&out, "jsonrpc", STR("2.0"));
    object_json(&out, "id", id);
    object_nested(&out, "error");
    object_int(&out, "code", code);
    object_text(&out, "message", buf_view(&message));
    buf_char(&out, '}');
    return object_end(&out);
}

bool mcp_speaks(struct str version)
{
    for (size_t i = 0; i < ARRAY_SIZE(protocol_versions); i++)
        if (str_eq(version, str_of(protocol_versions[i])))
            return true;
    return false;
}

struct str mcp_too_long(struct arena *mem)
{
    return mcp_error(mem, STR("null"), MCP_BAD_MESSAGE, "a message has at most %d bytes",
                     MCP_MESSAGE_MAX);
}

/* --- methods --- */

typedef void method_fn(struct arena *mem, struct value params, const struct mcp_options *options,
                       struct mcp_message *out);

static void method_initialize(struct arena *mem, struct value params,
                              const struct mcp_options *options, struct mcp_message *out)
{
    struct str asked = value_map_text(params, STR("protocolVersion"));
    const char *version = protocol_versions[0];
    struct buf b;

    for (size_t i = 0; i < ARRAY_SIZE(protocol_versions); i++)
        if (str_eq(asked, str_of(protocol_versions[i])))
            version = protocol_versions[i];
    mcp_begin(&b, mem, out->id);
    object_text(&b, "protocolVersion", str_of(version));
    object_json(&b, "capabilities", STR("{\"tools\":{},\"resources\":{}}"));
    object_nested(&b, "serverInfo");
    object_text(&b, "name", STR("pawl"));
    object_text(&b, "version", str_of(options->version));
    buf_char(&b, '}');
    object_text(&b, "instructions", STR(INSTRUCTIONS));
    out->said = mcp_end(&b);
}

static void method_ping(struct arena *mem, struct value params, const struct mcp_options *options,
                        struct mcp_message *out)
{
    struct buf b;

    (void)params, (void)options;
    mcp_begin(&b, mem, out->id);
    out->said = mcp_end(&b);
}

static void method_list_tools(struct arena *mem, struct value params,
                              const struct mcp_options *options, struct mcp_message *out)
{
    struct buf b;

    (void)params;
    mcp_begin(&b, mem, out->id);
    mcp_list_tools(&b, options);
    out->said = mcp_end(&b);
}

static void method_list_resources(struct arena *mem, struct value params,
                                  const struct mcp_options *options, struct mcp_message *out)
{
    struct buf b;

    (void)params, (void)options;
    mcp_begin(&b, mem, out->id);
    mcp_list_resources(&b);
    out->said = mcp_end(&b);
}

static void method_list_templates(struct arena *mem, struct value params,
                                  const struct mcp_options *options, struct mcp_message *out)
{
    struct buf b;

    (void)params, (void)options;
    mcp_begin(&b, mem, out->id);
    object_json(&b, "resourceTemplates", STR("[]"));
    out->said = mcp_end(&b);
}

static void method_read_resource(struct arena *mem, struct value params,
                                 const struct mcp_options *options, struct mcp_message *out)
{
    (void)options;
    mcp_read_resource(mem, params, out);
}

static const struct method {
    const char *name;
    method_fn *run;
} methods[] = {
    {"initialize", method_initialize},         {"ping", method_ping},
    {"tools/list", method_list_tools},         {"tools/call", mcp_call_tool},
    {"resources/list", method_list_resources}, {"resources/templates/list", method_list_templates},
    {"resources/read", method_read_resource},
};

/* --- messages --- */

/* The id of a message as JSON, or none. False: it is neither a text nor a whole number. */
static bool read_id(struct arena *mem, struct value id, struct str *out)
{
    *out = STR("null");
    if (id.kind == VALUE_ABSENT)
        return true;
    if (id.kind != VALUE_STRING && id.kind != VALUE_INT)
        return false;
    *out = json_must_text(mem, id);
    return true;
}

static void run_method(struct arena *mem, struct value message, const struct mcp_options *options,
                       struct mcp_message *out)
{
    struct str name = value_map_text(message, STR("method"));
    struct value params = value_map_get_str(message, STR("params"));

    if (params.kind != VALUE_ABSENT && params.kind != VALUE_MAP) {
        out->said = mcp_error(mem, out->id, MCP_BAD_PARAMS, "params is an object");
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
        if (str_eq(name, str_of(methods[i].name))) {
            methods[i].run(mem, params, options, out);
            return;
        }
    out->said = mcp_error(mem, out->id, MCP_NO_METHOD, "there is no method %.*s",
                          (int)(name.len < 100 ? name.len : 100), name.ptr);
}

/* It is no message: the refusal is said, and kept for who answers with a status. */
static void refuse_message(struct arena *mem, struct mcp_message *out, int code)
{
    out->said = mcp_error(mem, out->id, code, "%s", out->refusal.message);
}

void mcp_read(struct arena *mem, struct str text, const struct mcp_options *options,
              struct mcp_message *out)
{
    struct value message, method, id;

    *out = (struct mcp_message){.turn = MCP_SAID, .id = STR("null")};
    if (!json_read(mem, text, &message, &out->refusal)) {
        refuse_message(mem, out, MCP_BAD_JSON);
        return;
    }
    method = value_map_member(message, STR("method"));
    id = value_map_member(message, STR("id"));
    if (message.kind == VALUE_LIST)
        (void)err_set(&out->refusal, ERR_BAD_REQUEST,
                      "batches are not taken: send one message at a time");
    else if (!str_eq(value_map_text(message, STR("jsonrpc")), STR("2.0")))
        (void)err_set(&out->refusal, ERR_BAD_REQUEST,
                      "a message is an object with \"jsonrpc\": \"2.0\"");
    else if (!read_id(mem, id, &out->id))
        (void)err_set(&out->refusal, ERR_BAD_REQUEST, "id is a text or a whole number");
    /* Answers to requests that were never made, and notifications: nothing is to be said. */
    else if (method.kind == VALUE_ABSENT && id.kind != VALUE_ABSENT &&
             (value_map_member(message, STR("result")).kind != VALUE_ABSENT ||
              value_map_member(message, STR("error")).kind != VALUE_ABSENT))
        out->turn = MCP_SILENT;
    else if (method.kind != VALUE_STRING)
        (void)err_set(&out->refusal, ERR_BAD_REQUEST, "method is a text");
    else if (id.kind == VALUE_ABSENT)
        out->turn = MCP_SILENT;
    else
        run_method(mem, message, options, out);
    if (out->refusal.code != ERR_NONE)
        refuse_message(mem, out, MCP_BAD_MESSAGE);
}

/* --- replies of the API --- */

static struct str tool_result(struct arena *mem, struct str id, bool is_error, struct str text)
{
    struct buf b;

    mcp_begin(&b, mem, id);
    object_list(&b, "content");
    object_item(&b);
    object_text(&b, "type", STR("text"));
    object_name(&b, "text");
    json_write_string(&b, text);
    buf_text(&b, "}]");
    object_bool(&b, "isError", is_error);
    return mcp_end(&b);
}

struct str mcp_reply(struct arena *mem, const struct mcp_message *m, int status, struct str body)
{
    bool is_ok = status >= 200 && status < 300;
    struct str text = body;

    if (status == 0)
        text = STR("the server did not answer");
    else if (body.len == 0)
        text = STR("{}");
    if (m->uri != NULL)
        return is_ok && text.len <= MCP_RESOURCE_MAX
                   ? mcp_show_resource(mem, m->id, m->uri, "application/json", text)
                   : mcp_error(mem, m->id, MCP_NO_RESOURCE, "%s cannot be read (status %d)", m->uri,
                               status);
    if (text.len > MCP_TEXT_MAX) {
        struct str start = str_slice(text, 0, MCP_TEXT_MAX);

        start.len = utf8_valid_prefix(start);
        text = str_printf(mem,
                          "%.*s\n(cut: the answer has %zu bytes, this is the beginning; ask for "
                          "fewer items, or for one)",
                          STR_ARG(start), text.len);
    }
    return tool_result(mem, m->id, !is_ok, text);
}
