/* tzif.c - zone files; see tzif.h. */
#include "base/time/tzif.h"

#include "base/alloc.h"

enum { HEADER_BYTES = 44 };

struct header {
    char version; /* 0, or '2' and above */
    uint32_t utc_count;
    uint32_t std_count;
    uint32_t leap_count;
    uint32_t time_count;
    uint32_t type_count;
    uint32_t char_count;
};

static uint32_t get_u32(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;

    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static int64_t get_time(const char *p, size_t width)
{
    if (width == 4)
        return (int32_t)get_u32(p);
    return (int64_t)((uint64_t)get_u32(p) << 32 | get_u32(p + 4));
}

/* Takes the header off the front of *s. */
static bool take_header(struct str *s, struct header *h)
{
    const char *p = s->ptr;

    if (s->len < HEADER_BYTES || memcmp(p, "TZif", 4) != 0)
        return false;
    h->version = p[4];
    h->utc_count = get_u32(p + 20);
    h->std_count = get_u32(p + 24);
    h->leap_count = get_u32(p + 28);
    h->time_count = get_u32(p + 32);
    h->type_count = get_u32(p + 36);
    h->char_count = get_u32(p + 40);
    *s = str_slice(*s, HEADER_BYTES, s->len);
    return true;
}

/* How long the data of a header is, with times of `width` bytes. */
static uint64_t data_bytes(const struct header *h, size_t width)
{
    return (uint64_t)h->time_count * (width + 1) + (uint64_t)h->type_count * 6 + h->char_count +
           (uint64_t)h->leap_count * (width + 4) + h->std_count + h->utc_count;
}

static bool get_offset(const char *types, uint32_t type_count, unsigned char type, int32_t *out)
{
    if (type >= type_count)
        return false;
    *out = (int32_t)get_u32(types + (size_t)type * 6);
    return *out > -TZ_OFFSET_LIMIT && *out < TZ_OFFSET_LIMIT;
}

/* The table of changes; `data` is known to hold all that `h` counts. */
static struct tz_zone *read_table(const struct header *h, const char *data, size_t width)
{
    const char *indexes = data + (size_t)h->time_count * width;
    const char *types = indexes + h->time_count;
    struct tz_zone *zone;
    int32_t *offsets;

    zone =
        alloc_zeroed(sizeof(*zone) + (size_t)h->time_count * (sizeof(int64_t) + sizeof(int32_t)));
    offsets = (int32_t *)(zone->at + h->time_count);
    zone->offsets = offsets;
    zone->count = h->time_count;
    if (!get_offset(types, h->type_count, 0, &zone->first_offset))
        goto bad;
    for (uint32_t i = 0; i < zone->count; i++) {
        zone->at[i] = get_time(data + (size_t)i * width, width);
        if (i > 0 && zone->at[i] <= zone->at[i - 1])
            goto bad;
        if (!get_offset(types, h->type_count, (unsigned char)indexes[i], &offsets[i]))
            goto bad;
    }
    return zone;
bad:
    free(zone);
    return NULL;
}

/* The rule between two line feeds at the end of the file; it may be empty. */
static bool read_footer(struct str rest, struct tz_zone *zone)
{
    int64_t end;

    if (!str_starts_with(rest, STR("\n")))
        return false;
    end = str_find(rest, STR("\n"), 1);
    if (end < 0)
        return false;
    if (end == 1)
        return true;
    zone->has_rule = tz_rule_read(str_slice(rest, 1, (size_t)end), &zone->rule);
    return zone->has_rule;
}

struct tz_zone *tzif_read(struct str bytes)
{
    struct header h;
    struct tz_zone *zone;
    size_t width = 4;

    if (!take_header(&bytes, &h))
        return NULL;
    if (h.version != 0) {
        /* The same once more, in 64 bits. */
        if (data_bytes(&h, width) > bytes.len)
            return NULL;
        bytes = str_slice(bytes, (size_t)data_bytes(&h, width), bytes.len);
        if (!take_header(&bytes, &h))
            return NULL;
        width = 8;
    }
    if (h.leap_count != 0 || data_bytes(&h, width) > bytes.len)
        return NULL;
    zone = read_table(&h, bytes.ptr, width);
    if (zone == NULL || width == 4)
        return zone;
    if (!read_footer(str_slice(bytes, (size_t)data_bytes(&h, width), bytes.len), zone)) {
        free(zone);
        return NULL;
    }
    return zone;
}

struct tz_period tzif_period(const struct tz_zone *zone, int64_t utc)
{
    /* Changes at or before `utc`: at least `low`, at most `high`. */
    uint32_t low = 0, high = zone->count;
    struct tz_period p;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (zone->at[middle] <= utc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == zone->count && zone->has_rule) {
        p = tz_rule_period(&zone->rule, utc);
        if (low > 0 && p.from < zone->at[low - 1])
            p.from = zone->at[low - 1];
        return p;
    }
    return (struct tz_period){
        .from = low == 0 ? INT64_MIN : zone->at[low - 1],
        .to = low == zone->count ? INT64_MAX : zone->at[low],
        .offset = low == 0 ? zone->first_offset : zone->offsets[low - 1],
    };
}
