/*
 * sentence.h - what is said to people, and what it was made of.
 *
 * A sentence is made in English with a format, as printf() would make it, and
 * keeps that format and which stretch of its text each argument became. So it
 * is logged, stored and compared as an ordinary text, and can still be put
 * into another language: words.h looks the format up and fills in the
 * arguments, without reading the text.
 *
 *     sentence_make(mem, "'%.*s' is %s", STR_ARG(name), "missing")
 *       text    'total' is missing
 *       parts   "'%.*s' is %s" 0..18, with 2 arguments
 *                 1..6   total
 *                 11..18 missing
 *
 * An argument that is a sentence itself is put in with %pS and SENTENCE_ARG(),
 * and keeps its own format and arguments. Formats are string literals: they
 * are kept by pointer. They hold %% and the conversions %s %c %d %u %x %X %g %f
 * with widths, precisions and lengths; `*` with %s alone; and SENTENCE_ARGS_MAX
 * of them at most. scripts/check-russian finds others.
 *
 * why: decision 0352
 */
#ifndef PAWL_BASE_SENTENCE_H
#define PAWL_BASE_SENTENCE_H

#include "base/str.h"

#include <stdarg.h>

enum {
    SENTENCE_MAX = 2048, /* bytes of a text, its end included; a longer one is cut */
    SENTENCE_ARGS_MAX = 8,
    SENTENCE_PARTS_MAX = 32,
};

/*
 * A stretch of the text. Its arguments follow it, each with its own behind it.
 * Without a format it is a text as it is: a name, a number, what people wrote,
 * or a sentence that was cut, which still has arguments.
 */
struct sentence_part {
    const char *format;
    uint16_t start; /* where that of the first part is, the text of the sentence begins */
    uint16_t len;
    uint16_t count; /* arguments */
};

struct sentence {
    struct str text; /* ends with '\0', unless it is a part of another */
    const struct sentence_part *parts;
    size_t part_count; /* 0: the text is a format without arguments, or nothing is known of it */
};

/* A text that has no arguments, for string literals. */
#define SENTENCE(literal) ((struct sentence){.text = STR(literal)})
#define SENTENCE_NONE ((struct sentence){.text = STR_NONE})

/*
 * A text that is put into sentences and has words of its own: scripts/check-russian
 * looks for its Russian. Literals among the arguments of a sentence need no mark.
 */
#define PHRASE(literal) "" literal

/* For "%pS": any expression that is a struct sentence. It lives as long as the block around it. */
#define SENTENCE_ARG(s) ((const void *)(const struct sentence[]){s})

/* The sentence that the format makes; lives in `mem`. */
struct sentence sentence_make(struct arena *mem, const char *format, ...) PRINTF_LIKE(2, 3);

/* The same with a text of less than `capacity` bytes, which are at most SENTENCE_MAX. */
struct sentence sentence_vmake(struct arena *mem, size_t capacity, const char *format,
                               va_list args);

/* The same in the caller's own memory. */
struct sentence_storage {
    char text[SENTENCE_MAX];
    struct sentence_part parts[SENTENCE_PARTS_MAX];
};

struct sentence sentence_vmake_in(struct sentence_storage *place, size_t capacity,
                                  const char *format, va_list args);

/* How many bytes a copy takes. */
static inline size_t sentence_size(struct sentence s)
{
    return s.text.len + 1 + s.part_count * sizeof(struct sentence_part);
}

/*
 * The format of a sentence and what to do instead: "there is no 'totl'; did you
 * mean 'total'?". Both are arguments; sentence_plain() is the first,
 * sentence_hint() the second. A sentence of another format has no hint.
 */
extern const char sentence_hinted[];

struct sentence sentence_plain(struct sentence s);
struct sentence sentence_hint(struct sentence s);

/* A text of which nothing is known: English, or what people wrote. */
static inline struct sentence sentence_of(struct str text)
{
    return (struct sentence){.text = text};
}

struct sentence sentence_copy(struct arena *mem, struct sentence s);

/* The argument that begins at part `i`, as a sentence; it lives as long as `s`. */
struct sentence sentence_at(struct sentence s, size_t i);

/* How many parts stand from part `i` to the next that does not belong to it. */
size_t sentence_extent(const struct sentence_part *parts, size_t i);

/* --- for those who keep sentences elsewhere --- */

/* Where a sentence is written: the caller's arrays, with more than SENTENCE_ARGS_MAX parts. */
struct sentence_writer {
    char *text;
    size_t capacity; /* of the text, its end included */
    size_t len;      /* what it would take; a text is cut when this is not below `capacity` */
    struct sentence_part *parts;
    size_t part_capacity;
    size_t part_count;
};

/*
 * Write what the format makes behind what is there, as one part with its
 * arguments; "%pS" alone writes the parts of that sentence. A sentence whose
 * parts find no room becomes a text as it is, and so does one that is cut. The
 * text ends with '\0', between characters.
 */
void sentence_vwrite(struct sentence_writer *w, const char *format, va_list args);

/* --- conversions --- */

/* A conversion of a format: "%-5.*s". */
struct conversion {
    const char *start, *end;
    char kind;          /* its letter; '%' for "%%", 'S' for "%pS" */
    char length;        /* 0, 'l', 'L' for "ll", or 'z' */
    bool has_precision; /* "%.3s", or "%.*s" */
    int precision;      /* -1: an argument says it */
    bool is_quoted;     /* it stands in quotes: '%s' */
};

/* The next conversion at or behind `from`; false when there is none. */
bool conversion_next(const char *format, const char *from, struct conversion *out);

#endif
