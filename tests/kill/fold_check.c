/*
 * fold_check.c - looks through a whole store: fold_check DATA_DIR or postgres://...
 *
 * Every execution is loaded twice, from its checkpoint and by folding its
 * history from nothing, and both must give the same context. Its history must
 * be gapless and in order, its times must not go back, no visit of a step may
 * be completed twice, and its last row must say how it ended. The counters of
 * statuses must be what a count gives. Only reads; a server may be running.
 */
#include "base/map.h"
#include "base/time/clock.h"
#include "define/define.h"
#include "engine/state.h"
#include "store/read/reader.h"
#include "store/read_definition.h"
#include "store/read_execution.h"
#include "store/read_executions.h"
#include "store/read_letter.h"
#include "value/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAGE = 200, NOTICES_MAX = 20 };

struct check {
    struct reader reader;
    struct arena mem; /* programs */
    const struct cel_env *env;
    struct map programs; /* "code version" */
    int64_t counts[STATUS_COUNT];
    uint64_t passed, failed;
};

static void notice(struct check *c, struct uuid id, const char *what)
{
    char text[UUID_TEXT_LEN + 1];

    uuid_write(id, text);
    if (c->failed < NOTICES_MAX)
        printf("%s: %s\n", text, what);
}

static NORETURN void give_up(const char *what, const struct err *err)
{
    printf("%s: %s\n0 passed, 1 failed\n", what, err->message);
    exit(1);
}

/* The program of an execution, or NULL. */
static const struct program *program_of(struct check *c, struct str code, int64_t version)
{
    struct str name = str_printf(&c->mem, "%.*s %" PRId64, STR_ARG(code), version);
    const struct program *p = map_get(&c->programs, name);
    struct stored_definition d;
    struct findings findings = {0};
    struct value definition;
    struct err err;
    bool found;

    if (p != NULL)
        return p;
    if (!read_definition(&c->reader, &c->mem, STR("scenario"), code, version, &d, &found, &err))
        give_up("a definition cannot be read", &err);
    if (!found || !json_read(&c->mem, d.text, &definition, &err))
        return NULL;
    define_compile_scenario(&c->mem, c->env, definition, version, &findings, &p);
    if (p != NULL)
        map_put(&c->programs, name, (void *)(uintptr_t)p);
    return p;
}

/* --- what must hold of one history --- */

static bool is_completed_step(const struct history_row *row)
{
    return row->kind == HISTORY_FORWARD && str_eq(row->status, STR("completed"));
}

static bool completes_once(const struct history *h, struct arena *mem)
{
    struct map seen;

    map_init(&seen, mem);
    for (size_t i = 0; i < h->count; i++) {
        const struct history_row *row = &h->items[i];
        bool is_new = true;

        if (is_completed_step(row))
            (void)map_add(&seen, str_printf(mem, "%.*s %" PRId64, STR_ARG(row->step), row->visit),
                          &is_new);
        if (!is_new)
            return false;
    }
    return true;
}

/* Whether the last row says that the execution ended as it is stored. */
static bool ends_as_stored(const struct history *h, const struct stored_execution *stored,
                           struct arena *mem)
{
    struct value delta, end = value_absent();
    struct err err;

    if (h->count > 0 && h->items[h->count - 1].delta_json.len > 0 &&
        json_read(mem, h->items[h->count - 1].delta_json, &delta, &err) && delta.kind == VALUE_MAP)
        end = value_map_get_str(delta, STR("end"));
    if (end.kind != VALUE_STRING)
        return !status_is_terminal(stored->status);
    return str_eq(value_text(end), str_of(status_name(stored->status)));
}

static const char *wrong_with_history(const struct history *h,
                                      const struct stored_execution *stored, struct arena *mem)
{
    int64_t last_us = 0;

    if ((int64_t)h->count != stored->seq)
        return "the history does not have as many rows as its last number says";
    for (size_t i = 0; i < h->count; i++) {
        const struct history_row *row = &h->items[i];

        if (row->seq != (int64_t)i + 1)
            return "the history has a gap";
        if (row->completed_at_us < last_us)
            return "a time in the history goes back";
        if (row->started_at_us > row->completed_at_us)
            return "a step ends before it begins";
        last_us = row->completed_at_us;
    }
    if (stored->updated_at_us < last_us)
        return "the execution is older than its history";
    if (!completes_once(h, mem))
        return "a visit was completed twice";
    if (!ends_as_stored(h, stored, mem))
        return "the history ends otherwise than the execution";
    return NULL;
}

/* --- one execution --- */

static const char *wrong_with_context(const struct program *p,
                                      const struct stored_execution *stored,
                                      const struct history *whole, struct arena *mem,
                                      struct err *err)
{
    struct stored_execution bare = *stored;
    struct execution *from_checkpoint, *from_nothing;
    struct str a, b;

