/* test_buf.c - claims about buf.h. */
#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_buf__keeps_everything_written(void **state)
{
    struct buf b;
    char want[3000];

    (void)state;
    buf_init(&b);
    for (size_t i = 0; i < 1000; i++) {
        want[3 * i] = want[3 * i + 1] = want[3 * i + 2] = (char)('a' + i % 26);
        buf_char(&b, want[3 * i]);
        buf_add(&b, want + 3 * i, 2);
    }
    assert_false(b.failed);
    assert_true(str_eq(buf_view(&b), str_from(want, sizeof(want))));
    buf_fini(&b);
    assert_null(b.ptr);
}

static void test_buf__printf_appends_without_its_terminator(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b);
    buf_printf(&b, "%s", "");
    assert_int_equal(b.len, 0);
    for (int i = 0; i < 100; i++)
        buf_printf(&b, "%02d", i);
    buf_text(&b, "!");
    buf_str(&b, STR_NONE);
    assert_int_equal(b.len, 201);
    assert_true(str_ends_with(buf_view(&b), STR("979899!")));
    buf_fini(&b);
}

static void test_buf__printf_writes_all_whatever_room_there_is(void **state)
{
    char text[300];

    (void)state;
    memset(text, 'x', sizeof(text));
    for (int before = 0; before < 140; before++)
        for (int len = 0; len < 140; len += 3) {
            struct buf b;

            buf_init(&b);
            buf_add(&b, text, (size_t)before);
            buf_printf(&b, "%.*s%s", len, text, "yz");
            assert_false(b.failed);
            assert_int_equal(b.len, before + len + 2);
            assert_memory_equal(b.ptr + before + len, "yz", 2);
            buf_fini(&b);
        }
}

static void test_buf__limit_holds_within_memory_that_is_there(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b);
    b.limit = 10;
    buf_text(&b, "12345");
    buf_text(&b, "678901");
    assert_true(b.failed);
    assert_true(str_eq(buf_view(&b), STR("12345")));
    buf_fini(&b);
}

static void test_buf__limit_can_be_reached_exactly(void **state)
{
    struct buf b;

    (void)state;
    for (size_t limit = 60; limit < 140; limit++) {
        buf_init(&b);
        b.limit = limit;
        for (size_t i = 0; i < limit; i++)
            buf_printf(&b, "x");
        assert_false(b.failed);
        assert_int_equal(b.len, limit);
        buf_printf(&b, "x");
        assert_true(b.failed);
        assert_int_equal(b.len, limit);
        buf_fini(&b);
    }
}

static void test_buf__ignores_all_writes_after_one_that_did_not_fit(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b);
    b.limit = 10;
    buf_text(&b, "1234");
    buf_text(&b, "too long to fit");
    buf_char(&b, '5');
    buf_text(&b, "6");
    buf_printf(&b, "%d", 7);
    assert_true(b.failed);
    assert_true(str_eq(buf_view(&b), STR("1234")));
    buf_clear(&b);
    buf_text(&b, "0123456789");
    assert_false(b.failed);
    assert_true(str_eq(buf_view(&b), STR("0123456789")));
    buf_fini(&b);
}

static void test_buf__lives_in_an_arena(void **state)
{
    struct arena mem;
    struct buf b;
    struct str s;

    (void)state;
    arena_init(&mem);
    buf_init_arena(&b, &mem);
    for (int i = 0; i < 500; i++)
        buf_text(&b, "ab");
    s = buf_view(&b);
    buf_fini(&b);
    assert_int_equal(s.len, 1000);
    assert_int_equal(s.ptr[999], 'b');
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buf__keeps_everything_written),
        cmocka_unit_test(test_buf__printf_appends_without_its_terminator),
        cmocka_unit_test(test_buf__printf_writes_all_whatever_room_there_is),
        cmocka_unit_test(test_buf__limit_holds_within_memory_that_is_there),
        cmocka_unit_test(test_buf__limit_can_be_reached_exactly),
        cmocka_unit_test(test_buf__ignores_all_writes_after_one_that_did_not_fit),
        cmocka_unit_test(test_buf__lives_in_an_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
