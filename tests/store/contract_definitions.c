/* contract_definitions.c - claims about definitions that live, go back and change together. */
#include "store/contract.h"
#include "store/read_definition.h"
#include "store/read_triggers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct definition_change change(enum definition_action action, const char *kind,
                                       const char *code, const char *text)
{
    return (struct definition_change){.action = action,
                                      .kind = str_of(kind),
                                      .code = str_of(code),
                                      .text = str_of(text),
                                      .user_id = STR("ann"),
                                      .if_match = -1,
                                      .now_us = 1700000000000000};
}

/* Apply what hangs together; *message is what a refusal said. */
static enum member_result apply_all(struct contract *c, struct definition_change *first,
                                    const char **message)
{
    struct member *m = ARENA_NEW(&c->mem, struct member);
    struct batch *b;

    *m = (struct member){.kind = MEMBER_DEFINITION, .definition = first};
    b = contract_batch(c, m, NULL);
    contract_write(c, b);
    assert_int_equal(b->end, BATCH_COMMITTED);
    if (message != NULL)
        *message = m->err.message;
    return m->result;
}

static int64_t publish(struct contract *c, const char *code, const char *text)
{
    struct definition_change d = change(DEFINITION_PUBLISH, "scenario", code, text);

    assert_int_equal(apply_all(c, &d, NULL), MEMBER_APPLIED);
    return d.version;
}

static enum member_result revert(struct contract *c, int64_t *version)
{
    struct definition_change d = change(DEFINITION_REVERT, "scenario", "order", "");
    enum member_result result = apply_all(c, &d, NULL);

    *version = d.version;
    return result;
}

struct question {
    const char *kind, *after;
    int64_t limit;
    struct stored_definitions listed, published, newest;
    int64_t stamp;
};

static void look(struct contract *c, struct reader *r, void *context)
{
    struct question *q = context;
    struct str kind = str_of(q->kind);
    struct err err;

    assert_true(read_definitions(r, &c->mem, kind, str_of(q->after), q->limit, &q->listed, &err));
    assert_true(read_published(r, &c->mem, kind, &q->published, &err));
    assert_true(read_newest(r, &c->mem, kind, &q->newest, &err));
    assert_true(read_definition_stamp(r, &q->stamp, &err));
}

static struct question *ask(struct contract *c, const char *kind)
{
    struct question *q = ARENA_NEW(&c->mem, struct question);

    *q = (struct question){.kind = kind, .after = "", .limit = 100};
    contract_read(c, look, q);
    return q;
}

static void test_definitions__revert_follows_what_was_published(void **state)
{
    struct contract *c = *state;
    int64_t version;

    assert_int_equal(revert(c, &version), MEMBER_GONE);
    assert_int_equal(publish(c, "order", "a"), 1);
    assert_int_equal(revert(c, &version), MEMBER_FAILED);
    assert_int_equal(publish(c, "order", "b"), 2);
    assert_int_equal(publish(c, "order", "c"), 3);
    assert_int_equal(revert(c, &version), MEMBER_APPLIED);
    assert_int_equal(version, 2);
    assert_str(ask(c, "scenario")->published.items[0].text, "b");
    assert_int_equal(revert(c, &version), MEMBER_APPLIED);
    assert_int_equal(version, 1);
    assert_int_equal(revert(c, &version), MEMBER_FAILED);
    assert_int_equal(publish(c, "order", "d"), 4);
    assert_int_equal(revert(c, &version), MEMBER_APPLIED);
    assert_int_equal(version, 1);
}

