/* test_callback_page.c - claims about the pages behind links, what they send, and links in texts. */
#include "api/executions/callback_page.h"
#include "engine/commit/link.h"
#include "engine/execution.h"
#include "value/json.h"
#include "value/mask.h"

#include <setjmp.h>
#include <stdarg.h>
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

static struct value json(const char *text)
{
    struct value v;
    struct err err;

    assert_true(json_read(&mem, str_of(text), &v, &err));
    return v;
}

static const char *text_of(struct value v)
{
    struct buf out;
    struct err err;

    buf_init_arena(&out, &mem);
    assert_true(json_write(&out, v, &err));
    return str_copy(&mem, buf_view(&out)).ptr;
}

static struct urlencoded filled(const char *body)
{
    struct urlencoded all;
    struct err err;

    assert_true(urlencoded_read(&mem, str_of(body), &all, &err));
    return all;
}

static void test_page__an_object_with_fields_stands_there_as_its_fields(void **state)
{
    struct value form =
        json("[{\"name\":\"order\",\"type\":\"object\",\"required\":true,\"label\":\"Order\","
             "\"fields\":["
             "{\"name\":\"sku\",\"type\":\"string\",\"required\":true},"
             "{\"name\":\"qty\",\"type\":\"integer\",\"min\":1,\"max\":9,\"label\":\"How many\"}]},"
             "{\"name\":\"all\",\"type\":\"object\"}]");
    struct urlencoded given = filled("order.sku=a.b&order.qty=3&all=%7B%7D&x.y=1&order.none=");
    struct page_form page = {.form = form};
    struct str html;

    (void)state;
    assert_string_equal(text_of(page_payload(&mem, form, &given)),
                        "{\"order\":{\"sku\":\"a.b\",\"qty\":3},\"all\":{},\"x.y\":\"1\","
                        "\"order.none\":\"\"}");
    given = filled("order.sku=&order.qty=");
    assert_string_equal(text_of(page_payload(&mem, form, &given)), "{}");
    html = page_form(&mem, &page);
    assert_true(str_find(html, STR("name=\"order.sku\""), 0) > 0);
    assert_true(str_find(html, STR("Order: How many"), 0) > 0);
    assert_true(str_find(html, STR(" min=\"1\" max=\"9\""), 0) > 0);
}

