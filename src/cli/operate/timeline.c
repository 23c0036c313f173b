/*
 * timeline.c - see timeline.h.
 *
 *      +12 ms  charge (attempt 2)  failed       1.2 s  timeout: no answer
 *      +43 ms  signal              approved            admin {"by":"Grace"}
 */
#include "cli/operate/timeline.h"

#include "base/time/clock.h"
#include "base/vec.h"
#include "cli/describe.h"
#include "cli/format.h"

#include <stdio.h>

enum {
    STEP_WIDTH_MIN = 8,
    STEP_WIDTH_MAX = 36,
    STATUS_WIDTH = 11,
    TIME_WIDTH = 9,
    OTHERS_WIDTH = 2 + TIME_WIDTH + 2 + 2 + STATUS_WIDTH + 1 + TIME_WIDTH + 2, /* but the name */
    TEXT_MIN = 20,
};

/* Whether a row says what was sent to a service or a worker. */
static bool is_sent(struct value row)
{
    struct str status = client_text(row, "status");

    return str_eq(client_text(row, "kind"), STR("event")) &&
           (str_eq(status, STR("call")) || str_eq(status, STR("job")));
}

/* Whether a machine has judged something, and no transition was open for it. */
static bool is_not_allowed(struct value row)
{
    return str_eq(client_text(row, "kind"), STR("event")) &&
           str_eq(client_text(row, "status"), STR("transition_not_allowed"));
}

/* "charge", "charge (visit 2, attempt 3)", "rollback of charge" */
static struct str row_name(struct arena *mem, struct value row)
{
    int64_t visit = client_int(row, "visit", 1), attempt = client_int(row, "attempt", 1);
    struct str kind = client_text(row, "kind");
    struct buf name;

    if (is_sent(row) || is_not_allowed(row))
        return client_text(row, "step");
    if (str_eq(kind, STR("event")))
        return STR("operator");
    buf_init_arena(&name, mem);
    if (kind.len > 0 && !str_eq(kind, STR("forward")))
        buf_printf(&name, "%.*s of ", STR_ARG(kind));
    buf_str(&name, client_text(row, "step"));
    if (visit > 1)
        buf_printf(&name, " (visit %lld%s", (long long)visit, attempt > 1 ? ", " : ")");
    if (attempt > 1)
        buf_printf(&name, "%sattempt %lld)", visit > 1 ? "" : " (", (long long)attempt);
    return buf_view(&name);
}

bool timeline_read(struct client *c, struct str id, struct value *out)
{
    struct {
        VEC_OF(struct value);
    } all = {0};
    struct str cursor = STR_NONE;
    struct str path =
        str_printf(&c->mem, "/executions/%.*s/steps?limit=500&events=all", STR_ARG(id));

    do {
        struct reply reply;
        struct value steps;

        if (!client_page(c, path, &cursor, &reply, &steps))
            return false;
        for (uint32_t i = 0; i < steps.len; i++)
            *VEC_ADD(&c->mem, &all) = steps.items[i];
    } while (cursor.len > 0);
    *out = value_list(all.items, (uint32_t)all.count);
    return true;
}

void timeline_init(struct timeline *t, struct arena *mem, struct value execution,
                   struct value steps)
{
    struct value context = value_map_get_str(execution, STR("context"));
    size_t capacity = term_width() - OTHERS_WIDTH - TEXT_MIN;
    size_t widest = capacity < STEP_WIDTH_MAX ? capacity : STEP_WIDTH_MAX;

    *t = (struct timeline){.mem = mem, .step_width = STEP_WIDTH_MIN};
    t->start_us = client_time(execution, "startedAt");
    if (t->start_us == 0)
        t->start_us = client_time(execution, "createdAt");
    t->signals = value_map_member(context, STR("signals"));
    for (uint32_t i = 0; steps.kind == VALUE_LIST && i <= steps.len; i++) {
        struct str name =
            i < steps.len ? row_name(mem, steps.items[i]) : client_text(execution, "currentStep");
        size_t width = term_columns(name);
        if (width > t->step_width)
            t->step_width = width < widest ? width : widest;
    }
}

/* One line; `text` takes what is left of the width. */
static void timeline_print_line(struct timeline *t, struct str when, struct str name,
                                struct str status, struct str took, struct str text)
{
    size_t used = OTHERS_WIDTH + t->step_width;
    size_t width = term_width(), columns;
    struct buf line, word;

    buf_init_arena(&line, t->mem);
    buf_init_arena(&word, t->mem);
    term_put_short(&word, name, t->step_width);
    columns = term_columns(buf_view(&word));
    buf_printf(&line, "  %s%*.*s%s  %.*s%*s  ", term_style(TERM_DIM), TIME_WIDTH, STR_ARG(when),
               term_style(TERM_PLAIN), STR_ARG(buf_view(&word)),
               (int)(t->step_width > columns ? t->step_width - columns : 0), "");
    buf_printf(&line, "%s%-*.*s%s %*.*s  ", term_style(describe_style(status)), STATUS_WIDTH,
               STR_ARG(status), term_style(TERM_PLAIN), TIME_WIDTH, STR_ARG(took));
    term_put_short(&line, text, width > used + TEXT_MIN ? width - used : TEXT_MIN);
    while (line.len > 0 && line.ptr[line.len - 1] == ' ')
        line.len--;
    printf("%.*s\n", STR_ARG(buf_view(&line)));
}

static struct str offset_text(struct timeline *t, int64_t at_us)
{
    struct buf out;

