/*
 * completion.c - pawl completion: what a word may become, for bash and zsh.
 *
 * The scripts know nothing: they ask `pawl completion words`, which prints one
 * candidate a line as "word TAB explanation". A line ":files" or ":folders"
 * leaves it to the shell.
 */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "engine/execution.h"

#include <stdio.h>

/* Nobody waits longer for a key press. */
enum { ASK_MS = 500 };

static const char bash_script[] =
    "# Completion of pawl for bash: source <(pawl completion bash)\n"
    "_pawl() {\n"
    "    local line extra word cut i words=()\n"
    "    # Bash cuts words at : and =; here they are whole again.\n"
    "    for ((i = 1; i <= COMP_CWORD; i++)); do\n"
    "        if ((i > 1)) && [[ ${COMP_WORDS[i]} == [:=]* || ${COMP_WORDS[i - 1]} == [:=] ]]; "
    "then\n"
    "            words[-1]+=${COMP_WORDS[i]}\n"
    "        else\n"
    "            words+=(\"${COMP_WORDS[i]}\")\n"
    "        fi\n"
    "    done\n"
    "    word=${words[-1]}\n"
    "    cut=${word%\"${word##*[:=]}\"}\n"
    "    COMPREPLY=()\n"
    "    while IFS=$'\\t' read -r line extra; do\n"
    "        case $line in\n"
    "        :files | :folders)\n"
    "            compopt -o filenames\n"
    "            [ \"$line\" = :files ] && line=-f || line=-d\n"
    "            mapfile -t COMPREPLY < <(compgen \"$line\" -- \"${word#\"$cut\"}\")\n"
    "            ;;\n"
    "        *) COMPREPLY+=(\"${line#\"$cut\"}\") ;;\n"
    "        esac\n"
    "    done < <(\"${COMP_WORDS[0]}\" completion words -- \"${words[@]}\" 2>/dev/null)\n"
    "    [[ ${COMPREPLY[*]} != *: ]] || compopt -o nospace\n"
    "}\n"
    "complete -F _pawl pawl\n";

static const char zsh_script[] =
    "#compdef pawl\n"
    "# Completion of pawl for zsh: source <(pawl completion zsh), after compinit.\n"
    "_pawl() {\n"
    "    local word extra\n"
    "    local -a found\n"
    "    local -a typed=(\"${(@)words[2,CURRENT]}\")\n"
    "    [[ $PREFIX != --*=* ]] || compset -P '*='\n"
    "    while IFS=$'\\t' read -r word extra; do\n"
    "        case $word in\n"
    "        :files) _files ;;\n"
    "        :folders) _files -/ ;;\n"
    "        *) found+=(\"${word//:/\\\\:}${extra:+:$extra}\") ;;\n"
    "        esac\n"
    "    done < <(\"${words[1]}\" completion words -- \"${(@)typed}\" 2>/dev/null)\n"
    "    (( ${#found} )) && _describe pawl found\n"
    "}\n"
    "if [ \"${funcstack[1]-}\" = _pawl ]; then _pawl \"$@\"; else compdef _pawl pawl; fi\n";

static void offer(struct str typed, struct str word, const char *explanation)
{
    if (str_starts_with(word, typed))
        printf("%.*s\t%s\n", STR_ARG(word), explanation);
}

/* --- what the server knows --- */

static void offer_members(struct str typed, struct str path, const char *member, const char *prefix)
{
    struct reply reply;
    struct client c;
    struct value items;

    client_open(&c, false);
    c.timeout_ms = ASK_MS;
    if (client_ask(&c, "GET", path, STR_NONE, &reply) && reply.status == 200) {
        items = value_map_get_str(reply.json, STR("items"));
        for (uint32_t i = 0; items.kind == VALUE_LIST && i < items.len; i++) {
            struct str text = client_text(items.items[i], member);
            struct str name = client_text(items.items[i], "name");
            if (text.len > 0)
                offer(typed, str_printf(&c.mem, "%s%.*s", prefix, STR_ARG(text)),
                      str_copy(&c.mem, name).ptr);
        }
    }
    client_close(&c);
}

static void offer_executions(struct str typed)
{
    offer(typed, STR("@last"), "the newest that you have started");
    if (str_starts_with(typed, STR("key:")))
        offer_members(typed, STR("/executions?limit=100"), "key", "key:");
    else
        offer(typed, STR("key:"), "by its business key");
}

/* --- one word --- */

static void offer_commands(struct str typed)
{
    for (size_t i = 0; i < command_count; i++)
        if (commands[i].name != NULL)
            offer(typed, str_of(commands[i].name), commands[i].summary);
}

static void offer_alternatives(struct str typed, struct str words)
{
    while (words.len > 0)
        offer(typed, str_cut(&words, '|'), "");
}

