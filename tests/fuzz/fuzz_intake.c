/*
 * fuzz_intake.c - any message of the queue pawl.signals.
 *
 * The first byte says whether there is a message_id and whether the body was cut, the second how long
 * the id is; then follow id and body. Claims: what is taken has a known id and says of one execution,
 * key, correlation or process what is to happen, with values that can be stored; what is not has a
 * reason that can be said; and a body that is a map becomes headers, or is too large for them.
 */
#include "base/text/utf8.h"
#include "effect/broker/headers.h"
#include "node/outside/intake_read.h"
#include "value/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_taken(struct arena *mem, const struct intake_message *m, struct str id)
{
    bool is_start = m->kind == INTAKE_START;

    ASSERT(id.len > 0 && id.len <= 255 && utf8_is_valid(id));
    ASSERT(is_start ? m->code.len > 0 && m->input.kind == VALUE_MAP : m->type.len > 0);
    ASSERT(m->kind != INTAKE_BY_KEY || m->key.len > 0);
    ASSERT(m->kind != INTAKE_CORRELATED || (m->correlation.len > 0 && m->ttl_us > 0));
    (void)json_must_text(mem, is_start ? m->input : m->payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena mem;
    struct intake_message m;
    struct value v;
    amqp_table_t headers;
    struct err err;
    struct str id, body;
    size_t id_len;

    if (size < 2)
        return 0;
    id_len = data[1] < size - 2 ? data[1] : size - 2;
    id = str_from((const char *)data + 2, id_len);
    body = str_from((const char *)data + 2 + id_len, size - 2 - id_len);
    arena_init(&mem);
    if (intake_read(&mem, (data[0] & 1) == 0, id, body, body.len + (data[0] & 2), &m, &err)) {
        ASSERT((data[0] & 3) == 0);
        check_taken(&mem, &m, id);
    } else {
        ASSERT(utf8_is_valid(str_of(err.message)) && err.message[0] != '\0');
    }
    if (json_read(&mem, body, &v, &err))
        (void)headers_of(&mem, v, &headers);
    arena_fini(&mem);
    return 0;
}
