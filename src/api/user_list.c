/* user_list.c - see user_list.h. */
#include "api/user_list.h"

#include "api/api.h"
#include "value/object.h"

enum { LIST_LIMIT = 50 };

struct user_page {
    struct user_filter filter;
    user_show_fn *show;
};

static bool run_page(struct lookup *q, struct reader *reader, struct err *err)
{
    const struct user_page *page = q->args;
    struct user_filter filter = page->filter;
    struct stored_users users;
    int64_t limit = filter.limit++;
    struct str next = STR_NONE;

    if (!read_users(reader, q->mem, &filter, &users, err))
        return false;
    if ((int64_t)users.count > limit)
        next = users.items[--users.count - 1].id;
    buf_text(&q->answer, "{\"items\":[");
    for (size_t i = 0; i < users.count; i++) {
        object_next(&q->answer);
        buf_char(&q->answer, '{');
        page->show(&q->answer, &users.items[i]);
        buf_char(&q->answer, '}');
    }
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor", next);
    buf_char(&q->answer, '}');
    return true;
}

void user_list(struct call *c, struct user_filter filter, user_show_fn *show)
{
    struct user_page *page = ARENA_NEW(c->mem, struct user_page);
    struct uuid cursor;
    enum role role;

    *page = (struct user_page){.filter = filter, .show = show};
    page->filter.role = http_query(c->http, "role");
    page->filter.after = http_query(c->http, "cursor");
    if (page->filter.role.len > 0 && !role_find(page->filter.role, &role))
        call_refuse_text(c, ERR_BAD_REQUEST, "role is one of %.*s",
                         STR_ARG(right_roles(c->mem, RIGHT_SELF)));
    else if (page->filter.after.len > 0 && !uuid_read(page->filter.after, &cursor))
        call_refuse_text(c, ERR_BAD_REQUEST, "this cursor is not one of ours");
    else if (call_limit(c, LIST_LIMIT, &page->filter.limit))
        lookup_start(c, page, run_page, NULL);
}
