/* user.c - pawl user: users and their tokens. */
#include "base/clock.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/tell.h"
#include "define/define.h"
#include "store/users.h"
#include "value/json.h"
#include "value/object.h"

#include <stdio.h>

/* What the command line says about a user. */
struct args {
    const char *name, *email, *role, *groups, *org, *skill, *specializations, *limit;
    const char *expires, *replaces;
    bool is_active, is_inactive, as_json;
};

/* --- what a person is called on the command line --- */

/* The id of a user that was named by id, e-mail or name. */
static bool find_user(struct client *c, const char *name, struct str *out)
{
    struct reply reply;
    struct value items;
    struct buf path;

    *out = str_of(name);
    if (out->len == UUID_TEXT_LEN)
        return true;
    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/users?limit=2&q=");
    client_escape(&path, str_of(name));
    if (!client_call(c, "GET", buf_view(&path), STR_NONE, &reply))
        return false;
    items = value_map_get_str(reply.json, STR("items"));
    if (items.kind == VALUE_LIST && items.len == 1) {
        *out = client_text(items.items[0], "id");
        return true;
    }
    if (items.kind == VALUE_LIST && items.len > 1)
        client_fail(c, "invalid", "several users are called %s; give the id or the e-mail", name);
    else
        client_fail(c, "not_found", "no user has the name or e-mail %s; see pawl user ls", name);
    return false;
}

/* --- bodies --- */

/* "a,b" as a list of texts. */
static void list_field(struct buf *out, const char *name, const char *text)
{
    struct str rest = str_of(text);

    object_name(out, name);
    buf_char(out, '[');
    while (rest.len > 0) {
        int64_t comma = str_find(rest, STR(","), 0);
        struct str one = str_trim(str_slice(rest, 0, comma < 0 ? rest.len : (size_t)comma));

        if (one.len > 0) {
            object_next(out);
            json_write_string(out, one);
        }
        rest = comma < 0 ? STR_NONE : str_slice(rest, (size_t)comma + 1, rest.len);
    }
    buf_char(out, ']');
}

/* An empty text is null: it takes away what was there. */
static void text_field(struct buf *out, const char *name, const char *text)
{
    if (text != NULL)
        object_text(out, name, str_of(text));
}

static bool make_body(struct client *c, const struct args *a, struct str *out)
{
    struct buf body;
    int64_t skill;

    buf_init_arena(&body, &c->mem);
    buf_char(&body, '{');
    text_field(&body, "name", a->name);
    text_field(&body, "email", a->email);
    text_field(&body, "role", a->role);
    text_field(&body, "org_id", a->org);
    if (a->groups != NULL)
        list_field(&body, "groups", a->groups);
    if (a->specializations != NULL)
        list_field(&body, "specializations", a->specializations);
    if (a->skill != NULL && a->skill[0] == '\0')
        object_json(&body, "skill_level", STR_NONE);
    else if (a->skill != NULL && str_to_int64(str_of(a->skill), &skill))
        object_int(&body, "skill_level", skill);
    else if (a->skill != NULL) {
        fprintf(stderr, "pawl user: --skill takes a number, not %s\n", a->skill);
        return false;
    }
    if (a->is_active || a->is_inactive)
        object_bool(&body, "active", a->is_active);
    buf_char(&body, '}');
    *out = buf_view(&body);
    return true;
}

/* --- what can be done --- */

static struct str joined(struct arena *mem, struct value list)
{
    struct buf out;

    buf_init_arena(&out, mem);
    for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len; i++)
        if (list.items[i].kind == VALUE_STRING)
            buf_printf(&out, "%s%.*s", i > 0 ? "," : "", STR_ARG(value_text(list.items[i])));
    return buf_view(&out);
}

static void print_users(struct arena *mem, struct value items)
{
    static const char *const head[] = {"NAME", "ROLE", "STATE", "EMAIL", "GROUPS", "ID"};
    struct table t = {.columns = ARRAY_SIZE(head)};

    for (size_t i = 0; i < t.columns; i++)
        table_add(mem, &t, str_of(head[i]));
    for (uint32_t i = 0; items.kind == VALUE_LIST && i < items.len; i++) {
        struct value u = items.items[i];

        table_add(mem, &t, client_text(u, "name"));
        table_add(mem, &t, client_text(u, "role"));
        table_add(mem, &t,
                  value_is_true(value_map_get_str(u, STR("active"))) ? STR("active")
                                                                     : STR("inactive"));
        table_add(mem, &t, client_text(u, "email"));
        table_add(mem, &t, joined(mem, value_map_get_str(u, STR("groups"))));
        table_add(mem, &t, client_text(u, "id"));
    }
    table_print(&t);
}

