/* nodes.c - pawl nodes and pawl drain: the servers that share a store. */
#include "cli/command.h"
#include "cli/list.h"
#include "cli/options.h"

int command_nodes(struct client *c, const struct options *o)
{
    static const struct list_column columns[] = {
        COLUMN("ID", ID, "id"),
        COLUMN("STATUS", TEXT, "status"),
        COLUMN_FLAG("", "draining", "draining", ""),
        COLUMN_FLAG("", "self", "answers", ""),
        COLUMN("VERSION", TEXT, "version"),
        COLUMN("SHARDS", NUMBER, "shards"),
        COLUMN("EXECUTIONS", NUMBER, "executions"),
        COLUMN("CALLS", NUMBER, "callsUnderWay"),
        COLUMN("LAG MS", NUMBER, "lagMs"),
        COLUMN("SKEW MS", NUMBER, "skewMs"),
        COLUMN("CPU %", NUMBER, "cpu"),
        COLUMN("STARTED", AGO, "startedAt"),
    };

    return list_print(
        c, o, &(struct list){.route = "/nodes", LIST_COLUMNS(columns), .none = "no servers"});
}

int command_drain(struct client *c, const struct options *o)
{
    struct reply reply;
    struct str id;

    if (o->argc != 2)
        return options_usage(o);
    if (!list_find(c, "node", "pawl nodes", "/nodes?limit=500", o->argv[1], &id) ||
        !client_call(c, "POST", client_path(c, "/nodes/", id, "/drain"), STR_NONE, &reply))
        return EXIT_FAILED;
    return client_answer(c, &reply, "%.*s drains: it ends when it has given its work away",
                         STR_ARG(id));
}
