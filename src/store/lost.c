/* lost.c - since when no connection could be made again; see store.h. */
#include "base/clock.h"
#include "store/store.h"

#include <stdatomic.h>

void store_note_lost(_Atomic int64_t *lost_since_us)
{
    int64_t nobody = 0;

    (void)atomic_compare_exchange_strong(lost_since_us, &nobody, clock_mono_us(&clock_system));
}

void store_note_found(_Atomic int64_t *lost_since_us)
{
    if (atomic_load_explicit(lost_since_us, memory_order_relaxed) != 0)
        atomic_store(lost_since_us, 0);
}
