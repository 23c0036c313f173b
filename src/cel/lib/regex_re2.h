/*
 * regex_re2.h - what regex.c needs of RE2. Plain enough for C and C++ alike;
 * everyone else includes regex.h.
 *
 * why: decision 0023
 */
#ifndef PAWL_CEL_LIB_REGEX_RE2_H
#define PAWL_CEL_LIB_REGEX_RE2_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
#define REGEX_NO_THROW noexcept
extern "C" {
#else
#define REGEX_NO_THROW
#endif

struct regex;

/*
 * Compile a pattern that may hold about `max_bytes` of memory, or answer NULL
 * with what is wrong in `message` and whether it is only the size.
 */
struct regex *regex_re2_new(const char *pattern, size_t len, size_t max_bytes, bool captures,
                            char *message, size_t message_capacity, bool *too_large) REGEX_NO_THROW;
bool regex_re2_search(const struct regex *re, const char *text, size_t len) REGEX_NO_THROW;

/* How many groups it has, and what the first, or without one the whole, has caught. */
int regex_re2_groups(const struct regex *re) REGEX_NO_THROW;
bool regex_re2_capture(const struct regex *re, const char *text, size_t len, const char **at,
                       size_t *at_len) REGEX_NO_THROW;

/* How many instructions the compiled pattern has. */
size_t regex_re2_size(const struct regex *re) REGEX_NO_THROW;
void regex_re2_free(struct regex *re) REGEX_NO_THROW;

#ifdef __cplusplus
}
#endif

#endif
