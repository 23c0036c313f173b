/* contract_events.c - the claims about what executions are told, and about members that only assert. */
#include "engine/commit/commit.h"
#include "store/change_retention.h"
#include "store/contract.h"
#include "store/read_execution.h"
#include "store/read_find.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The start of a parent, and a child of it that has ended and tells so. */
static struct commit *child_of(struct contract *c, const struct commit *parent)
{
    struct commit *child = contract_start(c, STATUS_COMPLETED, 1);
    char id[UUID_TEXT_LEN + 1];

    uuid_write(child->after->id, id);
    child->after->has_parent = true;
    child->after->parent_id = parent->after->id;
    *VEC_ADD(&c->mem, &child->notices) = (struct notice){
        .execution = parent->after->id,
        .kind = NOTICE_CHILD,
        .key = str_printf(&c->mem, "child:%s", id),
        .payload_json = STR("{\"output\":7}"),
    };
    return child;
}

/* `ended` tells that to one that waits for it. */
static struct notice child_end(struct contract *c, const struct commit *ended,
                               const struct commit *waits)
{
    char id[UUID_TEXT_LEN + 1];

    uuid_write(ended->after->id, id);
    return (struct notice){.execution = waits->after->id,
                           .kind = NOTICE_CHILD,
                           .key = str_printf(&c->mem, "child:%s", id)};
}

struct notice_load {
    int64_t after, limit;
    struct noticed_executions rows;
};

static void load_events(struct contract *c, struct reader *r, void *context)
{
    struct notice_load *l = context;
    struct err err;

    assert_true(read_noticed_executions(r, &c->mem, l->after, l->limit, &l->rows, &err));
}

/* How many executions are to hear of something. */
static size_t notice_count(struct contract *c)
{
    struct notice_load l = {.limit = 100};
    size_t count = 0;

    contract_read(c, load_events, &l);
    for (size_t i = 0; i < l.rows.count; i++)
        count += l.rows.items[i].is_due;
    return count;
}

static struct member *assert_version(struct contract *c, struct uuid id, int64_t row_version,
                                     struct notice_numbers consumed)
{
    struct assertion *s = ARENA_NEW(&c->mem, struct assertion);
    struct member *m = ARENA_NEW(&c->mem, struct member);

    *s = (struct assertion){.id = id, .row_version = row_version, .consumed = consumed};
    *m = (struct member){.kind = MEMBER_ASSERT, .assertion = s};
    contract_write(c, contract_batch(c, m, NULL));
    return m;
}

static struct notice_numbers numbers_of(struct contract *c, const struct stored_execution *e)
{
    struct notice_numbers numbers = {0};

    for (size_t i = 0; i < e->notices.count; i++)
        *VEC_ADD(&c->mem, &numbers) = e->notices.items[i].n;
    return numbers;
}

static void load_several(struct contract *c, struct reader *r, void *context)
{
    struct execution_reads *all = context;
    struct err err;

    if (!read_several(r, &c->mem, all, &err))
        fail_msg("read_several: %s", err.message);
}

static void assert_same_text(struct str a, struct str b)
{
    assert_int_equal(a.len, b.len);
    if (a.len > 0)
        assert_memory_equal(a.ptr, b.ptr, a.len);
}

static void assert_same_stored(const struct stored_execution *a, const struct stored_execution *b)
{
    assert_int_equal(a->row, b->row);
    assert_int_equal(a->row_version, b->row_version);
    assert_int_equal(a->checkpoint_seq, b->checkpoint_seq);
    assert_same_text(a->kind, b->kind);
    assert_same_text(a->code, b->code);
    assert_same_text(a->input_json, b->input_json);
    assert_same_text(a->context_json, b->context_json);
    assert_same_text(a->snapshot, b->snapshot);
    assert_int_equal(a->history.count, b->history.count);
    for (size_t i = 0; i < a->history.count; i++)
        assert_int_equal(a->history.items[i].seq, b->history.items[i].seq);
    assert_int_equal(a->notices.count, b->notices.count);
    for (size_t i = 0; i < a->notices.count; i++)
        assert_int_equal(a->notices.items[i].n, b->notices.items[i].n);
}

