/* sentence.c - see sentence.h. */
#include "base/text/sentence.h"

#include "base/text/ascii.h"
#include "base/text/utf8.h"

#include <stdio.h>

const char sentence_hinted[] = "%pS; %pS";

/* --- conversions --- */

static bool is_quote(char c)
{
    return c == '\'' || c == '"' || c == '`';
}

static const char *read_precision(const char *p, struct conversion *out)
{
    out->has_precision = true;
    if (p[0] == '*') {
        out->precision = -1;
        return p + 1;
    }
    for (; ascii_is_digit(*p); p++)
        out->precision = out->precision * 10 + (*p - '0');
    return p;
}

bool conversion_next(const char *format, const char *from, struct conversion *out)
{
    const char *p = strchr(from, '%');

    if (p == NULL)
        return false;
    *out = (struct conversion){.start = p++};
    while (*p == '-' || *p == '0' || ascii_is_digit(*p))
        p++;
    if (*p == '.')
        p = read_precision(p + 1, out);
    for (; *p == 'l' || *p == 'z'; p++)
        out->length = out->length == 'l' ? 'L' : *p;
    if (p[0] == 'p' && p[1] == 'S')
        p++;
    out->kind = *p;
    ASSERT(*p != '\0');
    out->end = p + 1;
    out->is_quoted = out->start > format && is_quote(out->start[-1]) && out->start[-1] == p[1];
    return true;
}

static size_t conversion_count(const char *format)
{
    struct conversion c;
    size_t count = 0;

    for (const char *p = format; conversion_next(format, p, &c); p = c.end)
        count += c.kind != '%';
    return count;
}

/* --- writing --- */

/* A place in the text, or its end when that was cut before. */
static uint16_t place(const struct sentence_writer *w, size_t at)
{
    return (uint16_t)(at < w->capacity ? at : w->capacity);
}

/* What was written from `start` on is a text as it is. */
static void add_plain(struct sentence_writer *w, size_t start)
{
    uint16_t from = place(w, start);

    w->parts[w->part_count++] =
        (struct sentence_part){.start = from, .len = (uint16_t)(place(w, w->len) - from)};
}

static void put(struct sentence_writer *w, const char *bytes, size_t len)
{
    size_t left = w->len < w->capacity ? w->capacity - w->len : 0;

    if (left > 0 && len > 0)
        memcpy(w->text + w->len, bytes, len < left ? len : left);
    w->len += len;
}

/* What one of printf's own conversions makes of the arguments. */
static void put_number(struct sentence_writer *w, const struct conversion *c, va_list *args)
{
    char spec[16], text[400];
    size_t len = (size_t)(c->end - c->start);
    int done;

    ASSERT(len < sizeof(spec) && c->precision >= 0);
    memcpy(spec, c->start, len);
    spec[len] = '\0';
    if (c->kind == 'g' || c->kind == 'f')
        done = snprintf(text, sizeof(text), spec, va_arg(*args, double));
    else if (c->length == 'L')
        done = snprintf(text, sizeof(text), spec, va_arg(*args, long long));
    else if (c->length == 'l')
        done = snprintf(text, sizeof(text), spec, va_arg(*args, long));
    else if (c->length == 'z')
        done = snprintf(text, sizeof(text), spec, va_arg(*args, size_t));
    else
        done = snprintf(text, sizeof(text), spec, va_arg(*args, int));
    ASSERT(done >= 0 && (size_t)done < sizeof(text));
    put(w, text, (size_t)done);
}

/* How many bytes of a text are whole characters: a bound may have split the last one. */
static size_t whole_characters(const char *text, size_t len)
{
    size_t tail = 0;
    unsigned char lead;

    while (tail < 3 && tail < len && ((unsigned char)text[len - 1 - tail] & 0xc0) == 0x80)
        tail++;
    if (tail == len)
        return len;
    lead = (unsigned char)text[len - 1 - tail];
    return tail < (lead >= 0xf0   ? 3u
                   : lead >= 0xe0 ? 2u
                   : lead >= 0xc0 ? 1u
                                  : 0u)
               ? len - 1 - tail
               : len;
}

static void put_text(struct sentence_writer *w, const struct conversion *c, va_list *args)
{
    int most = !c->has_precision ? -1 : c->precision < 0 ? va_arg(*args, int) : c->precision;
    const char *text = va_arg(*args, const char *), *end = NULL;

    if (most == 0)
        return;
    if (most > 0)
        end = memchr(text, '\0', (size_t)most);
    if (most > 0 && end == NULL)
        put(w, text, whole_characters(text, (size_t)most));
    else
        put(w, text, end != NULL ? (size_t)(end - text) : strlen(text));
}

/* A sentence that stands in another; `reserved` parts are for the arguments behind it. */
static void put_sentence(struct sentence_writer *w, const struct sentence *s, size_t reserved)
{
    size_t start = w->len;
    struct sentence_part *own = &w->parts[w->part_count];

    put(w, s->text.ptr, s->text.len);
    if (s->part_count == 0 || w->part_count + s->part_count + reserved > w->part_capacity ||
        w->len >= w->capacity) {
        add_plain(w, start);
        return;
    }
    memcpy(own, s->parts, s->part_count * sizeof(*own));
    for (size_t i = 0; i < s->part_count; i++)
        own[i].start = (uint16_t)(own[i].start - s->parts[0].start + start);
    w->part_count += s->part_count;
}

