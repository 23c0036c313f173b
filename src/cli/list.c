/* list.c - see list.h. */
#include "cli/list.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/options.h"
#include "cli/table.h"

#include <stdio.h>

enum { ID_SHOWN = 12, PAGES_MAX = 20 };

/* --- filters --- */

void list_filter(struct buf *path, const char *name, const char *value)
{
    if (value == NULL || *value == '\0')
        return;
    buf_printf(path, "&%s=", name);
    url_encode(path, str_of(value));
}

/* One word of `filters`: see struct list. */
static bool add_filter(struct client *c, const struct options *o, struct str word, struct buf *path,
                       unsigned *count)
{
    bool is_execution = word.ptr[0] == '@';
    struct str fixed = str_slice(word, is_execution ? 1 : 0, word.len), parameter, id;
    const char *option = str_copy(&c->mem, str_cut(&fixed, '=')).ptr, *value;

    parameter = str_cut(&fixed, ':');
    if (!options_has(o, option))
        return true;
    value = options_get(o, option);
    if (value == NULL)
        value = fixed.len > 0 ? str_copy(&c->mem, fixed).ptr : "true";
    if (is_execution) {
        if (!client_find(c, value, &id))
            return false;
        value = str_copy(&c->mem, id).ptr;
    }
    list_filter(path, parameter.len > 0 ? str_copy(&c->mem, parameter).ptr : option, value);
    ++*count;
    return true;
}

bool list_filters(struct client *c, const struct options *o, const char *filters, struct buf *path,
                  unsigned *count)
{
    struct str rest = filters != NULL ? str_of(filters) : STR_NONE;

    *count = 0;
    while (rest.len > 0)
        if (!add_filter(c, o, str_cut(&rest, ' '), path, count))
            return false;
    return true;
}

/* --- cells --- */

struct str list_id_end(struct str id)
{
    return id.len > ID_SHOWN ? str_slice(id, id.len - ID_SHOWN, id.len) : id;
}

struct str list_moment(struct arena *mem, struct value item, const char *name)
{
    int64_t us = client_time(item, name);
    struct buf out;

    buf_init_arena(&out, mem);
    if (us > 0)
        format_moment(&out, us);
    return buf_view(&out);
}

/* The object that has the last member of "error.message"; *name is that member. */
static struct value cell_object(struct value item, const char *path, const char **name)
{
    const char *dot;

    while ((dot = strchr(path, '.')) != NULL) {
        item = value_map_member(item, str_from(path, (size_t)(dot - path)));
        path = dot + 1;
    }
    *name = path;
    return item;
}

/* A time beside now: what stands before and behind how far away it is. */
static struct str cell_distance(struct arena *mem, enum cell_kind kind, int64_t us, int64_t now_us)
{
    bool is_ahead = us > now_us;
    struct buf out;

    buf_init_arena(&out, mem);
    if (us == 0 && (kind == CELL_NEAR || kind == CELL_LEFT))
        return STR_NONE;
    if (kind == CELL_NEAR && is_ahead)
        buf_text(&out, "in ");
    if (kind == CELL_LEFT || (kind == CELL_NEAR && is_ahead))
        format_duration(&out, is_ahead ? us - now_us : 0);
    else
        format_duration(&out, now_us - us);
    if (kind == CELL_AGO || (kind == CELL_NEAR && !is_ahead))
        buf_text(&out, " ago");
    return buf_view(&out);
}

static struct str cell_text(struct arena *mem, const struct list_column *column, struct value item,
                            int64_t now_us)
{
    struct value object;
    const char *name;

    if (column->make != NULL)
        return column->make(mem, item);
    object = cell_object(item, column->path, &name);
    switch (column->kind) {
    case CELL_TEXT:
        return client_text(object, name);
    case CELL_ID:
        return list_id_end(client_text(object, name));
    case CELL_NUMBER:
        return str_printf(mem, "%lld", (long long)client_int(object, name, 0));
    case CELL_FLAG:
        return str_of(value_is_true(value_map_member(object, str_of(name))) ? column->yes
                                                                            : column->no);
    case CELL_AGE:
    case CELL_AGO:
    case CELL_NEAR:
    case CELL_LEFT:
        return cell_distance(mem, column->kind, client_time(object, name), now_us);
    case CELL_MOMENT:
        return list_moment(mem, object, name);
    }
    PANIC("unknown kind of cell");
}

/* --- tables and pages --- */

/* A page of a table; the head stands above the first. */
static void print_rows(struct arena *mem, const struct list_column *columns, size_t count,
                       struct table *t, struct value items)
{
    int64_t now_us = clock_wall_us(&clock_system);

    for (size_t k = 0; t->columns == 0 && k < count; k++)
        table_add(mem, t, str_of(columns[k].title));
    t->columns = count;
    for (uint32_t i = 0; items.kind == VALUE_LIST && i < items.len; i++)
        for (size_t k = 0; k < count; k++)
            table_add(mem, t, cell_text(mem, &columns[k], items.items[i], now_us));
    table_print(t);
}

void list_table(struct arena *mem, const struct list_column *columns, size_t count,
                struct value items)
{
    struct table table = {0};

    print_rows(mem, columns, count, &table, items);
}

/* The path of the first page; *count has the number of filters. False after a message. */
static bool list_path(struct client *c, const struct options *o, const struct list *l, bool all,
                      struct buf *path, unsigned *count)
{
    const char *limit = l->all ? NULL : options_get(o, "limit");

    buf_init_arena(path, &c->mem);
    buf_printf(path, "%s?limit=", l->route);
    url_encode(path, str_of(limit != NULL ? limit : all ? "500" : "20"));
    return list_filters(c, o, l->filters, path, count);
}

int list_print(struct client *c, const struct options *o, const struct list *l)
{
    bool all = l->all || options_has(o, "all");
    struct str cursor = STR_NONE;
    struct table table = {0};
    struct reply reply;
    struct value items;
    uint64_t shown = 0;
    unsigned filters;
    struct buf path;

    if (!list_path(c, o, l, all, &path, &filters))
        return EXIT_FAILED;
    do {
        if (!client_page(c, buf_view(&path), &cursor, &reply, &items))
            return EXIT_FAILED;
        if (c->as_json) {
            client_print_items(c, items, &shown);
            continue;
        }
        if (items.len > 0 && l->columns != NULL)
            print_rows(&c->mem, l->columns, l->column_count, &table, items);
        for (uint32_t i = 0; l->print != NULL && i < items.len; i++)
            l->print(&c->mem, items.items[i]);
        shown += items.len;
    } while (cursor.len > 0 && (all || shown == 0));
    if (c->as_json)
        client_print_end(shown, cursor);
    else if (shown == 0)
        printf("%s\n", filters > 0 && l->none_match != NULL ? l->none_match : l->none);
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
