/* test_origin.c - which requests come from our own pages. */
#include "http/origin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct origin_case {
    const char *origin, *fetch_site, *host, *public_url; /* NULL: not sent */
    bool is_ours, is_foreign;
};

static struct str some(const char *text)
{
    return text == NULL ? STR_NONE : str_of(text);
}

static void check(const struct origin_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct origin_claim claim = {.origin = some(cases[i].origin),
                                           .fetch_site = some(cases[i].fetch_site),
                                           .host = some(cases[i].host)};
        struct str url = some(cases[i].public_url);

        if (origin_is_ours(&claim, url) != cases[i].is_ours ||
            origin_is_foreign(&claim, url) != cases[i].is_foreign)
            fail_msg("case %zu: %s", i, cases[i].origin);
    }
}

static void test_origin__is_held_against_the_host_without_a_public_url(void **state)
{
    static const struct origin_case cases[] = {
        {"http://127.0.0.1:7070", NULL, "127.0.0.1:7070", NULL, true, false},
        {"https://pawl.example.org", NULL, "pawl.example.org", NULL, true, false},
        {"https://pawl.example.org", NULL, "pawl.example.org:443", NULL, true, false},
        {"http://pawl.example.org:80", NULL, "pawl.example.org", NULL, true, false},
        {"https://PAWL.example.org", NULL, "pawl.Example.org", NULL, true, false},
        {"http://[::1]:7070", NULL, "[::1]:7070", NULL, true, false},
        {"https://evil.example.org", NULL, "pawl.example.org", NULL, false, true},
        {"https://pawl.example.org.evil.org", NULL, "pawl.example.org", NULL, false, true},
        {"https://evil.org/pawl.example.org", NULL, "pawl.example.org", NULL, false, true},
        {"http://127.0.0.1:8080", NULL, "127.0.0.1:7070", NULL, false, true},
        {"null", NULL, "pawl.example.org", NULL, false, true},
        {"", NULL, "pawl.example.org", NULL, false, true},
        {"https://pawl.example.org", NULL, NULL, NULL, false, true},
        {"https://", NULL, "", NULL, false, true},
    };

    (void)state;
    check(cases, ARRAY_SIZE(cases));
}

static void test_origin__is_held_against_the_public_url(void **state)
{
    static const char url[] = "https://pawl.example.org/base/";
    static const struct origin_case cases[] = {
        {"https://pawl.example.org", NULL, "10.0.0.7:7070", url, true, false},
        {"https://pawl.example.org:443", NULL, "10.0.0.7:7070", url, true, false},
        {"http://pawl.example.org", NULL, "pawl.example.org", url, false, true},
        {"https://pawl.example.org:8443", NULL, "pawl.example.org:8443", url, false, true},
        {"http://10.0.0.7:7070", NULL, "10.0.0.7:7070", url, false, true},
    };

    (void)state;
    check(cases, ARRAY_SIZE(cases));
}

static void test_origin__what_a_browser_says_about_the_site_counts_too(void **state)
{
    static const struct origin_case cases[] = {
        {NULL, "same-origin", "a.org", NULL, true, false},
        {NULL, "none", "a.org", NULL, true, false},
        {NULL, "same-site", "a.org", NULL, false, true},
        {NULL, "cross-site", "a.org", NULL, false, true},
        {NULL, "", "a.org", NULL, false, true},
        {"https://a.org", "cross-site", "a.org", NULL, false, true},
        {"https://b.org", "same-origin", "a.org", NULL, false, true},
        {"https://a.org", "same-origin", "a.org", NULL, true, false},
    };

    (void)state;
    check(cases, ARRAY_SIZE(cases));
}

static void test_origin__silence_is_neither_ours_nor_foreign(void **state)
{
    static const struct origin_case cases[] = {
        {NULL, NULL, "a.org", NULL, false, false},
        {NULL, NULL, "a.org", "https://a.org", false, false},
    };

    (void)state;
    check(cases, ARRAY_SIZE(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_origin__is_held_against_the_host_without_a_public_url),
        cmocka_unit_test(test_origin__is_held_against_the_public_url),
        cmocka_unit_test(test_origin__what_a_browser_says_about_the_site_counts_too),
        cmocka_unit_test(test_origin__silence_is_neither_ours_nor_foreign),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
