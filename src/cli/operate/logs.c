/* logs.c - pawl logs: what the steps of one execution have logged. */
#include "cli/command.h"
#include "cli/format.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/term.h"

#include <stdio.h>

static enum term_style logs_level_style(struct str level)
{
    if (str_eq(level, STR("error")))
        return TERM_RED;
    if (str_eq(level, STR("warn")))
        return TERM_YELLOW;
    return str_eq(level, STR("debug")) ? TERM_DIM : TERM_PLAIN;
}

/* "2026-01-31 09:00:00 UTC  warn   pay  the bank is slow  {"ms":1200}" */
static void logs_print_line(struct arena *mem, struct value line)
{
    struct value data = value_map_get_str(line, STR("data"));
    struct str level = client_text(line, "level");
    struct buf out;

    buf_init_arena(&out, mem);
    format_moment(&out, client_time(line, "at"));
    buf_printf(&out, "  %s%-5.*s%s  %.*s  ", term_style(logs_level_style(level)), STR_ARG(level),
               term_style(TERM_PLAIN), STR_ARG(client_text(line, "step")));
    term_put_short(&out, client_text(line, "message"), SIZE_MAX);
    if (data.kind != VALUE_NULL && data.kind != VALUE_ABSENT) {
        buf_text(&out, "  ");
        term_put_short(&out, client_json(mem, data), SIZE_MAX);
    }
    printf("%.*s\n", STR_ARG(buf_view(&out)));
}

int command_logs(struct client *c, const struct options *o)
{
    struct str id;

    if (o->argc != 2)
        return options_usage(o);
    if (!client_find(c, o->argv[1], &id))
        return EXIT_FAILED;
    return list_print(
        c, o,
        &(struct list){.route = str_printf(&c->mem, "/executions/%.*s/logs", STR_ARG(id)).ptr,
                       .all = true,
                       .print = logs_print_line,
                       .none = "it has logged nothing; a step does with the command log"});
}
