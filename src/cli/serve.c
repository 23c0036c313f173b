/* serve.c - pawl serve: API and engine in one process. */
#include "api/api.h"
#include "api/token.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/version.h"
#include "node/node.h"
#include "value/object.h"
#include "value/timefmt.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* A setting and where it came from. */
struct setting {
    const char *name; /* the option, without dashes */
    const char *environment;
    const char *value;
    const char *source;
};

enum { SETTING_DATA, SETTING_LISTEN, SETTING_STORE, SETTING_KEEP_COMPLETED, SETTING_COUNT };

struct server {
    struct setting settings[SETTING_COUNT];
    struct arena mem;
    struct str host;
    uint16_t port;
    int64_t keep_ended_us; /* 0 = for ever */
    bool allow_plain_http;
    struct node *node;
    struct api *api;
    int signal_fd;
    bool is_stopping;
};

/* --- settings --- */

static void settle(struct setting *s, const char *fallback)
{
    const char *environment = getenv(s->environment);

    if (s->value != NULL) {
        s->source = "option";
    } else if (environment != NULL && environment[0] != '\0') {
        s->value = environment;
        s->source = s->environment;
    } else {
        s->value = fallback;
        s->source = "default";
    }
}

/* A URL without the password in it. */
static struct str without_password(struct arena *mem, const char *url)
{
    struct str all = str_of(url);
    int64_t scheme = str_find(all, STR("://"), 0), at = -1, colon;

    for (int64_t next = 0; (next = str_find(all, STR("@"), (size_t)next)) >= 0; next++)
        at = next;
    if (scheme < 0 || at < 0)
        return all;
    colon = str_find(all, STR(":"), (size_t)scheme + 3);
    if (colon < 0 || colon > at)
        return all;
    return str_printf(mem, "%.*s:***%s", (int)colon, url, url + at);
}

static void print_config(const struct server *s, bool as_json)
{
    struct arena mem;
    struct buf out;

    arena_init(&mem);
    buf_init(&out);
    if (as_json)
        buf_char(&out, '{');
    for (int i = 0; i < SETTING_COUNT; i++) {
        const struct setting *setting = &s->settings[i];
        struct str value =
            setting->value[0] == '\0' ? STR("sqlite") : without_password(&mem, setting->value);
        if (as_json) {
            object_name(&out, setting->name);
            buf_char(&out, '{');
            object_text(&out, "value", value);
            object_text(&out, "source", str_of(setting->source));
            buf_char(&out, '}');
        } else {
            buf_printf(&out, "%-14s %-24.*s (%s)\n", setting->name, STR_ARG(value),
                       setting->source);
        }
    }
    if (as_json)
        buf_text(&out, "}\n");
    printf("%.*s", STR_ARG(buf_view(&out)));
    buf_fini(&out);
    arena_fini(&mem);
}

/* "127.0.0.1:7070", "[::1]:7070", ":7070" or "7070". */
static bool read_address(const char *text, struct str *host, uint16_t *port)
{
    struct str all = str_of(text);
    size_t colon = all.len;
    int64_t number;

    while (colon > 0 && all.ptr[colon - 1] != ':')
        colon--;
    *host = colon > 1 ? str_slice(all, 0, colon - 1) : STR("127.0.0.1");
    if (host->len > 2 && host->ptr[0] == '[' && host->ptr[host->len - 1] == ']')
        *host = str_slice(*host, 1, host->len - 1);
    if (!str_to_int64(str_slice(all, colon, all.len), &number) || number < 0 || number > 65535)
        return false;
    *port = (uint16_t)number;
    return true;
}

static bool is_loopback(struct str host)
{
    return str_starts_with(host, STR("127.")) || str_eq(host, STR("::1")) ||
           str_eq(host, STR("localhost"));
}

static bool check_address(struct server *s)
{
    const char *listen = s->settings[SETTING_LISTEN].value;

    if (!read_address(listen, &s->host, &s->port)) {
        fprintf(stderr, "pawl serve: --listen takes HOST:PORT, such as 127.0.0.1:7070, not %s\n",
                listen);
        return false;
    }
    if (is_loopback(s->host) || s->allow_plain_http)
        return true;
    fprintf(stderr,
            "pawl serve: %s can be reached from other machines, and this server speaks plain HTTP: "
            "whoever listens on the way learns the token.\n"
            "Listen on 127.0.0.1 behind a proxy that speaks TLS, or add --allow-plain-http.\n",
            listen);
    return false;
}

/* "90d"; "none" and "0" keep everything. */
static bool check_keep_completed(struct server *s)
{
    const char *text = s->settings[SETTING_KEEP_COMPLETED].value;
    struct value v;

    if (strcmp(text, "none") == 0)
        return true;
    if (duration_read(str_of(text), &v) && v.seconds >= 0) {
        s->keep_ended_us = v.seconds * 1000000 + v.nanos / 1000;
        return true;
    }
    fprintf(stderr,
            "pawl serve: --keep-completed takes how long executions are kept after their end, "
            "such as 90d, or none to keep them for ever; not %s\n",
            text);
    return false;
}

