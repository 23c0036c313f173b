/*
 * client.h - the other side of the API, for commands.
 *
 * The server is --url or PAWL_URL, else http://127.0.0.1:7070; the token is
 * --token or PAWL_TOKEN, else what ./pawl-data/admin.token (or PAWL_DATA) holds;
 * --ca or PAWL_CA is a file of certificates to trust besides the system's.
 * Whatever goes wrong is reported on stderr with what to do about it, and with
 * --json on stdout as {"error": ...}: the problem that the server answered, or
 * a code and a detail.
 */
#ifndef PAWL_CLI_CLIENT_H
#define PAWL_CLI_CLIENT_H

#include "base/url.h"
#include "value/value.h"

struct list;
struct options;

struct client {
    struct arena mem;     /* of everything that is answered */
    const char *url;      /* without a slash at the end */
    struct str token;     /* or empty */
    bool withholds_token; /* there is one in the data folder, for a server on this machine */
    bool as_json;         /* the first refusal is printed as JSON, too, unless ... */
    bool has_printed;     /* ... that has happened, or a list is half printed */
    long timeout_ms;      /* of one call; 0: longer than any ?wait */
    const char *header;   /* one more header of the next calls, or NULL */
    void *curl;
};

struct reply {
    int status;
    struct str text;
    struct value json;         /* null when there is none */
    int64_t certificate_end_s; /* of client_probe(): seconds since 1970; -1 without a certificate */
    int64_t date_s; /* by the server's clock, in seconds since 1970; -1 unless it said so */
};

/* Always succeeds; what is missing is reported when it is needed. */
void client_open(struct client *c, bool as_json);
void client_close(struct client *c);

/* What a word behind a command does. */
struct cli_verb {
    const char *name;
    int min, max; /* how many words follow it */
    /* words[-1] is the verb. */
    int (*run)(struct client *c, const struct options *o, char **words);
    const struct list *list; /* in place of run: what it prints */
};

/*
 * Run the verb that the first of `words` names, with the words behind it, NULL
 * after the last; the first of the table where there is no word. EXIT_USAGE,
 * printed, when no verb fits.
 */
int client_verb(struct client *c, const struct options *o, char **words,
                const struct cli_verb *verbs, size_t count);

/*
 * Call `path`, which begins below /api/v1, with a JSON body or none. True for
 * an answer of 2xx; anything else was reported on stderr.
 */
bool client_call(struct client *c, const char *method, struct str path, struct str body,
                 struct reply *out) MUST_USE;

/* The same, but refusals (4xx) are left to the caller: true for every answer. */
bool client_ask(struct client *c, const char *method, struct str path, struct str body,
                struct reply *out) MUST_USE;

/*
 * GET a page of a list. `path` has a query already; *cursor is where the page
 * begins, empty for the first, and then where the next one does, empty behind
 * the last; NULL: the first page is all that is wanted. *items is a list. False
 * when it was refused, which was reported, or is no list.
 */
bool client_page(struct client *c, struct str path, struct str *cursor, struct reply *out,
                 struct value *items) MUST_USE;

/*
 * A list of one page or of many as one JSON object, as the API would answer it:
 * print the items of each page, *shown counting all of them, then the end with
 * the cursor of what was not shown, or none.
 */
void client_print_items(struct client *c, struct value items, uint64_t *shown);
void client_print_end(uint64_t shown, struct str cursor);

/* Print an answer as it came, "{}" when it is empty. EXIT_OK. */
int client_print_json(const struct reply *reply);

/* The end of a command that was answered: the same with --json, else a line for people. EXIT_OK. */
int client_answer(struct client *c, const struct reply *reply, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* A command that is one call, and ends as client_answer() does. The exit status. */
int client_send(struct client *c, const char *method, struct str path, struct str body,
                const char *format, ...) PRINTF_LIKE(5, 6);

/* Members of a request's body: a text, or none when it is NULL; "a,b" as a list of texts. */
void client_add_text(struct buf *body, const char *name, const char *text);
void client_add_list(struct buf *body, const char *name, const char *text);

/* JSON, or @FILE; none when `argument` is NULL. False after a message about `what`. */
bool client_add_json(struct client *c, struct buf *body, const char *name, const char *what,
                     const char *argument) MUST_USE;

/* Append ?wait=10s, or for as long as --wait says, where the command line has it. */
void client_add_wait(struct buf *path, const struct options *o);

/* Whether an answer of client_ask() is 2xx; anything else is reported on stderr. */
bool client_succeeded(struct client *c, const struct reply *reply);

/*
 * GET a path outside /api/v1, such as /readyz, without a token. False, and
 * nothing is reported, when there is no answer; *why says the reason.
 */
bool client_probe(struct client *c, const char *path, struct reply *out, const char **why) MUST_USE;

/*
 * Read a stream of events below /api/v1, from behind event `after` unless that
 * is empty, and hand its bytes to `on_data` as they come, until it ends, breaks off
 * or `on_data` answers false. The HTTP status, or 0 when there was no answer,
 * which is not reported.
 */
int client_stream(struct client *c, struct str path, struct str after,
                  bool (*on_data)(void *context, struct str bytes), void *context);

/* Report a refusal: its detail and findings. */
void client_report_refusal(struct client *c, const struct reply *reply);

/* The same of one that was reported on stderr in another way: print it with --json. */
void client_print_refusal(struct client *c, const struct reply *reply);

/* Report what goes wrong on this side: a code, and a sentence. */
void client_fail(struct client *c, const char *code, const char *format, ...) PRINTF_LIKE(3, 4);

/* A route, a name behind it, percent-encoded, and the rest: "/jobs/", "a b" and "/retry". */
struct str client_path(struct client *c, const char *route, struct str name, const char *rest);

/*
 * The id of an execution that a person named: an id, a unique end of one,
 * @last, or key:K. False after a message, which lists the candidates when there
 * are several.
 */
bool client_find(struct client *c, const char *name, struct str *out) MUST_USE;

/* The text of a member, or empty. */
struct str client_text(struct value object, const char *name);

/* The time of a member in microseconds, or 0. */
int64_t client_time(struct value object, const char *name);

/* The whole number that a member is, or `otherwise`. */
int64_t client_int(struct value object, const char *name, int64_t otherwise);

/* A value as compact JSON, in `mem`. */
struct str client_json(struct arena *mem, struct value v);

#endif
