/* finding.c - see finding.h. */
#include "cli/finding.h"

#include "cli/client.h"

#include <stdio.h>

bool finding_print_one(const char *file, struct str pointer, struct value finding)
{
    struct value column = value_map_get_str(finding, STR("column"));
    struct str hint = client_text(finding, "hint");
    bool is_warning = str_eq(client_text(finding, "severity"), STR("warning"));

    fprintf(stderr, "%s:%.*s: %s%.*s", file, STR_ARG(pointer.len > 0 ? pointer : STR("/")),
            is_warning ? "warning: " : "", STR_ARG(client_text(finding, "message")));
    if (column.kind == VALUE_INT)
        fprintf(stderr, " (column %lld)", (long long)column.i);
    if (hint.len > 0)
        fprintf(stderr, "; %.*s", STR_ARG(hint));
    fputc('\n', stderr);
    return !is_warning;
}

unsigned finding_print(const char *file, struct value findings)
{
    unsigned errors = 0;

    for (uint32_t i = 0; findings.kind == VALUE_LIST && i < findings.len; i++)
        errors +=
            finding_print_one(file, client_text(findings.items[i], "pointer"), findings.items[i]);
    return errors;
}