    buf_init_arena(&out, t->mem);
    buf_char(&out, '+');
    if (at_us - t->start_us < 1000)
        buf_text(&out, "0 ms");
    else
        format_duration(&out, at_us - t->start_us);
    return buf_view(&out);
}

static struct str sender_name(struct value signal)
{
    struct str name = client_text(value_map_get_str(signal, STR("by")), "name");

    return name.len > 0 ? name : STR("a callback");
}

static void print_signal(struct timeline *t, struct value signal)
{
    struct buf text;

    buf_init_arena(&text, t->mem);
    buf_printf(&text, "from %.*s ", STR_ARG(sender_name(signal)));
    buf_str(&text, client_json(t->mem, value_map_get_str(signal, STR("payload"))));
    timeline_print_line(t, offset_text(t, client_time(signal, "receivedAt")), STR("signal"),
                        client_text(signal, "type"), STR_NONE, buf_view(&text));
}

static void print_signals_until(struct timeline *t, int64_t us)
{
    for (; t->signals.kind == VALUE_LIST && t->printed < t->signals.len; t->printed++) {
        struct value signal = t->signals.items[t->printed];
        if (client_time(signal, "receivedAt") > us)
            return;
        print_signal(t, signal);
    }
}

/* Whether a row is of a wait that a signal has ended: the signal's own line says the rest. */
static bool took_signal(struct value output)
{
    return output.kind == VALUE_MAP && client_text(output, "receivedAt").len > 0 &&
           client_text(output, "type").len > 0;
}

/* What an operator said: a reason, another version, another input, an outcome. */
static void put_act(struct buf *out, struct value details)
{
    int64_t version = client_int(details, "version", 0);

    if (details.kind != VALUE_MAP)
        return;
    buf_str(out, client_text(details, "reason"));
    buf_str(out, client_text(details, "outcome"));
    if (version > 0)
        buf_printf(out, "%swith version %lld", out->len > 0 ? ", " : "", (long long)version);
    if (value_is_true(value_map_get_str(details, STR("input"))))
        buf_printf(out, "%swith another input", out->len > 0 ? ", " : "");
}

/* "POST https://bank.example/pay {...} under the key ..." */
static void put_sent(struct timeline *t, struct buf *out, struct value row)
{
    struct value input = value_map_get_str(row, STR("input"));
    struct value body = value_map_member(input, STR("body"));
    bool is_call = str_eq(client_text(row, "status"), STR("call"));

    if (is_call)
        buf_printf(out, "%.*s %.*s ", STR_ARG(client_text(input, "method")),
                   STR_ARG(client_text(input, "url")));
    buf_printf(out, "under the key %.*s", STR_ARG(client_text(row, "idempotencyKey")));
    if (!is_call || body.kind != VALUE_ABSENT) {
        buf_text(out, " with ");
        buf_str(out, client_json(t->mem, is_call ? body : input));
    }
}

static struct str row_text(struct timeline *t, struct value row)
{
    struct value error = value_map_get_str(row, STR("error"));
    struct value output = value_map_get_str(row, STR("output"));
    struct buf out;

    buf_init_arena(&out, t->mem);
    if (is_not_allowed(row))
        buf_printf(&out, "%.*s%.*s: no transition was open", STR_ARG(client_text(output, "event")),
                   STR_ARG(client_text(output, "after")));
    else if (is_sent(row))
        put_sent(t, &out, row);
    else if (str_eq(client_text(row, "kind"), STR("event")))
        put_act(&out, output);
    else if (error.kind == VALUE_MAP)
        buf_printf(&out, "%.*s: %.*s", STR_ARG(client_text(error, "code")),
                   STR_ARG(client_text(error, "message")));
    else if (took_signal(output))
        buf_printf(&out, "took the signal %.*s from %.*s", STR_ARG(client_text(output, "type")),
                   STR_ARG(sender_name(output)));
    else if (output.kind != VALUE_NULL && output.kind != VALUE_ABSENT)
        buf_str(&out, client_json(t->mem, output));
    return buf_view(&out);
}

void timeline_print_step(struct timeline *t, struct value row)
{
    int64_t started_us = client_time(row, "startedAt");
    int64_t completed_us = client_time(row, "completedAt");
    struct buf took;

    print_signals_until(t, completed_us);
    buf_init_arena(&took, t->mem);
    format_duration(&took, completed_us - started_us);
    timeline_print_line(t, offset_text(t, completed_us), row_name(t->mem, row),
                        is_not_allowed(row) ? STR("not allowed") : client_text(row, "status"),
                        buf_view(&took), row_text(t, row));
}

/* A step that goes on now, and what it waits for, if it does. */
static void print_current(struct timeline *t, struct str step, struct str status, struct value wait)
{
    int64_t since_us = client_time(wait, "since");
    struct buf took, text;

    buf_init_arena(&took, t->mem);
    buf_init_arena(&text, t->mem);
    if (since_us > 0)
        format_duration(&took, clock_wall_us(&clock_system) - since_us);
    if (wait.kind == VALUE_MAP)
        describe_wait(&text, wait);
    timeline_print_line(t, STR("now"), step, status, buf_view(&took), buf_view(&text));
}

void timeline_print_now(struct timeline *t, struct value execution)
{
    struct value wait = value_map_get_str(execution, STR("waitingFor")), others;
    struct str step = client_text(execution, "currentStep");

    print_signals_until(t, INT64_MAX);
    if (step.len == 0)
        return;
    print_current(t, step, client_text(execution, "status"), wait);
    others = describe_others(t->mem, wait);
    for (uint32_t i = 0; i < others.len; i++)
        print_current(t, client_text(others.items[i], "step"), STR("waiting"), others.items[i]);
}
