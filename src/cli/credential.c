/*
 * credential.c - pawl credential: secrets that calls are sent with.
 *
 * A secret is read from the terminal without being shown, from stdin or from a
 * file. On the command line, where others can see it, only when --secret says so.
 */
#include "define/credential.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/options.h"
#include "cli/table.h"
#include "value/json.h"
#include "value/object.h"

#include <stdio.h>
#include <termios.h>
#include <unistd.h>

enum { INPUT_MAX = 1 << 20 };

struct credential_args {
    const char *type, *base_url, *header_name, *username, *token_url, *client_id, *scope, *names;
    const char *secret, *secret_file;
    bool as_json;
};

static struct str path_of(struct client *c, const char *code)
{
    struct buf path;

    buf_init_arena(&path, &c->mem);
    buf_text(&path, "/credentials/");
    client_escape(&path, str_of(code));
    return buf_view(&path);
}

/* --- listing --- */

static void add_row(struct arena *mem, struct table *t, struct value item)
{
    bool is_filled = value_is_true(value_map_get_str(item, STR("filled")));

    table_add(mem, t, client_text(item, "code"));
    table_add(mem, t, client_text(item, "type"));
    table_add(mem, t, is_filled ? STR("set") : STR("missing"));
    table_add(mem, t, client_text(item, "base_url"));
}

static bool list_credentials(struct client *c, const char *code, const struct credential_args *a,
                             struct reply *reply)
{
    static const char *const head[] = {"CODE", "TYPE", "SECRET", "BASE URL"};
    struct table t = {.columns = ARRAY_SIZE(head)};
    struct str cursor = STR_NONE;
    uint64_t count = 0;
    struct value items;

    (void)code;
    for (size_t i = 0; i < ARRAY_SIZE(head); i++)
        table_add(&c->mem, &t, str_of(head[i]));
    do {
        if (!client_page(c, STR("/credentials?limit=500"), &cursor, reply, &items))
            return false;
        if (a->as_json) {
            client_print_items(c, items, &count);
            continue;
        }
        for (uint32_t i = 0; i < items.len; i++, count++)
            add_row(&c->mem, &t, items.items[i]);
    } while (cursor.len > 0);
    if (a->as_json)
        client_print_end(count, cursor);
    else if (count == 0)
        printf("no credentials; make one with: pawl credential set CODE --type api_key ...\n");
    else
        table_print(&t);
    return true;
}

/* --- the secret --- */

static bool read_all(struct client *c, FILE *from, struct str *out)
{
    char *text = arena_alloc(&c->mem, INPUT_MAX);
    size_t len = fread(text, 1, INPUT_MAX, from);

    *out = str_from(text, len);
    while (str_ends_with(*out, STR("\n")) || str_ends_with(*out, STR("\r")))
        out->len--;
    return len < INPUT_MAX;
}

/* A line from the terminal that is not shown while it is typed. */
static bool read_hidden(struct client *c, const char *what, struct str *out)
{
    struct termios before, hidden;
    char *line = arena_alloc(&c->mem, SECRET_LEN_MAX + 2);
    bool ok;

    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return false;
    hidden = before;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    fprintf(stderr, "%s: ", what);
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    ok = fgets(line, SECRET_LEN_MAX + 2, stdin) != NULL;
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    fputc('\n', stderr);
    *out = ok ? str_of(line) : STR_NONE;
    while (str_ends_with(*out, STR("\n")))
        out->len--;
    return ok;
}

/* One secret, from wherever it is given. */
static bool read_secret(struct client *c, const struct credential_args *a, const char *what,
                        struct str *out)
{
    struct err err;

    if (a->secret != NULL) {
        *out = str_of(a->secret);
        return true;
    }
    if (a->secret_file != NULL) {
        if (!file_read(&c->mem, a->secret_file, out, &err)) {
            client_fail(c, "io", "%s", err.message);
            return false;
        }
        while (str_ends_with(*out, STR("\n")) || str_ends_with(*out, STR("\r")))
            out->len--;
        return true;
    }
    if (isatty(STDIN_FILENO) ? read_hidden(c, what, out) : read_all(c, stdin, out))
        return true;
    client_fail(c, "invalid", "the secret could not be read");
    return false;
}

/* --values A,B: each is asked for on a terminal; else an object of them, or one alone. */
static bool read_values(struct client *c, const struct credential_args *a, struct value names,
                        struct buf *body)
{
    bool asks = a->secret == NULL && a->secret_file == NULL && isatty(STDIN_FILENO);
    struct str text;
    struct value v;
    struct err err;

    object_name(body, "values");
    if (!asks && !read_secret(c, a, "", &text))
        return false;
    if (!asks && json_read(&c->mem, text, &v, &err) && v.kind == VALUE_MAP) {
        buf_str(body, text);
        return true;
    }
    if (names.kind != VALUE_LIST || (!asks && names.len != 1)) {
        client_fail(
            c, "invalid",
            "the secret is to be a JSON object of the values by name, or a text and --values "
            "the one name that it has");
        return false;
    }
    buf_char(body, '{');
    for (uint32_t i = 0; i < names.len; i++) {
        struct str name = value_text(names.items[i]);

        if (asks && !read_secret(c, a, str_printf(&c->mem, "%.*s", STR_ARG(name)).ptr, &text))
            return false;
        object_next(body);
        json_write_string(body, name);
        buf_char(body, ':');
        json_write_string(body, text);
    }
    buf_char(body, '}');
    return true;
}

/* --- setting --- */

static struct value split_names(struct arena *mem, const char *text)
{
    struct value *items = ARENA_ARRAY(mem, strlen(text) + 1, struct value);
    struct str rest = str_of(text);
    size_t count = 0;

