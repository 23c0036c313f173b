/*
 * fuzz_hook.c - any request to a webhook: head, body, and whether it was signed.
 *
 * The first byte chooses what the trigger demands as a signature, the rest is the request as it comes
 * over the wire. Claims: what is taken is a value that can be stored; what an execution keeps of it has
 * no header whose name says that it lets somebody in; a body is taken for signed only with the MAC of
 * that body.
 */
#include "api/executions/hooks.h"
#include "base/text/ascii.h"
#include "effect/secret/vault.h"
#include "fuzz/bench.h"
#include "http/http_inner.h"
#include "value/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What triggers may demand; the last ones are damaged. */
#define FUZZ_NOW_US (INT64_C(1531420618) * 1000000)

static const char *const demands[] = {
    "{}",
    "{\"verify\":{\"credential\":\"shop\",\"header\":\"x-signature\"}}",
    "{\"verify\":{\"credential\":\"shop\",\"header\":\"X-Signature\",\"encoding\":\"base64\"}}",
    "{\"verify\":{\"credential\":\"shop\",\"scheme\":\"github\"}}",
    "{\"verify\":{\"credential\":\"shop\",\"scheme\":\"stripe\"}}",
    "{\"verify\":{\"credential\":\"shop\",\"scheme\":\"slack\"}}",
    "{\"verify\":{\"credential\":\"shop\",\"scheme\":\"none\"}}",
    "{\"verify\":{\"credential\":\"gone\",\"header\":\"x-signature\"}}",
    "{\"verify\":{\"credential\":7,\"header\":[],\"encoding\":{}}}",
    "{\"verify\":{}}",
};

/* A vault with one credential, made once; its key is in no file afterwards. */
static struct vault *shop_vault(struct arena *mem)
{
    static char path[] = P_tmpdir "/pawl-fuzz-key-XXXXXX";
    static struct vault *vault;
    struct sealed_definitions none = {0};
    struct value shown, secret;
    struct err err;
    int fd;

    if (vault != NULL)
        return vault;
    fd = mkstemp(path);
    ASSERT(fd >= 0 && unlink(path) == 0);
    close(fd);
    vault = vault_new(path);
    ASSERT(vault_start(vault, &none, &none, STR_NONE, &err));
    ASSERT(json_read(mem, STR("{\"type\":\"hmac\"}"), &shown, &err));
    ASSERT(json_read(mem, STR("{\"secret\":\"s\"}"), &secret, &err));
    vault_put(vault, STR("shop"), 1,
              vault_seal(vault, mem, STR("credential"), STR("shop"), shown, secret));
    unlink(path);
    return vault;
}

/* A body that nobody signed, and one that the input could not have foreseen. */
static void check_signed(struct arena *mem, const struct exchange *x, struct value spec)
{
    struct exchange other = *x;
    struct err err;

    if (value_map_get_str(spec, STR("verify")).kind != VALUE_MAP)
        return;
    other.request.body = str_printf(mem, "%.*s.", STR_ARG(x->request.body));
    ASSERT(!hook_verify(mem, shop_vault(mem), &other.request, spec, FUZZ_NOW_US, &err));
}

static void check_kept(struct arena *mem, struct value webhook)
{
    struct value kept = hook_kept(mem, webhook, STR("X-Forwarded-Email")), again;
    struct value headers = value_map_get_str(kept, STR("headers"));
    struct err err;

    for (uint32_t i = 0; i < headers.len; i++) {
        struct str name = value_text(headers.map->entries[i].key);

        ASSERT(!hook_is_secret(name) && !str_eq(name, STR("x-forwarded-email")));
        ASSERT(str_eq(name, ascii_lower_copy(mem, name)));
    }
    ASSERT(json_read(mem, json_must_text(mem, kept), &again, &err));
}

static void try_request(struct arena *mem, struct str text, struct value spec)
{
    struct http_head head;
    struct exchange x = {0};
    struct value webhook;
    struct err err = {0};

    if (http_parse_head(text, &head) != HTTP_PARSE_DONE)
        return;
    x.head = text.ptr;
    x.fields = head.fields;
    x.field_count = head.field_count;
    x.query = http_span_str(text.ptr, head.query);
    x.request = (struct http_request){.mem = mem,
                                      .method = http_span_str(text.ptr, head.method),
                                      .path = http_span_str(text.ptr, head.path),
                                      .body = str_slice(text, head.bytes, text.len)};
    if (hook_verify(mem, shop_vault(mem), &x.request, spec, FUZZ_NOW_US, &err))
        check_signed(mem, &x, spec);
    if (hook_request(mem, &x.request, STR("shop/orders"), &webhook, &err))
        check_kept(mem, webhook);
    else
        ASSERT(err.code == ERR_BAD_REQUEST || err.code == ERR_INVALID);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bench_bytes b = {data, size};
    uint8_t demand = bench_byte(&b);
    struct arena mem;
    struct value spec;
    struct err err;

    arena_init(&mem);
    ASSERT(json_read(&mem, str_of(demands[demand % ARRAY_SIZE(demands)]), &spec, &err));
    try_request(&mem, str_from((const char *)b.at, b.left), spec);
    arena_fini(&mem);
    return 0;
}
