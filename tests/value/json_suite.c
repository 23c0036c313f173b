/*
 * json_suite.c - run the reader over a folder of JSON files.
 *
 *     json_suite DIR
 *
 * By its name a file y_* must be read, n_* must be refused, and i_* may be
 * either, which is only reported. What is read must come back equal from what
 * is written. A few y_* files of the public suite must be refused, because
 * docs/decisions/0010-json-strictness.md says so. Ends with "N passed, N failed".
 */
#include "value/json.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const refused_by_rule[] = {
    "y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json",
    "y_object_escaped_null_in_key.json", "y_string_null_escape.json"};

static bool is_refused_by_rule(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(refused_by_rule); i++)
        if (strcmp(name, refused_by_rule[i]) == 0)
            return true;
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool read_whole_file(struct buf *out, const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t n = 1;

    if (f == NULL)
        return false;
    while (n > 0) {
        if (!buf_reserve(out, 4096))
            break;
        n = fread(out->ptr + out->len, 1, 4096, f);
        out->len += n;
    }
    fclose(f);
    return true;
}

/* Whether what was read can be written and read again. */
static bool survives(struct arena *mem, struct value v)
{
    struct value again;
    struct buf out;
    struct err err;

    buf_init_arena(&out, mem);
    return json_write(&out, v, &err) && json_read(mem, buf_view(&out), &again, &err) &&
           value_equal(v, again, NULL);
}

static bool run_file(const char *dir, const char *name)
{
    struct arena mem;
    struct buf text;
    struct value v;
    struct err err = {.code = ERR_NONE};
    char path[4096];
    bool ruled = is_refused_by_rule(name);
    bool read, good;

    arena_init(&mem);
    buf_init(&text);
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    good = read_whole_file(&text, path);
    read = json_read(&mem, buf_view(&text), &v, &err);
    if (read)
        good = good && survives(&mem, v);
    if (name[0] == 'y' || name[0] == 'n')
        good = good && read == (name[0] == 'y' && !ruled);
    if (name[0] == 'i' || ruled || !good)
        printf("%-8s %s%s%s\n",
               !good  ? "FAILED"
               : read ? "read"
                      : "refused",
               name, read ? "" : ": ", read ? "" : err.message);
    buf_fini(&text);
    arena_fini(&mem);
    return good;
}

int main(int argc, char **argv)
{
    enum { FILES_MAX = 4096 };
    static char *names[FILES_MAX];
    size_t count = 0, passed = 0;
    struct dirent *entry;
    DIR *dir;

    if (argc != 2 || (dir = opendir(argv[1])) == NULL) {
        fprintf(stderr, "usage: json_suite DIR\n");
        return 2;
    }
    while ((entry = readdir(dir)) != NULL && count < FILES_MAX)
        if (strchr("yni", entry->d_name[0]) != NULL && entry->d_name[1] == '_')
            names[count++] = strdup(entry->d_name);
    closedir(dir);
    qsort(names, count, sizeof(names[0]), by_name);
    for (size_t i = 0; i < count; i++) {
        passed += run_file(argv[1], names[i]);
        free(names[i]);
    }
    printf("%zu passed, %zu failed\n", passed, count - passed);
    return passed == count ? 0 : 1;
}
