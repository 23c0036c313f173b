/* contract_signals.c - the claims of contract.h: waits and signals that a correlation joins. */
#include "engine/commit/commit.h"
#include "engine/signals.h"
#include "engine/stored_execution.h"
#include "store/change_retention.h"
#include "store/change_signal.h"
#include "store/contract.h"
#include "store/read_signal.h"
#include "value/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define NOW INT64_C(1700000000000000)
#define HOUR (INT64_C(3600) * 1000000)

/* --- writing --- */

static struct member *change(struct contract *c, struct change *what)
{
    struct member *m = ARENA_NEW(&c->mem, struct member);

    *m = (struct member){.kind = MEMBER_CHANGE, .change = what};
    contract_write(c, contract_batch(c, m, NULL));
    return m;
}

static struct correlated_signal *signal_of(struct contract *c, const char *id, const char *type)
{
    struct correlated_signal *s = ARENA_NEW(&c->mem, struct correlated_signal);

    *s = (struct correlated_signal){
        .org_id = STR("org-1"), /* as contract_start() has it */
        .id = str_of(id),
        .type = str_of(type),
        .correlation = STR("o-1"),
        .has_own_id = true,
        .digest = str_printf(&c->mem, "%s %s", id, type),
        .payload_json = STR("{\"sum\": 5}"),
        .by_json = STR("{\"id\":\"ann\"}"),
        .sender_json = STR("{\"role\":\"operator\",\"groups\":[]}"),
        .received_at_us = NOW,
        .expires_at_us = NOW + HOUR,
    };
    return s;
}

static struct member *keep_of(struct contract *c, const struct correlated_signal *s,
                              int64_t waits_up_to)
{
    struct signal_keep *k = ARENA_NEW(&c->mem, struct signal_keep);
    struct member *m = ARENA_NEW(&c->mem, struct member);

    *k = (struct signal_keep){.change = {.apply = signal_keep_apply, .now_us = s->received_at_us},
                              .waits_up_to = waits_up_to};
    *m = (struct member){.kind = MEMBER_CHANGE, .change = &k->change, .correlated = s};
    return m;
}

static struct member *keep_member(struct contract *c, const struct correlated_signal *s,
                                  int64_t waits_up_to)
{
    struct member *m = keep_of(c, s, waits_up_to);

    contract_write(c, contract_batch(c, m, NULL));
    return m;
}

static enum member_result keep(struct contract *c, const char *id, const char *type)
{
    return keep_member(c, signal_of(c, id, type), 0)->result;
}

static struct listed_wait wait_of(const char *types, int64_t buffered_up_to)
{
    return (struct listed_wait){.step = STR("pay"),
                                .visit = 1,
                                .correlation = STR("o-1"),
                                .types_json = str_of(types),
                                .buffered_up_to = buffered_up_to};
}

/* A start that waits for "o-1". */
static struct commit *waiting(struct contract *c, const char *types, int64_t buffered_up_to)
{
    struct commit *start = contract_start(c, STATUS_WAITING, 1);

    start->after->updated_at_us = NOW;
    *VEC_ADD(&c->mem, &start->opened) = wait_of(types, buffered_up_to);
    return start;
}

/* It takes what is kept in this row. */
static void take(struct contract *c, struct commit *commit, int64_t row, const char *id)
{
    struct signal *s = ARENA_NEW(&c->mem, struct signal);
    struct err err;

    *s = (struct signal){.id = str_of(id), .type = STR("paid"), .received_at_us = NOW, .seq = 1};
    assert_true(json_read(&c->mem, STR("{\"payload\":{\"sum\":5}}"), &s->view, &err));
    *VEC_ADD(&c->mem, &commit->buffered_taken) = (struct buffered_take){.row = row, .signal = s};
}

/* --- reading --- */

struct look {
    struct str org_id;
    const char *type, *id;
    int64_t now_us, execution, last_row, count;
    struct stored_buffered_signals buffered;
    struct open_wait wait;
    struct known_signal known;
    bool is_found, is_known, has_expired;
};

