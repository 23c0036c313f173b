/* options.c - see options.h. */
#include "cli/options.h"

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

static const struct option_spec *find(const struct option_spec *specs, size_t count,
                                      struct str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(str_of(specs[i].name), name))
            return &specs[i];
    return NULL;
}

static bool unknown(const char *command, const struct option_spec *specs, size_t count,
                    struct str name)
{
    unsigned limit = 2;
    const char *nearest = NULL;

    for (size_t i = 0; i < count; i++) {
        unsigned distance = str_distance(name, str_of(specs[i].name), limit);
        if (distance <= limit && distance < name.len) {
            nearest = specs[i].name;
            limit = distance;
        }
    }
    fprintf(stderr, "pawl %s: there is no option --%.*s", command, STR_ARG(name));
    if (nearest != NULL)
        fprintf(stderr, "; did you mean --%s?", nearest);
    fputc('\n', stderr);
    return false;
}

/* "-q" or "-q=...", where there is an option of that one letter. */
static bool is_letter(const struct option_spec *specs, size_t count, const char *arg)
{
    return arg[0] == '-' && arg[1] != '\0' && (arg[2] == '\0' || arg[2] == '=') &&
           find(specs, count, str_from(arg + 1, 1)) != NULL;
}

bool options_read(const char *command, const struct option_spec *specs, size_t count, int *argc,
                  char **argv)
{
    int kept = 1, i;

    for (i = 1; i < *argc && strcmp(argv[i], "--") != 0; i++) {
        char *arg = argv[i], *value = strchr(arg, '=');
        const struct option_spec *spec;
        struct str name;

        size_t dashes = strncmp(arg, "--", 2) == 0 ? 2 : is_letter(specs, count, arg) ? 1 : 0;

        if (dashes == 0) {
            argv[kept++] = arg;
            continue;
        }
        arg += dashes;
        name = value == NULL ? str_of(arg) : str_from(arg, (size_t)(value - arg));
        spec = find(specs, count, name);
        if (spec == NULL)
            return unknown(command, specs, count, name);
        if (value != NULL && spec->value == NULL && spec->variable == NULL) {
            fprintf(stderr, "pawl %s: --%s takes no value\n", command, spec->name);
            return false;
        }
        if (spec->flag != NULL)
            *spec->flag = true;
        else if (value == NULL && i + 1 == *argc) {
            fprintf(stderr, "pawl %s: --%s needs a value\n", command, spec->name);
            return false;
        }
        if (spec->variable != NULL)
            (void)setenv(spec->variable, value != NULL ? value + 1 : argv[++i], 1);
        else if (spec->value != NULL && (value != NULL || spec->flag == NULL))
            *spec->value = value != NULL ? value + 1 : argv[++i];
    }
    for (i++; i < *argc; i++)
        argv[kept++] = argv[i];
    *argc = kept;
    return true;
}

bool options_number(const char *command, const char *name, const char *text, int64_t *out)
{
    *out = 0;
    if (text == NULL || (str_to_int64(str_of(text), out) && *out >= 1))
        return true;
    fprintf(stderr, "pawl %s: --%s takes a number from 1 on, not %s\n", command, name, text);
    return false;
}

const char *options_setting(const char *name, const char *fallback)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : fallback;
}