static void put_argument(struct sentence_writer *w, const struct conversion *c, size_t reserved,
                         va_list *args)
{
    size_t start = w->len;

    switch (c->kind) {
    case 'S':
        put_sentence(w, va_arg(*args, const struct sentence *), reserved);
        return;
    case 's':
        put_text(w, c, args);
        break;
    case 'c':
    case 'd':
    case 'u':
    case 'x':
    case 'X':
    case 'g':
    case 'f':
        put_number(w, c, args);
        break;
    default:
        PANIC("a sentence has a conversion that none may have");
    }
    add_plain(w, start);
}

/* End the text. What was cut is a text as it is; its arguments end where it does. */
static void end_text(struct sentence_writer *w, size_t first)
{
    size_t end = w->len < w->capacity ? w->len : w->capacity - 1;

    if (end < w->len) {
        end = utf8_valid_prefix(str_from(w->text, end));
        for (size_t i = first; i < w->part_count; i++) {
            struct sentence_part *p = &w->parts[i];
            if (p->start + p->len > end && p->format != sentence_hinted)
                p->format = NULL;
            p->start = p->start < end ? p->start : (uint16_t)end;
            p->len = p->len < end - p->start ? p->len : (uint16_t)(end - p->start);
        }
    }
    w->text[end] = '\0';
}

void sentence_vwrite(struct sentence_writer *w, const char *format, va_list args)
{
    size_t reserved = conversion_count(format), first = w->part_count;
    const char *p = format;
    struct conversion c;
    va_list rest;

    ASSERT(first + 1 + reserved <= w->part_capacity);
    va_copy(rest, args);
    if (strcmp(format, "%pS") == 0) {
        put_sentence(w, va_arg(rest, const struct sentence *), 0);
        va_end(rest);
        end_text(w, first);
        return;
    }
    w->parts[w->part_count++] = (struct sentence_part){
        .format = format, .start = place(w, w->len), .count = (uint16_t)reserved};
    for (; conversion_next(format, p, &c); p = c.end) {
        put(w, p, (size_t)(c.start - p));
        if (c.kind == '%')
            put(w, "%", 1);
        else
            put_argument(w, &c, --reserved, &rest);
    }
    va_end(rest);
    put(w, p, strlen(p));
    w->parts[first].len = (uint16_t)(place(w, w->len) - w->parts[first].start);
    end_text(w, first);
}

/* --- in an arena --- */

struct sentence sentence_vmake_in(struct sentence_storage *place, size_t capacity,
                                  const char *format, va_list args)
{
    struct sentence_writer w = {.text = &place->text[0],
                                .capacity = capacity,
                                .parts = &place->parts[0],
                                .part_capacity = SENTENCE_PARTS_MAX};

    ASSERT(capacity <= SENTENCE_MAX);
    sentence_vwrite(&w, format, args);
    return (struct sentence){.text = str_from(place->text, place->parts[0].len),
                             .parts = place->parts,
                             .part_count = w.part_count};
}

struct sentence sentence_vmake(struct arena *mem, size_t capacity, const char *format, va_list args)
{
    struct sentence_storage place;

    return sentence_copy(mem, sentence_vmake_in(&place, capacity, format, args));
}

struct sentence sentence_make(struct arena *mem, const char *format, ...)
{
    struct sentence s;
    va_list args;

    va_start(args, format);
    s = sentence_vmake(mem, SENTENCE_MAX, format, args);
    va_end(args);
    return s;
}

struct sentence sentence_copy(struct arena *mem, struct sentence s)
{
    struct sentence_part *parts = ARENA_ARRAY(mem, s.part_count, struct sentence_part);

    if (s.part_count > 0)
        memcpy(parts, s.parts, s.part_count * sizeof(*parts));
    return (struct sentence){
        .text = str_copy(mem, s.text), .parts = parts, .part_count = s.part_count};
}

size_t sentence_extent(const struct sentence_part *parts, size_t i)
{
    size_t open = 1, at = i;

    for (; open > 0; at++)
        open += parts[at].count - (size_t)1;
    return at - i;
}

struct sentence sentence_at(struct sentence s, size_t i)
{
    size_t start = (size_t)(s.parts[i].start - s.parts[0].start);

    return (struct sentence){.text = str_slice(s.text, start, start + s.parts[i].len),
                             .parts = s.parts + i,
                             .part_count = sentence_extent(s.parts, i)};
}

static bool is_hinted(struct sentence s)
{
    return s.part_count > 0 && s.parts[0].format == sentence_hinted;
}

struct sentence sentence_plain(struct sentence s)
{
    return is_hinted(s) ? sentence_at(s, 1) : s;
}

struct sentence sentence_hint(struct sentence s)
{
    return is_hinted(s) ? sentence_at(s, 1 + sentence_extent(s.parts, 1)) : SENTENCE_NONE;
}
