/* problem.c - see problem.h. */
#include "api/problem.h"

#include "http/http.h"
#include "value/json.h"
#include "value/object.h"
#include "words/words.h"

struct value problem_findings(struct arena *mem, enum language language,
                              const struct findings *findings)
{
    struct findings said = findings_copy(mem, findings);

    for (size_t i = 0; language != LANGUAGE_EN && i < said.count; i++) {
        struct finding *f = &said.items[i];

        f->message = sentence_of(words_say(mem, language, f->message));
        f->hint = sentence_of(words_say(mem, language, f->hint));
        f->fix.label = sentence_of(words_say(mem, language, f->fix.label));
    }
    return findings_value(mem, &said);
}

static void write_findings(struct arena *mem, enum language language, struct buf *out,
                           const struct findings *findings)
{
    struct err err;

    object_name(out, "errors");
    if (findings == NULL || !json_write(out, problem_findings(mem, language, findings), &err))
        buf_text(out, "[]");
}

struct str problem_json(struct arena *mem, enum language language, const struct err *err,
                        const struct findings *findings, struct str more, struct str request_id)
{
    int status = err_http_status(err->code);
    struct buf out;

    object_begin(&out, mem);
    object_text(&out, "type", STR("about:blank"));
    object_text(&out, "title", words_say(mem, language, sentence_of(str_of(http_reason(status)))));
    object_int(&out, "status", status);
    object_text(&out, "code", str_of(err_code_name(err->code)));
    object_text(&out, "detail", words_say(mem, language, err_sentence(err)));
    write_findings(mem, language, &out, findings);
    if (err->line > 0) {
        object_int(&out, "line", err->line);
        object_int(&out, "column", err->column);
    }
    object_text(&out, "requestId", request_id);
    if (more.len > 0) {
        buf_char(&out, ',');
        buf_str(&out, more);
    }
    return object_end(&out);
}