    bare.context_json = STR_NONE;
    bare.checkpoint_seq = 0;
    bare.history = *whole;
    if (!state_restore(mem, p, stored, &from_checkpoint, err) ||
        !state_restore(mem, p, &bare, &from_nothing, err))
        return err->message;
    a = state_context_json(mem, from_checkpoint);
    b = state_context_json(mem, from_nothing);
    if (str_eq(a, b))
        return NULL;
    printf("from the checkpoint %.*s\nfrom the history    %.*s\n", STR_ARG(a), STR_ARG(b));
    return "the history does not give the stored state";
}

static void check_one(struct check *c, struct uuid id, struct arena *mem)
{
    struct stored_execution stored;
    struct history whole;
    const struct program *p;
    const char *wrong;
    struct err err;
    bool found;

    if (!read_execution(&c->reader, mem, id, &stored, &found, &err) || !found ||
        !read_history(&c->reader, mem, id, 0, INT32_MAX, &whole, &found, &err))
        give_up("an execution cannot be read", &err);
    /* A server that runs may have added some. */
    while (whole.count > 0 && whole.items[whole.count - 1].seq > stored.seq)
        whole.count--;
    c->counts[stored.status]++;
    p = program_of(c, stored.code, stored.version);
    wrong = p == NULL ? "its program is missing" : wrong_with_history(&whole, &stored, mem);
    if (wrong == NULL)
        wrong = wrong_with_context(p, &stored, &whole, mem, &err);
    if (wrong == NULL) {
        c->passed++;
        return;
    }
    notice(c, id, wrong);
    c->failed++;
}

static void check_all(struct check *c)
{
    struct execution_filter filter = {.limit = PAGE};
    struct arena page, mem;
    char cursor[64];

    arena_init(&page);
    arena_init(&mem);
    do {
        struct stored_executions list;
        struct str next;
        struct err err;

        arena_reset(&page);
        if (!read_executions(&c->reader, &page, &filter, &list, &next, &err))
            give_up("executions cannot be listed", &err);
        for (size_t i = 0; i < list.count; i++) {
            arena_reset(&mem);
            check_one(c, list.items[i].id, &mem);
        }
        (void)snprintf(cursor, sizeof(cursor), "%.*s", STR_ARG(next));
        filter.cursor = str_of(cursor);
    } while (filter.cursor.len > 0);
    arena_fini(&mem);
    arena_fini(&page);
}

static void check_counters(struct check *c)
{
    int64_t counters[STATUS_COUNT];
    bool equal = true;
    struct err err;

    if (!read_counts(&c->reader, counters, &err))
        give_up("the counters cannot be read", &err);
    for (unsigned i = 0; i < STATUS_COUNT; i++)
        if (counters[i] != c->counts[i]) {
            printf("%" PRId64 " executions are %s, the counter says %" PRId64 "\n", c->counts[i],
                   status_name((enum execution_status)i), counters[i]);
            equal = false;
        }
    if (equal)
        c->passed++;
    else
        c->failed++;
}

/* The counter of open dead letters is how many there are. */
static void check_letters(struct check *c)
{
    struct letter_filter filter = {.has_status = true, .status = LETTER_OPEN, .limit = 500};
    struct stored_letters page;
    int64_t open = 0, counter;
    struct err err;

    do {
        if (!read_letters(&c->reader, &c->mem, &filter, &page, &filter.cursor, &err))
            give_up("dead letters cannot be listed", &err);
        open += (int64_t)page.count;
    } while (filter.cursor.len > 0);
    if (!read_open_letters(&c->reader, &counter, &err))
        give_up("the counter of dead letters cannot be read", &err);
    if (open == counter) {
        c->passed++;
        return;
    }
    printf("%" PRId64 " dead letters are open, the counter says %" PRId64 "\n", open, counter);
    c->failed++;
}

int main(int argc, char **argv)
{
    struct check c = {0};
    struct err err;
    struct str place;

    if (argc != 2) {
        (void)fprintf(stderr, "usage: fold_check DATA_DIR or postgres://...\n");
        return 2;
    }
    arena_init(&c.mem);
    map_init(&c.programs, &c.mem);
    c.env = define_env(&c.mem);
    place = str_of(argv[1]);
    c.reader.db = str_starts_with(place, STR("postgres"))
                      ? db_postgres_open(place, DB_READ, STR("fold_check"), NULL, &err)
                      : db_sqlite_open(str_printf(&c.mem, "%s/pawl.db", argv[1]), DB_READ, &err);
    if (c.reader.db == NULL)
        give_up("the store cannot be opened", &err);
    c.reader.cut_at_us = clock_mono_us(&clock_system) + INT64_C(3600) * 1000000; /* nobody waits */
    check_all(&c);
    check_counters(&c);
    check_letters(&c);
    for (uint32_t i = 0; i < c.programs.used; i++)
        program_release(c.programs.entries[i].ptr);
    db_close(c.reader.db);
    arena_fini(&c.mem);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", c.passed, c.failed);
    return c.failed == 0 ? 0 : 1;
}
