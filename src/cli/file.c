/* file.c - see file.h. */
#include "cli/file.h"

#include "base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* Larger than anything that Pawl takes. */
enum { FILE_MAX_BYTES = 64 << 20, STEP_BYTES = 65536 };

/* The path that "@path" means as well, unless a file is really called so. */
static const char *without_sign(const char *path)
{
    return path[0] == '@' && path[1] != '\0' && access(path, F_OK) != 0 ? path + 1 : path;
}

bool file_read(struct arena *mem, const char *path, struct str *out, struct err *err)
{
    struct buf text;
    bool more = true, ok = true;
    FILE *file;

    path = without_sign(path);
    file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (file == NULL)
        return err_set(err, ERR_IO, "cannot open %s: %s", path, strerror(errno));
    buf_init_arena(&text, mem);
    text.limit = FILE_MAX_BYTES;
    while (more && buf_reserve(&text, STEP_BYTES)) {
        size_t n = fread(text.ptr + text.len, 1, STEP_BYTES, file);
        text.len += n;
        more = n > 0;
    }
    if (ferror(file))
        ok = err_set(err, ERR_IO, "cannot read %s: %s", path, strerror(errno));
    else if (text.failed)
        ok = err_set(err, ERR_TOO_LARGE, "%s is larger than %d MiB", path, FILE_MAX_BYTES >> 20);
    if (file != stdin)
        fclose(file);
    *out = buf_view(&text);
    return ok;
}

bool file_try_source(struct arena *mem, const char *path, struct source_text *out, struct err *err)
{
    struct str text;

    return file_read(mem, path, &text, err) &&
           source_read(mem, source_form_of(path, text), text, out, err);
}

/* "pawl: order.json:3:7: message", or "pawl: message" when it has no place. */
bool file_report(const char *name, const struct err *err)
{
    if (err->line > 0)
        fprintf(stderr, "pawl: %s:%u:%u: %s\n", name, err->line, err->column, err->message);
    else
        fprintf(stderr, "pawl: %s\n", err->message);
    return false;
}

bool file_read_json(struct arena *mem, const char *path, struct str *text, struct value *out)
{
    struct source_text source;
    struct err err = {0};

    if (!file_try_source(mem, path, &source, &err))
        return file_report(path, &err);
    *text = source.json;
    *out = source.value;
    return true;
}

bool file_argument_json(struct arena *mem, const char *what, const char *argument, struct str *text,
                        struct value *out)
{
    struct source_text source;
    struct err err = {0};

    if (argument[0] == '@' || strcmp(argument, "-") == 0)
        return file_read_json(mem, argument, text, out);
    if (!source_read(mem, SOURCE_JSON, str_of(argument), &source, &err)) {
        if (access(argument, F_OK) != 0)
            return file_report(what, &err);
        fprintf(stderr, "pawl: %s: this is the name of a file; to read it write @%s\n", what,
                argument);
        return false;
    }
    *text = source.json;
    *out = source.value;
    return true;
}

bool file_given_json(struct arena *mem, const char *what, const char *argument, struct str *text,
                     struct value *out)
{
    struct str given = str_trim(str_of(argument));

    return given.len > 0 && (given.ptr[0] == '{' || given.ptr[0] == '[')
               ? file_argument_json(mem, what, argument, text, out)
               : file_read_json(mem, argument, text, out);
}
