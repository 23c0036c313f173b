/*
 * mcp.c - assistants over HTTP: the Model Context Protocol at /mcp.
 *
 * A message that needs the API is passed on as the request that it stands for, by
 * the same caller and through the same gate; its answer goes back as that of the
 * message. What is no message at all is a problem with a status. There are no streams: GET is 405, as for all that takes POST alone.
 */
#include "mcp/mcp.h"
#include "api/api.h"
#include "api/call.h"

static void mcp_reshape(struct http_request *r, struct http_answer *answer)
{
    const struct mcp_message *m = r->reshaper;
    struct str text = mcp_reply(r->mem, m, answer->status, answer->body);

    *answer = (struct http_answer){.status = 200, .content_type = "application/json", .body = text};
}

void mcp_post(struct call *c)
{
    struct mcp_message *m = ARENA_NEW(c->mem, struct mcp_message);
    struct str version = http_header(c->http, "MCP-Protocol-Version");

    if (version.len > 0 && !mcp_speaks(version)) {
        call_refuse_text(c, ERR_BAD_REQUEST,
                         "the protocol version %.*s is not known here: 2025-06-18 is",
                         (int)(version.len < 40 ? version.len : 40), version.ptr);
        return;
    }
    mcp_read(c->mem, c->http->body, api_mcp(c->api), m);
    switch (m->turn) {
    case MCP_SAID:
        if (m->refusal.code != ERR_NONE)
            call_refuse(c, &m->refusal);
        else
            call_answer(c, 200, m->said);
        return;
    case MCP_SILENT:
        http_answer(c->http, &(struct http_answer){.status = 202});
        return;
    case MCP_ASKS:
        c->http->reshape = mcp_reshape;
        c->http->reshaper = m;
        api_pass_on(c, str_of(m->method), str_printf(c->mem, "/api/v1%.*s", STR_ARG(m->path)),
                    m->query, m->body);
        return;
    }
    PANIC("no such turn");
}
