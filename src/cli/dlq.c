/* dlq.c - pawl dlq: what was given up, and what is done about it. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/tell.h"
#include "cli/where.h"
#include "value/json.h"

#include <stdio.h>

enum { SHOWN_WIDTH = 100, TEXT_WIDTH = 2000 };

struct dlq_options {
    const char *note, *outcome, *output, *status, *kind, *code, *execution, *from, *to, *limit;
    const char *where;
    bool all, is_dry_run, as_json;
};

/* --- ls --- */

/* ID KIND CODE STEP STATUS CAUSE GIVEN UP */
static void fill_row(struct arena *mem, struct value letter, int64_t now_us, struct str *row)
{
    struct value cause = value_map_get_str(letter, STR("cause"));
    struct buf age;

    buf_init_arena(&age, mem);
    tell_duration(&age, now_us - tell_time_of(letter, "createdAt"));
    buf_text(&age, " ago");
    row[0] = list_id_end(client_text(letter, "id"));
    row[1] = client_text(letter, "kind");
    row[2] = client_text(letter, "code");
    row[3] = client_text(letter, "step");
    row[4] = client_text(letter, "key");
    row[5] = client_text(letter, "status");
    row[6] = cause.kind == VALUE_MAP ? client_text(cause, "code") : STR_NONE;
    row[7] = buf_view(&age);
}

static bool make_path(struct client *c, const struct dlq_options *o, struct str *out)
{
    struct str execution = STR_NONE;
    struct buf path;

    if (o->execution != NULL && !client_find(c, o->execution, &execution))
        return false;
    list_begin(c, &path, STR("/dlq"), o->limit, o->all);
    list_filter(&path, "status", o->status);
    list_filter(&path, "kind", o->kind);
    list_filter(&path, "code", o->code);
    list_filter(&path, "execution", str_copy(&c->mem, execution).ptr);
    list_filter(&path, "from", o->from);
    list_filter(&path, "to", o->to);
    *out = buf_view(&path);
    return true;
}

static int list(struct client *c, const struct dlq_options *o)
{
    static const char *const head[] = {"ID",     "KIND",  "CODE",     "STEP", "KEY",
                                       "STATUS", "CAUSE", "GIVEN UP", NULL};
    struct list l = {.all = o->all,
                     .as_json = o->as_json,
                     .head = head,
                     .row = fill_row,
                     .none = "no dead letters"};

    return make_path(c, o, &l.path) ? list_print(c, &l) : EXIT_FAILED;
}

/* --- one --- */

/* The letter that a person named. */
static bool find(struct client *c, const char *name, struct str *out)
{
    return list_find(c, "dead letter", "pawl dlq", "/dlq?status=all&limit=500", name, out);
}

static struct str path_of(struct client *c, struct str id, const char *action)
{
    struct buf path;

    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/dlq/");
    client_escape(&path, id);
    buf_text(&path, action);
    return buf_view(&path);
}

static void tell_cause(struct buf *out, struct value letter)
{
    struct value cause = value_map_get_str(letter, STR("cause"));
    int64_t attempts = tell_int_of(letter, "attempts", 0);

    if (cause.kind == VALUE_MAP) {
        buf_printf(out, "  cause      %.*s: ", STR_ARG(client_text(cause, "code")));
        term_put_short(out, client_text(cause, "message"), TEXT_WIDTH);
        buf_char(out, '\n');
    }
    buf_printf(out, "  attempts   %lld\n", (long long)attempts);
}

static void tell_end(struct buf *out, struct value letter)
{
    struct str note = client_text(letter, "note"), by = client_text(letter, "resolvedBy");
    int64_t at_us = tell_time_of(letter, "resolvedAt");

    if (at_us > 0) {
        buf_printf(out, "  %-9.*s  ", STR_ARG(client_text(letter, "status")));
        tell_moment(out, at_us);
        if (by.len > 0)
            buf_printf(out, " by %.*s", STR_ARG(by));
        buf_char(out, '\n');
    }
    if (note.len > 0) {
        buf_text(out, "  note       ");
        term_put_short(out, note, TEXT_WIDTH);
        buf_char(out, '\n');
    }
}

static void tell_next(struct buf *out, struct value letter)
{
    struct str id = list_id_end(client_text(letter, "id"));

    if (!str_eq(client_text(letter, "status"), STR("open")))
        return;
    if (str_eq(client_text(letter, "kind"), STR("reconcile"))) {
        buf_printf(out, "ask again: pawl dlq retry %.*s\n", STR_ARG(id));
        buf_printf(out,
                   "say what became of it: pawl dlq resolve %.*s --outcome "
                   "succeeded|failed|not_happened --note 'how that is known'\n",
                   STR_ARG(id));
        return;
    }
    buf_printf(out, "try it again: pawl dlq retry %.*s\n", STR_ARG(id));
    buf_printf(out, "close it: pawl dlq resolve %.*s --note 'what was done'\n", STR_ARG(id));
}

