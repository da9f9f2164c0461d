/* SPDX-License-Identifier: BSD-3-Clause */
/* What became of the calls, told by rank 0 of MPI_COMM_WORLD of its own ones.
 */
#include <stdio.h>

#include "mpi/layer.h"

static const char *const reasons[LAYER_REASONS] = {
    [LAYER_TAKEN] = "taken",
    [LAYER_SLOWER] = "left: faster below, or timed there",
    [LAYER_EARLY] = "left: too early for a team",
    [LAYER_INEXACT] = "left: inexact, see DCOLL_MPI",
    [LAYER_EMPTY] = "left: no bytes",
    [LAYER_PLACE] = "left: in place",
    [LAYER_TYPE] = "left: datatype or operation",
    [LAYER_LONG] = "left: too long",
    [LAYER_WRONG] = "left: wrong arguments",
    [LAYER_COMM] = "left: by communicator, or all",
    [LAYER_AHEAD] = "left: a library ahead has MPI_Wait or the like",
    [LAYER_LATER] = "left: not prepared yet",
    [LAYER_MEMORY] = "left: no memory, or too long, on a rank",
    [LAYER_FAILED] = "failed",
};

static void print_calls(const char *before, int collective, const char *behind,
                        const _Atomic uint64_t *of)
{
    char name[32];
    snprintf(name, sizeof name, "%s%s%s", before, layer_name(collective),
             behind);
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
    print_calls("i", collective, "", layer.forms[FORM_BEGIN][collective]);
    print_calls("", collective, "_init", layer.forms[FORM_INIT][collective]);
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
    if (layer.threads)
        fprintf(stderr, "dcoll_mpi: MPI_THREAD_MULTIPLE: all is left to the "
                        "MPI below\n");
    if (layer.verify)
        fprintf(stderr, "dcoll_mpi: verify: %llu differences on all ranks\n",
                all);
    else if (!layer.always) /* else nothing has been timed */
        fprintf(stderr,
                "dcoll_mpi: about %.6f s saved, and %.6f s spent on teams, "
                "trials and what was prepared\n",
                layer.saved, layer.spent);
}
