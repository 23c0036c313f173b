/* test_files.c - see test_files.h. */
#include "cli/author/test_files.h"

#include "cli/client.h"
#include "cli/finding.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- reading --- */

static struct value with_field(struct arena *mem, struct value map, struct str name, struct value v)
{
    struct value_entry *entry = ARENA_ARRAY(mem, 1, struct value_entry);
    size_t duplicate;

    entry[0] = (struct value_entry){.key = value_key(name), .value = v};
    return state_merge(mem, map, value_map_make(mem, entry, 1, &duplicate));
}

static void test_take(struct test_files *f, const struct bundle_item *item)
{
    const struct kind_spec *spec = kind_of(item->value);
    struct str name = spec == NULL ? STR_NONE : client_text(item->value, spec->key);

    if (spec == NULL) {
        *VEC_ADD(f->mem, &f->tests) = *item;
        return;
    }
    *VEC_ADD(f->mem, &f->definitions) = *item;
    if (name.len > 0 && spec->kind == KIND_FUNCTION)
        *VEC_ADD(f->mem, &f->functions) =
            (struct function){.name = name, .definition = kind_body(f->mem, spec, item->value)};
    if (name.len > 0 && spec->kind == KIND_CONFIG)
        f->config =
            with_field(f->mem, f->config, name, value_map_get_str(item->value, STR("value")));
    if (name.len > 0 && spec->kind == KIND_CREDENTIAL)
        f->credentials = with_field(f->mem, f->credentials, name,
                                    value_map_get_str(item->value, STR("base_url")));
}

/* What is wrong with the functions: nothing that calls one would compile. */
static bool report_functions(const struct test_files *f)
{
    bool ok = true;

    for (size_t i = 0; i < f->functions.count; i++) {
        const struct function *fn = &f->functions.items[i];

        for (size_t k = 0; k < fn->findings.count; k++) {
            fprintf(stderr, "fn.%.*s:%.*s: %.*s\n", STR_ARG(fn->name),
                    STR_ARG(fn->findings.items[k].pointer),
                    STR_ARG(fn->findings.items[k].message.text));
            ok = ok && fn->findings.items[k].is_warning;
        }
    }
    return ok;
}

bool test_files_read(struct test_files *f, struct arena *mem, int count, char **paths)
{
    struct bundle_paths found = {0};
    struct bundle all = {0};
    bool ok;

    *f = (struct test_files){
        .mem = mem, .config = value_map_empty(), .credentials = value_map_empty()};
    ok = bundle_find(mem, "test", count, paths, &found);
    for (size_t i = 0; i < found.count; i++)
        ok = bundle_read(mem, found.items[i], &all) && ok;
    for (size_t i = 0; i < all.count; i++)
        test_take(f, &all.items[i]);
    f->env = functions_compile(mem, define_env(mem), f->functions.items, f->functions.count, NULL)
                 .definitions;
    return report_functions(f) && ok;
}

void test_files_close(struct test_files *f)
{
    functions_release(f->functions.items, f->functions.count);
}

/* --- finding --- */

static const struct bundle_item *test_find(const struct test_files *f, enum kind kind,
                                           struct str code)
{
    for (size_t i = 0; i < f->definitions.count; i++) {
        const struct bundle_item *item = &f->definitions.items[i];

        if (kind_of(item->value)->kind == kind && str_eq(client_text(item->value, "code"), code))
            return item;
    }
    return NULL;
}

/* The same, else CODE.json, or CODE.yaml, in the folder of the test. */
static const struct bundle_item *find_near(struct test_files *f, const char *test, enum kind kind,
                                           struct str code)
{
    const char *slash = strrchr(test, '/');
    int folder = slash == NULL ? 0 : (int)(slash - test) + 1;
    const struct bundle_item *found = test_find(f, kind, code);
    struct bundle beside = {0};
    struct str path;

    if (found != NULL || str_find(code, STR("/"), 0) >= 0)
        return found;
    for (size_t i = 0; bundle_endings[i] != NULL && beside.count == 0; i++) {
        path = str_printf(f->mem, "%.*s%.*s%s", folder, test, STR_ARG(code), bundle_endings[i]);
        if (access(path.ptr, R_OK) == 0 && !bundle_read(f->mem, path.ptr, &beside))
            return NULL;
    }
    for (size_t i = 0; i < beside.count; i++)
        if (kind_of(beside.items[i].value) != NULL)
            *VEC_ADD(f->mem, &f->definitions) = beside.items[i];
    return test_find(f, kind, code);
}

