/* contract_jobs.c - the claims of contract.h: jobs, and who has them. */
#include "engine/commit/commit.h"
#include "engine/execution.h"
#include "store/change_park.h"
#include "store/contract.h"
#include "store/read_job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define NOW INT64_C(1700000000000000)
#define MINUTE INT64_C(60000000)

/* --- writing --- */

/* An execution that waits for a worker: its last row is the attempt. */
static struct commit *ask_worker(struct contract *c, const char *type, struct uuid *id)
{
    struct commit *commit = contract_start(c, STATUS_WAITING, 2);

    *id = contract_id(c, commit->after->updated_at_us / 1000);
    *VEC_ADD(&c->mem, &commit->asks) =
        (struct ask){.kind = ASK_JOB, .seq = commit->after->seq, .type = str_of(type), .id = *id};
    assert_int_equal(contract_commit(c, commit), MEMBER_APPLIED);
    return commit;
}

/* The attempt of `before` has an end. */
static struct member *end_attempt(struct contract *c, const struct commit *before,
                                  enum ask_result how)
{
    struct commit *commit = contract_advance(c, before, STATUS_COMPLETED, 1);

    *VEC_ADD(&c->mem, &commit->asks_ended) = (struct ask_end){
        .kind = ASK_JOB, .seq = before->after->seq, .how = how, .digest = STR("d")};
    return contract_member(c, commit);
}

static struct member *change_member(struct contract *c, struct change *what)
{
    struct member *m = ARENA_NEW(&c->mem, struct member);

    *m = (struct member){.kind = MEMBER_CHANGE, .change = what};
    return m;
}

static struct member *write_alone(struct contract *c, struct member *m)
{
    contract_write(c, contract_batch(c, m, NULL));
    return m;
}

struct claim {
    struct job_claim change;
    struct job_poll poll, *polls[1];
    struct str types[2];
};

/* A worker that asks for up to `max` jobs of one or two types. */
static struct claim *claim_new(struct contract *c, size_t max, const char *first,
                               const char *second)
{
    struct claim *a = ARENA_NEW(&c->mem, struct claim);

    a->types[0] = str_of(first);
    a->types[1] = str_of(second != NULL ? second : "");
    a->poll = (struct job_poll){.org_id = STR("org-1"),
                                .worker = STR("w"),
                                .types = a->types,
                                .type_count = second != NULL ? 2 : 1,
                                .max = max,
                                .lease_us = MINUTE,
                                .seed = {contract_id(c, 1), contract_id(c, 2)}};
    a->polls[0] = &a->poll;
    a->change = (struct job_claim){
        .change = {.apply = job_claim_apply, .now_us = NOW, .leaves_executions = true},
        .polls = a->polls,
        .poll_count = 1};
    return a;
}

/* What it found, copied before the memory of the batch goes. */
static struct stored_jobs claim_write(struct contract *c, struct claim *a)
{
    struct stored_jobs found = {0};
    struct batch *b = contract_batch(c, change_member(c, &a->change.change), NULL);

    assert_true(store_submit(c->store, b));
    assert_ptr_equal(contract_take(c), b);
    for (size_t i = 0; i < a->poll.found.count; i++) {
        struct stored_job job = a->poll.found.items[i];

        job.token = str_copy(&c->mem, job.token);
        job.type = str_copy(&c->mem, job.type);
        *VEC_ADD(&c->mem, &found) = job;
    }
    arena_fini(&b->mem);
    return found;
}

static struct member *beat(struct contract *c, const struct stored_job *job)
{
    struct job_beat *b = ARENA_NEW(&c->mem, struct job_beat);

    *b = (struct job_beat){.change = {.apply = job_beat_apply, .now_us = NOW + 1},
                           .id = job->id,
                           .org_id = STR("org-1"),
                           .token = job->token};
    return write_alone(c, change_member(c, &b->change));
}

static struct member *give_back(struct contract *c, const struct stored_jobs *jobs)
{
    struct job_return *back = ARENA_NEW(&c->mem, struct job_return);

    *back = (struct job_return){.change = {.apply = job_return_apply, .leaves_executions = true},
                                .jobs = jobs};
    return change_member(c, &back->change);
}

static struct member *release(struct contract *c, const struct stored_job *job, const char *org_id)
{
    struct job_release *r = ARENA_NEW(&c->mem, struct job_release);

