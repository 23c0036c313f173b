/* test_source.c - claims about texts that people write: JSON with comments, YAML, and places in them. */
#include "value/source.h"
#include "value/yaml.h"

#include "value/rig.h"

static struct source_text read_source(enum source_form form, const char *text)
{
    struct source_text s;
    struct err err;

    if (!source_read(&mem, form, str_of(text), &s, &err))
        fail_msg("%s\n%u:%u: %s", text, err.line, err.column, err.message);
    return s;
}

static const char *as_json(enum source_form form, const char *text)
{
    struct source_text s = read_source(form, text);
    struct buf out;
    struct err err;

    buf_init_arena(&out, &mem);
    assert_true(json_write(&out, s.value, &err));
    buf_char(&out, '\0');
    return out.ptr;
}

/* "line:column: message" */
static const char *refused(enum source_form form, const char *text)
{
    struct source_text s;
    struct err err;

    if (source_read(&mem, form, str_of(text), &s, &err))
        fail_msg("%s was read", text);
    return str_printf(&mem, "%u:%u: %s", err.line, err.column, err.message).ptr;
}

struct row {
    const char *text, *expected;
};

static void check_read(enum source_form form, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_string_equal(as_json(form, rows[i].text), rows[i].expected);
}

static void check_refused(enum source_form form, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_string_equal(refused(form, rows[i].text), rows[i].expected);
}

/* --- JSON with comments --- */

static void test_comments__are_no_part_of_the_value(void **state)
{
    static const struct row rows[] = {
        {"// a\n{\"a\": 1, /* b */ \"b\": [1, 2,], // c\n}\n// d", "{\"a\":1,\"b\":[1,2]}"},
        {"{\"a\": \"// no /* comment */\"}", "{\"a\":\"// no /* comment */\"}"},
        {"{\"a\": \"\\\"//\", \"b\": \"\\\\\" // why\n}", "{\"a\":\"\\\"//\",\"b\":\"\\\\\"}"},
        {"[1, // last\n]", "[1]"},
        {"[{}, [] , ]", "[{},[]]"},
    };

    (void)state;
    check_read(SOURCE_COMMENTS, rows, COUNT(rows));
}

static void test_comments__what_is_wrong_keeps_its_place(void **state)
{
    static const struct row rows[] = {
        {"{\n  /* \xC3\xBC\xC3\xBC */ x\n}",
         "2:12: expected a key in double quotes, found 'x'; a text stands in double quotes: \"x\""},
        {"[1, /* never ends", "1:5: this comment has no end: */ is missing"},
        {"[,]", "1:2: expected a value, found ','"},
        {"[1,,]", "1:4: expected a value, found ','"},
        {"{\"a\": ,}", "1:7: expected a value, found ','"},
        {"# why\n{}", "1:1: expected a value, found '#'; JSON has no comments; in files for pawl "
                      "they begin with //"},
    };

    (void)state;
    check_refused(SOURCE_COMMENTS, rows, COUNT(rows));
}

/* --- YAML --- */

static void test_yaml__is_the_core_schema_of_1_2(void **state)
{
    static const struct row rows[] = {
        {"a: true\nb: False\nc: no\nd: off\ne: yes\nf: y\n",
         "{\"a\":true,\"b\":false,\"c\":\"no\",\"d\":\"off\",\"e\":\"yes\",\"f\":\"y\"}"},
        {"on: {on: 1}\nno: 2\n", "{\"on\":{\"on\":1},\"no\":2}"},
        {"- 1\n- -2\n- +3\n- 0\n- 1.5\n- .5\n- 5.\n- 1e3\n- 0x1F\n- 0o17\n- 12345678901234567890\n",
         "[1,-2,3,0,1.5,0.5,5.0,1000.0,31,15,12345678901234567000.0]"},
        {"- 1_000\n- 1:30\n- 2026-01-31\n- 2026-01-31T12:00:00Z\n- 1.2.3\n- 0b11\n",
         "[\"1_000\",\"1:30\",\"2026-01-31\",\"2026-01-31T12:00:00Z\",\"1.2.3\",\"0b11\"]"},
        {"- ~\n- null\n- NULL\n-\n- \"null\"\n- '~'\n", "[null,null,null,null,\"null\",\"~\"]"},
        {"- '1'\n- \"true\"\n- 'it''s'\n- \"\\u00fc\\n\"\n",
         "[\"1\",\"true\",\"it's\",\"\xC3\xBC\\n\"]"},
        {"a: |\n  one\n  two\nb: >\n  one\n  two\nc: one\n  two\n",
         "{\"a\":\"one\\ntwo\\n\",\"b\":\"one two\\n\",\"c\":\"one two\"}"},
        {"200: ok\ntrue: x\n", "{\"200\":\"ok\",\"true\":\"x\"}"},
        {"---\ncode: a\n...\n", "{\"code\":\"a\"}"},
        {"when: input.amount > 100 && steps.a.ok\nto: \"{{ input.to }}\"\nx: =size($.input.items) "
         "* 2\n",
         "{\"when\":\"input.amount > 100 && steps.a.ok\",\"to\":\"{{ input.to }}\",\"x\":"
         "\"=size($.input.items) * 2\"}"},
        {"# why\na: 1 # because\n", "{\"a\":1}"},
        {"{\"a\": [1, {\"b\": null}]}", "{\"a\":[1,{\"b\":null}]}"},
    };

    (void)state;
    check_read(SOURCE_YAML, rows, COUNT(rows));
}

