/* catalog.c - GET /catalog: the commands, and everything else that a definition may hold. */
#include "api/call.h"
#include "define/catalog_json.h"

void catalog_get(struct call *c)
{
    struct buf out;

    buf_init_arena(&out, c->mem);
    catalog_write(&out);
    call_answer(c, 200, buf_view(&out));
}
