/* contract_users.c - the claims of contract.h about users, tokens and the audit log. */
#include "engine/commit/commit.h"
#include "engine/status.h"
#include "store/change.h"
#include "store/change_user.h"
#include "store/contract.h"
#include "store/org.h"
#include "store/read_audit.h"
#include "store/read_user.h"
#include "store/users.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define ORG_OTHER STR("018f0000-0000-7000-8000-00000000000a")

static struct str new_id(struct contract *c)
{
    char text[UUID_TEXT_LEN + 1];

    uuid_write(contract_id(c, 1700000000000), text);
    return str_copy(&c->mem, str_from(text, UUID_TEXT_LEN));
}

static struct user_change *new_user(struct contract *c, const char *name, const char *email)
{
    struct user_change *u = ARENA_NEW(&c->mem, struct user_change);

    u->change = (struct change){.apply = user_change_apply, .now_us = 1000};
    u->is_new = true;
    u->user = (struct stored_user){
        .id = new_id(c),
        .org_id = ORG_DEFAULT,
        .name = str_of(name),
        .email = str_of(email),
        .role = STR("operator"),
        .groups_json = STR("[\"finance\"]"),
        .skill_level = -1,
        .is_active = true,
        .created_at_us = 1000,
        .updated_at_us = 1000,
    };
    u->token = (struct stored_token){.id = new_id(c), .user_id = u->user.id};
    u->token.hash = str_printf(&c->mem, "%.*s-hash", STR_ARG(u->token.id));
    return u;
}

static struct member *member_of(struct contract *c, struct change *change)
{
    struct member *m = ARENA_NEW(&c->mem, struct member);

    m->kind = MEMBER_CHANGE;
    m->change = change;
    return m;
}

static struct member *write_change(struct contract *c, struct change *change)
{
    struct member *m = member_of(c, change);
    struct batch *b = contract_batch(c, m, NULL);

    contract_write(c, b);
    assert_int_equal(b->end, BATCH_COMMITTED);
    return m;
}

static struct token_change *new_token(struct contract *c, struct str user_id)
{
    struct token_change *t = ARENA_NEW(&c->mem, struct token_change);

    t->change = (struct change){.apply = token_change_apply, .now_us = 2000};
    t->token = (struct stored_token){.id = new_id(c), .user_id = user_id, .name = STR("laptop")};
    t->token.hash = str_printf(&c->mem, "%.*s-hash", STR_ARG(t->token.id));
    return t;
}

static struct token_change *revocation(struct contract *c, struct str id)
{
    struct token_change *t = ARENA_NEW(&c->mem, struct token_change);

    t->change = (struct change){.apply = token_change_apply, .now_us = 3000};
    t->is_revoke = true;
    t->token.id = id;
    return t;
}

static void load_everyone(struct contract *c, struct reader *r, void *context)
{
    struct everyone *e = context;
    struct err err;

    assert_true(read_everyone(r, &c->mem, e, &err));
}

static const struct stored_user *find(const struct everyone *e, struct str id)
{
    for (size_t i = 0; i < e->users.count; i++)
        if (str_eq(e->users.items[i].id, id))
            return &e->users.items[i];
    return NULL;
}

static void test_store__administrator_and_default_org_are_there(void **state)
{
    struct contract *c = *state;
    struct everyone e;

    contract_read(c, load_everyone, &e);
    assert_int_equal(e.users.count, 1);
    assert_int_equal(e.tokens.count, 0);
    assert_true(str_eq(e.users.items[0].id, USER_ADMIN));
    assert_true(str_eq(e.users.items[0].org_id, ORG_DEFAULT));
    assert_str(e.users.items[0].name, "admin");
    assert_str(e.users.items[0].role, "admin");
    assert_true(e.users.items[0].is_active);
}

static void test_store__user_is_kept_with_its_first_token(void **state)
{
    struct contract *c = *state;
    struct user_change *u = new_user(c, "Ada", "ada@example.org");
    struct everyone e;

    assert_int_equal(write_change(c, &u->change)->result, MEMBER_APPLIED);
    assert_int_equal(u->change.answer_status, 201);
    contract_reopen(c);
    contract_read(c, load_everyone, &e);
    assert_int_equal(e.users.count, 2);
    assert_int_equal(e.access_version, u->access_version);
    assert_str(find(&e, u->user.id)->name, "Ada");
    assert_str(find(&e, u->user.id)->email, "ada@example.org");
    assert_str(find(&e, u->user.id)->groups_json, "[\"finance\"]");
    assert_int_equal(find(&e, u->user.id)->skill_level, -1);
    assert_int_equal(e.tokens.count, 1);
    assert_true(str_eq(e.tokens.items[0].user_id, u->user.id));
    assert_true(str_eq(e.tokens.items[0].hash, u->token.hash));
    assert_int_equal(e.tokens.items[0].last_used_at_us, 0);
}

