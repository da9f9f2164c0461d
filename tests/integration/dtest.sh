#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Debian's genuine dtest programs over the provider `shm`, or, a part of them,
# the rail IA=name (of CONF=dat.conf). (dtestsrq is left out: it ends only after
# an asynchronous event that verbs alone have.)

# They meet over one TCP port, as do others that run at the same time: where it
# may, this has a network of its own.
if [ -z "${OWN_NETWORK:-}" ] && unshare --net ip link set lo up 2>/dev/null; then
    OWN_NETWORK=1 exec unshare --net sh -c 'ip link set lo up; exec bash "$0"' "$0"
fi

# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

export DAT_OVERRIDE=${CONF:-$BUILD/lib/dapl_rail/dat.conf}
ia=${IA:-shm3}

# The programs first meet over this TCP port, then connect over DAT.
meeting='00000000:3DD4 00000000:0000 0A'
too_early=0x4003 # DAT_CONNECTION_EVENT_NON_PEER_REJECTED

# once PROGRAM ARGUMENT…: one run of a server and a client; both must end well
once()
{
    local program=$1 server client_status server_status
    shift
    timeout -k 10 30 "$program" -P "$ia" -s "$@" >"$work/server.log" 2>&1 &
    server=$!
    background=("$server")
    await_text /proc/net/tcp "$meeting" || return 1
    timeout -k 10 30 "$program" -P "$ia" -h localhost "$@" \
        >"$work/client.log" 2>&1
    client_status=$?
    ! grep -Eq "$too_early|FAILED" "$work/client.log" || kill -TERM $server
    await_exit $server 30
    server_status=$?
    background=()
    echo "status: client $client_status, server $server_status"
    [ $client_status -eq 0 ] && [ $server_status -eq 0 ]
}

# pair NAME SUCCESS PROGRAM ARGUMENT…: both sides must tell of success. Some
# servers listen only after they met, so the client may come too early: then
# it is refused and they try again.
pair()
{
    local name=$1 success=$2 good
    shift 2
    echo "# $*"
    for _ in $(seq 20); do
        good=1
        once "$@" || good=0
        grep -q $too_early "$work/client.log" || break
    done
    grep -Eq "$success" "$work/client.log" || good=0
    grep -Eq "$success" "$work/server.log" || good=0
    ! grep -Eiq 'FAILED|error|unexpected' "$work/"{client,server}.log || good=0
    if [ $good -eq 1 ]; then
        echo "ok - $name"
    else
        echo "NOT OK - $name, output:"
        cat "$work/client.log" "$work/server.log"
        failures=$((failures + 1))
    fi
}

buffer=()
[ "$ia" = shm3 ] || buffer=(-b 262144) # its default is for memory's speed
pair 'dtest, waiting' PASSED dtest "${buffer[@]}"
pair 'dtest, polling' PASSED dtest -p "${buffer[@]}"
pair 'dtest, CNO' PASSED dtest -c "${buffer[@]}"
pair 'dtest, 64 KiB bursts' PASSED dtest -b 65536 -B 20
case $ia in
shm3 | bond*) pair 'dtestx, immediate data and atomics' PASSED dtestx ;;
esac
[ "$ia" = shm3 ] || exit "$failures"

# Over TCP the first spins on memory where the provider's thread wants a core,
# and the last's server takes the event of a connection that ended before all
# were established for one of these, and then waits for one more than there is.
pair 'dtest, ping-pong with validation' PASSED dtest -W -D -b 4096
pair 'dtestcm, 1000 connections' 'ALL 1000 CONNECTED' dtestcm
