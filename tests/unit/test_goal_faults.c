/* SPDX-License-Identifier: BSD-3-Clause */
/* railbench prove --goal and --schedule without memory: an error, not a short
 * file. The program is linked so that allocations come here first. */
#include <errno.h>

#include "unit.h"
#include "bench/prove/prove.h"
#include "tests/stand_in.h"

static unsigned calls, fail_at; /* the call of this number fails; 0: none */

void *__real_calloc(size_t n, size_t size);
STAND_IN void *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *at, size_t size);
STAND_IN void *__wrap_realloc(void *at, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
    return ++calls == fail_at ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *at, size_t size)
{
    return ++calls == fail_at ? NULL : __real_realloc(at, size);
}

typedef int writer_t(FILE *file, format_t format, const void *result);

static size_t length_of(writer_t *write, const verify_result_t *r, int *rc)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    calls = 0;
    errno = 0;
    *rc = write(file, FORMAT_TABLE, r);
    const int error = errno;
    const unsigned failed = fail_at;
    fail_at = 0;
    assert_int_equal(fclose(file), 0);
    free(text);
    if (*rc)
        assert_int_equal(error, ENOMEM);
    fail_at = failed;
    return size;
}

static void check(writer_t *write, const verify_result_t *r)
{
    int rc;
    fail_at = 0;
    const size_t length = length_of(write, r, &rc);
    const unsigned all = calls;
    unsigned failures = 0;
    assert_int_equal(rc, 0);
    for (unsigned i = 1; i <= all; i++) {
        fail_at = i;
        const size_t got = length_of(write, r, &rc);
        failures += rc != 0;
        assert_true(rc || got == length); /* some are not needed */
    }
    assert_true(failures > 5);
    fail_at = 0;
    assert_int_equal(length_of(write, r, &rc), length);
}

static void test_no_memory(void **state)
{
    unsigned begin[10];
    options_t opts = {.goal.unit = 1};
    verify_row_t row = {
        .algorithm = dcoll_algorithm_find(DCOLL_ALLGATHER, "bruck"),
        .bytes = 64,
        .args = {.collective = DCOLL_ALLGATHER, .bytes = 64, .depth = 2}};
    const verify_result_t result = {
        .opts = &opts,
        .shape = {9, dcoll_shape_nodes(9, 1, begin), begin, 2},
        .rows = &row,
        .nrows = 1};
    check(verify_goal, &result);
    check(verify_schedules, &result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
