/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of the providers keep the priority that the user has given. */
#include "unit.h"

#include <sys/resource.h>

#include "providers/core/thread.h"

static void short_slices_keep_nice(void **state)
{
    assert_int_equal(setpriority(PRIO_PROCESS, 0, 19), 0);
    core_thread_short_slices();
    assert_int_equal(getpriority(PRIO_PROCESS, 0), 19);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_slices_keep_nice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
