/* json_scalar.c - strings with escapes, long numbers, and what is wrong; see json_reader.h. */
#include "base/text/ascii.h"
#include "base/text/hex.h"
#include "value/json_reader.h"

#include "base/text/utf8.h"
#include "value/number.h"
#include "value/source.h"

#include <math.h>
#include <stdarg.h>

/* --- errors --- */

char *reader_fail(struct json_reader *r, const char *at, const char *format, ...)
{
    struct place p = source_byte_place(r->text, (size_t)(at - r->copy));
    va_list args;

    va_start(args, format);
    (void)err_vset(r->err, ERR_BAD_JSON, p.line, p.column, format, args);
    va_end(args);
    return NULL;
}

/* Whether a list or map ends here, right behind a comma. */
static bool is_behind_comma(const struct json_reader *r, const char *p)
{
    if (*p != ']' && *p != '}')
        return false;
    for (p--; p > r->copy && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'); p--)
        ;
    return p >= r->copy && *p == ',';
}

static bool is_letter(char c)
{
    return ascii_is_letter(c) || c == '_';
}

/* How many letters, digits and dashes stand here: a name that lacks its quotes. */
static int word_length(const char *p)
{
    int len = 0;

    while (len < 100 && (is_letter(p[len]) || ascii_is_digit(p[len]) || p[len] == '-'))
        len++;
    return len;
}

/* Whether the text so far is nothing but white space. */
static bool is_first(const struct json_reader *r, const char *p)
{
    for (p--; p >= r->copy; p--)
        if (strchr(" \t\r\n", *p) == NULL)
            return false;
    return true;
}

/* What to write instead, when it is a mistake that people make; or NULL. */
static const char *advice(const struct json_reader *r, const char *p, enum json_expected expected)
{
    bool is_after = expected == EXPECTED_LIST_TO_GO_ON || expected == EXPECTED_MAP_TO_GO_ON;

    if (is_behind_comma(r, p))
        return PHRASE("take away the comma before it");
    if (p[0] == '/' && (p[1] == '/' || p[1] == '*'))
        return PHRASE("JSON has no comments: take it away (files for pawl may have them)");
    if (p[0] == '#')
        return PHRASE("JSON has no comments; in files for pawl they begin with //");
    if (p[0] == '\'')
        return PHRASE("texts and keys are written with double quotes");
    if (is_after && (p[0] == '"' || p[0] == '{' || p[0] == '['))
        return PHRASE("a comma is missing before it");
    if ((is_first(r, p) && (is_letter(p[0]) || p[0] == '%')) ||
        (p > r->copy && p[-1] == '-' && is_first(r, p - 1) && (p[0] == ' ' || p[0] == '-')))
        return PHRASE("if this is YAML, its file must be called .yaml");
    if (is_after)
        return NULL;
    if (strncmp(p, "True", 4) == 0 || strncmp(p, "False", 5) == 0 || strncmp(p, "TRUE", 4) == 0 ||
        strncmp(p, "FALSE", 5) == 0)
        return PHRASE("true and false are written small");
    if (strncmp(p, "None", 4) == 0 || strncmp(p, "undefined", 9) == 0 ||
        strncmp(p, "NULL", 4) == 0 || strncmp(p, "nil", 3) == 0 || strncmp(p, "NaN", 3) == 0)
        return PHRASE("what is not known is written null");
    return NULL;
}

char *reader_fail_expected(struct json_reader *r, char *p, enum json_expected expected)
{
    static const char *const names[] = {
        [EXPECTED_VALUE] = PHRASE("a value"),
        [EXPECTED_KEY] = PHRASE("a key in double quotes"),
        [EXPECTED_COLON] = PHRASE("':' after the key"),
        [EXPECTED_END] = PHRASE("nothing after the value"),
        [EXPECTED_LIST_TO_GO_ON] = PHRASE("',' or ']' after the value"),
        [EXPECTED_MAP_TO_GO_ON] = PHRASE("',' or '}' after the value"),
        [EXPECTED_DIGIT_BEHIND_SIGN] = PHRASE("a digit after '-'"),
        [EXPECTED_DIGIT_BEHIND_POINT] = PHRASE("a digit after the point"),
        [EXPECTED_DIGIT_OF_EXPONENT] = PHRASE("a digit in the exponent"),
    };
    const char *name = names[expected], *instead;
    size_t len;

    if (reader_at_end(r, p))
        return reader_fail(r, p, "expected %s, but the text ends here", name);
    if ((unsigned char)*p < 0x20 || *p == 0x7F)
        return reader_fail(r, p, "expected %s, found control character U+%04X", name,
                           (unsigned char)*p);
    len = utf8_sequence_length(p, (size_t)(r->copy + r->text.len - p));
    if (len == 0)
        return reader_fail(r, p, "the text is not UTF-8");
    instead = advice(r, p, expected);
    if (instead == NULL && is_letter(*p) && expected != EXPECTED_END)
        return reader_fail(r, p,
                           "expected %s, found '%.*s'; a text stands in double quotes: \"%.*s\"",
                           name, (int)len, p, word_length(p), p);
    return reader_fail(r, p, "expected %s, found '%.*s'%s%s", name, (int)len, p,
                       instead == NULL ? "" : "; ", instead == NULL ? "" : instead);
}

/* --- strings --- */

/* Four hexadecimal digits as a number, or -1. */
static int32_t read_hex4(const char *p)
{
    int32_t n = 0;

    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);

        if (digit < 0)
            return -1;
        n = n << 4 | digit;
    }
    return n;
}

