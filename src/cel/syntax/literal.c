/* literal.c - the values of literals, whose places lex.c has found; see lex.h. */
#include "base/text/hex.h"
#include "cel/syntax/lex.h"

#include "base/text/utf8.h"
#include "value/number.h"

/* --- numbers --- */

static bool parse_unsigned(struct str digits, uint64_t *out)
{
    bool hex = digits.len > 1 && (digits.ptr[1] == 'x' || digits.ptr[1] == 'X');
    uint64_t n = 0;

    for (size_t i = hex ? 2 : 0; i < digits.len; i++) {
        if (__builtin_mul_overflow(n, hex ? 16u : 10u, &n) ||
            __builtin_add_overflow(n, (unsigned)hex_digit(digits.ptr[i]), &n))
            return false;
    }
    *out = n;
    return true;
}

bool lex_number(const struct lexer *lex, struct lex_token t, bool negative, struct value *out,
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

/* --- text --- */

/* What the letter behind a backslash stands for; 0: that is no such escape. */
static const char simple_escapes[UINT8_MAX + 1] = {
    ['a'] = '\a', ['b'] = '\b',  ['f'] = '\f', ['n'] = '\n', ['r'] = '\r',  ['t'] = '\t',
    ['v'] = '\v', ['\\'] = '\\', ['?'] = '?',  ['"'] = '"',  ['\''] = '\'', ['`'] = '`'};

/* Read `count` digits of base 8 or 16 at p; false when they are not. */
static bool read_digits(const char *p, const char *end, int count, unsigned base, uint32_t *out)
{
    *out = 0;
    if (end - p < count)
        return false;
    for (int i = 0; i < count; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0 || (unsigned)digit >= base)
            return false;
        *out = *out * base + (unsigned)digit;
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
    char simple = simple_escapes[(unsigned char)c];
    int count = 0, skip = 2;
    uint32_t code;

    if (simple != '\0') {
        *(*to)++ = simple;
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
        return PHRASE("this escape is not known");
    }
    if (!read_digits(*p + skip, end, count, count == 3 ? 8 : 16, &code))
        return PHRASE("this escape lacks digits");
    if (bytes)
        *(*to)++ = (char)code;
    else if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return PHRASE("this escape is not a Unicode character");
    else
        *to += utf8_encode(*to, code);
    *p += skip + count;
    return NULL;
}

bool lex_text(struct arena *mem, const struct lexer *lex, struct lex_token t, struct value *out,
              struct err *err)
{
    const char *p = lex->source.ptr + t.offset;
    const char *end = p + t.len;
    bool raw = false, bytes = false;
    ptrdiff_t quotes;
    char *text, *to;

    for (; *p != '"' && *p != '\''; p++) {
        raw |= *p == 'r' || *p == 'R';
        bytes |= *p == 'b' || *p == 'B';
    }
    quotes = end - p >= 6 && p[1] == p[0] && p[2] == p[0] ? 3 : 1;
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
