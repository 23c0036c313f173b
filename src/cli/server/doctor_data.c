/* doctor_data.c - the data folder, the store, and the machine under them; see doctor.h. */
#include "base/time/tz.h"
#include "base/uuid.h"
#include "cli/format.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/server/doctor.h"
#include "effect/secret/seal.h"
#include "store/survey.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MIB INT64_C(1048576)

enum { SPACE_LOW_MIB = 1024, SPACE_OUT_MIB = 100, LOG_LONG_MIB = 300, FILES_MIN = 4096 };

static struct str doctor_path(const struct doctor *d, const char *name)
{
    return str_printf(d->mem, "%s/%s", d->data, name);
}

static struct str bytes_text(const struct doctor *d, int64_t bytes)
{
    struct buf out;

    buf_init_arena(&out, d->mem);
    format_bytes(&out, bytes);
    return buf_view(&out);
}

/* --- the folder --- */

static const char *owner_name(const struct doctor *d, uid_t uid)
{
    struct passwd user, *found = NULL;
    char buffer[4096];

    if (getpwuid_r(uid, &user, buffer, sizeof(buffer), &found) != 0 || found == NULL)
        return str_printf(d->mem, "user %u", (unsigned)uid).ptr;
    return str_copy(d->mem, str_of(user.pw_name)).ptr;
}

/* False when there is nothing more to look at. */
static bool look_at_folder(struct doctor *d)
{
    struct stat s;

    if (stat(d->data, &s) != 0) {
        bool is_absent = errno == ENOENT;
        doctor_add(d, "data folder", is_absent ? DOCTOR_WARNING : DOCTOR_PROBLEM,
                   str_printf(d->mem, "%s: %s", d->data, strerror(errno)),
                   is_absent ? "name it with --data, or make it by starting: pawl serve"
                             : "run this as the user who runs the server");
        return false;
    }
    if (!S_ISDIR(s.st_mode)) {
        doctor_add(d, "data folder", DOCTOR_PROBLEM, str_printf(d->mem, "%s is no folder", d->data),
                   "name a folder with --data");
        return false;
    }
    if (access(d->data, R_OK | W_OK | X_OK) != 0) {
        doctor_add(d, "data folder", DOCTOR_PROBLEM,
                   str_printf(d->mem, "%s belongs to %s and may not be written by you", d->data,
                              owner_name(d, s.st_uid)),
                   "run this as the user who runs the server");
        return false;
    }
    if ((s.st_mode & 077) != 0)
        doctor_add(d, "data folder", DOCTOR_WARNING,
                   str_printf(d->mem, "%s is open to others (mode %03o)", d->data,
                              (unsigned)(s.st_mode & 0777)),
                   str_printf(d->mem, "chmod 700 %s", d->data).ptr);
    else
        doctor_add(d, "data folder", DOCTOR_OK,
                   str_printf(d->mem, "%s, of %s alone", d->data, owner_name(d, s.st_uid)), NULL);
    return true;
}

static void look_at_space(struct doctor *d)
{
    struct statvfs fs;
    int64_t free_bytes;
    enum doctor_level level = DOCTOR_OK;
    struct str text;

    if (statvfs(d->data, &fs) != 0)
        return;
    free_bytes = (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
    if (free_bytes < SPACE_OUT_MIB * MIB)
        level = DOCTOR_PROBLEM;
    else if (free_bytes < SPACE_LOW_MIB * MIB)
        level = DOCTOR_WARNING;
    text = bytes_text(d, free_bytes);
    doctor_add(d, "space", level, str_printf(d->mem, "%.*s free", STR_ARG(text)),
               level == DOCTOR_OK ? NULL
                                  : "make room: a full disk stops intake, and nothing is lost");
}

/* The lock is free exactly when no server has the folder. */
static void look_at_lock(struct doctor *d)
{
    int fd = open(doctor_path(d, "pawl.lock").ptr, O_RDONLY | O_CLOEXEC);
    char pid[32] = "unknown";
    ssize_t got;

    if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        d->is_served = true;
        got = read(fd, pid, sizeof(pid) - 1);
        if (got > 0)
            pid[got] = '\0';
        doctor_add(d, "lock", DOCTOR_OK,
                   str_printf(d->mem, "a server has the folder: process %s", pid), NULL);
    } else {
        doctor_add(d, "lock", DOCTOR_OK, STR("free: no server has the folder"), NULL);
    }
    if (fd >= 0)
        close(fd);
}

