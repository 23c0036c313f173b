/* last.c - see last.h. */
#include "cli/last.h"

#include "base/buf.h"
#include "base/uuid.h"
#include "cli/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINES_MAX = 20 };

/* The folder, with what follows HOME; empty when there is none. */
static struct str folder(struct arena *mem)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

    if (state != NULL && state[0] == '/')
        return str_printf(mem, "%s/pawl", state);
    if (home != NULL && home[0] == '/')
        return str_printf(mem, "%s/.local/state/pawl", home);
    return STR_NONE;
}

/* Each folder on the way, as mkdir -p makes them. */
static void make_folders(struct arena *mem, struct str path)
{
    for (size_t i = 1; i <= path.len; i++)
        if (i == path.len || path.ptr[i] == '/')
            (void)mkdir(str_copy(mem, str_slice(path, 0, i)).ptr, 0700);
}

/* The lines of all other servers, newest first. */
static void keep_others(struct buf *out, struct str old, struct str own_prefix)
{
    unsigned lines = 0;

    while (old.len > 0 && lines < LINES_MAX) {
        struct str line = str_cut(&old, '\n');
        if (line.len == 0 || str_starts_with(line, own_prefix))
            continue;
        buf_str(out, line);
        buf_char(out, '\n');
        lines++;
    }
}

void last_remember(struct arena *mem, const char *url, struct str id)
{
    struct str path = folder(mem), old = STR_NONE, draft;
    struct err err;
    struct buf text;
    FILE *file;
    bool ok;

    if (path.len == 0 || id.len != UUID_TEXT_LEN)
        return;
    make_folders(mem, path);
    path = str_printf(mem, "%.*s/last", STR_ARG(path));
    draft = str_printf(mem, "%.*s.%ld", STR_ARG(path), (long)getpid());
    if (!file_read(mem, path.ptr, &old, &err))
        old = STR_NONE;
    buf_init_arena(&text, mem);
    buf_printf(&text, "%s %.*s\n", url, STR_ARG(id));
    keep_others(&text, old, str_printf(mem, "%s ", url));
    file = fopen(draft.ptr, "wb");
    if (file == NULL)
        return;
    ok = fwrite(text.ptr, 1, text.len, file) == text.len;
    ok = fclose(file) == 0 && ok;
    if (!ok || rename(draft.ptr, path.ptr) != 0)
        (void)unlink(draft.ptr);
}

struct str last_recall(struct arena *mem, const char *url)
{
    struct str path = folder(mem), text, prefix = str_printf(mem, "%s ", url);
    struct err err;

    if (path.len == 0 ||
        !file_read(mem, str_printf(mem, "%.*s/last", STR_ARG(path)).ptr, &text, &err))
        return STR_NONE;
    while (text.len > 0) {
        struct str line = str_cut(&text, '\n');
        if (str_starts_with(line, prefix) && line.len == prefix.len + UUID_TEXT_LEN)
            return str_slice(line, prefix.len, line.len);
    }
    return STR_NONE;
}
