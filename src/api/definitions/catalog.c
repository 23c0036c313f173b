/* catalog.c - GET /catalog?lang= and /schemas/definition.json: what a definition may hold. */
#include "api/call.h"
#include "define/catalog/catalog_json.h"
#include "define/catalog/schema_json.h"

void catalog_get(struct call *c)
{
    struct str lang = http_query(c->http, "lang");
    enum language language = LANGUAGE_EN;
    struct buf out;

    if (lang.len > 0 && !language_find(lang, &language)) {
        call_refuse_text(c, ERR_INVALID, "lang is en or ru");
        return;
    }
    buf_init_arena(&out, c->mem);
    catalog_write(&out, language);
    call_answer(c, 200, buf_view(&out));
}

void schema_get(struct call *c)
{
    struct buf out;

    buf_init_arena(&out, c->mem);
    schema_write(&out, LANGUAGE_EN);
    call_answer(c, 200, buf_view(&out));
}
