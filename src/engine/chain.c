/* chain.c - see chain.h. */
#include "engine/chain.h"

/* Take the first one off. */
static struct str chain_next(struct str *rest)
{
    int64_t end = str_find(*rest, STR(" "), 0);
    struct str first = end < 0 ? *rest : str_slice(*rest, 0, (size_t)end);

    *rest = end < 0 ? STR_NONE : str_slice(*rest, (size_t)end + 1, rest->len);
    return first;
}

bool chain_has(struct str chain, struct str trigger)
{
    while (chain.len > 0)
        if (str_eq(chain_next(&chain), trigger))
            return true;
    return false;
}

unsigned chain_length(struct str chain)
{
    unsigned count = 0;

    for (; chain.len > 0; count++)
        (void)chain_next(&chain);
    return count;
}

struct str chain_add(struct arena *mem, struct str chain, struct str trigger)
{
    if (chain.len == 0)
        return str_copy(mem, trigger);
    return str_printf(mem, "%.*s %.*s", STR_ARG(chain), STR_ARG(trigger));
}
