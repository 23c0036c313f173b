/* tell.c - see tell.h. */
#include "cli/tell.h"

#include "base/utf8.h"
#include "cli/client.h"
#include "value/timefmt.h"

int64_t tell_time_of(struct value object, const char *name)
{
    struct value v;

    if (!timestamp_read(client_text(object, name), &v))
        return 0;
    return v.seconds * 1000000 + v.nanos / 1000;
}

void tell_duration(struct buf *out, int64_t us)
{
    static const struct {
        int64_t from_us, unit_us;
        const char *unit;
    } scales[] = {
        {INT64_C(172800000000), INT64_C(86400000000), "days"},
        {INT64_C(7200000000), INT64_C(3600000000), "h"},
        {INT64_C(120000000), INT64_C(60000000), "min"},
        {INT64_C(1000000), INT64_C(1000000), "s"},
        {INT64_C(1000), INT64_C(1000), "ms"},
    };

    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        int64_t tenths;
        if (us < scales[i].from_us)
            continue;
        tenths = us * 10 / scales[i].unit_us;
        if (tenths < 100)
            buf_printf(out, "%lld.%lld %s", (long long)(tenths / 10), (long long)(tenths % 10),
                       scales[i].unit);
        else
            buf_printf(out, "%lld %s", (long long)(tenths / 10), scales[i].unit);
        return;
    }
    buf_text(out, "<1 ms");
}

void tell_short(struct arena *mem, struct buf *out, struct value v, size_t width)
{
    struct str json = client_json(mem, v);

    if (utf8_count(json) <= width) {
        buf_str(out, json);
        return;
    }
    buf_add(out, json.ptr, utf8_offset(json, width - 3));
    buf_text(out, "...");
}

/* " after 12 ms" */
static void tell_after(struct buf *out, int64_t us)
{
    if (us < 1000) {
        buf_text(out, " at once");
        return;
    }
    buf_text(out, " after ");
    tell_duration(out, us);
}

static void tell_error(struct buf *out, struct value error)
{
    struct str code = client_text(error, "code"), message = client_text(error, "message");

    buf_printf(out, "%.*s (%.*s)", STR_ARG(message), STR_ARG(code));
}

/* "approved", "approved" or "refused" */
static void tell_types(struct buf *out, struct value types)
{
    if (types.kind == VALUE_STRING)
        buf_printf(out, "\"%.*s\"", STR_ARG(value_text(types)));
    for (uint32_t i = 0; types.kind == VALUE_LIST && i < types.len; i++) {
        if (types.items[i].kind != VALUE_STRING)
            continue;
        buf_printf(out, "%s\"%.*s\"", i > 0 ? " or " : "", STR_ARG(value_text(types.items[i])));
    }
}

static void tell_wait(struct buf *out, struct value execution, struct value wait)
{
    struct str kind = client_text(wait, "kind"), until = client_text(wait, "until");
    struct str step = client_text(wait, "step");
    struct value types = value_map_get_str(wait, STR("signalType"));

    if (str_eq(kind, STR("incident"))) {
        buf_printf(out, "It is held at step %.*s: ", STR_ARG(step));
        tell_error(out, value_map_get_str(wait, STR("error")));
        buf_text(out, ". An operator decides.");
        return;
    }
    buf_printf(out, "It waits at step %.*s for ", STR_ARG(step));
    if (str_eq(kind, STR("signal"))) {
        buf_text(out, "the signal ");
        tell_types(out, types);
    } else if (str_eq(kind, STR("timer"))) {
        buf_text(out, "its time");
    } else {
        buf_printf(out, "a %.*s", STR_ARG(kind));
    }
    if (until.len > 0)
        buf_printf(out, ", until %.*s", STR_ARG(until));
    buf_char(out, '.');
    if (str_eq(kind, STR("signal"))) {
        struct value first = types.kind == VALUE_LIST && types.len > 0 ? types.items[0] : types;
        struct str id = client_text(execution, "id");
        if (first.kind == VALUE_STRING)
            buf_printf(out, "\nSend it with: pawl signal %.*s %.*s '{}'", STR_ARG(id),
                       STR_ARG(value_text(first)));
    }
}

void tell_state(struct arena *mem, struct buf *out, struct value execution)
{
    struct str status = client_text(execution, "status");
    struct str step = client_text(execution, "currentStep");
    struct value wait = value_map_get_str(execution, STR("waitingFor"));
    struct value error = value_map_get_str(execution, STR("error"));
    int64_t started = tell_time_of(execution, "startedAt");
    int64_t ended = tell_time_of(execution, "completedAt");

    if (wait.kind == VALUE_MAP) {
        tell_wait(out, execution, wait);
    } else if (str_eq(status, STR("completed"))) {
        buf_text(out, "It completed");
        tell_after(out, ended - started);
        buf_text(out, ", with the result ");
        tell_short(mem, out, value_map_get_str(execution, STR("result")), 400);
        buf_char(out, '.');
    } else if (str_eq(status, STR("failed")) || str_eq(status, STR("cancelled"))) {
        buf_printf(out, "It %s", str_eq(status, STR("failed")) ? "failed" : "was cancelled");
        tell_after(out, ended - started);
        if (error.kind == VALUE_MAP) {
            buf_text(out, ": ");
            tell_error(out, error);
        }
        buf_char(out, '.');
    } else {
        buf_printf(out, "It is %.*s", STR_ARG(status));
        if (step.len > 0)
            buf_printf(out, " at step %.*s", STR_ARG(step));
        buf_char(out, '.');
    }
}
