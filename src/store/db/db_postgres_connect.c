/*
 * db_postgres_connect.c - how a session begins: at which host, with which settings; see
 * db_postgres.h.
 */
#include "store/db/db_postgres.h"

#include "base/alloc.h"

enum { READ_TIMEOUT_MS = 1000 }; /* as it is set in session_begin() */

/*
 * Of warnings only one matters: a session that waited for its standby has given up, so that what
 * it has committed may be lost when that one is promoted. Its words are in any language, the
 * function of the server that says it has one name.
 */
static void take_notice(void *context, const PGresult *result)
{
    struct db_postgres *db = context;
    const char *function = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);

    if (function != NULL && strcmp(function, "SyncRepWaitForLSN") == 0)
        db->is_unreplicated = true;
}

/*
 * Plans outlive the size that a table had when they were made, so all are by an index. A bitmap
 * would walk over rows that are deleted, each time, until the table is vacuumed; an index remembers
 * them. A statement for which there is no index seems so expensive then that it would be compiled.
 */
#define BY_INDEX_ALONE "SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off;"

/*
 * A dead peer is noticed within seconds. What stands before the address is overruled by it, what
 * stands behind it is not: a host that takes no writes is passed over, unless the address asks for
 * one. A connection that is lost has other hosts to try, so that each gets less time.
 */
static PGconn *connect_host(const struct db_postgres *db, unsigned host, const char *timeout)
{
    const char *const names[] = {"target_session_attrs",
                                 "dbname",
                                 "application_name",
                                 "client_encoding",
                                 "connect_timeout",
                                 "keepalives_idle",
                                 "keepalives_interval",
                                 "keepalives_count",
                                 "tcp_user_timeout",
                                 "host",
                                 "port",
                                 NULL};
    const char *const values[] = {"read-write",
                                  db->url,
                                  db->name,
                                  "UTF8",
                                  timeout,
                                  "10",
                                  "5",
                                  "3",
                                  "5000",
                                  db->hosts.host[host],
                                  db->hosts.port[host],
                                  NULL};

    return alloc_check(PQconnectdbParams(names, values, 1));
}

/* What the server's settings say of syncing is overruled. */
static enum db_status session_begin(struct db_postgres *db)
{
    PQsetNoticeReceiver(db->conn, take_notice, db);
    db->timeout_ms = READ_TIMEOUT_MS;
    if (db->mode == DB_READ)
        return postgres_script(&db->base, BY_INDEX_ALONE "SET statement_timeout = 1000;"
                                                         "SET default_transaction_read_only = on");
    return postgres_script(&db->base,
                           BY_INDEX_ALONE "SET synchronous_commit = on; SET lock_timeout = 1000;"
                                          "SET enable_hashjoin = off; SET enable_mergejoin = off;"
                                          "SET idle_in_transaction_session_timeout = 5000");
}

/* Connect to one host; what it is, is known then. *is_other: it may not be used. */
static enum db_status host_try(struct db_postgres *db, unsigned host, const char *timeout,
                               struct postgres_identity *id, bool *is_other)
{
    db->conn = connect_host(db, host, timeout);
    if (PQstatus(db->conn) != CONNECTION_OK || !postgres_identify(db->conn, id)) {
        /* That a server may not be used says more than that another one is away. */
        if (!*is_other)
            postgres_keep_message(db, PQerrorMessage(db->conn));
        return DB_LOST;
    }
    if (!postgres_server_admit(db->server, id, db->base.message, sizeof(db->base.message))) {
        *is_other = true;
        return DB_LOST;
    }
    db->timeline = id->timeline;
    return session_begin(db);
}

enum db_status postgres_connect(struct db_postgres *db, bool again, struct postgres_identity *id)
{
    unsigned first = db->server == NULL ? 0 : atomic_load(&db->server->good);
    enum db_status status = DB_LOST;
    bool is_other = false;

    db->is_unreplicated = false;
    for (unsigned i = 0; i < db->hosts.count; i++) {
        unsigned host = (first + i) % db->hosts.count;

        status = host_try(db, host, again && db->hosts.count > 1 ? "3" : "5", id, &is_other);
        if (status == DB_DONE && db->server != NULL)
            atomic_store(&db->server->good, host);
        if (status != DB_LOST)
            return status;
        if (i + 1 < db->hosts.count) {
            PQfinish(db->conn);
            db->conn = NULL;
        }
    }
    return status;
}

bool postgres_refuse_pool(struct db_postgres *db, struct err *err)
{
    unsigned host = db->server == NULL ? 0 : atomic_load(&db->server->good);
    PGconn *other = connect_host(db, host, "5");
    bool ok = postgres_keeps_sessions(db->conn, other);

    PQfinish(other);
    if (ok)
        return true;
    return err_set(err, ERR_INVALID,
                   "the address of the database is that of a pool which gives a connection another "
                   "session for every transaction (PgBouncer: pool_mode = transaction): Pawl "
                   "listens and prepares statements in its sessions. Set pool_mode = session, or "
                   "name the server itself");
}