    *r = (struct job_release){
        .change = {.apply = job_release_apply, .now_us = NOW + 1, .leaves_executions = true},
        .id = job->id,
        .org_id = str_of(org_id),
        .token = job->token};
    return write_alone(c, change_member(c, &r->change));
}

/* --- reading --- */

struct look {
    struct uuid id;
    int64_t row;
    struct stored_job job;
    struct leases_over over;
    struct job_leases leases;
    struct job_counts counts;
    int64_t next_in_us;
};

static void look_at(struct contract *c, struct reader *r, void *context)
{
    struct look *l = context;
    bool found;
    struct err err;

    assert_true(read_job(r, &c->mem, l->id, &l->job, &found, &err) && found);
    assert_true(read_leases_over(r, &c->mem, NOW + 2, 10, &l->over, &l->next_in_us, &err));
    assert_true(read_leases_of(r, &c->mem, l->job.key >> 24, &l->leases, &err));
    assert_true(read_job_counts(r, &c->mem, 100, &l->counts, &err));
}

static struct look look(struct contract *c, struct uuid id)
{
    struct look l = {.id = id};

    contract_read(c, look_at, &l);
    return l;
}

/* --- claims --- */

static void test_jobs__are_leased_in_their_order_and_once(void **state)
{
    struct contract *c = *state;
    struct uuid ids[3];
    struct stored_jobs found;

    for (int i = 0; i < 3; i++)
        ask_worker(c, "a.b", &ids[i]);
    found = claim_write(c, claim_new(c, 2, "a.b", NULL));
    assert_int_equal(found.count, 2);
    assert_int_equal(uuid_cmp(found.items[0].id, ids[0]), 0);
    assert_int_equal(uuid_cmp(found.items[1].id, ids[1]), 0);
    assert_false(str_eq(found.items[0].token, found.items[1].token));
    assert_int_equal(look(c, ids[0]).job.status, JOB_LEASED);
    found = claim_write(c, claim_new(c, 2, "a.b", NULL));
    assert_int_equal(found.count, 1);
    assert_int_equal(uuid_cmp(found.items[0].id, ids[2]), 0);
    assert_int_equal(claim_write(c, claim_new(c, 2, "a.b", NULL)).count, 0);
    assert_int_equal(look(c, ids[0]).counts.items[0].count, 3);
}

static void test_jobs__types_take_turns(void **state)
{
    struct contract *c = *state;
    struct stored_jobs found;
    struct uuid id;

    for (int i = 0; i < 3; i++)
        ask_worker(c, "a.many", &id);
    ask_worker(c, "a.few", &id);
    found = claim_write(c, claim_new(c, 2, "a.many", "a.few"));
    assert_int_equal(found.count, 2);
    assert_str(found.items[0].type, "a.many");
    assert_str(found.items[1].type, "a.few");
}

static void test_jobs__what_nobody_has_begun_is_so_only_while_nobody_has(void **state)
{
    struct contract *c = *state;
    struct uuid ready, leased, raced;
    const struct commit *of_ready = ask_worker(c, "a.ready", &ready);
    const struct commit *of_leased = ask_worker(c, "a.leased", &leased);
    const struct commit *of_raced = ask_worker(c, "a.raced", &raced);
    struct claim *race = claim_new(c, 1, "a.raced", NULL);
    struct member *late;

    assert_int_equal(write_alone(c, end_attempt(c, of_ready, ASK_UNCLAIMED))->result,
                     MEMBER_APPLIED);
    assert_int_equal(look(c, ready).job.status, JOB_ENDED);
    assert_int_equal(claim_write(c, claim_new(c, 1, "a.leased", NULL)).count, 1);
    assert_int_equal(write_alone(c, end_attempt(c, of_leased, ASK_UNCLAIMED))->result,
                     MEMBER_STALE);
    assert_int_equal(look(c, leased).job.status, JOB_LEASED);
    /* Also when the claim is a member of the same batch. */
    late = end_attempt(c, of_raced, ASK_UNCLAIMED);
    contract_write(c, contract_batch(c, change_member(c, &race->change.change), late, NULL));
    assert_int_equal(late->result, MEMBER_STALE);
    assert_int_equal(look(c, raced).job.status, JOB_LEASED);
}

static void test_jobs__a_lease_that_was_renewed_is_not_lost(void **state)
{
    struct contract *c = *state;
    struct uuid id;
    const struct commit *asked = ask_worker(c, "a.renewed", &id);

    assert_int_equal(claim_write(c, claim_new(c, 1, "a.renewed", NULL)).count, 1);
    assert_int_equal(write_alone(c, end_attempt(c, asked, ASK_LAPSED))->result, MEMBER_STALE);
    assert_int_equal(look(c, id).job.status, JOB_LEASED);
}

