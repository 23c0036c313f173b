/* store.c - opening and closing a store; see store.h. */
#include "store/store.h"

#include "base/alloc.h"
#include "base/crash.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/time/clock.h"
#include "store/db/migrate.h"
#include "store/db/reserve.h"
#include "store/folder.h"
#include "store/peer/peer.h"
#include "store/read/reader.h"
#include "store/write/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { READERS_DEFAULT = 2, COUNT_SLOTS = 16 };

#define DEAD_AFTER_US (INT64_C(24) * 3600 * 1000000)

/* A store over a database. */
struct sql_store {
    struct store base;
    struct arena mem;
    bool is_sqlite;
    struct str url, path; /* of the server, or of the file */
    struct str folder;    /* of the file; ends with a NUL */
    char node[UUID_TEXT_LEN + 1];
    int lock_fd;              /* -1 without a folder */
    struct db_server *server; /* NULL for a file */
    struct db *db;
    struct checkpoint checkpoint;
    struct writer writer;
    char waiting_node[UUID_TEXT_LEN + 2]; /* names its row and session */
    struct db *waiting_db;                /* NULL for a file */
    struct writer waiting;                /* for batches that wait */
    struct readers lanes[LANE_COUNT];
};

static bool submit(struct store *base, struct batch *batch)
{
    struct sql_store *s = (struct sql_store *)base;

    if (batch->waits)
        return s->waiting_db != NULL && writer_submit(&s->waiting, batch);
    return writer_submit(&s->writer, batch);
}

static bool read_on_thread(struct store *base, struct store_read *read)
{
    ASSERT(read->lane < LANE_COUNT);
    return readers_submit(&((struct sql_store *)base)->lanes[read->lane], read);
}

static void free_store(struct sql_store *s)
{
    if (s->db != NULL)
        db_close(s->db);
    if (s->waiting_db != NULL)
        db_close(s->waiting_db);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    if (s->server != NULL)
        db_server_free(s->server);
    arena_fini(&s->mem);
    free(s);
}

static void close_store(struct store *base)
{
    struct sql_store *s = (struct sql_store *)base;

    for (unsigned lane = 0; lane < LANE_COUNT; lane++)
        readers_close(&s->lanes[lane]);
    writer_close(&s->writer);
    if (s->is_sqlite) {
        checkpoint_close(&s->checkpoint);
    } else {
        writer_close(&s->waiting);
        /* The last batch was committed under its epoch. */
        peers_close(s->base.peers);
        (void)db_exec(s->db, SQL_NODE_DROP, DB_PARAMS(db_text(str_of(s->node))));
        (void)db_exec(s->db, SQL_NODE_DROP, DB_PARAMS(db_text(str_of(s->waiting_node))));
    }
    free_store(s);
}

static const struct store_ops sql_ops = {
    .submit = submit,
    .read = read_on_thread,
    .close = close_store,
};

static struct db *store_connect(struct sql_store *s, enum db_mode mode, struct err *err)
{
    if (s->is_sqlite)
        return db_sqlite_open(s->path, mode, err);
    return db_postgres_open(s->url, mode, mode == DB_READ ? STR("pawl reader") : str_of(s->node),
                            s->server, err);
}

/*
 * The row that every batch updates. A file has one node, under one name. Rows
 * of nodes that died are taken away: on a server those that have no session
 * and began long ago. One that is only cut off then finds its row missing, and
 * does not know how its last batch ended.
 */
static bool register_node(struct sql_store *s, struct err *err)
{
    int64_t now_us = clock_wall_us(&clock_system);
    struct db_value node = db_text(str_of(s->node));
    enum db_status status = db_exec(s->db, SQL_NODE_PUT, DB_PARAMS(node, db_int(now_us)));

    if (status == DB_DONE)
        status = db_exec(s->db, SQL_NODES_PURGE, DB_PARAMS(node, db_int(now_us - DEAD_AFTER_US)));
    return status == DB_DONE ? true : db_fail(s->db, status, err);
}

