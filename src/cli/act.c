/* act.c - the commands of acts.def: what operators do to one execution, or to many. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/last.h"
#include "cli/options.h"
#include "cli/tell.h"
#include "cli/where.h"
#include "value/object.h"

#include <stdio.h>

/* --- the table --- */

enum act_option { ACT_REASON, ACT_COMPENSATE, ACT_FROM, ACT_VERSION, ACT_INPUT, ACT_OUTPUT };

#define TAKES(option) (1u << ACT_##option)
#define NEEDS_VERSION (1u << 31)

struct act {
    const char *command;
    const char *done, *begun;
    unsigned options;
};

/* What the command line said. */
struct act_line {
    const struct act *act;
    const char *reason, *from, *version, *input, *output, *where;
    bool compensates, leaves, is_dry_run, as_json;
    int64_t version_number;
};

/* --- reading the command line --- */

enum { SPECS_MAX = 16 };

static bool act_read_options(struct act_line *l, int *argc, char **argv)
{
    const struct {
        unsigned option;
        struct option_spec spec;
    } all[] = {
        {TAKES(REASON), {.name = "reason", .value = &l->reason}},
        {TAKES(COMPENSATE), {.name = "compensate", .flag = &l->compensates}},
        {TAKES(COMPENSATE), {.name = "no-compensate", .flag = &l->leaves}},
        {TAKES(FROM), {.name = "from", .value = &l->from}},
        {TAKES(VERSION), {.name = "version", .value = &l->version}},
        {TAKES(INPUT), {.name = "input", .value = &l->input}},
        {TAKES(OUTPUT), {.name = "output", .value = &l->output}},
    };
    struct option_spec specs[SPECS_MAX] = {{.name = "where", .value = &l->where},
                                           {.name = "dry-run", .flag = &l->is_dry_run},
                                           {.name = "json", .flag = &l->as_json},
                                           CLIENT_OPTIONS};
    size_t count = 0;

    while (specs[count].name != NULL)
        count++;
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        if ((l->act->options & all[i].option) != 0) {
            ASSERT(count < SPECS_MAX);
            specs[count++] = all[i].spec;
        }
    return options_read(l->act->command, specs, count, argc, argv);
}

/* Whether there is one ID, or none with --where, and what belongs together. */
static bool act_fits(struct act_line *l, int argc)
{
    if (l->compensates && l->leaves) {
        fprintf(stderr, "pawl %s: --compensate or --no-compensate, not both\n", l->act->command);
        return false;
    }
    return argc == (l->where != NULL ? 1 : 2) && (!l->is_dry_run || l->where != NULL) &&
           ((l->act->options & NEEDS_VERSION) == 0 || l->version != NULL) &&
           options_number(l->act->command, "version", l->version, &l->version_number);
}

/* --- the request --- */

static bool add_json(struct client *c, const char *name, const char *argument, struct buf *out)
{
    struct str text;
    struct value v;

    if (argument == NULL)
        return true;
    if (!file_argument_json(&c->mem, name, argument, &text, &v))
        return false;
    object_json(out, name, text);
    return true;
}

static bool act_body(struct client *c, const struct act_line *l, struct buf *out)
{
    buf_init_arena(out, &c->mem);
    buf_char(out, '{');
    if (l->reason != NULL)
        object_text(out, "reason", str_of(l->reason));
    if (l->compensates || l->leaves)
        object_bool(out, "compensate", l->compensates);
    if (l->from != NULL)
        object_text(out, "from", str_of(l->from));
    if (l->version_number > 0)
        object_int(out, "version", l->version_number);
    if (!add_json(c, "input", l->input, out) || !add_json(c, "output", l->output, out))
        return false;
    buf_char(out, '}');
    return true;
}

static int act_on_many(struct client *c, const struct act_line *l, struct str body)
{
    return where_run(
        c, &(struct where){.action = l->act->command,
                           .done = l->act->done,
                           .conditions = l->where,
                           .fields = body.len > 2 ? str_slice(body, 1, body.len - 1) : STR_NONE,
                           .is_dry_run = l->is_dry_run,
                           .as_json = l->as_json});
}

/* The new execution, as pawl start tells it. */
static int tell_started(struct client *c, const struct reply *reply, bool as_json)
{
    struct buf out;

    last_remember(&c->mem, c->url, client_text(reply->json, "id"));
    if (as_json) {
        printf("%.*s\n", STR_ARG(reply->text));
        return EXIT_OK;
    }
    buf_init_arena(&out, &c->mem);
    tell_state(&c->mem, &out, reply->json);
    printf("%.*s %.*s\n%.*s\n", STR_ARG(client_text(reply->json, "id")),
           STR_ARG(client_text(reply->json, "status")), STR_ARG(buf_view(&out)));
    return EXIT_OK;
}

static int act_on_one(struct client *c, const struct act_line *l, const char *name, struct str body)
{
    bool deletes = strcmp(l->act->command, "delete") == 0;
    struct reply reply;
    struct str id, path;

    if (!client_find(c, name, &id))
        return EXIT_FAILED;
    path = deletes ? str_printf(&c->mem, "/executions/%.*s", STR_ARG(id))
                   : str_printf(&c->mem, "/executions/%.*s/%s", STR_ARG(id), l->act->command);
    if (!client_call(c, deletes ? "DELETE" : "POST", path, deletes ? STR_NONE : body, &reply))
        return EXIT_FAILED;
    if (strcmp(l->act->command, "again") == 0)
        return tell_started(c, &reply, l->as_json);
    if (l->as_json)
        printf("{\"id\":\"%.*s\",\"%s\":true}\n", STR_ARG(id), deletes ? "deleted" : "accepted");
    else
        printf("%.*s is %s\n", STR_ARG(id), l->act->begun != NULL ? l->act->begun : l->act->done);
    return EXIT_OK;
}

static int act_run(const struct act *act, int argc, char **argv)
{
    struct act_line line = {.act = act};
    struct client c;
    struct buf body;
    int status = EXIT_FAILED;

    if (!act_read_options(&line, &argc, argv) || !act_fits(&line, argc))
        return command_usage(act->command);
    client_open(&c, line.as_json);
    if (!act_body(&c, &line, &body))
        ;
    else if (line.where != NULL)
        status = act_on_many(&c, &line, buf_view(&body));
    else
        status = act_on_one(&c, &line, argv[1], buf_view(&body));
    client_close(&c);
    return status;
}

#define ACT(name, done_text, begun_text, takes)                                                    \
    int command_##name(int argc, char **argv)                                                      \
    {                                                                                              \
        static const struct act act = {#name, done_text, begun_text, takes};                       \
                                                                                                   \
        return act_run(&act, argc, argv);                                                          \
    }
#include "cli/acts.def"
#undef ACT
