/*
 * bench_json.c - reading and writing one realistic document, against jansson.
 *
 * Each of several rounds measures all four, so that what else the machine
 * does falls on all; the best round of each counts.
 */
#include "value/json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 15, TIMES = 20000, JANSSON_TIMES = 2000 };

static const char document[] =
    "{\"id\":\"ord_01HV8Z6Q4M\",\"number\":100482,\"status\":\"awaiting_payment\",\"paid\":false,"
    "\"customer\":{\"id\":7731,\"name\":\"Anna \\\"Ann\\\" "
    "Petrova\",\"email\":\"anna@example.com\","
    "\"vip\":true,\"manager\":null},\"items\":[{\"sku\":\"KB-104\",\"title\":\"Keyboard, "
    "US\",\"qty\":2,"
    "\"price\":49.99,\"tax\":0.2},{\"sku\":\"MS-77\",\"title\":\"Mouse\",\"qty\":1,\"price\":19.5,"
    "\"tax\":0.2},"
    "{\"sku\":\"CB-9\",\"title\":\"Cable 2m\\n(black)\",\"qty\":10,\"price\":3.25,\"tax\":0.1}],"
    "\"total\":151.98,\"currency\":\"EUR\",\"address\":{\"city\":\"Riga\",\"zip\":\"LV-1010\","
    "\"lines\":"
    "[\"Brivibas iela 55\",\"apt "
    "12\"]},\"createdAt\":\"2026-01-02T03:04:05Z\",\"tags\":[\"web\",\"gift\"],"
    "\"attempt\":3}";

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Keep a result alive without looking at it. */
static void use(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

static double read_ours(struct str text)
{
    struct arena mem;
    struct value v;
    struct err err;
    double start;

    arena_init(&mem);
    start = now_ns();
    for (int i = 0; i < TIMES; i++) {
        arena_reset(&mem);
        if (!json_read(&mem, text, &v, &err))
            abort();
        use(&v);
    }
    start = now_ns() - start;
    arena_fini(&mem);
    return start / TIMES;
}

static double write_ours(struct str text)
{
    struct arena mem;
    struct value v;
    struct err err;
    struct buf out;
    double start;

    arena_init(&mem);
    buf_init(&out);
    if (!json_read(&mem, text, &v, &err))
        abort();
    start = now_ns();
    for (int i = 0; i < TIMES; i++) {
        buf_clear(&out);
        if (!json_write(&out, v, &err))
            abort();
        use(out.ptr);
    }
    start = now_ns() - start;
    if (!str_eq(buf_view(&out), text))
        printf("note: the written text differs: %.*s\n", STR_ARG(buf_view(&out)));
    buf_fini(&out);
    arena_fini(&mem);
    return start / TIMES;
}

static double read_jansson(struct str text)
{
    double start = now_ns();

    for (int i = 0; i < JANSSON_TIMES; i++) {
        json_t *v = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, NULL);
        if (v == NULL)
            abort();
        use(v);
        json_decref(v);
    }
    return (now_ns() - start) / JANSSON_TIMES;
}

static double write_jansson(struct str text)
{
    json_t *v = json_loadb(text.ptr, text.len, 0, NULL);
    double start = now_ns();

    for (int i = 0; i < JANSSON_TIMES; i++) {
        char *written = json_dumps(v, JSON_COMPACT);
        use(written);
        free(written);
    }
    start = now_ns() - start;
    json_decref(v);
    return start / JANSSON_TIMES;
}

static void keep_best(double *best, double ns)
{
    if (*best == 0 || ns < *best)
        *best = ns;
}

int main(void)
{
    struct str text = STR(document);
    double read = 0, write = 0, their_read = 0, their_write = 0;

    for (int i = 0; i < ROUNDS; i++) {
        keep_best(&read, read_ours(text));
        keep_best(&their_read, read_jansson(text));
        keep_best(&write, write_ours(text));
        keep_best(&their_write, write_jansson(text));
    }
    printf("json, a document of %zu bytes, best of %d rounds\n", text.len, ROUNDS);
    printf("  read   %7.0f ns   jansson %7.0f ns   %5.1f times\n", read, their_read,
           their_read / read);
    printf("  write  %7.0f ns   jansson %7.0f ns   %5.1f times\n", write, their_write,
           their_write / write);
    return 0;
}
