/* restore.c - pawl restore: put a backup into an empty data folder. */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/tell.h"
#include "store/folder.h"
#include "store/store.h"
#include "value/object.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What a restore that was cut short leaves behind does not count. */
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

static void print_done(struct arena *mem, const char *data, bool as_json)
{
    struct str path = str_printf(mem, "%s/pawl.db", data);
    int64_t bytes = progress_file_bytes(path.ptr);
    struct buf out;

    buf_init_arena(&out, mem);
    if (as_json) {
        buf_char(&out, '{');
        object_text(&out, "data", str_of(data));
        object_int(&out, "bytes", bytes);
        buf_char(&out, '}');
    } else {
        buf_printf(&out, "restored into %s: ", data);
        tell_bytes(&out, bytes);
        buf_printf(&out,
                   ", looked through and whole\nGo on with: %s serve --data %s\n"
                   "What was waiting goes on then, so the server that this is a backup of "
                   "must not run.",
                   command_program(), data);
    }
    printf("%.*s\n", STR_ARG(buf_view(&out)));
}

static int restore(const char *data, const char *file, bool as_json)
{
    struct progress_file progress;
    struct arena mem;
    struct err err;
    bool ok, is_new;

    if (access(file, R_OK) != 0) {
        fprintf(stderr, "pawl restore: cannot read %s: %s\n", file, strerror(errno));
        return EXIT_FAILED;
    }
    if (!check_folder(data, &is_new))
        return EXIT_FAILED;
    arena_init(&mem);
    progress_file_begin(&progress, "copying the backup and looking it through",
                        str_printf(&mem, "%s/pawl.db.part", data).ptr, progress_file_bytes(file));
    ok = store_restore(str_of(file), str_of(data), &err);
    progress_file_end(&progress);
    if (ok) {
        print_done(&mem, data, as_json);
    } else {
        if (is_new)
            clean_up(&mem, data);
        fprintf(stderr, "pawl restore: %s\n", err.message);
    }
    arena_fini(&mem);
    return ok ? EXIT_OK : EXIT_FAILED;
}

int command_restore(int argc, char **argv)
{
    const char *data = options_setting("PAWL_DATA", "./pawl-data");
    bool as_json = false;
    const struct option_spec specs[] = {{.name = "data", .value = &data},
                                        {.name = "json", .flag = &as_json}};

    if (!options_read("restore", specs, 2, &argc, argv) || argc != 2)
        return command_usage("restore");
    return restore(data, argv[1], as_json);
}
