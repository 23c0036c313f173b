/* meter.c - see meter.h. */
#include "node/meter.h"

#include <stdio.h>

enum meter_type { COUNTER, GAUGE, AGE, SECONDS, SIZES };

enum { TIME_BOUNDS = 17, SIZE_BOUNDS = 14, KEY_MAX = 400 };

struct meter_series {
    enum meter_id id;
    bool is_hidden;
    struct str labels[METER_LABELS]; /* as they are written: escaped */
    struct meter_series *next;       /* of its family */
    int64_t count;                   /* or the value of a gauge */
    int64_t sum;
    int64_t below[]; /* of a histogram: how many were that or less, each counted once */
};

static const struct {
    enum meter_type type;
    const char *name, *help;
    const char *labels[METER_LABELS];
} specs[] = {
#define METER(symbol, type, name, help, ...) {type, name, help, {__VA_ARGS__}},
#include "node/meters.def"
#undef METER
};

/* Microseconds: a process may wait for a week. */
static const int64_t time_bounds[TIME_BOUNDS] = {
    1000,    5000,    10000,    25000,    50000,     100000,     250000,      500000,       1000000,
    2500000, 5000000, 10000000, 60000000, 300000000, 3600000000, 86400000000, 604800000000,
};
static const int64_t size_bounds[SIZE_BOUNDS] = {1,  2,   4,   8,   16,  32,   64,
                                                 96, 128, 192, 256, 512, 1024, 4096};

/* The upper bounds of the buckets of a histogram; the last bucket has none. */
static const int64_t *bounds_of(enum meter_id id, int *count)
{
    *count = specs[id].type == SECONDS ? TIME_BOUNDS : specs[id].type == SIZES ? SIZE_BOUNDS : 0;
    return specs[id].type == SECONDS ? time_bounds : size_bounds;
}

static bool is_histogram(enum meter_id id)
{
    return specs[id].type == SECONDS || specs[id].type == SIZES;
}

/* --- series --- */

static struct str escaped(struct arena *mem, struct str text)
{
    struct buf out;

    buf_init_arena(&out, mem);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\\' || text.ptr[i] == '"')
            buf_char(&out, '\\');
        if (text.ptr[i] == '\n')
            buf_text(&out, "\\n");
        else
            buf_char(&out, text.ptr[i]);
    }
    return buf_view(&out);
}

static bool make_key(char *key, size_t *len, enum meter_id id, const struct str *labels)
{
    size_t used = 0;

    key[used++] = (char)id;
    for (int i = 0; i < METER_LABELS; i++) {
        if (used + labels[i].len + 1 > KEY_MAX)
            return false;
        if (labels[i].len > 0)
            memcpy(key + used, labels[i].ptr, labels[i].len);
        used += labels[i].len;
        key[used++] = '\0';
    }
    *len = used;
    return true;
}

static struct meter_series *add_series(struct meters *m, enum meter_id id, struct str key,
                                       const struct str *labels)
{
    struct meter_family *f = &m->families[id];
    struct meter_series *s;
    size_t bytes;
    int bounds;

    (void)bounds_of(id, &bounds);
    bytes = sizeof(*s) + (size_t)bounds * sizeof(s->below[0]);
    s = arena_alloc(&m->mem, bytes);
    memset(s, 0, bytes);
    s->id = id;
    for (int i = 0; i < METER_LABELS; i++)
        s->labels[i] = escaped(&m->mem, labels[i]);
    map_put(&m->series, str_copy(&m->mem, key), s);
    *(f->last != NULL ? &f->last->next : &f->first) = s;
    f->last = s;
    f->count++;
    return s;
}

static struct meter_series *find_series(struct meters *m, enum meter_id id,
                                        const struct str *labels)
{
    struct str others[METER_LABELS];
    char key[KEY_MAX];
    size_t len = 0;
    bool fits = make_key(key, &len, id, labels);
    struct meter_series *s = fits ? map_get(&m->series, str_from(key, len)) : NULL;

    if (s != NULL)
        return s;
    if (fits && m->series.count < METER_SERIES_MAX && m->families[id].count < METER_FAMILY_MAX)
        return add_series(m, id, str_from(key, len), labels);
    for (int i = 0; i < METER_LABELS; i++)
        others[i] = specs[id].labels[i] != NULL ? STR("other") : STR_NONE;
    if (!make_key(key, &len, id, others))
        PANIC("a short key does not fit");
    s = map_get(&m->series, str_from(key, len));
    return s != NULL ? s : add_series(m, id, str_from(key, len), others);
}

void meters_init(struct meters *m)
{
    const struct str none[METER_LABELS] = {STR_NONE, STR_NONE, STR_NONE};

    arena_init(&m->mem);
    map_init(&m->series, &m->mem);
    memset(m->families, 0, sizeof(m->families));
    for (unsigned i = 0; i < METER_COUNT; i++)
        if (specs[i].labels[0] == NULL &&
            (specs[i].type == COUNTER || is_histogram((enum meter_id)i)))
            (void)find_series(m, (enum meter_id)i, none);
}

