/* inbox.c - pawl inbox: what waits for the user of the token, and what they have answered. */
#include "cli/operate/inbox.h"
#include "base/uuid.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/list.h"
#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UUID_END = 12 };

/* The end of the execution's id, the step and, from the second on, the visit. */
static struct str item_end(struct arena *mem, struct value item)
{
    struct str id = client_text(item, "id");

    (void)mem;
    return id.len > UUID_TEXT_LEN ? str_slice(id, UUID_TEXT_LEN - UUID_END, id.len) : id;
}

/* Whether an item of the inbox is the one that a person named by its id, or by its execution's. */
static bool is_named(struct value item, struct str end)
{
    return str_ends_with(client_text(item, "id"), end) ||
           str_ends_with(client_text(item, "executionId"), end);
}

bool inbox_find(struct client *c, const char *name, struct value *out)
{
    struct str cursor = STR_NONE, end = str_of(name);
    struct reply reply;
    struct value items;
    unsigned found = 0;

    if ((strcmp(name, "@last") == 0 || strncmp(name, "key:", 4) == 0) &&
        !client_find(c, name, &end))
        return false;
    do {
        if (!client_page(c, STR("/inbox?limit=500"), &cursor, &reply, &items))
            return false;
        for (uint32_t i = 0; i < items.len; i++)
            if (is_named(items.items[i], end)) {
                *out = items.items[i];
                found++;
            }
    } while (cursor.len > 0);
    if (found == 1)
        return true;
    if (found == 0)
        client_fail(c, "not_found", "nothing of %s waits for you; pawl inbox lists what does",
                    name);
    else
        client_fail(c, "invalid", "%u items of your inbox are meant by %s; give the id of one",
                    found, name);
    return false;
}

static struct str told_text(struct client *c, struct value v)
{
    return v.kind == VALUE_STRING ? value_text(v) : client_json(&c->mem, v);
}

/* The facts of a question, or what follows its answers: a line each. */
static void print_told(struct client *c, struct value list, const char *name)
{
    for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len; i++) {
        struct str told = told_text(c, value_map_get_str(list.items[i], str_of(name)));

        printf("  %.*s: %.*s\n", STR_ARG(client_text(list.items[i], "label")), STR_ARG(told));
    }
}

static const char *time_up_text(struct str action)
{
    if (str_eq(action, STR("continue")))
        return "the process goes on without an answer";
    if (str_eq(action, STR("compensate")))
        return "what was done so far is undone";
    if (str_eq(action, STR("hold")))
        return "it is held for an operator";
    return "the process fails";
}

static void print_time_up(struct client *c, struct value item)
{
    struct buf until;
    struct value up = value_map_get_str(item, STR("timeUp"));
    struct str action = client_text(up, "action"), to = client_text(up, "name");

    if (action.len == 0)
        return;
    buf_init_arena(&until, &c->mem);
    format_moment(&until, client_time(item, "until"));
    printf("if nobody answers until %.*s: ", STR_ARG(buf_view(&until)));
    if (str_eq(action, STR("goto")))
        printf("the process goes on with %.*s\n", STR_ARG(to.len > 0 ? to : client_text(up, "to")));
    else
        printf("%s\n", time_up_text(action));
}

static void print_answered_before(struct value list)
{
    for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len; i++) {
        struct str who = client_text(value_map_get_str(list.items[i], STR("by")), "name");

        printf("answered before: %.*s at %.*s\n", STR_ARG(who.len > 0 ? who : STR("by a link")),
               STR_ARG(client_text(list.items[i], "step")));
    }
}

/* All that is known of one question. */
static int print_question(struct client *c, struct value item)
{
    struct str name = client_text(item, "name"), code = client_text(item, "code");
    struct str title = client_text(item, "title");
    struct str starter = client_text(value_map_get_str(item, STR("startedBy")), "name");
    struct value then = value_map_get_str(item, STR("then"));

    printf("%.*s\n", STR_ARG(title.len > 0 ? title : client_text(item, "step")));
    printf("%.*s", STR_ARG(name.len > 0 ? name : code));
    if (starter.len > 0)
        printf(", started by %.*s", STR_ARG(starter));
    printf("\n");
    print_told(c, value_map_get_str(item, STR("show")), "value");
    print_answered_before(value_map_get_str(item, STR("answeredBefore")));
    if (then.kind == VALUE_LIST && then.len > 0)
        printf("what follows:\n");
    print_told(c, then, "text");
    print_time_up(c, item);
    return EXIT_SUCCESS;
}

int command_inbox(struct client *c, const struct options *o)
{
    static const struct list_column columns[] = {
        {"ID", .make = item_end},        COLUMN("TITLE", TEXT, "title"),
        COLUMN("PROCESS", TEXT, "code"), COLUMN("WAITS", AGE, "since"),
        COLUMN("LEFT", LEFT, "until"),
    };
    static const struct list_column answered_columns[] = {
        {"ID", .make = item_end},           COLUMN("TITLE", TEXT, "title"),
        COLUMN("PROCESS", TEXT, "code"),    COLUMN("ANSWERED", AGO, "answeredAt"),
        COLUMN("PAYLOAD", TEXT, "payload"),
    };
    struct value item;
    struct str json;

    if (o->argc == 2) {
        if (!inbox_find(c, o->argv[1], &item))
            return EXIT_FAILED;
        if (!options_has(o, "json"))
            return print_question(c, item);
        json = client_json(&c->mem, item);
        printf("%.*s\n", STR_ARG(json));
        return EXIT_SUCCESS;
    }
    if (o->argc != 1)
        return options_usage(o);
    if (options_has(o, "answered"))
        return list_print(c, o,
                          &(struct list){.route = "/inbox",
                                         .filters = "answered=answered:true",
                                         LIST_COLUMNS(answered_columns),
                                         .none = "you have answered nothing"});
    return list_print(
        c, o,
        &(struct list){.route = "/inbox", LIST_COLUMNS(columns), .none = "nothing waits for you"});
}