static void test_definitions__put_makes_a_version_when_the_text_differs(void **state)
{
    struct contract *c = *state;
    struct definition_change d = change(DEFINITION_PUT, "function", "f", "1");
    struct definition_change drop = change(DEFINITION_REMOVE, "function", "f", "");

    assert_int_equal(apply_all(c, &drop, NULL), MEMBER_GONE);
    d.if_match = 0;
    assert_int_equal(apply_all(c, &d, NULL), MEMBER_APPLIED);
    assert_true(d.created && !d.unchanged && d.version == 1);
    assert_int_equal(apply_all(c, &d, NULL), MEMBER_STALE);
    d.if_match = -1;
    assert_int_equal(apply_all(c, &d, NULL), MEMBER_APPLIED);
    assert_true(!d.created && d.unchanged && d.version == 1);
    d.text = STR("2");
    d.if_match = 1;
    assert_int_equal(apply_all(c, &d, NULL), MEMBER_APPLIED);
    assert_true(!d.created && !d.unchanged && d.version == 2);
    assert_int_equal(apply_all(c, &d, NULL), MEMBER_STALE);
    drop.if_match = 1;
    assert_int_equal(apply_all(c, &drop, NULL), MEMBER_STALE);
    drop.if_match = 2;
    assert_int_equal(apply_all(c, &drop, NULL), MEMBER_APPLIED);
    assert_int_equal(ask(c, "function")->published.count, 0);
    assert_int_equal(ask(c, "function")->newest.count, 1);
    assert_str(ask(c, "function")->newest.items[0].text, "2");
    d.if_match = -1;
    assert_int_equal(apply_all(c, &d, NULL), MEMBER_APPLIED);
    assert_true(d.created && d.version == 3);
}

static void test_definitions__what_forgets_keeps_one_version(void **state)
{
    struct contract *c = *state;
    struct definition_change d = change(DEFINITION_PUT, "config", "rate", "1");
    struct definition_change drop = change(DEFINITION_REMOVE, "config", "rate", "");

    d.forgets = drop.forgets = true;
    assert_int_equal(apply_all(c, &d, NULL), MEMBER_APPLIED);
    d.text = STR("2");
    assert_int_equal(apply_all(c, &d, NULL), MEMBER_APPLIED);
    assert_int_equal(d.version, 2);
    assert_int_equal(ask(c, "config")->listed.count, 1);
    assert_int_equal(apply_all(c, &drop, NULL), MEMBER_APPLIED);
    assert_int_equal(ask(c, "config")->newest.count, 0);
    assert_int_equal(apply_all(c, &d, NULL), MEMBER_APPLIED);
    assert_int_equal(d.version, 3);
}

static void test_definitions__changes_that_hang_together_are_all_or_none(void **state)
{
    struct contract *c = *state;
    struct definition_change a = change(DEFINITION_PUT, "scenario", "a", "1");
    struct definition_change b = change(DEFINITION_PUT, "scenario", "b", "1");
    struct definition_change keep = change(DEFINITION_KEEP, "scenario", "order", "");

    assert_int_equal(publish(c, "order", "x"), 1);
    a.next = &b;
    b.next = &keep;
    keep.has_rests_on = true;
    keep.rests_on = 7;
    assert_int_equal(apply_all(c, &a, NULL), MEMBER_STALE);
    assert_int_equal(ask(c, "scenario")->published.count, 1);
    keep.rests_on = 1;
    assert_int_equal(apply_all(c, &a, NULL), MEMBER_APPLIED);
    assert_int_equal(ask(c, "scenario")->published.count, 3);
    assert_int_equal(keep.version, 1);
    a.text = b.text = STR("2");
    b.has_rests_on = true;
    b.rests_on = 0;
    assert_int_equal(apply_all(c, &a, NULL), MEMBER_STALE);
    assert_str(ask(c, "scenario")->published.items[0].text, "1");
}

static void test_definitions__process_codes_are_unique_across_kinds(void **state)
{
    struct contract *c = *state;
    struct definition_change d = change(DEFINITION_SAVE_DRAFT, "schema", "order", "1");
    const char *message;

    assert_int_equal(publish(c, "order", "x"), 1);
    d.is_process = true;
    assert_int_equal(apply_all(c, &d, &message), MEMBER_FAILED);
    assert_string_equal(message, "'order' is the code of a scenario already");
    d.code = STR("other");
    assert_int_equal(apply_all(c, &d, NULL), MEMBER_APPLIED);
    assert_int_equal(ask(c, "")->listed.count, 2);
    assert_str(ask(c, "")->listed.items[1].kind, "schema");
}

static void test_definitions__lists_go_on_behind_a_code(void **state)
{
    static const char *const codes[] = {"a_b", "ab", "a", "B"};
    struct contract *c = *state;
    struct question q = {.kind = "scenario", .after = "", .limit = 2};

    for (size_t i = 0; i < 4; i++)
        (void)publish(c, codes[i], "x");
    contract_read(c, look, &q);
    assert_int_equal(q.listed.count, 2);
    assert_str(q.listed.items[0].code, "B");
    assert_str(q.listed.items[1].code, "a");
    q.after = "a";
    contract_read(c, look, &q);
    assert_str(q.listed.items[0].code, "a_b");
    assert_str(q.listed.items[1].code, "ab");
    assert_str(q.published.items[0].code, "B");
    assert_str(q.published.items[3].code, "ab");
}