/* They never go back, and the clock by which the job was leased has been set back. */
static void test_jobs__times_of_history_end_no_lease(void **state)
{
    struct contract *c = *state;
    struct uuid id;
    const struct commit *asked = ask_worker(c, "a.clamped", &id);
    struct member *m = end_attempt(c, asked, ASK_LAPSED);

    assert_int_equal(claim_write(c, claim_new(c, 1, "a.clamped", NULL)).count, 1);
    m->commit->after->updated_at_us = NOW + 60 * MINUTE;
    assert_int_equal(write_alone(c, m)->result, MEMBER_STALE);
    assert_int_equal(look(c, id).job.status, JOB_LEASED);
}

static void test_jobs__end_with_the_commit_that_has_their_answer(void **state)
{
    struct contract *c = *state;
    struct uuid id;
    const struct commit *asks = ask_worker(c, "a.b", &id);
    struct stored_jobs found = claim_write(c, claim_new(c, 1, "a.b", NULL));
    struct look l = look(c, id);

    assert_int_equal(beat(c, &found.items[0])->result, MEMBER_APPLIED);
    assert_int_equal(l.leases.count, 1);
    assert_int_equal(l.leases.items[0], asks->after->seq);
    assert_int_equal(write_alone(c, end_attempt(c, asks, ASK_ANSWERED))->result, MEMBER_APPLIED);
    l = look(c, id);
    assert_int_equal(l.job.status, JOB_COMPLETED);
    assert_str(l.job.answer_hash, "d");
    assert_int_equal(l.leases.count + l.counts.count, 0);
    assert_int_equal(beat(c, &found.items[0])->result, MEMBER_FAILED);
}

static void test_jobs__that_are_given_back_are_ready_for_another(void **state)
{
    struct contract *c = *state;
    struct uuid id;
    struct stored_jobs first, second;

    ask_worker(c, "a.b", &id);
    first = claim_write(c, claim_new(c, 1, "a.b", NULL));
    write_alone(c, give_back(c, &first));
    assert_int_equal(look(c, id).job.status, JOB_READY);
    second = claim_write(c, claim_new(c, 1, "a.b", NULL));
    assert_int_equal(second.count, 1);
    assert_false(str_eq(second.items[0].token, first.items[0].token));
    /* The first has nothing to give back any more, and nothing to keep. */
    write_alone(c, give_back(c, &first));
    assert_int_equal(look(c, id).job.status, JOB_LEASED);
    assert_int_equal(beat(c, &first.items[0])->result, MEMBER_FAILED);
    assert_int_equal(beat(c, &second.items[0])->result, MEMBER_APPLIED);
}

static void test_jobs__who_holds_one_and_nobody_else_may_return_it(void **state)
{
    struct contract *c = *state;
    struct stored_jobs first, second;
    struct uuid id;

    ask_worker(c, "a.b", &id);
    first = claim_write(c, claim_new(c, 1, "a.b", NULL));
    assert_int_equal(release(c, &first.items[0], "org-2")->err.code, ERR_NOT_FOUND);
    assert_int_equal(look(c, id).job.status, JOB_LEASED);
    assert_int_equal(release(c, &first.items[0], "org-1")->result, MEMBER_APPLIED);
    assert_int_equal(look(c, id).job.status, JOB_READY);
    assert_int_equal(release(c, &first.items[0], "org-1")->err.code, ERR_CONFLICT);
    second = claim_write(c, claim_new(c, 1, "a.b", NULL));
    assert_int_equal(second.count, 1);
    assert_int_equal(second.items[0].attempt, first.items[0].attempt);
    assert_int_equal(release(c, &first.items[0], "org-1")->err.code, ERR_CONFLICT);
    assert_int_equal(look(c, id).job.status, JOB_LEASED);
}

