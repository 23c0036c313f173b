/* start.c - pawl start: start an execution. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/last.h"
#include "cli/options.h"
#include "value/object.h"
#include "value/timefmt.h"

#include <stdio.h>

static bool start_body(struct client *c, const struct options *o, int64_t version, struct buf *out)
{
    object_begin(out, &c->mem);
    client_add_text(out, "code", o->argv[1]);
    if (!client_add_json(c, out, "input", "--input", options_get(o, "input")))
        return false;
    client_add_text(out, "key", options_get(o, "key"));
    if (version > 0)
        object_int(out, "version", version);
    if (options_has(o, "debug"))
        object_bool(out, "debug", true);
    if (options_has(o, "breakpoint"))
        client_add_list(out, "breakpoints", options_get(o, "breakpoint"));
    buf_char(out, '}');
    return true;
}

static bool check_wait(const struct options *o)
{
    const char *wait = options_get(o, "wait");
    struct value v;

    if (wait == NULL || duration_read(str_of(wait), &v))
        return true;
    fprintf(stderr, "pawl start: --wait takes a duration such as 10s, not %s\n", wait);
    return false;
}

/* A variable of the shell that is empty would let it run to its end. */
static bool check_breakpoints(const struct options *o)
{
    struct str rest;

    if (!options_has(o, "breakpoint"))
        return true;
    rest = str_of(options_get(o, "breakpoint"));
    while (rest.len > 0)
        if (str_trim(str_cut(&rest, ',')).len > 0)
            return true;
    fputs("pawl start: --breakpoint takes codes of steps, and it names none\n", stderr);
    return false;
}

/* A process that failed while we waited is a failure of the command too. */
static int start_print(struct client *c, const struct options *o, const struct reply *reply)
{
    struct str status = client_text(reply->json, "status");
    struct str text = describe_state(&c->mem, reply->json);

    last_remember(&c->mem, c->url, client_text(reply->json, "id"));
    client_answer(c, reply, "%.*s %s%.*s%s\n%.*s", STR_ARG(client_text(reply->json, "id")),
                  term_style(describe_style(status)), STR_ARG(status), term_style(TERM_PLAIN),
                  STR_ARG(text));
    return options_has(o, "wait") &&
                   (str_eq(status, STR("failed")) || str_eq(status, STR("cancelled")))
               ? EXIT_FAILED
               : EXIT_OK;
}

int command_start(struct client *c, const struct options *o)
{
    struct buf body, path;
    struct reply reply;
    int64_t version;

    if (o->argc != 2 || !check_wait(o) || !check_breakpoints(o) ||
        !options_number(o, "version", &version))
        return options_usage(o);
    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/executions");
    client_add_wait(&path, o);
    if (!start_body(c, o, version, &body) ||
        !client_ask(c, "POST", buf_view(&path), buf_view(&body), &reply))
        return EXIT_FAILED;
    return client_succeeded(c, &reply) ? start_print(c, o, &reply) : EXIT_FAILED;
}
