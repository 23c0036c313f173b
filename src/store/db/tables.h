/*
 * tables.h - the statements of migrations/tables.def and views.def, in each dialect.
 *
 * The preprocessor expands the words of a statement before it makes text of it. So what a
 * dialect_*.c includes must not define a word of SQL: <stddef.h> has NULL, <stdbool.h> has true.
 */
#ifndef PAWL_STORE_DB_TABLES_H
#define PAWL_STORE_DB_TABLES_H

#include <stdint.h>

enum { TABLES_BASELINE = 37 };

/* One statement of the migration to `version`; one that a dialect does not need is empty. */
struct migration {
    int64_t version;
    const char *text; /* none: the list has ended */
};

extern const struct migration tables_sqlite[], tables_postgres[];

#define TEXT_OF(...) #__VA_ARGS__
#define BASELINE(...) {.version = TABLES_BASELINE, .text = TEXT_OF(__VA_ARGS__)},
#define MIGRATE(number, ...) {.version = (number), .text = TEXT_OF(__VA_ARGS__)},

#endif
