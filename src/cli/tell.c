/* tell.c - see tell.h. */
#include "cli/tell.h"

#include "base/clock.h"
#include "cli/client.h"
#include "cli/command.h"
#include "value/json.h"
#include "value/timefmt.h"

#include <time.h>

#define MINUTE_US INT64_C(60000000)

enum { RESULT_WIDTH = 400, VALUE_MIN = 20, ID_SHOWN = 12, BESIDE_SHOWN = 5 };

/* --- numbers and times --- */

int64_t tell_time_of(struct value object, const char *name)
{
    struct value v;

    if (!timestamp_read(client_text(object, name), &v))
        return 0;
    return v.seconds * 1000000 + v.nanos / 1000;
}

int64_t tell_int_of(struct value object, const char *name, int64_t otherwise)
{
    struct value v;

    if (object.kind != VALUE_MAP)
        return otherwise;
    v = value_map_get_str(object, str_of(name));
    return v.kind == VALUE_INT ? v.i : otherwise;
}

void tell_duration(struct buf *out, int64_t us)
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

void tell_bytes(struct buf *out, int64_t bytes)
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

void tell_moment(struct buf *out, int64_t us)
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

/* --- parts of sentences --- */

enum term_style tell_style(struct str status)
{
    if (str_eq(status, STR("completed")))
        return TERM_GREEN;
    if (str_eq(status, STR("failed")))
        return TERM_RED;
    if (str_eq(status, STR("cancelled")) || str_eq(status, STR("skipped")))
        return TERM_DIM;
    if (str_eq(status, STR("compensating")) || str_eq(status, STR("compensated")))
        return TERM_YELLOW;
    return TERM_CYAN;
}

void tell_short(struct arena *mem, struct buf *out, struct value v, size_t width)
{
    term_put_short(out, client_json(mem, v), width);
}

void tell_name(struct buf *out, struct value execution)
{
    struct str id = client_text(execution, "id"), key = client_text(execution, "key");
    struct str status = client_text(execution, "status");
    bool has_ended = str_eq(status, STR("completed")) || str_eq(status, STR("failed")) ||
                     str_eq(status, STR("cancelled"));

    /* Its key may be another's once it has ended. */
    if (key.len > 0 && !has_ended && str_find(key, STR("\n"), 0) < 0) {
        struct buf name;
        buf_init(&name);
        buf_printf(&name, "key:%.*s", STR_ARG(key));
        term_put_quoted(out, buf_view(&name));
        buf_fini(&name);
        return;
    }
    buf_str(out, id.len > ID_SHOWN ? str_slice(id, id.len - ID_SHOWN, id.len) : id);
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

    term_put_short(out, message, RESULT_WIDTH);
    buf_printf(out, " (%.*s)", STR_ARG(code));
}

/* "approved", "approved" or "refused" */
static void tell_types(struct buf *out, struct value types)
{
    if (types.kind == VALUE_STRING)
        buf_printf(out, "\"%.*s\"", STR_ARG(value_text(types)));
    for (uint32_t i = 0; types.kind == VALUE_LIST && i < types.len; i++) {
        if (types.items[i].kind != VALUE_STRING)
            continue;
        buf_printf(out, "%s\"%.*s\"",
                   i == 0               ? ""
                   : i + 1 == types.len ? " or "
                                        : ", ",
                   STR_ARG(value_text(types.items[i])));
    }
}

static const char *wait_words(struct str kind)
{
#define WAIT(name, words)                                                                          \
    if (str_eq(kind, STR(name)))                                                                   \
        return words;
#include "cli/wait_kinds.def"
#undef WAIT
    return NULL;
}

void tell_wait(struct buf *out, struct value wait)
{
    struct str kind = client_text(wait, "kind"), title = client_text(wait, "title");
    struct str reason = client_text(wait, "reason");
    const char *words = wait_words(kind);

    if (words != NULL)
        buf_text(out, words);
    else
        buf_printf(out, "for %.*s", STR_ARG(kind));
    if (str_eq(kind, STR("signal"))) {
        buf_char(out, ' ');
        tell_types(out, value_map_get_str(wait, STR("signalType")));
    }
    if (str_eq(kind, STR("job")) && client_text(wait, "procedure").len > 0)
        buf_printf(out, " of %.*s; %.*s", STR_ARG(client_text(wait, "procedure")),
                   STR_ARG(reason.len > 0 ? reason : STR("none has asked for it")));
    if (client_text(wait, "correlation").len > 0) {
        buf_text(out, " with the correlation ");
        term_put_quoted(out, client_text(wait, "correlation"));
    }
    if (title.len > 0) {
        buf_text(out, str_eq(kind, STR("signal")) ? ", \"" : " \"");
        term_put_short(out, title, RESULT_WIDTH);
        buf_char(out, '"');
    }
    if (client_text(wait, "assignee").len > 0) {
        buf_text(out, " from ");
        term_put_short(out, client_text(wait, "assignee"), RESULT_WIDTH);
    }
    if (client_text(wait, "executionId").len > 0)
        buf_printf(out, " %.*s", STR_ARG(client_text(wait, "executionId")));
}