static void test_store__what_was_told_outlives_later_commits_and_a_restart(void **state)
{
    struct contract *c = *state;
    struct commit *parent = contract_start(c, STATUS_WAITING, 1);
    struct commit *child = child_of(c, parent);
    struct notice_load l = {.limit = 100};
    const struct stored_execution *e;

    parent->after->wake_at_us = 0;
    assert_int_equal(contract_commit(c, parent), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, child), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, contract_advance(c, parent, STATUS_WAITING, 1)),
                     MEMBER_APPLIED);
    contract_reopen(c);
    contract_read(c, load_events, &l);
    assert_int_equal(l.rows.count, 1);
    assert_int_equal(uuid_cmp(l.rows.items[0].id, parent->after->id), 0);
    e = contract_load(c, parent->after->id);
    assert_int_equal(e->notices.count, 1);
    assert_int_equal(e->row, l.rows.items[0].row);
    assert_int_equal(e->notices.items[0].kind, NOTICE_CHILD);
    assert_true(str_eq(e->notices.items[0].key, child->notices.items[0].key));
    assert_str(e->notices.items[0].payload_json, "{\"output\":7}");
}

/* One has rows after its checkpoint and was told two things, one nothing; one is not there. */
static void test_store__several_executions_are_read_as_each_alone(void **state)
{
    struct contract *c = *state;
    struct commit *parent = contract_start(c, STATUS_WAITING, 1);
    struct commit *other = contract_start(c, STATUS_RUNNING, 2);
    struct execution_read reads[] = {{.id = other->after->id, .mem = &c->mem},
                                     {.id = contract_id(c, 1), .mem = &c->mem},
                                     {.id = parent->after->id, .mem = &c->mem}};
    struct execution_reads all = {.items = reads, .count = ARRAY_SIZE(reads)};

    assert_int_equal(contract_commit(c, parent), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, other), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, child_of(c, parent)), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, child_of(c, parent)), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, contract_advance(c, parent, STATUS_WAITING, 3)),
                     MEMBER_APPLIED);
    contract_read(c, load_several, &all);
    assert_true(reads[0].found && !reads[1].found && reads[2].found);
    assert_same_stored(&reads[0].stored, contract_load(c, other->after->id));
    assert_same_stored(&reads[2].stored, contract_load(c, parent->after->id));
    assert_int_equal(reads[2].stored.history.count, 3);
    assert_int_equal(reads[2].stored.notices.count, 2);
}

static void test_store__commit_takes_away_what_it_has_applied_and_nothing_else(void **state)
{
    struct contract *c = *state;
    struct commit *parent = contract_start(c, STATUS_WAITING, 1), *next, *stale;
    const struct stored_execution *e;
    int64_t second;

    assert_int_equal(contract_commit(c, parent), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, child_of(c, parent)), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, child_of(c, parent)), MEMBER_APPLIED);
    e = contract_load(c, parent->after->id);
    assert_int_equal(e->notices.count, 2);
    assert_true(e->notices.items[0].n < e->notices.items[1].n);
    second = e->notices.items[1].n;
    next = contract_advance(c, parent, STATUS_WAITING, 1);
    stale = contract_advance(c, parent, STATUS_WAITING, 1);
    *VEC_ADD(&c->mem, &next->consumed) = e->notices.items[0].n;
    *VEC_ADD(&c->mem, &stale->consumed) = second;
    assert_int_equal(contract_commit(c, next), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, stale), MEMBER_STALE);
    e = contract_load(c, parent->after->id);
    assert_int_equal(e->notices.count, 1);
    assert_int_equal(e->notices.items[0].n, second);
}

/* It ends for another reason, and its child has told it something: that stays with nobody. */
static void test_store__one_that_ends_drops_what_it_was_told(void **state)
{
    struct contract *c = *state;
    struct commit *parent = contract_start(c, STATUS_WAITING, 1);
    struct commit *child = child_of(c, parent), *end;
    struct commit *joiner = contract_start(c, STATUS_WAITING, 1);
    const struct stored_execution *e;

    assert_int_equal(contract_commit(c, parent), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, joiner), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, child), MEMBER_APPLIED);
    *VEC_ADD(&c->mem, &joiner->notices) = (struct notice){
        .execution = parent->after->id, .kind = NOTICE_JOIN, .key = STR("joiner:x")};
    end = contract_advance(c, joiner, STATUS_WAITING, 1);
    end->notices = joiner->notices;
    assert_int_equal(contract_commit(c, end), MEMBER_APPLIED);
    assert_int_equal(contract_load(c, parent->after->id)->notices.count, 2);
    assert_int_equal(contract_commit(c, contract_advance(c, parent, STATUS_FAILED, 1)),
                     MEMBER_APPLIED);
    /* Who waits for its end is told of it. */
    e = contract_load(c, parent->after->id);
    assert_int_equal(e->notices.count, 1);
    assert_int_equal(e->notices.items[0].kind, NOTICE_JOIN);
}

