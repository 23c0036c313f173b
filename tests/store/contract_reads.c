/* contract_reads.c - the claims of contract.h: what can be read of executions. */
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "store/contract.h"
#include "store/read_execution.h"
#include "store/read_executions.h"
#include "store/read_find.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* --- lists --- */

struct list {
    struct execution_filter filter;
    struct stored_executions found;
    struct str next;
    bool ok;
    struct err err;
};

static void load_list(struct contract *c, struct reader *r, void *context)
{
    struct list *l = context;

    l->ok = read_executions(r, &c->mem, &l->filter, &l->found, &l->next, &l->err);
}

/* How many a list has, all its pages together. */
static size_t count_list(struct contract *c, struct execution_filter filter)
{
    struct list l = {.filter = filter};
    size_t count = 0;

    l.filter.limit = l.filter.limit == 0 ? 100 : l.filter.limit;
    do {
        contract_read(c, load_list, &l);
        if (!l.ok)
            fail_msg("%s", l.err.message);
        assert_true((int64_t)l.found.count <= l.filter.limit);
        count += l.found.count;
        l.filter.cursor = l.next;
    } while (l.next.len > 0);
    return count;
}

static void test_store__list_is_paged_newest_first(void **state)
{
    struct contract *c = *state;
    struct list l = {.filter = {.limit = 3}};
    struct uuid ids[7];
    size_t seen = 0;

    for (size_t i = 0; i < 7; i++) {
        struct commit *start = contract_start(c, STATUS_WAITING, 1);

        ids[i] = start->after->id;
        assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    }
    do {
        contract_read(c, load_list, &l);
        assert_true(l.ok);
        assert_true(l.found.count <= 3);
        for (size_t i = 0; i < l.found.count; i++) {
            assert_true(seen < 7);
            assert_int_equal(uuid_cmp(l.found.items[i].id, ids[6 - seen++]), 0);
            assert_int_equal(l.found.items[i].context_json.len, 0);
            assert_int_equal(l.found.items[i].input_json.len, 0);
            assert_str(l.found.items[i].cursor_json, "{\"step\":\"reserve\"}");
        }
        l.filter.cursor = l.next;
    } while (l.next.len > 0);
    assert_int_equal(seen, 7);
}

/* A list is read in windows: the bound is that of the page, not of each window. */
static void test_store__page_is_bounded_in_bytes(void **state)
{
    enum { LARGE = 24, BYTES = READ_BYTES_MAX / 10 };
    struct contract *c = *state;
    struct list l = {
        .filter = {.limit = 100, .code = STR("order"), .statuses = STATUS_BIT(STATUS_COMPLETED)}};
    char *text = arena_alloc(&c->mem, BYTES);
    size_t seen = 0;

    memset(text, 'x', BYTES);
    text[0] = text[BYTES - 1] = '"';
    for (size_t i = 0; i < LARGE; i++) {
        struct commit *start = contract_start(c, STATUS_COMPLETED, 1);

        start->after->result_json = str_from(text, BYTES);
        assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    }
    do {
        size_t bytes = 0;

        contract_read(c, load_list, &l);
        assert_true(l.ok);
        for (size_t i = 0; i < l.found.count; i++)
            bytes += l.found.items[i].result_json.len;
        assert_true(bytes <= READ_BYTES_MAX + BYTES);
        seen += l.found.count;
        l.filter.cursor = l.next;
    } while (l.next.len > 0);
    assert_int_equal(seen, LARGE);
}

static void test_store__cursor_of_someone_else_is_refused(void **state)
{
    struct contract *c = *state;
    struct list l = {.filter = {.limit = 3, .cursor = STR("nonsense")}};

    contract_read(c, load_list, &l);
    assert_false(l.ok);
    assert_int_equal(l.err.code, ERR_BAD_REQUEST);
}

