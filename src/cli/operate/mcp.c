/*
 * mcp.c - `pawl mcp`: the Model Context Protocol over standard input and output.
 *
 * One message a line, one answer a line. Each request to the API has a client of
 * its own, so that an assistant that asks for days takes no more memory than one
 * that asks once.
 */
#include "mcp/mcp.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/version.h"

#include <stdio.h>

enum line_read { LINE_END, LINE_READ, LINE_TOO_LONG };

/* A line of stdin without its end; of one that is too long the rest is skipped. */
static enum line_read line_next(char *line, size_t *len)
{
    int c = 0;

    *len = 0;
    while ((c = getchar_unlocked()) != EOF && c != '\n')
        if (*len <= MCP_MESSAGE_MAX)
            line[(*len)++] = (char)c;
    if (c == EOF && *len == 0)
        return LINE_END;
    return *len > MCP_MESSAGE_MAX ? LINE_TOO_LONG : LINE_READ;
}

static struct str ask_api(struct arena *mem, const struct mcp_message *m)
{
    struct client c;
    struct reply reply = {0};
    struct str path = m->path, answer;

    client_open(&c, false);
    if (m->query.len > 0)
        path = str_printf(mem, "%.*s?%.*s", STR_ARG(m->path), STR_ARG(m->query));
    if (!client_ask(&c, m->method, path, m->body, &reply))
        reply = (struct reply){0};
    answer = mcp_reply(mem, m, reply.status, reply.text);
    client_close(&c);
    return answer;
}

static struct str line_answer(struct arena *mem, struct str line, const struct mcp_options *options)
{
    struct mcp_message m;

    mcp_read(mem, line, options, &m);
    switch (m.turn) {
    case MCP_SAID:
        return m.said;
    case MCP_SILENT:
        return STR_NONE;
    case MCP_ASKS:
        return ask_api(mem, &m);
    }
    PANIC("no such turn");
}

int command_mcp(struct client *unused, const struct options *o)
{
    const struct mcp_options options = {.allows_changes = options_has(o, "allow-changes"),
                                        .version = PAWL_VERSION};
    char *line = alloc_bytes(MCP_MESSAGE_MAX + 1);
    enum line_read read;
    struct arena mem;
    size_t len;
    int status = EXIT_OK;

    (void)unused;
    arena_init(&mem);
    while (status == EXIT_OK && (read = line_next(line, &len)) != LINE_END) {
        struct str text = str_trim(str_from(line, len)), answer;

        if (read == LINE_READ && text.len == 0)
            continue;
        answer = read == LINE_TOO_LONG ? mcp_too_long(&mem) : line_answer(&mem, text, &options);
        if (answer.len > 0 && (fwrite(answer.ptr, 1, answer.len, stdout) != answer.len ||
                               putchar('\n') == EOF || fflush(stdout) != 0))
            status = EXIT_FAILED;
        arena_reset(&mem);
    }
    arena_fini(&mem);
    free(line);
    return status;
}