/* JSON as it should be, and a text that no value of ours may hold. */
static char *refuse(struct json_reader *r, char *p, const char *message)
{
    (void)reader_fail(r, p, "%s", message);
    r->err->code = ERR_INVALID;
    return NULL;
}

/* A \u escape, p being at the backslash. The code point goes to *to, in UTF-8. */
static char *read_unicode(struct json_reader *r, char *p, char **to)
{
    int32_t code = read_hex4(p + 2);

    if (code < 0)
        return reader_fail(r, p, "\\u needs four hexadecimal digits");
    if (code == 0)
        return refuse(r, p, PHRASE("U+0000 is not allowed"));
    p += 6;
    if (code >= 0xD800 && code <= 0xDFFF) {
        int32_t low = code <= 0xDBFF && p[0] == '\\' && p[1] == 'u' ? read_hex4(p + 2) : -1;
        if (low < 0xDC00 || low > 0xDFFF)
            return refuse(r, p - 6, PHRASE("half a surrogate pair"));
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        p += 6;
    }
    *to += utf8_encode(*to, (uint32_t)code);
    return p;
}

static char *read_escape(struct json_reader *r, char *p, char **to)
{
    static const char escapes[UINT8_MAX + 1] = {
        ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
        ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};
    char c = escapes[(unsigned char)p[1]];

    if (p[1] == 'u')
        return read_unicode(r, p, to);
    if (c == '\0')
        return reader_at_end(r, p + 1)
                   ? reader_fail(r, p + 1, "the string is not closed")
                   : reader_fail(r, p, "unknown escape; write \\\\ for a backslash");
    *(*to)++ = c;
    return p + 2;
}

/* Step over characters that are not ASCII. */
static char *skip_wide(struct json_reader *r, char *p)
{
    while ((unsigned char)*p >= 0x80) {
        size_t len = 2;
        if ((unsigned char)*p < 0xC2 || (unsigned char)*p > 0xDF || (p[1] & 0xC0) != 0x80)
            len = utf8_sequence_length(p, (size_t)(r->copy + r->text.len - p));
        if (len == 0)
            return reader_fail(r, p, "the text is not UTF-8");
        p += len;
    }
    return p;
}

char *reader_string_rest(struct json_reader *r, char *start, char *p, struct value *out)
{
    char *to = p; /* where the string is written: at p until an escape makes it shorter */

    while (*p != '"') {
        char *run;

        if (*p == '\\') {
            p = read_escape(r, p, &to);
            if (p == NULL)
                return NULL;
        } else if (reader_at_end(r, p)) {
            return reader_fail(r, p, "the string is not closed");
        } else if ((unsigned char)*p < 0x20) {
            return reader_fail(r, p, "control character U+%04X in a string must be escaped",
                               (unsigned char)*p);
        }
        run = p;
        p = skip_wide(r, skip_plain(p));
        if (p == NULL)
            return NULL;
        if (to != run)
            memmove(to, run, (size_t)(p - run));
        to += p - run;
    }
    *out = value_string(str_from(start, (size_t)(to - start)));
    return p + 1;
}

/* --- numbers --- */

char *reader_long_number(struct json_reader *r, char *start, char *end, struct value *out)
{
    double d;

    if (!number_read_double(str_from(start, (size_t)(end - start)), &d))
        return reader_fail(r, start, "the number is too large");
    *out = value_double(d);
    return end;
}

char *reader_fraction(struct json_reader *r, char *start, char *p, uint64_t digits,
                      struct value *out)
{
    char *first = start + (*start == '-');
    int64_t exponent = 0, written = 0;
    bool too_long;
    double d;

    if (*p == '.') {
        char *point = p++;
        if (!ascii_is_digit(*p))
            return reader_fail_expected(r, p, EXPECTED_DIGIT_BEHIND_POINT);
        for (; ascii_is_digit(*p); p++)
            digits = digits * 10 + (uint64_t)(*p - '0');
        exponent = point + 1 - p;
    }
    /* Counts the point and leading zeros too: careful, not exact. */
    too_long = p - first > 19;
    if (*p == 'e' || *p == 'E') {
        bool negative = *++p == '-';
        if (*p == '-' || *p == '+')
            p++;
        if (!ascii_is_digit(*p))
            return reader_fail_expected(r, p, EXPECTED_DIGIT_OF_EXPONENT);
        for (; ascii_is_digit(*p); p++)
            if (written < 100000)
                written = written * 10 + (*p - '0');
        exponent += negative ? -written : written;
    }
    if (too_long || !number_from_decimal(digits, (int32_t)exponent, false, &d))
        return reader_long_number(r, start, p, out);
    if (isinf(d))
        return reader_fail(r, start, "the number is too large");
    *out = value_double(*start == '-' ? -d : d);
    return p;
}
