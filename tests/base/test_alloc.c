/* test_alloc.c - claims about alloc.h. */
#include "base/alloc.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void test_alloc__clears_what_is_new(void **state)
{
    uint64_t *numbers = ALLOC_ARRAY(1000, uint64_t), *one = ALLOC_NEW(uint64_t);

    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], 0);
    assert_int_equal(*one, 0);
    free(numbers);
    free(one);
}

static void test_alloc__keeps_the_items_of_what_is_resized(void **state)
{
    uint32_t *numbers = alloc_bytes(2 * sizeof(*numbers));

    (void)state;
    numbers[0] = 7;
    numbers[1] = 8;
    numbers = alloc_resize(numbers, 100000, sizeof(*numbers));
    assert_int_equal(numbers[0], 7);
    assert_int_equal(numbers[1], 8);
    free(numbers);
}

static void test_alloc__is_never_null_not_even_for_nothing(void **state)
{
    void *parts[] = {alloc_bytes(0), alloc_array(0, 8), alloc_resize(NULL, 0, 8)};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        assert_non_null(parts[i]);
        free(parts[i]);
    }
}

static void test_alloc__copies_texts_with_a_zero_byte(void **state)
{
    char *copy = alloc_text(str_from("abcdef", 3)), *none = alloc_text(STR_NONE);

    (void)state;
    assert_string_equal(copy, "abc");
    assert_string_equal(none, "");
    free(copy);
    free(none);
}

/* As without the sanitizer: what is too large is NULL. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void overflow(void)
{
    free(alloc_resize(NULL, SIZE_MAX / 4, 8));
}

static void lack(void)
{
    (void)alloc_check(NULL);
}

/* A sanitizer may end the process before the panic does. */
static void assert_dies(void (*act)(void))
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        (void)close(STDERR_FILENO);
        act();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_alloc__panics_when_there_is_no_memory(void **state)
{
    (void)state;
    assert_dies(overflow);
    assert_dies(lack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc__clears_what_is_new),
        cmocka_unit_test(test_alloc__keeps_the_items_of_what_is_resized),
        cmocka_unit_test(test_alloc__is_never_null_not_even_for_nothing),
        cmocka_unit_test(test_alloc__copies_texts_with_a_zero_byte),
        cmocka_unit_test(test_alloc__panics_when_there_is_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
