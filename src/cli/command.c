/* command.c - the tables of commands.def; see command.h. */
#include "cli/command.h"

#include "cli/client.h"
#include "cli/options.h"

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
#define ROW(symbol, line, text, ...)                                                               \
    {.name = TEXT(symbol), .summary = (line), .usage = (text), __VA_ARGS__},
#define COMMAND(symbol, line, text) ROW(symbol, line, text, .run = command_##symbol)
#define REMOTE(symbol, line, text) ROW(symbol, line, text, .run_client = command_##symbol)
#define ACT(symbol, line, text) ROW(symbol, line, text, .run_client = command_act)
#include "cli/commands.def"
#undef SECTION
#undef COMMAND
#undef REMOTE
#undef ACT
};
#undef FLAG

#define SECTION(heading)
#define COMMAND(symbol, line, text)
#define REMOTE(symbol, line, text)
#define ACT(symbol, line, text)
static const struct cli_flag flags[] = {
#define FLAG(owner, symbol, word, text)                                                            \
    {.command = TEXT(owner), .name = (symbol), .value = (word), .help = (text)},
#include "cli/commands.def"
#undef FLAG
};
#undef SECTION
#undef COMMAND
#undef REMOTE
#undef ACT
#undef dry_run

const size_t command_count = ARRAY_SIZE(commands);

size_t command_options(const struct cli_command *c, const struct cli_flag **out)
{
    size_t first = 0, end;

    while (first < ARRAY_SIZE(flags) && strcmp(flags[first].command, c->name) != 0)
        first++;
    for (end = first; end < ARRAY_SIZE(flags) && strcmp(flags[end].command, c->name) == 0;)
        end++;
    *out = &flags[first];
    return end - first;
}

int command_execute(const struct cli_command *c, int argc, char **argv)
{
    struct options o;
    struct client client;
    int status;

    if (!options_read(&o, c, argc, argv))
        return options_usage(&o);
    if (c->run != NULL)
        return c->run(&o);
    client_open(&client, options_know(&o, "json") && options_has(&o, "json"));
    status = c->run_client(&client, &o);
    client_close(&client);
    return status;
}

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

const char *command_program(void)
{
    return program_invocation_name;
}
