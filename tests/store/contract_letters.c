/* contract_letters.c - the claims of contract.h: dead letters. */
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "engine/status.h"
#include "engine/stored_execution.h"
#include "store/change_letter.h"
#include "store/change_park.h"
#include "store/change_retention.h"
#include "store/contract.h"
#include "store/read_letter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* --- writing --- */

/* The commit gives something up. */
static struct uuid add_letter(struct contract *c, struct commit *commit, enum letter_kind kind)
{
    struct dead_letter letter = {
        .id = contract_id(c, commit->after->updated_at_us / 1000),
        .kind = str_of(letter_kind_name(kind)),
        .step = STR("pay"),
        .seq = commit->after->seq,
        .attempts = 3,
        .cause_json = STR("{\"code\":\"refused\"}"),
        .payload_json = STR("{\"amount\": 12.50}"),
    };

    *VEC_ADD(&c->mem, &commit->dead_letters) = letter;
    return letter.id;
}

/* An execution that is held. */
static struct commit *hold(struct contract *c, struct uuid *letter)
{
    struct commit *held = contract_start(c, STATUS_WAITING, 2);

    *letter = add_letter(c, held, LETTER_INCIDENT);
    assert_int_equal(contract_commit(c, held), MEMBER_APPLIED);
    return held;
}

static struct member *change(struct contract *c, struct change *what)
{
    struct member *m = ARENA_NEW(&c->mem, struct member);
    struct batch *b;

    *m = (struct member){.kind = MEMBER_CHANGE, .change = what};
    b = contract_batch(c, m, NULL);
    contract_write(c, b);
    return m;
}

static struct member *resolve(struct contract *c, struct uuid id, const char *note)
{
    struct letter_resolve *l = ARENA_NEW(&c->mem, struct letter_resolve);

    *l = (struct letter_resolve){
        .change = {.apply = letter_resolve_apply, .now_us = 1700000000000000},
        .id = id,
        .note = str_of(note),
        .user_id = STR("ann"),
    };
    return change(c, &l->change);
}

static struct member *delete_execution(struct contract *c, struct uuid id, bool closes_letters)
{
    struct execution_delete *d = ARENA_NEW(&c->mem, struct execution_delete);

    *d = (struct execution_delete){
        .change = {.apply = execution_delete_apply}, .id = id, .closes_letters = closes_letters};
    return change(c, &d->change);
}

static struct member *park(struct contract *c, struct uuid id, struct uuid letter)
{
    struct execution_park *p = ARENA_NEW(&c->mem, struct execution_park);

    *p = (struct execution_park){
        .change = {.apply = execution_park_apply, .now_us = 1700000000000000},
        .id = id,
        .letter = letter,
        .cause_json = STR("{\"code\":\"internal_state\"}"),
    };
    return change(c, &p->change);
}

static struct member *unpark(struct contract *c, struct uuid letter)
{
    struct execution_unpark *u = ARENA_NEW(&c->mem, struct execution_unpark);

    *u = (struct execution_unpark){
        .change = {.apply = execution_unpark_apply, .now_us = 1700000000000000},
        .letter = letter,
        .user_id = STR("ann"),
    };
    return change(c, &u->change);
}

/* --- reading --- */

struct one {
    struct uuid id;
    struct stored_letter letter;
    bool found;
};

static void load_one(struct contract *c, struct reader *r, void *context)
{
    struct one *one = context;
    struct err err;

    assert_true(read_letter(r, &c->mem, one->id, &one->letter, &one->found, &err));
}

static struct stored_letter letter(struct contract *c, struct uuid id)
{
    struct one one = {.id = id};

    contract_read(c, load_one, &one);
    assert_true(one.found);
    return one.letter;
}

static bool exists(struct contract *c, struct uuid id)
{
    struct one one = {.id = id};

    contract_read(c, load_one, &one);
    return one.found;
}

static void load_count(struct contract *c, struct reader *r, void *context)
{
    struct err err;

    (void)c;
    assert_true(read_open_letters(r, context, &err));
}

static int64_t open_letters(struct contract *c)
{
    int64_t count;

    contract_read(c, load_count, &count);
    return count;
}

struct list {
    struct letter_filter filter;
    struct stored_letters all;
    unsigned pages;
};

