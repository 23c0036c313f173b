/* key.c - idempotency keys; see turn.h. */
#include "engine/turn.h"
#include "value/number.h"

/* {execution}-{step}, -{visit} from the second on, then `rest`. Each call makes one: no printf. */
static struct str key_make(struct arena *mem, struct uuid execution, struct str step, int64_t visit,
                           struct str suffix, struct str rest)
{
    struct str id = UUID_STR(execution);
    char number[NUMBER_TEXT_MAX];
    struct str visits = str_from(number, visit > 1 ? number_write_int(number, visit) : 0);

    return STR_JOIN(mem, id, STR("-"), step, visit > 1 ? STR("-") : STR_NONE, visits, suffix, rest);
}

struct str key_position(struct arena *mem, struct str position)
{
    return str_eq(position, STR("1")) ? STR_NONE : STR_JOIN(mem, STR("."), position);
}

struct str turn_key(struct turn *t, struct str rest)
{
    return key_make(t->mem, t->x->id, turn_code(t),
                    t->key_visit > 0 ? t->key_visit : t->x->cursor.visit, t->key_suffix, rest);
}
