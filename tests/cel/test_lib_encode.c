/* Tests of lib_encode.c. */
#include "cel/lib_call.h"

static void test_base64__there_and_back(void **state)
{
    const struct lib_case cases[] = {
        CASE("\"aGVsbG8=\"", base64_encode, B("hello")),
        CASE("\"\"", base64_encode, B("")),
        CASE("\"AP8=\"", base64_encode, B("\0\xff")),
        CASE("b\"hello\"", base64_decode, S("aGVsbG8=")),
        CASE("b\"hello\"", base64_decode, S("aGVsbG8")),
        CASE("b\"Hello World!\"", base64_decode, S("SGVsbG8gV29ybGQh")),
        CASE("b\"\"", base64_decode, S("")),
        CASE("!not base64: character 3 is wrong", base64_decode, S("aG sbG8=")),
        CASE("!not base64", base64_decode, S("aGVsbG8==")),
        CASE("!not base64", base64_decode, S("a")),
        CASE("!not base64", base64_decode, S("_-8=")),
        CASE("!not base64: character 2 is wrong", base64_decode, S("A©AA")),
        CASE("!no such overload", base64_encode, S("hello")),
        CASE("!no such overload", base64_decode, B("aGVsbG8=")),
        CASE("!no such overload", base64_decode, S("aGVs"), S("aGVs")),
    };
    (void)state;
    RUN(cases);
}

static void test_base64__limits(void **state)
{
    struct arena mem;
    struct cel_eval ev = lib_eval(&mem);
    struct value text, bytes;

    (void)state;
    arena_init(&mem);
    text = lib_fill(&mem, 'A', 1 << 20);
    bytes = value_bytes(value_text(text));
    ev.cost_left = 100;
    assert_int_equal(lib_error_code(library_call(&ev, cel_fn_base64_encode, &bytes, 1)),
                     ERR_LIMIT_EXPRESSION_COST);
    assert_int_equal(lib_error_code(library_call(&ev, cel_fn_base64_decode, &text, 1)),
                     ERR_LIMIT_EXPRESSION_COST);
    ev.cost_left = INT64_MAX;
    ev.mem_left = 1000;
    assert_int_equal(lib_error_code(library_call(&ev, cel_fn_base64_encode, &bytes, 1)),
                     ERR_LIMIT_EXPRESSION_MEMORY);
    assert_int_equal(lib_error_code(library_call(&ev, cel_fn_base64_decode, &text, 1)),
                     ERR_LIMIT_EXPRESSION_MEMORY);
    arena_fini(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base64__there_and_back),
        cmocka_unit_test(test_base64__limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
