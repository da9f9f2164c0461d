/* SPDX-License-Identifier: BSD-3-Clause */
/* Algorithms on 256 ranks: some whose ranks talk to few others. */
#include "sim_all.h"
#include "simulated.h"

static const char few_peers[] =
    " gather/smp-gather bcast/binomial scatter/binomial allgather/bruck "
    " barrier/dissemination barrier/smp-barrier ";

int main(int argc, char **argv)
{
    simulated_or_skip(argv);
    report(sim_all_run(&(struct sim_all){256, 4, 24, few_peers}),
           "64 nodes of 4 ranks, 24 bytes");
    return reported();
}
