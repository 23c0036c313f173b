/* where.c - see where.h. */
#include "cli/where.h"

#include "cli/command.h"
#include "cli/progress.h"
#include "value/json.h"
#include "value/object.h"

#include <stdio.h>

enum { AT_ONCE = 500, COUNTED_AT_ONCE = 10000 };

struct sums {
    int64_t matched, done, failed, skipped;
    struct str first_error; /* of those that failed */
};

static const struct many *many_of(const struct where *w)
{
    static const struct many executions = {"/executions/bulk", "executions", "kind=scenario"};

    return w->of != NULL ? w->of : &executions;
}

/* --- conditions --- */

/* One name=value; *text moves behind it. */
static bool read_condition(struct arena *mem, const char **text, struct str *name,
                           struct str *value)
{
    const char *from = *text, *equals = from + strcspn(from, "= ");
    struct buf out;

    if (*equals != '=' || equals == from)
        return false;
    *name = str_from(from, (size_t)(equals - from));
    from = equals + 1;
    buf_init_arena(&out, mem);
    if (*from == '"') {
        for (from++; *from != '"' && *from != '\0'; from++)
            buf_char(&out, *from);
        if (*from++ != '"')
            return false;
    } else {
        while (*from != ' ' && *from != '\0')
            buf_char(&out, *from++);
    }
    *value = buf_view(&out);
    *text = from;
    return true;
}

/* The conditions as the member `filter` of the request. */
static bool write_filter(struct client *c, const struct where *w, struct buf *out)
{
    const char *text = w->conditions;
    bool is_first = true;

    buf_char(out, '{');
    for (;;) {
        struct str name, value;

        text += strspn(text, " ");
        if (*text == '\0')
            break;
        if (!read_condition(&c->mem, &text, &name, &value)) {
            fprintf(stderr,
                    "pawl %s: --where takes conditions such as \"status=waiting code=order\", not "
                    "%s\n",
                    w->action, text);
            return false;
        }
        object_next(out);
        is_first = false;
        json_write_string(out, name);
        buf_char(out, ':');
        json_write_string(out, value);
    }
    buf_char(out, '}');
    if (!is_first)
        return true;
    fprintf(stderr, "pawl %s: --where needs a condition; %s means all of them\n", w->action,
            many_of(w)->all);
    return false;
}

/* --- requests --- */

/* Add what one request did; *cursor is where the next one begins, or empty. */
static bool ask(struct client *c, const struct where *w, struct str filter, bool dry_run,
                struct sums *sums, struct str *cursor)
{
    struct reply reply;
    struct value errors;
    struct buf body;

    object_begin(&body, &c->mem);
    object_text(&body, "action", str_of(w->action));
    object_json(&body, "filter", filter);
    object_int(&body, "limit", dry_run ? COUNTED_AT_ONCE : AT_ONCE);
    object_bool(&body, "dryRun", dry_run);
    if (cursor->len > 0)
        object_text(&body, "cursor", *cursor);
    buf_char(&body, ',');
    if (w->fields.len > 0)
        buf_str(&body, w->fields);
    else
        body.len--;
    if (!client_call(c, "POST", str_of(many_of(w)->path), object_end(&body), &reply))
        return false;
    sums->matched += value_map_int(reply.json, STR("matched"));
    sums->done += value_map_int(reply.json, STR("done"));
    sums->failed += value_map_int(reply.json, STR("failed"));
    sums->skipped += value_map_int(reply.json, STR("skipped"));
    errors = value_map_get_str(reply.json, STR("errors"));
    if (sums->first_error.len == 0 && errors.kind == VALUE_LIST && errors.len > 0)
        sums->first_error = client_text(errors.items[0], "message");
    *cursor = client_text(reply.json, "nextCursor");
    return true;
}

static bool where_act(struct client *c, const struct where *w, struct str filter, int64_t total,
                      struct sums *sums)
{
    struct str cursor = STR_NONE;
    struct progress_line bar;
    bool ok = true;

    progress_begin(
        &bar,
        str_printf(&c->mem, "%s: %lld %s", w->action, (long long)total, many_of(w)->noun).ptr);
    do {
        ok = ask(c, w, filter, false, sums, &cursor);
        if (ok && (cursor.len > 0 || bar.shown_percent >= 0))
            progress_set(&bar, sums->matched, total, NULL);
    } while (ok && cursor.len > 0);
    progress_end(&bar);
    return ok;
}

/* --- the end --- */

static void where_print(const struct client *c, const struct where *w, const struct sums *s)
{
    if (c->as_json) {
        printf("{\"action\":\"%s\",\"dryRun\":%s,\"matched\":%lld,\"done\":%lld,"
               "\"failed\":%lld,\"skipped\":%lld}\n",
               w->action, w->is_dry_run ? "true" : "false", (long long)s->matched,
               (long long)s->done, (long long)s->failed, (long long)s->skipped);
        return;
    }
    if (w->is_dry_run)
        printf("%lld of %lld %s would be %s\n", (long long)(s->matched - s->skipped - s->failed),
               (long long)s->matched, many_of(w)->noun, w->done);
    else
        printf("%lld of %lld %s are %s\n", (long long)s->done, (long long)s->matched,
               many_of(w)->noun, w->done);
    if (s->skipped > 0)
        printf("%lld %s in a state in which they cannot be\n", (long long)s->skipped,
               s->skipped == 1 ? "is" : "are");
    if (s->failed > 0)
        fprintf(stderr, "pawl %s: %lld failed; the first because: %.*s\n", w->action,
                (long long)s->failed, STR_ARG(s->first_error));
}

int where_run(struct client *c, const struct where *w)
{
    struct sums counted = {0}, sums = {0};
    struct str cursor = STR_NONE;
    struct buf filter;

    buf_init_arena(&filter, &c->mem);
    if (!write_filter(c, w, &filter))
        return EXIT_USAGE;
    do {
        if (!ask(c, w, buf_view(&filter), true, &counted, &cursor))
            return EXIT_FAILED;
    } while (cursor.len > 0);
    if (w->is_dry_run)
        sums = counted;
    else if (!where_act(c, w, buf_view(&filter), counted.matched, &sums)) {
        if (sums.matched > 0 && !c->as_json)
            where_print(c, w, &sums);
        return EXIT_FAILED;
    }
    where_print(c, w, &sums);
    return sums.failed > 0 ? EXIT_FAILED : EXIT_OK;
}
