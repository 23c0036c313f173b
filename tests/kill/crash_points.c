/* crash_points.c - prints the names of all crash points, one per line. */
#include "base/crash.h"

#include <stdio.h>

int main(void)
{
    for (int i = 0; i < CRASH_POINT_COUNT; i++)
        puts(crash_point_name((enum crash_point)i));
    return fflush(stdout) == 0 ? 0 : 1;
}