static void test_store__list_is_filtered(void **state)
{
    struct contract *c = *state;
    struct commit *waiting = contract_start(c, STATUS_WAITING, 1);
    struct commit *failed = contract_start(c, STATUS_FAILED, 1);
    struct commit *completed = contract_start(c, STATUS_COMPLETED, 1);
    char id[UUID_TEXT_LEN + 1];

    waiting->after->key = STR("K-1");
    failed->after->org_id = STR("org-2");
    completed->after->created_at_us += 5000000;
    completed->after->id = contract_id(c, completed->after->created_at_us / 1000);
    assert_int_equal(contract_commit(c, waiting), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, failed), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, completed), MEMBER_APPLIED);
    uuid_write(failed->after->id, id);

#define FILTER(...) ((struct execution_filter){__VA_ARGS__})
    assert_int_equal(count_list(c, FILTER(0)), 3);
    assert_int_equal(count_list(c, FILTER(.code = STR("order"))), 3);
    assert_int_equal(count_list(c, FILTER(.code = STR("other"))), 0);
    assert_int_equal(count_list(c, FILTER(.kind = STR("scenario"))), 3);
    assert_int_equal(count_list(c, FILTER(.kind = STR("machine"))), 0);
    assert_int_equal(count_list(c, FILTER(.statuses = STATUS_BIT(STATUS_WAITING))), 1);
    assert_int_equal(count_list(c, FILTER(.statuses = STATUS_BIT(STATUS_FAILED))), 1);
    assert_int_equal(count_list(c, FILTER(.statuses = STATUS_BIT(STATUS_COMPLETED))), 1);
    assert_int_equal(count_list(c, FILTER(.statuses = STATUS_BIT(STATUS_RUNNING))), 0);
    assert_int_equal(count_list(c, FILTER(.key = STR("K-1"))), 1);
    assert_int_equal(
        count_list(c, FILTER(.key = STR("K-1"), .statuses = STATUS_BIT(STATUS_FAILED))), 0);
    assert_int_equal(count_list(c, FILTER(.step = STR("reserve"))), 1);
    assert_int_equal(count_list(c, FILTER(.org_id = STR("org-2"))), 1);
    assert_int_equal(count_list(c, FILTER(.q = STR("K-1"))), 1);
    assert_int_equal(count_list(c, FILTER(.q = STR("order"))), 3);
    assert_int_equal(count_list(c, FILTER(.q = STR("order"), .limit = 2)), 3);
    assert_int_equal(count_list(c, FILTER(.q = STR("card_declined"))), 1);
    assert_int_equal(count_list(c, FILTER(.q = str_from(id, UUID_TEXT_LEN))), 1);
    assert_int_equal(count_list(c, FILTER(.q = STR("nothing"))), 0);
    assert_int_equal(count_list(c, FILTER(.from_us = completed->after->created_at_us)), 1);
    assert_int_equal(count_list(c, FILTER(.from_us = completed->after->created_at_us + 1)), 0);
    assert_int_equal(count_list(c, FILTER(.to_us = completed->after->created_at_us - 1)), 2);
    assert_int_equal(count_list(c, FILTER(.to_us = completed->after->created_at_us)), 3);
    assert_int_equal(count_list(c, FILTER(.to_us = 1000)), 0);
    assert_int_equal(count_list(c, FILTER(.from_us = 1, .to_us = INT64_MAX / 4)), 3);
#undef FILTER
}

/* --- lists of many, by every combination of conditions --- */

enum { MANY = 90 };

static const struct uuid a_parent = {{0x01, 0x90, 0, 0, 0, 1, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 7}};

/* What is true of the i-th of many executions. */
static struct commit *one_of_many(struct contract *c, int64_t i)
{
    static const enum execution_status statuses[] = {
        STATUS_WAITING, STATUS_FAILED, STATUS_COMPLETED, STATUS_COMPENSATING, STATUS_CANCELLED};
    struct commit *start = contract_start(c, statuses[i % 5], 1);

