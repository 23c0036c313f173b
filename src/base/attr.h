/*
 * attr.h - compiler attributes and assertions used everywhere.
 *
 * ASSERT stays on in release builds: a broken invariant ends the process,
 * and the ordinary start recovers. ASSERT_SLOW is for checks that would cost
 * too much there; test builds define PAWL_SLOW_CHECKS. Neither is ever used
 * on outside input.
 */
#ifndef PAWL_BASE_ATTR_H
#define PAWL_BASE_ATTR_H

#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, first) __attribute__((format(printf, fmt, first)))
#define NORETURN __attribute__((noreturn))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* How many items an array has; not for pointers. */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Print `what` with its place to stderr and abort. */
NORETURN void panic_at(const char *file, int line, const char *what);

#define PANIC(what) panic_at(__FILE__, __LINE__, (what))
#define ASSERT(cond) ((cond) ? (void)0 : panic_at(__FILE__, __LINE__, #cond))

#ifdef PAWL_SLOW_CHECKS
#define ASSERT_SLOW(cond) ASSERT(cond)
#else
#define ASSERT_SLOW(cond) ((void)sizeof(!(cond)))
#endif

#endif
