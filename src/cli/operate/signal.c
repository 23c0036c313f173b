/* signal.c - pawl signal: send a signal to an execution. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/options.h"
#include "cli/where.h"
#include "value/object.h"

#include <stdio.h>
#include <string.h>

/* A wait is named, not an execution. */
#define BY_CORRELATION "correlation:"

/* All but the brace that closes it. */
static bool signal_body(struct client *c, const struct options *o, const char *type,
                        const char *payload, struct buf *out)
{
    object_begin(out, &c->mem);
    client_add_text(out, "type", type);
    if (!client_add_json(c, out, "payload", "payload", payload))
        return false;
    client_add_text(out, "id", options_get(o, "id"));
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
    others = describe_others(mem, wait);
    for (uint32_t i = 0; i < others.len; i++)
        if (!waits_for_another(others.items[i], type))
            return false;
    return true;
}

/* What the signal did, and how the execution stands now. With --wait, nobody taking it is a failure. */
static int signal_print(struct client *c, struct str id, const struct reply *reply,
                        const char *type, bool wait)
{
    struct value step = value_map_get_str(reply->json, STR("step"));
    bool is_taken = step.kind == VALUE_MAP;
    int status = is_taken || !wait ? EXIT_OK : EXIT_FAILED;
    struct reply execution;
    struct str text;
    bool is_machine;

    /* A machine is on its way from one state to another. */
    if (value_map_get_str(reply->json, STR("judged")).kind == VALUE_BOOL)
        printf("signal %.*s is kept: it is judged when the transition under way is over\n",
               STR_ARG(client_text(reply->json, "id")));
    else
        printf("signal %.*s was received\n", STR_ARG(client_text(reply->json, "id")));
    if (is_taken)
        printf("the step %.*s took it and %.*s\n", STR_ARG(client_text(step, "step")),
               STR_ARG(client_text(step, "status")));
    if (!client_call(c, "GET", client_path(c, "/executions/", id, ""), STR_NONE, &execution))
        return status;
    /* It has taken an event that is not kept, and stands elsewhere by now. */
    is_machine = str_eq(client_text(execution.json, "kind"), STR("machine"));
    if (!is_taken && !is_machine && nobody_waits_for(&c->mem, execution.json, str_of(type)))
        printf("nobody waits for it yet; it is kept until somebody does\n");
    else if (!is_taken && !wait && !is_machine)
        return EXIT_OK;
    text = describe_state(&c->mem, execution.json);
    printf("%.*s\n", STR_ARG(text));
    (void)fflush(stdout);
    if (status != EXIT_OK)
        fprintf(stderr, "pawl signal: no step took it in that time\n");
    return status;
}

/* To whatever waits for `correlation`. */
static int signal_by_correlation(struct client *c, const struct options *o, const char *correlation,
                                 struct buf *body)
{
    struct str execution, id;
    struct reply reply;

    client_add_text(body, "correlation", correlation);
    client_add_text(body, "ttl", options_get(o, "ttl"));
    buf_char(body, '}');
    if (!client_call(c, "POST", STR("/signals"), buf_view(body), &reply))
        return EXIT_FAILED;
    id = client_text(reply.json, "id");
    execution = client_text(reply.json, "executionId");
    if (execution.len > 0)
        return client_answer(c, &reply, "signal %.*s was received by %.*s", STR_ARG(id),
                             STR_ARG(execution));
    return client_answer(c, &reply, "signal %.*s is kept: nothing waits for it yet", STR_ARG(id));
}

static int signal_one(struct client *c, const struct options *o, struct buf *body)
{
    struct str execution;
    struct reply reply;
    struct buf path;

    if (!client_find(c, o->argv[1], &execution))
        return EXIT_FAILED;
    buf_init_arena(&path, &c->mem);
    buf_printf(&path, "/executions/%.*s/signal", STR_ARG(execution));
    client_add_wait(&path, o);
    buf_char(body, '}');
    if (!client_call(c, "POST", buf_view(&path), buf_view(body), &reply))
        return EXIT_FAILED;
    if (c->as_json)
        return client_print_json(&reply);
    return signal_print(c, execution, &reply, o->argv[2], options_has(o, "wait"));
}

int command_signal(struct client *c, const struct options *o)
{
    const char *where = options_get(o, "where"), *correlation = NULL;
    bool wait = options_has(o, "wait"), dry_run = options_has(o, "dry-run");
    int type = where != NULL ? 1 : 2; /* with --where no execution is named */
    struct buf body;

    if ((dry_run && where == NULL) || (where != NULL && wait) || o->argc < type + 1 ||
        o->argc > type + 2)
        return options_usage(o);
    if (where == NULL && strncmp(o->argv[1], BY_CORRELATION, strlen(BY_CORRELATION)) == 0)
        correlation = o->argv[1] + strlen(BY_CORRELATION);
    if (correlation == NULL ? options_has(o, "ttl") : wait)
        return options_usage(o);
    if (!signal_body(c, o, o->argv[type], o->argv[type + 1], &body))
        return EXIT_FAILED;
    if (correlation != NULL)
        return signal_by_correlation(c, o, correlation, &body);
    if (where == NULL)
        return signal_one(c, o, &body);
    return where_run(c, &(struct where){.action = "signal",
                                        .done = "signalled",
                                        .conditions = where,
                                        .fields = str_slice(buf_view(&body), 1, body.len),
                                        .is_dry_run = dry_run});
}
