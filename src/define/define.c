/* define.c - what all definitions share: durations, the face of programs. */
#include "define/calendar.h"
#include "define/compile/compile.h"
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

/* "3bd", and nothing beside it. */
static bool read_business_days(struct str text, int64_t *out)
{
    return str_ends_with(text, STR("bd")) && text.ptr[0] != '0' &&
           str_to_int64(str_slice(text, 0, text.len - 2), out) && *out > 0 &&
           *out <= BUSINESS_DAYS_MAX;
}

bool define_span(struct value v, struct span *out)
{
    *out = (struct span){0};
    if (v.kind == VALUE_STRING && read_business_days(value_text(v), &out->business_days))
        return true;
    out->business_days = 0;
    return define_duration_us(v, &out->us) && out->us >= 0;
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
    if (p->by_code != NULL)
        return map_get(p->by_code, code);
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