/* What a word of the table stands for, such as FILE or [COMMAND]. */
static void offer_for(struct str typed, struct str word)
{
    while (word.len > 0 && (word.ptr[0] == '[' || word.ptr[0] == '('))
        word = str_slice(word, 1, word.len);
    while (word.len > 0 && strchr("]).", word.ptr[word.len - 1]) != NULL)
        word = str_slice(word, 0, word.len - 1);
    if (str_eq(word, STR("FILE")))
        printf(":files\n");
    else if (str_eq(word, STR("DIR")))
        printf(":folders\n");
    else if (str_eq(word, STR("CODE")))
        offer_members(typed, STR("/scenarios"), "code", "");
    else if (str_eq(word, STR("ID")))
        offer_executions(typed);
    else if (str_eq(word, STR("COMMAND")))
        offer_commands(typed);
    else if (str_eq(word, STR("STATUS")))
        for (int i = 0; i < STATUS_COUNT; i++)
            offer(typed, str_of(status_name((enum execution_status)i)), "");
    else if (str_find(word, STR("|"), 0) >= 0)
        offer_alternatives(typed, word);
}

/* The word number `n` of the arguments of a command; the last one may repeat. */
static struct str argument_word(const struct cli_command *c, unsigned n)
{
    struct str rest = command_arguments(c), word = STR_NONE;

    for (unsigned i = 0; rest.len > 0 && i <= n; i++) {
        word = str_cut(&rest, ' ');
        rest = str_trim(rest);
        if (rest.len == 0 && i < n)
            return str_find(word, STR("..."), 0) >= 0 ? word : STR_NONE;
    }
    return word;
}

static const struct cli_flag *flag_named(const struct cli_command *c, const char *word)
{
    const struct cli_flag *flags;
    size_t count = command_options(c, &flags);

    for (size_t i = 0; i < count; i++)
        if (strncmp(word, "--", 2) == 0 && strcmp(flags[i].name, word + 2) == 0)
            return &flags[i];
    return NULL;
}

static bool takes_next(const struct cli_flag *flag)
{
    return flag != NULL && flag->value != NULL && flag->value[0] != '[';
}

static void offer_flags(const struct cli_command *c, struct str typed)
{
    const struct cli_flag *flags;
    size_t count = command_options(c, &flags);
    struct arena mem;

    arena_init(&mem);
    for (size_t i = 0; i < count; i++)
        offer(typed, str_printf(&mem, "--%s", flags[i].name), flags[i].help);
    offer(typed, STR("--help"), "explain this command");
    arena_fini(&mem);
}

/* "--name=typed": the value alone, which is what both shells complete then. */
static void offer_value(const struct cli_command *c, struct str typed)
{
    size_t equals = (size_t)str_find(typed, STR("="), 0);
    const struct cli_flag *flag;
    struct arena mem;

    arena_init(&mem);
    flag = flag_named(c, str_copy(&mem, str_slice(typed, 0, equals)).ptr);
    if (flag != NULL && flag->value != NULL)
        offer_for(str_slice(typed, equals + 1, typed.len), str_of(flag->value));
    arena_fini(&mem);
}

/* The last of `count` words is being typed. */
static void offer_words(int count, char **words)
{
    const struct cli_command *c;
    const struct cli_flag *flag;
    unsigned place = 0;
    struct str typed;

    if (count <= 1) {
        offer_commands(str_of(count == 1 ? words[0] : ""));
        return;
    }
    c = command_named(words[0]);
    if (c == NULL)
        return;
    typed = str_of(words[count - 1]);
    for (int i = 1; i < count - 1; i++) {
        if (takes_next(flag_named(c, words[i])))
            i++;
        else if (words[i][0] != '-')
            place++;
    }
    flag = count > 2 ? flag_named(c, words[count - 2]) : NULL;
    if (takes_next(flag))
        offer_for(typed, str_of(flag->value));
    else if (str_starts_with(typed, STR("--")) && str_find(typed, STR("="), 0) > 0)
        offer_value(c, typed);
    else if (str_starts_with(typed, STR("-")))
        offer_flags(c, typed);
    else
        offer_for(typed, argument_word(c, place));
}

int command_completion(const struct options *o)
{
    if (o->argc >= 2 && strcmp(o->argv[1], "words") == 0) {
        offer_words(o->argc - 2, o->argv + 2);
        return EXIT_OK;
    }
    if (o->argc != 2)
        return options_usage(o);
    if (strcmp(o->argv[1], "bash") == 0)
        printf("%s", bash_script);
    else if (strcmp(o->argv[1], "zsh") == 0)
        printf("%s", zsh_script);
    else {
        fprintf(stderr, "pawl completion: there is a script for bash and for zsh, not for %s\n",
                o->argv[1]);
        return EXIT_USAGE;
    }
    return EXIT_OK;
}
