/*
 * act.c - what operators do to one execution, or with --where to many: the
 * commands that engine/actions.def has words for. Their options are the fields
 * of the action.
 */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/last.h"
#include "cli/options.h"
#include "cli/where.h"
#include "engine/actions.h"
#include "value/object.h"

#include <stdio.h>

/* What was done about open dead letters, for a deletion that deletes them too; or NULL. */
static const char *act_letters(const struct options *o, enum action action)
{
    return action == ACTION_DELETE ? options_get(o, "close-letters") : NULL;
}

/* The option of a field that the action takes, or NULL. */
static const char *act_option(const struct options *o, enum action action, enum action_field field,
                              const char *name)
{
    return action_takes(action, field) ? options_get(o, name) : NULL;
}

/* Whether there is one ID, or none with --where, and the options fit together. */
static bool act_fits(const struct options *o, enum action action, int64_t *version)
{
    const struct action_spec *act = &action_specs[action];
    bool is_bulk = options_has(o, "where");

    *version = 0;
    if (action_takes(action, ACTION_FIELD_COMPENSATE) && options_has(o, "compensate") &&
        options_has(o, "no-compensate")) {
        fprintf(stderr, "pawl %s: --compensate or --no-compensate, not both\n", act->name);
        return false;
    }
    if (o->argc != (is_bulk ? 1 : 2) || (options_has(o, "dry-run") && !is_bulk) ||
        ((act_letters(o, action) != NULL ||
          act_option(o, action, ACTION_FIELD_BRANCH, "branch") != NULL) &&
         is_bulk))
        return false;
    if (!action_takes(action, ACTION_FIELD_VERSION))
        return true;
    return ((act->needs & 1u << ACTION_FIELD_VERSION) == 0 || options_need(o, "version")) &&
           options_number(o, "version", version);
}

/* Variables, as an object of JSON: {"set": {"variables": ...}}. */
static bool act_add_set(struct client *c, struct buf *out, const char *variables)
{
    if (variables == NULL)
        return true;
    object_nested(out, "set");
    if (!client_add_json(c, out, "variables", "--set", variables))
        return false;
    buf_char(out, '}');
    return true;
}

static bool act_body(struct client *c, const struct options *o, enum action action, int64_t version,
                     struct buf *out)
{
    object_begin(out, &c->mem);
    client_add_text(out, "reason", act_option(o, action, ACTION_FIELD_REASON, "reason"));
    if (action_takes(action, ACTION_FIELD_COMPENSATE) &&
        (options_has(o, "compensate") || options_has(o, "no-compensate")))
        object_bool(out, "compensate", options_has(o, "compensate"));
    client_add_text(out, "from", act_option(o, action, ACTION_FIELD_FROM, "from"));
    if (version > 0)
        object_int(out, "version", version);
    if (!client_add_json(c, out, "input", "input",
                         act_option(o, action, ACTION_FIELD_INPUT, "input")) ||
        !client_add_json(c, out, "output", "output",
                         act_option(o, action, ACTION_FIELD_OUTPUT, "output")) ||
        !act_add_set(c, out, act_option(o, action, ACTION_FIELD_SET, "set")))
        return false;
    client_add_text(out, "to", act_option(o, action, ACTION_FIELD_TO, "to"));
    client_add_text(out, "branch", act_option(o, action, ACTION_FIELD_BRANCH, "branch"));
    buf_char(out, '}');
    return true;
}

/* The new execution, as pawl start shows it. */
static int act_print_started(struct client *c, const struct reply *reply)
{
    struct str text = describe_state(&c->mem, reply->json);

    last_remember(&c->mem, c->url, client_text(reply->json, "id"));
    return client_answer(c, reply, "%.*s %.*s\n%.*s", STR_ARG(client_text(reply->json, "id")),
                         STR_ARG(client_text(reply->json, "status")), STR_ARG(text));
}

/* How a deletion deals with dead letters that are open. */
static struct str act_query(struct client *c, const struct options *o, enum action action)
{
    const char *note = act_letters(o, action);

    return note == NULL ? STR_NONE : client_path(c, "?letters=close&note=", str_of(note), "");
}

static int act_on_one(struct client *c, enum action action, const char *name, struct str query,
                      struct str body)
{
    const struct action_spec *act = &action_specs[action];
    bool deletes = action == ACTION_DELETE;
    struct reply reply;
    struct str id, path;

    if (!client_find(c, name, &id))
        return EXIT_FAILED;
    path = str_printf(&c->mem, "/executions/%.*s%s%s%.*s", STR_ARG(id), deletes ? "" : "/",
                      deletes ? "" : act->name, STR_ARG(query));
    if (!client_call(c, deletes ? "DELETE" : "POST", path, deletes ? STR_NONE : body, &reply))
        return EXIT_FAILED;
    if (action == ACTION_AGAIN)
        return act_print_started(c, &reply);
    reply.text = str_printf(&c->mem, "{\"id\":\"%.*s\",\"%s\":true}", STR_ARG(id),
                            deletes ? "deleted" : "accepted");
    return client_answer(c, &reply, "%.*s is %s", STR_ARG(id),
                         act->begun != NULL ? act->begun : act->done);
}

int command_act(struct client *c, const struct options *o)
{
    enum action action;
    struct buf body;
    int64_t version;

    if (!action_read(str_of(o->command->name), &action))
        PANIC("a command that is no action");
    if (!act_fits(o, action, &version))
        return options_usage(o);
    if (!act_body(c, o, action, version, &body))
        return EXIT_FAILED;
    if (!options_has(o, "where"))
        return act_on_one(c, action, o->argv[1], act_query(c, o, action), buf_view(&body));
    return where_run(c, &(struct where){.action = action_specs[action].name,
                                        .done = action_specs[action].done,
                                        .conditions = options_get(o, "where"),
                                        .fields = body.len > 2
                                                      ? str_slice(buf_view(&body), 1, body.len - 1)
                                                      : STR_NONE,
                                        .is_dry_run = options_has(o, "dry-run")});
}