static void test_store__email_belongs_to_one_user(void **state)
{
    struct contract *c = *state;
    struct user_change *ada = new_user(c, "Ada", "same@example.org");
    struct user_change *bob = new_user(c, "Bob", "same@example.org");
    struct user_change *eve = new_user(c, "Eve", "eve@example.org");
    struct member *first = member_of(c, &ada->change), *second = member_of(c, &bob->change);
    struct user_change *change = ARENA_NEW(&c->mem, struct user_change);
    struct batch *b = contract_batch(c, first, second, NULL);
    struct everyone e;

    contract_write(c, b);
    assert_int_equal(first->result, MEMBER_APPLIED);
    assert_int_equal(second->result, MEMBER_FAILED);
    assert_int_equal(second->err.code, ERR_CONFLICT);
    assert_int_equal(write_change(c, &eve->change)->result, MEMBER_APPLIED);
    *change = (struct user_change){
        .change = {.apply = user_change_apply, .now_us = 5000},
        .fields = USER_EMAIL,
        .user = {.id = eve->user.id, .email = STR("same@example.org")},
    };
    assert_int_equal(write_change(c, &change->change)->result, MEMBER_FAILED);
    contract_read(c, load_everyone, &e);
    assert_int_equal(e.users.count, 3);
    assert_int_equal(e.tokens.count, 2);
    assert_str(find(&e, eve->user.id)->email, "eve@example.org");
}

static void test_store__users_without_email_do_not_clash(void **state)
{
    struct contract *c = *state;

    assert_int_equal(write_change(c, &new_user(c, "A", "")->change)->result, MEMBER_APPLIED);
    assert_int_equal(write_change(c, &new_user(c, "B", "")->change)->result, MEMBER_APPLIED);
}

static void test_store__change_of_a_user_leaves_what_it_does_not_name(void **state)
{
    struct contract *c = *state;
    struct user_change *u = new_user(c, "Ada", "ada@example.org");
    struct user_change *change = ARENA_NEW(&c->mem, struct user_change);
    struct everyone e;

    assert_int_equal(write_change(c, &u->change)->result, MEMBER_APPLIED);
    *change = (struct user_change){
        .change = {.apply = user_change_apply, .now_us = 7000},
        .fields = USER_SKILL | USER_ACTIVE | USER_GROUPS,
        .user = {.id = u->user.id, .skill_level = 7},
    };
    assert_int_equal(write_change(c, &change->change)->result, MEMBER_APPLIED);
    assert_int_equal(change->access_version, u->access_version + 1);
    contract_read(c, load_everyone, &e);
    assert_str(find(&e, u->user.id)->name, "Ada");
    assert_str(find(&e, u->user.id)->email, "ada@example.org");
    assert_int_equal(find(&e, u->user.id)->groups_json.len, 0);
    assert_int_equal(find(&e, u->user.id)->skill_level, 7);
    assert_false(find(&e, u->user.id)->is_active);
    assert_int_equal(find(&e, u->user.id)->created_at_us, 1000);
    assert_int_equal(find(&e, u->user.id)->updated_at_us, 7000);
}

static void test_store__users_of_another_org_are_out_of_reach(void **state)
{
    struct contract *c = *state;
    struct user_change *u = new_user(c, "Ada", "");
    struct user_change *change = ARENA_NEW(&c->mem, struct user_change);
    struct token_change *token = new_token(c, u->user.id), *revoke = revocation(c, u->token.id);
    struct member *m;

    assert_int_equal(write_change(c, &u->change)->result, MEMBER_APPLIED);
    *change = (struct user_change){
        .change = {.apply = user_change_apply},
        .fields = USER_NAME,
        .user = {.id = u->user.id, .name = STR("Mallory")},
        .scope_org = ORG_OTHER,
    };
    token->scope_org = revoke->scope_org = ORG_OTHER;
    m = write_change(c, &change->change);
    assert_int_equal(m->err.code, ERR_NOT_FOUND);
    m = write_change(c, &token->change);
    assert_int_equal(m->err.code, ERR_NOT_FOUND);
    m = write_change(c, &revoke->change);
    assert_int_equal(m->err.code, ERR_NOT_FOUND);
    revoke = revocation(c, u->token.id);
    revoke->scope_org = ORG_DEFAULT;
    assert_int_equal(write_change(c, &revoke->change)->result, MEMBER_APPLIED);
}

