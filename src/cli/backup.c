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

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void print_done(struct arena *mem, struct str path, bool as_json)
{
    int64_t bytes = progress_file_bytes(path.ptr);
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
    struct progress_file progress;
    struct arena mem;
    struct err err;
    bool ok;

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
    progress_file_begin(&progress, "copying the store", str_printf(&mem, "%s.part", file).ptr,
                        progress_file_bytes(str_printf(&mem, "%s/pawl.db", data).ptr));
    ok = store_backup_folder(str_of(data), str_of(file), &err);
    progress_file_end(&progress);
    if (ok)
        print_done(&mem, str_of(file), as_json);
    else
        fprintf(stderr, "pawl backup: %s\n", err.message);
    arena_fini(&mem);
    return ok ? EXIT_OK : EXIT_FAILED;
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