static void look_at_token(struct doctor *d)
{
    struct str path = doctor_path(d, "admin.token");
    struct stat s;

    if (stat(path.ptr, &s) != 0)
        doctor_add(d, "admin token", DOCTOR_OK, STR("none yet: the first start writes it"), NULL);
    else if ((s.st_mode & 077) != 0)
        doctor_add(d, "admin token", DOCTOR_PROBLEM,
                   str_printf(d->mem, "%.*s can be read by others (mode %03o)", STR_ARG(path),
                              (unsigned)(s.st_mode & 0777)),
                   str_printf(d->mem,
                              "chmod 600 %.*s; if others use this machine, stop the server, remove "
                              "the file and start again for a new one",
                              STR_ARG(path))
                       .ptr);
    else
        doctor_add(d, "admin token", DOCTOR_OK,
                   str_printf(d->mem, "%.*s, of its owner alone", STR_ARG(path)), NULL);
}

/* The id of the key in a file; empty: there is none that can be read. */
static struct str key_id_of(const struct doctor *d, const char *path)
{
    char text[256];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text));
    struct str id = STR_NONE;
    struct seal_key key;
    struct err err;

    if (fd >= 0)
        close(fd);
    if (got > 0 && seal_key_read(str_from(text, (size_t)got), &key, &err)) {
        id = str_copy(d->mem, str_of(key.id));
        seal_wipe(&key, sizeof(key));
    }
    seal_wipe(text, sizeof(text));
    return id;
}

/* Secrets in the store are worth nothing without the key, and no backup holds it. */
static void look_at_key(struct doctor *d)
{
    const char *path = options_setting("PAWL_MASTER_KEY", doctor_path(d, "master.key").ptr);
    struct store_glance glance;
    struct str id;
    struct err err;

    /* What cannot be read is told with the store. */
    if (!store_glance(str_of(d->store), str_of(d->data), &glance, &err))
        return;
    id = key_id_of(d, path);
    if (glance.key_id[0] == '\0')
        doctor_add(d, "master key", DOCTOR_OK, STR("nothing is sealed with one yet"), NULL);
    else if (id.len == 0)
        doctor_add(d, "master key", DOCTOR_PROBLEM,
                   str_printf(d->mem, "secrets are sealed with the key %s, and %s holds none",
                              glance.key_id, path),
                   "give the file back, or name it with PAWL_MASTER_KEY: no backup holds it");
    else if (!str_eq(id, str_of(glance.key_id)))
        doctor_add(d, "master key", DOCTOR_PROBLEM,
                   str_printf(d->mem, "secrets are sealed with the key %s, and %s is %.*s",
                              glance.key_id, path, STR_ARG(id)),
                   "use the same file on all nodes: copy it here, or name it with PAWL_MASTER_KEY");
    else
        doctor_add(d, "master key", DOCTOR_OK,
                   str_printf(d->mem, "%s; no backup holds it: keep a copy elsewhere", path), NULL);
}

