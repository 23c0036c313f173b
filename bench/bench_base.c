/* bench_base.c - what the operations of src/base cost. */
#include "base/hash.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "base/map.h"
#include "base/text/base64.h"
#include "base/time/clock.h"
#include "base/uuid.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 5, KEYS = 1000 };

struct fixture {
    struct arena mem;
    struct map map;
    struct str keys[KEYS];
    struct mailbox mailbox;
    struct uuid_gen uuids;
};

/* Results go here, so that the compiler cannot drop the work. */
static volatile uint64_t result;

static void run_arena_alloc(struct fixture *f, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (i % 4096 == 0)
            arena_reset(&f->mem);
        result = (uintptr_t)arena_alloc(&f->mem, 40);
    }
}

static void run_hash_16_bytes(struct fixture *f, unsigned count)
{
    uint64_t text[2] = {0};

    (void)f;
    for (unsigned i = 0; i < count; i++) {
        text[0] = i;
        result = hash_bytes(text, sizeof(text));
    }
}

static void run_map_find(struct fixture *f, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        result = map_find(&f->map, f->keys[i % KEYS])->number;
}

static void run_mailbox_put_take(struct fixture *f, unsigned count)
{
    void *out[1];

    for (unsigned i = 0; i < count; i++)
        result = mailbox_put(&f->mailbox, f) && mailbox_take(&f->mailbox, out, 1) == 1;
}

/* Not empty in between, so the descriptor is left alone. */
static void run_mailbox_put_take_busy(struct fixture *f, unsigned count)
{
    void *out[1];

    result = mailbox_put(&f->mailbox, f);
    run_mailbox_put_take(f, count);
    result = mailbox_take(&f->mailbox, out, 1);
}

static void run_uuid_next(struct fixture *f, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        result = uuid_gen_next(&f->uuids, 1).bytes[15];
}

static void run_base64_600_bytes(struct fixture *f, unsigned count)
{
    char bytes[600] = {1}, text[800];

    (void)f;
    for (unsigned i = 0; i < count; i++)
        result = base64_encode(str_from(bytes, sizeof(bytes)), text) + (size_t)text[i % 800];
}

static void run_log_line(struct fixture *f, unsigned count)
{
    (void)f;
    for (unsigned i = 0; i < count; i++)
        log_write(LOG_INFO, "listening", LOG_FIELDS(log_str("host", STR("::")), log_int("n", i)));
}

static void measure(struct fixture *f, const char *name, unsigned count,
                    void (*run)(struct fixture *f, unsigned count))
{
    int64_t best_us = INT64_MAX;

    for (int i = 0; i < ROUNDS; i++) {
        int64_t start_us = clock_mono_us(&clock_system);
        int64_t took_us;

        run(f, count);
        took_us = clock_mono_us(&clock_system) - start_us;
        best_us = took_us < best_us ? took_us : best_us;
    }
    printf("%-36s %8.1f ns\n", name, (double)best_us * 1000 / count);
}

int main(void)
{
    static struct fixture f;
    struct arena keys;
    struct err err;
    int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

    arena_init(&keys);
    arena_init(&f.mem);
    map_init(&f.map, &keys);
    for (unsigned i = 0; i < KEYS; i++) {
        f.keys[i] = str_printf(&keys, "execution-%u", i);
        map_add(&f.map, f.keys[i], NULL)->number = i;
    }
    if (!mailbox_init(&f.mailbox, 16, &err))
        PANIC(err.message);
    uuid_gen_init(&f.uuids, NULL, NULL);
    log_to(null_fd, LOG_INFO, &clock_system);

    measure(&f, "arena_alloc, 40 bytes", 10000000, run_arena_alloc);
    measure(&f, "hash_bytes, 16 bytes", 10000000, run_hash_16_bytes);
    measure(&f, "map_find, 1000 keys", 5000000, run_map_find);
    measure(&f, "mailbox put and take, empty before", 200000, run_mailbox_put_take);
    measure(&f, "mailbox put and take, busy", 2000000, run_mailbox_put_take_busy);
    measure(&f, "uuid_gen_next", 200000, run_uuid_next);
    measure(&f, "base64_encode, 600 bytes", 200000, run_base64_600_bytes);
    measure(&f, "log_write, two fields", 100000, run_log_line);

    mailbox_fini(&f.mailbox);
    arena_fini(&f.mem);
    arena_fini(&keys);
    close(null_fd);
    return 0;
}
