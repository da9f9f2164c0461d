/* SPDX-License-Identifier: BSD-3-Clause */
/* DCOLL_MPI=stats: rank 0 of MPI_COMM_WORLD says what became of its calls. */
#include <stdio.h>

#include "mpi/choose/choose.h"

static const char *const reasons[LAYER_REASONS] = {
    [LAYER_TAKEN] = "taken",
    [LAYER_SLOWER] = "left: the program's MPI is faster, or is being timed",
    [LAYER_EARLY] = "left: too few calls so far to pay for a team",
    [LAYER_INEXACT] =
        "left: it rounds (DCOLL_MPI=inexact takes blocking calls)",
    [LAYER_EMPTY] = "left: no bytes",
    [LAYER_IN_PLACE] = "left: MPI_IN_PLACE with blocks of different sizes",
    [LAYER_TWINS] = "left: two blocks from the same neighbour",
    [LAYER_TYPE] = "left: datatype or operation not supported",
    [LAYER_LONG] = "left: too long",
    [LAYER_WRONG] = "left: wrong arguments",
    [LAYER_NO_TEAM] =
        "left: the communicator has no team, or all calls are left",
    [LAYER_INTERCEPTED] =
        "left: another library intercepts MPI_Wait or the like",
    [LAYER_UNPREPARED] = "left: not prepared yet",
    [LAYER_MEMORY] = "left: no memory, or too long, on a rank",
    [LAYER_FAILED] = "failed",
};

static void print_calls(const char *prefix, int collective, const char *suffix,
                        const _Atomic uint64_t *of)
{
    char name[32];
    snprintf(name, sizeof name, "%s%s%s", prefix, layer_name(collective),
             suffix);
    for (int reason = 0; reason < LAYER_REASONS; reason++) {
        unsigned long long calls = of[reason];
        if (calls)
            fprintf(stderr, "dcoll_mpi: %-10s %12llu  %s\n", name, calls,
                    reasons[reason]);
    }
}

static void print_collective(int collective)
{
    print_calls("", collective, "", layer.calls[collective]);
    print_calls("i", collective, "", layer.forms[FORM_NONBLOCKING][collective]);
    print_calls("", collective, "_init",
                layer.forms[FORM_PERSISTENT][collective]);
}

void stats_print(void)
{
    unsigned long long all = 0, mine = layer.differences;
    int rank;
    if (layer.off || pmpi.Comm_rank(MPI_COMM_WORLD, &rank))
        return;
    if (layer.verify)
        pmpi.Reduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0,
                    MPI_COMM_WORLD);
    if (rank != 0)
        return;
    fprintf(stderr, "dcoll_mpi: calls of rank 0 of MPI_COMM_WORLD\n");
    for (int i = 0; i < LAYER_COLLECTIVES; i++)
        print_collective(i);
    if (layer.verify)
        fprintf(stderr, "dcoll_mpi: verify: %llu differences on all ranks\n",
                all);
    else if (!layer.always) /* which times nothing */
        fprintf(stderr,
                "dcoll_mpi: about %.6f s saved, and %.6f s spent on teams, "
                "trials and preparation\n",
                layer.saved, layer.spent);
}
