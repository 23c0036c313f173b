/* show.c - pawl show: one execution as a timeline, and why it waits. */
#include "base/time/clock.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/format.h"
#include "cli/list.h"
#include "cli/operate/timeline.h"
#include "cli/options.h"

#include <stdio.h>

/* Room for "input   ", and for " version 12  compensating  key ". */
enum { LABEL_WIDTH = 8, HEAD_WIDTH = 32, CHILDREN_SHOWN = 20, DEPTH_MAX = 3, REQUESTS_MAX = 40 };

/* "ends    by 2026-12-16 09:00 UTC (in 30 days), its deadline", of one that has not ended. */
static void put_deadline(struct buf *out, struct value x)
{
    int64_t at_us = client_time(x, "deadlineAt"), now_us = clock_wall_us(&clock_system);

    if (at_us <= now_us || client_time(x, "completedAt") > 0)
        return;
    buf_text(out, "\nends    by ");
    format_moment(out, at_us);
    buf_text(out, " (in ");
    format_duration(out, at_us - now_us);
    buf_text(out, "), its deadline");
}

static void print_head(struct arena *mem, struct value x)
{
    struct str key = client_text(x, "key"), status = client_text(x, "status");
    int64_t started_us = client_time(x, "startedAt");
    size_t width = term_width(), beside;
    struct buf out;

    buf_init_arena(&out, mem);
    buf_text(&out, term_style(TERM_BOLD));
    term_put_short(&out, client_text(x, "code"), width - HEAD_WIDTH);
    buf_printf(&out, "%s version %lld  %s%.*s%s", term_style(TERM_PLAIN),
               (long long)client_int(x, "version", 0), term_style(describe_style(status)),
               STR_ARG(status), term_style(TERM_PLAIN));
    /* On a line of its own when it does not fit. */
    beside = HEAD_WIDTH + term_columns(client_text(x, "code")) + term_columns(key);
    if (key.len > 0) {
        buf_text(&out, beside > width ? "\nkey     " : "  key ");
        term_put_short(&out, key, width - LABEL_WIDTH);
    }
    buf_printf(&out, "\nid      %.*s\nstarted ", STR_ARG(client_text(x, "id")));
    if (started_us > 0) {
        format_moment(&out, started_us);
        buf_text(&out, ", ");
        format_duration(&out, clock_wall_us(&clock_system) - started_us);
        buf_text(&out, " ago");
    } else {
        buf_text(&out, "not yet");
    }
    buf_printf(&out, ", by %.*s\ninput   ",
               STR_ARG(client_text(value_map_get_str(x, STR("user")), "name")));
    format_short(mem, &out, value_map_get_str(x, STR("input")), term_width() - LABEL_WIDTH);
    put_deadline(&out, x);
    printf("%.*s\n", STR_ARG(buf_view(&out)));
}

/* --- those that it belongs to --- */

/* "order 7192ba654c16 failed: no_luck" */
static void put_relative(struct buf *out, struct value x)
{
    struct str status = client_text(x, "status");
    struct value wait = value_map_get_str(x, STR("waitingFor"));
    bool is_held = wait.kind == VALUE_MAP && str_eq(client_text(wait, "kind"), STR("incident"));

    buf_printf(out, "%.*s %.*s %s%.*s%s", STR_ARG(client_text(x, "code")),
               STR_ARG(list_id_end(client_text(x, "id"))), term_style(describe_style(status)),
               STR_ARG(is_held ? STR("held") : status), term_style(TERM_PLAIN));
    if (client_text(x, "currentStep").len > 0)
        buf_printf(out, " at %.*s", STR_ARG(client_text(x, "currentStep")));
    if (client_text(x, "key").len > 0) {
        buf_text(out, ", key ");
        term_put_short(out, client_text(x, "key"), term_width() / 2);
    }
}