static void load(struct contract *c, struct reader *r, void *context)
{
    struct look *l = context;
    struct err err;

    assert_true(read_buffered_signals(r, &c->mem, l->org_id, STR("o-1"), l->execution, l->now_us,
                                      &l->buffered, &l->last_row, &err));
    assert_true(read_wait(r, &c->mem, l->org_id, STR("o-1"), str_of(l->type), l->wait.row, &l->wait,
                          &l->is_found, &err));
    assert_true(read_correlated(r, &c->mem, l->org_id, str_of(l->id), l->now_us, &l->known,
                                &l->is_known, &err));
    assert_true(read_expired(r, l->now_us, &l->has_expired, &err));
    assert_true(read_buffered_count(r, &l->count, &err));
}

static struct look look_as(struct contract *c, struct look l)
{
    if (l.org_id.len == 0)
        l.org_id = STR("org-1");
    if (l.type == NULL)
        l.type = "paid";
    if (l.id == NULL)
        l.id = "a";
    if (l.now_us == 0)
        l.now_us = NOW;
    contract_read(c, load, &l);
    return l;
}

static struct look look(struct contract *c)
{
    return look_as(c, (struct look){0});
}

/* --- claims --- */

static void test_store__signal_is_kept_for_its_wait(void **state)
{
    struct contract *c = *state;
    struct look l;

    assert_int_equal(keep(c, "a", "paid"), MEMBER_APPLIED);
    assert_int_equal(keep(c, "b", "other"), MEMBER_APPLIED);
    contract_reopen(c);
    l = look(c);
    assert_int_equal(l.buffered.count, 2);
    assert_int_equal(l.count, 2);
    assert_int_equal(l.buffered.items[1].buffered.row, l.last_row);
    assert_true(l.buffered.items[0].buffered.row < l.last_row);
    assert_str(l.buffered.items[0].buffered.signal.id, "a");
    assert_str(l.buffered.items[0].buffered.signal.type, "paid");
    assert_int_equal(l.buffered.items[0].buffered.signal.received_at_us, NOW);
    assert_int_equal(value_map_get_str(l.buffered.items[0].buffered.signal.payload, STR("sum")).i,
                     5);
    assert_str(value_text(value_map_get_str(l.buffered.items[0].sender, STR("role"))), "operator");
    assert_true(l.is_known && !l.known.is_delivered);
    /* Another organisation sees nothing of it. */
    l = look_as(c, (struct look){.org_id = STR("other")});
    assert_int_equal(l.buffered.count, 0);
    assert_false(l.is_known);
}

static void test_store__wait_takes_what_is_kept_once(void **state)
{
    struct contract *c = *state;
    struct commit *first = contract_start(c, STATUS_WAITING, 1);
    struct commit *second = contract_start(c, STATUS_WAITING, 1);
    struct look l;

    assert_int_equal(keep(c, "a", "paid"), MEMBER_APPLIED);
    l = look(c);
    take(c, first, l.last_row, "a");
    take(c, second, l.last_row, "a");
    assert_int_equal(contract_commit(c, first), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, second), MEMBER_BUFFERED_STALE);
    assert_null(contract_load(c, second->after->id));
    l = look(c);
    assert_int_equal(l.buffered.count, 0);
    assert_int_equal(l.count, 0);
    assert_true(l.is_known && l.known.is_delivered);
    assert_int_equal(uuid_cmp(l.known.execution, first->after->id), 0);
    /* The execution has it among its signals. */
    first = contract_advance(c, first, STATUS_WAITING, 1);
    first->received = ARENA_NEW(&c->mem, struct signal);
    *(struct signal *)first->received =
        (struct signal){.id = STR("a"), .type = STR("other"), .seq = 2};
    assert_int_equal(contract_commit(c, first), MEMBER_SIGNAL_DIFFERS);
}

