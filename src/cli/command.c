/* command.c - the tables of commands.def; see command.h. */
#include "cli/command.h"

#include "cli/help.h"

#include <errno.h>
#include <stdio.h>

/* The text of a symbol, after this: a name with a dash is no symbol. */
/* clang-format off */
#define dry_run dry-run /* NOLINT(bugprone-macro-parentheses) */
/* clang-format on */
#define TEXT(symbol) TEXT_OF(symbol)
#define TEXT_OF(name) #name

#define FLAG(name_of_command, symbol, word, text)
const struct cli_command commands[] = {
#define SECTION(heading) {.summary = (heading)},
#define COMMAND(symbol, line, text)                                                                \
    {.name = TEXT(symbol), .summary = (line), .usage = (text), .run = command_##symbol},
#include "cli/commands.def"
#undef SECTION
#undef COMMAND
};
#undef FLAG

#define SECTION(heading)
#define COMMAND(symbol, line, text)
const struct cli_flag command_flags[] = {
#define FLAG(owner, symbol, word, text)                                                            \
    {.command = TEXT(owner), .name = (symbol), .value = (word), .help = (text)},
#include "cli/commands.def"
#undef FLAG
};
#undef SECTION
#undef COMMAND
#undef dry_run

const size_t command_count = ARRAY_SIZE(commands);
const size_t command_flag_count = ARRAY_SIZE(command_flags);

const struct cli_command *command_named(const char *name)
{
    for (size_t i = 0; i < command_count; i++)
        if (commands[i].name != NULL && strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static const struct cli_command *find_nearest(const char *name)
{
    const struct cli_command *nearest = NULL;
    unsigned limit = 2;

    for (size_t i = 0; i < command_count; i++) {
        unsigned distance;
        if (commands[i].name == NULL)
            continue;
        distance = str_distance(str_of(name), str_of(commands[i].name), limit);
        if (distance <= limit && distance < strlen(commands[i].name)) {
            nearest = &commands[i];
            limit = distance;
        }
    }
    return nearest;
}

const struct cli_command *command_find(const char *name)
{
    const struct cli_command *found = command_named(name);
    const struct cli_command *nearest;

    if (found != NULL)
        return found;
    fprintf(stderr, "pawl: there is no command \"%s\"", name);
    nearest = find_nearest(name);
    if (nearest != NULL)
        fprintf(stderr, "; did you mean \"%s\"?\n", nearest->name);
    else
        fprintf(stderr, "; `pawl help` lists them\n");
    return NULL;
}

struct str command_arguments(const struct cli_command *c)
{
    return str_trim(str_from(c->usage, strcspn(c->usage, "\n")));
}

struct str command_explanation(const struct cli_command *c)
{
    const char *text = c->usage + strcspn(c->usage, "\n");
    struct str s;

    /* Not trimmed at its head: the first line may be indented. */
    s = str_of(text + strspn(text, "\n"));
    while (s.len > 0 && s.ptr[s.len - 1] == '\n')
        s.len--;
    return s;
}

int command_usage(const char *name)
{
    const struct cli_command *c = command_named(name);

    if (c != NULL)
        help_print_synopsis(stderr, c);
    fprintf(stderr, "`pawl help %s` explains it.\n", name);
    return EXIT_USAGE;
}

const char *command_program(void)
{
    return program_invocation_name;
}
