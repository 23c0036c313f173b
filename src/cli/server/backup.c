/*
 * backup.c - pawl backup: the whole store in one file.
 *
 * Works on the data folder itself and not through the server, so it does the
 * same whether one runs or not: SQLite lets a second process read one moment
 * of the store while the first goes on writing.
 *
 * why: decision 0071
 */
#include "store/backup.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/server/sealed_key.h"
#include "store/survey.h"
#include "value/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Secrets are in the copy as they are in the store: sealed, and the key is a file beside it. */
static void backup_put_key(struct buf *out, const char *data, const char *key_id, bool has_key)
{
    if (has_key) {
        buf_text(out,
                 "\nThe master key is in it, sealed: whoever restores it needs the passphrase, "
                 "which is nowhere else.");
        return;
    }
    if (key_id[0] == '\0')
        return;
    buf_printf(
        out,
        "\nIt holds secrets that are sealed with the master key %s, which is not in it: keep "
        "a copy of ",
        key_id);
    if (getenv("PAWL_MASTER_KEY") != NULL)
        buf_text(out, getenv("PAWL_MASTER_KEY"));
    else
        buf_printf(out, "%s/master.key (or of the file of --master-key)", data);
    buf_text(out, " elsewhere. Without it the backup cannot be served.");
}

static void backup_print_done(struct arena *mem, struct str path, const char *data,
                              const char *key_id, bool has_key, bool as_json)
{
    int64_t bytes = progress_file_bytes(path.ptr);
    struct buf out;

    buf_init_arena(&out, mem);
    if (as_json) {
        buf_char(&out, '{');
        object_text(&out, "file", path);
        object_int(&out, "bytes", bytes);
        object_text(&out, "masterKey", key_id[0] == '\0' ? STR_NONE : str_of(key_id));
        object_bool(&out, "withKey", has_key);
        buf_char(&out, '}');
    } else {
        buf_printf(&out, "backed up to %.*s: ", STR_ARG(path));
        format_bytes(&out, bytes);
        backup_put_key(&out, data, key_id, has_key);
        buf_printf(&out, "\nPut it back with: %s restore %.*s --data NEW-FOLDER", command_program(),
                   STR_ARG(path));
    }
    printf("%.*s\n", STR_ARG(buf_view(&out)));
}

static bool backup_knows(struct arena *mem, const char *data, struct store_glance *glance)
{
    struct err err;

    if (access(str_printf(mem, "%s/pawl.db", data).ptr, F_OK) != 0) {
        fprintf(stderr, "pawl backup: there is no store in %s: name the data folder with --data\n",
                data);
        return false;
    }
    if (store_glance(STR_NONE, str_of(data), glance, &err))
        return true;
    fprintf(stderr, "pawl backup: %s\n", err.message);
    return false;
}

int command_backup(const struct options *o)
{
    const char *data = options_or_setting(o, "data", "PAWL_DATA", "./pawl-data");
    const char *store = getenv("PAWL_STORE"), *file = o->argv[1];
    struct progress_file progress;
    struct store_glance glance;
    bool has_key = options_has(o, "with-key"), ok;
    struct str sealed = STR_NONE;
    struct arena mem;
    struct err err;

    if (o->argc != 2)
        return options_usage(o);
    if (store != NULL && strncmp(store, "postgres", 8) == 0) {
        fprintf(stderr,
                "pawl backup: this store is on PostgreSQL, which has its own tools: "
                "pg_dump --format=custom --file=%s \"$PAWL_STORE\"\n",
                file);
        return EXIT_FAILED;
    }
    /* It holds the inputs of all processes: nobody else may read it. */
    umask(077);
    arena_init(&mem);
    /* What is missing for the key is said before anything is copied. */
    if (has_key && (!backup_knows(&mem, data, &glance) ||
                    !sealed_key_make(&mem, o, data, glance.key_id, &sealed))) {
        arena_fini(&mem);
        return EXIT_FAILED;
    }
    progress_file_begin(&progress, "copying the store", str_printf(&mem, "%s.part", file).ptr,
                        progress_file_bytes(str_printf(&mem, "%s/pawl.db", data).ptr));
    ok = store_backup_with_note(str_of(data), str_of(file), sealed, &err);
    progress_file_end(&progress);
    ok = ok && store_glance(STR_NONE, str_of(data), &glance, &err);
    if (ok)
        backup_print_done(&mem, str_of(file), data, glance.key_id, has_key, options_has(o, "json"));
    else
        fprintf(stderr, "pawl backup: %s\n", err.message);
    arena_fini(&mem);
    return ok ? EXIT_OK : EXIT_FAILED;
}