/* Page by page, newest first, each once. */
static void load_list(struct contract *c, struct reader *r, void *context)
{
    struct list *list = context;
    struct stored_letters page;
    struct str next;
    struct err err;

    if (list->filter.limit == 0)
        list->filter.limit = 100;
    do {
        assert_true(read_letters(r, &c->mem, &list->filter, &page, &next, &err));
        assert_true((int64_t)page.count <= list->filter.limit);
        for (size_t i = 0; i < page.count; i++) {
            assert_true(list->all.count == 0 ||
                        page.items[i].row < list->all.items[list->all.count - 1].row);
            *VEC_ADD(&c->mem, &list->all) = page.items[i];
        }
        list->filter.cursor = next;
        list->pages++;
    } while (next.len > 0);
}

static size_t count_letters(struct contract *c, struct letter_filter filter)
{
    struct list list = {.filter = filter};

    contract_read(c, load_list, &list);
    return list.all.count;
}

/* --- claims --- */

static void test_store__dead_letter_is_stored_with_its_commit(void **state)
{
    struct contract *c = *state;
    struct uuid id;
    struct commit *held = hold(c, &id);
    struct stored_letter l = letter(c, id);

    assert_int_equal(uuid_cmp(l.id, id), 0);
    assert_int_equal(uuid_cmp(l.execution, held->after->id), 0);
    assert_str(l.kind, "incident");
    assert_str(l.step, "pay");
    assert_true(str_eq(l.code, held->after->program->code));
    assert_str(l.org_id, "org-1");
    assert_int_equal(l.attempts, 3);
    assert_str(l.cause_json, "{\"code\":\"refused\"}");
    assert_str(l.payload_json, "{\"amount\": 12.50}");
    assert_int_equal(l.status, LETTER_OPEN);
    assert_int_equal(l.created_at_us, held->after->updated_at_us);
    assert_int_equal(l.resolved_at_us, 0);
    assert_int_equal(open_letters(c), 1);
}

static void test_store__refused_commit_leaves_no_dead_letter(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct commit *first, *second;
    struct uuid id;

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    first = contract_advance(c, start, STATUS_WAITING, 1);
    second = contract_advance(c, start, STATUS_WAITING, 1);
    id = add_letter(c, second, LETTER_INCIDENT);
    second->incident.status = LETTER_RESOLVED;
    assert_int_equal(contract_commit(c, first), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, second), MEMBER_STALE);
    assert_false(exists(c, id));
    assert_int_equal(open_letters(c), 0);
}

static void test_store__incident_is_closed_by_the_commit_that_ends_it(void **state)
{
    struct contract *c = *state;
    const struct audit audit = {.user_id = STR("ann"), .action = STR("execution.retry")};
    struct uuid first, again, compensation, other;
    struct commit *held = hold(c, &first);
    struct commit *retried = contract_advance(c, held, STATUS_WAITING, 2), *cancelled;
    struct member *m = contract_member(c, retried);

    (void)hold(c, &other);
    m->audit = &audit;
    retried->incident.status = LETTER_RETRIED;
    again = add_letter(c, retried, LETTER_INCIDENT);
    compensation = add_letter(c, retried, LETTER_COMPENSATION);
    contract_write(c, contract_batch(c, m, NULL));
    assert_int_equal(m->result, MEMBER_APPLIED);
    assert_int_equal(letter(c, first).status, LETTER_RETRIED);
    assert_int_equal(letter(c, first).resolved_at_us, retried->after->updated_at_us);
    assert_str(letter(c, first).resolved_by, "ann");
    assert_int_equal(letter(c, again).status, LETTER_OPEN);
    assert_int_equal(letter(c, other).status, LETTER_OPEN);
    assert_int_equal(open_letters(c), 3);
    cancelled = contract_advance(c, retried, STATUS_CANCELLED, 1);
    cancelled->incident.status = LETTER_RESOLVED;
    assert_int_equal(contract_commit(c, cancelled), MEMBER_APPLIED);
    assert_int_equal(letter(c, first).status, LETTER_RETRIED);
    assert_int_equal(letter(c, again).status, LETTER_RESOLVED);
    assert_int_equal(letter(c, compensation).status, LETTER_OPEN);
    assert_int_equal(open_letters(c), 2);
}

