/* finding.c - see finding.h. */
#include "cli/finding.h"

#include "cli/client.h"

#include <stdio.h>

unsigned finding_print(const char *file, struct value findings)
{
    unsigned errors = 0;

    for (uint32_t i = 0; findings.kind == VALUE_LIST && i < findings.len; i++) {
        struct value f = findings.items[i];
        struct value column = value_map_get_str(f, STR("column"));
        struct str hint = client_text(f, "hint"), pointer = client_text(f, "pointer");
        bool is_warning = str_eq(client_text(f, "severity"), STR("warning"));

        errors += !is_warning;
        fprintf(stderr, "%s:%.*s: %s%.*s", file, STR_ARG(pointer.len > 0 ? pointer : STR("/")),
                is_warning ? "warning: " : "", STR_ARG(client_text(f, "message")));
        if (column.kind == VALUE_INT)
            fprintf(stderr, " (column %lld)", (long long)column.i);
        if (hint.len > 0)
            fprintf(stderr, "; %.*s", STR_ARG(hint));
        fputc('\n', stderr);
    }
    return errors;
}
