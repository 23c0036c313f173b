/* format.h - times, sizes and values as text, for people. */
#ifndef PAWL_CLI_FORMAT_H
#define PAWL_CLI_FORMAT_H

#include "base/buf.h"
#include "value/value.h"

/* "<1 ms", "12 ms", "3.4 s", "5 min", "2 h", "6 days" */
void format_duration(struct buf *out, int64_t us);

/* "512 bytes", "3.4 MiB" */
void format_bytes(struct buf *out, int64_t bytes);

/* "2026-11-20 09:00 CET", in the time zone of whoever reads it. */
void format_moment(struct buf *out, int64_t us);

/* A value as JSON, cut to `width` characters. */
void format_short(struct arena *mem, struct buf *out, struct value v, size_t width);

/* Print a line: what stood at a place of a definition before, and what does now; either may be absent. */
void format_print_change(struct arena *mem, struct str pointer, struct value from, struct value to);

/* Print a line: a name whole, and as much of its value as the width leaves room for. */
void format_print_member(struct arena *mem, struct str name, const char *between, struct value v);

#endif
