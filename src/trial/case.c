/* case.c - reading declarative tests; see case.h. */
#include "trial/case.h"

#include "value/timefmt.h"

static struct value member(struct value map, const char *name)
{
    return map.kind == VALUE_MAP ? value_map_get_str(map, str_of(name)) : value_absent();
}

/* Whether every member of `map` is one of the words. */
static bool knows(struct value map, const char *words, struct err *err)
{
    struct str all = str_of(words);

    for (uint32_t i = 0; i < map.len; i++) {
        struct str name = value_text(map.map->entries[i].key);
        bool known = false;

        for (size_t at = 0; at < all.len && !known;) {
            size_t end = at;
            while (end < all.len && all.ptr[end] != ' ')
                end++;
            known = str_eq(str_slice(all, at, end), name);
            at = end + 1;
        }
        if (!known)
            return err_set(err, ERR_INVALID, "there is no field '%.*s' here; there are: %s",
                           STR_ARG(name), words);
    }
    return true;
}

static bool is_kind(struct value v, enum value_kind kind)
{
    return v.kind == VALUE_ABSENT || v.kind == (uint8_t)kind;
}

static bool read_text(struct value map, const char *name, struct str *out, struct err *err)
{
    struct value v = member(map, name);

    *out = v.kind == VALUE_STRING ? value_text(v) : STR_NONE;
    return is_kind(v, VALUE_STRING) || err_set(err, ERR_INVALID, "'%s' must be a string", name);
}

static bool read_after(struct value map, bool *has_time, int64_t *out, struct err *err)
{
    struct value v = member(map, "after");

    *has_time = v.kind != VALUE_ABSENT;
    return !*has_time || (define_duration_us(v, out) && *out >= 0) ||
           err_set(err, ERR_INVALID, "'after' must be a duration such as \"30s\" or \"7d\"");
}

/* --- signals --- */

static bool read_signal(struct value v, struct trial_signal *out, struct err *err)
{
    if (v.kind != VALUE_MAP || member(v, "type").kind != VALUE_STRING)
        return err_set(err, ERR_INVALID,
                       "a signal is {\"type\", \"payload\"?, \"after\"?, \"by\"?}");
    if (!knows(v, "type payload after by", err))
        return false;
    *out = (struct trial_signal){.type = value_text(member(v, "type")),
                                 .payload = member(v, "payload"),
                                 .by = member(v, "by")};
    if (!is_kind(out->by, VALUE_MAP))
        return err_set(err, ERR_INVALID, "'by' must be an object");
    return read_after(v, &out->has_time, &out->after_us, err);
}

/* A list of signals; or, in short, {type: payload, or a list of them}. */
static bool read_signals(struct arena *mem, struct value v, struct trial_signals *out,
                         struct err *err)
{
    if (v.kind == VALUE_ABSENT)
        return true;
    if (v.kind != VALUE_LIST && v.kind != VALUE_MAP)
        return err_set(err, ERR_INVALID, "'signals' must be a list");
    for (uint32_t i = 0; v.kind == VALUE_LIST && i < v.len; i++)
        if (!read_signal(v.items[i], VEC_ADD(mem, out), err))
            return false;
    for (uint32_t i = 0; v.kind == VALUE_MAP && i < v.len; i++) {
        struct str type = value_text(v.map->entries[i].key);
        struct value payload = v.map->entries[i].value;
        uint32_t count = payload.kind == VALUE_LIST ? payload.len : 1;

        for (uint32_t k = 0; k < count; k++)
            *VEC_ADD(mem, out) = (struct trial_signal){
                .type = type, .payload = payload.kind == VALUE_LIST ? payload.items[k] : payload};
    }
    return true;
}

/* --- records: {object: {id: data}} --- */

static bool read_records(struct arena *mem, struct value v, struct record_reads *out,
                         struct err *err)
{
    if (v.kind == VALUE_ABSENT)
        return true;
    for (uint32_t i = 0; v.kind == VALUE_MAP && i < v.len; i++) {
        struct value of = v.map->entries[i].value;

        for (uint32_t k = 0; of.kind == VALUE_MAP && k < of.len; k++) {
            if (of.map->entries[k].value.kind != VALUE_MAP)
                return err_set(err, ERR_INVALID, "a record is an object");
            *VEC_ADD(mem, out) = (struct record_read){.object = value_text(v.map->entries[i].key),
                                                      .id = value_text(of.map->entries[k].key),
                                                      .version = 1,
                                                      .data = of.map->entries[k].value};
        }
        if (of.kind != VALUE_MAP)
            return err_set(err, ERR_INVALID, "'records' is {object: {id: data}}");
    }
    return v.kind == VALUE_MAP || err_set(err, ERR_INVALID, "'records' is {object: {id: data}}");
}

