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

#include "base/str.h"

enum err_code {
#define ERR(symbol, code, status, class, retryable) ERR_##symbol,
#include "base/err.def"
#undef ERR
    ERR_COUNT
};

enum err_class { ERR_CLASS_NONE, ERR_CLASS_TRANSIENT, ERR_CLASS_BUSINESS, ERR_CLASS_INDETERMINATE };

struct err {
    enum err_code code;
    uint32_t line;   /* from 1; 0 when the error has no place in a text */
    uint32_t column; /* from 1, in code points */
    char message[232];
};

/* Fill *err and answer false, so that a caller can `return err_set(...)`. */
bool err_set(struct err *err, enum err_code code, const char *format, ...) PRINTF_LIKE(3, 4);

/* The same, with a place in a text. */
bool err_set_at(struct err *err, enum err_code code, uint32_t line, uint32_t column,
                const char *format, ...) PRINTF_LIKE(5, 6);

const char *err_code_name(enum err_code code); /* "key_busy" */
int err_http_status(enum err_code code);
enum err_class err_class_of(enum err_code code);
const char *err_class_name(enum err_class class); /* "transient" */
bool err_is_retryable(enum err_code code);

#endif
