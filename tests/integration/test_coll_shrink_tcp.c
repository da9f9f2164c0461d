/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks die and the others shrink their team: over TCP. */
#include "conf.h"
#include "shrink_scene.h"

int main(int argc, char **argv)
{
    if (!conf_has_ofi()) {
        printf("1..0 # skipped: there is no libfabric here\n");
        return 77;
    }
    conf_restart(argv, RAIL_OF("ofi", "tcp-a", "device=lo")
                           RAIL_OF("ofi", "tcp-b", "device=lo"));
    setenv("DRAIL_RAILS", "tcp-a,tcp-b", 1);
    return shrink_all(argc, argv);
}
