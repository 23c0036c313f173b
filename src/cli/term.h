/* term.h - what the terminal can show: its width, and colours when it has them. */
#ifndef PAWL_CLI_TERM_H
#define PAWL_CLI_TERM_H

#include "base/buf.h"

#include <stdio.h>

enum term_style {
#define STYLE(symbol, code) TERM_##symbol,
#include "cli/term.def"
#undef STYLE
};

/* How many columns a line on standard output may have. */
size_t term_width(void);

/*
 * Append sentences, broken between words at that width if somebody reads them: standard output is a
 * terminal, or COLUMNS says how wide it is. Lines behind the first are `indent` columns further in.
 */
void term_put_text(struct buf *out, struct str text, size_t indent);

/* Whether `file` is a terminal. */
bool term_is(FILE *file);

/*
 * What begins a style on standard output, and PLAIN what ends it. Empty when
 * that is no terminal, when NO_COLOR is set, or when TERM is dumb.
 */
const char *term_style(enum term_style style);

/* How many columns a text takes, as far as one column a code point is true. */
size_t term_columns(struct str text);

/* Append text, cut to `width` columns with three dots when it is longer; no control characters. */
void term_put_short(struct buf *out, struct str text, size_t width);

/* Append a word so that a shell reads it as one: quoted where it must be. */
void term_put_quoted(struct buf *out, struct str word);

#endif
