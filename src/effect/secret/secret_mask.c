/* secret_mask.c - see secret_mask.h. */
#include "effect/secret/secret_mask.h"

#include "base/text/ascii.h"
#include "base/text/base64.h"
#include "base/text/hex.h"
#include "value/json.h"

/* What is left of base64 without its ends must say enough to be looked for. */
enum { INNER_LEN_MIN = 8 };

static void add_form(struct arena *mem, struct mask *m, struct str form)
{
    if (form.len >= MASK_LEN_MIN)
        mask_add_secret(mem, m, form);
}

/* --- percent-encoding --- */

static bool is_plain_char(char c, const char *also)
{
    return ascii_is_letter_or_digit(c) || (c != '\0' && strchr(also, c) != NULL);
}

void secret_add_percent(struct buf *out, struct str text, const char *also, bool is_upper,
                        bool has_plus)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (has_plus && c == ' ')
            buf_char(out, '+');
        else if (is_plain_char(c, also))
            buf_char(out, c);
        else
            buf_printf(out, is_upper ? "%%%02X" : "%%%02x", (unsigned)(unsigned char)c);
    }
}

static void add_percent(struct arena *mem, struct mask *m, struct str secret, const char *also,
                        bool is_upper, bool has_plus)
{
    struct buf out;

    buf_init_arena(&out, mem);
    secret_add_percent(&out, secret, also, is_upper, has_plus);
    add_form(mem, m, buf_view(&out));
}

/* --- base64 and hexadecimal --- */

static struct str url_alphabet(struct arena *mem, struct str text)
{
    char *out = arena_alloc(mem, text.len);

    for (size_t i = 0; i < text.len; i++)
        out[i] = text.ptr[i] == '+' ? '-' : text.ptr[i] == '/' ? '_' : text.ptr[i];
    return str_from(out, text.len);
}

/* What base64 has of the secret wherever that begins: the characters that hold nothing else. */
static void add_base64(struct arena *mem, struct mask *m, struct str secret, size_t before)
{
    size_t len = before + secret.len, first = (before * 8 + 5) / 6, last = len * 8 / 6;
    char *bytes = arena_zalloc(mem, len), *text = arena_alloc(mem, base64_encoded_len(len));
    struct str inner;

    memcpy(bytes + before, secret.ptr, secret.len);
    (void)base64_encode(str_from(bytes, len), text);
    if (last < first + INNER_LEN_MIN)
        return;
    inner = str_from(text + first, last - first);
    add_form(mem, m, inner);
    add_form(mem, m, url_alphabet(mem, inner));
}

static void add_hex(struct arena *mem, struct mask *m, struct str secret, bool is_upper)
{
    char *text = arena_alloc(mem, 2 * secret.len);

    if (is_upper)
        hex_write_upper(text, secret.ptr, secret.len);
    else
        hex_write(text, secret.ptr, secret.len);
    add_form(mem, m, str_from(text, 2 * secret.len));
}

static void add_escaped(struct arena *mem, struct mask *m, struct str secret)
{
    struct buf out;

    buf_init_arena(&out, mem);
    json_write_string(&out, secret);
    add_form(mem, m, str_slice(buf_view(&out), 1, out.len - 1));
}

void secret_mask_add(struct arena *mem, struct mask *m, struct str secret)
{
    char *whole;

    if (secret.len < MASK_LEN_MIN)
        return;
    add_form(mem, m, secret);
    add_escaped(mem, m, secret);
    for (int is_upper = 0; is_upper < 2; is_upper++) {
        add_percent(mem, m, secret, "-._~", is_upper, false);
        add_percent(mem, m, secret, "-._~!'()*", is_upper, false);
        add_percent(mem, m, secret, "-._*", is_upper, true);
        add_percent(mem, m, secret, "-._~!$&'()*+,;=:@", is_upper, false);
        add_hex(mem, m, secret, is_upper);
    }
    whole = arena_alloc(mem, base64_encoded_len(secret.len));
    add_form(mem, m, str_from(whole, base64_encode(secret, whole)));
    add_form(mem, m, url_alphabet(mem, str_from(whole, base64_encoded_len(secret.len))));
    for (size_t before = 0; before < 3; before++)
        add_base64(mem, m, secret, before);
}

/* --- hiding --- */

bool secret_mask_finds(const struct mask *m, struct str text)
{
    for (size_t i = 0; i < m->texts.count; i++)
        if (str_find(text, m->texts.items[i], 0) >= 0)
            return true;
    return m->hides_all;
}

struct str secret_mask_text(struct arena *mem, const struct mask *m, struct str text)
{
    return secret_mask_finds(m, text) ? mask_text(mem, m, text) : text;
}

struct str secret_mask_json(struct arena *mem, const struct mask *m, struct str json)
{
    struct value v;
    struct buf out;
    struct err err;

    /* Escapes may stand for anything. */
    if (!secret_mask_finds(m, json) && str_find(json, STR("\\"), 0) < 0)
        return json;
    buf_init_arena(&out, mem);
    if (!json_read(mem, json, &v, &err) || !json_write(&out, mask_value(mem, m, v), &err))
        return STR("null");
    return buf_view(&out);
}
