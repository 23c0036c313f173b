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

static void add_items(struct arena *mem, const char *path, struct str text, struct value items,
                      struct bundle *out)
{
    struct str *texts = ARENA_ARRAY(mem, items.len + 1, struct str);

    if (json_text_items(json_text_member(mem, text, STR("items")), texts, items.len) != items.len)
        PANIC("the items of a list were counted wrong");
    for (uint32_t i = 0; i < items.len; i++)
        *VEC_ADD(mem, out) = (struct bundle_item){.path = path,
                                                  .place = str_printf(mem, "/items/%u", i),
                                                  .text = texts[i],
                                                  .value = items.items[i]};
}

static bool is_test(const char *path)
{
    return str_ends_with(str_of(path), STR(".test.json"));
}

static int is_definition_name(const struct dirent *e)
{
    return e->d_name[0] != '.' && str_ends_with(str_of(e->d_name), STR(".json")) &&
           !is_test(e->d_name);
}

static bool add_folder(struct arena *mem, const char *command, const char *folder,
                       struct bundle_paths *out)
{
    struct dirent **names;
    int count = scandir(folder, &names, is_definition_name, alphasort);

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
        fprintf(stderr, "pawl %s: %s has no definitions: files that end with .json\n", command,
                folder);
    return count > 0;
}

bool bundle_find(struct arena *mem, const char *command, int count, char **words,
                 struct bundle_paths *out)
{
    unsigned tests = 0;
    struct stat s;

    for (int i = 0; i < count; i++) {
        if (words[i][0] != '\0' && stat(words[i], &s) == 0 && S_ISDIR(s.st_mode)) {
            if (!add_folder(mem, command, words[i], out))
                return false;
        } else if (count > 1 && is_test(words[i])) {
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

bool bundle_read(struct arena *mem, const char *path, struct bundle *out)
{
    struct value v, items;
    struct str text;

    if (!file_read_json(mem, path, &text, &v))
        return false;
    items = v.kind == VALUE_MAP ? value_map_get_str(v, STR("items")) : value_absent();
    if (items.kind == VALUE_LIST && kind_of(v) == NULL)
        add_items(mem, path, text, items, out);
    else
        *VEC_ADD(mem, out) = (struct bundle_item){.path = path, .text = text, .value = v};
    return true;
}
