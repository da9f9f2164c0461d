/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs with a malloc of their own often leave out aligned_alloc, whose
 * memory their free does not know. So providers must not use it. */
#include "util.h"

#include <stdatomic.h>

static atomic_int calls;

STAND_IN void *aligned_alloc(size_t alignment, size_t size)
{
    void *memory;
    atomic_fetch_add(&calls, 1);
    return posix_memalign(&memory, alignment, size) ? NULL : memory;
}

static void no_aligned_alloc(void **state)
{
    end_t a, b;
    ends_open(&a, &b, MEMORY_MALLOC, 4096);
    end_connect_both(&a, &b);
    ends_close(&a, &b);
    assert_int_equal(atomic_load(&calls), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_aligned_alloc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
