/*
 * dump.h - comparing the states of executions, and writing them down: two with
 * the same dump behave the same from here on.
 */
#ifndef PAWL_TESTS_ENGINE_DUMP_H
#define PAWL_TESTS_ENGINE_DUMP_H

#include "define/program.h"
#include "engine/advance.h"
#include "engine/state.h"

/* Everything that a later advance depends on, and every column that is stored, as text. */
struct str dump_execution(struct arena *mem, const struct execution *x);

/* Whether the dumps of both would be the same, without writing them. */
bool dump_is_same(const struct execution *a, const struct execution *b);

/* All that a commit says, its state after it included. */
struct str dump_commit(struct arena *mem, const struct commit *c);

/* What the store keeps of an execution after this commit; history is left as it was. */
void dump_store(struct arena *mem, const struct commit *c, struct stored_execution *stored);

#endif
