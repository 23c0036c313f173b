/*
 * validate.c - pawl validate: check definitions without a server.
 *
 * Files know each other's functions and config. What is in none of them may be
 * on the server: it is assumed to exist, with a warning where it is used.
 */
#include "cli/author/bundle.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/finding.h"
#include "cli/options.h"
#include "define/world.h"

#include <stdio.h>

struct validation {
    struct arena *mem;
    struct bundle all;
    struct findings *findings; /* of each item */
    struct name_list assumed_functions, assumed_config;
};

static void add(struct arena *mem, struct findings *to, const char *pointer, const char *code,
                struct sentence message)
{
    *VEC_ADD(mem, to) =
        (struct finding){.pointer = str_of(pointer), .code = str_of(code), .message = message};
}

/* What may be named: all that the files define, and what was assumed. */
static struct world make_world(struct validation *v)
{
    struct world w = {.mem = v->mem, .assumed = v->assumed_functions, .is_partial = true};

    for (size_t i = 0; i < v->all.count; i++) {
        const struct bundle_item *item = &v->all.items[i];
        const struct kind_spec *spec = kind_of(item->value);
        struct str name = spec == NULL ? STR_NONE : client_text(item->value, spec->key);

        if (name.len > 0 && spec->kind == KIND_CONFIG)
            world_add_config(&w, name);
        else if (name.len > 0 && spec->kind == KIND_FUNCTION)
            world_add_function(&w, name, kind_body(v->mem, spec, item->value));
        else if (name.len > 0 && spec->kind == KIND_CREDENTIAL)
            world_add_credential(&w, name, kind_body(v->mem, spec, item->value));
        else if (name.len > 0 && spec->kind == KIND_PROCEDURE)
            world_add_procedure(&w, name, (struct registered){.definition = item->value});
    }
    for (size_t i = 0; i < v->assumed_config.count; i++)
        world_add_config(&w, v->assumed_config.items[i]);
    world_open(&w);
    return w;
}

/* What stands behind `start` in the name that the finding is about, or nothing. */
static struct str name_behind(const struct finding *f, enum err_about about, struct str start)
{
    return f->about == about && str_starts_with(f->name, start)
               ? str_slice(f->name, start.len, f->name.len)
               : STR_NONE;
}

/* If the finding is about something that a server may have, assume that it does. */
static bool assume(struct validation *v, struct finding *f)
{
    struct str function = name_behind(f, ERR_ABOUT_FUNCTION, STR("fn."));
    struct str config = name_behind(f, ERR_ABOUT_VARIABLE, STR("config."));

    if (f->is_warning || (function.len == 0 && config.len == 0))
        return false;
    *VEC_ADD(v->mem, function.len > 0 ? &v->assumed_functions : &v->assumed_config) =
        function.len > 0 ? function : config;
    f->is_warning = true;
    f->code = STR("not_in_these_files");
    f->message =
        sentence_make(v->mem, "%s '%.*s' is in none of these files; the server may have it",
                      function.len > 0 ? "the function" : "the config",
                      STR_ARG(function.len > 0 ? function : config));
    return true;
}

/* --- one item --- */

static void unknown_kind(struct arena *mem, struct str kind, struct findings *findings)
{
    struct str nearest = kind_nearest(kind);

    add(mem, findings, "/kind", "bad_value",
        sentence_make(mem, "there is no kind '%.*s'", STR_ARG(kind)));
    findings->items[findings->count - 1].hint =
        nearest.len > 0 ? sentence_make(mem, "did you mean '%.*s'?", STR_ARG(nearest))
                        : SENTENCE("it is scenario, schema, machine, procedure, function, template "
                                   "or config; a file with "
                                   "'steps' or 'commands' needs none");
}

static void check_item(struct validation *v, struct world *w, const struct bundle_item *item,
                       struct findings *findings)
{
    const struct kind_spec *spec = kind_of(item->value);
    struct value body;

    if (item->value.kind == VALUE_MAP && spec == NULL && client_text(item->value, "kind").len > 0) {
        unknown_kind(v->mem, client_text(item->value, "kind"), findings);
        return;
    }
    if (item->value.kind != VALUE_MAP || spec == NULL) {
        add(v->mem, findings, item->value.kind != VALUE_MAP ? "" : "/kind", "bad_value",
            SENTENCE("what is this? A scenario has 'steps', a schema 'nodes', a machine 'states', "
                     "a procedure "
                     "'commands'; anything else says "
                     "its 'kind': config, function or template"));
        return;
    }
    if (!kind_allows_name(spec, client_text(item->value, spec->key)) && spec->life == KIND_LIVE) {
        add(v->mem, findings, str_printf(v->mem, "/%s", spec->key).ptr, "bad_name",
            sentence_of(str_of(kind_name_rule(spec))));
        return;
    }
    body = spec->life == KIND_LIVE ? kind_body(v->mem, spec, item->value) : item->value;
    if (spec->kind == KIND_CONFIG) {
        world_check_config(v->mem, body, findings);
        body = value_map_get_str(body, STR("value"));
    }
    world_check(w, spec->kind, client_text(item->value, spec->key), body, findings);
}

