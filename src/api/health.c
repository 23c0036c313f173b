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
    if (!ready && strcmp(why, "store_away") == 0)
        object_text(&out, "detail",
                    str_printf(c->mem, "the database has not answered for %lld s",
                               (long long)(node_store_silent_us(c->node) / 1000000)));
    buf_char(&out, '}');
    call_answer(c, ready ? 200 : 503, buf_view(&out));
}
