/* hex.c - see hex.h. */
#include "base/text/hex.h"

static char *write_digits(char *out, const void *bytes, size_t len, const char digits[16])
{
    const uint8_t *b = bytes;

    for (size_t i = 0; i < len; i++) {
        *out++ = digits[b[i] >> 4];
        *out++ = digits[b[i] & 15];
    }
    return out;
}

char *hex_write(char *out, const void *bytes, size_t len)
{
    return write_digits(out, bytes, len, "0123456789abcdef");
}

char *hex_write_upper(char *out, const void *bytes, size_t len)
{
    return write_digits(out, bytes, len, "0123456789ABCDEF");
}

static bool read_digits(struct str text, void *out, size_t len, int (*value_of)(char digit))
{
    uint8_t *b = out;

    if (text.len != 2 * len)
        return false;
    for (size_t i = 0; i < len; i++) {
        int high = value_of(text.ptr[2 * i]), low = value_of(text.ptr[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        b[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool hex_read(struct str text, void *out, size_t len)
{
    return read_digits(text, out, len, hex_digit);
}

bool hex_read_lower(struct str text, void *out, size_t len)
{
    return read_digits(text, out, len, hex_digit_lower);
}

bool hex_read_uint64(struct str text, uint64_t *out)
{
    uint64_t n = 0;

    if (text.len == 0 || text.len > 16)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        int digit = hex_digit_lower(text.ptr[i]);

        if (digit < 0)
            return false;
        n = n << 4 | (uint64_t)digit;
    }
    *out = n;
    return true;
}