struct ends_load {
    struct str ids_json;
    struct execution_ends ends;
};

static void load_ends(struct contract *c, struct reader *r, void *context)
{
    struct ends_load *l = context;
    struct err err;

    assert_true(read_ends(r, &c->mem, l->ids_json, &l->ends, &err));
}

static void test_store__ends_of_several_are_read_at_once(void **state)
{
    struct contract *c = *state;
    struct commit *one = contract_start(c, STATUS_COMPLETED, 1);
    struct commit *two = contract_start(c, STATUS_WAITING, 1);
    struct ends_load l = {0};

    one->after->result_json = STR("{\"n\":1}");
    assert_int_equal(contract_commit(c, one), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, two), MEMBER_APPLIED);
    l.ids_json = str_printf(&c->mem, "[\"%s\",\"%s\",\"%s\"]", UUID_STR(one->after->id).ptr,
                            UUID_STR(contract_id(c, 1)).ptr, UUID_STR(two->after->id).ptr);
    contract_read(c, load_ends, &l);
    assert_int_equal(l.ends.count, 2);
    for (size_t i = 0; i < 2; i++) {
        bool is_one = uuid_cmp(l.ends.items[i].id, one->after->id) == 0;

        assert_int_equal(l.ends.items[i].status, is_one ? STATUS_COMPLETED : STATUS_WAITING);
        assert_int_equal(l.ends.items[i].result_json.len > 0, is_one);
        assert_int_equal(l.ends.items[i].crash_count, 0);
    }
}

static void test_store__commit_does_not_take_what_another_execution_was_told(void **state)
{
    struct contract *c = *state;
    struct commit *parent = contract_start(c, STATUS_WAITING, 1);
    struct commit *other = contract_start(c, STATUS_WAITING, 1), *next;

    assert_int_equal(contract_commit(c, parent), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, other), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, child_of(c, parent)), MEMBER_APPLIED);
    next = contract_advance(c, other, STATUS_WAITING, 1);
    next->consumed = numbers_of(c, contract_load(c, parent->after->id));
    assert_int_equal(contract_commit(c, next), MEMBER_APPLIED);
    assert_int_equal(notice_count(c), 1);
}

static void test_store__parent_and_child_of_one_batch_find_each_other(void **state)
{
    struct contract *c = *state;
    struct commit *parent = contract_start(c, STATUS_WAITING, 1);
    struct commit *child = child_of(c, parent);

    contract_write(c,
                   contract_batch(c, contract_member(c, parent), contract_member(c, child), NULL));
    assert_int_equal(contract_load(c, parent->after->id)->notices.count, 1);
}

/* A page that is not full is the last one: what is of no execution must not make it shorter. */
static void
test_store__events_of_an_execution_that_is_gone_end_no_page_and_can_be_deleted(void **state)
{
    struct contract *c = *state;
    struct commit *commits[3];
    struct notice_load l = {.limit = 2};
    struct notice_purge purge = {.change = {.apply = notice_purge_apply}};
    struct member m = {.kind = MEMBER_CHANGE, .change = &purge.change};
    int64_t rows[2];

    for (int i = 0; i < 3; i++) {
        commits[i] = contract_start(c, STATUS_WAITING, 1);
        assert_int_equal(contract_commit(c, commits[i]), MEMBER_APPLIED);
        assert_int_equal(contract_commit(c, child_of(c, commits[i])), MEMBER_APPLIED);
    }
    rows[0] = contract_load(c, commits[0]->after->id)->row;
    rows[1] = contract_load(c, commits[1]->after->id)->row;
    contract_run_sql(
        c, str_printf(&c->mem, "DELETE FROM execution WHERE row = %lld", (long long)rows[0]).ptr);
    contract_read(c, load_events, &l);
    assert_int_equal(l.rows.count, 2);
    assert_int_equal(l.rows.items[0].row, rows[0]);
    assert_true(l.rows.items[0].is_gone && !l.rows.items[0].is_due);
    assert_int_equal(l.rows.items[1].row, rows[1]);
    assert_true(!l.rows.items[1].is_gone && l.rows.items[1].is_due);

    purge.rows = rows; /* the second is there, and keeps what it was told */
    purge.count = 2;
    contract_write(c, contract_batch(c, &m, NULL));
    assert_int_equal(m.result, MEMBER_APPLIED);
    contract_read(c, load_events, &l);
    assert_int_equal(l.rows.count, 2);
    assert_int_equal(l.rows.items[0].row, rows[1]);
}

