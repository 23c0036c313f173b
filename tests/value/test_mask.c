/* test_mask.c - claims about mask.h. */
#include "value/json.h"
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

    buf_init_arena(&out, &mem);
    mask_view(&mem, &m, str_of(view), &out);
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

static void test_mask__names_with_dots_lead_into_objects_and_lists(void **state)
{
    const char *input =
        "{\"orders\":[{\"card\":\"41112222\",\"n\":1},{\"card\":7,\"n\":7}],\"n\":7}";
    struct mask m = {0};
    struct buf out;

    (void)state;
    mask_add(&mem, &m, STR("orders.card"));
    mask_learn(&mem, &m, read_value(input));
    buf_init_arena(&out, &mem);
    mask_view(&mem, &m, str_printf(&mem, "{\"input\":%s,\"output\":\"41112222, 7\"}", input), &out);
    buf_char(&out, '\0');
    assert_string_equal(out.ptr, "{\"input\":{\"orders\":[{\"card\":\"***\",\"n\":1},"
                                 "{\"card\":\"***\",\"n\":7}],\"n\":7},\"output\":\"***, 7\"}");
}

static void test_mask__secret_that_became_a_key_is_hidden_too(void **state)
{
    (void)state;
    assert_view("{\"card\":[\"aaaa\",\"bbbb\"]}", "{\"result\":{\"aaaa\":1,\"bbbb\":2,\"c\":3}}",
                "{\"result\":{\"***\":1,\"***2\":2,\"c\":3}}");
}

static void test_mask__key_that_stands_for_a_secret_takes_no_name_of_another(void **state)
{
    (void)state;
    assert_view("{\"card\":\"abcd1234\"}",
                "{\"output\":{\"***\":1,\"abcd1234\":2,\"***2\":3,\"an abcd1234\":4},"
                "\"input\":{\"card\":\"abcd1234\",\"***\":1,\"abcd1234\":2}}",
                "{\"output\":{\"***\":1,\"***3\":2,\"***2\":3,\"an ***4\":4},"
                "\"input\":{\"card\":\"***\",\"***\":1,\"***2\":2}}");
}

static void test_mask__what_cannot_be_read_is_hidden_whole(void **state)
{
    struct mask m = learned("{\"card\":\"abcd1234\"}");

    (void)state;
    assert_view("{\"card\":\"abcd1234\"}",
                "{\"id\":\"7\",\"error\":{\"a\":nope abcd1234},\"seq\":3}",
                "{\"id\":\"7\",\"error\":\"***\",\"seq\":3}");
    assert_view("{\"card\":\"abcd1234\"}", "{\"id\":\"7\",\"error\":\"abcd1234",
                "{\"id\":\"7\",\"error\":\"***\"}");
    assert_view("{\"card\":\"abcd1234\"}", "[\"abcd1234\"]", "{}");
    assert_view("{\"card\":\"abcd1234\"}", "", "{}");
    assert_true(str_eq(mask_json(&mem, &m, STR("{\"a\":abcd1234")), STR("\"***\"")));
}

static void test_mask__view_may_be_nested_deeper_than_json_is_read(void **state)
{
    struct mask m = learned("{\"card\":\"abcd1234\"}");
    struct buf view, out, wanted;

    (void)state;
    buf_init_arena(&view, &mem);
    buf_init_arena(&out, &mem);
    buf_init_arena(&wanted, &mem);
    buf_text(&view, "{\"result\":");
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        buf_char(&view, '[');
    buf_str(&wanted, buf_view(&view));
    buf_text(&view, "\"abcd1234\"");
    buf_text(&wanted, "\"***\"");
    for (int i = 0; i < JSON_DEPTH_MAX; i++) {
        buf_char(&view, ']');
        buf_char(&wanted, ']');
    }
    buf_char(&view, '}');
    buf_char(&wanted, '}');
    mask_view(&mem, &m, buf_view(&view), &out);
    assert_true(str_eq(buf_view(&out), buf_view(&wanted)));
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

    (void)state;
    assert_true(mask_is_empty(&m));
    mask_add_field(&mem, &m, STR("pin"));
    assert_false(mask_is_empty(&m));
    mask_learn(&mem, &m, read_value("{\"pin\":\"of the input\"}"));
    mask_learn_answer(&mem, &m, read_value("{\"pin\":\"4711-0815\",\"who\":\"Ann\"}"));
    mask_learn_answer(&mem, &m, read_value("null"));
    buf_init_arena(&out, &mem);
    mask_view(&mem, &m,
              STR("{\"input\":{\"pin\":\"of the input\"},\"context\":{\"signals\":["
                  "{\"payload\":{\"pin\":\"4711-0815\",\"who\":\"Ann\"}}]}}"),
              &out);
    assert_true(str_eq(buf_view(&out),
                       STR("{\"input\":{\"pin\":\"of the input\"},\"context\":{\"signals\":["
                           "{\"payload\":{\"pin\":\"***\",\"who\":\"Ann\"}}]}}")));
}

