/* right.c - see right.h. */
#include "api/right.h"

#include "base/buf.h"
#include "base/text/ascii.h"

#define MAY(role) (1u << ROLE_##role)

static const unsigned rights[] = {
#define RIGHT(symbol, roles) (roles),
#include "api/rights.def"
#undef RIGHT
};

bool right_has(enum right right, enum role role)
{
    ASSERT(right < RIGHT_COUNT && role < ROLE_COUNT);
    return (rights[right] >> role & 1u) != 0;
}

bool right_is_of_default_org(enum right right)
{
    return right == RIGHT_INSTALLATION;
}

struct str right_name(struct arena *mem, enum right right)
{
    static const char *const names[RIGHT_COUNT] = {
#define RIGHT(symbol, roles) [RIGHT_##symbol] = #symbol,
#include "api/rights.def"
#undef RIGHT
    };

    return ascii_lower_copy(mem, str_of(names[right]));
}

struct str right_roles(struct arena *mem, enum right right)
{
    struct buf out;

    buf_init_arena(&out, mem);
    for (unsigned i = 0; i < ROLE_COUNT; i++)
        if (right_has(right, (enum role)i))
            buf_printf(&out, "%s%s", out.len > 0 ? ", " : "", role_name((enum role)i));
    return buf_view(&out);
}
