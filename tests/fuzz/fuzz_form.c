/*
 * fuzz_form.c - links that answer waits: any token, any form of a wait, any body that fills it in.
 *
 * The first line is the token, the second the form as it is stored, the rest the body. Claims: nothing
 * crashes; a token that says something says the same when it is written; a payload can be stored,
 * whatever was filled in; a page has no text of anybody in it that is not escaped, and as many tags
 * open as close.
 */
#include "api/executions/callback_page.h"
#include "engine/commit/link.h"
#include "http/urlencoded.h"
#include "value/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct str take_line(struct str *all)
{
    int64_t end = str_find(*all, STR("\n"), 0);
    struct str line = end < 0 ? *all : str_slice(*all, 0, (size_t)end);

    *all = end < 0 ? STR_NONE : str_slice(*all, (size_t)end + 1, all->len);
    return line;
}

static size_t count_of(struct str text, const char *part)
{
    size_t count = 0;

    for (int64_t at = 0; (at = str_find(text, str_of(part), (size_t)at)) >= 0; at++)
        count++;
    return count;
}

/* What stands in the input stands in a page as text: no tag is its own. */
static void check_page(struct str html)
{
    static const char *const pairs[][2] = {
        {"<form", "</form>"}, {"<p", "</p>"}, {"<select", "</select>"}, {"<html", "</html>"}};

    ASSERT(str_starts_with(html, STR("<!doctype html>")));
    ASSERT(str_find(html, STR("<script"), 0) < 0 && str_find(html, STR("<img"), 0) < 0);
    for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
        ASSERT(count_of(html, pairs[i][0]) == count_of(html, pairs[i][1]));
}

static void try_token(struct str token)
{
    struct link link, again;

    if (!link_read(token, &link))
        return;
    ASSERT(link_read(token, &again) && link.seq == again.seq && token.len == LINK_TOKEN_LEN);
}

static void try_payload(struct arena *mem, struct str form_json, struct value form,
                        const struct urlencoded *given)
{
    struct value payload = page_payload(mem, form, given), again, filled;
    struct page_form page = {.form = form, .title = form_json, .given = given};
    struct findings findings = {0};
    struct err err;

    ASSERT(json_read(mem, json_must_text(mem, payload), &again, &err));
    define_check_form(mem, form_json, STR("/payload"), payload, &filled, &findings);
    page.findings = &findings;
    for (unsigned language = LANGUAGE_EN; language <= LANGUAGE_RU; language++) {
        page.language = (enum language)language;
        page.type = language == LANGUAGE_RU ? form_json : STR_NONE;
        check_page(page_form(mem, &page));
    }
}

static void try_form(struct arena *mem, struct str form_json, struct str body)
{
    struct urlencoded given = {0};
    struct value form;
    struct err err = {0};

    if (!json_read(mem, form_json, &form, &err))
        form = value_absent();
    check_page(page_types(mem, LANGUAGE_EN, form_json, form, body));
    if (urlencoded_read(mem, body, &given, &err))
        try_payload(mem, form_json, form, &given);
    else
        ASSERT(err.code == ERR_BAD_REQUEST);
    check_page(page_form(mem, &(struct page_form){.form = form, .title = body}));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = str_from((const char *)data, size);
    struct str token = take_line(&rest), form_json = take_line(&rest);
    struct arena mem;

    arena_init(&mem);
    try_token(token);
    try_form(&mem, form_json, rest);
    arena_fini(&mem);
    return 0;
}
