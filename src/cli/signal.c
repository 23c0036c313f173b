/* signal.c - pawl signal: tell an execution that something has happened. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/options.h"
#include "cli/tell.h"
#include "cli/where.h"
#include "value/json.h"

#include <stdio.h>
#include <string.h>

/* A wait is named, not an execution. */
#define BY_CORRELATION "correlation:"

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

/* Whether this wait is for another signal than `type`. */
static bool waits_for_another(struct value wait, struct str type)
{
    struct value types = value_map_get_str(wait, STR("signalType"));

    if (!str_eq(client_text(wait, "kind"), STR("signal")))
        return false;
    if (types.kind == VALUE_STRING)
        return !str_eq(value_text(types), type);
    for (uint32_t i = 0; types.kind == VALUE_LIST && i < types.len; i++)
        if (types.items[i].kind == VALUE_STRING && str_eq(value_text(types.items[i]), type))
            return false;
    return types.kind == VALUE_LIST;
}

/* Whether all that the execution waits for are other signals: the type may be misspelt. */
static bool nobody_waits_for(struct arena *mem, struct value execution, struct str type)
{
    struct value wait = value_map_get_str(execution, STR("waitingFor")), others;

    if (wait.kind != VALUE_MAP || !waits_for_another(wait, type))
        return false;
    others = tell_others(mem, wait);
    for (uint32_t i = 0; i < others.len; i++)
        if (!waits_for_another(others.items[i], type))
            return false;
    return true;
}

/* What the signal did, and how the execution stands now. False: with --wait nobody took it. */
static bool tell(struct client *c, struct str id, const struct reply *reply, const char *type,
                 bool wait)
{
    struct value step = value_map_get_str(reply->json, STR("step"));
    bool is_taken = step.kind == VALUE_MAP;
    struct reply execution;
    struct buf out;

    printf("signal %.*s was received\n", STR_ARG(client_text(reply->json, "id")));
    if (is_taken)
        printf("the step %.*s took it and %.*s\n", STR_ARG(client_text(step, "step")),
               STR_ARG(client_text(step, "status")));
    if (!client_call(c, "GET", str_printf(&c->mem, "/executions/%.*s", STR_ARG(id)), STR_NONE,
                     &execution))
        return is_taken || !wait;
    if (!is_taken && nobody_waits_for(&c->mem, execution.json, str_of(type)))
        printf("nobody waits for it yet; it is kept until somebody does\n");
    else if (!is_taken && !wait)
        return true;
    buf_init_arena(&out, &c->mem);
    tell_state(&c->mem, &out, execution.json);
    printf("%.*s\n", STR_ARG(buf_view(&out)));
    (void)fflush(stdout);
    if (!is_taken && wait)
        fprintf(stderr, "pawl signal: no step took it in that time\n");
    return is_taken || !wait;
}

/* To whatever waits for `correlation`; `body` is what an execution would be sent. */
static bool signal_by_correlation(struct client *c, const char *correlation, const char *ttl,
                                  struct buf *body, bool as_json)
{
    struct str execution;
    struct reply reply;

    body->len--; /* the brace that closes it */
    buf_text(body, ",\"correlation\":");
    json_write_string(body, str_of(correlation));
    if (ttl != NULL) {
        buf_text(body, ",\"ttl\":");
        json_write_string(body, str_of(ttl));
    }
    buf_char(body, '}');
    if (!client_call(c, "POST", STR("/signals"), buf_view(body), &reply))
        return false;
    execution = client_text(reply.json, "executionId");
    if (as_json)
        printf("%.*s\n", STR_ARG(reply.text));
    else if (execution.len > 0)
        printf("signal %.*s was received by %.*s\n", STR_ARG(client_text(reply.json, "id")),
               STR_ARG(execution));
    else
        printf("signal %.*s is kept: nothing waits for it yet\n",
               STR_ARG(client_text(reply.json, "id")));
    return true;
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
    const char *id = NULL, *wait_for = NULL, *where = NULL, *ttl = NULL, *correlation = NULL;
    bool as_json = false, wait = false, dry_run = false;
    const struct option_spec specs[] = {
        {.name = "id", .value = &id},
        {.name = "where", .value = &where},
        {.name = "dry-run", .flag = &dry_run},
        {.name = "wait", .value = &wait_for, .flag = &wait},
        {.name = "json", .flag = &as_json},
        {.name = "ttl", .value = &ttl},
        CLIENT_OPTIONS,
    };
    struct client c;
    struct reply reply;
    struct buf body, path;
    struct str execution;
    int status = EXIT_FAILED, type;

    if (!options_read("signal", specs, ARRAY_SIZE(specs), &argc, argv) ||
        (dry_run && where == NULL) || (where != NULL && wait))
        return command_usage("signal");
    type = where != NULL ? 1 : 2; /* with --where no execution is named */
    if (argc < type + 1 || argc > type + 2)
        return command_usage("signal");
    if (where == NULL && strncmp(argv[1], BY_CORRELATION, strlen(BY_CORRELATION)) == 0)
        correlation = argv[1] + strlen(BY_CORRELATION);
    if (correlation == NULL ? ttl != NULL : wait)
        return command_usage("signal");
    client_open(&c, as_json);
    buf_init_arena(&path, &c.mem);
    if (!make_body(&c, argv[type], argc > type + 1 ? argv[type + 1] : NULL, id, &body)) {
        status = EXIT_FAILED;
    } else if (correlation != NULL) {
        status =
            signal_by_correlation(&c, correlation, ttl, &body, as_json) ? EXIT_OK : EXIT_FAILED;
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
            else if (!tell(&c, execution, &reply, argv[type], wait))
                status = EXIT_FAILED;
        }
    }
    client_close(&c);
    return status;
}
