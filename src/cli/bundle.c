/* bundle.c - see bundle.h. */
#include "cli/bundle.h"

#include "cli/file.h"
#include "define/kind.h"
#include "trial/case.h"
#include "value/json_text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

const char *const bundle_endings[] = {".json", ".jsonc", ".yaml", ".yml", NULL};

static void add_items(struct arena *mem, const char *path, const struct source_text *source,
                      struct value items, struct bundle *out)
{
    struct str *texts = ARENA_ARRAY(mem, items.len + 1, struct str);

    if (json_text_items(json_text_member(mem, source->json, STR("items")), texts, items.len) !=
        items.len)
        PANIC("the items of a list were counted wrong");
    for (uint32_t i = 0; i < items.len; i++)
        *VEC_ADD(mem, out) = (struct bundle_item){.path = path,
                                                  .source = source,
                                                  .place = str_printf(mem, "/items/%u", i),
                                                  .text = texts[i],
                                                  .value = items.items[i]};
}

static int has_ending(const struct dirent *e)
{
    for (size_t i = 0; e->d_name[0] != '.' && bundle_endings[i] != NULL; i++)
        if (str_ends_with(str_of(e->d_name), str_of(bundle_endings[i])))
            return 1;
    return 0;
}

static bool add_folder(struct arena *mem, const char *command, const char *folder,
                       struct bundle_paths *out)
{
    struct dirent **names;
    int count = scandir(folder, &names, has_ending, alphasort);

    if (count < 0) {
        fprintf(stderr, "pawl %s: %s: %s\n", command, folder, strerror(errno));
        return false;
    }
    for (int i = 0; i < count; i++) {
        *VEC_ADD(mem, out) =
            str_printf(mem, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
                       names[i]->d_name)
                .ptr;
        free(names[i]);
    }
    free(names);
    if (count == 0)
        fprintf(stderr, "pawl %s: %s has no definitions: files that end with .json or .yaml\n",
                command, folder);
    return count > 0;
}

bool bundle_find(struct arena *mem, const char *command, int count, char **words,
                 struct bundle_paths *out)
{
    struct stat s;

    for (int i = 0; i < count; i++) {
        if (words[i][0] == '\0' || stat(words[i], &s) != 0 || !S_ISDIR(s.st_mode))
            *VEC_ADD(mem, out) = words[i];
        else if (!add_folder(mem, command, words[i], out))
            return false;
    }
    return true;
}

bool bundle_tell_tests(const char *command, const struct bundle *all)
{
    if (all->tests == 0)
        return true;
    if (all->count == 0)
        fprintf(stderr, "pawl %s: %s holds tests, not definitions; run them with: pawl test %s\n",
                command, all->test, all->test);
    else
        fprintf(stderr, "pawl %s: %u file%s of tests left out; run them with: pawl test\n", command,
                all->tests, all->tests == 1 ? "" : "s");
    return all->count > 0;
}

static void add_file(struct arena *mem, const char *path, const struct source_text *source,
                     struct bundle *out)
{
    struct value v = source->value, items;

    if (out->wants == BUNDLE_DEFINITIONS && kind_of(v) == NULL && case_is_test(v)) {
        out->test = out->tests == 0 ? path : out->test;
        out->tests++;
        return;
    }
    items = v.kind == VALUE_MAP ? value_map_get_str(v, STR("items")) : value_absent();
    if (items.kind == VALUE_LIST && kind_of(v) == NULL)
        add_items(mem, path, source, items, out);
    else
        *VEC_ADD(mem, out) =
            (struct bundle_item){.path = path, .source = source, .text = source->json, .value = v};
}

bool bundle_try(struct arena *mem, const char *path, struct bundle *out, struct err *err)
{
    struct source_text *source = ARENA_NEW(mem, struct source_text);

    *err = (struct err){0};
    if (!file_try_source(mem, path, source, err))
        return false;
    add_file(mem, path, source, out);
    return true;
}

bool bundle_read(struct arena *mem, const char *path, struct bundle *out)
{
    struct source_text *source = ARENA_NEW(mem, struct source_text);

    if (!file_read_source(mem, path, source))
        return false;
    add_file(mem, path, source, out);
    return true;
}
