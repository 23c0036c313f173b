/* health.c - whether the process lives, and whether it takes requests. */
#include "api/call.h"
#include "value/object.h"

void health_live(struct call *c)
{
    call_answer(c, 200, STR("{\"status\":\"ok\"}"));
}

void health_ready(struct call *c)
{
    struct buf out;
    const char *why;
    bool ready = node_is_ready(c->node, &why);

    buf_init_arena(&out, c->mem);
    buf_char(&out, '{');
    object_text(&out, "status", ready ? STR("ready") : str_of(why));
    buf_char(&out, '}');
    call_answer(c, ready ? 200 : 503, buf_view(&out));
}
