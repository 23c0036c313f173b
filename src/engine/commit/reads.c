/* reads.c - see reads.h. */
#include "engine/commit/reads.h"

#include "define/program.h"
#include "value/number.h"

struct str former_name(struct arena *mem, const struct program *p)
{
    return p->snapshot.len > 0
               ? str_printf(mem, "%lld:%.*s", (long long)p->version, STR_ARG(p->snapshot))
               : str_printf(mem, "%lld", (long long)p->version);
}

bool former_name_read(struct str name, int64_t *version, struct str *snapshot)
{
    int64_t colon = str_find(name, STR(":"), 0);
    size_t digits = colon < 0 ? name.len : (size_t)colon;

    *snapshot = colon < 0 ? STR_NONE : str_slice(name, digits + 1, name.len);
    return number_read_int(str_slice(name, 0, digits), version) && *version > 0;
}
