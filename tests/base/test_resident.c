/* test_resident.c - claims about memory that is given back after the start. */
#include "base/attr.h"
#include "base/resident.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { TABLE_BYTES = 1 << 20 };

/* As it is in the file; the first and the last byte are not those of a page that others share. */
static const volatile unsigned char table[TABLE_BYTES] = {[0] = 7, [TABLE_BYTES - 1] = 9};
static unsigned char written[TABLE_BYTES] = {[0] = 1};

static long file_pages(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long total, resident, shared;

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld %ld", &total, &resident, &shared), 3);
    (void)fclose(f);
    return shared;
}

static unsigned sum_of_table(void)
{
    unsigned sum = 0;

    for (size_t i = 0; i < TABLE_BYTES; i++)
        sum += table[i];
    return sum;
}

static void test_resident__pages_of_files_are_given_back_and_come_again(void **state)
{
    long before;

    (void)state;
    memset(written, 3, sizeof(written));
    assert_int_equal(sum_of_table(), 16);
    before = file_pages();
    resident_trim();
    assert_true(file_pages() <= before - TABLE_BYTES / 4096 / 2);
    assert_int_equal(sum_of_table(), 16);
    for (size_t i = 0; i < sizeof(written); i++)
        assert_int_equal(written[i], 3);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resident__pages_of_files_are_given_back_and_come_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
