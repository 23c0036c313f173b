/*
 * test.c - pawl test: run declarative tests of definitions, without a server.
 *
 * Files are definitions or tests, seen from their shape; what a test names is
 * looked for among the files given, then beside the test as CODE.json.
 */
#include "cli/command.h"
#include "cli/file.h"
#include "cli/finding.h"
#include "cli/options.h"
#include "cli/tell.h"
#include "define/define.h"
#include "trial/case.h"
#include "value/json.h"
#include "value/object.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A file as it was read. */
struct source {
    const char *path;
    struct value content;
};

struct sources {
    VEC_OF(struct source);
};

struct test_run {
    struct arena *mem;
    struct sources definitions;
    const char *path; /* of the file that is being run */
    bool as_json;
    unsigned passed, failed;
};

static struct value member(struct value map, const char *name)
{
    return map.kind == VALUE_MAP ? value_map_get_str(map, str_of(name)) : value_absent();
}

/* --- finding definitions --- */

/* The definition of that code, or NULL. */
static const struct source *find(const struct test_run *t, struct str code)
{
    for (size_t i = 0; i < t->definitions.count; i++) {
        struct value own = member(t->definitions.items[i].content, "code");

        if (own.kind == VALUE_STRING && str_eq(value_text(own), code))
            return &t->definitions.items[i];
    }
    return NULL;
}

/* CODE.json in the folder of the test. */
static const struct source *find_beside(struct test_run *t, const char *test, struct str code)
{
    const char *slash = strrchr(test, '/');
    int folder = slash == NULL ? 0 : (int)(slash - test) + 1;
    struct str path = str_printf(t->mem, "%.*s%.*s.json", folder, test, STR_ARG(code));
    struct source *found;
    struct str text;
    struct value v;

    if (access(path.ptr, R_OK) != 0 || !file_read_json(t->mem, path.ptr, &text, &v) ||
        define_kind_of(v) == NULL)
        return NULL;
    found = VEC_ADD(t->mem, &t->definitions);
    *found = (struct source){.path = path.ptr, .content = v};
    return find(t, code);
}

/* --- one case --- */

static void tell_problem(struct str problem)
{
    printf("        %.*s\n", STR_ARG(problem));
}

static void add_findings(struct arena *mem, const char *path, const struct findings *findings,
                         struct trial_problems *out)
{
    for (size_t i = 0; i < findings->count; i++)
        if (!findings->items[i].is_warning)
            *VEC_ADD(mem, out) =
                str_printf(mem, "%s:%.*s: %.*s", path, STR_ARG(findings->items[i].pointer),
                           STR_ARG(findings->items[i].message));
}

/* Where a scenario finds the procedures that it names: as a test finds its scenario. */
struct files {
    struct test_run *run;
    const char *test;
};

static bool find_procedure(void *context, struct arena *mem, struct str code,
                           struct registered *out)
{
    const struct files *files = context;
    const struct source *s = find(files->run, code);

    (void)mem;
    if (s == NULL)
        s = find_beside(files->run, files->test, code);
    if (s == NULL || strcmp(define_kind_of(s->content), "procedure") != 0)
        return false;
    *out = (struct registered){.definition = s->content};
    return true;
}

/* The program of a case, in `mem`. NULL after *why says what is wrong. */
static const struct program *compile(struct test_run *t, struct arena *mem, const char *test,
                                     const struct trial_case *c, struct trial_problems *why)
{
    const struct program *program = NULL;
    struct findings findings = {0};
    struct value definition = c->definition;
    struct files files = {.run = t, .test = test};
    const struct registry registry = {.procedure = find_procedure, .context = &files};
    const char *path = test;

    if (definition.kind == VALUE_ABSENT) {
        const struct source *s = find(t, c->scenario);

        if (s == NULL)
            s = find_beside(t, test, c->scenario);
        if (s == NULL) {
            *VEC_ADD(mem, why) = str_printf(
                mem,
                "no definition '%.*s': give its file too, or put it beside the test as %.*s.json",
                STR_ARG(c->scenario), STR_ARG(c->scenario));
            return NULL;
        }
        definition = s->content;
        path = s->path;
    }
    define_compile(mem, define_env(mem), &registry, DEFINE_SCENARIO, definition, 0, &findings,
                   &program);
    if (program == NULL)
        add_findings(mem, path, &findings, why);
    return program;
}

static void run_script(struct arena *mem, const char *test, const struct program *program,
                       const struct trial_case *c, struct trial *trial,
                       struct trial_problems *problems)
{
    struct findings findings = {0};
    struct err err;

    if (trial_run(mem, program, &c->script, NULL, trial, &findings, &err)) {
        case_check(mem, c, trial, problems);
        return;
    }
    *VEC_ADD(mem, problems) = str_copy(mem, str_of(err.message));
    add_findings(mem, test, &findings, problems);
}

