/* test_say.c - claims about what the server says to people, in their language. */
#include "base/buf.h"
#include "base/err.h"
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

static void assert_said(struct sentence english, const char *russian)
{
    struct str said = words_say(&mem, LANGUAGE_RU, english);

    assert_string_equal(str_printf(&mem, "%.*s", STR_ARG(said)).ptr, russian);
}

/* Its arguments, as words_say() counts them. */
static unsigned conversion_count(const char *format)
{
    struct conversion c;
    unsigned count = 0;

    for (const char *p = format; conversion_next(format, p, &c); p = c.end)
        count += c.kind != '%';
    return count;
}

/* The kinds of the conversions, in the order of the arguments: "sds". */
static const char *kinds_of(const char *format)
{
    char *kinds = arena_zalloc(&mem, 16);
    unsigned count = 0;

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

/* The text with "name1", "name2" in place of its conversions. */
static struct str filled(const char *format)
{
    struct buf out;
    unsigned next = 1;

    buf_init_arena(&out, &mem);
    for (const char *p = format; *p != '\0'; p++)
        if (p[0] == '%' && p[1] != '%') {
            bool is_numbered = p[2] == '$';

            buf_printf(&out, "name%u", is_numbered ? (unsigned)(p[1] - '0') : next++);
            p += is_numbered ? 3 : 1;
        } else {
            p += p[0] == '%';
            buf_char(&out, *p);
        }
    return buf_view(&out);
}

/* The sentence that the format makes of "name1", "name2". */
static struct sentence sentence_filled(const char *format)
{
    unsigned count = conversion_count(format);
    struct sentence_part *parts = ARENA_ARRAY(&mem, count + 1, struct sentence_part);
    struct str text = filled(format);
    size_t at = 0;

    parts[0] = (struct sentence_part){
        .format = format, .len = (uint16_t)text.len, .count = (uint16_t)count};
    for (unsigned i = 1; i <= count; i++) {
        int64_t start = str_find(text, str_printf(&mem, "name%u", i), at);

        parts[i] = (struct sentence_part){.start = (uint16_t)start, .len = 5};
        at = (size_t)start;
    }
    return (struct sentence){.text = text, .parts = parts, .part_count = count + 1};
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

static void test_words__each_row_is_found_by_its_format(void **state)
{
    unsigned wrong = 0;

    (void)state;
    for (size_t i = 0; i < words_count(); i++) {
        const struct phrase *row = words_at(i);
        struct str said = words_say(&mem, LANGUAGE_RU, sentence_filled(row->english));
        struct str wanted = filled(row->russian);

        if (!str_eq(said, wanted))
            print_error("%u: '%s' became '%.*s', not '%.*s'\n", ++wrong, row->english,
                        STR_ARG(said), STR_ARG(wanted));
    }
    assert_int_equal(wrong, 0);
}

static void test_words__english_stays_as_it_is(void **state)
{
    struct sentence s = sentence_make(&mem, "'%s' is missing", "steps");

    (void)state;
    assert_ptr_equal(words_say(&mem, LANGUAGE_EN, s).ptr, s.text.ptr);
}

static void test_words__how_an_argument_is_printed_makes_no_difference(void **state)
{
    (void)state;
    assert_said(sentence_make(&mem, "'%s' is missing", "steps"), "не хватает «steps»");
    assert_said(sentence_make(&mem, "'%.*s' is missing", 4, "steps"), "не хватает «step»");
    assert_said(sentence_make(&mem, "a procedure makes at most %zu calls over HTTP", (size_t)10),
                "HTTP-вызовов в процедуре не больше 10");
    assert_said(sentence_make(&mem, "a procedure makes at most %lld calls over HTTP", 10LL),
                "HTTP-вызовов в процедуре не больше 10");
}

static void test_words__what_is_put_in_is_said_too(void **state)
{
    struct err err;

    (void)state;
    assert_said(sentence_make(&mem, "%s must be %s, not %s", "amount", "a text", "a list"),
                "amount: ожидается текст, получено: список");
    assert_said(
        sentence_make(&mem, "%s must be %s, not %s", "the definition", "an object", "a text"),
        "определение: ожидается объект, получено: текст");
    assert_said(sentence_make(&mem, "expected %s, but found %s%s", "a value",
                              "the end of the expression", ": a '(' is not closed"),
                "ожидается значение, а найдено: конец выражения: скобка '(' не закрыта");
    (void)err_set(&err, ERR_EXPRESSION_TYPE, "undeclared function '%s'", "foo");
    (void)err_set_hint(&err, "did you mean '%s'?", "for");
    assert_said(err_sentence(&err), "нет функции «foo»; возможно, имелось в виду «for»?");
    (void)err_set(&err, ERR_INVALID, "nothing was changed: %pS", ERR_ARG(&err));
    assert_said(err_sentence(&err),
                "ничего не изменено: нет функции «foo»; возможно, имелось в виду «for»?");
}

static void test_words__a_row_for_certain_words_is_preferred(void **state)
{
    (void)state;
    assert_said(sentence_make(&mem, "the execution is %s", "failed"),
                "запуск уже закончился ошибкой");
    assert_said(sentence_make(&mem, "the execution is %s", "lost"), "запуск в состоянии lost");
    assert_said(sentence_make(&mem, "'%s' is no %s", "x", "hour"), "'x' — не час");
}

static void test_words__names_and_texts_of_people_stay_as_they_are(void **state)
{
    (void)state;
    assert_said(sentence_make(&mem, "there is no step '%s'", "a text"), "нет шага «a text»");
    assert_said(sentence_make(&mem, "'%s' is missing", "a list"), "не хватает «a list»");
}

static void test_words__what_has_no_row_stays_english(void **state)
{
    (void)state;
    assert_said(sentence_make(&mem, "the lorry is late by %d days", 2),
                "the lorry is late by 2 days");
    assert_said(sentence_of(STR("there is no step 'x'")), "there is no step 'x'");
    assert_said(SENTENCE_NONE, "");
}

static void test_words__what_says_nothing_itself_needs_no_row(void **state)
{
    (void)state;
    assert_said(sentence_make(&mem, "%.*s: %pS", 1, "x", SENTENCE_ARG(SENTENCE("divide by zero"))),
                "x: деление на ноль");
    assert_said(sentence_make(&mem, "%s", "divide by zero"), "деление на ноль");
}

static void test_words__what_was_cut_stays_english(void **state)
{
    char name[400];
    struct err err;

    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    (void)err_set(&err, ERR_INVALID, "there is no step '%s'", name);
    assert_true(str_starts_with(words_say(&mem, LANGUAGE_RU, err_sentence(&err)),
                                STR("there is no step 'xxx")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words__both_languages_of_a_row_have_the_same_arguments),
        cmocka_unit_test(test_words__each_row_is_found_by_its_format),
        cmocka_unit_test(test_words__english_stays_as_it_is),
        cmocka_unit_test(test_words__how_an_argument_is_printed_makes_no_difference),
        cmocka_unit_test(test_words__what_is_put_in_is_said_too),
        cmocka_unit_test(test_words__a_row_for_certain_words_is_preferred),
        cmocka_unit_test(test_words__names_and_texts_of_people_stay_as_they_are),
        cmocka_unit_test(test_words__what_has_no_row_stays_english),
        cmocka_unit_test(test_words__what_says_nothing_itself_needs_no_row),
        cmocka_unit_test(test_words__what_was_cut_stays_english),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