static void test_store__wait_that_has_not_seen_a_kept_signal_is_refused(void **state)
{
    struct contract *c = *state;
    struct look l;

    assert_int_equal(keep(c, "a", "paid"), MEMBER_APPLIED);
    l = look(c);
    assert_int_equal(contract_commit(c, waiting(c, "[\"go\",\"paid\"]", 0)), MEMBER_BUFFERED_STALE);
    assert_false(look(c).is_found);
    /* It has looked; it is for another type; it wants new ones only. */
    assert_int_equal(contract_commit(c, waiting(c, "\"paid\"", l.last_row)), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, waiting(c, "\"pai\"", 0)), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, waiting(c, "\"paid\"", INT64_MAX)), MEMBER_APPLIED);
}

static void test_store__row_of_a_kept_signal_is_not_given_twice(void **state)
{
    struct contract *c = *state;
    struct signal_purge purge = {.change = {.apply = signal_purge_apply, .now_us = NOW + 2 * HOUR},
                                 .limit = 10};
    int64_t seen;

    assert_int_equal(keep(c, "a", "paid"), MEMBER_APPLIED);
    seen = look(c).last_row;
    assert_int_equal(change(c, &purge.change)->result, MEMBER_APPLIED);
    assert_int_equal(keep(c, "b", "paid"), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, waiting(c, "\"paid\"", seen)), MEMBER_BUFFERED_STALE);
}

static void test_store__signal_that_has_not_asked_a_wait_is_not_kept(void **state)
{
    struct contract *c = *state;
    struct commit *start = waiting(c, "[\"go\",\"paid\"]", 0), *end;
    struct look l;

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(keep(c, "a", "paid"), MEMBER_STALE);
    l = look(c);
    assert_true(l.is_found);
    assert_int_equal(uuid_cmp(l.wait.execution, start->after->id), 0);
    assert_int_equal(l.count, 0);
    assert_false(l.is_known);
    /* Another type is none of its business, and one that it did not take is kept. */
    assert_int_equal(keep(c, "b", "other"), MEMBER_APPLIED);
    assert_int_equal(keep_member(c, signal_of(c, "a", "paid"), l.wait.row)->result, MEMBER_APPLIED);
    /* The wait ends; the next one is a later one, whatever is deleted. */
    end = contract_advance(c, start, STATUS_COMPLETED, 1);
    *VEC_ADD(&c->mem, &end->closed) = wait_of("", 0);
    assert_int_equal(contract_commit(c, end), MEMBER_APPLIED);
    assert_false(look(c).is_found);
    assert_int_equal(contract_commit(c, waiting(c, "\"paid\"", INT64_MAX)), MEMBER_APPLIED);
    assert_int_equal(keep_member(c, signal_of(c, "c", "paid"), l.wait.row)->result, MEMBER_STALE);
}

static void test_store__oldest_wait_is_found_first(void **state)
{
    struct contract *c = *state;
    struct commit *first = waiting(c, "\"paid\"", 0), *second = waiting(c, "\"paid\"", 0);
    struct look l;

    assert_int_equal(contract_commit(c, first), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, second), MEMBER_APPLIED);
    l = look(c);
    assert_int_equal(uuid_cmp(l.wait.execution, first->after->id), 0);
    l = look_as(c, (struct look){.wait = l.wait});
    assert_int_equal(uuid_cmp(l.wait.execution, second->after->id), 0);
    l = look_as(c, (struct look){.wait = l.wait});
    assert_false(l.is_found);
    assert_false(look_as(c, (struct look){.type = "pai"}).is_found);
    assert_false(look_as(c, (struct look){.org_id = STR("other")}).is_found);
}

