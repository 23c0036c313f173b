/* describe.c - see describe.h. */
#include "cli/describe.h"

#include "base/names.h"
#include "base/time/clock.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/list.h"
#include "value/json.h"
#include "value/object.h"

enum { RESULT_WIDTH = 400, BESIDE_SHOWN = 5 };

/* --- parts of sentences --- */

enum term_style describe_style(struct str status)
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

void describe_name(struct buf *out, struct value execution)
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
    buf_str(out, list_id_end(id));
}

/* " after 12 ms" */
static void describe_after(struct buf *out, int64_t us)
{
    if (us < 1000) {
        buf_text(out, " at once");
        return;
    }
    buf_text(out, " after ");
    format_duration(out, us);
}

static void describe_error(struct buf *out, struct value error)
{
    struct str code = client_text(error, "code"), message = client_text(error, "message");

    term_put_short(out, message, RESULT_WIDTH);
    buf_printf(out, " (%.*s)", STR_ARG(code));
}

/* "approved", "approved" or "refused" */
static void describe_types(struct buf *out, struct value types)
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
#define WAITING_KIND(symbol, name, shown, words)                                                   \
    if (kind.len > 0 && str_eq(kind, STR(shown)))                                                  \
        return words;
#include "engine/waiting_kind.def"
#undef WAITING_KIND
    return NULL;
}

