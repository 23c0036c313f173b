/* health.c - whether the process lives, and whether it takes requests. */
#include "api/call.h"
#include "node/node.h"
#include "value/object.h"

void health_live(struct call *c)
{
    call_answer(c, 200, STR("{\"status\":\"ok\"}"));
}

void health_ready(struct call *c)
{
    static const char *const names[] = {
        [NODE_READY] = "ready",           [NODE_RECOVERING] = "recovering",
        [NODE_STORE_AWAY] = "store_away", [NODE_WRONG_KEY] = "wrong_key",
        [NODE_PAUSED] = "paused",         [NODE_STOPPING] = "stopping",
        [NODE_NO_SPACE] = "no_space",
    };
    enum node_readiness is = node_readiness(c->node);
    struct node_broker broker;
    struct buf out;

    object_begin(&out, c->mem);
    object_text(&out, "status", str_of(names[is]));
    /* Work goes on without it: the node is ready all the same. */
    node_broker(c->node, &broker);
    if (broker.state != NULL)
        object_text(&out, "broker", str_of(broker.state));
    if (is == NODE_STORE_AWAY)
        object_text(&out, "detail",
                    str_printf(c->mem, "the database has not answered for %lld s",
                               (long long)(node_store_away_us(c->node) / 1000000)));
    if (is == NODE_NO_SPACE)
        object_text(&out, "detail",
                    STR("the volume of the database is full: changes are refused, but for "
                        "deletions; delete executions (pawl delete --where) or make the volume "
                        "larger"));
    if (is == NODE_WRONG_KEY)
        object_text(&out, "detail",
                    STR("credentials are sealed with another master key than this node has: give "
                        "it the file of the other nodes"));
    buf_char(&out, '}');
    call_answer(c, is == NODE_READY ? 200 : 503, buf_view(&out));
}