static void test_store__token_is_made_and_revoked(void **state)
{
    struct contract *c = *state;
    struct user_change *u = new_user(c, "Ada", "");
    struct token_change *t;
    struct member *m;
    struct everyone e;

    assert_int_equal(write_change(c, &u->change)->result, MEMBER_APPLIED);
    t = new_token(c, u->user.id);
    assert_int_equal(write_change(c, &t->change)->result, MEMBER_APPLIED);
    contract_read(c, load_everyone, &e);
    assert_int_equal(e.tokens.count, 2);
    assert_int_equal(write_change(c, &revocation(c, t->token.id)->change)->result, MEMBER_APPLIED);
    m = write_change(c, &revocation(c, t->token.id)->change);
    assert_int_equal(m->err.code, ERR_NOT_FOUND);
    contract_read(c, load_everyone, &e);
    assert_int_equal(e.tokens.count, 1);
    assert_int_equal(e.access_version, u->access_version + 2);
    m = write_change(c, &new_token(c, STR("nobody"))->change);
    assert_int_equal(m->err.code, ERR_NOT_FOUND);
}

static void test_store__use_of_a_token_never_goes_back(void **state)
{
    struct contract *c = *state;
    struct user_change *u = new_user(c, "Ada", "");
    struct token_use use = {.at_us = 9000};
    struct token_uses_change uses = {
        .change = {.apply = token_uses_apply}, .uses = &use, .count = 1};
    struct everyone e;

    assert_int_equal(write_change(c, &u->change)->result, MEMBER_APPLIED);
    memcpy(use.id, u->token.id.ptr, UUID_TEXT_LEN);
    assert_int_equal(write_change(c, &uses.change)->result, MEMBER_APPLIED);
    use.at_us = 8000;
    assert_int_equal(write_change(c, &uses.change)->result, MEMBER_APPLIED);
    contract_read(c, load_everyone, &e);
    assert_int_equal(e.tokens.items[0].last_used_at_us, 9000);
    assert_int_equal(e.access_version, u->access_version);
}

/* --- lists --- */

struct user_load {
    struct user_filter filter;
    struct stored_users users;
};

static void load_users(struct contract *c, struct reader *r, void *context)
{
    struct user_load *l = context;
    struct err err;

    assert_true(read_users(r, &c->mem, &l->filter, &l->users, &err));
}

static size_t count_users(struct contract *c, struct user_filter filter)
{
    struct user_load l = {.filter = filter};

    if (l.filter.limit == 0)
        l.filter.limit = 50;
    contract_read(c, load_users, &l);
    return l.users.count;
}

static void test_store__users_are_listed_by_filters(void **state)
{
    struct contract *c = *state;
    struct user_change *ada = new_user(c, "Ada", "ada@example.org");
    struct user_change *bob = new_user(c, "Bob", "");

    bob->user.org_id = ORG_OTHER;
    bob->user.role = STR("viewer");
    assert_int_equal(write_change(c, &ada->change)->result, MEMBER_APPLIED);
    assert_int_equal(write_change(c, &bob->change)->result, MEMBER_APPLIED);
#define FILTER(...) ((struct user_filter){__VA_ARGS__})
    assert_int_equal(count_users(c, FILTER(0)), 3);
    assert_int_equal(count_users(c, FILTER(.limit = 2)), 2);
    assert_int_equal(count_users(c, FILTER(.after = ada->user.id)), 1);
    assert_int_equal(count_users(c, FILTER(.org_id = ORG_OTHER)), 1);
    assert_int_equal(count_users(c, FILTER(.role = STR("operator"))), 1);
    assert_int_equal(count_users(c, FILTER(.q = STR("Ada@Example.org"))), 1);
    assert_int_equal(count_users(c, FILTER(.q = STR("Bob"))), 1);
    assert_int_equal(count_users(c, FILTER(.q = STR("bo"))), 0);
#undef FILTER
}

/* --- business keys --- */

static void test_store__business_key_is_unique_within_an_org(void **state)
{
    struct contract *c = *state;
    struct commit *one = contract_start(c, STATUS_WAITING, 1);
    struct commit *other = contract_start(c, STATUS_WAITING, 1);
    struct commit *none = contract_start(c, STATUS_WAITING, 1);
    struct commit *again = contract_start(c, STATUS_WAITING, 1);

    one->after->key = other->after->key = none->after->key = again->after->key = STR("K");
    other->after->org_id = ORG_OTHER;
    none->after->org_id = again->after->org_id = STR_NONE;
    assert_int_equal(contract_commit(c, one), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, other), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, none), MEMBER_APPLIED);
    assert_int_equal(contract_commit(c, again), MEMBER_KEY_BUSY);
}

