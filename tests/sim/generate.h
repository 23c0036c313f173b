/* generate.h - what scenarios are made of; for generate*.c alone, see sim.h. */
#ifndef PAWL_TESTS_SIM_GENERATE_H
#define PAWL_TESTS_SIM_GENERATE_H

#include "sim/sim.h"

/* Append JSON whose quotes are written as '. */
void generate_put(struct buf *out, const char *format, ...) PRINTF_LIKE(2, 3);

const char *generate_pick(struct dice *d, const char *const *words, unsigned count);

#define PICK(d, ...)                                                                               \
    generate_pick((d), (const char *const[]){__VA_ARGS__},                                         \
                  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* The steps of one block. */
struct plan {
    unsigned number; /* of the next step */
    unsigned depth;
    unsigned loops;   /* around it */
    unsigned at_once; /* of these, those whose rounds run at once */
    unsigned mix, kids;
};

/*
 * generate_special.c: a step, or several, of what the mix allows. False: there
 * is nothing of that.
 */
bool generate_special(struct buf *out, struct dice *d, struct plan *plan);

#endif
