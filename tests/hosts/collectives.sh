#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Collectives on two to four hosts, over one to three rails, with the results
# looked at.
# shellcheck source=tests/hosts/hosts.bash
. "${SOURCE:?}/tests/hosts/hosts.bash"
inside --hosts 4 --rails 3 --rate 1gbit,1gbit,500

# collective HOSTS PPN RAILS NAME OPTIONS…
collective()
{
    local hosts=$1 ppn=$2 names=$3 name=$4
    shift 4
    ranks "$hosts" "$ppn" timeout -k 10 40 "$bench" "$name" --rails "$names" \
        --validate --sizes 4,64K --iterations 2 --warmup 1 --repeat 1 \
        --format csv "$@" >"$work/csv" 2>"$work/err" && return 0
    cat "$work/csv" "$work/err"
    return 1
}

check '2 hosts, one rail' collective 2 1 tcp-rail0 allgather --algorithm all
check '3 hosts, two rails' collective 3 1 tcp-rail0,tcp-rail1 alltoall \
    --algorithm all
check '4 hosts x 2 ranks, three rails' collective 4 2 \
    tcp-rail0,tcp-rail1,tcp-rail2 allgather --algorithm auto
for name in gather bcast scatter alltoall; do
    check "4 hosts x 2 ranks: $name" collective 4 2 tcp-rail0,tcp-rail1 $name
done

# Memory that the ranks of a host share does not join hosts.
chooses()
{
    ranks 2 2 timeout -k 10 40 "$bench" allreduce --rails "$1" --sizes 1K \
        --iterations 2 --warmup 1 --repeat 1 --format json |
        grep -q "\"chosen\": \"$2\""
}
check 'auto over wires' chooses tcp-rail0,tcp-rail1 smp-doubling
check '… beside shared memory' chooses shm0,tcp-rail0,tcp-rail1 smp-doubling
