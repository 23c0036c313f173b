/* bundle.c - see bundle.h. */
#include "cli/bundle.h"

#include "cli/file.h"
#include "define/kind.h"
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

/* Whether the name ends with one of the endings, ".test" before it or not. */
static bool has_ending(struct str name, bool *is_test)
{
    for (size_t i = 0; bundle_endings[i] != NULL; i++)
        if (str_ends_with(name, str_of(bundle_endings[i]))) {
            name = str_slice(name, 0, name.len - strlen(bundle_endings[i]));
            *is_test = str_ends_with(name, STR(".test"));
            return true;
        }
    return false;
}

static bool is_test(const char *path)
{
    bool answer = false;

    return has_ending(str_of(path), &answer) && answer;
}

static int is_definition_name(const struct dirent *e)
{
    bool is_of_test = false;

    return e->d_name[0] != '.' && has_ending(str_of(e->d_name), &is_of_test) && !is_of_test;
}

static int is_any_name(const struct dirent *e)
{
    bool is_of_test;

    return e->d_name[0] != '.' && has_ending(str_of(e->d_name), &is_of_test);
}

static bool add_folder(struct arena *mem, const char *command, enum bundle_wants wants,
                       const char *folder, struct bundle_paths *out)
{
    struct dirent **names;
    int count = scandir(folder, &names,
                        wants == BUNDLE_WITH_TESTS ? is_any_name : is_definition_name, alphasort);

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

bool bundle_find(struct arena *mem, const char *command, enum bundle_wants wants, int count,
                 char **words, struct bundle_paths *out)
{
    unsigned tests = 0;
    struct stat s;

    for (int i = 0; i < count; i++) {
        if (words[i][0] != '\0' && stat(words[i], &s) == 0 && S_ISDIR(s.st_mode)) {
            if (!add_folder(mem, command, wants, words[i], out))
                return false;
        } else if (wants == BUNDLE_DEFINITIONS && count > 1 && is_test(words[i])) {
            tests++;
        } else {
            *VEC_ADD(mem, out) = words[i];
        }
    }
    if (tests > 0)
        fprintf(stderr, "pawl %s: %u file%s of tests left out; run them with: pawl test\n", command,
                tests, tests == 1 ? "" : "s");
    return true;
}

static void add_file(struct arena *mem, const char *path, const struct source_text *source,
                     struct bundle *out)
{
    struct value v = source->value, items;

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
