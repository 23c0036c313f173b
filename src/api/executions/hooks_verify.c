/*
 * hooks_verify.c - who has signed a request to a webhook; see hooks.h.
 *
 *     verify       header                    proof
 *     header       its own                   HMAC-SHA256 of the body, `sha256=` before it or not
 *     github       X-Hub-Signature-256       the same, in hexadecimal
 *     gitlab       X-Gitlab-Token            the secret itself
 *     stripe       Stripe-Signature          t=TIME,v1=HMAC of "TIME.BODY"; several v1 while keys change
 *     slack        X-Slack-Signature         v0=HMAC of "v0:TIME:BODY", the time in a header of its own
 *
 * What is compared is compared in constant time.
 */
#include "api/executions/hooks.h"

#include "base/digest.h"
#include "base/text/ascii.h"
#include "base/text/base64.h"
#include "define/trigger.h"
#include "effect/secret/vault.h"
#include "value/number.h"

#include <openssl/crypto.h>

enum { SIGNATURES_MAX = 8 };
static const int64_t SIGNED_WITHIN_S = 300; /* before now, or behind: clocks differ */

static bool is_same_text(struct str a, struct str b)
{
    return a.len == b.len && CRYPTO_memcmp(a.ptr, b.ptr, a.len) == 0;
}

/* The one header of this name; empty when there is none, or when there are several. */
static struct str only_header(const struct http_request *r, const char *name)
{
    return http_header_count(r, name) == 1 ? str_trim(http_header(r, name)) : STR_NONE;
}

/* Whether a text is the hexadecimal HMAC of a body, in letters of either size. */
static bool is_hex_mac(struct arena *mem, struct str secret, struct str text, struct str given)
{
    return is_same_text(ascii_lower_copy(mem, given), digest_hmac_hex(mem, secret, text));
}

static bool is_base64_mac(struct arena *mem, struct str secret, struct str text, struct str given)
{
    uint8_t mac[DIGEST_LEN];
    char *out = arena_alloc(mem, base64_encoded_len(sizeof(mac)));

    digest_hmac(secret, text, mac);
    return is_same_text(
        given, str_from(out, base64_encode(str_from((const char *)mac, sizeof(mac)), out)));
}

static bool is_recent(struct str seconds, int64_t now_us)
{
    int64_t at = 0;

    return seconds.len <= 12 && number_read_int(seconds, &at) &&
           at >= now_us / 1000000 - SIGNED_WITHIN_S && at <= now_us / 1000000 + SIGNED_WITHIN_S;
}

static bool is_signed_by_header(struct arena *mem, struct str secret, const struct http_request *r,
                                struct value verify)
{
    struct str header = str_copy(mem, value_map_text(verify, STR("header")));
    struct str given = only_header(r, header.ptr);

    if (str_starts_with(given, STR("sha256=")))
        given = str_slice(given, 7, given.len);
    return str_eq(value_map_text(verify, STR("encoding")), STR("base64"))
               ? is_base64_mac(mem, secret, r->body, given)
               : is_hex_mac(mem, secret, r->body, given);
}

/* "t=1492774577,v1=5257...,v1=6ffb...,v0=..." */
static bool is_signed_by_stripe(struct arena *mem, struct str secret, const struct http_request *r,
                                int64_t now_us)
{
    struct str rest = only_header(r, verify_scheme_header(VERIFY_STRIPE)), time = STR_NONE;
    struct str signatures[SIGNATURES_MAX], text;
    size_t count = 0;
    bool ok = false;

    while (rest.len > 0) {
        int64_t comma = str_find(rest, STR(","), 0);
        struct str part = str_trim(comma < 0 ? rest : str_slice(rest, 0, (size_t)comma));

        rest = comma < 0 ? STR_NONE : str_slice(rest, (size_t)comma + 1, rest.len);
        if (str_starts_with(part, STR("t=")) && time.len == 0)
            time = str_slice(part, 2, part.len);
        else if (str_starts_with(part, STR("v1=")) && count < SIGNATURES_MAX)
            signatures[count++] = str_slice(part, 3, part.len);
    }
    if (!is_recent(time, now_us))
        return false;
    text = str_printf(mem, "%.*s.%.*s", STR_ARG(time), STR_ARG(r->body));
    for (size_t i = 0; i < count; i++)
        ok |= is_hex_mac(mem, secret, text, signatures[i]);
    return ok;
}

static bool is_signed_by_slack(struct arena *mem, struct str secret, const struct http_request *r,
                               int64_t now_us)
{
    struct str time = only_header(r, "X-Slack-Request-Timestamp");
    struct str given = only_header(r, verify_scheme_header(VERIFY_SLACK));

    return is_recent(time, now_us) && str_starts_with(given, STR("v0=")) &&
           is_hex_mac(mem, secret, str_printf(mem, "v0:%.*s:%.*s", STR_ARG(time), STR_ARG(r->body)),
                      str_slice(given, 3, given.len));
}

static bool is_signed(struct arena *mem, struct str secret, const struct http_request *r,
                      struct value verify, int64_t now_us)
{
    enum verify_scheme scheme = verify_scheme_find(value_map_text(verify, STR("scheme")));
    struct str given;

    switch (scheme) {
    case VERIFY_BY_HEADER:
        return is_signed_by_header(mem, secret, r, verify);
    case VERIFY_GITHUB:
        given = only_header(r, verify_scheme_header(scheme));
        return str_starts_with(given, STR("sha256=")) &&
               is_hex_mac(mem, secret, r->body, str_slice(given, 7, given.len));
    case VERIFY_GITLAB:
        return is_same_text(only_header(r, verify_scheme_header(scheme)), secret);
    case VERIFY_STRIPE:
        return is_signed_by_stripe(mem, secret, r, now_us);
    case VERIFY_SLACK:
        return is_signed_by_slack(mem, secret, r, now_us);
    case VERIFY_SCHEME_COUNT:
        break;
    }
    return false;
}

bool hook_verify(struct arena *mem, struct vault *vault, const struct http_request *r,
                 struct value spec, int64_t now_us, struct err *err)
{
    struct value verify = value_map_get_str(spec, STR("verify"));
    const struct credential *c;
    bool ok;

    if (verify.kind != VALUE_MAP)
        return true;
    c = vault != NULL ? vault_take(vault, value_map_text(verify, STR("credential"))) : NULL;
    ok = c != NULL && c->is_filled && c->type == CREDENTIAL_HMAC && c->secret.len > 0 &&
         is_signed(mem, c->secret, r, verify, now_us);
    if (c != NULL)
        credential_release(c);
    return ok || err_set(err, ERR_UNAUTHORIZED,
                         "the signature is missing, or it is not that of this body");
}
