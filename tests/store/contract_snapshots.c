/* contract_snapshots.c - claims about snapshots: what executions have pinned of the registry. */
#include "define/program.h"
#include "engine/commit/commit.h"
#include "engine/status.h"
#include "engine/stored_execution.h"
#include "store/change_retention.h"
#include "store/contract.h"
#include "store/read_definition.h"
#include "store/read_retention.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct snapshot_question {
    struct str hash, pins;
    bool found;
};

static void look_at_snapshot(struct contract *c, struct reader *r, void *context)
{
    struct snapshot_question *q = context;
    struct err err;

    assert_true(read_snapshot(r, &c->mem, q->hash, &q->pins, &q->found, &err));
}

static struct snapshot_question ask_snapshot(struct contract *c, struct str hash)
{
    struct snapshot_question q = {.hash = hash};

    contract_read(c, look_at_snapshot, &q);
    return q;
}

/* The program of a commit, with that snapshot. */
static void pin(struct contract *c, struct commit *commit, const char *hash, const char *pins)
{
    struct program *p = ARENA_NEW(&c->mem, struct program);

    *p = *commit->after->program;
    p->snapshot = str_of(hash);
    p->pins_json = str_of(pins);
    commit->after->program = p;
}

static void test_snapshots__are_written_with_the_start_and_shared(void **state)
{
    struct contract *c = *state;
    struct commit *first = contract_start(c, STATUS_WAITING, 1);
    struct commit *second = contract_start(c, STATUS_WAITING, 1);
    struct commit *plain = contract_start(c, STATUS_WAITING, 1);

    pin(c, first, "aa", "{\"procedures\": {\"p\":1}}");
    pin(c, second, "aa", "{\"procedures\": {\"p\":1}}");
    assert_false(ask_snapshot(c, STR("aa")).found);
    assert_int_equal(contract_commit(c, first), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, second), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, plain), MEMBER_APPLIED);
    contract_reopen(c);
    assert_str(contract_load(c, first->after->id)->snapshot, "aa");
    assert_str(contract_load(c, second->after->id)->snapshot, "aa");
    assert_int_equal(contract_load(c, plain->after->id)->snapshot.len, 0);
    /* To the byte: what it is known by is its digest. */
    assert_str(ask_snapshot(c, STR("aa")).pins, "{\"procedures\": {\"p\":1}}");
}

static void test_snapshots__of_a_refused_start_are_not_kept(void **state)
{
    struct contract *c = *state;
    struct commit *holder = contract_start(c, STATUS_WAITING, 1);
    struct commit *refused = contract_start(c, STATUS_WAITING, 1);

    holder->after->key = refused->after->key = STR("K");
    pin(c, refused, "bb", "{}");
    assert_int_equal(contract_commit(c, holder), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, refused), MEMBER_KEY_BUSY);
    assert_false(ask_snapshot(c, STR("bb")).found);
}

static void test_snapshots__stay_until_the_execution_moves(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1), *next, *moved;

    pin(c, start, "aa", "{}");
    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    next = contract_advance(c, start, STATUS_WAITING, 1);
    pin(c, next, "bb", "{}");
    assert_int_equal(contract_commit(c, next), MEMBER_APPLIED);
    assert_str(contract_load(c, start->after->id)->snapshot, "aa");
    moved = contract_advance(c, next, STATUS_WAITING, 1);
    pin(c, moved, "cc", "{}");
    moved->moves = true;
    assert_int_equal(contract_commit(c, moved), MEMBER_APPLIED);
    assert_str(contract_load(c, start->after->id)->snapshot, "cc");
    assert_true(ask_snapshot(c, STR("cc")).found);
}

static void test_snapshots__of_children_are_written_with_them(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct commit *child = contract_start(c, STATUS_PENDING, 0);

    pin(c, child, "dd", "{}");
    *VEC_ADD(&c->mem, &start->starts) = child->after;
    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(contract_load(c, start->after->id)->snapshot.len, 0);
    assert_str(contract_load(c, child->after->id)->snapshot, "dd");
    assert_true(ask_snapshot(c, STR("dd")).found);
}

