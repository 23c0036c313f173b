/* private_postgres.c - see private_postgres.h. */
#include "store/private_postgres.h"

#include <arpa/inet.h>
#include <glob.h>
#include <postgresql/libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static char folder[64], programs[128], url[128];
static int port;

/* Run a command of PostgreSQL, as user postgres when we are root. */
static bool run(const char *command)
{
    char line[1024];

    if (geteuid() == 0)
        (void)snprintf(line, sizeof(line), "cd %s && runuser -u postgres -- %s/%s", folder,
                       programs, command);
    else
        (void)snprintf(line, sizeof(line), "cd %s && %s/%s", folder, programs, command);
    if (system(line) == 0)
        return true;
    (void)fprintf(stderr, "failed: %s\n", line);
    return false;
}

static bool find_programs(void)
{
    glob_t found;
    bool ok = glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) == 0;

    if (ok) {
        struct str last = str_of(found.gl_pathv[found.gl_pathc - 1]);

        (void)snprintf(programs, sizeof(programs), "%.*s", (int)(last.len - strlen("/initdb")),
                       last.ptr);
        globfree(&found);
    }
    return ok;
}

/* A port that is free now. */
static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0), found = 0;

    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, len) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &len) == 0)
        found = ntohs(address.sin_port);
    if (fd >= 0)
        close(fd);
    return found;
}

bool private_postgres_resume(void)
{
    char command[512];

    (void)snprintf(command, sizeof(command),
                   "pg_ctl -D %s/data -l %s/log -w -s -o '-p %d -k %s -h 127.0.0.1 -F' start",
                   folder, folder, port, folder);
    return run(command);
}

bool private_postgres_stop(void)
{
    char command[512];

    (void)snprintf(command, sizeof(command), "pg_ctl -D %s/data -w -s -m immediate stop", folder);
    return run(command);
}

bool private_postgres_restart(void)
{
    return private_postgres_stop() && private_postgres_resume();
}

bool private_postgres_start(void)
{
    const char *base = getenv("TMPDIR");
    char command[512];

    (void)snprintf(folder, sizeof(folder), "%s/pawl-postgres-XXXXXX", base != NULL ? base : "/tmp");
    port = free_port();
    if (!find_programs() || port == 0 || mkdtemp(folder) == NULL) {
        (void)fprintf(stderr, "PostgreSQL is not installed\n");
        return false;
    }
    (void)snprintf(command, sizeof(command), "chown postgres: %s", folder);
    if (geteuid() == 0 && system(command) != 0)
        return false;
    (void)snprintf(url, sizeof(url), "postgres://pawl@127.0.0.1:%d/postgres", port);
    (void)snprintf(command, sizeof(command),
                   "initdb -D %s/data -U pawl -A trust -E UTF8 --locale=C.UTF-8 --no-sync "
                   ">%s/initdb.log 2>&1",
                   folder, folder);
    return run(command) && private_postgres_resume();
}

int private_postgres_port(void)
{
    return port;
}

const char *private_postgres_ask(const char *sql)
{
    static char answer[256];
    PGconn *conn = PQconnectdb(url);
    PGresult *result = PQexec(conn, sql);

    if (PQresultStatus(result) == PGRES_FATAL_ERROR || PQresultStatus(result) == PGRES_BAD_RESPONSE)
        (void)fprintf(stderr, "%s: %s", sql, PQerrorMessage(conn));
    (void)snprintf(answer, sizeof(answer), "%s",
                   PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    PQfinish(conn);
    return answer;
}

struct str private_postgres_fresh(void)
{
    (void)private_postgres_ask("SET client_min_messages = warning;"
                               "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    return str_of(url);
}

void private_postgres_end(void)
{
    char command[128];

    (void)private_postgres_stop();
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    (void)!system(command);
}
