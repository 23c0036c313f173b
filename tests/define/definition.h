/*
 * definition.h - compiling definitions in tests.
 *
 * Definitions are written with ' in place of ", so that they can be read in C;
 * a literal ' is written as `.
 */
#ifndef PAWL_TESTS_DEFINE_DEFINITION_H
#define PAWL_TESTS_DEFINE_DEFINITION_H

#include "define/define.h"

extern struct arena definition_mem;
extern struct findings definition_findings; /* of the last definition_compile() */

/* For cmocka: an arena for each test. */
int definition_set_up(void **state);
int definition_tear_down(void **state);

#define DEFINITION_TEST(f)                                                                         \
    cmocka_unit_test_setup_teardown(f, definition_set_up, definition_tear_down)

/* A text with its quotes as JSON has them. */
const char *definition_quote(const char *text);

/* The value of such a text. */
struct value definition_value(const char *text);

/* Compile a scenario, or fail the test. Released at the end of the test. */
const struct program *definition_program(const char *text);

/* Compile a scenario with these steps: "[{...}, ...]". */
const struct program *definition_steps(const char *steps);

/* Compile what may be wrong: the program or NULL. */
const struct program *definition_compile(struct value definition);

/* What the registry holds, as {name: definition}; the version of each is 7. NULL: there is none. */
extern const char *definition_procedures;

/* The same for a schema. */
const struct program *definition_schema(struct value definition);

/* The same for a procedure of the registry. */
const struct program *definition_procedure(struct value definition);

/*
 * What is found wrong with a definition, which may be a procedure or a schema, each
 * finding on a line: "pointer code", "pointer code:column", then "?" for a
 * warning and the hint if there is one that names a word.
 */
const char *definition_found(const char *text);

struct definition_row {
    const char *part; /* of a definition */
    const char *expected;
};

/* Hold definitions against what should be found; `shape` has one %s for the part. */
void definition_check_rows(const char *shape, const struct definition_row *rows, size_t count);

#define DEFINITION_ROWS(shape, rows)                                                               \
    definition_check_rows((shape), (rows), sizeof(rows) / sizeof((rows)[0]))

/* A value as JSON, zero-terminated. */
const char *definition_json(struct value v);

#endif
