/* shift.c - pawl shift: who works now; its end gives tasks back to the pool. */
#include "cli/command.h"
#include "cli/list.h"
#include "cli/options.h"
#include "value/object.h"

static struct str shift_members(struct arena *mem, struct value shift)
{
    struct value members = value_map_get_str(shift, STR("members"));

    return str_printf(mem, "%u", members.kind == VALUE_LIST ? members.len : 0);
}

/* "ended 2026-11-20 09:00 CET", "ends 2026-11-20 09:00 CET", "open" */
static struct str shift_state(struct arena *mem, struct value shift)
{
    struct str ended = list_moment(mem, shift, "ended_at");
    struct str ends = list_moment(mem, shift, "ends_at");

    if (ended.len > 0)
        return str_printf(mem, "ended %.*s", STR_ARG(ended));
    return ends.len > 0 ? str_printf(mem, "ends %.*s", STR_ARG(ends)) : STR("open");
}

static const struct list_column shift_columns[] = {
    COLUMN("ID", ID, "id"),
    COLUMN("NAME", TEXT, "name"),
    COLUMN("STARTED", MOMENT, "starts_at"),
    {"MEMBERS", .make = shift_members},
    {"STATE", .make = shift_state},
};

static const struct list shift_list = {
    .route = "/shifts", LIST_COLUMNS(shift_columns), .none = "no shifts"};

static int shift_start(struct client *c, const struct options *o, char **words)
{
    struct reply reply;
    struct buf body;

    object_begin(&body, &c->mem);
    client_add_text(&body, "name", words[0]);
    if (options_has(o, "members"))
        client_add_list(&body, "members", options_get(o, "members"));
    client_add_text(&body, "ends_at", options_get(o, "ends"));
    if (!client_call(c, "POST", STR("/shifts"), object_end(&body), &reply))
        return EXIT_FAILED;
    return client_answer(c, &reply, "shift %s has started: end it with pawl shift end %.*s",
                         words[0], STR_ARG(list_id_end(client_text(reply.json, "id"))));
}

static int shift_end(struct client *c, const struct options *o, char **words)
{
    struct buf body;
    struct str id;

    if (!list_find(c, "shift", "pawl shift", "/shifts?limit=500", words[0], &id))
        return EXIT_FAILED;
    object_begin(&body, &c->mem);
    client_add_text(&body, "handover_note", options_get(o, "note"));
    return client_send(
        c, "POST", client_path(c, "/shifts/", id, "/end"), object_end(&body),
        "the shift has ended; what its members had not submitted is back in the pool");
}

int command_shift(struct client *c, const struct options *o)
{
    static const struct cli_verb verbs[] = {{"ls", 0, 0, .list = &shift_list},
                                            {"start", 1, 1, .run = shift_start},
                                            {"end", 1, 1, .run = shift_end}};

    return client_verb(c, o, o->argv + 1, verbs, ARRAY_SIZE(verbs));
}
