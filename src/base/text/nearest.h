/*
 * nearest.h - "did you mean": the name most like a mistyped one.
 *
 *     struct nearest n = nearest_to(mistyped);
 *     for (...)
 *         nearest_offer(&n, name);
 *     hint(n.best);
 */
#ifndef PAWL_BASE_NEAREST_H
#define PAWL_BASE_NEAREST_H

#include "base/str.h"

struct nearest {
    struct str name;
    struct str best; /* the nearest that was offered; empty: none is near enough */
    unsigned limit;  /* how many edits the next one may differ by */
};

/* Looks for names within two edits; within one for short names, none for those of two letters. */
struct nearest nearest_to(struct str name);

/* The first of several that are equally near stays. `candidate` must outlive `n`. */
void nearest_offer(struct nearest *n, struct str candidate);

/* Offer each of `words`, which have spaces between them. */
void nearest_offer_words(struct nearest *n, struct str words);

#endif
