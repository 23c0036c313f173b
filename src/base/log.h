/*
 * log.h - what an operator reads: one JSON object a line.
 *
 *     log_write(LOG_INFO, "listening", LOG_FIELDS(log_str("host", host), log_int("port", port)));
 *     log_write(LOG_INFO, "stopped", NULL);
 *
 *     {"time":"2026-01-02T03:04:05.123456Z","level":"info","msg":"listening","host":...}
 *
 * An error is logged once, where it is handled. Pure modules do not log, and
 * the log is no audit trail: that is the history of an execution.
 *
 * The sink is the one global of Pawl. Any thread may write at any time; a line
 * is one write(), so lines of several processes into one file stay whole. A
 * line that cannot be written is lost, and the work goes on.
 */
#ifndef PAWL_BASE_LOG_H
#define PAWL_BASE_LOG_H

#include "base/err.h"
#include "base/time/clock.h"

enum log_level {
#define LEVEL(symbol, name) LOG_##symbol,
#include "base/log_level.def"
#undef LEVEL
    LOG_LEVEL_COUNT
};

/* Longer texts are cut and end in "...". */
enum { LOG_TEXT_MAX = 4096 };

enum log_kind { LOG_KIND_STR, LOG_KIND_INT, LOG_KIND_ERR };

/* A name, which must not need escaping, and a value that outlives the call. */
struct log_field {
    const char *name;
    enum log_kind kind;
    union {
        struct str text;
        int64_t i;
        const struct err *err;
    };
};

static inline struct log_field log_str(const char *name, struct str text)
{
    return (struct log_field){.name = name, .kind = LOG_KIND_STR, .text = text};
}

static inline struct log_field log_int(const char *name, int64_t i)
{
    return (struct log_field){.name = name, .kind = LOG_KIND_INT, .i = i};
}

/* {"code": ..., "message": ...} */
static inline struct log_field log_err(const char *name, const struct err *err)
{
    return (struct log_field){.name = name, .kind = LOG_KIND_ERR, .err = err};
}

/* The fields of a line, ended by one without a name. */
#define LOG_FIELDS(...) ((const struct log_field[]){__VA_ARGS__, {.name = NULL}})

/*
 * Send lines of `least` and above to `fd`, which stays the caller's, and take
 * their time from `clock`. Before the first call: LOG_INFO to standard error,
 * system clock.
 */
void log_to(int fd, enum log_level least, const struct clock *clock);

/* The level of that name; false: there is none. */
bool log_level_read(struct str name, enum log_level *out) MUST_USE;

/* Write one line. `fields` may be NULL. Text that is not UTF-8 is made so with U+FFFD. */
void log_write(enum log_level level, const char *message, const struct log_field *fields);

#endif
