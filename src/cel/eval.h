/*
 * eval.h - what a function of the CEL library sees of the evaluation it is
 * part of. Internal to src/cel; the public face is cel.h.
 *
 * A library function gets its arguments as values (args[0] is the receiver of
 * a member call) and answers a value; an answer of kind VALUE_ERROR fails the
 * expression unless && or || absorbs it. Arguments are never errors, and their
 * number and kinds are those of a row of functions.def: function_call() has
 * refused all others. Items of a list may be of any kind.
 *
 * Memory and time are bounded: allocate with cel_alloc() only, and call
 * cel_charge() before work that grows with the size of an argument.
 *
 * why: decision 0022
 */
#ifndef PAWL_CEL_EVAL_H
#define PAWL_CEL_EVAL_H

#include "cel/cel.h"

struct cel_eval {
    struct arena *mem;
    size_t mem_left;   /* bytes that may still be allocated */
    int64_t cost_left; /* units of work that may still be done */
    uint32_t offset;   /* byte offset in the source of the current call */
    enum cel_mode mode;
    int64_t now_us;       /* for functions that need it; never the real clock */
    const char *function; /* name of the current function, for messages */
    unsigned arg_count;   /* of the current function */
    unsigned nesting;     /* of user functions */
    void *context;        /* of the current function, as given to cel_env_function() */
};

/* One unit of cost is about one step of the machine, or 64 bytes looked at. */
enum { CEL_BYTES_PER_UNIT = 64 };

/*
 * Memory for a result, or NULL when this evaluation has used up its share;
 * then answer cel_over_memory().
 */
static inline void *cel_alloc(struct cel_eval *ev, size_t size)
{
    if (UNLIKELY(size > ev->mem_left))
        return NULL;
    ev->mem_left -= size;
    return arena_alloc(ev->mem, size);
}

/* Pay for `units` of work. False when the budget is spent; then answer cel_over_cost(). */
static inline bool cel_charge(struct cel_eval *ev, uint64_t units)
{
    ev->cost_left -= units > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)units;
    return LIKELY(ev->cost_left >= 0);
}

/* Pay for looking at `bytes` bytes. */
static inline bool cel_charge_bytes(struct cel_eval *ev, size_t bytes)
{
    return cel_charge(ev, bytes / CEL_BYTES_PER_UNIT + 1);
}

/* The errors of an evaluation, each at the current call. */
struct value cel_over_memory(struct cel_eval *ev);
struct value cel_over_cost(struct cel_eval *ev);
struct value cel_fail(struct cel_eval *ev, const char *format, ...) PRINTF_LIKE(2, 3);

/* "no such overload: charAt(int, string)" */
struct value cel_no_overload(struct cel_eval *ev, const struct value *args, unsigned count);

/* An optional that holds `inner`, or an error value. */
struct value cel_optional(struct cel_eval *ev, struct value inner);

/* A string value that holds a copy of `s`, or an error value. */
struct value cel_string_copy(struct cel_eval *ev, struct str s);

/* Every implementation named in functions.def: cel_fn_NAME. */
#define FN(symbol, name, style, signature, modes) cel_fn cel_fn_##symbol;
#include "cel/functions.def"
#undef FN

#endif
