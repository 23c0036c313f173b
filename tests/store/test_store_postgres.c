/* test_store_postgres.c - the contract on PostgreSQL, and what only a server can suffer. */
#include "store/contract.h"
#include "store/private_postgres.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

int main(void)
{
    static const struct contract_backend backend = {.fresh_url = private_postgres_fresh};
    int failed;

    if (!private_postgres_start())
        return 1;
    failed = contract_run(&backend, "postgres");
    private_postgres_end();
    return failed;
}
