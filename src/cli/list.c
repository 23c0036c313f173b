/* list.c - see list.h. */
#include "cli/list.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "cli/command.h"
#include "cli/table.h"

#include <stdio.h>

enum { ID_SHOWN = 12, PAGES_MAX = 20 };

void list_begin(struct client *c, struct buf *path, struct str route, const char *limit, bool all)
{
    buf_init_arena(path, &c->mem);
    buf_printf(path, "%.*s?limit=", STR_ARG(route));
    client_escape(path, str_of(limit != NULL ? limit : all ? "500" : "20"));
}

void list_filter(struct buf *path, const char *name, const char *value)
{
    if (value == NULL || *value == '\0')
        return;
    buf_printf(path, "&%s=", name);
    client_escape(path, str_of(value));
}

struct str list_id_end(struct str id)
{
    return id.len > ID_SHOWN ? str_slice(id, id.len - ID_SHOWN, id.len) : id;
}

/* A page of a table; the head stands above the first. */
static void print_rows(struct arena *mem, const struct list *l, struct table *t, struct value items)
{
    int64_t now_us = clock_wall_us(&clock_system);
    struct str cells[TABLE_COLUMNS_MAX];

    if (t->columns == 0)
        while (l->head[t->columns] != NULL)
            table_add(mem, t, str_of(l->head[t->columns++]));
    for (uint32_t i = 0; i < items.len; i++) {
        l->row(mem, items.items[i], now_us, cells);
        for (size_t k = 0; k < t->columns; k++)
            table_add(mem, t, cells[k]);
    }
    table_print(t);
}

int list_print(struct client *c, const struct list *l)
{
    struct str cursor = STR_NONE;
    struct table table = {0};
    struct reply reply;
    struct value items;
    uint64_t shown = 0;

    do {
        if (!client_page(c, l->path, &cursor, &reply, &items))
            return EXIT_FAILED;
        if (l->as_json) {
            client_print_items(c, items, &shown);
            continue;
        }
        if (items.len > 0 && l->row != NULL)
            print_rows(&c->mem, l, &table, items);
        else if (items.len > 0)
            l->print(&c->mem, items);
        shown += items.len;
    } while (cursor.len > 0 && (l->all || shown == 0));
    if (l->as_json)
        client_print_end(shown, cursor);
    else if (shown == 0)
        printf("%s\n", l->none);
    else if (cursor.len > 0) {
        (void)fflush(stdout);
        fprintf(stderr, "there are more: --all lists them, --limit sets how many\n");
    }
    return EXIT_OK;
}

bool list_find(struct client *c, const char *what, const char *command, const char *path,
               const char *name, struct str *out)
{
    struct str cursor = STR_NONE, end = str_of(name);
    struct reply reply;
    struct value items;
    bool is_newest = str_eq(end, STR("@last"));
    struct uuid id;
    unsigned found = 0;
    int pages = 0;

    *out = end;
    if (uuid_read(end, &id))
        return true;
    do {
        if (!client_page(c, str_of(path), &cursor, &reply, &items))
            return false;
        for (uint32_t i = 0; i < items.len; i++) {
            struct str text = client_text(items.items[i], "id");

            if (is_newest && (found == 0 || str_cmp(text, *out) > 0)) {
                *out = text; /* ids grow with time */
                found = 1;
            } else if (!is_newest && str_ends_with(text, end)) {
                *out = text;
                found++;
            }
        }
    } while (cursor.len > 0 && ++pages < PAGES_MAX);
    if (found == 1)
        return true;
    if (found == 0 && is_newest)
        client_fail(c, "not_found", "there is no %s yet", what);
    else if (found == 0)
        client_fail(c, "not_found", "there is no %s whose id ends with '%s'; %s lists them", what,
                    name, command);
    else
        client_fail(c, "invalid", "several %ss have ids that end with '%s'; give more of it", what,
                    name);
    return false;
}
