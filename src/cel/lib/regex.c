/* regex.c - limits, errors and cost around RE2; see regex.h. */
#include "cel/lib/regex.h"

#include "cel/lib/regex_re2.h"

static struct regex *regex_make(struct str pattern, bool captures, struct err *err)
{
    char message[sizeof(err->message)];
    bool too_large;
    struct regex *re;

    if (pattern.len > REGEX_PATTERN_MAX) {
        err_set(err, ERR_LIMIT_EXPRESSION_SIZE,
                "a pattern may have at most %d bytes, this one has %zu", REGEX_PATTERN_MAX,
                pattern.len);
        return NULL;
    }
    re = regex_re2_new(pattern.ptr, pattern.len, REGEX_MEMORY_MAX, captures, message,
                       sizeof(message), &too_large);
    if (re == NULL)
        err_set(err, too_large ? ERR_LIMIT_EXPRESSION_SIZE : ERR_EXPRESSION_ERROR,
                "not a usable pattern: %s", message);
    return re;
}

struct regex *regex_new(struct str pattern, struct err *err)
{
    return regex_make(pattern, false, err);
}

struct regex *regex_new_capturing(struct str pattern, struct err *err)
{
    return regex_make(pattern, true, err);
}

enum regex_capture regex_capture(const struct regex *re, struct str text, struct str *out)
{
    if (regex_re2_groups(re) > 1)
        return REGEX_HAS_GROUPS;
    /* What is caught of no text at all is no part of it for RE2 without an address. */
    return regex_re2_capture(re, text.len > 0 ? text.ptr : "", text.len, &out->ptr, &out->len)
               ? REGEX_CAPTURED
               : REGEX_CAPTURED_NOTHING;
}

bool regex_matches(const struct regex *re, struct str text)
{
    return regex_re2_search(re, text.ptr, text.len);
}

/*
 * When the cache of its automaton overflows, RE2 walks the program for every
 * byte: up to 3 ns for each byte and instruction, measured.
 */
uint64_t regex_match_cost(const struct regex *re, size_t text_bytes)
{
    return (uint64_t)text_bytes * regex_re2_size(re) / 32 + 1;
}

/* Groups are followed by the automaton that walks the program for every byte, and copies places. */
uint64_t regex_capture_cost(const struct regex *re, size_t text_bytes)
{
    return regex_match_cost(re, text_bytes) * 8;
}

/* About 0.6 microseconds for each instruction, measured. */
uint64_t regex_compile_cost(const struct regex *re)
{
    return (uint64_t)regex_re2_size(re) * 16 + 100;
}

void regex_free(struct regex *re)
{
    regex_re2_free(re);
}
