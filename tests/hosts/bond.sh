#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A bond between two hosts: a slow rail is not taken for a lost one; a rail that
# loses the data of reads is soon taken for lost; Intel MPI 2018 exchanges random
# messages while a rail is cut, or loses all.
#
# By hand, only the exchange, and for long: EXCHANGE=600s (or rounds; default
# 2000), SEED (the seed of a run is told), WAYS='cut drop', and STALL_MS: a round
# that takes longer is an error (default: it is only told).
# shellcheck source=tests/hosts/hosts.bash
. "${SOURCE:?}/tests/hosts/hosts.bash"
length=${EXCHANGE:-2000}
limit=120 # seconds of an exchange
[ "${length%s}" = "$length" ] || limit=$((limit + ${length%s}))
export SEED=${SEED:-$((RANDOM + 1))}
LIMIT=$((limit + 80)) inside --hosts 2 --rails 2 --rate 1gbit

library=$BUILD/lib/dapl_rail
line() { echo "$1 u2.0 nonthreadsafe default \"$library/$2\" dapl_rail.0.1 \"$3\" \"\""; }
{
    line left libdapl_ofi.so 'device=rail0'
    line right libdapl_ofi.so 'device=rail1'
    line near libdapl_shm.so ''
    line bond libdapl_bond.so 'left right'
    line near-last libdapl_bond.so 'left near'
    line near-first libdapl_bond.so 'near left'
    line offload libdapl_bond.so "left right collectives=$library/libdcoll_dat.so"
} >"$work/dat.conf"
export DAT_OVERRIDE=$work/dat.conf

# ------------------------------------------------------------ a slow rail --

# How often has n1 connected by TCP?
connects() { on n1 awk '/^Tcp: [0-9]/ { print $6 }' /proc/net/snmp; }

# serve [BOND]: sets server, the pid
serve()
{
    port=$((port + 1))
    on n2 timeout -k 5 60 dapltest -T S -D "${1:-bond}" -n $port >"$work/server" 2>&1 &
    server=$!
    await_text "$work/server" 'Service Point Ready'
}

# access WORDS…: of n2's memory by n1
access()
{
    on n1 timeout -k 5 60 dapltest -T P -D bond -s n2-rail0 -n $port "$@" \
        >"$work/out" 2>&1 || cat "$work/out" >&2
}

# long_writes: sets count, the connections that they need
long_writes()
{
    local before
    serve || return 1
    before=$(connects)
    access -i 2 RW 2097152 1
    count=$(($(connects) - before))
    kill $server 2>/dev/null
    wait $server
}

slow_rail()
{
    local usual
    long_writes
    usual=$count
    testbed rate rail1 10
    long_writes
    testbed rate rail1 1gbit
    echo "# $count connections, usually $usual"
    [ "${usual:-0}" -gt 0 ] && [ "$count" = "$usual" ]
}
[ -n "${EXCHANGE:-}" ] ||
    check 'a slow rail is not taken for a lost one' slow_rail

# ----------------------------------------- members without a common fabric --

# reaches BOND WORDS EVENT: n1 connects to n2 by such a bond, which says WORDS
reaches()
{
    serve "$1" || return 1
    on n1 timeout -k 5 60 dapltest -T P -D "$1" -s n2-rail0 -n $port -i 30000 \
        RW 8 1 >"$work/out" 2>&1
    kill $server 2>/dev/null
    wait $server
    grep -q "dapl bond: rail $1: $2" "$work/out" &&
        grep -q "$3" "$work/out" && return
    cat "$work/out"
    return 1
}
if [ -z "${EXCHANGE:-}" ]; then
    check 'a member that does not reach the peer: the others carry all' \
        reaches near-last 'near does not reach the peer; the others carry' \
        'Operation Throughput'
    check 'the first member does not reach the peer: no connection' \
        reaches near-first 'near, the first member, does not reach the peer' \
        CONNECTION_EVENT_UNREACHABLE
fi

# -------------------------------------------------------------- lost rails --

