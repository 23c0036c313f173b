/* move.c - see move.h. */
#include "store/move.h"

#include "base/digest.h"
#include "base/time/clock.h"
#include "store/db/migrate.h"
#include "store/db/table.h"
#include "store/folder.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Tables that belong to a database or to those who run on it, and not to the installation. The
 * floor of rows goes with the numbers of executions.
 */
static const char *const left_out[] = {"schema_version", "nodes", "outbox_lanes", "row_floor",
                                       "moving",         "moved", "leaving",      "installation",
                                       "epochs",         "shards"};

enum { PROGRESS_ROWS = 500 };

/* One of the two databases. */
struct move_side {
    struct str place;
    struct str folder; /* empty: a server */
    struct str file;
    int lock_fd; /* -1: none */
    struct db *db;
    const struct table_ops *ops;
    struct tables tables;
};

struct move {
    const struct move_request *request;
    struct move_result *result;
    struct arena mem;
    struct move_side from, to;
    int64_t done, total;
};

/* What all rows of a table come to, in any order. */
struct table_sum {
    int64_t rows;
    uint64_t digest;
};

struct str move_folder(struct str place)
{
    if (str_starts_with(place, STR("postgres://")) || str_starts_with(place, STR("postgresql://")))
        return STR_NONE;
    if (str_starts_with(place, STR("sqlite:")))
        place = str_from(place.ptr + 7, place.len - 7);
    return place;
}

static bool move_script(struct move_side *s, const char *text, struct err *err)
{
    enum db_status status = db_script(s->db, text);

    return status == DB_DONE ? true : db_fail(s->db, status, err);
}

/* --- the two sides --- */

static struct whole_table *side_table(struct move_side *s, const char *name)
{
    for (size_t i = 0; i < s->tables.count; i++)
        if (str_eq(s->tables.items[i].name, str_of(name)))
            return &s->tables.items[i];
    return NULL;
}

static bool side_list(struct move *m, struct move_side *s, struct err *err)
{
    s->tables = (struct tables){0};
    return s->ops->list(s->db, &m->mem, &s->tables, err);
}

static bool side_connect(struct move *m, struct move_side *s, struct err *err)
{
    if (s->folder.len == 0) {
        s->ops = &table_postgres;
        s->db = db_postgres_open(s->place, DB_CREATE, STR("pawl move"), NULL, err);
        /* Whole tables are read, and a transaction waits for the other database. */
        return s->db != NULL && move_script(s,
                                            "SET enable_seqscan = on; "
                                            "SET idle_in_transaction_session_timeout = 0",
                                            err);
    }
    s->ops = &table_sqlite;
    s->file = str_printf(&m->mem, "%.*s/pawl.db", STR_ARG(s->folder));
    if (!folder_lock(s->folder, &s->lock_fd, err))
        return false;
    s->db = db_sqlite_open(s->file, access(s->file.ptr, F_OK) == 0 ? DB_WRITE : DB_CREATE, err);
    return s->db != NULL;
}

static void side_close(struct move_side *s)
{
    if (s->db != NULL)
        db_close(s->db);
    s->db = NULL;
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    s->lock_fd = -1;
}

/* A server that runs on it would change what is being copied. */
static bool side_is_quiet(struct move_side *s, struct err *err)
{
    int64_t sessions = 0;

    if (side_table(s, "nodes") != NULL && !s->ops->sessions(s->db, &sessions, err))
        return false;
    return sessions == 0 || err_set(err, ERR_CONFLICT, "a server runs on %s: stop it first",
                                    s->folder.len == 0 ? "this database" : "this folder");
}

/* What a move leaves behind, so that nothing starts there by mistake. */
static struct str moved_file(struct move *m, struct move_side *s)
{
    return str_printf(&m->mem, "%.*s/pawl.db.moved", STR_ARG(s->folder));
}

static bool source_is_marked(struct move *m)
{
    struct move_side *s = &m->from;

    if (s->folder.len == 0)
        return side_table(s, "moved") != NULL;
    return access(s->file.ptr, F_OK) != 0 && access(moved_file(m, s).ptr, F_OK) == 0;
}

static bool check_version(struct move_side *s, struct err *err)
{
    int64_t version = 0;

    if (!migrate_version(s->db, &version, err))
        return false;
    if (version == 0)
        return err_set(err, ERR_NOT_FOUND, "the database to move from has no tables of Pawl");
    return version == migrate_newest ||
           err_set(err, ERR_CONFLICT,
                   "the database to move from is of version %" PRId64
                   " and this program of %" PRId64 ": start this program on it once, then move",
                   version, migrate_newest);
}

