/* test_mask.c - claims about mask.h. */
#include "value/mask.h"

#include "value/rig.h"

/* A mask for the member `card` of this input. */
static struct mask learned(const char *input)
{
    struct mask m = {0};

    mask_add(&mem, &m, STR("card"));
    mask_learn(&mem, &m, read_value(input));
    return m;
}

static void assert_view(const char *input, const char *view, const char *expected)
{
    struct mask m = learned(input);
    struct buf out;
    struct err err;

    buf_init_arena(&out, &mem);
    assert_true(mask_view(&mem, &m, str_of(view), &out, &err));
    buf_char(&out, '\0');
    assert_string_equal(out.ptr, expected);
}

static void test_mask__secret_is_hidden_wherever_it_comes_up(void **state)
{
    (void)state;
    assert_view("{\"card\":\"4111-1111\",\"who\":\"Ann\"}",
                "{\"input\":{\"card\":\"4111-1111\",\"who\":\"Ann\"},"
                "\"context\":{\"input\":{\"card\":\"4111-1111\"},"
                "\"steps\":{\"pay\":{\"text\":\"paid by 4111-1111, twice 4111-1111!\"}}},"
                "\"error\":{\"message\":\"4111-1111 declined\"},\"result\":[\"4111-1111\"]}",
                "{\"input\":{\"card\":\"***\",\"who\":\"Ann\"},"
                "\"context\":{\"input\":{\"card\":\"***\"},"
                "\"steps\":{\"pay\":{\"text\":\"paid by ***, twice ***!\"}}},"
                "\"error\":{\"message\":\"*** declined\"},\"result\":[\"***\"]}");
}

static void test_mask__what_cannot_hold_a_secret_stays(void **state)
{
    (void)state;
    assert_view("{\"card\":\"2026\"}",
                "{\"id\":\"2026\",\"createdAt\":\"2026-01-01T00:00:00Z\",\"version\":2026,"
                "\"result\":{\"n\":2026,\"t\":\"in 2026\"}}",
                "{\"id\":\"2026\",\"createdAt\":\"2026-01-01T00:00:00Z\",\"version\":2026,"
                "\"result\":{\"n\":\"***\",\"t\":\"in ***\"}}");
}

static void test_mask__number_is_hidden_as_number_and_in_texts(void **state)
{
    (void)state;
    assert_view("{\"card\":41111}", "{\"result\":{\"n\":41111,\"t\":\"no 41111\",\"m\":42}}",
                "{\"result\":{\"n\":\"***\",\"t\":\"no ***\",\"m\":42}}");
}

static void test_mask__little_values_are_hidden_under_their_name_only(void **state)
{
    (void)state;
    assert_view("{\"card\":true}", "{\"input\":{\"card\":true,\"b\":true},\"result\":true}",
                "{\"input\":{\"card\":\"***\",\"b\":true},\"result\":true}");
    assert_view("{\"card\":7}", "{\"input\":{\"card\":7},\"result\":7}",
                "{\"input\":{\"card\":\"***\"},\"result\":7}");
    assert_view("{\"card\":\"ab\"}", "{\"input\":{\"card\":\"ab\"},\"result\":[\"ab\",\"cab\"]}",
                "{\"input\":{\"card\":\"***\"},\"result\":[\"***\",\"cab\"]}");
    assert_view("{\"card\":null}", "{\"input\":{\"card\":null},\"result\":null}",
                "{\"input\":{\"card\":null},\"result\":null}");
}

static void test_mask__parts_of_a_sensitive_object_are_secrets(void **state)
{
    (void)state;
    assert_view("{\"card\":{\"no\":\"41112222\",\"codes\":[\"9876\"]}}",
                "{\"input\":{\"card\":{\"no\":\"41112222\"}},\"output\":\"9876 41112222\"}",
                "{\"input\":{\"card\":\"***\"},\"output\":\"*** ***\"}");
}

static void test_mask__secret_that_became_a_key_is_hidden_too(void **state)
{
    (void)state;
    assert_view("{\"card\":[\"aaaa\",\"bbbb\"]}", "{\"result\":{\"aaaa\":1,\"bbbb\":2,\"c\":3}}",
                "{\"result\":{\"***\":1,\"***2\":2,\"c\":3}}");
}

static void test_mask__longest_secret_wins(void **state)
{
    (void)state;
    assert_view("{\"card\":[\"1234\",\"12345678\"]}", "{\"result\":\"12345678 1234\"}",
                "{\"result\":\"*** ***\"}");
}

static void test_mask__field_of_an_answer_is_a_secret(void **state)
{
    struct mask m = {0};
    struct buf out;
    struct err err;

    (void)state;
    assert_true(mask_is_empty(&m));
    mask_add_field(&mem, &m, STR("pin"));
    assert_false(mask_is_empty(&m));
    mask_learn(&mem, &m, read_value("{\"pin\":\"of the input\"}"));
    mask_learn_answer(&mem, &m, read_value("{\"pin\":\"4711-0815\",\"who\":\"Ann\"}"));
    mask_learn_answer(&mem, &m, read_value("null"));
    buf_init_arena(&out, &mem);
    assert_true(mask_view(&mem, &m,
                          STR("{\"input\":{\"pin\":\"of the input\"},\"context\":{\"signals\":["
                              "{\"payload\":{\"pin\":\"4711-0815\",\"who\":\"Ann\"}}]}}"),
                          &out, &err));
    assert_true(str_eq(buf_view(&out),
                       STR("{\"input\":{\"pin\":\"of the input\"},\"context\":{\"signals\":["
                           "{\"payload\":{\"pin\":\"***\",\"who\":\"Ann\"}}]}}")));
}

static void test_mask__text_without_secrets_is_the_same(void **state)
{
    struct mask m = learned("{\"card\":\"4111-1111\"}");
    struct str text = STR("nothing here");

    (void)state;
    assert_ptr_equal(mask_text(&mem, &m, text).ptr, text.ptr);
    assert_int_equal(mask_text(&mem, &m, STR("")).len, 0);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(test_mask__secret_is_hidden_wherever_it_comes_up),
        CLAIM(test_mask__what_cannot_hold_a_secret_stays),
        CLAIM(test_mask__number_is_hidden_as_number_and_in_texts),
        CLAIM(test_mask__little_values_are_hidden_under_their_name_only),
        CLAIM(test_mask__parts_of_a_sensitive_object_are_secrets),
        CLAIM(test_mask__secret_that_became_a_key_is_hidden_too),
        CLAIM(test_mask__longest_secret_wins),
        CLAIM(test_mask__field_of_an_answer_is_a_secret),
        CLAIM(test_mask__text_without_secrets_is_the_same),
    };

    return cmocka_run_group_tests_name("mask", tests, NULL, NULL);
}
