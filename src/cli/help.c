/* help.c - pawl help: what the program can do. */
#include "cli/help.h"

#include "cli/options.h"

enum { WIDTH = 80, FLAG_COLUMN = 24 };

void help_write_flag(struct buf *out, const struct cli_flag *flag)
{
    buf_printf(out, "--%s", flag->name);
    if (flag->value == NULL)
        return;
    if (flag->value[0] == '[')
        buf_printf(out, "[=%s", flag->value + 1);
    else
        buf_printf(out, " %s", flag->value);
}

/* Print a word behind what is on the line, or on a new one. */
static void put_word(FILE *out, struct str word, size_t indent, size_t *column)
{
    /* A word that is too long for its place begins further to the left. */
    if (indent + word.len > WIDTH)
        indent = word.len < WIDTH ? WIDTH - word.len : 0;
    if (*column + 1 + word.len > WIDTH) {
        fprintf(out, "\n%*s", (int)indent, "");
        *column = indent;
    } else if (*column > indent) {
        fputc(' ', out);
        ++*column;
    }
    fprintf(out, "%.*s", STR_ARG(word));
    *column += word.len;
}

void help_print_synopsis(FILE *out, const struct cli_command *c)
{
    struct str arguments = command_arguments(c);
    size_t column, indent, count;
    const struct cli_flag *flags;
    struct buf word;

    indent = (size_t)fprintf(out, "usage: pawl %s ", c->name);
    column = indent;
    if (arguments.len > 0)
        put_word(out, arguments, indent, &column);
    buf_init(&word);
    count = command_options(c, &flags);
    for (size_t i = 0; i < count; i++) {
        buf_clear(&word);
        buf_char(&word, '[');
        help_write_flag(&word, &flags[i]);
        buf_char(&word, ']');
        put_word(out, buf_view(&word), indent, &column);
    }
    buf_fini(&word);
    fputc('\n', out);
}

/* Text behind a column, broken between words. */
static void print_beside(const char *text, size_t indent)
{
    struct str rest = str_of(text);
    size_t column = indent;

    while (rest.len > 0)
        put_word(stdout, str_cut(&rest, ' '), indent, &column);
    putchar('\n');
}

/* Sentences, broken between words; a line that is empty or begins with a space stands as it is. */
static void print_text(struct str text)
{
    size_t column = 0;

    for (size_t at = 0; at < text.len;) {
        size_t end = at;

        while (end < text.len && text.ptr[end] != ' ' && text.ptr[end] != '\n')
            end++;
        if (end > at)
            put_word(stdout, str_slice(text, at, end), 0, &column);
        if (end + 1 < text.len && text.ptr[end] == '\n' &&
            (text.ptr[end + 1] == '\n' || text.ptr[end + 1] == ' ')) {
            size_t stop = end + 1;

            while (stop < text.len && text.ptr[stop] != '\n')
                stop++;
            printf("\n%.*s", STR_ARG(str_slice(text, end + 1, stop)));
            if (stop < text.len)
                putchar('\n');
            column = 0;
            end = stop;
        }
        at = end + 1;
    }
    putchar('\n');
}

static void print_flags(const struct cli_command *c)
{
    const struct cli_flag *flags;
    size_t count = command_options(c, &flags);
    struct buf word;

    buf_init(&word);
    for (size_t i = 0; i < count; i++) {
        buf_clear(&word);
        help_write_flag(&word, &flags[i]);
        if (i == 0)
            printf("\n");
        printf("  %-*.*s", FLAG_COLUMN - 2, STR_ARG(buf_view(&word)));
        if (word.len + 2 >= FLAG_COLUMN)
            printf("\n%*s", FLAG_COLUMN, "");
        print_beside(flags[i].help, FLAG_COLUMN);
    }
    buf_fini(&word);
}

static void print_command(const struct cli_command *c)
{
    struct str text = command_explanation(c);

    printf("pawl %s - %s\n\n", c->name, c->summary);
    help_print_synopsis(stdout, c);
    print_flags(c);
    if (text.len > 0) {
        putchar('\n');
        print_text(text);
    }
}

static void print_list(void)
{
    printf("pawl - runs business processes that must not get lost\n\nusage: pawl COMMAND ...\n");
    for (size_t i = 0; i < command_count; i++) {
        if (commands[i].name == NULL)
            printf("\n%s\n", commands[i].summary);
        else
            printf("  %-11s %s\n", commands[i].name, commands[i].summary);
    }
    putchar('\n');
    print_text(
        STR("ID is an id, a unique end of one, @last, or key:K. The server is --url or "
            "PAWL_URL, the token --token or PAWL_TOKEN; without them "
            "http://127.0.0.1:7070 and ./pawl-data/admin.token. --ca or PAWL_CA is a "
            "certificate to trust. Where JSON is given, @FILE reads it from a file and - from "
            "standard input; a FILE may be - too. `pawl help COMMAND` explains one."));
}

int command_help(const struct options *o)
{
    const struct cli_command *c = NULL;

    if (o->argc > 2)
        return options_usage(o);
    if (o->argc == 2) {
        c = command_find(o->argv[1]);
        if (c == NULL)
            return EXIT_USAGE;
    }
    if (options_has(o, "man")) {
        struct buf page;
        buf_init(&page);
        manpage_write(&page, c);
        printf("%.*s", STR_ARG(buf_view(&page)));
        buf_fini(&page);
    } else if (c != NULL) {
        print_command(c);
    } else {
        print_list();
    }
    return EXIT_OK;
}
