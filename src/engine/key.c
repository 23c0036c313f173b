/* key.c - idempotency keys; see turn.h. */
#include "engine/turn.h"

/* {execution}-{step}, -{visit} from the second on, then `rest`. */
static struct str key_make(struct arena *mem, struct uuid execution, struct str step, int64_t visit,
                           struct str rest)
{
    struct str id = UUID_STR(execution);

    if (visit > 1)
        return str_printf(mem, "%s-%.*s-%lld%.*s", id.ptr, STR_ARG(step), (long long)visit,
                          STR_ARG(rest));
    return str_printf(mem, "%s-%.*s%.*s", id.ptr, STR_ARG(step), STR_ARG(rest));
}

struct str key_position(struct arena *mem, struct str position)
{
    if (str_eq(position, STR("1")))
        return STR_NONE;
    return str_printf(mem, ".%.*s", STR_ARG(position));
}

struct str turn_key(struct turn *t, struct str rest)
{
    return key_make(t->mem, t->x->id, turn_code(t),
                    t->key_visit > 0 ? t->key_visit : t->x->cursor.visit,
                    str_printf(t->mem, "%.*s%.*s", STR_ARG(t->key_suffix), STR_ARG(rest)));
}