    start->after->key = i % 3 == 0 ? STR("K") : STR_NONE;
    /* A key belongs to one live execution at a time, and nothing starts under it meanwhile. */
    if (i % 3 == 0 && (i % 5 == 0 || i % 5 == 3))
        start->after->key = str_printf(&c->mem, "K-%lld-%lld", (long long)i, (long long)c->batches);
    start->after->org_id = i % 2 == 0 ? STR("org-1") : STR("org-2");
    start->after->has_parent = i % 7 == 0;
    start->after->parent_id = a_parent;
    start->after->deadline_at_us = (i % 4) * 1000000;
    if (start->after->status == STATUS_WAITING) {
        bool is_held = i % 10 == 0;

        execution_set_waiting(
            start->after, is_held ? WAITING_INCIDENT : WAITING_TIMER,
            is_held ? STR("{\"kind\":\"incident\",\"error\":{\"code\":\"card_declined\"}}")
                    : STR("{\"kind\":\"timer\"}"));
        if (i % 15 == 0) {
            start->after->other_count = 1;
            start->cursor_json = STR("{\"step\":\"reserve\",\"beside\":[{\"step\":\"pack\"}]}");
        }
    }
    start->after->created_at_us += i * 1000000;
    start->after->id = contract_id(c, start->after->created_at_us / 1000);
    return start;
}

static bool fits_step(const struct commit *start, struct str step)
{
    return str_eq(step, STR("reserve")) || str_find(start->cursor_json, STR("pack"), 0) >= 0;
}

static bool fits(const struct commit *start, const struct execution_filter *f)
{
    const struct execution *x = start->after;
    bool is_live = !status_is_terminal(x->status);
    bool is_held = x->waiting_kind == WAITING_INCIDENT;

    return (f->parent.len == 0 || x->has_parent) &&
           (f->waiting.len == 0 ||
            str_eq(f->waiting, str_of(waiting_kind_shown(x->waiting_kind)))) &&
           (f->error.len == 0 || x->status == STATUS_FAILED || is_held) &&
           (f->deadline_us == 0 ||
            (is_live && x->deadline_at_us > 0 && x->deadline_at_us < f->deadline_us)) &&
           (f->key.len == 0 || str_eq(f->key, x->key)) &&
           (f->org_id.len == 0 || str_eq(f->org_id, x->org_id)) &&
           (f->statuses == 0 || (f->statuses & STATUS_BIT(x->status)) != 0) &&
           (f->step.len == 0 || (is_live && fits_step(start, f->step))) &&
           (f->from_us == 0 || x->created_at_us >= f->from_us) &&
           (f->to_us == 0 || x->created_at_us <= f->to_us) &&
           (f->q.len == 0 || str_eq(f->q, x->key) || str_eq(f->q, x->program->code) ||
            (str_eq(f->q, STR("card_declined")) && x->status == STATUS_FAILED));
}

static const struct commit *in_order(struct commit *const *all, const struct execution_filter *f,
                                     unsigned i)
{
    return all[f->is_oldest_first ? i : MANY - 1 - i];
}

/* All pages of the filter: what fits, in order, each once, whatever starts meanwhile. */
static void walk_many(struct contract *c, struct commit *const *all, struct execution_filter filter)
{
    struct list l = {.filter = filter};
    unsigned seen = 0;
    bool is_first = true;

    l.filter.limit = 4;
    do {
        contract_read(c, load_list, &l);
        if (!l.ok)
            fail_msg("%s", l.err.message);
        assert_true(l.found.count <= 4);
        for (size_t i = 0; i < l.found.count; i++) {
            while (seen < MANY && !fits(in_order(all, &filter, seen), &filter))
                seen++;
            assert_true(seen < MANY);
            assert_int_equal(uuid_cmp(l.found.items[i].id, in_order(all, &filter, seen)->after->id),
                             0);
            seen++;
        }
        l.filter.cursor = l.next;
        if (is_first && filter.statuses == 0)
            assert_int_equal(contract_commit(c, one_of_many(c, MANY + c->batches % 5)),
                             MEMBER_APPLIED);
        is_first = false;
    } while (l.next.len > 0);
    for (; seen < MANY; seen++)
        assert_false(fits(in_order(all, &filter, seen), &filter));
}