void meters_fini(struct meters *m)
{
    arena_fini(&m->mem);
}

void meter_add(struct meters *m, enum meter_id id, struct str a, struct str b, struct str c,
               int64_t count)
{
    ASSERT(specs[id].type == COUNTER);
    find_series(m, id, (struct str[]){a, b, c})->count += count;
}

void meter_count(struct meters *m, enum meter_id id, struct str a, struct str b, struct str c)
{
    meter_add(m, id, a, b, c, 1);
}

void meter_take(struct meters *m, enum meter_id id, struct str a, struct str b, struct str c,
                int64_t value)
{
    struct meter_series *s = find_series(m, id, (struct str[]){a, b, c});
    int count;
    const int64_t *bounds = bounds_of(id, &count);

    ASSERT(is_histogram(id));
    s->count++;
    s->sum += value;
    for (int i = 0; i < count; i++)
        if (value <= bounds[i]) {
            s->below[i]++;
            break;
        }
}

void meter_set(struct meters *m, enum meter_id id, struct str a, struct str b, struct str c,
               int64_t value)
{
    struct meter_series *s = find_series(m, id, (struct str[]){a, b, c});

    ASSERT(!is_histogram(id));
    s->count = value;
    s->is_hidden = false;
}

void meter_hide(struct meters *m, enum meter_id id)
{
    for (struct meter_series *s = m->families[id].first; s != NULL; s = s->next)
        s->is_hidden = true;
}

/* --- writing --- */

static void write_labels(struct buf *out, const struct meter_series *s, const char *le)
{
    char before = '{';

    for (int i = 0; i < METER_LABELS && specs[s->id].labels[i] != NULL; i++) {
        buf_printf(out, "%c%s=\"%.*s\"", before, specs[s->id].labels[i], STR_ARG(s->labels[i]));
        before = ',';
    }
    if (le != NULL) {
        buf_printf(out, "%cle=\"%s\"", before, le);
        before = ',';
    }
    if (before == ',')
        buf_char(out, '}');
}

/* A number as it is, microseconds as seconds: 0.05, 3600, -0.002. */
static void write_number(char *text, size_t size, bool is_time, int64_t value)
{
    long long us = value < 0 ? -(long long)value : (long long)value;
    int len = is_time ? snprintf(text, size, "%s%lld.%06lld", value < 0 ? "-" : "", us / 1000000,
                                 us % 1000000)
                      : snprintf(text, size, "%lld", (long long)value);

    if (!is_time)
        return;
    while (text[len - 1] == '0')
        text[--len] = '\0';
    if (text[len - 1] == '.')
        text[--len] = '\0';
}

static void write_histogram(struct buf *out, const struct meter_series *s)
{
    bool is_time = specs[s->id].type == SECONDS;
    int count;
    const int64_t *bounds = bounds_of(s->id, &count);
    const char *name = specs[s->id].name;
    int64_t below = 0;
    char text[32];

    for (int i = 0; i <= count; i++) {
        if (i < count)
            write_number(text, sizeof(text), is_time, bounds[i]);
        below = i < count ? below + s->below[i] : s->count;
        buf_printf(out, "%s_bucket", name);
        write_labels(out, s, i < count ? text : "+Inf");
        buf_printf(out, " %lld\n", (long long)below);
    }
    write_number(text, sizeof(text), is_time, s->sum);
    buf_printf(out, "%s_sum", name);
    write_labels(out, s, NULL);
    buf_printf(out, " %s\n%s_count", text, name);
    write_labels(out, s, NULL);
    buf_printf(out, " %lld\n", (long long)s->count);
}

static void write_family(const struct meter_family *f, enum meter_id id, struct buf *out)
{
    static const char *const types[] = {
        [COUNTER] = "counter",   [GAUGE] = "gauge",     [AGE] = "gauge",
        [SECONDS] = "histogram", [SIZES] = "histogram",
    };
    char text[32];

    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", specs[id].name, specs[id].help, specs[id].name,
               types[specs[id].type]);
    for (const struct meter_series *s = f->first; s != NULL; s = s->next) {
        if (s->is_hidden)
            continue;
        if (is_histogram(id)) {
            write_histogram(out, s);
            continue;
        }
        buf_text(out, specs[id].name);
        write_labels(out, s, NULL);
        write_number(text, sizeof(text), specs[id].type == AGE, s->count);
        buf_printf(out, " %s\n", text);
    }
}

void meters_write(const struct meters *m, struct buf *out)
{
    for (unsigned id = 0; id < METER_COUNT; id++)
        write_family(&m->families[id], (enum meter_id)id, out);
}
