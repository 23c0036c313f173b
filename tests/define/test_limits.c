/*
 * test_limits.c - claims about a definition that is at every limit at once: it
 * compiles or is refused, within four seconds of work in any build and 64 MiB.
 */
#include "base/buf.h"
#include "define/catalog/catalog.h"
#include "define/define.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

enum {
    STEPS = 200,
    COMMANDS = 50,
    PROCEDURES = 100,
    PARAMS = 200,
    TIME_MAX_US = 4000000, /* of work, with sanitizers */
    MEMORY_MAX = 64 << 20,
    SMALL_MAX = 32 << 10, /* of a program with one step */
    TEXT_MAX = 2 << 20,   /* what the API takes */
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
                   i > 0 ? "," : "", i, i, (i + 1) % STEPS, i % PROCEDURES);
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

/* What this thread has worked: other programs on the machine do not count. */
static int64_t cpu_us(void)
{
    struct timespec t;

    assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* What compiling takes; the arena holds nothing else. */
static void assert_bounded(struct value definition, bool *compiles)
{
    struct findings findings = {0};
    const struct program *program;
    int64_t began_us, took_us;
    struct arena mem;

    arena_init(&mem);
    began_us = cpu_us();
    define_compile_scenario(&mem, define_env(&mem), definition, 1, &findings, &program);
    took_us = cpu_us() - began_us;
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

/* What a program of so many small steps holds. */
static size_t held_by_steps(int count)
{
    struct findings findings = {0};
    const struct program *program;
    struct value definition;
    struct arena mem, text_mem;
    struct buf out;
    struct err err;
    size_t held;

    arena_init(&mem);
    arena_init(&text_mem);
    buf_init_arena(&out, &text_mem);
    buf_text(&out, "{\"code\":\"few\",\"steps\":[");
    for (int i = 0; i < count; i++)
        buf_printf(&out, "%s{\"code\":\"s%d\",\"procedure\":{\"type\":\"log\",\"message\":\"x\"}}",
                   i > 0 ? "," : "", i);
    buf_text(&out, "]}");
    assert_true(json_read(&text_mem, buf_view(&out), &definition, &err));
    define_compile_scenario(&mem, define_env(&text_mem), definition, 1, &findings, &program);
    assert_non_null(program);
    held = mem.held_bytes;
    program_release(program);
    arena_fini(&mem);
    arena_fini(&text_mem);
    return held;
}

static void test_limits__a_small_program_does_not_pay_for_the_largest(void **state)
{
    size_t one = held_by_steps(1), all = held_by_steps(STEPS);

    (void)state;
    print_message("1 step: %zu bytes, %d steps: %zu bytes\n", one, STEPS, all);
    assert_true(one < SMALL_MAX);
    assert_true(all > one);
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
        cmocka_unit_test(test_limits__a_small_program_does_not_pay_for_the_largest),
        cmocka_unit_test(test_limits__what_is_wrong_everywhere_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