static void test_store__signal_by_correlation_is_delivered_once(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct commit *other = contract_start(c, STATUS_WAITING, 1);
    struct member *m;
    struct look l;

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, other), MEMBER_APPLIED);
    m = contract_member(c, contract_advance(c, start, STATUS_WAITING, 1));
    m->correlated = signal_of(c, "a", "paid");
    contract_write(c, contract_batch(c, m, NULL));
    assert_int_equal(m->result, MEMBER_APPLIED);
    l = look_as(c, (struct look){.now_us = NOW + 23 * HOUR});
    assert_true(l.is_known && l.known.is_delivered);
    assert_int_equal(l.count, 0);

    m = contract_member(c, contract_advance(c, other, STATUS_WAITING, 1));
    m->correlated = signal_of(c, "a", "paid");
    contract_write(c, contract_batch(c, m, NULL));
    assert_int_equal(m->result, MEMBER_SIGNAL_KNOWN);
    assert_true(m->has_holder);
    assert_int_equal(uuid_cmp(m->holder, start->after->id), 0);
    m->correlated = signal_of(c, "a", "other");
    contract_write(c, contract_batch(c, m, NULL));
    assert_int_equal(m->result, MEMBER_SIGNAL_DIFFERS);
    assert_int_equal(contract_load(c, other->after->id)->row_version, 1);
    /* Nor is it kept. */
    m = keep_member(c, signal_of(c, "a", "paid"), 0);
    assert_int_equal(m->result, MEMBER_SIGNAL_KNOWN);
    assert_int_equal(uuid_cmp(m->holder, start->after->id), 0);
}

static void test_store__kept_signal_is_known_until_it_expires(void **state)
{
    struct contract *c = *state;
    struct correlated_signal *late = signal_of(c, "a", "other");
    struct member *m;

    assert_int_equal(keep(c, "a", "paid"), MEMBER_APPLIED);
    m = keep_member(c, signal_of(c, "a", "paid"), 0);
    assert_int_equal(m->result, MEMBER_SIGNAL_KNOWN);
    assert_false(m->has_holder);
    assert_int_equal(keep(c, "a", "other"), MEMBER_SIGNAL_DIFFERS);
    assert_int_equal(look(c).count, 1);

    assert_int_equal(look_as(c, (struct look){.now_us = NOW + HOUR}).buffered.count, 0);
    assert_false(look_as(c, (struct look){.now_us = NOW + HOUR}).is_known);
    late->received_at_us = NOW + HOUR;
    late->expires_at_us = NOW + 2 * HOUR;
    assert_int_equal(keep_member(c, late, 0)->result, MEMBER_APPLIED);
    assert_int_equal(look(c).count, 1);
}

static void test_store__what_has_expired_is_purged_in_parts(void **state)
{
    struct contract *c = *state;
    struct signal_purge purge = {.change = {.apply = signal_purge_apply, .now_us = NOW + HOUR},
                                 .limit = 2};
    struct member *m;

    for (int i = 0; i < 3; i++)
        assert_int_equal(keep(c, str_printf(&c->mem, "k%d", i).ptr, "paid"), MEMBER_APPLIED);
    m = contract_member(c, contract_start(c, STATUS_WAITING, 1));
    m->correlated = signal_of(c, "a", "paid");
    contract_write(c, contract_batch(c, m, NULL));
    assert_int_equal(m->result, MEMBER_APPLIED);

    assert_false(look_as(c, (struct look){.now_us = NOW + HOUR - 1}).has_expired);
    assert_true(look_as(c, (struct look){.now_us = NOW + HOUR}).has_expired);
    assert_int_equal(change(c, &purge.change)->result, MEMBER_APPLIED);
    assert_true(purge.purged >= 2);
    assert_int_equal(change(c, &purge.change)->result, MEMBER_APPLIED);
    assert_int_equal(look(c).count, 0);
    assert_false(look_as(c, (struct look){.now_us = NOW + HOUR}).has_expired);
    /* One that was delivered is known for a day. */
    assert_true(look(c).is_known);
    purge.change.now_us = NOW + 24 * HOUR;
    assert_int_equal(change(c, &purge.change)->result, MEMBER_APPLIED);
    assert_false(look(c).is_known);
}

