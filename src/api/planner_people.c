/*
 * planner_people.c - who works in the caller's organisation, for the board.
 *
 * A board shows names where tasks have ids, and a lead chooses from people.
 * The list of users is for administrators: it has e-mail addresses and groups.
 */
#include "api/api.h"
#include "api/lookup.h"
#include "api/planner.h"
#include "value/object.h"

enum { LIST_LIMIT = 50 };

static void show_person(struct buf *out, const struct stored_user *u)
{
    object_next(out);
    buf_char(out, '{');
    object_text(out, "id", u->id);
    object_text(out, "name", u->name);
    object_text(out, "role", u->role);
    if (u->skill_level >= 0)
        object_int(out, "skill_level", u->skill_level);
    else
        object_json(out, "skill_level", STR_NONE);
    object_json(out, "specializations",
                u->specializations_json.len > 0 ? u->specializations_json : STR("[]"));
    object_bool(out, "active", u->is_active);
    buf_char(out, '}');
}

static bool run_people(struct lookup *q, struct reader *reader, struct err *err)
{
    struct user_filter filter = *(struct user_filter *)q->args;
    struct stored_users users;
    int64_t limit = filter.limit++;
    struct str next = STR_NONE;

    if (!read_users(reader, q->mem, &filter, &users, err))
        return false;
    if ((int64_t)users.count > limit)
        next = users.items[--users.count - 1].id;
    buf_text(&q->answer, "{\"items\":[");
    for (size_t i = 0; i < users.count; i++)
        show_person(&q->answer, &users.items[i]);
    buf_char(&q->answer, ']');
    object_text(&q->answer, "nextCursor", next);
    buf_char(&q->answer, '}');
    return true;
}

void planner_people(struct call *c)
{
    struct user_filter *filter = ARENA_NEW(c->mem, struct user_filter);
    struct uuid cursor;
    enum role role;

    *filter = (struct user_filter){
        .org_id = c->user.org_id,
        .role = http_query(c->http, "role"),
        .after = http_query(c->http, "cursor"),
    };
    if (filter->role.len > 0 && !role_find(filter->role, &role))
        call_refuse_text(c, ERR_BAD_REQUEST, "role is one of %.*s",
                         STR_ARG(right_roles(c->mem, RIGHT_SELF)));
    else if (filter->after.len > 0 && !uuid_read(filter->after, &cursor))
        call_refuse_text(c, ERR_BAD_REQUEST, "this cursor is not one of ours");
    else if (call_limit(c, LIST_LIMIT, &filter->limit))
        lookup_start(c, filter, run_people, NULL);
}
