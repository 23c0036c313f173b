/* finding.c - see finding.h. */
#include "cli/finding.h"

#include "cli/client.h"
#include "define/define.h"

#include <stdio.h>

struct str finding_line(struct arena *mem, const char *path, const struct finding *f)
{
    struct buf out;

    buf_init_arena(&out, mem);
    buf_text(&out, path);
    if (f->place.line > 0)
        buf_printf(&out, ":%u:%u", f->place.line, f->place.column);
    buf_char(&out, ':');
    buf_str(&out, f->pointer.len > 0 ? f->pointer : STR("/"));
    buf_text(&out, f->is_warning ? ": warning: " : ": ");
    if (f->step.len > 0)
        buf_printf(&out, "step %.*s: ", STR_ARG(f->step));
    buf_str(&out, f->message.text);
    if (f->column > 0 && !f->place.is_exact)
        buf_printf(&out, " (column %u of the expression)", f->column);
    if (f->hint.text.len > 0) {
        buf_text(&out, "; ");
        buf_str(&out, f->hint.text);
    }
    return buf_view(&out);
}

bool finding_print(struct arena *mem, const struct bundle_item *item, struct str pointer,
                   struct value finding)
{
    struct finding f = {.pointer = pointer,
                        .step = client_text(finding, "step"),
                        .code = client_text(finding, "code"),
                        .message = sentence_of(client_text(finding, "message")),
                        .hint = sentence_of(client_text(finding, "hint")),
                        .is_warning = str_eq(client_text(finding, "severity"), STR("warning")),
                        .column = (uint32_t)client_int(finding, "column", 0)};
    struct str line;

    f.place = finding_place(mem, item->source, pointer, f.code, f.column);
    line = finding_line(mem, item->path, &f);
    fprintf(stderr, "%.*s\n", STR_ARG(line));
    return !f.is_warning;
}
