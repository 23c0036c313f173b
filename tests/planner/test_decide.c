/* What becomes of tasks: long random walks, whose log rebuilds every task. */
#include "planner/decide.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { PEOPLE = 8, TASKS = 12, STEPS = 100000 };

struct world {
    struct arena mem;
    uint64_t random;
    struct planner_person people[PEOPLE];
    struct task tasks[TASKS], rebuilt[TASKS];
    int64_t now_us;
    unsigned accepted, refused;
    unsigned seen[TASK_STATUS_COUNT][TASK_ACTION_COUNT];
};

static unsigned draw(struct world *w, unsigned below)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((w->random >> 33) % below);
}

static struct value text_map(struct arena *mem, const char *const (*pairs)[2], size_t count)
{
    struct value_entry *entries = ARENA_ARRAY(mem, count, struct value_entry);
    size_t duplicate;

    for (size_t i = 0; i < count; i++)
        entries[i] =
            (struct value_entry){value_key(str_of(pairs[i][0])), value_string(str_of(pairs[i][1]))};
    return value_map_make(mem, entries, count, &duplicate);
}

static const char *const ids[PEOPLE] = {"p0", "p1", "p2", "p3", "p4", "lead", "boss", "robot"};

static void world_init(struct world *w, uint64_t seed)
{
    static const enum actor_role roles[PEOPLE] = {ACTOR_EXECUTOR,   ACTOR_EXECUTOR, ACTOR_EXECUTOR,
                                                  ACTOR_EXECUTOR,   ACTOR_EXECUTOR, ACTOR_LEAD,
                                                  ACTOR_SUPERVISOR, ACTOR_SYSTEM};

    *w = (struct world){.random = seed, .now_us = 1000};
    arena_init(&w->mem);
    for (unsigned i = 0; i < PEOPLE; i++)
        w->people[i] = (struct planner_person){.id = str_of(ids[i]),
                                               .role = roles[i],
                                               .role_name = str_of(actor_role_name(roles[i])),
                                               .skill = 2 + i * 2,
                                               .is_known = true};
    for (unsigned i = 0; i < TASKS; i++) {
        w->tasks[i] = (struct task){.id = str_printf(&w->mem, "t%u", i),
                                    .status = TASK_AVAILABLE,
                                    .row_version = 1,
                                    .contributors = value_list(NULL, 0)};
        w->rebuilt[i] = w->tasks[i];
    }
}

static int64_t active_of(const struct world *w, struct str id)
{
    int64_t count = 0;

    for (unsigned i = 0; i < TASKS; i++)
        count += task_status_is_active(w->tasks[i].status) && str_eq(w->tasks[i].assigned_to, id);
    return count;
}

static void check_world(const struct world *w)
{
    for (unsigned i = 0; i < TASKS; i++) {
        const struct task *t = &w->tasks[i], *r = &w->rebuilt[i];

        assert_true((t->assigned_to.len > 0) ==
                    (task_status_is_active(t->status) || t->status == TASK_DONE));
        assert_int_equal(t->status, r->status);
        assert_int_equal(t->row_version, r->row_version);
        assert_true(str_eq(t->assigned_to, r->assigned_to));
        assert_true(str_eq(t->assigned_by, r->assigned_by));
        assert_true(str_eq(t->reviewed_by, r->reviewed_by));
        assert_true(str_eq(t->reject_reason, r->reject_reason));
        assert_true(str_eq(t->cancel_reason, r->cancel_reason));
        assert_int_equal(t->assigned_at_us, r->assigned_at_us);
        assert_int_equal(t->started_at_us, r->started_at_us);
        assert_int_equal(t->submitted_at_us, r->submitted_at_us);
        assert_int_equal(t->reviewed_at_us, r->reviewed_at_us);
        assert_int_equal(t->self_checked, r->self_checked);
        assert_int_equal(t->had_owner, r->had_owner);
    }
    for (unsigned i = 0; i < PEOPLE; i++)
        assert_true(active_of(w, w->people[i].id) <= 1);
}

/* What is over makes room for a new one, sooner or later. */
static void renew(struct world *w)
{
    unsigned n = draw(w, TASKS);

    if (!task_status_is_terminal(w->tasks[n].status))
        return;
    w->tasks[n] = (struct task){.id = w->tasks[n].id,
                                .status = TASK_AVAILABLE,
                                .row_version = 1,
                                .contributors = value_list(NULL, 0)};
    w->rebuilt[n] = w->tasks[n];
}

