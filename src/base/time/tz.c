/*
 * tz.c - time zones; see tz.h.
 *
 * The zones loaded so far are the one global here: they are a cache of files
 * that do not change while the process runs. The table is only ever added to,
 * under a lock; a chain that a reader sees is complete.
 */
#include "base/time/tz.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/text/ascii.h"
#include "base/time/tzif.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHAINS = 512, FILE_BYTES_MAX = 64 * 1024 };

static _Atomic(struct tz_zone *) chains[CHAINS];
static unsigned zone_count;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

/* --- names --- */

/* "02:00", "+02:00", "-08:00" */
static bool read_fixed(struct str s, int32_t *offset)
{
    bool west = s.len > 0 && s.ptr[0] == '-';
    int32_t d[5];

    if (west || (s.len > 0 && s.ptr[0] == '+'))
        s = str_slice(s, 1, s.len);
    if (s.len != 5 || s.ptr[2] != ':')
        return false;
    for (size_t i = 0; i < s.len; i++) {
        d[i] = s.ptr[i] - '0';
        if (i != 2 && (d[i] < 0 || d[i] > 9))
            return false;
    }
    if (d[0] * 10 + d[1] > 23 || d[3] > 5)
        return false;
    *offset = ((d[0] * 10 + d[1]) * 3600 + (d[3] * 10 + d[4]) * 60) * (west ? -1 : 1);
    return true;
}

/* Letters, digits, _ + - in parts joined by single slashes: nothing that could leave the folder. */
static bool is_zone_name(struct str s)
{
    bool part_open = false;

    if (s.len == 0 || s.len >= TZ_NAME_MAX)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool alnum = ascii_is_letter_or_digit(c);
        if (c == '/') {
            if (!part_open)
                return false;
            part_open = false;
        } else if (alnum || (part_open && (c == '_' || c == '+' || c == '-'))) {
            part_open = true;
        } else {
            return false;
        }
    }
    /* This one is whatever the machine is set to: the same text must mean the same everywhere. */
    return part_open && !str_eq(s, STR("localtime"));
}

/* --- the cache --- */

/* How many bytes of the file were read into `out`; 0 when it cannot be, or is too large. */
static size_t read_zone_file(struct str name, char out[FILE_BYTES_MAX])
{
    const char *dir = secure_getenv("TZDIR");
    char path[512];
    struct stat st;
    size_t len = 0;
    ssize_t got = 0;
    int fd;

    if (snprintf(path, sizeof(path), "%s/%.*s", dir != NULL ? dir : "/usr/share/zoneinfo",
                 STR_ARG(name)) >= (int)sizeof(path))
        return 0;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < FILE_BYTES_MAX)
        while (len < FILE_BYTES_MAX && (got = read(fd, out + len, FILE_BYTES_MAX - len)) > 0)
            len += (size_t)got;
    close(fd);
    return got < 0 || len == FILE_BYTES_MAX ? 0 : len;
}

static struct tz_zone *find_in(struct tz_zone *zone, struct str name)
{
    for (; zone != NULL; zone = zone->next)
        if (str_eq(str_of(zone->name), name))
            return zone;
    return NULL;
}

static struct tz_zone *load(struct str name)
{
    char *bytes = alloc_bytes(FILE_BYTES_MAX);
    struct tz_zone *zone;

    zone = tzif_read(str_from(bytes, read_zone_file(name, bytes)));
    free(bytes);
    if (zone != NULL)
        memcpy(zone->name, name.ptr, name.len);
    return zone;
}

static struct tz_zone *find_or_load(struct str name)
{
    _Atomic(struct tz_zone *) *chain = &chains[hash_bytes(name.ptr, name.len) % CHAINS];
    struct tz_zone *zone = find_in(atomic_load_explicit(chain, memory_order_acquire), name);

    if (zone != NULL)
        return zone;
    pthread_mutex_lock(&adding);
    /* Another thread may have been faster. */
    zone = find_in(atomic_load_explicit(chain, memory_order_relaxed), name);
    if (zone == NULL && zone_count < TZ_ZONES_MAX && (zone = load(name)) != NULL) {
        zone_count++;
        zone->next = atomic_load_explicit(chain, memory_order_relaxed);
        atomic_store_explicit(chain, zone, memory_order_release);
    }
    pthread_mutex_unlock(&adding);
    return zone;
}

bool tz_find(struct str name, struct tz *out)
{
    struct tz tz = {0};

    if (name.len == 0 || str_eq(name, STR("UTC")) || str_eq(name, STR("Z")) ||
        read_fixed(name, &tz.offset)) {
        *out = tz;
        return true;
    }
    if (!is_zone_name(name))
        return false;
    tz.zone = find_or_load(name);
    if (tz.zone == NULL)
        return false;
    *out = tz;
    return true;
}

/* --- lookups --- */

struct tz_period tz_period(struct tz tz, int64_t utc)
{
    if (tz.zone == NULL)
        return (struct tz_period){.from = INT64_MIN, .to = INT64_MAX, .offset = tz.offset};
    return tzif_period(tz.zone, utc);
}

int64_t tz_to_utc(struct tz tz, int64_t local)
{
    /* No offset is so large that the answer could lie before this. */
    struct tz_period p = tz_period(tz, local - TZ_OFFSET_LIMIT);

    while (local - p.offset >= p.to) {
        struct tz_period next = tz_period(tz, p.to);
        if (local - next.offset < next.from)
            return local - p.offset; /* left out between the two */
        p = next;
    }
    return local - p.offset;
}