static void test_yaml__aliases_repeat_what_they_name(void **state)
{
    static const struct row rows[] = {
        {"a: &x {b: 1}\nc: *x\nd: [*x, *x]\n",
         "{\"a\":{\"b\":1},\"c\":{\"b\":1},\"d\":[{\"b\":1},{\"b\":1}]}"},
        {"- &x 1\n- &x 2\n- *x\n", "[1,2,2]"},
    };

    (void)state;
    check_read(SOURCE_YAML, rows, COUNT(rows));
}

static void test_yaml__aliases_are_bounded(void **state)
{
    struct buf text;

    (void)state;
    buf_init_arena(&text, &mem);
    buf_text(&text, "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for (int i = 1; i < 12; i++)
        buf_printf(&text, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i,
                   i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    buf_char(&text, '\0');
    assert_string_equal(refused(SOURCE_YAML, text.ptr), "6:15: aliases repeat more than 1024 KiB");
}

static void test_yaml__what_json_has_not_is_refused(void **state)
{
    static const struct row rows[] = {
        {"a: 1\nb: !!str 5\n",
         "2:4: there are no tags here ('tag:yaml.org,2002:str'): a text stands in "
         "quotes, a number, true and false do not"},
        {"a: &x {b: 1}\nc:\n  <<: *x\n",
         "3:3: there are no merge keys ('<<'): write the members out, or "
         "repeat the whole with an alias"},
        {"a: 1\nb: 2\na: 3\n", "3:1: duplicate key \"a\""},
        {"a: 1\n---\nb: 2\n",
         "2:1: a second document begins here: put it into a file of its own, or "
         "both into one list, 'items:'"},
        {"? [a]\n: 1\n", "1:3: the name of a member must be a text"},
        {"a: .inf\n", "1:4: .inf is no number here"},
        {"zip: 01234\n",
         "1:6: a number may not start with 0; as a text it stands in quotes: \"01234\""},
        {"a: *x\n", "1:4: there is no anchor '&x' above"},
        {"a: &x [*x]\n", "1:8: '*x' stands within what it names"},
        {"", "1:1: the text is empty"},
        {"a: \"\\0\"\n", "1:4: U+0000 is not allowed"},
        {"a: \xFF\n", "1:4: the text is not UTF-8"},
    };

    (void)state;
    check_refused(SOURCE_YAML, rows, COUNT(rows));
}

static void test_yaml__mistakes_say_what_to_write(void **state)
{
    static const struct row rows[] = {
        {"a:\n\t- 1\n", "2:1: a tab stands here: YAML is indented with spaces"},
        {"a:\n  b: 1\n\tc: 2\n", "3:1: a tab stands here: YAML is indented with spaces"},
        {"message: Order: paid\n", "1:15: no ':' is expected here: a text that holds ': ' stands "
                                   "in quotes, and the members of "
                                   "an object begin in the same column"},
        {"to: {{ input.to }}\n",
         "1:6: a text that begins with '{{' stands in quotes: \"{{ \xE2\x80\xA6 }}\""},
        {"to: @boss\n", "1:5: a text cannot begin with '@': put it in quotes"},
        {"a:\n  b: 1\n c: 2\n", "3:2: this does not belong to what stands above it: members of an "
                                "object, and the '-' of a "
                                "list, begin in the same column"},
        {"a: 1\nb: \"never ends\n", "2:4: the quotes that begin here have no end"},
        {"a: [1, 2\nb: 3\n",
         "2:2: expected ',' or the closing bracket; in brackets a text with any of "
         "[]{},: in it stands in quotes"},
    };

    (void)state;
    check_refused(SOURCE_YAML, rows, COUNT(rows));
}

static void test_yaml__depth_is_that_of_json(void **state)
{
    struct buf text;

    (void)state;
    buf_init_arena(&text, &mem);
    for (int i = 0; i < JSON_DEPTH_MAX + 1; i++)
        buf_char(&text, '[');
    for (int i = 0; i < JSON_DEPTH_MAX + 1; i++)
        buf_char(&text, ']');
    buf_char(&text, '\0');
    assert_string_equal(refused(SOURCE_YAML, text.ptr), "1:257: nested deeper than 256 levels");
}

/* --- places --- */

struct place_row {
    const char *pointer;
    enum place_end end;
    uint32_t inner;
    const char *expected;
};

static void check_places(enum source_form form, const char *text, const struct place_row *rows,
                         size_t count)
{
    struct source_text s = read_source(form, text);

    for (size_t i = 0; i < count; i++) {
        struct place p =
            source_place(&mem, &s, str_of(rows[i].pointer), rows[i].end, rows[i].inner);

        assert_string_equal(str_printf(&mem, "%s %u:%u%s", rows[i].pointer, p.line, p.column,
                                       p.is_exact ? "" : " about")
                                .ptr,
                            str_printf(&mem, "%s %s", rows[i].pointer, rows[i].expected).ptr);
    }
}

static void test_places__of_json(void **state)
{
    static const struct place_row rows[] = {
        {"", PLACE_VALUE, 0, "2:1"},
        {"/code", PLACE_VALUE, 0, "3:11"},
        {"/code", PLACE_KEY, 0, "3:3"},
        {"/steps/0", PLACE_VALUE, 0, "4:13"},
        {"/steps/1/when", PLACE_VALUE, 0, "5:13"},
        {"/steps/1/when", PLACE_VALUE, 3, "5:16"},
        {"/steps/1/a~1b", PLACE_KEY, 0, "6:5"},
        {"/steps/1/a~1b", PLACE_VALUE, 4, "6:33"},
        {"/steps/1/then", PLACE_VALUE, 0, "5:4"},
        {"/steps/7", PLACE_VALUE, 0, "4:12"},
        {"/name", PLACE_KEY, 5, "2:1"},
    };

    (void)state;
    check_places(SOURCE_COMMENTS,
                 "/* \xC3\xBC */\n{\n  \"code\": \"a\",\n  \"steps\": [{}, // first\n"
                 "   {\"when\": \"x > 3\",\n    \"a/b\": \"\\u00fc\\n\\ud83d\\ude00x\"}]}",
                 rows, COUNT(rows));
}

static void test_places__of_yaml(void **state)
{
    static const struct place_row rows[] = {
        {"", PLACE_VALUE, 0, "2:1"},
        {"/code", PLACE_VALUE, 0, "2:7"},
        {"/code", PLACE_KEY, 0, "2:1"},
        {"/steps/0/when", PLACE_VALUE, 3, "4:13"},
        {"/steps/0/if", PLACE_VALUE, 3, "5:12"},
        {"/steps/0/else", PLACE_VALUE, 3, "6:19"},
        {"/steps/0/text", PLACE_VALUE, 2, "8:8"},
        {"/steps/0/text", PLACE_VALUE, 6, "9:9"},
        {"/steps/0/fold", PLACE_VALUE, 3, "10:11 about"},
        {"/steps/1", PLACE_VALUE, 0, "12:5"},
        {"/steps/2", PLACE_VALUE, 0, "13:5"},
        {"/steps/2/a", PLACE_VALUE, 0, "12:12"},
        {"/steps/3", PLACE_VALUE, 0, "4:3"},
        {"/name", PLACE_KEY, 0, "2:1"},
    };

    (void)state;
    check_places(
        SOURCE_YAML,
        "# why\ncode: a\nsteps:\n  - when: x > 3\n    if: 'x > 3'\n    else: \"\\u0078 > 3\"\n"
        "    text: |\n      ab\n      cdef\n    fold: >\n      ab\n  - &x {a: 1}\n  - *x\n",
        rows, COUNT(rows));
}

/* Lines end with a line feed, whatever else ends one for the library that reads YAML. */
static void test_places__of_yaml_with_other_ends_of_lines(void **state)
{
    static const struct place_row rows[] = {
        {"/a", PLACE_VALUE, 0, "1:6"},
        {"/b", PLACE_VALUE, 3, "1:16"},
        {"/c", PLACE_VALUE, 2, "2:6"},
    };

    (void)state;
    check_places(SOURCE_YAML,
                 "\r\ra: 1\r\xC2\x85"
                 "b: \"x\\ty\"\r\nc: \"z\\t\"\r",
                 rows, COUNT(rows));
}

static void test_form__is_told_by_the_name_or_the_text(void **state)
{
    (void)state;
    assert_int_equal(source_form_of("a.yaml", STR("{}")), SOURCE_YAML);
    assert_int_equal(source_form_of("a.yml", STR("{}")), SOURCE_YAML);
    assert_int_equal(source_form_of("a.json", STR("a: 1")), SOURCE_COMMENTS);
    assert_int_equal(source_form_of("a.jsonc", STR("a: 1")), SOURCE_COMMENTS);
    assert_int_equal(source_form_of("-", STR(" \n{}")), SOURCE_COMMENTS);
    assert_int_equal(source_form_of("-", STR("// why\n{}")), SOURCE_COMMENTS);
    assert_int_equal(source_form_of("-", STR("a: 1")), SOURCE_YAML);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_comments__are_no_part_of_the_value, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_comments__what_is_wrong_keeps_its_place, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_yaml__is_the_core_schema_of_1_2, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_yaml__aliases_repeat_what_they_name, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_yaml__aliases_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_yaml__what_json_has_not_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_yaml__mistakes_say_what_to_write, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_yaml__depth_is_that_of_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_places__of_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_places__of_yaml, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_places__of_yaml_with_other_ends_of_lines, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_form__is_told_by_the_name_or_the_text, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
