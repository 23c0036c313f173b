/* intake_read.c - see intake_read.h. */
#include "node/outside/intake_read.h"

#include "base/text/utf8.h"
#include "define/define.h"
#include "define/program.h"
#include "engine/state.h"
#include "value/json.h"

#include <string.h>

enum { INTAKE_NAME_MAX = 255 }; /* bytes of an id and a type */

#define INTAKE_TTL_US (INT64_C(24) * 3600 * 1000000)
#define INTAKE_TTL_MAX_US (30 * INTAKE_TTL_US)

static bool intake_refuse(struct err *err, const char *why)
{
    return err_set(err, ERR_INVALID, "%s", why);
}

static bool check_id(bool has_id, struct str id, struct err *err)
{
    if (!has_id || id.len == 0)
        return intake_refuse(err, "the property message_id is missing: a message that comes again "
                                  "could not be known");
    if (id.len > INTAKE_NAME_MAX || !utf8_is_valid(id) || memchr(id.ptr, '\0', id.len) != NULL)
        return intake_refuse(err, "message_id is a text of 1 to 255 bytes");
    return true;
}

/* Only what is known, and of its kind. */
static bool check_members(struct value body, bool is_start, struct err *err)
{
    static const struct {
        const char *name;
        bool of_start, of_signal;
        enum value_kind kind; /* ABSENT: any */
    } members[] = {
        {"code", true, true, VALUE_STRING},         {"key", true, true, VALUE_STRING},
        {"input", true, false, VALUE_MAP},          {"type", false, true, VALUE_STRING},
        {"payload", false, true, VALUE_ABSENT},     {"executionId", false, true, VALUE_STRING},
        {"correlation", false, true, VALUE_ABSENT}, {"ttl", false, true, VALUE_STRING},
    };

    for (uint32_t i = 0; i < body.len; i++) {
        struct str name = value_text(body.map->entries[i].key);
        struct value v = body.map->entries[i].value;
        size_t k = 0;

        while (k < ARRAY_SIZE(members) && !str_eq(name, str_of(members[k].name)))
            k++;
        if (k == ARRAY_SIZE(members) || !(is_start ? members[k].of_start : members[k].of_signal))
            return is_start ? err_set(err, ERR_INVALID,
                                      "'%.*s' is no member of a start: {code, input, key}",
                                      STR_ARG(name))
                            : err_set(err, ERR_INVALID,
                                      "'%.*s' is no member of a signal: {executionId or key and "
                                      "code or correlation, type, payload, ttl}",
                                      STR_ARG(name));
        if (members[k].kind == VALUE_ABSENT || v.kind == members[k].kind || v.kind == VALUE_NULL)
            continue;
        return members[k].kind == VALUE_MAP
                   ? err_set(err, ERR_INVALID, "'%.*s' must be an object", STR_ARG(name))
                   : err_set(err, ERR_INVALID, "'%.*s' must be a text", STR_ARG(name));
    }
    return true;
}

static bool read_start(struct value body, struct intake_message *out, struct err *err)
{
    struct value input = value_map_get_str(body, STR("input"));

    out->kind = INTAKE_START;
    if (out->code.len == 0)
        return intake_refuse(err, "it has neither 'type', as a signal, nor 'code', as a start");
    if (out->key.len > 0 && state_key_mistake(out->key) != NULL)
        return intake_refuse(err, state_key_mistake(out->key));
    out->input = input.kind == VALUE_MAP ? input : value_map_empty();
    return true;
}

static bool read_correlation(struct arena *mem, struct value body, struct value correlation,
                             struct intake_message *out, struct err *err)
{
    struct value ttl = value_map_get_str(body, STR("ttl"));

    out->kind = INTAKE_CORRELATED;
    if (!define_correlation(mem, correlation, &out->correlation))
        return intake_refuse(err, "'correlation' is an integer or a text of 1 to 500 bytes");
    if (ttl.kind == VALUE_STRING && (!define_duration_us(ttl, &out->ttl_us) || out->ttl_us <= 0 ||
                                     out->ttl_us > INTAKE_TTL_MAX_US))
        return intake_refuse(err, "'ttl' is a duration such as 30s or 7d, at most 30d");
    return true;
}

static bool intake_read_signal(struct arena *mem, struct value body, struct intake_message *out,
                               struct err *err)
{
    struct str execution = value_map_text(body, STR("executionId"));
    struct value correlation = value_map_get_str(body, STR("correlation"));
    bool is_correlated = correlation.kind != VALUE_ABSENT && correlation.kind != VALUE_NULL;

    if (out->type.len == 0 || out->type.len > INTAKE_NAME_MAX)
        return intake_refuse(err, "'type' has from 1 to 255 bytes");
    if ((execution.len > 0) + (out->key.len > 0) + is_correlated != 1)
        return intake_refuse(
            err, "one of 'executionId', 'key' and 'correlation' says whose signal it is");
    if (is_correlated)
        return read_correlation(mem, body, correlation, out, err);
    out->kind = execution.len > 0 ? INTAKE_SIGNAL : INTAKE_BY_KEY;
    if (out->kind == INTAKE_SIGNAL && !uuid_read(execution, &out->execution))
        return intake_refuse(err, "'executionId' is no id");
    if (out->key.len > BUSINESS_KEY_MAX)
        return intake_refuse(err, "'key' has from 1 to 255 bytes");
    return true;
}

bool intake_read(struct arena *mem, bool has_id, struct str id, struct str body, uint64_t size,
                 struct intake_message *out, struct err *err)
{
    struct value v, payload;
    bool is_start;

    *out = (struct intake_message){.ttl_us = INTAKE_TTL_US};
    if (!check_id(has_id, id, err))
        return false;
    if (size > INTAKE_BODY_MAX || body.len != size)
        return err_set(err, ERR_TOO_LARGE, "the body has %llu bytes; at most %d are taken",
                       (unsigned long long)size, INTAKE_BODY_MAX);
    if (!json_read(mem, body, &v, err))
        return false;
    if (v.kind != VALUE_MAP)
        return intake_refuse(err, "the body must be a JSON object");
    is_start = value_map_get_str(v, STR("type")).kind == VALUE_ABSENT;
    if (!check_members(v, is_start, err))
        return false;
    out->code = value_map_text(v, STR("code"));
    out->key = value_map_text(v, STR("key"));
    out->type = value_map_text(v, STR("type"));
    payload = value_map_get_str(v, STR("payload"));
    out->payload = payload.kind == VALUE_ABSENT ? value_null() : payload;
    return is_start ? read_start(v, out, err) : intake_read_signal(mem, v, out, err);
}
