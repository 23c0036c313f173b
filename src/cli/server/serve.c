/* serve.c - pawl serve: API and engine in one process. */
#include "cli/server/serve.h"
#include "api/access/token.h"
#include "api/open.h"
#include "base/log.h"
#include "base/resident.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/term.h"
#include "cli/version.h"
#include "effect/secret/vault.h"
#include "node/node.h"
#include "store/folder.h"
#include "store/installation.h"
#include "store/survey.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEEP_SNAPSHOTS_US (INT64_C(7) * 86400 * 1000000)

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
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->signal_fd >= 0)
        return true;
    return err_set(err, ERR_IO, "cannot wait for signals: %s", strerror(errno));
}

/* The certificate and key, from the files that the settings name now. */
static bool reload_tls(struct server *s, struct arena *mem, const struct settings *fresh,
                       struct err *err)
{
    const char *cert = settings_text(fresh, SETTING_TLS_CERT);
    struct tls tls;

    if (s->tls.cert == NULL)
        return true;
    if (!tls_read(mem, cert, settings_text(fresh, SETTING_TLS_KEY), &tls, err) ||
        !api_use_tls(s->api, tls.cert, tls.key, err))
        return false;
    if (tls.is_expired)
        log_write(LOG_WARN, "the certificate is not valid today",
                  LOG_FIELDS(log_str("file", str_of(cert))));
    return true;
}

static bool reload_settings(struct server *s, struct arena *mem, struct err *err)
{
    struct settings fresh;
    enum log_level least;

    if (!settings_read(mem, &fresh, s->options))
        return err_set(err, ERR_INVALID, "the settings are wrong");
    if (!log_level_read(str_of(settings_text(&fresh, SETTING_LOG_LEVEL)), &least))
        return err_set(err, ERR_INVALID, "log-level is debug, info, notice, warn or error");
    if (!reload_tls(s, mem, &fresh, err))
        return false;
    log_to(STDERR_FILENO, least, &clock_system);
    return true;
}

/* What cannot be read leaves what was read before: no hang-up ends the server. */
static void reload(struct server *s)
{
    struct arena mem;
    struct err err;

    arena_init(&mem);
    if (reload_settings(s, &mem, &err))
        log_write(LOG_INFO, "certificates and log settings were read again", NULL);
    else
        log_write(LOG_ERROR, "certificates and log settings stay as they were",
                  LOG_FIELDS(log_str("reason", str_of(err.message))));
    arena_fini(&mem);
}

