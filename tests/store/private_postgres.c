/* private_postgres.c - see private_postgres.h. */
#include "store/private_postgres.h"

#include <arpa/inet.h>
#include <glob.h>
#include <postgresql/libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Ports below those that the system gives away: while the server is stopped, no connection of
 * anybody gets its port, so that it can start again.
 */
enum { PORT_FIRST = 20000, PORT_COUNT = 10000, PORT_TRIES = 200, WAIT_S = 300 };

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

static bool is_free(int number)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)number),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool free = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

    if (fd >= 0)
        close(fd);
    return free;
}

/* Whether the last start failed because somebody has taken the port. */
static bool is_port_taken(void)
{
    char command[128];

    (void)snprintf(command, sizeof(command), "grep -q 'Address already in use' %s/log", folder);
    return system(command) == 0;
}

/* Start it on a port that is free; somebody may take it between the look and the start. */
static bool start_somewhere(void)
{
    for (int tries = 0; tries < PORT_TRIES; tries++) {
        port = PORT_FIRST + (int)(((unsigned)getpid() * 7 + (unsigned)tries * 101) % PORT_COUNT);
        if (!is_free(port))
            continue;
        if (private_postgres_resume())
            return true;
        if (!is_port_taken())
            return false;
    }
    return false;
}

bool private_postgres_resume(void)
{
    char command[512];

    (void)snprintf(command, sizeof(command),
                   "pg_ctl -D %s/data -l %s/log -w -t %d -s -o '-p %d -k %s -h 127.0.0.1 -F "
                   "-c deadlock_timeout=20ms' start",
                   folder, folder, WAIT_S, port, folder);
    return run(command);
}

bool private_postgres_stop(void)
{
    char command[512];

    (void)snprintf(command, sizeof(command), "pg_ctl -D %s/data -w -t %d -s -m immediate stop",
                   folder, WAIT_S);
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
    if (!find_programs() || mkdtemp(folder) == NULL) {
        (void)fprintf(stderr, "PostgreSQL is not installed\n");
        return false;
    }
    (void)snprintf(command, sizeof(command), "chown postgres: %s", folder);
    if (geteuid() == 0 && system(command) != 0)
        return false;
    (void)snprintf(command, sizeof(command),
                   "initdb -D %s/data -U pawl -A trust -E UTF8 --locale=C.UTF-8 --no-sync "
                   ">%s/initdb.log 2>&1",
                   folder, folder);
    if (!run(command) || !start_somewhere())
        return false;
    (void)snprintf(url, sizeof(url), "postgres://pawl@127.0.0.1:%d/postgres", port);
    return true;
}

bool private_postgres_share(void)
{
    const char *shared = getenv("PAWL_TEST_POSTGRES");
    char name[32], sql[64];

    if (shared == NULL)
        return private_postgres_start();
    (void)snprintf(name, sizeof(name), "test_c_%d", (int)getpid());
    (void)snprintf(sql, sizeof(sql), "CREATE DATABASE %s", name);
    (void)snprintf(url, sizeof(url), "%s/postgres", shared);
    (void)private_postgres_ask(sql);
    (void)snprintf(url, sizeof(url), "%s/%s", shared, name);
    return true;
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

    if (folder[0] == '\0')
        return;
    (void)private_postgres_stop();
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    (void)!system(command);
}