/* --- opening --- */

/* As many connections as the system lets us have. */
static void raise_limits(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    (void)signal(SIGPIPE, SIG_IGN);
}

/* Signals become readable, before any thread is started that could get them. */
static bool take_signals(struct server *s, struct err *err)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->signal_fd >= 0)
        return true;
    return err_set(err, ERR_IO, "cannot wait for signals: %s", strerror(errno));
}

static void on_signal(void *context)
{
    struct server *s = context;
    struct signalfd_siginfo info;

    if (read(s->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return;
    /* Whoever asks twice does not want to wait; what was acknowledged is durable. */
    if (s->is_stopping)
        _exit(EXIT_FAILED);
    s->is_stopping = true;
    log_write(LOG_INFO, "stopping", NULL);
    node_stop(s->node);
}

static bool make_folder(const char *path, struct err *err)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return true;
    return err_set(err, ERR_IO, "cannot make the data folder %s: %s", path, strerror(errno));
}

static bool open_server(struct server *s, struct str *token, struct err *err)
{
    const char *data = s->settings[SETTING_DATA].value;
    struct node_options node = {
        .data_path = str_of(data),
        .store_url = str_of(s->settings[SETTING_STORE].value),
        .clock = &clock_system,
        .keep_ended_us = s->keep_ended_us,
    };
    struct api_options api = {.host = s->host, .port = s->port, .clock = &clock_system};

    raise_limits();
    if (!take_signals(s, err) || !make_folder(data, err))
        return false;
    s->node = node_open(&node, err);
    if (s->node == NULL ||
        !token_open(&s->mem, str_printf(&s->mem, "%s/admin.token", data).ptr, token, err))
        return false;
    api.admin_token = *token;
    s->api = api_open(s->node, &api, err);
    return s->api != NULL && node_watch(s->node, s->signal_fd, on_signal, s, err);
}

static void print_welcome(const struct server *s, struct str token)
{
    const char *data = s->settings[SETTING_DATA].value;
    const char *store = s->settings[SETTING_STORE].value;
    bool is_ipv6 = str_find(s->host, STR(":"), 0) >= 0;
    char url[300];

    snprintf(url, sizeof(url), "http://%s%.*s%s:%u", is_ipv6 ? "[" : "", STR_ARG(s->host),
             is_ipv6 ? "]" : "", (unsigned)api_port(s->api));
    printf("Pawl %s listens on %s\n"
           "  sign in  %s/#token=%.*s\n"
           "  token    %s/admin.token\n"
           "  data     %s (%s)\n",
           PAWL_VERSION, url, url, STR_ARG(token), data, data,
           store[0] == '\0' ? "SQLite" : "PostgreSQL");
    (void)fflush(stdout);
}

static int serve(struct server *s)
{
    int status = EXIT_FAILED;
    struct str token;
    struct err err;

    s->signal_fd = -1;
    arena_init(&s->mem);
    if (open_server(s, &token, &err)) {
        print_welcome(s, token);
        status = node_run(s->node);
    } else {
        fprintf(stderr, "pawl serve: %s\n", err.message);
    }
    if (s->node != NULL)
        node_close(s->node);
    if (s->api != NULL)
        api_close(s->api);
    if (s->signal_fd >= 0)
        close(s->signal_fd);
    arena_fini(&s->mem);
    return status;
}

int command_serve(int argc, char **argv)
{
    struct server s = {
        .settings = {{.name = "data", .environment = "PAWL_DATA"},
                     {.name = "listen", .environment = "PAWL_LISTEN"},
                     {.name = "store", .environment = "PAWL_STORE"},
                     {.name = "keep-completed", .environment = "PAWL_KEEP_COMPLETED"}}};
    bool print = false, as_json = false;
    const struct option_spec specs[] = {
        {.name = "data", .value = &s.settings[SETTING_DATA].value},
        {.name = "listen", .value = &s.settings[SETTING_LISTEN].value},
        {.name = "store", .value = &s.settings[SETTING_STORE].value},
        {.name = "keep-completed", .value = &s.settings[SETTING_KEEP_COMPLETED].value},
        {.name = "allow-plain-http", .flag = &s.allow_plain_http},
        {.name = "print-config", .flag = &print},
        {.name = "json", .flag = &as_json},
    };

    if (!options_read("serve", specs, sizeof(specs) / sizeof(specs[0]), &argc, argv) || argc != 1)
        return command_usage("serve");
    settle(&s.settings[SETTING_DATA], "./pawl-data");
    settle(&s.settings[SETTING_LISTEN], "127.0.0.1:7070");
    settle(&s.settings[SETTING_STORE], "");
    settle(&s.settings[SETTING_KEEP_COMPLETED], "none");
    if (print) {
        print_config(&s, as_json);
        return EXIT_OK;
    }
    return check_address(&s) && check_keep_completed(&s) ? serve(&s) : EXIT_USAGE;
}
