/* validate.c - pawl validate: check definitions without a server. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/finding.h"
#include "cli/options.h"
#include "define/define.h"

#include <stdio.h>

/* The findings of one file, as a list. False after a message: it is no definition. */
static bool check_file(struct arena *mem, const char *path, struct value *out)
{
    const struct program *program = NULL;
    struct findings findings = {0};
    struct value definition;
    struct str text;
    const char *kind;

    if (!file_read_json(mem, path, &text, &definition))
        return false;
    kind = define_kind_of(definition);
    if (kind == NULL || strcmp(kind, "scenario") != 0) {
        fprintf(stderr, "%s:/: %s\n", path,
                kind == NULL ? "this is no definition: a scenario has steps"
                             : "this kind of definition is not supported yet");
        return false;
    }
    define_compile_scenario(mem, define_env(mem), definition, 0, &findings, &program);
    if (program != NULL)
        program_release(program);
    *out = findings_value(mem, &findings);
    return true;
}

int command_validate(int argc, char **argv)
{
    bool as_json = false;
    const struct option_spec specs[] = {{.name = "json", .flag = &as_json}};
    int status = EXIT_OK;
    struct arena mem;

    if (!options_read("validate", specs, 1, &argc, argv) || argc < 2)
        return command_usage("validate");
    arena_init(&mem);
    for (int i = 1; i < argc; i++) {
        struct value findings;
        if (!check_file(&mem, argv[i], &findings)) {
            status = EXIT_FAILED;
            continue;
        }
        if (as_json)
            printf("%.*s\n", STR_ARG(client_json(&mem, findings)));
        if (!as_json && finding_print(argv[i], findings) > 0)
            status = EXIT_FAILED;
        else if (!as_json)
            printf("%s: valid\n", argv[i]);
        for (uint32_t k = 0; as_json && k < findings.len; k++)
            if (str_eq(client_text(findings.items[k], "severity"), STR("error")))
                status = EXIT_FAILED;
    }
    arena_fini(&mem);
    return status;
}