/* ", since 3 min ago, until 2026-11-20 09:00 UTC (in 5 days)" */
static void tell_span(struct buf *out, struct value wait)
{
    int64_t now_us = clock_wall_us(&clock_system);
    int64_t since_us = tell_time_of(wait, "since"), until_us = tell_time_of(wait, "until");

    if (since_us > 0) {
        buf_text(out, ", since ");
        tell_duration(out, now_us - since_us);
        buf_text(out, " ago");
    }
    if (until_us == 0)
        return;
    buf_text(out, ", until ");
    tell_moment(out, until_us);
    if (until_us > now_us) {
        buf_text(out, " (in ");
        tell_duration(out, until_us - now_us);
        buf_char(out, ')');
    }
}

/* Whether `actions`, what may be done now, names this one. */
static bool may(struct value execution, const char *action)
{
    struct value actions = value_map_get_str(execution, STR("actions"));

    for (uint32_t i = 0; actions.kind == VALUE_LIST && i < actions.len; i++)
        if (actions.items[i].kind == VALUE_STRING &&
            str_eq(value_text(actions.items[i]), str_of(action)))
            return true;
    return false;
}

/* Whether asking what became of its step was given up. */
static bool is_parked(struct value wait)
{
    return wait.kind == VALUE_MAP && value_is_true(value_map_get_str(wait, STR("parked")));
}

static bool is_paused(struct value wait)
{
    return str_eq(client_text(wait, "kind"), STR("paused"));
}

/* "It is paused at step a by Ada": the span and the reason follow. */
static void tell_paused(struct buf *out, struct value wait, struct str step)
{
    struct str name = client_text(value_map_get_str(wait, STR("by")), "name");

    buf_text(out, "It is paused");
    if (step.len > 0)
        buf_printf(out, " at step %.*s", STR_ARG(step));
    if (name.len > 0) {
        buf_text(out, " by ");
        term_put_short(out, name, RESULT_WIDTH);
    }
}

/* A value that the field of a form may take: its default, the first of those it may be, one of its type. */
static void put_sample(struct arena *mem, struct buf *out, struct value field)
{
    struct value given = value_map_get_str(field, STR("default"));
    struct value choice = value_map_get_str(field, STR("enum"));
    struct str type = client_text(field, "type");

    if (choice.kind != VALUE_LIST)
        choice = value_map_get_str(field, STR("options"));
    if (given.kind != VALUE_ABSENT && given.kind != VALUE_NULL)
        buf_str(out, client_json(mem, given));
    else if (choice.kind == VALUE_LIST && choice.len > 0 && choice.items[0].kind != VALUE_MAP)
        buf_str(out, client_json(mem, choice.items[0]));
    else if (choice.kind == VALUE_LIST && choice.len > 0)
        buf_str(out, client_json(mem, value_map_get_str(choice.items[0], STR("value"))));
    else if (str_eq(type, STR("integer")) || str_eq(type, STR("number")))
        buf_text(out, "1");
    else if (str_eq(type, STR("boolean")))
        buf_text(out, "true");
    else if (str_eq(type, STR("array")))
        buf_text(out, "[]");
    else if (str_eq(type, STR("object")))
        buf_text(out, "{}");
    else if (str_eq(type, STR("date")))
        buf_text(out, "\"2026-01-31\"");
    else if (str_eq(type, STR("datetime")))
        buf_text(out, "\"2026-01-31T09:00:00Z\"");
    else if (str_eq(type, STR("uuid")))
        buf_text(out, "\"0190b5a2-7c3e-7d11-8f60-2b1f5c9e4a77\"");
    else
        buf_text(out, "\"...\"");
}

/* What must be filled in, as JSON: {} without a form. */
static struct str sample_payload(struct arena *mem, struct value form)
{
    struct buf out;
    bool is_first = true;

    buf_init_arena(&out, mem);
    buf_char(&out, '{');
    for (uint32_t i = 0; form.kind == VALUE_LIST && i < form.len; i++) {
        struct value field = form.items[i];

        if (field.kind != VALUE_MAP || !value_is_true(value_map_get_str(field, STR("required"))))
            continue;
        buf_text(&out, is_first ? "" : ", ");
        is_first = false;
        json_write_string(&out, client_text(field, "name"));
        buf_text(&out, ": ");
        put_sample(mem, &out, field);
    }
    buf_char(&out, '}');
    return buf_view(&out);
}

