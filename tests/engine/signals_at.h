/* signals_at.h - one of the signals of an execution, by its number. */
#ifndef PAWL_TESTS_ENGINE_SIGNALS_AT_H
#define PAWL_TESTS_ENGINE_SIGNALS_AT_H

#include "engine/signals.h"

/* Number `index`, the oldest being 0; there must be one. */
static inline const struct signal *signals_at(const struct signals *s, size_t index)
{
    struct shared_iter iter = signals_last(s, s->list.count - index);

    return signals_next(s, &iter);
}

#endif
