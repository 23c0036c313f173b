/*
 * test.c - pawl test: run declarative tests of definitions, without a server.
 *
 * Files are definitions or tests, seen from their shape; test_files.h says
 * where what a test names is looked for.
 */
#include "cli/author/test_files.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/options.h"
#include "value/json.h"
#include "value/object.h"

#include <stdio.h>

struct test_run {
    struct arena *mem;
    struct test_files files;
    const char *path; /* of the file that is being run */
    const char *only; /* a part of the names that are meant, or NULL */
    bool as_json;
    unsigned passed, failed, left_out;
};

/* --- one case --- */

static void run_script(struct test_world *w, const struct program *program,
                       const struct trial_case *c, struct trial *trial)
{
    const struct trial_world world = {.context = w, .process = test_world_process};
    struct findings findings = {0};

    case_run(w->mem, c, program, &world, trial, &findings, w->problems);
    test_add_findings(w->mem, w->test, &findings, w->problems);
}

/* {file, name, ok, tookMs, problems} on a line. */
static void test_print_json(const struct test_run *t, const struct trial_case *c,
                            const struct trial *trial, const struct trial_problems *problems)
{
    struct buf out;

    object_begin(&out, t->mem);
    object_text(&out, "file", str_of(t->path));
    object_text(&out, "name", c->name);
    object_bool(&out, "ok", problems->count == 0);
    object_int(&out, "tookMs", (trial->ended_at_us - trial->started_at_us) / 1000);
    object_list(&out, "problems");
    for (size_t i = 0; i < problems->count; i++) {
        object_next(&out);
        json_write_string(&out, problems->items[i].text);
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
        test_print_json(t, c, trial, problems);
        return;
    }
    if (problems->count > 0) {
        printf("  FAIL  %.*s\n", STR_ARG(c->name));
        for (size_t i = 0; i < problems->count; i++)
            printf("        %.*s\n", STR_ARG(problems->items[i].text));
        return;
    }
    buf_init_arena(&took, t->mem);
    format_duration(&took, trial->ended_at_us - trial->started_at_us);
    printf("  ok    %.*s (%s%.*s)\n", STR_ARG(c->name),
           trial->ended_at_us > trial->started_at_us ? "after " : "at once",
           trial->ended_at_us > trial->started_at_us ? (int)took.len : 0, took.ptr);
}

static bool is_meant(const struct test_run *t, const struct trial_case *c)
{
    return t->only == NULL || str_find(c->name, str_of(t->only), 0) >= 0;
}

static void run_case(struct test_run *t, struct value v, uint32_t index)
{
    struct trial_problems problems = {0};
    const struct program *program;
    struct test_world world;
    struct trial trial = {0};
    struct trial_case c;
    struct arena mem;
    struct err err;
    bool ok;

    arena_init(&mem);
    world = (struct test_world){
        .files = &t->files, .mem = &mem, .test = t->path, .problems = &problems};
    ok = case_read(&mem, v, &c, &err);
    if (c.name.len == 0)
        c.name = str_printf(&mem, "case %u", index + 1);
    if (!is_meant(t, &c)) {
        t->left_out++;
        arena_fini(&mem);
        return;
    }
    if (ok) {
        c.script.config = c.script.config.kind == VALUE_MAP
                              ? state_merge(&mem, t->files.config, c.script.config)
                              : t->files.config;
        c.script.credentials = t->files.credentials;
        program = test_world_program(&world, &c);
        if (program != NULL)
            run_script(&world, program, &c, &trial);
    } else {
        *VEC_ADD(&mem, &problems) = sentence_copy(&mem, err_sentence(&err));
    }
    report(t, &c, &trial, &problems);
    test_world_close(&world);
    arena_fini(&mem);
}

/* --- files --- */

/* The cases of a file: a list, {"tests": [...]}, or one case. Absent: it has none. */
static struct value cases_of(struct value content)
{
    struct value tests = value_map_member(content, STR("tests"));

    if (content.kind == VALUE_LIST || tests.kind == VALUE_LIST)
        return content.kind == VALUE_LIST ? content : tests;
    return case_is_test(content) ? content : value_absent();
}

static bool run_file(struct test_run *t, const struct bundle_item *item)
{
    struct value cases = cases_of(item->value);

    if (cases.kind == VALUE_ABSENT) {
        fprintf(stderr,
                "%s: neither a definition nor tests: a test is {\"name\", \"scenario\", "
                "\"input\", \"expect\"}, or a list of these\n",
                item->path);
        return false;
    }
    t->path = item->path;
    if (!t->as_json)
        printf("%s\n", item->path);
    if (cases.kind == VALUE_MAP)
        run_case(t, cases, 0);
    for (uint32_t i = 0; cases.kind == VALUE_LIST && i < cases.len; i++)
        run_case(t, cases.items[i], i);
    return true;
}

static bool run_files(struct test_run *t)
{
    bool ok = true;

    if (t->files.tests.count == 0) {
        fprintf(stderr, "there are no tests in these files\n");
        return false;
    }
    for (size_t i = 0; i < t->files.tests.count; i++)
        ok = run_file(t, &t->files.tests.items[i]) && ok;
    if (!t->as_json && t->only != NULL)
        printf("%u passed, %u failed, %u not run\n", t->passed, t->failed, t->left_out);
    else if (!t->as_json)
        printf("%u passed, %u failed\n", t->passed, t->failed);
    if (ok && t->passed + t->failed == 0) {
        if (t->only != NULL)
            fprintf(stderr, "no test has '%s' in its name\n", t->only);
        else
            fprintf(stderr, "there are no tests in these files\n");
        return false;
    }
    return ok && t->failed == 0;
}

int command_test(const struct options *o)
{
    struct test_run t = {.only = options_get(o, "only"), .as_json = options_has(o, "json")};
    struct arena mem;
    bool ok;

    if (o->argc < 2)
        return options_usage(o);
    arena_init(&mem);
    t.mem = &mem;
    ok = test_files_read(&t.files, &mem, o->argc - 1, o->argv + 1) && run_files(&t);
    test_files_close(&t.files);
    arena_fini(&mem);
    return ok ? EXIT_OK : EXIT_FAILED;
}
