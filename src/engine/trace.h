/*
 * trace.h - where an execution stands in a distributed trace (W3C Trace Context).
 *
 * An execution that took a trace over at its start, from a traceparent or from
 * its parent, has that text; any other one has a trace of its own, whose id is
 * the id of the execution. Ids of spans are hashes of what they stand for, so
 * that whoever goes on with an execution, after a restart or on another node,
 * goes on with its trace.
 */
#ifndef PAWL_ENGINE_TRACE_H
#define PAWL_ENGINE_TRACE_H

#include "base/buf.h"
#include "engine/advance.h"
#include "engine/execution.h"

enum {
    TRACE_ID_LEN = 16,
    SPAN_ID_LEN = 8,
    TRACEPARENT_LEN = 55,
    TRACESTATE_MAX = 512, /* characters that are passed on */
    TRACESTATE_MEMBERS_MAX = 32,
};

struct span_id {
    uint8_t bytes[SPAN_ID_LEN];
};

struct trace {
    uint8_t id[TRACE_ID_LEN];
    bool has_parent;
    struct span_id parent; /* of the execution's own span */
    bool is_sampled;       /* somebody wants to see it */
    struct str state;      /* a tracestate: what tracing systems tell each other; or empty */
};

/* Read "00-TRACE-SPAN-FLAGS", also of later versions. False: it is none, and to be ignored. */
bool trace_read(struct str traceparent, struct trace *out) MUST_USE;

/*
 * What is passed on of a tracestate, "name=value,...": its first members, as many
 * as there is room for; the newest come first. Empty: it is none, and to be ignored.
 */
struct str trace_state_read(struct arena *mem, struct str tracestate);

/* The trace of an execution. */
void trace_of(const struct execution *x, struct trace *out);

/*
 * The span of the execution itself, from its start to its first end, and of what
 * goes on: the same, until an operator has it go on after an end; then a span
 * within it, so that each is sent once.
 */
struct span_id trace_span(struct uuid execution);
struct span_id trace_current_span(const struct execution *x);

/* The span of the attempt that a strand is at, and of the one that a row tells of: the same. */
struct span_id trace_cursor_span(const struct execution *x, const struct cursor *cursor);
struct span_id trace_row_span(struct uuid execution, const struct history_row *row);

/* The id of its trace as a text of 32 digits; any id as digits. */
struct str trace_id_text(struct arena *mem, const struct execution *x);
void trace_put_hex(struct buf *out, const uint8_t *bytes, size_t count);

/* The headers for those who work within that span. */
struct str trace_write(struct arena *mem, const struct trace *trace, struct span_id span);

/* The same as the text of an execution within that span: its tracestate follows, behind a space. */
struct str trace_store(struct arena *mem, const struct trace *trace, struct span_id span);

#endif