static void test_store__incidents_of_several_strands_are_closed_one_by_one(void **state)
{
    struct contract *c = *state;
    struct uuid first, second, elsewhere;
    struct commit *held = contract_start(c, STATUS_WAITING, 2), *retried;

    first = add_letter(c, held, LETTER_INCIDENT);
    elsewhere = add_letter(c, held, LETTER_INCIDENT);
    held->dead_letters.items[1].step = STR("ship");
    second = add_letter(c, held, LETTER_RECONCILE);
    assert_int_equal(contract_commit(c, held), MEMBER_APPLIED);
    retried = contract_advance(c, held, STATUS_WAITING, 1);
    retried->incident.status = LETTER_RETRIED;
    *VEC_ADD(&c->mem, &retried->incident.steps) = STR("pay");
    assert_int_equal(contract_commit(c, retried), MEMBER_APPLIED);
    /* The oldest of the step, and nothing else. */
    assert_int_equal(letter(c, first).status, LETTER_RETRIED);
    assert_int_equal(letter(c, second).status, LETTER_OPEN);
    assert_int_equal(letter(c, elsewhere).status, LETTER_OPEN);
    assert_int_equal(open_letters(c), 2);
}

static void test_store__letter_of_a_step_in_doubt_is_closed_with_a_note(void **state)
{
    struct contract *c = *state;
    struct commit *parked = contract_start(c, STATUS_WAITING, 2), *notice;
    struct uuid id = add_letter(c, parked, LETTER_RECONCILE);

    assert_int_equal(contract_commit(c, parked), MEMBER_APPLIED);
    notice = contract_advance(c, parked, STATUS_COMPLETED, 1);
    notice->incident.status = LETTER_RESOLVED;
    notice->incident.note = STR("seen at the bank");
    assert_int_equal(contract_commit(c, notice), MEMBER_APPLIED);
    assert_int_equal(letter(c, id).status, LETTER_RESOLVED);
    assert_str(letter(c, id).note, "seen at the bank");
    assert_int_equal(open_letters(c), 0);
}

static void test_store__letter_of_a_rollback_is_closed_by_the_commit_that_tries_again(void **state)
{
    struct contract *c = *state;
    struct commit *ended = contract_start(c, STATUS_CANCELLED, 2), *opened;
    struct uuid id = add_letter(c, ended, LETTER_COMPENSATION), again;
    struct uuid other = add_letter(c, ended, LETTER_COMPENSATION);

    assert_int_equal(contract_commit(c, ended), MEMBER_APPLIED);
    opened = contract_advance(c, ended, STATUS_COMPENSATING, 1);
    opened->retries_letter = true;
    opened->retried_letter = id;
    again = add_letter(c, opened, LETTER_COMPENSATION);
    assert_int_equal(contract_commit(c, opened), MEMBER_APPLIED);
    assert_int_equal(letter(c, id).status, LETTER_RETRIED);
    assert_int_equal(letter(c, other).status, LETTER_OPEN);
    assert_int_equal(letter(c, again).status, LETTER_OPEN);
    assert_int_equal(open_letters(c), 2);
}

static void test_store__open_dead_letter_is_resolved_once(void **state)
{
    struct contract *c = *state;
    struct uuid id;
    struct member *m;

    (void)hold(c, &id);
    assert_int_equal(resolve(c, id, "paid by hand")->result, MEMBER_APPLIED);
    assert_int_equal(letter(c, id).status, LETTER_RESOLVED);
    assert_str(letter(c, id).note, "paid by hand");
    assert_str(letter(c, id).resolved_by, "ann");
    assert_int_equal(letter(c, id).resolved_at_us, 1700000000000000);
    assert_int_equal(open_letters(c), 0);
    m = resolve(c, id, "again");
    assert_int_equal(m->result, MEMBER_FAILED);
    assert_int_equal(m->err.code, ERR_CONFLICT);
    assert_str(letter(c, id).note, "paid by hand");
    m = resolve(c, contract_id(c, 1), "no such letter");
    assert_int_equal(m->result, MEMBER_FAILED);
    assert_int_equal(m->err.code, ERR_NOT_FOUND);
    assert_int_equal(open_letters(c), 0);
}

