/*
 * test_files.h - the definitions that tests are about: those in the files given,
 * else the file CODE.json, or CODE.yaml, beside
 * the test.
 */
#ifndef PAWL_CLI_AUTHOR_TEST_FILES_H
#define PAWL_CLI_AUTHOR_TEST_FILES_H

#include "cli/author/bundle.h"
#include "define/world.h"
#include "trial/case.h"

struct test_files {
    struct arena *mem;
    struct bundle definitions, tests;
    struct function_list functions;
    struct value config;       /* a map: $.config as the files say it */
    struct value credentials;  /* {code: base_url} as the files say it */
    const struct cel_env *env; /* of definitions, with the functions */
};

/* Read the files, a folder being all in it. False after a message. */
bool test_files_read(struct test_files *f, struct arena *mem, int count, char **paths) MUST_USE;

void test_files_close(struct test_files *f);

/* What one case needs while it runs; programs that it starts live in its memory. */
struct test_world {
    struct test_files *files;
    struct arena *mem;
    const char *test; /* the path of its file */
    struct trial_problems *problems;
    struct value extra; /* a procedure that stands in the case itself, or absent */
    struct {
        VEC_OF(const struct program *);
    } programs;
};

/* The program of a case, released by test_world_close(). NULL: w->problems says why. */
const struct program *test_world_program(struct test_world *w, const struct trial_case *c);

/* trial_world.process, with a struct test_world for its context. */
const struct program *test_world_process(void *context, struct str code);

void test_world_close(struct test_world *w);

/* The findings that are errors, each as a problem: "file:pointer: message". */
void test_add_findings(struct arena *mem, const char *path, const struct findings *findings,
                       struct trial_problems *out);

#endif
