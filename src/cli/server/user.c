/* user.c - pawl user: users and their tokens. */
#include "base/time/clock.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/options.h"
#include "define/define.h"
#include "store/org.h"
#include "value/object.h"

#include <stdio.h>

/* --- what a person is called on the command line --- */

/* The id of a user that was named by id, e-mail or name. */
static bool find_user(struct client *c, const char *name, struct str *out)
{
    struct reply reply;
    struct value items;

    *out = str_of(name);
    if (out->len == UUID_TEXT_LEN)
        return true;
    if (!client_page(c, client_path(c, "/users?limit=2&q=", *out, ""), NULL, &reply, &items))
        return false;
    if (items.len == 1) {
        *out = client_text(items.items[0], "id");
        return true;
    }
    if (items.len > 1)
        client_fail(c, "invalid", "several users are called %s; give the id or the e-mail", name);
    else
        client_fail(c, "not_found", "no user has the name or e-mail %s; see pawl user ls", name);
    return false;
}

/* --- bodies --- */

/* A user as the options describe one. */
static bool user_body(struct client *c, const struct options *o, const char *name, struct str *out)
{
    const char *skill_text = options_get(o, "skill");
    struct buf body;
    int64_t skill;

    object_begin(&body, &c->mem);
    client_add_text(&body, "name", name);
    client_add_text(&body, "email", options_get(o, "email"));
    client_add_text(&body, "role", options_get(o, "role"));
    client_add_text(&body, "org_id", options_get(o, "org"));
    if (options_has(o, "groups"))
        client_add_list(&body, "groups", options_get(o, "groups"));
    if (options_has(o, "specializations"))
        client_add_list(&body, "specializations", options_get(o, "specializations"));
    if (options_has(o, "namespaces"))
        client_add_list(&body, "namespaces", options_get(o, "namespaces"));
    if (skill_text != NULL && skill_text[0] == '\0')
        object_json(&body, "skill_level", STR_NONE);
    else if (skill_text != NULL && str_to_int64(str_of(skill_text), &skill))
        object_int(&body, "skill_level", skill);
    else if (skill_text != NULL) {
        fprintf(stderr, "pawl user: --skill takes a number, not %s\n", skill_text);
        return false;
    }
    if (options_has(o, "active") || options_has(o, "inactive"))
        object_bool(&body, "active", options_has(o, "active"));
    *out = object_end(&body);
    return true;
}

/* --- users --- */

static struct str user_groups(struct arena *mem, struct value user)
{
    struct value list = value_map_get_str(user, STR("groups"));
    struct buf out;

    buf_init_arena(&out, mem);
    for (uint32_t i = 0; list.kind == VALUE_LIST && i < list.len; i++)
        if (list.items[i].kind == VALUE_STRING)
            buf_printf(&out, "%s%.*s", i > 0 ? "," : "", STR_ARG(value_text(list.items[i])));
    return buf_view(&out);
}

static int user_print(struct client *c, const struct reply *reply, struct value users)
{
    static const struct list_column columns[] = {
        COLUMN("NAME", TEXT, "name"),
        COLUMN("ROLE", TEXT, "role"),
        COLUMN_FLAG("STATE", "active", "active", "inactive"),
        COLUMN("EMAIL", TEXT, "email"),
        {"GROUPS", .make = user_groups},
        COLUMN("ID", TEXT, "id"),
    };

    if (c->as_json)
        return client_print_json(reply);
    list_table(&c->mem, columns, ARRAY_SIZE(columns), users);
    return EXIT_OK;
}

static int user_list(struct client *c, const struct options *o, char **words)
{
    const char *limit = options_get(o, "limit");
    struct reply reply;
    struct value items;
    struct buf path;

    (void)words;
    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/users?limit=");
    url_encode(&path, str_of(limit != NULL ? limit : "100"));
    list_filter(&path, "role", options_get(o, "role"));
    if (!client_page(c, buf_view(&path), NULL, &reply, &items))
        return EXIT_FAILED;
    return user_print(c, &reply, items);
}

static int user_add(struct client *c, const struct options *o, char **words)
{
    struct reply reply;
    struct str body;

    if (!options_need(o, "role"))
        return options_usage(o);
    if (!user_body(c, o, words[0], &body) || !client_call(c, "POST", STR("/users"), body, &reply))
        return EXIT_FAILED;
    return client_answer(
        c, &reply, "%.*s  %.*s, %.*s\ntoken, shown only now: %.*s",
        STR_ARG(client_text(reply.json, "id")), STR_ARG(client_text(reply.json, "name")),
        STR_ARG(client_text(reply.json, "role")), STR_ARG(client_text(reply.json, "token")));
}

