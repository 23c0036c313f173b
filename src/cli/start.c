/* start.c - pawl start: start an execution. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/last.h"
#include "cli/options.h"
#include "cli/tell.h"
#include "value/json.h"
#include "value/timefmt.h"

#include <stdio.h>

struct start {
    const char *code, *input, *key, *wait_for;
    int64_t version; /* 0 = the published one */
    bool wait, as_json;
};

static bool make_body(struct client *c, const struct start *s, struct buf *out)
{
    struct value input;
    struct str text;

    buf_init_arena(out, &c->mem);
    buf_text(out, "{\"code\":");
    json_write_string(out, str_of(s->code));
    if (s->input != NULL) {
        if (!file_argument_json(&c->mem, "--input", s->input, &text, &input))
            return false;
        buf_text(out, ",\"input\":");
        buf_str(out, text);
    }
    if (s->key != NULL) {
        buf_text(out, ",\"key\":");
        json_write_string(out, str_of(s->key));
    }
    if (s->version > 0)
        buf_printf(out, ",\"version\":%lld", (long long)s->version);
    buf_char(out, '}');
    return true;
}

static bool check_wait(const struct start *s)
{
    struct value v;

    if (s->wait_for == NULL || duration_read(str_of(s->wait_for), &v))
        return true;
    fprintf(stderr, "pawl start: --wait takes a duration such as 10s, not %s\n", s->wait_for);
    return false;
}

/* A process that failed while we waited is a failure of the command too. */
static int tell(struct client *c, const struct start *s, const struct reply *reply)
{
    struct str status = client_text(reply->json, "status");
    struct buf out;

    last_remember(&c->mem, c->url, client_text(reply->json, "id"));
    if (s->as_json) {
        printf("%.*s\n", STR_ARG(reply->text));
    } else {
        buf_init_arena(&out, &c->mem);
        tell_state(&c->mem, &out, reply->json);
        printf("%.*s %s%.*s%s\n%.*s\n", STR_ARG(client_text(reply->json, "id")),
               term_style(tell_style(status)), STR_ARG(status), term_style(TERM_PLAIN),
               STR_ARG(buf_view(&out)));
    }
    return s->wait && (str_eq(status, STR("failed")) || str_eq(status, STR("cancelled")))
               ? EXIT_FAILED
               : EXIT_OK;
}

/* The process that was probably meant; its name may be misspelt. */
static void suggest(struct client *c, const char *code)
{
    unsigned limit = strlen(code) > 3 ? 2 : 1;
    struct str nearest = STR_NONE;
    struct reply reply;
    struct value items;

    if (!client_ask(c, "GET", STR("/processes?limit=500"), STR_NONE, &reply) || reply.status != 200)
        return;
    items = value_map_get_str(reply.json, STR("items"));
    for (uint32_t i = 0; items.kind == VALUE_LIST && i < items.len; i++) {
        struct str name = client_text(items.items[i], "code");
        unsigned distance = str_distance(str_of(code), name, limit);

        if (distance <= limit && (nearest.len == 0 || distance < limit)) {
            nearest = name;
            limit = distance;
        }
    }
    if (nearest.len > 0)
        fprintf(stderr, "did you mean '%.*s'?\n", STR_ARG(nearest));
}

int command_start(int argc, char **argv)
{
    struct start s = {0};
    const char *version = NULL;
    const struct option_spec specs[] = {
        {.name = "input", .value = &s.input},
        {.name = "key", .value = &s.key},
        {.name = "version", .value = &version},
        {.name = "wait", .value = &s.wait_for, .flag = &s.wait},
        {.name = "json", .flag = &s.as_json},
        CLIENT_OPTIONS,
    };
    struct client c;
    struct reply reply;
    struct buf body;
    struct str path = STR("/executions");
    int status = EXIT_FAILED;

    if (!options_read("start", specs, ARRAY_SIZE(specs), &argc, argv) || argc != 2 ||
        !check_wait(&s) || !options_number("start", "version", version, &s.version))
        return command_usage("start");
    s.code = argv[1];
    client_open(&c, s.as_json);
    if (s.wait)
        path = str_printf(&c.mem, "/executions?wait=%s", s.wait_for != NULL ? s.wait_for : "10s");
    if (make_body(&c, &s, &body) && client_ask(&c, "POST", path, buf_view(&body), &reply)) {
        if (client_succeeded(&c, &reply))
            status = tell(&c, &s, &reply);
        else if (reply.status == 404)
            suggest(&c, s.code);
    }
    client_close(&c);
    return status;
}
