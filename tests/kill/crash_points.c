/* crash_points.c - prints the names of all crash points, one per line. */
#include <stdio.h>

int main(void)
{
#define CRASH(symbol, name, when) puts(name);
#include "base/crash.def"
#undef CRASH
    return fflush(stdout) == 0 ? 0 : 1;
}
