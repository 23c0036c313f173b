/*
 * watch.c - pawl watch: follow one execution until it ends.
 *
 * Events come as a stream, each with the number of the row it is about, so that
 * a stream that broke off goes on behind the last one.
 */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/operate/timeline.h"
#include "cli/options.h"
#include "value/json.h"

#include <stdio.h>
#include <time.h>

enum { PAUSE_MIN_MS = 200, PAUSE_MAX_MS = 3000, LINE_MAX_BYTES = 8 << 20 };

struct watch_state {
    struct client *client;
    struct str id;
    bool has_ended, is_away;
    struct timeline timeline;
    struct arena scratch; /* of one event */
    struct buf line, data;
    char event[32], last_id[32];
    int64_t last_seq; /* of the rows shown */
    struct buf shown; /* the last status, as it was printed */
};

static void pause_ms(int ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    (void)nanosleep(&t, NULL);
}

/* --- what happens --- */

static void on_step(struct watch_state *w, struct value row)
{
    int64_t seq = client_int(row, "seq", 0);
    struct str json = client_json(&w->scratch, row);

    if (seq <= w->last_seq)
        return;
    w->last_seq = seq;
    if (w->client->as_json)
        printf("{\"event\":\"step\",\"data\":%.*s}\n", STR_ARG(json));
    else
        timeline_print_step(&w->timeline, row);
}

/* `state` is an execution, or as much of one as an event has. */
static void on_status(struct watch_state *w, struct value state)
{
    struct str status = client_text(state, "status");
    struct str wait = client_json(&w->scratch, value_map_get_str(state, STR("waitingFor")));
    struct str json = client_json(&w->scratch, state);
    struct str now = str_printf(&w->scratch, "%.*s %.*s", STR_ARG(status), STR_ARG(wait));

    w->has_ended = str_eq(status, STR("completed")) || str_eq(status, STR("failed")) ||
                   str_eq(status, STR("cancelled"));
    if (str_eq(now, buf_view(&w->shown)))
        return;
    buf_clear(&w->shown);
    buf_str(&w->shown, now);
    if (w->client->as_json)
        printf("{\"event\":\"status\",\"data\":%.*s}\n", STR_ARG(json));
    else if (!w->has_ended && !str_eq(status, STR("running")))
        timeline_print_now(&w->timeline, state);
}

/* --- the stream --- */

static void on_event(struct watch_state *w)
{
    struct value data;
    struct err err;

    w->timeline.mem = &w->scratch;
    if (json_read(&w->scratch, buf_view(&w->data), &data, &err) && data.kind == VALUE_MAP) {
        if (strcmp(w->event, "step") == 0)
            on_step(w, data);
        else if (strcmp(w->event, "status") == 0)
            on_status(w, data);
    }
    (void)fflush(stdout);
    arena_reset(&w->scratch);
}

static void on_line(struct watch_state *w, struct str line)
{
    struct str value = line, name = str_cut(&value, ':');

    if (line.len == 0) {
        if (w->data.len > 0)
            on_event(w);
        buf_clear(&w->data);
        w->event[0] = '\0';
        return;
    }
    if (value.len > 0 && value.ptr[0] == ' ')
        value = str_slice(value, 1, value.len);
    if (str_eq(name, STR("event")))
        (void)snprintf(w->event, sizeof(w->event), "%.*s", STR_ARG(value));
    else if (str_eq(name, STR("id")))
        (void)snprintf(w->last_id, sizeof(w->last_id), "%.*s", STR_ARG(value));
    else if (str_eq(name, STR("data"))) {
        if (w->data.len > 0)
            buf_char(&w->data, '\n');
        buf_str(&w->data, value);
    }
}

static bool on_bytes(void *context, struct str bytes)
{
    struct watch_state *w = context;

    w->is_away = false;
    for (size_t i = 0; i < bytes.len; i++) {
        if (bytes.ptr[i] == '\r')
            continue;
        if (bytes.ptr[i] != '\n') {
            buf_char(&w->line, bytes.ptr[i]);
            continue;
        }
        on_line(w, buf_view(&w->line));
        buf_clear(&w->line);
    }
    return !w->has_ended && !w->line.failed && !w->data.failed;
}

/* --- all of it --- */

/* Say once that the stream has broken off; false when there is no use in trying again. */
static bool report_break(struct watch_state *w, int status)
{
    if (status >= 400 && status < 500) {
        fprintf(stderr, "pawl watch: the server does not tell us of it any more (HTTP %d)\n",
                status);
        return false;
    }
    if (!w->is_away)
        fprintf(stderr, "pawl watch: the server is %s; waiting for it (Ctrl-C ends this)\n",
                status >= 500 ? "busy" : "away");
    w->is_away = true;
    return true;
}

static bool follow(struct watch_state *w)
{
    struct str path = str_printf(&w->client->mem, "/executions/%.*s/events", STR_ARG(w->id));
    int pause = PAUSE_MIN_MS;

    for (;;) {
        struct arena_mark mark = arena_mark(&w->client->mem);
        bool was_away = w->is_away;
        int status;

        buf_clear(&w->line);
        buf_clear(&w->data);
        status = client_stream(w->client, path, str_of(w->last_id), on_bytes, w);
        arena_release(&w->client->mem, mark);
        if (w->has_ended)
            return true;
        pause = was_away && w->is_away ? pause * 2 : PAUSE_MIN_MS;
        if (pause > PAUSE_MAX_MS)
            pause = PAUSE_MAX_MS;
        if (!report_break(w, status))
            return false;
        pause_ms(pause);
    }
}

static int watch(struct watch_state *w)
{
    struct client *c = w->client;
    struct str path = str_printf(&c->mem, "/executions/%.*s", STR_ARG(w->id));
    struct value steps;
    struct reply reply;
    struct str text;

    if (!client_call(c, "GET", path, STR_NONE, &reply) || !timeline_read(c, w->id, &steps))
        return EXIT_FAILED;
    timeline_init(&w->timeline, &c->mem, reply.json, steps);
    w->timeline.signals = value_absent();
    if (!w->client->as_json)
        printf("%s%.*s%s  %.*s\n\n", term_style(TERM_BOLD),
               STR_ARG(client_text(reply.json, "code")), term_style(TERM_PLAIN), STR_ARG(w->id));
    if (!follow(w) || !client_call(c, "GET", path, STR_NONE, &reply))
        return EXIT_FAILED;
    text = describe_state(&c->mem, reply.json);
    if (!w->client->as_json)
        printf("\n%.*s\n", STR_ARG(text));
    return str_eq(client_text(reply.json, "status"), STR("completed")) ? EXIT_OK : EXIT_FAILED;
}

int command_watch(struct client *c, const struct options *o)
{
    struct watch_state w = {.client = c};
    int status = EXIT_FAILED;

    if (o->argc != 2)
        return options_usage(o);
    arena_init(&w.scratch);
    buf_init(&w.line);
    buf_init(&w.data);
    buf_init(&w.shown);
    w.line.limit = LINE_MAX_BYTES;
    w.data.limit = LINE_MAX_BYTES;
    if (client_find(c, o->argv[1], &w.id))
        status = watch(&w);
    buf_fini(&w.line);
    buf_fini(&w.data);
    buf_fini(&w.shown);
    arena_fini(&w.scratch);
    return status;
}