/* --- one case --- */

static bool read_mocks(struct arena *mem, struct value v, struct trial_script *out, struct err *err)
{
    if (v.kind == VALUE_ABSENT)
        return true;
    if (v.kind != VALUE_MAP)
        return err_set(err, ERR_INVALID, "'mocks' must be an object");
    if (!knows(v, "procedures signals", err))
        return false;
    out->procedures = member(v, "procedures");
    if (!is_kind(out->procedures, VALUE_MAP))
        return err_set(err, ERR_INVALID, "'mocks.procedures' must be an object");
    return read_signals(mem, member(v, "signals"), &out->signals, err);
}

static bool read_now(struct value v, int64_t *out, struct err *err)
{
    struct value at;

    if (v.kind == VALUE_ABSENT)
        return true;
    if (v.kind != VALUE_STRING ||
        (!timestamp_read(value_text(v), &at) && !timestamp_read_date(value_text(v), &at)) ||
        at.seconds < 1)
        return err_set(err, ERR_INVALID, "'now' must be a time such as \"2026-01-31T09:00:00Z\"");
    *out = at.seconds * 1000000 + at.nanos / 1000;
    return true;
}

static bool read_cancel(struct value v, struct trial_script *out, struct err *err)
{
    if (v.kind == VALUE_ABSENT)
        return true;
    if (v.kind != VALUE_MAP || !knows(v, "after", err))
        return err_set(err, ERR_INVALID, "'cancel' is {\"after\": duration}");
    out->has_cancel = true;
    if (member(v, "after").kind == VALUE_ABSENT)
        return true;
    return read_after(v, &out->has_cancel, &out->cancel_after_us, err);
}

static bool read_process(struct value v, struct trial_case *out, struct err *err)
{
    struct value scenario = member(v, "scenario");

    if (scenario.kind == VALUE_MAP)
        out->definition = scenario;
    else if (!read_text(v, "scenario", &out->scenario, err))
        return false;
    if (!read_text(v, "procedure", &out->procedure, err))
        return false;
    if ((scenario.kind != VALUE_ABSENT) == (out->procedure.len > 0))
        return err_set(err, ERR_INVALID, "a case names a 'scenario' or a 'procedure'");
    return true;
}

bool case_read(struct arena *mem, struct value v, struct trial_case *out, struct err *err)
{
    struct trial_script *script = &out->script;

    *out = (struct trial_case){.definition = value_absent()};
    if (v.kind != VALUE_MAP)
        return err_set(err, ERR_INVALID, "a case is an object");
    if (!knows(v,
               "name description scenario procedure input key user config records mocks signals "
               "cancel now expect",
               err) ||
        !read_text(v, "name", &out->name, err) || !read_process(v, out, err) ||
        !read_text(v, "key", &script->key, err))
        return false;
    script->input = member(v, "input");
    if (script->input.kind == VALUE_ABSENT)
        script->input = value_map_empty();
    script->user = member(v, "user");
    script->config = member(v, "config");
    out->expect = member(v, "expect");
    if (!is_kind(script->user, VALUE_MAP) || !is_kind(script->config, VALUE_MAP))
        return err_set(err, ERR_INVALID, "'user' and 'config' must be objects");
    if (out->expect.kind != VALUE_MAP)
        return err_set(err, ERR_INVALID, "a case says in 'expect' what must come of it");
    if (!knows(out->expect,
               "status result error waitingFor steps commands context records logs duration", err))
        return false;
    if (out->name.len == 0)
        out->name = out->scenario.len > 0 ? out->scenario : out->procedure;
    return read_mocks(mem, member(v, "mocks"), script, err) &&
           read_signals(mem, member(v, "signals"), &script->signals, err) &&
           read_records(mem, member(v, "records"), &script->records, err) &&
           read_cancel(member(v, "cancel"), script, err) &&
           read_now(member(v, "now"), &script->now_us, err);
}