static void test_store__too_many_are_not_kept(void **state)
{
    struct contract *c = *state;
    struct correlated_signal *large = signal_of(c, "large", "paid");
    char *text = arena_alloc(&c->mem, KEPT_BYTES_MAX);
    struct batch *b = contract_batch(c, NULL);
    struct member *m = NULL;

    memset(text, 'x', KEPT_BYTES_MAX);
    text[0] = text[KEPT_BYTES_MAX - 1] = '"';
    large->payload_json = str_from(text, KEPT_BYTES_MAX);
    assert_int_equal(keep_member(c, large, 0)->result, MEMBER_APPLIED);
    assert_int_equal(keep(c, "next", "paid"), MEMBER_FAILED);
    assert_int_equal(look(c).count, 1);

    for (int i = 0; i <= BUFFERED_SIGNALS_MAX; i++) {
        struct correlated_signal *s = signal_of(c, str_printf(&c->mem, "s%d", i).ptr, "paid");

        s->correlation = STR("o-2");
        m = keep_of(c, s, 0);
        *VEC_ADD(&b->mem, &b->members) = m;
    }
    contract_write(c, b);
    assert_int_equal(m->result, MEMBER_FAILED);
    assert_int_equal(m->err.code, ERR_CONFLICT);
    assert_int_equal(look(c).count, 1 + BUFFERED_SIGNALS_MAX);
}

static void test_store__deleted_execution_leaves_no_wait(void **state)
{
    struct contract *c = *state;
    struct commit *start = waiting(c, "\"paid\"", 0);
    struct execution_delete d = {.change = {.apply = execution_delete_apply}};

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    /* A version that knows nothing of waits has ended it. */
    assert_int_equal(contract_commit(c, contract_advance(c, start, STATUS_COMPLETED, 1)),
                     MEMBER_APPLIED);
    d.id = start->after->id;
    assert_int_equal(change(c, &d.change)->result, MEMBER_APPLIED);
    assert_false(look(c).is_found);
}

static void test_store__refused_commit_opens_no_wait(void **state)
{
    struct contract *c = *state;
    struct commit *start = waiting(c, "\"paid\"", 0);
    struct commit *stale;

    start->opened.count = 0;
    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(keep(c, "a", "paid"), MEMBER_APPLIED);
    stale = contract_advance(c, start, STATUS_WAITING, 1);
    stale->read_version = 7;
    *VEC_ADD(&c->mem, &stale->opened) = wait_of("\"paid\"", INT64_MAX);
    take(c, stale, look(c).last_row, "a");
    assert_int_equal(contract_commit(c, stale), MEMBER_STALE);
    assert_false(look(c).is_found);
    assert_int_equal(look(c).buffered.count, 1);
}

/* --- for other tests of stores --- */

struct member *contract_keep(struct contract *c, struct str correlation)
{
    struct correlated_signal *s = signal_of(c, correlation.ptr, "paid");

    s->correlation = correlation;
    return keep_of(c, s, 0);
}

struct member *contract_wait(struct contract *c, struct str correlation)
{
    struct commit *start = waiting(c, "\"paid\"", 0);

    start->opened.items[0].correlation = correlation;
    return contract_member(c, start);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, contract_setup, contract_teardown)

static const struct CMUnitTest claims[] = {
    CLAIM(test_store__signal_is_kept_for_its_wait),
    CLAIM(test_store__wait_takes_what_is_kept_once),
    CLAIM(test_store__wait_that_has_not_seen_a_kept_signal_is_refused),
    CLAIM(test_store__row_of_a_kept_signal_is_not_given_twice),
    CLAIM(test_store__signal_that_has_not_asked_a_wait_is_not_kept),
    CLAIM(test_store__oldest_wait_is_found_first),
    CLAIM(test_store__signal_by_correlation_is_delivered_once),
    CLAIM(test_store__kept_signal_is_known_until_it_expires),
    CLAIM(test_store__what_has_expired_is_purged_in_parts),
    CLAIM(test_store__too_many_are_not_kept),
    CLAIM(test_store__deleted_execution_leaves_no_wait),
    CLAIM(test_store__refused_commit_opens_no_wait),
};

int contract_run_signals(const char *name)
{
    return _cmocka_run_group_tests(name, claims, ARRAY_SIZE(claims), NULL, NULL);
}
