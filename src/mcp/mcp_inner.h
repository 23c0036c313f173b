/* mcp_inner.h - what the files of this folder share. */
#ifndef PAWL_MCP_MCP_INNER_H
#define PAWL_MCP_MCP_INNER_H

#include "base/buf.h"
#include "mcp/mcp.h"
#include "value/value.h"

/* Codes of JSON-RPC and of the protocol. */
enum {
    MCP_BAD_JSON = -32700,
    MCP_BAD_MESSAGE = -32600,
    MCP_NO_METHOD = -32601,
    MCP_BAD_PARAMS = -32602,
    MCP_NO_RESOURCE = -32002,
};

/* An answer: its result up to the '{', and from the '}' on the whole; or an error. */
void mcp_begin(struct buf *out, struct arena *mem, struct str id);
struct str mcp_end(struct buf *out);
struct str mcp_error(struct arena *mem, struct str id, int code, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* --- tools.c --- */

/* The member `tools` of tools/list. */
void mcp_list_tools(struct buf *out, const struct mcp_options *options);

/* tools/call: the request to the API, or what is wrong. */
void mcp_call_tool(struct arena *mem, struct value params, const struct mcp_options *options,
                   struct mcp_message *out);

/* --- resources.c --- */

/* The member `resources` of resources/list. */
void mcp_list_resources(struct buf *out);

/* resources/read: the text, a request to the API, or what is wrong. */
void mcp_read_resource(struct arena *mem, struct value params, struct mcp_message *out);

/* The answer with the text of a resource. */
struct str mcp_show_resource(struct arena *mem, struct str id, const char *uri, const char *type,
                             struct str text);

#endif
