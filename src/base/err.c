/* err.c - the table of err.def and the functions that read it. */
#include "base/err.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
    const char *name;
    int status;
    enum err_class class;
    bool retryable;
} table[] = {
#define ERR(symbol, code, http_status, saga_class, may_retry)                                      \
    {.name = (code),                                                                               \
     .status = (http_status),                                                                      \
     .class = ERR_CLASS_##saga_class,                                                              \
     .retryable = (may_retry)},
#include "base/err.def"
#undef ERR
};

static void fill(struct err *err, enum err_code code, uint32_t line, uint32_t column,
                 const char *format, va_list args)
{
    size_t len;

    err->code = code;
    err->line = line;
    err->column = column;
    vsnprintf(err->message, sizeof(err->message), format, args);
    /* A cut may have split a character. */
    len = strlen(err->message);
    err->message[utf8_valid_prefix(str_from(err->message, len))] = '\0';
}

bool err_set(struct err *err, enum err_code code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fill(err, code, 0, 0, format, args);
    va_end(args);
    return false;
}

bool err_set_at(struct err *err, enum err_code code, uint32_t line, uint32_t column,
                const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fill(err, code, line, column, format, args);
    va_end(args);
    return false;
}

const char *err_code_name(enum err_code code)
{
    ASSERT(code < ERR_COUNT);
    return table[code].name;
}

int err_http_status(enum err_code code)
{
    ASSERT(code < ERR_COUNT);
    return table[code].status;
}

enum err_class err_class_of(enum err_code code)
{
    ASSERT(code < ERR_COUNT);
    return table[code].class;
}

bool err_is_retryable(enum err_code code)
{
    ASSERT(code < ERR_COUNT);
    return table[code].retryable;
}

const char *err_class_name(enum err_class class)
{
    switch (class) {
    case ERR_CLASS_NONE:
        return "none";
    case ERR_CLASS_TRANSIENT:
        return "transient";
    case ERR_CLASS_BUSINESS:
        return "business";
    case ERR_CLASS_INDETERMINATE:
        return "indeterminate";
    }
    PANIC("unknown error class");
}