/* "\nIts form: sum (integer, required), note (string)" */
static void tell_form(struct buf *out, struct value form)
{
    for (uint32_t i = 0; form.kind == VALUE_LIST && i < form.len; i++) {
        struct value field = form.items[i];

        if (field.kind != VALUE_MAP)
            continue;
        buf_text(out, i == 0 ? "\nIts form: " : ", ");
        term_put_short(out, client_text(field, "name"), RESULT_WIDTH);
        buf_printf(out, " (%.*s%s)", STR_ARG(client_text(field, "type")),
                   value_is_true(value_map_get_str(field, STR("required"))) ? ", required" : "");
    }
}

/* What to type next, where this program has a command for it. */
static void tell_next(struct arena *mem, struct buf *out, struct value execution, struct value wait)
{
    static const char *const remedies[] = {"retry", "skip", "cancel"};
    struct str kind = client_text(wait, "kind");
    struct value types = value_map_get_str(wait, STR("signalType"));
    struct value first = types.kind == VALUE_LIST && types.len > 0 ? types.items[0] : types;

    if (str_eq(kind, STR("signal")) && first.kind == VALUE_STRING) {
        struct value form = value_map_get_str(wait, STR("form"));

        tell_form(out, form);
        buf_printf(out, "\nSend it with: %s signal ", command_program());
        tell_name(out, execution);
        buf_char(out, ' ');
        term_put_quoted(out, value_text(first));
        buf_char(out, ' ');
        term_put_quoted(out, sample_payload(mem, form));
    }
    if (str_eq(kind, STR("job"))) {
        if (may(execution, "skip")) {
            buf_printf(out, "\nGo on without it: %s skip ", command_program());
            tell_name(out, execution);
            buf_text(out, " --output '{}'");
        }
        buf_printf(out, "\nGive it up with: %s cancel ", command_program());
        tell_name(out, execution);
    }
    if (is_paused(wait)) {
        buf_printf(out, "\nLet it go on with: %s resume ", command_program());
        tell_name(out, execution);
    }
    if (!str_eq(kind, STR("incident")) && !is_parked(wait))
        return;
    buf_text(out, "\nAn operator decides:");
    if (is_parked(wait)) {
        buf_printf(out, "\n  %s dlq --execution ", command_program());
        tell_name(out, execution);
        buf_printf(out, ", and %s dlq resolve with what became of it", command_program());
    }
    for (size_t i = 0; i < ARRAY_SIZE(remedies); i++) {
        if (command_named(remedies[i]) == NULL || !may(execution, remedies[i]))
            continue;
        buf_printf(out, "\n  %s %s ", command_program(), remedies[i]);
        tell_name(out, execution);
    }
}

static bool is_same_wait(struct value a, struct value b)
{
    return str_eq(client_text(a, "kind"), client_text(b, "kind")) &&
           str_eq(client_text(a, "step"), client_text(b, "step")) &&
           str_eq(client_text(a, "since"), client_text(b, "since"));
}

struct value tell_others(struct arena *mem, struct value wait)
{
    struct value branches = value_map_get_str(wait, STR("branches")), *others;
    uint32_t count = 0;
    bool is_left_out = false;

    if (branches.kind != VALUE_LIST)
        return value_list(NULL, 0);
    others = ARENA_ARRAY(mem, branches.len + 1u, struct value);
    for (uint32_t i = 0; i < branches.len; i++) {
        if (branches.items[i].kind != VALUE_MAP)
            continue;
        if (!is_left_out && is_same_wait(branches.items[i], wait))
            is_left_out = true;
        else
            others[count++] = branches.items[i];
    }
    return value_list(others, count);
}

/* " Beside it step b waits for a timer, since ..., and step c ..." */
static void tell_beside(struct arena *mem, struct buf *out, struct value wait)
{
    struct value others = tell_others(mem, wait);
    uint32_t shown = others.len > BESIDE_SHOWN ? BESIDE_SHOWN : others.len;

    for (uint32_t i = 0; i < shown; i++) {
        struct value other = others.items[i];
        bool is_held = str_eq(client_text(other, "kind"), STR("incident"));

        buf_text(out, i == 0               ? is_paused(wait) ? " There" : " Beside it"
                      : i + 1 < others.len ? ","
                                           : " and");
        buf_printf(out, " step %.*s %s", STR_ARG(client_text(other, "step")),
                   is_held ? "is held" : "waits ");
        if (!is_held)
            tell_wait(out, other);
        tell_span(out, other);
    }
    if (shown < others.len)
        buf_printf(out, " and %u more wait", others.len - shown);
    if (others.len > 0)
        buf_char(out, '.');
}

static void tell_waiting(struct arena *mem, struct buf *out, struct value execution,
                         struct value wait)
{
    struct value error = value_map_get_str(wait, STR("error"));
    struct str step = client_text(wait, "step");
    int64_t deadline_us = tell_time_of(execution, "deadlineAt");

