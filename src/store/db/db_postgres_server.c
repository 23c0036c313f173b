/* db_postgres_server.c - see db_postgres_server.h. */
#include "store/db/db_postgres_server.h"

#include "base/alloc.h"
#include "base/log.h"
#include "store/db/db.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POOL_LOOKS = 3, IDENTITY_SIZE = 64 };

/* --- the hosts of an address --- */

/* Cut a list at its commas; answers how many there are. */
static unsigned list_cut(char *list, char *out[HOSTS_MAX])
{
    unsigned count = 0;

    for (char *at = list; at != NULL && count < HOSTS_MAX; count++) {
        char *comma = strchr(at, ',');

        if (comma != NULL)
            *comma = '\0';
        out[count] = at;
        at = comma != NULL ? comma + 1 : NULL;
    }
    return count;
}

bool postgres_hosts_read(struct postgres_hosts *out, const char *url, struct err *err)
{
    char *message = NULL;
    PQconninfoOption *options = PQconninfoParse(url, &message);
    bool has_addresses = false;
    unsigned ports = 0;

    *out = (struct postgres_hosts){.count = 1};
    if (options == NULL) {
        (void)err_set(err, ERR_INVALID, "the address of the database is wrong: %.*s",
                      message == NULL ? 0 : (int)strcspn(message, "\n"),
                      message == NULL ? "" : message);
        PQfreemem(message);
        return false;
    }
    for (const PQconninfoOption *o = options; o->keyword != NULL; o++) {
        if (o->val == NULL)
            continue;
        if (strcmp(o->keyword, "host") == 0)
            out->hosts = alloc_text(str_of(o->val));
        else if (strcmp(o->keyword, "port") == 0)
            out->ports = alloc_text(str_of(o->val));
        has_addresses |= strcmp(o->keyword, "hostaddr") == 0;
    }
    PQconninfoFree(options);
    if (has_addresses || out->hosts == NULL || strchr(out->hosts, ',') == NULL)
        return true;
    if (out->ports != NULL)
        ports = list_cut(out->ports, out->port);
    out->count = list_cut(out->hosts, out->host);
    for (unsigned i = 1; ports == 1 && i < out->count; i++)
        out->port[i] = out->port[0];
    return true;
}

void postgres_hosts_fini(struct postgres_hosts *hosts)
{
    free(hosts->hosts);
    free(hosts->ports);
}

/* --- which server --- */

static int64_t result_int(const PGresult *result, int column)
{
    int64_t n = 0;
    struct str text = str_of(PQgetvalue(result, 0, column));

    return str_to_int64(text, &n) ? n : 0;
}

/* A timeline is the first eight digits of the name of a file of the log. */
#define IDENTIFY                                                                                   \
    "SELECT pg_backend_pid(), (pg_control_system()).system_identifier, "                           \
    "CASE WHEN pg_is_in_recovery() THEN 0 ELSE "                                                   \
    "('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int END"

bool postgres_identify(PGconn *conn, struct postgres_identity *out)
{
    PGresult *result = PQexec(conn, IDENTIFY);

    *out = (struct postgres_identity){0};
    if (PQresultStatus(result) == PGRES_TUPLES_OK) {
        out->is_pooled = result_int(result, 0) != PQbackendPID(conn);
        out->system = result_int(result, 1);
        out->timeline = result_int(result, 2);
    }
    PQclear(result);
    return PQstatus(conn) == CONNECTION_OK;
}

/* Where it cannot be written, the memory of this process must do. */
static void server_keep(const struct db_server *server)
{
    char other[4096];
    int len = server->file == NULL ? 0 : snprintf(other, sizeof(other), "%s.new", server->file);
    FILE *f = len <= 0 || len >= (int)sizeof(other) ? NULL : fopen(other, "we");
    bool ok;

    if (f == NULL)
        return;
    ok = fprintf(f, "%" PRId64 " %" PRId64 "\n", server->system,
                 (int64_t)atomic_load(&server->timeline)) > 0;
    ok = fflush(f) == 0 && fsync(fileno(f)) == 0 && ok;
    ok = fclose(f) == 0 && ok;
    if (!ok || rename(other, server->file) != 0)
        (void)unlink(other);
}

