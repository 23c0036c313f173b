/* test_signals.c - claims about the list of signals that states share. */
#include "engine/signals_at.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* The same list in the plainest way. */
struct model {
    struct {
        int64_t seq;
        bool is_taken;
    } items[2000];
    size_t count;
};

static void model_drop(struct model *m)
{
    size_t kept = 0, count = m->count;

    for (size_t i = 0; i < count; i++)
        if (!m->items[i].is_taken || count - i <= SIGNALS_SHOWN)
            m->items[kept++] = m->items[i];
    m->count = kept;
}

static void model_add(struct model *m, int64_t seq)
{
    m->items[m->count].seq = seq;
    m->items[m->count++].is_taken = false;
    model_drop(m);
}

static void model_take(struct model *m, int64_t seq)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->items[i].seq == seq)
            m->items[i].is_taken = true;
    model_drop(m);
}

static void assert_same(const struct signals *s, const struct model *m)
{
    struct shared_iter iter = {0}, last = signals_last(s, 10);
    const struct signal *signal;
    size_t n = 0;

    assert_int_equal(s->list.count, m->count);
    while ((signal = signals_next(s, &iter)) != NULL) {
        assert_int_equal(signal->seq, m->items[n].seq);
        assert_int_equal(signal->is_taken, m->items[n].is_taken);
        assert_ptr_equal(signals_at(s, n), signal);
        assert_ptr_equal(signals_find(s, signal->id), signal);
        n++;
    }
    assert_int_equal(n, m->count);
    for (n = m->count > 10 ? m->count - 10 : 0; n < m->count; n++)
        assert_int_equal(signals_next(s, &last)->seq, m->items[n].seq);
    assert_null(signals_next(s, &last));
}

static const struct signal *make(struct arena *mem, int64_t seq)
{
    struct signal *s = ARENA_NEW(mem, struct signal);

    s->seq = seq;
    s->id = str_printf(mem, "s%lld", (long long)seq);
    return s;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void test_signals__are_the_plain_list_whatever_is_taken(void **state)
{
    struct arena mem;
    uint32_t seed = 7;

    (void)state;
    arena_init(&mem);
    for (unsigned run = 0; run < 20; run++) {
        struct signals s = {0};
        struct model *m = ARENA_NEW(&mem, struct model);
        const char *owner = arena_alloc(&mem, 1000);
        int64_t seq = 0;

        for (unsigned i = 0; i < 900; i++) {
            owner += next_random(&seed) % 3 == 0; /* another state */
            if (next_random(&seed) % 3 > 0 || m->count == 0) {
                (void)signals_add(&mem, &s, owner, make(&mem, ++seq));
                model_add(m, seq);
            } else {
                int64_t taken = m->items[next_random(&seed) % m->count].seq;
                (void)signals_take(&mem, &s, owner, taken);
                model_take(m, taken);
            }
            if (i % 50 == 0)
                assert_same(&s, m);
        }
        assert_same(&s, m);
    }
    arena_fini(&mem);
}

static void test_signals__an_older_state_sees_nothing_of_a_newer_one(void **state)
{
    struct signals older = {0}, newer, other;
    struct model *m;
    struct arena mem;
    char owners[3];

    (void)state;
    arena_init(&mem);
    m = ARENA_NEW(&mem, struct model);
    for (int64_t seq = 1; seq <= 150; seq++) {
        (void)signals_add(&mem, &older, &owners[0], make(&mem, seq));
        model_add(m, seq);
    }
    newer = other = older;
    (void)signals_add(&mem, &newer, &owners[1], make(&mem, 151));
    (void)signals_take(&mem, &newer, &owners[1], 3);
    (void)signals_take(&mem, &newer, &owners[1], 140);
    /* Two states may follow one: an event is applied anew after its commit was refused. */
    (void)signals_add(&mem, &other, &owners[2], make(&mem, 999));
    assert_same(&older, m);
    assert_int_equal(signals_at(&newer, newer.list.count - 1)->seq, 151);
    assert_int_equal(signals_at(&other, other.list.count - 1)->seq, 999);
    assert_null(signals_find(&newer, STR("s3")));
    assert_non_null(signals_find(&other, STR("s3")));
    arena_fini(&mem);
}

static size_t bytes_for(unsigned count)
{
    struct signals s = {0};
    struct arena mem;
    size_t bytes;

    arena_init(&mem);
    for (unsigned i = 0; i < count; i++) {
        const void *owner = arena_alloc(&mem, 1); /* a state for each, as in a server */
        (void)signals_add(&mem, &s, owner, make(&mem, i));
    }
    bytes = mem.held_bytes;
    arena_fini(&mem);
    return bytes;
}

static void test_signals__cost_the_same_however_many_there_are(void **state)
{
    (void)state;
    /* Ten times as many take ten times as much memory, near enough: copying all would take 100. */
    assert_true(bytes_for(10000) < 25 * bytes_for(1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signals__are_the_plain_list_whatever_is_taken),
        cmocka_unit_test(test_signals__an_older_state_sees_nothing_of_a_newer_one),
        cmocka_unit_test(test_signals__cost_the_same_however_many_there_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
