#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# make peers: an MPI is there if its compiler finds its header, whatever else it
# says. Stands in for the compilers; nothing is built.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

# compiler NAME COMMANDS: a stand-in, which gets all arguments
compiler()
{
    printf '#!/bin/sh\n%s\n' "$2" >"$work/$1"
    chmod 755 "$work/$1"
}
compiler works ':'
compiler fails 'exit 1'
compiler fails_aloud 'echo "mpicc: no configuration"; exit 1'
compiler headless 'case "$*" in *mpi.h*) exit 1 ;; esac'
compiler warns 'echo "mpicc: an old one" >&2'

# programs OPENMPI MPICH: those of these two that make would build
programs()
{
    make -C "$SOURCE" -Bn peers WHEELS="$work/none" MPICC_OPENMPI="$work/$1" \
        MPICC_MPICH="$work/$2" 2>"$work/err" |
        grep -o -- '-o [^ ]*/peers/mpi_[^ ]*' | sed 's,.*/,,' | sort |
        tr '\n' ' '
}
# builds 'PROGRAMS' OPENMPI MPICH: these, and no others
builds()
{
    local found
    found=$(programs "$2" "$3")
    [ "$found" = "${1:+$1 }" ] && return 0
    echo "would build: $found"
    cat "$work/err"
    return 1
}
openmpi='mpi_coll.openmpi mpi_p2p.openmpi'
mpich='mpi_coll.mpich mpi_p2p.mpich'

check 'two that work' builds \
    'mpi_coll.mpich mpi_coll.openmpi mpi_p2p.mpich mpi_p2p.openmpi' works works
check 'one that warns' builds "$openmpi" warns none
check 'none is there' builds '' none none
check 'one fails' builds "$mpich" fails works
check '… and says so on standard output' builds "$mpich" fails_aloud works
check 'without its header' builds "$openmpi" works headless
