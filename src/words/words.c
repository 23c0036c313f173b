/*
 * words.c - see words.h.
 *
 * The rows are found by a table of their English formats, which is made when
 * the first is looked for and constant from then on. Conversions are compared
 * by what they stand for, so that "%.*s" and "%s" find the same row.
 */
#include "words/words.h"

#include "base/buf.h"
#include "base/text/ascii.h"

#include <pthread.h>

static const struct phrase phrases[] = {
#define SAY(english_text, russian_text) {.english = (english_text), .russian = (russian_text)},
#include "words/russian_api.def"
#include "words/russian_cel.def"
#include "words/russian_define.def"
#include "words/russian_engine.def"
#include "words/russian_json.def"
#include "words/russian_store.def"
#include "words/russian_titles.def"
#undef SAY
};

enum {
    INDEX_SIZE = 4096, /* a power of two, and more than twice the rows */
    KEY_MAX = 512,     /* bytes; what is longer has no row */
};

_Static_assert(ARRAY_SIZE(phrases) * 2 < INDEX_SIZE, "a search ends at a free slot");

static uint16_t phrase_index[INDEX_SIZE]; /* row + 1; 0 is free */
static pthread_once_t phrase_index_once = PTHREAD_ONCE_INIT;

size_t words_count(void)
{
    return ARRAY_SIZE(phrases);
}

const struct phrase *words_at(size_t i)
{
    ASSERT(i < ARRAY_SIZE(phrases));
    return &phrases[i];
}

/* --- finding a row --- */

/* The slot where the key is, or where it would be. */
static uint16_t *slot_of(struct str key)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < key.len; i++)
        hash = (hash ^ (unsigned char)key.ptr[i]) * 16777619u;
    for (uint32_t at = hash;; at++) {
        uint16_t *slot = &phrase_index[at & (INDEX_SIZE - 1)];

        if (*slot == 0 || str_eq(str_of(phrases[*slot - 1].english), key))
            return slot;
    }
}

static void make_index(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(phrases); i++)
        *slot_of(str_of(phrases[i].english)) = (uint16_t)(i + 1);
}

static const struct phrase *phrase_find(const struct buf *key)
{
    uint16_t row;

    if (key->failed)
        return NULL;
    pthread_once(&phrase_index_once, make_index);
    row = *slot_of(buf_view(key));
    return row == 0 ? NULL : &phrases[row - 1];
}

/* The format that makes this text without arguments. */
static void add_text(struct buf *key, struct str text)
{
    for (size_t i = 0; i < text.len && !key->failed; i++) {
        buf_char(key, text.ptr[i]);
        if (text.ptr[i] == '%')
            buf_char(key, '%');
    }
}

/* --- taking a sentence apart --- */

struct arguments {
    struct sentence items[SENTENCE_PARTS_MAX];
    bool is_quoted[SENTENCE_PARTS_MAX];
    unsigned count;
};

/*
 * The English of the row that a sentence has, and what is put into the Russian.
 * With `is_case` the row is one for these very words: texts that are not in
 * quotes stand in it themselves ("the execution is failed").
 */
static void take_apart(struct sentence s, bool is_case, struct buf *key, struct arguments *out)
{
    const char *format = s.parts[0].format, *p = format;
    struct conversion c;
    size_t at = 1;

    out->count = 0;
    for (; conversion_next(format, p, &c); p = c.end) {
        buf_add(key, p, (size_t)(c.start - p));
        if (c.kind == '%') {
            buf_text(key, "%%");
            continue;
        }
        if (is_case && c.kind == 's' && !c.is_quoted) {
            add_text(key, sentence_at(s, at).text);
        } else {
            buf_text(key, c.kind == 'd' || c.kind == 'u' ? "%d" : "%s");
            out->is_quoted[out->count] = c.is_quoted;
            out->items[out->count++] = sentence_at(s, at);
        }
        at += sentence_extent(s.parts, at);
    }
    buf_text(key, p);
}

/* Whether a format says nothing itself: "%s: %s" is the same in every language. */
static bool is_wordless(const char *format)
{
    const char *p = format;
    struct conversion c;

    for (;;) {
        bool more = conversion_next(format, p, &c);

        for (; more ? p < c.start : *p != '\0'; p++)
            if (ascii_is_letter(*p))
                return false;
        if (!more)
            return true;
        p = c.end;
    }
}

/* --- saying --- */

static void say_to(struct buf *out, struct sentence s);

/* Put the arguments into a format of another language. */
static void fill(struct buf *out, const char *format, const struct arguments *args)
{
    unsigned next = 0;
    const char *p = format;
    struct conversion c;

    for (; conversion_next(format, p, &c); p = c.end) {
        bool is_numbered = c.kind == '$';
        unsigned i = is_numbered ? (unsigned)(c.start[1] - '1') : next;

        buf_add(out, p, (size_t)(c.start - p));
        c.end += is_numbered;
        if (c.kind == '%') {
            buf_char(out, '%');
            continue;
        }
        ASSERT(i < args->count);
        next += !is_numbered;
        /* Names and texts that people wrote stay as they are. */
        if (args->is_quoted[i] && args->items[i].parts[0].format == NULL)
            buf_str(out, args->items[i].text);
        else
            say_to(out, args->items[i]);
    }
    buf_text(out, p);
}

/* Whether it has a row, or needs none; if so it is said. */
static bool say_format(struct buf *out, struct sentence s, bool is_case)
{
    const struct phrase *row;
    struct arguments args;
    struct buf key;

    buf_init_arena(&key, out->mem);
    key.limit = KEY_MAX;
    take_apart(s, is_case, &key, &args);
    row = phrase_find(&key);
    if (row == NULL && (is_case || !is_wordless(s.parts[0].format)))
        return false;
    fill(out, row != NULL ? row->russian : s.parts[0].format, &args);
    return true;
}

static void say_text(struct buf *out, struct str text)
{
    const struct phrase *row;
    struct buf key;

    buf_init_arena(&key, out->mem);
    key.limit = KEY_MAX;
    add_text(&key, text);
    row = phrase_find(&key);
    if (row != NULL)
        fill(out, row->russian, &(struct arguments){.count = 0});
    else
        buf_str(out, text);
}

static void say_to(struct buf *out, struct sentence s)
{
    if (s.part_count == 0 || (s.parts[0].format == NULL && s.parts[0].count == 0))
        say_text(out, s.text);
    else if (s.parts[0].format == NULL || (!say_format(out, s, true) && !say_format(out, s, false)))
        buf_str(out, s.text);
}

struct str words_say(struct arena *mem, enum language language, struct sentence english)
{
    struct buf out;

    if (language == LANGUAGE_EN || english.text.len == 0)
        return english.text;
    buf_init_arena(&out, mem);
    say_to(&out, english);
    return buf_view(&out);
}
