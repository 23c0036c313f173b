/* retry.c - how failures are tried again: the policy of a scenario, a step or a command. */
#include "define/compile/compile.h"
#include "define/compile/scenario.h"

const struct retry retry_default = {
    .max_attempts = 3,
    .delay_us = INT64_C(5) * 1000000,
    .backoff = 2,
    .max_delay_us = INT64_C(3600) * 1000000,
    .has_jitter = true,
};

const struct retry retry_of_rollbacks = {
    .max_attempts = 12,
    .delay_us = INT64_C(5) * 1000000,
    .backoff = 2,
    .max_delay_us = INT64_C(3600) * 1000000,
    .has_jitter = true,
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

/* What an error may be called: a code, "prefix_*", or a class. */
static bool is_error_pattern(struct str text)
{
    int64_t star = str_find(text, STR("*"), 0);

    return text.len > 0 && str_find(text, STR(" "), 0) < 0 &&
           (star < 0 || (star > 0 && (size_t)star == text.len - 1));
}

static void read_texts(struct compiler *c, struct value object, const char *name,
                       const struct str **out, uint32_t *count)
{
    struct value v = compile_field(object, name);
    size_t outer = compile_enter(c, str_of(name));
    struct str *texts = NULL;

    if (v.kind == VALUE_LIST) {
        *out = texts = ARENA_ARRAY(c->mem, v.len, struct str);
        *count = 0;
    } else if (v.kind != VALUE_ABSENT) {
        compile_wrong_type(c, v, "a list of error codes");
    }
    for (uint32_t i = 0; v.kind == VALUE_LIST && i < v.len; i++) {
        size_t inner = compile_enter_index(c, i);
        if (v.items[i].kind != VALUE_STRING)
            compile_wrong_type(c, v.items[i], "a text");
        else if (!is_error_pattern(value_text(v.items[i])))
            compile_error(c, FINDING_BAD_VALUE,
                          "this must be the code of an error, a beginning such as "
                          "\"external_*\", or \"transient\", \"business\" or "
                          "\"indeterminate\"");
        else
            texts[(*count)++] = value_text(v.items[i]);
        compile_leave(c, inner);
    }
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

void compile_retry(struct compiler *c, struct value policy, struct retry *retry)
{
    int jitter;

    if (!compile_fields(c, policy, TABLE_RETRY))
        return;
    compile_count(c, policy, "maxAttempts", 1, ATTEMPTS_MAX, &retry->max_attempts);
    read_duration(c, policy, "delay", &retry->delay_us);
    read_backoff(c, policy, retry);
    read_duration(c, policy, "maxDelay", &retry->max_delay_us);
    jitter = compile_word(c, TABLE_RETRY, policy, "jitter");
    if (jitter >= 0)
        retry->has_jitter = jitter == 0;
    read_texts(c, policy, "on", &retry->on, &retry->on_count);
    read_texts(c, policy, "notOn", &retry->not_on, &retry->not_on_count);
}

const struct retry *compile_own_retry(struct compiler *c, struct value object)
{
    struct retry *retry;
    size_t outer;

    if (!compile_has(object, "retry"))
        return NULL;
    retry = ARENA_NEW(c->mem, struct retry);
    *retry = *c->retry;
    outer = compile_enter(c, STR("retry"));
    compile_retry(c, compile_field(object, "retry"), retry);
    compile_leave(c, outer);
    return retry;
}

void compile_warn_retry(struct compiler *c)
{
    compile_warning_at(c, "onError", FINDING_NO_RETRY_POLICY,
                       "\"retry\" is what happens behind the last attempt: it fails, and nothing "
                       "is undone");
    compile_hint(c, "how often it is tried stands in 'retry' of a step, or in "
                    "settings.retryPolicy: {\"maxAttempts\": 5, \"delay\": \"30s\"}; with "
                    "\"hold\" it waits for an operator");
}
