/* user_list.c - see user_list.h. */
#include "api/access/user_list.h"

struct users_page {
    struct list_page list;
    struct user_filter filter;
    user_show_fn *show;
};

static bool users_read(struct list_page *l)
{
    struct user_filter *filter = &((struct users_page *)l)->filter;
    const struct stored_user *last;
    struct stored_users rows;

    filter->after = l->cursor;
    filter->limit = l->limit + 1;
    if (!list_cursor_id(l->cursor, l->err) || !read_users(l->reader, l->mem, filter, &rows, l->err))
        return false;
    last = LIST_ROWS(l, &rows);
    if (last != NULL)
        l->next = last->id;
    return true;
}

static void users_show(struct list_page *l, const void *row)
{
    ((struct users_page *)l)->show(l->out, row);
}

static const struct list_kind users_kind = {.read = users_read, .show_members = users_show};

void user_list(struct call *c, struct user_filter filter, user_show_fn *show)
{
    struct users_page *p = ARENA_NEW(c->mem, struct users_page);
    struct str roles = right_roles(c->mem, RIGHT_SELF);
    enum role role;

    p->filter = filter;
    p->filter.role = http_query(c->http, "role");
    p->show = show;
    if (p->filter.role.len > 0 && !role_find(p->filter.role, &role))
        call_refuse_text(c, ERR_BAD_REQUEST, "role is one of %.*s", STR_ARG(roles));
    else
        list_start(c, &p->list, &users_kind);
}
