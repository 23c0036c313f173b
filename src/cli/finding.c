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
    buf_str(&out, f->message);
    if (f->column > 0 && !f->place.is_exact)
        buf_printf(&out, " (column %u of the expression)", f->column);
    if (f->hint.len > 0) {
        buf_text(&out, "; ");
        buf_str(&out, f->hint);
    }
    return buf_view(&out);
}

bool finding_print(struct arena *mem, const struct bundle_item *item, struct str pointer,
                   struct value finding)
{
    struct value column = value_map_get_str(finding, STR("column"));
    struct finding f = {.pointer = pointer,
                        .step = client_text(finding, "step"),
                        .code = client_text(finding, "code"),
                        .message = client_text(finding, "message"),
                        .hint = client_text(finding, "hint"),
                        .is_warning = str_eq(client_text(finding, "severity"), STR("warning")),
                        .column = column.kind == VALUE_INT ? (uint32_t)column.i : 0};
    struct str line;

    f.place = finding_place(mem, item->source, pointer, f.code, f.column);
    line = finding_line(mem, item->path, &f);
    fprintf(stderr, "%.*s\n", STR_ARG(line));
    return !f.is_warning;
}
