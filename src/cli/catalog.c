/* catalog.c - pawl catalog: everything that a definition may hold, as JSON. */
#include "cli/command.h"
#include "define/catalog_json.h"

#include <stdio.h>

int command_catalog(int argc, char **argv)
{
    struct buf out;

    (void)argv;
    if (argc != 1)
        return command_usage("catalog");
    buf_init(&out);
    catalog_write(&out, LANGUAGE_EN);
    printf("%.*s\n", STR_ARG(buf_view(&out)));
    buf_fini(&out);
    return EXIT_OK;
}