static void test_store__every_combination_of_conditions_pages_completely(void **state)
{
    static const uint32_t statuses[] = {
        0, STATUS_BIT(STATUS_WAITING), STATUS_BIT(STATUS_COMPLETED) | STATUS_BIT(STATUS_FAILED),
        STATUS_BIT(STATUS_FAILED) | STATUS_BIT(STATUS_WAITING) | STATUS_BIT(STATUS_CANCELLED)};
    const struct str queries[] = {STR_NONE, STR("order"), STR("K"), STR("card_declined")};
    struct contract *c = *state;
    struct commit *all[MANY];

    for (unsigned i = 0; i < MANY; i++) {
        all[i] = one_of_many(c, i);
        assert_int_equal(contract_commit(c, all[i]), MEMBER_APPLIED);
    }
    for (unsigned i = 0; i < 4 * 4 * 16; i++) {
        struct execution_filter f = {.statuses = statuses[i % 4], .q = queries[i / 4 % 4]};
        unsigned rest = i / 16;

        f.key = rest & 1 ? STR("K") : STR_NONE;
        f.org_id = rest & 2 ? STR("org-2") : STR_NONE;
        f.step = rest & 4 ? STR("reserve") : STR_NONE;
        f.from_us = rest & 8 ? all[10]->after->created_at_us : 0;
        f.to_us = all[MANY - 5]->after->created_at_us;
        f.is_oldest_first = i % 3 == 0;
        walk_many(c, all, f);
    }
}

static void test_store__lists_by_parent_wait_error_branch_and_deadline_page_completely(void **state)
{
    struct contract *c = *state;
    struct commit *all[MANY];
    char parent[UUID_TEXT_LEN + 1];

    uuid_write(a_parent, parent);
    for (unsigned i = 0; i < MANY; i++) {
        all[i] = one_of_many(c, i);
        assert_int_equal(contract_commit(c, all[i]), MEMBER_APPLIED);
    }
    for (unsigned i = 0; i < 128; i++) {
        struct execution_filter f = {.to_us = all[MANY - 5]->after->created_at_us};

        f.parent = i & 1 ? str_from(parent, UUID_TEXT_LEN) : STR_NONE;
        f.waiting = i & 2 ? STR("incident") : i & 32 ? STR("timer") : STR_NONE;
        f.error = i & 4 ? STR("card_declined") : STR_NONE;
        f.deadline_us = i & 8 ? 2500000 : 0;
        f.step = i & 16 ? STR("pack") : STR_NONE;
        f.statuses = i & 32 && i & 64 ? STATUS_BIT(STATUS_WAITING) : 0;
        f.is_oldest_first = (i & 64) != 0;
        walk_many(c, all, f);
    }
}

/* --- due --- */

struct due_load {
    struct shard_set shards;
    int64_t after_us, until_us, limit;
    struct uuid after;
    struct dues dues;
};

static void load_due(struct contract *c, struct reader *r, void *context)
{
    struct due_load *l = context;
    struct err err;

    assert_true(read_due(r, &c->mem, &l->shards, l->after_us, l->after, l->until_us, l->limit,
                         &l->dues, &err));
}

static void test_store__due_executions_come_in_order_and_in_pages(void **state)
{
    static const int64_t wakes[] = {50, 10, 30, 30, 30, 99, 0};
    static const int64_t expected[] = {10, 30, 30, 30, 50};
    struct contract *c = *state;
    struct due_load l = {.shards = shard_set_all(), .until_us = 60, .limit = 2};
    size_t seen = 0;

    for (size_t i = 0; i < ARRAY_SIZE(wakes); i++) {
        struct commit *start = contract_start(c, STATUS_WAITING, 1);

        start->after->wake_at_us = wakes[i];
        assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    }
    do {
        contract_read(c, load_due, &l);
        for (size_t i = 0; i < l.dues.count; i++) {
            assert_true(seen < 5);
            assert_int_equal(l.dues.items[i].wake_at_us, expected[seen++]);
            l.after_us = l.dues.items[i].wake_at_us;
            l.after = l.dues.items[i].id;
        }
    } while (l.dues.count > 0);
    assert_int_equal(seen, 5);
}