/* One that is named by its id; it may be gone, or not for us. */
static void print_named(struct client *c, const char *label, const char *before, struct str id)
{
    struct reply reply;
    struct buf out;

    if (id.len == 0)
        return;
    buf_init_arena(&out, &c->mem);
    buf_text(&out, before);
    if (client_ask(c, "GET", client_path(c, "/executions/", id, ""), STR_NONE, &reply) &&
        reply.status == 200)
        put_relative(&out, reply.json);
    else
        buf_str(&out, id);
    printf("%-*s%.*s\n", LABEL_WIDTH, label, STR_ARG(buf_view(&out)));
}

static bool read_children(struct client *c, struct str id, struct value *out)
{
    struct reply reply;
    struct str path = str_printf(&c->mem, "/executions?order=oldest&limit=%d&parent=%.*s",
                                 CHILDREN_SHOWN + 1, STR_ARG(id));

    *out = value_list(NULL, 0);
    if (!client_ask(c, "GET", path, STR_NONE, &reply) || reply.status != 200)
        return false;
    if (value_map_get_str(reply.json, STR("items")).kind == VALUE_LIST)
        *out = value_map_get_str(reply.json, STR("items"));
    return true;
}

/* Its children below each other, theirs indented, down to a depth and a number of requests. */
static void print_children(struct client *c, struct value children, int depth, int *left)
{
    for (uint32_t i = 0; i < children.len; i++) {
        struct value grandchildren;
        struct buf out;

        if (i == CHILDREN_SHOWN) {
            printf("%-*s%*sand more: pawl ls --parent lists them\n", LABEL_WIDTH, "", 2 * depth,
                   "");
            return;
        }
        buf_init_arena(&out, &c->mem);
        put_relative(&out, children.items[i]);
        printf("%-*s%*s%.*s\n", LABEL_WIDTH, depth == 0 && i == 0 ? "child" : "", 2 * depth, "",
               STR_ARG(buf_view(&out)));
        if (depth < DEPTH_MAX && --*left > 0 &&
            read_children(c, client_text(children.items[i], "id"), &grandchildren))
            print_children(c, grandchildren, depth + 1, left);
    }
}

static void print_relatives(struct client *c, struct value x, struct value children)
{
    int left = REQUESTS_MAX;

    print_named(c, "parent", "", client_text(x, "parentId"));
    print_named(c, "again", "of ", client_text(x, "againOf"));
    print_named(c, "again", "as ", client_text(x, "againAs"));
    print_children(c, children, 0, &left);
    printf("\n");
}

static void print_all(struct client *c, struct value execution, struct value steps,
                      struct value children)
{
    struct str text = describe_state(&c->mem, execution);
    struct timeline t;

    print_head(&c->mem, execution);
    print_relatives(c, execution, children);
    timeline_init(&t, &c->mem, execution, steps);
    for (uint32_t i = 0; i < steps.len; i++)
        timeline_print_step(&t, steps.items[i]);
    timeline_print_now(&t, execution);
    printf("\n%.*s\n", STR_ARG(text));
}

int command_show(struct client *c, const struct options *o)
{
    struct value steps, children;
    struct reply reply;
    struct str id;

    if (o->argc != 2)
        return options_usage(o);
    if (!client_find(c, o->argv[1], &id) ||
        !client_call(c, "GET", client_path(c, "/executions/", id, ""), STR_NONE, &reply) ||
        !timeline_read(c, id, &steps))
        return EXIT_FAILED;
    (void)read_children(c, id, &children);
    if (c->as_json) {
        struct str steps_json = client_json(&c->mem, steps);
        struct str children_json = client_json(&c->mem, children);

        printf("{\"execution\":%.*s,\"steps\":%.*s,\"children\":%.*s}\n", STR_ARG(reply.text),
               STR_ARG(steps_json), STR_ARG(children_json));
    } else {
        print_all(c, reply.json, steps, children);
    }
    return EXIT_OK;
}
