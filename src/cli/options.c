/* options.c - see options.h. */
#include "cli/options.h"

#include "base/str.h"
#include "cli/help.h"

#include <stdlib.h>

/* Which server is meant: options of every command that talks to one. */
static const struct {
    const char *name, *variable;
} server_options[] = {{"url", "PAWL_URL"}, {"token", "PAWL_TOKEN"}, {"ca", "PAWL_CA"}};

/* The options of a command as one list: its rows, then those that name the server. */
static const char *option_name(const struct options *o, size_t i)
{
    return i < o->count ? o->flags[i].name : server_options[i - o->count].name;
}

static size_t option_count(const struct options *o)
{
    return o->count + (o->command->run_client != NULL ? ARRAY_SIZE(server_options) : 0);
}

/* Its place in the list; option_count() when there is none of that name. */
static size_t option_find(const struct options *o, struct str name)
{
    size_t i = 0;

    while (i < option_count(o) && !str_eq(str_of(option_name(o, i)), name))
        i++;
    return i;
}

static bool option_unknown(const struct options *o, struct str name)
{
    unsigned limit = 2;
    const char *nearest = NULL;

    for (size_t i = 0; i < option_count(o); i++) {
        unsigned distance = str_distance(name, str_of(option_name(o, i)), limit);
        if (distance <= limit && distance < name.len) {
            nearest = option_name(o, i);
            limit = distance;
        }
    }
    fprintf(stderr, "pawl %s: there is no option --%.*s", o->command->name, STR_ARG(name));
    if (nearest != NULL)
        fprintf(stderr, "; did you mean --%s?", nearest);
    fputc('\n', stderr);
    return false;
}

/* "-q" or "-q=...", where there is an option of that one letter. */
static bool is_letter(const struct options *o, const char *arg)
{
    return arg[0] == '-' && arg[1] != '\0' && (arg[2] == '\0' || arg[2] == '=') &&
           option_find(o, str_from(arg + 1, 1)) < option_count(o);
}

/* One option: `value` is what stands behind its '=', or NULL; *next is the word that follows. */
static bool option_take(struct options *o, size_t i, const char *value, char ***next)
{
    const char *kind = i < o->count ? o->flags[i].value : "WORD";
    bool may_lack = kind == NULL || kind[0] == '[';

    if (value != NULL && kind == NULL) {
        fprintf(stderr, "pawl %s: --%s takes no value\n", o->command->name, option_name(o, i));
        return false;
    }
    if (value == NULL && !may_lack && **next == NULL) {
        fprintf(stderr, "pawl %s: --%s needs a value\n", o->command->name, option_name(o, i));
        return false;
    }
    if (value == NULL && !may_lack)
        value = *(*next)++;
    if (i >= o->count) {
        (void)setenv(server_options[i - o->count].variable, value, 1);
        return true;
    }
    o->is_given[i] = true;
    if (value != NULL)
        o->values[i] = value;
    return true;
}

bool options_read(struct options *out, const struct cli_command *command, int argc, char **argv)
{
    char **next = argv + 1;
    int kept = 1;

    ASSERT(argv[argc] == NULL);
    *out = (struct options){.command = command, .argv = argv};
    out->count = command_options(command, &out->flags);
    ASSERT(out->count <= OPTIONS_MAX);
    while (*next != NULL && strcmp(*next, "--") != 0) {
        char *arg = *next++, *value = strchr(arg, '=');
        size_t dashes = strncmp(arg, "--", 2) == 0 ? 2 : is_letter(out, arg) ? 1 : 0, i;
        struct str name;

        if (dashes == 0) {
            argv[kept++] = arg;
            continue;
        }
        arg += dashes;
        name = value == NULL ? str_of(arg) : str_from(arg, (size_t)(value - arg));
        i = option_find(out, name);
        if (i == option_count(out))
            return option_unknown(out, name);
        if (!option_take(out, i, value != NULL ? value + 1 : NULL, &next))
            return false;
    }
    if (*next != NULL)
        for (next++; *next != NULL; next++)
            argv[kept++] = *next;
    argv[kept] = NULL;
    out->argc = kept;
    return true;
}

bool options_know(const struct options *o, const char *name)
{
    return option_find(o, str_of(name)) < o->count;
}

bool options_has(const struct options *o, const char *name)
{
    size_t i = option_find(o, str_of(name));

    ASSERT(i < o->count);
    return o->is_given[i];
}

const char *options_get(const struct options *o, const char *name)
{
    size_t i = option_find(o, str_of(name));

    ASSERT(i < o->count);
    return o->values[i];
}

bool options_number(const struct options *o, const char *name, int64_t *out)
{
    const char *text = options_get(o, name);

    *out = 0;
    if (text == NULL || (str_to_int64(str_of(text), out) && *out >= 1))
        return true;
    fprintf(stderr, "pawl %s: --%s takes a number from 1 on, not %s\n", o->command->name, name,
            text);
    return false;
}

bool options_need(const struct options *o, const char *name)
{
    const struct cli_flag *flag = &o->flags[option_find(o, str_of(name))];

    if (options_has(o, name))
        return true;
    fprintf(stderr, "pawl %s: --%s %s is needed: %s\n", o->command->name, name,
            flag->value != NULL ? flag->value : "", flag->help);
    return false;
}

int options_usage(const struct options *o)
{
    help_print_synopsis(stderr, o->command);
    fprintf(stderr, "`pawl help %s` explains it.\n", o->command->name);
    return EXIT_USAGE;
}

const char *options_setting(const char *name, const char *fallback)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : fallback;
}

const char *options_or_setting(const struct options *o, const char *name, const char *variable,
                               const char *fallback)
{
    const char *value = options_get(o, name);

    return value != NULL ? value : options_setting(variable, fallback);
}