/* {file, name, ok, tookMs, problems} on a line. */
static void print_json(const struct test_run *t, const struct trial_case *c,
                       const struct trial *trial, const struct trial_problems *problems)
{
    struct buf out;

    buf_init_arena(&out, t->mem);
    buf_char(&out, '{');
    object_text(&out, "file", str_of(t->path));
    object_text(&out, "name", c->name);
    object_bool(&out, "ok", problems->count == 0);
    object_int(&out, "tookMs", (trial->ended_at_us - trial->started_at_us) / 1000);
    object_name(&out, "problems");
    buf_char(&out, '[');
    for (size_t i = 0; i < problems->count; i++) {
        object_next(&out);
        json_write_string(&out, problems->items[i]);
    }
    printf("%.*s]}\n", STR_ARG(buf_view(&out)));
}

static void report(struct test_run *t, const struct trial_case *c, const struct trial *trial,
                   const struct trial_problems *problems)
{
    struct buf took;

    t->failed += problems->count > 0;
    t->passed += problems->count == 0;
    if (t->as_json) {
        print_json(t, c, trial, problems);
        return;
    }
    if (problems->count > 0) {
        printf("  FAIL  %.*s\n", STR_ARG(c->name));
        for (size_t i = 0; i < problems->count; i++)
            tell_problem(problems->items[i]);
        return;
    }
    buf_init_arena(&took, t->mem);
    tell_duration(&took, trial->ended_at_us - trial->started_at_us);
    printf("  ok    %.*s (%s%.*s)\n", STR_ARG(c->name),
           trial->ended_at_us > trial->started_at_us ? "after " : "at once",
           trial->ended_at_us > trial->started_at_us ? (int)took.len : 0, took.ptr);
}

static void run_case(struct test_run *t, const char *path, struct value v, uint32_t index)
{
    struct trial_problems problems = {0};
    const struct program *program;
    struct trial trial = {0};
    struct trial_case c;
    struct arena mem;
    struct err err;

    arena_init(&mem);
    if (!case_read(&mem, v, &c, &err)) {
        c.name = c.name.len > 0 ? c.name : str_printf(&mem, "case %u", index + 1);
        *VEC_ADD(&mem, &problems) = str_copy(&mem, str_of(err.message));
    } else {
        program = compile(t, &mem, path, &c, &problems);
        if (program != NULL) {
            run_script(&mem, path, program, &c, &trial, &problems);
            report(t, &c, &trial, &problems);
            program_release(program);
            arena_fini(&mem);
            return;
        }
    }
    report(t, &c, &trial, &problems);
    arena_fini(&mem);
}

/* --- files --- */

/* The cases of a file: a list, {"tests": [...]}, or one case. Absent: it has none. */
static struct value cases_of(struct value content)
{
    if (content.kind == VALUE_LIST || member(content, "tests").kind == VALUE_LIST)
        return content.kind == VALUE_LIST ? content : member(content, "tests");
    return member(content, "expect").kind == VALUE_ABSENT ? value_absent() : content;
}

static bool run_file(struct test_run *t, const struct source *s)
{
    struct value cases = cases_of(s->content);

    if (cases.kind == VALUE_ABSENT) {
        fprintf(stderr,
                "%s: neither a definition nor tests: a test is {\"name\", \"scenario\", "
                "\"input\", \"expect\"}, or a list of these\n",
                s->path);
        return false;
    }
    t->path = s->path;
    if (!t->as_json)
        printf("%s\n", s->path);
    if (cases.kind == VALUE_MAP)
        run_case(t, s->path, cases, 0);
    for (uint32_t i = 0; cases.kind == VALUE_LIST && i < cases.len; i++)
        run_case(t, s->path, cases.items[i], i);
    return true;
}

static bool read_files(struct test_run *t, int count, char **paths, struct sources *tests)
{
    bool ok = true;

    for (int i = 0; i < count; i++) {
        struct source s = {.path = paths[i]};
        struct str text;

        if (!file_read_json(t->mem, paths[i], &text, &s.content)) {
            ok = false;
            continue;
        }
        if (define_kind_of(s.content) != NULL)
            *VEC_ADD(t->mem, &t->definitions) = s;
        else
            *VEC_ADD(t->mem, tests) = s;
    }
    return ok;
}

int command_test(int argc, char **argv)
{
    struct test_run t = {0};
    const struct option_spec specs[] = {{.name = "json", .flag = &t.as_json}};
    struct sources tests = {0};
    struct arena mem;
    bool ok;

    if (!options_read("test", specs, 1, &argc, argv) || argc < 2)
        return command_usage("test");
    arena_init(&mem);
    t.mem = &mem;
    ok = read_files(&t, argc - 1, argv + 1, &tests);
    if (ok && tests.count == 0) {
        fprintf(stderr, "there are no tests in these files\n");
        ok = false;
    }
    for (size_t i = 0; i < tests.count; i++)
        ok = run_file(&t, &tests.items[i]) && ok;
    if (tests.count > 0 && !t.as_json)
        printf("%u passed, %u failed\n", t.passed, t.failed);
    arena_fini(&mem);
    return ok && t.failed == 0 ? EXIT_OK : EXIT_FAILED;
}
