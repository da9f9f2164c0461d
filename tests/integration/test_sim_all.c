/* SPDX-License-Identifier: BSD-3-Clause */
/* All algorithms on 64 ranks. */
#include "sim_all.h"
#include "simulated.h"

int main(int argc, char **argv)
{
    simulated_or_skip(argv);
    report(sim_all_run(&(struct sim_all){64, 4, 24, NULL}),
           "16 nodes of 4 ranks, 24 bytes");
    return reported();
}