struct db_server *db_server_new(struct str folder)
{
    struct db_server *server = ALLOC_NEW(struct db_server);
    char text[IDENTITY_SIZE] = "";
    struct str rest;
    int64_t timeline = 0;
    FILE *f;

    pthread_mutex_init(&server->lock, NULL);
    if (folder.len == 0)
        return server;
    server->file = alloc_zeroed(folder.len + sizeof("/server"));
    (void)snprintf(server->file, folder.len + sizeof("/server"), "%.*s/server", STR_ARG(folder));
    f = fopen(server->file, "re");
    if (f == NULL)
        return server;
    if (fgets(text, sizeof(text), f) == NULL)
        text[0] = '\0';
    (void)fclose(f);
    rest = str_trim(str_of(text));
    if (str_to_int64(str_cut(&rest, ' '), &server->kept_system) && str_to_int64(rest, &timeline))
        server->kept_timeline = timeline;
    return server;
}

void db_server_free(struct db_server *server)
{
    pthread_mutex_destroy(&server->lock);
    free(server->file);
    free(server);
}

/*
 * What the process before has seen counts for the same installation alone: another system
 * identifier at a start is a server that an operator has named.
 */
static void server_first(struct db_server *server, const struct postgres_identity *id)
{
    server->system = id->system;
    if (server->kept_system == id->system)
        atomic_store(&server->timeline, server->kept_timeline);
}

bool postgres_server_admit(struct db_server *server, const struct postgres_identity *id,
                           char *message, size_t size)
{
    bool ok = true;

    if (server == NULL || id->system == 0)
        return true;
    pthread_mutex_lock(&server->lock);
    if (server->system == 0)
        server_first(server, id);
    if (server->system != id->system) {
        (void)snprintf(message, size,
                       "PostgreSQL: another server is at this address, of system identifier "
                       "%" PRId64 " and not %" PRId64,
                       id->system, server->system);
        ok = false;
    } else if (id->timeline != 0 && id->timeline < atomic_load(&server->timeline)) {
        (void)snprintf(message, size,
                       "PostgreSQL: the server is on timeline %" PRId64 ", another was promoted "
                       "to %" PRId64 ": it is not written to",
                       id->timeline, (int64_t)atomic_load(&server->timeline));
        ok = false;
    } else if (id->timeline > atomic_load(&server->timeline)) {
        atomic_store(&server->timeline, id->timeline);
        server_keep(server);
    }
    pthread_mutex_unlock(&server->lock);
    return ok;
}

/* --- pools --- */

/* The process that serves a connection now; 0 when it does not say. */
static int64_t server_process(PGconn *conn, const char *before)
{
    PGresult *result;
    int64_t pid = 0;

    if (before != NULL)
        PQclear(PQexec(conn, before));
    result = PQexec(conn, "SELECT pg_backend_pid()");
    if (PQresultStatus(result) == PGRES_TUPLES_OK)
        pid = result_int(result, 0);
    PQclear(result);
    return pid;
}

bool postgres_keeps_sessions(PGconn *conn, PGconn *other)
{
    int64_t own = server_process(conn, NULL), others = server_process(other, NULL);
    bool ok = own != 0 && others != 0 && own != others;

    /* Each asks while the other is within a transaction: a pool that lends by transactions cannot
     * give both what they had. */
    for (int i = 0; ok && i < POOL_LOOKS; i++) {
        ok = server_process(other, "BEGIN") == others && server_process(conn, NULL) == own &&
             server_process(conn, "BEGIN") == own;
        PQclear(PQexec(other, "ROLLBACK"));
        ok = server_process(other, NULL) == others && ok;
        PQclear(PQexec(conn, "ROLLBACK"));
    }
    return ok;
}