    if (step.len == 0)
        step = client_text(execution, "currentStep");
    if (str_eq(client_text(wait, "kind"), STR("incident"))) {
        buf_printf(out, "It is held at step %.*s", STR_ARG(step));
    } else if (is_paused(wait)) {
        tell_paused(out, wait, step);
    } else if (is_parked(wait)) {
        buf_printf(out,
                   "It is parked at step %.*s: nobody could find out whether that has happened, "
                   "asked %lld times",
                   STR_ARG(step), (long long)tell_int_of(wait, "asked", 0));
    } else {
        buf_printf(out, "It waits at step %.*s ", STR_ARG(step));
        tell_wait(out, wait);
    }
    tell_span(out, wait);
    if (deadline_us > 0 && tell_time_of(wait, "until") > deadline_us) {
        buf_text(out, ", beyond its deadline, ");
        tell_moment(out, deadline_us);
    }
    if (error.kind == VALUE_MAP) {
        buf_text(out, ": ");
        tell_error(out, error);
        if (client_text(error, "source").len > 0)
            buf_printf(out, ", at %.*s of version %lld", STR_ARG(client_text(error, "source")),
                       (long long)tell_int_of(execution, "version", 0));
    } else if (is_paused(wait) && client_text(wait, "reason").len > 0) {
        buf_text(out, ": ");
        term_put_short(out, client_text(wait, "reason"), RESULT_WIDTH);
    }
    buf_char(out, '.');
    tell_beside(mem, out, wait);
    tell_next(mem, out, execution, wait);
}

/* What was undone, and what could not be. */
static void tell_compensation(struct buf *out, struct value error)
{
    struct value done = value_map_get_str(error, STR("compensation"));
    struct value undone, failed;

    if (done.kind != VALUE_MAP)
        return;
    undone = value_map_get_str(done, STR("compensated"));
    failed = value_map_get_str(done, STR("failed"));
    if (undone.kind == VALUE_LIST && undone.len > 0)
        buf_printf(out, " %u step%s undone.", undone.len, undone.len == 1 ? " was" : "s were");
    if (failed.kind == VALUE_LIST && failed.len > 0)
        buf_printf(out, " %u could not be undone: see the dead letters.", failed.len);
}

static void tell_end(struct arena *mem, struct buf *out, struct value execution, struct str status)
{
    struct value error = value_map_get_str(execution, STR("error"));
    struct value result = value_map_get_str(execution, STR("result"));
    int64_t took_us = tell_time_of(execution, "completedAt") - tell_time_of(execution, "startedAt");

    buf_printf(out, "It %s%.*s", str_eq(status, STR("cancelled")) ? "was " : "", STR_ARG(status));
    tell_after(out, took_us);
    if (str_eq(status, STR("completed"))) {
        buf_text(out, ", with the result ");
        tell_short(mem, out, result, RESULT_WIDTH);
    } else if (error.kind == VALUE_MAP) {
        buf_text(out, ": ");
        tell_error(out, error);
    }
    buf_char(out, '.');
    if (error.kind == VALUE_MAP)
        tell_compensation(out, error);
}

static void tell_all(struct arena *mem, struct buf *out, struct value execution)
{
    struct str status = client_text(execution, "status");
    struct str step = client_text(execution, "currentStep");
    struct value wait = value_map_get_str(execution, STR("waitingFor"));

    if (wait.kind == VALUE_MAP) {
        tell_waiting(mem, out, execution, wait);
    } else if (str_eq(status, STR("completed")) || str_eq(status, STR("failed")) ||
               str_eq(status, STR("cancelled"))) {
        tell_end(mem, out, execution, status);
    } else {
        buf_printf(out, "It is %.*s", STR_ARG(status));
        if (step.len > 0)
            buf_printf(out, " at step %.*s", STR_ARG(step));
        buf_char(out, '.');
    }
}

void tell_state(struct arena *mem, struct buf *out, struct value execution)
{
    struct buf all;
    struct str text;
    int64_t end;

    buf_init_arena(&all, mem);
    tell_all(mem, &all, execution);
    text = buf_view(&all);
    /* The lines behind it have commands, which are copied whole. */
    end = str_find(text, STR("\n"), 0);
    term_put_text(out, end < 0 ? text : str_slice(text, 0, (size_t)end), 0);
    if (end >= 0)
        buf_str(out, str_slice(text, (size_t)end, text.len));
}

void tell_member(struct arena *mem, struct str name, const char *between, struct value v)
{
    size_t width = term_width(), used = term_columns(name) + strlen(between);
    struct buf out;

    buf_init_arena(&out, mem);
    tell_short(mem, &out, v, width > used + VALUE_MIN ? width - used : VALUE_MIN);
    printf("%.*s%s%.*s\n", STR_ARG(name), between, STR_ARG(buf_view(&out)));
}
