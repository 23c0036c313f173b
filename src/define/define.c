/* define.c - what all definitions share: durations, the face of programs. */
#include "define/compile.h"
#include "value/timefmt.h"

bool define_duration_us(struct value v, int64_t *out_us)
{
    if (v.kind == VALUE_STRING && !duration_read(value_text(v), &v))
        return false;
    if (v.kind != VALUE_DURATION)
        return false;
    *out_us = v.seconds * 1000000 + v.nanos / 1000;
    return true;
}

bool define_correlation(struct arena *mem, struct value v, struct str *out)
{
    if (v.kind == VALUE_INT)
        *out = str_printf(mem, "%lld", (long long)v.i);
    else if (v.kind == VALUE_STRING && v.len > 0 && v.len <= CORRELATION_LEN_MAX)
        *out = str_copy(mem, value_text(v));
    else
        return false;
    return true;
}

const struct step *program_step(const struct program *p, struct str code)
{
    for (uint32_t i = 0; i < p->step_count; i++)
        if (str_eq(p->steps[i].code, code))
            return &p->steps[i];
    return NULL;
}

void program_release(const struct program *p)
{
    if (p->patterns != NULL)
        cel_patterns_release(p->patterns);
}
