/* dry_run.c - pawl dry-run: what would become of an execution, without starting one. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/options.h"
#include "cli/tell.h"
#include "cli/timeline.h"
#include "value/json.h"
#include "value/object.h"

#include <stdio.h>

enum { RESULT_SHOWN = 200 };

struct dry_run {
    const char *code, *input, *mocks, *version, *key, *now;
    bool as_json;
};

/* --- asking --- */

static bool add_json(struct client *c, struct buf *out, const char *name, const char *option,
                     const char *argument)
{
    struct value v;
    struct str text;

    if (argument == NULL)
        return true;
    if (!file_argument_json(&c->mem, option, argument, &text, &v))
        return false;
    object_json(out, name, text);
    return true;
}

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

static bool make_body(struct client *c, const struct dry_run *d, struct buf *out)
{
    int64_t version;

    buf_init_arena(out, &c->mem);
    buf_char(out, '{');
    if (!add_json(c, out, "input", "--input", d->input) || !add_mocks(c, out, d->mocks))
        return false;
    if (d->key != NULL)
        object_text(out, "key", str_of(d->key));
    if (d->now != NULL)
        object_text(out, "now", str_of(d->now));
    if (d->version != NULL && str_to_int64(str_of(d->version), &version))
        object_int(out, "version", version);
    else if (d->version != NULL)
        object_text(out, "version", str_of(d->version));
    buf_char(out, '}');
    return true;
}

/* --- telling --- */

/* "It would complete after 4 h, with the result ...", and the like. */
static void tell_outcome(struct arena *mem, struct buf *out, struct value x)
{
    struct str status = client_text(x, "status");
    struct value error = value_map_get_str(x, STR("error"));
    struct value wait = value_map_get_str(x, STR("waitingFor"));
    int64_t us = tell_time_of(x, "endedAt") - tell_time_of(x, "startedAt");

    if (wait.kind == VALUE_MAP) {
        buf_printf(out, "It would wait at step %.*s ", STR_ARG(client_text(x, "currentStep")));
        tell_wait(out, wait);
    } else {
        buf_printf(out, "It would end as %.*s", STR_ARG(status));
    }
    if (us > 0) {
        buf_text(out, wait.kind == VALUE_MAP ? ", from " : " after ");
        tell_duration(out, us);
        buf_text(out, wait.kind == VALUE_MAP ? " on" : "");
    }
    if (error.kind == VALUE_MAP)
        buf_printf(out, ": %.*s (%.*s)", STR_ARG(client_text(error, "message")),
                   STR_ARG(client_text(error, "code")));
    else if (str_eq(status, STR("completed"))) {
        buf_text(out, ", with the result ");
        tell_short(mem, out, value_map_get_str(x, STR("result")), RESULT_SHOWN);
    }
    buf_text(out, ".\n");
}

static void tell_list(struct arena *mem, struct buf *out, struct value list, const char *heading,
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
            tell_short(mem, out, data, term_width() / 2);
        } else if (data.kind == VALUE_NULL && str_eq(str_of(second), STR("id"))) {
            buf_text(out, " deleted");
        }
        buf_char(out, '\n');
    }
}

static void tell_warnings(struct value warnings)
{
    for (uint32_t i = 0; warnings.kind == VALUE_LIST && i < warnings.len; i++) {
        struct str hint = client_text(warnings.items[i], "hint");

        fprintf(stderr, "warning: %.*s%s%.*s\n", STR_ARG(client_text(warnings.items[i], "message")),
                hint.len > 0 ? "; " : "", STR_ARG(hint));
    }
}

static void tell(struct client *c, struct value x)
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
    tell_outcome(&c->mem, &out, x);
    tell_list(&c->mem, &out, value_map_get_str(x, STR("logs")), "It would log:", "level",
              "message");
    tell_list(&c->mem, &out, value_map_get_str(x, STR("records")), "It would write:", "object",
              "id");
    tell_list(&c->mem, &out, value_map_get_str(x, STR("children")), "It would start:", "code",
              "status");
    printf("%.*s", STR_ARG(buf_view(&out)));
    fflush(stdout);
    tell_warnings(value_map_get_str(x, STR("warnings")));
}

static int try(struct client *c, const struct dry_run *d)
{
    struct reply reply;
    struct buf body, path;

    if (!make_body(c, d, &body))
        return EXIT_USAGE;
    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/scenarios/");
    client_escape(&path, str_of(d->code));
    buf_text(&path, "/dry-run");
    if (!client_call(c, "POST", buf_view(&path), buf_view(&body), &reply))
        return EXIT_FAILED;
    if (d->as_json)
        printf("%.*s\n", STR_ARG(reply.text));
    else
        tell(c, reply.json);
    return EXIT_OK;
}

int command_dry_run(int argc, char **argv)
{
    struct dry_run d = {0};
    const struct option_spec specs[] = {
        {.name = "input", .value = &d.input},     {.name = "mocks", .value = &d.mocks},
        {.name = "version", .value = &d.version}, {.name = "key", .value = &d.key},
        {.name = "now", .value = &d.now},         {.name = "json", .flag = &d.as_json},
    };
    struct client c;
    int status;

    if (!options_read("dry-run", specs, ARRAY_SIZE(specs), &argc, argv) || argc != 2)
        return command_usage("dry-run");
    d.code = argv[1];
    client_open(&c, d.as_json);
    status = try(&c, &d);
    client_close(&c);
    return status;
}
