/* dlq.c - pawl dlq: what was given up, and what is done about it. */
#include "cli/command.h"
#include "cli/format.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/term.h"
#include "cli/where.h"
#include "value/object.h"

#include <stdio.h>

enum { SHOWN_WIDTH = 100, TEXT_WIDTH = 2000 };

static int dlq_list(struct client *c, const struct options *o)
{
    static const struct list_column columns[] = {
        COLUMN("ID", ID, "id"),
        COLUMN("KIND", TEXT, "kind"),
        COLUMN("CODE", TEXT, "code"),
        COLUMN("STEP", TEXT, "step"),
        COLUMN("KEY", TEXT, "key"),
        COLUMN("STATUS", TEXT, "status"),
        COLUMN("CAUSE", TEXT, "cause.code"),
        COLUMN("GIVEN UP", AGO, "createdAt"),
    };

    return list_print(c, o,
                      &(struct list){.route = "/dlq",
                                     .filters = "status kind code @execution from to",
                                     LIST_COLUMNS(columns),
                                     .none = "no dead letters"});
}

/* --- one --- */

static void dlq_put_cause(struct buf *out, struct value letter)
{
    struct value cause = value_map_get_str(letter, STR("cause"));
    int64_t attempts = client_int(letter, "attempts", 0);

    if (cause.kind == VALUE_MAP) {
        buf_printf(out, "  cause      %.*s: ", STR_ARG(client_text(cause, "code")));
        term_put_short(out, client_text(cause, "message"), TEXT_WIDTH);
        buf_char(out, '\n');
    }
    buf_printf(out, "  attempts   %lld\n", (long long)attempts);
}

static void dlq_put_end(struct buf *out, struct value letter)
{
    struct str note = client_text(letter, "note"), by = client_text(letter, "resolvedBy");
    int64_t at_us = client_time(letter, "resolvedAt");

    if (at_us > 0) {
        buf_printf(out, "  %-9.*s  ", STR_ARG(client_text(letter, "status")));
        format_moment(out, at_us);
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

static void dlq_put_next(struct buf *out, struct value letter)
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

static int dlq_show(struct client *c, struct str id)
{
    struct reply reply;
    struct buf out;

    if (!client_call(c, "GET", client_path(c, "/dlq/", id, ""), STR_NONE, &reply))
        return EXIT_FAILED;
    if (c->as_json)
        return client_print_json(&reply);
    buf_init_arena(&out, &c->mem);
    buf_printf(&out, "%.*s %.*s is %.*s\n", STR_ARG(client_text(reply.json, "kind")),
               STR_ARG(client_text(reply.json, "id")), STR_ARG(client_text(reply.json, "status")));
    buf_printf(&out, "  execution  %.*s of %.*s\n", STR_ARG(client_text(reply.json, "executionId")),
               STR_ARG(client_text(reply.json, "code")));
    if (client_text(reply.json, "step").len > 0)
        buf_printf(&out, "  step       %.*s\n", STR_ARG(client_text(reply.json, "step")));
    dlq_put_cause(&out, reply.json);
    if (client_text(reply.json, "idempotencyKey").len > 0)
        buf_printf(&out, "  sent as    %.*s, its idempotency key\n",
                   STR_ARG(client_text(reply.json, "idempotencyKey")));
    buf_text(&out, "  payload    ");
    format_short(&c->mem, &out, value_map_get_str(reply.json, STR("payload")), SHOWN_WIDTH);
    buf_text(&out, "\n  given up   ");
    format_moment(&out, client_time(reply.json, "createdAt"));
    buf_char(&out, '\n');
    dlq_put_end(&out, reply.json);
    dlq_put_next(&out, reply.json);
    printf("%.*s", STR_ARG(buf_view(&out)));
    return EXIT_OK;
}

static int dlq_resolve(struct client *c, struct str id, const struct options *o)
{
    struct buf body;

    object_begin(&body, &c->mem);
    client_add_text(&body, "note", options_get(o, "note"));
    client_add_text(&body, "outcome", options_get(o, "outcome"));
    if (!client_add_json(c, &body, "output", "output", options_get(o, "output")))
        return EXIT_FAILED;
    return client_send(c, "POST", client_path(c, "/dlq/", id, "/resolve"), object_end(&body),
                       "%.*s is resolved", STR_ARG(id));
}

/* Retry, or with a note resolve, the letters of --where, or all that are open. */
static int dlq_many(struct client *c, const struct options *o)
{
    static const struct many letters = {"/dlq/bulk", "dead letters", "status=open"};
    const char *where = options_get(o, "where"), *note = options_get(o, "note");
    struct buf fields;

    object_begin(&fields, &c->mem);
    client_add_text(&fields, "note", note);
    return where_run(c, &(struct where){.of = &letters,
                                        .action = note != NULL ? "resolve" : "retry",
                                        .done = note != NULL ? "resolved" : "tried again",
                                        .conditions = where != NULL ? where : letters.all,
                                        .fields = str_slice(buf_view(&fields), 1, fields.len),
                                        .is_dry_run = options_has(o, "dry-run")});
}

int command_dlq(struct client *c, const struct options *o)
{
    const char *word = o->argc > 1 ? o->argv[1] : "ls";
    bool has_note = options_has(o, "note"), is_bulk = options_has(o, "where");
    bool resolves = strcmp(word, "resolve") == 0 && has_note;
    bool shows = strcmp(word, "show") == 0, retries = strcmp(word, "retry") == 0;
    bool settles = has_note || options_has(o, "outcome") || options_has(o, "output");
    struct str id;

    if (o->argc == 2 && (is_bulk || options_has(o, "all")) &&
        (retries ? !settles : resolves && !options_has(o, "outcome") && !options_has(o, "output")))
        return dlq_many(c, o);
    if (is_bulk || options_has(o, "dry-run"))
        return options_usage(o);
    if (o->argc <= 2 && strcmp(word, "ls") == 0 && !settles)
        return dlq_list(c, o);
    if (strcmp(word, "resolve") == 0 && !options_need(o, "note"))
        return options_usage(o);
    if (o->argc != 3 || !(resolves || ((shows || retries) && !settles)))
        return options_usage(o);
    if (!list_find(c, "dead letter", "pawl dlq", "/dlq?status=all&limit=500", o->argv[2], &id))
        return EXIT_FAILED;
    if (resolves)
        return dlq_resolve(c, id, o);
    if (shows)
        return dlq_show(c, id);
    return client_send(c, "POST", client_path(c, "/dlq/", id, "/retry"), STR_NONE,
                       "%.*s is tried again", STR_ARG(id));
}