/* One request of anybody for anything; what was accepted is also applied to the rebuilt task. */
static void step(struct world *w)
{
    unsigned n = draw(w, TASKS);
    const char *const pairs[][2] = {{"assign_to", ids[draw(w, PEOPLE)]},
                                    {"reason", "because"},
                                    {"kind", "help"},
                                    {"message", "come"},
                                    {"how_fixed", "so"}};
    enum task_action action = (enum task_action)draw(w, TASK_ACTION_COUNT);
    struct task_request request = {.action = str_of(task_action_name(action)),
                                   .expected_row_version = w->tasks[n].row_version,
                                   .payload = text_map(&w->mem, pairs, ARRAY_SIZE(pairs))};
    struct task_facts f = {.task = w->tasks[n],
                           .actor = w->people[draw(w, PEOPLE)],
                           .policy = planner_policy_default(),
                           .now_us = ++w->now_us};
    struct task_decision d;

    f.task.open_holds = draw(w, 10) == 0;
    for (unsigned i = 0; i < PEOPLE; i++)
        if (str_eq(w->people[i].id, str_of(pairs[0][1])))
            f.target = w->people[i];
    f.actor.active_tasks = active_of(w, f.actor.id);
    f.target.active_tasks = active_of(w, f.target.id);
    planner_decide(&w->mem, &f, &request, &d);
    if (d.verdict == TASK_REFUSED) {
        w->refused++;
        assert_int_not_equal(d.err.code, ERR_NONE);
        return;
    }
    w->accepted++;
    w->seen[f.task.status][action]++;
    assert_true(d.count == (action == TASK_ACTION_REASSIGN ? 2 : 1));
    for (size_t i = 0; i < d.count; i++) {
        assert_int_equal(d.rows[i].from, w->rebuilt[n].status);
        assert_int_equal(d.rows[i].result_row_version, w->rebuilt[n].row_version + 1);
        task_move(&w->rebuilt[n], &d.rows[i]);
    }
    w->tasks[n] = d.after;
    w->tasks[n].open_holds = 0;
}

static void test_planner__a_log_rebuilds_every_task_after_a_long_random_walk(void **state)
{
    struct world w;
    unsigned kinds = 0;

    (void)state;
    world_init(&w, 7);
    for (unsigned i = 0; i < STEPS; i++) {
        step(&w);
        renew(&w);
        if (i % 97 == 0)
            check_world(&w);
    }
    check_world(&w);
    for (unsigned s = 0; s < TASK_STATUS_COUNT; s++)
        for (unsigned a = 0; a < TASK_ACTION_COUNT; a++)
            kinds += w.seen[s][a] > 0;
    /* The whole table but what nobody of these can do: escalating what nobody owns, blocking. */
    assert_int_equal(kinds, 21);
    assert_true(w.accepted > 3000 && w.refused > 50000);
    arena_fini(&w.mem);
}

static void
test_planner__payloads_are_compared_without_nulls_order_and_what_the_server_made(void **state)
{
    static const char *const first[][2] = {{"b", "1"}, {"a", "2"}, {"fix_task_id", "x"}};
    static const char *const second[][2] = {{"a", "2"}, {"b", "1"}};
    struct arena mem;
    struct value x, y;

    (void)state;
    arena_init(&mem);
    x = payload_normalise(&mem, text_map(&mem, first, ARRAY_SIZE(first)));
    y = payload_normalise(&mem, text_map(&mem, second, ARRAY_SIZE(second)));
    assert_int_equal(x.len, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(str_eq(value_text(x.map->entries[i].key), value_text(y.map->entries[i].key)));
        assert_true(
            str_eq(value_text(x.map->entries[i].value), value_text(y.map->entries[i].value)));
    }
    arena_fini(&mem);
}

static void test_planner__the_planner_itself_blocks_and_opens(void **state)
{
    struct task t = {.id = STR("t"), .status = TASK_AVAILABLE, .row_version = 3, .open_holds = 1};
    struct task_transition row;

    (void)state;
    assert_true(planner_reexamine(&t, 9, &row));
    assert_int_equal(row.action, TASK_ACTION_BLOCK);
    task_move(&t, &row);
    assert_int_equal(t.status, TASK_BLOCKED);
    assert_int_equal(t.row_version, 4);
    assert_false(planner_reexamine(&t, 9, &row));
    t.open_holds = 0;
    assert_true(planner_reexamine(&t, 9, &row));
    assert_int_equal(row.action, TASK_ACTION_UNBLOCK);
    t.status = TASK_IN_PROGRESS;
    assert_false(planner_reexamine(&t, 9, &row));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planner__a_log_rebuilds_every_task_after_a_long_random_walk),
        cmocka_unit_test(
            test_planner__payloads_are_compared_without_nulls_order_and_what_the_server_made),
        cmocka_unit_test(test_planner__the_planner_itself_blocks_and_opens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
