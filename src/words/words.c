/*
 * words.c - see words.h.
 *
 * Of the rows that match a message the one with the most letters of its own
 * wins, so that "there is no step '%s'" is preferred to "there is no %s". What
 * stood for a %s is itself said anew ("a text" above), unless it is in quotes:
 * names and texts that people wrote stay as they are.
 */
#include "words/words.h"

#include "base/buf.h"

enum {
    ARGS_MAX = 8,
    DEPTH_MAX = 6,     /* of messages within messages */
    TRIES_MAX = 20000, /* comparisons for one row: what takes more does not match */
};

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

size_t words_count(void)
{
    return ARRAY_SIZE(phrases);
}

const struct phrase *words_at(size_t i)
{
    ASSERT(i < ARRAY_SIZE(phrases));
    return &phrases[i];
}

/* --- matching --- */

struct match {
    struct str text;
    struct str args[ARGS_MAX];
    bool is_quoted[ARGS_MAX]; /* a name, or what a person wrote */
    unsigned count;
    unsigned tries;
};

static bool is_quote(char c)
{
    return c == '\'' || c == '"' || c == '`';
}

static bool is_conversion(const char *p)
{
    return p[0] == '%' && p[1] != '%';
}

/* How far the digits go that stand at `at`, a sign included; `at` when there are none. */
static size_t number_end(struct str text, size_t at)
{
    size_t end = at + (at < text.len && text.ptr[at] == '-'), start = end;

    while (end < text.len && text.ptr[end] >= '0' && text.ptr[end] <= '9')
        end++;
    return end > start ? end : at;
}

static bool match_from(struct match *m, const char *pattern, const char *p, size_t at);

/* The conversion at `p` takes text[at..end), and the rest of the pattern the rest of the text. */
static bool match_argument(struct match *m, const char *pattern, const char *p, size_t at,
                           size_t end)
{
    unsigned i = m->count++;

    ASSERT(i < ARGS_MAX);
    m->args[i] = str_slice(m->text, at, end);
    m->is_quoted[i] = p > pattern && is_quote(p[-1]) && p[-1] == p[2];
    if (match_from(m, pattern, p + 2, end))
        return true;
    m->count--;
    return false;
}

static bool match_text(struct match *m, const char *pattern, const char *p, size_t at)
{
    bool is_name = p > pattern && p[-1] == '\'' && p[2] == '\'';

    for (size_t end = at; end <= m->text.len; end++) {
        /* What is in quotes ends with the next one. */
        if ((p[2] == '\0' && end < m->text.len) ||
            (p[2] != '\0' && !is_conversion(p + 2) &&
             (end == m->text.len || m->text.ptr[end] != p[2])))
            continue;
        if (match_argument(m, pattern, p, at, end))
            return true;
        if (is_name || m->tries > TRIES_MAX)
            return false;
    }
    return false;
}

static bool match_from(struct match *m, const char *pattern, const char *p, size_t at)
{
    if (m->tries++ > TRIES_MAX)
        return false;
    for (; *p != '\0'; p++, at++) {
        if (is_conversion(p) && p[1] == 'd') {
            size_t end = number_end(m->text, at);

            return end > at && match_argument(m, pattern, p, at, end);
        }
        if (is_conversion(p))
            return match_text(m, pattern, p, at);
        p += p[0] == '%';
        if (at >= m->text.len || m->text.ptr[at] != *p)
            return false;
    }
    return at == m->text.len;
}

/* How many letters of its own a pattern has. */
static size_t letter_count(const char *pattern)
{
    size_t count = 0;

    for (const char *p = pattern; *p != '\0'; p++)
        if (is_conversion(p)) {
            p++;
        } else {
            p += p[0] == '%'; /* the second of "%%" */
            count++;
        }
    return count;
}

static const struct phrase *phrase_find(struct str text, struct match *out)
{
    const struct phrase *best = NULL;
    size_t most = 0;

    for (size_t i = 0; i < ARRAY_SIZE(phrases); i++) {
        struct match m = {.text = text};
        size_t letters;

        if (!match_from(&m, phrases[i].english, phrases[i].english, 0))
            continue;
        letters = letter_count(phrases[i].english);
        if (best == NULL || letters > most) {
            best = &phrases[i];
            most = letters;
            *out = m;
        }
    }
    return best;
}

/* --- saying --- */

static void say_to(struct buf *out, struct str english, unsigned depth);

static void put_argument(struct buf *out, const struct match *m, unsigned i, unsigned depth)
{
    ASSERT(i < m->count);
    if (m->is_quoted[i])
        buf_str(out, m->args[i]);
    else
        say_to(out, m->args[i], depth + 1);
}

static void fill(struct buf *out, const char *russian, const struct match *m, unsigned depth)
{
    unsigned next = 0;

    for (const char *p = russian; *p != '\0'; p++)
        if (is_conversion(p)) {
            bool is_numbered = p[1] >= '1' && p[1] <= '9' && p[2] == '$';

            put_argument(out, m, is_numbered ? (unsigned)(p[1] - '1') : next++, depth);
            p += is_numbered ? 3 : 1;
        } else {
            p += p[0] == '%';
            buf_char(out, *p);
        }
}

static void say_to(struct buf *out, struct str english, unsigned depth)
{
    struct match m;
    const struct phrase *phrase = depth < DEPTH_MAX ? phrase_find(english, &m) : NULL;

    if (phrase == NULL)
        buf_str(out, english);
    else
        fill(out, phrase->russian, &m, depth);
}

struct str words_say(struct arena *mem, enum language language, struct str english)
{
    struct buf out;

    if (language == LANGUAGE_EN || english.len == 0)
        return english;
    buf_init_arena(&out, mem);
    say_to(&out, english, 0);
    return buf_view(&out);
}
