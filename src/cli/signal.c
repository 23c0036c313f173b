/* signal.c - pawl signal: tell an execution that something has happened. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/options.h"
#include "cli/tell.h"
#include "cli/where.h"
#include "value/json.h"

#include <stdio.h>

static bool make_body(struct client *c, const char *type, const char *payload, const char *id,
                      struct buf *out)
{
    struct value v;
    struct str text;

    buf_init_arena(out, &c->mem);
    buf_text(out, "{\"type\":");
    json_write_string(out, str_of(type));
    if (payload != NULL) {
        if (!file_argument_json(&c->mem, "payload", payload, &text, &v))
            return false;
        buf_text(out, ",\"payload\":");
        buf_str(out, text);
    }
    if (id != NULL) {
        buf_text(out, ",\"id\":");
        json_write_string(out, str_of(id));
    }
    buf_char(out, '}');
    return true;
}

/* What the signal did, and how the execution stands now. */
static void tell(struct client *c, const struct reply *reply)
{
    struct value step = value_map_get_str(reply->json, STR("step"));
    struct reply execution;
    struct buf out, path;

    printf("signal %.*s was received\n", STR_ARG(client_text(reply->json, "id")));
    if (step.kind != VALUE_MAP)
        return;
    printf("the step %.*s took it and %.*s\n", STR_ARG(client_text(step, "step")),
           STR_ARG(client_text(step, "status")));
    buf_init_arena(&path, &c->mem);
    buf_printf(&path, "/executions/%.*s", STR_ARG(client_text(reply->json, "executionId")));
    if (!client_call(c, "GET", buf_view(&path), STR_NONE, &execution))
        return;
    buf_init_arena(&out, &c->mem);
    tell_state(&c->mem, &out, execution.json);
    printf("%.*s\n", STR_ARG(buf_view(&out)));
}

/* `body` is what one of them would be sent. */
static int signal_many(struct client *c, const char *where, struct str body, bool dry_run,
                       bool as_json)
{
    return where_run(c, &(struct where){.action = "signal",
                                        .done = "signalled",
                                        .conditions = where,
                                        .fields = str_slice(body, 1, body.len - 1),
                                        .is_dry_run = dry_run,
                                        .as_json = as_json});
}

int command_signal(int argc, char **argv)
{
    const char *id = NULL, *wait_for = NULL, *where = NULL;
    bool as_json = false, wait = false, dry_run = false;
    const struct option_spec specs[] = {
        {.name = "id", .value = &id},          {.name = "where", .value = &where},
        {.name = "dry-run", .flag = &dry_run}, {.name = "wait", .value = &wait_for, .flag = &wait},
        {.name = "json", .flag = &as_json},    CLIENT_OPTIONS,
    };
    struct client c;
    struct reply reply;
    struct buf body, path;
    struct str execution;
    int status = EXIT_FAILED, type;

    if (!options_read("signal", specs, sizeof(specs) / sizeof(specs[0]), &argc, argv) ||
        (dry_run && where == NULL) || (where != NULL && wait))
        return command_usage("signal");
    type = where != NULL ? 1 : 2; /* with --where no execution is named */
    if (argc < type + 1 || argc > type + 2)
        return command_usage("signal");
    client_open(&c);
    buf_init_arena(&path, &c.mem);
    if (!make_body(&c, argv[type], argc > type + 1 ? argv[type + 1] : NULL, id, &body)) {
        status = EXIT_FAILED;
    } else if (where != NULL) {
        status = signal_many(&c, where, buf_view(&body), dry_run, as_json);
    } else if (client_find(&c, argv[1], &execution)) {
        buf_printf(&path, "/executions/%.*s/signal", STR_ARG(execution));
        if (wait) {
            buf_text(&path, "?wait=");
            client_escape(&path, str_of(wait_for != NULL ? wait_for : "10s"));
        }
        if (client_call(&c, "POST", buf_view(&path), buf_view(&body), &reply)) {
            status = EXIT_OK;
            if (as_json)
                printf("%.*s\n", STR_ARG(reply.text));
            else
                tell(&c, &reply);
        }
    }
    client_close(&c);
    return status;
}