static void test_definitions__the_stamp_grows_with_every_change(void **state)
{
    struct contract *c = *state;
    int64_t before = ask(c, "scenario")->stamp, version;

    (void)publish(c, "order", "a");
    (void)publish(c, "order", "b");
    assert_int_equal(ask(c, "scenario")->stamp, before + 2);
    assert_int_equal(revert(c, &version), MEMBER_APPLIED);
    assert_int_equal(ask(c, "scenario")->stamp, before + 3);
}

static struct str answer(struct arena *mem, const struct definition_change *d, int32_t *status)
{
    *status = d->created ? 201 : 200;
    return str_printf(mem, "version %d", (int)d->version);
}

static void test_definitions__the_kept_answer_is_that_of_the_change(void **state)
{
    struct contract *c = *state;
    struct definition_change d = change(DEFINITION_PUT, "config", "rate", "1");
    struct idempotency i = {.user = STR("ann"),
                            .method = STR("PUT"),
                            .path = STR("/x"),
                            .key = STR("k"),
                            .body_hash = STR("h")};
    struct member m = {.kind = MEMBER_DEFINITION, .definition = &d, .idempotency = &i};

    d.answer = answer;
    contract_write(c, contract_batch(c, &m, NULL));
    assert_int_equal(m.result, MEMBER_APPLIED);
    contract_write(c, contract_batch(c, &m, NULL));
    assert_int_equal(m.result, MEMBER_REPEATED);
    assert_int_equal(m.answer_status, 201);
    assert_str(m.answer, "version 1");
}

/* --- triggers --- */

#define WEBHOOK(path) "{\"type\":\"webhook\",\"path\":\"" path "\"}"
#define TRIGGERS(list) "{\"steps\":[],\"triggers\":[" list "]}"

static enum member_result process_change(struct contract *c, enum definition_action action,
                                         const char *code, const char *text, const char **message)
{
    struct definition_change d = change(action, "scenario", code, text);

    d.is_process = true;
    return apply_all(c, &d, message);
}

struct trigger_question {
    enum trigger_type type;
    struct str topic; /* empty: all of the type */
    struct stored_triggers found;
};

static void look_triggers(struct contract *c, struct reader *r, void *context)
{
    struct trigger_question *q = context;
    struct err err;

    if (q->topic.len > 0)
        assert_true(read_triggers_of_topic(r, &c->mem, q->type, q->topic, &q->found, &err));
    else
        assert_true(read_triggers(r, &c->mem, q->type, &q->found, &err));
}

static struct stored_triggers triggers_found(struct contract *c, enum trigger_type type,
                                             const char *topic)
{
    struct trigger_question q = {.type = type, .topic = str_of(topic)};

    contract_read(c, look_triggers, &q);
    return q.found;
}

