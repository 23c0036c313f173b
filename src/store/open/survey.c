/* survey.c - see survey.h. */
#include "store/survey.h"

#include "base/time/clock.h"
#include "store/db/migrate.h"

#include <stdio.h>
#include <sys/stat.h>

/* As the node counts them: see CRASHES_MAX in node/inner.h. */
enum { SURVEY_CRASHES = 5 };

/* What changed within this time may be under way. */
#define SURVEY_ASLEEP_US INT64_C(60000000)

/* A deletion, which goes in parts, takes less. */
#define SURVEY_TORN_US INT64_C(600000000)

static int64_t file_bytes(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 ? (int64_t)s.st_size : -1;
}

static bool is_server_url(struct str url)
{
    return url.len > 0 && !str_eq(url, STR("sqlite"));
}

/* The first line that says what is wrong, below a heading of asterisks. */
static struct str first_finding(struct str answer)
{
    int64_t end = str_find(answer, STR("\n"), 0);

    if (end >= 0 && str_starts_with(answer, STR("***"))) {
        answer = str_slice(answer, (size_t)end + 1, answer.len);
        end = str_find(answer, STR("\n"), 0);
    }
    return end < 0 ? answer : str_slice(answer, 0, (size_t)end);
}

/* --- what a person has to see to --- */

static bool survey_letters(struct db *db, struct store_survey *out, struct err *err)
{
    const enum sql sql = SQL_SURVEY_LETTERS;
    enum db_status status = db_run(db, sql, DB_NO_PARAMS);

    for (; status == DB_ROW && out->letter_kinds < SURVEY_LETTER_KINDS_MAX;
         status = db_next(db, sql)) {
        struct survey_letters *l = &out->letters[out->letter_kinds++];

        (void)snprintf(l->kind, sizeof(l->kind), "%.*s", STR_ARG(db_column_text(db, sql, 0)));
        l->count = db_column_int(db, sql, 1);
    }
    db_end(db, sql);
    return status <= DB_DONE ? true : db_fail(db, status, err);
}

static bool survey_executions(struct db *db, enum sql sql, struct db_value param,
                              struct survey_found *out, struct err *err)
{
    enum db_status status = db_run(db, sql, DB_PARAMS(param));

    if (status == DB_ROW) {
        out->count = db_column_int(db, sql, 0);
        (void)snprintf(out->id, sizeof(out->id), "%.*s", STR_ARG(db_column_text(db, sql, 1)));
    }
    db_end(db, sql);
    return status <= DB_DONE ? true : db_fail(db, status, err);
}

static bool look_at_work(struct db *db, struct store_survey *out, struct err *err)
{
    int64_t now_us = clock_wall_us(&clock_system);

    out->knows_work = true;
    return survey_letters(db, out, err) &&
           survey_executions(db, SQL_SURVEY_HELD, db_text(STR("incident")), &out->held, err) &&
           survey_executions(db, SQL_SURVEY_PARKED, db_int(SURVEY_CRASHES), &out->parked, err) &&
           survey_executions(db, SQL_SURVEY_ASLEEP, db_int(now_us - SURVEY_ASLEEP_US), &out->asleep,
                             err) &&
           survey_executions(db, SQL_SURVEY_DELETED, db_int(now_us - SURVEY_TORN_US), &out->torn,
                             err);
}

static bool survey_look(struct db *db, struct store_survey *out, struct err *err)
{
    enum db_status status = db_run(db, SQL_QUICK_CHECK, DB_NO_PARAMS);
    struct str answer;

    if (status == DB_ROW) {
        answer = db_column_text(db, SQL_QUICK_CHECK, 0);
        if (!str_eq(answer, STR("ok")))
            (void)snprintf(out->damage, sizeof(out->damage), "%.*s",
                           STR_ARG(first_finding(answer)));
    }
    db_end(db, SQL_QUICK_CHECK);
    if (status == DB_CORRUPT) {
        (void)snprintf(out->damage, sizeof(out->damage), "%s", db->message);
        return true;
    }
    if (status != DB_ROW)
        return db_fail(db, status, err);
    if (out->damage[0] != '\0')
        return true;
    return migrate_version(db, &out->version, err) &&
           (out->version != out->newest || look_at_work(db, out, err));
}

/* --- a glance --- */

static bool glance_look(struct db *db, struct store_glance *out, struct err *err)
{
    enum db_status status = DB_ROW;
    struct str sealed;
    int64_t version, dot;

    if (!migrate_version(db, &version, err))
        return false;
    /* Tables of another version are not known here, but somebody has made them. */
    out->is_used = version > 0;
    if (version < migrate_baseline || version > migrate_newest)
        return true;
    status = db_run(db, SQL_SURVEY_USED, DB_NO_PARAMS);
    out->is_used = status == DB_ROW && db_column_int(db, SQL_SURVEY_USED, 0) != 0;
    db_end(db, SQL_SURVEY_USED);
    if (status != DB_ROW)
        return db_fail(db, status, err);
    status = db_run(db, SQL_SURVEY_SEALED, DB_NO_PARAMS);
    if (status == DB_ROW) {
        sealed = db_column_text(db, SQL_SURVEY_SEALED, 0);
        dot = str_find(sealed, STR("."), 0);
        (void)snprintf(out->key_id, sizeof(out->key_id), "%.*s", dot < 0 ? 0 : (int)dot,
                       sealed.ptr);
    }
    db_end(db, SQL_SURVEY_SEALED);
    return status <= DB_DONE ? true : db_fail(db, status, err);
}

bool store_glance(struct str url, struct str data_path, struct store_glance *out, struct err *err)
{
    struct arena mem;
    struct str file;
    struct db *db = NULL;
    bool ok = true;

    *out = (struct store_glance){0};
    arena_init(&mem);
    file = str_printf(&mem, "%.*s/pawl.db", STR_ARG(data_path));
    if (is_server_url(url))
        ok = (db = db_postgres_open(url, DB_READ, STR("pawl glance"), NULL, err)) != NULL;
    else if (file_bytes(file.ptr) > 0)
        ok = (db = db_sqlite_open(file, DB_READ, err)) != NULL;
    if (db != NULL) {
        ok = glance_look(db, out, err);
        db_close(db);
    }
    arena_fini(&mem);
    return ok;
}

/* --- all of it --- */

bool store_survey(struct str url, struct str data_path, struct store_survey *out, struct err *err)
{
    struct arena mem;
    struct str file;
    struct db *db;
    bool ok = true;

    *out = (struct store_survey){.baseline = migrate_baseline, .newest = migrate_newest};
    arena_init(&mem);
    if (is_server_url(url)) {
        db = db_postgres_open(url, DB_READ, STR("pawl doctor"), NULL, err);
    } else {
        file = str_printf(&mem, "%.*s/pawl.db", STR_ARG(data_path));
        out->file_bytes = file_bytes(file.ptr);
        if (out->file_bytes < 0) {
            arena_fini(&mem);
            return true;
        }
        out->log_bytes = file_bytes(str_printf(&mem, "%.*s-wal", STR_ARG(file)).ptr);
        if (out->log_bytes < 0)
            out->log_bytes = 0;
        db = db_sqlite_open(file, DB_READ, err);
    }
    out->is_there = true;
    if (db == NULL)
        ok = false;
    else {
        ok = survey_look(db, out, err);
        db_close(db);
    }
    arena_fini(&mem);
    return ok;
}