/* Whether the installation is here: not on its way to this database, and not moved from it. */
static bool is_here(struct sql_store *s, struct err *err)
{
    enum db_status status = db_run(s->db, SQL_MOVE_MARK, DB_NO_PARAMS);
    struct str mark =
        status == DB_ROW ? db_column_copy(s->db, &s->mem, SQL_MOVE_MARK, 0) : STR_NONE;

    db_end(s->db, SQL_MOVE_MARK);
    if (status == DB_DONE)
        return true;
    if (status != DB_ROW)
        return db_fail(s->db, status, err);
    if (str_eq(mark, STR("leaving")))
        return err_set(err, ERR_CONFLICT,
                       "this installation is being moved away with pawl move: repeat that until it "
                       "is finished. To go on here all the same, drop the table \"leaving\"");
    if (str_eq(mark, STR("moving")))
        return err_set(err, ERR_CONFLICT,
                       "a move to this store is not finished: repeat it with pawl move");
    return err_set(err, ERR_CONFLICT,
                   "this installation was moved away with pawl move: start the server on the store "
                   "that it was moved to. To go on here all the same, drop the table \"moved\"");
}

/* A file that was moved away has another name: a new one in its place would be empty. */
static bool file_is_here(struct sql_store *s, struct err *err)
{
    char moved[PATH_MAX];
    int len = snprintf(moved, sizeof(moved), "%.*s.moved", STR_ARG(s->path));

    if (!s->is_sqlite || len >= (int)sizeof(moved) || access(moved, F_OK) != 0 ||
        access(s->path.ptr, F_OK) == 0)
        return true;
    return err_set(err, ERR_CONFLICT,
                   "this installation was moved to PostgreSQL with pawl move: name that with "
                   "--store. To go on here all the same, rename %s to pawl.db",
                   moved);
}

static bool try_open_database(struct sql_store *s, struct err *err)
{
    if (s->db != NULL)
        db_close(s->db);
    s->db = NULL;
    if (!file_is_here(s, err))
        return false;
    s->db = store_connect(s, DB_CREATE, err);
    if (s->db == NULL || !is_here(s, err) ||
        !migrate(s->db, s->is_sqlite, clock_wall_us(&clock_system), err))
        return false;
    CRASH_POINT(MIGRATED);
    /* A move that has begun meanwhile has found no row of this node: it sees one of them at least. */
    return register_node(s, err) && is_here(s, err);
}

/* What is lacking may be in the log, which is empty when all of it was moved into the file. */
static void make_room(struct sql_store *s)
{
    struct err err;
    struct db *db = db_sqlite_open(s->path, DB_WRITE, &err);

    if (db == NULL)
        return;
    (void)db_sqlite_checkpoint(db, CHECKPOINT_TRUNCATE);
    db_close(db);
}

static bool open_database(struct sql_store *s, struct err *err)
{
    if (try_open_database(s, err)) {
        if (s->is_sqlite)
            reserve_keep(s->folder);
        return true;
    }
    /* No space: err is that of a database that could take the same later. */
    if (!s->is_sqlite || err->code != ERR_OVERLOADED || !reserve_drop(s->folder))
        return false;
    make_room(s);
    if (!try_open_database(s, err))
        return false;
    log_write(LOG_WARN,
              "there was no space left for the database; what was kept in reserve is used: free "
              "some space soon",
              LOG_FIELDS(log_str("folder", s->folder)));
    reserve_keep(s->folder);
    return true;
}

/* Connections for all lanes, one lane after the other. */
static bool connect_readers(struct sql_store *s, unsigned count, struct db **out, struct err *err)
{
    for (unsigned i = 0; i < count; i++) {
        out[i] = store_connect(s, s->is_sqlite ? DB_READ_LATER : DB_READ, err);
        if (out[i] == NULL) {
            while (i-- > 0)
                db_close(out[i]);
            return false;
        }
    }
    return true;
}

static void close_connections(struct db **connections, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        db_close(connections[i]);
}

static bool open_peers(struct sql_store *s, const struct store_options *options, struct err *err)
{
    s->base.peers =
        peers_open(&(struct peers_options){.url = s->url,
                                           .server = s->server,
                                           .node = str_of(s->node),
                                           .folder = s->folder,
                                           .version = str_copy(&s->mem, options->version),
                                           .owns_nothing = options->owns_nothing},
                   err);
    return s->base.peers != NULL;
}

