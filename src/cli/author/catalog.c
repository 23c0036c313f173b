/*
 * catalog.c - pawl catalog: everything that a definition may hold, as JSON; and
 * pawl schema: the same as a JSON Schema, for editors.
 */
#include "cli/command.h"
#include "cli/options.h"
#include "define/catalog/catalog_json.h"
#include "define/catalog/schema_json.h"

#include <stdio.h>

static int print_written(const struct options *o, void (*write)(struct buf *, enum language))
{
    struct buf out;

    if (o->argc != 1)
        return options_usage(o);
    buf_init(&out);
    write(&out, LANGUAGE_EN);
    printf("%.*s\n", STR_ARG(buf_view(&out)));
    buf_fini(&out);
    return EXIT_OK;
}

int command_catalog(const struct options *o)
{
    return print_written(o, catalog_write);
}

int command_schema(const struct options *o)
{
    return print_written(o, schema_write);
}