static size_t notices_of(struct contract *c, const struct commit *commit)
{
    return contract_load(c, commit->after->id)->notices.count;
}

/* The members of a batch are one after the other, also where their statements are sent together. */
static void test_store__notices_of_one_batch_come_in_the_order_of_its_members(void **state)
{
    struct contract *c = *state;
    struct commit *a = contract_start(c, STATUS_WAITING, 1), *a_ends, *a_again;
    struct commit *b = contract_start(c, STATUS_WAITING, 1), *b_ends, *b_again;
    struct commit *d = contract_start(c, STATUS_WAITING, 1), *d_ends, *d_again;

    contract_write(c, contract_batch(c, contract_member(c, a), contract_member(c, b),
                                     contract_member(c, d), NULL));
    a_ends = contract_advance(c, a, STATUS_FAILED, 1);
    a_again = contract_advance(c, a_ends, STATUS_WAITING, 1);
    b_ends = contract_advance(c, b, STATUS_FAILED, 1);
    b_again = contract_advance(c, b_ends, STATUS_WAITING, 1);
    d_ends = contract_advance(c, d, STATUS_FAILED, 1);
    d_again = contract_advance(c, d_ends, STATUS_WAITING, 1);
    contract_write(c,
                   contract_batch(c, contract_member(c, a_ends), contract_member(c, a_again),
                                  contract_member(c, child_of(c, a)), contract_member(c, b_ends),
                                  contract_member(c, child_of(c, b)), contract_member(c, b_again),
                                  contract_member(c, child_of(c, d)), contract_member(c, d_ends),
                                  contract_member(c, d_again), NULL));
    /* Told after it went on; after it had ended, and before. */
    assert_int_equal(notices_of(c, a), 1);
    assert_int_equal(notices_of(c, b), 0);
    assert_int_equal(notices_of(c, d), 0);
}

static void test_store__who_has_ended_or_is_gone_is_told_nothing(void **state)
{
    struct contract *c = *state;
    struct commit *parent = contract_start(c, STATUS_CANCELLED, 1);

    assert_int_equal(contract_commit(c, child_of(c, parent)), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, parent), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, child_of(c, parent)), MEMBER_APPLIED);
    assert_int_equal(contract_load(c, parent->after->id)->notices.count, 0);
    assert_int_equal(notice_count(c), 0);
}

static void test_store__paused_execution_is_told_and_is_not_due_until_it_goes_on(void **state)
{
    struct contract *c = *state;
    struct commit *parent = contract_start(c, STATUS_WAITING, 1), *next;

    parent->after->waiting_kind = WAITING_PAUSED;
    assert_int_equal(contract_commit(c, parent), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, child_of(c, parent)), MEMBER_APPLIED);
    assert_int_equal(contract_load(c, parent->after->id)->waiting_kind, WAITING_PAUSED);
    assert_int_equal(contract_load(c, parent->after->id)->notices.count, 1);
    assert_int_equal(notice_count(c), 0);
    next = contract_advance(c, parent, STATUS_WAITING, 1);
    next->after->waiting_kind = WAITING_NONE;
    assert_int_equal(contract_commit(c, next), MEMBER_APPLIED);
    assert_int_equal(contract_load(c, parent->after->id)->waiting_kind, WAITING_NONE);
    assert_int_equal(notice_count(c), 1);
}

/* Another waits for the end of `holder`, having joined it by its key. */
static struct commit *joiner_of(struct contract *c, const struct commit *holder)
{
    struct commit *joiner = contract_start(c, STATUS_WAITING, 1);
    char id[UUID_TEXT_LEN + 1];

    uuid_write(joiner->after->id, id);
    *VEC_ADD(&c->mem, &joiner->notices) =
        (struct notice){.execution = holder->after->id,
                        .kind = NOTICE_JOIN,
                        .key = str_printf(&c->mem, "joiner:%s", id)};
    assert_int_equal(contract_commit(c, joiner), MEMBER_APPLIED);
    return joiner;
}

static enum member_result delete_execution(struct contract *c, struct uuid id)
{
    struct execution_delete d = {.change = {.apply = execution_delete_apply}, .id = id};
    struct member m = {.kind = MEMBER_CHANGE, .change = &d.change};

