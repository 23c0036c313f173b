/*
 * debug.c - pawl debug: step through an execution in the terminal.
 *
 *     show where it is stopped and what has changed --> read a line --> do it --> wait until it is
 *     stopped again, waits for something else, or has ended --> show ...
 */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/options.h"
#include "value/json.h"
#include "value/object.h"
#include "value/timefmt.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LOOK_MS = 100, LINE_BYTES_MAX = 1 << 20, WAIT_S = 10 };

struct stepping {
    struct client *client;
    struct str id;
    int64_t wait_ms;
    struct value context;   /* as it was shown last */
    struct value execution; /* as it was looked at last */
    struct buf set;         /* variables for the next step, as members of an object; or empty */
    char *line;             /* as it was read */
    size_t line_capacity;
};

static void debug_sleep_ms(int ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    (void)nanosleep(&t, NULL);
}

/* --- showing --- */

static void print_line(struct stepping *s, const char *mark, const char *root, struct str name,
                       struct value v)
{
    struct buf out;

    buf_init_arena(&out, &s->client->mem);
    buf_printf(&out, "  %s %s.", mark, root);
    term_put_text(&out, name, 4);
    if (v.kind != VALUE_ABSENT) {
        buf_text(&out, " = ");
        term_put_text(&out, client_json(&s->client->mem, v), 4);
    }
    printf("%.*s\n", STR_ARG(buf_view(&out)));
}

/* What people read of a step: its output, or its error. */
static struct value result_of(struct value step)
{
    struct value error = value_map_member(step, STR("error"));

    if (step.kind != VALUE_MAP)
        return step;
    return error.kind == VALUE_MAP ? error : value_map_member(step, STR("output"));
}

/* Members of one object that another has not, or has otherwise. */
static void debug_changes(struct stepping *s, const char *root, struct value was, struct value is,
                          struct value (*shown)(struct value))
{
    for (uint32_t i = 0; is.kind == VALUE_MAP && i < is.len; i++) {
        struct str name = value_text(is.map->entries[i].key);
        struct value now = shown(is.map->entries[i].value);
        struct value before = value_map_member(was, name);

        if (before.kind == VALUE_ABSENT)
            print_line(s, "+", root, name, now);
        else if (!value_equal(shown(before), now, NULL))
            print_line(s, "~", root, name, now);
    }
    for (uint32_t i = 0; was.kind == VALUE_MAP && i < was.len; i++) {
        struct str name = value_text(was.map->entries[i].key);

        if (value_map_member(is, name).kind == VALUE_ABSENT)
            print_line(s, "-", root, name, value_absent());
    }
}

static struct value debug_itself(struct value v)
{
    return v;
}

/* The context now, against `was`. */
static void print_context(struct stepping *s, struct value was)
{
    struct value is = value_map_member(s->execution, STR("context"));

    debug_changes(s, "steps", value_map_member(was, STR("steps")),
                  value_map_member(is, STR("steps")), result_of);
    debug_changes(s, "variables", value_map_member(was, STR("variables")),
                  value_map_member(is, STR("variables")), debug_itself);
}

static bool is_stopped(const struct stepping *s)
{
    return str_eq(client_text(s->execution, "status"), STR("waiting_debug"));
}

static bool has_ended(const struct stepping *s)
{
    return client_text(s->execution, "completedAt").len > 0;
}

static void print_branches(struct stepping *s, struct value waits)
{
    struct value branches = value_map_member(waits, STR("branches"));
    struct buf out;

    for (uint32_t i = 0; branches.kind == VALUE_LIST && i < branches.len; i++) {
        struct str path = client_text(branches.items[i], "branch");

        if (path.len == 0)
            continue;
        buf_init_arena(&out, &s->client->mem);
        buf_text(&out, "  in ");
        term_put_text(&out, path, 4);
        buf_text(&out, ": ");
        term_put_text(&out, client_text(branches.items[i], "next"), 4);
        printf("%.*s\n", STR_ARG(buf_view(&out)));
    }
}

static void print_state(struct stepping *s)
{
    struct value waits = value_map_member(s->execution, STR("waitingFor"));
    struct str text = client_json(&s->client->mem, s->execution);
    struct buf out;

    if (s->client->as_json) {
        printf("%.*s\n", STR_ARG(text));
        (void)fflush(stdout);
        return;
    }
    print_context(s, s->context);
    s->context = value_map_member(s->execution, STR("context"));
    if (!is_stopped(s)) {
        text = describe_state(&s->client->mem, s->execution);
        printf("%.*s\n", STR_ARG(text));
    } else {
        buf_init_arena(&out, &s->client->mem);
        buf_text(&out, "stopped before ");
        term_put_text(&out, client_text(waits, "next"), 0);
        printf("%.*s\n", STR_ARG(buf_view(&out)));
        print_branches(s, waits);
    }
    (void)fflush(stdout);
}

/* --- doing --- */

static bool debug_look(struct stepping *s)
{
    struct reply reply;

    if (!client_call(s->client, "GET", client_path(s->client, "/executions/", s->id, ""), STR_NONE,
                     &reply))
        return false;
    s->execution = reply.json;
    return true;
}

/* Until it is stopped, has ended, or has waited for something else for long enough. */
static bool look_until_it_stands(struct stepping *s)
{
    int64_t waited_ms = 0;

    while (debug_look(s)) {
        if (is_stopped(s) || has_ended(s) || waited_ms >= s->wait_ms)
            return true;
        debug_sleep_ms(LOOK_MS);
        waited_ms += LOOK_MS;
    }
    return false;
}