static bool open_threads(struct sql_store *s, const struct store_options *options, struct err *err)
{
    unsigned each = options->reader_count == 0 ? READERS_DEFAULT : options->reader_count;
    unsigned count = 0, first = 0;
    struct db *connections[READER_MAX * LANE_COUNT];
    int64_t slot = s->is_sqlite ? 0 : (int64_t)(hash_bytes(s->node, UUID_TEXT_LEN) % COUNT_SLOTS);

    if (each > READER_MAX)
        each = READER_MAX;
    for (unsigned lane = 0; lane < LANE_COUNT; lane++)
        count += readers_count(lane, each);
    if (!s->is_sqlite) {
        (void)snprintf(s->waiting_node, sizeof(s->waiting_node), "%s+", s->node);
        s->waiting_db = db_postgres_open(s->url, DB_WAIT, str_of(s->waiting_node), s->server, err);
        if (s->waiting_db == NULL)
            return false;
    }
    if (!connect_readers(s, count, connections, err))
        return false;
    if (!s->is_sqlite && !open_peers(s, options, err)) {
        close_connections(connections, count);
        return false;
    }
    if (s->is_sqlite && !checkpoint_open(&s->checkpoint, s->path, s->folder, err)) {
        close_connections(connections, count);
        return false;
    }
    for (unsigned lane = 0; lane < LANE_COUNT; lane++) {
        unsigned threads = readers_count(lane, each);

        readers_open(&s->lanes[lane], lane, connections + first, threads, options->done,
                     &s->base.lost_since_us[STORE_READERS]);
        first += threads;
    }
    writer_open(&s->writer, s->db, options->done, s->is_sqlite ? &s->checkpoint : NULL,
                str_of(s->node), slot, s->base.peers, &s->base.lost_since_us[STORE_WRITER]);
    /* Counters in slots of its own: the two writers of a node do not wait for each other there. */
    if (!s->is_sqlite)
        writer_open_waiting(&s->waiting, s->waiting_db, options->done, str_of(s->waiting_node),
                            slot + COUNT_SLOTS, s->base.peers,
                            &s->base.lost_since_us[STORE_WAITING_WRITER]);
    return true;
}

static bool is_sqlite_url(struct str url)
{
    return url.len == 0 || str_eq(url, STR("sqlite"));
}

struct store *store_open(const struct store_options *options, struct err *err)
{
    struct sql_store *s = ALLOC_NEW(struct sql_store);

    s->base.ops = &sql_ops;
    s->lock_fd = -1;
    arena_init(&s->mem);
    s->is_sqlite = is_sqlite_url(options->url);
    s->url = str_copy(&s->mem, options->url);
    s->folder = str_printf(&s->mem, "%.*s", STR_ARG(options->data_path));
    s->path = str_printf(&s->mem, "%.*s/pawl.db", STR_ARG(options->data_path));
    if (s->is_sqlite) {
        (void)snprintf(s->node, sizeof(s->node), "local");
    } else {
        struct uuid_gen ids;

        s->server = db_server_new(s->folder);
        uuid_gen_init(&ids, NULL, NULL);
        uuid_write(uuid_gen_next(&ids, clock_wall_us(&clock_system) / 1000), s->node);
    }
    s->base.name = s->node;
    if ((options->data_path.len == 0 || folder_lock(options->data_path, &s->lock_fd, err)) &&
        open_database(s, err) && open_threads(s, options, err))
        return &s->base;
    free_store(s);
    return NULL;
}

bool store_read_now(struct store *base, void (*run)(void *context, struct reader *reader),
                    void *context, struct err *err)
{
    struct sql_store *s = (struct sql_store *)base;
    struct reader reader = {.db = store_connect(s, DB_READ, err)};

    ASSERT(base->ops == &sql_ops);
    if (reader.db == NULL)
        return false;
    run(context, &reader);
    db_close(reader.db);
    return true;
}

void store_close(struct store *s)
{
    s->ops->close(s);
}
