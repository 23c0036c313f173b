/* restore.c - pawl restore: put a backup into an empty data folder. */
#include "cli/command.h"
#include "cli/format.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/server/sealed_key.h"
#include "store/backup.h"
#include "store/folder.h"
#include "store/survey.h"
#include "value/object.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Files that an interrupted restore left behind do not count. */
static bool is_leftover(const char *name)
{
    static const char *const names[] = {
        ".", "..", "pawl.lock", "pawl.db.part", "pawl.db.part-wal", "pawl.db.part-shm"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static int is_content(const struct dirent *entry)
{
    return !is_leftover(entry->d_name);
}

/* Whether the folder may be used: it is not there (*is_new), or it is empty. */
static bool check_folder(const char *data, bool *is_new)
{
    struct dirent **found = NULL;
    int count = scandir(data, &found, is_content, alphasort);

    *is_new = count < 0 && errno == ENOENT;
    if (count < 0 && !*is_new)
        fprintf(stderr, "pawl restore: cannot look into %s: %s\n", data, strerror(errno));
    if (count > 0)
        fprintf(stderr,
                "pawl restore: %s is not empty (it holds %s); name a folder that is, or a new one, "
                "with --data\n",
                data, found[0]->d_name);
    for (int i = 0; i < count; i++)
        free(found[i]);
    free(found);
    return count == 0 || *is_new;
}

/* A refusal leaves nothing behind, unless another has taken the folder meanwhile. */
static void clean_up(struct arena *mem, const char *data)
{
    struct err err;
    int lock_fd;

    if (!folder_lock(str_of(data), &lock_fd, &err))
        return;
    (void)unlink(str_printf(mem, "%s/pawl.lock", data).ptr);
    (void)rmdir(data);
    close(lock_fd);
}

/* The folder was empty, so the key that the secrets in the backup need is not there. */
static void restore_put_key(struct buf *out, const char *data, const char *key_id, bool has_key)
{
    if (has_key)
        buf_printf(out, "\nIts master key is %s/master.key.", data);
    else if (key_id[0] != '\0')
        buf_printf(out,
                   "\nIt holds secrets that are sealed with the master key %s: copy that file to "
                   "%s/master.key first (chmod 600), or name it with --master-key.",
                   key_id, data);
}

static void restore_print_done(struct arena *mem, const char *data, const char *key_id,
                               bool has_key, bool as_json)
{
    struct str path = str_printf(mem, "%s/pawl.db", data);
    int64_t bytes = progress_file_bytes(path.ptr);
    struct buf out;

    buf_init_arena(&out, mem);
    if (as_json) {
        buf_char(&out, '{');
        object_text(&out, "data", str_of(data));
        object_int(&out, "bytes", bytes);
        object_text(&out, "masterKey", key_id[0] == '\0' ? STR_NONE : str_of(key_id));
        object_bool(&out, "withKey", has_key);
        buf_char(&out, '}');
    } else {
        buf_printf(&out, "restored into %s: ", data);
        format_bytes(&out, bytes);
        buf_text(&out, ", looked through and whole");
        restore_put_key(&out, data, key_id, has_key);
        buf_printf(&out,
                   "\nGo on with: %s serve --data %s\n"
                   "What was waiting goes on then, so the server that this is a backup of "
                   "must not run. To look at it first: %s serve --data %s --paused",
                   command_program(), data, command_program(), data);
    }
    printf("%.*s\n", STR_ARG(buf_view(&out)));
}

/* The key that is sealed in the backup, or nothing. False after a message. */
static bool restore_read_key(struct arena *mem, const struct options *o, const char *file,
                             struct str *digits)
{
    struct str sealed;
    struct err err;

    *digits = STR_NONE;
    if (!store_backup_note(mem, str_of(file), &sealed, &err)) {
        fprintf(stderr, "pawl restore: %s\n", err.message);
        return false;
    }
    if (sealed.len == 0 || options_has(o, "without-key"))
        return true;
    return sealed_key_open(mem, o, sealed, digits);
}

int command_restore(const struct options *o)
{
    const char *data = options_or_setting(o, "data", "PAWL_DATA", "./pawl-data");
    const char *file = o->argv[1];
    struct progress_file progress;
    struct store_glance glance;
    struct str digits;
    struct arena mem;
    struct err err;
    bool ok, is_new;

    if (o->argc != 2)
        return options_usage(o);
    if (access(file, R_OK) != 0) {
        fprintf(stderr, "pawl restore: cannot read %s: %s\n", file, strerror(errno));
        return EXIT_FAILED;
    }
    if (!check_folder(data, &is_new))
        return EXIT_FAILED;
    arena_init(&mem);
    /* A wrong passphrase is told before anything is written. */
    if (!restore_read_key(&mem, o, file, &digits)) {
        arena_fini(&mem);
        return EXIT_FAILED;
    }
    progress_file_begin(&progress, "copying the backup and looking it through",
                        str_printf(&mem, "%s/pawl.db.part", data).ptr, progress_file_bytes(file));
    ok = store_restore(str_of(file), str_of(data), &err);
    progress_file_end(&progress);
    if (ok && digits.len > 0 && !sealed_key_put(&mem, data, digits)) {
        ok = false;
    } else if (ok && store_glance(STR_NONE, str_of(data), &glance, &err)) {
        restore_print_done(&mem, data, glance.key_id, digits.len > 0, options_has(o, "json"));
    } else {
        if (is_new && !ok)
            clean_up(&mem, data);
        fprintf(stderr, "pawl restore: %s\n", err.message);
    }
    arena_fini(&mem);
    return ok ? EXIT_OK : EXIT_FAILED;
}
