/*
 * planner_people.c - who works in the caller's organisation, for the board.
 *
 * A board shows names where tasks have ids, and a lead chooses from people.
 * The list of users is for administrators: it has e-mail addresses and groups.
 */
#include "api/access/user_list.h"
#include "value/object.h"

static void show_person(struct buf *out, const struct stored_user *u)
{
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
}

void planner_people(struct call *c)
{
    user_list(c, (struct user_filter){.org_id = c->user.org_id}, show_person);
}
