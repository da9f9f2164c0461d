#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two hosts: bandwidth and latency over one, two and three rails of equal and
# of unequal rates, with the data looked at.
# shellcheck source=tests/hosts/hosts.bash
. "${SOURCE:?}/tests/hosts/hosts.bash"
inside --hosts 2 --rails 3 --rate 1gbit

rails=(- tcp-rail0 tcp-rail0,tcp-rail1 tcp-rail0,tcp-rail1,tcp-rail2)

# pair TEST RAILS OPTIONS…: CSV in $work/csv
pair()
{
    local test=$1 names=$2
    shift 2
    ranks 2 1 timeout -k 10 30 "$bench" "$test" --rails "$names" --format csv \
        --warmup 1 --repeat 2 "$@" >"$work/csv" 2>"$work/err" && return 0
    cat "$work/csv" "$work/err"
    return 1
}

# the best of two repeats in MB/s, to tell in the end
rate()
{
    column bandwidth_MBps_hi "$@" <"$work/csv" | sort -n | tail -1
}

for count in 1 2 3; do
    check "bw, $count rails" pair bw "${rails[$count]}" \
        --engine single,nonthreaded,threaded --sizes 0,4K,1M --batch 4 \
        --iterations 1 --validate
done
check 'bibw, two rails' pair bibw "${rails[2]}" --sizes 64K,1M --batch 4 \
    --iterations 1 --validate
check 'lat, two rails' pair lat "${rails[2]}" --sizes 8,64K --batch 2 \
    --iterations 10 --validate

check 'one rail' pair bw tcp-rail0 --engine single --sizes 1M \
    --batch 64 --iterations 2
one=$(rate)
check 'two rails' pair bw "${rails[2]}" --engine nonthreaded --sizes 1M \
    --batch 64 --iterations 2
two=$(rate)
check 'three rails' pair bw "${rails[3]}" --engine nonthreaded --sizes 1M \
    --batch 64 --iterations 2
three=$(rate)
testbed rate rail1 500mbit
check 'unequal rails' pair bw "${rails[2]}" --engine nonthreaded --sizes 1M \
    --policy adaptive --batch 64 --iterations 3 --warmup 3
unequal=$(rate)
check 'unequal rails, looked at' pair bw "${rails[3]}" --sizes 4K,64K,1M \
    --policy adaptive --batch 4 --iterations 1 --validate

# slow rails: the wires bound the rate, not the processors
for rail in 0 1; do
    testbed rate "rail$rail" 100mbit
done
more() { ((${1%.*} * 2 > ${2%.*} * 3)); }
for op in put send; do
    check "4 KB ${op}s, one rail" pair bw shm0,tcp-rail0 --engine nonthreaded \
        --sizes 4K --op "$op" --window 32 --iterations 20
    slow=$(rate)
    check "4 KB ${op}s, two rails" pair bw "shm0,${rails[2]}" \
        --engine nonthreaded --sizes 4K --op "$op" --window 32 --iterations 20
    check "short ${op}s in a row take both wires beside shared memory" \
        more "$(rate)" "$slow"
done

printf 'figures: 1 MB over rails of 1 Gbit/s: one %.0f, two %.0f, three %.0f MB/s; %s\n' \
    "$one" "$two" "$three" "1000 + 500: $(printf %.0f "$unequal") MB/s"
