/* planner.c - see planner.h. */
#include "cli/planner.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "cli/command.h"

#include <stdio.h>

enum { ID_SHOWN = 12, PAGES_MAX = 20 };

struct str planner_end_of(struct str id)
{
    return id.len > ID_SHOWN ? str_slice(id, id.len - ID_SHOWN, id.len) : id;
}

struct str planner_event_id(struct arena *mem)
{
    struct uuid_gen gen;
    char *text = arena_alloc(mem, UUID_TEXT_LEN + 1);

    uuid_gen_init(&gen, NULL, NULL);
    uuid_write(uuid_gen_next(&gen, clock_wall_us(&clock_system) / 1000), text);
    return str_from(text, UUID_TEXT_LEN);
}

bool planner_find(struct client *c, const char *what, const char *path, const char *name,
                  struct str *out)
{
    struct str cursor = STR_NONE, end = str_of(name);
    struct reply reply;
    struct value items;
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
            struct str full = client_text(items.items[i], "id");

            if (end.len > 0 && str_ends_with(full, end)) {
                *out = full;
                found++;
            }
        }
    } while (cursor.len > 0 && ++pages < PAGES_MAX);
    if (found == 1)
        return true;
    client_fail(c, "not_found",
                found == 0 ? "no %s has an id that ends with %s"
                           : "several of %s end with %s: give more of the id",
                what, name);
    return false;
}

int planner_list(struct client *c, struct str path, bool all, bool as_json,
                 void (*print)(struct arena *mem, struct value items), const char *none)
{
    struct str cursor = STR_NONE;
    struct reply reply;
    struct value items;
    uint64_t shown = 0;

    do {
        if (!client_page(c, path, &cursor, &reply, &items))
            return EXIT_FAILED;
        if (as_json) {
            client_print_items(c, items, &shown);
            continue;
        }
        if (items.len > 0)
            print(&c->mem, items);
        shown += items.len;
    } while (cursor.len > 0 && (all || shown == 0));
    if (as_json)
        client_print_end(shown, cursor);
    else if (shown == 0)
        printf("%s\n", none);
    else if (cursor.len > 0) {
        (void)fflush(stdout);
        fprintf(stderr, "there are more: --all lists them, --limit sets how many\n");
    }
    return EXIT_OK;
}
