/* SPDX-License-Identifier: BSD-3-Clause */
/* A rail whose link model contradicts another rail's does not open, and leaves
 * nothing in the model: its port may then be described otherwise. */
#include "util.h"

#include <stdio.h>
#include <unistd.h>

/* Three rails on one adapter. "second" is wrong in the adapter's rate, after
 * its port has been looked up. "third" has the same port. */
static const char *const rails[][3] = {
    {"libdapl_shm.so", "first", "rate=9 adapter=h adapter_rate=9 port=p"},
    {"libdapl_shm.so", "second", "rate=9 adapter=h adapter_rate=8 port=q"},
    {"libdapl_shm.so", "third", "rate=7 adapter=h adapter_rate=9 port=q"},
};
#define RAILS (sizeof rails / sizeof *rails)

static DAT_RETURN open_rail(unsigned i, DAT_IA_HANDLE *ia)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    return dat_ia_open((char *)(uintptr_t)rails[i][1], 8, &async, ia);
}

static void refused_rail_leaves_no_trace(void **state)
{
    DAT_IA_HANDLE first, second, third;
    DAT_OK(open_rail(0, &first));
    DAT_FAILS(open_rail(1, &second), DAT_INVALID_PARAMETER);
    DAT_OK(open_rail(2, &third));
    DAT_OK(dat_ia_close(third, DAT_CLOSE_ABRUPT_FLAG));
    DAT_OK(dat_ia_close(first, DAT_CLOSE_ABRUPT_FLAG));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_rail_leaves_no_trace),
    };
    restart_with_lines(argv, rails, RAILS);
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}