/* --- the audit log --- */

static void write_audit(struct contract *c, int64_t at_us, const char *action, const char *target,
                        struct str org)
{
    struct token_uses_change *nothing = ARENA_NEW(&c->mem, struct token_uses_change);
    struct audit *audit = ARENA_NEW(&c->mem, struct audit);
    struct member *m = member_of(c, &nothing->change);

    nothing->change.apply = token_uses_apply;
    *audit = (struct audit){.user_id = STR("u-1"),
                            .user_name = STR("Ada"),
                            .org_id = org,
                            .action = str_of(action),
                            .target = str_of(target),
                            .details_json = STR("{\"a\":1}"),
                            .now_us = at_us};
    m->audit = audit;
    contract_write(c, contract_batch(c, m, NULL));
    assert_int_equal(m->result, MEMBER_APPLIED);
}

struct audit_load {
    struct audit_filter filter;
    struct stored_audits audits;
    struct str next;
};

static void load_audit(struct contract *c, struct reader *r, void *context)
{
    struct audit_load *l = context;
    struct err err;

    assert_true(read_audit(r, &c->mem, &l->filter, &l->audits, &l->next, &err));
}

static size_t count_audit(struct contract *c, struct audit_filter filter)
{
    struct audit_load l = {.filter = filter};

    l.filter.limit = 50;
    contract_read(c, load_audit, &l);
    return l.audits.count;
}

static void test_store__audit_is_found_by_filters(void **state)
{
    struct contract *c = *state;

    write_audit(c, 100, "user.create", "t-1", ORG_DEFAULT);
    write_audit(c, 200, "user.update", "t-1", ORG_DEFAULT);
    write_audit(c, 300, "user.update", "t-2", ORG_OTHER);
#define FILTER(...) ((struct audit_filter){__VA_ARGS__})
    assert_int_equal(count_audit(c, FILTER(0)), 3);
    assert_int_equal(count_audit(c, FILTER(.user_id = STR("u-1"))), 3);
    assert_int_equal(count_audit(c, FILTER(.user_id = STR("u-2"))), 0);
    assert_int_equal(count_audit(c, FILTER(.action = STR("user.update"))), 2);
    assert_int_equal(count_audit(c, FILTER(.target = STR("t-1"))), 2);
    assert_int_equal(count_audit(c, FILTER(.target = STR("t-1"), .action = STR("user.update"))), 1);
    assert_int_equal(count_audit(c, FILTER(.org_id = ORG_OTHER)), 1);
    assert_int_equal(count_audit(c, FILTER(.org_id = ORG_DEFAULT)), 2);
    assert_int_equal(count_audit(c, FILTER(.from_us = 200)), 2);
    assert_int_equal(count_audit(c, FILTER(.to_us = 200)), 2);
    assert_int_equal(count_audit(c, FILTER(.from_us = 200, .to_us = 200)), 1);
#undef FILTER
}

static void test_store__audit_is_paged_newest_first(void **state)
{
    struct contract *c = *state;
    struct audit_load l = {.filter = {.limit = 2}};

    for (int64_t i = 0; i < 5; i++)
        write_audit(c, 100 + i / 2, "a", "t", ORG_DEFAULT);
    contract_read(c, load_audit, &l);
    assert_int_equal(l.audits.count, 2);
    assert_int_equal(l.audits.items[0].at_us, 102);
    assert_str(l.audits.items[0].user_name, "Ada");
    assert_str(l.audits.items[0].details_json, "{\"a\":1}");
    l.filter.cursor = l.next;
    contract_read(c, load_audit, &l);
    assert_int_equal(l.audits.items[0].at_us, 101);
    assert_int_equal(l.audits.items[1].at_us, 100);
    l.filter.cursor = l.next;
    contract_read(c, load_audit, &l);
    assert_int_equal(l.audits.count, 1);
    assert_int_equal(l.next.len, 0);
}

static struct session_change *new_session(struct contract *c, const struct user_change *u,
                                          int64_t now_us)
{
    struct session_change *s = ARENA_NEW(&c->mem, struct session_change);

    s->change = (struct change){.apply = session_change_apply, .now_us = now_us};
    s->session = (struct stored_session){.hash = new_id(c),
                                         .user_id = u->user.id,
                                         .token_id = u->token.id,
                                         .token_hash = u->token.hash};
    return s;
}