# arrived: the bytes that have come to n1 over rail1
arrived() { on n1 cat /sys/class/net/rail1/statistics/rx_bytes; }
have_arrived() { [ "$(arrived)" -gt "$1" ]; }

# The reading end has sent its requests. So only the other end's system awaits
# acknowledgements, and the reading end's hears of the loss a second later. A
# read of 24 MiB takes 0.53 s over the one rail that is left, 0.27 s over both.
lost_reads()
{
    local pid longest
    serve || return 1
    access -i 4 RR 25165824 1 &
    pid=$!
    soon have_arrived $(($(arrived) + 2000000))
    testbed drop rail1
    wait $pid
    testbed mend rail1
    kill $server 2>/dev/null
    longest=$(awk '/^Time Per Reap/ { reaps = 1 }
        reaps && /maximum/ { print int($3 / 1000); exit }' "$work/out")
    echo "figures: the longest read took $longest ms, of them 527 ms for its data"
    [ "${longest:-9999}" -lt 1000 ]
}
if [ -z "${EXCHANGE:-}" ]; then
    testbed rate rail0 400
    testbed rate rail1 400
    check 'a rail that loses the data of reads is soon taken for lost' lost_reads
    testbed rate rail0 1gbit
    testbed rate rail1 1gbit
fi

# --------------------------------------------------------- Intel MPI 2018 --

impi=$BUILD/wheels/impi2018
program=$BUILD/test/mpi/mpi_exchange.mpich-wheel
[ -e "$impi/complete" ] && [ -x "$program" ] || {
    echo 'skipped: Intel MPI 2018 or MPICH is not here (make deps)'
    exit "$failures"
}

# back NUMBER PID: n1 has a connection over this rail, or the process has ended
back()
{
    on n1 grep -q ": 010$(($1 + 1))D50A:.* 01 " /proc/net/tcp ||
        ! kill -0 "$2" 2>/dev/null
}

# Until the process ends, each rail in turn is cut, or loses all in silence. The
# bond needs one of them.
disturb()
{
    local way rail
    lost=0
    soon back 1 "$1" # the last of the connection's links
    sleep 0.5
    while kill -0 "$1" 2>/dev/null; do
        for way in ${WAYS:-cut drop}; do
            for rail in 0 1; do
                testbed "$way" $rail
                lost=$((lost + 1))
                sleep 0.4
                testbed mend $rail
                soon back $rail "$1"
                sleep 0.3
            done
        done
    done
}

# lasted: the longest round, in ms
lasted() { sed -n 's/^longest round: \([0-9]*\).*/\1/p' "$work/out"; }

# impi IA PPN WORDS…: PPN ranks on each host
impi()
{
    IMPI2018=$impi on n1 timeout -k 5 $limit "$SOURCE/scripts/impi2018" "$1" \
        -bootstrap ssh -bootstrap-exec /run/testbed/bin/agent -iface eth0 \
        -hosts n1,n2 -ppn "$2" -n $(($2 * 2)) "${@:3}" >"$work/out" 2>&1
}

# The bond's own collectives.
offloaded()
{
    I_MPI_DAPL_COLLECTIVES=all impi offload 2 \
        "$BUILD/test/mpi/mpi_offload.mpich-wheel" 2 &&
        grep -q '^0 failures$' "$work/out" && return
    cat "$work/out"
    return 1
}
[ -n "${EXCHANGE:-}" ] ||
    check 'Intel MPI 2018 uses the collectives of a bond' offloaded

# Random messages between hosts, while rails are lost.
exchange()
{
    local pid
    impi bond 1 "$program" "$length" "$SEED" &
    pid=$!
    disturb $pid
    wait $pid && grep -q '^0 failures$' "$work/out" &&
        [ "$(lasted)" -le "${STALL_MS:-1000000}" ] && return
    cat "$work/out"
    return 1
}
check "Intel MPI 2018 while rails are lost, seed $SEED" exchange
echo "figures: the longest round took $(lasted) ms; $lost losses of a rail"
