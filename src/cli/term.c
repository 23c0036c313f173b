/* term.c - see term.h. */
#include "cli/term.h"

#include "base/text/ascii.h"
#include "base/text/utf8.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Where lines end when nobody says: wide enough for a table, narrow enough for a log. */
enum { WIDTH_DEFAULT = 100, WIDTH_MIN = 60, WIDTH_MAX = 240 };

bool term_is(FILE *file)
{
    return isatty(fileno(file)) != 0;
}

size_t term_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    int64_t width = WIDTH_DEFAULT;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col;
    else if (columns == NULL || !str_to_int64(str_of(columns), &width))
        width = WIDTH_DEFAULT;
    if (width < WIDTH_MIN)
        return WIDTH_MIN;
    return width > WIDTH_MAX ? WIDTH_MAX : (size_t)width;
}

static bool breaks_lines(void)
{
    return term_is(stdout) || getenv("COLUMNS") != NULL;
}

void term_put_text(struct buf *out, struct str text, size_t indent)
{
    size_t width = term_width(), column = indent;

    if (!breaks_lines()) {
        buf_str(out, text);
        return;
    }
    for (bool is_first = true; text.len > 0; is_first = false) {
        struct str word = str_cut(&text, ' ');
        size_t columns = term_columns(word);

        if (column > indent && column + 1 + columns > width) {
            buf_char(out, '\n');
            for (size_t i = 0; i < indent; i++)
                buf_char(out, ' ');
            column = indent;
        } else if (!is_first) {
            buf_char(out, ' ');
            column++;
        }
        buf_str(out, word);
        column += columns;
    }
}

static bool has_colours(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return (no_color == NULL || no_color[0] == '\0') && term != NULL && strcmp(term, "dumb") != 0 &&
           term_is(stdout);
}

const char *term_style(enum term_style style)
{
    static const char *const codes[] = {
#define STYLE(symbol, code) "\033[" code "m",
#include "cli/term.def"
#undef STYLE
    };

    return has_colours() ? codes[style] : "";
}

size_t term_columns(struct str text)
{
    return utf8_count(text);
}

/* What a process was given may not move the cursor of whoever looks at it. */
static void put_plain(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char ch = (unsigned char)text.ptr[i];
        unsigned char next = i + 1 < text.len ? (unsigned char)text.ptr[i + 1] : 0;
        /* U+0080 to U+009F are control characters too. */
        if (ch == 0xc2 && next >= 0x80 && next <= 0x9f) {
            buf_char(out, ' ');
            i++;
        } else {
            buf_char(out, ch < ' ' || ch == 0x7f ? ' ' : (char)ch);
        }
    }
}

void term_put_short(struct buf *out, struct str text, size_t width)
{
    if (utf8_count(text) <= width) {
        put_plain(out, text);
        return;
    }
    put_plain(out, str_slice(text, 0, utf8_offset(text, width > 3 ? width - 3 : 0)));
    buf_text(out, "...");
}

void term_put_quoted(struct buf *out, struct str word)
{
    bool plain = word.len > 0;

    for (size_t i = 0; i < word.len && plain; i++) {
        char ch = word.ptr[i];
        plain = ascii_is_letter_or_digit(ch) || (ch != '\0' && strchr("-._/:@%+,=", ch) != NULL);
    }
    if (plain) {
        buf_str(out, word);
        return;
    }
    buf_char(out, '\'');
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] == '\'')
            buf_text(out, "'\\''");
        else
            buf_char(out, word.ptr[i]);
    }
    buf_char(out, '\'');
}
