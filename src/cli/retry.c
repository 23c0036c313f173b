/* retry.c - pawl retry: an execution that failed or is held runs on. */
#include "cli/act.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/options.h"
#include "value/object.h"

static bool make_body(struct client *c, const char *from, int64_t version, const char *input,
                      struct buf *out)
{
    struct str text;
    struct value v;

    buf_init_arena(out, &c->mem);
    buf_char(out, '{');
    if (from != NULL)
        object_text(out, "from", str_of(from));
    if (version > 0)
        object_int(out, "version", version);
    if (input != NULL) {
        if (!file_argument_json(&c->mem, "input", input, &text, &v))
            return false;
        object_json(out, "input", text);
    }
    buf_char(out, '}');
    return true;
}

int command_retry(int argc, char **argv)
{
    const char *from = NULL, *version = NULL, *input = NULL;
    struct act act = {.action = "retry", .done = "tried again"};
    const struct option_spec specs[] = {{.name = "from", .value = &from},
                                        {.name = "version", .value = &version},
                                        {.name = "input", .value = &input},
                                        {.name = "where", .value = &act.where},
                                        {.name = "dry-run", .flag = &act.is_dry_run},
                                        {.name = "json", .flag = &act.as_json},
                                        CLIENT_OPTIONS};
    struct client c;
    struct buf body;
    int64_t number;
    int status = EXIT_FAILED;

    if (!options_read("retry", specs, sizeof(specs) / sizeof(specs[0]), &argc, argv) ||
        !act_fits(&act, argc) || !options_number("retry", "version", version, &number))
        return command_usage("retry");
    client_open(&c);
    if (make_body(&c, from, number, input, &body))
        status = act_run(&c, &act, argv, buf_view(&body));
    client_close(&c);
    return status;
}
