/* test_chain.c - the triggers that led to an execution. */
#include "check.h"

#include "engine/chain.h"

TEST(chain, is_known_by_whole_names)
{
    CHECK(!chain_has(STR_NONE, STR("a/0")));
    CHECK(chain_has(STR("a/0"), STR("a/0")));
    CHECK(chain_has(STR("b/1 a/0 c/2"), STR("a/0")));
    CHECK(chain_has(STR("b/1 a/0 c/2"), STR("c/2")));
    CHECK(!chain_has(STR("aa/0 a/01"), STR("a/0")));
    CHECK(!chain_has(STR("aa/0 a/01"), STR("a/1")));
}