/* "3 days ago", "in 2 h"; empty when it has no such time. */
static struct str age_of(struct arena *mem, struct value token, const char *name)
{
    int64_t at_us = tell_time_of(token, name), now_us = clock_wall_us(&clock_system);
    struct buf out;

    buf_init_arena(&out, mem);
    if (at_us > now_us) {
        buf_text(&out, "in ");
        tell_duration(&out, at_us - now_us);
    } else if (at_us > 0) {
        tell_duration(&out, now_us - at_us);
        buf_text(&out, " ago");
    }
    return buf_view(&out);
}

static void print_tokens(struct arena *mem, struct value items)
{
    static const char *const head[] = {"ID", "NAME", "MADE", "LAST USED", "EXPIRES"};
    struct table t = {.columns = ARRAY_SIZE(head)};

    for (size_t i = 0; i < t.columns; i++)
        table_add(mem, &t, str_of(head[i]));
    for (uint32_t i = 0; items.kind == VALUE_LIST && i < items.len; i++) {
        table_add(mem, &t, client_text(items.items[i], "id"));
        table_add(mem, &t, client_text(items.items[i], "name"));
        table_add(mem, &t, age_of(mem, items.items[i], "createdAt"));
        table_add(mem, &t, age_of(mem, items.items[i], "lastUsedAt"));
        table_add(mem, &t, age_of(mem, items.items[i], "expiresAt"));
    }
    table_print(&t);
}

static bool list_users(struct client *c, const char *who, const struct args *a, struct reply *reply)
{
    struct buf path;

    (void)who;
    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/users?limit=");
    client_escape(&path, str_of(a->limit));
    if (a->role != NULL) {
        buf_text(&path, "&role=");
        client_escape(&path, str_of(a->role));
    }
    if (!client_call(c, "GET", buf_view(&path), STR_NONE, reply))
        return false;
    if (!a->as_json)
        print_users(&c->mem, value_map_get_str(reply->json, STR("items")));
    return true;
}

static bool add_user(struct client *c, const char *name, const struct args *a, struct reply *reply)
{
    struct args named = *a;
    struct str body;

    named.name = name;
    if (!make_body(c, &named, &body) || !client_call(c, "POST", STR("/users"), body, reply))
        return false;
    if (!a->as_json)
        printf("%.*s  %.*s, %.*s\ntoken, shown only now: %.*s\n",
               STR_ARG(client_text(reply->json, "id")), STR_ARG(client_text(reply->json, "name")),
               STR_ARG(client_text(reply->json, "role")),
               STR_ARG(client_text(reply->json, "token")));
    return true;
}

static bool set_user(struct client *c, const char *who, const struct args *a, struct reply *reply)
{
    struct str id, body;

    if (!find_user(c, who, &id) || !make_body(c, a, &body) ||
        !client_call(c, "PATCH", str_printf(&c->mem, "/users/%.*s", STR_ARG(id)), body, reply))
        return false;
    if (!a->as_json) {
        struct value one = value_list(&reply->json, 1);
        print_users(&c->mem, one);
    }
    return true;
}

/* "90d" from now on, a time, or "never". */
static void expiry_member(struct arena *mem, struct buf *out, const char *expires)
{
    struct value text = value_string(str_of(expires));
    int64_t us;

    if (strcmp(expires, "never") == 0)
        object_json(out, "expiresAt", STR_NONE);
    else if (define_duration_us(text, &us) && us > 0)
        object_time(out, "expiresAt", clock_wall_us(&clock_system) + us);
    else
        object_text(out, "expiresAt", str_copy(mem, str_of(expires)));
}

/* A token is made, in the place of others when `replaces` is not NULL. */
static bool ask_token(struct client *c, const char *who, const struct args *a, const char *replaces,
                      struct reply *reply)
{
    struct buf body;
    struct str id;

    if (!find_user(c, who, &id))
        return false;
    buf_init_arena(&body, &c->mem);
    buf_char(&body, '{');
    text_field(&body, "name", a->name);
    if (a->expires != NULL)
        expiry_member(&c->mem, &body, a->expires);
    text_field(&body, "replaces", replaces);
    buf_char(&body, '}');
    if (!client_call(c, "POST", str_printf(&c->mem, "/users/%.*s/tokens", STR_ARG(id)),
                     buf_view(&body), reply))
        return false;
    if (a->as_json)
        return true;
    printf("%.*s\ntoken, shown only now: %.*s\n", STR_ARG(client_text(reply->json, "id")),
           STR_ARG(client_text(reply->json, "token")));
    if (client_text(reply->json, "expiresAt").len > 0) {
        buf_clear(&body);
        tell_moment(&body, tell_time_of(reply->json, "expiresAt"));
        printf("it expires %.*s\n", STR_ARG(buf_view(&body)));
    }
    return true;
}

