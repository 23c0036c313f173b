/* test_say.c - claims about what the server says to people, in their language. */
#include "base/buf.h"
#include "words/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct arena mem;

static int setup(void **state)
{
    (void)state;
    arena_init(&mem);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_fini(&mem);
    return 0;
}

static void assert_said(const char *english, const char *russian)
{
    struct str said = words_say(&mem, LANGUAGE_RU, str_of(english));

    assert_string_equal(str_printf(&mem, "%.*s", STR_ARG(said)).ptr, russian);
}

static bool is_conversion(const char *p)
{
    return p[0] == '%' && p[1] != '%';
}

/* The kinds of the conversions, in the order of the arguments: "sds". */
static const char *kinds_of(const char *format)
{
    char *kinds = arena_alloc(&mem, 16);
    unsigned count = 0;

    memset(kinds, 0, 16);
    for (const char *p = format; *p != '\0'; p++) {
        if (p[0] == '%' && p[1] == '%')
            p++;
        else if (p[0] == '%' && p[2] == '$') {
            kinds[p[1] - '1'] = p[3];
            count++;
        } else if (p[0] == '%')
            kinds[count++] = p[1];
    }
    return kinds;
}

/* The text with arguments that no row knows: "name1", 2, "name3". */
static struct str filled(const char *format)
{
    struct buf out;
    unsigned next = 1;

    buf_init_arena(&out, &mem);
    for (const char *p = format; *p != '\0'; p++)
        if (is_conversion(p)) {
            bool is_numbered = p[2] == '$';
            unsigned number = is_numbered ? (unsigned)(p[1] - '0') : next++;
            char kind = p[is_numbered ? 3 : 1];

            buf_printf(&out, kind == 'd' ? "%u" : "name%u", number);
            p += is_numbered ? 3 : 1;
        } else {
            p += p[0] == '%';
            buf_char(&out, *p);
        }
    return buf_view(&out);
}

static void test_words__both_languages_of_a_row_have_the_same_arguments(void **state)
{
    (void)state;
    for (size_t i = 0; i < words_count(); i++) {
        const struct phrase *row = words_at(i);

        if (strcmp(kinds_of(row->english), kinds_of(row->russian)) != 0)
            fail_msg("'%s' and '%s' differ in what is put into them", row->english, row->russian);
    }
}

static void test_words__each_row_is_found_by_what_it_says(void **state)
{
    unsigned wrong = 0;

    (void)state;
    for (size_t i = 0; i < words_count(); i++) {
        const struct phrase *row = words_at(i);
        struct str said = words_say(&mem, LANGUAGE_RU, filled(row->english));
        struct str wanted = filled(row->russian);

        if (!str_eq(said, wanted))
            print_error("%u: '%s' became '%.*s', not '%.*s'\n", ++wrong, row->english,
                        STR_ARG(said), STR_ARG(wanted));
    }
    assert_int_equal(wrong, 0);
}

static void test_words__english_stays_as_it_is(void **state)
{
    struct str text = STR("'steps' is missing");

    (void)state;
    assert_ptr_equal(words_say(&mem, LANGUAGE_EN, text).ptr, text.ptr);
}

static void test_words__what_is_put_in_is_said_too(void **state)
{
    (void)state;
    assert_said("amount must be a text, not a list", "amount: ожидается текст, получено: список");
    assert_said("the definition must be an object, not a text",
                "определение: ожидается объект, получено: текст");
    assert_said("expected a value, but found the end of the expression: a '(' is not closed",
                "ожидается значение, а найдено: конец выражения: скобка '(' не закрыта");
    assert_said("undeclared function 'foo'; did you mean 'for'?",
                "нет функции «foo»; возможно, имелось в виду «for»?");
}

static void test_words__names_and_texts_of_people_stay_as_they_are(void **state)
{
    (void)state;
    assert_said("there is no step 'a text'", "нет шага «a text»");
    assert_said("'a list' is missing", "не хватает «a list»");
}

static void test_words__what_no_row_knows_stays_english(void **state)
{
    (void)state;
    assert_said("the lorry is late", "the lorry is late");
    assert_said("", "");
}

static void test_words__a_long_text_that_almost_matches_takes_no_long_time(void **state)
{
    struct buf text;

    (void)state;
    buf_init_arena(&text, &mem);
    for (unsigned i = 0; i < 20000; i++)
        buf_text(&text, " must be a, not ");
    buf_char(&text, '\n');
    assert_true(words_say(&mem, LANGUAGE_RU, buf_view(&text)).len > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words__both_languages_of_a_row_have_the_same_arguments),
        cmocka_unit_test(test_words__each_row_is_found_by_what_it_says),
        cmocka_unit_test(test_words__english_stays_as_it_is),
        cmocka_unit_test(test_words__what_is_put_in_is_said_too),
        cmocka_unit_test(test_words__names_and_texts_of_people_stay_as_they_are),
        cmocka_unit_test(test_words__what_no_row_knows_stays_english),
        cmocka_unit_test(test_words__a_long_text_that_almost_matches_takes_no_long_time),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
