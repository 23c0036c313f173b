/*
 * crash.h - places where the process can be made to die, for the tests.
 *
 * In check builds (PAWL_SLOW_CHECKS) the environment says where:
 *
 *     PAWL_CRASH_AT=writer.committed:3    SIGKILL at the third time it gets there
 *
 * The number counts over all threads and is 1 when left out; a name that is not
 * in crash.def ends the process at once. In other builds a point is nothing.
 */
#ifndef PAWL_BASE_CRASH_H
#define PAWL_BASE_CRASH_H

enum crash_point {
#define CRASH(symbol, name, when) CRASH_##symbol,
#include "base/crash.def"
#undef CRASH
    CRASH_POINT_COUNT
};

/* Count one pass, and die when it is the one that was asked for. */
void crash_point_pass(enum crash_point point);

#ifdef PAWL_SLOW_CHECKS
#define CRASH_POINT(symbol) crash_point_pass(CRASH_##symbol)
#else
#define CRASH_POINT(symbol) ((void)CRASH_##symbol)
#endif

#endif
