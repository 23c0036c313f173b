/*
 * credential.c - pawl credential: secrets that calls are sent with.
 *
 * A secret is read from the terminal without being shown, from stdin or from a
 * file. On the command line, where others can see it, only when --secret says so.
 */
#include "define/credential.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/secret_input.h"
#include "value/json.h"
#include "value/object.h"

#include <stdio.h>
#include <unistd.h>

/* --- listing --- */

static const struct list_column credential_columns[] = {
    COLUMN("CODE", TEXT, "code"),
    COLUMN("TYPE", TEXT, "type"),
    COLUMN_FLAG("SECRET", "filled", "set", "missing"),
    COLUMN("BASE URL", TEXT, "base_url"),
};

static const struct list credential_list = {
    .route = "/credentials",
    .all = true,
    LIST_COLUMNS(credential_columns),
    .none = "no credentials; make one with: pawl credential set CODE --type api_key ..."};

/* --- the secret --- */

/* One secret, from wherever it is given. */
static bool read_secret(struct client *c, const struct options *o, const char *what,
                        struct str *out)
{
    struct err err;

    if (options_has(o, "secret")) {
        *out = str_of(options_get(o, "secret"));
        return true;
    }
    if (options_has(o, "secret-file")) {
        if (!file_read(&c->mem, options_get(o, "secret-file"), out, &err)) {
            client_fail(c, "io", "%s", err.message);
            return false;
        }
        *out = secret_input_trim(*out);
        return true;
    }
    if (isatty(STDIN_FILENO) ? secret_input_hidden(&c->mem, what, out)
                             : secret_input_all(&c->mem, stdin, out))
        return true;
    client_fail(c, "invalid", "the secret could not be read");
    return false;
}

/* --values A,B: each is asked for on a terminal; else an object of them, or one alone. */
static bool read_values(struct client *c, const struct options *o, struct value names,
                        struct buf *body)
{
    bool asks = !options_has(o, "secret") && !options_has(o, "secret-file") && isatty(STDIN_FILENO);
    struct str text;
    struct value v;
    struct err err;

    object_name(body, "values");
    if (!asks && !read_secret(c, o, "", &text))
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

        if (asks && !read_secret(c, o, str_printf(&c->mem, "%.*s", STR_ARG(name)).ptr, &text))
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

    while (rest.len > 0)
        items[count++] = value_string(str_trim(str_cut(&rest, ',')));
    return value_list(items, count);
}

/* The texts of a credential by the options that give them; what is not given stays as it is. */
static void add_texts(struct buf *body, const struct options *o, struct value before)
{
    static const char *const texts[][2] = {
        {"base_url", "base-url"},   {"header_name", "header-name"}, {"username", "username"},
        {"token_url", "token-url"}, {"client_id", "client-id"},     {"scope", "scope"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct str kept = client_text(before, texts[i][0]);

        if (options_has(o, texts[i][1]))
            client_add_text(body, texts[i][0], options_get(o, texts[i][1]));
        else if (kept.len > 0)
            object_text(body, texts[i][0], kept);
    }
}

static bool find_before(struct client *c, const char *code, const struct options *o,
                        struct value *out)
{
    struct reply reply;

    *out = value_map_empty();
    if (options_has(o, "type"))
        return true;
    if (!client_ask(c, "GET", client_path(c, "/credentials/", str_of(code), ""), STR_NONE, &reply))
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

static int credential_set(struct client *c, const struct options *o, char **words)
{
    const char *type_word = options_get(o, "type"), *given = options_get(o, "values");
    enum credential_type type;
    struct value before, names;
    struct str secret, word;
    struct buf body;

    if (!find_before(c, words[0], o, &before))
        return EXIT_FAILED;
    word = type_word != NULL ? str_of(type_word) : client_text(before, "type");
    if (!credential_type_read(word, &type)) {
        client_fail(c, "invalid", "--type is api_key, basic, oauth2_client, hmac or secret");
        return EXIT_FAILED;
    }
    names = given != NULL ? split_names(&c->mem, given) : value_map_get_str(before, STR("values"));
    object_begin(&body, &c->mem);
    object_text(&body, "type", word);
    add_texts(&body, o, before);
    if (type == CREDENTIAL_SECRET) {
        if (!read_values(c, o, names, &body))
            return EXIT_FAILED;
    } else {
        if (!read_secret(c, o, credential_secret_field(type), &secret))
            return EXIT_FAILED;
        object_text(&body, credential_secret_field(type), secret);
    }
    return client_send(c, "PUT", client_path(c, "/credentials/", str_of(words[0]), ""),
                       object_end(&body), "%s is set", words[0]);
}

/* --- the others --- */

static int credential_remove(struct client *c, const struct options *o, char **words)
{
    (void)o;
    return client_send(c, "DELETE", client_path(c, "/credentials/", str_of(words[0]), ""), STR_NONE,
                       "%s is deleted", words[0]);
}

static int credential_rekey(struct client *c, const struct options *o, char **words)
{
    struct reply reply;

    (void)o;
    (void)words;
    if (!client_call(c, "POST", STR("/credentials/rekey"), STR_NONE, &reply))
        return EXIT_FAILED;
    return client_answer(c, &reply, "the master key is now %.*s; credentials sealed with it: %lld",
                         STR_ARG(client_text(reply.json, "keyId")),
                         (long long)client_int(reply.json, "credentials", 0));
}

int command_credential(struct client *c, const struct options *o)
{
    static const struct cli_verb verbs[] = {{"ls", 0, 0, .list = &credential_list},
                                            {"set", 1, 1, .run = credential_set},
                                            {"rm", 1, 1, .run = credential_remove},
                                            {"rekey", 0, 0, .run = credential_rekey}};

    return client_verb(c, o, o->argv + 1, verbs, ARRAY_SIZE(verbs));
}