void describe_wait(struct buf *out, struct value wait)
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
        describe_types(out, value_map_get_str(wait, STR("signalType")));
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
static void describe_span(struct buf *out, struct value wait)
{
    int64_t now_us = clock_wall_us(&clock_system);
    int64_t since_us = client_time(wait, "since"), until_us = client_time(wait, "until");

    if (since_us > 0) {
        buf_text(out, ", since ");
        format_duration(out, now_us - since_us);
        buf_text(out, " ago");
    }
    if (until_us == 0)
        return;
    buf_text(out, ", until ");
    format_moment(out, until_us);
    if (until_us > now_us) {
        buf_text(out, " (in ");
        format_duration(out, until_us - now_us);
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
static void describe_paused(struct buf *out, struct value wait, struct str step)
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

static struct str sample_payload(struct arena *mem, struct value form);

/* A value that the field of a form may take: its default, the first of those it may be, one of its type. */
static void put_sample(struct arena *mem, struct buf *out, struct value field)
{
    static const char *const samples[][2] = {
        {"integer", "1"},
        {"number", "1"},
        {"boolean", "true"},
        {"array", "[]"},
        {"object", "{}"},
        {"date", "\"2026-01-31\""},
        {"datetime", "\"2026-01-31T09:00:00Z\""},
        {"uuid", "\"0190b5a2-7c3e-7d11-8f60-2b1f5c9e4a77\""},
    };
    struct value given = value_map_get_str(field, STR("default"));
    struct value fields = value_map_get_str(field, STR("fields"));
    struct value choice = value_map_get_str(field, STR("enum"));
    int of_type =
        names_find(samples, sizeof(samples[0]), ARRAY_SIZE(samples), client_text(field, "type"));

    if (choice.kind != VALUE_LIST)
        choice = value_map_get_str(field, STR("options"));
    if (given.kind != VALUE_ABSENT && given.kind != VALUE_NULL)
        buf_str(out, client_json(mem, given));
    else if (choice.kind == VALUE_LIST && choice.len > 0 && choice.items[0].kind != VALUE_MAP)
        buf_str(out, client_json(mem, choice.items[0]));
    else if (choice.kind == VALUE_LIST && choice.len > 0)
        buf_str(out, client_json(mem, value_map_get_str(choice.items[0], STR("value"))));
    else if (fields.kind == VALUE_LIST)
        buf_str(out, sample_payload(mem, fields));
    else
        buf_text(out, of_type >= 0 ? samples[of_type][1] : "\"...\"");
}

/* Whether a field is needed whatever the others say, or may be. */
static bool is_needed(struct value field)
{
    return value_is_true(value_map_get_str(field, STR("required"))) ||
           client_text(field, "requiredWhen").len > 0;
}

/* What must be filled in, or may have to be, as JSON: {} without a form. */
static struct str sample_payload(struct arena *mem, struct value form)
{
    struct buf out;
    bool is_first = true;

    object_begin(&out, mem);
    for (uint32_t i = 0; form.kind == VALUE_LIST && i < form.len; i++) {
        struct value field = form.items[i];

        if (field.kind != VALUE_MAP || !is_needed(field))
            continue;
        buf_text(&out, is_first ? "" : ", ");
        is_first = false;
        json_write_string(&out, client_text(field, "name"));
        buf_text(&out, ": ");
        put_sample(mem, &out, field);
    }
    return object_end(&out);
}

/* "\nIts form: sum (integer, required), budget (string, required when payload.approved), note (string)" */
static void describe_form(struct buf *out, struct value form)
{
    for (uint32_t i = 0; form.kind == VALUE_LIST && i < form.len; i++) {
        struct value field = form.items[i];

        if (field.kind != VALUE_MAP)
            continue;
        buf_text(out, i == 0 ? "\nIts form: " : ", ");
        term_put_short(out, client_text(field, "name"), RESULT_WIDTH);
        buf_printf(out, " (%.*s%s", STR_ARG(client_text(field, "type")),
                   value_is_true(value_map_get_str(field, STR("required"))) ? ", required" : "");
        if (client_text(field, "requiredWhen").len > 0) {
            buf_text(out, ", required when ");
            term_put_short(out, client_text(field, "requiredWhen"), RESULT_WIDTH);
        }
        buf_char(out, ')');
    }
}

/* "\nGive it up with: pawl cancel key:K" */
static void put_command(struct buf *out, const char *before, const char *command,
                        struct value execution)
{
    buf_printf(out, "\n%s%s %s ", before, command_program(), command);
    describe_name(out, execution);
}

/* What to type next, where this program has a command for it. */
static void describe_next(struct arena *mem, struct buf *out, struct value execution,
                          struct value wait)
{
    static const char *const remedies[] = {"retry", "skip", "cancel"};
    struct str kind = client_text(wait, "kind");
    struct value types = value_map_get_str(wait, STR("signalType"));
    struct value first = types.kind == VALUE_LIST && types.len > 0 ? types.items[0] : types;

    if (str_eq(kind, STR("signal")) && first.kind == VALUE_STRING) {
        struct value form = value_map_get_str(wait, STR("form"));

        describe_form(out, form);
        put_command(out, "Send it with: ", "signal", execution);
        buf_char(out, ' ');
        term_put_quoted(out, value_text(first));
        buf_char(out, ' ');
        term_put_quoted(out, sample_payload(mem, form));
    }
    if (str_eq(kind, STR("job"))) {
        if (may(execution, "skip")) {
            put_command(out, "Go on without it: ", "skip", execution);
            buf_text(out, " --output '{}'");
        }
        put_command(out, "Give it up with: ", "cancel", execution);
    }
    if (is_paused(wait))
        put_command(out, "Let it go on with: ", "resume", execution);
    if (!str_eq(kind, STR("incident")) && !is_parked(wait))
        return;
    buf_text(out, "\nAn operator decides:");
    if (is_parked(wait)) {
        put_command(out, "  ", "dlq --execution", execution);
        buf_printf(out, ", and %s dlq resolve with what became of it", command_program());
    }
    for (size_t i = 0; i < ARRAY_SIZE(remedies); i++)
        if (command_named(remedies[i]) != NULL && may(execution, remedies[i]))
            put_command(out, "  ", remedies[i], execution);
}

static bool is_same_wait(struct value a, struct value b)
{
    return str_eq(client_text(a, "kind"), client_text(b, "kind")) &&
           str_eq(client_text(a, "step"), client_text(b, "step")) &&
           str_eq(client_text(a, "since"), client_text(b, "since"));
}

struct value describe_others(struct arena *mem, struct value wait)
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
static void describe_beside(struct arena *mem, struct buf *out, struct value wait)
{
    struct value others = describe_others(mem, wait);
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
            describe_wait(out, other);
        describe_span(out, other);
    }
    if (shown < others.len)
        buf_printf(out, " and %u more wait", others.len - shown);
    if (others.len > 0)
        buf_char(out, '.');
}

static void describe_waiting(struct arena *mem, struct buf *out, struct value execution,
                             struct value wait)
{
    struct value error = value_map_get_str(wait, STR("error"));
    struct str step = client_text(wait, "step");
    int64_t deadline_us = client_time(execution, "deadlineAt");

    if (step.len == 0)
        step = client_text(execution, "currentStep");
    if (str_eq(client_text(wait, "kind"), STR("incident"))) {
        buf_printf(out, "It is held at step %.*s", STR_ARG(step));
    } else if (is_paused(wait)) {
        describe_paused(out, wait, step);
    } else if (is_parked(wait)) {
        buf_printf(out,
                   "It is parked at step %.*s: nobody could find out whether that has happened, "
                   "asked %lld times",
                   STR_ARG(step), (long long)client_int(wait, "asked", 0));
    } else {
        buf_printf(out, "It waits at step %.*s ", STR_ARG(step));
        describe_wait(out, wait);
    }
    describe_span(out, wait);
    if (deadline_us > 0 && client_time(wait, "until") > deadline_us) {
        buf_text(out, ", beyond its deadline, ");
        format_moment(out, deadline_us);
    }
    if (error.kind == VALUE_MAP) {
        buf_text(out, ": ");
        describe_error(out, error);
        if (client_text(error, "source").len > 0)
            buf_printf(
                out, ", at %.*s of version %lld", STR_ARG(client_text(error, "source")),
                (long long)client_int(error, "version", client_int(execution, "version", 0)));
    } else if (is_paused(wait) && client_text(wait, "reason").len > 0) {
        buf_text(out, ": ");
        term_put_short(out, client_text(wait, "reason"), RESULT_WIDTH);
    }
    buf_char(out, '.');
    describe_beside(mem, out, wait);
    describe_next(mem, out, execution, wait);
}

/* What was undone, and what could not be. */
static void describe_rollback(struct buf *out, struct value error)
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

static void describe_ended(struct arena *mem, struct buf *out, struct value execution,
                           struct str status)
{
    struct value error = value_map_get_str(execution, STR("error"));
    struct value result = value_map_get_str(execution, STR("result"));
    int64_t took_us = client_time(execution, "completedAt") - client_time(execution, "startedAt");

    buf_printf(out, "It %s%.*s", str_eq(status, STR("cancelled")) ? "was " : "", STR_ARG(status));
    describe_after(out, took_us);
    if (str_eq(status, STR("completed"))) {
        buf_text(out, ", with the result ");
        format_short(mem, out, result, RESULT_WIDTH);
    } else if (error.kind == VALUE_MAP) {
        buf_text(out, ": ");
        describe_error(out, error);
    }
    buf_char(out, '.');
    if (error.kind == VALUE_MAP)
        describe_rollback(out, error);
}

static void describe_execution(struct arena *mem, struct buf *out, struct value execution)
{
    struct str status = client_text(execution, "status");
    struct str step = client_text(execution, "currentStep");
    struct value wait = value_map_get_str(execution, STR("waitingFor"));

    if (wait.kind == VALUE_MAP) {
        describe_waiting(mem, out, execution, wait);
    } else if (str_eq(status, STR("completed")) || str_eq(status, STR("failed")) ||
               str_eq(status, STR("cancelled"))) {
        describe_ended(mem, out, execution, status);
    } else {
        buf_printf(out, "It is %.*s", STR_ARG(status));
        if (step.len > 0)
            buf_printf(out, " at step %.*s", STR_ARG(step));
        buf_char(out, '.');
    }
}

struct str describe_state(struct arena *mem, struct value execution)
{
    struct buf all, out;
    struct str text;
    int64_t end;

    buf_init_arena(&all, mem);
    buf_init_arena(&out, mem);
    describe_execution(mem, &all, execution);
    text = buf_view(&all);
    /* The lines behind it have commands, which are copied whole. */
    end = str_find(text, STR("\n"), 0);
    term_put_text(&out, end < 0 ? text : str_slice(text, 0, (size_t)end), 0);
    if (end >= 0)
        buf_str(&out, str_slice(text, (size_t)end, text.len));
    return buf_view(&out);
}
