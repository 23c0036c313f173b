/*
 * filter.h - which executions are meant: the parameters of a list, and the
 * field `filter` of a bulk request.
 *
 *     kind code status key step parent error waiting from to deadlineBefore q
 */
#ifndef PAWL_API_FILTER_H
#define PAWL_API_FILTER_H

#include "api/call.h"

struct execution_filter;
struct letter_filter;
struct message_filter;

/*
 * From the query of the call, with its cursor; `status` may be given several
 * times or as a list with commas; `order` is `newest` or `oldest`. Refused when
 * a value is wrong.
 */
bool filter_query(struct call *c, struct execution_filter *out) MUST_USE;

/* `status` of the query alone, as STATUS_BIT(); 0 without it. Refused when it is none. */
bool filter_statuses(struct call *c, uint32_t *out) MUST_USE;

/* From a JSON object, in which `status` may be a list. False: `findings` say what is wrong. */
bool filter_body(struct call *c, struct value object, struct execution_filter *out,
                 struct findings *findings) MUST_USE;

/* The same for open dead letters: kind code execution from to. */
bool filter_dead_letters_body(struct call *c, struct value object, struct letter_filter *out,
                              struct findings *findings) MUST_USE;

/* The same for messages of the outbox: status kind destination execution. */
bool filter_outbox_body(struct call *c, struct value object, struct message_filter *out,
                        struct findings *findings) MUST_USE;

/* `execution` of the query, the id of one; *has is false without it. Refused when it is none. */
bool filter_execution(struct call *c, bool *has, struct uuid *out) MUST_USE;

/*
 * A parameter of the query that is a time or a day, which as an end is meant
 * with all its hours; 0 without it. Refused when it is neither.
 */
bool filter_time(struct call *c, const char *name, bool is_end, int64_t *out_us) MUST_USE;

/* "open, retried, resolved": what a refusal says of a parameter that is none of these. */
struct str filter_names(struct arena *mem, const char *(*name)(unsigned i), unsigned count);

/* The kinds of dead letters and of messages, and the statuses of executions, in the same way. */
struct str filter_letter_kinds(struct arena *mem);
struct str filter_message_kinds(struct arena *mem);
struct str filter_status_names(struct arena *mem);

#endif
