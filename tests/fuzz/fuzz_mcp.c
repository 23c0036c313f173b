/*
 * fuzz_mcp.c - messages of assistants: any text, with changes allowed and without.
 *
 * Claims: nothing crashes; an answer is JSON in one line; a request to the API is one of a
 * tool's method, its path and query hold nothing that was not encoded, and its body is JSON;
 * what the API replies, the input itself, becomes an answer that is JSON.
 */
#include "base/text/utf8.h"
#include "mcp/mcp.h"
#include "value/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_json(struct arena *mem, struct str text)
{
    struct value v;
    struct err err;

    ASSERT(str_find(text, STR("\n"), 0) < 0);
    ASSERT(json_read(mem, text, &v, &err));
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           memchr("-._~%", c, 5) != NULL;
}

/* No argument adds a part of its own: a word of a path, a parameter. */
static void check_target(struct str text, const char *also)
{
    for (size_t i = 0; i < text.len; i++)
        ASSERT(is_plain(text.ptr[i]) || strchr(also, text.ptr[i]) != NULL);
}

static void check_request(struct arena *mem, const struct mcp_message *m, bool allows_changes)
{
    size_t slashes = 0;

    for (size_t i = 0; i < m->path.len; i++)
        slashes += m->path.ptr[i] == '/';
    ASSERT(str_starts_with(m->path, STR("/")) && slashes <= 4);
    check_target(m->path, "/");
    check_target(m->query, "=&");
    ASSERT(allows_changes || strcmp(m->method, "PUT") != 0);
    if (m->body.len > 0)
        check_json(mem, m->body);
}

static void try_message(struct str text, bool allows_changes)
{
    const struct mcp_options options = {.allows_changes = allows_changes, .version = "1"};
    struct mcp_message m;
    struct arena mem;

    arena_init(&mem);
    mcp_read(&mem, text, &options, &m);
    switch (m.turn) {
    case MCP_SAID:
        check_json(&mem, m.said);
        break;
    case MCP_SILENT:
        break;
    case MCP_ASKS:
        check_request(&mem, &m, allows_changes);
        check_json(&mem, mcp_reply(&mem, &m, 0, STR_NONE));
        check_json(&mem, mcp_reply(&mem, &m, 204, STR_NONE));
        if (utf8_is_valid(text))
            check_json(&mem, mcp_reply(&mem, &m, 200, text));
        break;
    }
    arena_fini(&mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_from((const char *)data, size);

    try_message(text, false);
    try_message(text, true);
    return 0;
}
