/* outbox.c - pawl outbox: messages that are not delivered yet. */
#include "base/clock.h"
#include "base/uuid.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/tell.h"

#include <stdio.h>

enum { ID_SHOWN = 12, COLUMNS = 8, PAGES_MAX = 20 };

struct outbox_options {
    const char *status, *kind, *destination, *execution, *limit;
    bool as_json;
};

static struct str end_of(struct str id)
{
    return id.len > ID_SHOWN ? str_slice(id, id.len - ID_SHOWN, id.len) : id;
}

static void add_filter(struct buf *path, const char *name, struct str value)
{
    if (value.len == 0)
        return;
    buf_printf(path, "&%s=", name);
    client_escape(path, value);
}

static struct str or_none(const char *text)
{
    return text != NULL ? str_of(text) : STR_NONE;
}

/* --- ls --- */

/* ID KIND TO NAME STATUS TRIED WAITS WHY */
static void fill_row(struct arena *mem, struct value message, int64_t now_us, struct str *row)
{
    struct value error = value_map_get_str(message, STR("error"));
    struct value attempts = value_map_get_str(message, STR("attempts"));
    struct buf age;

    buf_init_arena(&age, mem);
    tell_duration(&age, now_us - tell_time_of(message, "createdAt"));
    row[0] = end_of(client_text(message, "id"));
    row[1] = client_text(message, "kind");
    row[2] = client_text(message, "destination");
    row[3] = client_text(message, "name");
    row[4] = client_text(message, "status");
    row[5] = str_printf(mem, "%lld", (long long)attempts.i);
    row[6] = buf_view(&age);
    row[7] = error.kind == VALUE_MAP ? client_text(error, "message") : STR_NONE;
}

static void print_table(struct arena *mem, struct value items)
{
    static const char *const head[COLUMNS] = {"ID",     "KIND",  "TO",    "NAME",
                                              "STATUS", "TRIED", "WAITS", "WHY"};
    struct table table = {.columns = COLUMNS};
    int64_t now_us = clock_wall_us(&clock_system);

    for (unsigned i = 0; i < COLUMNS; i++)
        table_add(mem, &table, str_of(head[i]));
    for (uint32_t i = 0; i < items.len; i++) {
        struct str row[COLUMNS];

        fill_row(mem, items.items[i], now_us, row);
        for (unsigned k = 0; k < COLUMNS; k++)
            table_add(mem, &table, row[k]);
    }
    table_print(&table);
}

static int list(struct client *c, const struct outbox_options *o)
{
    struct str execution = STR_NONE;
    struct reply reply;
    struct value items;
    struct buf path;

    if (o->execution != NULL && !client_find(c, o->execution, &execution))
        return EXIT_FAILED;
    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/outbox?limit=");
    client_escape(&path, str_of(o->limit != NULL ? o->limit : "20"));
    add_filter(&path, "status", or_none(o->status));
    add_filter(&path, "kind", or_none(o->kind));
    add_filter(&path, "destination", or_none(o->destination));
    add_filter(&path, "execution", execution);
    if (!client_call(c, "GET", buf_view(&path), STR_NONE, &reply))
        return EXIT_FAILED;
    items = value_map_get_str(reply.json, STR("items"));
    if (o->as_json)
        printf("%.*s\n", STR_ARG(reply.text));
    else if (items.len == 0)
        printf("nothing waits for its delivery\n");
    else
        print_table(&c->mem, items);
    return EXIT_OK;
}

/* --- retry --- */

/* The message whose id ends like this, of the newest ones. */
static bool find(struct client *c, const char *text, struct str *out)
{
    struct str cursor = STR_NONE, end = str_of(text);
    struct uuid id;

    *out = STR_NONE;
    if (uuid_read(end, &id)) {
        *out = end;
        return true;
    }
    for (int page = 0; page == 0 || (cursor.len > 0 && page < PAGES_MAX); page++) {
        struct buf path;
        struct reply reply;
        struct value items;

        buf_init_arena(&path, &c->mem);
        buf_text(&path, "/outbox?limit=500");
        add_filter(&path, "cursor", cursor);
        if (!client_call(c, "GET", buf_view(&path), STR_NONE, &reply))
            return false;
        items = value_map_get_str(reply.json, STR("items"));
        for (uint32_t i = 0; i < items.len; i++) {
            struct str found = client_text(items.items[i], "id");

            if (!str_ends_with(found, end))
                continue;
            if (out->len > 0) {
                fprintf(stderr, "pawl outbox: several messages have an id that ends in %s\n", text);
                return false;
            }
            *out = found;
        }
        cursor = client_text(reply.json, "nextCursor");
    }
    if (out->len == 0)
        fprintf(stderr,
                "pawl outbox: no message has an id that ends in %s: it was delivered, or "
                "`pawl outbox ls` shows others\n",
                text);
    return out->len > 0;
}

static int retry(struct client *c, const char *text, const struct outbox_options *o)
{
    struct reply reply;
    struct str id;

    if (!find(c, text, &id) ||
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
        {.name = "status", .value = &o.status},           {.name = "kind", .value = &o.kind},
        {.name = "destination", .value = &o.destination}, {.name = "limit", .value = &o.limit},
        {.name = "execution", .value = &o.execution},     {.name = "json", .flag = &o.as_json},
    };
    struct client c;
    int status = EXIT_USAGE;
    const char *word;

    if (!options_read("outbox", specs, sizeof(specs) / sizeof(specs[0]), &argc, argv))
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
