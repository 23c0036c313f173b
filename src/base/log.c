/* log.c - see log.h. */
#include "base/log.h"

#include "base/buf.h"
#include "base/names.h"
#include "base/text/utf8.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    const struct clock *clock;
    int fd;
    enum log_level least;
} sink = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .clock = &clock_system,
    .fd = STDERR_FILENO,
    .least = LOG_INFO,
};

static const char *const level_names[] = {
#define LEVEL(symbol, name) (name),
#include "base/log_level.def"
#undef LEVEL
};

void log_to(int fd, enum log_level least, const struct clock *clock)
{
    pthread_mutex_lock(&sink.lock);
    sink.fd = fd;
    sink.least = least;
    sink.clock = clock;
    pthread_mutex_unlock(&sink.lock);
}

/* --- one line --- */

static void add_ascii(struct buf *b, char c)
{
    switch (c) {
    case '"':
    case '\\':
        buf_char(b, '\\');
        buf_char(b, c);
        break;
    case '\n':
        buf_text(b, "\\n");
        break;
    case '\t':
        buf_text(b, "\\t");
        break;
    default:
        if ((unsigned char)c < 0x20 || c == 0x7F)
            buf_printf(b, "\\u%04x", (unsigned)c);
        else
            buf_char(b, c);
    }
}

static void add_text(struct buf *b, struct str s)
{
    bool cut = s.len > LOG_TEXT_MAX;
    size_t i = 0;

    if (cut)
        s.len = LOG_TEXT_MAX;
    buf_char(b, '"');
    while (i < s.len) {
        struct str rest = str_slice(s, i, s.len);
        size_t valid = utf8_valid_prefix(rest);

        for (size_t j = 0; j < valid; j++)
            add_ascii(b, rest.ptr[j]);
        i += valid;
        if (i == s.len)
            break;
        /* A character that the cut has split is dropped, any other bad byte shown. */
        if (!cut || s.len - i > 3)
            buf_text(b, "\xEF\xBF\xBD");
        i++;
    }
    buf_text(b, cut ? "...\"" : "\"");
}

static void add_time(struct buf *b, int64_t wall_us)
{
    int64_t us = wall_us % 1000000;
    time_t seconds = (time_t)(wall_us / 1000000);
    struct tm tm;
    char text[32];

    if (us < 0) {
        us += 1000000;
        seconds--;
    }
    if (gmtime_r(&seconds, &tm) == NULL || strftime(text, sizeof(text), "%FT%T", &tm) == 0)
        buf_printf(b, "{\"time\":null");
    else
        buf_printf(b, "{\"time\":\"%s.%06dZ\"", text, (int)us);
}

static void add_field(struct buf *b, const struct log_field *f)
{
    buf_printf(b, ",\"%s\":", f->name);
    switch (f->kind) {
    case LOG_KIND_STR:
        add_text(b, f->text);
        return;
    case LOG_KIND_INT:
        buf_printf(b, "%lld", (long long)f->i);
        return;
    case LOG_KIND_ERR:
        buf_printf(b, "{\"code\":\"%s\",\"message\":", err_code_name(f->err->code));
        add_text(b, str_of(f->err->message));
        buf_char(b, '}');
        return;
    }
    PANIC("unknown kind of field");
}

/* Ordinary files and pipes take it all at once; the loop is for the rest. */
static void write_all(int fd, struct str line)
{
    while (line.len > 0) {
        ssize_t n = write(fd, line.ptr, line.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        line = str_slice(line, (size_t)n, line.len);
    }
}

void log_write(enum log_level level, const char *message, const struct log_field *fields)
{
    struct buf line;

    ASSERT(level < LOG_LEVEL_COUNT);
    /* Under the lock as a whole: lines then stand in the order of their times. */
    pthread_mutex_lock(&sink.lock);
    if (level >= sink.least) {
        buf_init(&line);
        add_time(&line, clock_wall_us(sink.clock));
        buf_printf(&line, ",\"level\":\"%s\",\"msg\":", level_names[level]);
        add_text(&line, str_of(message));
        for (; fields != NULL && fields->name != NULL; fields++)
            add_field(&line, fields);
        buf_text(&line, "}\n");
        write_all(sink.fd, buf_view(&line));
        buf_fini(&line);
    }
    pthread_mutex_unlock(&sink.lock);
}

NAMES_READ(log_level_read, enum log_level, level_names)
