/* problem.c - see problem.h. */
#include "api/problem.h"

#include "api/http.h"
#include "value/json.h"
#include "value/object.h"

struct value problem_findings(struct arena *mem, enum language language,
                              const struct findings *findings)
{
    struct findings said = {.items = ARENA_ARRAY(mem, findings->count, struct finding),
                            .count = findings->count};

    if (language == LANGUAGE_EN)
        return findings_value(mem, findings);
    for (size_t i = 0; i < findings->count; i++) {
        said.items[i] = findings->items[i];
        said.items[i].message = words_say(mem, language, findings->items[i].message);
        said.items[i].hint = words_say(mem, language, findings->items[i].hint);
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

    buf_init_arena(&out, mem);
    buf_char(&out, '{');
    object_text(&out, "type", STR("about:blank"));
    object_text(&out, "title", words_say(mem, language, str_of(http_reason(status))));
    object_int(&out, "status", status);
    object_text(&out, "code", str_of(err_code_name(err->code)));
    object_text(&out, "detail", words_say(mem, language, str_of(err->message)));
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
    buf_char(&out, '}');
    return buf_view(&out);
}