static void test_page__the_language_is_the_one_that_is_preferred(void **state)
{
    static const struct {
        const char *header;
        enum language language;
    } cases[] = {
        {"", LANGUAGE_EN},
        {"ru", LANGUAGE_RU},
        {"RU-ru", LANGUAGE_RU},
        {"rum", LANGUAGE_EN},
        {"de, ru;q=0.5, en;q=0.4", LANGUAGE_RU},
        {"ru;q=0.30,en;q=0.31", LANGUAGE_EN},
        {"ru;q=0", LANGUAGE_EN},
        {";;,=,q=,ru;q=", LANGUAGE_RU},
        {",", LANGUAGE_EN},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_int_equal(language_accepted(str_of(cases[i].header)), cases[i].language);
}

static void test_page__a_body_of_a_form_is_read_as_browsers_write_it(void **state)
{
    static const char *const wrong[] = {"a=%", "a=%f", "a=%ff", "%00=1", "a=%zz"};
    struct urlencoded all = filled("a=1+2&&b=%C3%BC%26&c&=x&a=3");
    struct err err;

    (void)state;
    assert_int_equal(all.count, 5);
    assert_true(str_eq(urlencoded_find(&all, STR("a"))->text, STR("1 2")));
    assert_true(str_eq(urlencoded_find(&all, STR("b"))->text, STR("\xC3\xBC&")));
    assert_true(str_eq(urlencoded_find(&all, STR("c"))->text, STR("")));
    assert_null(urlencoded_find(&all, STR("d")));
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        assert_false(urlencoded_read(&mem, str_of(wrong[i]), &all, &err));
}

static void test_page__texts_become_what_the_fields_want(void **state)
{
    struct value form =
        json("[{\"name\":\"n\",\"type\":\"number\"},{\"name\":\"b\",\"type\":\"boolean\"},"
             "{\"name\":\"t\",\"type\":\"datetime\"},{\"name\":\"o\",\"type\":\"object\"},"
             "{\"name\":\"e\",\"type\":\"integer\",\"enum\":[1,2]},{\"name\":\"s\",\"type\":"
             "\"string\"}]");
    struct urlencoded all =
        filled("n=1.5&b=false&t=2026-01-31T09:00&o=%7B%22x%22:1%7D&e=2&s=7&x=1");

    (void)state;
    assert_string_equal(text_of(page_payload(&mem, form, &all)),
                        "{\"n\":1.5,\"b\":false,\"t\":\"2026-01-31T09:00:00Z\",\"o\":{\"x\":1},"
                        "\"e\":2,\"s\":\"7\",\"x\":\"1\"}");
    all = filled("n=&b=maybe&t=soon&o=%7B&e=3&s=");
    assert_string_equal(text_of(page_payload(&mem, form, &all)),
                        "{\"b\":\"maybe\",\"t\":\"soon\",\"o\":\"{\",\"e\":3}");
}

static void test_page__what_is_put_in_is_escaped(void **state)
{
    struct urlencoded given = filled("a=%22%3E%3Cscript%3E&b='");
    const struct page_form page = {
        .title = STR("<b> & \"x\""),
        .form = json("[{\"name\":\"a\",\"label\":\"<i>\",\"description\":\"</p>\"},"
                     "{\"name\":\"b\",\"enum\":[\"'\",\"<\"]}]"),
        .type = STR("<u>"),
        .given = &given,
    };
    struct str html = page_form(&mem, &page);

    (void)state;
    assert_true(str_find(html, STR("<b>"), 0) < 0 && str_find(html, STR("<i>"), 0) < 0);
    assert_true(str_find(html, STR("<u>"), 0) < 0 && str_find(html, STR("<script"), 0) < 0);
    assert_true(str_find(html, STR("value=\"&quot;&gt;&lt;script&gt;\""), 0) > 0);
    assert_true(str_find(html, STR("<option value=\"&#39;\" selected>"), 0) > 0);
}

static void sign_plainly(void *key, struct str text, uint8_t out[LINK_MAC_LEN])
{
    (void)key;
    for (size_t i = 0; i < LINK_MAC_LEN; i++)
        out[i] = (uint8_t)(text.len + i);
}

static void test_page__links_are_read_back_and_hidden_in_texts(void **state)
{
    struct execution x = {.id = {{1, 2, 3}}, .seq = 258};
    const struct link_maker maker = {.base = STR("http://x/callbacks/"), .sign = sign_plainly};
    struct str url = link_url(&mem, &maker, &x), token = str_slice(url, maker.base.len, url.len);
    struct link link;

    (void)state;
    assert_int_equal(token.len, LINK_TOKEN_LEN);
    assert_true(link_read(token, &link));
    assert_int_equal(link.seq, 258);
    assert_int_equal(uuid_cmp(link.execution, x.id), 0);
    assert_true(link_is_genuine(&maker, &link, STR_NONE));
    assert_false(link_is_genuine(&maker, &link, STR("/p:1:0")));
    assert_false(link_read(str_slice(token, 0, token.len - 1), &link));
    assert_false(link_read(STR("pawlcb_"), &link));
    assert_true(
        str_eq(mask_links(&mem, str_printf(&mem, "a %.*s/t, %.*s", STR_ARG(url), STR_ARG(token))),
               STR("a http://x/callbacks/***/t, ***")));
    assert_true(str_eq(mask_links(&mem, STR("pawlcb_short pawlcb_")), STR("pawlcb_short pawlcb_")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_page__an_object_with_fields_stands_there_as_its_fields,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_page__the_language_is_the_one_that_is_preferred, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_page__a_body_of_a_form_is_read_as_browsers_write_it,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_page__texts_become_what_the_fields_want, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_page__what_is_put_in_is_escaped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_page__links_are_read_back_and_hidden_in_texts, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
