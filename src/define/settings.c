/* settings.c - `settings` of a scenario. */
#include "define/compile.h"

static const struct field_spec settings_fields[] = {
    {"timeout", STATE_NOW},       {"retryPolicy", STATE_NOW},   {"key", STATE_NOW},
    {"onKeyConflict", STATE_NOW}, {"concurrency", STATE_LATER}, {"rate", STATE_LATER},
    {"priority", STATE_LATER},
};

static const struct field_spec retry_fields[] = {
    {"maxAttempts", STATE_NOW}, {"delay", STATE_NOW},  {"backoff", STATE_NOW},
    {"maxDelay", STATE_NOW},    {"jitter", STATE_NOW}, {"on", STATE_NOW},
    {"notOn", STATE_NOW},
};

enum { ATTEMPTS_MAX = 1000 };

static void read_duration(struct compiler *c, struct value object, const char *name,
                          int64_t *out_us)
{
    struct value v = compile_field(object, name);
    size_t outer = compile_enter(c, str_of(name));

    if (v.kind != VALUE_ABSENT)
        (void)compile_duration(c, v, out_us);
    compile_leave(c, outer);
}

static const struct str *read_texts(struct compiler *c, struct value object, const char *name,
                                    uint32_t *count)
{
    struct value v = compile_field(object, name);
    size_t outer = compile_enter(c, str_of(name));
    struct str *texts = NULL;

    *count = 0;
    if (v.kind == VALUE_LIST)
        texts = ARENA_ARRAY(c->mem, v.len, struct str);
    else if (v.kind != VALUE_ABSENT)
        compile_wrong_type(c, v, "a list of error codes");
    for (uint32_t i = 0; v.kind == VALUE_LIST && i < v.len; i++) {
        size_t inner = compile_enter_index(c, i);
        if (v.items[i].kind != VALUE_STRING)
            compile_wrong_type(c, v.items[i], "a text");
        else
            texts[(*count)++] = value_text(v.items[i]);
        compile_leave(c, inner);
    }
    compile_leave(c, outer);
    return texts;
}

static void read_attempts(struct compiler *c, struct value policy, struct retry *retry)
{
    struct value v = compile_field(policy, "maxAttempts");
    size_t outer = compile_enter(c, STR("maxAttempts"));

    if (v.kind != VALUE_ABSENT && v.kind != VALUE_INT)
        compile_wrong_type(c, v, "a whole number");
    else if (v.kind == VALUE_INT && (v.i < 1 || v.i > ATTEMPTS_MAX))
        compile_error(c, FINDING_BAD_VALUE, "maxAttempts lies between 1 and %d", ATTEMPTS_MAX);
    else if (v.kind == VALUE_INT)
        retry->max_attempts = (uint32_t)v.i;
    compile_leave(c, outer);
}

static void read_backoff(struct compiler *c, struct value policy, struct retry *retry)
{
    struct value v = compile_field(policy, "backoff");
    size_t outer = compile_enter(c, STR("backoff"));

    if (v.kind != VALUE_ABSENT && v.kind != VALUE_INT && v.kind != VALUE_DOUBLE)
        compile_wrong_type(c, v, "a number");
    else if (v.kind != VALUE_ABSENT && value_compare(v, value_int(1)) < 0)
        compile_error(c, FINDING_BAD_VALUE, "backoff is at least 1");
    else if (v.kind != VALUE_ABSENT)
        retry->backoff = v.kind == VALUE_INT ? (double)v.i : v.d;
    compile_leave(c, outer);
}

static void compile_retry_policy(struct compiler *c, struct value policy, struct program *p)
{
    size_t outer = compile_enter(c, STR("retryPolicy"));
    struct retry *r = &p->retry;

    p->retry_is_written = true;
    if (compile_fields(c, policy, retry_fields, sizeof(retry_fields) / sizeof(retry_fields[0]))) {
        read_attempts(c, policy, r);
        read_duration(c, policy, "delay", &r->delay_us);
        read_backoff(c, policy, r);
        read_duration(c, policy, "maxDelay", &r->max_delay_us);
        r->has_jitter = compile_word(c, policy, "jitter", "full none") != 1;
        r->on = read_texts(c, policy, "on", &r->on_count);
        r->not_on = read_texts(c, policy, "notOn", &r->not_on_count);
    }
    compile_leave(c, outer);
}

static void compile_timeout(struct compiler *c, struct value v, struct program *p)
{
    size_t outer = compile_enter(c, STR("timeout"));
    int64_t us;

    if (compile_duration(c, v, &us)) {
        if (us == 0)
            compile_error(c, FINDING_BAD_DURATION, "a timeout of no time would fail at once");
        p->timeout_us = us;
    }
    compile_leave(c, outer);
}

static void compile_key(struct compiler *c, struct value v, struct program *p)
{
    size_t outer = compile_enter(c, STR("key"));

    if (v.kind == VALUE_STRING)
        p->key = compile_mapping(c, v);
    else
        compile_wrong_type(c, v, "a text");
    compile_leave(c, outer);
}

void compile_settings(struct compiler *c, struct value settings, struct program *p)
{
    size_t outer = compile_enter(c, STR("settings"));
    struct value v;

    if (compile_fields(c, settings, settings_fields,
                       sizeof(settings_fields) / sizeof(settings_fields[0]))) {
        v = compile_field(settings, "timeout");
        if (v.kind != VALUE_ABSENT)
            compile_timeout(c, v, p);
        v = compile_field(settings, "retryPolicy");
        if (v.kind != VALUE_ABSENT)
            compile_retry_policy(c, v, p);
        v = compile_field(settings, "key");
        if (v.kind != VALUE_ABSENT)
            compile_key(c, v, p);
        p->joins_by_key = compile_word(c, settings, "onKeyConflict", "reject join") == 1;
    }
    compile_leave(c, outer);
}
