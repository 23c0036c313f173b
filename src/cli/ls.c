/* ls.c - pawl ls: executions as a table, or how many there are. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/tell.h"

#include <stdio.h>

/* "failed: no_luck", "held: no_luck" */
static struct str status_text(struct arena *mem, struct value x)
{
    struct str status = client_text(x, "status");
    struct value error = value_map_get_str(x, STR("error"));
    struct value wait = value_map_get_str(x, STR("waitingFor"));

    if (wait.kind == VALUE_MAP && str_eq(client_text(wait, "kind"), STR("incident")))
        return str_printf(mem, "held: %.*s",
                          STR_ARG(client_text(value_map_get_str(wait, STR("error")), "code")));
    if (error.kind == VALUE_MAP && client_text(error, "code").len > 0)
        return str_printf(mem, "%.*s: %.*s", STR_ARG(status), STR_ARG(client_text(error, "code")));
    return status;
}

/* One row of the table: ID CODE STATUS STEP KEY STARTED. */
static void fill_row(struct arena *mem, struct value x, int64_t now_us, struct str *row)
{
    struct buf age;

    buf_init_arena(&age, mem);
    tell_duration(&age, now_us - tell_time_of(x, "createdAt"));
    buf_text(&age, " ago");
    row[0] = list_id_end(client_text(x, "id"));
    row[1] = client_text(x, "code");
    row[2] = status_text(mem, x);
    row[3] = client_text(x, "currentStep");
    if (row[3].len == 0)
        row[3] = client_text(value_map_get_str(x, STR("error")), "step");
    row[4] = client_text(x, "key");
    row[5] = buf_view(&age);
}

static int list(struct client *c, struct str path, bool is_filtered, bool all, bool as_json)
{
    static const char *const head[] = {"ID", "CODE", "STATUS", "STEP", "KEY", "STARTED", NULL};

    return list_print(
        c, &(struct list){.path = path,
                          .all = all,
                          .as_json = as_json,
                          .head = head,
                          .row = fill_row,
                          .none = is_filtered ? "no execution matches"
                                              : "no executions; start one with: pawl start CODE"});
}

/* --- how many --- */

/* "CODE" of "code" */
static struct str head_of(struct arena *mem, const char *by)
{
    struct buf out;

    buf_init_arena(&out, mem);
    for (; *by != '\0'; by++)
        buf_char(&out, *by >= 'a' && *by <= 'z' ? (char)(*by - 'a' + 'A') : *by);
    return buf_view(&out);
}

static void print_counts(struct arena *mem, const char *by, struct value items)
{
    bool has_status = strcmp(by, "status") != 0;
    struct table t = {.columns = has_status ? 3 : 2};

    table_add(mem, &t, STR("COUNT"));
    if (has_status)
        table_add(mem, &t, STR("STATUS"));
    table_add(mem, &t, head_of(mem, by));
    for (uint32_t i = 0; items.kind == VALUE_LIST && i < items.len; i++) {
        struct value x = items.items[i];

        table_add(mem, &t, str_printf(mem, "%lld", (long long)tell_int_of(x, "count", 0)));
        if (has_status)
            table_add(mem, &t, client_text(x, "status"));
        table_add(mem, &t, client_text(x, "value"));
    }
    table_print(&t);
}

static int count(struct client *c, const char *by, struct str conditions, bool as_json)
{
    struct buf path, since;
    struct reply reply;

    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/executions/summary?by=");
    client_escape(&path, str_of(by));
    buf_str(&path, conditions);
    if (!client_call(c, "GET", buf_view(&path), STR_NONE, &reply))
        return EXIT_FAILED;
    if (as_json) {
        printf("%.*s\n", STR_ARG(reply.text));
        return EXIT_OK;
    }
    print_counts(&c->mem, by, value_map_get_str(reply.json, STR("items")));
    if (tell_time_of(reply.json, "since") > 0) {
        buf_init_arena(&since, &c->mem);
        tell_moment(&since, tell_time_of(reply.json, "since"));
        (void)fflush(stdout);
        fprintf(stderr, "of what has ended, only what was started since %.*s is counted\n",
                STR_ARG(buf_view(&since)));
    }
    return EXIT_OK;
}

/* A parent may be named as any execution is. */
static bool find_parent(struct client *c, const char **parent)
{
    struct str id;

    if (*parent == NULL)
        return true;
    if (!client_find(c, *parent, &id))
        return false;
    *parent = str_printf(&c->mem, "%.*s", STR_ARG(id)).ptr;
    return true;
}

/* What an option says, or NULL; and the parameter that it becomes. */
struct condition {
    const char *name, *value;
};

int command_ls(int argc, char **argv)
{
    const char *limit = NULL, *count_by = NULL;
    struct condition given[] = {
        {.name = "status"}, {.name = "code"},  {.name = "key"},     {.name = "step"},
        {.name = "parent"}, {.name = "error"}, {.name = "waiting"}, {.name = "kind"},
        {.name = "from"},   {.name = "to"},    {.name = "q"},       {.name = "deadlineBefore"},
    };
    bool as_json = false, all = false, is_filtered = false, is_held = false, is_oldest = false;
    const struct option_spec specs[] = {
        {.name = "status", .value = &given[0].value},
        {.name = "code", .value = &given[1].value},
        {.name = "key", .value = &given[2].value},
        {.name = "step", .value = &given[3].value},
        {.name = "parent", .value = &given[4].value},
        {.name = "error", .value = &given[5].value},
        {.name = "waiting", .value = &given[6].value},
        {.name = "kind", .value = &given[7].value},
        {.name = "from", .value = &given[8].value},
        {.name = "to", .value = &given[9].value},
        {.name = "q", .value = &given[10].value},
        {.name = "deadline-before", .value = &given[11].value},
        {.name = "held", .flag = &is_held},
        {.name = "oldest", .flag = &is_oldest},
        {.name = "count-by", .value = &count_by},
        {.name = "limit", .value = &limit},
        {.name = "all", .flag = &all},
        {.name = "json", .flag = &as_json},
        CLIENT_OPTIONS,
    };
    struct client c;
    struct buf path;
    int status = EXIT_FAILED;

    if (!options_read("ls", specs, ARRAY_SIZE(specs), &argc, argv) || argc != 1)
        return command_usage("ls");
    if (is_held)
        given[6].value = "incident";
    client_open(&c, as_json);
    if (find_parent(&c, &given[4].value)) {
        buf_init_arena(&path, &c.mem);
        if (count_by == NULL) {
            list_begin(&c, &path, STR("/executions"), limit, all);
            list_filter(&path, "order", is_oldest ? "oldest" : NULL);
        }
        for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
            list_filter(&path, given[i].name, given[i].value);
            is_filtered |= given[i].value != NULL;
        }
        status = count_by != NULL ? count(&c, count_by, buf_view(&path), as_json)
                                  : list(&c, buf_view(&path), is_filtered, all, as_json);
    }
    client_close(&c);
    return status;
}