static void test_store__dead_letters_go_with_their_execution(void **state)
{
    struct contract *c = *state;
    struct commit *failed = contract_start(c, STATUS_FAILED, 4);
    struct uuid open = add_letter(c, failed, LETTER_COMPENSATION);
    struct uuid closed = add_letter(c, failed, LETTER_COMPENSATION);
    struct uuid other;

    (void)hold(c, &other);
    assert_int_equal(contract_commit(c, failed), MEMBER_APPLIED);
    assert_int_equal(resolve(c, closed, "done")->result, MEMBER_APPLIED);
    assert_int_equal(open_letters(c), 2);
    assert_int_equal(delete_execution(c, failed->after->id, false)->err.code, ERR_LETTER_OPEN);
    assert_int_equal(delete_execution(c, failed->after->id, true)->result, MEMBER_APPLIED);
    assert_false(exists(c, open));
    assert_false(exists(c, closed));
    assert_true(exists(c, other));
    assert_int_equal(open_letters(c), 1);
}

static void test_store__dead_letters_are_found_by_what_they_are(void **state)
{
    struct contract *c = *state;
    struct commit *failed = contract_start(c, STATUS_FAILED, 4);
    struct uuid held_letter;
    struct commit *held = hold(c, &held_letter);
    struct uuid closed = add_letter(c, failed, LETTER_COMPENSATION);
    struct str code = held->after->program->code;
    int64_t at_us = held->after->updated_at_us;

    (void)add_letter(c, failed, LETTER_COMPENSATION);
    failed->after->updated_at_us += 60000000;
    assert_int_equal(contract_commit(c, failed), MEMBER_APPLIED);
    assert_int_equal(resolve(c, closed, "done")->result, MEMBER_APPLIED);
#define FOUND(...) count_letters(c, (struct letter_filter){__VA_ARGS__})
    assert_int_equal(FOUND(.limit = 10), 3);
    assert_int_equal(FOUND(.has_status = true, .status = LETTER_OPEN), 2);
    assert_int_equal(FOUND(.has_status = true, .status = LETTER_RESOLVED), 1);
    assert_int_equal(FOUND(.has_status = true, .status = LETTER_RETRIED), 0);
    assert_int_equal(FOUND(.kind = STR("compensation")), 2);
    assert_int_equal(FOUND(.kind = STR("compensation"), .has_status = true, .status = LETTER_OPEN),
                     1);
    assert_int_equal(FOUND(.code = code), 3);
    assert_int_equal(FOUND(.code = STR("other")), 0);
    assert_int_equal(FOUND(.code = STR("other"), .has_status = true, .status = LETTER_OPEN), 0);
    assert_int_equal(FOUND(.org_id = STR("org-1")), 3);
    assert_int_equal(FOUND(.org_id = STR("org-2")), 0);
    assert_int_equal(FOUND(.has_execution = true, .execution = failed->after->id), 2);
    assert_int_equal(FOUND(.has_execution = true, .execution = contract_id(c, 1)), 0);
    assert_int_equal(FOUND(.from_us = at_us + 1), 2);
    assert_int_equal(FOUND(.to_us = at_us), 1);
    assert_int_equal(FOUND(.from_us = at_us + 1, .to_us = at_us + 2), 0);
#undef FOUND
}

static void test_store__dead_letters_are_listed_in_pages(void **state)
{
    struct contract *c = *state;
    struct list all = {.filter = {.limit = 2}};
    struct list few = {.filter = {.kind = STR("compensation"), .limit = 5}};
    struct uuid id;

    for (unsigned i = 0; i < 31; i++) {
        struct commit *x = contract_start(c, STATUS_WAITING, 1);

        id = add_letter(c, x, i % 10 == 0 ? LETTER_COMPENSATION : LETTER_INCIDENT);
        assert_int_equal(contract_commit(c, x), MEMBER_APPLIED);
    }
    contract_read(c, load_list, &all);
    assert_int_equal(all.all.count, 31);
    assert_true(all.pages >= 16);
    assert_int_equal(uuid_cmp(all.all.items[0].id, id), 0);
    contract_read(c, load_list, &few);
    assert_int_equal(few.all.count, 4);
}

static void refuse_cursor(struct contract *c, struct reader *r, void *context)
{
    struct letter_filter filter = {.cursor = STR("nonsense"), .limit = 10};
    struct stored_letters page;
    struct str next;
    struct err err;

    (void)context;
    assert_false(read_letters(r, &c->mem, &filter, &page, &next, &err));
    assert_int_equal(err.code, ERR_BAD_REQUEST);
}

static void test_store__cursor_of_dead_letters_that_is_none_is_refused(void **state)
{
    contract_read(*state, refuse_cursor, NULL);
}

/* --- what cannot go on --- */

