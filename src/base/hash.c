/* hash.c - the process's hash seed. */
#include "base/hash.h"

#include "base/attr.h"

#include <sys/random.h>

uint64_t hash_seed = 0x2545f4914f6cdd1du;

__attribute__((constructor)) static void seed_from_system(void)
{
    uint64_t seed;

    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == (ssize_t)sizeof(seed))
        hash_seed = seed | 1;
}