/* *is_marked: all of it has left, and nothing is open here. */
static bool open_source(struct move *m, bool *is_marked, struct err *err)
{
    struct move_side *s = &m->from;

    s->file = str_printf(&m->mem, "%.*s/pawl.db", STR_ARG(s->folder));
    *is_marked = s->folder.len > 0 && source_is_marked(m);
    if (*is_marked)
        return true;
    if (s->folder.len > 0 && access(s->file.ptr, F_OK) != 0)
        return err_set(err, ERR_NOT_FOUND, "there is no store in %.*s", STR_ARG(s->folder));
    if (!side_connect(m, s, err) || !side_list(m, s, err) || !side_is_quiet(s, err))
        return false;
    *is_marked = source_is_marked(m);
    if (*is_marked)
        return true;
    return (side_table(s, "moving") == NULL ||
            err_set(err, ERR_CONFLICT,
                    "the database to move from is itself the target of a move that is not "
                    "finished")) &&
           check_version(s, err);
}

/* --- the target, and how far it has come --- */

static bool take_cell(void *context, const struct cell *cells, struct err *err)
{
    struct buf *out = context;

    (void)err;
    buf_str(out, cells[0].text);
    buf_char(out, '\n');
    return true;
}

/* A text without a quote in it, for a statement. */
static struct str quoted(struct move *m, struct str text)
{
    struct buf out;

    buf_init_arena(&out, &m->mem);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\'')
            buf_char(&out, '\'');
        buf_char(&out, text.ptr[i]);
    }
    return buf_view(&out);
}

/* The lines of `moving`: the digest of the source's address, and a line for each table. */
static bool read_moving(struct move *m, struct str *out, struct err *err)
{
    struct whole_table moving = {.name = STR("moving")};
    struct buf lines;

    *VEC_ADD(&m->mem, &moving.columns) = STR("line");
    buf_init_arena(&lines, &m->mem);
    if (!m->to.ops->read(m->to.db, &moving, take_cell, &lines, err))
        return false;
    *out = buf_view(&lines);
    return true;
}

/* The source by its address, which may hold a password: its digest. */
static struct str source_line(struct move *m)
{
    char path[PATH_MAX];
    struct str address = m->from.place, digest;

    if (m->from.folder.len > 0)
        address = realpath(str_copy(&m->mem, m->from.folder).ptr, path) != NULL ? str_of(path)
                                                                                : m->from.folder;
    digest = digest_hex(&m->mem, address);
    return str_printf(&m->mem, "from %.*s", STR_ARG(digest));
}

static bool add_line(struct move *m, struct str line, struct err *err)
{
    struct str text = quoted(m, line);

    text = str_printf(&m->mem, "INSERT INTO moving (line) VALUES ('%.*s')", STR_ARG(text));
    return move_script(&m->to, text.ptr, err);
}

static bool has_line(struct str lines, struct str line)
{
    int64_t at = 0;

    while ((at = str_find(lines, line, (size_t)at)) >= 0) {
        size_t end = (size_t)at + line.len;

        if ((at == 0 || lines.ptr[at - 1] == '\n') && lines.ptr[end] == '\n')
            return true;
        at++;
    }
    return false;
}

static bool begin_target(struct move *m, struct str *lines, struct err *err)
{
    struct move_side *s = &m->to;

    if (!side_connect(m, s, err) || !side_list(m, s, err))
        return false;
    if (side_table(s, "moving") == NULL) {
        if (side_table(s, "schema_version") != NULL)
            return err_set(
                err, ERR_CONFLICT,
                "%.*s holds an installation already: name a target that is empty",
                STR_ARG(s->folder.len == 0 ? STR("the database to move to") : s->folder));
        if (!move_script(s, "BEGIN; CREATE TABLE moving (line text NOT NULL)", err) ||
            !add_line(m, source_line(m), err) || !move_script(s, "COMMIT", err))
            return false;
    }
    if (!migrate(s->db, s->folder.len > 0, clock_wall_us(&clock_system), err) ||
        !side_list(m, s, err) || !read_moving(m, lines, err))
        return false;
    return has_line(*lines, source_line(m)) ||
           err_set(err, ERR_CONFLICT,
                   "a move from another source to this target has begun: repeat that one, or "
                   "empty the target");
}

/* --- one table --- */

struct copying {
    struct move *move;
    const struct whole_table *table;
    struct table_sum sum;
    bool is_written; /* rows go to the target */
    struct buf text;
};

