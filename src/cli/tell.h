/* tell.h - executions in words, for people. */
#ifndef PAWL_CLI_TELL_H
#define PAWL_CLI_TELL_H

#include "base/buf.h"
#include "value/value.h"

/* The time of a member in microseconds, or 0. */
int64_t tell_time_of(struct value object, const char *name);

/* "<1 ms", "12 ms", "3.4 s", "5 min", "2 h", "6 days" */
void tell_duration(struct buf *out, int64_t us);

/* One sentence: where an execution stands and why, and what can be done. */
void tell_state(struct arena *mem, struct buf *out, struct value execution);

/* A value as JSON, cut to `width` characters. */
void tell_short(struct arena *mem, struct buf *out, struct value v, size_t width);

#endif
