/*
 * bench_store.c - what the store can write, with no engine around it.
 *
 * The ceiling for everything above: executions of four steps, each one row of
 * state and four of history, in batches of several sizes, every batch durable.
 * The same commits go through the store's own threads, two batches outstanding,
 * as the node submits them. Beside it, what a sync alone costs on this disk.
 */
#include "base/time/clock.h"
#include "define/kind.h"
#include "define/program.h"
#include "engine/commit/commit.h"
#include "engine/commit/history.h"
#include "engine/execution.h"
#include "engine/status.h"
#include "store/store.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 4, BATCH_MAX = 1024, SIZES = 5 };

static const unsigned sizes[SIZES] = {1, 16, 64, 256, 1024};

static const struct step step = {.code = {.ptr = "reserve", .len = 7}};
static const struct program program = {.kind = KIND_SCENARIO,
                                       .code = {.ptr = "order", .len = 5},
                                       .version = 1,
                                       .steps = &step,
                                       .step_count = 1};

/* A batch with its members, made once and sent many times with new ids. */
struct load {
    struct batch batch;
    struct member members[BATCH_MAX];
    struct member *pointers[BATCH_MAX];
    struct commit commits[BATCH_MAX];
    struct execution executions[BATCH_MAX];
    struct history_row rows[BATCH_MAX][STEPS];
};

static int64_t now_us(void)
{
    return clock_mono_us(&clock_system);
}

/* Of all threads. Time passes unevenly on a busy machine; this does not. */
static int64_t cpu_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void prepare(struct load *l, unsigned size, struct uuid_gen *ids)
{
    int64_t at = clock_wall_us(&clock_system);

    for (unsigned i = 0; i < size; i++) {
        struct execution *e = &l->executions[i];

        for (unsigned k = 0; k < STEPS; k++)
            l->rows[i][k] = (struct history_row){
                .seq = k + 1,
                .step = step.code,
                .status = STR("completed"),
                .visit = 1,
                .attempt = 1,
                .input_json = STR("{\"orderId\":\"A-1042\",\"amount\":129.9}"),
                .output_json =
                    STR("{\"reservation\":\"R-77\",\"total\":129.9,\"currency\":\"EUR\"}"),
                .started_at_us = at,
                .completed_at_us = at,
            };
        *e = (struct execution){
            .id = uuid_gen_next(ids, at / 1000),
            .program = &program,
            .user_json = STR("{\"id\":\"admin\",\"name\":\"admin\",\"role\":\"admin\"}"),
            .created_at_us = at,
            .started_at_us = at,
            .completed_at_us = at,
            .updated_at_us = at,
            .deadline_at_us = at + 1,
            .input_json = STR("{\"orderId\":\"A-1042\",\"amount\":129.9,\"customer\":\"C-5\"}"),
            .status = STATUS_COMPLETED,
            .row_version = 1,
            .seq = STEPS,
            .checkpoint_seq = STEPS,
            .result_json = STR("{\"reservation\":\"R-77\",\"total\":129.9,\"currency\":\"EUR\"}"),
        };
        l->commits[i] = (struct commit){
            .is_start = true,
            .after = e,
            .history = {.items = l->rows[i], .count = STEPS},
            .writes_context = true,
            .context_json = STR("{\"steps\":{\"reserve\":{\"reservation\":\"R-77\",\"total\":129.9,"
                                "\"currency\":\"EUR\"}},\"variables\":{},\"signals\":[]}"),
        };
        l->members[i] = (struct member){.kind = MEMBER_COMMIT, .commit = &l->commits[i]};
        l->pointers[i] = &l->members[i];
    }
    l->batch.members.items = l->pointers;
    l->batch.members.count = size;
}

static struct batch *take(struct mailbox *done)
{
    void *item;

    while (mailbox_take(done, &item, 1) == 0) {
        struct pollfd fd = {.fd = mailbox_fd(done), .events = POLLIN};

        (void)poll(&fd, 1, -1);
    }
    return item;
}

struct result {
    double per_second, cpu_us; /* executions; of one */
};

/* Submit batches of `size` for some time. */
static struct result run(struct store *store, struct mailbox *done, struct load *spare[2],
                         unsigned size, int64_t *number, int64_t for_us)
{
    static struct uuid_gen ids;
    int64_t began = now_us(), cpu_began = cpu_us(), written = 0;
    unsigned spares = 2;

    uuid_gen_init(&ids, NULL, NULL);
    while (spares < 2 || now_us() - began < for_us) {
        struct batch *b;

        if (spares > 0 && now_us() - began < for_us) {
            struct load *l = spare[--spares];

            arena_reset(&l->batch.mem);
            prepare(l, size, &ids);
            l->batch.number = ++*number;
            if (!store_submit(store, &l->batch))
                abort();
            continue;
        }
        b = take(done);
        if (b->end != BATCH_COMMITTED || b->members.items[0]->result != MEMBER_APPLIED) {
            (void)fprintf(stderr, "bench_store: %s\n", b->err.message);
            exit(1);
        }
        written += (int64_t)b->members.count;
        spare[spares++] = (struct load *)b;
    }
    return (struct result){.per_second = (double)written * 1e6 / (double)(now_us() - began),
                           .cpu_us = (double)(cpu_us() - cpu_began) / (double)written};
}

/* How many times a second 4 KiB can be written and synced. */
static double sync_rate(const char *folder, bool append)
{
    static char page[4096];
    char path[256];
    int64_t began, count = 0;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/sync", folder);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, page, sizeof(page)) != (ssize_t)sizeof(page) || fsync(fd) != 0)
        return 0;
    began = now_us();
    for (; now_us() - began < 500000; count++)
        if (pwrite(fd, page, sizeof(page), append ? (count + 1) * (int64_t)sizeof(page) : 0) !=
                (ssize_t)sizeof(page) ||
            fdatasync(fd) != 0)
            return 0;
    close(fd);
    (void)unlink(path);
    return (double)count * 1e6 / (double)(now_us() - began);
}

int main(int argc, char **argv)
{
    const char *url = argc > 1 ? argv[1] : "sqlite";
    int64_t for_us = argc > 2 ? atoll(argv[2]) * 1000 : 2000000;
    char folder[] = "bench-store-XXXXXX";
    char command[64];
    struct mailbox done;
    struct err err;
    static struct load storage[2];
    struct load *loads[2] = {&storage[0], &storage[1]};
    int64_t number = 0;
    struct store *store;

    if (mkdtemp(folder) == NULL || !mailbox_init(&done, 64, &err))
        return 1;
    store = store_open(
        &(struct store_options){
            .url = str_of(url), .data_path = str_of(folder), .done = &done, .reader_count = 1},
        &err);
    if (store == NULL) {
        (void)fprintf(stderr, "bench_store: %s\n", err.message);
        return 1;
    }
    printf("sync of 4 KiB: %.0f/s appending, %.0f/s overwriting\n\n", sync_rate(folder, true),
           sync_rate(folder, false));
    printf("%8s %14s %14s %14s\n", "batch", "executions/s", "history rows/s", "CPU us each");
    for (unsigned i = 0; i < SIZES; i++) {
        struct result r = run(store, &done, loads, sizes[i], &number, for_us);

        printf("%8u %14.0f %14.0f %14.1f\n", sizes[i], r.per_second, r.per_second * STEPS,
               r.cpu_us);
    }
    store_close(store);
    mailbox_fini(&done);
    for (unsigned i = 0; i < 2; i++)
        arena_fini(&storage[i].batch.mem);
    (void)snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command) == 0 ? 0 : 1;
}
