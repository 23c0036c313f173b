/* show.c - pawl show: one execution as a timeline, and why it waits. */
#include "base/utf8.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/tell.h"

#include <stdio.h>

enum { OUTPUT_WIDTH = 60, STEP_WIDTH_MAX = 40 };

/* "09:30:00.123" of an RFC 3339 time, to the millisecond. */
static struct str clock_text(struct arena *mem, struct str time)
{
    if (time.len < 20)
        return STR("-");
    return str_printf(mem, "%.*s.%.*s", 8, time.ptr + 11, time.len > 23 ? 3 : 0,
                      time.len > 23 ? time.ptr + 20 : "");
}

static void print_head(struct arena *mem, struct value x)
{
    struct value version = value_map_get_str(x, STR("version"));
    struct str key = client_text(x, "key"), started = client_text(x, "startedAt");
    struct value user = value_map_get_str(x, STR("user"));

    printf("%.*s  %.*s version %lld  %.*s\n", STR_ARG(client_text(x, "id")),
           STR_ARG(client_text(x, "code")), (long long)(version.kind == VALUE_INT ? version.i : 0),
           STR_ARG(client_text(x, "status")));
    printf("started %.*s by %.*s", STR_ARG(started.len > 0 ? started : STR("not yet")),
           STR_ARG(client_text(user, "name")));
    if (key.len > 0)
        printf(", key %.*s", STR_ARG(key));
    printf("\ninput   %.*s\n\n", STR_ARG(client_json(mem, value_map_get_str(x, STR("input")))));
}

static void print_step(struct arena *mem, struct value row, size_t width)
{
    struct str step = client_text(row, "step"), kind = client_text(row, "kind");
    struct value error = value_map_get_str(row, STR("error"));
    struct value visit = value_map_get_str(row, STR("visit"));
    struct str name = step;
    struct buf out;

    if (visit.kind == VALUE_INT && visit.i > 1)
        name = str_printf(mem, "%.*s (%lld)", STR_ARG(step), (long long)visit.i);
    if (!str_eq(kind, STR("forward")))
        name = str_printf(mem, "%.*s: %.*s", STR_ARG(kind), STR_ARG(step));
    buf_init_arena(&out, mem);
    tell_duration(&out, tell_time_of(row, "completedAt") - tell_time_of(row, "startedAt"));
    printf("  %-12.*s  %-11.*s %.*s%*s  %8.*s  ",
           STR_ARG(clock_text(mem, client_text(row, "startedAt"))),
           STR_ARG(client_text(row, "status")), STR_ARG(name),
           (int)(width > utf8_count(name) ? width - utf8_count(name) : 0), "",
           STR_ARG(buf_view(&out)));
    out.len = 0;
    if (error.kind == VALUE_MAP)
        buf_printf(&out, "%.*s: %.*s", STR_ARG(client_text(error, "code")),
                   STR_ARG(client_text(error, "message")));
    else
        tell_short(mem, &out, value_map_get_str(row, STR("output")), OUTPUT_WIDTH);
    printf("%.*s\n", STR_ARG(buf_view(&out)));
}

static void print_steps(struct arena *mem, struct value steps)
{
    size_t width = 0;

    for (uint32_t i = 0; i < steps.len; i++) {
        size_t w = utf8_count(client_text(steps.items[i], "step"));
        if (w > width)
            width = w > STEP_WIDTH_MAX ? STEP_WIDTH_MAX : w;
    }
    for (uint32_t i = 0; i < steps.len; i++)
        print_step(mem, steps.items[i], width);
    if (steps.len > 0)
        putchar('\n');
}

/* All pages of the steps, one after the other. */
static bool show_steps(struct client *c, struct str id, bool as_json)
{
    struct str cursor = STR_NONE;
    struct reply reply;

    do {
        struct value steps;
        struct str path = str_printf(&c->mem, "/executions/%.*s/steps?limit=500%s%.*s", STR_ARG(id),
                                     cursor.len > 0 ? "&cursor=" : "", STR_ARG(cursor));
        if (!client_call(c, "GET", path, STR_NONE, &reply))
            return false;
        steps = value_map_get_str(reply.json, STR("items"));
        if (steps.kind != VALUE_LIST)
            return false;
        if (!as_json)
            print_steps(&c->mem, steps);
        for (uint32_t i = 0; as_json && i < steps.len; i++)
            printf("%s%.*s", cursor.len > 0 || i > 0 ? "," : "",
                   STR_ARG(client_json(&c->mem, steps.items[i])));
        cursor = client_text(reply.json, "nextCursor");
    } while (cursor.len > 0);
    return true;
}

static int show(struct client *c, struct str id, bool as_json)
{
    struct reply reply;
    struct buf state;
    bool ok;

    if (!client_call(c, "GET", str_printf(&c->mem, "/executions/%.*s", STR_ARG(id)), STR_NONE,
                     &reply))
        return EXIT_FAILED;
    if (as_json) {
        printf("{\"execution\":%.*s,\"steps\":[", STR_ARG(reply.text));
        ok = show_steps(c, id, true);
        printf("]}\n");
        return ok ? EXIT_OK : EXIT_FAILED;
    }
    print_head(&c->mem, reply.json);
    if (!show_steps(c, id, false))
        return EXIT_FAILED;
    buf_init_arena(&state, &c->mem);
    tell_state(&c->mem, &state, reply.json);
    printf("%.*s\n", STR_ARG(buf_view(&state)));
    return EXIT_OK;
}

int command_show(int argc, char **argv)
{
    bool as_json = false;
    const struct option_spec specs[] = {
        {.name = "json", .flag = &as_json},
        CLIENT_OPTIONS,
    };
    struct client c;
    struct str id;
    int status = EXIT_FAILED;

    if (!options_read("show", specs, sizeof(specs) / sizeof(specs[0]), &argc, argv) || argc != 2)
        return command_usage("show");
    client_open(&c);
    if (client_find(&c, argv[1], &id))
        status = show(&c, id, as_json);
    client_close(&c);
    return status;
}