static int show(struct client *c, struct str id, const struct dlq_options *o)
{
    struct reply reply;
    struct buf out;

    if (!client_call(c, "GET", path_of(c, id, ""), STR_NONE, &reply))
        return EXIT_FAILED;
    if (o->as_json) {
        printf("%.*s\n", STR_ARG(reply.text));
        return EXIT_OK;
    }
    buf_init_arena(&out, &c->mem);
    buf_printf(&out, "%.*s %.*s is %.*s\n", STR_ARG(client_text(reply.json, "kind")),
               STR_ARG(client_text(reply.json, "id")), STR_ARG(client_text(reply.json, "status")));
    buf_printf(&out, "  execution  %.*s of %.*s\n", STR_ARG(client_text(reply.json, "executionId")),
               STR_ARG(client_text(reply.json, "code")));
    if (client_text(reply.json, "step").len > 0)
        buf_printf(&out, "  step       %.*s\n", STR_ARG(client_text(reply.json, "step")));
    tell_cause(&out, reply.json);
    buf_text(&out, "  payload    ");
    tell_short(&c->mem, &out, value_map_get_str(reply.json, STR("payload")), SHOWN_WIDTH);
    buf_text(&out, "\n  given up   ");
    tell_moment(&out, tell_time_of(reply.json, "createdAt"));
    buf_char(&out, '\n');
    tell_end(&out, reply.json);
    tell_next(&out, reply.json);
    printf("%.*s", STR_ARG(buf_view(&out)));
    return EXIT_OK;
}

static int act(struct client *c, struct str id, const char *action, struct str body,
               const char *told, bool as_json)
{
    struct reply reply;

    if (!client_call(c, "POST", path_of(c, id, action), body, &reply))
        return EXIT_FAILED;
    if (as_json)
        printf("%.*s\n", STR_ARG(reply.text));
    else
        printf("%.*s %s\n", STR_ARG(id), told);
    return EXIT_OK;
}

static int resolve(struct client *c, struct str id, const struct dlq_options *o)
{
    struct buf body;
    struct str output;
    struct value v;

    buf_init_arena(&body, &c->mem);
    buf_text(&body, "{\"note\":");
    json_write_string(&body, str_of(o->note));
    if (o->outcome != NULL) {
        buf_text(&body, ",\"outcome\":");
        json_write_string(&body, str_of(o->outcome));
    }
    if (o->output != NULL) {
        if (!file_argument_json(&c->mem, "output", o->output, &output, &v))
            return EXIT_FAILED;
        buf_printf(&body, ",\"output\":%.*s", STR_ARG(output));
    }
    buf_char(&body, '}');
    return act(c, id, "/resolve", buf_view(&body), "is resolved", o->as_json);
}

/* Everything that some letters, or all of them, are about. */
static int retry_many(struct client *c, const struct dlq_options *o)
{
    static const struct many letters = {"/dlq/bulk", "dead letters", "status=open"};

    return where_run(c, &(struct where){.of = &letters,
                                        .action = "retry",
                                        .done = "tried again",
                                        .conditions = o->where != NULL ? o->where : letters.all,
                                        .is_dry_run = o->is_dry_run,
                                        .as_json = o->as_json});
}

/* EXIT_USAGE when the words make no sense. */
static int run(struct client *c, int argc, char **argv, const struct dlq_options *o)
{
    const char *word = argc > 1 ? argv[1] : "ls";
    bool shows = strcmp(word, "show") == 0, retries = strcmp(word, "retry") == 0;
    bool resolves = strcmp(word, "resolve") == 0 && o->note != NULL;
    bool tells = o->note != NULL || o->outcome != NULL || o->output != NULL;
    struct str id;

    if (retries && argc == 2 && !tells && (o->where != NULL || o->all))
        return retry_many(c, o);
    if (o->where != NULL || o->is_dry_run)
        return EXIT_USAGE;
    if (argc <= 2 && strcmp(word, "ls") == 0 && !tells)
        return list(c, o);
    if (argc != 3 || !(resolves || ((shows || retries) && !tells)))
        return EXIT_USAGE;
    if (!find(c, argv[2], &id))
        return EXIT_FAILED;
    if (resolves)
        return resolve(c, id, o);
    return shows ? show(c, id, o) : act(c, id, "/retry", STR_NONE, "is tried again", o->as_json);
}

int command_dlq(int argc, char **argv)
{
    struct dlq_options o = {0};
    const struct option_spec specs[] = {
        {.name = "outcome", .value = &o.outcome}, {.name = "output", .value = &o.output},
        {.name = "note", .value = &o.note},       {.name = "status", .value = &o.status},
        {.name = "kind", .value = &o.kind},       {.name = "code", .value = &o.code},
        {.name = "from", .value = &o.from},       {.name = "execution", .value = &o.execution},
        {.name = "to", .value = &o.to},           {.name = "limit", .value = &o.limit},
        {.name = "where", .value = &o.where},     {.name = "dry-run", .flag = &o.is_dry_run},
        {.name = "all", .flag = &o.all},          {.name = "json", .flag = &o.as_json},
    };
    struct client c;
    int status;

    if (!options_read("dlq", specs, ARRAY_SIZE(specs), &argc, argv))
        return command_usage("dlq");
    client_open(&c, o.as_json);
    status = run(&c, argc, argv, &o);
    client_close(&c);
    return status == EXIT_USAGE ? command_usage("dlq") : status;
}
