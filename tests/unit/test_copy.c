/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/limits/copy.c and cacheline.c: what they say they copied is copied,
 * nothing around it is touched, and times are above what any machine could do.
 */
#include <math.h>
#include "unit.h"
#include "bench/limits/cacheline.h"
#include "bench/limits/copy.h"
#include "bench/limits/cores.h"

#define MEMORY 65536

static uint8_t *from, *to;

static int setup(void **state)
{
    from = aligned_alloc(64, MEMORY);
    to = aligned_alloc(64, MEMORY);
    for (size_t i = 0; from && i < MEMORY; i++)
        from[i] = (uint8_t)(i * 131 + (i >> 8));
    return from && to ? 0 : -1;
}

static int teardown(void **state)
{
    free(from);
    free(to);
    return 0;
}

static void test_reused(void **state)
{
    static const size_t sizes[] = {
        1, 63, 64, 65, 4096, 16384, 20481, 32700, MEMORY / 2 - 1};
    for (int kernel = 0; kernel < COPY_KERNELS; kernel++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            copy_part_t parts[2];
            size_t n = sizes[i];
            memset(to, 0, MEMORY);
            for (unsigned p = 0; p < 2; p++)
                parts[p] = (copy_part_t){.from = from + p * MEMORY / 2,
                                         .to = to + p * MEMORY / 2,
                                         .bytes = n,
                                         .span = n,
                                         .copies = 3,
                                         .cpu = -1};
            double rate = copy_run(parts, 2, (copy_kernel_t)kernel);
            assert_true(rate > 0 && isfinite(rate));
            for (unsigned p = 0; p < 2; p++) {
                assert_memory_equal(parts[p].to, parts[p].from, n);
                assert_int_equal(parts[p].to[n], 0);
            }
        }
}

/* Copies walk through the span and go on there in the next run. */
static void test_walking(void **state)
{
    copy_part_t part = {.from = from,
                        .to = to,
                        .bytes = 4096,
                        .span = MEMORY,
                        .copies = 3,
                        .cpu = -1};
    memset(to, 0, MEMORY);
    assert_true(copy_run(&part, 1, COPY_PLAIN) > 0);
    assert_int_equal(part.at, 3 * 4096);
    assert_memory_equal(to, from, part.at);
    for (size_t i = part.at; i < MEMORY; i++)
        assert_int_equal(to[i], 0);
    part.copies = MEMORY / 4096 - 3;
    assert_true(copy_run(&part, 1, COPY_PLAIN) > 0);
    assert_memory_equal(to, from, MEMORY);
}

static void test_cache_lines(void **state)
{
    cores_t cores;
    cores_allowed(&cores);
    assert_true(cores.count > 0);
    if (cores.count < 2)
        skip();
    for (int lines = TRANSFER_ONE; lines <= TRANSFER_TWO; lines++) {
        double ns =
            cacheline_run(cores.cpu[0], cores.cpu[1], (transfer_t)lines, 500);
        assert_true(ns > 1 && isfinite(ns));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reused),
        cmocka_unit_test(test_walking),
        cmocka_unit_test(test_cache_lines),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
