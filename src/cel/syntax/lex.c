/* lex.c - finding tokens; see lex.h. */
#include "cel/syntax/lex.h"

#include "base/text/ascii.h"
#include "base/text/hex.h"
#include "base/text/utf8.h"
#include "value/source.h"

#include <stdarg.h>

static const char *const names[] = {
#define TOKEN(symbol, text) (text),
#include "cel/syntax/token.def"
#undef TOKEN
};

/* Words that the language keeps for itself. They may still name fields. */
static const char *const reserved[] = {
    "as",  "break", "const",   "continue",  "else",   "for", "function", "if",    "import",
    "let", "loop",  "package", "namespace", "return", "var", "void",     "while",
};

const char *token_name(enum token_kind kind)
{
    return names[kind];
}

void cel_place(struct str source, uint32_t offset, uint32_t *line, uint32_t *column)
{
    struct place p = source_byte_place(source, offset < source.len ? offset : source.len);

    *line = p.line;
    *column = p.column;
}

bool lex_fail(const struct lexer *lex, uint32_t offset, struct err *err, const char *format, ...)
{
    uint32_t line, column;
    va_list args;

    cel_place(lex->source, offset, &line, &column);
    va_start(args, format);
    (void)err_vset(err, ERR_EXPRESSION_SYNTAX, line, column, format, args);
    va_end(args);
    return false;
}

/* --- characters --- */

typedef bool char_class(char c);

static bool is_hex(char c)
{
    return hex_digit(c) >= 0;
}

