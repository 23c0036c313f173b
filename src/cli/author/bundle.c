/* bundle.c - see bundle.h. */
#include "cli/author/bundle.h"

#include "cli/file.h"
#include "define/kind.h"
#include "trial/case.h"
#include "value/json.h"
#include "value/json_text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Folders within folders. */
enum { FOLDERS_MAX = 16 };

const char *const bundle_endings[] = {".json", ".jsonc", ".yaml", ".yml", NULL};

/*
 * The definition in an item of an export, {kind, code, text}: with its kind and
 * its name in it, as a file would have them. Any other item as it is.
 */
static struct value unwrapped(struct arena *mem, struct value item)
{
    struct value text = value_map_member(item, STR("text")), inner;
    const struct kind_spec *spec = kind_of(item);
    struct value_entry *entries;
    size_t count = 2;
    struct err err;

    if (spec == NULL || item.len != 3 || text.kind != VALUE_STRING ||
        value_map_member(item, STR("code")).kind != VALUE_STRING ||
        !json_read(mem, value_text(text), &inner, &err) || inner.kind != VALUE_MAP)
        return item;
    entries = ARENA_ARRAY(mem, inner.len + 2, struct value_entry);
    entries[0] = (struct value_entry){value_key(STR("kind")), value_key(str_of(spec->name))};
    entries[1] =
        (struct value_entry){value_key(str_of(spec->key)), value_map_member(item, STR("code"))};
    for (uint32_t i = 0; i < inner.len; i++)
        if (!str_eq(value_text(inner.map->entries[i].key), STR("kind")) &&
            !str_eq(value_text(inner.map->entries[i].key), str_of(spec->key)))
            entries[count++] = inner.map->entries[i];
    return value_map_take(mem, entries, count);
}

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
                                                  .value = unwrapped(mem, items.items[i])};
}

/* --- folders --- */

static bool has_ending(const char *name)
{
    for (size_t i = 0; bundle_endings[i] != NULL; i++)
        if (str_ends_with(str_of(name), str_of(bundle_endings[i])))
            return true;
    return false;
}

static int is_shown(const struct dirent *e)
{
    return e->d_name[0] != '.' && strcmp(e->d_name, "node_modules") != 0;
}

/* Whether a file that nobody named is none of ours, such as a JSON Schema or a package.json. */
static bool is_foreign(struct arena *mem, const char *path)
{
    const struct kind_spec *spec;
    struct source_text source;
    struct err err;

    /* What cannot be read is told by whoever reads it. */
    if (!file_try_source(mem, path, &source, &err))
        return false;
    spec = kind_of(source.value);
    /* A context has an object of the name `steps`. */
    if (spec != NULL && spec->shape != NULL &&
        value_map_member(source.value, str_of(spec->shape)).kind == VALUE_LIST)
        return false;
    return !case_is_test(source.value) &&
           value_map_member(source.value, STR("kind")).kind == VALUE_ABSENT &&
           value_map_member(source.value, STR("code")).kind == VALUE_ABSENT &&
           value_map_member(source.value, STR("items")).kind == VALUE_ABSENT;
}

static bool add_below(struct arena *mem, const char *command, const char *folder, unsigned depth,
                      struct bundle_paths *out);

static bool add_entry(struct arena *mem, const char *command, const char *path, unsigned depth,
                      struct bundle_paths *out)
{
    struct stat s;

    /* Links to folders are not followed: they may lead back. */
    if (lstat(path, &s) == 0 && S_ISDIR(s.st_mode))
        return depth >= FOLDERS_MAX || add_below(mem, command, path, depth + 1, out);
    if (!has_ending(path))
        return true;
    if (is_foreign(mem, path))
        fprintf(stderr, "pawl %s: %s is no definition and no test: left out\n", command, path);
    else
        *VEC_ADD(mem, out) = path;
    return true;
}

/* The files of ours in a folder and in those below it, in the order of their names. */
static bool add_below(struct arena *mem, const char *command, const char *folder, unsigned depth,
                      struct bundle_paths *out)
{
    struct dirent **names;
    int count = scandir(folder, &names, is_shown, alphasort);
    bool ok = true;

    if (count < 0) {
        fprintf(stderr, "pawl %s: %s: %s\n", command, folder, strerror(errno));
        return false;
    }
    for (int i = 0; i < count; i++) {
        const char *path =
            str_printf(mem, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
                       names[i]->d_name)
                .ptr;

        ok = ok && add_entry(mem, command, path, depth, out);
        free(names[i]);
    }
    free(names);
    return ok;
}

static bool add_folder(struct arena *mem, const char *command, const char *folder,
                       struct bundle_paths *out)
{
    size_t before = out->count;

    if (!add_below(mem, command, folder, 0, out))
        return false;
    if (out->count == before)
        fprintf(stderr, "pawl %s: %s has no definitions: files that end with .json or .yaml\n",
                command, folder);
    return out->count > before;
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

bool bundle_report_tests(const char *command, const struct bundle *all)
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

bool bundle_try(struct arena *mem, const char *path, struct bundle *out, struct err *err)
{
    struct source_text *source = ARENA_NEW(mem, struct source_text);
    struct value v, items;

    *err = (struct err){0};
    if (!file_try_source(mem, path, source, err))
        return false;
    v = source->value;
    if (out->wants == BUNDLE_DEFINITIONS && kind_of(v) == NULL && case_is_test(v)) {
        out->test = out->tests == 0 ? path : out->test;
        out->tests++;
        return true;
    }
    items = value_map_member(v, STR("items"));
    if (items.kind == VALUE_LIST && kind_of(v) == NULL)
        add_items(mem, path, source, items, out);
    else
        *VEC_ADD(mem, out) =
            (struct bundle_item){.path = path, .source = source, .text = source->json, .value = v};
    return true;
}

bool bundle_read(struct arena *mem, const char *path, struct bundle *out)
{
    struct err err;

    return bundle_try(mem, path, out, &err) || file_report(path, &err);
}
