/* contract_drafts.c - the claims of contract.h about drafts and the versions they become. */
#include "store/contract.h"
#include "store/read_definition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct definition_change change(enum definition_action action, const char *text,
                                       int64_t if_match)
{
    return (struct definition_change){.action = action,
                                      .kind = STR("scenario"),
                                      .code = STR("order"),
                                      .name = STR("Order"),
                                      .text = str_of(text),
                                      .summary = STR("why"),
                                      .user_id = STR("ann"),
                                      .if_match = if_match,
                                      .now_us = 1700000000000000};
}

static enum member_result apply(struct contract *c, struct definition_change *d)
{
    struct member m = {.kind = MEMBER_DEFINITION, .definition = d};
    struct batch *b = contract_batch(c, &m, NULL);

    contract_write(c, b);
    assert_int_equal(b->end, BATCH_COMMITTED);
    return m.result;
}

static enum member_result save(struct contract *c, const char *text, int64_t if_match,
                               int64_t *revision)
{
    struct definition_change d = change(DEFINITION_SAVE_DRAFT, text, if_match);
    enum member_result result = apply(c, &d);

    *revision = d.version;
    return result;
}

static enum member_result publish(struct contract *c, const char *text, int64_t *version)
{
    struct definition_change d = change(DEFINITION_PUBLISH, text, -1);
    enum member_result result = apply(c, &d);

    *version = d.version;
    return result;
}

struct definition_load {
    int64_t version;
    struct stored_definition one;
    bool found;
    struct stored_definitions versions, all;
};

static void load_definition(struct contract *c, struct reader *r, void *context)
{
    struct definition_load *l = context;
    struct err err;

    assert_true(read_definition(r, &c->mem, STR("scenario"), STR("order"), l->version, &l->one,
                                &l->found, &err));
    assert_true(read_versions(r, &c->mem, STR("scenario"), STR("order"), INT64_MAX, 100,
                              &l->versions, &err));
    assert_true(read_definitions(r, &c->mem, STR("scenario"), STR_NONE, 100, &l->all, &err));
}

static struct definition_load *definition(struct contract *c, int64_t version)
{
    struct definition_load *l = ARENA_NEW(&c->mem, struct definition_load);

    l->version = version;
    contract_read(c, load_definition, l);
    return l;
}

static void test_store__draft_is_kept_as_it_was_sent(void **state)
{
    struct contract *c = *state;
    struct definition_load *l;
    int64_t revision;

    assert_int_equal(save(c, "{ \"code\" : 1.50 }\n", -1, &revision), MEMBER_APPLIED);
    assert_int_equal(revision, 1);
    l = definition(c, 0);
    assert_true(l->found);
    assert_str(l->one.text, "{ \"code\" : 1.50 }\n");
    assert_str(l->one.kind, "scenario");
    assert_str(l->one.code, "order");
    assert_str(l->one.name, "Order");
    assert_str(l->one.status, "draft");
    assert_str(l->one.created_by, "ann");
    assert_int_equal(l->one.version, 0);
    assert_int_equal(l->one.revision, 1);
    assert_int_equal(l->one.created_at_us, 1700000000000000);
    assert_false(definition(c, -1)->found);
    assert_false(definition(c, 1)->found);
}

static void test_store__draft_is_saved_under_the_revision_it_rests_on(void **state)
{
    struct contract *c = *state;
    int64_t revision;

    assert_int_equal(save(c, "a", 1, &revision), MEMBER_STALE);
    assert_int_equal(save(c, "a", 0, &revision), MEMBER_APPLIED);
    assert_int_equal(save(c, "b", 0, &revision), MEMBER_STALE);
    assert_int_equal(save(c, "b", 1, &revision), MEMBER_APPLIED);
    assert_int_equal(revision, 2);
    assert_int_equal(save(c, "c", 1, &revision), MEMBER_STALE);
    assert_int_equal(save(c, "c", -1, &revision), MEMBER_APPLIED);
    assert_str(definition(c, 0)->one.text, "c");
}

static void test_store__deleted_draft_does_not_give_its_revision_again(void **state)
{
    struct contract *c = *state;
    struct definition_change drop = change(DEFINITION_DELETE_DRAFT, "", -1);
    int64_t revision;

    assert_int_equal(apply(c, &drop), MEMBER_GONE);
    assert_int_equal(save(c, "a", -1, &revision), MEMBER_APPLIED);
    drop.if_match = 7;
    assert_int_equal(apply(c, &drop), MEMBER_STALE);
    drop.if_match = 1;
    assert_int_equal(apply(c, &drop), MEMBER_APPLIED);
    assert_false(definition(c, 0)->found);
    assert_int_equal(save(c, "b", 1, &revision), MEMBER_STALE);
    assert_int_equal(save(c, "b", -1, &revision), MEMBER_APPLIED);
    assert_int_equal(revision, 2);
}

static void test_store__publishing_supersedes_and_counts_up(void **state)
{
    struct contract *c = *state;
    struct definition_load *l;
    int64_t version, revision;

    assert_int_equal(save(c, "one", -1, &revision), MEMBER_APPLIED);
    assert_int_equal(publish(c, "one", &version), MEMBER_APPLIED);
    assert_int_equal(version, 1);
    assert_false(definition(c, 0)->found); /* it became version 1 */
    assert_int_equal(save(c, "draft", -1, &revision), MEMBER_APPLIED);
    assert_int_equal(publish(c, "two", &version), MEMBER_APPLIED);
    assert_int_equal(version, 2);
    l = definition(c, -1);
    assert_str(l->one.text, "two");
    assert_str(l->one.status, "published");
    assert_str(l->one.summary, "why");
    assert_int_equal(l->versions.count, 3);
    assert_int_equal(l->versions.items[0].version, 0);
    assert_int_equal(l->versions.items[1].version, 2);
    assert_int_equal(l->versions.items[2].version, 1);
    assert_str(l->versions.items[2].status, "superseded");
    assert_int_equal(l->versions.items[2].text.len, 0);
    assert_int_equal(l->all.count, 2); /* the draft and the published one */
    assert_str(definition(c, 1)->one.text, "one");
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, contract_setup, contract_teardown)

static const struct CMUnitTest claims[] = {
    CLAIM(test_store__draft_is_kept_as_it_was_sent),
    CLAIM(test_store__draft_is_saved_under_the_revision_it_rests_on),
    CLAIM(test_store__deleted_draft_does_not_give_its_revision_again),
    CLAIM(test_store__publishing_supersedes_and_counts_up),
};

int contract_run_drafts(const char *name)
{
    return _cmocka_run_group_tests(name, claims, ARRAY_SIZE(claims), NULL, NULL);
}