/* An execution that the server was working on when it died; see node/guard/poison.c. */
static void look_at_poison(struct doctor *d)
{
    static const struct uuid none;
    int fd = open(doctor_path(d, "poison").ptr, O_RDONLY | O_CLOEXEC);
    struct uuid id = none;
    bool is_read;

    if (fd < 0)
        return;
    is_read = read(fd, id.bytes, sizeof(id.bytes)) == (ssize_t)sizeof(id.bytes);
    close(fd);
    if (!is_read || uuid_cmp(id, none) == 0 || d->is_served)
        return;
    doctor_add(
        d, "last stop", DOCTOR_WARNING,
        str_printf(d->mem, "the server died while it worked on execution %s", UUID_STR(id).ptr),
        "start it again; if it dies there 5 times, it puts that execution aside by itself");
}

/* --- the store --- */

static void add_version(struct doctor *d, const struct store_survey *s)
{
    if (s->version == s->newest)
        doctor_add(d, "schema", DOCTOR_OK,
                   str_printf(d->mem, "version %lld, the newest", (long long)s->version), NULL);
    else if (s->version > s->newest)
        doctor_add(d, "schema", DOCTOR_PROBLEM,
                   str_printf(d->mem, "version %lld, and this program knows %lld",
                              (long long)s->version, (long long)s->newest),
                   "use the newer pawl that made it");
    else if (s->version > 0 && s->version < s->baseline)
        doctor_add(d, "schema", DOCTOR_PROBLEM,
                   str_printf(d->mem, "version %lld, and this program takes over %lld and later",
                              (long long)s->version, (long long)s->baseline),
                   "start the last pawl 0.1.0 on it once, then this one");
    else
        doctor_add(
            d, "schema", DOCTOR_WARNING,
            str_printf(d->mem, "version %lld of %lld", (long long)s->version, (long long)s->newest),
            "the next start of pawl serve brings it up to date; back it up before");
}

static void doctor_add_file(struct doctor *d, const struct store_survey *s)
{
    struct str file_text = bytes_text(d, s->file_bytes), log_text = bytes_text(d, s->log_bytes);

    if (s->damage[0] != '\0') {
        doctor_add(d, "store", DOCTOR_PROBLEM,
                   str_printf(d->mem, "the file is damaged: %s", s->damage),
                   "stop the server, keep the folder, and restore the last backup into a new one: "
                   "pawl restore FILE --data NEW-FOLDER");
        return;
    }
    doctor_add(d, "store", DOCTOR_OK, str_printf(d->mem, "%.*s, whole", STR_ARG(file_text)), NULL);
    if (s->log_bytes > LOG_LONG_MIB * MIB)
        doctor_add(
            d, "log of the store", DOCTOR_WARNING,
            str_printf(d->mem, "%.*s: something keeps reading an old moment", STR_ARG(log_text)),
            "end other programs that have pawl.db open; a restart of the server shortens it");
    else
        doctor_add(d, "log of the store", DOCTOR_OK, log_text, NULL);
}

/* --- what a person has to see to --- */

static void add_letters(struct doctor *d, const struct store_survey *s)
{
    struct buf kinds;
    int64_t all = 0;

    buf_init_arena(&kinds, d->mem);
    for (unsigned i = 0; i < s->letter_kinds; i++) {
        all += s->letters[i].count;
        buf_printf(&kinds, "%s%lld of the kind %s", i > 0 ? ", " : "",
                   (long long)s->letters[i].count, s->letters[i].kind);
    }
    if (all == 0)
        doctor_add(d, "dead letters", DOCTOR_OK, STR("none is open"), NULL);
    else
        doctor_add(d, "dead letters", DOCTOR_WARNING,
                   str_printf(d->mem, "%lld open: %.*s", (long long)all, STR_ARG(buf_view(&kinds))),
                   "look at them with: pawl dlq; then pawl dlq retry or pawl dlq resolve");
}

static void add_found(struct doctor *d, const struct survey_found *f, enum doctor_level level,
                      const char *name, const char *what, const char *then)
{
    if (f->count > 0)
        doctor_add(d, name, level, str_printf(d->mem, "%lld %s", (long long)f->count, what),
                   str_printf(d->mem, "look at %s with: pawl show %s; then %s",
                              f->count == 1 ? "it" : "the newest", f->id, then)
                       .ptr);
}

