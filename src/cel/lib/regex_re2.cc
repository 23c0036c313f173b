/*
 * regex_re2.cc - the one file that knows RE2. No exception leaves it: a pattern
 * that there is no memory for is too large; running out of memory while a text
 * is matched ends the process, as it does everywhere.
 */
#include "cel/lib/regex_re2.h"

#include <cstdint>
#include <cstdio>
#include <new>

#include <re2/re2.h>

struct regex {
    RE2 re;
    regex(const char *pattern, size_t len, const RE2::Options &options)
        : re(re2::StringPiece(pattern, len), options)
    {
    }
};

static struct regex *compile_pattern(const char *pattern, size_t len, size_t max_bytes,
                                     bool captures, char *message, size_t message_capacity,
                                     bool *too_large)
{
    RE2::Options options(RE2::Quiet);

    options.set_never_capture(!captures);
    options.set_max_mem(static_cast<int64_t>(max_bytes));
    struct regex *made = new struct regex(pattern, len, options);
    if (made->re.ok())
        return made;
    snprintf(message, message_capacity, "%s", made->re.error().c_str());
    *too_large = made->re.error_code() == RE2::ErrorPatternTooLarge;
    delete made;
    return nullptr;
}

struct regex *regex_re2_new(const char *pattern, size_t len, size_t max_bytes, bool captures,
                            char *message, size_t message_capacity, bool *too_large) noexcept
{
    try {
        return compile_pattern(pattern, len, max_bytes, captures, message, message_capacity,
                               too_large);
    } catch (const std::bad_alloc &) {
        snprintf(message, message_capacity, "there is not enough memory to compile it");
        *too_large = true;
        return nullptr;
    }
}

bool regex_re2_search(const struct regex *re, const char *text, size_t len) noexcept
{
    return re->re.Match(re2::StringPiece(text, len), 0, len, RE2::UNANCHORED, nullptr, 0);
}

int regex_re2_groups(const struct regex *re) noexcept
{
    return re->re.NumberOfCapturingGroups();
}

bool regex_re2_capture(const struct regex *re, const char *text, size_t len, const char **at,
                       size_t *at_len) noexcept
{
    re2::StringPiece found[2];
    int which = re->re.NumberOfCapturingGroups() > 0 ? 1 : 0;

    if (!re->re.Match(re2::StringPiece(text, len), 0, len, RE2::UNANCHORED, found, which + 1) ||
        found[which].data() == nullptr)
        return false;
    *at = found[which].data();
    *at_len = found[which].size();
    return true;
}

size_t regex_re2_size(const struct regex *re) noexcept
{
    return static_cast<size_t>(re->re.ProgramSize());
}

void regex_re2_free(struct regex *re) noexcept
{
    delete re;
}