struct old_question {
    int64_t before_us;
    struct snapshot_hashes old;
};

static void look_for_old(struct contract *c, struct reader *r, void *context)
{
    struct old_question *q = context;
    struct err err;

    assert_true(read_old_snapshots(r, &c->mem, q->before_us, STR_NONE, 10, &q->old, &err));
}

/* How many snapshots were kept before that. */
static size_t count_old(struct contract *c, int64_t before_us)
{
    struct old_question q = {.before_us = before_us};

    contract_read(c, look_for_old, &q);
    return q.old.count;
}

static void start_at(struct contract *c, const char *hash, int64_t at_us)
{
    struct commit *start = contract_start(c, STATUS_WAITING, 1);

    start->after->updated_at_us = at_us;
    pin(c, start, hash, "{}");
    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
}

static void purge_snapshot(struct contract *c, struct str hash, int64_t before_us)
{
    struct snapshot_purge purge = {.change = {.apply = snapshot_purge_apply, .now_us = before_us},
                                   .hashes = &hash,
                                   .count = 1,
                                   .before_us = before_us};
    struct member *m = ARENA_NEW(&c->mem, struct member);
    struct batch *b;

    *m = (struct member){.kind = MEMBER_CHANGE, .change = &purge.change};
    b = contract_batch(c, m, NULL);
    contract_write(c, b);
    assert_int_equal(b->end, BATCH_COMMITTED);
    assert_int_equal(m->result, MEMBER_APPLIED);
}

#define HOUR INT64_C(3600000000)

static void test_snapshots__are_kept_anew_by_a_start_once_a_day(void **state)
{
    const int64_t first = INT64_C(1700000000000000);
    struct contract *c = *state;

    start_at(c, "aa", first);
    assert_int_equal(count_old(c, first), 0);
    assert_int_equal(count_old(c, first + 1), 1);
    start_at(c, "aa", first + 23 * HOUR);
    assert_int_equal(count_old(c, first + 1), 1);
    start_at(c, "aa", first + 25 * HOUR);
    assert_int_equal(count_old(c, first + 25 * HOUR), 0);
    assert_int_equal(count_old(c, first + 25 * HOUR + 1), 1);
    /* Another node, whose clock is behind, takes nothing back. */
    start_at(c, "aa", first);
    assert_int_equal(count_old(c, first + 25 * HOUR), 0);
}

static void test_snapshots__that_were_kept_anew_are_not_purged(void **state)
{
    const int64_t first = INT64_C(1700000000000000), week = 7 * 24 * HOUR;
    struct contract *c = *state;

    start_at(c, "aa", first);
    start_at(c, "bb", first);
    start_at(c, "aa", first + 8 * 24 * HOUR); /* after somebody saw that nobody had it */
    purge_snapshot(c, STR("aa"), first + week);
    purge_snapshot(c, STR("bb"), first + week);
    assert_true(ask_snapshot(c, STR("aa")).found);
    assert_false(ask_snapshot(c, STR("bb")).found);
    start_at(c, "bb", first + 8 * 24 * HOUR);
    assert_str(ask_snapshot(c, STR("bb")).pins, "{}");
}

/* In one transaction it does not matter which comes first. */
static void test_snapshots__that_a_start_keeps_in_the_batch_of_a_purge_stay(void **state)
{
    const int64_t first = INT64_C(1700000000000000);
    struct contract *c = *state;

    for (int starts_first = 0; starts_first < 2; starts_first++) {
        struct str hash = starts_first ? STR("aa") : STR("bb");
        struct snapshot_purge purge = {.change = {.apply = snapshot_purge_apply, .now_us = first},
                                       .hashes = &hash,
                                       .count = 1,
                                       .before_us = first + 24 * HOUR};
        struct commit *start = contract_start(c, STATUS_WAITING, 1);
        struct member *m = ARENA_NEW(&c->mem, struct member), *s;
        struct batch *b;

        start_at(c, hash.ptr, first);
        start->after->updated_at_us = first + 8 * 24 * HOUR;
        pin(c, start, hash.ptr, "{}");
        s = contract_member(c, start);
        *m = (struct member){.kind = MEMBER_CHANGE, .change = &purge.change};
        b = starts_first ? contract_batch(c, s, m, NULL) : contract_batch(c, m, s, NULL);
        contract_write(c, b);
        assert_int_equal(b->end, BATCH_COMMITTED);
        assert_true(ask_snapshot(c, hash).found);
    }
}

