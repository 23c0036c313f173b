/*
 * err.h - how a function says what went wrong with the world or the caller.
 *
 * bool f(..., struct err *err) MUST_USE: false means that *err is filled. The
 * code decides HTTP status, retry and saga class, in one table (err.def).
 * Bugs are ASSERTs and the failure of a user's process is data; neither is a
 * struct err.
 */
#ifndef PAWL_BASE_ERR_H
#define PAWL_BASE_ERR_H

#include "base/text/sentence.h"

enum err_code {
#define ERR(symbol, code, status, class, retryable) ERR_##symbol,
#include "base/err.def"
#undef ERR
    ERR_COUNT
};

enum err_class {
#define ERR_CLASS(symbol, name) ERR_CLASS_##symbol,
#include "base/err_class.def"
#undef ERR_CLASS
    ERR_CLASS_COUNT
};

/* What is not declared; err_name() is its name. */
enum err_about { ERR_ABOUT_NOTHING, ERR_ABOUT_VARIABLE, ERR_ABOUT_FUNCTION };

enum { ERR_PARTS_MAX = 10 };

struct err {
    enum err_code code;
    uint32_t line;   /* from 1; 0 when the error has no place in a text */
    uint32_t column; /* from 1, in code points */
    uint8_t about;   /* enum err_about */
    uint8_t part_count;
    char message[232]; /* a hint included */
    struct sentence_part parts[ERR_PARTS_MAX];
};

/*
 * Fill *err and answer false, so that a caller can `return err_set(...)`. The
 * format is a string literal, as sentence.h describes it; the arguments may stand
 * in *err. A message that is too long is cut.
 */
bool err_set(struct err *err, enum err_code code, const char *format, ...) PRINTF_LIKE(3, 4);

/* The same, with a place in a text. */
bool err_set_at(struct err *err, enum err_code code, uint32_t line, uint32_t column,
                const char *format, ...) PRINTF_LIKE(5, 6);

/* The same for those who are given the arguments. */
bool err_vset(struct err *err, enum err_code code, uint32_t line, uint32_t column,
              const char *format, va_list args);

/* Put "; " and what to do instead behind the message; answers false too. */
bool err_set_hint(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* The message, as something that can be said in other languages; lives as long as *err. */
struct sentence err_sentence(const struct err *err);

/* For "%pS". */
#define ERR_ARG(err) SENTENCE_ARG(err_sentence(err))

/* The first argument of the message if the error is about that, or nothing. */
struct str err_name(const struct err *err, enum err_about about);

const char *err_code_name(enum err_code code); /* "key_busy" */
int err_http_status(enum err_code code);
enum err_class err_class_of(enum err_code code);
const char *err_class_name(enum err_class class); /* "transient" */

/* The class that a text names; ERR_CLASS_NONE when it names none. */
enum err_class err_class_find(struct str name);
bool err_is_retryable(enum err_code code);

#endif