    contract_write(c, contract_batch(c, &m, NULL));
    return m.result;
}

static void test_store__who_has_joined_waits_with_its_row_until_the_other_has_ended(void **state)
{
    struct contract *c = *state;
    struct commit *holder = contract_start(c, STATUS_WAITING, 1), *joiner, *late;
    struct assertion s = {.id = holder->after->id, .row_version = 2};
    struct member m = {.kind = MEMBER_ASSERT, .assertion = &s};

    assert_int_equal(contract_commit(c, holder), MEMBER_APPLIED);
    joiner = joiner_of(c, holder);
    assert_int_equal(notice_count(c), 0);
    assert_int_equal(contract_load(c, holder->after->id)->notices.count, 1);
    assert_int_equal(contract_commit(c, contract_advance(c, holder, STATUS_COMPLETED, 1)),
                     MEMBER_APPLIED);
    assert_int_equal(notice_count(c), 1);
    /* One that comes when it has ended is heard, too. */
    late = joiner_of(c, holder);
    assert_int_equal(notice_count(c), 1); /* two rows of one execution */
    assert_int_equal(contract_load(c, holder->after->id)->notices.count, 2);
    assert_int_equal(delete_execution(c, holder->after->id), MEMBER_FAILED);

    s.consumed = numbers_of(c, contract_load(c, holder->after->id));
    *VEC_ADD(&c->mem, &s.notices) = child_end(c, holder, joiner);
    *VEC_ADD(&c->mem, &s.notices) = child_end(c, holder, late);
    s.row_version = 1;
    contract_write(c, contract_batch(c, &m, NULL));
    assert_int_equal(m.result, MEMBER_STALE);
    assert_int_equal(contract_load(c, joiner->after->id)->notices.count, 0);
    s.row_version = 2;
    contract_write(c, contract_batch(c, &m, NULL));
    assert_int_equal(m.result, MEMBER_APPLIED);
    assert_int_equal(contract_load(c, holder->after->id)->notices.count, 0);
    assert_int_equal(contract_load(c, joiner->after->id)->notices.count, 1);
    assert_int_equal(contract_load(c, late->after->id)->notices.count, 1);

    /* It can be looked up until both have seen it. */
    assert_int_equal(delete_execution(c, holder->after->id), MEMBER_FAILED);
    for (unsigned i = 0; i < 2; i++) {
        struct commit *waits = i == 0 ? joiner : late;
        struct commit *next = contract_advance(c, waits, STATUS_WAITING, 1);

        next->consumed = numbers_of(c, contract_load(c, waits->after->id));
        assert_int_equal(contract_commit(c, next), MEMBER_APPLIED);
    }
    assert_int_equal(delete_execution(c, holder->after->id), MEMBER_APPLIED);
}

static void test_store__assertion_holds_while_the_version_is_the_same(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct notice_numbers none = {0};

    assert_int_equal(assert_version(c, start->after->id, 1, none)->result, MEMBER_GONE);
    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(assert_version(c, start->after->id, 1, none)->result, MEMBER_APPLIED);
    assert_int_equal(contract_load(c, start->after->id)->row_version, 1);
    assert_int_equal(contract_commit(c, contract_advance(c, start, STATUS_WAITING, 1)),
                     MEMBER_APPLIED);
    assert_int_equal(assert_version(c, start->after->id, 1, none)->result, MEMBER_STALE);
    assert_int_equal(assert_version(c, start->after->id, 2, none)->result, MEMBER_APPLIED);
}

static void test_store__assertion_rests_on_earlier_members_of_its_batch(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct assertion before = {.id = start->after->id, .row_version = 1};
    struct assertion after = {.id = start->after->id, .row_version = 2};
    struct member first = {.kind = MEMBER_ASSERT, .assertion = &before};
    struct member second = {.kind = MEMBER_ASSERT, .assertion = &before};
    struct member third = {.kind = MEMBER_ASSERT, .assertion = &after};

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    contract_write(c,
                   contract_batch(c, &first,
                                  contract_member(c, contract_advance(c, start, STATUS_WAITING, 1)),
                                  &second, &third, NULL));
    assert_int_equal(first.result, MEMBER_APPLIED);
    assert_int_equal(second.result, MEMBER_STALE);
    assert_int_equal(third.result, MEMBER_APPLIED);
}

