/*
 * pins.h - what a program rests on beside its own version: the procedures of
 * the registry and the user functions that it can reach, each in a version.
 *
 * As text: {"procedures":{"price":3},"functions":{"vat":1}}, by name, so that
 * equal pins are equal bytes.
 *
 * why: decision 0106
 */
#ifndef PAWL_DEFINE_PINS_H
#define PAWL_DEFINE_PINS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

struct function;
struct program;

/* Something of the registry in a version. */
struct pinned {
    struct str name;
    int64_t version;
};

struct pin_list {
    VEC_OF(struct pinned);
};

struct pins {
    struct pin_list procedures, functions; /* by name */
};

/*
 * What a program can reach, calls of calls included. `all` are the functions
 * that it was compiled with; names are shared with these and the program.
 */
void pins_collect(struct arena *mem, const struct program *p, const struct function *all,
                  size_t count, struct pins *out);

/* Whether there is nothing to pin. */
bool pins_are_empty(const struct pins *pins);

/* The pins as text, in `mem`, and back. ERR_INTERNAL: the text was not made by pins_write(). */
struct str pins_write(struct arena *mem, const struct pins *pins);
bool pins_read(struct arena *mem, struct str text, struct pins *out, struct err *err) MUST_USE;

/* The version of that name; 0: it is not pinned. */
int64_t pins_version(const struct pin_list *list, struct str name);

#endif