    while (rest.len > 0) {
        int64_t comma = str_find(rest, STR(","), 0);

        items[count++] =
            value_string(str_trim(str_slice(rest, 0, comma < 0 ? rest.len : (size_t)comma)));
        rest = comma < 0 ? STR_NONE : str_slice(rest, (size_t)comma + 1, rest.len);
    }
    return value_list(items, count);
}

/* What is not given stays as it is. */
static void add_field(struct buf *body, const char *name, const char *given, struct value before)
{
    if (given != NULL)
        object_text(body, name, str_of(given));
    else if (client_text(before, name).len > 0)
        object_text(body, name, client_text(before, name));
}

static bool find_before(struct client *c, const char *code, const struct credential_args *a,
                        struct value *out)
{
    struct reply reply;

    *out = value_map_empty();
    if (a->type != NULL)
        return true;
    if (!client_ask(c, "GET", path_of(c, code), STR_NONE, &reply))
        return false;
    if (reply.status == 404) {
        client_fail(c, "not_found",
                    "there is no credential %s: say what it is to be with --type api_key, basic, "
                    "oauth2_client, hmac or secret",
                    code);
        return false;
    }
    *out = reply.json;
    return client_succeeded(c, &reply);
}

static bool set_credential(struct client *c, const char *code, const struct credential_args *a,
                           struct reply *reply)
{
    enum credential_type type;
    struct value before, names;
    struct str secret, word;
    struct buf body;

    if (!find_before(c, code, a, &before))
        return false;
    word = a->type != NULL ? str_of(a->type) : client_text(before, "type");
    if (!credential_type_read(word, &type)) {
        client_fail(c, "invalid", "--type is api_key, basic, oauth2_client, hmac or secret");
        return false;
    }
    names = a->names != NULL ? split_names(&c->mem, a->names)
                             : value_map_get_str(before, STR("values"));
    buf_init_arena(&body, &c->mem);
    buf_char(&body, '{');
    object_text(&body, "type", word);
    add_field(&body, "base_url", a->base_url, before);
    add_field(&body, "header_name", a->header_name, before);
    add_field(&body, "username", a->username, before);
    add_field(&body, "token_url", a->token_url, before);
    add_field(&body, "client_id", a->client_id, before);
    add_field(&body, "scope", a->scope, before);
    if (type == CREDENTIAL_SECRET) {
        if (!read_values(c, a, names, &body))
            return false;
    } else {
        if (!read_secret(c, a, credential_secret_field(type), &secret))
            return false;
        object_text(&body, credential_secret_field(type), secret);
    }
    buf_char(&body, '}');
    if (!client_call(c, "PUT", path_of(c, code), buf_view(&body), reply))
        return false;
    if (!a->as_json)
        printf("%s is set\n", code);
    return true;
}

/* --- the others --- */

static bool remove_credential(struct client *c, const char *code, const struct credential_args *a,
                              struct reply *reply)
{
    if (!client_call(c, "DELETE", path_of(c, code), STR_NONE, reply))
        return false;
    if (a->as_json)
        reply->text = STR("{}");
    else
        printf("%s is deleted\n", code);
    return true;
}

static bool rekey(struct client *c, const char *code, const struct credential_args *a,
                  struct reply *reply)
{
    (void)code;
    if (!client_call(c, "POST", STR("/credentials/rekey"), STR_NONE, reply))
        return false;
    if (!a->as_json)
        printf("the master key is now %.*s; credentials sealed with it: %lld\n",
               STR_ARG(client_text(reply->json, "keyId")),
               (long long)value_map_get_str(reply->json, STR("credentials")).i);
    return true;
}

/* --- the command --- */

static const struct credential_verb {
    const char *name;
    int words;
    bool (*run)(struct client *c, const char *code, const struct credential_args *a,
                struct reply *reply);
} verbs[] = {
    {"ls", 0, list_credentials},
    {"set", 1, set_credential},
    {"rm", 1, remove_credential},
    {"rekey", 0, rekey},
};

static const struct credential_verb *find_verb(const char *name, int words)
{
    for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
        if (strcmp(verbs[i].name, name) == 0 && verbs[i].words == words)
            return &verbs[i];
    return NULL;
}

int command_credential(int argc, char **argv)
{
    struct credential_args a = {0};
    const struct option_spec specs[] = {
        {.name = "type", .value = &a.type},
        {.name = "base-url", .value = &a.base_url},
        {.name = "header-name", .value = &a.header_name},
        {.name = "username", .value = &a.username},
        {.name = "token-url", .value = &a.token_url},
        {.name = "client-id", .value = &a.client_id},
        {.name = "scope", .value = &a.scope},
        {.name = "values", .value = &a.names},
        {.name = "secret", .value = &a.secret},
        {.name = "secret-file", .value = &a.secret_file},
        {.name = "json", .flag = &a.as_json},
        CLIENT_OPTIONS,
    };
    const struct credential_verb *verb;
    struct client c;
    struct reply reply = {0};
    bool ok;

    if (!options_read("credential", specs, ARRAY_SIZE(specs), &argc, argv))
        return command_usage("credential");
    verb = argc < 2 ? find_verb("ls", 0) : find_verb(argv[1], argc - 2);
    if (verb == NULL)
        return command_usage("credential");
    client_open(&c, a.as_json);
    ok = verb->run(&c, argc > 2 ? argv[2] : "", &a, &reply);
    if (ok && a.as_json && verb->run != list_credentials)
        printf("%.*s\n", STR_ARG(reply.text));
    client_close(&c);
    return ok ? EXIT_OK : EXIT_FAILED;
}
