/* manpage.c - the table of commands as pages for man(1); see help.h. */
#include "base/text/ascii.h"
#include "cli/help.h"
#include "cli/version.h"

/* Text that roff prints as it is: dashes stay dashes, and no line begins with a request. */
static void put_text(struct buf *out, struct str text)
{
    static const char specials[] = {'\\', '-', '\'', '`', '^', '~'};
    static const char *const written[] = {"\\e", "\\-", "\\(aq", "\\(ga", "\\(ha", "\\(ti"};

    for (size_t i = 0; i < text.len; i++) {
        char ch = text.ptr[i];
        const char *special = memchr(specials, ch, sizeof(specials));
        bool begins = out->len == 0 || out->ptr[out->len - 1] == '\n';

        if (begins && (ch == '.' || ch == '\''))
            buf_text(out, "\\&");
        if (special != NULL)
            buf_text(out, written[special - specials]);
        else
            buf_char(out, ch);
    }
}

static void put_line(struct buf *out, struct str text)
{
    put_text(out, text);
    buf_char(out, '\n');
}

static void put_title(struct buf *out, const struct cli_command *c)
{
    buf_text(out, ".TH PAWL");
    if (c != NULL) {
        buf_text(out, "\\-");
        for (const char *s = c->name; *s != '\0'; s++)
            buf_char(out, ascii_upper(*s));
    }
    buf_text(out, " 1 \"\" \"Pawl " PAWL_VERSION "\" \"Pawl\"\n.SH NAME\npawl");
    if (c != NULL)
        buf_printf(out, "\\-%s", c->name);
    buf_text(out, " \\- ");
    put_line(out, c != NULL ? str_of(c->summary)
                            : STR("runs business processes that must not get lost"));
}

static void put_synopsis(struct buf *out, const struct cli_command *c)
{
    struct str arguments = command_arguments(c);
    const struct cli_flag *flags;
    size_t count = command_options(c, &flags);
    struct buf word;

    /* Blanks that fill a line would make other words of what is to be typed. */
    buf_printf(out, ".SH SYNOPSIS\n.ad l\n.B pawl %s\n", c->name);
    if (arguments.len > 0)
        put_line(out, arguments);
    buf_init(&word);
    for (size_t i = 0; i < count; i++) {
        buf_clear(&word);
        help_write_flag(&word, &flags[i]);
        buf_char(out, '[');
        put_text(out, buf_view(&word));
        buf_text(out, "]\n");
    }
    buf_text(out, ".ad b\n");
    buf_fini(&word);
}

/* Explanations are filled; a line that is indented stays as it is. */
static void put_description(struct buf *out, struct str text)
{
    buf_text(out, ".SH DESCRIPTION\n");
    while (text.len > 0) {
        struct str line = str_cut(&text, '\n');

        if (line.len == 0) {
            buf_text(out, ".PP\n");
            continue;
        }
        if (line.ptr[0] == ' ')
            buf_text(out, ".br\n");
        put_line(out, line);
    }
}

static void put_options(struct buf *out, const struct cli_command *c)
{
    const struct cli_flag *flags;
    size_t count = command_options(c, &flags);
    struct buf word;

    buf_init(&word);
    if (count > 0)
        buf_text(out, ".SH OPTIONS\n");
    for (size_t i = 0; i < count; i++) {
        buf_clear(&word);
        help_write_flag(&word, &flags[i]);
        buf_text(out, ".TP\n.B ");
        put_line(out, buf_view(&word));
        put_line(out, str_of(flags[i].help));
    }
    buf_fini(&word);
}

static void put_list(struct buf *out)
{
    buf_text(out, ".SH SYNOPSIS\n.B pawl\nCOMMAND [ARGUMENT...]\n.SH DESCRIPTION\n"
                  "Pawl remembers every step of a process, waits for days, undoes what must be\n"
                  "undone, and says at any moment where each process stands.\n"
                  "ID, in any command, is an id, a unique end of one, @last or key:K.\n"
                  ".SH COMMANDS\n");
    for (size_t i = 0; i < command_count; i++) {
        if (commands[i].name == NULL) {
            buf_printf(out, ".SS %s\n", commands[i].summary);
            continue;
        }
        buf_printf(out, ".TP\n.BR pawl\\-%s (1)\n", commands[i].name);
        put_line(out, str_of(commands[i].summary));
    }
}

static void put_end(struct buf *out, const struct cli_command *c)
{
    buf_text(out, ".SH EXIT STATUS\n0 when it was done, 1 when it was refused or failed, 2 when it "
                  "was asked for wrongly.\n"
                  ".SH ENVIRONMENT\n"
                  ".TP\n.B PAWL_URL\nThe server, http://127.0.0.1:7070 unless given.\n"
                  ".TP\n.B PAWL_TOKEN\nWho asks; else the token in the data folder is taken.\n"
                  ".TP\n.B PAWL_DATA\nThe data folder, ./pawl\\-data unless given.\n"
                  ".TP\n.B NO_COLOR\nWhen set, nothing is coloured.\n");
    if (c != NULL)
        buf_text(out, ".SH SEE ALSO\n.BR pawl (1)\n");
}

void manpage_write(struct buf *out, const struct cli_command *c)
{
    put_title(out, c);
    if (c == NULL) {
        put_list(out);
    } else {
        put_synopsis(out, c);
        put_description(out, command_explanation(c).len > 0 ? command_explanation(c)
                                                            : str_of(c->summary));
        put_options(out, c);
    }
    put_end(out, c);
}
