/*
 * mcp.h - the Model Context Protocol: how an assistant asks Pawl.
 *
 * Pure: a message is read and becomes an answer, nothing, or one request to the
 * API, whose reply becomes the answer. Whoever calls makes that request in the
 * name of the token and through the gate of the API; this folder knows neither.
 *
 *     text --mcp_read--> MCP_SAID                       the answer is there
 *                        MCP_SILENT                     none is wanted
 *                        MCP_ASKS --the API--> mcp_reply --> the answer
 *
 * Messages are JSON-RPC 2.0, one object each: batches are refused. A text that
 * is no JSON, nests too deeply or has a key twice, is refused as such.
 *
 * why: decision 0591
 */
#ifndef PAWL_MCP_MCP_H
#define PAWL_MCP_MCP_H

#include "base/err.h"

struct arena;

enum {
    MCP_MESSAGE_MAX = 2 << 20, /* bytes of a message: what a definition may have */
    MCP_TEXT_MAX =
        256 << 10, /* bytes that a tool answers with; what is beyond is cut, and said to be */
    MCP_RESOURCE_MAX = 2 << 20,
};

struct mcp_options {
    bool allows_changes; /* tools that change something are there */
    const char *version; /* of the server, for who asks */
};

enum mcp_turn { MCP_SAID, MCP_SILENT, MCP_ASKS };

/* What a message has become; texts live in the arena. */
struct mcp_message {
    enum mcp_turn turn;
    struct str said; /* MCP_SAID: the answer, one line of JSON */
    /* MCP_SAID: why it is no message at all, for who answers with a status; code ERR_NONE: it is one. */
    struct err refusal;

    /* MCP_ASKS: the request; the path begins below /api/v1, and has a query where it needs one */
    const char *method;
    struct str path, query, body;

    struct str id;   /* of the message, as JSON */
    const char *uri; /* of a resource that is read; NULL: a tool is called */
};

/* Read one message. Never fails: what is wrong with it is what is said. */
void mcp_read(struct arena *mem, struct str text, const struct mcp_options *options,
              struct mcp_message *out);

/* The answer to a message that asked, from the API's reply; status 0: there was none. */
struct str mcp_reply(struct arena *mem, const struct mcp_message *m, int status, struct str body);

/* Whether a version of the protocol is one that is spoken here, as the header MCP-Protocol-Version names it. */
bool mcp_speaks(struct str version);

/* The refusal of a message that was not read, for it is longer than MCP_MESSAGE_MAX. */
struct str mcp_too_long(struct arena *mem);

#endif
