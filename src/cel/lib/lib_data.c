/* lib_data.c - values as JSON and back, maps together, digests. */
#include "cel/lib/lib.h"

#include "base/buf.h"
#include "base/digest.h"
#include "base/text/base64.h"
#include "value/json.h"

/* --- JSON --- */

struct value cel_fn_json_encode(struct cel_eval *ev, const struct value *args)
{
    struct buf json;
    struct err err;

    buf_init_arena(&json, ev->mem);
    json.limit = ev->mem_left / 2;
    if (!json_write(&json, args[0], &err))
        return err.code == ERR_TOO_LARGE ? cel_over_memory(ev) : cel_fail(ev, "%pS", ERR_ARG(&err));
    if (json.len > VALUE_LEN_MAX)
        return cel_over_memory(ev);
    ev->mem_left -= json.len * 2;
    return cel_charge_bytes(ev, json.len) ? value_string(buf_view(&json)) : cel_over_cost(ev);
}

struct value cel_fn_json_parse(struct cel_eval *ev, const struct value *args)
{
    /* "[[[" takes most: a list for each byte, while it is read and afterwards. */
    enum { BYTES_PER_BYTE = 64, COST_PER_BYTE = 4 };
    size_t bytes = (size_t)args[0].len * BYTES_PER_BYTE + 1024;
    struct value out;
    struct err err;

    if (!cel_charge_bytes(ev, (size_t)args[0].len * COST_PER_BYTE))
        return cel_over_cost(ev);
    if (bytes > ev->mem_left)
        return cel_over_memory(ev);
    ev->mem_left -= bytes;
    if (!json_read(ev->mem, value_text(args[0]), &out, &err))
        return cel_fail(ev, "the text is no JSON: line %u, column %u: %pS", err.line, err.column,
                        ERR_ARG(&err));
    return out;
}

/* --- maps --- */

struct value cel_fn_map_merge(struct cel_eval *ev, const struct value *args)
{
    size_t most = (size_t)args[0].len + args[1].len, count = 0, duplicate;
    struct value_entry *entries;

    /* A large map has an index of at most 12 bytes an entry beside its entries. */
    if (!cel_charge(ev, most + 1))
        return cel_over_cost(ev);
    if (most > VALUE_LEN_MAX / 2 || most * 12 + 256 > ev->mem_left)
        return cel_over_memory(ev);
    ev->mem_left -= most * 12 + 256;
    entries = cel_alloc(ev, (most + 1) * sizeof(*entries));
    if (entries == NULL)
        return cel_over_memory(ev);
    for (uint32_t i = 0; i < args[0].len; i++) {
        struct value_entry e = args[0].map->entries[i];
        struct value other = value_map_get(args[1], e.key);

        if (other.kind != VALUE_ABSENT)
            e.value = other;
        entries[count++] = e;
    }
    for (uint32_t i = 0; i < args[1].len; i++)
        if (value_map_get(args[0], args[1].map->entries[i].key).kind == VALUE_ABSENT)
            entries[count++] = args[1].map->entries[i];
    return value_map_make(ev->mem, entries, count, &duplicate);
}

/* --- digests --- */

/* SHA-256 looks at each byte more closely than a comparison does. */
static bool charge_digest(struct cel_eval *ev, size_t bytes)
{
    return cel_charge_bytes(ev, bytes * 8 + 1024);
}

static struct value digest_as_hex(struct cel_eval *ev, const uint8_t digest[DIGEST_LEN])
{
    static const char digits[] = "0123456789abcdef";
    char *out = cel_alloc_text(ev, DIGEST_HEX_LEN);

    if (out == NULL)
        return cel_over_memory(ev);
    for (size_t i = 0; i < DIGEST_LEN; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    return value_string(str_from(out, DIGEST_HEX_LEN));
}

static struct value digest_as_base64(struct cel_eval *ev, const uint8_t digest[DIGEST_LEN])
{
    char *out = cel_alloc_text(ev, base64_encoded_len(DIGEST_LEN));

    if (out == NULL)
        return cel_over_memory(ev);
    return value_string(
        str_from(out, base64_encode(str_from((const char *)digest, DIGEST_LEN), out)));
}

struct value cel_fn_hash_sha256(struct cel_eval *ev, const struct value *args)
{
    uint8_t digest[DIGEST_LEN];

    if (!charge_digest(ev, args[0].len))
        return cel_over_cost(ev);
    digest_sha256(value_text(args[0]), digest);
    return digest_as_hex(ev, digest);
}

struct value cel_fn_hash_sha256_base64(struct cel_eval *ev, const struct value *args)
{
    uint8_t digest[DIGEST_LEN];

    if (!charge_digest(ev, args[0].len))
        return cel_over_cost(ev);
    digest_sha256(value_text(args[0]), digest);
    return digest_as_base64(ev, digest);
}

struct value cel_fn_hash_hmac(struct cel_eval *ev, const struct value *args)
{
    uint8_t digest[DIGEST_LEN];

    if (!charge_digest(ev, (size_t)args[0].len + args[1].len))
        return cel_over_cost(ev);
    digest_hmac(value_text(args[1]), value_text(args[0]), digest);
    return digest_as_hex(ev, digest);
}

struct value cel_fn_hash_hmac_base64(struct cel_eval *ev, const struct value *args)
{
    uint8_t digest[DIGEST_LEN];

    if (!charge_digest(ev, (size_t)args[0].len + args[1].len))
        return cel_over_cost(ev);
    digest_hmac(value_text(args[1]), value_text(args[0]), digest);
    return digest_as_base64(ev, digest);
}
