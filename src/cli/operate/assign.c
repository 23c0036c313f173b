/* assign.c - pawl assign: give what an execution waits for to somebody else. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "value/json.h"
#include "value/object.h"

int command_assign(struct client *c, const struct options *o)
{
    int64_t visit;
    struct buf body;
    struct str id;

    if (o->argc < 3 || !options_number(o, "visit", &visit))
        return options_usage(o);
    object_begin(&body, &c->mem);
    client_add_text(&body, "step", options_get(o, "step"));
    if (visit > 0)
        object_int(&body, "visit", visit);
    object_list(&body, "assignee");
    for (int i = 2; i < o->argc; i++) {
        object_next(&body);
        json_write_string(&body, str_of(o->argv[i]));
    }
    buf_char(&body, ']');
    if (!client_find(c, o->argv[1], &id))
        return EXIT_FAILED;
    return client_send(c, "POST", client_path(c, "/executions/", id, "/assign"), object_end(&body),
                       "%.*s is assigned to %s%s", STR_ARG(id), o->argv[2],
                       o->argc > 3 ? " and others" : "");
}
