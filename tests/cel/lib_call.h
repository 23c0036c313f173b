/*
 * lib_call.h - calling functions of the CEL library one by one, for tests.
 *
 * A case is a function, its arguments and what comes out, written as in an
 * expression: 5, 5u, 5.0, "text", b"text", [1, 2], optional(1), none; or "!"
 * and a part of the message of an error.
 */
#ifndef PAWL_TESTS_CEL_LIB_CALL_H
#define PAWL_TESTS_CEL_LIB_CALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "cel/library_call.h"

#include <inttypes.h>
#include <math.h>

#define S(literal) value_string(STR(literal))
#define B(literal) value_bytes(STR(literal))
#define I(n) ((struct value){.kind = VALUE_INT, .i = (n)})
#define U(n) ((struct value){.kind = VALUE_UINT, .u = (n)})
#define D(n) value_double(n)
#define YES value_bool(true)
#define NO value_bool(false)
#define NIL value_null()
#define NO_ITEMS value_list(NULL, 0)
/* Made to be pointed at, so a compound literal and not a call. */
#define L(...)                                                                                     \
    ((struct value){.kind = VALUE_LIST,                                                            \
                    .len = sizeof((struct value[]){__VA_ARGS__}) / sizeof(struct value),           \
                    .items = (struct value[]){__VA_ARGS__}})

struct lib_case {
    const char *expected;
    cel_fn *call;
    unsigned count;
    struct value args[6];
};

#define CASE(expected, name, ...)                                                                  \
    {                                                                                              \
        (expected), cel_fn_##name, sizeof((struct value[]){__VA_ARGS__}) / 16,                     \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static inline struct cel_eval lib_eval(struct arena *mem)
{
    return (struct cel_eval){.mem = mem,
                             .mem_left = 64 << 20,
                             .cost_left = 10 * 1000 * 1000,
                             .mode = CEL_STRICT,
                             .function = "f"};
}

static inline void lib_show(struct buf *out, struct value v)
{
    switch ((enum value_kind)v.kind) {
    case VALUE_BOOL:
        buf_text(out, v.b ? "true" : "false");
        return;
    case VALUE_INT:
        buf_printf(out, "%" PRId64, v.i);
        return;
    case VALUE_UINT:
        buf_printf(out, "%" PRIu64 "u", v.u);
        return;
    case VALUE_DOUBLE:
        buf_printf(out, fabs(v.d) < 2147483648.0 && v.d == trunc(v.d) ? "%.1f" : "%.10g", v.d);
        return;
    case VALUE_STRING:
    case VALUE_BYTES:
        buf_text(out, v.kind == VALUE_BYTES ? "b\"" : "\"");
        buf_str(out, value_text(v));
        buf_char(out, '"');
        return;
    case VALUE_LIST:
        buf_char(out, '[');
        for (uint32_t i = 0; i < v.len; i++) {
            buf_text(out, i > 0 ? ", " : "");
            lib_show(out, v.items[i]);
        }
        buf_char(out, ']');
        return;
    case VALUE_OPTIONAL:
        buf_text(out, v.inner == NULL ? "none" : "optional(");
        if (v.inner != NULL) {
            lib_show(out, *v.inner);
            buf_char(out, ')');
        }
        return;
    case VALUE_ERROR:
        buf_printf(out, "!%s", v.error->message);
        return;
    case VALUE_ABSENT:
    case VALUE_NULL:
    case VALUE_MAP:
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
    case VALUE_IP:
    case VALUE_CIDR:
    case VALUE_TYPE:
    case VALUE_KIND_COUNT:
        buf_text(out, value_kind_name((enum value_kind)v.kind));
        return;
    }
}

static inline void lib_check(struct value result, const char *expected, size_t row)
{
    struct buf shown;
    bool same;

    buf_init(&shown);
    lib_show(&shown, result);
    buf_char(&shown, '\0');
    same = expected[0] == '!' ? shown.ptr[0] == '!' && strstr(shown.ptr, expected + 1) != NULL
                              : strcmp(shown.ptr, expected) == 0;
    if (!same)
        print_error("row %zu: expected %s, got %s\n", row, expected, shown.ptr);
    buf_fini(&shown);
    assert_true(same);
}

static inline void lib_run_mode(const struct lib_case *cases, size_t count, enum cel_mode mode)
{
    for (size_t i = 0; i < count; i++) {
        struct arena mem;
        struct cel_eval ev = lib_eval(&mem);

        ev.mode = mode;
        arena_init(&mem);
        lib_check(library_call(&ev, cases[i].call, cases[i].args, cases[i].count),
                  cases[i].expected, i);
        arena_fini(&mem);
    }
}

#define RUN(cases) lib_run_mode((cases), sizeof(cases) / sizeof((cases)[0]), CEL_STRICT)
#define RUN_DEFINITION(cases)                                                                      \
    lib_run_mode((cases), sizeof(cases) / sizeof((cases)[0]), CEL_DEFINITION)

/* A string of `len` times `c`. */
static inline struct value lib_fill(struct arena *mem, char c, size_t len)
{
    char *p = arena_alloc(mem, len);

    memset(p, c, len);
    return value_string(str_from(p, len));
}

static inline enum err_code lib_error_code(struct value v)
{
    assert_int_equal(v.kind, VALUE_ERROR);
    return v.error->code;
}

#endif
