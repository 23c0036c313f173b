/* lex.c - finding tokens and decoding literals; see lex.h. */
#include "cel/lex.h"

#include "base/utf8.h"
#include "value/number.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const names[] = {
#define TOKEN(symbol, text) (text),
#include "cel/token.def"
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
    size_t start = 0;

    if (offset > source.len)
        offset = (uint32_t)source.len;
    *line = 1;
    for (size_t i = 0; i < offset; i++)
        if (source.ptr[i] == '\n') {
            *line += 1;
            start = i + 1;
        }
    *column = (uint32_t)utf8_count(str_slice(source, start, offset)) + 1;
}

bool lex_fail(const struct lexer *lex, uint32_t offset, struct err *err, const char *format, ...)
{
    char message[sizeof(err->message)];
    uint32_t line, column;
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    cel_place(lex->source, offset, &line, &column);
    return err_set_at(err, ERR_EXPRESSION_SYNTAX, line, column, "%s", message);
}

/* --- characters --- */

typedef bool char_class(char c);

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_word_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(char c)
{
    return is_word_start(c) || is_digit(c);
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

static inline void skip(struct lexer *lex, char_class *class)
{
    while (lex->pos < lex->source.len && class(lex->source.ptr[lex->pos]))
        lex->pos++;
}

static void skip_space(struct lexer *lex)
{
    for (;;) {
        skip(lex, is_space);
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
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
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
        skip(lex, is_hex);
    } else {
        skip(lex, is_digit);
        if (peek(lex, 0) == '.' && is_digit(peek(lex, 1))) {
            kind = TOKEN_DOUBLE;
            lex->pos++;
            skip(lex, is_digit);
        }
        if (peek(lex, 0) == 'e' || peek(lex, 0) == 'E') {
            uint32_t sign = peek(lex, 1) == '+' || peek(lex, 1) == '-';
            if (is_digit(peek(lex, 1 + sign))) {
                kind = TOKEN_DOUBLE;
                lex->pos += 1 + sign;
                skip(lex, is_digit);
            }
        }
    }
    if (kind == TOKEN_INT && (peek(lex, 0) == 'u' || peek(lex, 0) == 'U')) {
        lex->pos++;
        kind = TOKEN_UINT;
    }
    return kind;
}

/* How many letters before the quote make a string prefix: r, b, rb, br in any case. */
static bool text_prefix(const struct lexer *lex, uint32_t *len, bool *raw, bool *bytes)
{
    *raw = *bytes = false;
    for (*len = 0; *len < 3; *len += 1) {
        char c = peek(lex, *len);
        if (c == '"' || c == '\'')
            return true;
        if ((c == 'r' || c == 'R') && !*raw)
            *raw = true;
        else if ((c == 'b' || c == 'B') && !*bytes)
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
    return lex_fail(lex, start, err, "this string is not closed");
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
        if (!is_word(c) && c != '.' && c != '-' && c != '/' && c != ' ')
            break;
    }
    return lex_fail(lex, start, err, "a quoted name is `name`, of letters, digits and . - / _");
}

static bool scan_operator(struct lexer *lex, enum token_kind *kind, struct err *err)
{
    char c = peek(lex, 0), next = peek(lex, 1);
    uint32_t len = 1;

    switch (c) {
    case '(':
        *kind = TOKEN_LPAREN;
        break;
    case ')':
        *kind = TOKEN_RPAREN;
        break;
    case '[':
        *kind = TOKEN_LBRACKET;
        break;
    case ']':
        *kind = TOKEN_RBRACKET;
        break;
    case '{':
        *kind = TOKEN_LBRACE;
        break;
    case '}':
        *kind = TOKEN_RBRACE;
        break;
    case '.':
        *kind = TOKEN_DOT;
        break;
    case ',':
        *kind = TOKEN_COMMA;
        break;
    case ':':
        *kind = TOKEN_COLON;
        break;
    case '?':
        *kind = TOKEN_QUESTION;
        break;
    case '+':
        *kind = TOKEN_PLUS;
        break;
    case '-':
        *kind = TOKEN_MINUS;
        break;
    case '*':
        *kind = TOKEN_STAR;
        break;
    case '/':
        *kind = TOKEN_SLASH;
        break;
    case '%':
        *kind = TOKEN_PERCENT;
        break;
    case '!':
        *kind = next == '=' ? TOKEN_NE : TOKEN_NOT;
        len = next == '=' ? 2 : 1;
        break;
    case '<':
        *kind = next == '=' ? TOKEN_LE : TOKEN_LT;
        len = next == '=' ? 2 : 1;
        break;
    case '>':
        *kind = next == '=' ? TOKEN_GE : TOKEN_GT;
        len = next == '=' ? 2 : 1;
        break;
    case '=':
        if (next != '=')
            return lex_fail(lex, lex->pos, err, "'=' is not an operator; '==' compares");
        *kind = TOKEN_EQ;
        len = 2;
        break;
    case '&':
        if (next != '&')
            return lex_fail(lex, lex->pos, err, "'&' is not an operator; '&&' is 'and'");
        *kind = TOKEN_AND;
        len = 2;
        break;
    case '|':
        if (next != '|')
            return lex_fail(lex, lex->pos, err, "'|' is not an operator; '||' is 'or'");
        *kind = TOKEN_OR;
        len = 2;
        break;
    case '$':
        if (lex->with_root) {
            *kind = TOKEN_ROOT;
            break;
        }
        /* fall through */
    default: {
        size_t end = lex->pos;
        (void)utf8_next(lex->source, &end);
        return lex_fail(lex, lex->pos, err, "unexpected character '%.*s'", (int)(end - lex->pos),
                        lex->source.ptr + lex->pos);
    }
    }
    lex->pos += len;
    return true;
}

bool lex_next(struct lexer *lex, struct token *out, struct err *err)
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
    if (is_digit(c) || (c == '.' && is_digit(peek(lex, 1)))) {
        out->kind = scan_number(lex);
    } else if ((c == '"' || c == '\'' || c == 'r' || c == 'R' || c == 'b' || c == 'B') &&
               text_prefix(lex, &prefix, &raw, &bytes)) {
        out->kind = bytes ? TOKEN_BYTES : TOKEN_STRING;
        if (!scan_text(lex, prefix, raw, err))
            return false;
    } else if (is_word_start(c)) {
        skip(lex, is_word);
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

/* --- decoding numbers --- */

static bool parse_unsigned(struct str digits, uint64_t *out)
{
    bool hex = digits.len > 1 && (digits.ptr[1] == 'x' || digits.ptr[1] == 'X');
    uint64_t n = 0;

    for (size_t i = hex ? 2 : 0; i < digits.len; i++) {
        char c = digits.ptr[i];
        unsigned digit = (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
        if (__builtin_mul_overflow(n, hex ? 16u : 10u, &n) || __builtin_add_overflow(n, digit, &n))
            return false;
    }
    *out = n;
    return true;
}

bool lex_number(const struct lexer *lex, struct token t, bool negative, struct value *out,
                struct err *err)
{
    struct str text = str_slice(lex->source, t.offset, t.offset + t.len);
    uint64_t n;
    double d;

    if (t.kind == TOKEN_DOUBLE) {
        if (!number_read_double(text, &d))
            return lex_fail(lex, t.offset, err, "this number is out of range");
        *out = value_double(negative ? -d : d);
        return true;
    }
    if (t.kind == TOKEN_UINT)
        text.len--;
    if (!parse_unsigned(text, &n))
        return lex_fail(lex, t.offset, err, "this integer is out of range");
    if (t.kind == TOKEN_UINT) {
        *out = value_uint(n);
        return true;
    }
    if (n > (uint64_t)INT64_MAX + negative)
        return lex_fail(lex, t.offset, err, "this integer is out of range");
    *out = value_int((int64_t)(negative ? 0 - n : n));
    return true;
}

/* --- decoding text --- */

static int simple_escape(char c)
{
    switch (c) {
    case 'a':
        return '\a';
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'v':
        return '\v';
    case '\\':
    case '?':
    case '"':
    case '\'':
    case '`':
        return c;
    default:
        return -1;
    }
}

/* Read `count` digits of base 8 or 16 at p; false when they are not. */
static bool read_digits(const char *p, const char *end, int count, unsigned base, uint32_t *out)
{
    *out = 0;
    if (end - p < count)
        return false;
    for (int i = 0; i < count; i++) {
        char c = p[i];
        unsigned digit;

        if (!is_hex(c))
            return false;
        digit = (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
        if (digit >= base)
            return false;
        *out = *out * base + digit;
    }
    return true;
}

/*
 * Decode the escape whose backslash is at *p, append it to *to and step over
 * it. Answers NULL or what is wrong.
 */
static const char *decode_escape(const char **p, const char *end, bool bytes, char **to)
{
    char c = *p + 1 < end ? (*p)[1] : '\0';
    int simple = simple_escape(c);
    int count = 0, skip = 2;
    uint32_t code;

    if (simple >= 0) {
        *(*to)++ = (char)simple;
        *p += 2;
        return NULL;
    }
    if (c == 'x' || c == 'X')
        count = 2;
    else if ((c == 'u' || c == 'U') && !bytes)
        count = c == 'u' ? 4 : 8;
    else if (c >= '0' && c <= '3') {
        count = 3;
        skip = 1;
    } else {
        return "this escape is not known";
    }
    if (!read_digits(*p + skip, end, count, count == 3 ? 8 : 16, &code))
        return "this escape lacks digits";
    if (bytes)
        *(*to)++ = (char)code;
    else if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return "this escape is not a Unicode character";
    else
        *to += utf8_encode(*to, code);
    *p += skip + count;
    return NULL;
}

bool lex_text(struct arena *mem, const struct lexer *lex, struct token t, struct value *out,
              struct err *err)
{
    struct lexer at = *lex;
    uint32_t prefix, quotes;
    bool raw, bytes;
    const char *p, *end;
    char *text, *to;

    at.pos = t.offset;
    ASSERT(text_prefix(&at, &prefix, &raw, &bytes));
    p = lex->source.ptr + t.offset + prefix;
    end = lex->source.ptr + t.offset + t.len;
    quotes = t.len >= prefix + 6 && p[1] == p[0] && p[2] == p[0] ? 3 : 1;
    p += quotes;
    end -= quotes;

    if (raw || memchr(p, '\\', (size_t)(end - p)) == NULL) {
        struct str plain = str_from(p, (size_t)(end - p));
        *out = bytes ? value_bytes(plain) : value_string(plain);
        return true;
    }
    /* No escape is shorter than what it stands for. */
    text = to = arena_alloc(mem, (size_t)(end - p) + 4);
    while (p < end) {
        const char *wrong;
        if (*p != '\\') {
            *to++ = *p++;
            continue;
        }
        wrong = decode_escape(&p, end, bytes, &to);
        if (wrong != NULL)
            return lex_fail(lex, (uint32_t)(p - lex->source.ptr), err, "%s", wrong);
    }
    *to = '\0';
    *out = bytes ? value_bytes(str_from(text, (size_t)(to - text)))
                 : value_string(str_from(text, (size_t)(to - text)));
    return true;
}
