/* test_store_sqlite.c - the contract on SQLite, and what only a file can suffer. */
#include "store/contract.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct str no_url(void)
{
    return STR("sqlite");
}

int main(void)
{
    static const struct contract_backend backend = {.fresh_url = no_url, .is_sqlite = true};

    return contract_run(&backend, "sqlite");
}