static bool make_token(struct client *c, const char *who, const struct args *a, struct reply *reply)
{
    return ask_token(c, who, a, NULL, reply);
}

static bool list_tokens(struct client *c, const char *who, const struct args *a,
                        struct reply *reply)
{
    struct str id;

    if (!find_user(c, who, &id) ||
        !client_call(c, "GET", str_printf(&c->mem, "/users/%.*s/tokens", STR_ARG(id)), STR_NONE,
                     reply))
        return false;
    if (!a->as_json)
        print_tokens(&c->mem, value_map_get_str(reply->json, STR("items")));
    return true;
}

static bool revoke(struct client *c, const char *id, const struct args *a, struct reply *reply)
{
    struct buf path;

    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/tokens/");
    client_escape(&path, str_of(id));
    if (!client_call(c, "DELETE", buf_view(&path), STR_NONE, reply))
        return false;
    if (a->as_json)
        reply->text = STR("{}");
    else
        printf("%s is revoked\n", id);
    return true;
}

/* One token in the place of all that there were, or of one: in one request. */
static bool rotate_token(struct client *c, const char *who, const struct args *a,
                         struct reply *reply)
{
    if (!ask_token(c, who, a, a->replaces != NULL ? a->replaces : "all", reply))
        return false;
    if (a->as_json)
        return true;
    if (a->replaces != NULL)
        printf("%s is revoked\n", a->replaces);
    else
        printf("every token that %s had before is revoked\n", who);
    if (str_eq(client_text(reply->json, "userId"), USER_ADMIN))
        printf("the one in the file admin.token stays: to have another, stop the server, delete "
               "the file, and start it\n");
    return true;
}

/* --- the command --- */

/* What can be done, and how many words follow it. */
static const struct verb {
    const char *name;
    int words;
    bool (*run)(struct client *c, const char *who, const struct args *a, struct reply *reply);
} verbs[] = {
    {"ls", 0, list_users},    {"add", 1, add_user},       {"set", 1, set_user},
    {"token", 1, make_token}, {"tokens", 1, list_tokens}, {"revoke", 1, revoke},
};

static const struct verb rotating = {"token rotate", 2, rotate_token};

static const struct verb *find_verb(const char *name, int words)
{
    for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
        if (strcmp(verbs[i].name, name) == 0 && verbs[i].words == words)
            return &verbs[i];
    return NULL;
}

int command_user(int argc, char **argv)
{
    struct args a = {.limit = "100"};
    const struct option_spec specs[] = {
        {.name = "name", .value = &a.name},
        {.name = "email", .value = &a.email},
        {.name = "role", .value = &a.role},
        {.name = "groups", .value = &a.groups},
        {.name = "org", .value = &a.org},
        {.name = "skill", .value = &a.skill},
        {.name = "specializations", .value = &a.specializations},
        {.name = "limit", .value = &a.limit},
        {.name = "expires", .value = &a.expires},
        {.name = "replaces", .value = &a.replaces},
        {.name = "active", .flag = &a.is_active},
        {.name = "inactive", .flag = &a.is_inactive},
        {.name = "json", .flag = &a.as_json},
        CLIENT_OPTIONS,
    };
    const struct verb *verb;
    struct client c;
    struct reply reply;
    bool ok;

    if (!options_read("user", specs, ARRAY_SIZE(specs), &argc, argv) ||
        (a.is_active && a.is_inactive))
        return command_usage("user");
    verb = argc < 2 ? find_verb("ls", 0) : find_verb(argv[1], argc - 2);
    if (argc == 4 && strcmp(argv[1], "token") == 0 && strcmp(argv[2], "rotate") == 0)
        verb = &rotating;
    if (verb == NULL)
        return command_usage("user");
    client_open(&c, a.as_json);
    ok = verb->run(&c, argc > 2 ? argv[argc - 1] : "", &a, &reply);
    if (ok && a.as_json)
        printf("%.*s\n", STR_ARG(reply.text));
    client_close(&c);
    return ok ? EXIT_OK : EXIT_FAILED;
}
