/*
 * test_limits.c - claims about a definition that is at every limit at once: it
 * compiles or is refused, within a second and 50 MB.
 */
#include "base/buf.h"
#include "base/time/clock.h"
#include "define/catalog/catalog.h"
#include "define/define.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum {
    STEPS = 50,
    COMMANDS = 50,
    PROCEDURES = 100,
    PARAMS = 200,
    TIME_MAX_US = 1000000,
    MEMORY_MAX = 50 << 20,
    TEXT_MAX = 1 << 20, /* what the API takes */
};

static void write_params(struct buf *out)
{
    buf_text(out, "\"input\":[");
    for (int i = 0; i < PARAMS; i++)
        buf_printf(out, "%s{\"name\":\"p%d\",\"type\":\"string\",\"enum\":[\"a\",\"b\",\"c\"]}",
                   i > 0 ? "," : "", i);
    buf_text(out, "],");
}

/* Commands with names, conditions and templates, which see each other. */
static void write_commands(struct buf *out, int count, int seed)
{
    for (int i = 0; i < count; i++)
        buf_printf(out,
                   "%s{\"type\":\"compute.transform\",\"as\":\"c%d\",\"when\":\"size(input) > %d\","
                   "\"data\":\"=input.size() + %d\"}",
                   i > 0 ? "," : "", i, seed, i);
}

/* A text such as (((1)+1)+1), as deep as expressions may be. */
static void write_deep(struct buf *out, int depth)
{
    for (int i = 0; i < depth; i++)
        buf_char(out, '(');
    buf_char(out, '1');
    for (int i = 0; i < depth; i++)
        buf_text(out, "+1)");
}

static void write_steps(struct buf *out)
{
    for (int i = 0; i < STEPS; i++) {
        buf_printf(out,
                   "%s{\"code\":\"s%d\",\"meta\":{\"n\":%d},\"when\":\"steps.s%d == null && "
                   "[1, 2].all(x, [3, 4].exists(y, x < y))\",\"rollback\":\"p%d\",\"procedure\":[",
                   i > 0 ? "," : "", i, i, (i + 1) % STEPS, i);
        write_commands(out, COMMANDS - 1, i);
        buf_text(out, ",{\"type\":\"compute.transform\",\"data\":\"=");
        write_deep(out, 100);
        buf_text(out, "\"}]}");
    }
}

static struct str at_every_limit(struct arena *mem)
{
    struct buf out;

    buf_init_arena(&out, mem);
    buf_text(&out, "{\"code\":\"all\",");
    write_params(&out);
    buf_text(&out, "\"procedures\":{");
    for (int i = 0; i < PROCEDURES; i++) {
        buf_printf(&out, "%s\"p%d\":[", i > 0 ? "," : "", i);
        write_commands(&out, COMMANDS, i);
        buf_char(&out, ']');
    }
    buf_text(&out, "},\"steps\":[");
    write_steps(&out);
    buf_text(&out, "]}");
    return buf_view(&out);
}

/* What compiling takes; the arena holds nothing else. */
static void assert_bounded(struct value definition, bool *compiles)
{
    struct findings findings = {0};
    const struct program *program;
    int64_t began_us, took_us;
    struct arena mem;

    arena_init(&mem);
    began_us = clock_mono_us(&clock_system);
    define_compile_scenario(&mem, define_env(&mem), definition, 1, &findings, &program);
    took_us = clock_mono_us(&clock_system) - began_us;
    print_message("%zu findings, %lld ms, %zu KiB\n", findings.count, (long long)took_us / 1000,
                  (size_t)mem.held_bytes >> 10);
    for (size_t i = 0; i < findings.count && i < 3; i++)
        print_message("  %.*s: %.*s\n", STR_ARG(findings.items[i].pointer),
                      STR_ARG(findings.items[i].message.text));
    *compiles = program != NULL;
    if (program != NULL)
        program_release(program);
    assert_true(mem.held_bytes < MEMORY_MAX);
    assert_true(took_us < TIME_MAX_US);
    arena_fini(&mem);
}

static void test_limits__a_definition_at_every_limit_at_once_is_bounded(void **state)
{
    struct value definition;
    struct arena mem;
    struct str text;
    struct err err;
    bool compiles;

    (void)state;
    arena_init(&mem);
    text = at_every_limit(&mem);
    assert_true(text.len > TEXT_MAX / 2 && text.len < TEXT_MAX);
    assert_true(json_read(&mem, text, &definition, &err));
    assert_bounded(definition, &compiles);
    assert_true(compiles);
    arena_fini(&mem);
}

static void test_limits__what_is_wrong_everywhere_is_bounded(void **state)
{
    struct value definition;
    struct arena mem;
    struct buf out;
    struct err err;
    bool compiles;

    (void)state;
    arena_init(&mem);
    buf_init_arena(&out, &mem);
    buf_text(&out, "{\"code\":\"all\",\"steps\":[");
    /* 200,000 steps, keys that do not exist, names that are nearly right. */
    for (int i = 0; buf_view(&out).len < TEXT_MAX - 1000; i++)
        buf_printf(&out, "%s{\"cde\":%d,\"procedur\":{\"typ\":\"lgo\"},\"%d\":\"{{ x\"}",
                   i > 0 ? "," : "", i, i);
    buf_text(&out, "]}");
    assert_true(json_read(&mem, buf_view(&out), &definition, &err));
    assert_bounded(definition, &compiles);
    assert_false(compiles);
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits__a_definition_at_every_limit_at_once_is_bounded),
        cmocka_unit_test(test_limits__what_is_wrong_everywhere_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
