/* facts.c - see facts.h. */
#include "store/planner/facts.h"

#include "store/planner.h"
#include "store/write/gather.h"

/* A person as it is stored. */
struct cached_person {
    bool is_found;
    struct str org_id;
    struct planner_person person;
};

/* --- asking --- */

static struct str event_key(struct arena *mem, struct str task_id, struct str event_id)
{
    return str_printf(mem, "%.*s\n%.*s", STR_ARG(task_id), STR_ARG(event_id));
}

/* One more row of a question, unless it was asked. The entry is made empty. */
static enum db_status ask_once(struct apply *a, struct map *map, struct str key, size_t size,
                               enum sql sql, const struct db_value *params, unsigned count)
{
    struct map_entry *entry = map_add(map, key, NULL);

    if (entry->ptr != NULL)
        return DB_DONE;
    entry->ptr = arena_zalloc(a->mem, size);
    a->asks = true;
    return db_put(a->db, sql, params, count);
}

static enum db_status ask_person(struct apply *a, struct str id)
{
    if (id.len == 0)
        return DB_DONE;
    return ask_once(a, &a->people, id, sizeof(struct cached_person), SQL_FACTS_PEOPLE,
                    DB_PARAMS(db_text(id)));
}

/* A new task that names nothing else that would have to be looked at. */
static bool is_plain_task(const struct planner_change *c)
{
    return value_map_text(c->body, STR("deliverable_id")).len == 0 &&
           value_map_member(c->body, STR("depends_on")).kind != VALUE_LIST;
}

static enum db_status ask_actor(struct apply *a, const struct planner_change *c)
{
    enum db_status status = ask_once(a, &a->policies, c->org_id, sizeof(struct planner_policy),
                                     SQL_FACTS_POLICIES, DB_PARAMS(db_text(c->org_id)));

    return status == DB_DONE ? ask_person(a, c->actor.id) : status;
}

static enum db_status ask_transition(struct apply *a, const struct planner_change *c)
{
    enum db_status status =
        ask_once(a, &a->tasks, c->id, sizeof(struct cached_task), SQL_FACTS_TASKS,
                 DB_PARAMS(db_text(c->id), db_int(c->change.now_us)));
    if (status == DB_DONE)
        status = db_put(a->db, SQL_FACTS_SUCCESSORS, DB_PARAMS(db_text(c->id)));
    if (status == DB_DONE)
        status = ask_once(a, &a->events, event_key(a->mem, c->id, c->request.client_event_id),
                          sizeof(struct cached_event), SQL_FACTS_EVENTS,
                          DB_PARAMS(db_text(c->id), db_text(c->request.client_event_id)));
    if (status == DB_DONE)
        status = ask_person(a, value_map_text(c->request.payload, STR("assign_to")));
    return status == DB_DONE ? ask_actor(a, c) : status;
}

enum db_status facts_ask(struct apply *a, const struct member *m)
{
    const struct planner_change *c = (const struct planner_change *)m->change;

    if (m->kind != MEMBER_CHANGE)
        return DB_DONE;
    if (m->change->apply == planner_move_apply)
        return ask_transition(a, c);
    return m->change->apply == planner_create_apply && is_plain_task(c) ? ask_actor(a, c) : DB_DONE;
}

enum db_status facts_ask_again(struct apply *a, const struct member *m)
{
    enum db_status status;

    if (!a->db->has_sets)
        return DB_DONE;
    facts_forget(a);
    status = facts_ask(a, m);
    if (status == DB_DONE && a->policies.count > 0)
        status = db_flush(a->db);
    return status == DB_DONE ? facts_take(a) : status;
}

/* --- answers --- */

/* A task that was asked for, or one that depends on it. */
static bool take_task(struct apply *a, enum sql sql)
{
    struct cached_task *cached;
    struct task t;

    if (!task_row(a->db, a->mem, sql, &t))
        return false;
    cached = map_get(&a->tasks, t.id);
    if (cached == NULL) {
        cached = ARENA_NEW(a->mem, struct cached_task);
        map_put(&a->tasks, t.id, cached);
    }
    cached->task = t;
    cached->is_found = true;
    cached->stored_version = t.row_version;
    return true;
}

static bool take_successor(struct apply *a, enum sql sql)
{
    struct cached_task *cached = map_get(&a->tasks, db_column_text(a->db, sql, 0));

    if (cached == NULL)
        return false;
    *VEC_ADD(a->mem, &cached->successors) =
        (struct task_name){.id = db_column_copy(a->db, a->mem, sql, 1)};
    return true;
}

static bool take_person(struct apply *a, enum sql sql)
{
    struct cached_person *p = map_get(&a->people, db_column_text(a->db, sql, 0));

    if (p == NULL)
        return false;
    p->is_found = true;
    p->org_id = db_column_copy(a->db, a->mem, sql, 1);
    p->person = person_of_row(a->db, a->mem, sql, 2);
    return true;
}

static bool take_policy(struct apply *a, enum sql sql)
{
    struct planner_policy *p = map_get(&a->policies, db_column_text(a->db, sql, 4));

    if (p != NULL)
        *p = policy_of_row(a->db, sql);
    return p != NULL;
}