/* A refusal was reported, and nothing has changed. */
static void debug_act(struct stepping *s, const char *action, struct str body)
{
    struct reply reply;

    if (client_call(s->client, "POST",
                    client_path(s->client, "/executions/", s->id,
                                str_printf(&s->client->mem, "/%s", action).ptr),
                    body, &reply))
        s->set.len = 0;
}

static void go_on(struct stepping *s, const char *name, struct str value)
{
    struct buf body;

    object_begin(&body, &s->client->mem);
    if (value.len > 0)
        object_text(&body, name, value);
    if (s->set.len > 0) {
        object_nested(&body, "set");
        object_nested(&body, "variables");
        buf_str(&body, buf_view(&s->set));
        buf_text(&body, "}}");
    }
    debug_act(s, "continue", object_end(&body));
}

static void set_breakpoints(struct stepping *s, struct str list)
{
    struct str set = buf_view(&s->set);
    struct buf body;

    object_begin(&body, &s->client->mem);
    client_add_list(&body, "nodes", str_printf(&s->client->mem, "%.*s", STR_ARG(list)).ptr);
    debug_act(s, "breakpoints", object_end(&body));
    s->set.len = set.len; /* these are for the next step still */
}

/* NAME=JSON */
static void set_variable(struct stepping *s, struct str text)
{
    int64_t at = str_find(text, STR("="), 0);
    struct str name = at > 0 ? str_trim(str_slice(text, 0, (size_t)at)) : STR_NONE;
    struct value v;
    struct err err;

    if (name.len == 0 ||
        !json_read(&s->client->mem, str_slice(text, (size_t)at + 1, text.len), &v, &err)) {
        fprintf(stderr, "pawl debug: set takes a name and JSON: set total=17, set name=\"Ann\"\n");
        return;
    }
    if (s->set.len > 0)
        buf_char(&s->set, ',');
    json_write_string(&s->set, name);
    buf_char(&s->set, ':');
    buf_str(&s->set, client_json(&s->client->mem, v));
}

/* --- lines --- */

enum said { SAID_LEAVE, SAID_GO_ON, SAID_MORE };

static const struct {
    const char *word;
    const char *field; /* of the request that lets it go on, */
    const char *value; /* ... and what it has; NULL: what stands behind the word */
} moves[] = {{"n", NULL, NULL}, {"c", "to", "end"}, {"to", "to", NULL}, {"in", "branch", NULL}};

/* False: the line does not let it go on. */
static bool obey_move(struct stepping *s, struct str word, struct str rest)
{
    for (size_t i = 0; i < ARRAY_SIZE(moves); i++) {
        struct str value = moves[i].value != NULL ? str_of(moves[i].value) : rest;
        bool needs_value = moves[i].field != NULL;

        if (!str_eq(word, str_of(moves[i].word)) || (needs_value && value.len == 0))
            continue;
        go_on(s, needs_value ? moves[i].field : "", needs_value ? value : STR_NONE);
        return true;
    }
    return false;
}

static enum said obey(struct stepping *s, struct str line)
{
    struct str rest = str_trim(line), word = str_cut(&rest, ' ');

    rest = str_trim(rest);
    if (word.len == 0 && term_is(stdin))
        word = STR("n");
    if (str_eq(word, STR("q")))
        return SAID_LEAVE;
    if (obey_move(s, word, rest))
        return SAID_GO_ON;
    if (str_eq(word, STR("b")))
        set_breakpoints(s, rest);
    else if (str_eq(word, STR("set")))
        set_variable(s, rest);
    else if (str_eq(word, STR("p")))
        print_context(s, value_map_empty());
    else if (word.len > 0)
        fprintf(stderr, "pawl debug: n, c, to STEP, in PATH, set NAME=JSON, b STEP,..., p or q\n");
    return SAID_MORE;
}

/* False: there is none any more. */
static bool next_line(struct stepping *s, struct str *out)
{
    ssize_t len;

    if (term_is(stdin)) {
        printf("(n c to in set b p q) ");
        (void)fflush(stdout);
    }
    len = getline(&s->line, &s->line_capacity, stdin);
    if (len < 0 || len > LINE_BYTES_MAX)
        return false;
    *out = str_from(s->line, (size_t)len);
    return true;
}

static bool step_through(struct stepping *s)
{
    enum said said = SAID_GO_ON;
    struct str line;

    while (said != SAID_LEAVE) {
        if (said == SAID_GO_ON) {
            if (!look_until_it_stands(s))
                return false;
            print_state(s);
        }
        if (has_ended(s) || !next_line(s, &line))
            break;
        said = obey(s, line);
        (void)fflush(stdout);
    }
    return true;
}

int command_debug(struct client *c, const struct options *o)
{
    struct stepping s = {.client = c, .wait_ms = WAIT_S * 1000, .context = value_map_empty()};
    struct value wait;
    struct str status;
    bool ok;

    if (o->argc != 2)
        return options_usage(o);
    if (options_get(o, "wait") != NULL) {
        if (!duration_read(str_of(options_get(o, "wait")), &wait)) {
            fprintf(stderr, "pawl debug: --wait takes a duration such as 10s, not %s\n",
                    options_get(o, "wait"));
            return EXIT_USAGE;
        }
        s.wait_ms = wait.seconds * 1000 + wait.nanos / 1000000;
    }
    if (!client_find(c, o->argv[1], &s.id))
        return EXIT_FAILED;
    buf_init_arena(&s.set, &c->mem);
    ok = step_through(&s);
    free(s.line);
    status = client_text(s.execution, "status");
    return ok && !str_eq(status, STR("failed")) && !str_eq(status, STR("cancelled")) ? EXIT_OK
                                                                                     : EXIT_FAILED;
}
