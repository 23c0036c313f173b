/* shift.c - pawl shift: who works now; its end gives tasks back to the pool. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/tell.h"
#include "value/object.h"

#include <stdio.h>

struct shift_options {
    const char *members, *ends, *note, *limit;
    bool all, as_json;
};

/* ID NAME STARTED MEMBERS STATE */
static void shift_row(struct arena *mem, struct value shift, int64_t now_us, struct str *row)
{
    struct value members = value_map_get_str(shift, STR("members"));
    struct buf started, state;

    (void)now_us;
    buf_init_arena(&started, mem);
    buf_init_arena(&state, mem);
    tell_moment(&started, tell_time_of(shift, "starts_at"));
    if (tell_time_of(shift, "ended_at") > 0) {
        buf_text(&state, "ended ");
        tell_moment(&state, tell_time_of(shift, "ended_at"));
    } else if (tell_time_of(shift, "ends_at") > 0) {
        buf_text(&state, "ends ");
        tell_moment(&state, tell_time_of(shift, "ends_at"));
    } else {
        buf_text(&state, "open");
    }
    row[0] = list_id_end(client_text(shift, "id"));
    row[1] = client_text(shift, "name");
    row[2] = buf_view(&started);
    row[3] = str_printf(mem, "%u", members.kind == VALUE_LIST ? members.len : 0);
    row[4] = buf_view(&state);
}

/* Ids with commas between them as a JSON list. */
static void write_members(struct buf *out, const char *members)
{
    struct str rest = str_of(members);

    object_name(out, "members");
    buf_char(out, '[');
    while (rest.len > 0) {
        int64_t comma = str_find(rest, STR(","), 0);
        struct str one = comma < 0 ? rest : str_slice(rest, 0, (size_t)comma);

        object_next(out);
        buf_char(out, '"');
        buf_str(out, str_trim(one));
        buf_char(out, '"');
        rest = comma < 0 ? STR_NONE : str_slice(rest, (size_t)comma + 1, rest.len);
    }
    buf_char(out, ']');
}

static int start_shift(struct client *c, const char *name, const struct shift_options *o)
{
    struct reply reply;
    struct buf body;

    buf_init_arena(&body, &c->mem);
    buf_char(&body, '{');
    object_text(&body, "name", str_of(name));
    if (o->members != NULL)
        write_members(&body, o->members);
    if (o->ends != NULL)
        object_text(&body, "ends_at", str_of(o->ends));
    buf_char(&body, '}');
    if (!client_call(c, "POST", STR("/shifts"), buf_view(&body), &reply))
        return EXIT_FAILED;
    if (o->as_json)
        printf("%.*s\n", STR_ARG(reply.text));
    else
        printf("shift %.*s has started: end it with pawl shift end %.*s\n", STR_ARG(str_of(name)),
               STR_ARG(list_id_end(client_text(reply.json, "id"))));
    return EXIT_OK;
}

static int end_shift(struct client *c, const char *name, const struct shift_options *o)
{
    struct reply reply;
    struct buf body;
    struct str id;

    if (!list_find(c, "shift", "pawl shift", "/shifts?limit=500", name, &id))
        return EXIT_FAILED;
    buf_init_arena(&body, &c->mem);
    buf_char(&body, '{');
    if (o->note != NULL)
        object_text(&body, "handover_note", str_of(o->note));
    buf_char(&body, '}');
    if (!client_call(c, "POST", str_printf(&c->mem, "/shifts/%.*s/end", STR_ARG(id)),
                     buf_view(&body), &reply))
        return EXIT_FAILED;
    if (o->as_json)
        printf("%.*s\n", STR_ARG(reply.text));
    else
        printf("the shift has ended; what its members had not submitted is back in the pool\n");
    return EXIT_OK;
}

static int list_shifts(struct client *c, const struct shift_options *o)
{
    static const char *const head[] = {"ID", "NAME", "STARTED", "MEMBERS", "STATE", NULL};
    struct buf path;

    list_begin(c, &path, STR("/shifts"), o->limit, o->all);
    return list_print(c, &(struct list){.path = buf_view(&path),
                                        .all = o->all,
                                        .as_json = o->as_json,
                                        .head = head,
                                        .row = shift_row,
                                        .none = "no shifts"});
}

/* EXIT_USAGE when the words make no sense. */
static int run_shift(struct client *c, int argc, char **argv, const struct shift_options *o)
{
    if (argc == 1 || (argc == 2 && strcmp(argv[1], "ls") == 0))
        return list_shifts(c, o);
    if (argc == 3 && strcmp(argv[1], "start") == 0)
        return start_shift(c, argv[2], o);
    if (argc == 3 && strcmp(argv[1], "end") == 0)
        return end_shift(c, argv[2], o);
    return EXIT_USAGE;
}

int command_shift(int argc, char **argv)
{
    struct shift_options o = {0};
    const struct option_spec specs[] = {
        {.name = "members", .value = &o.members},
        {.name = "ends", .value = &o.ends},
        {.name = "note", .value = &o.note},
        {.name = "limit", .value = &o.limit},
        {.name = "all", .flag = &o.all},
        {.name = "json", .flag = &o.as_json},
        CLIENT_OPTIONS,
    };
    struct client c;
    int status;

    if (!options_read("shift", specs, ARRAY_SIZE(specs), &argc, argv))
        return command_usage("shift");
    client_open(&c, o.as_json);
    status = run_shift(&c, argc, argv, &o);
    client_close(&c);
    return status == EXIT_USAGE ? command_usage("shift") : status;
}
