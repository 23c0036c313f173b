/*
 * time_call.h - calling functions of the time library one by one, for tests.
 *
 * One program includes it once, so what it defines is the program's own.
 */
#ifndef PAWL_TESTS_CEL_TIME_CALL_H
#define PAWL_TESTS_CEL_TIME_CALL_H

#include "cel/library_call.h"
#include "value/rig.h"
#include "value/timefmt.h"

#include <stdio.h>

static struct cel_eval ev;

static inline int time_set_up(void **state)
{
    (void)set_up(state);
    ev = (struct cel_eval){
        .mem = &mem,
        .mem_left = 1 << 20,
        .cost_left = 1 << 20,
        .offset = 7,
        .mode = CEL_DEFINITION,
        .function = "f",
    };
    return 0;
}

static inline struct value s(const char *text)
{
    return value_string(str_of(text));
}

static inline struct value ts(const char *text)
{
    struct value v;

    if (!timestamp_read(str_of(text), &v) && !timestamp_read_date(str_of(text), &v))
        fail_msg("bad time in a test: %s", text);
    return v;
}

static inline struct value dur(const char *text)
{
    struct value v;

    if (!duration_read(str_of(text), &v))
        fail_msg("bad duration in a test: %s", text);
    return v;
}

#define CALL(fn, ...)                                                                              \
    library_call(&ev, cel_fn_##fn, (const struct value[]){__VA_ARGS__},                            \
                 sizeof((const struct value[]){__VA_ARGS__}) / sizeof(struct value))

/* A value as text; an error is "error: ..." */
static inline const char *show(struct value v)
{
    static char text[512];

    switch ((enum value_kind)v.kind) {
    case VALUE_TIMESTAMP:
        text[timestamp_write(text, v)] = 0;
        break;
    case VALUE_DURATION:
        text[duration_write(text, v)] = 0;
        break;
    case VALUE_INT:
        snprintf(text, sizeof(text), "%lld", (long long)v.i);
        break;
    case VALUE_STRING:
        snprintf(text, sizeof(text), "%.*s", STR_ARG(value_text(v)));
        break;
    case VALUE_ERROR:
        snprintf(text, sizeof(text), "error: %s", v.error->message);
        break;
    case VALUE_ABSENT:
    case VALUE_NULL:
    case VALUE_BOOL:
    case VALUE_UINT:
    case VALUE_DOUBLE:
    case VALUE_BYTES:
    case VALUE_LIST:
    case VALUE_MAP:
    case VALUE_IP:
    case VALUE_CIDR:
    case VALUE_TYPE:
    case VALUE_OPTIONAL:
    case VALUE_KIND_COUNT:
        fail_msg("unexpected kind %d", v.kind);
    }
    return text;
}

#define CHECK(expected, value) assert_string_equal(show(value), expected)

static inline void check_error(struct value v, enum err_code code, const char *part)
{
    if (v.kind != VALUE_ERROR)
        fail_msg("no error but %s", show(v));
    assert_int_equal(v.error->code, code);
    assert_int_equal(v.error->offset, 7);
    if (strstr(v.error->message, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", show(v), part);
}

#define CHECK_ERROR(part, value) check_error(value, ERR_EXPRESSION_ERROR, part)

#define TEST(name) cmocka_unit_test_setup_teardown(name, time_set_up, tear_down)

#endif
