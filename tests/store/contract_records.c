/* contract_records.c - the claims of contract.h about records that executions write. */
#include "engine/commit/commit.h"
#include "engine/commit/reads.h"
#include "engine/commit/search.h"
#include "engine/status.h"
#include "store/contract.h"
#include "store/read_record.h"
#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct uuid id_of(const struct commit *commit)
{
    return commit->after->id;
}

static enum member_result write_record(struct contract *c, struct record_write a,
                                       const struct record_write *b)
{
    struct commit *start = contract_start(c, STATUS_COMPLETED, 1);

    *VEC_ADD(&c->mem, &start->records) = a;
    if (b != NULL)
        *VEC_ADD(&c->mem, &start->records) = *b;
    return contract_commit(c, start);
}

static struct record_write record(const char *id, int64_t read_version, const char *data)
{
    return (struct record_write){.object = STR("invoice"),
                                 .id = str_of(id),
                                 .read_version = read_version,
                                 .is_delete = data == NULL,
                                 .version = read_version + 1,
                                 .data_json = data == NULL ? STR_NONE : str_of(data)};
}

struct records {
    struct str id;
    struct record_read one;
    struct search_found all;
};

static void load_records_of(struct contract *c, struct reader *r, struct str org_id,
                            struct records *records)
{
    struct search search = {.org_id = org_id, .object = STR("invoice"), .limit = 100};
    struct err err;

    assert_true(read_found(r, &c->mem, &search, &records->all, &err));
    assert_int_equal(records->all.err.code, ERR_NONE);
    assert_true(read_record(r, &c->mem, org_id, STR("invoice"), records->id, &records->one, &err));
}

static void load_records(struct contract *c, struct reader *r, void *context)
{
    load_records_of(c, r, STR("org-1"), context);
}

static void test_store__records_are_written_under_the_version_read(void **state)
{
    struct contract *c = *state;
    struct records one = {.id = STR("b")};

    assert_int_equal(write_record(c, record("b", 0, "{\"n\":1}"), NULL), MEMBER_APPLIED);
    assert_int_equal(write_record(c, record("a", 0, "{\"n\":7}"), NULL), MEMBER_APPLIED);
    assert_int_equal(write_record(c, record("b", 0, "{\"n\":2}"), NULL), MEMBER_RECORD_STALE);
    assert_int_equal(write_record(c, record("b", 1, "{\"n\":3}"), NULL), MEMBER_APPLIED);
    assert_int_equal(write_record(c, record("b", 1, "{\"n\":4}"), NULL), MEMBER_RECORD_STALE);
    contract_read(c, load_records, &one);
    assert_int_equal(one.all.count, 2); /* newest last */
    assert_str(one.all.items[0].rank.id, "b");
    assert_str(one.all.items[1].rank.id, "a");
    assert_int_equal(one.one.version, 2);
    assert_int_equal(value_map_get_str(one.one.data, STR("n")).i, 3);
    assert_int_equal(write_record(c, record("b", 1, NULL), NULL), MEMBER_RECORD_STALE);
    assert_int_equal(write_record(c, record("b", 2, NULL), NULL), MEMBER_APPLIED);
    contract_read(c, load_records, &one);
    assert_int_equal(one.one.version, 0);
    assert_int_equal(one.all.count, 1);
}

/* The same under another organisation. */
static void load_records_of_another(struct contract *c, struct reader *r, void *context)
{
    load_records_of(c, r, STR("org-2"), context);
}

static void test_store__records_belong_to_the_organisation_of_their_execution(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_RUNNING, 1);
    struct records all = {0}, one = {.id = STR("a")};

    assert_int_equal(write_record(c, record("a", 0, "{\"n\":1}"), NULL), MEMBER_APPLIED);
    contract_read(c, load_records_of_another, &one);
    assert_int_equal(one.one.version, 0);
    assert_int_equal(one.all.count, 0);
    start->after->org_id = STR("org-2");
    *VEC_ADD(&c->mem, &start->records) = record("a", 0, "{\"n\":2}");
    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    contract_read(c, load_records_of_another, &all);
    assert_int_equal(all.all.count, 1);
    assert_int_equal(value_map_get_str(all.all.items[0].record, STR("n")).i, 2);
    contract_read(c, load_records, &all);
    assert_int_equal(all.all.count, 1);
    assert_int_equal(value_map_get_str(all.all.items[0].record, STR("n")).i, 1);
    assert_int_equal(write_record(c, record("a", 1, NULL), NULL), MEMBER_APPLIED);
    contract_read(c, load_records_of_another, &one);
    assert_int_equal(one.one.version, 1);
}

struct last_version {
    const char *id;
    int64_t version;
};

static void load_last_version(struct contract *c, struct reader *r, void *context)
{
    struct last_version *last = context;
    struct err err;

    (void)c;
    assert_true(
        read_record_last(r, STR("org-1"), STR("invoice"), str_of(last->id), &last->version, &err));
}

static void test_store__version_of_a_record_does_not_come_again(void **state)
{
    struct contract *c = *state;
    struct record_write again = record("a", 0, "{\"n\":2}");
    struct last_version last = {.id = "a"};

    contract_read(c, load_last_version, &last);
    assert_int_equal(last.version, 0);
    assert_int_equal(write_record(c, record("a", 0, "{\"n\":1}"), NULL), MEMBER_APPLIED);
    assert_int_equal(write_record(c, record("a", 1, NULL), NULL), MEMBER_APPLIED);
    contract_read(c, load_last_version, &last);
    assert_int_equal(last.version, 2);
    /* Made again by one who does not know that it was there; then by one who does. */
    assert_int_equal(write_record(c, again, NULL), MEMBER_RECORD_STALE);
    again.version = last.version + 1;
    assert_int_equal(write_record(c, again, NULL), MEMBER_APPLIED);
    /* Whoever read the first one does not take this one for it. */
    assert_int_equal(write_record(c, record("a", 1, "{\"n\":9}"), NULL), MEMBER_RECORD_STALE);
    assert_int_equal(write_record(c, record("a", 3, NULL), NULL), MEMBER_APPLIED);
    contract_read(c, load_last_version, &last);
    assert_int_equal(last.version, 4);
}

