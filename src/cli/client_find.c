/* client_find.c - the execution that a person named; see client.h. */
#include "base/text/ascii.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/last.h"

#include <stdio.h>

/* Fewer letters fit too many ids, and the server does not look for them. */
enum { END_MIN = 4, CANDIDATES_MAX = 10 };

/* The newest executions that a query finds. */
static bool find_some(struct client *c, const char *parameter, struct str text, int limit,
                      struct value *items)
{
    struct reply reply;
    struct buf path;

    buf_init_arena(&path, &c->mem);
    buf_printf(&path, "/executions?limit=%d", limit);
    if (parameter != NULL) {
        buf_printf(&path, "&%s=", parameter);
        url_encode(&path, text);
    }
    return client_page(c, buf_view(&path), NULL, &reply, items);
}

static void print_candidates(struct client *c, struct value items, struct str end)
{
    int64_t now_us = clock_wall_us(&clock_system);
    struct buf line;

    buf_init_arena(&line, &c->mem);
    for (uint32_t i = 0; i < items.len; i++) {
        struct value x = items.items[i];
        if (!str_ends_with(client_text(x, "id"), end))
            continue;
        buf_clear(&line);
        buf_printf(&line, "  %.*s  %.*s  %.*s  ", STR_ARG(client_text(x, "id")),
                   STR_ARG(client_text(x, "code")), STR_ARG(client_text(x, "status")));
        format_duration(&line, now_us - client_time(x, "createdAt"));
        fprintf(stderr, "%.*s ago\n", STR_ARG(buf_view(&line)));
    }
}

static bool find_by_end(struct client *c, struct str end, struct str *out)
{
    struct value items;
    unsigned found = 0;

    if (end.len < END_MIN) {
        client_fail(c, "invalid",
                    "%.*s is too short for the end of an id; give %d characters or more, "
                    "or @last, or key:K",
                    STR_ARG(end), END_MIN);
        return false;
    }
    if (!find_some(c, "q", end, CANDIDATES_MAX, &items))
        return false;
    for (uint32_t i = 0; i < items.len; i++) {
        struct str id = client_text(items.items[i], "id");
        if (!str_ends_with(id, end))
            continue;
        found++;
        *out = id;
    }
    if (found == 1)
        return true;
    if (found == 0) {
        client_fail(c, "not_found",
                    "no execution has an id that ends with %.*s; `%s ls` lists them", STR_ARG(end),
                    command_program());
        return false;
    }
    client_fail(c, "invalid", "%s%u ids end with %.*s; give more of the one you mean:",
                found == CANDIDATES_MAX ? "at least " : "", found, STR_ARG(end));
    print_candidates(c, items, end);
    return false;
}

static bool find_by_key(struct client *c, const char *key, struct str *out)
{
    struct value items;

    /* An empty key is a variable that was not set, and would find the newest of all. */
    if (*key == '\0') {
        client_fail(c, "invalid", "key: needs a key behind it");
        return false;
    }
    if (!find_some(c, "key", str_of(key), 1, &items))
        return false;
    if (items.len == 0) {
        client_fail(c, "not_found", "no execution has the key %s", key);
        return false;
    }
    *out = client_text(items.items[0], "id");
    return true;
}

/* The one that was started from here, if the server still has it; else the newest. */
static bool find_last(struct client *c, struct str *out)
{
    struct value items;
    struct reply reply;

    *out = last_recall(&c->mem, c->url);
    if (out->len > 0) {
        struct str path = str_printf(&c->mem, "/executions/%.*s", STR_ARG(*out));
        if (!client_ask(c, "GET", path, STR_NONE, &reply))
            return false;
        if (reply.status == 200)
            return true;
    }
    if (!find_some(c, NULL, STR_NONE, 1, &items))
        return false;
    if (items.len == 0) {
        client_fail(c, "not_found", "there is no execution yet; start one with: %s start CODE",
                    command_program());
        return false;
    }
    *out = client_text(items.items[0], "id");
    return true;
}

bool client_find(struct client *c, const char *name, struct str *out)
{
    struct uuid id;

    if (strcmp(name, "@last") == 0)
        return find_last(c, out);
    if (strncmp(name, "key:", 4) == 0)
        return find_by_key(c, name + 4, out);
    *out = ascii_lower_copy(&c->mem, str_of(name));
    if (out->len == UUID_TEXT_LEN && uuid_read(*out, &id))
        return true;
    return find_by_end(c, *out, out);
}
