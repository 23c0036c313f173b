/* dry_run.c - pawl dry-run: what would become of an execution, without starting one. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/file.h"
#include "cli/format.h"
#include "cli/operate/timeline.h"
#include "cli/options.h"
#include "value/object.h"

#include <stdio.h>

enum { RESULT_SHOWN = 200 };

/* --- the request --- */

static bool add_mocks(struct client *c, struct buf *out, const char *path)
{
    struct value v;
    struct str text;

    if (path == NULL)
        return true;
    if (!file_given_json(&c->mem, "--mocks", path, &text, &v))
        return false;
    object_json(out, "mocks", text);
    return true;
}

static bool dry_run_body(struct client *c, const struct options *o, struct buf *out)
{
    const char *given = options_get(o, "version");
    int64_t version;

    object_begin(out, &c->mem);
    if (!client_add_json(c, out, "input", "--input", options_get(o, "input")) ||
        !add_mocks(c, out, options_get(o, "mocks")))
        return false;
    client_add_text(out, "key", options_get(o, "key"));
    client_add_text(out, "now", options_get(o, "now"));
    if (given != NULL && str_to_int64(str_of(given), &version))
        object_int(out, "version", version);
    else
        client_add_text(out, "version", given);
    buf_char(out, '}');
    return true;
}

/* --- the answer --- */

/* "It would complete after 4 h, with the result ...", and the like. */
static void put_outcome(struct arena *mem, struct buf *out, struct value x)
{
    struct str status = client_text(x, "status");
    struct value error = value_map_get_str(x, STR("error"));
    struct value wait = value_map_get_str(x, STR("waitingFor"));
    int64_t us = client_time(x, "endedAt") - client_time(x, "startedAt");

    if (wait.kind == VALUE_MAP) {
        buf_printf(out, "It would wait at step %.*s ", STR_ARG(client_text(x, "currentStep")));
        describe_wait(out, wait);
    } else {
        buf_printf(out, "It would end as %.*s", STR_ARG(status));
    }
    if (us > 0) {
        buf_text(out, wait.kind == VALUE_MAP ? ", from " : " after ");
        format_duration(out, us);
        buf_text(out, wait.kind == VALUE_MAP ? " on" : "");
    }
    if (error.kind == VALUE_MAP)
        buf_printf(out, ": %.*s (%.*s)", STR_ARG(client_text(error, "message")),
                   STR_ARG(client_text(error, "code")));
    else if (str_eq(status, STR("completed"))) {
        buf_text(out, ", with the result ");
        format_short(mem, out, value_map_get_str(x, STR("result")), RESULT_SHOWN);
    }
    buf_text(out, ".\n");
}

static void put_effects(struct arena *mem, struct buf *out, struct value list, const char *heading,
                        const char *first, const char *second)
{
    if (list.kind != VALUE_LIST || list.len == 0)
        return;
    buf_printf(out, "%s\n", heading);
    for (uint32_t i = 0; i < list.len; i++) {
        struct str text = client_text(list.items[i], second);
        struct value data = value_map_get_str(list.items[i], STR("data"));

        buf_printf(out, "  %.*s %.*s", STR_ARG(client_text(list.items[i], first)), STR_ARG(text));
        if (data.kind == VALUE_MAP) {
            buf_char(out, ' ');
            format_short(mem, out, data, term_width() / 2);
        } else if (data.kind == VALUE_NULL && str_eq(str_of(second), STR("id"))) {
            buf_text(out, " deleted");
        }
        buf_char(out, '\n');
    }
}

static void print_warnings(struct value warnings)
{
    for (uint32_t i = 0; warnings.kind == VALUE_LIST && i < warnings.len; i++) {
        struct str hint = client_text(warnings.items[i], "hint");

        fprintf(stderr, "warning: %.*s%s%.*s\n", STR_ARG(client_text(warnings.items[i], "message")),
                hint.len > 0 ? "; " : "", STR_ARG(hint));
    }
}

static void dry_run_print(struct client *c, struct value x)
{
    struct value steps = value_map_get_str(x, STR("steps"));
    struct value version = value_map_get_str(x, STR("version"));
    struct timeline t;
    struct buf out;

    buf_init_arena(&out, &c->mem);
    buf_printf(&out, "%.*s, ", STR_ARG(client_text(x, "code")));
    if (version.kind == VALUE_INT)
        buf_printf(&out, "version %lld", (long long)version.i);
    else
        buf_text(&out, "the draft");
    printf("%.*s: nothing was started\n\n", STR_ARG(buf_view(&out)));
    timeline_init(&t, &c->mem, x, steps);
    for (uint32_t i = 0; steps.kind == VALUE_LIST && i < steps.len; i++)
        timeline_print_step(&t, steps.items[i]);
    buf_clear(&out);
    buf_char(&out, '\n');
    put_outcome(&c->mem, &out, x);
    put_effects(&c->mem, &out, value_map_get_str(x, STR("logs")), "It would log:", "level",
                "message");
    put_effects(&c->mem, &out, value_map_get_str(x, STR("records")), "It would write:", "object",
                "id");
    put_effects(&c->mem, &out, value_map_get_str(x, STR("children")), "It would start:", "code",
                "status");
    printf("%.*s", STR_ARG(buf_view(&out)));
    fflush(stdout);
    print_warnings(value_map_get_str(x, STR("warnings")));
}

int command_dry_run(struct client *c, const struct options *o)
{
    struct reply reply;
    struct buf body;

    if (o->argc != 2)
        return options_usage(o);
    if (!dry_run_body(c, o, &body))
        return EXIT_USAGE;
    if (!client_call(c, "POST", client_path(c, "/scenarios/", str_of(o->argv[1]), "/dry-run"),
                     buf_view(&body), &reply))
        return EXIT_FAILED;
    if (c->as_json)
        return client_print_json(&reply);
    dry_run_print(c, reply.json);
    return EXIT_OK;
}