static void on_signal(void *context)
{
    struct server *s = context;
    struct signalfd_siginfo info;

    if (read(s->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return;
    if (info.ssi_signo == SIGHUP) {
        reload(s);
        return;
    }
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

/* The file with the key that credentials are sealed with. */
static const char *key_path(struct server *s)
{
    if (serve_has(s, SETTING_MASTER_KEY))
        return serve_text(s, SETTING_MASTER_KEY);
    return str_printf(&s->mem, "%s/master.key", serve_text(s, SETTING_DATA)).ptr;
}

/*
 * Whoever names an empty database beside a folder that is in use would find all processes gone:
 * nothing moves them by itself.
 */
static bool check_other_store(const struct server *s, struct err *err)
{
    struct str data = str_of(serve_text(s, SETTING_DATA));
    struct store_glance here, there;

    if (serve_is_sqlite(s))
        return true;
    if (!store_glance(STR_NONE, data, &here, err))
        return false;
    if (!here.is_used)
        return true;
    if (!store_glance(str_of(serve_text(s, SETTING_STORE)), data, &there, err))
        return false;
    return there.is_used ||
           err_set(
               err, ERR_CONFLICT,
               "%.*s holds an installation on SQLite (pawl.db), and the database of --store is "
               "empty: its executions, schedules and definitions would be gone from sight. Take "
               "them along with pawl move --from %.*s --to URL; or go on without --store; or "
               "name a new folder with --data to begin anew",
               STR_ARG(data), STR_ARG(data));
}

/*
 * The token of the administrator: of an SQLite file the one in the data folder, made at the first
 * start. Of a database that nodes share it belongs to the installation: the first node makes it,
 * the others know its digest. *token is empty where this node does not have it.
 */
static bool claim_admin_token(struct server *s, const char *path, struct str *token,
                              struct str *hash, struct err *err)
{
    struct str url = str_of(serve_text(s, SETTING_STORE)), mine;
    bool is_anew = settings_flag(&s->settings, SETTING_NEW_ADMIN_TOKEN);

    if (!token_open(&s->mem, path, token, &s->is_first_start, err))
        return false;
    *hash = mine = token_hash_hex(&s->mem, *token);
    if (serve_is_sqlite(s))
        return true;
    if (!installation_claim(url, &s->mem, INSTALLATION_ADMIN_TOKEN, mine,
                            is_anew ? CLAIM_ANEW : CLAIM_UNLESS_CLAIMED, hash, err))
        return false;
    if (str_eq(*hash, mine))
        return true;
    if (s->is_first_start)
        (void)unlink(path);
    else
        log_write(LOG_WARN, "admin.token in the data folder is not the token of this installation",
                  LOG_FIELDS(log_str("file", str_of(path))));
    s->is_first_start = false;
    *token = STR_NONE;
    return true;
}

/*
 * A start that was to make another token has ended before it was in its place: it is put there if
 * the installation has claimed it, and forgotten otherwise.
 */
static bool settle_new_token(struct server *s, const char *fresh, const char *path, struct err *err)
{
    struct str token, claimed = STR_NONE;
    struct err unreadable;

    if (access(fresh, F_OK) != 0)
        return true;
    if (!serve_is_sqlite(s) && token_read(&s->mem, fresh, &token, &unreadable)) {
        if (!installation_look(str_of(serve_text(s, SETTING_STORE)), &s->mem,
                               INSTALLATION_ADMIN_TOKEN, &claimed, err))
            return false;
        if (str_eq(claimed, token_hash_hex(&s->mem, token)))
            return folder_rename(str_of(fresh), str_of(path), err);
    }
    (void)unlink(fresh);
    return true;
}

static bool open_admin_token(struct server *s, struct str *token, struct str *hash, struct err *err)
{
    const char *path = str_printf(&s->mem, "%s/admin.token", serve_text(s, SETTING_DATA)).ptr;
    const char *fresh = str_printf(&s->mem, "%s.new", path).ptr;

    if (!settle_new_token(s, fresh, path, err))
        return false;
    /* Whenever this ends, one of the two files has the token that is good. */
    if (settings_flag(&s->settings, SETTING_NEW_ADMIN_TOKEN))
        return claim_admin_token(s, fresh, token, hash, err) &&
               folder_rename(str_of(fresh), str_of(path), err);
    if (!serve_is_sqlite(s) && access(path, F_OK) != 0) {
        if (!installation_look(str_of(serve_text(s, SETTING_STORE)), &s->mem,
                               INSTALLATION_ADMIN_TOKEN, hash, err))
            return false;
        *token = STR_NONE;
        if (hash->len > 0)
            return true;
    }
    return claim_admin_token(s, path, token, hash, err);
}

static bool open_server(struct server *s, struct str *token, struct err *err)
{
    const char *data = serve_text(s, SETTING_DATA);
    struct node_options node = {
        .data_path = str_of(data),
        .store_url = str_of(serve_text(s, SETTING_STORE)),
        .clock = &clock_system,
        .keep_ended_us = s->keep_ended_us,
        .keep_audit_us = s->keep_audit_us,
        .is_paused = settings_flag(&s->settings, SETTING_PAUSED),
        .has_planner = true,
        .has_schedules = true,
        .keep_snapshots_us = KEEP_SNAPSHOTS_US,
        .policy = &s->policy,
        .calls_per_host = (size_t)settings_number(&s->settings, SETTING_CALLS_PER_HOST),
        .servers = {.smtp_url = str_of(serve_text(s, SETTING_SMTP)),
                    .mail_from = str_of(serve_text(s, SETTING_MAIL_FROM)),
                    .sms_gateway = str_of(serve_text(s, SETTING_SMS_GATEWAY)),
                    .push_gateway = str_of(serve_text(s, SETTING_PUSH_GATEWAY)),
                    .broker_url = str_of(serve_text(s, SETTING_BROKER))},
        .otlp_url = str_of(serve_text(s, SETTING_OTLP)),
        .version = STR(PAWL_VERSION),
        .meters = &s->meters,
    };
    struct api_options api = {
        .host = s->host,
        .port = s->port,
        .auth = {.header = str_of(serve_text(s, SETTING_AUTH_HEADER)),
                 .trusted_proxies = s->trusted_proxies},
        .public_url = str_of(serve_text(s, SETTING_PUBLIC_URL)),
        .tls_cert = s->tls.cert,
        .tls_key = s->tls.key,
        .connections_max = (unsigned)settings_number(&s->settings, SETTING_MAX_CONNECTIONS),
        .mcp = {.allows_changes = settings_flag(&s->settings, SETTING_MCP_ALLOW_CHANGES),
                .version = PAWL_VERSION},
        .hook_rate = settings_number(&s->settings, SETTING_HOOK_RATE),
        .patience_us = settings_duration_us(&s->settings, SETTING_CLIENT_TIMEOUT),
        .clock = &clock_system,
    };

    raise_limits();
    /* Inputs of processes are for nobody else to read, whatever the folder permits. */
    umask(077);
    if (!take_signals(s, err) || !make_folder(data, err) || !check_other_store(s, err))
        return false;
    s->vault = node.vault = vault_new(key_path(s));
    s->node = node_open(&node, err);
    if (s->node == NULL || !open_admin_token(s, token, &api.admin_hash, err))
        return false;
    s->api = api_open(s->node, &api, err);
    return s->api != NULL && node_watch(s->node, s->signal_fd, on_signal, s, err);
}

static void print_welcome(const struct server *s, struct str token)
{
    const char *data = serve_text(s, SETTING_DATA), *public_url = serve_text(s, SETTING_PUBLIC_URL);
    bool is_ipv6 = str_find(s->host, STR(":"), 0) >= 0;
    char url[300];
    /* What is no terminal may be a journal, which others read and keep. */
    bool shows_token = s->is_first_start && term_is(stdout);
    const char *front;

    snprintf(url, sizeof(url), "%s://%s%.*s%s:%u", s->tls.cert != NULL ? "https" : "http",
             is_ipv6 ? "[" : "", STR_ARG(s->host), is_ipv6 ? "]" : "", (unsigned)api_port(s->api));
    front = serve_has(s, SETTING_PUBLIC_URL) ? public_url : url;
    printf("Pawl %s listens on %s\n", PAWL_VERSION, url);
    if (shows_token)
        printf("  sign in  %s/#token=%.*s\n", front, STR_ARG(token));
    else
        printf("  sign in  %s/ (`pawl login` prints the address with the token)\n", front);
    if (token.len > 0)
        printf("  token    %s/admin.token\n", data);
    else
        printf("  token    admin.token of the node that started first\n");
    printf("  data     %s (%s)\n", data, serve_is_sqlite(s) ? "SQLite" : "PostgreSQL");
    if (settings_flag(&s->settings, SETTING_PAUSED))
        printf("  paused   nothing moves: no timers, calls, messages or schedules\n");
    (void)fflush(stdout);
    log_write(LOG_INFO, "the server has started",
              LOG_FIELDS(log_str("version", STR(PAWL_VERSION)), log_str("url", str_of(url))));
}

/* --- ending --- */

/*
 * The threads of the store wait for a database that may never answer, and
 * closing waits for them. What was acknowledged is durable before all this.
 */
static void *end_in_time(void *context)
{
    enum { CLOSE_MAX_S = 10 };
    struct server *s = context;

    for (struct timespec left = {.tv_sec = CLOSE_MAX_S}; nanosleep(&left, &left) != 0;)
        ;
    if (atomic_load(&s->is_closed))
        return NULL;
    log_write(LOG_WARN, "the store does not answer and is left without a farewell",
              LOG_FIELDS(log_int("status", s->status)));
    node_abandon(s->node);
    _exit(s->status);
}

static void close_node(struct server *s)
{
    pthread_t thread;

    /* Without the thread it ends when the database answers. */
    if (pthread_create(&thread, NULL, end_in_time, s) == 0)
        pthread_detach(thread);
    node_close(s->node);
    atomic_store(&s->is_closed, true);
}

static int serve(struct server *s)
{
    struct str token;
    struct err err;

    s->status = EXIT_FAILED;
    s->signal_fd = -1;
    meters_init(&s->meters);
    if (open_server(s, &token, &err)) {
        print_welcome(s, token);
        resident_trim();
        s->status = node_run(s->node) == NODE_UNDECIDED ? EXIT_UNDECIDED : EXIT_OK;
        if (s->status == EXIT_UNDECIDED)
            api_answer_undecided(s->api);
    } else {
        fprintf(stderr, "pawl serve: %s\n", err.message);
    }
    if (s->node != NULL)
        close_node(s);
    if (s->api != NULL)
        api_close(s->api);
    if (s->vault != NULL)
        vault_free(s->vault);
    meters_fini(&s->meters);
    if (s->signal_fd >= 0)
        close(s->signal_fd);
    return s->status;
}

int command_serve(const struct options *o)
{
    static struct server s; /* a thread may look at it until the process ends */
    int status = EXIT_USAGE;

    s.options = o;
    arena_init(&s.mem);
    if (settings_read(&s.mem, &s.settings, o)) {
        if (options_has(o, "print-config")) {
            settings_print(&s.settings, options_has(o, "json"));
            status = EXIT_OK;
        } else if (serve_check(&s)) {
            status = serve(&s);
        }
    } else {
        fprintf(stderr, "`pawl help serve` lists the settings\n");
    }
    arena_fini(&s.mem);
    return status;
}
