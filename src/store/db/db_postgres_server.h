/*
 * db_postgres_server.h - which server a connection has reached, and whether it may be used.
 *
 * An address may name several hosts, one of which takes writes. A server that was the first one
 * before a standby was promoted may be there again and take writes as well: what is written to it
 * is lost. So a connection is used when its server
 *
 *     - has the system identifier that was seen before, and
 *     - is on no lower timeline: each promotion begins the next one.
 *
 * What was seen is in memory, shared by all connections of a store, and in a file of the data
 * folder. A server that does not tell (not PostgreSQL itself) is taken as it is.
 *
 * A pool between the program and the server must leave a session to its connection: prepared
 * statements, LISTEN and settings belong to sessions.
 *
 * why: decisions 0550, 0551
 */
#ifndef PAWL_STORE_DB_DB_POSTGRES_SERVER_H
#define PAWL_STORE_DB_DB_POSTGRES_SERVER_H

#include "base/err.h"

#include <postgresql/libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>

enum { HOSTS_MAX = 16 };

/* The hosts of an address, as libpq has them: "" is the default. */
struct postgres_hosts {
    char *host[HOSTS_MAX], *port[HOSTS_MAX]; /* NULL: not said in the address */
    char *hosts, *ports;                     /* what they point into */
    unsigned count;                          /* 1 at least; of 1, host and port are NULL */
};

/* What is known of the server of a store. */
struct db_server {
    pthread_mutex_t lock;
    int64_t system;                     /* identifier of the cluster of files; 0: none was seen */
    _Atomic int64_t timeline;           /* the highest that was seen */
    _Atomic unsigned good;              /* number of the host that was reached last */
    int64_t kept_system, kept_timeline; /* of the process before */
    char *file;                         /* where it is kept; NULL: nowhere */
};

/* Read the hosts; false when the address is wrong, with what libpq says of it. */
bool postgres_hosts_read(struct postgres_hosts *out, const char *url, struct err *err);
void postgres_hosts_fini(struct postgres_hosts *hosts);

/* What one connection has asked. */
struct postgres_identity {
    int64_t system, timeline; /* 0: it does not tell */
    bool is_pooled;           /* something stands between */
};

/* False: the connection is lost. */
bool postgres_identify(PGconn *conn, struct postgres_identity *out);

/*
 * Whether the server may be used; then what it is, is noted. False: `message` says which of the
 * two it is.
 */
bool postgres_server_admit(struct db_server *server, const struct postgres_identity *id,
                           char *message, size_t size);

/*
 * Whether two connections of a pool keep their sessions: `conn` and `other` are open. False when
 * the server changes between transactions, or when that cannot be seen.
 */
bool postgres_keeps_sessions(PGconn *conn, PGconn *other);

#endif