static void test_store__parked_execution_has_one_letter_until_it_is_tried_again(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1);
    struct uuid id = start->after->id, first = contract_id(c, 901), second = contract_id(c, 902);
    int64_t open = open_letters(c);

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    assert_int_equal(park(c, id, first)->result, MEMBER_APPLIED);
    assert_int_equal(park(c, id, second)->result, MEMBER_APPLIED);
    assert_int_equal(contract_load(c, id)->crash_count, CRASHES_MAX);
    assert_int_equal(open_letters(c), open + 1);
    assert_true(exists(c, first));
    assert_false(exists(c, second));
    assert_string_equal(letter(c, first).kind.ptr, "execution");
    /* Who has it in memory as it was is refused. */
    assert_int_equal(contract_commit(c, contract_advance(c, start, STATUS_WAITING, 1)),
                     MEMBER_STALE);
    assert_int_equal(unpark(c, first)->result, MEMBER_APPLIED);
    assert_int_equal(contract_load(c, id)->crash_count, 0);
    assert_int_equal(letter(c, first).status, LETTER_RETRIED);
    assert_int_equal(open_letters(c), open);
    assert_int_equal(unpark(c, first)->err.code, ERR_CONFLICT);
    assert_int_equal(unpark(c, second)->err.code, ERR_NOT_FOUND);
    /* A letter that was dealt with does nothing to what is parked again. */
    assert_int_equal(park(c, id, second)->result, MEMBER_APPLIED);
    assert_int_equal(unpark(c, first)->err.code, ERR_CONFLICT);
    assert_int_equal(contract_load(c, id)->crash_count, CRASHES_MAX);
    assert_int_equal(open_letters(c), open + 1);
}

static void test_store__commit_of_a_parked_execution_resolves_its_letter(void **state)
{
    struct contract *c = *state;
    struct commit *start = contract_start(c, STATUS_WAITING, 1), *cancel;
    struct uuid id = start->after->id;
    int64_t open = open_letters(c);
    struct member crash = {.kind = MEMBER_CRASH,
                           .crashed = id,
                           .crashed_letter = contract_id(c, 903),
                           .crashed_at_us = 1700000000000000};

    assert_int_equal(contract_commit(c, start), MEMBER_APPLIED);
    for (int i = 0; i < CRASHES_MAX; i++) {
        assert_int_equal(open_letters(c), open);
        contract_write(c, contract_batch(c, &crash, NULL));
    }
    assert_int_equal(open_letters(c), open + 1);
    assert_int_equal(letter(c, crash.crashed_letter).attempts, CRASHES_MAX);
    cancel = contract_advance(c, start, STATUS_CANCELLED, 1);
    cancel->ends_parking = true;
    assert_int_equal(contract_commit(c, cancel), MEMBER_APPLIED);
    assert_int_equal(letter(c, crash.crashed_letter).status, LETTER_RESOLVED);
    assert_int_equal(open_letters(c), open);
    assert_int_equal(park(c, id, contract_id(c, 904))->result, MEMBER_APPLIED);
    assert_int_equal(open_letters(c), open);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, contract_setup, contract_teardown)

static const struct CMUnitTest claims[] = {
    CLAIM(test_store__dead_letter_is_stored_with_its_commit),
    CLAIM(test_store__refused_commit_leaves_no_dead_letter),
    CLAIM(test_store__incident_is_closed_by_the_commit_that_ends_it),
    CLAIM(test_store__incidents_of_several_strands_are_closed_one_by_one),
    CLAIM(test_store__letter_of_a_step_in_doubt_is_closed_with_a_note),
    CLAIM(test_store__letter_of_a_rollback_is_closed_by_the_commit_that_tries_again),
    CLAIM(test_store__open_dead_letter_is_resolved_once),
    CLAIM(test_store__parked_execution_has_one_letter_until_it_is_tried_again),
    CLAIM(test_store__commit_of_a_parked_execution_resolves_its_letter),
    CLAIM(test_store__dead_letters_go_with_their_execution),
    CLAIM(test_store__dead_letters_are_found_by_what_they_are),
    CLAIM(test_store__dead_letters_are_listed_in_pages),
    CLAIM(test_store__cursor_of_dead_letters_that_is_none_is_refused),
};

int contract_run_letters(const char *name)
{
    return _cmocka_run_group_tests(name, claims, ARRAY_SIZE(claims), NULL, NULL);
}
