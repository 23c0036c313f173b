/* format.c - see format.h. */
#include "cli/format.h"

#include "base/time/clock.h"
#include "cli/client.h"
#include "cli/term.h"

#include <stdio.h>
#include <time.h>

#define MINUTE_US INT64_C(60000000)

enum { VALUE_MIN = 20 };

void format_duration(struct buf *out, int64_t us)
{
    static const struct {
        int64_t from_us, unit_us;
        const char *unit;
    } scales[] = {
        {INT64_C(172800000000), INT64_C(86400000000), "days"},
        {INT64_C(7200000000), INT64_C(3600000000), "h"},
        {INT64_C(120000000), MINUTE_US, "min"},
        {INT64_C(1000000), INT64_C(1000000), "s"},
        {INT64_C(1000), INT64_C(1000), "ms"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(scales); i++) {
        int64_t tenths;
        if (us < scales[i].from_us)
            continue;
        tenths = (us * 10 + scales[i].unit_us / 2) / scales[i].unit_us;
        if (tenths < 100 && tenths % 10 != 0)
            buf_printf(out, "%lld.%lld %s", (long long)(tenths / 10), (long long)(tenths % 10),
                       scales[i].unit);
        else
            buf_printf(out, "%lld %s",
                       (long long)((us + scales[i].unit_us / 2) / scales[i].unit_us),
                       scales[i].unit);
        return;
    }
    buf_text(out, "<1 ms");
}

void format_bytes(struct buf *out, int64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double size = (double)bytes / 1024;
    size_t unit = 0;

    if (bytes < 1024) {
        buf_printf(out, "%lld bytes", (long long)bytes);
        return;
    }
    for (; size >= 1024 && unit + 1 < ARRAY_SIZE(units); unit++)
        size /= 1024;
    buf_printf(out, "%.1f %s", size, units[unit]);
}

void format_moment(struct buf *out, int64_t us)
{
    time_t seconds = (time_t)(us / 1000000);
    int64_t away_us = us - clock_wall_us(&clock_system);
    bool is_near = away_us > -60 * MINUTE_US && away_us < 60 * MINUTE_US;
    struct tm parts;
    char text[64];

    if (localtime_r(&seconds, &parts) == NULL ||
        strftime(text, sizeof(text), is_near ? "%Y-%m-%d %H:%M:%S %Z" : "%Y-%m-%d %H:%M %Z",
                 &parts) == 0)
        return;
    buf_text(out, text);
}

void format_short(struct arena *mem, struct buf *out, struct value v, size_t width)
{
    term_put_short(out, client_json(mem, v), width);
}

void format_print_member(struct arena *mem, struct str name, const char *between, struct value v)
{
    size_t width = term_width(), used = term_columns(name) + strlen(between);
    struct buf out;

    buf_init_arena(&out, mem);
    format_short(mem, &out, v, width > used + VALUE_MIN ? width - used : VALUE_MIN);
    printf("%.*s%s%.*s\n", STR_ARG(name), between, STR_ARG(buf_view(&out)));
}

void format_print_change(struct arena *mem, struct str pointer, struct value from, struct value to)
{
    struct str was = client_json(mem, from), is = client_json(mem, to);

    printf("%.*s: ", STR_ARG(pointer.len > 0 ? pointer : STR("/")));
    if (from.kind == VALUE_ABSENT)
        printf("added %.*s\n", STR_ARG(is));
    else if (to.kind == VALUE_ABSENT)
        printf("removed %.*s\n", STR_ARG(was));
    else
        printf("%.*s -> %.*s\n", STR_ARG(was), STR_ARG(is));
}
