/* secret_input.c - see secret_input.h. */
#include "cli/secret_input.h"
#include "define/credential.h"

#include <termios.h>
#include <unistd.h>

enum { SECRET_INPUT_MAX = 1 << 20 };

struct str secret_input_trim(struct str text)
{
    while (str_ends_with(text, STR("\n")) || str_ends_with(text, STR("\r")))
        text.len--;
    return text;
}

bool secret_input_all(struct arena *mem, FILE *from, struct str *out)
{
    char *text = arena_alloc(mem, SECRET_INPUT_MAX);
    size_t len = fread(text, 1, SECRET_INPUT_MAX, from);

    *out = secret_input_trim(str_from(text, len));
    return len < SECRET_INPUT_MAX;
}

bool secret_input_hidden(struct arena *mem, const char *what, struct str *out)
{
    struct termios before, hidden;
    char *line = arena_alloc(mem, SECRET_LEN_MAX + 2);
    bool ok;

    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return false;
    hidden = before;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    fprintf(stderr, "%s: ", what);
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    ok = fgets(line, SECRET_LEN_MAX + 2, stdin) != NULL;
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    fputc('\n', stderr);
    *out = ok ? secret_input_trim(str_of(line)) : STR_NONE;
    return ok;
}