static void sum_row(struct copying *c, const struct cell *cells)
{
    uint8_t digest[DIGEST_LEN];
    uint64_t n = 0;

    buf_clear(&c->text);
    for (size_t i = 0; i < c->table->columns.count; i++) {
        buf_printf(&c->text, cells[i].is_null ? "-" : "%zu:", cells[i].text.len);
        if (!cells[i].is_null)
            buf_str(&c->text, cells[i].text);
    }
    digest_sha256(buf_view(&c->text), digest);
    for (unsigned i = 0; i < sizeof(n); i++)
        n = n << 8 | digest[i];
    c->sum.rows++;
    c->sum.digest += n;
}

static bool copy_row(void *context, const struct cell *cells, struct err *err)
{
    struct copying *c = context;
    struct move *m = c->move;

    sum_row(c, cells);
    m->done++;
    if (m->done % PROGRESS_ROWS == 0 && m->request->progress != NULL)
        m->request->progress(m->request->context, c->table->name, m->done, m->total);
    return !c->is_written || m->to.ops->write_row(m->to.db, c->table, cells, err);
}

/* Read a table of one side; of the source into the target, when `is_written`. */
static bool read_sum(struct move *m, struct move_side *s, const struct whole_table *t,
                     bool is_written, struct table_sum *out, struct err *err)
{
    struct copying c = {.move = m, .table = t, .is_written = is_written};
    bool ok;

    buf_init(&c.text);
    ok = s->ops->read(s->db, t, copy_row, &c, err);
    buf_fini(&c.text);
    *out = c.sum;
    return ok;
}

static struct str table_line(struct move *m, const struct whole_table *t,
                             const struct table_sum *sum)
{
    return str_printf(&m->mem, "%.*s %" PRId64 " %016" PRIx64, STR_ARG(t->name), sum->rows,
                      sum->digest);
}

static bool copy_table(struct move *m, const struct whole_table *t, struct err *err)
{
    struct move_side *to = &m->to;
    struct table_sum sent = {0}, found = {0};
    int64_t number = 0;

    if (!to->ops->write_begin(to->db, t, err) || !read_sum(m, &m->from, t, true, &sent, err) ||
        !to->ops->write_end(to->db, t, err) || !read_sum(m, to, t, false, &found, err))
        return false;
    if (sent.rows != found.rows || sent.digest != found.digest)
        return err_set(err, ERR_IO,
                       "table %.*s did not arrive as it was sent: %" PRId64 " rows of %" PRId64,
                       STR_ARG(t->name), found.rows, sent.rows);
    return m->from.ops->last_number(m->from.db, t, &number, err) &&
           to->ops->count_from(to->db, t, number, err) && add_line(m, table_line(m, t, &sent), err);
}

/* In a transaction of the target; what an interrupted move has copied is only looked at. */
static bool move_table(struct move *m, const struct whole_table *t, struct str lines,
                       struct err *err)
{
    struct str known = str_printf(&m->mem, "%.*s ", STR_ARG(t->name));
    struct table_sum sum;
    bool ok;

    if (str_find(lines, known, 0) >= 0) {
        if (!read_sum(m, &m->from, t, false, &sum, err))
            return false;
        if (has_line(lines, table_line(m, t, &sum))) {
            m->done += sum.rows;
            m->result->tables_before++;
            return true;
        }
    }
    if (!move_script(&m->to, "BEGIN", err))
        return false;
    ok = copy_table(m, t, err) && move_script(&m->to, "COMMIT", err);
    if (!ok)
        (void)db_script(m->to.db, "ROLLBACK");
    /* Else a file would need the space of the whole installation twice. */
    else if (m->to.folder.len > 0)
        (void)db_sqlite_checkpoint(m->to.db, CHECKPOINT_TRUNCATE);
    return ok;
}

/* --- all of it --- */

static bool is_left_out(const struct whole_table *t)
{
    for (size_t i = 0; i < ARRAY_SIZE(left_out); i++)
        if (str_eq(t->name, str_of(left_out[i])))
            return true;
    return false;
}

static bool has_column(const struct whole_table *t, struct str name)
{
    for (size_t i = 0; i < t->columns.count; i++)
        if (str_eq(t->columns.items[i], name))
            return true;
    return false;
}

/*
 * The table of the target that takes the rows of `t`; NULL: it is none of Pawl's, or none that
 * moves. A column that the target lacks would be lost: refused.
 */
static bool find_target(struct move *m, const struct whole_table *t, const struct whole_table **out,
                        struct err *err)
{
    const struct whole_table *to = side_table(&m->to, t->name.ptr);

    *out = is_left_out(t) ? NULL : to;
    for (size_t i = 0; *out != NULL && i < t->columns.count; i++)
        if (!has_column(to, t->columns.items[i]))
            return err_set(err, ERR_CONFLICT,
                           "table %.*s has a column %.*s that the target does not know",
                           STR_ARG(t->name), STR_ARG(t->columns.items[i]));
    return true;
}

