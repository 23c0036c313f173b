/* logs.c - pawl logs: what the steps of one execution have logged. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/tell.h"

#include <stdio.h>

static enum term_style level_style(struct str level)
{
    if (str_eq(level, STR("error")))
        return TERM_RED;
    if (str_eq(level, STR("warn")))
        return TERM_YELLOW;
    return str_eq(level, STR("debug")) ? TERM_DIM : TERM_PLAIN;
}

/* "2026-01-31 09:00:00 UTC  warn   pay  the bank is slow  {"ms":1200}" */
static void print_line(struct arena *mem, struct value line)
{
    struct value data = value_map_get_str(line, STR("data"));
    struct str level = client_text(line, "level");
    struct buf out;

    buf_init_arena(&out, mem);
    tell_moment(&out, tell_time_of(line, "at"));
    buf_printf(&out, "  %s%-5.*s%s  %.*s  ", term_style(level_style(level)), STR_ARG(level),
               term_style(TERM_PLAIN), STR_ARG(client_text(line, "step")));
    term_put_short(&out, client_text(line, "message"), SIZE_MAX);
    if (data.kind != VALUE_NULL && data.kind != VALUE_ABSENT) {
        buf_text(&out, "  ");
        term_put_short(&out, client_json(mem, data), SIZE_MAX);
    }
    printf("%.*s\n", STR_ARG(buf_view(&out)));
}

static void print_page(struct arena *mem, struct value items)
{
    for (uint32_t i = 0; i < items.len; i++)
        print_line(mem, items.items[i]);
}

int command_logs(int argc, char **argv)
{
    bool as_json = false;
    const struct option_spec specs[] = {{.name = "json", .flag = &as_json}, CLIENT_OPTIONS};
    struct client c;
    struct str id;
    int status = EXIT_FAILED;

    if (!options_read("logs", specs, ARRAY_SIZE(specs), &argc, argv) || argc != 2)
        return command_usage("logs");
    client_open(&c, as_json);
    if (client_find(&c, argv[1], &id))
        status = list_print(
            &c, &(struct list){
                    .path = str_printf(&c.mem, "/executions/%.*s/logs?limit=500", STR_ARG(id)),
                    .all = true,
                    .as_json = as_json,
                    .print = print_page,
                    .none = "it has logged nothing; a step does with the command log"});
    client_close(&c);
    return status;
}