static bool is_word_start(char c)
{
    return ascii_is_letter(c) || c == '_';
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

/* The character `ahead` of the current one, 0 beyond the end. */
static char peek(const struct lexer *lex, uint32_t ahead)
{
    return lex->pos + ahead < lex->source.len ? lex->source.ptr[lex->pos + ahead] : '\0';
}

static inline void lex_skip(struct lexer *lex, char_class *class)
{
    while (lex->pos < lex->source.len && class(lex->source.ptr[lex->pos]))
        lex->pos++;
}

static void skip_space(struct lexer *lex)
{
    for (;;) {
        lex_skip(lex, is_space);
        if (peek(lex, 0) != '/' || peek(lex, 1) != '/')
            return;
        while (lex->pos < lex->source.len && lex->source.ptr[lex->pos] != '\n')
            lex->pos++;
    }
}

/* --- finding tokens --- */

static enum token_kind word_kind(const struct lexer *lex, struct str word)
{
    /* Where there is a root, $.loop is one of its members, and each of them is a variable. */
    if (lex->with_root && str_eq(word, STR("loop")))
        return TOKEN_IDENT;
    if (str_eq(word, STR("true")))
        return TOKEN_TRUE;
    if (str_eq(word, STR("false")))
        return TOKEN_FALSE;
    if (str_eq(word, STR("null")))
        return TOKEN_NULL;
    if (str_eq(word, STR("in")))
        return TOKEN_IN;
    for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
        if (reserved[i][0] == word.ptr[0] && str_eq(word, str_of(reserved[i])))
            return TOKEN_RESERVED;
    return TOKEN_IDENT;
}

static enum token_kind scan_number(struct lexer *lex)
{
    enum token_kind kind = TOKEN_INT;

    if (peek(lex, 0) == '0' && (peek(lex, 1) == 'x' || peek(lex, 1) == 'X') &&
        is_hex(peek(lex, 2))) {
        lex->pos += 2;
        lex_skip(lex, is_hex);
    } else {
        lex_skip(lex, ascii_is_digit);
        if (peek(lex, 0) == '.' && ascii_is_digit(peek(lex, 1))) {
            kind = TOKEN_DOUBLE;
            lex->pos++;
            lex_skip(lex, ascii_is_digit);
        }
        if (peek(lex, 0) == 'e' || peek(lex, 0) == 'E') {
            uint32_t sign = peek(lex, 1) == '+' || peek(lex, 1) == '-';
            if (ascii_is_digit(peek(lex, 1 + sign))) {
                kind = TOKEN_DOUBLE;
                lex->pos += 1 + sign;
                lex_skip(lex, ascii_is_digit);
            }
        }
    }
    if (kind == TOKEN_INT && (peek(lex, 0) == 'u' || peek(lex, 0) == 'U')) {
        lex->pos++;
        kind = TOKEN_UINT;
    }
    return kind;
}

/* How many letters before the quote make a string prefix: r, b, br in any case. */
static bool text_prefix(const struct lexer *lex, uint32_t *len, bool *raw, bool *bytes)
{
    *raw = *bytes = false;
    for (*len = 0; *len < 3; *len += 1) {
        char c = peek(lex, *len);
        if (c == '"' || c == '\'')
            return true;
        if ((c == 'r' || c == 'R') && !*raw)
            *raw = true;
        else if ((c == 'b' || c == 'B') && *len == 0)
            *bytes = true;
        else
            return false;
    }
    return false;
}

static bool scan_text(struct lexer *lex, uint32_t prefix, bool raw, struct err *err)
{
    uint32_t start = lex->pos;
    char quote = peek(lex, prefix);
    bool triple = peek(lex, prefix + 1) == quote && peek(lex, prefix + 2) == quote;

    lex->pos += prefix + (triple ? 3 : 1);
    while (lex->pos < lex->source.len) {
        char c = lex->source.ptr[lex->pos];
        if (c == quote && (!triple || (peek(lex, 1) == quote && peek(lex, 2) == quote))) {
            lex->pos += triple ? 3 : 1;
            return true;
        }
        if (!triple && (c == '\n' || c == '\r'))
            break;
        lex->pos += c == '\\' && !raw ? 2 : 1;
    }
    return lex_fail(lex, start, err, "this string is not closed: it ends with another %.*s%s",
                    triple ? 3 : 1,
                    triple && quote == '"' ? "\"\"\""
                    : quote == '"'         ? "\""
                                           : "'''",
                    lex->pos < lex->source.len ? ", in the same line" : "");
}

static bool scan_quoted_name(struct lexer *lex, struct err *err)
{
    uint32_t start = lex->pos++;

    for (; lex->pos < lex->source.len; lex->pos++) {
        char c = lex->source.ptr[lex->pos];
        if (c == '`' && lex->pos > start + 1) {
            lex->pos++;
            return true;
        }
        if (!ascii_is_word(c) && c != '.' && c != '-' && c != '/' && c != ' ')
            break;
    }
    return lex_fail(lex, start, err, "a quoted name is `name`, of letters, digits and . - / _");
}

/* The operators of one character; TOKEN_END: it is none. */
static const uint8_t singles[UINT8_MAX + 1] = {
    ['('] = TOKEN_LPAREN, [')'] = TOKEN_RPAREN,   ['['] = TOKEN_LBRACKET, [']'] = TOKEN_RBRACKET,
    ['{'] = TOKEN_LBRACE, ['}'] = TOKEN_RBRACE,   ['.'] = TOKEN_DOT,      [','] = TOKEN_COMMA,
    [':'] = TOKEN_COLON,  ['?'] = TOKEN_QUESTION, ['+'] = TOKEN_PLUS,     ['-'] = TOKEN_MINUS,
    ['*'] = TOKEN_STAR,   ['/'] = TOKEN_SLASH,    ['%'] = TOKEN_PERCENT,  ['!'] = TOKEN_NOT,
    ['<'] = TOKEN_LT,     ['>'] = TOKEN_GT,       ['$'] = TOKEN_ROOT};

/* The operators of two characters; TOKEN_END: they are none together. */
static enum token_kind pair_kind(char first, char second)
{
    if (second == '=')
        return first == '='   ? TOKEN_EQ
               : first == '!' ? TOKEN_NE
               : first == '<' ? TOKEN_LE
               : first == '>' ? TOKEN_GE
                              : TOKEN_END;
    if (second == '&' && first == '&')
        return TOKEN_AND;
    return second == '|' && first == '|' ? TOKEN_OR : TOKEN_END;
}

static bool fail_character(const struct lexer *lex, struct err *err)
{
    size_t end = lex->pos;
    char c = peek(lex, 0);

    if (c == '=')
        return lex_fail(lex, lex->pos, err, "'=' is not an operator; '==' compares");
    if (c == '&')
        return lex_fail(lex, lex->pos, err, "'&' is not an operator; '&&' is 'and'");
    if (c == '|')
        return lex_fail(lex, lex->pos, err, "'|' is not an operator; '||' is 'or'");
    (void)utf8_next(lex->source, &end);
    return lex_fail(lex, lex->pos, err, "unexpected character '%.*s'", (int)(end - lex->pos),
                    lex->source.ptr + lex->pos);
}

static bool scan_operator(struct lexer *lex, enum token_kind *kind, struct err *err)
{
    char c = peek(lex, 0);

    *kind = pair_kind(c, peek(lex, 1));
    if (*kind != TOKEN_END) {
        lex->pos += 2;
        return true;
    }
    *kind = (enum token_kind)singles[(unsigned char)c];
    if (*kind == TOKEN_END || (*kind == TOKEN_ROOT && !lex->with_root))
        return fail_character(lex, err);
    lex->pos++;
    return true;
}

bool lex_next(struct lexer *lex, struct lex_token *out, struct err *err)
{
    uint32_t prefix;
    bool raw, bytes;
    char c;

    skip_space(lex);
    out->offset = lex->pos;
    if (lex->pos >= lex->source.len) {
        out->kind = TOKEN_END;
        out->len = 0;
        return true;
    }
    c = peek(lex, 0);
    if (ascii_is_digit(c) || (c == '.' && ascii_is_digit(peek(lex, 1)))) {
        out->kind = scan_number(lex);
    } else if ((c == '"' || c == '\'' || c == 'r' || c == 'R' || c == 'b' || c == 'B') &&
               text_prefix(lex, &prefix, &raw, &bytes)) {
        out->kind = bytes ? TOKEN_BYTES : TOKEN_STRING;
        if (!scan_text(lex, prefix, raw, err))
            return false;
    } else if (is_word_start(c)) {
        lex_skip(lex, ascii_is_word);
        out->kind = word_kind(lex, str_slice(lex->source, out->offset, lex->pos));
    } else if (c == '`') {
        out->kind = TOKEN_QUOTED;
        if (!scan_quoted_name(lex, err))
            return false;
    } else if (!scan_operator(lex, &out->kind, err)) {
        return false;
    }
    out->len = lex->pos - out->offset;
    return true;
}
