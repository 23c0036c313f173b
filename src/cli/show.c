/* show.c - pawl show: one execution as a timeline, and why it waits. */
#include "base/clock.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/tell.h"
#include "cli/timeline.h"

#include <stdio.h>

/* Room for "input   ". */
enum { LABEL_WIDTH = 8 };

static void print_head(struct arena *mem, struct value x)
{
    struct str key = client_text(x, "key"), status = client_text(x, "status");
    int64_t started_us = tell_time_of(x, "startedAt");
    struct buf out;

    buf_init_arena(&out, mem);
    buf_printf(&out, "%s%.*s%s version %lld  %s%.*s%s", term_style(TERM_BOLD),
               STR_ARG(client_text(x, "code")), term_style(TERM_PLAIN),
               (long long)tell_int_of(x, "version", 0), term_style(tell_style(status)),
               STR_ARG(status), term_style(TERM_PLAIN));
    if (key.len > 0) {
        buf_text(&out, "  key ");
        term_put_short(&out, key, term_width() / 2);
    }
    buf_printf(&out, "\nid      %.*s\nstarted ", STR_ARG(client_text(x, "id")));
    if (started_us > 0) {
        tell_moment(&out, started_us);
        buf_text(&out, ", ");
        tell_duration(&out, clock_wall_us(&clock_system) - started_us);
        buf_text(&out, " ago");
    } else {
        buf_text(&out, "not yet");
    }
    buf_printf(&out, ", by %.*s\ninput   ",
               STR_ARG(client_text(value_map_get_str(x, STR("user")), "name")));
    tell_short(mem, &out, value_map_get_str(x, STR("input")), term_width() - LABEL_WIDTH);
    printf("%.*s\n\n", STR_ARG(buf_view(&out)));
}

static void print_all(struct client *c, struct value execution, struct value steps)
{
    struct timeline t;
    struct buf state;

    print_head(&c->mem, execution);
    timeline_init(&t, &c->mem, execution, steps);
    for (uint32_t i = 0; i < steps.len; i++)
        timeline_print_step(&t, steps.items[i]);
    timeline_print_now(&t, execution);
    buf_init_arena(&state, &c->mem);
    tell_state(&c->mem, &state, execution);
    printf("\n%.*s\n", STR_ARG(buf_view(&state)));
}

static int show(struct client *c, struct str id, bool as_json)
{
    struct value steps;
    struct reply reply;

    if (!client_call(c, "GET", str_printf(&c->mem, "/executions/%.*s", STR_ARG(id)), STR_NONE,
                     &reply) ||
        !timeline_read(c, id, &steps))
        return EXIT_FAILED;
    if (as_json)
        printf("{\"execution\":%.*s,\"steps\":%.*s}\n", STR_ARG(reply.text),
               STR_ARG(client_json(&c->mem, steps)));
    else
        print_all(c, reply.json, steps);
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
    client_open(&c, as_json);
    if (client_find(&c, argv[1], &id))
        status = show(&c, id, as_json);
    client_close(&c);
    return status;
}