static void test_store__record_may_come_and_go_in_one_commit(void **state)
{
    struct contract *c = *state;
    struct record_write gone = record("a", 0, NULL);
    struct last_version last = {.id = "a"};

    gone.version = 2;
    assert_int_equal(write_record(c, gone, NULL), MEMBER_APPLIED);
    contract_read(c, load_last_version, &last);
    assert_int_equal(last.version, 2);
}

static void test_store__member_is_all_or_nothing(void **state)
{
    struct contract *c = *state;
    struct record_write stale = record("b", 9, "{}");
    struct commit *broken = contract_start(c, STATUS_COMPLETED, 2);
    struct member *m = contract_member(c, broken);
    struct records all = {0};
    struct batch *b;

    *VEC_ADD(&c->mem, &broken->records) = record("a", 0, "{}");
    *VEC_ADD(&c->mem, &broken->records) = stale;
    b = contract_batch(c, contract_member(c, contract_start(c, STATUS_WAITING, 1)), m,
                       contract_member(c, contract_start(c, STATUS_WAITING, 1)), NULL);
    contract_write(c, b);
    assert_int_equal(b->end, BATCH_COMMITTED);
    assert_int_equal(b->members.items[0]->result, MEMBER_APPLIED);
    assert_int_equal(m->result, MEMBER_RECORD_STALE);
    assert_int_equal(b->members.items[2]->result, MEMBER_APPLIED);
    assert_null(contract_load(c, id_of(broken)));
    contract_read(c, load_records, &all);
    assert_int_equal(all.all.count, 0);
}

static void test_store__one_commit_may_write_a_record_twice(void **state)
{
    struct contract *c = *state;
    struct record_write again = record("a", 1, "{\"n\":2}");
    struct records one = {.id = STR("a")};

    assert_int_equal(write_record(c, record("a", 0, "{\"n\":1}"), &again), MEMBER_APPLIED);
    contract_read(c, load_records, &one);
    assert_int_equal(one.one.version, 2);
}

struct changes {
    int64_t limit;
    struct str org_id, cursor, next;
    struct record_change_rows rows;
};

static void load_changes(struct contract *c, struct reader *r, void *context)
{
    struct changes *changes = context;
    struct record_change_filter f = {.org_id = changes->org_id,
                                     .object = STR("invoice"),
                                     .id = STR("a"),
                                     .cursor = changes->cursor,
                                     .limit = changes->limit};
    struct err err;

    assert_true(read_record_changes(r, &c->mem, &f, &changes->rows, &changes->next, &err));
}

static void test_store__version_of_a_record_names_the_execution_that_made_it(void **state)
{
    struct contract *c = *state;
    struct commit *made = contract_start(c, STATUS_COMPLETED, 3);
    struct commit *changed = contract_start(c, STATUS_COMPLETED, 1);
    struct record_write write = record("a", 0, "{}");
    struct changes all = {.limit = 10, .org_id = STR("org-1")};
    struct changes other = {.limit = 10, .org_id = STR("org-2")};
    struct changes page = {.limit = 1, .org_id = STR("org-1")};

    write.seq = 2;
    *VEC_ADD(&c->mem, &made->records) = write;
    assert_int_equal(contract_commit(c, made), MEMBER_APPLIED);
    write = record("a", 1, NULL);
    write.seq = 1;
    *VEC_ADD(&c->mem, &changed->records) = write;
    assert_int_equal(contract_commit(c, changed), MEMBER_APPLIED);
    assert_int_equal(write_record(c, record("a", 1, "{}"), NULL), MEMBER_RECORD_STALE);
    contract_read(c, load_changes, &all);
    assert_int_equal(all.rows.count, 2);
    assert_str(all.rows.items[0].action, "deleted");
    assert_int_equal(uuid_cmp(all.rows.items[0].execution, id_of(changed)), 0);
    assert_str(all.rows.items[1].action, "created");
    assert_int_equal(uuid_cmp(all.rows.items[1].execution, id_of(made)), 0);
    assert_int_equal(all.rows.items[1].version, 1);
    assert_true(str_eq(all.rows.items[1].step, made->history.items[1].step));
    contract_read(c, load_changes, &other);
    assert_int_equal(other.rows.count, 0);
    contract_read(c, load_changes, &page);
    assert_int_equal(page.rows.count, 1);
    page.cursor = page.next;
    contract_read(c, load_changes, &page);
    assert_int_equal(page.rows.count, 1);
    assert_str(page.rows.items[0].action, "created");
    assert_int_equal(page.next.len, 0);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, contract_setup, contract_teardown)

static const struct CMUnitTest claims[] = {
    CLAIM(test_store__records_are_written_under_the_version_read),
    CLAIM(test_store__records_belong_to_the_organisation_of_their_execution),
    CLAIM(test_store__version_of_a_record_does_not_come_again),
    CLAIM(test_store__record_may_come_and_go_in_one_commit),
    CLAIM(test_store__member_is_all_or_nothing),
    CLAIM(test_store__one_commit_may_write_a_record_twice),
    CLAIM(test_store__version_of_a_record_names_the_execution_that_made_it),
};

int contract_run_records(const char *name)
{
    return _cmocka_run_group_tests(name, claims, ARRAY_SIZE(claims), NULL, NULL);
}