static void test_jobs__leases_that_are_over_are_found_unless_nobody_can_act_on_them(void **state)
{
    struct contract *c = *state;
    struct claim *a = claim_new(c, 1, "a.b", NULL);
    struct execution_park *park = ARENA_NEW(&c->mem, struct execution_park);
    struct uuid id;
    const struct commit *asks = ask_worker(c, "a.b", &id);
    struct stored_jobs found;

    a->poll.lease_us = -1;
    found = claim_write(c, a);
    assert_int_equal(look(c, id).over.count, 1);
    assert_int_equal(look(c, id).over.items[0].seq, asks->after->seq);
    assert_int_equal(beat(c, &found.items[0])->result, MEMBER_FAILED);
    *park = (struct execution_park){.change = {.apply = execution_park_apply, .now_us = NOW},
                                    .id = asks->after->id,
                                    .letter = contract_id(c, 3),
                                    .cause_json = STR("{\"code\":\"internal_state\"}")};
    assert_int_equal(write_alone(c, change_member(c, &park->change))->result, MEMBER_APPLIED);
    assert_int_equal(look(c, id).over.count, 0);
}

/* A worker that asks for a job of this type under an Idempotency-Key. */
static struct claim *claim_keyed(struct contract *c, uint32_t seed, const char *body_hash)
{
    struct claim *a = claim_new(c, 1, "a.b", NULL);

    a->poll.seed[0] = contract_id(c, seed);
    a->poll.kept_as = (struct idempotency){.user = STR("u"),
                                           .method = STR("POST"),
                                           .path = STR("/jobs/claim"),
                                           .key = STR("k"),
                                           .body_hash = str_of(body_hash)};
    return a;
}

static void assert_same_lease(const struct stored_job *a, const struct stored_job *b)
{
    assert_int_equal(uuid_cmp(a->id, b->id), 0);
    assert_true(str_eq(a->token, b->token));
}

static void test_jobs__one_key_is_one_claim(void **state)
{
    struct contract *c = *state;
    struct stored_jobs first, again;
    struct claim *a;
    struct uuid id, other;

    (void)ask_worker(c, "a.b", &id);
    (void)ask_worker(c, "a.b", &other);
    first = claim_write(c, claim_keyed(c, 1, "h"));
    assert_int_equal(first.count, 1);
    again = claim_write(c, claim_keyed(c, 7, "h"));
    assert_int_equal(again.count, 1);
    assert_same_lease(&first.items[0], &again.items[0]);
    assert_int_equal(look(c, other).job.status, JOB_READY);

    a = claim_keyed(c, 8, "another");
    assert_int_equal(claim_write(c, a).count, 0);
    assert_true(a->poll.differs);

    /* Given back, it claims anew. */
    (void)write_alone(c, give_back(c, &first));
    again = claim_write(c, claim_keyed(c, 9, "h"));
    assert_int_equal(again.count, 1);
    assert_false(str_eq(first.items[0].token, again.items[0].token));
}

static void test_jobs__one_key_is_one_claim_also_among_those_who_ask_together(void **state)
{
    struct contract *c = *state;
    struct claim *first = claim_keyed(c, 1, "h"), *second = claim_keyed(c, 7, "h");
    struct job_poll *both[] = {&first->poll, &second->poll};
    struct stored_jobs found;
    struct uuid id, other;

    (void)ask_worker(c, "a.b", &id);
    (void)ask_worker(c, "a.b", &other);
    first->change.polls = both;
    first->change.poll_count = 2;
    found = claim_write(c, first);
    assert_int_equal(found.count, 1);
    assert_int_equal(second->poll.found.count, 1);
    assert_int_equal(look(c, other).job.status, JOB_READY);
    assert_same_lease(&found.items[0], &claim_write(c, claim_keyed(c, 8, "h")).items[0]);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, contract_setup, contract_teardown)

static const struct CMUnitTest claims[] = {
    CLAIM(test_jobs__are_leased_in_their_order_and_once),
    CLAIM(test_jobs__types_take_turns),
    CLAIM(test_jobs__what_nobody_has_begun_is_so_only_while_nobody_has),
    CLAIM(test_jobs__a_lease_that_was_renewed_is_not_lost),
    CLAIM(test_jobs__times_of_history_end_no_lease),
    CLAIM(test_jobs__end_with_the_commit_that_has_their_answer),
    CLAIM(test_jobs__that_are_given_back_are_ready_for_another),
    CLAIM(test_jobs__who_holds_one_and_nobody_else_may_return_it),
    CLAIM(test_jobs__one_key_is_one_claim),
    CLAIM(test_jobs__one_key_is_one_claim_also_among_those_who_ask_together),
    CLAIM(test_jobs__leases_that_are_over_are_found_unless_nobody_can_act_on_them),
};

int contract_run_jobs(const char *name)
{
    return _cmocka_run_group_tests(name, claims, ARRAY_SIZE(claims), NULL, NULL);
}
