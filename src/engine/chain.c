/* chain.c - see chain.h. */
#include "engine/chain.h"

bool chain_has(struct str chain, struct str trigger)
{
    while (chain.len > 0)
        if (str_eq(str_cut(&chain, ' '), trigger))
            return true;
    return false;
}

unsigned chain_length(struct str chain)
{
    unsigned count = 0;

    for (; chain.len > 0; count++)
        (void)str_cut(&chain, ' ');
    return count;
}

struct str chain_add(struct arena *mem, struct str chain, struct str trigger)
{
    if (chain.len == 0)
        return str_copy(mem, trigger);
    return str_printf(mem, "%.*s %.*s", STR_ARG(chain), STR_ARG(trigger));
}
