/* SPDX-License-Identifier: BSD-3-Clause */
/* Rails over TCP, all on the loopback device, and a bond of two; skipped
 * without libfabric. */
#ifndef TESTS_OVER_TCP_H
#define TESTS_OVER_TCP_H

#include "conf.h"
#include "ranks.h"

static inline int over_tcp(const struct test *tests, size_t n, int argc,
                           char **argv)
{
    if (!conf_has_ofi()) {
        printf("1..0 # skipped: there is no libfabric here\n");
        return 77;
    }
    conf_restart(argv, RAIL_OF("ofi", "tcp-a", "device=lo")
                           RAIL_OF("ofi", "tcp-b", "device=lo")
                               RAIL_OF("ofi", "tcp-c", "device=lo")
                                   RAIL_OF("bond", "bond-ab", "tcp-a tcp-b"));
    return run_tests(tests, n, 1, argc, argv);
}

#define RUN_TESTS_OVER_TCP(tests)                                              \
    int main(int argc, char **argv)                                            \
    {                                                                          \
        return over_tcp(tests, sizeof tests / sizeof tests[0], argc, argv);    \
    }

#endif