static size_t count_sessions(struct contract *c)
{
    struct everyone e;

    contract_reopen(c);
    contract_read(c, load_everyone, &e);
    return e.sessions.count;
}

static void test_store__session_is_kept_until_it_ends(void **state)
{
    struct contract *c = *state;
    struct user_change *u = new_user(c, "Ada", "");
    struct session_change *s, *end = ARENA_NEW(&c->mem, struct session_change);
    struct everyone e;

    assert_int_equal(write_change(c, &u->change)->result, MEMBER_APPLIED);
    s = new_session(c, u, 5000);
    assert_int_equal(write_change(c, &s->change)->result, MEMBER_APPLIED);
    assert_int_equal(s->access_version, u->access_version + 1);
    assert_int_equal(write_change(c, &new_session(c, u, 6000)->change)->result, MEMBER_APPLIED);
    assert_int_equal(count_sessions(c), 2);
    *end = (struct session_change){.change = {.apply = session_change_apply, .now_us = 7000},
                                   .is_end = true,
                                   .session = {.hash = s->session.hash}};
    assert_int_equal(write_change(c, &end->change)->result, MEMBER_APPLIED);
    contract_read(c, load_everyone, &e);
    assert_int_equal(e.sessions.count, 1);
    assert_int_equal(e.sessions.items[0].created_at_us, 6000);
    assert_int_equal(e.sessions.items[0].last_used_at_us, 6000);
    assert_true(str_eq(e.sessions.items[0].token_hash, u->token.hash));
}

static void test_store__session_ends_with_its_token(void **state)
{
    struct contract *c = *state;
    struct user_change *u = new_user(c, "Ada", "");

    assert_int_equal(write_change(c, &u->change)->result, MEMBER_APPLIED);
    assert_int_equal(write_change(c, &new_session(c, u, 5000)->change)->result, MEMBER_APPLIED);
    assert_int_equal(write_change(c, &revocation(c, u->token.id)->change)->result, MEMBER_APPLIED);
    assert_int_equal(count_sessions(c), 0);
}

static void test_store__sessions_that_are_over_or_too_many_are_deleted(void **state)
{
    struct contract *c = *state;
    struct user_change *u = new_user(c, "Ada", ""), *other = new_user(c, "Bob", "");
    struct session_change *s;

    assert_int_equal(write_change(c, &u->change)->result, MEMBER_APPLIED);
    assert_int_equal(write_change(c, &other->change)->result, MEMBER_APPLIED);
    assert_int_equal(write_change(c, &new_session(c, other, 5000)->change)->result, MEMBER_APPLIED);
    for (int64_t i = 0; i < SESSIONS_MAX_OF_USER; i++) {
        s = new_session(c, u, 6000 + i);
        assert_int_equal(write_change(c, &s->change)->result, MEMBER_APPLIED);
        assert_false(s->has_purged);
    }
    s = new_session(c, u, 8000);
    assert_int_equal(write_change(c, &s->change)->result, MEMBER_APPLIED);
    assert_true(s->has_purged);
    assert_int_equal(count_sessions(c), SESSIONS_MAX_OF_USER + 1);
    s = new_session(c, u, 9000 + SESSION_IDLE_US);
    assert_int_equal(write_change(c, &s->change)->result, MEMBER_APPLIED);
    assert_int_equal(count_sessions(c), 1);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, contract_setup, contract_teardown)

static const struct CMUnitTest claims[] = {
    CLAIM(test_store__administrator_and_default_org_are_there),
    CLAIM(test_store__user_is_kept_with_its_first_token),
    CLAIM(test_store__email_belongs_to_one_user),
    CLAIM(test_store__users_without_email_do_not_clash),
    CLAIM(test_store__change_of_a_user_leaves_what_it_does_not_name),
    CLAIM(test_store__users_of_another_org_are_out_of_reach),
    CLAIM(test_store__token_is_made_and_revoked),
    CLAIM(test_store__use_of_a_token_never_goes_back),
    CLAIM(test_store__session_is_kept_until_it_ends),
    CLAIM(test_store__session_ends_with_its_token),
    CLAIM(test_store__sessions_that_are_over_or_too_many_are_deleted),
    CLAIM(test_store__users_are_listed_by_filters),
    CLAIM(test_store__business_key_is_unique_within_an_org),
    CLAIM(test_store__audit_is_found_by_filters),
    CLAIM(test_store__audit_is_paged_newest_first),
};

int contract_run_users(const char *name)
{
    return _cmocka_run_group_tests(name, claims, ARRAY_SIZE(claims), NULL, NULL);
}