static bool take_event(struct apply *a, enum sql sql)
{
    struct cached_event *e = map_get(&a->events, event_key(a->mem, db_column_text(a->db, sql, 0),
                                                           db_column_text(a->db, sql, 1)));

    if (e == NULL)
        return false;
    e->is_known = true;
    e->event = (struct task_event){.actor_id = db_column_copy(a->db, a->mem, sql, 2),
                                   .action = db_column_copy(a->db, a->mem, sql, 3),
                                   .payload_json = db_column_copy(a->db, a->mem, sql, 4)};
    e->answer = db_column_copy(a->db, a->mem, sql, 5);
    return true;
}

enum db_status facts_take(struct apply *a)
{
    static const struct gathered_rows answers[] = {{SQL_FACTS_PEOPLE, take_person},
                                                   {SQL_FACTS_POLICIES, take_policy},
                                                   {SQL_FACTS_EVENTS, take_event},
                                                   {SQL_FACTS_SUCCESSORS, take_successor},
                                                   {SQL_FACTS_TASKS, take_task}};

    if (a->policies.count == 0)
        return DB_DONE;
    /* Who has no policy of its own goes by the default one. */
    for (struct map_entry *e = NULL; (e = map_next(&a->policies, e)) != NULL;)
        *(struct planner_policy *)e->ptr = planner_policy_default();
    for (struct map_entry *e = NULL; (e = map_next(&a->tasks, e)) != NULL;)
        ((struct cached_task *)e->ptr)->has_successors = true;
    return gather_take_rows(a, answers, ARRAY_SIZE(answers));
}

void facts_forget(struct apply *a)
{
    map_init(&a->tasks, a->mem);
    map_init(&a->people, a->mem);
    map_init(&a->policies, a->mem);
    map_init(&a->events, a->mem);
}

/* --- asking for what was gathered --- */

bool facts_are_gathered(const struct apply *a, const struct member *m)
{
    const struct planner_change *c = (const struct planner_change *)m->change;

    if (m->kind != MEMBER_CHANGE || a->policies.count == 0)
        return false;
    if (m->change->apply == planner_move_apply)
        return facts_task(a, c->id) != NULL;
    return m->change->apply == planner_create_apply && is_plain_task(c) &&
           map_get(&a->people, c->actor.id) != NULL;
}

struct cached_task *facts_task(const struct apply *a, struct str id)
{
    return map_get(&a->tasks, id);
}

bool facts_person(const struct apply *a, struct str org_id, struct planner_person *person)
{
    const struct cached_person *p = map_get(&a->people, person->id);
    struct str id = person->id;

    if (p == NULL)
        return false;
    if (!p->is_found || !p->person.is_known || !str_eq(p->org_id, org_id)) {
        person->is_known = false;
        return true;
    }
    *person = p->person;
    person->id = id;
    return true;
}

bool facts_policy(const struct apply *a, struct str org_id, struct planner_policy *out)
{
    const struct planner_policy *p = map_get(&a->policies, org_id);

    if (p != NULL)
        *out = *p;
    return p != NULL;
}

struct cached_event *facts_event(const struct apply *a, struct str task_id, struct str event_id)
{
    return a->events.count == 0 ? NULL : map_get(&a->events, event_key(a->mem, task_id, event_id));
}

/* --- what a transition leaves --- */

/* How many tasks somebody owns, as far as that was asked. */
static void count_owned(struct apply *a, const struct task *t, int64_t more)
{
    struct cached_person *p = map_get(&a->people, t->assigned_to);

    if (p != NULL && task_status_is_active(t->status))
        p->person.active_tasks += more;
}

void facts_move(struct apply *a, struct cached_task *cached, const struct task *after)
{
    bool is_done = after->status == TASK_DONE && cached->task.status != TASK_DONE;

    count_owned(a, &cached->task, -1);
    count_owned(a, after, 1);
    for (size_t i = 0; is_done && i < cached->successors.count; i++) {
        struct cached_task *next = facts_task(a, cached->successors.items[i].id);

        if (next != NULL)
            next->task.unmet_dependencies--;
    }
    cached->task = *after;
    cached->is_changed = true;
}

/* Owners are taken away before others are given: nobody owns two tasks in between. */
static enum db_status put_task(struct apply *a, struct cached_task *cached)
{
    const struct task *t = &cached->task;

    return db_put(
        a->db, task_status_is_active(t->status) ? SQL_TASKS_TAKE : SQL_TASKS_FREE,
        DB_PARAMS(db_int(cached->stored_version), db_text(t->id), db_int(t->row_version),
                  db_text(str_of(task_status_name(t->status))), db_text_or_null(t->assigned_to),
                  db_text_or_null(t->assigned_by), db_some_int(t->assigned_at_us),
                  db_some_int(t->started_at_us), db_some_int(t->submitted_at_us),
                  db_text_or_null(t->reviewed_by), db_some_int(t->reviewed_at_us),
                  db_text_or_null(t->reject_reason), db_text_or_null(t->recall_reason),
                  db_text_or_null(t->cancel_reason), db_text_or_null(t->handover_note),
                  db_int(t->self_checked), db_int(t->had_owner), db_int(t->needs_attention),
                  db_int(t->updated_at_us), db_text_or_null(task_result_json(a->mem, t->result)),
                  db_int(t->is_awaited)));
}

enum db_status facts_put(struct apply *a)
{
    enum db_status status = DB_DONE;

    for (struct map_entry *e = NULL; status == DB_DONE && (e = map_next(&a->tasks, e)) != NULL;) {
        struct cached_task *cached = e->ptr;

        if (cached->is_changed)
            status = put_task(a, cached);
        cached->is_changed = false;
        cached->stored_version = cached->task.row_version;
    }
    return status;
}
