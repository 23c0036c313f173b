/* tell.h - executions in words, for people. */
#ifndef PAWL_CLI_TELL_H
#define PAWL_CLI_TELL_H

#include "base/buf.h"
#include "cli/term.h"
#include "value/value.h"

/* The time of a member in microseconds, or 0. */
int64_t tell_time_of(struct value object, const char *name);

/* The whole number that a member is, or `otherwise`. */
int64_t tell_int_of(struct value object, const char *name, int64_t otherwise);

/* "<1 ms", "12 ms", "3.4 s", "5 min", "2 h", "6 days" */
void tell_duration(struct buf *out, int64_t us);

/* "512 bytes", "3.4 MiB" */
void tell_bytes(struct buf *out, int64_t bytes);

/* "2026-11-20 09:00 CET", in the time zone of whoever reads it. */
void tell_moment(struct buf *out, int64_t us);

/* The style of a word for a status, of an execution or of a step. */
enum term_style tell_style(struct str status);

/* What `execution` waits for, as in "for the signal "approved" or "refused"". */
void tell_wait(struct buf *out, struct value waiting_for);

/* What else it waits for in other branches: a list of the same. */
struct value tell_others(struct arena *mem, struct value waiting_for);

/* One sentence: where an execution stands and why, and what can be done. */
void tell_state(struct arena *mem, struct buf *out, struct value execution);

/* Print a line: a name whole, and as much of its value as the width leaves room for. */
void tell_member(struct arena *mem, struct str name, const char *between, struct value v);

/* A value as JSON, cut to `width` characters. */
void tell_short(struct arena *mem, struct buf *out, struct value v, size_t width);

/* How a person names an execution: key:K where that is its own, else the end of its id. */
void tell_name(struct buf *out, struct value execution);

#endif