static void look_at_pinned(struct contract *c, struct reader *r, void *context)
{
    struct pinned_snapshots *out = context, next;
    struct err err;

    assert_true(read_pinned(r, &c->mem, 0, 3, out, &err));
    assert_true(read_pinned(r, &c->mem, out->last_row, 3, &next, &err));
    assert_int_equal(next.seen, 1);
    assert_int_equal(next.hashes.count, 1);
    assert_str(next.hashes.items[0], "bb");
    assert_true(next.last_row > out->last_row);
}

static void test_snapshots__of_executions_are_read_in_windows(void **state)
{
    struct contract *c = *state;
    struct pinned_snapshots pinned;

    start_at(c, "aa", 1);
    start_at(c, "aa", 1);
    assert_int_equal(contract_commit(c, contract_start(c, STATUS_WAITING, 1)), MEMBER_APPLIED);
    start_at(c, "bb", 1);
    contract_read(c, look_at_pinned, &pinned);
    assert_int_equal(pinned.seen, 3);
    assert_int_equal(pinned.hashes.count, 2); /* "aa", and that of the one without */
}

static void look_at_former(struct contract *c, struct reader *r, void *context)
{
    struct err err;

    assert_true(read_pinned(r, &c->mem, 0, 10, context, &err));
}

/* What was done with an earlier program is rolled back by it: its snapshot stays in use. */
static void test_snapshots__of_earlier_programs_of_an_execution_stay_in_use(void **state)
{
    const char *then[] = {"bb", "cc", "aa", "bb"};
    struct contract *c = *state;
    struct commit *last = contract_start(c, STATUS_WAITING, 1);
    struct pinned_snapshots pinned;

    pin(c, last, "aa", "{}");
    assert_int_equal(contract_commit(c, last), MEMBER_APPLIED);
    for (size_t i = 0; i < ARRAY_SIZE(then); i++) {
        last = contract_advance(c, last, STATUS_WAITING, 1);
        pin(c, last, then[i], "{}");
        last->moves = true;
        assert_int_equal(contract_commit(c, last), MEMBER_APPLIED);
    }
    contract_read(c, look_at_former, &pinned);
    assert_int_equal(pinned.seen, 1);
    assert_int_equal(pinned.hashes.count, 5);
    assert_str(pinned.hashes.items[0], "bb");
    assert_str(pinned.hashes.items[1], "aa");
    assert_str(pinned.hashes.items[2], "bb");
    assert_str(pinned.hashes.items[3], "cc");
    assert_str(pinned.hashes.items[4], "aa");
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, contract_setup, contract_teardown)

static const struct CMUnitTest claims[] = {
    CLAIM(test_snapshots__are_written_with_the_start_and_shared),
    CLAIM(test_snapshots__of_a_refused_start_are_not_kept),
    CLAIM(test_snapshots__stay_until_the_execution_moves),
    CLAIM(test_snapshots__of_earlier_programs_of_an_execution_stay_in_use),
    CLAIM(test_snapshots__of_children_are_written_with_them),
    CLAIM(test_snapshots__are_kept_anew_by_a_start_once_a_day),
    CLAIM(test_snapshots__that_were_kept_anew_are_not_purged),
    CLAIM(test_snapshots__that_a_start_keeps_in_the_batch_of_a_purge_stay),
    CLAIM(test_snapshots__of_executions_are_read_in_windows),
};

int contract_run_snapshots(const char *name)
{
    return _cmocka_run_group_tests(name, claims, ARRAY_SIZE(claims), NULL, NULL);
}