static void test_store__execution_is_due_at_its_new_time_only(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct commit *next = contract_advance(c, start, STATUS_WAITING, 1);
    struct due_load l = {.shards = shard_set_all(), .until_us = INT64_MAX, .limit = 10};

    start->after->wake_at_us = 10;
    next->after->wake_at_us = 20;
    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, next), MEMBER_APPLIED);
    contract_read(c, load_due, &l);
    assert_int_equal(l.dues.count, 1);
    assert_int_equal(l.dues.items[0].wake_at_us, 20);
    assert_int_equal(contract_commit(c, contract_advance(c, next, STATUS_CANCELLED, 1)),
                     MEMBER_APPLIED);
    contract_read(c, load_due, &l);
    assert_int_equal(l.dues.count, 0);
}

/* --- by key, by suffix, history, counts --- */

struct key_load {
    struct uuid id;
    bool found;
};

static void load_key(struct contract *c, struct reader *r, void *context)
{
    struct key_load *l = context;
    struct err err;

    (void)c;
    assert_true(read_by_key(r, STR("org-1"), STR("order"), STR("K"), &l->id, &l->found, &err));
}

static void test_store__live_execution_is_found_by_its_key(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct key_load l;

    start->after->key = STR("K");
    contract_read(c, load_key, &l);
    assert_false(l.found);
    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    contract_read(c, load_key, &l);
    assert_true(l.found);
    assert_int_equal(uuid_cmp(l.id, start->after->id), 0);
    assert_int_equal(contract_commit(c, contract_advance(c, start, STATUS_COMPLETED, 1)),
                     MEMBER_APPLIED);
    contract_read(c, load_key, &l);
    assert_false(l.found);
}

struct suffix_load {
    struct str suffix;
    struct dues dues;
};

static void load_suffix(struct contract *c, struct reader *r, void *context)
{
    struct suffix_load *l = context;
    struct err err;

    assert_true(read_by_suffix(r, &c->mem, l->suffix, 10, &l->dues, &err));
}

static void test_store__execution_is_found_by_the_end_of_its_id(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct commit *other = contract_start(c, STATUS_WAITING, 1);
    char id[UUID_TEXT_LEN + 1];
    struct suffix_load l = {.suffix = str_from(id + 28, 8)};

    other->after->id.bytes[15] = (uint8_t)(start->after->id.bytes[15] ^ 1);
    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, other), MEMBER_APPLIED);
    uuid_write(start->after->id, id);
    contract_read(c, load_suffix, &l);
    assert_int_equal(l.dues.count, 1);
    assert_int_equal(uuid_cmp(l.dues.items[0].id, start->after->id), 0);
    l.suffix = STR_NONE;
    contract_read(c, load_suffix, &l);
    assert_int_equal(l.dues.count, 2);
}

struct history_load {
    struct uuid id;
    int64_t after, limit;
    struct history rows;
    bool found;
};

static void load_history(struct contract *c, struct reader *r, void *context)
{
    struct history_load *l = context;
    struct err err;

    assert_true(read_history(r, &c->mem, l->id, l->after, l->limit, &l->rows, &l->found, &err));
}

static void test_store__history_is_read_in_pages_and_apart_from_others(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 5);
    struct history_load l = {.id = start->after->id, .limit = 3};

    assert_int_equal(contract_commit(c, contract_start(c, STATUS_WAITING, 2)), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, contract_start(c, STATUS_WAITING, 2)), MEMBER_APPLIED);
    contract_read(c, load_history, &l);
    assert_true(l.found);
    assert_int_equal(l.rows.count, 3);
    assert_int_equal(l.rows.items[0].seq, 1);
    l.after = 3;
    contract_read(c, load_history, &l);
    assert_int_equal(l.rows.count, 2);
    assert_int_equal(l.rows.items[0].seq, 4);
    assert_int_equal(l.rows.items[1].seq, 5);
    l.id = contract_id(c, 1);
    contract_read(c, load_history, &l);
    assert_false(l.found);
}