static void test_store__assertion_takes_away_what_changes_nothing_if_it_holds(void **state)
{
    struct contract *c = *state;
    struct commit *parent = contract_start(c, STATUS_WAITING, 1);
    struct notice_numbers notice;

    assert_int_equal(contract_commit(c, parent), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, child_of(c, parent)), MEMBER_APPLIED);
    notice = numbers_of(c, contract_load(c, parent->after->id));
    assert_int_equal(assert_version(c, parent->after->id, 9, notice)->result, MEMBER_STALE);
    assert_int_equal(notice_count(c), 1);
    assert_int_equal(assert_version(c, parent->after->id, 1, notice)->result, MEMBER_APPLIED);
    assert_int_equal(notice_count(c), 0);
}

static void test_store__refusal_is_kept_for_a_repeated_request(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct idempotency kept = {.user = STR("ann"),
                               .method = STR("POST"),
                               .path = STR("/x"),
                               .key = STR("k"),
                               .body_hash = STR("00"),
                               .status = 409,
                               .answer = STR("{\"code\":\"conflict\"}")};
    struct assertion s = {.id = start->after->id, .row_version = 1, .now_us = 1000};
    struct member first = {.kind = MEMBER_ASSERT, .assertion = &s, .idempotency = &kept};
    struct member again = first;

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    contract_write(c, contract_batch(c, &first, NULL));
    assert_int_equal(first.result, MEMBER_APPLIED);
    contract_write(c, contract_batch(c, &again, NULL));
    assert_int_equal(again.result, MEMBER_REPEATED);
    assert_int_equal(again.answer_status, 409);
    assert_str(again.answer, "{\"code\":\"conflict\"}");
}

/* Another node has written the version that the first member would have made. */
static void test_store__commit_that_rests_on_a_refused_one_is_refused(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct commit *theirs = contract_advance(c, start, STATUS_WAITING, 1);
    struct commit *ours = contract_advance(c, start, STATUS_WAITING, 2);
    struct commit *next = contract_advance(c, ours, STATUS_WAITING, 1);
    struct member *first = contract_member(c, ours), *second = contract_member(c, next);
    struct member *third = contract_member(c, next);
    struct batch *b, *later;

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, theirs), MEMBER_APPLIED);
    b = contract_batch(c, first, second, NULL);
    later = contract_batch(c, third, NULL);
    assert_true(store_submit(c->store, b));
    assert_true(store_submit(c->store, later));
    assert_ptr_equal(contract_take(c), b);
    assert_ptr_equal(contract_take(c), later);
    assert_int_equal(first->result, MEMBER_STALE);
    assert_int_equal(second->result, MEMBER_STALE);
    assert_int_equal(contract_load(c, start->after->id)->row_version, 2);
    arena_fini(&b->mem);
    arena_fini(&later->mem);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, contract_setup, contract_teardown)

static const struct CMUnitTest claims[] = {
    CLAIM(test_store__several_executions_are_read_as_each_alone),
    CLAIM(test_store__what_was_told_outlives_later_commits_and_a_restart),
    CLAIM(test_store__commit_takes_away_what_it_has_applied_and_nothing_else),
    CLAIM(test_store__one_that_ends_drops_what_it_was_told),
    CLAIM(test_store__ends_of_several_are_read_at_once),
    CLAIM(test_store__commit_does_not_take_what_another_execution_was_told),
    CLAIM(test_store__parent_and_child_of_one_batch_find_each_other),
    CLAIM(test_store__events_of_an_execution_that_is_gone_end_no_page_and_can_be_deleted),
    CLAIM(test_store__notices_of_one_batch_come_in_the_order_of_its_members),
    CLAIM(test_store__who_has_ended_or_is_gone_is_told_nothing),
    CLAIM(test_store__paused_execution_is_told_and_is_not_due_until_it_goes_on),
    CLAIM(test_store__who_has_joined_waits_with_its_row_until_the_other_has_ended),
    CLAIM(test_store__assertion_holds_while_the_version_is_the_same),
    CLAIM(test_store__assertion_rests_on_earlier_members_of_its_batch),
    CLAIM(test_store__assertion_takes_away_what_changes_nothing_if_it_holds),
    CLAIM(test_store__refusal_is_kept_for_a_repeated_request),
    CLAIM(test_store__commit_that_rests_on_a_refused_one_is_refused),
};

int contract_run_events(const char *name)
{
    return _cmocka_run_group_tests(name, claims, ARRAY_SIZE(claims), NULL, NULL);
}