static int user_set(struct client *c, const struct options *o, char **words)
{
    struct reply reply;
    struct str id, body;

    if (!find_user(c, words[0], &id) || !user_body(c, o, options_get(o, "name"), &body) ||
        !client_call(c, "PATCH", str_printf(&c->mem, "/users/%.*s", STR_ARG(id)), body, &reply))
        return EXIT_FAILED;
    return user_print(c, &reply, value_list(&reply.json, 1));
}

/* --- tokens --- */

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
static bool token_make(struct client *c, const struct options *o, const char *who,
                       const char *replaces, struct reply *reply)
{
    struct str id, expires;
    struct buf body;

    if (!find_user(c, who, &id))
        return false;
    object_begin(&body, &c->mem);
    client_add_text(&body, "name", options_get(o, "name"));
    if (options_has(o, "expires"))
        expiry_member(&c->mem, &body, options_get(o, "expires"));
    client_add_text(&body, "replaces", replaces);
    if (!client_call(c, "POST", str_printf(&c->mem, "/users/%.*s/tokens", STR_ARG(id)),
                     object_end(&body), reply))
        return false;
    client_answer(c, reply, "%.*s\ntoken, shown only now: %.*s",
                  STR_ARG(client_text(reply->json, "id")),
                  STR_ARG(client_text(reply->json, "token")));
    expires = list_moment(&c->mem, reply->json, "expiresAt");
    if (!c->as_json && expires.len > 0)
        printf("it expires %.*s\n", STR_ARG(expires));
    return true;
}

/* One token in the place of all that there were, or of one: in one request. */
static int token_rotate(struct client *c, const struct options *o, const char *who)
{
    const char *replaces = options_get(o, "replaces");
    struct reply reply;

    if (!token_make(c, o, who, replaces != NULL ? replaces : "all", &reply))
        return EXIT_FAILED;
    if (c->as_json)
        return EXIT_OK;
    if (replaces != NULL)
        printf("%s is revoked\n", replaces);
    else
        printf("every token that %s had before is revoked\n", who);
    if (str_eq(client_text(reply.json, "userId"), USER_ADMIN))
        printf("the one in the file admin.token stays: to have another, stop the server, delete "
               "the file, and start it\n");
    return EXIT_OK;
}

/* pawl user token WHO, and pawl user token rotate WHO. */
static int user_token(struct client *c, const struct options *o, char **words)
{
    struct reply reply;

    if (words[1] != NULL)
        return strcmp(words[0], "rotate") == 0 ? token_rotate(c, o, words[1]) : options_usage(o);
    return token_make(c, o, words[0], NULL, &reply) ? EXIT_OK : EXIT_FAILED;
}

static int user_tokens(struct client *c, const struct options *o, char **words)
{
    static const struct list_column columns[] = {
        COLUMN("ID", TEXT, "id"),
        COLUMN("NAME", TEXT, "name"),
        COLUMN("MADE", NEAR, "createdAt"),
        COLUMN("LAST USED", NEAR, "lastUsedAt"),
        COLUMN("EXPIRES", NEAR, "expiresAt"),
    };
    struct reply reply;
    struct value items;
    struct str id;

    (void)o;
    if (!find_user(c, words[0], &id) ||
        !client_page(c, str_printf(&c->mem, "/users/%.*s/tokens", STR_ARG(id)), NULL, &reply,
                     &items))
        return EXIT_FAILED;
    if (c->as_json)
        return client_print_json(&reply);
    list_table(&c->mem, columns, ARRAY_SIZE(columns), items);
    return EXIT_OK;
}

static int user_revoke(struct client *c, const struct options *o, char **words)
{
    (void)o;
    return client_send(c, "DELETE", client_path(c, "/tokens/", str_of(words[0]), ""), STR_NONE,
                       "%s is revoked", words[0]);
}

int command_user(struct client *c, const struct options *o)
{
    static const struct cli_verb verbs[] = {
        {"ls", 0, 0, .run = user_list},       {"add", 1, 1, .run = user_add},
        {"set", 1, 1, .run = user_set},       {"token", 1, 2, .run = user_token},
        {"tokens", 1, 1, .run = user_tokens}, {"revoke", 1, 1, .run = user_revoke},
    };

    if (options_has(o, "active") && options_has(o, "inactive"))
        return options_usage(o);
    return client_verb(c, o, o->argv + 1, verbs, ARRAY_SIZE(verbs));
}