static void test_triggers__are_those_of_the_published_version(void **state)
{
    struct contract *c = *state;
    struct stored_triggers found;

    assert_int_equal(
        process_change(c, DEFINITION_PUBLISH, "order",
                       TRIGGERS(WEBHOOK("a") ",{\"type\":\"event\",\"event\":\"Paid\"},"
                                             "{\"type\":\"schedule\",\"cron\":\"0 9 * * *\","
                                             "\"org_id\":\"org\"}"),
                       NULL),
        MEMBER_APPLIED);
    found = triggers_found(c, TRIGGER_WEBHOOK, "POST a");
    assert_int_equal(found.count, 1);
    assert_str(found.items[0].code, "order");
    assert_str(found.items[0].kind, "scenario");
    assert_int_equal(found.items[0].version, 1);
    assert_int_equal(found.items[0].position, 0);
    assert_false(found.items[0].is_retired);
    found = triggers_found(c, TRIGGER_EVENT, "Paid");
    assert_int_equal(found.count, 1);
    assert_int_equal(found.items[0].position, 1);
    found = triggers_found(c, TRIGGER_SCHEDULE, "");
    assert_int_equal(found.count, 1);
    assert_str(found.items[0].org_id, "org");
    assert_str(value_text(value_map_get_str(found.items[0].spec, STR("cron"))), "0 9 * * *");
    /* A draft changes nothing, another version everything. */
    assert_int_equal(
        process_change(c, DEFINITION_SAVE_DRAFT, "order", TRIGGERS(WEBHOOK("d")), NULL),
        MEMBER_APPLIED);
    assert_int_equal(triggers_found(c, TRIGGER_WEBHOOK, "POST d").count, 0);
    assert_int_equal(process_change(c, DEFINITION_PUBLISH, "order", TRIGGERS(WEBHOOK("b")), NULL),
                     MEMBER_APPLIED);
    assert_int_equal(triggers_found(c, TRIGGER_WEBHOOK, "POST a").count, 0);
    assert_int_equal(triggers_found(c, TRIGGER_WEBHOOK, "POST b").count, 1);
    assert_int_equal(triggers_found(c, TRIGGER_SCHEDULE, "").count, 0);
    assert_int_equal(process_change(c, DEFINITION_REVERT, "order", "", NULL), MEMBER_APPLIED);
    assert_int_equal(triggers_found(c, TRIGGER_WEBHOOK, "POST a").items[0].version, 1);
    assert_int_equal(triggers_found(c, TRIGGER_WEBHOOK, "POST b").count, 0);
    assert_int_equal(process_change(c, DEFINITION_RETIRE, "order", "", NULL), MEMBER_APPLIED);
    assert_true(triggers_found(c, TRIGGER_WEBHOOK, "POST a").items[0].is_retired);
    assert_int_equal(process_change(c, DEFINITION_UNRETIRE, "order", "", NULL), MEMBER_APPLIED);
    assert_false(triggers_found(c, TRIGGER_WEBHOOK, "POST a").items[0].is_retired);
    assert_int_equal(process_change(c, DEFINITION_ERASE, "order", "", NULL), MEMBER_APPLIED);
    assert_int_equal(triggers_found(c, TRIGGER_WEBHOOK, "POST a").count, 0);
}

static void test_triggers__a_webhook_belongs_to_one_process(void **state)
{
    struct contract *c = *state;
    struct definition_change first, second;
    const char *message;

    assert_int_equal(process_change(c, DEFINITION_PUBLISH, "one", TRIGGERS(WEBHOOK("a")), NULL),
                     MEMBER_APPLIED);
    assert_int_equal(process_change(c, DEFINITION_PUBLISH, "two",
                                    TRIGGERS(WEBHOOK("b") "," WEBHOOK("a")), &message),
                     MEMBER_FAILED);
    assert_string_equal(message, "the webhook 'POST a' of 'two' belongs to the process 'one' "
                                 "already: give it another path");
    assert_int_equal(triggers_found(c, TRIGGER_WEBHOOK, "POST b").count, 0);
    assert_int_equal(ask(c, "scenario")->published.count, 1);
    /* What hangs together may move it, in any order. */
    first = change(DEFINITION_PUBLISH, "scenario", "two", TRIGGERS(WEBHOOK("a")));
    second = change(DEFINITION_PUBLISH, "scenario", "one", "{}");
    first.is_process = second.is_process = true;
    first.next = &second;
    assert_int_equal(apply_all(c, &first, NULL), MEMBER_APPLIED);
    assert_str(triggers_found(c, TRIGGER_WEBHOOK, "POST a").items[0].code, "two");
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, contract_setup, contract_teardown)

static const struct CMUnitTest claims[] = {
    CLAIM(test_definitions__revert_follows_what_was_published),
    CLAIM(test_definitions__put_makes_a_version_when_the_text_differs),
    CLAIM(test_definitions__what_forgets_keeps_one_version),
    CLAIM(test_definitions__changes_that_hang_together_are_all_or_none),
    CLAIM(test_definitions__process_codes_are_unique_across_kinds),
    CLAIM(test_definitions__lists_go_on_behind_a_code),
    CLAIM(test_definitions__the_stamp_grows_with_every_change),
    CLAIM(test_definitions__the_kept_answer_is_that_of_the_change),
    CLAIM(test_triggers__are_those_of_the_published_version),
    CLAIM(test_triggers__a_webhook_belongs_to_one_process),
};

int contract_run_definitions(const char *name)
{
    return _cmocka_run_group_tests(name, claims, ARRAY_SIZE(claims), NULL, NULL);
}
