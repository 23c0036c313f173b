/* execution_new.c - a new execution, before its first event; see state.h. */
#include "base/buf.h"
#include "cel/cel.h"
#include "define/define.h"
#include "define/program.h"
#include "engine/state.h"
#include "value/json.h"

static bool write_webhook(struct arena *mem, struct execution *x, struct value webhook,
                          struct err *err)
{
    struct buf json;

    buf_init_arena(&json, mem);
    if (!json_write(&json, webhook, err))
        return false;
    x->webhook_json = buf_view(&json);
    return json_read(mem, x->webhook_json, &x->webhook, err);
}

/* It is debugged; without breakpoints, step by step. */
static bool new_debug(struct arena *mem, struct execution *x, const struct execution_new *from,
                      struct err *err)
{
    bool has_breakpoints = from->breakpoints.kind == VALUE_LIST;
    struct debug *d;
    struct buf json;

    if (!from->is_debugged && !has_breakpoints)
        return true;
    d = ARENA_NEW(mem, struct debug);
    d->until = from->is_debugged ? DEBUG_STEP : DEBUG_END;
    if (has_breakpoints && from->breakpoints.len > 0) {
        buf_init_arena(&json, mem);
        if (!json_write(&json, from->breakpoints, err))
            return false;
        d->breakpoints_json = buf_view(&json);
    }
    x->debug = d;
    return true;
}

bool execution_new(struct arena *mem, const struct program *program,
                   const struct execution_new *from, struct execution **out, struct err *err)
{
    struct execution *x = ARENA_NEW(mem, struct execution);
    struct buf json;

    buf_init_arena(&json, mem);
    if (!json_write(&json, from->input, err))
        return false;
    if (from->webhook.kind == VALUE_MAP && !write_webhook(mem, x, from->webhook, err))
        return false;
    if (json.len + x->webhook_json.len > CONTEXT_BYTES_MAX)
        return err_set(err, ERR_TOO_LARGE, "what it is started with is larger than %d bytes",
                       CONTEXT_BYTES_MAX);
    x->id = from->id;
    x->program = program;
    x->key = str_copy(mem, from->key);
    x->org_id = str_copy(mem, from->org_id);
    x->user_json = str_copy(mem, from->user_json);
    x->trace = str_copy(mem, from->trace);
    x->chain = str_copy(mem, from->chain);
    x->created_at_us = x->updated_at_us = from->now_us;
    x->deadline_at_us = program->timeout_us > 0 ? from->now_us + program->timeout_us : 0;
    x->input_json = buf_view(&json);
    if (!json_read(mem, x->input_json, &x->input, err))
        return false;
    x->has_again_of = from->has_again_of;
    x->again_of = from->again_of;
    x->status = STATUS_PENDING;
    x->steps = arena_zalloc(mem, (program->step_count + 1u) * sizeof(*x->steps));
    x->variables = value_map_empty();
    if (!new_debug(mem, x, from, err))
        return false;
    x->record = str_copy(mem, from->record);
    x->context_bytes = x->input_json.len + x->webhook_json.len;
    *out = x;
    return true;
}

static bool evaluate_key(struct arena *mem, const struct program *program, struct value input,
                         struct value webhook, struct value user, struct value config,
                         int64_t now_us, struct str *out, struct err *err)
{
    struct value slots[ROOT_COUNT];
    struct cel_activation activation = {.slots = slots, .now_us = now_us};
    struct value v;

    for (unsigned i = 0; i < ROOT_COUNT; i++)
        slots[i] = value_absent();
    slots[ROOT_CONFIG] = config;
    slots[ROOT_INPUT] = input;
    slots[ROOT_META] = program->meta;
    slots[ROOT_USER] = user;
    slots[ROOT_WEBHOOK] = webhook;
    v = mapping_evaluate(mem, program->key, &activation);
    if (v.kind == VALUE_INT)
        *out = str_printf(mem, "%lld", (long long)v.i);
    else if (v.kind == VALUE_STRING && v.len > 0)
        *out = value_text(v);
    else
        return err_set(
            err, ERR_INVALID, "settings.key gives no text: %pS",
            SENTENCE_ARG(v.kind == VALUE_ERROR ? value_sentence(v)
                         : v.kind == VALUE_STRING
                             ? SENTENCE("an empty one")
                             : sentence_of(str_of(value_kind_name((enum value_kind)v.kind)))));
    return true;
}

const char *state_key_mistake(struct str key)
{
    if (key.len == 0 || key.len > BUSINESS_KEY_MAX)
        return PHRASE("a key has from 1 to 255 bytes");
    if (str_trim(key).len < key.len)
        return PHRASE("a key neither begins nor ends with a blank");
    for (size_t i = 0; i < key.len; i++) {
        unsigned char c = (unsigned char)key.ptr[i];
        /* U+0080 to U+009F are two bytes. */
        bool is_c1 = c == 0xc2 && i + 1 < key.len && (unsigned char)key.ptr[i + 1] < 0xa0;

        if (c < 0x20 || c == 0x7f || is_c1)
            return PHRASE("a key holds no control characters");
    }
    return NULL;
}

bool state_key(struct arena *mem, const struct program *program, struct str given,
               struct value input, struct value webhook, struct value user, struct value config,
               int64_t now_us, struct str *out, struct err *err)
{
    const char *mistake;

    *out = given;
    if (given.len == 0 && program->key != NULL &&
        !evaluate_key(mem, program, input, webhook, user, config, now_us, out, err))
        return false;
    mistake = out->len > 0 ? state_key_mistake(*out) : NULL;
    return mistake == NULL || err_set(err, ERR_INVALID, "%s", mistake);
}
