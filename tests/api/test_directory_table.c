/* test_directory_table.c - tokens and sessions in memory: how long they count. */
#include "api/access/directory_table.h"
#include "store/org.h"
#include "store/read_user.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define DAY_US (INT64_C(86400) * 1000000)
#define NOW_US (1000 * DAY_US)

static struct str hex_of(struct arena *mem, const char *secret)
{
    return token_hash_hex(mem, str_of(secret));
}

static struct directory_entry *find_session(const struct directory_table *t, const char *secret)
{
    uint8_t hash[TOKEN_HASH_LEN];

    token_hash(str_of(secret), hash);
    return table_find(&t->sessions, hash);
}

/* One user with a token "t" that expires after ten days, and sessions that rest on it. */
static void fill(struct directory_table *t)
{
    struct everyone all = {0};
    uint8_t admin[TOKEN_HASH_LEN];
    static const struct {
        const char *secret, *token;
        int64_t created_us, used_us;
    } sessions[] = {
        {"fresh", "t", NOW_US, NOW_US},
        {"idle", "t", NOW_US - 10 * DAY_US, NOW_US - 6 * DAY_US},
        {"old", "t", NOW_US - 29 * DAY_US, NOW_US},
        {"of nothing", "gone", NOW_US, NOW_US},
        {"of the file", "admin", NOW_US, NOW_US},
    };

    table_init(t);
    *VEC_ADD(&t->mem, &all.users) =
        (struct stored_user){.id = USER_ADMIN, .role = STR("admin"), .is_active = true};
    *VEC_ADD(&t->mem, &all.users) =
        (struct stored_user){.id = STR("u"), .role = STR("viewer"), .is_active = true};
    *VEC_ADD(&t->mem, &all.tokens) = (struct stored_token){.id = STR("1"),
                                                           .user_id = STR("u"),
                                                           .hash = hex_of(&t->mem, "t"),
                                                           .expires_at_us = NOW_US + 10 * DAY_US};
    for (size_t i = 0; i < ARRAY_SIZE(sessions); i++)
        *VEC_ADD(&t->mem, &all.sessions) = (struct stored_session){
            .hash = hex_of(&t->mem, sessions[i].secret),
            .user_id = i == 4 ? USER_ADMIN : STR("u"),
            .token_hash = hex_of(&t->mem, sessions[i].token),
            .created_at_us = sessions[i].created_us,
            .last_used_at_us = sessions[i].used_us,
        };
    token_hash(STR("admin"), admin);
    table_fill(t, admin, &all);
}

static bool counts(const struct directory_table *t, const char *secret, int64_t now_us)
{
    const struct directory_entry *e = find_session(t, secret);

    return e != NULL && entry_is_valid(e, now_us);
}

static void test_session__lives_seven_days_of_use_and_thirty_at_most(void **state)
{
    struct directory_table t;

    (void)state;
    fill(&t);
    assert_true(counts(&t, "fresh", NOW_US + 7 * DAY_US - 1));
    assert_false(counts(&t, "fresh", NOW_US + 7 * DAY_US));
    assert_true(counts(&t, "idle", NOW_US + DAY_US - 1));
    assert_false(counts(&t, "idle", NOW_US + DAY_US));
    assert_true(counts(&t, "old", NOW_US + DAY_US - 1));
    assert_false(counts(&t, "old", NOW_US + DAY_US));
    table_fini(&t);
}

static void test_session__ends_with_its_token(void **state)
{
    struct directory_table t;
    struct directory_entry *fresh;

    (void)state;
    fill(&t);
    fresh = find_session(&t, "fresh");
    fresh->used_us = NOW_US + 9 * DAY_US;
    assert_true(counts(&t, "fresh", NOW_US + 10 * DAY_US - 1));
    assert_false(counts(&t, "fresh", NOW_US + 10 * DAY_US)); /* the token has expired */
    assert_null(find_session(&t, "of nothing"));
    assert_true(counts(&t, "of the file", NOW_US));
    table_drop(&t, map_get(&t.ids, STR("1")));
    assert_false(entry_is_valid(fresh, NOW_US));
    assert_null(find_session(&t, "fresh"));
    assert_null(find_session(&t, "old"));
    assert_true(counts(&t, "of the file", NOW_US));
    table_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session__lives_seven_days_of_use_and_thirty_at_most),
        cmocka_unit_test(test_session__ends_with_its_token),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
