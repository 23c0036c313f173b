/* outbox.c - pawl outbox: messages that are not delivered yet. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/tell.h"

#include <stdio.h>

struct outbox_options {
    const char *status, *kind, *destination, *execution, *limit;
    bool all, as_json;
};

/* --- ls --- */

/* ID KIND TO NAME STATUS TRIED WAITS WHY */
static void fill_row(struct arena *mem, struct value message, int64_t now_us, struct str *row)
{
    struct value error = value_map_get_str(message, STR("error"));
    struct value attempts = value_map_get_str(message, STR("attempts"));
    struct buf age;

    buf_init_arena(&age, mem);
    tell_duration(&age, now_us - tell_time_of(message, "createdAt"));
    row[0] = list_id_end(client_text(message, "id"));
    row[1] = client_text(message, "kind");
    row[2] = client_text(message, "destination");
    row[3] = client_text(message, "name");
    row[4] = client_text(message, "status");
    row[5] = str_printf(mem, "%lld", (long long)attempts.i);
    row[6] = buf_view(&age);
    row[7] = error.kind == VALUE_MAP ? client_text(error, "message") : STR_NONE;
}

static int list(struct client *c, const struct outbox_options *o)
{
    static const char *const head[] = {"ID",    "KIND",  "TO",  "NAME", "STATUS",
                                       "TRIED", "WAITS", "WHY", NULL};
    struct str execution = STR_NONE;
    struct buf path;

    if (o->execution != NULL && !client_find(c, o->execution, &execution))
        return EXIT_FAILED;
    list_begin(c, &path, STR("/outbox"), o->limit, o->all);
    list_filter(&path, "status", o->status);
    list_filter(&path, "kind", o->kind);
    list_filter(&path, "destination", o->destination);
    list_filter(&path, "execution", str_copy(&c->mem, execution).ptr);
    return list_print(c, &(struct list){.path = buf_view(&path),
                                        .all = o->all,
                                        .as_json = o->as_json,
                                        .head = head,
                                        .row = fill_row,
                                        .none = "nothing waits for its delivery"});
}

/* --- retry --- */

static int retry(struct client *c, const char *text, const struct outbox_options *o)
{
    struct reply reply;
    struct str id;

    if (!list_find(c, "message", "pawl outbox", "/outbox?limit=500", text, &id) ||
        !client_call(c, "POST", str_printf(&c->mem, "/outbox/%.*s/retry", STR_ARG(id)), STR_NONE,
                     &reply))
        return EXIT_FAILED;
    if (o->as_json)
        printf("%.*s\n", STR_ARG(reply.text));
    else
        printf("%.*s is tried now\n", STR_ARG(id));
    return EXIT_OK;
}

int command_outbox(int argc, char **argv)
{
    struct outbox_options o = {0};
    const struct option_spec specs[] = {
        {.name = "status", .value = &o.status},
        {.name = "kind", .value = &o.kind},
        {.name = "destination", .value = &o.destination},
        {.name = "limit", .value = &o.limit},
        {.name = "execution", .value = &o.execution},
        {.name = "json", .flag = &o.as_json},
        {.name = "all", .flag = &o.all},
        CLIENT_OPTIONS,
    };
    struct client c;
    int status = EXIT_USAGE;
    const char *word;

    if (!options_read("outbox", specs, ARRAY_SIZE(specs), &argc, argv))
        return command_usage("outbox");
    word = argc > 1 ? argv[1] : "ls";
    client_open(&c, o.as_json);
    if (argc <= 2 && strcmp(word, "ls") == 0)
        status = list(&c, &o);
    else if (argc == 3 && strcmp(word, "retry") == 0)
        status = retry(&c, argv[2], &o);
    client_close(&c);
    return status == EXIT_USAGE ? command_usage("outbox") : status;
}