static void test_mask__secrets_that_overlap_are_hidden_together(void **state)
{
    (void)state;
    assert_view("{\"card\":[\"abcd\",\"cdef\",\"xabcdefy\"]}",
                "{\"result\":[\"1abcdef2\",\"abcdcdef\",\"-xabcdefy-\",\"xabcdef\"]}",
                "{\"result\":[\"1***2\",\"******\",\"-***-\",\"x***\"]}");
}

static void test_mask__value_is_hidden_within_json_that_was_made_a_text(void **state)
{
    (void)state;
    assert_view("{\"card\":[\"a\\\"bcd\",\"73\"]}",
                "{\"result\":\"{\\\"k\\\": \\\"a\\\\\\\"bcd\\\", \\\"n\\\": 1}\","
                "\"output\":\"[\\\"73\\\", 5]\",\"error\":\"at a\\\\\\\"bcd!\"}",
                "{\"result\":\"{\\\"k\\\": \\\"***\\\", \\\"n\\\": 1}\","
                "\"output\":\"[\\\"***\\\",5]\",\"error\":\"at ***!\"}");
}

/* Beginnings and ends of each other: what makes searching one by one, or beginning again, slow. */
static struct mask hostile_mask(size_t count)
{
    char *letters = arena_alloc(&mem, count + MASK_LEN_MIN);
    struct mask m = {0};

    memset(letters, 'a', count + MASK_LEN_MIN);
    for (size_t i = 0; i < count; i++) {
        mask_add_secret(&mem, &m, str_from(letters, i + MASK_LEN_MIN));
        mask_add_secret(&mem, &m, str_printf(&mem, "%.*sb", (int)i + MASK_LEN_MIN, letters));
    }
    assert_false(m.hides_all);
    mask_seal(&mem, &m);
    return m;
}

static void test_mask__steps_grow_with_the_text_not_with_the_secrets(void **state)
{
    (void)state;
    for (size_t count = 10; count <= 320; count *= 2) {
        struct mask m = hostile_mask(count);
        uint64_t made = pattern_set_steps(m.parts);

        assert_true(made <= 3 * m.bytes);
        for (size_t len = 1000; len <= 64000; len *= 4) {
            char *text = arena_alloc(&mem, len);
            uint64_t before = pattern_set_steps(m.parts);

            for (size_t i = 0; i < len; i++)
                text[i] = i % (count + 7) == count + 6 ? 'c' : 'a';
            (void)mask_text(&mem, &m, str_from(text, len));
            assert_true(pattern_set_steps(m.parts) - before <= 2 * len);
        }
    }
}

static void test_mask__more_secrets_than_it_keeps_hide_everything(void **state)
{
    struct mask many = {0}, large = {0}, same = {0};
    char *text = arena_alloc(&mem, MASK_BYTES_MAX);

    (void)state;
    for (int i = 0; i < 3 * MASK_SECRETS_MAX; i++)
        mask_add_secret(&mem, &same, STR("abcd1234"));
    assert_int_equal(same.texts.count, 1);
    assert_false(same.hides_all);
    for (int i = 0; i <= MASK_SECRETS_MAX; i++)
        mask_add_secret(&mem, &many, str_printf(&mem, "%d", i));
    memset(text, 'x', MASK_BYTES_MAX);
    mask_add_secret(&mem, &large, str_from(text, MASK_BYTES_MAX));
    assert_false(large.hides_all);
    mask_add_secret(&mem, &large, STR("y"));
    assert_true(many.hides_all && large.hides_all);
    assert_false(mask_is_empty(&many));
    assert_true(str_eq(mask_text(&mem, &many, STR("anything")), STR("***")));
    assert_true(str_eq(mask_json(&mem, &many, STR("{\"a\":[1]}")), STR("\"***\"")));
    assert_true(str_eq(mask_view_text(&mem, &many,
                                      STR("{\"id\":\"7\",\"context\":{\"steps\":{\"a\":1}},"
                                          "\"error\":null,\"result\":true,\"output\":[1]}")),
                       STR("{\"id\":\"7\",\"context\":{\"steps\":\"***\"},"
                           "\"error\":null,\"result\":true,\"output\":\"***\"}")));
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
        CLAIM(test_mask__names_with_dots_lead_into_objects_and_lists),
        CLAIM(test_mask__secret_that_became_a_key_is_hidden_too),
        CLAIM(test_mask__key_that_stands_for_a_secret_takes_no_name_of_another),
        CLAIM(test_mask__what_cannot_be_read_is_hidden_whole),
        CLAIM(test_mask__view_may_be_nested_deeper_than_json_is_read),
        CLAIM(test_mask__longest_secret_wins),
        CLAIM(test_mask__field_of_an_answer_is_a_secret),
        CLAIM(test_mask__secrets_that_overlap_are_hidden_together),
        CLAIM(test_mask__value_is_hidden_within_json_that_was_made_a_text),
        CLAIM(test_mask__steps_grow_with_the_text_not_with_the_secrets),
        CLAIM(test_mask__more_secrets_than_it_keeps_hide_everything),
        CLAIM(test_mask__text_without_secrets_is_the_same),
    };

    return cmocka_run_group_tests_name("mask", tests, NULL, NULL);
}
