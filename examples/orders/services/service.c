/* service.c - see service.h. */
#include "service.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST_MAX = 65536, HEAD_MAX = 512 };

static const struct service *service;
static sqlite3 *database;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static const char SWITCHES[] =
    "CREATE TABLE IF NOT EXISTS switches (order_id TEXT NOT NULL, action TEXT NOT NULL, "
    "fault TEXT NOT NULL, times INTEGER NOT NULL, status INTEGER NOT NULL, ms INTEGER NOT NULL);"
    "CREATE INDEX IF NOT EXISTS switches_by_order ON switches (order_id, action);";

static void die(const char *what)
{
    (void)fprintf(stderr, "%s: %s: %s\n", service->name, what,
                  database != NULL ? sqlite3_errmsg(database) : "no database");
    abort();
}

int64_t service_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- storage --- */

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql, const char *types, va_list args)
{
    sqlite3_stmt *stmt;

    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        die(sql);
    for (int i = 0; types[i] != '\0'; i++) {
        if (types[i] == 's')
            sqlite3_bind_text(stmt, i + 1, va_arg(args, const char *), -1, SQLITE_TRANSIENT);
        else
            sqlite3_bind_int64(stmt, i + 1, va_arg(args, int64_t));
    }
    return stmt;
}

int64_t service_sql(sqlite3 *db, int64_t none, const char *sql, const char *types, ...)
{
    sqlite3_stmt *stmt;
    va_list args;
    int status;

    va_start(args, types);
    stmt = prepare(db, sql, types, args);
    va_end(args);
    status = sqlite3_step(stmt);
    if (status == SQLITE_ROW)
        none = sqlite3_column_int64(stmt, 0);
    else if (status != SQLITE_DONE)
        die(sql);
    while (status == SQLITE_ROW)
        status = sqlite3_step(stmt);
    sqlite3_finalize(stmt);
    return none;
}

bool service_sql_text(sqlite3 *db, char *out, int size, const char *sql, const char *types, ...)
{
    sqlite3_stmt *stmt;
    va_list args;
    int status;

    va_start(args, types);
    stmt = prepare(db, sql, types, args);
    va_end(args);
    status = sqlite3_step(stmt);
    out[0] = '\0';
    if (status == SQLITE_ROW && sqlite3_column_text(stmt, 0) != NULL)
        (void)snprintf(out, (size_t)size, "%s", (const char *)sqlite3_column_text(stmt, 0));
    else if (status != SQLITE_ROW && status != SQLITE_DONE)
        die(sql);
    sqlite3_finalize(stmt);
    return status == SQLITE_ROW;
}

static void open_database(const char *path)
{
    if (sqlite3_open(path, &database) != SQLITE_OK ||
        sqlite3_exec(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", NULL, NULL,
                     NULL) != SQLITE_OK ||
        sqlite3_busy_timeout(database, 10000) != SQLITE_OK ||
        sqlite3_exec(database, SWITCHES, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(database, service->schema, NULL, NULL, NULL) != SQLITE_OK)
        die(path);
}

/* --- switches --- */

static enum fault_kind fault_named(const char *name)
{
    static const char *const names[] = {"none", "decline", "fail",   "fail_after",
                                        "lose", "delay",   "accept", "accept_declined"};

    for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); i++)
        if (strcmp(name, names[i]) == 0)
            return (enum fault_kind)i;
    return FAULT_NONE;
}

struct fault service_fault(sqlite3 *db, const char *order, const char *action)
{
    static const char find[] = "SELECT rowid FROM switches WHERE order_id IN (?1, '*') AND "
                               "action = ?2 AND times > 0 ORDER BY rowid LIMIT 1";
    int64_t row = service_sql(db, 0, find, "ss", order, action);
    struct fault f = {.kind = FAULT_NONE};
    char name[32];

    if (row == 0)
        return f;
    (void)service_sql_text(db, name, sizeof(name), "SELECT fault FROM switches WHERE rowid = ?1",
                           "i", row);
    f.kind = fault_named(name);
    f.status = (int)service_sql(db, 500, "SELECT status FROM switches WHERE rowid = ?1", "i", row);
    f.ms = service_sql(db, 0, "SELECT ms FROM switches WHERE rowid = ?1", "i", row);
    service_sql(db, 0, "UPDATE switches SET times = times - 1 WHERE rowid = ?1", "i", row);
    return f;
}

void service_apply_fault(const struct fault *f, struct answer *a)
{
    if (f->kind == FAULT_LOSE)
        a->is_lost = true;
    if (f->kind == FAULT_DELAY)
        a->delay_ms = f->ms;
    if (f->kind == FAULT_FAIL || f->kind == FAULT_FAIL_AFTER)
        service_answer(a, f->status, "{\"error\":{\"code\":\"broken\"}}");
}

/* PUT /switches {"order", "action", "fault", "times"?, "status"?, "ms"?} */
static void set_switch(sqlite3 *db, const struct request *r, struct answer *a)
{
    char name[32];

    if (service_sql(db, 0, "SELECT json_valid(?1)", "s", r->body) == 0 ||
        !service_sql_text(db, name, sizeof(name), "SELECT ?1 ->> '$.fault'", "s", r->body) ||
        (fault_named(name) == FAULT_NONE && strcmp(name, "none") != 0)) {
        service_answer(a, 422, "{\"error\":{\"code\":\"bad_switch\"}}");
        return;
    }
    service_sql(db, 0,
                "DELETE FROM switches WHERE order_id = coalesce(?1 ->> '$.order', '*') "
                "AND action = ?1 ->> '$.action' AND ?1 ->> '$.fault' = 'none'",
                "s", r->body);
    service_sql(db, 0,
                "INSERT INTO switches SELECT coalesce(?1 ->> '$.order', '*'), ?1 ->> '$.action', "
                "?1 ->> '$.fault', coalesce(?1 ->> '$.times', 1), coalesce(?1 ->> '$.status', 503),"
                " coalesce(?1 ->> '$.ms', 0) WHERE ?1 ->> '$.fault' <> 'none'",
                "s", r->body);
    service_answer(a, 200, "{}");
}