static bool count_all(struct move *m, struct err *err)
{
    for (size_t i = 0; i < m->from.tables.count; i++) {
        const struct whole_table *t = &m->from.tables.items[i], *target;
        int64_t rows;

        if (!find_target(m, t, &target, err))
            return false;
        if (target == NULL)
            continue;
        if (!m->from.ops->count(m->from.db, t, &rows, err))
            return false;
        m->total += 2 * rows; /* copied, then compared */
        m->result->rows += rows;
        m->result->tables++;
    }
    return true;
}

static bool move_all(struct move *m, struct str lines, struct err *err)
{
    for (size_t i = 0; i < m->from.tables.count; i++) {
        const struct whole_table *t = &m->from.tables.items[i], *target;

        if (!find_target(m, t, &target, err))
            return false;
        if (target == NULL)
            continue;
        if (m->request->progress != NULL)
            m->request->progress(m->request->context, t->name, m->done, m->total);
        if (!move_table(m, t, lines, err))
            return false;
    }
    return true;
}

/* A server must not start on both: what is moved does not run where it came from. */
static bool mark_source(struct move *m, struct err *err)
{
    struct move_side *s = &m->from;

    if (s->folder.len == 0)
        return move_script(s, "BEGIN; CREATE TABLE moved (at bigint); DROP TABLE leaving; COMMIT",
                           err);
    if (db_sqlite_checkpoint(s->db, CHECKPOINT_TRUNCATE) != DB_DONE)
        return err_set(err, ERR_IO, "the log of %.*s cannot be emptied", STR_ARG(s->file));
    db_close(s->db);
    s->db = NULL;
    return folder_rename(s->file, moved_file(m, s), err);
}

/*
 * A server that starts on a database while it is read would write what is lost. From now on none
 * starts there; one that has looked before has its row in `nodes` and is found here. A folder is
 * locked as long as it is open.
 */
static bool mark_leaving(struct move *m, struct err *err)
{
    struct move_side *s = &m->from;
    bool is_new = side_table(s, "leaving") == NULL;

    if (s->folder.len > 0)
        return true;
    if (is_new && !move_script(s, "CREATE TABLE leaving (at bigint)", err))
        return false;
    if (side_is_quiet(s, err))
        return true;
    if (is_new)
        (void)db_script(s->db, "DROP TABLE leaving");
    return false;
}

/* The line by which a move that was interrupted between its last two steps is known. */
#define WHOLE_LINE STR("whole")

/* A move that ended before its last step: all is there, and the target has not been told. */
static bool finish_marked(struct move *m, struct err *err)
{
    struct str lines = STR_NONE;

    if (!side_connect(m, &m->to, err) || !side_list(m, &m->to, err))
        return false;
    if (side_table(&m->to, "moving") != NULL && !read_moving(m, &lines, err))
        return false;
    if (has_line(lines, source_line(m)) && has_line(lines, WHOLE_LINE))
        return move_script(&m->to, "DROP TABLE moving", err);
    return err_set(err, ERR_NOT_FOUND,
                   "the installation was moved from there before: start the server on the store "
                   "that it was moved to");
}

static bool move_run(struct move *m, struct err *err)
{
    struct str lines;
    bool is_marked;

    if (!open_source(m, &is_marked, err))
        return false;
    if (is_marked)
        return finish_marked(m, err);
    return begin_target(m, &lines, err) && mark_leaving(m, err) && count_all(m, err) &&
           move_all(m, lines, err) && side_is_quiet(&m->from, err) &&
           add_line(m, WHOLE_LINE, err) && mark_source(m, err) &&
           move_script(&m->to, "DROP TABLE moving", err);
}

bool store_move(const struct move_request *request, struct move_result *out, struct err *err)
{
    struct move m = {.request = request, .result = out};
    bool ok;

    *out = (struct move_result){0};
    arena_init(&m.mem);
    m.from = (struct move_side){
        .place = request->from, .folder = move_folder(request->from), .lock_fd = -1};
    m.to =
        (struct move_side){.place = request->to, .folder = move_folder(request->to), .lock_fd = -1};
    if ((m.from.folder.len == 0) == (m.to.folder.len == 0))
        ok = err_set(err, ERR_INVALID,
                     "a move goes from a data folder to PostgreSQL, or from PostgreSQL to a data "
                     "folder");
    else
        ok = move_run(&m, err);
    side_close(&m.to);
    side_close(&m.from);
    arena_fini(&m.mem);
    return ok;
}
