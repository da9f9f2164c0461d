#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Debian's genuine dapltest and dtest between two hosts.
# shellcheck source=tests/hosts/hosts.bash
. "${SOURCE:?}/tests/hosts/hosts.bash"
inside --hosts 2 --rails 1 --rate 1gbit

export DAT_OVERRIDE=$work/dat.conf
sed -n 's/device=lo/device=rail0/; s/^tcp-lo/rail0/p' \
    "$BUILD/lib/dapl_rail/dat.conf" >"$DAT_OVERRIDE"

# serve COMMAND…: on n1
serve()
{
    on n1 stdbuf -oL timeout -k 10 60 "$@" >"$work/server" 2>&1 &
    server=$!
    background=("$server")
}

# client SUCCESS COMMAND…: on n2, ends well and says so
client()
{
    local success=$1
    shift
    on n2 timeout -k 10 30 "$@" >"$work/client" 2>&1 &&
        grep -q "$success" "$work/client" &&
        ! grep -Eiq 'error|fail|mismatch' "$work/client" && return 0
    cat "$work/client" "$work/server"
    return 1
}

test_client()
{
    local type=$1 success=$2
    shift 2
    client "$success" dapltest -T "$type" -D rail0 -s n1-rail0 "$@"
}

serve dapltest -T S -D rail0
check 'dapltest serves' await_text "$work/server" 'Service Point Ready'
check 'send and receive' test_client T 'End of Work' -V -i 200 \
    client SR 4096 2 server SR 4096 2
check 'RDMA write and read' test_client T 'End of Work' -V -i 200 \
    client RW 4096 1 server RR 2048 4 client SR 1024 4 server SR 4096 2
check 'dapltest is told to end' test_client Q .
check '… and does' await_exit "$server" 10

# They meet over this TCP port first; who then connects before the server
# listens is refused, and tries again.
meeting='00000000:3DD4 00000000:0000 0A'
too_early=0x4003 # DAT_CONNECTION_EVENT_NON_PEER_REJECTED

dtest_pair()
{
    local ended
    for _ in $(seq 10); do
        serve dtest -P rail0 -s -b 65536
        soon on n1 grep -q "$meeting" /proc/net/tcp
        client PASSED dtest -P rail0 -h n1 -b 65536 && ended=0 || ended=1
        grep -q $too_early "$work/client" || break
        kill -TERM "$server"
        wait "$server"
    done
    [ $ended -eq 0 ] && await_exit "$server" 10 && grep -q PASSED "$work/server"
}
check 'dtest' dtest_pair