/* --- HTTP --- */

void service_answer(struct answer *a, int status, const char *format, ...)
{
    va_list args;

    a->status = status;
    va_start(args, format);
    (void)vsnprintf(a->body, sizeof(a->body), format, args);
    va_end(args);
}

bool service_path(const struct request *r, const char *prefix, const char *suffix, char *order,
                  int size)
{
    size_t before = strlen(prefix), all = strlen(r->path), after = strlen(suffix);

    if (strncmp(r->path, prefix, before) != 0 || all <= before + after ||
        strcmp(r->path + all - after, suffix) != 0 || (int)(all - before - after) >= size ||
        memchr(r->path + before, '/', all - before - after) != NULL)
        return false;
    (void)snprintf(order, (size_t)size, "%.*s", (int)(all - before - after), r->path + before);
    return true;
}

/* One request is one transaction, and they take turns. */
static void perform(const struct request *r, struct answer *a)
{
    pthread_mutex_lock(&turn);
    if (sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        die("BEGIN");
    service_answer(a, 404, "{\"error\":{\"code\":\"not_found\"}}");
    if (strcmp(r->path, "/switches") == 0)
        set_switch(database, r, a);
    else
        service->handle(database, r, a);
    if (sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        die("COMMIT");
    pthread_mutex_unlock(&turn);
}

static void header_value(const char *head, const char *name, char *out, size_t size)
{
    const char *at = strcasestr(head, name);
    size_t len;

    out[0] = '\0';
    if (at == NULL)
        return;
    at += strlen(name);
    at += strspn(at, " ");
    len = strcspn(at, "\r\n");
    if (len < size) {
        memcpy(out, at, len);
        out[len] = '\0';
    }
}

/* Read one request into `bytes`. False: the connection has ended, or makes no sense. */
static bool read_request(int fd, char *bytes, struct request *r)
{
    size_t len = 0, wanted = 0;
    char length[16];
    char *end = NULL;

    while (end == NULL || len < wanted) {
        ssize_t n = len < REQUEST_MAX ? recv(fd, bytes + len, REQUEST_MAX - len, 0) : 0;

        if (n <= 0)
            return false;
        len += (size_t)n;
        bytes[len] = '\0';
        if (end != NULL || (end = strstr(bytes, "\r\n\r\n")) == NULL)
            continue;
        *end = '\0';
        header_value(bytes, "\r\nContent-Length:", length, sizeof(length));
        wanted = (size_t)(end - bytes) + 4 + strtoul(length, NULL, 10);
    }
    r->body = end + 4;
    header_value(bytes, "\r\nIdempotency-Key:", r->key, sizeof(r->key));
    return sscanf(bytes, "%7s %255s", r->method, r->path) == 2;
}

static bool send_answer(int fd, const struct answer *a)
{
    char text[HEAD_MAX + sizeof(a->body)];
    int len;

    if (a->delay_ms > 0)
        usleep((useconds_t)(a->delay_ms * 1000));
    if (a->is_lost)
        return false;
    len = snprintf(text, sizeof(text),
                   "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: "
                   "%zu\r\n\r\n%s",
                   a->status, strlen(a->body), a->body);
    return send(fd, text, (size_t)len, MSG_NOSIGNAL) == len;
}

static void *serve_connection(void *context)
{
    int fd = (int)(intptr_t)context, on = 1;
    char *bytes = malloc(REQUEST_MAX + 1);
    bool goes_on = bytes != NULL;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    while (goes_on) {
        struct answer a = {.status = 0};
        struct request r;

        goes_on = read_request(fd, bytes, &r);
        if (!goes_on)
            break;
        perform(&r, &a);
        goes_on = send_answer(fd, &a);
    }
    close(fd);
    free(bytes);
    return NULL;
}

static int listen_on(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    socklen_t len = sizeof(at);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(fd, 1024) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &len) != 0) {
        perror(service->name);
        exit(1);
    }
    printf("%s listens on http://127.0.0.1:%u\n", service->name, (unsigned)ntohs(at.sin_port));
    (void)fflush(stdout);
    return fd;
}

int service_main(const struct service *s, int argc, char **argv)
{
    const char *data = NULL;
    pthread_attr_t detached;
    int port = 0, fd;

    service = s;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--data") == 0)
            data = argv[i + 1];
        else if (strcmp(argv[i], "--port") == 0)
            port = (int)strtol(argv[i + 1], NULL, 10);
    }
    if (data == NULL) {
        (void)fprintf(stderr, "usage: %s --data FILE [--port PORT]\n", s->name);
        return 2;
    }
    open_database(data);
    fd = listen_on(port);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (;;) {
        int peer = accept(fd, NULL, NULL);
        pthread_t thread;

        if (peer >= 0 &&
            pthread_create(&thread, &detached, serve_connection, (void *)(intptr_t)peer) != 0)
            close(peer);
    }
}
