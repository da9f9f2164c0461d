#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Intel MPI 2018, a closed program that speaks uDAPL, over our providers. It
# polls the last bytes of RDMA writes to memory that malloc gave it. With IAS:
# over these IAs of $DAT_OVERRIDE instead.
# shellcheck source=tests/integration/mpi.bash
. "${SOURCE:?}/tests/integration/mpi.bash"
# shellcheck source=tests/integration/tutorial.bash
. "$SOURCE/tests/integration/tutorial.bash"

impi=$wheels/impi2018
[ -e "$impi/complete" ] || skip 'Intel MPI 2018 is not here (make deps)'
programs=$BUILD/test/mpi
[ -x "$programs/mpi_exchange.mpich-wheel" ] || skip 'no MPICH: no programs (make deps)'

hosts=()

# runs IA RANKS 'REGEX' PROGRAM…: ends well, and says that
runs()
{
    IMPI2018=$impi timeout -k 5 60 "$SOURCE/scripts/impi2018" "$1" \
        "${hosts[@]}" -n "$2" "${@:4}" >"$work/out" 2>&1 &&
        grep -q "$3" "$work/out" && return
    echo "status $?:"
    tail -30 "$work/out"
    return 1
}

# imb IA PROGRAM BENCHMARKS: so many of them
imb()
{
    runs "$1" 2 'entering MPI_Finalize' "$wheels/impi/bin/$2" -iter 5 \
        -time 2 -npmin 2 -msglen "$work/lengths" &&
        [ "$(grep -c '^# Benchmarking' "$work/out")" -eq "$3" ]
}
printf '%s\n' 8 70000 300000 >"$work/lengths"

# checked IA RANKS: our own programs, which check their data
checked()
{
    check "$1: messages" runs "$1" "$2" '^0 failures$' \
        "$programs/mpi_exchange.mpich-wheel" 300
    check "$1: collectives" runs "$1" "$2" '^0 failures$' \
        "$programs/mpi_calls.mpich-wheel"
}

# imbs IA: all its benchmarks
imbs()
{
    [ -x "$wheels/impi/bin/IMB-MPI1" ] || return 0 # of make deps-peers
    check "$1: IMB-MPI1" imb "$1" IMB-MPI1 19
    check "$1: IMB-P2P" imb "$1" IMB-P2P 6
    check "$1: IMB-NBC" imb "$1" IMB-NBC 13
    check "$1: IMB-RMA" imb "$1" IMB-RMA 26
}

export DAT_OVERRIDE=${DAT_OVERRIDE:-$BUILD/lib/dapl_rail/dat.conf}
for ia in $(tested_ias); do
    checked "$ia" 3
    imbs "$ia"
done
[ -z "${IAS:-}" ] || exit "$failures"

# offloaded IA: an IA with collectives, of ranks on two hosts, which are this one
offloaded()
{
    # twelve collectives, and the creation of groups
    runs "$1" 4 '^0 failures$' "$programs/mpi_offload.mpich-wheel" 3 &&
        [ "$(grep -o 'I_MPIC_coll_[a-z]*' "$work/out" | sort -u | wc -l)" -eq 13 ]
}
library=$BUILD/lib/dapl_rail/libdcoll_dat.so
{
    cat "$DAT_OVERRIDE"
    sed -n "s|^shm0\(.*\) \"\" \"\"|over-shm\1 \"collectives=$library\" \"\"|p" "$DAT_OVERRIDE"
    sed -n "s|^bond0|over-bond|; s|\"shm0 shm1\"|\"shm0 shm1 collectives=$library\"|p" "$DAT_OVERRIDE"
} >"$work/collectives.conf"
hosts=(-hosts one,two -ppn 2)
for ia in over-shm over-bond; do
    DAT_OVERRIDE=$work/collectives.conf I_MPI_DAPL_COLLECTIVES=all I_MPI_DEBUG=5 \
        check "$ia: collectives" offloaded "$ia"
done
hosts=()

check 'the tutorial' tutorial_steps 60 --with impi2018

# Bonds: of shared memory, and of two rails over TCP.
checked bond0 2
imbs bond0
check 'bond0: messages of 4 ranks' runs bond0 4 '^0 failures$' \
    "$programs/mpi_exchange.mpich-wheel" 50
[ -e "$BUILD/lib/dapl_rail/libdapl_ofi.so" ] || exit "$failures"
{
    cat "$DAT_OVERRIDE"
    sed -n 's/^tcp-lo/left/p' "$DAT_OVERRIDE"
    sed -n 's/^tcp-lo/right/p' "$DAT_OVERRIDE"
    sed -n 's/^bond0/bond-tcp/; s/"shm0 shm1"/"left right"/p' "$DAT_OVERRIDE"
} >"$work/dat.conf"
export DAT_OVERRIDE=$work/dat.conf
checked bond-tcp 2
imbs bond-tcp
