/*
 * lex.h - CEL source to tokens, one at a time.
 *
 * The lexer only finds where tokens begin and end; literals are decoded by
 * lex_number() and lex_text() when the parser wants their value.
 */
#ifndef PAWL_CEL_LEX_H
#define PAWL_CEL_LEX_H

#include "cel/cel.h"

enum token_kind {
#define TOKEN(symbol, text) TOKEN_##symbol,
#include "cel/syntax/token.def"
#undef TOKEN
    TOKEN_COUNT
};

struct lex_token {
    enum token_kind kind;
    uint32_t offset; /* in bytes */
    uint32_t len;
};

struct lexer {
    struct str source; /* valid UTF-8 */
    uint32_t pos;
    bool with_root; /* '$' is a token */
};

/* The next token. False: a character or literal that is none, reported at its place. */
bool lex_next(struct lexer *lex, struct lex_token *out, struct err *err) MUST_USE;

/* The value of an INT, UINT or DOUBLE token; `negative` when a minus sign belongs to it. literal.c */
bool lex_number(const struct lexer *lex, struct lex_token t, bool negative, struct value *out,
                struct err *err) MUST_USE;

/* The value of a STRING or BYTES token; it points into the source or into `mem`. literal.c */
bool lex_text(struct arena *mem, const struct lexer *lex, struct lex_token t, struct value *out,
              struct err *err) MUST_USE;

/* How a message names this kind of token. */
const char *token_name(enum token_kind kind);

/* A syntax error at a byte offset of the source. Answers false. */
bool lex_fail(const struct lexer *lex, uint32_t offset, struct err *err, const char *format, ...)
    PRINTF_LIKE(4, 5);

#endif
