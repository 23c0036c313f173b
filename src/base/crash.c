/* crash.c - see crash.h. */
#include "base/crash.h"

#include "base/names.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

static const char *const names[] = {
#define CRASH(symbol, name, when) name,
#include "base/crash.def"
#undef CRASH
};

/* What the environment asked for; read once, then only read. */
static int wanted_point = -1;
static atomic_long passes_left;

static void read_environment(void)
{
    const char *wanted = getenv("PAWL_CRASH_AT");
    size_t len;

    if (wanted == NULL || *wanted == '\0')
        return;
    len = strcspn(wanted, ":");
    wanted_point = names_find(names, sizeof(names[0]), ARRAY_SIZE(names), str_from(wanted, len));
    if (wanted_point < 0)
        PANIC("PAWL_CRASH_AT names no point of crash.def");
    atomic_store(&passes_left, wanted[len] == ':' ? strtol(wanted + len + 1, NULL, 10) : 1);
}

void crash_point_pass(enum crash_point point)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_environment);
    if ((int)point == wanted_point && atomic_fetch_sub(&passes_left, 1) == 1)
        raise(SIGKILL);
}
