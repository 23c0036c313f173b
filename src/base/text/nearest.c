/* nearest.c - see nearest.h. */
#include "base/text/nearest.h"

struct nearest nearest_to(struct str name)
{
    return (struct nearest){.name = name,
                            .best = STR_NONE,
                            .limit = name.len < 3   ? 0
                                     : name.len < 5 ? 1
                                                    : 2};
}

void nearest_offer(struct nearest *n, struct str candidate)
{
    unsigned distance;

    if (n->limit == 0 || candidate.len == 0)
        return;
    distance = str_distance(n->name, candidate, n->limit);
    if (distance > n->limit)
        return;
    n->best = candidate;
    n->limit = distance == 0 ? 0 : distance - 1;
}

void nearest_offer_words(struct nearest *n, struct str words)
{
    while (words.len > 0)
        nearest_offer(n, str_cut(&words, ' '));
}