/* --- compiling --- */

void test_add_findings(struct arena *mem, const char *path, const struct findings *findings,
                       struct trial_problems *out)
{
    for (size_t i = 0; i < findings->count; i++)
        if (!findings->items[i].is_warning)
            *VEC_ADD(mem, out) = sentence_of(finding_line(mem, path, &findings->items[i]));
}

/* For the registry: as a test finds its scenario. */
static bool find_procedure(void *context, struct arena *mem, struct str code,
                           struct registered *out)
{
    const struct test_world *w = context;
    const struct bundle_item *item;

    (void)mem;
    if (w->extra.kind == VALUE_MAP && str_eq(client_text(w->extra, "code"), code)) {
        *out = (struct registered){.definition = w->extra};
        return true;
    }
    item = find_near(w->files, w->test, KIND_PROCEDURE, code);
    if (item == NULL)
        return false;
    *out = (struct registered){.definition = item->value};
    return true;
}

/* `item` is where the definition stands, or NULL: in the test itself. */
static const struct program *test_compile(struct test_world *w, const struct bundle_item *item,
                                          enum kind kind, struct value definition)
{
    const struct registry registry = {.procedure = find_procedure, .context = w};
    const struct program *program = NULL;
    struct findings findings = {0};

    define_compile(w->mem, w->files->env, &registry, kind, definition, 0, &findings, &program);
    if (program != NULL) {
        *VEC_ADD(w->mem, &w->programs) = program;
        return program;
    }
    if (item != NULL)
        findings_locate(w->mem, item->source, item->place, &findings);
    test_add_findings(w->mem, item == NULL ? w->test : item->path, &findings, w->problems);
    return NULL;
}

static const struct program *test_refuse(struct test_world *w, const char *what, struct str code)
{
    *VEC_ADD(w->mem, w->problems) = sentence_make(
        w->mem, "no %s '%.*s': give its file too, or put it beside the test as %.*s.json or .yaml",
        what, STR_ARG(code), STR_ARG(code));
    return NULL;
}

static const struct program *procedure_program(struct test_world *w, const struct trial_case *c)
{
    const struct kind_spec *spec = kind_spec(KIND_PROCEDURE);
    struct str code = c->procedure;

    w->extra = c->procedure_definition;
    if (w->extra.kind == VALUE_MAP)
        code = client_text(w->extra, "code");
    if (!kind_allows_name(spec, code)) {
        *VEC_ADD(w->mem, w->problems) = sentence_make(
            w->mem, "'procedure' is a code, or a definition with one: %s", kind_name_rule(spec));
        return NULL;
    }
    if (w->extra.kind != VALUE_MAP && find_near(w->files, w->test, KIND_PROCEDURE, code) == NULL)
        return test_refuse(w, "procedure", code);
    return test_compile(w, NULL, KIND_SCENARIO,
                        case_procedure_scenario(w->mem, code, c->script.input));
}

const struct program *test_world_program(struct test_world *w, const struct trial_case *c)
{
    const struct bundle_item *item;

    if (c->definition.kind == VALUE_MAP)
        return test_compile(w, NULL, c->kind, c->definition);
    if (c->scenario.len == 0)
        return procedure_program(w, c);
    item = find_near(w->files, w->test, c->kind, c->scenario);
    return item == NULL ? test_refuse(w, kind_spec(c->kind)->name, c->scenario)
                        : test_compile(w, item, c->kind, item->value);
}

const struct program *test_world_process(void *context, struct str code)
{
    struct test_world *w = context;

    for (unsigned i = 0; i < KIND_COUNT; i++) {
        const struct kind_spec *spec = kind_spec((enum kind)i);
        const struct bundle_item *item = spec->use == KIND_PROCESS && spec->state == KIND_NOW
                                             ? find_near(w->files, w->test, spec->kind, code)
                                             : NULL;

        if (item != NULL)
            return test_compile(w, item, spec->kind, item->value);
    }
    return NULL;
}

void test_world_close(struct test_world *w)
{
    for (size_t i = 0; i < w->programs.count; i++)
        program_release(w->programs.items[i]);
}