struct progress_load {
    struct uuid id;
    int64_t after, limit;
    struct progress progress;
    bool found;
};

static void load_progress(struct contract *c, struct reader *r, void *context)
{
    struct progress_load *l = context;
    struct err err;

    assert_true(
        read_progress(r, &c->mem, l->id, l->after, l->limit, &l->progress, &l->found, &err));
}

static void test_store__progress_is_the_state_and_the_rows_that_led_to_it(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 4);
    struct commit *next = contract_advance(c, start, STATUS_WAITING, 2);
    struct progress_load l = {.id = start->after->id, .after = 1, .limit = 4};

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, next), MEMBER_APPLIED);
    contract_read(c, load_progress, &l);
    assert_true(l.found);
    assert_int_equal(l.progress.history.count, 4);
    assert_int_equal(l.progress.history.items[0].seq, 2);
    assert_int_equal(l.progress.seq, 6);
    assert_int_equal(l.progress.row_version, next->after->row_version);
    assert_int_equal(l.progress.updated_at_us, next->after->updated_at_us);
    assert_int_equal(l.progress.status, STATUS_WAITING);
    assert_str(l.progress.current_step, "pay");
    assert_str(l.progress.waiting_for_json, "{\"kind\":\"signal\"}");
    assert_str(l.progress.org_id, "org-1");
    for (l.after = 6; l.after < INT64_MAX / 2; l.after *= 1000) {
        contract_read(c, load_progress, &l);
        assert_int_equal(l.progress.history.count, 0);
    }
    l.id = contract_id(c, 1);
    contract_read(c, load_progress, &l);
    assert_false(l.found);
}

static void load_counts(struct contract *c, struct reader *r, void *context)
{
    struct err err;

    (void)c;
    assert_true(read_counts(r, context, &err));
}

static void test_store__executions_are_counted_by_status(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    int64_t counts[STATUS_COUNT];

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, contract_start(c, STATUS_WAITING, 1)), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, contract_start(c, STATUS_FAILED, 1)), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, start), MEMBER_STALE);
    contract_read(c, load_counts, counts);
    assert_int_equal(counts[STATUS_WAITING], 2);
    assert_int_equal(counts[STATUS_FAILED], 1);
    assert_int_equal(counts[STATUS_COMPLETED], 0);
    assert_int_equal(contract_commit(c, contract_advance(c, start, STATUS_COMPLETED, 1)),
                     MEMBER_APPLIED);
    contract_reopen(c);
    contract_read(c, load_counts, counts);
    assert_int_equal(counts[STATUS_WAITING], 1);
    assert_int_equal(counts[STATUS_COMPLETED], 1);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, contract_setup, contract_teardown)

static const struct CMUnitTest claims[] = {
    CLAIM(test_store__list_is_paged_newest_first),
    CLAIM(test_store__page_is_bounded_in_bytes),
    CLAIM(test_store__cursor_of_someone_else_is_refused),
    CLAIM(test_store__list_is_filtered),
    CLAIM(test_store__lists_by_parent_wait_error_branch_and_deadline_page_completely),
    CLAIM(test_store__every_combination_of_conditions_pages_completely),
    CLAIM(test_store__due_executions_come_in_order_and_in_pages),
    CLAIM(test_store__execution_is_due_at_its_new_time_only),
    CLAIM(test_store__live_execution_is_found_by_its_key),
    CLAIM(test_store__execution_is_found_by_the_end_of_its_id),
    CLAIM(test_store__history_is_read_in_pages_and_apart_from_others),
    CLAIM(test_store__progress_is_the_state_and_the_rows_that_led_to_it),
    CLAIM(test_store__executions_are_counted_by_status),
};

int contract_run_reads(const char *name)
{
    return _cmocka_run_group_tests(name, claims, ARRAY_SIZE(claims), NULL, NULL);
}