/* Check all, and again with what was missing, until nothing is. */
static void validate_all(struct validation *v)
{
    struct findings *warnings = ARENA_ARRAY(v->mem, v->all.count, struct findings);
    bool again;

    for (size_t i = 0; i < v->all.count; i++)
        warnings[i] = (struct findings){0};
    do {
        struct world w = make_world(v);

        again = false;
        for (size_t i = 0; i < v->all.count; i++) {
            struct findings *found = &v->findings[i];

            *found = (struct findings){0};
            check_item(v, &w, &v->all.items[i], found);
            for (size_t k = 0; k < found->count && !again; k++)
                if (assume(v, &found->items[k])) {
                    *VEC_ADD(v->mem, &warnings[i]) = found->items[k];
                    again = true;
                }
            if (again)
                break;
        }
        world_close(&w);
    } while (again);
    for (size_t i = 0; i < v->all.count; i++)
        for (size_t k = 0; k < warnings[i].count; k++)
            *VEC_ADD(v->mem, &v->findings[i]) = warnings[i].items[k];
}

/* --- reporting --- */

/* The findings of all items of one file, pointers from the file on. */
static struct findings findings_of(struct validation *v, const char *path)
{
    struct findings all = {0};

    for (size_t i = 0; i < v->all.count; i++) {
        const struct bundle_item *item = &v->all.items[i];

        if (item->path != path)
            continue;
        findings_locate(v->mem, item->source, item->place, &v->findings[i]);
        for (size_t k = 0; k < v->findings[i].count; k++) {
            struct finding f = v->findings[i].items[k];
            f.pointer = str_printf(v->mem, "%.*s%.*s", STR_ARG(item->place), STR_ARG(f.pointer));
            *VEC_ADD(v->mem, &all) = f;
        }
    }
    return all;
}

/* Files of tests have none. */
static bool has_items(const struct validation *v, const char *path)
{
    for (size_t i = 0; i < v->all.count; i++)
        if (v->all.items[i].path == path)
            return true;
    return false;
}

static void print_findings(struct arena *mem, const struct findings *found)
{
    struct str json = client_json(mem, findings_value(mem, found));

    printf("%.*s\n", STR_ARG(json));
}

static bool validate_report(struct validation *v, const char *path, bool as_json)
{
    struct findings found = findings_of(v, path);
    bool is_valid = !findings_have_errors(&found);

    if (as_json) {
        print_findings(v->mem, &found);
        return is_valid;
    }
    for (size_t i = 0; i < found.count; i++) {
        struct str line = finding_line(v->mem, path, &found.items[i]);

        fprintf(stderr, "%.*s\n", STR_ARG(line));
    }
    if (is_valid)
        printf("%s: valid\n", path);
    return is_valid;
}

/* A file that could not be read: a finding about the whole of it. */
static void report_unread(struct arena *mem, const char *path, const struct err *err, bool as_json)
{
    struct findings found = {0};

    *VEC_ADD(mem, &found) = (struct finding){.pointer = STR(""),
                                             .code = str_of(err_code_name(err->code)),
                                             .message = err_sentence(err),
                                             .place = {.line = err->line, .column = err->column}};
    if (as_json)
        print_findings(mem, &found);
    if (err->line > 0)
        fprintf(stderr, "%s:%u:%u: %s\n", path, err->line, err->column, err->message);
    else
        fprintf(stderr, "pawl: %s\n", err->message);
}

int command_validate(const struct options *o)
{
    struct bundle_paths paths = {0};
    bool as_json = options_has(o, "json"), ok;
    struct validation v = {.all = {.wants = BUNDLE_DEFINITIONS}};
    struct arena mem;
    struct err *errs;
    bool *was_read;

    if (o->argc < 2)
        return options_usage(o);
    arena_init(&mem);
    v.mem = &mem;
    ok = bundle_find(&mem, "validate", o->argc - 1, o->argv + 1, &paths);
    was_read = arena_zalloc(&mem, paths.count + 1);
    errs = ARENA_ARRAY(&mem, paths.count + 1, struct err);
    for (size_t i = 0; i < paths.count; i++) {
        was_read[i] = bundle_try(&mem, paths.items[i], &v.all, &errs[i]);
        ok = was_read[i] && ok;
    }
    v.findings = ARENA_ARRAY(&mem, v.all.count, struct findings);
    validate_all(&v);
    for (size_t i = 0; i < paths.count; i++)
        if (!was_read[i])
            report_unread(&mem, paths.items[i], &errs[i], as_json);
        else if (has_items(&v, paths.items[i]))
            ok = validate_report(&v, paths.items[i], as_json) && ok;
    if (ok && !bundle_report_tests("validate", &v.all)) {
        if (as_json)
            printf("[{\"pointer\":\"\",\"code\":\"no_definition\",\"message\":\"there are tests "
                   "here, and no definitions\",\"severity\":\"error\"}]\n");
        ok = false;
    }
    arena_fini(&mem);
    return ok ? EXIT_OK : EXIT_FAILED;
}