/* Never silent beside one of these: whoever reads "All is well" looks no further. */
static void add_work(struct doctor *d, const struct store_survey *s)
{
    add_letters(d, s);
    add_found(d, &s->held, DOCTOR_WARNING, "held",
              s->held.count == 1 ? "execution waits for an operator"
                                 : "executions wait for an operator",
              "pawl retry, pawl skip or pawl cancel");
    add_found(d, &s->parked, DOCTOR_PROBLEM, "parked",
              "put aside, because advancing them has ended the server again and again",
              "keep the server's log for its makers, and end it with pawl cancel");
    add_found(d, &s->asleep, DOCTOR_PROBLEM, "asleep",
              "that nothing will wake: no time is set, and nobody has told them anything",
              "restart the server; if it stays, pawl pause and pawl resume, or pawl cancel");
    if (s->torn.count > 0)
        doctor_add(d, "deleted in part", DOCTOR_WARNING,
                   str_printf(d->mem,
                              "%lld deleted, and rows of them are left: the server ended "
                              "meanwhile",
                              (long long)s->torn.count),
                   "nobody sees them and they only take space; with pawl serve --keep-completed "
                   "they go when their time has come");
    if (s->held.count + s->parked.count + s->asleep.count == 0)
        doctor_add(d, "executions", DOCTOR_OK, STR("none is held, parked or asleep"), NULL);
}

static void look_at_store(struct doctor *d)
{
    bool is_server = strncmp(d->store, "postgres", 8) == 0;
    struct store_survey s;
    struct progress_line progress;
    struct err err;
    bool ok;

    progress_begin(&progress, "reading the store");
    if (progress.is_terminal)
        progress_set(&progress, 0, 1, NULL);
    ok = store_survey(str_of(d->store), str_of(d->data), &s, &err);
    progress_end(&progress);
    if (!ok) {
        doctor_add(d, "store", DOCTOR_PROBLEM, str_copy(d->mem, str_of(err.message)),
                   is_server ? "check that PostgreSQL runs and that --store says how to reach it"
                             : "stop the server, keep the folder, and restore the last backup into "
                               "a new one: pawl restore FILE --data NEW-FOLDER");
        return;
    }
    if (!s.is_there) {
        doctor_add(d, "store", DOCTOR_OK, STR("none in this folder yet, or it is on PostgreSQL"),
                   NULL);
        return;
    }
    if (is_server)
        doctor_add(d, "store", DOCTOR_OK, STR("PostgreSQL answers"), NULL);
    else
        doctor_add_file(d, &s);
    if (s.damage[0] == '\0')
        add_version(d, &s);
    d->knows_work = s.knows_work;
    if (s.knows_work)
        add_work(d, &s);
}

/* --- the machine --- */

static void look_at_machine(struct doctor *d)
{
    struct rlimit files;
    struct tz tz;

    if (tz_find(STR("Europe/Berlin"), &tz))
        doctor_add(d, "time zones", DOCTOR_OK, STR("there"), NULL);
    else
        doctor_add(d, "time zones", DOCTOR_PROBLEM, STR("there is no data on them"),
                   "apt-get install tzdata, and restart the server");
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max < FILES_MIN)
        doctor_add(d, "open files", DOCTOR_WARNING,
                   str_printf(d->mem, "at most %llu, so few clients at once",
                              (unsigned long long)files.rlim_max),
                   "raise it with ulimit -Hn, or LimitNOFILE= of the service");
}

void doctor_look_at_data(struct doctor *d)
{
    if (look_at_folder(d)) {
        look_at_space(d);
        look_at_lock(d);
        look_at_token(d);
        look_at_poison(d);
    }
    look_at_store(d);
    look_at_key(d);
    look_at_machine(d);
}
