/* assign.c - pawl assign: give what an execution waits for to somebody else. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/options.h"
#include "value/json.h"
#include "value/object.h"

#include <stdio.h>

int command_assign(int argc, char **argv)
{
    const char *step = NULL, *visit = NULL;
    bool as_json = false;
    int64_t visit_number = 0;
    const struct option_spec specs[] = {
        {.name = "step", .value = &step},
        {.name = "visit", .value = &visit},
        {.name = "json", .flag = &as_json},
        CLIENT_OPTIONS,
    };
    struct client c;
    struct reply reply;
    struct buf body;
    struct str id;
    int status = EXIT_FAILED;

    if (!options_read("assign", specs, ARRAY_SIZE(specs), &argc, argv) || argc < 3 ||
        !options_number("assign", "visit", visit, &visit_number))
        return command_usage("assign");
    client_open(&c, as_json);
    buf_init_arena(&body, &c.mem);
    buf_char(&body, '{');
    if (step != NULL)
        object_text(&body, "step", str_of(step));
    if (visit != NULL)
        object_int(&body, "visit", visit_number);
    object_name(&body, "assignee");
    buf_char(&body, '[');
    for (int i = 2; i < argc; i++) {
        object_next(&body);
        json_write_string(&body, str_of(argv[i]));
    }
    buf_text(&body, "]}");
    if (client_find(&c, argv[1], &id) &&
        client_call(&c, "POST", str_printf(&c.mem, "/executions/%.*s/assign", STR_ARG(id)),
                    buf_view(&body), &reply)) {
        status = EXIT_OK;
        if (as_json)
            printf("%.*s\n", STR_ARG(reply.text));
        else
            printf("%.*s is assigned to %s%s\n", STR_ARG(id), argv[2],
                   argc > 3 ? " and others" : "");
    }
    client_close(&c);
    return status;
}
