/* schema.c - pawl schema: a JSON Schema of definitions, for editors. */
#include "define/schema_json.h"

#include "cli/command.h"

#include <stdio.h>

int command_schema(int argc, char **argv)
{
    struct buf out;

    (void)argv;
    if (argc != 1)
        return command_usage("schema");
    buf_init(&out);
    schema_write(&out, LANGUAGE_EN);
    printf("%.*s\n", STR_ARG(buf_view(&out)));
    buf_fini(&out);
    return EXIT_OK;
}
