/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of the providers keep the priority and the policy that the user has
 * given. */
#include "unit.h"

#include <sys/resource.h>

#include "providers/core/thread.h"

static void short_slices_keep_nice(void **state)
{
    assert_int_equal(setpriority(PRIO_PROCESS, 0, 19), 0);
    core_thread_short_slices();
    assert_int_equal(getpriority(PRIO_PROCESS, 0), 19);
}

static void short_slices_keep_policy(void **state)
{
    struct sched_param none = {0};
    assert_int_equal(sched_setscheduler(0, SCHED_BATCH, &none), 0);
    core_thread_short_slices();
    assert_int_equal(sched_getscheduler(0), SCHED_BATCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_slices_keep_nice),
        cmocka_unit_test(short_slices_keep_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
