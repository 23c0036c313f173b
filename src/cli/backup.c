/*
 * backup.c - pawl backup: the whole store in one file.
 *
 * Works on the data folder itself and not through the server, so it does the
 * same whether one runs or not: SQLite lets a second process read one moment
 * of the store while the first goes on writing.
 */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/tell.h"
#include "store/store.h"
#include "value/object.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

enum { LOOK_MS = 100 };

struct copy {
    struct str data, part; /* the folder; the file while it grows */
    int64_t total_bytes;
    struct progress progress;
    atomic_bool is_done;
};

static int64_t file_bytes(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 ? (int64_t)s.st_size : 0;
}

/* Copying is one call, so another thread looks how far the file has grown. */
static void *look(void *context)
{
    struct copy *c = context;
    struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};

    while (!atomic_load(&c->is_done)) {
        progress_set(&c->progress, file_bytes(c->part.ptr), c->total_bytes, NULL);
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

static bool copy(struct copy *c, struct str path, struct err *err)
{
    pthread_t thread;
    bool ok, looks;

    progress_begin(&c->progress, "copying the store");
    looks = pthread_create(&thread, NULL, look, c) == 0;
    ok = store_backup_folder(c->data, path, err);
    atomic_store(&c->is_done, true);
    if (looks)
        pthread_join(thread, NULL);
    progress_end(&c->progress);
    return ok;
}

static void print_done(struct arena *mem, struct str path, bool as_json)
{
    int64_t bytes = file_bytes(path.ptr);
    struct buf out;

    buf_init_arena(&out, mem);
    if (as_json) {
        buf_char(&out, '{');
        object_text(&out, "file", path);
        object_int(&out, "bytes", bytes);
        buf_char(&out, '}');
    } else {
        buf_printf(&out, "backed up to %.*s: ", STR_ARG(path));
        tell_bytes(&out, bytes);
        buf_printf(&out, "\nPut it back with: %s restore %.*s --data NEW-FOLDER", command_program(),
                   STR_ARG(path));
    }
    printf("%.*s\n", STR_ARG(buf_view(&out)));
}

static int backup(const char *data, const char *file, bool as_json)
{
    const char *store = getenv("PAWL_STORE");
    struct copy c = {.data = str_of(data)};
    int status = EXIT_FAILED;
    struct arena mem;
    struct err err;

    if (store != NULL && strncmp(store, "postgres", 8) == 0) {
        fprintf(stderr,
                "pawl backup: this store is on PostgreSQL, which has its own tools: "
                "pg_dump --format=custom --file=%s \"$PAWL_STORE\"\n",
                file);
        return EXIT_FAILED;
    }
    /* Everything that processes were told is in it. */
    umask(077);
    arena_init(&mem);
    c.part = str_printf(&mem, "%s.part", file);
    c.total_bytes = file_bytes(str_printf(&mem, "%s/pawl.db", data).ptr);
    if (copy(&c, str_of(file), &err)) {
        print_done(&mem, str_of(file), as_json);
        status = EXIT_OK;
    } else {
        fprintf(stderr, "pawl backup: %s\n", err.message);
    }
    arena_fini(&mem);
    return status;
}

int command_backup(int argc, char **argv)
{
    const char *data = options_setting("PAWL_DATA", "./pawl-data");
    bool as_json = false;
    const struct option_spec specs[] = {{.name = "data", .value = &data},
                                        {.name = "json", .flag = &as_json}};

    if (!options_read("backup", specs, 2, &argc, argv) || argc != 2)
        return command_usage("backup");
    return backup(data, argv[1], as_json);
}
